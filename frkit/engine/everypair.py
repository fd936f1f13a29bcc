"""A sweep over every pair, without a floor: sums of the scores and of their squares, and histograms."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from frkit.engine import kernels, lists
from frkit.engine.protocol import Protocol
from frkit.engine.sweep import PATCH, add_filed, first_columns, scratch_space

CHUNK = 8192  # pairs of a list whose weights are written out at once


@dataclass(frozen=True, eq=False)
class EveryPair:
    """What this sweep is to bring back: sums within the bins between these edges."""

    protocol: Protocol
    edges: np.ndarray
    asking: bool = False  # for the scores of genuine pairs: they are known already


class Sums(NamedTuple):
    """Additive: binned (slot, column) weight, powers (2, cell, column) of the scores, and the extreme scores."""

    binned: np.ndarray
    powers: np.ndarray
    low: float
    high: float


def scan(places: list[tuple], wanted: EveryPair, scores: Iterable[np.ndarray]) -> Sums:
    """The sums of some blocks."""
    protocol, low, high = wanted.protocol, np.inf, -np.inf
    binned = np.zeros(((len(wanted.edges) - 1) * protocol.n_cells, protocol.n_columns))
    powers = np.zeros((2, protocol.n_cells, protocol.n_columns))
    for block, (row0, col0, _) in zip(scores, places, strict=True):
        low, high = min(low, float(np.nanmin(block, initial=low))), max(high, float(np.nanmax(block, initial=high)))
        for r, c in np.ndindex(-(-block.shape[0] // PATCH), -(-block.shape[1] // PATCH)):
            top, left = row0 + r * PATCH, col0 + c * PATCH
            if not (protocol.symmetric and left + PATCH <= top):
                patch = block[r * PATCH : (r + 1) * PATCH, c * PATCH : (c + 1) * PATCH]
                _add_patch(patch, top, left, wanted, binned, powers)
    return Sums(binned, powers, low, high)


def _add_patch(patch, row0: int, col0: int, wanted: EveryPair, binned: np.ndarray, powers: np.ndarray) -> None:
    """File the pairs of a patch under their bins; add up scores and squares by products with each group's columns."""
    protocol, scratch = wanted.protocol, scratch_space()
    rows, cols = slice(row0, row0 + patch.shape[0]), slice(col0, col0 + patch.shape[1])
    sides = (protocol.probe, rows), (protocol.reference, cols)
    persons, groups = (tuple(getattr(side, name)[at] for side, at in sides) for name in ("person", "group"))
    first, values = first_columns(protocol.symmetric, row0, col0, patch.shape), np.zeros(patch.shape)
    out = scratch.rows, scratch.cols, scratch.slots, values
    filed = file_in_bins(patch, first, persons, groups, protocol.cell_of, wanted.edges, out)
    if filed:
        start = np.empty(len(binned) + 1, np.int64)
        kernels.sort_by_slot(scratch.rows, scratch.cols, scratch.slots, filed, start, scratch.by_row, scratch.by_col)
        add_filed(protocol, rows, cols, start, scratch, binned)
    weights = [side.real_weight[at].astype(float) * protocol.scales(side)[at, None] for side, at in sides]
    for power in range(2):
        for h in np.unique(groups[1]):
            own = groups[1] == h
            sums = weights[0] * (values[:, own] @ weights[1][own])
            for g in np.unique(groups[0]):
                if protocol.cell_of[g, h] >= 0:
                    powers[power, protocol.cell_of[g, h]] += sums[groups[0] == g].sum(0)
        values = values**2


@njit(**kernels.COMPILE)
def file_in_bins(scores, first, persons, groups, cell_of, edges, out) -> int:
    """File every impostor pair of a patch under its bin: edges[b] <= score < edges[b + 1], the last closed.

    A score outside (by rounding; more is refused elsewhere) falls into the first or last bin. Fills rows, columns and
    slots of the pairs, and their scores into an array like the patch; returns how many. Knows NumPy arrays only.
    """
    rows, cols, slots, values = out
    n_cells, n_bins = cell_of.max() + 1, edges.shape[0] - 1
    scale = n_bins / (edges[-1] - edges[0])
    n = np.uintp(0)  # unsigned, where Numba would else test for negative indices
    for r in range(scores.shape[0]):
        cells = cell_of[groups[0][r]]
        for c in range(first[r], scores.shape[1]):
            score, cell = scores[r, c], cells[groups[1][c]]
            if persons[1][c] == persons[0][r] or cell < 0 or np.isnan(score):
                continue
            # the quotient may be off by one beside an edge: the edges themselves decide
            b = min(max(int((score - edges[0]) * scale), 0), n_bins - 1)
            while b > 0 and score < edges[b]:
                b -= 1
            while b + 1 < n_bins and score >= edges[b + 1]:
                b += 1
            rows[n], cols[n], slots[n] = r, c, b * n_cells + cell
            values[r, c] = score
            n += np.uintp(1)
    return n


def of_list(score: np.ndarray, row: np.ndarray, col: np.ndarray, wanted: EveryPair) -> Sums:
    """The sums of the impostor pairs of a list, given by their places on both sides."""
    protocol, n_bins = wanted.protocol, len(wanted.edges) - 1
    score, row, col, cell = lists.counted_pairs(score, row, col, protocol)
    bins = np.clip(np.searchsorted(wanted.edges, score, side="right") - 1, 0, n_bins - 1)
    binned = lists.slot_sums(bins * protocol.n_cells + cell, n_bins * protocol.n_cells, row, col, protocol)
    powers = np.zeros((2, protocol.n_cells, protocol.n_columns))
    for begin in range(0, len(score), CHUNK):
        for c in range(protocol.n_cells):
            own = begin + np.flatnonzero(cell[begin : begin + CHUNK] == c)
            weight = protocol.probe.real_weight[row[own]] * protocol.reference.real_weight[col[own]]
            factor = protocol.factors(row[own], col[own])
            for power in range(2):
                powers[power, c] += (factor * score[own] ** (power + 1)) @ weight.astype(float)
    return Sums(binned, powers, float(score.min(initial=np.inf)), float(score.max(initial=-np.inf)))


def add(*parts: Sums) -> Sums:
    """The sum of several parts."""
    binned, powers, low, high = zip(*parts, strict=True)
    return Sums(np.add.reduce(binned), np.add.reduce(powers), min(low), max(high))
