"""What is asked: the classes and people of the images, enough of each, and the folds."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import xarray as xr
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from frkit.base import (
    FEATURE,
    IDENTITY,
    IMAGE,
    MODEL,
    PERSON,
    UNKNOWN,
    listed,
    require,
    require_one_of,
    require_whole,
    warn,
)
from frkit.data.checks import as_float32, check_faces, check_rows
from frkit.data.labels import CROSSED, clean_labels, complete_labels, crossed, resolve_varying

FEWEST_FOLDS = 3  # training, validation and test


@dataclass(frozen=True, eq=False)
class Problem:
    """One attribute, or several crossed, on the images that have a label."""

    name: str  # of the attribute
    classes: np.ndarray  # (K,) labels
    rows: np.ndarray  # (n,) images with a label
    z: np.ndarray  # (n,) their class
    person: np.ndarray  # (n,) number of the person on each

    @property
    def shares(self) -> np.ndarray:
        """Share of each class among the images, (K,)."""
        return np.bincount(self.z) / len(self.z)


def for_each_model(faces, attribute, by, folds, estimate, *options):
    """The estimate from each encoder's features (n, d) along `model`, or from the only one's.

    `estimate` takes the features, the Problem and the options, and returns a Dataset.
    By image the attribute may vary within a person, and each image is a person of its own.
    """
    encoders, names = embeddings(faces)
    varying = "keep" if by == "image" else "error"
    asked = problem(faces, attribute, by=by, folds=folds, varying=varying)
    if by == "image":
        asked = replace(asked, person=np.arange(len(asked.z)))
    estimates = [estimate(x[asked.rows].astype(np.float64), asked, *options) for x in encoders]
    return estimates[0] if names is None else xr.concat(estimates, names, combine_attrs="override")


def embeddings(faces):
    """The checked embedding (image, feature) of each encoder, and names where there are several."""
    check_faces(faces)
    embedding = faces["embedding"]
    names = faces[MODEL].variable if MODEL in embedding.dims else None
    values = embedding.transpose(..., IMAGE, FEATURE).values
    rounded = as_float32(values)
    check_rows(rounded, values, None if names is None else names.values, need_length=False)
    return [rounded] if names is None else list(rounded), names


def problem(faces, attribute, *, by, folds, varying):
    """Gather labels and people of one attribute, and check that every fold can have every class."""
    require_one_of("by", by, ("identity", "image"))
    require_whole("folds", folds, FEWEST_FOLDS)
    names = _attribute_names(faces, attribute)
    name = CROSSED.join(names)
    n_images = faces.sizes[IMAGE]
    identity = complete_labels(faces[IDENTITY].values, n_images, IDENTITY)
    person = faces[PERSON].values.astype(str) if PERSON in faces.coords else identity
    label = crossed([clean_labels(faces[each].values, n_images, each) for each in names])
    label, _, _ = resolve_varying(label, identity, varying, name, person)
    rows = np.flatnonzero(label != UNKNOWN)
    classes, z = np.unique(label[rows], return_inverse=True)
    _, person = np.unique(person[rows], return_inverse=True)
    asked = Problem(name, classes, rows, z, person)
    _check_counts(asked, by, folds)
    if len(rows) < n_images:
        warn(f"{n_images - len(rows)} of {n_images} images have no {name}; they are left out")
    return asked


def _attribute_names(faces, attribute):
    """Names of the attributes that are crossed."""
    names = (attribute,) if isinstance(attribute, str) else attribute
    coords = [name for name, coord in faces.coords.items() if coord.dims == (IMAGE,)]
    known = set(coords).difference((IMAGE, IDENTITY, PERSON))
    require(
        isinstance(names, tuple) and len(names) > 0 and known.issuperset(names),
        f"attribute must be one of {listed(sorted(known))}, or a tuple of them to cross, "
        f"got {attribute!r}",
    )
    return names


def _check_counts(asked, by, folds):
    """Two classes at least, and of each at least one person (or image) for every fold."""
    require(
        len(asked.classes) >= 2,
        f"attribute {asked.name!r} has {len(asked.classes)} class(es), "
        f"{listed(asked.classes)}; at least two are needed to tell one from another",
    )
    by_image = by == "image"
    units = np.arange(len(asked.z)) if by_image else asked.person
    counts = pd.Series(units).groupby(asked.z).nunique()
    rare = counts.idxmin()
    require(
        counts[rare] >= folds,
        f"class {str(asked.classes[rare])!r} of {asked.name!r} has {counts[rare]} "
        f"{'images' if by_image else 'people'} for "
        f"{folds} folds; merge it with another class, mark it 'unknown', or take at most "
        f"{counts[rare]} folds (at least {FEWEST_FOLDS})",
    )


def stratified(z, person, folds, state):
    """Training and test rows of folds: classes in equal shares, a person's images in one fold."""
    if len(np.unique(person)) == len(z):  # a person with one image is an image
        return StratifiedKFold(folds, shuffle=True, random_state=state).split(z, z)
    return StratifiedGroupKFold(folds, shuffle=True, random_state=state).split(z, z, person)
