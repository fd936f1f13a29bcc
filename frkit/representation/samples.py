"""One encoder's view of the labelled images, as arrays, for the comparators."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import xarray as xr

from frkit.representation.problem import embeddings, problem


class Samples(NamedTuple):
    """What a comparator computes from."""

    features: np.ndarray  # (n, d) float64
    codes: np.ndarray  # (n,) class of each image, 0 to K - 1
    person: np.ndarray  # (n,) who goes together; by="image" makes each image its own


def for_each_model(
    faces: xr.Dataset, attribute, by: str, estimate: Callable[[Samples], xr.Dataset], folds: int = 3
) -> xr.Dataset:
    """The estimate of each encoder along `model`, or of the only one.

    By image the attribute belongs to the image and may vary within a person. Raises InputError as
    `representation_bias` does.
    """
    encoders, names = embeddings(faces)
    one = problem(faces, attribute, by=by, folds=folds, varying="error" if by == "identity" else "keep")
    person = one.person if by == "identity" else np.arange(one.z.size)
    found = [estimate(Samples(x[one.rows].astype(np.float64), one.z, person)) for x in encoders]
    return found[0] if names is None else xr.concat(found, names, combine_attrs="override")


def clustered_error(values: np.ndarray, person: np.ndarray) -> float:
    """Standard error of a mean over images, where images of one person go together."""
    sums = np.bincount(person, values - values.mean())
    return float(np.sqrt((sums**2).sum() * sums.size / (sums.size - 1)) / values.size)
