"""Error rates of weighted pairs: thresholds at FAR levels, FAR, FRR, EER and AUC, in every column.

Columns are the data, the replicates and the V-statistic. A curve is a group, or behind the last
group all pairs. Pairs are in the order of their errors, so that those which err at a threshold are
the first ones, and few rates need to read all of them.
"""

import numpy as np

from frkit.engine import kernels
from frkit.engine.tally import Pairs, Tally

TOLERANCE = 1e-12  # a FAR within this of a level (relatively) does not exceed it


def thresholds_at(tally: Tally, far, curve: int, n_columns: int | None = None):
    """The threshold at each FAR level, (column, level): inf {t : FAR(t) <= level} (D.1).

    It is the smallest observed impostor score at which the FAR does not exceed the level: from the
    highest score down, the first one at which the weight of the accepted pairs would exceed its
    share.
    """
    impostors = tally.impostors
    totals = curves(tally.totals, tally.n_groups, 0)[curve, :n_columns]
    n_above, accepted, *_ = tally.marks
    accepted = curves(accepted, tally.n_groups, 1)[:, curve]
    thresholds = np.empty((len(totals), len(far)))
    rising = np.argsort(far)
    for column, total in enumerate(totals):
        thresholds[column, rising] = kernels.lifting_scores(
            impostors.score,
            _cell_of(curve, tally),
            impostors.column(column),
            far[rising] * total * (1 + TOLERANCE),
            n_above,
            accepted[:, column],
        )
    return thresholds


def _cell_of(curve: int, tally: Tally):
    """The cell of the pairs of a curve, -1 for all."""
    return curve if curve < tally.n_groups else -1


def false_acceptance(tally: Tally, thresholds):
    """FAR of every cell and of all, (column, level, cell) and (column, level), at thresholds.

    The mean over pairs of identities of the share of their image pairs with score > threshold
    (eq. 2; of groups eq. 21): weights are those of `Protocol.impostor_weights`.
    """
    n_errors = number_above(tally.impostors, thresholds)
    far_of_cells, far_of_all = _rates(tally, tally.impostors, tally.totals, thresholds, n_errors)
    # thinned pairs represent others: their sum may exceed that of all pairs
    return np.minimum(far_of_cells, 1.0), np.minimum(far_of_all, 1.0)


def false_rejection(tally: Tally, thresholds):
    """FRR of every group and of all, (column, level, group) and (column, level), at thresholds.

    The mean over identities of the share of their pairs with score <= threshold: of the data eq. 3,
    of replicates eq. 14, of the V-statistic eq. 19 (of groups eq. 22). Weights are those of
    `Protocol.genuine_weights` and `Protocol.vstatistic_weights`.
    """
    n_errors = number_up_to(tally.genuine, thresholds)
    return _rates(tally, tally.genuine, tally.genuine_totals, thresholds, n_errors)


def number_above(impostors: Pairs, thresholds):
    """How many impostor pairs are accepted at thresholds, and come first."""
    rising = impostors.score[::-1]
    return len(rising) - np.searchsorted(rising, _in_precision_of(rising, thresholds), "right")


def number_up_to(genuine: Pairs, thresholds):
    """How many genuine pairs are rejected at thresholds, and come first."""
    return np.searchsorted(genuine.score, _in_precision_of(genuine.score, thresholds), "right")


def _in_precision_of(scores, thresholds):
    """Thresholds in the precision of scores, rounded down: the same scores lie above them."""
    rounded = np.asarray(thresholds).astype(scores.dtype)
    lower = np.nextafter(rounded, scores.dtype.type(-np.inf))
    return np.where(rounded > thresholds, lower, rounded)


def _rates(tally: Tally, pairs: Pairs, totals, thresholds, n_errors):
    """Weight of the pairs that err at thresholds, as shares: of cells, and of all.

    totals : (cell, column) weight of all pairs. n_errors : (column, level) how many pairs err.
    """
    n_columns = len(thresholds)
    n_cells = len(totals)
    errors = np.empty((*thresholds.shape, n_cells))
    if n_columns == totals.shape[1] and np.all(thresholds == thresholds[0]):
        order = np.argsort(n_errors[0])
        errors[:, order] = pairs.sums(n_errors[0, order], n_cells).cumsum(0).transpose(2, 0, 1)
    else:
        numbers, sums = np.zeros(1, int), np.zeros((1, 1, n_columns))
        if pairs is tally.impostors:  # few rates need to read all of them
            numbers, sums = tally.marks[:2]
        for column in range(n_columns):
            order = np.argsort(n_errors[column])
            ends = n_errors[column, order]
            mark = np.searchsorted(numbers, ends, "right") - 1
            begins = np.maximum(numbers[mark], np.append(0, ends[:-1]))
            added = pairs.sums_of_column(begins, ends, n_cells, column)
            for place, level in enumerate(order):
                if begins[place] == numbers[mark[place]]:
                    so_far = sums[mark[place], :, column]
                so_far = errors[column, level] = so_far + added[place]
    errors[np.isnan(thresholds)] = np.nan
    totals = totals.T[:n_columns, None]
    return ratio(errors, totals), ratio(errors.sum(2), totals.sum(2))


def sums_of_errors(n_errors, value, place, n_places: int):
    """Sums of a value of the pairs that err, by a place of each pair: (level, place).

    n_errors : (level,) how many pairs err, the first ones.
    """
    sums = np.empty((len(n_errors), n_places))
    so_far = np.zeros(n_places)
    begin = 0
    for level in np.argsort(n_errors, kind="stable"):
        newly_wrong = slice(begin, n_errors[level])
        so_far += np.bincount(place[newly_wrong], value[newly_wrong], n_places)
        sums[level] = so_far
        begin = n_errors[level]
    return sums


def error_counts(tally: Tally, thresholds):
    """Numbers of accepted impostor pairs, (level, cell), and of rejected genuine ones."""
    counts = []
    for pairs, n_errors, n_cells in (
        (tally.impostors, number_above(tally.impostors, thresholds), tally.protocol.n_cells),
        (tally.genuine, number_up_to(tally.genuine, thresholds), tally.n_groups + 1),
    ):
        numbers = sums_of_errors(n_errors, pairs.stands_for, pairs.cell, n_cells)
        counts.append(np.round(numbers).astype(int))
    return counts


def thinning_errors(tally: Tally, thresholds):
    """Relative standard error of the FAR of each cell and of all, because pairs were thinned.

    (level, cell) and (level,). A pair that stands for s pairs was kept with probability 1 / s: of
    its weight s m the variance is s (s - 1) m².
    """
    n_errors = number_above(tally.impostors, thresholds)
    pairs = tally.impostors.select(slice(n_errors.max()))
    noise = pairs.weight**2 * (1 - 1 / pairs.stands_for)
    variance, accepted = (
        sums_of_errors(n_errors, value, pairs.cell, tally.protocol.n_cells)
        for value in (noise, pairs.weight)
    )
    error_of_cells = np.nan_to_num(ratio(np.sqrt(variance), accepted))
    error_of_all = np.nan_to_num(ratio(np.sqrt(variance.sum(1)), accepted.sum(1)))
    return error_of_cells, error_of_all


def ratio(weight, total):
    """Weight / total, NaN where there is nothing to divide by."""
    weight, total = np.broadcast_arrays(weight, total)
    unknown = np.full(weight.shape, np.nan)
    return np.divide(weight, total, out=unknown, where=total > 0)


def curves(weight, n_groups: int, axis: int):
    """Weights of cells (or groups) along an axis as those of curves: groups, and last all."""
    weight_of_groups = np.take(weight, range(n_groups), axis)
    return np.concatenate([weight_of_groups, weight.sum(axis, keepdims=True)], axis)


# --- equal error rates and areas under the curve -------------------------------------------------


def equal_error_rates(tally: Tally):
    """EER and its threshold, (column, curve).

    The threshold is the smallest observed score at which FRR >= FAR. The EER lies on the line
    from the rates just below that score to the rates at it, where both are equal.
    """
    n_groups = tally.n_groups
    totals_of_kinds = tally.totals, tally.genuine_totals
    totals = np.stack(
        [curves(sums, n_groups, 0) for sums in totals_of_kinds]
    )  # (kind, curve, column)
    eer, threshold = np.full((2, *totals.shape[1:]), np.nan)
    impostors, genuine = tally.impostors, tally.genuine
    n_above, accepted, n_below, rejected = tally.marks
    weights = np.stack([curves(sums, n_groups, 1) for sums in (accepted, rejected)])
    far, frr = ratio(weights, totals[:, None])  # (mark, curve, column)
    mark = np.maximum((frr >= far).sum(0) - 1, 0)
    for curve, column in np.argwhere((totals > 0).all(0)):
        k = mark[curve, column]
        eer[curve, column], threshold[curve, column] = kernels.crossing(
            impostors.score,
            genuine.score,
            _cell_of(curve, tally),
            impostors.column(column),
            genuine.column(column),
            totals[:, curve, column],
            (n_above[k], n_below[k], *weights[:, k, curve, column]),
        )
    return eer.T, threshold.T


def auc(tally: Tally):
    """AUC of the data, (curve,): the share of couples, by weight, whose scores are in order.

    A couple is an impostor pair and a genuine pair; one of equal scores counts half.
    """
    impostors, genuine = tally.impostors, tally.genuine
    n_below = [np.searchsorted(genuine.score, impostors.score, side) for side in ("left", "right")]
    shares = []
    for curve in range(tally.n_groups + 1):
        cell = _cell_of(curve, tally)
        impostor_weight, genuine_weight = (_weight_in_data(p, cell) for p in (impostors, genuine))
        weight_below = np.append(0.0, genuine_weight.cumsum())
        weight_above = weight_below[-1] - weight_below[n_below].mean(0)
        couples = impostor_weight.sum() * weight_below[-1]
        shares.append(ratio(impostor_weight @ weight_above, couples))
    return np.array(shares)


def _weight_in_data(pairs, cell):
    """The weight of each pair in the data, (pair,); 0 in other cells; cell -1 means all."""
    cells, row, partner, weight, row_counts, col_counts = pairs.column(0)
    in_cell = (cells == cell) | (cell < 0)
    return weight * row_counts[row] * col_counts[partner] * in_cell


# --- whole distributions -------------------------------------------------------------------------


def moments_and_histogram(tally: Tally, kind: str, edges):
    """Mean, sd (ddof 0), total weight (column, curve) and histogram (column, bin, curve).

    kind : "genuine" or "impostor". As in NumPy a bin contains its lower edge, the last one both.
    """
    n_groups = tally.n_groups
    if kind == "genuine":
        pairs = tally.genuine
        totals = tally.genuine_totals
        ends = np.searchsorted(pairs.score, edges[1:-1], "left")
    else:
        pairs = tally.impostors
        totals = tally.totals
        ends = len(pairs.score) - np.searchsorted(pairs.score[::-1], edges[-2:0:-1], "left")
    n_pairs = len(pairs.score)
    n_cells = len(totals)
    sums = curves(pairs.sums(np.append(ends, n_pairs), n_cells), n_groups, 1)
    histogram = sums if kind == "genuine" else sums[::-1]  # (bin, curve, column)
    kept = histogram.sum(0)

    def mean(values):
        [sums] = pairs.sums([n_pairs], n_cells, values)
        return ratio(curves(sums, n_groups, 0), kept)

    middle = float(pairs.score.mean())  # around which squares lose no digits
    distance = pairs.score.astype(float) - middle
    first = mean(distance)
    variance = np.maximum(mean(distance**2) - first**2, 0)
    return {
        "total": curves(totals, n_groups, 0).T,
        "mean": (middle + first).T,
        "sd": np.sqrt(variance).T,
        "histogram": np.moveaxis(ratio(histogram, kept), 2, 0),
    }
