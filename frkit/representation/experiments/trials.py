"""Estimates beside a known truth: classes a chosen number of standard deviations apart."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from frkit.representation.dependence import distance_correlation
from frkit.representation.mine import Critic
from frkit.representation.probes import dataset_bias
from frkit.representation.rlb import representation_bias
from frkit.representation.truth import shifted_classes

DISTANCES = tuple(np.linspace(0, 6, 13))


def true_bias(share: float = 0.5, distances: Sequence[float] = DISTANCES) -> xr.Dataset:
    """The exact RLB of two Gaussian classes against their distance.

    Parameters
    ----------
    share : probability of the first class, in (0, 1).
    distances : between the classes, in standard deviations, 0 or more.

    Returns
    -------
    xr.Dataset over distance: `rlb`.

    Raises
    ------
    InputError : a share outside (0, 1), a negative distance.

    Examples
    --------
    >>> true_bias(0.61384, [0, 2]).rlb.values.round(3).tolist()
    [0.0, 0.483]
    """
    laws = [shifted_classes(1, 1, distance=distance, shares=(share, 1 - share)) for distance in distances]
    return xr.Dataset({"rlb": ("distance", [one.attrs["rlb"] for one in laws])}, {"distance": list(distances)})


def trial(
    distance: float,
    n_images: int = 1000,
    n_features: int = 64,
    *,
    by: str = "identity",
    hidden: int = 64,
    seed: int = 0,
    progress: bool = False,
    **law,
) -> xr.Dataset:
    """One data set with a known truth, and what the estimators say of it.

    Parameters
    ----------
    distance : between the classes, in standard deviations, 0 or more.
    n_images, n_features : int, sizes.
    by : "identity" or "image", what is dealt to folds.
    hidden : width of the statistics network.
    seed : non-negative integer.
    progress : show a progress bar.
    **law : shares (default: equal), per_identity (default: 10), likeness, both_sides, as in `shifted_classes`.

    Returns
    -------
    xr.Dataset
        `truth`, `rlb`, `rlb_se`, `rlb_in_sample`, `smallest_detectable`, `dataset_bias`, `dcor2`;
        `distance` and `by` as given.

    Raises
    ------
    InputError : as `shifted_classes` and `representation_bias`.

    References
    ----------
    Li & Abd-Almageed (2021), eq. 1; a mixture of Gaussians in place of faces.

    Examples
    --------
    >>> found = trial(4.0, 400, 8, hidden=16)
    >>> bool(abs(found.truth - found.rlb) < 0.4)
    True
    """
    law = {"shares": (0.5, 0.5), "per_identity": 10} | law
    faces = shifted_classes(n_images, n_features, distance=distance, seed=seed, **law)
    found = representation_bias(faces, "group", by=by, seeds=1, critic=Critic(hidden=hidden), progress=progress)
    return found[["rlb", "rlb_se", "rlb_in_sample", "smallest_detectable"]].assign(
        truth=faces.attrs["rlb"],
        dataset_bias=dataset_bias(faces, "group", by=by),
        dcor2=distance_correlation(faces, "group", permutations=0).dcor2,
        distance=float(distance),
        by=by,
    )
