"""Classes whose mutual information with the embedding is known, by numerical integration."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy import stats

from frkit.base import (
    real_numbers,
    require,
    require_flag,
    require_number,
    require_whole,
    seed_sequence,
)
from frkit.papers.rlb.bounds import entropy

MARGIN, POINTS = 12.0, 200_001  # standard deviations beyond the outer classes, and grid points


def shifted_classes(
    n_images: int,
    n_features: int,
    *,
    distance: float = 2.0,
    shares: ArrayLike = (0.61384, 0.38616),
    both_sides: bool = False,
    per_identity: int = 1,
    seed: int = 0,
) -> xr.Dataset:
    """Faces whose classes are shifted along one direction: their mutual information is known.

    Features are Gaussian with unit variance around the class's place. Images of an identity share
    the class and half of the noise's variance; the law of a single image, and with it the truth, is
    the same.

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
        Two classes only: the first stays at 0, an identity of the second goes to +distance or
        -distance with equal probability, so that no linear probe sees anything.
    per_identity : int
        Images of each identity.
    seed : int
        Same seed, same faces.

    Returns
    -------
    xr.Dataset
        Faces with the attribute `group` ("0", "1", ...), and attrs `mutual_information`,
        `entropy` (nats) and `rlb`, those of the law.

    Raises
    ------
    InputError
        For shares that are not a distribution over two or more classes, a negative
        distance, or both sides with more than two classes.

    Examples
    --------
    >>> faces = shifted_classes(100, 16, distance=2)
    >>> round(faces.attrs["mutual_information"], 3), round(faces.attrs["entropy"], 3)
    (0.322, 0.667)
    """
    sizes = {"n_images": n_images, "n_features": n_features, "per_identity": per_identity}
    for name, size in sizes.items():
        require_whole(name, size, 1)
    require_number("distance", distance, 0, 1e4)
    require_flag("both_sides", both_sides)
    shares = np.atleast_1d(real_numbers("shares", shares))
    require(
        len(shares) >= 2 and shares.min() > 0 and abs(shares.sum() - 1) < 1e-6,
        f"shares must be two or more positive numbers with sum 1, got {shares}",
    )
    require(not both_sides or len(shares) == 2, f"both_sides needs two classes, got {len(shares)}")
    rng = np.random.default_rng(seed_sequence(seed))
    identity = np.arange(n_images) // per_identity
    n_identities = identity[-1] + 1
    z = rng.choice(len(shares), n_identities, p=shares / shares.sum())
    side = rng.choice([-1.0, 1.0], n_identities)
    position = z * side if both_sides else z - (len(shares) - 1) / 2
    direction = rng.standard_normal(n_features)
    direction /= np.linalg.norm(direction)
    noise = rng.standard_normal((n_images, n_features), np.float32)
    shared_noise = rng.standard_normal((n_identities, n_features), np.float32)
    embedding = np.sqrt(0.5) * noise + np.sqrt(0.5) * shared_noise[identity]
    embedding += (distance * position)[identity, None] * direction
    information = true_information(distance, shares, both_sides)
    h = entropy(shares)
    return xr.Dataset(
        {"embedding": (("image", "feature"), embedding.astype(np.float32))},
        {
            "image": np.arange(n_images).astype(str),
            "identity": ("image", np.char.mod("id%06d", identity)),
            "group": ("image", z[identity].astype(str)),
        },
        {"mutual_information": information, "entropy": h, "rlb": information / h},
    )


def true_information(distance, shares, both_sides=False):
    """Mutual information (nats) of class and place: sum of p_z KL(f_z from the mixture)."""
    grid_end = distance * len(shares) + MARGIN
    grid = np.linspace(-grid_end, grid_end, POINTS)
    positions = distance * np.arange(len(shares))
    log_densities = stats.norm.logpdf(grid, positions[:, None])
    if both_sides:
        log_other_side = stats.norm.logpdf(grid, -distance)
        log_densities[1] = np.logaddexp(log_densities[1], log_other_side) - np.log(2)
    log_joint = np.log(shares)[:, None] + log_densities
    gain = log_densities - np.logaddexp.reduce(log_joint)
    density = (np.exp(log_joint) * gain).sum(axis=0)
    return max(0.0, float(np.trapezoid(density, grid)))
