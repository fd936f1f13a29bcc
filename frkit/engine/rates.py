"""Error rates of weighted pairs: thresholds at FAR levels, FAR, FRR, EER and AUC, in every column.

Columns are the data, the replicates and the V-statistic. A curve is a group, or all pairs. Sums of
chunks of pairs say in which chunk a threshold lies; compiled loops look into this chunk.
"""

import numpy as np

from frkit.engine import kernels
from frkit.engine.tally import Pairs, Tally

TOLERANCE = 1e-12  # a FAR within this of a level (relatively) keeps to it


def thresholds_at(tally: Tally, far, curve: int, n_columns: int | None = None):
    """The threshold at each FAR level, (column, level): inf {t : FAR(t) <= level} (D.1).

    It is the smallest observed impostor score at which the FAR keeps to the level: from the highest
    score down, the first one at which the weight of the accepted pairs would exceed its share.
    """
    cells = slice(curve, curve + 1) if curve < tally.n_groups else slice(None)
    accepted = tally.accepted[:, cells, :n_columns].sum(1)  # (chunk + 1, column)
    total = tally.totals[cells, :n_columns].sum(0)
    allowed = far * total[:, None] * (1 + TOLERANCE)
    # the highest chunk whose pairs lift the accepted weight above the level
    chunk = (accepted[:, :, None] > allowed).sum(0) - 1
    chunk = np.maximum(chunk, 0)
    chunk[accepted[0] == 0] = -1  # a replicate without impostors has no threshold
    in_higher_chunks = np.take_along_axis(accepted.T, chunk + 1, axis=1)
    thresholds = np.full(chunk.shape, np.nan)
    curve = curve if curve < tally.n_groups else -1
    kernels.lifting_scores(tally.impostors, curve, chunk, allowed - in_higher_chunks, thresholds)
    return thresholds


def false_acceptance(tally: Tally, thresholds):
    """FAR of every cell and of all, (column, level, cell) and (column, level), at thresholds.

    The mean over pairs of identities of the share of their image pairs with score > threshold
    (eq. 2; of groups eq. 21): weights are those of `Protocol.impostor_weights`.
    """
    accepted = _errors(tally, tally.impostors, tally.accepted[1:], True, thresholds)
    totals = tally.totals.T[:, None]
    of_cells = ratio(accepted, totals)
    of_all = ratio(accepted.sum(2), totals.sum(2))
    # thinned pairs stand for others: their sum may exceed that of all pairs
    return np.minimum(of_cells, 1.0), np.minimum(of_all, 1.0)


def false_rejection(tally: Tally, thresholds):
    """FRR of every group and of all, (column, level, group) and (column, level), at thresholds.

    The mean over identities of the share of their pairs with score <= threshold: of the data eq. 3,
    of replicates eq. 14, of the V-statistic eq. 19 (of groups eq. 22). Weights are those of
    `Protocol.genuine_weights` and `Protocol.vstatistic_weights`.
    """
    rejected = _errors(tally, tally.genuine, tally.rejected, False, thresholds)
    totals = tally.genuine_totals.T[:, None]
    return ratio(rejected, totals), ratio(rejected.sum(2), totals.sum(2))


def _errors(tally: Tally, pairs: Pairs, outside, above: bool, thresholds):
    """Weight of the pairs that err at thresholds (column, level): (column, level, cell).

    outside : (chunk, cell, column) weight of the pairs outside each chunk that err where the
    threshold lies in it. above : whether pairs err above the threshold, or up to it.
    """
    is_missing = np.isnan(thresholds)
    chunk = np.where(is_missing, 0, np.searchsorted(tally.upper, thresholds))
    errors = np.moveaxis(outside, 2, 0)[np.arange(len(thresholds))[:, None], chunk]
    errors[is_missing] = np.nan
    chunk[is_missing] = -1
    kernels.add_parts_of_chunks(pairs, chunk, thresholds, above, errors)
    return errors


def sums_above(pairs: Pairs, thresholds, value, n_cells: int):
    """Sums of a value of the pairs above each threshold, (level, cell)."""
    n_levels = len(thresholds)
    rising = np.argsort(thresholds, kind="stable")
    # the number of thresholds that each pair exceeds
    ends = np.searchsorted(pairs.score, thresholds[rising], side="right")
    n_exceeded = np.repeat(np.arange(n_levels + 1), np.diff(ends, prepend=0, append=len(value)))
    place = n_exceeded * n_cells + pairs.cell
    sums = np.bincount(place, value, (n_levels + 1) * n_cells).reshape(-1, n_cells)
    above = np.empty((n_levels, n_cells))
    above[rising] = sums[::-1].cumsum(0)[::-1][1:]
    return above


def error_counts(tally: Tally, thresholds):
    """Numbers of accepted impostor pairs, (level, cell), and of rejected genuine ones."""
    n_cells = tally.protocol.n_cells
    accepts = sums_above(tally.impostors, thresholds, tally.impostors.stands_for, n_cells)
    n_groups = tally.n_groups + 1
    genuine = tally.genuine
    n_genuine = np.bincount(genuine.cell, genuine.stands_for, n_groups)
    rejects = n_genuine - sums_above(genuine, thresholds, genuine.stands_for, n_groups)
    return np.round(accepts).astype(int), np.round(rejects).astype(int)


def thinning_errors(tally: Tally, thresholds):
    """Relative standard error of the FAR of each cell and of all, because pairs were thinned.

    (level, cell) and (level,). A pair that stands for s pairs was kept with probability 1 / s: of
    its weight s m the variance is s (s - 1) m².
    """
    pairs = tally.impostors
    noise = pairs.weight**2 * (1 - 1 / pairs.stands_for)
    variance = sums_above(pairs, thresholds, noise, tally.protocol.n_cells)
    accepted = sums_above(pairs, thresholds, pairs.weight, tally.protocol.n_cells)
    of_cells = np.nan_to_num(ratio(np.sqrt(variance), accepted))
    of_all = np.nan_to_num(ratio(np.sqrt(variance.sum(1)), accepted.sum(1)))
    return of_cells, of_all


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
    chunk = crossed.argmax(0)
    eer, threshold = np.full((2, *chunk.shape), np.nan)
    both_kinds = (impostor_totals > 0) & (genuine_totals > 0)
    for curve, column in np.argwhere(both_kinds):
        k = chunk[curve, column]
        eer[curve, column], threshold[curve, column] = kernels.crossing(
            tally.impostors,
            tally.genuine,
            curve if curve < n_groups else -1,
            k,
            column,
            (impostor_totals[curve, column], genuine_totals[curve, column]),
            far[k, curve, column],
            frr[k, curve, column],
        )
    return eer.T, threshold.T


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
