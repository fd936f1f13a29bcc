"""A sweep over every pair, without a floor: sums of the scores and of their squares, and histograms."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from frkit.engine import kernels, lists
from frkit.engine.protocol import Protocol, Side
from frkit.engine.sweep import PATCH, Tally, add_sorted, codes_of_patch, patches, scratch_space, slot_sums, sort_filed

CHUNK = 8192  # pairs of a list whose weights are written out at once
MANY_PAIRS = 1_000_000  # from here on single precision serves for what is beside the middles of bins
LANES = 16  # columns of weights are filled up to a multiple of what the processor adds at once


@dataclass(frozen=True, eq=False)
class Bins:
    """Even fine bins between edges, and the bins that are added up, each of some neighbouring fine ones.

    bin_of: (fine bin,). The sum of the scores in a bin is its weight times its middle, and what is beside that.
    """

    edges: np.ndarray
    bin_of: np.ndarray

    @cached_property
    def middle(self) -> np.ndarray:
        """The middle of each bin."""
        ends = self.edges[np.append(np.flatnonzero(np.diff(self.bin_of, prepend=-1)), len(self.bin_of))]
        return ends[1:] / 2 + ends[:-1] / 2

    def of(self, score: np.ndarray) -> np.ndarray:
        """The bin of each of some scores."""
        last = len(self.bin_of) - 1
        return self.bin_of[np.clip(np.searchsorted(self.edges, score, side="right") - 1, 0, last)]


@dataclass(frozen=True, eq=False)
class EveryPair:
    """What this sweep is to bring back: sums within bins. The protocol's cells are curves: the groups, and the rest."""

    protocol: Protocol
    bins: Bins
    asking: bool = False  # for the scores of genuine pairs: they are known already

    @property
    def real(self) -> type:
        """The precision of what is beside the middles of bins: with many pairs its rounding averages out."""
        return np.float32 if self.protocol.n_pairs > MANY_PAIRS else np.float64


def curves_of(protocol: Protocol) -> Protocol:
    """The same with one cell for all pairs of two groups, behind those of each; columns of zeros fill up the lanes."""

    def filled(side: Side) -> Side:
        return replace(side, weight=np.pad(side.weight, ((0, 0), (0, -protocol.n_columns % LANES))))

    probe = filled(protocol.probe)
    reference = probe if protocol.reference is protocol.probe else filled(protocol.reference)
    cells = np.minimum(protocol.cell_of, len(protocol.groups))
    return replace(protocol, probe=probe, reference=reference, cell_of=cells)


def scan(places: list[tuple], wanted: EveryPair, scores: Iterable[np.ndarray]) -> Tally:
    """The sums of some blocks: "binned" (slot, column) weight, "powers" (2, cell, column) of what is beside the middles
    of bins in scores and their squares; "extremes" of the scores."""
    protocol, low, high = wanted.protocol, np.inf, -np.inf
    binned = np.zeros((len(wanted.bins.middle) * protocol.n_cells, protocol.n_columns))
    powers = np.zeros((2, protocol.n_cells, protocol.n_columns))
    room = np.empty(2 * PATCH**2, wanted.real), np.empty(PATCH * protocol.n_columns, wanted.real)
    for block, (row0, col0, _) in zip(scores, places, strict=True):
        low, high = min(low, float(np.nanmin(block, initial=low))), max(high, float(np.nanmax(block, initial=high)))
        for patch, rows, cols in patches(block, row0, col0, protocol.symmetric):
            _add_patch(patch, rows, cols, wanted, room, (binned, powers))
    return Tally({"binned": binned, "powers": powers}, {"extremes": [low, high]})


def _add_patch(patch, rows: slice, cols: slice, wanted: EveryPair, room: tuple, sums: tuple) -> None:
    """File the pairs of a patch under their bins; sum what is beside the middles by products with the weights.

    A column of weights w gives, of a matrix S of scores, the sum of w_i s_ij w_j over a group's columns as that of
    w o (S w): one product for all columns of weights. For these the columns of S stand by group.
    """
    protocol, scratch, bins, (binned, powers) = wanted.protocol, scratch_space(), wanted.bins, sums
    codes, rest = codes_of_patch(protocol, rows, cols), room[0][: 2 * patch.size].reshape(2, *patch.shape)
    product = room[1][: patch.shape[0] * protocol.n_columns].reshape(patch.shape[0], -1)
    of_rows, of_cols = codes[2]
    order = np.argsort(of_cols, kind="stable")
    place_of = np.empty(len(order), np.int32)
    place_of[order] = np.arange(len(order))
    scale = protocol.scales(protocol.reference)[cols]
    tables, columns = (bins.edges, bins.bin_of, bins.middle), (place_of, scale)
    filed = kernels.file_in_bins(patch, *codes, tables, columns, (scratch.rows, scratch.cols, scratch.slots, *rest))
    if not filed:
        return
    start, pairs = sort_filed(filed, len(binned))
    if protocol.whole_run:
        run = protocol.whole_run, min(protocol.whole_run, 255 // int(protocol.reference.weight.max()))
        weights = protocol.probe.weight[rows], protocol.reference.weight[cols]
        kernels.add_whole_by_row(start, *pairs, *weights, run, binned)
    else:
        add_sorted(protocol, start, pairs, binned, (rows, cols))
    row_weight, row_scale = protocol.probe.real_weight[rows], protocol.scales(protocol.probe)[rows]
    col_weight = protocol.reference.real_weight[cols][order].astype(rest.dtype, copy=False)
    begin = np.searchsorted(of_cols[order], np.arange(len(protocol.cell_of) + 1))
    for h in np.unique(of_cols):
        own = slice(begin[h], begin[h + 1])
        share = (np.arange(protocol.n_cells)[:, None] == protocol.cell_of[of_rows, h]) * row_scale
        for power in range(2):
            np.matmul(rest[power][:, own], col_weight[own], out=product)
            product *= row_weight
            powers[power] += share.astype(rest.dtype) @ product


def of_list(score: np.ndarray, row: np.ndarray, col: np.ndarray, wanted: EveryPair) -> Tally:
    """The sums of the impostor pairs of a list, given by their places on both sides."""
    protocol, middle = wanted.protocol, wanted.bins.middle
    score, row, col, cell = lists.counted_pairs(score, row, col, protocol)
    bins = wanted.bins.of(score)
    binned = slot_sums(bins * protocol.n_cells + cell, len(middle) * protocol.n_cells, row, col, protocol)
    powers = np.zeros((2, protocol.n_cells, protocol.n_columns))
    for begin in range(0, len(score), CHUNK):
        for c in range(protocol.n_cells):
            own = begin + np.flatnonzero(cell[begin : begin + CHUNK] == c)
            weight = protocol.probe.real_weight[row[own]] * protocol.reference.real_weight[col[own]]
            factor = protocol.factors(row[own], col[own])
            for power in (1, 2):
                rest = score[own].astype(float) ** power - middle[bins[own]] ** power
                powers[power - 1, c] += (factor * rest) @ weight.astype(float)
    extremes = [float(score.min(initial=np.inf)), float(score.max(initial=-np.inf))]
    return Tally({"binned": binned, "powers": powers}, {"extremes": extremes})
