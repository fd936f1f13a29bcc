"""Error rates of weighted pairs: thresholds at FAR levels, FAR, FRR, EER and AUC, in every column.

Columns are the data, the replicates and the V-statistic. A curve is a group, or all pairs.
"""

from collections.abc import Callable, Iterator

import numpy as np

from frkit.engine.pairs import Pairs
from frkit.engine.tally import Tally

TOGETHER = 2_000_000  # weights of pairs that are held at once
TOLERANCE = 1e-12  # a FAR within this of a level (relatively) keeps to it


def thresholds_at(tally: Tally, far, curve: int, n_columns: int | None = None):
    """The threshold at each FAR level, (column, level): inf {t : FAR(t) <= level} (D.1).

    It is the smallest observed impostor score at which the FAR keeps to the level.
    """
    impostors = tally.impostors
    cells = slice(curve, curve + 1) if curve < tally.n_groups else slice(None)
    accepted = tally.accepted[:, cells, :n_columns].sum(1)  # (chunk + 1, column)
    totals = tally.totals[cells, :n_columns].sum(0)
    allowed = far * totals[:, None] * (1 + TOLERANCE)
    # the highest chunk whose pairs lift the accepted weight above the level
    chunk = (accepted[:, :, None] > allowed).sum(0) - 1
    chunk = np.maximum(chunk, 0)
    chunk[accepted[0] == 0] = -1  # a replicate without impostors has no threshold
    thresholds = np.full(chunk.shape, np.nan)
    for k, column, level in by_chunk(chunk, tally):
        first = impostors.start[k, :-1][cells]
        last = impostors.start[k, 1:][cells]
        pairs = slice(first[0], last[-1])
        falling = np.argsort(-impostors.score[pairs], kind="stable")
        score = impostors.score[pairs][falling]
        weight = impostors.weights(pairs, column)[falling]
        in_higher_chunks = tally.accepted[k + 1, cells].sum(0)[column]
        left = allowed[column, level] - in_higher_chunks
        place = (np.cumsum(weight, axis=0) <= left).sum(0)
        # none lifts it where the sums of chunks were rounded otherwise: then the last that counts
        none = place == len(weight)
        last_that_counts = (weight[::-1, none] > 0).argmax(0)
        place[none] = len(weight) - 1 - last_that_counts
        thresholds[column, level] = score[place]
    return thresholds


def by_chunk(chunk, tally: Tally) -> Iterator[tuple]:
    """For an array of chunks: each chunk, and where in the array it stands; -1 is no chunk.

    Some places at a time, so that weights (pair, place) need little memory.
    """
    both_kinds = tally.impostors, tally.genuine
    n_pairs = sum(np.diff(pairs.start).sum(1) for pairs in both_kinds)
    for k in np.unique(chunk[chunk >= 0]).tolist():
        places = np.nonzero(chunk == k)
        step = max(1, TOGETHER // max(n_pairs[k], 1))
        for begin in range(0, len(places[0]), step):
            yield k, *(index[begin : begin + step] for index in places)


def false_acceptance(tally: Tally, thresholds):
    """FAR of every cell and of all, (column, level, cell) and (column, level), at thresholds.

    The weights of impostor pairs make it the mean over pairs of identities of the share of their
    image pairs with score > threshold (eq. 2; of groups eq. 21).
    """
    accepted = _errors(tally, tally.impostors, tally.accepted[1:], np.greater, thresholds)
    totals = tally.totals.T[:, None]
    of_cells = ratio(accepted, totals)
    of_all = ratio(accepted.sum(2), totals.sum(2))
    # thinned pairs stand for others: their sum may exceed that of all pairs
    return np.minimum(of_cells, 1.0), np.minimum(of_all, 1.0)


def false_rejection(tally: Tally, thresholds):
    """FRR of every group and of all, (column, level, group) and (column, level), at thresholds.

    The weights of genuine pairs make it the mean over identities of the share of their pairs with
    score <= threshold: of the data eq. 3, of replicates eq. 14, of the V-statistic eq. 19 (of
    groups eq. 22). `pairs._genuine_columns` sets these weights.
    """
    rejected = _errors(tally, tally.genuine, tally.rejected, np.less_equal, thresholds)
    totals = tally.genuine_totals.T[:, None]
    return ratio(rejected, totals), ratio(rejected.sum(2), totals.sum(2))


def _errors(tally: Tally, pairs: Pairs, outside, errs: Callable, thresholds):
    """Weight of the pairs that err at thresholds (column, level): (column, level, cell).

    outside : (chunk, cell, column) weight of the pairs outside each chunk that err where the
    threshold lies in it. errs : of scores and thresholds.
    """
    n_cells = outside.shape[1]
    errors = np.full((*thresholds.shape, n_cells), np.nan)
    chunk = np.searchsorted(tally.upper, thresholds)
    chunk = np.where(np.isnan(thresholds), -1, chunk)
    for k, column, level in by_chunk(chunk, tally):
        in_chunk, _ = pairs.in_chunk(k)
        weight = pairs.weights(in_chunk, column)
        weight *= errs(pairs.score[in_chunk, None], thresholds[column, level])
        inside = np.zeros((n_cells, len(column)))
        some = np.diff(pairs.start[k]) > 0
        if some.any():
            begins = pairs.start[k, :-1][some] - in_chunk.start
            inside[some] = np.add.reduceat(weight, begins, axis=0)
        errors[column, level] = (outside[k][:, column] + inside).T
    return errors


def error_counts(tally: Tally, thresholds):
    """Numbers of accepted impostor pairs, (level, cell), and of rejected genuine ones."""
    impostors = tally.impostors
    genuine = tally.genuine
    numbers = impostors.numbers()
    _, group = genuine.chunks_and_cells()
    accepts = []
    rejects = []
    for threshold in thresholds:
        k = int(np.searchsorted(tally.upper, threshold))
        in_chunk, cell = impostors.in_chunk(k)
        accepted = impostors.score[in_chunk] > threshold
        inside = np.bincount(cell[accepted], minlength=numbers.shape[1])
        in_higher_chunks = numbers[k + 1 :].sum(0)
        accepts.append(in_higher_chunks + inside * impostors.stands_for[k])
        rejected = (genuine.score <= threshold) & ~genuine.copy
        rejects.append(np.bincount(group[rejected], minlength=tally.n_groups + 1))
    return np.round(accepts).astype(int), np.array(rejects)


def ratio(weight, total):
    """Weight / total, NaN where there is nothing to divide by."""
    weight, total = np.broadcast_arrays(weight, total)
    unknown = np.full(weight.shape, np.nan)
    return np.divide(weight, total, out=unknown, where=total > 0)


def curves(weight, n_groups: int, axis: int):
    """Weights of cells (or groups) along an axis as those of curves: groups, and last all."""
    of_groups = np.take(weight, range(n_groups), axis)
    return np.concatenate([of_groups, weight.sum(axis, keepdims=True)], axis)


# --- equal error rates and areas under the curve -------------------------------------------------


def equal_error_rates(tally: Tally):
    """EER and its threshold, (column, curve).

    The threshold is the smallest observed score at which FRR >= FAR. The EER lies on the line
    from the rates just below that score to the rates at it, where both are equal.
    """
    n_groups = tally.n_groups
    impostor_totals = curves(tally.totals, n_groups, 0)  # (curve, column)
    genuine_totals = curves(tally.genuine_totals, n_groups, 0)
    far = ratio(curves(tally.accepted, n_groups, 1), impostor_totals)  # (chunk + 1, curve, column)
    frr = ratio(curves(tally.rejected, n_groups, 1), genuine_totals)
    crossed = frr[1:] - far[1:] >= -TOLERANCE
    both_kinds = (impostor_totals > 0) & (genuine_totals > 0)
    chunk = np.where(both_kinds, crossed.argmax(0), -1)
    eer, threshold = np.full((2, *chunk.shape), np.nan)
    for k, curve, column in by_chunk(chunk, tally):
        eer[curve, column], threshold[curve, column] = _crossings(
            _in_curves(tally.impostors, k, curve, column, n_groups),
            _in_curves(tally.genuine, k, curve, column, n_groups),
            impostor_totals[curve, column],
            genuine_totals[curve, column],
            far[k, curve, column],
            frr[k, curve, column],
        )
    return eer.T, threshold.T


def _in_curves(pairs: Pairs, k, curve, column, n_groups):
    """Scores of the pairs of a chunk; their weight in some curves and columns, (pair, place)."""
    in_chunk, cell = pairs.in_chunk(k)
    weight = pairs.weights(in_chunk, column)
    weight *= (curve == n_groups) | (cell[:, None] == curve)
    return pairs.score[in_chunk], weight


def _crossings(impostors, genuine, impostor_total, genuine_total, far_below, frr_below):
    """EERs and thresholds inside a chunk.

    impostors, genuine : scores and weights from `_in_curves`. far_below, frr_below : (place,) rates
    at the lower end of the chunk.
    """
    scores = np.append(impostors[0], genuine[0])
    order = np.argsort(scores, kind="stable")
    scores = scores[order]
    last = np.append(scores[1:] > scores[:-1], True)  # of equal scores
    accepted = impostors[1] / impostor_total
    rejected = genuine[1] / genuine_total
    lost = np.concatenate([accepted, np.zeros_like(rejected)])[order]
    gained = np.concatenate([np.zeros_like(accepted), rejected])[order]
    # just below the chunk, and at each distinct score
    far = far_below - np.cumsum(lost, axis=0)[last]
    frr = frr_below + np.cumsum(gained, axis=0)[last]
    far = np.vstack([far_below, far])
    frr = np.vstack([frr_below, frr])
    gap = frr - far
    crossed = gap[1:] >= -TOLERANCE
    crossed[-1] = True  # but for rounding it is
    first = crossed.argmax(0)
    before = first, np.arange(len(first))
    after = first + 1, np.arange(len(first))
    share = ratio(-gap[before], gap[after] - gap[before])
    share = np.nan_to_num(share)
    eer = far[before] + share * (far[after] - far[before])
    eer = np.where(np.abs(eer) < TOLERANCE, 0.0, eer)
    return eer, scores[last][first]


def auc(tally: Tally):
    """AUC, (column, curve), as if half of the couples within a chunk were in order.

    Also returns the largest error that this can make.
    """
    impostor = curves(tally.impostor_sums, tally.n_groups, 1)  # (chunk, curve, column)
    rejected = curves(tally.rejected, tally.n_groups, 1)
    genuine = np.diff(rejected, axis=0)
    couples = impostor.sum(0) * rejected[-1]
    in_wrong_order = (impostor * (rejected[1:] - genuine / 2)).sum(0)
    in_one_chunk = (impostor * genuine / 2).sum(0)
    error = np.nan_to_num(ratio(in_one_chunk, couples))
    areas = 1 - ratio(in_wrong_order, couples)
    return areas.T, float(error.max())
