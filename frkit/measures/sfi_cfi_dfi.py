"""Fairness indices of whole score distributions: SFI, CFI and DFI (Kotwal & Marcel 2022)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import GROUP, SCORE_BIN, real_numbers, require, require_one_of
from frkit.measures.registry import IDENTITY_SCALE, Measure, enter, over_groups

Sizes = ArrayLike | Mapping[str, float]  # of the groups, in their order or by name
VARIANTS = ("normal", "extremal", "weighted")
WORDS = {"sfi": "separation", "cfi": "compactness", "dfi": "distribution"}
SCALES = {
    (0.0, 1.0): 1.0,
    (-1.0, 1.0): 2.0,
}  # range of the scores -> its length; the cosine is read as (1 + s) / 2


def separation(tallies: xr.Dataset) -> xr.DataArray:
    """Distance of mean genuine and mean impostor score, z_S, of every group: any dims with `group`, in [0, 1]."""
    genuine, impostor = (
        over_groups(tallies, f"{kind}_mean_group") for kind in ("genuine", "impostor")
    )
    return np.abs(genuine - impostor) / score_scale(tallies)


def compactness(tallies: xr.Dataset) -> xr.DataArray:
    """Sum of the standard deviations (ddof 0) of genuine and impostor scores, z_C, of every group, in [0, 1]."""
    genuine, impostor = (
        over_groups(tallies, f"{kind}_sd_group") for kind in ("genuine", "impostor")
    )
    return (genuine + impostor) / score_scale(tallies)


def distribution(tallies: xr.Dataset, *, balance: bool = False) -> xr.DataArray:
    """Histogram of genuine and impostor scores together, z_D, of every group: sum 1 over `score_bin`.

    Every pair weighs the same; `balance` gives the genuine and the impostor scores half of the mass each.
    """
    score_scale(tallies)
    genuine, impostor = (
        over_groups(tallies, f"{kind}_histogram_group") for kind in ("genuine", "impostor")
    )
    if balance:
        return (genuine + impostor) / 2
    require(
        "genuine_pairs_group" in tallies,
        "DFI puts all genuine and impostor scores of a group together: evaluate with weighting='pair', or give both "
        "kinds half of the mass with balance=True",
    )
    share = tallies.genuine_pairs_group / (
        tallies.genuine_pairs_group + tallies.impostor_pairs_group
    )
    return share * genuine + (1 - share) * impostor


def score_scale(tallies: xr.Dataset) -> float:
    """Length of the range of the scores, which must be [0, 1], or [-1, 1] for a cosine that is read as (1 + s) / 2."""
    require(
        SCORE_BIN in tallies.coords,
        "this evaluation holds no histograms: evaluate with histogram=100",
    )
    centre = tallies[SCORE_BIN].values
    step = centre[1] - centre[0] if len(centre) > 1 else np.nan
    ends = tuple(np.round([centre[0] - step / 2, centre[-1] + step / 2], 9).tolist())
    require(
        ends in SCALES,
        f"the fairness indices need scores in [0, 1], but the histogram reaches from {ends[0]:g} to {ends[1]:g}; map "
        "the scores with fk.indices.unit_scores(scores, score_map=...) and evaluate those with histogram=(100, (0, 1))",
    )
    return SCALES[ends]


def deviations(z: xr.DataArray) -> xr.DataArray:
    """Twice the distance of every group from the mean over groups: what eq. 3-8 add up; z: any dims with `group`."""
    return 2 * np.abs(z - z.mean(GROUP, skipna=False))


def divergences(z: xr.DataArray) -> xr.DataArray:
    """Kullback-Leibler divergence (base 2) of every group from the mean histogram, over log2 K (eq. 9-12), in [0, 1].

    z: any dims with `group` and `score_bin`, sum 1; 0 log 0 = 0.
    """
    mean = z.mean(GROUP, skipna=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = xr.where(z == 0, 0.0, z * np.log2(z / mean))
    return terms.sum(SCORE_BIN, skipna=False) / np.log2(z.sizes[GROUP])


def fusion_weights(sizes: Sizes, *, c: float = 1.0) -> xr.DataArray:
    """Weigh groups by their sizes: more for the under-represented, but not without limit.

    Parameters
    ----------
    sizes : mapping of group to size, sequence of sizes (group,), or DataArray with a dim `group`; positive.
        Only the shares N_i / N matter.
    c : the constant of eq. 1, >= 0: the larger, the more alike the weights.

    Returns
    -------
    xr.DataArray over `group`, sum 1.

    Raises
    ------
    InputError : fewer than two groups, a size that is not positive, a negative c.

    References
    ----------
    Kotwal & Marcel (2022), eq. 1-2.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.measures.fusion_weights([100, 1000, 2000]).round(5).values.tolist()
    [0.39286, 0.37535, 0.23179]
    """
    if isinstance(sizes, Mapping):
        sizes = xr.DataArray(
            np.array(list(sizes.values()), float), {GROUP: list(map(str, sizes))}, GROUP
        )
    elif not isinstance(sizes, xr.DataArray):
        sizes = xr.DataArray(np.asarray(sizes, float), dims=GROUP)
    require(sizes.sizes[GROUP] >= 2, f"weights need two groups or more, got {sizes.sizes[GROUP]}")
    require(
        bool((sizes > 0).all()), f"sizes of groups must be positive, got {sizes.values.tolist()}"
    )
    return _fused_weights(sizes, c)


def unnormalised_weight(share: ArrayLike, n_groups: int, *, c: float = 1.0) -> np.ndarray:
    """Weight of a group before the weights are divided by their sum: Fig. 2 of Kotwal & Marcel (2022).

    Parameters
    ----------
    share : float or array, any shape, in [0, 1]: N_i / N.
    n_groups : number K of groups.
    c : the constant of eq. 1, >= 0.

    Returns
    -------
    np.ndarray, shaped like share, in [c, c + 1]: largest at N_i / N = 1 / (2K).

    Raises
    ------
    InputError : a negative c.

    References
    ----------
    Kotwal & Marcel (2022), eq. 1, with sigma = 1 / (2K).

    Examples
    --------
    >>> import frkit as fk
    >>> float(fk.measures.unnormalised_weight(1 / 6, 3))
    2.0
    """
    _check_constant(c)
    middle = 1 / (2 * n_groups)
    return c + np.exp(-((share - middle) ** 2) / (2 * middle**2))


def _check_constant(c: float) -> None:
    """The constant c of eq. 1."""
    given = real_numbers("c", c)
    fits = given.ndim == 0 and 0 <= given < np.inf
    require(fits, f"the constant c of the weights must be finite and at least 0, got {c!r}")


def _fused_weights(sizes: xr.DataArray, c: float) -> xr.DataArray:
    """Weights of eq. 1-2; a replicate that lost a group has NaN there."""
    raw = unnormalised_weight(sizes / sizes.sum(GROUP), sizes.sizes[GROUP], c=c)
    return raw / raw.sum(GROUP)


def group_weights(
    tallies: xr.Dataset, *, group_sizes: Sizes | None = None, c: float = 1.0
) -> xr.DataArray:
    """Weights of the groups of an evaluation, from its numbers of images or from sizes that are given."""
    images = over_groups(tallies, "images_group")
    if group_sizes is None:
        return _fused_weights(images, c)
    given, names = fusion_weights(group_sizes, c=c), images[GROUP].values.tolist()
    require(
        given.sizes[GROUP] == len(names)
        and (GROUP not in given.coords or set(given[GROUP].values) == set(names)),
        f"group_sizes must give one size for each of the groups {names}, got {group_sizes!r}",
    )
    return (
        given.sel({GROUP: names}) if GROUP in given.coords else given.assign_coords({GROUP: names})
    )


def fused(deviation: xr.DataArray, variant: str, weights: xr.DataArray) -> xr.DataArray:
    """1 minus the mean, the largest or the weighted mean deviation of the groups."""
    if variant == "extremal":
        return 1 - deviation.max(GROUP, skipna=False)
    if variant == "normal":
        return 1 - deviation.mean(GROUP, skipna=False)
    return 1 - (weights * deviation).sum(GROUP, skipna=False)


def _index(kind: str, variant: str, group_sizes, c: float, balance: bool = False) -> Measure:
    """The measure of one index and variant."""
    require_one_of("variant", variant, VARIANTS)
    _check_constant(c)
    of_groups = {
        "sfi": lambda tallies: deviations(separation(tallies)),
        "cfi": lambda tallies: deviations(compactness(tallies)),
        "dfi": lambda tallies: divergences(distribution(tallies, balance=balance)),
    }[kind]

    def read(tallies: xr.Dataset) -> xr.DataArray:
        return fused(
            of_groups(tallies), variant, group_weights(tallies, group_sizes=group_sizes, c=c)
        )

    given = {f"c={c:g}": c != 1, "sizes given": group_sizes is not None, "balanced": balance}
    others = ", ".join(words for words, differs in given.items() if differs)
    name = f"{kind}_{variant}" + (f"({others})" if others else "")
    label = f"{WORDS[kind]} fairness index, {variant}"
    return Measure(name, read, IDENTITY_SCALE, 1.0, label, dealt=True, binned=kind == "dfi")


def sfi(variant: str = "normal", *, group_sizes: Sizes | None = None, c: float = 1.0) -> Measure:
    """Separation fairness index: how equal the groups' distances of mean genuine and impostor score are; 1 is fair.

    Parameters
    ----------
    variant : "normal" (mean deviation), "extremal" (largest) or "weighted" (weighted by `fusion_weights`).
    group_sizes : sizes for the weights in place of the numbers of images; see `fusion_weights`.
    c : the constant of the weights.

    Returns
    -------
    Measure : for `band`, `floor`, `uncertainty` and `compare`, on evaluations with a histogram of scores in
        [0, 1] or of cosines, which are read as (1 + s) / 2. Three or more groups: the extremal variant goes
        down to (2 - K) / K; nothing is clipped.

    Raises
    ------
    InputError : an unknown variant; in use also for sizes that do not fit.

    References
    ----------
    Kotwal & Marcel (2022), eq. 3-5.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.measures.sfi("extremal").fair
    1.0
    """
    return _index("sfi", variant, group_sizes, c)


def cfi(variant: str = "normal", *, group_sizes: Sizes | None = None, c: float = 1.0) -> Measure:
    """Compactness fairness index: how equal the groups' spreads of scores are; 1 is fair.

    Parameters
    ----------
    variant, group_sizes, c : as in `sfi`.

    Returns
    -------
    Measure : as `sfi`; the spread is the standard deviation of genuine plus that of impostor scores.

    Raises
    ------
    InputError : as `sfi`.

    References
    ----------
    Kotwal & Marcel (2022), eq. 6-8.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.measures.cfi("weighted", c=0.5).name
    'cfi_weighted(c=0.5)'
    """
    return _index("cfi", variant, group_sizes, c)


def dfi(
    variant: str = "normal",
    *,
    group_sizes: Sizes | None = None,
    c: float = 1.0,
    balance: bool = False,
) -> Measure:
    """Distribution fairness index: how alike the groups' histograms of scores are; 1 is fair, 0 is disjoint.

    Few scores in a bin make it smaller: read it beside its floor.

    Parameters
    ----------
    variant, group_sizes, c : as in `sfi`.
    balance : True gives genuine and impostor scores half of the mass each; else all pairs weigh the same, and of
        a whole score tensor nearly all are impostor pairs.

    Returns
    -------
    Measure : as `sfi`.

    Raises
    ------
    InputError : as `sfi`; in use also where the pairs do not weigh the same and balance is False.

    References
    ----------
    Kotwal & Marcel (2022), eq. 9-12.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.measures.dfi(balance=True).name
    'dfi_normal(balanced)'
    """
    return _index("dfi", variant, group_sizes, c, balance)


enter(*(make(variant) for make in (sfi, cfi, dfi) for variant in VARIANTS))
