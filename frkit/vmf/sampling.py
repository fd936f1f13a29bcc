"""Exact draws from von Mises-Fisher mixtures, for one encoder or several of the same images.

An image is a direction in the tangent space of its mean (a Gaussian vector, projected and scaled)
and a radial part (the quantile at the probability of a Gaussian number). Encoders that share part
of these Gaussian numbers give correlated embeddings, and each encoder alone still follows its own
mixture exactly.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.special import ndtr

from frkit.base import real_numbers, require, require_mapping, require_number, seed_sequence
from frkit.io.faces import faces, stacked_faces
from frkit.vmf.panels import PanelDistribution, log_cosh, radial_mode

BLOCK = 8192  # images whose noise is in memory at once


def sample(mix, per_identity: ArrayLike = 10, seed: int = 1) -> xr.Dataset:
    """Draw images: a faces Dataset with `per_identity` (a number or an array (K,)) images of each.

    The draws follow the von Mises-Fisher distribution itself (not a normalised Gaussian); the
    same seed gives the same images.

    Raises
    ------
    InputError
        Where the array of numbers has another length than the identities.

    Examples
    --------
    >>> from frkit.vmf import mixture
    >>> mixture(20, dim=16, kappa=(50, 100)).sample(per_identity=3, seed=1).sizes["image"]
    60
    """
    return _faces(mix, per_identity, [(np.random.default_rng(seed_sequence(seed)), 1.0)])


def sample_encoders(
    encoders: Mapping,
    per_identity: ArrayLike = 10,
    seed: int = 1,
    *,
    correlation: float = 0.9,
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
    correlation : float in [0, 1]
        Share of the noise's variance that encoders take from the images, and so the correlation of
        the noise of two encoders. 1 = the deviation from the mean is the same in every encoder,
        0 = independent.

    Returns
    -------
    xr.Dataset
        Faces with dims (model, image, feature).

    Raises
    ------
    InputError
        Where the identities or groups of the encoders differ, or the correlation is outside [0, 1].

    Examples
    --------
    >>> from frkit.vmf import mixture
    >>> good = mixture(20, dim=16, kappa=(50, 100))
    >>> bad = good.correlated(concentration_factor=0.5)
    >>> dict(sample_encoders({"good": good, "bad": bad}, 3).sizes)["model"]
    2
    """
    share = require_number("correlation", correlation, 0, 1)
    example = '{"good": mixture, "bad": mixture.correlated(concentration_factor=0.5)}'
    require_mapping("encoders", encoders, example)
    for name, mix in encoders.items():
        require(hasattr(mix, "mean_directions"), f"encoder {name!r} must be a mixture: {example}")
    first = next(iter(encoders.values()))
    n_seeds = len(encoders) + 1
    image_seed, *encoder_seeds = seed_sequence(seed).spawn(n_seeds)
    stacked = {}
    for (name, mix), encoder_seed in zip(encoders.items(), encoder_seeds):
        require(
            mix.mean_directions.shape == first.mean_directions.shape,
            f"encoder {name!r} has different identities or dimensions from the first; "
            "use Mixture.correlated",
        )
        # every encoder draws the images' numbers again, from the same seed
        sources = [
            (np.random.default_rng(image_seed), share),
            (np.random.default_rng(encoder_seed), 1 - share),
        ]
        stacked[name] = _faces(mix, per_identity, sources)
    return stacked_faces(stacked)


def _faces(mix, per_identity, sources):
    """Faces; `sources` are pairs of a generator and its share of the noise's variance."""
    counts = one_per_identity("per_identity", per_identity, mix.n_identities)
    require(
        np.all((counts >= 0) & (counts % 1 == 0)) and counts.sum() > 0,
        "per_identity must be the number of images of each identity, 1 or more, or one number for "
        f"each; got {per_identity!r}",
    )
    counts = counts.astype(int)
    identity = np.repeat(np.arange(mix.n_identities), counts)
    embedding = np.empty((identity.size, mix.dim), np.float32)
    distribution = radial_parts(mix.concentrations, mix.dim)
    # in blocks, so that the noise of many images is never in memory as a whole
    for start in range(0, identity.size, BLOCK):
        rows = slice(start, start + BLOCK)
        shape = (identity[rows].size, mix.dim + 1)
        noise = np.zeros(shape)
        for rng, share in sources:
            noise += np.sqrt(share) * rng.standard_normal(shape)
        radial = noise[:, 0]
        tangent = noise[:, 1:]
        person = identity[rows]
        embedding[rows] = points_around(mix.mean_directions, distribution, person, radial, tangent)
    groups = {name: labels[identity] for name, labels in mix.groups.items()}
    return faces(embedding, mix.identity[identity], **groups)


def points_around(directions, radial_parts, identity, radial, tangent):
    """Points (n, p) of vMF distributions from Gaussian numbers `radial` (n,) and `tangent` (n, p).

    identity (n,) numbers the row of `directions` (K, p) and of `radial_parts` of every point.
    """
    z = radial_parts.quantile(ndtr(radial), identity)
    mean = directions[identity]
    along = np.einsum("ip,ip->i", tangent, mean)
    across = tangent - along[:, None] * mean
    length = np.sqrt(np.einsum("ip,ip->i", across, across))
    score = np.tanh(z)
    rest = 1 / np.cosh(z)  # sqrt(1 - score^2)
    scale = rest / length
    return scale[:, None] * across + score[:, None] * mean


def radial_parts(concentrations, dim):
    """Distribution of artanh <X, mu> for X ~ vMF(mu, kappa), for concentrations (K,)."""
    mode = radial_mode(concentrations, dim)
    centre = np.arctanh(mode)
    slope = dim - 1 + 2 * concentrations * mode
    curvature = (1 - mode**2) * slope  # of the log density
    spread = 1 / np.sqrt(curvature)

    def density(z, row):  # 1 at the mode
        along = np.tanh(z) - mode[row]
        across = log_cosh(z) - log_cosh(centre[row])
        return np.exp(concentrations[row] * along - (dim - 1) * across)

    return PanelDistribution(density, centre, spread, dim)


def one_per_identity(name, values, n_identities):
    """Return numbers (K,), from one for each identity or from one for all."""
    numbers = real_numbers(name, values)
    require(
        numbers.shape in ((), (n_identities,)),
        f"{name} must be one number or have shape ({n_identities},), got shape {numbers.shape}",
    )
    return np.broadcast_to(numbers, n_identities)
