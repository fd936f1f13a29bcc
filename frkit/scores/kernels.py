"""The loops that NumPy cannot do fast enough: they know arrays only, no labels and no dask.

Indices are unsigned, because Numba then skips the test for negative ones.
"""

import numpy as np

from frkit.base import compiled

SEGMENT = 512  # columns whose levels follow each other in the pattern
LOOK = 64  # scores, or pairs, that are looked at together
FEW = 6  # up to so many are searched one after the other
TOLERANCE = 1e-12  # FAR and FRR within this of each other have crossed


COMPILE = {"nogil": True, "boundscheck": False}


# --- which pairs are kept ------------------------------------------------------------------------


@compiled(**COMPILE)
def pattern_start(row, segment, n_starts):
    """Where the pattern of levels begins for a row and a segment of columns: a hash of both.

    So the pairs of one column with two rows hardly ever have their level from the same number.
    """
    hashed = np.uint64(row) * np.uint64(0x9E3779B97F4A7C15)
    hashed ^= np.uint64(segment) * np.uint64(0xC2B2AE3D27D4EB4F)
    hashed ^= hashed >> np.uint64(29)
    hashed *= np.uint64(0xBF58476D1CE4E5B9)
    return np.uintp(hashed >> np.uint64(32)) % np.uintp(n_starts)


@compiled(**COMPILE)
def number_above(line, floor, first, first_floor):
    """How many of LOOK scores are not below or at their floor; NaN is not, so it is found."""
    n_below = np.uint32(0)
    for u in range(LOOK):
        n_below += np.uint32(line[np.uintp(first + u)] <= floor[np.uintp(first_floor + u)])
    return LOOK - n_below


@compiled(**COMPILE)
def select(scores, origin, person, floor, levels, triangle, row, col, score, level):
    """Write down the impostor pairs of a block whose score exceeds their floor.

    origin: row and column of the tensor where the block begins. person: of the block's rows and
    columns. floor, levels: the score to exceed, and the level, along the pattern.
    triangle: whether only pairs right of the tensor's diagonal count. row, col, score, level: out.
    Returns how many pairs were written. A score that is NaN exceeds every floor.
    """
    n = np.uintp(0)
    width = scores.shape[1]
    for r in range(scores.shape[0]):
        line = scores[r]
        tensor_row = origin[0] + r
        begin = max(0, tensor_row + 1 - origin[1]) if triangle else 0
        for start in range(begin // SEGMENT * SEGMENT, width, SEGMENT):
            segment = (origin[1] + start) // SEGMENT
            offset = pattern_start(tensor_row, segment, len(levels) - SEGMENT)
            floor_here = floor[offset : offset + np.uintp(SEGMENT)]
            levels_here = levels[offset : offset + np.uintp(SEGMENT)]
            end = min(start + SEGMENT, width)
            for first in range(start, end, LOOK):
                last = min(first + LOOK, end)
                n_above = LOOK
                if first + LOOK <= end:
                    n_above = number_above(line, floor_here, first, first - start)
                if n_above == 0:
                    continue
                for c in range(max(first, begin), last):
                    if n_above <= FEW and line[np.uintp(c)] <= floor_here[np.uintp(c - start)]:
                        continue
                    u = np.uintp(c)
                    v = np.uintp(c - start)
                    row[n] = tensor_row
                    col[n] = origin[1] + c
                    score[n] = line[u]
                    level[n] = levels_here[v]
                    # no branch: which of many pairs are kept cannot be foreseen
                    below = line[u] <= floor_here[v]
                    n += np.uintp((not below) & (person[1][u] != person[0][r]))
    return n


@compiled(**COMPILE)
def select_within(
    scores, origin, person, row_groups, col_order, col_start, floor, levels, triangle,
    row, col, score, level, group,
):  # fmt: skip
    """As `select`, of two images of one small group, whose floors are the group's own.

    row_groups: (attribute, row) the small group of each row, or -1. col_order, col_start: the
    columns of each small group. floor: (group, level). group: out.
    """
    n = np.uintp(0)
    n_segments = scores.shape[1] // SEGMENT + 1
    offsets = np.empty(n_segments, np.uintp)
    for r in range(scores.shape[0]):
        tensor_row = origin[0] + r
        for s in range(n_segments):
            segment = origin[1] // SEGMENT + s
            offsets[s] = pattern_start(tensor_row, segment, len(levels) - SEGMENT)
        for attribute in range(row_groups.shape[0]):
            g = row_groups[attribute, r]
            if g < 0:
                continue
            for k in range(col_start[g], col_start[g + 1]):
                c = col_order[k]
                if triangle and origin[1] + c <= tensor_row or person[1][c] == person[0][r]:
                    continue
                level_here = levels[offsets[c // SEGMENT] + np.uintp(c % SEGMENT)]
                if scores[r, c] <= floor[g, level_here]:
                    continue
                row[n] = tensor_row
                col[n] = origin[1] + c
                score[n] = scores[r, c]
                level[n] = level_here
                group[n] = g
                n += np.uintp(1)
    return n


@compiled(**COMPILE)
def count(score, level, low, bins_per_score, counts):
    """Count pairs by level and bin of their score, counts (level, bin)."""
    last = counts.shape[1] - 1
    for u in range(len(score)):
        number = int((score[u] - low) * bins_per_score)
        counts[np.uintp(level[u]), np.uintp(min(max(number, 0), last))] += 1
