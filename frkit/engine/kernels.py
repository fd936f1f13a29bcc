"""The loops that NumPy cannot do fast enough: they know arrays only, no labels and no dask.

Indices are unsigned, because Numba then skips the test for negative ones.
"""

import numpy as np

from frkit.base import compiled

SEGMENT = 512  # columns that share one row of the pattern of `select`
STEP = 331  # rows of the pattern between two neighbouring segments


COMPILE = {"nogil": True, "boundscheck": False}


@compiled(**COMPILE)
def select(scores, origin, offset, persons, floor, levels, triangle, row, col, score, level):
    """Write down the impostor pairs of a block whose score exceeds the floor at their place.

    origin: row and column of the tensor where the block begins. offset: the entry of column 0.
    persons: of the block's rows and columns.
    floor, levels: (pattern row, SEGMENT) the score to exceed, and the level, of each place.
    triangle: whether only pairs right of the tensor's diagonal count. row, col, score, level: out.
    Returns how many pairs were written.
    """
    n = np.uintp(0)
    width = scores.shape[1]
    for r in range(scores.shape[0]):
        line, person = scores[r], persons[0][r]
        begin = max(0, origin[0] + r + 1 - origin[1]) if triangle else 0
        for start in range(begin // SEGMENT * SEGMENT, width, SEGMENT):
            segment = (origin[1] + start) // SEGMENT
            place = np.uintp((origin[0] + r + STEP * segment) % floor.shape[0])
            least, here = floor[place], levels[place]
            for c in range(max(start, begin), min(start + SEGMENT, width)):
                u, v = np.uintp(c), np.uintp(c - start)
                row[n], col[n] = origin[0] + r, origin[1] + offset + c
                score[n], level[n] = line[u], here[v]
                # no branch: which pairs are kept cannot be foreseen
                n += np.uintp((line[u] > least[v]) & (persons[1][u] != person))
    return n


@compiled(**COMPILE)
def count(score, level, low, scale, counts):
    """Count pairs by level and bin of their score, counts (level, bin)."""
    last = counts.shape[1] - 1
    for u in range(len(score)):
        place = min(max(int((score[u] - low) * scale), 0), last)
        counts[np.uintp(level[u]), np.uintp(place)] += 1


@compiled(**COMPILE)
def drop(row, col, score, level, cuts):
    """Move the pairs that exceed the cut of their level to the front; how many they are."""
    n = np.uintp(0)
    for u in range(len(score)):
        row[n], col[n], score[n], level[n] = row[u], col[u], score[u], level[u]
        n += np.uintp(score[u] > cuts[np.uintp(level[u])])
    return n


@compiled(**COMPILE)
def chunks(score, upper, guess, low, scale, chunk):
    """The chunk of each pair: the first whose upper end is not below the score.

    guess: (bin,) a chunk near the one of the scores in an even bin; low, scale: of these bins.
    """
    last = len(guess) - 1
    for u in range(len(score)):
        value = score[u]
        k = guess[min(max(int((value - low) * scale), 0), last)]
        while k > 0 and value <= upper[k - 1]:
            k -= 1
        while value > upper[k]:
            k += 1
        chunk[u] = k


@compiled(**COMPILE)
def file_pairs(slot, following, pairs, filed):
    """Put each pair (row, column, score) where the next one of its slot goes."""
    for u in range(len(slot)):
        s = np.uintp(slot[u])
        place = np.uintp(following[s])
        filed[0][place], filed[1][place], filed[2][place] = pairs[0][u], pairs[1][u], pairs[2][u]
        following[s] += 1


@compiled(**COMPILE)
def add_counts(start, row, col, weight, run, sums):
    """Add the product of both weights of each pair to its slot: sums (slot, column).

    start: (slot + 1) where each slot's pairs begin. weight: (entry, column) small whole numbers.
    `run` pairs are added up in 16 bits, which they cannot overflow, so that all is exact.
    """
    part = np.empty(weight.shape[1], np.uint16)
    for s in range(len(start) - 1):
        total = sums[s]
        for begin in range(start[s], start[s + 1], run):
            part[:] = 0
            for u in range(begin, min(begin + run, start[s + 1])):
                v, w = weight[np.uintp(row[u])], weight[np.uintp(col[u])]
                for b in range(len(part)):
                    part[b] = np.uint16(part[b] + np.uint16(np.uint16(v[b]) * np.uint16(w[b])))
            for b in range(len(part)):
                total[b] += part[b]


@compiled(**COMPILE)
def add_weights(start, row, col, factor, weight, sums):
    """As `add_counts`, with a factor for each pair, in float64."""
    for s in range(len(start) - 1):
        total = sums[s]
        for u in range(start[s], start[s + 1]):
            v, w = weight[np.uintp(row[u])], weight[np.uintp(col[u])]
            for b in range(len(total)):
                total[b] += factor[u] * np.float64(np.int32(v[b]) * np.int32(w[b]))
