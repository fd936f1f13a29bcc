"""What each image adds to the error rates: weights of accepted pairs, added up by image while the scores are swept.

Thresholds are not known during the sweep. Bins whose pairs are not kept fall into gaps between those whose pairs are;
a gap's pairs are added up as one, and the kept pairs, which lie near the thresholds, are added once these are known.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from frkit.engine.kernels import COMPILE

MOST_SAMPLED = 400  # people among whom pairs of people are told apart; enough to see how pairs of two people agree
FEW_ACCEPTED = 50  # accepted pairs among them below which single pairs are taken to be independent


@njit(**COMPILE)
def add_to_images(n, rows, cols, slots, gap_of_slot, groups, scales, sampled, row_sums, col_sums, blocks) -> None:
    """Add each pair of a patch to both of its images: sums (gap, image, group of the partner), and to its people.

    sampled: (row, column) place of each image's person in `blocks` (gap, person, person), or -1.
    """
    for u in range(n):
        gap = gap_of_slot[np.uintp(slots[u])]
        if gap < 0:
            continue
        g, r, c = np.uintp(gap), np.uintp(rows[u]), np.uintp(cols[u])
        row_sums[g, r, np.uintp(groups[1][c])] += scales[1][c]
        col_sums[g, c, np.uintp(groups[0][r])] += scales[0][r]
        a, b = sampled[0][r], sampled[1][c]
        if a >= 0 and b >= 0:
            blocks[g, np.uintp(min(a, b)), np.uintp(max(a, b))] += 1


@njit(**COMPILE)
def add_kept(row, col, score, thresholds, groups, scales, sampled, row_sums, col_sums, blocks) -> None:
    """As `add_to_images` for pairs with their scores: each goes to the first of the falling thresholds below it."""
    for u in range(score.shape[0]):
        g = 0
        while g < thresholds.shape[0] and not score[u] > thresholds[g]:
            g += 1
        if g == thresholds.shape[0]:
            continue
        r, c = np.uintp(row[u]), np.uintp(col[u])
        row_sums[g, r, np.uintp(groups[1][c])] += scales[1][c]
        col_sums[g, c, np.uintp(groups[0][r])] += scales[0][r]
        a, b = sampled[0][r], sampled[1][c]
        if a >= 0 and b >= 0:
            blocks[g, np.uintp(min(a, b)), np.uintp(max(a, b))] += 1
