"""The sweep over a list of pairs: no tensor, no blocks, every impostor pair is kept."""

import numpy as np

from frkit.engine import kernels
from frkit.engine.plan import CELLS, Ladder, keep_all
from frkit.engine.protocol import Protocol
from frkit.engine.sweep import Partial

PAIRS_PER_BIN = 1024
MOST_BINS = 1024


def slot_sums(slot: np.ndarray, n_slots: int, row: np.ndarray, col: np.ndarray, protocol: Protocol) -> np.ndarray:
    """Weight of the pairs in each slot, (slot, column), added up as in the sweep over blocks."""
    sums = np.zeros((n_slots, protocol.n_columns))
    begin = np.empty(n_slots + 1, np.int64)
    by_row, by_col = np.empty((2, len(slot)), np.int32)
    kernels.sort_by_slot(row, col, slot, len(slot), begin, by_row, by_col)
    probe, reference = protocol.probe, protocol.reference
    if protocol.whole:
        longest = max(1, 65_535 // protocol.largest_product)
        kernels.add_whole(begin, by_row, by_col, probe.weight, reference.weight, longest, sums)
    else:
        weights = probe.real_weight, reference.real_weight, probe.scale, reference.scale
        kernels.add_scaled(begin, by_row, by_col, *weights, sums)
    return sums


def list_ladder(score: np.ndarray) -> Ladder:
    """Equal bins between the lowest and the highest score, all of them kept; one bin where pairs are few."""
    score = score[~np.isnan(score)]
    n_bins = min(len(score) // PAIRS_PER_BIN, MOST_BINS)
    low, high = (float(score.min()), float(score.max())) if n_bins > 1 else (0.0, 0.0)
    scale = CELLS / (high - low) if high > low else np.inf
    if not np.isfinite(scale):
        return keep_all()
    bin_of_cell = (np.arange(CELLS + 1) * n_bins // (CELLS + 1)).astype(np.int16)
    return Ladder(low, -np.inf, scale, bin_of_cell, np.ones(n_bins, bool))


def counted_pairs(score: np.ndarray, row: np.ndarray, col: np.ndarray, protocol: Protocol) -> tuple:
    """Score, row, column and cell of the impostor pairs that enter rates: not failed, and in a cell."""
    cell = protocol.cells(row, col)
    counted = (cell >= 0) & ~np.isnan(score)
    return tuple(part[counted] for part in (score, row, col, cell))


def tally_list(score: np.ndarray, row: np.ndarray, col: np.ndarray, protocol: Protocol, ladder: Ladder) -> Partial:
    """The impostor pairs of a list, added up by bin and cell, and all of them kept."""
    score, row, col, cell = counted_pairs(score, row, col, protocol)
    low, _, scale, bin_of_cell, _ = ladder.arrays(score.dtype)
    bins = kernels.bins_of(score, low, scale, bin_of_cell)
    sums = slot_sums(bins * protocol.n_cells + cell, ladder.n_bins * protocol.n_cells, row, col, protocol)
    counts = np.bincount(bins, minlength=ladder.n_bins)
    return Partial(sums, None, counts, [(row, col, score)], [])
