"""Fairness indices of whole score distributions: SFI, CFI and DFI (Kotwal & Marcel 2022)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import (
    real_numbers,
    require,
    require_flag,
    require_one_of,
    require_whole,
)
from frkit.measures.registry import Measure, enter, over_groups

CONSTANT = 1.0  # c of eq. 1, as the paper has it
VARIANTS = ("normal", "extremal", "weighted")
WORDS = {"sfi": "separation", "cfi": "compactness", "dfi": "distribution"}
READS = {
    "sfi": ("genuine_mean_group", "impostor_mean_group"),
    "cfi": ("genuine_sd_group", "impostor_sd_group"),
    "dfi": ("genuine_histogram_group", "impostor_histogram_group"),
}


def sfi(variant: str = "normal") -> Measure:
    """Separation fairness index: how equal the groups' distances of genuine and impostor means are.

    Parameters
    ----------
    variant : {"normal", "extremal", "weighted"}
        From the mean, the largest, or the weighted mean deviation of the groups. Weights are the
        `fusion_weights` of the groups' numbers of images.

    Returns
    -------
    Measure
        For `band`, `fair_floor`, `uncertainty` and `compare`, on evaluations with a histogram of
        scores in [0, 1] or of cosines, which are read as (1 + s) / 2. 1 is fair. Of K >= 3 groups
        the extremal variant goes down to (2 - K) / K; nothing is clipped.

    Raises
    ------
    InputError
        For an unknown variant.

    References
    ----------
    Kotwal & Marcel (2022), eq. 3-5.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.measures.sfi("extremal").fair
    1.0
    """
    return _index("sfi", variant)


def cfi(variant: str = "normal") -> Measure:
    """Compactness fairness index: how equal the groups' spreads of scores are.

    Parameters
    ----------
    variant
        As in `sfi`.

    Returns
    -------
    Measure
        As `sfi`; the spread is the standard deviation of genuine plus that of impostor scores.

    Raises
    ------
    InputError
        As `sfi`.

    References
    ----------
    Kotwal & Marcel (2022), eq. 6-8.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.measures.cfi("weighted").name
    'cfi_weighted'
    """
    return _index("cfi", variant)


def dfi(variant: str = "normal", *, balance: bool = False) -> Measure:
    """Distribution fairness index: how alike the groups' histograms of scores are.

    Few scores in a bin make it smaller: compare it with its floor.

    Parameters
    ----------
    variant
        As in `sfi`.
    balance : bool
        True gives genuine and impostor scores half of the mass each; else all pairs weigh the same,
        and nearly all pairs of a whole score tensor are impostor pairs.

    Returns
    -------
    Measure
        As `sfi`; 1 is fair, 0 means disjoint histograms.

    Raises
    ------
    InputError
        As `sfi`; in use also where the pairs do not weigh the same and balance is False.

    References
    ----------
    Kotwal & Marcel (2022), eq. 9-12.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.measures.dfi(balance=True).name
    'dfi_normal(balanced)'
    """
    return _index("dfi", variant, balance)


def _index(name, variant, balance=False):
    """One minus the mean, the largest or the weighted mean deviation of the groups."""
    require_one_of("variant", variant, VARIANTS)
    require_flag("balance", balance)

    def read(tallies):
        if name == "dfi":
            deviation = divergences(distribution(tallies, balance=balance))
        else:
            z = separation(tallies) if name == "sfi" else compactness(tallies)
            deviation = 2 * np.abs(z - z.mean("group", skipna=False))
        if variant == "extremal":
            return 1 - deviation.max("group", skipna=False)
        if variant == "normal":
            return 1 - deviation.mean("group", skipna=False)
        weights = fusion_weights(over_groups(tallies, "images_group"))
        return 1 - (weights * deviation).sum("group", skipna=False)

    reads = READS[name]
    if name == "dfi" and not balance:
        reads += ("genuine_pairs_group", "impostor_pairs_group")
    if variant == "weighted":
        reads += ("images_group",)
    return Measure(
        f"{name}_{variant}" + ("(balanced)" if balance else ""),
        read,
        fair=1.0,
        label=f"{WORDS[name]} fairness index, {variant}",
        permuted=True,
        binned=name == "dfi",
        reads=reads,
    )


# --- what the indices compare --------------------------------------------------------------------


def separation(tallies):
    """Distance of mean genuine and mean impostor score, z_S, of every group, in [0, 1]."""
    genuine = over_groups(tallies, "genuine_mean_group")
    impostor = over_groups(tallies, "impostor_mean_group")
    return np.abs(genuine - impostor) / score_range(tallies)


def compactness(tallies):
    """Standard deviation (ddof 0) of genuine plus that of impostor scores, z_C, in [0, 1]."""
    genuine = over_groups(tallies, "genuine_sd_group")
    impostor = over_groups(tallies, "impostor_sd_group")
    return (genuine + impostor) / score_range(tallies)


def distribution(tallies, *, balance=False):
    """Histogram of genuine and impostor scores together, z_D: sum 1 over `score_bin`.

    Every pair weighs the same; `balance` gives genuine and impostor scores half of the mass each.
    """
    genuine = over_groups(tallies, "genuine_histogram_group")
    impostor = over_groups(tallies, "impostor_histogram_group")
    score_range(tallies)
    if balance:
        return (genuine + impostor) / 2
    require(
        "genuine_pairs_group" in tallies,
        "DFI puts all genuine and impostor scores of a group together: evaluate with "
        "weighting='pair', or give both kinds half of the mass with balance=True",
    )
    n_genuine = tallies.genuine_pairs_group
    n_impostor = tallies.impostor_pairs_group
    share = n_genuine / (n_genuine + n_impostor)
    return share * genuine + (1 - share) * impostor


def score_range(tallies):
    """Length of the range of scores: that of [0, 1], or of [-1, 1] for a cosine."""
    centres = tallies["score_bin"].values
    half_bin = (centres[-1] - centres[0]) / max(len(centres) - 1, 1) / 2
    low = round(centres[0] - half_bin, 9)
    high = round(centres[-1] + half_bin, 9)
    require(
        high == 1 and low in (0, -1),
        f"the fairness indices need scores in [0, 1], but the histogram reaches from {low:g} to "
        f"{high:g}; evaluate with fk.indices.distributions(scores, by=..., score_map=...)",
    )
    return high - low


def divergences(z):
    """Kullback-Leibler divergence of every group from the mean histogram, in [0, 1] (eq. 9-12).

    Base 2, divided by log2 K for K groups; 0 log 0 = 0. z: any dims with `group` and
    `score_bin`, sum 1.
    """
    mean = z.mean("group", skipna=False)
    terms = xr.where(z == 0, 0.0, z * np.log2(z / mean))
    return terms.sum("score_bin", skipna=False) / np.log2(z.sizes["group"])


# --- weights -------------------------------------------------------------------------------------


def unnormalised_weight(share: ArrayLike, n_groups: int) -> ArrayLike:
    """Weight of a group before the weights are divided by their sum: Fig. 2 of the paper.

    Parameters
    ----------
    share : float, NumPy array or DataArray in [0, 1]
        N_i / N, of any shape.
    n_groups : int
        Number K of groups.

    Returns
    -------
    float or array
        Shaped like share, in [1, 2]: largest at N_i / N = 1 / (2K).

    Raises
    ------
    InputError
        For a share outside [0, 1].

    References
    ----------
    Kotwal & Marcel (2022), eq. 1, with c = 1 and sigma = 1 / (2K).

    Examples
    --------
    >>> import frkit as fk
    >>> float(fk.measures.unnormalised_weight(1 / 6, 3))
    2.0
    """
    require_whole("n_groups", n_groups, 1)
    if not isinstance(share, xr.DataArray):
        share = real_numbers("share", share)
    is_share = bool(((share >= 0) & (share <= 1)).all())
    require(is_share, f"share must lie in [0, 1], got {share!r}")
    sigma = 1 / (2 * n_groups)
    return CONSTANT + np.exp(-((share - sigma) ** 2) / (2 * sigma**2))


def fusion_weights(sizes: ArrayLike | xr.DataArray) -> xr.DataArray:
    """Weigh groups by their sizes: more for the under-represented, but not without limit.

    Parameters
    ----------
    sizes : sequence of sizes (group,), or DataArray
        Over `group`, positive; only the shares N_i / N matter.

    Returns
    -------
    xr.DataArray
        Over `group`, sum 1.

    Raises
    ------
    InputError
        For fewer than two groups, or a size that is not positive.

    References
    ----------
    Kotwal & Marcel (2022), eq. 1-2.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.measures.fusion_weights([100, 1000, 2000]).round(5).values.tolist()
    [0.39286, 0.37535, 0.23179]
    """
    if not isinstance(sizes, xr.DataArray):
        require(
            not isinstance(sizes, pd.Series),
            "a Series names the groups: give sizes.rename_axis('group').to_xarray()",
        )
        sizes = real_numbers("sizes of groups", sizes).astype(float)
        shape = sizes.shape
        require(
            len(shape) == 1, f"sizes of groups must be numbers, one for each, got shape {shape}"
        )
        sizes = xr.DataArray(sizes, dims="group")
        require((sizes > 0).all(), f"sizes of groups must be positive, got {sizes.values}")
    n_groups = sizes.sizes.get("group", 1)
    require(n_groups >= 2, f"weights need two groups or more, got {n_groups}")
    weights = unnormalised_weight(sizes / sizes.sum("group"), n_groups)
    return weights / weights.sum("group")


for variant in VARIANTS:
    for make in (sfi, cfi, dfi):
        enter(make(variant))
