"""The sweep over a list of pairs: no tensor, no blocks, every impostor pair is kept."""

import numpy as np

from frkit.engine import kernels
from frkit.engine.plan import Ladder
from frkit.engine.protocol import Protocol
from frkit.engine.sweep import Tally, slot_sums

PAIRS_PER_BIN = 1024
MOST_BINS = 1024


def list_ladder(score: np.ndarray) -> Ladder:
    """Equal bins between the lowest and the highest score, all of them kept; one bin where pairs are few."""
    score = score[~np.isnan(score)]
    n_bins = min(len(score) // PAIRS_PER_BIN, MOST_BINS)
    low, high = (float(score.min()), float(score.max())) if n_bins > 1 else (0.0, 1.0)
    return Ladder.even(low, high, max(n_bins, 1), keep=True)


def counted_pairs(score: np.ndarray, row: np.ndarray, col: np.ndarray, protocol: Protocol) -> tuple:
    """Score, row, column and cell of the impostor pairs that enter rates: not failed, and in a cell."""
    cell = protocol.cells(row, col)
    counted = (cell >= 0) & ~np.isnan(score)
    return tuple(part[counted] for part in (score, row, col, cell))


def tally_list(scores: np.ndarray, protocol: Protocol, ladder: Ladder) -> Tally:
    """The impostor pairs of a list, added up by bin and cell, and all of them kept; genuine scores as asked for."""
    places = protocol.listed
    impostor = scores[places.impostor], *places.places(places.impostor)
    score, row, col, cell = counted_pairs(*impostor, protocol)
    low, _, scale, bin_of_cell, _ = ladder.arrays(score.dtype)
    bins = kernels.bins_of(score, low, scale, bin_of_cell)
    slot, n_slots = bins * protocol.n_cells + cell, ladder.n_bins * protocol.n_cells
    count = np.bincount(slot, minlength=n_slots).reshape(ladder.n_bins, protocol.n_cells)
    sums = {"weight": slot_sums(slot, n_slots, row, col, protocol), "count": count}
    asked = np.arange(protocol.n_genuine), scores[places.genuine]
    return Tally(sums, {"kept": [(row, col, score)], "asked": [asked]})
