"""Exact rates at FAR levels and thresholds, and equal error rates, in the data, their V-statistic and every replicate.

The threshold of a FAR level is the smallest observed impostor score that keeps to it (D.1): `walk_levels`. That of the
EER is the smallest observed score at which FRR >= FAR. The EER itself lies on the line from the rates just below
that score to the rates at it, where these are equal.
"""

import numpy as np

from frkit.base import compiled
from frkit.engine.kernels import COMPILE, genuine_weight
from frkit.engine.pairs import Crossings, Genuine, Impostors, curves, ratio, with_centre
from frkit.engine.pilot import Ladder
from frkit.engine.sweep import each

TOLERANCE = 1e-12  # a FAR within this of the level (relatively) keeps to it


# --- levels and thresholds --------------------------------------------------------------------------------------


@compiled(**COMPILE)
def pair_weight(u, weight, pairs) -> float:
    """Weight of impostor pair u in one replicate; weight: (image on each side)."""
    row_weight, col_weight = weight
    return pairs.factor[u] * row_weight[np.uintp(pairs.row[u])] * col_weight[np.uintp(pairs.col[u])]


@compiled(**COMPILE)
def walk_levels(base, target, fixed, begin, end_of, weight, pairs, threshold, above) -> None:
    """Exact threshold and impostor weight above it, for one replicate and each level.

    base: (level, cell) weight above the first pair of the walk. begin, end_of: (level,) its pairs in the sorted list.
    weight: (image on each side) of this replicate. pairs: from the highest score down.
    The threshold is the highest score whose own pairs would lift the weight above the target: the smallest
    observed score that keeps to it (D.1); no walk passes a fixed threshold. Fills threshold (level,) and above (level,
    cell).
    """
    score, cell = pairs.score, pairs.cell
    for level in range(target.shape[0]):
        total, u, end, lowest = 0.0, begin[level], end_of[level], np.int64(-1)
        for c in range(base.shape[1]):  # rows assigned whole take Numba a second each to compile
            above[level, c] = base[level, c]
            total += base[level, c]
        while u < end and score[u] > fixed[level]:
            v, tied = u + 1, pair_weight(u, weight, pairs)
            while v < end and score[v] == score[u]:
                tied += pair_weight(v, weight, pairs)
                v += 1
            lowest = u if tied > 0 else lowest  # no branch: whether a pair counts cannot be foreseen
            if total + tied > target[level]:
                lowest = u
                break
            total += tied
            u = v
        if lowest >= 0:
            threshold[level] = score[lowest]
        # by cell only now: where the walk ends the weight of all cells together decides
        for x in range(begin[level], u):
            above[level, np.uintp(cell[x])] += pair_weight(x, weight, pairs)


def bins_of_levels(sums: np.ndarray, totals: np.ndarray, far: np.ndarray) -> np.ndarray:
    """Bin of every level's threshold, (column, level); -1 where it lies below the floor."""
    upward = np.cumsum(sums.sum(1)[::-1], axis=0)
    # a FAR equal to the level keeps to it, however its sum was rounded
    target = far * totals.sum(0)[:, None] * (1 + TOLERANCE)
    within = np.stack([np.searchsorted(upward[:, c], target[c], side="right") for c in range(upward.shape[1])])
    return len(sums) - 1 - within


def resolve_levels(impostors: Impostors, far: np.ndarray, fixed: np.ndarray, bins, thresholds, weights) -> None:
    """Fill in thresholds (column, level) at FAR levels, unless fixed ones are given, and impostor weight above them,
    (column, level, cell), of those whose bins, (column, level), are among these."""
    totals, above, here = impostors.totals.sum(0), impostors.above.sum(1), np.isin(bins, impostors.bin)

    def one(column: int) -> None:
        own = np.flatnonzero(here[column])
        if fixed.size:
            target, lowest = np.full(len(own), np.inf), fixed[own]
            at, end = (np.searchsorted(-impostors.bin, -bins[column, own], side=side) for side in ("left", "right"))
        else:
            target, lowest = far[own] * totals[column] * (1 + TOLERANCE), np.full(len(own), -np.inf)
            # the last run above which the weight keeps to the level: the threshold is among its pairs
            at = np.maximum(np.searchsorted(above[:, column], target, side="right") - 1, 0)
            end = at + 1
        base = np.ascontiguousarray(impostors.above[at, :, column])
        pairs = impostors.first[at], impostors.last[end - 1], impostors.column(column), impostors.pairs
        found = np.full(len(own), np.nan), np.empty(base.shape)
        walk_levels(base, target, lowest, *pairs, *found)
        weights[column, own] = found[1]
        if not fixed.size:
            thresholds[column, own] = found[0]

    each(one, len(bins))


@compiled(**COMPILE)
def rejected_weight(thresholds, order, weight, genuine, rejected) -> None:
    """Genuine weight at or below each threshold, for one replicate: rejected (level, group).

    weight: (image) of either side, (identity), and the identity of an image of the second side. genuine: scores
    ascending; the factor of an image with itself holds the one half where pairs are not ordered.
    """
    total = np.zeros(rejected.shape[1])
    u = np.int64(0)  # a literal would be compiled apart
    for x in range(order.shape[0]):
        level = order[x]
        while u < genuine.score.shape[0] and genuine.score[u] <= thresholds[level]:
            total[genuine.cell[u]] += genuine_weight(u, weight, genuine)
            u += 1
        for group in range(total.shape[0]):
            rejected[level, group] = total[group]


def rejection_rates(genuine: Genuine, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """FRR at thresholds (column, level), and by group, (column, level, group)."""
    out, order = np.zeros((*thresholds.shape, len(genuine.totals))), np.argsort(thresholds, axis=1)
    each(lambda k: rejected_weight(thresholds[k], order[k], *genuine.column(k), out[k]), len(thresholds))
    out[np.isnan(thresholds)] = np.nan  # a replicate without impostor pairs has no threshold, and so no FRR
    totals = genuine.totals
    return ratio(out.sum(2), totals.sum(0)[:, None]), ratio(out, totals.T[:, None])[..., :-1]


# --- equal error rates ---------------------------------------------------------------------------------------


def find_crossings(sums, totals, genuine: Genuine, ladder: Ladder, n_groups: int) -> Crossings:
    """The bin in which FAR and FRR of every group, and of all, cross, in the data, replicates and the V-statistic.

    sums: (bin, cell, column) impostor weight; totals: (cell, column) all of it.
    """
    bins, score = ladder.bins_of(genuine.pairs.score), genuine.pairs.score
    bins[~(score > ladder.arrays(score.dtype)[1])] = -1  # the floor
    # place 0 is all that lies below the floor, where impostors were not swept; place b + 1 is bin b
    upto = np.cumsum(curves(_by_place(genuine, bins + np.int64(1), len(sums) + 1), n_groups), axis=1)
    from_bin = with_centre(np.cumsum(curves(np.moveaxis(sums, 1, 0), n_groups)[:, ::-1], axis=1)[:, ::-1], 2)
    above = np.concatenate([from_bin, np.zeros_like(from_bin[:, :1])], axis=1)  # the end of each place
    all_pairs = with_centre(curves(totals, n_groups), 1), curves(genuine.totals, n_groups)
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
    weight = np.zeros((genuine.n_columns, n_places, len(genuine.totals)))
    each(lambda column: genuine.at_places(column, place, weight[column, :-1]), len(weight))
    return np.moveaxis(weight, (2, 1), (0, 1))


@compiled(**COMPILE)
def crossings(wanted, weights, places, weight, genuine_weights, pairs, genuine, totals, tolerance, found) -> None:
    """Where FAR and FRR of the wanted curves cross inside one bin each, for one replicate.

    The threshold is the smallest observed score at which FRR >= FAR: found (curve, 5) takes it, FAR and FRR just below
    it, and at it. A curve counts the pairs of one group, whose number is also that of their cell; the last one all.
    weights: (curve, 2) impostor weight above and genuine weight below the lower end of the bin. places: (curve, 3)
    begin and end of the bin's pairs in `pairs` (score descending), and the first genuine pair in `genuine` (ascending)
    that is not below the bin. genuine_weights: as `weight` in `rejected_weight`. totals: (curve, 2) weight of all
    impostor and genuine pairs.
    """
    n_genuine = genuine.score.shape[0]
    for curve in range(wanted.shape[0]):
        if not wanted[curve]:
            continue
        own = curve if curve + 1 < wanted.shape[0] else -1
        accepted, rejected = weights[curve, 0], weights[curve, 1]
        begin, p, q = places[curve, 0], places[curve, 1] - 1, places[curve, 2]
        far, frr = accepted / totals[curve, 0], rejected / totals[curve, 1]
        while p >= begin or q < n_genuine:
            from_pairs = p >= begin and (q >= n_genuine or pairs.score[p] <= genuine.score[q])
            score = pairs.score[p] if from_pairs else genuine.score[q]
            more_accepted = more_rejected = 0.0
            # equal scores of both kinds change sides together: a threshold takes all of them or none
            while p >= begin and pairs.score[p] == score:
                if own < 0 or pairs.cell[p] == own:
                    more_accepted += pair_weight(p, weight, pairs)
                p -= 1
            while q < n_genuine and genuine.score[q] == score:
                if own < 0 or genuine.cell[q] == own:
                    more_rejected += genuine_weight(q, genuine_weights, genuine)
                q += 1
            # pairs without weight in this replicate are not observed in it: their scores are no thresholds
            if more_accepted > 0 or more_rejected > 0:
                accepted, rejected = accepted - more_accepted, rejected + more_rejected
                new_far, new_frr = accepted / totals[curve, 0], rejected / totals[curve, 1]
                if new_far - new_frr <= tolerance:
                    found[curve, 0], found[curve, 1], found[curve, 2] = score, far, frr
                    found[curve, 3], found[curve, 4] = new_far, new_frr
                    break
                far, frr = new_far, new_frr


def resolve_crossings(impostors: Impostors, genuine: Genuine, at: Crossings, n_groups: int, out: np.ndarray) -> None:
    """Fill in EER and its threshold, (2, column, curve), of those whose bins are among these."""
    # kept pairs come some bins at a time: the crossings of other bins are found in another portion
    here = np.isin(at.bins, impostors.bin)
    if not here.any():
        return
    all_pairs = with_centre(curves(impostors.totals, n_groups), 1), curves(genuine.totals, n_groups)
    starts, whole = _starts(impostors, genuine, at, n_groups, all_pairs), np.stack(all_pairs).T
    found = np.full((*at.bins.shape, 5), np.nan)

    def one(column: int) -> None:
        own, (weights, pairs) = (starts[0][column], starts[1][column]), genuine.column(column)
        both = impostors.column(column), weights, impostors.pairs, pairs
        crossings(here[column], *own, *both, whole[column], TOLERANCE, found[column])

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
    above = with_centre(impostors.above[up], 2)
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
