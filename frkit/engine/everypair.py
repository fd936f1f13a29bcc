"""Compiled loops over every pair of a patch, without a floor: histograms, moments, AUC.

They know NumPy arrays only. Indices are unsigned where Numba would else test for negative ones.
"""

import numpy as np
from numba import njit

from frkit.engine.kernels import COMPILE


@njit(**COMPILE)
def file_in_bins(scores, first, persons, groups, cell_of, edges, out) -> int:
    """File every impostor pair of a patch under its histogram bin: edges[b] <= score < edges[b + 1], the last closed.

    A score outside (by rounding; more is refused elsewhere) falls into the first or last bin. Returns how many.
    """
    rows, cols, slots = out
    n_cells, n_bins = cell_of.max() + 1, edges.shape[0] - 1
    scale = n_bins / (edges[-1] - edges[0])
    n = np.uintp(0)
    for r in range(scores.shape[0]):
        cells = cell_of[groups[0][r]]
        for c in range(first[r], scores.shape[1]):
            score, cell = scores[r, c], cells[groups[1][c]]
            if persons[1][c] == persons[0][r] or cell < 0 or np.isnan(score):
                continue
            b = min(max(int((score - edges[0]) * scale), 0), n_bins - 1)
            while b > 0 and score < edges[b]:
                b -= 1
            while b + 1 < n_bins and score >= edges[b + 1]:
                b += 1
            rows[n], cols[n], slots[n] = r, c, b * n_cells + cell
            n += np.uintp(1)
    return n


@njit(**COMPILE)
def impostor_scores(scores, first, persons, groups, cell_of) -> tuple:
    """The scores of a patch in float64, 0 where there is no impostor pair that counts, and which do."""
    out = np.zeros(scores.shape)
    counted = np.zeros(scores.shape, np.bool_)
    for r in range(scores.shape[0]):
        cells = cell_of[groups[0][r]]
        for c in range(first[r], scores.shape[1]):
            score = scores[r, c]
            if persons[1][c] != persons[0][r] and cells[groups[1][c]] >= 0 and not np.isnan(score):
                out[r, c] = score
                counted[r, c] = True
    return out, counted


@njit(**COMPILE)
def add_lost(
    rows, cols, slots, n, scores, own, levels, lost, row_weight, col_weight, row_scale, col_scale, sums
) -> None:
    """Add to `sums` (curve, column) what each impostor pair beats: the genuine weight below it, ties by half.

    levels: distinct genuine scores, ascending. lost: (curve, level, column) genuine weight below a level, and
    behind it that up to and with the level. own: (cell,) the group whose own pairs the cell holds, or -1.
    """
    last = lost.shape[0] - 1
    for u in range(n):
        r, c = np.uintp(rows[u]), np.uintp(cols[u])
        score = scores[r, c]
        at = np.searchsorted(levels, score)
        tied = at < levels.shape[0] and levels[at] == score
        factor = row_scale[r] * col_scale[c]
        group = own[slots[u]]
        for curve in (group, last):
            if curve < 0:
                continue
            below, upto = lost[curve, at], lost[curve, at + tied]
            total = sums[curve]
            for b in range(total.shape[0]):
                total[b] += factor * (row_weight[r, b] * col_weight[c, b]) * 0.5 * (below[b] + upto[b])
