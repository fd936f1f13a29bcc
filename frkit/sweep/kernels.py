"""Compiled loops over score tiles. They know NumPy arrays only: no labels, no dask, no names.

Indices are unsigned because Numba then skips the test for negative ones, which costs as much as the work.
A slot is a (bin, cell) in one number: `bin * n_cells + cell`.
"""

import numpy as np
from numba import njit

_COMPILE = {"nogil": True, "boundscheck": False, "cache": True}


@njit(**_COMPILE)
def bin_index(score, low, scale, bin_of_cell):
    """Bin of one score: its fine cell first, then the bin of that cell. Monotone in the score."""
    last = bin_of_cell.shape[0] - 1
    cell = (score - low) * scale
    if cell >= last:
        return bin_of_cell[np.uintp(last)]
    return bin_of_cell[np.uintp(max(cell, 0))]


@njit(**_COMPILE)
def bins_of(scores, low, scale, bin_of_cell):
    """Bin of every score, as the sweep sees it."""
    out = np.empty(scores.shape[0], np.int32)
    for u in range(scores.shape[0]):
        out[u] = bin_index(scores[u], low, scale, bin_of_cell)
    return out


@njit(**_COMPILE)
def select_pairs(scores, first, persons, groups, cell_of, ladder, out):
    """File the impostor pairs of a tile that lie above the floor, and mark those whose bin is kept.

    first: where each row's pairs begin (right of the diagonal in a symmetric tensor). Returns the numbers
    of pairs filed and kept; `out` holds their rows, columns and slots, and places and scores of the kept ones.
    """
    low, floor, scale, bin_of_cell, keep = ladder
    rows, cols, slots, kept, above, kept_score = out
    n_cells = cell_of.max() + 1
    filed = n_kept = np.uintp(0)
    for r in range(scores.shape[0]):
        line = scores[r]
        n_above = np.uintp(0)
        for c in range(first[r], scores.shape[1]):
            above[n_above] = c
            n_above += np.uintp(line[np.uintp(c)] > floor)
        person, cells = persons[0][r], cell_of[groups[0][r]]
        for u in range(n_above):
            c = np.uintp(above[u])
            b = np.uintp(bin_index(line[c], low, scale, bin_of_cell))
            cell = cells[np.uintp(groups[1][c])]
            impostor = np.uintp((persons[1][c] != person) & (cell >= 0))
            rows[filed] = r
            cols[filed] = c
            slots[filed] = b * n_cells + cell
            kept[n_kept] = filed
            kept_score[n_kept] = line[c]
            n_kept += impostor & np.uintp(keep[b])
            filed += impostor
    return filed, n_kept


@njit(**_COMPILE)
def gather_pairs(row0, col0, rows, cols, kept):
    """Row and column in the whole tensor of the kept pairs of a patch."""
    row, col = np.empty(kept.shape[0], np.int32), np.empty(kept.shape[0], np.int32)
    for u in range(kept.shape[0]):
        at = np.uintp(kept[u])
        row[u], col[u] = row0 + rows[at], col0 + cols[at]
    return row, col


@njit(**_COMPILE)
def sort_by_slot(rows, cols, slots, n, start, sorted_rows, sorted_cols):
    """Counting sort: pairs of slot s stand in start[s] : start[s + 1]."""
    start[:] = 0
    for u in range(n):
        start[np.uintp(slots[u]) + np.uintp(1)] += 1
    for s in range(start.shape[0] - 1):
        start[s + 1] += start[s]
    for u in range(n):
        s = np.uintp(slots[u])
        place = np.uintp(start[s])
        start[s] += 1
        sorted_rows[place] = rows[u]
        sorted_cols[place] = cols[u]
    for s in range(start.shape[0] - 1, 0, -1):
        start[s] = start[s - 1]
    start[0] = 0


@njit(**_COMPILE)
def add_whole(start, rows, cols, row_weight, col_weight, run, sums):
    """Add the product of two small whole weights to each pair's slot, for every replicate.

    A run of pairs of one slot is added up in 16-bit integers, short enough not to overflow (`run` pairs),
    and then to the float64 sums: everything is exact, so that the order of the pairs does not matter.
    """
    part = np.empty(sums.shape[1], np.uint16)
    for s in range(sums.shape[0]):
        for begin in range(start[s], start[s + 1], run):
            end = min(begin + run, start[s + 1])
            part[:] = 0
            u = begin
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


@njit(fastmath=True, **_COMPILE)
def add_scaled(start, rows, cols, row_weight, col_weight, row_scale, col_scale, sums):
    """As `add_whole`, with a factor for each image: whole products in float32, sums in float64."""
    for s in range(sums.shape[0]):
        total, u, end = sums[s], start[s], start[s + 1]
        while u + 3 < end:
            v0, w0 = row_weight[np.uintp(rows[u])], col_weight[np.uintp(cols[u])]
            v1, w1 = row_weight[np.uintp(rows[u + 1])], col_weight[np.uintp(cols[u + 1])]
            v2, w2 = row_weight[np.uintp(rows[u + 2])], col_weight[np.uintp(cols[u + 2])]
            v3, w3 = row_weight[np.uintp(rows[u + 3])], col_weight[np.uintp(cols[u + 3])]
            f0 = row_scale[np.uintp(rows[u])] * col_scale[np.uintp(cols[u])]
            f1 = row_scale[np.uintp(rows[u + 1])] * col_scale[np.uintp(cols[u + 1])]
            f2 = row_scale[np.uintp(rows[u + 2])] * col_scale[np.uintp(cols[u + 2])]
            f3 = row_scale[np.uintp(rows[u + 3])] * col_scale[np.uintp(cols[u + 3])]
            for b in range(total.shape[0]):
                total[b] += (f0 * np.float64(v0[b] * w0[b]) + f1 * np.float64(v1[b] * w1[b])) + (
                    f2 * np.float64(v2[b] * w2[b]) + f3 * np.float64(v3[b] * w3[b])
                )
            u += 4
        while u < end:
            v0, w0 = row_weight[np.uintp(rows[u])], col_weight[np.uintp(cols[u])]
            f0 = row_scale[np.uintp(rows[u])] * col_scale[np.uintp(cols[u])]
            for b in range(total.shape[0]):
                total[b] += f0 * np.float64(v0[b] * w0[b])
            u += 1


@njit(**_COMPILE)
def walk_levels(base, target, begin, end, weight, pairs, threshold, above):
    """Exact threshold and impostor weight above it, for one replicate and each level.

    base: (level, cell) weight above the level's bin. begin, end: (level,) its pairs in the sorted list.
    weight: (image on each side) of this replicate. pairs: (score descending, row, column, cell, factor).
    The threshold is the highest score whose own pairs would lift the weight above the target: the smallest
    observed score that keeps to it (D.1). Fills threshold (level,) and above (level, cell).
    """
    score, row, col, cell, factor = pairs
    row_weight, col_weight = weight
    for level in range(target.shape[0]):
        total = base[level].sum()
        above[level] = base[level]
        u = begin[level]
        while u < end[level]:
            v, tied = u, 0.0
            while v < end[level] and score[v] == score[u]:
                tied += factor[v] * row_weight[row[v]] * col_weight[col[v]]
                v += 1
            if total + tied > target[level]:
                threshold[level] = score[u]
                break
            if tied > 0:
                threshold[level] = score[u]
            total += tied
            for x in range(u, v):
                above[level, cell[x]] += factor[x] * row_weight[row[x]] * col_weight[col[x]]
            u = v


@njit(**_COMPILE)
def weight_above(base, thresholds, begin, end, weight, pairs, above):
    """Impostor weight strictly above fixed thresholds, for one replicate: above (level, cell)."""
    score, row, col, cell, factor = pairs
    row_weight, col_weight = weight
    for level in range(thresholds.shape[0]):
        above[level] = base[level]
        for u in range(begin[level], end[level]):
            if score[u] <= thresholds[level]:
                break
            above[level, cell[u]] += factor[u] * row_weight[row[u]] * col_weight[col[u]]


@njit(**_COMPILE)
def rejected_weight(thresholds, order, weight, identity_count, genuine, rejected):
    """Genuine weight at or below each threshold, for one replicate: rejected (level, group).

    genuine: (score ascending, row, column, identity, group, factor); a pair of an image with itself stands
    for its copies: w (w - 1), and the factor holds the one half where pairs are not ordered.
    """
    score, row, col, identity, group, factor = genuine
    row_weight, col_weight = weight
    total = np.zeros(rejected.shape[1])
    u = 0
    for x in range(order.shape[0]):
        level = order[x]
        while u < score.shape[0] and score[u] <= thresholds[level]:
            w = float(row_weight[row[u]])
            same = row[u] < 0
            if same:
                w = float(col_weight[col[u]])
                w *= w - 1.0
            else:
                w *= col_weight[col[u]]
            total[group[u]] += factor[u] * w * identity_count[identity[u]]
            u += 1
        rejected[level] = total


@njit(**_COMPILE)
def binned_genuine(bins, last, weight, identity_count, genuine, sums):
    """Genuine weight of one replicate in each bin below `last`: sums (bin + 1, group); place 0 is the floor."""
    score, row, col, identity, group, factor = genuine
    row_weight, col_weight = weight
    for u in range(score.shape[0]):
        if bins[u] >= last:
            break
        w = float(col_weight[col[u]])
        w *= (w - 1.0) if row[u] < 0 else float(row_weight[row[u]])
        sums[bins[u] + 1, group[u]] += factor[u] * w * identity_count[identity[u]]


@njit(**_COMPILE)
def crossing(accepted, rejected, imp, gen, weight, identity_count, pairs, genuine, cell, group, totals, tolerance):
    """Where FAR and FRR cross inside one bin, for one replicate: (EER, threshold).

    accepted, rejected: impostor weight above and genuine weight below the lower end of the bin.
    imp, gen: (begin, end) of the bin's pairs in `pairs` (score descending) and the first genuine pair in
    `genuine` (ascending) that is not below the bin. cell, group: the
    cell and group that count (-1: all). totals: weight of all impostor and of all genuine pairs.
    The threshold is the smallest observed score at which FRR >= FAR; the EER is interpolated on the line from
    the rates just below that score to the rates at it.
    """
    p, q = imp[1] - 1, gen
    far, frr = accepted / totals[0], rejected / totals[1]
    while p >= imp[0] or q < genuine[0].shape[0]:
        from_pairs = p >= imp[0] and (q >= genuine[0].shape[0] or pairs[0][p] <= genuine[0][q])
        score = pairs[0][p] if from_pairs else genuine[0][q]
        more_accepted = more_rejected = 0.0
        while p >= imp[0] and pairs[0][p] == score:
            if cell < 0 or pairs[3][p] == cell:
                more_accepted += pairs[4][p] * weight[0][pairs[1][p]] * weight[1][pairs[2][p]]
            p -= 1
        while q < genuine[0].shape[0] and genuine[0][q] == score:
            if group < 0 or genuine[4][q] == group:
                w = float(weight[3][genuine[2][q]])
                w *= (w - 1.0) if genuine[1][q] < 0 else float(weight[2][genuine[1][q]])
                more_rejected += genuine[5][q] * w * identity_count[genuine[3][q]]
            q += 1
        if more_accepted > 0 or more_rejected > 0:
            accepted, rejected = accepted - more_accepted, rejected + more_rejected
            new_far, new_frr = accepted / totals[0], rejected / totals[1]
            if new_far - new_frr <= tolerance:
                gap, after = far - frr, new_frr - new_far
                share = gap / (gap + after) if gap + after > 0 else 0.0
                return far + share * (new_far - far), score
            far, frr = new_far, new_frr
    return np.nan, np.nan


@njit(**_COMPILE)
def file_in_bins(scores, first, persons, groups, cell_of, edges, out):
    """File every impostor pair of a patch under its histogram bin: edges[b] <= score < edges[b + 1], the last closed.

    A score outside (by rounding; more is refused elsewhere) falls into the first or last bin. Returns how many.
    """
    rows, cols, slots = out
    n_cells, n_bins = cell_of.max() + 1, edges.shape[0] - 1
    scale = n_bins / (edges[-1] - edges[0])
    n = np.uintp(0)
    for r in range(scores.shape[0]):
        cells = cell_of[groups[0][r]]
        for c in range(first[r], scores.shape[1]):
            score, cell = scores[r, c], cells[groups[1][c]]
            if persons[1][c] == persons[0][r] or cell < 0 or np.isnan(score):
                continue
            b = min(max(int((score - edges[0]) * scale), 0), n_bins - 1)
            while b > 0 and score < edges[b]:
                b -= 1
            while b + 1 < n_bins and score >= edges[b + 1]:
                b += 1
            rows[n], cols[n], slots[n] = r, c, b * n_cells + cell
            n += np.uintp(1)
    return n


@njit(**_COMPILE)
def impostor_scores(scores, first, persons, groups, cell_of):
    """The scores of a patch in float64, 0 where there is no impostor pair that counts, and which do."""
    out = np.zeros(scores.shape)
    counted = np.zeros(scores.shape, np.bool_)
    for r in range(scores.shape[0]):
        cells = cell_of[groups[0][r]]
        for c in range(first[r], scores.shape[1]):
            score = scores[r, c]
            if persons[1][c] != persons[0][r] and cells[groups[1][c]] >= 0 and not np.isnan(score):
                out[r, c] = score
                counted[r, c] = True
    return out, counted


@njit(**_COMPILE)
def add_lost(rows, cols, slots, n, scores, own, levels, lost, row_weight, col_weight, row_scale, col_scale, sums):
    """Add to `sums` (curve, column) what each impostor pair beats: the genuine weight below it, ties by half.

    levels: distinct genuine scores, ascending. lost: (curve, level, column) genuine weight below a level, and
    behind it that up to and with the level. own: (cell,) the group whose own pairs the cell holds, or -1.
    """
    last = lost.shape[0] - 1
    for u in range(n):
        r, c = np.uintp(rows[u]), np.uintp(cols[u])
        score = scores[r, c]
        at = np.searchsorted(levels, score)
        tied = at < levels.shape[0] and levels[at] == score
        factor = row_scale[r] * col_scale[c]
        group = own[slots[u]]
        for curve in (group, last):
            if curve < 0:
                continue
            below, upto = lost[curve, at], lost[curve, at + tied]
            total = sums[curve]
            for b in range(total.shape[0]):
                total[b] += factor * (row_weight[r, b] * col_weight[c, b]) * 0.5 * (below[b] + upto[b])
