"""The sweep: every block of the score tensor is visited once, through dask, and added to one tally."""

import threading
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import xarray as xr

from frkit.engine import blocks, kernels
from frkit.engine.plan import Ladder
from frkit.engine.protocol import Protocol

FAN_IN = 8  # partial tallies added at a time
STRIP = 16  # blocks that share one partial tally: its sums are larger than a block
PATCH = 512  # rows and columns that are scanned at once
_SCRATCH = threading.local()


@dataclass(frozen=True, eq=False)
class Request:
    """What a sweep is to bring back.

    adding: whether bins are added up (a second, targeted sweep only collects pairs). failing: whether
    comparisons can be missing (NaN). asking: whether the scores of `protocol.asked` are wanted.
    """

    protocol: Protocol
    ladder: Ladder
    adding: bool = True
    failing: bool = False
    asking: bool = False


@dataclass(frozen=True, eq=False)
class Partial:
    """An additive part of the result.

    sums: (slot, column) impostor weight; missing: (cell, column) weight of failed comparisons; counts: (bin,)
    impostor pairs; kept: lists of (rows, columns, scores); genuine: lists of (places, scores).
    """

    sums: np.ndarray | None
    missing: np.ndarray | None
    counts: np.ndarray | None
    kept: list
    genuine: list


def sweep(scores: xr.DataArray, request, *, scan=None, add=None, progress: bool = False):
    """Visit every block that holds pairs (the upper triangle of a symmetric tensor) and add up its tally.

    scan(places, request, blocks) makes a partial tally of a strip of blocks, add(*partials) adds partial
    tallies; by default the tally of rates. A strip's blocks are made one after the other and scanned while they
    are in the processor's cache.
    """
    scan, add = scan or scan_blocks, add or merge
    array = scores.data
    rows, cols = blocks.bounds(array)
    upper = request.protocol.symmetric
    of_block = _asked_by_block(request.protocol.asked, rows, cols) if request.asking else {}
    every = np.ndindex(array.numblocks)
    wanted = [(i, j) for i, j in every if not upper or cols[j + 1] > rows[i] + 1 or (i, j) in of_block]
    tasks = blocks.graph(array, wanted)
    mark = uuid.uuid4().hex
    shared = f"request-{mark}"
    tasks[shared] = (partial(replace, request, protocol=request.protocol.for_blocks()),)
    parts = []
    for strip in (wanted[k : k + STRIP] for k in range(0, len(wanted), STRIP)):
        places = [(int(rows[i]), int(cols[j]), of_block.get((i, j))) for i, j in strip]
        key = f"scan-{mark}-{len(parts)}"
        tasks[key] = blocks.strip(tasks, [(array.name, *at) for at in strip], partial(scan, places), shared)
        parts.append(key)
    while len(parts) > 1:
        groups = [parts[k : k + FAN_IN] for k in range(0, len(parts), FAN_IN)]
        parts = [f"{group[0]}+" for group in groups]
        tasks |= {key: (add, *group) for key, group in zip(parts, groups, strict=True)}
    return blocks.run(tasks, parts[0], progress)


def _asked_by_block(asked: tuple, rows: np.ndarray, cols: np.ndarray) -> dict:
    """The pairs asked for in each block: (places among all of them, rows, columns)."""
    row, col = asked
    i, j = np.searchsorted(rows, row, side="right") - 1, np.searchsorted(cols, col, side="right") - 1
    block = i * len(cols) + j
    order = np.argsort(block, kind="stable")
    by_block = np.split(order, np.flatnonzero(np.diff(block[order])) + 1)
    return {(int(i[p[0]]), int(j[p[0]])): (p, row[p] - rows[i[p[0]]], col[p] - cols[j[p[0]]]) for p in by_block}


def scan_blocks(places: list[tuple], request: Request, scores: Iterable[np.ndarray]) -> Partial:
    """The tally of some blocks of scores; places: (first row, first column, genuine pairs) of each."""
    protocol, ladder = request.protocol, request.ladder
    n_slots = ladder.n_bins * protocol.n_cells
    sums = np.zeros((n_slots, protocol.n_columns)) if request.adding else None
    missing = np.zeros((protocol.n_cells, protocol.n_columns)) if request.failing else None
    counts = np.zeros(n_slots, np.int64)
    kept, found = [], []
    for block, (row0, col0, genuine) in zip(scores, places, strict=True):
        if genuine is not None:
            found.append((genuine[0], block[genuine[1], genuine[2]]))
        for r, c in np.ndindex(-(-block.shape[0] // PATCH), -(-block.shape[1] // PATCH)):
            first, last = row0 + r * PATCH, col0 + (c + 1) * PATCH
            if protocol.symmetric and last <= first:
                continue
            patch = block[r * PATCH : (r + 1) * PATCH, c * PATCH : (c + 1) * PATCH]
            kept.append(_scan_patch(patch, first, last - PATCH, request, sums, counts))
            if request.failing:
                _add_missing(patch, first, last - PATCH, protocol, missing)
    counts = counts.reshape(ladder.n_bins, protocol.n_cells).sum(1)
    return Partial(sums, missing, counts, [k for k in kept if len(k[0])], found)


def _scan_patch(patch, row0: int, col0: int, request: Request, sums, counts) -> tuple:
    """Add one patch's pairs to the sums; return the kept ones (rows, columns, scores)."""
    protocol, scratch = request.protocol, scratch_space()
    rows, cols = slice(row0, row0 + patch.shape[0]), slice(col0, col0 + patch.shape[1])
    first = first_columns(protocol.symmetric, row0, col0, patch.shape)
    filed, n_kept = kernels.select_pairs(
        patch,
        first,
        (protocol.probe.person[rows], protocol.reference.person[cols]),
        (protocol.probe.group[rows], protocol.reference.group[cols]),
        protocol.cell_of,
        request.ladder.arrays(patch.dtype),
        (scratch.rows, scratch.cols, scratch.slots, scratch.kept, scratch.above, scratch.score),
    )
    if filed and request.adding:
        start = np.empty(len(sums) + 1, np.int64)
        kernels.sort_by_slot(scratch.rows, scratch.cols, scratch.slots, filed, start, scratch.by_row, scratch.by_col)
        counts += np.diff(start)
        add_filed(protocol, rows, cols, start, scratch, sums)
    picked = kernels.gather_pairs(row0, col0, scratch.rows, scratch.cols, scratch.kept[:n_kept])
    return *picked, scratch.score[:n_kept].astype(patch.dtype)


def first_columns(symmetric: bool, row0: int, col0: int, shape: tuple[int, int]) -> np.ndarray:
    """Where the pairs of each row of a patch begin: right of the diagonal in a symmetric tensor."""
    if not symmetric:
        return np.zeros(shape[0], np.int64)
    return np.minimum(np.maximum(np.arange(row0, row0 + shape[0]) + 1 - col0, 0), shape[1])


def add_filed(protocol: Protocol, rows: slice, cols: slice, start, scratch, sums) -> None:
    """Add the sorted pairs in the scratch space to their slots."""
    probe, reference = protocol.probe, protocol.reference
    if protocol.whole:
        run = max(1, 65_535 // protocol.largest_product)
        pair = probe.weight[rows], reference.weight[cols]
        kernels.add_whole(start, scratch.by_row, scratch.by_col, *pair, run, sums)
    else:
        pair = probe.real_weight[rows], reference.real_weight[cols], probe.scale[rows], reference.scale[cols]
        kernels.add_scaled(start, scratch.by_row, scratch.by_col, *pair, sums)


def _add_missing(patch, row0: int, col0: int, protocol: Protocol, missing: np.ndarray) -> None:
    """Weight of the impostor comparisons that failed, by cell."""
    r, c = np.nonzero(np.isnan(patch))
    r, c = r + row0, c + col0
    cell = protocol.cells(r, c)
    other = (protocol.probe.person[r] != protocol.reference.person[c]) & (cell >= 0)
    if protocol.symmetric:
        other &= c > r
    r, c, cell = r[other], c[other], cell[other]
    weight = protocol.probe.real_weight[r].astype(float) * protocol.reference.real_weight[c]
    weight *= protocol.factors(r, c)[:, None]
    np.add.at(missing, cell, weight)


def scratch_space() -> threading.local:
    """Work space of this thread, for one patch."""
    if not hasattr(_SCRATCH, "rows"):
        size = PATCH * PATCH + 1
        _SCRATCH.rows, _SCRATCH.cols, _SCRATCH.by_row, _SCRATCH.by_col = np.empty((4, size), np.uint16)
        _SCRATCH.slots, _SCRATCH.kept = np.empty((2, size), np.int32)
        _SCRATCH.score = np.empty(size)
        _SCRATCH.above = np.empty(PATCH + 1, np.uint16)
    return _SCRATCH


def merge(*parts: Partial) -> Partial:
    """The sum of several parts."""

    def total(name: str) -> np.ndarray | None:
        arrays = [getattr(part, name) for part in parts if getattr(part, name) is not None]
        if len(arrays) < 2:
            return arrays[0] if arrays else None
        out = arrays[0] + arrays[1]
        for array in arrays[2:]:
            out += array
        return out

    kept = [k for part in parts for k in part.kept]
    return Partial(total("sums"), total("missing"), total("counts"), kept, [g for part in parts for g in part.genuine])
