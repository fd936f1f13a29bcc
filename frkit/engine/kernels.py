"""The loops that NumPy cannot do fast enough: they know arrays only, no labels and no dask.

Indices are unsigned, because Numba then skips the test for negative ones.
"""

import numpy as np

from frkit.base import compiled

SEGMENT = 512  # columns whose levels follow each other in the pattern
LOOK = 64  # scores, or pairs, that are looked at together
FEW = 6  # of them up to which each is looked at in turn
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
def column_weight(pairs, u, column):
    """The weight of a pair in a column: that of the data times how often both images count.

    In a replicate an identity counts c_k times and its pair w_i w_j times; the copies of an image
    make w_i (w_i - 1) / 2 pairs with score s_ii. The last column is the V-statistic, with a weight
    of its own.
    """
    if column == pairs.row_counts.shape[1] - 1:
        return pairs.vstatistic_weight[u]
    both = np.int32(pairs.row_counts[pairs.row[u], column])
    both *= np.int32(pairs.col_counts[pairs.partner[u], column])
    return pairs.weight[u] * both


@compiled(**COMPILE)
def add_sums(pairs, only_counts, run, first_chunk, sums):
    """Add the weight of each pair in each column to sums (chunk, cell, column).

    only_counts: (chunk,) whether all its pairs weigh 1 in the data. Of these, `run` products of
    counts are added up in 16 bits, which they cannot overflow, so that all is exact.
    """
    n_cells = sums.shape[1]
    n_columns = sums.shape[2]
    part = np.zeros((n_cells, n_columns), np.uint16)
    for k in range(sums.shape[0]):
        begin = pairs.start[first_chunk + k]
        end = pairs.start[first_chunk + k + 1]
        if not only_counts[first_chunk + k]:
            for u in range(begin, end):
                v = pairs.row_counts[np.uintp(pairs.row[u])]
                w = pairs.col_counts[np.uintp(pairs.partner[u])]
                of_cell = sums[k, np.uintp(pairs.cell[u])]
                for b in range(n_columns):
                    both = np.int32(v[b]) * np.int32(w[b])
                    of_cell[b] += pairs.weight[u] * np.float64(both)
            continue
        for begin_of_run in range(begin, end, run):
            for u in range(begin_of_run, min(begin_of_run + run, end)):
                v = pairs.row_counts[np.uintp(pairs.row[u])]
                w = pairs.col_counts[np.uintp(pairs.partner[u])]
                few = part[np.uintp(pairs.cell[u])]
                for b in range(n_columns):
                    product = np.uint16(np.uint16(v[b]) * np.uint16(w[b]))
                    few[b] = np.uint16(few[b] + product)
            for c in range(n_cells):
                for b in range(n_columns):
                    sums[k, c, b] += part[c, b]
                    part[c, b] = 0


@compiled(**COMPILE)
def lifting_scores(pairs, curve, chunk, allowed, thresholds):
    """Walk down a chunk to the score at which the accepted weight exceeds what is allowed.

    curve: the cell of the pairs that count, or -1 for all. chunk, allowed: (column, level); no
    chunk is -1. Where sums of chunks were rounded otherwise, none exceeds it: then it is the lowest
    score that counts. thresholds: (column, level) out.
    """
    for column in range(chunk.shape[0]):
        for level in range(chunk.shape[1]):
            k = chunk[column, level]
            if k < 0:
                continue
            accepted = 0.0
            for u in range(pairs.start[k + 1] - 1, pairs.start[k] - 1, -1):
                if curve >= 0 and pairs.cell[u] != curve:
                    continue
                weight = column_weight(pairs, u, column)
                if weight > 0:
                    thresholds[column, level] = pairs.score[u]
                accepted += weight
                if accepted > allowed[column, level]:
                    break


@compiled(**COMPILE)
def add_parts_of_chunks(pairs, chunk, thresholds, above, sums):
    """Add the weight of a chunk's pairs above each threshold (or up to it) to its sums.

    chunk, thresholds: (column, level). sums: (column, level, cell).
    """
    for column in range(chunk.shape[0]):
        for level in range(chunk.shape[1]):
            k = chunk[column, level]
            if k < 0:
                continue
            for u in range(pairs.start[k], pairs.start[k + 1]):
                if (pairs.score[u] > thresholds[column, level]) == above:
                    sums[column, level, pairs.cell[u]] += column_weight(pairs, u, column)


@compiled(**COMPILE)
def crossing(impostors, genuine, curve, chunk, column, totals, far, frr):
    """Walk up a chunk to the first distinct score at which FRR >= FAR: the EER, and that score.

    curve: the cell (and group) of the pairs that count, or -1 for all. totals: weight of these
    impostor and genuine pairs. far, frr: just below the chunk. The EER lies on the line from the
    rates just below the score to the rates at it.
    """
    i = impostors.start[chunk]
    j = genuine.start[chunk]
    last_i = impostors.start[chunk + 1]
    last_j = genuine.start[chunk + 1]
    far_before = far
    frr_before = frr
    score = np.inf
    while i < last_i or j < last_j:
        far_before = far
        frr_before = frr
        score = np.inf
        if i < last_i:
            score = impostors.score[i]
        if j < last_j:
            score = min(score, genuine.score[j])
        while i < last_i and impostors.score[i] == score:
            if curve < 0 or impostors.cell[i] == curve:
                far -= column_weight(impostors, i, column) / totals[0]
            i += 1
        while j < last_j and genuine.score[j] == score:
            if curve < 0 or genuine.cell[j] == curve:
                frr += column_weight(genuine, j, column) / totals[1]
            j += 1
        if frr - far >= -TOLERANCE:
            break
    rise = (frr - far) - (frr_before - far_before)
    share = (far_before - frr_before) / rise if rise > 0 else 0.0
    eer = far_before + share * (far - far_before)
    return (0.0 if abs(eer) < TOLERANCE else eer), score


# --- what each person adds -----------------------------------------------------------------------


@compiled(**COMPILE)
def number_of_couple(first, second, n_members):
    """A number for two members in either order, from 1 on."""
    return min(first, second) * n_members + max(first, second) + 1


@compiled(**COMPILE)
def add_people(
    pairs, weight, first, last, member, group, compared, of_pair, together, accepted, sums
):
    """Add the pairs from `first` to `last` to the sums of images and of pairs of two members.

    member, group: of each image. compared: (side, member) sums of a complete design's probes and
    references; of_pair: (pair,) of a list, the weight of all pairs of its two members.
    together: a hash table (its length a power of two, so that some places stay free) of the number
    of two members and of what they have together, side by side. accepted: (image, group of the
    partner). sums: (2, group, group) of the squares of what two members have together, and of its
    products with the weight of all their pairs.

    Looking up two members takes most of the time. So the first places of many are looked at before
    the first is needed: the memory delivers them at once.
    """
    n_members = compared.shape[1]
    last_place = np.uint64(len(together) - 1)
    places = np.empty(LOOK, np.uint64)
    fetched = np.empty(LOOK)
    for begin in range(first, last, LOOK):
        end = min(begin + LOOK, last)
        for u in range(begin, end):
            couple = number_of_couple(member[pairs.row[u]], member[pairs.col[u]], n_members)
            hashed = np.uint64(couple) * np.uint64(0x9E3779B97F4A7C15)
            places[u - begin] = (hashed >> np.uint64(20)) & last_place
            fetched[u - begin] = together[places[u - begin], 0]
        for u in range(begin, end):
            added = weight[u]
            if added == 0:
                continue
            row = pairs.row[u]
            col = pairs.col[u]
            couple = number_of_couple(member[row], member[col], n_members)
            place = places[u - begin]
            while together[place, 0] != couple and together[place, 0] != 0:
                place = (place + np.uint64(1)) & last_place
            together[place, 0] = couple
            square = added * (2 * together[place, 1] + added)
            together[place, 1] += added
            # the pairs for which a kept one stands do not have the square of their weights
            square -= added**2 * (1 - 1 / pairs.stands_for[u])
            if len(of_pair):
                whole = of_pair[u]
            else:
                whole = compared[0, member[row]] * compared[1, member[col]]
                whole += compared[0, member[col]] * compared[1, member[row]]
            accepted[row, group[col]] += added
            accepted[col, group[row]] += added
            sums[0, group[row], group[col]] += square
            sums[1, group[row], group[col]] += added * whole
