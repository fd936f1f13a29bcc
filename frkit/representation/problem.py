"""What is asked: the classes of the images, who belongs together, whether there are enough of each, and the folds."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
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
    require_whole,
    warn,
)
from frkit.data.checks import as_float32, check_faces, check_finite
from frkit.data.labels import CROSSED, clean_labels, complete_labels, crossed, resolve_varying

UNITS = ("identity", "image")
FEWEST_FOLDS = 3  # training, validation and test
FEWEST_PEOPLE = 3  # for a standard error


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


def entropy(shares: np.ndarray) -> float:
    """Shannon's entropy in nats."""
    return float(-(shares * np.log(shares)).sum())


def standard_error(deviation: np.ndarray, person: np.ndarray) -> float:
    """Standard error of a mean over images, whose deviations from it are dependent within people."""
    sums = np.bincount(person, weights=deviation)
    n_people = len(sums)
    return float(np.sqrt(n_people / (n_people - 1) * np.square(sums).sum()) / len(deviation))


def embeddings(faces: xr.Dataset) -> tuple[list[np.ndarray], xr.Variable | None]:
    """The checked embedding (image, feature) of each encoder, and the encoders' names where there are several."""
    check_faces(faces)
    embedding = faces["embedding"]
    names = faces[MODEL].variable if MODEL in embedding.dims else None
    values = embedding.transpose(..., IMAGE, FEATURE).values
    rounded = as_float32(values)
    check_finite(rounded, values, None if names is None else names.values)
    return [rounded] if names is None else list(rounded), names


def problem(faces: xr.Dataset, attribute, *, by: str, folds: int, varying: str) -> Problem:
    """Gather labels and people of one attribute, and check that every fold can have every class."""
    require(by in UNITS, f"by must be one of {listed(UNITS)}, got {by!r}")
    names = (attribute,) if isinstance(attribute, str) else attribute
    good = (
        isinstance(names, tuple) and len(names) > 0 and all(isinstance(name, str) for name in names)
    )
    kinds = "a name ('gender') or a tuple of names to cross (('gender', 'race'))"
    require(good, f"attribute must be {kinds}, got {attribute!r}")
    known = [
        str(c)
        for c in faces.coords
        if faces[c].dims == (IMAGE,) and c not in (IMAGE, IDENTITY, PERSON)
    ]
    for name in names:
        require(
            name in known,
            f"attribute {name!r} is none of these faces'; known: {', '.join(known) or 'none'}",
        )
    name = CROSSED.join(names)
    identity = complete_labels(faces[IDENTITY].values, faces.sizes[IMAGE], IDENTITY)
    person = faces[PERSON].values.astype(str) if PERSON in faces.coords else identity
    label = crossed([clean_labels(faces[one].values, len(identity), one) for one in names])
    label, _, _ = resolve_varying(label, identity, varying, name, person)
    rows = np.flatnonzero(label != UNKNOWN)
    classes, z = np.unique(label[rows], return_inverse=True)
    found = Problem(name, classes, rows, z, np.unique(person[rows], return_inverse=True)[1])
    _check(found, by, folds)
    if len(rows) < len(label):
        warn(f"{len(label) - len(rows)} of {len(label)} images have no {name}; they are left out")
    return found


def _check(found: Problem, by: str, folds: int) -> None:
    """Two classes at least, and of each at least one person (or image) for every fold."""
    require_whole("folds", folds, FEWEST_FOLDS)
    few = f"attribute {found.name!r} has {len(found.classes)} class(es), {listed(found.classes) or 'none'}"
    require(len(found.classes) >= 2, f"{few}; at least two are needed to tell one from another")
    n_people = len(np.unique(found.person))
    many = n_people >= FEWEST_PEOPLE
    require(
        many,
        f"images with a {found.name} show {n_people} people; a standard error needs at least {FEWEST_PEOPLE}",
    )
    units = found.z if by == "image" else np.unique(np.stack([found.z, found.person]), axis=1)[0]
    counts = np.bincount(units)
    rare = int(np.argmin(counts))
    held = f"{counts[rare]} {'images' if by == 'image' else 'people'} for {folds} folds"
    fewer = f"take at most {counts[rare]} folds (at least {FEWEST_FOLDS})"
    short = f"class {str(found.classes[rare])!r} of {found.name!r} has {held}"
    require(
        counts[rare] >= folds,
        f"{short}; merge it with another class, mark it 'unknown', or {fewer}",
    )


def stratified(
    z: np.ndarray, person: np.ndarray, folds: int, state: int
) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of each fold: classes in equal shares, all images of a person in one fold."""
    if len(np.unique(person)) == len(z):  # a person with one image is an image
        return StratifiedKFold(folds, shuffle=True, random_state=state).split(z, z)
    return StratifiedGroupKFold(folds, shuffle=True, random_state=state).split(z, z, person)


def for_each_model(
    faces: xr.Dataset,
    attribute,
    by: str,
    estimate: Callable[[np.ndarray, Problem], xr.Dataset],
    folds: int = 3,
) -> xr.Dataset:
    """The estimate from each encoder's features (n, d) along `model`, or from the only one's.

    By image the attribute may vary within a person, and each image is a person of its own.
    """
    encoders, names = embeddings(faces)
    one = problem(
        faces, attribute, by=by, folds=folds, varying="error" if by == "identity" else "keep"
    )
    one = one if by == "identity" else replace(one, person=np.arange(len(one.z)))
    found = [estimate(x[one.rows].astype(np.float64), one) for x in encoders]
    return found[0] if names is None else xr.concat(found, names, combine_attrs="override")
