"""Proposition 1: the empirical ROC comes closer to the true one as images are added; and halves of a data set."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import FAR_LEVEL, IDENTITY, IMAGE, require
from frkit.evaluation.evaluate import evaluate_parts, far_levels
from frkit.scores.tensor import score_tensor
from frkit.studies.along import along
from frkit.vmf import Mixture

MIXTURE_SIZES = (2, 4, 8, 16, 32)
FACES_SIZES = (0.3, 0.45, 0.65, 0.9)
TO_MIXTURE = "the exact truth of the mixture", "slope of 1/\u221an"
TO_FACES = "the full set of images", "slope of \u221a(1/n \u2212 1/N)"


def consistency(
    population: Mixture | xr.Dataset,
    *,
    sizes: tuple | None = None,
    far: ArrayLike | None = None,
    seeds: int = 5,
    progress: bool = True,
) -> xr.Dataset:
    """Compute the empirical ROC of growing data sets, for several seeds, beside the curve they tend to.

    A mixture has an exact ROC, and every seed draws a data set that grows image by image. Faces have none:
    growing random parts of the images of every identity are held against the full set, so that the distance
    ends at 0 at the full size N and follows √(1/n - 1/N) before it.

    Parameters
    ----------
    population : a vmf Mixture, or a faces Dataset (with several models, if it has them).
    sizes : for a mixture, images per identity (at least 2); for faces, shares of the images, in (0, 1).
    far : FAR levels in (0, 1), ascending; 1e-3 to 1e-1 with 8 per decade when left out.
    seeds : number of data sets drawn, at least 1; data set s uses seed s.
    progress : show a progress bar.

    Returns
    -------
    xr.Dataset with `frr` over seed, size and far_level (and model), `truth` over far_level, `n_images` over
    size; `sup_distance` reduces it over a range of FAR.

    Raises
    ------
    InputError : no sizes, or sizes out of their range; fewer than one seed.

    References
    ----------
    Conti & Clémençon (2024), Proposition 1 (eq. 5) and appendix D.2.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> result = fk.studies.consistency(mix, sizes=(4, 8), far=[0.1, 0.2], seeds=2)
    >>> result.frr.dims
    ('seed', 'size', 'far_level')
    """
    far = far_levels(1e-3, 1e-1, per_decade=8) if far is None else np.asarray(far, float)
    require(seeds >= 1, f"seeds must be at least 1, got {seeds}")
    exact = hasattr(population, "population_roc")
    sizes = _sizes(sizes, exact)
    sweep = partial(evaluate_parts, far=far, people=False)
    truth = population.population_roc(far).frr if exact else _roc(population, sweep)

    def of_seed(seed: int) -> xr.Dataset:
        parts = dict(zip(sizes, _grown(population, sizes, seed, exact), strict=True))
        frr = along("size", sizes, lambda size: _roc(parts[size], sweep).to_dataset(name="frr"))
        return frr.assign(n_images=("size", [parts[size].sizes[IMAGE] for size in sizes]))

    found = along("seed", range(seeds), of_seed, progress)
    n_full = 0 if exact else population.sizes[IMAGE]
    found = xr.Dataset(
        {"frr": found.frr, "truth": truth, "n_images": found.n_images.isel(seed=0, drop=True)}
    )
    return found.assign_attrs(exact=int(exact), n_full=n_full)


def sup_distance(result: xr.Dataset, far: tuple[float, float] | None = None) -> xr.Dataset:
    """Reduce the curves of `consistency` to their largest distance from the truth within a range of FAR.

    Parameters
    ----------
    result : what `consistency` returned.
    far : lowest and highest FAR of the range, in (0, 1); the whole range when left out.

    Returns
    -------
    xr.Dataset with `distance` over seed and size (the largest |FRR - truth| over the levels), `bound` (a
    bound over every FAR in the range, levels or not, from the monotonicity that D.2 uses), `typical` (root
    mean square over seeds) and `reference` (the expected slope through the typical distances) over size.

    Raises
    ------
    InputError : no level lies in the range.

    References
    ----------
    Conti & Clémençon (2024), Proposition 1 (eq. 5) and appendix D.2.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> result = fk.studies.consistency(mix, sizes=(4, 8), far=[0.1, 0.2], seeds=2)
    >>> fk.studies.sup_distance(result).distance.sizes["seed"]
    2
    """
    low, high = (0.0, 1.0) if far is None else far
    kept = result.sel({FAR_LEVEL: slice(low * (1 - 1e-9), high * (1 + 1e-9))})
    require(
        kept.sizes[FAR_LEVEL] > 0, f"no FAR level of this study lies between {low:g} and {high:g}"
    )
    distance = abs(kept.frr - kept.truth).max(FAR_LEVEL)
    typical = np.sqrt((distance**2).mean("seed"))
    n, full = result.n_images, result.attrs["n_full"]
    rate = (
        np.sqrt(1 / n - 1 / full) if full else 1 / np.sqrt(n)
    )  # at which the distance should shrink
    constant = (typical * rate).sum("size") / (rate**2).sum("size")
    levels = kept[FAR_LEVEL].values
    what, slope = TO_MIXTURE if result.attrs["exact"] else TO_FACES
    found = {"distance": distance, "bound": _bound(kept.frr, kept.truth), "typical": typical}
    words = f"largest distance to {what}, FAR {levels[0]:.2g} to {levels[-1]:.2g}"
    return xr.Dataset(
        found | {"reference": constant * rate, "n_images": n},
        attrs={"words": words, "slope": slope},
    )


def split(faces: xr.Dataset, seed: int = 0) -> tuple[xr.Dataset, xr.Dataset]:
    """Split faces in two parts that hold the same identities and the same number of images.

    Identities with one image are dropped. An even number of images is halved at random; of an odd number, the
    extra image goes to the first part, then to the second, and so on in turn.

    Parameters
    ----------
    faces : faces Dataset, dims image and feature (and model, which both parts keep).
    seed : non-negative integer; the same seed gives the same parts.

    Returns
    -------
    two faces Datasets; images keep their order. An identity with three images or fewer may have one image in
    a part, and then no genuine pair there.

    Raises
    ------
    InputError : no identity has two images.

    References
    ----------
    Conti & Clémençon (2024), appendix A.3.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=7)
    >>> [part.sizes["image"] for part in fk.studies.split(faces, seed=0)]
    [70, 70]
    """
    _, codes, counts = np.unique(faces[IDENTITY].values, return_inverse=True, return_counts=True)
    require(bool((counts >= 2).any()), "no identity has two images: there is nothing to split")
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    first, extra_to_first = np.zeros(codes.size, bool), True
    for code in np.flatnonzero(counts >= 2):
        images = rng.permutation(np.flatnonzero(codes == code))
        half = images.size // 2
        if images.size % 2:
            half += extra_to_first
            extra_to_first = not extra_to_first
        first[images[:half]] = True
    kept = counts[codes] >= 2
    return faces.isel({IMAGE: np.flatnonzero(first)}), faces.isel(
        {IMAGE: np.flatnonzero(kept & ~first)}
    )


def _sizes(sizes: tuple | None, exact: bool) -> tuple:
    """The sizes asked for, ascending, or the usual ones."""
    if sizes is None:
        return MIXTURE_SIZES if exact else FACES_SIZES
    require(len(sizes) > 0, "sizes is empty: give at least one size")
    require(
        not exact or min(sizes) >= 2, f"sizes are images per identity, at least 2, got {min(sizes)}"
    )
    inside = exact or 0 < min(sizes) <= max(sizes) < 1
    require(inside, f"sizes are shares of the images, in (0, 1), got {tuple(sizes)}")
    return tuple(sorted(sizes))


def _grown(population, sizes: tuple, seed: int, exact: bool) -> list[xr.Dataset]:
    """Parts of the images of each identity, each inside the next: the first ones of a sample, or random ones of all.

    Random parts hold two images at least.
    """
    faces = population.sample(per_identity=max(sizes), seed=seed) if exact else population
    _, codes, counts = np.unique(faces[IDENTITY].values, return_inverse=True, return_counts=True)
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    rank = rank_within_identity(
        codes, np.arange(codes.size) if exact else rng.permutation(codes.size)
    )
    wanted = sizes if exact else [np.maximum(2, np.rint(size * counts))[codes] for size in sizes]
    return [faces.isel({IMAGE: np.flatnonzero(rank < limit)}) for limit in wanted]


def rank_within_identity(identity: np.ndarray, order: np.ndarray) -> np.ndarray:
    """For every image, how many images of its identity come before it in the given order."""
    return pd.Series(order).groupby(identity).rank().to_numpy() - 1


def _roc(faces: xr.Dataset, sweep: Callable[..., xr.DataTree]) -> xr.DataArray:
    """FRR at the FAR levels, without replicates."""
    return sweep(score_tensor(faces))["empirical"].to_dataset().frr


def _bound(curve: xr.DataArray, truth: xr.DataArray) -> xr.DataArray:
    """Between two levels both curves fall, so they differ at most by their values at opposite ends."""
    later = {FAR_LEVEL: -1}
    differences = abs(curve - truth), curve - truth.shift(later), truth - curve.shift(later)
    return xr.concat(differences, "ends").max(("ends", FAR_LEVEL))
