"""What a comparator is given: features, classes and people of the images, checked once."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import xarray as xr

from frkit.faces import FEATURE, IDENTITY, IMAGE, MODEL, UNKNOWN, listed, require, warn


class Samples(NamedTuple):
    """One encoder's view of the labelled images, as arrays."""

    features: np.ndarray  # (n, d) float64
    codes: np.ndarray  # (n,) class of each image, 0 to K - 1
    classes: np.ndarray  # (K,) names
    person: np.ndarray  # (n,) 0 to people - 1: whom each image shows; by="image" makes each image its own


def samples(faces: xr.Dataset, attribute: str, by: str = "identity") -> Samples:
    """Features, classes and people of the images whose attribute is known.

    Raises InputError where there are no embeddings or no such attribute, where it has one class, where a
    feature is not finite, or where the attribute varies within an identity and folds are by identity.
    """
    require(by in ("identity", "image"), f"by must be 'identity' or 'image', got {by!r}")
    require(
        isinstance(faces, xr.Dataset) and "embedding" in faces and faces["embedding"].ndim == 2,
        "faces must be a Dataset with embedding (image, feature); make it with frkit.faces or frkit.open_faces",
    )
    known = [name for name in faces.coords if faces[name].dims == (IMAGE,)]
    require(attribute in known, f"attribute {attribute!r} is not among the labels of the images: {listed(known)}")
    labels = faces[attribute].values.astype(str)
    labelled = _labelled(labels, attribute)
    classes, codes = np.unique(labels[labelled], return_inverse=True)
    require(len(classes) >= 2, f"attribute {attribute!r} has one class, {listed(classes)}; nothing can be told apart")
    person = np.arange(codes.size)
    if by == "identity":
        require(IDENTITY in faces.coords, "faces have no identity; give it, or say by='image'")
        person = np.unique(faces[IDENTITY].values[labelled], return_inverse=True)[1]
        _check_constant(codes, person, attribute)
    features = faces["embedding"].transpose(IMAGE, FEATURE).values[labelled].astype(np.float64)
    _check_finite(features)
    return Samples(features, codes, classes, person)


def _labelled(labels: np.ndarray, attribute: str) -> np.ndarray:
    labelled = labels != UNKNOWN
    if not labelled.all():
        warn(f"{(~labelled).sum()} of {labels.size} images have no {attribute}; they are left out")
    return labelled


def _check_constant(codes: np.ndarray, person: np.ndarray, attribute: str) -> None:
    first = codes[np.unique(person, return_index=True)[1]]
    varying = np.unique(person[codes != first[person]]).size
    require(
        varying == 0,
        f"attribute {attribute!r} varies within {varying} of {first.size} identities, so people cannot be dealt to "
        "folds by class; split these identities (fk.faces(..., varying='split')) or say by='image'",
    )


def _check_finite(features: np.ndarray) -> None:
    finite = np.isfinite(features)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        require(False, f"embedding is not finite at image {row}, feature {column}; remove or recompute that image")


def for_each_model(faces: xr.Dataset, estimate: Callable[[xr.Dataset], xr.Dataset]) -> xr.Dataset:
    """The estimate of each encoder along `model`, or of the only one."""
    if not isinstance(faces, xr.Dataset) or MODEL not in faces.dims:
        return estimate(faces)
    parts = [estimate(faces.isel({MODEL: at})) for at in range(faces.sizes[MODEL])]
    return xr.concat(parts, faces[MODEL].variable, combine_attrs="override")


def entropy(codes: np.ndarray) -> float:
    """Shannon's plug-in entropy of class codes, in nats."""
    share = np.bincount(codes) / codes.size
    share = share[share > 0]
    return float(-(share * np.log(share)).sum())


def clustered_error(values: np.ndarray, person: np.ndarray) -> float:
    """Standard error of a mean over images, where images of one person go together."""
    sums = np.bincount(person, values - values.mean())
    people = sums.size
    return float(np.sqrt((sums**2).sum() * people / (people - 1)) / values.size)
