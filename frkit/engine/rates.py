"""Error rates of weighted pairs: thresholds at FAR levels, FAR, FRR, EER and AUC, in every column.

Columns are the data, the replicates and the V-statistic. A curve is a group, or all pairs.
"""

from collections.abc import Callable, Iterator

import numpy as np

from frkit.engine.pairs import Pairs
from frkit.engine.tally import Tally, needs_of, tally_pairs  # noqa: F401

TOGETHER = 2_000_000  # weights of pairs that are held at once
TOLERANCE = 1e-12  # a FAR within this of a level (relatively) keeps to it


def thresholds_at(
    tally: Tally, far: np.ndarray, curve: int, n_columns: int | None = None
) -> np.ndarray:
    """The threshold at each FAR level, (column, level): inf {t : FAR(t) <= level} (D.1).

    It is the smallest observed impostor score at which the FAR keeps to the level.
    """
    cells = slice(curve, curve + 1) if curve < tally.n_groups else slice(0, len(tally.totals))
    accepted = tally.accepted[:, cells, :n_columns].sum(1)  # (chunk + 1, column)
    allowed = far * tally.totals[cells, :n_columns].sum(0)[:, None] * (1 + TOLERANCE)
    # the highest chunk whose pairs lift the accepted weight above the level
    rising = accepted[::-1].T
    higher = [np.searchsorted(*both, "right") for both in zip(rising, allowed)]
    chunk = np.maximum(len(accepted) - 1 - np.array(higher), 0)
    chunk[accepted[0] == 0] = -1  # a replicate without impostors has no threshold
    thresholds = np.full(chunk.shape, np.nan)
    for k, column, level in by_chunk(chunk, tally):
        own = slice(*tally.impostors.cells_in_chunk(k)[[cells.start, cells.stop]])
        score = tally.impostors.score[tally.impostors.of_chunk(k)][own]
        falling = np.argsort(-score, kind="stable")
        weight = tally.impostors.weights(k, column)[own][falling]
        left = allowed[column, level] - tally.accepted[k + 1, cells].sum(0)[column]
        place = (np.cumsum(weight, axis=0) <= left).sum(0)
        # none lifts it where the sums of chunks were rounded otherwise: then the last that counts
        none = place == len(weight)
        place[none] = len(weight) - 1 - (weight[::-1, none] > 0).argmax(0)
        thresholds[column, level] = score[falling][place]
    return thresholds


def by_chunk(chunk: np.ndarray, tally: Tally) -> Iterator[tuple]:
    """For an array of chunks: each chunk, and where in the array it stands; -1 is no chunk.

    Some places at a time, so that weights (pair, place) need little memory.
    """
    for k in np.unique(chunk[chunk >= 0]).tolist():
        places = np.nonzero(chunk == k)
        pairs = (tally.impostors.of_chunk(k), tally.genuine.of_chunk(k))
        n_pairs = sum(part.stop - part.start for part in pairs)
        step = max(1, TOGETHER // max(n_pairs, 1))
        for begin in range(0, len(places[0]), step):
            yield k, *(index[begin : begin + step] for index in places)


def false_acceptance(tally: Tally, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """FAR of every cell and of all, (column, level, cell) and (column, level), at thresholds.

    The weights of impostor pairs make it the mean over pairs of identities of the share of their
    image pairs with score > threshold (eq. 2; of groups eq. 21).
    """
    accepted = _errors(tally, tally.impostors, tally.accepted[1:], np.greater, thresholds)
    totals = tally.totals.T[:, None]
    # thinned pairs stand for others: their sum may exceed that of all pairs
    far = np.minimum(ratio(accepted, totals), 1.0)
    return far, np.minimum(ratio(accepted.sum(2), totals.sum(2)), 1.0)


def false_rejection(tally: Tally, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """FRR of every group and of all, (column, level, group) and (column, level), at thresholds.

    The weights of genuine pairs make it the mean over identities of the share of their pairs with
    score <= threshold: of the data eq. 3, of replicates eq. 14, of the V-statistic eq. 19 (of
    groups eq. 22).
    """
    rejected = _errors(tally, tally.genuine, tally.rejected, np.less_equal, thresholds)
    totals = tally.genuine_totals.T[:, None]
    return ratio(rejected, totals), ratio(rejected.sum(2), totals.sum(2))


def _errors(
    tally: Tally, pairs: Pairs, outside: np.ndarray, errs: Callable, thresholds: np.ndarray
) -> np.ndarray:
    """Weight of the pairs that err at thresholds (column, level): (column, level, cell).

    outside : (chunk, cell, column) weight of the pairs outside each chunk that err where the
    threshold lies in it. errs : of scores and thresholds.
    """
    errors = np.full((*thresholds.shape, pairs.n_cells), np.nan)
    chunk = np.where(np.isnan(thresholds), -1, np.searchsorted(tally.upper, thresholds))
    for k, column, level in by_chunk(chunk, tally):
        weight = pairs.weights(k, column)
        score = pairs.score[pairs.of_chunk(k), None]
        weight *= errs(score, thresholds[column, level])
        inside = sums_of_cells(weight, pairs.cells_in_chunk(k))
        errors[column, level] = (outside[k][:, column] + inside).T
    return errors


def sums_of_cells(weight: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Sums of weights (pair, column) from each start to the next, (cell, column)."""
    sums = np.zeros((len(start) - 1, weight.shape[1]))
    some = np.diff(start) > 0
    if some.any():
        sums[some] = np.add.reduceat(weight, start[:-1][some], axis=0)
    return sums


def error_counts(tally: Tally, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of accepted impostor pairs, (level, cell), and of rejected genuine ones."""
    impostors, genuine = tally.impostors, tally.genuine
    accepts = []
    numbers = impostors.numbers()
    for threshold in thresholds:
        k = int(np.searchsorted(tally.upper, threshold))
        accepted = impostors.score[impostors.of_chunk(k), None] > threshold
        inside = sums_of_cells(accepted.astype(float), impostors.cells_in_chunk(k))[:, 0]
        accepts.append(numbers[k + 1 :].sum(0) + inside * impostors.stands_for[k])
    group = genuine.slots() % genuine.n_cells
    rejects = []
    for threshold in thresholds:
        rejected = (genuine.score <= threshold) & ~genuine.copy
        rejects.append(np.bincount(group[rejected], minlength=genuine.n_cells))
    return np.round(accepts).astype(int), np.array(rejects)


def ratio(weight: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Weight / total, NaN where there is nothing to divide by."""
    weight, total = np.broadcast_arrays(weight, total)
    return np.divide(weight, total, out=np.full(weight.shape, np.nan), where=total > 0)


def curves(weight: np.ndarray, n_groups: int, axis: int) -> np.ndarray:
    """Weights of cells (or groups) along an axis as those of curves: groups, and last all."""
    of_groups = np.take(weight, range(n_groups), axis)
    return np.concatenate([of_groups, weight.sum(axis, keepdims=True)], axis)


# --- equal error rates and areas under the curve -------------------------------------------------


def equal_error_rates(tally: Tally) -> tuple[np.ndarray, np.ndarray]:
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
    chunk = np.where((impostor_totals > 0) & (genuine_totals > 0), crossed.argmax(0), -1)
    eer, threshold = np.full((2, *chunk.shape), np.nan)
    for k, curve, column in by_chunk(chunk, tally):
        accepted = _curve_weights(tally.impostors, k, curve, column, n_groups)
        rejected = _curve_weights(tally.genuine, k, curve, column, n_groups)
        eer[curve, column], threshold[curve, column] = _crossings(
            tally.impostors.score[tally.impostors.of_chunk(k)],
            tally.genuine.score[tally.genuine.of_chunk(k)],
            accepted / impostor_totals[curve, column],
            rejected / genuine_totals[curve, column],
            far[k, curve, column],
            frr[k, curve, column],
        )
    return eer.T, threshold.T


def _curve_weights(pairs: Pairs, k: int, curve, column, n_groups: int) -> np.ndarray:
    """Weight of the pairs of a chunk in some curves and columns, (pair, place)."""
    cell = np.repeat(np.arange(pairs.n_cells), np.diff(pairs.cells_in_chunk(k)))
    weight = pairs.weights(k, column)
    weight *= (curve == n_groups) | (cell[:, None] == curve)
    return weight


def _crossings(impostor_score, genuine_score, accepted, rejected, far_below, frr_below) -> tuple:
    """EERs and thresholds inside a chunk.

    accepted, rejected : (pair, place) share of each pair in FAR and in FRR.
    far_below, frr_below : (place,) rates at the lower end of the chunk.
    """
    scores = np.append(impostor_score, genuine_score)
    order = np.argsort(scores, kind="stable")
    scores = scores[order]
    last = np.append(scores[1:] > scores[:-1], True)  # of equal scores
    lost = np.concatenate([accepted, np.zeros_like(rejected)])[order]
    gained = np.concatenate([np.zeros_like(accepted), rejected])[order]
    far = far_below - np.cumsum(lost, axis=0)[last]  # at each distinct score
    frr = frr_below + np.cumsum(gained, axis=0)[last]
    crossed = frr - far >= -TOLERANCE
    crossed[-1] = True  # but for rounding it is
    first = crossed.argmax(0)
    at_first = first, np.arange(far.shape[1])
    far_before = np.concatenate([far_below[None], far])[at_first]
    frr_before = np.concatenate([frr_below[None], frr])[at_first]
    gap_before = far_before - frr_before
    gap_after = frr[at_first] - far[at_first]
    share = np.nan_to_num(ratio(gap_before, gap_before + gap_after))
    eer = far_before + share * (far[at_first] - far_before)
    return np.where(np.abs(eer) < TOLERANCE, 0.0, eer), scores[last][first]


def auc(tally: Tally) -> tuple[np.ndarray, float]:
    """AUC, (column, curve), as if half of the couples within a chunk were in order.

    Also returns the largest error that this can make.
    """
    impostor = curves(tally.impostor_sums, tally.n_groups, 1)  # (chunk, curve, column)
    rejected = curves(tally.rejected, tally.n_groups, 1)
    genuine = np.diff(rejected, axis=0)
    couples = impostor.sum(0) * rejected[-1]
    in_wrong_order = (impostor * (rejected[1:] - genuine / 2)).sum(0)
    error = ratio((impostor * genuine / 2).sum(0), couples)
    return (1 - ratio(in_wrong_order, couples)).T, float(np.nan_to_num(error).max())
