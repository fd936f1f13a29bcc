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
def count(row, col, score, level, scale, kind, cell_of, low, bins_per_score, counts, mass):
    """Count pairs by level and bin of their score, counts (level, bin); add their weight to mass.

    scale, kind: of each entry; cell_of: of two kinds. mass: (curve, bin), where a single curve
    stands for all pairs, and several for the first cells.
    """
    last = counts.shape[1] - 1
    several = len(mass) > 1
    for u in range(len(score)):
        place = np.uintp(min(max(int((score[u] - low) * bins_per_score), 0), last))
        counts[np.uintp(level[u]), place] += 1
        r, c = np.uintp(row[u]), np.uintp(col[u])
        curve = cell_of[kind[r], kind[c]] if several else 0
        if curve < len(mass):
            mass[curve, place] += scale[r] * scale[c]


@compiled(**COMPILE)
def places(row, col, score, kind, cell_of, upper, guess, low, bins_per_score, start, place):
    """The place of each pair where pairs are sorted by slot: by chunk, and by cell within a chunk.

    A chunk is the first whose upper end is not below the score. kind: of each entry; cell_of: of
    two kinds. guess: (bin,) a chunk near the one of the scores in an even bin; low,
    bins_per_score: of these bins. start: (slot + 1) where the pairs of each slot begin, and place,
    (pair,): out.
    """
    n_cells = (len(start) - 1) // len(upper)
    last = len(guess) - 1
    for u in range(len(score)):
        value = score[u]
        k = guess[min(max(int((value - low) * bins_per_score), 0), last)]
        while k > 0 and value <= upper[k - 1]:
            k -= 1
        while value > upper[k]:
            k += 1
        slot = k * n_cells + cell_of[kind[row[u]], kind[col[u]]]
        place[u] = slot
        start[slot + 1] += 1
    following = np.empty(len(start), np.int64)  # the next free place of each slot
    for s in range(len(start) - 1):
        following[s] = start[s]
        start[s + 1] += start[s]
    for u in range(len(score)):
        s = np.uintp(place[u])
        place[u] = following[s]
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
def add_people(row, col, weight, compared, copies, member, group, key, together, accepted, sums):
    """Add pairs to the weight of each entry, and to sums over pairs of two members.

    row, col: entries. weight: of each pair; compared: of all pairs of its two members.
    copies: how many pairs each one stands for. member: of each entry; group: of each member.
    key, together: a hash table (its length a power of two, so that some places stay free) of what
    two members have together. accepted: (entry, group of the partner). sums: (2, group, group) of
    the squares of what two members have together, and of its products with `compared`.
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
        square = weight[u] * (2 * together[place] + weight[u])
        # the pairs for which one stands do not have the square of their weights
        square -= weight[u] ** 2 * (1 - 1 / copies[u])
        sums[0, group[low], group[high]] += square
        sums[1, group[low], group[high]] += weight[u] * compared[u]
        key[place] = both
        together[place] += weight[u]
