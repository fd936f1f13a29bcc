"""Exact draws from von Mises-Fisher mixtures, for one encoder or for several that see the same images.

An image is a direction in the tangent space of its mean (a Gaussian vector, projected and scaled) and a
radial part (the inverse distribution function at the probability of a Gaussian number). Encoders that share
part of these Gaussian numbers give correlated embeddings, and each encoder alone still follows its own
mixture exactly.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.special import ndtr

from frkit.base import require
from frkit.data.dataset import faces, stack_models
from frkit.vmf.densities import RadialInverse

BLOCK = 8192


def sample(mix, per_identity: ArrayLike = 10, seed: int = 1) -> xr.Dataset:
    """Draw images: a faces Dataset with `per_identity` (a number or an array (K,)) images of each.

    The draws follow the von Mises-Fisher distribution itself (not a normalised Gaussian); the same seed
    gives the same images.

    Raises
    ------
    InputError
        Where a number of images is not a positive integer or the array has another length.

    Examples
    --------
    >>> from frkit.vmf import mixture
    >>> mixture(20, dim=16, kappa=(50, 100)).sample(per_identity=3, seed=1).sizes["image"]
    60
    """
    return _faces(mix, per_identity, [(np.random.default_rng(seed), 1.0)])


def sample_encoders(
    encoders: Mapping,
    per_identity: ArrayLike = 10,
    seed: int = 1,
    *,
    correlation: float | Mapping[str, float] = 0.9,
) -> xr.Dataset:
    """Draw images that several encoders see, as one stacked faces Dataset.

    Parameters
    ----------
    encoders : mapping of model name to Mixture
        Mixtures of the same identities and groups, for example made by `Mixture.correlated`.
    per_identity : int or array (K,)
        Images of each identity.
    seed : int
        The same seed gives the same images.
    correlation : float in [0, 1], or mapping of model name to it
        Share c of the noise's variance that an encoder takes from the images; the noise of two encoders
        correlates by sqrt(c_a c_b). 1 = the deviation from the mean is the same in every encoder, 0 =
        independent.

    Returns
    -------
    xr.Dataset
        Faces with dims (model, image, feature).

    Raises
    ------
    InputError
        Where the encoders have other identities or groups, or a correlation is outside [0, 1].

    Examples
    --------
    >>> from frkit.vmf import mixture
    >>> good = mixture(20, dim=16, kappa=(50, 100))
    >>> bad = good.correlated(concentration_factor=0.5)
    >>> dict(sample_encoders({"good": good, "bad": bad}, 3).sizes)["model"]
    2
    """
    require(len(encoders) > 0, "encoders: give at least one mixture, as {'name': mixture}")
    first = next(iter(encoders.values()))
    shares = (
        correlation if isinstance(correlation, Mapping) else dict.fromkeys(encoders, correlation)
    )
    own_seeds = np.random.SeedSequence(seed).spawn(len(encoders) + 1)
    stacked = {}
    for (name, mix), own_seed in zip(encoders.items(), own_seeds[1:]):
        same = mix.n_identities == first.n_identities and mix.groups.keys() == first.groups.keys()
        same = same and all(
            np.array_equal(mix.groups[key], first.groups[key]) for key in first.groups
        )
        require(
            same,
            f"encoder {name!r} has other identities or groups than the first; use Mixture.correlated",
        )
        require(
            mix.dim == first.dim,
            f"encoder {name!r} has dimension {mix.dim}, the first has {first.dim}",
        )
        share = float(shares[name])
        require(0 <= share <= 1, f"correlation of {name!r} must lie in [0, 1], got {share}")
        sources = [
            (np.random.default_rng(own_seeds[0]), share),
            (np.random.default_rng(own_seed), 1 - share),
        ]
        stacked[name] = _faces(mix, per_identity, sources)
    return stack_models(stacked)


def place(
    directions: np.ndarray, inverse: RadialInverse, identity: np.ndarray, radial, tangent
) -> np.ndarray:
    """Points (n, p) of vMF distributions from standard Gaussian numbers `radial` (n,) and `tangent` (n, p).

    identity (n,) numbers the row of `directions` (K, p), and of the concentrations of `inverse`, of every point.
    """
    z = inverse(ndtr(radial), identity)
    mean = directions[identity]
    points = np.einsum("ip,ip->i", tangent, mean)[:, None] * mean
    np.subtract(tangent, points, out=points)
    points *= (1 / np.cosh(z) / np.sqrt(np.einsum("ip,ip->i", points, points)))[:, None]
    mean *= np.tanh(z)[:, None]
    points += mean
    return points


def _faces(mix, per_identity, sources: list) -> xr.Dataset:
    """Faces of a mixture; `sources` are pairs of a generator and its share of the noise's variance."""
    counts = np.asarray(per_identity)
    fits = counts.shape in ((), (mix.n_identities,))
    require(
        fits,
        f"per_identity must be one number or have shape ({mix.n_identities},), got shape {counts.shape}",
    )
    whole = bool(np.issubdtype(counts.dtype, np.integer) and np.all(counts >= 1))
    require(whole, f"per_identity must hold integers of at least 1, got {per_identity}")
    identity = np.repeat(np.arange(mix.n_identities), counts)
    embedding = np.empty((identity.size, mix.dim), np.float32)
    for start in range(
        0, identity.size, BLOCK
    ):  # so that the noise of many images is never whole in memory
        part = identity[start : start + BLOCK]
        noise = sum(
            np.sqrt(share) * rng.standard_normal((part.size, mix.dim + 1)) for rng, share in sources
        )
        points = place(mix.mean_directions, mix.radial, part, noise[:, 0], noise[:, 1:])
        embedding[start : start + BLOCK] = points
    return faces(
        embedding, mix.identity[identity], **{name: of[identity] for name, of in mix.groups.items()}
    )
