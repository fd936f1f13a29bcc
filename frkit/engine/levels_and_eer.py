"""Exact rates at FAR levels and thresholds, and equal error rates, in the data, their V-statistic and every replicate.

The threshold of a FAR level is the smallest observed impostor score that keeps to it (D.1): `kernels.walk_levels`. That
of the EER is the smallest observed score at which FRR >= FAR. The EER itself lies on the line from the rates just below
that score to the rates at it, where these are equal.
"""

from dataclasses import dataclass

import numpy as np

from frkit.engine import kernels
from frkit.engine.pairs import Genuine, Impostors, curves, ratio
from frkit.engine.pilot import Ladder
from frkit.engine.protocol import Protocol
from frkit.engine.sweep import each

TOLERANCE = 1e-12  # a FAR within this of the level (relatively) keeps to it
RANKS = 60  # places of the curve inside the last bin


def bins_of_levels(sums: np.ndarray, totals: np.ndarray, far: np.ndarray) -> np.ndarray:
    """Bin of every level's threshold, (column, level); -1 where it lies below the floor."""
    upward = np.cumsum(sums.sum(1)[::-1], axis=0)
    # a FAR equal to the level keeps to it, however its sum was rounded
    target = far * totals.sum(0)[:, None] * (1 + TOLERANCE)
    within = np.stack([np.searchsorted(upward[:, c], target[c], side="right") for c in range(upward.shape[1])])
    return len(sums) - 1 - within


def resolve_levels(impostors: Impostors, far: np.ndarray, bins: np.ndarray, thresholds, weights) -> None:
    """Fill in thresholds (column, level) at FAR levels, and impostor weight above them, (column, level, cell), of those
    whose bins, (column, level), are among these."""
    totals, above, here = impostors.totals.sum(0), impostors.above.sum(1), np.isin(bins, impostors.bin)

    def one(column: int) -> None:
        own = np.flatnonzero(here[column])
        target = far[own] * totals[column] * (1 + TOLERANCE)
        # the last run above which the weight keeps to the level: the threshold is among its pairs
        at = np.maximum(np.searchsorted(above[:, column], target, side="right") - 1, 0)
        base = np.ascontiguousarray(impostors.above[at, :, column])
        pairs = impostors.first[at], impostors.last[at], impostors.column(column), impostors.pairs
        found = np.full(len(own), np.nan), np.empty(base.shape)
        kernels.walk_levels(base, target, *pairs, *found)
        thresholds[column, own], weights[column, own] = found

    each(one, len(bins))


def resolve_thresholds(impostors: Impostors, fixed: np.ndarray, bins: np.ndarray, weights: np.ndarray) -> None:
    """Fill in impostor weight strictly above fixed thresholds, (column, level, cell), of those whose bins, (level,),
    are among these."""
    own = np.flatnonzero(np.isin(bins, impostors.bin))
    begin = np.array([np.argmax(impostors.bin == b) for b in bins[own]], int)
    last = np.array([impostors.last[impostors.bin == b][-1] for b in bins[own]], int)

    def one(column: int) -> None:
        above, weight = np.ascontiguousarray(impostors.above[begin, :, column]), impostors.column(column)
        found = np.empty(above.shape)
        kernels.weight_above(above, fixed[own], impostors.first[begin], last, weight, impostors.pairs, found)
        weights[column, own] = found

    each(one, len(weights))


def rejection_rates(genuine: Genuine, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """FRR at thresholds (column, level), and by group, (column, level, group); of the columns of the genuine pairs."""
    thresholds = thresholds[: len(genuine.identity_count)]
    lost = np.isnan(thresholds)  # a replicate without impostor pairs has no threshold, and so no FRR
    highest = np.where(lost, -np.inf, thresholds).max(initial=-np.inf)
    pairs = genuine.pairs.take(slice(np.searchsorted(genuine.pairs.score, highest, side="right")))
    out = np.zeros((*thresholds.shape, len(genuine.totals)))

    def one(column: int) -> None:
        order = np.argsort(thresholds[column])
        kernels.rejected_weight(thresholds[column], order, genuine.column(column), pairs, out[column])

    each(one, len(thresholds))
    out[lost] = np.nan
    totals = genuine.totals
    return ratio(out.sum(2), totals.sum(0)[:, None]), ratio(out, totals.T[:, None])[..., :-1]


def curve(
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
    weight = np.eye(len(genuine.totals))[genuine.pairs.cell] * genuine.weights(0)[:, None]
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


# --- equal error rates ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Crossings:
    """Where FAR and FRR cross: bins (column, curve), -1 below the floor, -2 where a rate has no pairs.

    A curve is a group, and last all pairs together. accepted, rejected: (column, curve) impostor weight above
    and genuine weight below the lower end of the bin: weights, which are whole numbers where all n_k are equal,
    so that the rates do not depend on where the bins happen to lie.
    """

    bins: np.ndarray
    accepted: np.ndarray
    rejected: np.ndarray
    genuine_bins: np.ndarray


def find_crossings(sums, totals, genuine: Genuine, ladder: Ladder, n_groups: int) -> Crossings:
    """The bin in which FAR and FRR of every group, and of all, cross, in the columns that the genuine pairs have.

    sums: (bin, cell, column) impostor weight; totals: (cell, column) all of it.
    """
    # the V-statistic's genuine pairs have one column, which meets the impostor weight of the data
    sums, totals = (part[..., : len(genuine.identity_count)] for part in (sums, totals))
    bins, score = ladder.bins_of(genuine.pairs.score), genuine.pairs.score
    bins[~(score > ladder.arrays(score.dtype)[1])] = -1  # the floor
    # place 0 is all that lies below the floor, where impostors were not swept; place b + 1 is bin b
    upto = np.cumsum(curves(_by_place(genuine, bins + np.int64(1), len(sums) + 1), n_groups), axis=1)
    from_bin = np.cumsum(curves(np.moveaxis(sums, 1, 0), n_groups)[:, ::-1], axis=1)[:, ::-1]
    above = np.concatenate([from_bin, np.zeros_like(from_bin[:, :1])], axis=1)  # the end of each place
    all_pairs = curves(totals, n_groups), curves(genuine.totals, n_groups)
    place = _crossed(above, upto, all_pairs).argmax(1)
    # what is accepted and rejected at the lower end of the bin: from there the walk along its pairs starts
    begin = np.maximum(place - 1, 0)[:, None]
    accepted, rejected = (np.take_along_axis(part, begin, 1)[:, 0] for part in (from_bin, upto))
    known = (all_pairs[0] > 0) & (all_pairs[1] > 0)
    weights = (np.where(known, weight, np.nan).T for weight in (accepted, rejected))
    return Crossings(np.where(known, place - 1, -2).T, *weights, bins)


def _crossed(accepted: np.ndarray, rejected: np.ndarray, all_pairs: tuple) -> np.ndarray:
    """Whether FRR has reached FAR at the upper end of each place, (curve, place, column); not where one is unknown."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return rejected / all_pairs[1][:, None] - accepted / all_pairs[0][:, None] >= -TOLERANCE


def _by_place(genuine: Genuine, place: np.ndarray, n_places: int) -> np.ndarray:
    """Genuine weight at every place but the last, (group, place, column); place: (pair,), ascending."""
    weight = np.zeros((len(genuine.identity_count), n_places, len(genuine.totals)))

    def one(column: int) -> None:
        kernels.binned_genuine(place, genuine.column(column), genuine.pairs, weight[column])

    each(one, len(weight))
    return np.moveaxis(weight, (2, 1), (0, 1))


def resolve_crossings(impostors: Impostors, genuine: Genuine, at: Crossings, n_groups: int, out: np.ndarray) -> None:
    """Fill in EER and its threshold, (2, column, curve), of those whose bins are among these."""
    # kept pairs come some bins at a time: the crossings of other bins are found in another portion
    here = np.isin(at.bins, impostors.bin)
    if not here.any():
        return
    totals = impostors.totals[:, : len(at.bins)]
    all_pairs = curves(totals, n_groups), curves(genuine.totals, n_groups)
    starts, whole = _starts(impostors, genuine, at, n_groups, all_pairs), np.stack(all_pairs).T
    found = np.full((*at.bins.shape, 5), np.nan)

    def one(column: int) -> None:
        weights, pairs = (impostors.column(column), genuine.column(column)), (impostors.pairs, genuine.pairs)
        own = starts[0][column], starts[1][column]
        kernels.crossings(here[column], *own, *weights, *pairs, whole[column], TOLERANCE, found[column])

    each(one, len(at.bins))
    threshold, *rates = np.moveaxis(found, 2, 0)
    out[:, here] = equal_error_rate(*rates)[here], threshold[here]


def equal_error_rate(far: np.ndarray, frr: np.ndarray, far_after: np.ndarray, frr_after: np.ndarray) -> np.ndarray:
    """Where the line from FAR >= FRR, just below a threshold, to FRR >= FAR, at the threshold, has both rates equal."""
    before, after = far - frr, frr_after - far_after
    share = np.divide(before, before + after, out=np.zeros(before.shape), where=before + after > 0)
    eer = far + share * (far_after - far)
    return np.where(np.abs(eer) < TOLERANCE, 0.0, eer)  # weights are subtracted one by one: rounding may leave a rest


def _starts(
    impostors: Impostors, genuine: Genuine, at: Crossings, n_groups: int, all_pairs: tuple
) -> tuple[np.ndarray, np.ndarray]:
    """Where each walk begins: (column, curve, 2) weights accepted and rejected there; and (column, curve, 3) first and
    last of a run's pairs, and the next genuine pair. It is the lowest run by whose upper end the curves have crossed.
    """
    up = np.flatnonzero(np.isin(impostors.bin, at.bins))[::-1]
    first, last, bins = impostors.first[up], impostors.last[up], impostors.bin[up]
    # a genuine pair belongs to the first run that reaches as high; an empty run reaches no higher than the one below
    highest = np.full(len(up), -np.inf)
    highest[last > first] = impostors.pairs.score[first[last > first]]
    place = np.searchsorted(np.maximum.accumulate(highest), genuine.pairs.score)
    # weights at the upper end of each run, (curve, run, column): impostors above it, genuine pairs up to it
    above = impostors.above[up][..., : len(at.bins)]
    upto = np.cumsum(_by_place(genuine, place, len(up) + 1)[:, :-1], axis=1)
    accepted, rejected = curves(np.moveaxis(above, 1, 0), n_groups), curves(upto, n_groups)
    crossed = _crossed(accepted, rejected, all_pairs)
    found = np.where(crossed.any(1), crossed.argmax(1), len(up))
    begin, end = (np.searchsorted(bins, at.bins, side=side) for side in ("left", "right"))
    run = np.clip(found.T, begin, end)
    # past the bin's last pair only genuine pairs are left
    places = [np.where(run < end, np.append(part, 0)[run], 0) for part in (first, last)]
    before = np.maximum(run - 1, 0)
    # below the bin's first pair there is no run: the weights are those at the bin's lower end
    low = (run - 1 < begin) | (last[before] == first[before]) & (before == begin)
    column, which = np.indices(low.shape)
    of_run = (part[which, before, column] for part in (accepted, rejected))
    weights = [np.where(low, *both) for both in zip((at.accepted, at.rejected), of_run, strict=True)]
    following = np.where(low, np.searchsorted(at.genuine_bins, at.bins), np.searchsorted(place, run))
    return np.stack(weights, axis=2), np.stack([*places, following], axis=2)
