"""Compiled loops of the sweep over every pair, which files each under its bin; as in `frkit.engine.kernels`."""

import numpy as np

from frkit.base import compiled
from frkit.engine.kernels import COMPILE, genuine_weight


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
    n_cells, n_fine = 1, edges.shape[0] - 1
    for g in range(cell_of.shape[0]):
        for h in range(cell_of.shape[1]):
            n_cells = max(n_cells, cell_of[g, h] + 1)
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


@compiled(**COMPILE)
def sum_genuine(place, weight, genuine, sums, powers) -> None:
    """Genuine weight of one replicate at each place, sums (place, group), and that of the powers 0 to 2 of the scores,
    powers (power, group)."""
    for u in range(genuine.score.shape[0]):
        added, group, score = genuine_weight(u, weight, genuine), genuine.cell[u], np.float64(genuine.score[u])
        sums[place[u], group] += added
        powers[0, group] += added
        powers[1, group] += added * score
        powers[2, group] += added * score**2
