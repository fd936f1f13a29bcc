"""Compiled walks along sorted pairs, for one replicate: exact thresholds, rates and crossings.

They know NumPy arrays only. Indices are unsigned where Numba would else test for negative ones.
"""

import numpy as np

from frkit.base import compiled
from frkit.engine.kernels import COMPILE


@compiled(**COMPILE)
def walk_levels(base, target, begin, end, weight, pairs, threshold, above) -> None:
    """Exact threshold and impostor weight above it, for one replicate and each level.

    base: (level, cell) weight above the level's bin. begin, end: (level,) its pairs in the sorted list.
    weight: (image on each side) of this replicate. pairs: (score descending, row, column, cell, factor).
    The threshold is the highest score whose own pairs would lift the weight above the target: the smallest
    observed score that keeps to it (D.1). Fills threshold (level,) and above (level, cell).
    """
    score, row, col, cell, factor = pairs
    row_weight, col_weight = weight
    for level in range(target.shape[0]):
        total = 0.0
        for c in range(base.shape[1]):  # rows assigned whole take Numba a second each to compile
            above[level, c] = base[level, c]
            total += base[level, c]
        u = begin[level]
        while u < end[level]:
            v, tied = u, 0.0
            while v < end[level] and score[v] == score[u]:
                tied += factor[v] * row_weight[row[v]] * col_weight[col[v]]
                v += 1
            if total + tied > target[level]:
                threshold[level] = score[u]
                break
            if tied > 0:
                threshold[level] = score[u]
            total += tied
            for x in range(u, v):
                above[level, cell[x]] += factor[x] * row_weight[row[x]] * col_weight[col[x]]
            u = v


@compiled(**COMPILE)
def weight_above(base, thresholds, begin, end, weight, pairs, above) -> None:
    """Impostor weight strictly above fixed thresholds, for one replicate: above (level, cell)."""
    score, row, col, cell, factor = pairs
    row_weight, col_weight = weight
    for level in range(thresholds.shape[0]):
        for c in range(base.shape[1]):
            above[level, c] = base[level, c]
        for u in range(begin[level], end[level]):
            if score[u] <= thresholds[level]:
                break
            above[level, cell[u]] += factor[u] * row_weight[row[u]] * col_weight[col[u]]


@compiled(**COMPILE)
def genuine_weight(u, weight, genuine) -> float:
    """Weight of genuine pair u in one replicate; an image with itself stands for its copies: w (w - 1)."""
    row_weight, col_weight, identity_count = weight
    row, col = genuine.row[u], genuine.col[u]
    w = float(col_weight[col])
    w *= (w - 1.0) if row < 0 else float(row_weight[row])
    return genuine.factor[u] * w * identity_count[col]


@compiled(**COMPILE)
def rejected_weight(thresholds, order, weight, genuine, rejected) -> None:
    """Genuine weight at or below each threshold, for one replicate: rejected (level, group).

    weight: (image) of either side and (identity of an image of the second side). genuine: scores ascending; the factor
    of an image with itself holds the one half where pairs are not ordered.
    """
    total = np.zeros(rejected.shape[1])
    u = 0
    for x in range(order.shape[0]):
        level = order[x]
        while u < genuine.score.shape[0] and genuine.score[u] <= thresholds[level]:
            total[genuine.cell[u]] += genuine_weight(u, weight, genuine)
            u += 1
        for group in range(total.shape[0]):
            rejected[level, group] = total[group]


@compiled(**COMPILE)
def binned_genuine(place, weight, genuine, sums) -> None:
    """Genuine weight of one replicate at each place but the last, sums (place, group); place: (pair,), ascending."""
    for u in range(genuine.score.shape[0]):
        if place[u] >= sums.shape[0] - 1:
            break
        sums[place[u], genuine.cell[u]] += genuine_weight(u, weight, genuine)


@compiled(**COMPILE)
def sum_genuine(place, weight, genuine, sums, powers) -> None:
    """Genuine weight of one replicate at each place, sums (place, group), and that of the powers 0 to 2 of the scores,
    powers (power, group)."""
    for u in range(genuine.score.shape[0]):
        added, group, score = genuine_weight(u, weight, genuine), genuine.cell[u], np.float64(genuine.score[u])
        sums[place[u], group] += added
        powers[0, group] += added
        powers[1, group] += added * score
        powers[2, group] += added * score**2


@compiled(**COMPILE)
def crossing(accepted, rejected, imp, gen, weight, genuine_weights, pairs, genuine, own, totals, tolerance) -> tuple:
    """Where FAR and FRR cross inside one bin, for one replicate: (EER, threshold).

    accepted, rejected: impostor weight above and genuine weight below the lower end of the bin.
    imp, gen: (begin, end) of the bin's pairs in `pairs` (score descending) and the first genuine pair in
    `genuine` (ascending) that is not below the bin. genuine_weights: as `weight` in `rejected_weight`. own: the group
    that counts, which is also the cell of its own pairs (-1: all). totals: weight of all impostor and genuine pairs.
    The threshold is the smallest observed score at which FRR >= FAR; the EER is interpolated on the line from
    the rates just below that score to the rates at it.
    """
    p, q = imp[1] - 1, gen
    far, frr = accepted / totals[0], rejected / totals[1]
    n_genuine = genuine.score.shape[0]
    while p >= imp[0] or q < n_genuine:
        from_pairs = p >= imp[0] and (q >= n_genuine or pairs.score[p] <= genuine.score[q])
        score = pairs.score[p] if from_pairs else genuine.score[q]
        more_accepted = more_rejected = 0.0
        while p >= imp[0] and pairs.score[p] == score:
            if own < 0 or pairs.cell[p] == own:
                more_accepted += pairs.factor[p] * weight[0][pairs.row[p]] * weight[1][pairs.col[p]]
            p -= 1
        while q < n_genuine and genuine.score[q] == score:
            if own < 0 or genuine.cell[q] == own:
                more_rejected += genuine_weight(q, genuine_weights, genuine)
            q += 1
        if more_accepted > 0 or more_rejected > 0:
            accepted, rejected = accepted - more_accepted, rejected + more_rejected
            new_far, new_frr = accepted / totals[0], rejected / totals[1]
            if new_far - new_frr <= tolerance:
                gap, after = far - frr, new_frr - new_far
                share = gap / (gap + after) if gap + after > 0 else 0.0
                return far + share * (new_far - far), score
            far, frr = new_far, new_frr
    return np.nan, np.nan
