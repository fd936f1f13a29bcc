"""What is asked: the classes of the images, who belongs together, and whether there are enough of each."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from frkit.base import FEATURE, IDENTITY, IMAGE, MODEL, PERSON, UNKNOWN, listed, require, warn
from frkit.faces.checks import check_finite
from frkit.faces.labels import CROSSED, attributes_of, crossed, resolve_varying

UNITS = ("identity", "image")
FEWEST_FOLDS = 3  # training, validation and test
FEWEST_PEOPLE = 3  # for a standard error


@dataclass(frozen=True, eq=False)
class Problem:
    """One attribute, or several crossed, on the images that have a label.

    name: of the attribute. classes: (K,) labels. rows: (n,) images with a label. z: (n,) their class.
    person: (n,) number of the person on each.
    """

    name: str
    classes: np.ndarray
    rows: np.ndarray
    z: np.ndarray
    person: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        """Share of each class among the images, (K,)."""
        return np.bincount(self.z) / len(self.z)


def embeddings(faces: xr.Dataset) -> tuple[list[np.ndarray], xr.Variable | None]:
    """The checked embedding (image, feature) of each encoder, and the encoders' names where there are several."""
    good = isinstance(faces, xr.Dataset) and "embedding" in faces and IDENTITY in faces.coords
    require(good, "faces must be a faces Dataset; make it with frkit.faces or frkit.open_faces")
    dims = (MODEL, IMAGE, FEATURE) if MODEL in faces["embedding"].dims else (IMAGE, FEATURE)
    require(
        set(faces["embedding"].dims) == set(dims),
        f"embedding must have dims (image, feature) or (model, image, feature), got {faces['embedding'].dims}",
    )
    values = faces["embedding"].transpose(*dims).values
    names = faces[MODEL].variable if MODEL in dims else None
    with np.errstate(over="ignore"):
        rounded = np.ascontiguousarray(values, dtype=np.float32)
    check_finite(rounded, values, None if names is None else names.values)
    found = list(rounded) if names is not None else [rounded]
    for k, x in enumerate(found):
        where = "" if names is None else f" of model {str(names.values[k])!r}"
        require(
            bool((x != x[0]).any()),
            f"embedding{where} is constant: all {len(x)} images have the same features, so there is nothing to read",
        )
    return found, names


def asked(attribute) -> list:
    """The attributes asked for, each a name or a tuple of names to cross."""
    wanted = attribute if isinstance(attribute, list) else [attribute]
    require(len(wanted) > 0, "attribute is empty: name one, e.g. 'gender'")
    for one in wanted:
        names = isinstance(one, str) or (isinstance(one, tuple) and one and all(isinstance(n, str) for n in one))
        require(
            names,
            "attribute must be a name ('gender'), a tuple of names to cross (('gender', 'race')), or a list of such, "
            f"got {one!r}",
        )
    return wanted


def problem(faces: xr.Dataset, attribute, *, by: str, folds: int, varying: str) -> Problem:
    """Gather labels and people of one attribute, and check that every fold can have every class."""
    require(by in UNITS, f"by must be one of {listed(UNITS)}, got {by!r}")
    names = attributes_of(attribute)
    known = [str(c) for c in faces.coords if faces[c].dims == (IMAGE,) and c not in (IMAGE, IDENTITY, PERSON)]
    for name in names:
        require(name in known, f"attribute {name!r} is none of these faces'; known: {', '.join(known) or 'none'}")
    name = CROSSED.join(names)
    identity = faces[IDENTITY].values.astype(str)
    person = faces[PERSON].values.astype(str) if PERSON in faces.coords else identity
    label = crossed([faces[one].values.astype(str) for one in names])
    label, _, _ = resolve_varying(label, identity, varying, name, person)
    rows = np.flatnonzero(label != UNKNOWN)
    classes, z = np.unique(label[rows], return_inverse=True)
    _, people = np.unique(person[rows], return_inverse=True)
    found = Problem(name, classes, rows, z, people)
    _check(found, by, folds)
    if len(rows) < len(label):
        warn(f"{len(label) - len(rows)} of {len(label)} images have no {name}; they are left out")
    return found


def _check(found: Problem, by: str, folds: int) -> None:
    """Two classes at least, and of each at least one person (or image) for every fold."""
    require(
        isinstance(folds, (int, np.integer)) and folds >= FEWEST_FOLDS,
        f"folds must be a whole number of at least {FEWEST_FOLDS} (training, validation, test), got {folds!r}",
    )
    require(
        len(found.classes) >= 2,
        f"attribute {found.name!r} has {len(found.classes)} class(es), {listed(found.classes) or 'none'}; "
        "at least two are needed to tell one from another",
    )
    n_people = len(np.unique(found.person))
    require(
        n_people >= FEWEST_PEOPLE,
        f"images with a {found.name} show {n_people} people; a standard error needs at least {FEWEST_PEOPLE}",
    )
    pairs = found.z if by == "image" else np.unique(np.stack([found.z, found.person]), axis=1)[0]
    counts = np.bincount(pairs)
    rare = int(np.argmin(counts))
    what = "images" if by == "image" else "people"
    require(
        counts[rare] >= folds,
        f"class {str(found.classes[rare])!r} of {found.name!r} has {counts[rare]} {what} for {folds} folds; "
        f"merge it with another class, mark it 'unknown', or take at most {counts[rare]} folds (at least "
        f"{FEWEST_FOLDS})",
    )
