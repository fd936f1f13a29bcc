"""A sweep over every pair, without a floor: moments, histograms, and what AUC needs."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from frkit.engine import everypair, kernels
from frkit.engine.protocol import Protocol
from frkit.engine.sweep import PATCH, add_filed, first_columns, scratch_space


@dataclass(frozen=True, eq=False)
class Distribution:
    """What this sweep is to bring back.

    protocol: both sides of the tensor. edges: (bin + 1,) of the histogram. levels: distinct genuine scores,
    ascending. lost: (curve, level + 1, column) genuine weight below each level, and of all. own: (cell,) the
    group whose own pairs a cell holds, or -1.
    """

    protocol: Protocol
    edges: np.ndarray
    levels: np.ndarray
    lost: np.ndarray
    own: np.ndarray
    asking: bool = False  # no pair's score is asked for: they are known already


@dataclass(frozen=True, eq=False)
class Parts:
    """Additive: sums (slot, column), powers (2, cell, column) of the scores, beaten (curve, column), extremes."""

    sums: np.ndarray
    powers: np.ndarray
    beaten: np.ndarray
    low: float
    high: float


def scan(places: list[tuple], wanted: Distribution, scores: Iterable[np.ndarray]) -> Parts:
    """The parts of some blocks."""
    protocol, n_bins = wanted.protocol, len(wanted.edges) - 1
    parts = Parts(
        np.zeros((n_bins * protocol.n_cells, protocol.n_columns)),
        np.zeros((2, protocol.n_cells, protocol.n_columns)),
        np.zeros((len(wanted.lost), wanted.lost.shape[2])),
        np.inf,
        -np.inf,
    )
    for block, (row0, col0, _) in zip(scores, places, strict=True):
        low, high = float(np.nanmin(block, initial=np.inf)), float(np.nanmax(block, initial=-np.inf))
        parts = replace(parts, low=min(parts.low, low), high=max(parts.high, high))
        for r, c in np.ndindex(-(-block.shape[0] // PATCH), -(-block.shape[1] // PATCH)):
            top, left = row0 + r * PATCH, col0 + c * PATCH
            if protocol.symmetric and left + PATCH <= top:
                continue
            patch = block[r * PATCH : (r + 1) * PATCH, c * PATCH : (c + 1) * PATCH]
            _add_to_histogram(patch, top, left, wanted, parts.sums)
            _add_powers(patch, top, left, protocol, parts.powers)
            _add_beaten(patch, top, left, wanted, parts.beaten)
    return parts


def _add_to_histogram(patch, row0: int, col0: int, wanted: Distribution, sums: np.ndarray) -> None:
    protocol, scratch = wanted.protocol, scratch_space()
    rows, cols = slice(row0, row0 + patch.shape[0]), slice(col0, col0 + patch.shape[1])
    filed = everypair.file_in_bins(
        patch,
        first_columns(protocol.symmetric, row0, col0, patch.shape),
        (protocol.probe.person[rows], protocol.reference.person[cols]),
        (protocol.probe.group[rows], protocol.reference.group[cols]),
        protocol.cell_of,
        wanted.edges,
        (scratch.rows, scratch.cols, scratch.slots),
    )
    if filed:
        start = np.empty(len(sums) + 1, np.int64)
        kernels.sort_by_slot(scratch.rows, scratch.cols, scratch.slots, filed, start, scratch.by_row, scratch.by_col)
        add_filed(protocol, rows, cols, start, scratch, sums)


def _add_powers(patch, row0: int, col0: int, protocol: Protocol, powers: np.ndarray) -> None:
    """Weighted sums of the scores and their squares, by matrix products with each group's columns."""
    rows, cols = slice(row0, row0 + patch.shape[0]), slice(col0, col0 + patch.shape[1])
    sides = [(protocol.probe, rows), (protocol.reference, cols)]
    person, group = ([getattr(side, name)[at] for side, at in sides] for name in ("person", "group"))
    first = first_columns(protocol.symmetric, row0, col0, patch.shape)
    values, _ = everypair.impostor_scores(patch, first, tuple(person), tuple(group), protocol.cell_of)
    weights = [side.real_weight[at].astype(float) * protocol.scales(side)[at, None] for side, at in sides]
    for power in range(2):
        for h in np.unique(group[1]):
            own = group[1] == h
            sums = weights[0] * (values[:, own] @ weights[1][own])
            for g in np.unique(group[0]):
                if protocol.cell_of[g, h] >= 0:
                    powers[power, protocol.cell_of[g, h]] += sums[group[0] == g].sum(0)
        values = values**2 if power == 0 else values


def _add_beaten(patch, row0: int, col0: int, wanted: Distribution, beaten: np.ndarray) -> None:
    """Genuine weight that each impostor pair beats; the pairs are those above the lowest genuine score."""
    protocol, scratch = wanted.protocol, scratch_space()
    rows, cols = slice(row0, row0 + patch.shape[0]), slice(col0, col0 + patch.shape[1])
    kind = patch.dtype.type
    floor = np.nextafter(kind(wanted.levels[0]), kind(-np.inf))
    one_bin = (kind(0), floor, kind(1), np.zeros(2, np.int16), np.zeros(1, bool))
    probe, reference = protocol.probe, protocol.reference
    filed, _ = kernels.select_pairs(
        patch,
        first_columns(protocol.symmetric, row0, col0, patch.shape),
        (probe.person[rows], reference.person[cols]),
        (probe.group[rows], reference.group[cols]),
        protocol.cell_of,
        one_bin,
        (scratch.rows, scratch.cols, scratch.slots, scratch.kept, scratch.above, scratch.score),
    )
    extra = [
        np.concatenate([side.real_weight[at], side.real_weight[at, :1]], 1)
        for side, at in ((probe, rows), (reference, cols))
    ]
    scales = protocol.scales(probe)[rows], protocol.scales(reference)[cols]
    everypair.add_lost(
        scratch.rows,
        scratch.cols,
        scratch.slots,
        filed,
        patch,
        wanted.own,
        wanted.levels,
        wanted.lost,
        *extra,
        *scales,
        beaten,
    )


def add(*parts: Parts) -> Parts:
    """The sum of several parts."""
    arrays = (np.add.reduce([getattr(part, name) for part in parts]) for name in ("sums", "powers", "beaten"))
    return Parts(*arrays, min(part.low for part in parts), max(part.high for part in parts))
