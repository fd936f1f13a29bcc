"""Rates from one sweep: plan, sweep, and exact resolution, for the data, all replicates and their V-statistic.

The weights of the V-statistic (eq. 19) are made in `pairs.weigh_genuine`.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import xarray as xr

from frkit.base import FAR_LEVEL, GROUP, REFERENCE_GROUP, THRESHOLD_LEVEL, affordable, require
from frkit.engine import pilot as planning
from frkit.engine.influence_sums import INFLUENCE_DIMS, influence_sums
from frkit.engine.levels_and_eer import (
    bins_of_levels,
    find_crossings,
    rejection_rates,
    resolve_crossings,
    resolve_levels,
)
from frkit.engine.pairs import (
    COLUMN,
    Crossings,
    Genuine,
    Impostors,
    Pairs,
    by_curve,
    labelled,
    portions,
    ratio,
    weigh_genuine,
    with_centre,
)
from frkit.engine.pilot import Ladder
from frkit.engine.protocol import Protocol
from frkit.engine.scan import Gaps, Request, scan_blocks, tally_list
from frkit.engine.store import Checkpoint
from frkit.engine.sweep import sweep

PAIRS_PER_BIN, MOST_BINS = 1024, 1024  # of a list
RANKS = 60  # places of the curve inside the last bin
RESOLVED = 10  # errors of either kind that a level needs before its band means something


class Rates(NamedTuple):
    """Rates of one model, and the weights of pairs that further tallies build on.

    table: over (column, level, group); column 0 is the data, then come replicates, and last the V-statistic. What is
    known of the data alone has no column. influence: what each image adds to the data's rates; None where images are
    not known. genuine: the genuine pairs. totals: impostor weight, (cell, column), where rates were asked for.
    """

    table: xr.Dataset
    influence: xr.Dataset | None
    genuine: Genuine
    totals: np.ndarray | None


def plan_rates(scores: xr.DataArray, protocol: Protocol, far, fixed) -> Ladder:
    """The plan of a sweep for these rates, from a look at some of the scores; a list is kept whole."""
    if protocol.listed is not None:
        return _list_plan(scores.values[protocol.listed.impostor])
    return planning.make_plan(planning.take_pilot(scores, protocol), protocol.n_pairs, far, fixed)


def _list_plan(score: np.ndarray) -> Ladder:
    """Equal bins between the lowest and the highest score, all of them kept; one bin where pairs are few."""
    score = score[~np.isnan(score)]
    n_bins = min(len(score) // PAIRS_PER_BIN, MOST_BINS)
    low, high = (float(score.min()), float(score.max())) if n_bins > 1 else (0.0, 1.0)
    return Ladder.even(low, high, max(n_bins, 1), keep=True)


def tally_rates(
    scores: xr.DataArray,
    protocol: Protocol,
    levels: tuple[np.ndarray, np.ndarray],
    ladder: Ladder,
    bar: bool,
    checkpoint: Checkpoint | None = None,
    influence: bool = True,
) -> Rates:
    """FAR, FRR and EER at FAR levels or at fixed thresholds, from one sweep over a tensor or a list of pairs.

    levels: FAR levels and fixed thresholds, (level,), one of them empty. ladder: from `plan_rates`, for scores like
    these; what it does not cover is swept again. influence: whether what images add is wanted.
    """
    far, fixed = levels
    run = partial(sweep, scores, scan=scan_blocks, progress=bar, checkpoint=checkpoint)
    found = _sweep(scores, protocol, levels, ladder, run)
    if -1 in found.bins and protocol.listed is None:  # below the floor of the plan
        ladder = planning.even_plan(planning.take_pilot(scores, protocol))
        found = _sweep(scores, protocol, levels, ladder, run)
    counts, n_pairs = found.counts.sum(1), protocol.n_pairs
    finer = ladder.finer(found.bins[found.bins >= 0], counts, found.totals.size, n_pairs)
    if finer is not None and protocol.listed is None:  # too many pairs to keep
        ladder, found = finer, _sweep(scores, protocol, levels, finer, run)
    bins, of_data = found.bins[found.bins >= 0], ladder
    if not ladder.keep[bins].all():  # swept again for the pairs of these bins, and for what lies between the data's own
        own = np.append(found.level_bins[0], found.crossings.bins[0])
        of_data = ladder.keeping(bins[np.isin(bins, own) | (bins == ladder.n_bins - 1)])
        gaps = Gaps.between(of_data.keep, protocol)
        request = Request(protocol, ladder.keeping(bins), gaps, asking=False)
        tally = sweep(scores, request, scan=scan_blocks, progress=bar)
        found = found._replace(kept=tally.lists["kept"], by_image=found.by_image | tally.sums)
    table = _table(protocol, found, ladder, far, fixed)
    places = protocol.listed
    alone = places is not None and places.one_by_one and places.identity is not None  # pairs forget people
    added = _influence(protocol, found, of_data, table) if influence and not alone else None
    return Rates(table, added, found.genuine, found.totals)


def _influence(protocol: Protocol, found: "_Found", ladder: Ladder, table: xr.Dataset) -> xr.Dataset:
    """What each image adds to the data's error rates at every level, then at the EER of each group and of all."""
    data = table.isel({COLUMN: 0})
    eer = np.append(data.eer_group if len(protocol.groups) else (), data.eer)
    places = np.append(data.eer_threshold_group if len(protocol.groups) else (), data.eer_threshold)
    thresholds = np.append(data.threshold, places)
    sums = influence_sums(protocol, ladder, found.by_image, found.kept, found.genuine, thresholds)
    attrs = {"listed": float(sums.pop("listed")), "levels": len(data.threshold)}
    sums |= _curve(protocol, ladder, found.sums[:, :, 0], found.totals[:, 0], found.kept, found.genuine)
    variables = {name: (INFLUENCE_DIMS[name], values) for name, values in sums.items()}
    variables["rate"] = ("point", np.append(data.far, eer))
    complete = (
        protocol.symmetric and not found.genuine.failed and np.array_equal(found.totals, protocol.impostor_totals)
    )
    return xr.Dataset(variables, attrs=attrs | {"complete": int(complete)})


def _curve(
    protocol: Protocol, ladder: Ladder, sums: np.ndarray, totals: np.ndarray, kept: list, genuine: Genuine
) -> dict[str, np.ndarray]:
    """The data's rates along the curve, from the lowest threshold up: at the edge of every bin, and inside the last.

    sums: (bin, cell) impostor weight. totals: (cell,). Returns threshold (place,), far (place, cell and last all), frr
    (place, group and last all); the slopes of all rates are read from these.
    """
    thresholds = ladder.low + np.searchsorted(ladder.bin_of_cell, np.arange(ladder.n_bins)) / ladder.scale
    thresholds[0] = -np.inf if np.isneginf(ladder.floor) else thresholds[0]
    accepted = np.cumsum(sums[::-1], axis=0)[::-1]
    row, col, score = _in_last_bin(kept, ladder, genuine.pairs.score.dtype)
    inside = np.argsort(-score)
    if len(inside):
        row, col = row[inside], col[inside]
        running = np.cumsum(np.eye(len(totals))[protocol.cells(row, col)] * protocol.factors(row, col)[:, None], axis=0)
        # from the lowest rank up, without the highest score, above which there is nothing
        ranks = np.unique(np.geomspace(1, len(inside), RANKS).astype(int))[:0:-1] - 1
        thresholds = np.append(thresholds, score[inside[ranks]])
        accepted = np.append(accepted, running[ranks - 1], axis=0)  # the pairs above the one at this rank
    n_pairs = len(genuine.pairs.score)
    weight = genuine.at_places(0, np.arange(n_pairs), np.zeros((n_pairs, len(genuine.totals))))
    lost = np.append(np.zeros((1, weight.shape[1])), np.cumsum(weight, axis=0), axis=0)
    lost = lost[np.searchsorted(genuine.pairs.score, thresholds, side="right")]
    far = np.column_stack([np.nan_to_num(ratio(accepted, totals)), accepted.sum(1) / totals.sum()])
    frr = np.column_stack([np.nan_to_num(ratio(lost, weight.sum(0))), lost.sum(1) / weight.sum()])
    return {"curve_threshold": thresholds, "curve_far": far, "curve_frr": frr}


def _in_last_bin(kept: list, ladder: Ladder, kind: np.dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, column and score of the kept pairs in the last bin, which few are; kind: of scores."""
    cell = np.searchsorted(ladder.bin_of_cell, ladder.n_bins - 1) - 1
    edge = ladder.low + cell / ladder.scale if cell > 0 else -np.inf  # a little below the bin: a quick first choice
    found = [(np.empty(0, int), np.empty(0, int), np.empty(0, kind))]
    for row, col, score in kept:
        high = np.flatnonzero(score >= edge)
        inside = high[ladder.bins_of(score[high]) == ladder.n_bins - 1]
        found.append((row[inside], col[inside], score[inside]))
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))


class _Found(NamedTuple):
    """What one sweep brought, and in which bins the levels and the crossings of FAR and FRR lie.

    sums: (bin, cell, column) impostor weight. counts: (bin, cell) impostor pairs. level_bins: (column, level). bins: of
    levels and crossings.
    by_image: sums of the sweep by gap and image.
    """

    sums: np.ndarray
    totals: np.ndarray
    counts: np.ndarray
    kept: list
    genuine: Genuine
    level_bins: np.ndarray
    crossings: Crossings
    bins: np.ndarray
    by_image: dict[str, np.ndarray]


def _sweep(scores: xr.DataArray, protocol: Protocol, levels: tuple, ladder: Ladder, run: Callable) -> _Found:
    """Bins added up, kept pairs, and genuine scores with their weights; run: the sweep of these scores."""
    far, fixed = levels
    n_sums = ladder.n_bins * protocol.n_cells * protocol.n_columns
    what = f"{protocol.n_columns:,} columns (the data and replicates) of {protocol.n_cells:,} pairs of groups"
    affordable(8 * int(n_sums), f"{what}; take fewer groups or replicates")
    if protocol.listed is None:
        request = Request(protocol, ladder, Gaps.between(ladder.keep, protocol))
        tally = run(request)
    else:
        tally = tally_list(scores.values, protocol, ladder)
    sums = tally.sums["weight"].reshape(ladder.n_bins, protocol.n_cells, protocol.n_columns)
    # all impostor weight of a tensor is known without a look at its scores: what failed is taken off
    whole = sums.sum(0) if protocol.listed is not None else protocol.impostor_totals
    totals = whole - tally.sums.get("missing", 0)
    totals = np.where(totals > 1e-12 * whole, totals, 0)  # where all failed, rounding leaves some
    genuine = weigh_genuine(protocol, tally.asked_scores(protocol, scores.dtype), scores.attrs.get("self_score"))
    for kind, here in (("genuine", genuine.failed < protocol.n_genuine), ("impostor", totals[:, 0].any())):
        require(here, f"all {kind} comparisons failed (NaN or marked as missing): there is nothing to evaluate")
    if fixed.size:  # -1 where one lies below the floor
        of_fixed = np.where(fixed < ladder.arrays(scores.dtype)[1], -1, ladder.bins_of(fixed.astype(scores.dtype)))
        level_bins = np.tile(of_fixed, (protocol.n_columns, 1))
    else:
        level_bins = bins_of_levels(sums, totals, far)
    found = find_crossings(sums, totals, genuine, ladder, len(protocol.groups))
    bins = np.unique(np.append(level_bins, found.bins))
    count, kept = tally.sums["count"], tally.lists["kept"]
    return _Found(sums, totals, count, kept, genuine, level_bins, found, bins, by_image=tally.sums)


def _table(protocol: Protocol, found: _Found, ladder: Ladder, far, fixed) -> xr.Dataset:
    """Exact rates of all columns, with the names that they have in an evaluation."""
    n_groups, pairs, shape = len(protocol.groups), found.genuine, found.level_bins.shape
    thresholds = np.tile(fixed, (len(found.totals[0]), 1)) if fixed.size else np.full(shape, np.nan)
    above, accepts = np.zeros((*shape, protocol.n_cells)), np.zeros((shape[1], protocol.n_cells), int)
    eer = np.full((2, *found.crossings.bins.shape), np.nan)  # and its threshold
    for impostors in portions(found, ladder, protocol, found.bins[found.bins >= 0]):
        resolve_levels(impostors, far, fixed, found.level_bins, thresholds, above)
        resolve_crossings(impostors, pairs, found.crossings, n_groups, eer)
        _count_accepts(impostors, found, thresholds[0], accepts)
        del impostors  # before the next ones are made
    far_of_all, far_cell = ratio(above.sum(2), found.totals.sum(0)[:, None]), ratio(above, found.totals.T[:, None])
    thresholds = with_centre(thresholds)
    frr, frr_group = rejection_rates(pairs, thresholds)
    level = THRESHOLD_LEVEL if fixed.size else FAR_LEVEL
    line, by_group = (COLUMN, level), (COLUMN, level, GROUP)
    table = {"threshold": (line, thresholds), "far": (line, with_centre(far_of_all)), "frr": (line, frr)}
    table |= {"far_group": (by_group, with_centre(far_cell[..., :n_groups])), "frr_group": (by_group, frr_group)}
    table |= by_curve("eer", (COLUMN,), eer[0]) | by_curve("eer_threshold", (COLUMN,), eer[1])
    table |= _errors(level, protocol, pairs.pairs, accepts, thresholds[0])
    if np.all(protocol.cell_of >= 0):
        cross = far_cell[..., protocol.cell_of[:-1, :-1]]  # the last code is "in no group"
        table["far_cross"] = ((*by_group, REFERENCE_GROUP), with_centre(cross))
    coords = {level: fixed if fixed.size else far, GROUP: protocol.groups}
    coords |= {REFERENCE_GROUP: protocol.groups} if "far_cross" in table else {}
    return labelled(table, coords)


def _count_accepts(impostors: Impostors, found: _Found, thresholds: np.ndarray, accepts: np.ndarray) -> None:
    """Count impostor pairs above the data's own thresholds, (level, cell), where their bins are among these."""
    # pairs in higher bins are accepted without a look at their scores
    bins, higher = found.level_bins[0], np.cumsum(found.counts[::-1], axis=0)[::-1] - found.counts
    for place in np.flatnonzero(np.isin(bins, impostors.bin)):
        runs = np.flatnonzero(impostors.bin == bins[place])
        own = slice(impostors.first[runs[0]], impostors.last[runs[-1]])
        above = impostors.pairs.cell[own][impostors.pairs.score[own] > thresholds[place]]
        accepts[place] = higher[bins[place]] + np.bincount(above, minlength=accepts.shape[1])


def _errors(level: str, protocol: Protocol, pairs: Pairs, accepts: np.ndarray, thresholds: np.ndarray) -> dict:
    """Pairs that go wrong at the data's own thresholds, each counted once, and where they are enough.

    pairs: genuine. accepts: (level, cell) impostor pairs.
    """
    n_groups, pairs = len(protocol.groups), pairs.take(pairs.row >= 0)
    first = np.searchsorted(pairs.score, thresholds, side="right")
    rejects = np.stack([np.bincount(pairs.cell[:n], minlength=n_groups + 1) for n in first])
    table, by_group = {}, (level, GROUP)
    of_kinds = {"false_accepts": accepts, "false_rejects": rejects}
    for name, part in of_kinds.items():
        table |= {name: (level, part.sum(1)), f"{name}_group": (by_group, part[:, :n_groups])}
    if np.all(protocol.cell_of >= 0):
        cross = accepts[:, protocol.cell_of[:-1, :-1]]
        table["false_accepts_cross"] = ((*by_group, REFERENCE_GROUP), cross)
        table["resolved_cross"] = ((*by_group, REFERENCE_GROUP), cross >= RESOLVED)
    enough = [table[f"{name}_group"][1] >= RESOLVED for name in of_kinds]
    both = (accepts.sum(1) >= RESOLVED) & (rejects.sum(1) >= RESOLVED)
    return table | {"resolved": (level, both), "resolved_group": (by_group, enough[0] & enough[1])}
