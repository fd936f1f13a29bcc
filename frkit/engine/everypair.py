"""A sweep over every pair, without a floor: sums of the scores and of their squares, and histograms."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from frkit.engine import kernels, lists
from frkit.engine.protocol import Protocol
from frkit.engine.sweep import Tally, add_sorted, codes_of_patch, patches, scratch_space, slot_sums, sort_filed

CHUNK = 8192  # pairs of a list whose weights are written out at once


@dataclass(frozen=True, eq=False)
class EveryPair:
    """What this sweep is to bring back: sums within the bins between these edges."""

    protocol: Protocol
    edges: np.ndarray
    asking: bool = False  # for the scores of genuine pairs: they are known already


def scan(places: list[tuple], wanted: EveryPair, scores: Iterable[np.ndarray]) -> Tally:
    """The sums of some blocks: "binned" (slot, column) weight, "powers" (2, cell, column) of scores; "extremes"."""
    protocol, low, high = wanted.protocol, np.inf, -np.inf
    binned = np.zeros(((len(wanted.edges) - 1) * protocol.n_cells, protocol.n_columns))
    powers = np.zeros((2, protocol.n_cells, protocol.n_columns))
    for block, (row0, col0, _) in zip(scores, places, strict=True):
        low, high = min(low, float(np.nanmin(block, initial=low))), max(high, float(np.nanmax(block, initial=high)))
        for patch, rows, cols in patches(block, row0, col0, protocol.symmetric):
            _add_patch(patch, rows, cols, wanted, binned, powers)
    return Tally({"binned": binned, "powers": powers}, {"extremes": [low, high]})


def _add_patch(patch, rows: slice, cols: slice, wanted: EveryPair, binned: np.ndarray, powers: np.ndarray) -> None:
    """File the pairs of a patch under their bins; add up scores and squares by products with each group's columns."""
    protocol, scratch = wanted.protocol, scratch_space()
    sides, codes = ((protocol.probe, rows), (protocol.reference, cols)), codes_of_patch(protocol, rows, cols)
    groups, values = codes[2], np.zeros(patch.shape)
    filed = kernels.file_in_bins(patch, *codes, wanted.edges, (scratch.rows, scratch.cols, scratch.slots, values))
    if filed:
        add_sorted(protocol, *sort_filed(filed, len(binned)), binned, (rows, cols))
    weights = [side.real_weight[at].astype(float) * protocol.scales(side)[at, None] for side, at in sides]
    for power in range(2):
        for h in np.unique(groups[1]):
            own = groups[1] == h
            sums = weights[0] * (values[:, own] @ weights[1][own])
            for g in np.unique(groups[0]):
                if protocol.cell_of[g, h] >= 0:
                    powers[power, protocol.cell_of[g, h]] += sums[groups[0] == g].sum(0)
        values = values**2


def of_list(score: np.ndarray, row: np.ndarray, col: np.ndarray, wanted: EveryPair) -> Tally:
    """The sums of the impostor pairs of a list, given by their places on both sides."""
    protocol, n_bins = wanted.protocol, len(wanted.edges) - 1
    score, row, col, cell = lists.counted_pairs(score, row, col, protocol)
    bins = np.clip(np.searchsorted(wanted.edges, score, side="right") - 1, 0, n_bins - 1)
    binned = slot_sums(bins * protocol.n_cells + cell, n_bins * protocol.n_cells, row, col, protocol)
    powers = np.zeros((2, protocol.n_cells, protocol.n_columns))
    for begin in range(0, len(score), CHUNK):
        for c in range(protocol.n_cells):
            own = begin + np.flatnonzero(cell[begin : begin + CHUNK] == c)
            weight = protocol.probe.real_weight[row[own]] * protocol.reference.real_weight[col[own]]
            factor = protocol.factors(row[own], col[own])
            for power in range(2):
                powers[power, c] += (factor * score[own] ** (power + 1)) @ weight.astype(float)
    extremes = [float(score.min(initial=np.inf)), float(score.max(initial=-np.inf))]
    return Tally({"binned": binned, "powers": powers}, {"extremes": extremes})
