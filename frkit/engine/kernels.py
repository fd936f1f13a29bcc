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
        line = scores[r]
        person = persons[0][r]
        tensor_row = origin[0] + r
        begin = max(0, tensor_row + 1 - origin[1]) if triangle else 0
        for start in range(begin // SEGMENT * SEGMENT, width, SEGMENT):
            segment = (origin[1] + start) // SEGMENT
            place = np.uintp((tensor_row + STEP * segment) % floor.shape[0])
            least = floor[place]
            here = levels[place]
            end = min(start + SEGMENT, width)
            for first in range(max(start, begin), end, LOOK):
                last = min(first + LOOK, end)
                floor_here = least[first - start : last - start]
                if not exceeds(line[first:last], floor_here):
                    continue
                for c in range(first, last):
                    u = np.uintp(c)
                    v = np.uintp(c - start)
                    row[n] = tensor_row
                    col[n] = origin[1] + offset + c
                    score[n] = line[u]
                    level[n] = here[v]
                    # no branch: which pairs are kept cannot be foreseen
                    keep = (line[u] > least[v]) & (persons[1][u] != person)
                    n += np.uintp(keep)
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
        number = int((score[u] - low) * bins_per_score)
        place = np.uintp(min(max(number, 0), last))
        counts[np.uintp(level[u]), place] += 1
        r = np.uintp(row[u])
        c = np.uintp(col[u])
        curve = cell_of[kind[r], kind[c]] if several else 0
        if curve < len(mass):
            mass[curve, place] += scale[r] * scale[c]


@compiled(**COMPILE)
def places(row, col, score, kind, cell_of, upper, start, place):
    """The place of each pair where pairs are sorted by slot: by chunk, and by cell within a chunk.

    A chunk is the first whose upper end is not below the score. kind: of each entry; cell_of: of
    two kinds. start: (slot + 1) where the pairs of each slot begin, and place, (pair,): out.
    """
    n_cells = (len(start) - 1) // len(upper)
    for u in range(len(score)):
        chunk = np.searchsorted(upper, score[u])
        cell = cell_of[kind[row[u]], kind[col[u]]]
        slot = chunk * n_cells + cell
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
def add_counts(start, row, col, counts, run, sums):
    """Add the product of both counts of each pair to sums (chunk, cell, column).

    start: (chunk, cell + 1) where the pairs of each cell begin. counts: (entry, column) bytes.
    `run` pairs are added up in 16 bits, which they cannot overflow, so that all is exact.
    """
    part = np.empty(counts.shape[1], np.uint16)
    for k in range(sums.shape[0]):
        for cell in range(sums.shape[1]):
            total = sums[k, cell]
            for begin in range(start[k, cell], start[k, cell + 1], run):
                part[:] = 0
                end = min(begin + run, start[k, cell + 1])
                for u in range(begin, end):
                    v = counts[np.uintp(row[u])]
                    w = counts[np.uintp(col[u])]
                    for b in range(len(part)):
                        both = np.uint16(np.uint16(v[b]) * np.uint16(w[b]))
                        part[b] = np.uint16(part[b] + both)
                for b in range(len(part)):
                    total[b] += part[b]


@compiled(**COMPILE)
def add_weights(start, row, col, factor, row_counts, col_counts, sums):
    """As `add_counts`, with a factor for each pair, and counts for either side."""
    for k in range(sums.shape[0]):
        for cell in range(sums.shape[1]):
            total = sums[k, cell]
            for u in range(start[k, cell], start[k, cell + 1]):
                v = row_counts[np.uintp(row[u])]
                w = col_counts[np.uintp(col[u])]
                for b in range(len(total)):
                    both = np.int32(v[b]) * np.int32(w[b])
                    total[b] += factor[u] * np.float64(both)


@compiled(**COMPILE)
def add_people(
    start, lower, upper, value, copies, row, col, score, weight, member, compared, of_pair,
    key, together, accepted, sums,
):  # fmt: skip
    """Add pairs with lower < score <= upper to the sums of entries and of pairs of two members.

    start: (chunk, cell + 1) where the pairs of each cell begin. value: (chunk, cell) by which their
    weight is multiplied. copies: (chunk,) how many pairs each one stands for. member: of each
    entry; the group of member m is m modulo the number of groups. compared: (side, member) sums of
    a tensor's probes and references; of_pair: (pair,) of a list, the weight of all pairs of its two
    members.
    key, together: a hash table (its length a power of two, so that some places stay free) of what
    two members have together. accepted: (entry, group of the partner). sums: (2, group, group) of
    the squares of what two members have together, and of its products with the weight of all their
    pairs.
    """
    n_groups = accepted.shape[1]
    n_members = compared.shape[1]
    last = np.uint64(len(key) - 1)
    for k in range(value.shape[0]):
        for cell in range(value.shape[1]):
            if value[k, cell] == 0:
                continue
            for u in range(start[k, cell], start[k, cell + 1]):
                if not lower < score[u] <= upper:
                    continue
                first_member = member[row[u]]
                second_member = member[col[u]]
                low = min(first_member, second_member)
                high = max(first_member, second_member)
                both = np.uint64(low * n_members + high + 1)
                place = (both * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)) & last
                while key[place] != both and key[place] != 0:
                    place = (place + np.uint64(1)) & last
                added = weight[u] * value[k, cell]
                square = added * (2 * together[place] + added)
                # the pairs for which a kept one stands do not have the square of their weights
                square -= added**2 * (1 - 1 / copies[k])
                if len(of_pair):
                    whole = of_pair[u]
                else:
                    whole = compared[0, first_member] * compared[1, second_member]
                    whole += compared[0, second_member] * compared[1, first_member]
                accepted[row[u], second_member % n_groups] += added
                accepted[col[u], first_member % n_groups] += added
                sums[0, low % n_groups, high % n_groups] += square
                sums[1, low % n_groups, high % n_groups] += added * whole
                key[place] = both
                together[place] += added
