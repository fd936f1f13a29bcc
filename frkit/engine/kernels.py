"""Compiled loops over patches of scores, and walks along sorted pairs to exact thresholds and rates.

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
def bins_of(scores, low, scale, bin_of_cell) -> np.ndarray:
    """Bin of every score, as the sweep sees it."""
    out = np.empty(scores.shape[0], np.int32)
    for u in range(scores.shape[0]):
        out[u] = bin_index(scores[u], low, scale, bin_of_cell)
    return out


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


@compiled(**COMPILE)
def add_above(pairs, ladder, rising, below, images, groups) -> None:
    """Add each pair to its images and people, as `scan_patch` does, under the highest threshold that it exceeds.

    rising: thresholds, ascending; below: (bin,) how many of them lie in lower bins. The sums run over the thresholds
    from the highest down.
    """
    (rows, cols, scores), (low, _, scale, bin_of_cell, _) = pairs, ladder
    (row_scale, col_scale), (row_sampled, col_sampled), (by_row, by_col, by_people) = images
    n = rising.shape[0]
    for u in range(scores.shape[0]):
        exceeded = below[np.uintp(bin_index(scores[u], low, scale, bin_of_cell))]
        while exceeded < n and scores[u] > rising[exceeded]:
            exceeded += 1
        if exceeded == 0:
            continue
        r, c, level = np.uintp(rows[u]), np.uintp(cols[u]), np.uintp(n - exceeded)
        by_row[level, r, np.uintp(groups[1][c])] += col_scale[c]
        by_col[level, c, np.uintp(groups[0][r])] += row_scale[r]
        one, other = row_sampled[r], col_sampled[c]
        if one >= 0 and other >= 0:
            by_people[level, np.uintp(min(one, other)), np.uintp(max(one, other))] += 1


# --- walks along sorted pairs, for one replicate -----------------------------------------------------------


@compiled(**COMPILE)
def pair_weight(u, weight, pairs) -> float:
    """Weight of pair u in one replicate; weight: (image on each side)."""
    row_weight, col_weight = weight
    return pairs.factor[u] * row_weight[np.uintp(pairs.row[u])] * col_weight[np.uintp(pairs.col[u])]


@compiled(**COMPILE)
def walk_levels(base, target, begin, end_of, weight, pairs, threshold, above) -> None:
    """Exact threshold and impostor weight above it, for one replicate and each level.

    base: (level, cell) weight above the level's bin. begin, end_of: (level,) its pairs in the sorted list.
    weight: (image on each side) of this replicate. pairs: from the highest score down.
    The threshold is the highest score whose own pairs would lift the weight above the target: the smallest
    observed score that keeps to it (D.1). Fills threshold (level,) and above (level, cell).
    """
    score, cell = pairs.score, pairs.cell
    for level in range(target.shape[0]):
        total, u, end, lowest = 0.0, begin[level], end_of[level], np.int64(-1)
        for c in range(base.shape[1]):  # rows assigned whole take Numba a second each to compile
            above[level, c] = base[level, c]
            total += base[level, c]
        while u < end:
            v, tied = u + 1, pair_weight(u, weight, pairs)
            while v < end and score[v] == score[u]:
                tied += pair_weight(v, weight, pairs)
                v += 1
            lowest = u if tied > 0 else lowest  # no branch: whether a pair counts cannot be foreseen
            if total + tied > target[level]:
                lowest = u
                break
            total += tied
            u = v
        if lowest >= 0:
            threshold[level] = score[lowest]
        # by cell only now: where the walk ends the weight of all cells together decides
        for x in range(begin[level], u):
            above[level, np.uintp(cell[x])] += pair_weight(x, weight, pairs)


@compiled(**COMPILE)
def weight_above(base, thresholds, begin, end, weight, pairs, above) -> None:
    """Impostor weight strictly above fixed thresholds, for one replicate: above (level, cell)."""
    for level in range(thresholds.shape[0]):
        for c in range(base.shape[1]):
            above[level, c] = base[level, c]
        for u in range(begin[level], end[level]):
            if pairs.score[u] <= thresholds[level]:
                break
            above[level, np.uintp(pairs.cell[u])] += pair_weight(u, weight, pairs)


@compiled(**COMPILE)
def genuine_weight(u, weight, genuine) -> float:
    """Weight of genuine pair u in one replicate; an image with itself stands for its copies: w (w - 1)."""
    row_weight, col_weight, identity_count, identity = weight
    row, col = genuine.row[u], np.uintp(genuine.col[u])
    w = float(col_weight[col])
    w *= (w - 1.0) if row < 0 else float(row_weight[np.uintp(row)])
    return genuine.factor[u] * w * identity_count[np.uintp(identity[col])]


@compiled(**COMPILE)
def rejected_weight(thresholds, order, weight, genuine, rejected) -> None:
    """Genuine weight at or below each threshold, for one replicate: rejected (level, group).

    weight: (image) of either side, (identity), and the identity of an image of the second side. genuine: scores
    ascending; the factor of an image with itself holds the one half where pairs are not ordered.
    """
    total = np.zeros(rejected.shape[1])
    u = np.int64(0)  # a literal would be compiled apart
    for x in range(order.shape[0]):
        level = order[x]
        while u < genuine.score.shape[0] and genuine.score[u] <= thresholds[level]:
            total[genuine.cell[u]] += genuine_weight(u, weight, genuine)
            u += 1
        for group in range(total.shape[0]):
            rejected[level, group] = total[group]


@compiled(**COMPILE)
def binned_genuine(place, weight, genuine, sums) -> None:
    """Genuine weight of one replicate at each place but the last, sums (place, group); place: (pair,), ascending."""
    for u in range(genuine.score.shape[0]):
        if place[u] >= sums.shape[0] - 1:
            break
        sums[place[u], genuine.cell[u]] += genuine_weight(u, weight, genuine)


@compiled(**COMPILE)
def crossing(accepted, rejected, imp, gen, weight, genuine_weights, pairs, genuine, own, totals, tolerance) -> tuple:
    """Where FAR and FRR cross inside one bin, for one replicate: (threshold, FAR and FRR just below it, and at it).

    accepted, rejected: impostor weight above and genuine weight below the lower end of the bin.
    imp, gen: (begin, end) of the bin's pairs in `pairs` (score descending) and the first genuine pair in
    `genuine` (ascending) that is not below the bin. genuine_weights: as `weight` in `rejected_weight`. own: the group
    that counts, which is also the cell of its own pairs (-1: all). totals: weight of all impostor and genuine pairs.
    The threshold is the smallest observed score at which FRR >= FAR.
    """
    p, q = imp[1] - 1, gen
    far, frr = accepted / totals[0], rejected / totals[1]
    n_genuine = genuine.score.shape[0]
    while p >= imp[0] or q < n_genuine:
        from_pairs = p >= imp[0] and (q >= n_genuine or pairs.score[p] <= genuine.score[q])
        score = pairs.score[p] if from_pairs else genuine.score[q]
        more_accepted = more_rejected = 0.0
        # equal scores of both kinds change sides together: a threshold takes all of them or none
        while p >= imp[0] and pairs.score[p] == score:
            if own < 0 or pairs.cell[p] == own:
                more_accepted += pair_weight(p, weight, pairs)
            p -= 1
        while q < n_genuine and genuine.score[q] == score:
            if own < 0 or genuine.cell[q] == own:
                more_rejected += genuine_weight(q, genuine_weights, genuine)
            q += 1
        # pairs without weight in this replicate are not observed in it: their scores are no thresholds
        if more_accepted > 0 or more_rejected > 0:
            accepted, rejected = accepted - more_accepted, rejected + more_rejected
            new_far, new_frr = accepted / totals[0], rejected / totals[1]
            if new_far - new_frr <= tolerance:
                return score, far, frr, new_far, new_frr
            far, frr = new_far, new_frr
    return np.nan, np.nan, np.nan, np.nan, np.nan


@compiled(**COMPILE)
def crossings(wanted, weights, places, weight, genuine_weights, pairs, genuine, totals, tolerance, found) -> None:
    """`crossing` of the curves that are wanted, for one replicate: found (curve, 5).

    weights: (curve, 2) accepted and rejected. places: (curve, 3) begin and end of the pairs, and the first genuine
    pair. totals: (curve, 2). The last curve takes all pairs.
    """
    for curve in range(wanted.shape[0]):
        if wanted[curve]:
            start, at = weights[curve], places[curve]
            own = curve if curve + 1 < wanted.shape[0] else -1
            of_all = totals[curve, 0], totals[curve, 1]
            part = weight, genuine_weights, pairs, genuine, own, of_all, tolerance
            one = crossing(start[0], start[1], (at[0], at[1]), at[2], *part)
            for k in range(5):
                found[curve, k] = one[k]
