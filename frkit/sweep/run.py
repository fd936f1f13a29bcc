"""The sweep: every block of the score tensor is visited once, through dask, and added to one tally."""

import threading
import uuid
from contextlib import nullcontext
from dataclasses import dataclass, replace

import dask
import numpy as np
import xarray as xr
from threadpoolctl import threadpool_limits

from frkit.scores import TILE
from frkit.sweep import kernels
from frkit.sweep.design import Design, GenuinePairs
from frkit.sweep.plan import Ladder

FAN_IN = 8  # partial tallies added at a time
STRIP = 4  # blocks that share one partial tally: its sums are as large as a block
_SCRATCH = threading.local()


@dataclass(frozen=True, eq=False)
class Request:
    """What a sweep is to bring back.

    adding: whether bins are added up (a second, targeted sweep only collects pairs). failing: whether
    comparisons can be missing (NaN). genuine: pairs whose scores are wanted, or None.
    """

    design: Design
    ladder: Ladder
    adding: bool = True
    failing: bool = False
    genuine: GenuinePairs | None = None


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


def sweep(scores: xr.DataArray, request: Request, *, progress: bool = False) -> Partial:
    """Visit every block that holds pairs (the upper triangle of a symmetric tensor) and add up its tally."""
    blocks = scores.data.to_delayed()
    rows, cols = (np.concatenate([[0], np.cumsum(sizes)]) for sizes in scores.data.chunks)
    of_block = _genuine_by_block(request.genuine, rows, cols)
    shared = dask.delayed(replace(request, genuine=None), name=f"request-{uuid.uuid4().hex}", traverse=False)
    scan = dask.delayed(scan_blocks, pure=False)
    parts = []
    for i in range(blocks.shape[0]):
        wanted = [j for j in range(blocks.shape[1]) if not request.design.symmetric or cols[j + 1] > rows[i] + 1]
        for k in range(0, len(wanted), STRIP):
            strip = wanted[k : k + STRIP]
            places = [(int(rows[i]), int(cols[j]), of_block.get((i, j))) for j in strip]
            parts.append(scan([blocks[i, j] for j in strip], dask.delayed(places, traverse=False), shared))
    add = dask.delayed(merge, pure=False)
    while len(parts) > 1:
        parts = [add(parts[k : k + FAN_IN]) for k in range(0, len(parts), FAN_IN)]
    with threadpool_limits(1), _bar(progress):
        return dask.compute(parts[0], optimize_graph=True)[0] if parts else merge([])


def _bar(progress: bool):
    if not progress:
        return nullcontext()
    from tqdm.dask import TqdmCallback

    return TqdmCallback(desc="sweep", leave=False)


def _genuine_by_block(genuine: GenuinePairs | None, rows: np.ndarray, cols: np.ndarray) -> dict:
    """The genuine pairs in each block: (places in the list, rows, columns)."""
    if genuine is None or not len(genuine):
        return {}
    i = np.searchsorted(rows, genuine.row, side="right") - 1
    j = np.searchsorted(cols, genuine.col, side="right") - 1
    key = i * len(cols) + j
    order = np.argsort(key, kind="stable")
    cuts = np.flatnonzero(np.diff(key[order])) + 1
    groups = np.split(order, cuts)
    return {
        (int(i[g[0]]), int(j[g[0]])): (g, genuine.row[g] - rows[i[g[0]]], genuine.col[g] - cols[j[g[0]]])
        for g in groups
    }


def scan_blocks(blocks: list[np.ndarray], places: list[tuple], request: Request) -> Partial:
    """The tally of some blocks of scores; places: (first row, first column, genuine pairs) of each."""
    design, ladder = request.design, request.ladder
    n_slots = ladder.n_bins * design.n_cells
    sums = np.zeros((n_slots, design.n_columns)) if request.adding else None
    missing = np.zeros((design.n_cells, design.n_columns)) if request.failing else None
    counts = np.zeros(n_slots, np.int64)
    kept, found = [], []
    for block, (row0, col0, genuine) in zip(blocks, places, strict=True):
        if genuine is not None:
            found.append((genuine[0], block[genuine[1], genuine[2]]))
        for r, c in np.ndindex(-(-block.shape[0] // TILE), -(-block.shape[1] // TILE)):
            first, last = row0 + r * TILE, col0 + (c + 1) * TILE
            if design.symmetric and last <= first:
                continue
            tile = block[r * TILE : (r + 1) * TILE, c * TILE : (c + 1) * TILE]
            kept.append(_scan_tile(tile, first, last - TILE, request, sums, counts))
            if request.failing:
                _add_missing(tile, first, last - TILE, design, missing)
    counts = counts.reshape(ladder.n_bins, design.n_cells).sum(1)
    return Partial(sums, missing, counts, [k for k in kept if len(k[0])], found)


def _scan_tile(tile, row0: int, col0: int, request: Request, sums, counts) -> tuple:
    """Add one tile's pairs to the sums; return the kept ones (rows, columns, scores)."""
    design, scratch = request.design, _scratch()
    rows, cols = slice(row0, row0 + tile.shape[0]), slice(col0, col0 + tile.shape[1])
    first = np.zeros(len(tile), np.int64)
    if design.symmetric:
        first = np.minimum(np.maximum(np.arange(row0, row0 + len(tile)) + 1 - col0, 0), tile.shape[1])
    filed, n_kept = kernels.select_pairs(
        tile,
        first,
        (design.probe.person[rows], design.reference.person[cols]),
        (design.probe.group[rows], design.reference.group[cols]),
        design.cell_of,
        request.ladder.arrays(tile.dtype),
        (scratch.rows, scratch.cols, scratch.slots, scratch.kept, scratch.above),
    )
    if filed and request.adding:
        start = np.empty(len(sums) + 1, np.int64)
        kernels.sort_by_slot(scratch.rows, scratch.cols, scratch.slots, filed, start, scratch.by_row, scratch.by_col)
        counts += np.diff(start)
        _add(design, rows, cols, start, scratch, sums)
    picked = scratch.kept[:n_kept]
    r, c = scratch.rows[picked], scratch.cols[picked]
    return r + np.int32(row0), c + np.int32(col0), tile[r, c]


def _add(design: Design, rows: slice, cols: slice, start, scratch, sums) -> None:
    probe, reference = design.probe, design.reference
    if design.whole:
        run = max(1, 65_535 // design.largest_product)
        pair = probe.weight[rows], reference.weight[cols]
        kernels.add_whole(start, scratch.by_row, scratch.by_col, *pair, run, sums)
    else:
        pair = probe.real_weight[rows], reference.real_weight[cols], probe.scale[rows], reference.scale[cols]
        kernels.add_scaled(start, scratch.by_row, scratch.by_col, *pair, sums)


def _add_missing(tile, row0: int, col0: int, design: Design, missing: np.ndarray) -> None:
    """Weight of the impostor comparisons that failed, by cell."""
    r, c = np.nonzero(np.isnan(tile))
    r, c = r + row0, c + col0
    cell = design.cell_of[design.probe.group[r], design.reference.group[c]]
    other = (design.probe.person[r] != design.reference.person[c]) & (cell >= 0)
    if design.symmetric:
        other &= c > r
    r, c, cell = r[other], c[other], cell[other]
    weight = design.probe.real_weight[r].astype(float) * design.reference.real_weight[c]
    weight *= (design.scales(design.probe)[r] * design.scales(design.reference)[c])[:, None]
    np.add.at(missing, cell, weight)


def _scratch() -> threading.local:
    """Work space of this thread, for one tile."""
    if not hasattr(_SCRATCH, "rows"):
        size = TILE * TILE + 1
        _SCRATCH.rows, _SCRATCH.cols, _SCRATCH.by_row, _SCRATCH.by_col = np.empty((4, size), np.uint16)
        _SCRATCH.slots, _SCRATCH.kept = np.empty((2, size), np.int32)
        _SCRATCH.above = np.empty(TILE + 1, np.uint16)
    return _SCRATCH


def merge(parts: list[Partial]) -> Partial:
    """The sum of several parts."""

    def total(name: str):
        arrays = [getattr(part, name) for part in parts if getattr(part, name) is not None]
        return np.add.reduce(arrays) if len(arrays) > 1 else (arrays[0] if arrays else None)

    kept = [k for part in parts for k in part.kept]
    return Partial(total("sums"), total("missing"), total("counts"), kept, [g for part in parts for g in part.genuine])
