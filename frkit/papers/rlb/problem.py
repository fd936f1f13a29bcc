"""Classes and people of the images, checks that they suffice, and folds."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from frkit.base import UNKNOWN, listed, require, require_one_of, require_whole, warn
from frkit.data.checks import as_float32, check_faces, check_rows
from frkit.data.labels import (
    CROSSED,
    attributes_of,
    clean_labels,
    complete_labels,
    crossed,
    resolve_varying,
)

FEWEST_FOLDS = 3  # training, validation and test


class Problem(NamedTuple):
    """One attribute, or several crossed, on the images that have a label."""

    name: str  # of the attribute
    classes: np.ndarray  # (K,) labels
    rows: np.ndarray  # (n,) images with a label
    z: np.ndarray  # (n,) their class
    person: np.ndarray  # (n,) number of the person on each
    unit: np.ndarray  # (n,) what folds keep together: the person, or each image for itself

    @property
    def shares(self):
        """Share of each class among the images, (K,)."""
        return np.bincount(self.z) / len(self.z)


def for_labelled_images(faces, attribute, folds, estimate, *options):
    """Estimates from the images that have a label, along `model` where the faces have it.

    `estimate` takes an encoder's features (n, d), the Problem and the options, and returns a
    Dataset. The attribute does not vary within a person.
    """
    problem = gather_problem(faces, attribute, by="identity", folds=folds, varying="error")

    def for_encoder(x):
        features = x[problem.rows].astype(np.float64)
        return estimate(features, problem, *options)

    return for_each_model(faces, for_encoder)


def for_each_model(faces, estimate):
    """The Dataset `estimate(x)` of each encoder's x (image, feature), along `model` if several.

    No estimate depends on the scale of an embedding. A power of two brings its largest value to
    between 1/2 and 1, so that no square overflows float32, and rounds nothing.
    """
    embedding = faces["embedding"]
    values = embedding.transpose(..., "image", "feature").values
    rounded = as_float32(values)
    check_rows(rounded, need_length=False)
    if "model" not in embedding.dims:
        return estimate(_rescaled(rounded))
    return xr.concat([estimate(_rescaled(x)) for x in rounded], faces["model"].variable)


def _rescaled(x):
    """The embedding over a power of two."""
    _, exponent = np.frexp(np.abs(x).max())
    return np.ldexp(x, -exponent)


def gather_problem(faces, attribute, *, by, folds, varying):
    """Gather the labels and people of an attribute; check that each fold can contain each class."""
    check_faces(faces)
    require_one_of("by", by, ("identity", "image"))
    require_whole("folds", folds, FEWEST_FOLDS)
    names = attributes_of(attribute, "attribute")
    name = CROSSED.join(names)
    image_labels = {name for name, coord in faces.coords.items() if coord.dims == ("image",)}
    attributes = sorted(image_labels - {"image", "identity"})
    require(attributes, f"these faces have no attribute: name one, fk.faces(..., {name}=labels)")
    for each in names:
        require_one_of("attribute", each, attributes)
    n_images = faces.sizes["image"]
    identity = complete_labels(faces["identity"].values, n_images, "identity")
    labels = [clean_labels(faces[each].values, n_images, each) for each in names]
    label, _, _ = resolve_varying(crossed(labels), identity, varying, name)
    rows = np.flatnonzero(label != UNKNOWN)
    classes, z = np.unique(label[rows], return_inverse=True)
    _, person = np.unique(identity[rows], return_inverse=True)
    unit, units = (np.arange(len(rows)), "images") if by == "image" else (person, "people")
    require_classes(name, classes, z, unit, folds, units)
    n_left_out = n_images - len(rows)
    if n_left_out > 0:
        warn(
            f"RLB leaves out {n_left_out} of {n_images} images, which are in no group of {name} "
            "that takes part"
        )
    return Problem(name, classes, rows, z, person, unit)


def require_classes(name, classes, z, units, folds, what):
    """Refuse a single class, and a class with fewer units (people or images) than folds."""
    require(
        len(classes) >= 2,
        f"attribute {name!r} has {len(classes)} class(es), {listed(classes)}; at least two are "
        "needed to tell one from another",
    )
    counts = pd.Series(units).groupby(z).nunique()
    rarest = counts.idxmin()
    fewest = counts[rarest]
    require(
        fewest >= folds,
        f"class '{classes[rarest]}' of {name!r} has {fewest} of the {folds} {what} that {folds} "
        f"folds need; merge it with another class, leave it out, or take at most {fewest} folds",
    )


def stratified(z, person, folds, state):
    """Training and test rows of folds: classes in equal shares, a person's images in one fold."""
    if len(np.unique(person)) == len(z):  # a person with one image is an image
        return StratifiedKFold(folds, shuffle=True, random_state=state).split(z, z)
    return StratifiedGroupKFold(folds, shuffle=True, random_state=state).split(z, z, person)
