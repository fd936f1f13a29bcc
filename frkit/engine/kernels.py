"""Compiled loops over patches of scores, and over genuine pairs.

They know NumPy arrays only: no labels, no dask, no names.

Indices are unsigned because Numba then skips the test for negative ones, which costs as much as the work.
A slot is a (bin, cell) in one number: `bin * n_cells + cell`.
"""

import numpy as np

from frkit.base import compiled

COMPILE = {"nogil": True, "boundscheck": False}
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
PLACE_OF_BIT = np.zeros(64, np.uint16)
for _bit in range(64):
    PLACE_OF_BIT[((1 << _bit) * int(DE_BRUIJN) % 2**64) >> 58] = _bit


@compiled(**COMPILE)
def bin_index(score, low, scale, bin_of_cell) -> int:
    """Bin of one score: its fine cell first, then the bin of that cell. Monotone in the score."""
    last = type(scale)(bin_of_cell.shape[0] - 1)
    cell = min(max((score - low) * scale, type(scale)(0)), last)
    return bin_of_cell[np.uintp(cell)]


@compiled(**COMPILE)
def places_above(scores, begin, floor, above) -> int:
    """Where one row of a patch lies above the floor, from column `begin` on; how many places there are.

    64 comparisons make one mask, in a loop that the compiler turns into vector instructions; then its bits are
    taken one by one, lowest first, a lone bit being found by a de Bruijn sequence.
    """
    n, end = np.uintp(0), scores.shape[0]
    whole = begin + (end - begin) // 64 * 64
    for start in range(begin, whole, 64):
        mask = np.uint64(0)
        for bit in range(64):
            mask |= np.uint64(scores[np.uintp(start + bit)] > floor) << np.uint64(bit)
        while mask:
            lowest = mask & (~mask + np.uint64(1))
            above[n] = start + PLACE_OF_BIT[(lowest * DE_BRUIJN) >> np.uint64(58)]
            n += np.uintp(1)
            mask ^= lowest
    for c in range(whole, end):
        above[n] = c
        n += np.uintp(scores[np.uintp(c)] > floor)
    return n


@compiled(**COMPILE)
def scan_patch(scores, origin, codes, ladder, images, count, filing, out) -> tuple:
    """One look at the impostor pairs of a patch that lie above the floor: all that needs no replicate.

    Each pair is counted in its slot, count (bin, cell). Where its bin is kept, it is written down: rows and columns of
    the tensor, in which the patch begins at `origin`, and scores. Where its bin lies in a gap, it is added to its two
    images, and to its two people where these are sampled (0 or above): images are the gap of each bin (the last one
    takes what is kept, and is thrown away), scales and sampled people of rows and columns, and sums by row (gap, row,
    group of the partner), by column likewise, and by people (gap, person, person). If `filing`, rows and columns of
    the patch and slots of all pairs are written down for their weights. codes: where each row's pairs begin, persons
    and groups of rows and columns, cells. Returns how many are filed, and how many are kept. There is one branch only
    that the processor cannot foresee: in the search for places.
    """
    first, (row_person, col_person), (row_group, col_group), cell_of = codes
    low, floor, scale, bin_of_cell, keep = ladder
    gap_of_bin, (row_scale, col_scale), (row_sampled, col_sampled), (by_row, by_col, by_people) = images
    above, rows, cols, slots, kept_rows, kept_cols, kept_scores = out
    n_cells, filed, n_kept = count.shape[1], np.uintp(0), np.uintp(0)
    for row in range(scores.shape[0]):
        r = np.uintp(row)
        line, into, g = scores[r], by_row[:, r], np.uintp(row_group[r])
        cells, person, factor, one = cell_of[g], row_person[r], row_scale[r], row_sampled[r]
        for u in range(places_above(line, first[r], floor, above)):
            c = np.uintp(above[u])
            h = np.uintp(col_group[c])
            cell, other = cells[h], col_sampled[c]
            if person == col_person[c] or cell < 0:
                continue
            b = np.uintp(bin_index(line[c], low, scale, bin_of_cell))
            count[b, np.uintp(cell)] += 1
            kept_rows[n_kept], kept_cols[n_kept], kept_scores[n_kept] = origin[0] + r, origin[1] + c, line[c]
            n_kept += np.uintp(keep[b])
            gap = np.uintp(gap_of_bin[b])
            into[gap, h] += col_scale[c]
            by_col[gap, c, g] += factor
            if one >= 0 and other >= 0:
                by_people[gap, np.uintp(min(one, other)), np.uintp(max(one, other))] += 1
            if filing:
                rows[filed], cols[filed], slots[filed] = r, c, b * n_cells + cell
                filed += np.uintp(1)
    return filed, n_kept


@compiled(**COMPILE)
def add_above(pairs, ladder, rising, below, images, groups) -> None:
    """Add each pair of a kept bin to its images and people, as `scan_patch`, under the highest threshold it exceeds.

    rising: thresholds, ascending; below: (bin,) how many of them lie in lower bins. The sums run over the thresholds
    from the highest down.
    """
    (rows, cols, scores), (low, _, scale, bin_of_cell, keep) = pairs, ladder
    (row_scale, col_scale), (row_sampled, col_sampled), (by_row, by_col, by_people) = images
    n = rising.shape[0]
    for u in range(scores.shape[0]):
        b = np.uintp(bin_index(scores[u], low, scale, bin_of_cell))
        exceeded = below[b]
        while exceeded < n and scores[u] > rising[exceeded]:
            exceeded += 1
        if exceeded == 0 or not keep[b]:
            continue
        r, c, level = np.uintp(rows[u]), np.uintp(cols[u]), np.uintp(n - exceeded)
        by_row[level, r, np.uintp(groups[1][c])] += col_scale[c]
        by_col[level, c, np.uintp(groups[0][r])] += row_scale[r]
        one, other = row_sampled[r], col_sampled[c]
        if one >= 0 and other >= 0:
            by_people[level, np.uintp(min(one, other)), np.uintp(max(one, other))] += 1


@compiled(**COMPILE)
def pick_pairs(pairs, ladder, following, out) -> None:
    """Put the pairs (row, column, score) of some bins where the next pair of their bin goes in `out`.

    following: (bin,) that place, which moves on; -1 for bins that are not wanted.
    """
    (row, col, score), (low, _, scale, bin_of_cell, _) = pairs, ladder
    for u in range(score.shape[0]):
        b = np.uintp(bin_index(score[u], low, scale, bin_of_cell))
        if following[b] >= 0:
            place = np.uintp(following[b])
            out[0][place], out[1][place], out[2][place] = row[u], col[u], score[u]
            following[b] += 1


@compiled(**COMPILE)
def sort_by_slot(rows, cols, slots, start, sorted_rows, sorted_cols) -> None:
    """Counting sort: pairs of slot s stand in start[s] : start[s + 1]."""
    start[:] = 0
    for u in range(slots.shape[0]):
        start[np.uintp(slots[u]) + np.uintp(1)] += 1
    for s in range(start.shape[0] - 1):
        start[s + 1] += start[s]
    for u in range(slots.shape[0]):
        s = np.uintp(slots[u])
        place = np.uintp(start[s])
        start[s] += 1
        sorted_rows[place] = rows[u]
        sorted_cols[place] = cols[u]
    # each start has run on to its slot's end, which is the next slot's begin: moved up by one they are begins again
    for s in range(start.shape[0] - 1, 0, -1):
        start[s] = start[s - 1]
    start[0] = 0


@compiled(**COMPILE)
def add_whole(start, rows, cols, row_weight, col_weight, run, sums) -> None:
    """Add the product of two small whole weights to each pair's slot, for every replicate.

    A run of pairs of one slot is added up in 16-bit integers, short enough not to overflow (`run` pairs),
    and then to the float64 sums: everything is exact, so that the order of the pairs does not matter.
    """
    part = np.empty(sums.shape[1], np.uint16)
    for s in range(sums.shape[0]):
        for begin in range(start[s], start[s + 1], run):
            end, u = min(begin + run, start[s + 1]), begin
            for b in range(part.shape[0]):
                part[b] = 0
            # two pairs at a time: `part` is read and written half as often
            while u + 1 < end:
                v, w = row_weight[np.uintp(rows[u])], col_weight[np.uintp(cols[u])]
                x, y = row_weight[np.uintp(rows[u + 1])], col_weight[np.uintp(cols[u + 1])]
                for b in range(part.shape[0]):
                    product = np.uint16(np.uint16(v[b]) * np.uint16(w[b]))
                    part[b] = np.uint16(part[b] + product + np.uint16(np.uint16(x[b]) * np.uint16(y[b])))
                u += 2
            if u < end:
                v, w = row_weight[np.uintp(rows[u])], col_weight[np.uintp(cols[u])]
                for b in range(part.shape[0]):
                    part[b] = np.uint16(part[b] + np.uint16(np.uint16(v[b]) * np.uint16(w[b])))
            total = sums[s]
            for b in range(part.shape[0]):
                total[b] += part[b]


@compiled(fastmath=True, **COMPILE)
def add_scaled(start, rows, cols, row_weight, col_weight, row_scale, col_scale, sums) -> None:
    """As `add_whole`, with a factor for each image: products in whole numbers, sums in float64."""
    for s in range(sums.shape[0]):
        total, u, end = sums[s], start[s], start[s + 1]
        while u + 3 < end:  # four pairs at a time, for a sum is read and written once for all of them
            v0, w0 = row_weight[np.uintp(rows[u])], col_weight[np.uintp(cols[u])]
            v1, w1 = row_weight[np.uintp(rows[u + 1])], col_weight[np.uintp(cols[u + 1])]
            v2, w2 = row_weight[np.uintp(rows[u + 2])], col_weight[np.uintp(cols[u + 2])]
            v3, w3 = row_weight[np.uintp(rows[u + 3])], col_weight[np.uintp(cols[u + 3])]
            f0 = row_scale[np.uintp(rows[u])] * col_scale[np.uintp(cols[u])]
            f1 = row_scale[np.uintp(rows[u + 1])] * col_scale[np.uintp(cols[u + 1])]
            f2 = row_scale[np.uintp(rows[u + 2])] * col_scale[np.uintp(cols[u + 2])]
            f3 = row_scale[np.uintp(rows[u + 3])] * col_scale[np.uintp(cols[u + 3])]
            for b in range(total.shape[0]):
                p0, p1 = np.int32(v0[b]) * np.int32(w0[b]), np.int32(v1[b]) * np.int32(w1[b])
                p2, p3 = np.int32(v2[b]) * np.int32(w2[b]), np.int32(v3[b]) * np.int32(w3[b])
                total[b] += (f0 * np.float64(p0) + f1 * np.float64(p1)) + (f2 * np.float64(p2) + f3 * np.float64(p3))
            u += 4
        while u < end:
            v0, w0 = row_weight[np.uintp(rows[u])], col_weight[np.uintp(cols[u])]
            f0 = row_scale[np.uintp(rows[u])] * col_scale[np.uintp(cols[u])]
            for b in range(total.shape[0]):
                total[b] += f0 * np.float64(np.int32(v0[b]) * np.int32(w0[b]))
            u += 1


# --- every pair under its bin, without a floor -----------------------------------------------------------------


@compiled(**COMPILE)
def file_in_bins(scores, first, persons, groups, cell_of, bins, columns, out) -> int:
    """File every impostor pair of a patch under its bin, and write how far its score and its square are from the bin's.

    bins: edges of even fine bins (edges[k] <= score < edges[k + 1], the last closed), the bin of each of these, and
    each bin's middle; a score outside (by rounding; more is refused elsewhere) falls into the first or last one.
    columns: where each column stands in the matrices that are written, and the factor of its pairs there. out: rows,
    columns and slots of the pairs, and these matrices, 0 where there is no pair. Returns how many pairs there are.
    """
    (edges, bin_of, middle), (place_of, scale) = bins, columns
    rows, cols, slots, rest, rest_of_square = out
    n_cells, n_fine = cell_of.max() + 1, edges.shape[0] - 1
    per_bin = n_fine / (edges[n_fine] - edges[0])
    n = np.uintp(0)  # unsigned, where Numba would else test for negative indices
    for r in range(scores.shape[0]):
        cells, person = cell_of[groups[0][r]], persons[0][r]
        for c in range(scores.shape[1]):
            score, cell, place = scores[r, c], cells[np.uintp(groups[1][c])], np.uintp(place_of[c])
            if c < first[r] or persons[1][c] == person or cell < 0 or np.isnan(score):
                rest[r, place] = rest_of_square[r, place] = 0
                continue
            # the quotient may be off by one beside an edge: the edges themselves decide
            k = min(max(int((score - edges[0]) * per_bin), 0), n_fine - 1)
            k -= k > 0 and score < edges[np.uintp(k)]
            k += k + 1 < n_fine and score >= edges[np.uintp(k + 1)]
            b = np.uintp(bin_of[np.uintp(k)])
            rows[n], cols[n], slots[n] = r, c, b * n_cells + cell
            n += np.uintp(1)
            beside = score - middle[b]
            rest[r, place] = scale[c] * beside
            rest_of_square[r, place] = scale[c] * (beside * (score + middle[b]))
    return n


@compiled(**COMPILE)
def add_whole_by_row(start, rows, cols, row_weight, col_weight, run, sums) -> None:
    """As `add_whole`, where many pairs of a slot stand in one row: their columns' weights are added up first.

    That takes one addition for each pair and replicate, of 8 bits: `run` of pairs in a slot, and in a row, that fit.
    """
    own, part = np.empty(sums.shape[1], np.uint8), np.empty(sums.shape[1], np.uint16)
    for s in range(sums.shape[0]):
        part[:] = 0
        n_part, u = 0, start[s]
        while u < start[s + 1]:
            row, end = np.uintp(rows[u]), min(start[s + 1], u + run[1])
            v = u + 1
            while v < end and rows[v] == row:
                v += 1
            n_part += v - u
            if n_part > run[0]:
                for b in range(part.shape[0]):
                    sums[s, b] += part[b]
                    part[b] = 0
                n_part = v - u
            own[:] = 0
            while u + 3 < v:
                c, d = np.uintp(cols[u]), np.uintp(cols[u + 1])
                e, f = np.uintp(cols[u + 2]), np.uintp(cols[u + 3])
                for b in range(own.shape[0]):
                    two = np.uint8(col_weight[c, b] + col_weight[d, b])
                    own[b] += np.uint8(two + np.uint8(col_weight[e, b] + col_weight[f, b]))
                u += 4
            while u < v:
                c = np.uintp(cols[u])
                for b in range(own.shape[0]):
                    own[b] += col_weight[c, b]
                u += 1
            for b in range(own.shape[0]):
                part[b] = np.uint16(part[b] + np.uint16(np.uint16(row_weight[row, b]) * np.uint16(own[b])))
        for b in range(part.shape[0]):
            sums[s, b] += part[b]


# --- genuine pairs, for one replicate --------------------------------------------------------------------------


@compiled(**COMPILE)
def genuine_weight(u, weight, genuine) -> float:
    """Weight of genuine pair u in one replicate; an image with itself stands for its copies: w (w - 1)."""
    row_weight, col_weight, identity_count, identity = weight
    row, col = genuine.row[u], np.uintp(genuine.col[u])
    w = float(col_weight[col])
    w *= (w - 1.0) if row < 0 else float(row_weight[np.uintp(row)])
    return genuine.factor[u] * w * identity_count[np.uintp(identity[col])]


@compiled(**COMPILE)
def binned_genuine(place, weight, genuine, sums, powers) -> None:
    """Genuine weight of one replicate at each place, sums (place, group), and that of the first powers of the scores,
    powers (power, group), from the zeroth; place: (pair,), ascending; pairs beyond the last place are left out."""
    for u in range(genuine.score.shape[0]):
        if place[u] >= sums.shape[0]:
            break
        added, group, score = genuine_weight(u, weight, genuine), genuine.cell[u], np.float64(genuine.score[u])
        sums[place[u], group] += added
        for power in range(powers.shape[0]):
            powers[power, group] += added * score**power
