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

    So the places of one column with two rows hardly ever have their level from the same number.
    """
    hashed = np.uint64(row) * np.uint64(0x9E3779B97F4A7C15)
    hashed ^= np.uint64(segment) * np.uint64(0xC2B2AE3D27D4EB4F)
    hashed ^= hashed >> np.uint64(29)
    hashed *= np.uint64(0xBF58476D1CE4E5B9)
    return np.uintp(hashed >> np.uint64(32)) % np.uintp(n_starts)


@compiled(**COMPILE)
def number_above(line, floor, first, place):
    """How many of LOOK scores are not below or at their floor; NaN is not, so it is found."""
    n_below = np.uint32(0)
    for u in range(LOOK):
        n_below += np.uint32(line[np.uintp(first + u)] <= floor[np.uintp(place + u)])
    return LOOK - n_below


@compiled(**COMPILE)
def select(scores, origin, person, floor, levels, triangle, row, col, score, level):
    """Write down the impostor pairs of a block whose score exceeds the floor at their place.

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
            place = pattern_start(tensor_row, segment, len(levels) - SEGMENT)
            floor_here = floor[place : place + np.uintp(SEGMENT)]
            levels_here = levels[place : place + np.uintp(SEGMENT)]
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
    places = np.empty(n_segments, np.uintp)
    for r in range(scores.shape[0]):
        tensor_row = origin[0] + r
        for s in range(n_segments):
            segment = origin[1] // SEGMENT + s
            places[s] = pattern_start(tensor_row, segment, len(levels) - SEGMENT)
        for attribute in range(row_groups.shape[0]):
            g = row_groups[attribute, r]
            if g < 0:
                continue
            for k in range(col_start[g], col_start[g + 1]):
                c = col_order[k]
                if triangle and origin[1] + c <= tensor_row or person[1][c] == person[0][r]:
                    continue
                level_here = levels[places[c // SEGMENT] + np.uintp(c % SEGMENT)]
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


# --- weights in columns: the data, replicates, the V-statistic -----------------------------------


@compiled(**COMPILE)
def times(row_count, col_count):
    """How often a pair counts: in a replicate an identity counts c_k times and its pair w_i w_j.

    The copies of an image make w_i (w_i - 1) / 2 pairs with score s_ii.
    """
    return np.float64(np.int32(row_count) * np.int32(col_count))


@compiled(**COMPILE)
def add_sums(row, partner, weight, last_weight, cell, begins, ends, row_counts, col_counts, sums):
    """Add the weight of the pairs from each begin up to its end.

    row_counts, col_counts: (row, column). The last column, of the V-statistic, has weights of its
    own. sums: (part, cell, column) out.
    """
    last = sums.shape[2] - 1
    for part in range(len(ends)):
        for u in range(begins[part], ends[part]):
            sum_of_cell = sums[part, np.uintp(cell[u])]
            v = row_counts[np.uintp(row[u])]
            w = col_counts[np.uintp(partner[u])]
            for b in range(last):
                sum_of_cell[b] += weight[u] * times(v[b], w[b])
            sum_of_cell[last] += last_weight[u] * times(v[last], w[last])


@compiled(**COMPILE)
def weight_of(pair, curve, column):
    """Weight of a pair in a column of counts; 0 where it is of another curve.

    curve: the cell of the pairs that count, -1 for all. column: cells, rows, partners and weights
    of the pairs, and the counts of both sides.
    """
    cell, row, partner, weight, row_counts, col_counts = column
    if curve >= 0 and cell[pair] != curve:
        return 0.0
    row_count = row_counts[np.uintp(row[pair])]
    return weight[pair] * times(row_count, col_counts[np.uintp(partner[pair])])


@compiled(**COMPILE)
def lifting_scores(score, curve, column, allowed, n_above, accepted):
    """Walk down to the scores at which the accepted weight exceeds what is allowed, (level,).

    curve, column: as in `weight_of`. allowed: rising. n_above, accepted: (mark,) numbers of pairs,
    from 0 on, and their weight, from which the walk goes on. Where what is allowed is never
    exceeded, the threshold is the lowest score that counts; it is NaN where none does.
    """
    thresholds = np.full(len(allowed), np.nan)
    mark = 0
    u = 0
    so_far = 0.0
    for level in range(len(allowed)):
        while mark + 1 < len(n_above) and accepted[mark + 1] <= allowed[level]:
            mark += 1
            if n_above[mark] > u:
                u = n_above[mark]
                so_far = accepted[mark]
        while u < len(score):
            added = weight_of(u, curve, column)
            if so_far + added > allowed[level]:
                break
            so_far += added
            u += 1
        if u == len(score):
            while u > 0 and weight_of(u - 1, curve, column) == 0:
                u -= 1
            if u > 0:
                thresholds[level:] = score[u - 1]
            break
        thresholds[level] = score[u]
    return thresholds


@compiled(**COMPILE)
def crossing(impostor_score, genuine_score, curve, impostors, genuine, totals, start):
    """Walk down to the last distinct score at which FRR >= FAR: the EER, and that score.

    impostors, genuine: columns as in `weight_of`, of scores that fall and rise. totals: weight of
    both kinds. start: how many impostor pairs are accepted and genuine ones rejected where FRR >=
    FAR, and the weights of both. The EER lies on the line from the rates just below the score to
    the rates at it.
    """
    i, j, accepted, rejected = start
    far = far_at = accepted / totals[0]
    frr = frr_at = rejected / totals[1]
    score = np.inf
    while frr - far >= -TOLERANCE and (i < len(impostor_score) or j > 0):
        far_at = far
        frr_at = frr
        score = -np.inf
        if i < len(impostor_score):
            score = impostor_score[i]
        if j > 0:
            score = max(score, genuine_score[j - 1])
        while i < len(impostor_score) and impostor_score[i] == score:
            accepted += weight_of(i, curve, impostors)
            i += 1
        while j > 0 and genuine_score[j - 1] == score:
            j -= 1
            rejected -= weight_of(j, curve, genuine)
        far = accepted / totals[0]
        frr = rejected / totals[1]
    rise = (frr_at - far_at) - (frr - far)
    share = (far - frr) / rise if rise > 0 else 0.0
    eer = far + share * (far_at - far)
    return (0.0 if abs(eer) < TOLERANCE else eer), score
