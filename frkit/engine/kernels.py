"""The loops that NumPy cannot do fast enough: they know arrays only, no labels and no dask.

Indices are unsigned, because Numba then skips the test for negative ones.
"""

import numpy as np

from frkit.base import compiled

SEGMENT = 512  # columns that share one row of the pattern of `select`
LOOK = 16  # scores that are looked at together, because mostly none is kept
STEP = 331  # rows of the pattern between two neighbouring segments


COMPILE = {"nogil": True, "boundscheck": False}


@compiled(**COMPILE)
def exceeds(score, least):
    """Whether some score exceeds the one at its place."""
    many = np.uint32(0)
    for u in range(len(score)):
        many += np.uint32(score[u] > least[u])
    return many > 0


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
            end = min(start + SEGMENT, width)
            for first in range(max(start, begin), end, LOOK):
                last = min(first + LOOK, end)
                if not exceeds(line[first:last], least[first - start : last - start]):
                    continue
                for c in range(first, last):
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
def slots(row, col, score, kind, cell_of, n_cells, upper, guess, low, scale, slot):
    """The slot of each pair: n_cells times its chunk, and its cell.

    Its chunk is the first whose upper end is not below the score. kind: of each entry; cell_of:
    of two kinds. guess: (bin,) a chunk near the one of the scores in an even bin; low, scale: of
    these bins. slot: out.
    """
    last = len(guess) - 1
    for u in range(len(score)):
        value = score[u]
        k = guess[min(max(int((value - low) * scale), 0), last)]
        while k > 0 and value <= upper[k - 1]:
            k -= 1
        while value > upper[k]:
            k += 1
        slot[u] = k * n_cells + cell_of[kind[row[u]], kind[col[u]]]


@compiled(**COMPILE)
def places(slot, following):
    """Turn the slot of each pair into its place; following: the next free place of each slot."""
    for u in range(len(slot)):
        s = np.uintp(slot[u])
        slot[u] = following[s]
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
def add_weights(start, row, col, factor, weight_of_row, weight_of_col, sums):
    """As `add_counts`, with a factor for each pair, and a table of weights for either side."""
    for s in range(len(start) - 1):
        total = sums[s]
        for u in range(start[s], start[s + 1]):
            v, w = weight_of_row[np.uintp(row[u])], weight_of_col[np.uintp(col[u])]
            for b in range(len(total)):
                total[b] += factor[u] * np.float64(np.int32(v[b]) * np.int32(w[b]))


@compiled(**COMPILE)
def add_people(row, col, weight, excess, member, group, key, together, accepted, square):
    """Add pairs to the weight of each entry, and to squared sums over pairs of two members.

    row, col: entries. weight: of each pair; excess: what is left out of its square.
    member: of each entry; group: of each member. accepted: (entry, group of the partner).
    key, together: a hash table (its length a power of two, so that some places stay free) of what
    two members have together. square: (group, group).
    """
    last = np.uint64(len(key) - 1)
    for u in range(len(weight)):
        one, other = member[row[u]], member[col[u]]
        accepted[row[u], group[other]] += weight[u]
        accepted[col[u], group[one]] += weight[u]
        low, high = min(one, other), max(one, other)
        both = np.uint64(low * len(group) + high + 1)
        place = (both * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & last
        while key[place] != both and key[place] != 0:
            place = (place + np.uint64(1)) & last
        square[group[low], group[high]] += weight[u] * (2 * together[place] + weight[u]) - excess[u]
        key[place] = both
        together[place] += weight[u]
