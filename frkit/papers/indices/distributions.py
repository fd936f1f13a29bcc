"""`fairness_indices`: SFI, CFI and DFI with their parts, intervals and floors.

The formulas are in `frkit.measures.sfi_cfi_dfi`, the floors in `frkit.intervals.floors`.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import xarray as xr

from frkit.base import (
    gathered_notices,
    listed,
    require,
    require_inside,
    require_whole,
    warn,
)
from frkit.evaluation.evaluate import evaluate_parts
from frkit.evaluation.nodes import provenance_of
from frkit.evaluation.sweep import swept
from frkit.intervals import band, fair_floor
from frkit.intervals.floors import PERMUTED
from frkit.intervals.permutation import distributions_of_permuted
from frkit.intervals.reading import data_of
from frkit.measures.sfi_cfi_dfi import (
    VARIANTS,
    cfi,
    compactness,
    dfi,
    distribution,
    fusion_weights,
    separation,
    sfi,
)
from frkit.papers.indices.maps import unit_scores
from frkit.resampling import Resampling
from frkit.scores.groups import checked_scores
from frkit.scores.kept import has_names, is_list

NEEDS = {"genuine": "a person with two images", "impostor": "two people"}
PER_BIN = 100  # scores that a group needs for each bin, so that DFI is not due to their number


def fairness_indices(
    scores: xr.DataArray | xr.Dataset | xr.DataTree,
    *,
    by: str | list[str] | None = None,
    balance: bool = False,
    level: float = 0.95,
    **options,
) -> xr.Dataset:
    """Separation, compactness and distribution fairness index, with their uncertainty.

    Each compares one property of the groups' score distributions: the distance of their means
    (SFI), their spread (CFI), their whole shape (DFI). 1 is fair. They say nothing about errors
    at a threshold.

    Parameters
    ----------
    scores : xr.DataArray, xr.Dataset or xr.DataTree
        Score tensor, score matrix or list of pairs; with a `model` dim every model. Or what
        `indices.distributions` returned, of which no score is read again.
    by : str or list of str
        Attribute(s) whose groups are compared.
    balance : bool
        True gives genuine and impostor scores half of the mass each in DFI's histograms; otherwise
        every pair weighs the same, and nearly all pairs of a whole tensor are impostor pairs.
    level : float in (0, 1)
        Nominal coverage of the intervals, and the quantile of the floor's limit.
    **options
        `score_map`, `bins`, `resampling`, `permutations`, `varying` and `progress` of
        `indices.distributions`. Intervals need `resampling`. With few people they are too narrow:
        with 60 people in three equal groups, people drawn anew, that of SFI contained the truth in
        .80 of data sets, that of CFI in .88.

    Returns
    -------
    xr.Dataset
        `sfi`, `cfi`, `dfi` over `variant` (normal, extremal, weighted). With replicates also
        `<index>_lower` and `<index>_upper`: pivotal intervals that contain the estimate. For SFI
        and CFI one that reaches 1, the largest value, has the recentered lower end if that is
        lower. An upper end may be above 1; `fk.table` writes 1. With
        permutations also `<index>_floor` (median) and `<index>_floor_limit` of what these people
        would give in groups at random, and `<index>_p`, the share of permutations that are not
        fairer than the data. Over group:
        `z_separation`, `z_compactness`, `images` of each group (its pairs, where a list names no
        images) and its `weights` by them, and for both kinds `<kind>_pairs`, `<kind>_mean`,
        `<kind>_sd`; over (score_bin, group) `z_distribution` and `<kind>_histogram`, sum 1. In
        front `model`, where there are several.

    Raises
    ------
    InputError
        As `indices.distributions`.

    Warns
    -----
    DataWarning
        For fewer than 100 scores for each bin in a group, which makes DFI look less fair.

    References
    ----------
    Kotwal & Marcel (2022), eq. 1-12.

    Examples
    --------
    >>> import warnings, frkit as fk
    >>> unfair = fk.canonical_scores("highly unfair")
    >>> with warnings.catch_warnings(action="ignore"):
    ...     result = fk.fairness_indices(unfair, by="group", score_map="identity")
    >>> bool(result.sfi.sel(variant="extremal") < result.sfi.sel(variant="normal") < 0.7)
    True
    """
    evaluation = scores
    if "empirical" not in getattr(scores, "children", ()):
        require(by is not None, "the indices compare groups: name an attribute with by=")
        evaluation = distributions(scores, by=by, **options)
    require_inside("level", level, 0, 1)
    tallies = evaluation["empirical"].to_dataset()
    result = xr.Dataset(
        {
            "z_separation": separation(tallies),
            "z_compactness": compactness(tallies),
            "z_distribution": distribution(tallies, balance=balance),
            "weights": fusion_weights(tallies.images_group),
            "images": tallies.images_group,
        }
    )
    for kind in NEEDS:
        for name in ("mean", "sd", "histogram", "pairs"):
            result[f"{kind}_{name}"] = tallies[f"{kind}_{name}_group"]
    _warn_of_few_scores(tallies)
    variants = xr.Variable("variant", [*VARIANTS])
    for make, further in ((sfi, {}), (cfi, {}), (dfi, {"balance": balance})):
        indices = [make(variant, **further) for variant in VARIANTS]
        rows = [_with_ends(evaluation, index, make.__name__, level) for index in indices]
        result = result.merge(xr.concat(rows, variants))
    if "replicates" in evaluation.children:
        _warn_of_missing_pairs(evaluation["replicates"].to_dataset())
    provenance = provenance_of(evaluation)
    for name in ("scheme", "target", "n", "similarity"):
        if provenance.get(name) is not None:
            result.attrs[name] = provenance[name]
    return result.assign_attrs(
        kind="fairness_indices",
        by=json.dumps(provenance["by"]),
        bins=tallies.sizes["score_bin"],
        balance=int(balance),
        level=level,
    )


def _with_ends(evaluation, index, name, level):
    """One index with interval and floor, where the evaluation contains what they need."""
    result = {name: index(data_of(evaluation))}
    if "replicates" in evaluation.children:
        with gathered_notices():  # `fairness_indices` says them once
            interval = _interval(evaluation, index, level)
        result |= {f"{name}_lower": interval.lower, f"{name}_upper": interval.upper}
    if PERMUTED in evaluation.children:
        floor = fair_floor(evaluation, index, level=level)
        result |= {f"{name}_floor": floor["median"], f"{name}_floor_limit": floor["limit"]}
        result[f"{name}_p"] = floor["p"]
    return xr.Dataset(result)


def _warn_of_few_scores(tallies):
    """Warn of groups with too few scores for the bins of DFI."""
    bins = tallies.sizes["score_bin"]
    n_scores = tallies.genuine_pairs_group + tallies.impostor_pairs_group
    few = tallies["group"].values[_fewest(n_scores) < PER_BIN * bins]
    if len(few):
        warn(
            f"fewer than {PER_BIN} scores for each of {bins} bins in {listed(few)}: DFI is then "
            "lower than it should be, also for a fair system; compare it with its floor, or take "
            "fewer bins"
        )


def _warn_of_missing_pairs(replicates):
    """Warn once of groups whose replicates have no genuine or no impostor pair."""
    has_both = replicates.genuine_mean_group.notnull() & replicates.impostor_mean_group.notnull()
    n = replicates.sizes["replicate"]
    n_complete = _fewest(has_both.sum("replicate"))
    groups = replicates["group"].values[n_complete < n]
    if len(groups):
        warn(
            f"up to {n - n_complete.min()} of {n} replicates lack "
            f"genuine or impostor pairs of a group ({listed(groups)}): they give no index; where "
            "most lack them there is no interval (NaN); merge small groups with others"
        )


def _interval(evaluation, index, level):
    """The pivotal interval; where it reaches 1, with the recentered lower end if that is lower.

    No index is above 1. Near 1 replicates of SFI and CFI can hardly exceed the estimate, so that
    the pivotal lower end comes too close to it, or above it: where the groups differ by one to
    three standard deviations it would be above the truth in up to a quarter of the data sets.
    """
    interval = band(evaluation, index, level=level)
    lower = interval.lower
    if not index.binned:  # the centre of DFI allows for its bias
        recentered = band(evaluation, index, method="recentered", level=level)
        lower = lower.where(interval.upper < 1, np.minimum(lower, recentered.lower))
    lower = np.minimum(lower, interval.estimate)
    upper = np.maximum(interval.upper, interval.estimate)
    return interval.assign(lower=lower, upper=upper)


def distributions(
    scores: xr.DataArray | xr.Dataset,
    *,
    by: str | list[str],
    score_map: str | Callable = "cosine",
    bins: int = 100,
    resampling: Resampling | None = None,
    permutations: int | None = None,
    varying: str = "error",
    progress: bool | None = None,
) -> xr.DataTree:
    """Tally whole score distributions of groups, for SFI, CFI and DFI.

    All pairs weigh the same, impostors are of the same group. `band`, `uncertainty`, `compare` and
    `fair_floor` take the result with any of the measures "sfi_normal", ..., "dfi_weighted", or with
    those of `measures.sfi` and so on.

    Parameters
    ----------
    scores : xr.DataArray or xr.Dataset
        Score tensor, score matrix or list of pairs; with a `model` dim every model.
    by : str or list of str
        Attribute(s) whose groups are compared; people without a label belong to no group.
    score_map : str or callable
        How scores are mapped to [0, 1]: "cosine" is (1 + s) / 2; "identity" leaves scores as they
        are; or an increasing function that takes an array of scores and returns one of the same
        shape.
    bins : int
        Equal bins on [0, 1], at least 2.
    resampling : Resampling, optional
        How replicates are drawn; without it there are none.
    permutations : int, optional
        How often the labels of groups are permuted over people, for the floor; by
        default as many times as there are replicates. In a list, a pair goes with the person of its
        probe; without people, the labels are permuted over scores.
    varying, progress
        As in `frkit.evaluate`.

    Returns
    -------
    xr.DataTree
        As from `frkit.evaluate(..., histogram=bins)` without the rates. The node `permuted`,
        over (replicate, group), contains the permutations.

    Raises
    ------
    InputError
        For scores that are NaN or that the map sends outside [0, 1] (by more than 1e-5, which is
        rounding), a map that decreases, fewer than two groups, or a
        group without genuine or without impostor pairs.

    Warns
    -----
    DataWarning
        As `frkit.evaluate`.

    References
    ----------
    Kotwal & Marcel (2022), section 3.

    Examples
    --------
    >>> import frkit as fk
    >>> ev = fk.indices.distributions(fk.canonical_scores("unfair"), by="group", permutations=20)
    >>> bool(fk.fair_floor(ev, "sfi_normal").p < 0.05)
    True
    """
    require_whole("bins", bins, 2)
    if permutations is None:
        permutations = getattr(resampling, "n", 0)
    require_whole("permutations", permutations, 0)
    require(permutations != 1, "permutations must be 0 (no floor) or at least 2, got 1")
    kept = swept(checked_scores(scores), by=by, progress=progress)
    mapped = unit_scores(kept, score_map)
    evaluation = evaluate_parts(
        mapped,
        by=by,
        resampling=resampling,
        weighting="pair",
        impostors="same-group",
        varying=varying,
        histogram=(bins, (0.0, 1.0)),
        rates=False,
    )
    tallies = evaluation["empirical"].to_dataset()
    groups = tallies["group"].values
    several = len(groups) > 1
    require(several, f"fairness between groups needs two groups or more, got {listed(groups)} only")
    for kind, need in NEEDS.items():
        without = groups[_fewest(tallies[f"{kind}_pairs_group"]) == 0]
        require(
            len(without) == 0,
            f"group(s) {listed(without)} have no {kind} pair within the group, which takes {need}: "
            "merge these groups with others, or leave them out",
        )
    if permutations:
        seed = getattr(resampling, "seed", 0)
        edges = np.linspace(0, 1, bins + 1)
        permuted = distributions_of_permuted(mapped, by, varying, permutations, seed, edges)
        if is_list(mapped):
            permuted["images_group"] = tallies.images_group
        units = "people" if has_names(mapped) else "scores"
        evaluation[PERMUTED] = xr.DataTree(permuted.assign_attrs(permuted=units, seed=seed))
    return evaluation


def _fewest(n_pairs):
    """The fewest pairs of each group in any model."""
    return n_pairs.min([dim for dim in n_pairs.dims if dim != "group"]).values
