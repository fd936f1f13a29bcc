"""Compiled walks along sorted pairs, for one replicate: exact thresholds, rates and crossings.

They know NumPy arrays only. Indices are unsigned where Numba would else test for negative ones.
"""

import numpy as np
from numba import njit

from frkit.engine.kernels import COMPILE


@njit(**COMPILE)
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
        total = base[level].sum()
        above[level] = base[level]
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


@njit(**COMPILE)
def weight_above(base, thresholds, begin, end, weight, pairs, above) -> None:
    """Impostor weight strictly above fixed thresholds, for one replicate: above (level, cell)."""
    score, row, col, cell, factor = pairs
    row_weight, col_weight = weight
    for level in range(thresholds.shape[0]):
        above[level] = base[level]
        for u in range(begin[level], end[level]):
            if score[u] <= thresholds[level]:
                break
            above[level, cell[u]] += factor[u] * row_weight[row[u]] * col_weight[col[u]]


@njit(**COMPILE)
def rejected_weight(thresholds, order, weight, identity_count, genuine, rejected) -> None:
    """Genuine weight at or below each threshold, for one replicate: rejected (level, group).

    genuine: (score ascending, row, column, identity, group, factor); a pair of an image with itself stands
    for its copies: w (w - 1), and the factor holds the one half where pairs are not ordered.
    """
    score, row, col, identity, group, factor = genuine
    row_weight, col_weight = weight
    total = np.zeros(rejected.shape[1])
    u = 0
    for x in range(order.shape[0]):
        level = order[x]
        while u < score.shape[0] and score[u] <= thresholds[level]:
            w = float(row_weight[row[u]])
            same = row[u] < 0
            if same:
                w = float(col_weight[col[u]])
                w *= w - 1.0
            else:
                w *= col_weight[col[u]]
            total[group[u]] += factor[u] * w * identity_count[identity[u]]
            u += 1
        rejected[level] = total


@njit(**COMPILE)
def binned_genuine(place, weight, identity_count, genuine, sums) -> None:
    """Genuine weight of one replicate at each place but the last, sums (place, group); place: (pair,), ascending."""
    score, row, col, identity, group, factor = genuine
    row_weight, col_weight = weight
    for u in range(score.shape[0]):
        if place[u] >= sums.shape[0] - 1:
            break
        w = float(col_weight[col[u]])
        w *= (w - 1.0) if row[u] < 0 else float(row_weight[row[u]])
        sums[place[u], group[u]] += factor[u] * w * identity_count[identity[u]]


@njit(**COMPILE)
def crossing(
    accepted, rejected, imp, gen, weight, identity_count, pairs, genuine, own, totals, tolerance
) -> tuple:
    """Where FAR and FRR cross inside one bin, for one replicate: (EER, threshold).

    accepted, rejected: impostor weight above and genuine weight below the lower end of the bin.
    imp, gen: (begin, end) of the bin's pairs in `pairs` (score descending) and the first genuine pair in
    `genuine` (ascending) that is not below the bin. own: the group that counts, which is
    also the cell of its own pairs (-1: all). totals: weight of all impostor and of all genuine pairs.
    The threshold is the smallest observed score at which FRR >= FAR; the EER is interpolated on the line from
    the rates just below that score to the rates at it.
    """
    p, q = imp[1] - 1, gen
    far, frr = accepted / totals[0], rejected / totals[1]
    while p >= imp[0] or q < genuine[0].shape[0]:
        from_pairs = p >= imp[0] and (q >= genuine[0].shape[0] or pairs[0][p] <= genuine[0][q])
        score = pairs[0][p] if from_pairs else genuine[0][q]
        more_accepted = more_rejected = 0.0
        while p >= imp[0] and pairs[0][p] == score:
            if own < 0 or pairs[3][p] == own:
                more_accepted += pairs[4][p] * weight[0][pairs[1][p]] * weight[1][pairs[2][p]]
            p -= 1
        while q < genuine[0].shape[0] and genuine[0][q] == score:
            if own < 0 or genuine[4][q] == own:
                w = float(weight[3][genuine[2][q]])
                w *= (w - 1.0) if genuine[1][q] < 0 else float(weight[2][genuine[1][q]])
                more_rejected += genuine[5][q] * w * identity_count[genuine[3][q]]
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
