"""Proposition 1: the empirical ROC approaches the true one as images are added; and halves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import (
    checked_far,
    real_numbers,
    require,
    require_kind,
    require_returned,
    require_whole,
    seed_sequence,
)
from frkit.data.checks import check_faces
from frkit.evaluation.evaluate import evaluate
from frkit.evaluation.options import far_levels
from frkit.papers.along import along
from frkit.scores.tensor import score_tensor
from frkit.vmf import Mixture

MIXTURE_SIZES = (2, 4, 8, 16, 32)
FACES_SIZES = (0.3, 0.45, 0.65, 0.9)


def consistency(
    population: Mixture | xr.Dataset,
    *,
    sizes: ArrayLike | None = None,
    far: ArrayLike | None = None,
    seeds: int = 5,
    progress: bool = True,
) -> xr.Dataset:
    """Compute the empirical ROC of growing data sets, and the curve that it approaches.

    A mixture has an exact ROC, and every seed draws a data set that grows image by image. For
    faces, growing random parts of the images of every identity are compared with the full set: the
    distance is 0 at the full size N, and in proportion to √(1/n - 1/N) before it.

    Parameters
    ----------
    population : Mixture or xr.Dataset
        A vmf mixture, or faces (of several models, if you like).
    sizes : sequence of number, optional
        For a mixture images per identity, at least 2; for faces shares of the images, in (0, 1).
    far : sequence of float, optional
        FAR levels in (0, 1), ascending; by default 1e-3 to 1e-1, 8 per decade.
    seeds : int
        Number of data sets drawn, at least 1; data set s uses seed s.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    xr.Dataset
        `frr` over seed, size and far_level (and model), `truth` over far_level (and model) and
        `n_images` over size. `sup_distance` reduces it over the levels.

    Raises
    ------
    InputError
        Shares of faces outside (0, 1), mixtures with fewer than two images, or no seed.

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
    far = far_levels(1e-3, 1e-1, per_decade=8) if far is None else np.unique(checked_far(far))
    exact = hasattr(population, "population_roc")
    if not exact:
        require_returned("population", population, "vmf.mixture or fk.faces", "identity", "image")
    if sizes is None:
        sizes = MIXTURE_SIZES if exact else FACES_SIZES
    require_whole("seeds", seeds, 1)
    sizes = np.unique(real_numbers("sizes", sizes)).tolist()
    require(sizes, "sizes is empty: give at least one size")
    shares = exact or 0 < sizes[0] <= sizes[-1] < 1
    require(shares, f"sizes are shares of the images, in (0, 1), got {sizes}")
    truth = population.population_roc(far).frr if exact else _frr(population, far)

    def for_seed(seed):
        faces = population
        if exact:
            faces = population.sample(per_identity=max(sizes), seed=seed)
        rank, counts = _ranks(faces, None if exact else seed)

        def for_size(size):
            # parts of faces have two images of each identity or more
            most = size if exact else np.maximum(2, np.rint(size * counts))
            part = faces.isel(image=rank < most)
            return xr.Dataset({"frr": _frr(part, far), "n_images": part.sizes["image"]})

        return along("size", sizes, for_size)

    curves = along("seed", range(seeds), for_seed, progress)
    n_images = curves.n_images.isel(seed=0, drop=True)
    result = xr.Dataset({"frr": curves.frr, "truth": truth, "n_images": n_images})
    n_full = 0 if exact else population.sizes["image"]
    return result.assign_attrs(kind="studies.consistency", exact=int(exact), n_full=n_full)


def _ranks(faces, seed):
    """Rank of each image within its identity, from 0, and the number of images of that identity.

    Images keep their order, or get a random one where there is a seed.
    """
    order = np.arange(faces.sizes["image"])
    if seed is not None:
        order = np.random.default_rng(seed).permutation(order.size)
    grouped = pd.Series(order).groupby(faces["identity"].values)
    return grouped.rank().to_numpy() - 1, grouped.transform("size").to_numpy()


def _frr(faces, far):
    """FRR at the FAR levels."""
    return evaluate(score_tensor(faces), far=far)["empirical"].to_dataset().frr


def sup_distance(result: xr.Dataset) -> xr.Dataset:
    """Reduce the curves of `consistency` to their largest distance from the truth.

    Parameters
    ----------
    result : xr.Dataset
        What `consistency` returned.

    Returns
    -------
    xr.Dataset
        Over seed and size `distance`, the largest |FRR - truth| over the levels, and `bound`, a
        bound for every FAR between them (D.2: both curves fall). Over size
        `typical`, the root mean square over seeds, and `reference`, the expected slope through the
        typical distances.

    Raises
    ------
    InputError
        For anything else.

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
    require_kind("result", result, "studies.consistency")
    distance = abs(result.frr - result.truth).max("far_level")
    typical = np.sqrt((distance**2).mean("seed"))
    n = result.n_images
    if result.attrs["exact"]:
        reference = "the exact truth of the mixture"
        slope = "slope of 1/√n"
        rate = 1 / np.sqrt(n)
    else:
        reference = "the full set of images"
        slope = "slope of √(1/n − 1/N)"
        rate = np.sqrt(1 / n - 1 / result.attrs["n_full"])
    constant = (typical * rate).sum("size") / (rate**2).sum("size")  # least squares
    levels = result["far_level"].values
    label = f"largest distance to {reference}, FAR {levels[0]:.2g} to {levels[-1]:.2g}"
    return xr.Dataset(
        {
            "distance": distance,
            "bound": _bound(result.frr, result.truth),
            "typical": typical,
            "reference": constant * rate,
            "n_images": n,
        },
        attrs={"kind": "studies.sup_distance", "words": label, "slope": slope},
    )


def _bound(curve, truth):
    """Bound the distance between levels, where both curves fall from one level to the next."""
    shift = {"far_level": -1}
    at_levels = abs(curve - truth)
    between = np.maximum(curve - truth.shift(shift), truth - curve.shift(shift))
    return np.fmax(at_levels, between).max("far_level")


def split(faces: xr.Dataset, seed: int = 0) -> tuple[xr.Dataset, xr.Dataset]:
    """Split faces into two parts with the same identities and the same number of images.

    Identities with one image are dropped. An even number of images is halved at random. Of an odd
    number, the extra image goes to the two parts in turn.

    Parameters
    ----------
    faces : xr.Dataset
        Faces, dims image and feature (and model, which both parts keep).
    seed : int
        Non-negative; the same seed gives the same parts.

    Returns
    -------
    tuple of two xr.Dataset
        Faces; images keep their order. An identity with three images or fewer may have one image in
        a part, and no genuine pair there.

    Raises
    ------
    InputError
        No identity has two images.

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
    check_faces(faces)
    rng = np.random.default_rng(seed_sequence(seed))
    in_first, in_second = [], []
    extra = 1  # whether the first part gets the extra image of the next odd number
    images_of = pd.Series(faces["image"].values).groupby(faces["identity"].values).indices
    for images in images_of.values():
        if images.size > 1:
            images = rng.permutation(images)
            half = (images.size + extra) // 2
            if images.size % 2 == 1:
                extra = 1 - extra
            in_first.extend(images[:half])
            in_second.extend(images[half:])
    require(len(in_first) > 0, "no identity has two images: there is nothing to split")
    return faces.isel(image=np.sort(in_first)), faces.isel(image=np.sort(in_second))
