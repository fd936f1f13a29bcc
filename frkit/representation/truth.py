"""Classes whose mutual information with the embedding is known: numerical integration of their densities."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy import stats

from frkit.base import FEATURE, IDENTITY, IMAGE, require
from frkit.representation.problem import entropy

MARGIN, POINTS = 12.0, 200_001  # standard deviations beyond the outer classes, and grid points


def shifted_classes(
    n_images: int,
    n_features: int,
    *,
    distance: float = 2.0,
    shares: ArrayLike = (0.61384, 0.38616),
    both_sides: bool = False,
    per_identity: int = 1,
    likeness: float = 0.5,
    seed: int = 0,
) -> xr.Dataset:
    """Faces whose classes are shifted along one direction, so that the mutual information is known exactly.

    Features are Gaussian with unit variance around the class's place. Images of an identity share the class and
    a part of the noise; the law of a single image, and with it the truth, is the same.

    Parameters
    ----------
    n_images : int
        Images; the last identity may have fewer than the others.
    n_features : int
        Dimension, at least 1.
    distance : float
        Between neighbouring classes, in standard deviations; 0 makes the attribute independent.
    shares : sequence of float, (K,)
        Probability of each class; sums to 1. Default: CelebA's sex.
    both_sides : bool
        Two classes only: the first stays at 0, an identity of the second goes to +distance or -distance with
        equal probability, so that no linear probe sees anything.
    per_identity : int
        Images of each identity.
    likeness : float in [0, 1)
        Share of the noise's variance that images of an identity have in common.
    seed : int
        Same seed, same faces.

    Returns
    -------
    xr.Dataset
        Faces with the attribute `group` ("0", "1", ...), and attrs `mutual_information`, `entropy` (nats) and
        `rlb`, those of the law.

    Raises
    ------
    InputError
        For sizes below 1, shares that are no distribution over two or more classes, a negative distance, a
        likeness outside [0, 1), or both sides with more than two classes.

    Examples
    --------
    >>> faces = shifted_classes(100, 16, distance=2)
    >>> round(faces.attrs["mutual_information"], 3), round(faces.attrs["entropy"], 3)
    (0.322, 0.667)
    """
    shares = np.asarray(shares, float)
    good = (
        shares.ndim == 1
        and len(shares) >= 2
        and (shares > 0).all()
        and abs(shares.sum() - 1) < 1e-6
    )
    require(
        bool(good), f"shares must be two or more positive numbers with sum 1, got {shares.tolist()}"
    )
    require(
        min(n_images, n_features, per_identity) >= 1,
        "n_images, n_features and per_identity must be at least 1",
    )
    require(
        distance >= 0 and 0 <= likeness < 1,
        f"need distance >= 0 and likeness in [0, 1): {distance}, {likeness}",
    )
    require(not both_sides or len(shares) == 2, f"both_sides needs two classes, got {len(shares)}")
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    identity = np.arange(n_images) // per_identity
    n_identities = identity[-1] + 1
    z = rng.choice(len(shares), n_identities, p=shares / shares.sum())
    side = rng.choice([-1.0, 1.0], n_identities)
    place = z * side if both_sides else z - (len(shares) - 1) / 2
    direction = rng.standard_normal(n_features)
    embedding = np.sqrt(1 - likeness) * rng.standard_normal((n_images, n_features), np.float32)
    embedding += (
        np.sqrt(likeness) * rng.standard_normal((n_identities, n_features), np.float32)[identity]
    )
    embedding += (distance * place)[identity, None] * (direction / np.linalg.norm(direction))
    information, h = true_information(distance, shares, both_sides), entropy(shares)
    coords = {
        IMAGE: np.arange(n_images).astype(str),
        IDENTITY: (IMAGE, np.char.mod("id%06d", identity)),
    }
    return xr.Dataset(
        {"embedding": ((IMAGE, FEATURE), embedding.astype(np.float32))},
        coords | {"group": (IMAGE, z[identity].astype(str))},
        {"mutual_information": information, "entropy": h, "rlb": information / h},
    )


def true_information(distance: float, shares: np.ndarray, both_sides: bool = False) -> float:
    """Mutual information (nats) of class and place on the line: sum of p_z times KL(f_z from the mixture)."""
    places = ((np.arange(len(shares)) - (len(shares) - 1) / 2) * distance)[:, None, None]
    if both_sides:
        places = [[[0.0]], [[-distance], [distance]]]
    reach = distance * len(shares) + MARGIN
    grid = np.linspace(-reach, reach, POINTS)
    densities = np.array(
        [np.logaddexp.reduce(stats.norm.logpdf(grid, own)) - np.log(len(own)) for own in places]
    )
    log_joint = np.log(shares)[:, None] + densities
    gain = densities - np.logaddexp.reduce(log_joint)
    return max(0.0, float(np.trapezoid((np.exp(log_joint) * gain).sum(0), grid)))
