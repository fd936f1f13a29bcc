"""The sweep: every block of the score tensor is visited once, through dask, and added to one tally."""

import operator
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import NamedTuple

import numpy as np
import xarray as xr

from frkit.engine import blocks, kernels
from frkit.engine.influence import PEOPLE, Gaps, Window, gathered
from frkit.engine.plan import Ladder
from frkit.engine.protocol import Protocol
from frkit.engine.store import Checkpoint, Store

FAN_IN = 8  # partial tallies added at a time
STRIP = 16  # blocks that share one partial tally: its sums are larger than a block
FEW_BLOCKS, STRIPS, MOST_SIDE = 2_048, 300, 16  # beyond so many, about so many squares, of so many blocks a side
BATCH = 32  # strips between two states that can be stored, whose kept pairs are held in memory
PATCH = 512  # rows and columns that are scanned at once
CHUNK = 20_000  # listed pairs whose weights in all columns are held at once
WHOLE = slice(None)
_SCRATCH = threading.local()


class Tally(NamedTuple):
    """An additive part of a result: sums, and lists of what is not added up, by name."""

    sums: dict[str, np.ndarray]
    lists: dict[str, list]

    @staticmethod
    def total(*parts: "Tally") -> "Tally":
        """The sum of several parts, from the first to the last."""
        sums = {name: reduce(operator.add, [part.sums[name] for part in parts]) for name in parts[0].sums}
        lists = {name: [item for part in parts for item in part.lists[name]] for name in parts[0].lists}
        return Tally(sums, lists)

    def asked_scores(self, protocol: Protocol, dtype: np.dtype) -> np.ndarray:
        """Scores of the pairs that the protocol asks for, from the list "asked"; NaN where the comparison failed."""
        score = np.full(len(protocol.asked[0]), np.nan, dtype)
        for place, values in self.lists["asked"]:
            score[place] = values
        return score


@dataclass(frozen=True, eq=False)
class Request:
    """What a sweep is to bring back.

    bounds: of the blocks, along each axis. gaps: how pairs are added to their images. asking: whether bins are added
    up, comparisons that failed are looked for, and the scores of `protocol.asked` are wanted; a second, targeted sweep
    only collects pairs.
    """

    protocol: Protocol
    ladder: Ladder
    bounds: list[np.ndarray]
    gaps: Gaps
    asking: bool = True

    def window(self, places: list[tuple]) -> Window:
        """Sums of nothing for the images of some blocks."""
        starts = zip(*(place[:2] for place in places), strict=True)
        reach = [
            (min(side), edges[np.searchsorted(edges, max(side), "right")])
            for side, edges in zip(starts, self.bounds, strict=True)
        ]
        return Window(self.gaps, *(slice(*ends) for ends in reach))


@dataclass(frozen=True, eq=False)
class Asked:
    """What a sweep for the scores of `protocol.asked` alone is to bring back."""

    protocol: Protocol
    asking: bool = True


def sweep(
    scores: xr.DataArray,
    request,
    scan: Callable[..., Tally] | None = None,
    *,
    everywhere: bool = True,
    progress: bool = False,
    checkpoint: Checkpoint | None = None,
) -> Tally:
    """Visit every block that holds pairs (the upper triangle of a symmetric tensor) and add up its tally.

    everywhere: or only the blocks that hold pairs which are asked for.

    scan(places, request, blocks) makes the tally of a strip of blocks; by default that of rates. A strip's blocks are
    made one after the other and scanned while they are in the processor's cache. Strips run side by side, a batch of
    them at a time: between batches the state can be stored, so that memory holds the parts of one batch only.
    """
    array, protocol, store = scores.data, request.protocol, Store(checkpoint)
    rows, cols = bounds = blocks.bounds(array)
    asked = _asked_by_block(protocol.asked, rows, cols) if request.asking else {}
    strips = _strips(bounds, protocol.symmetric, list(asked), everywhere)
    shared = replace(request, protocol=protocol.for_blocks())
    done, sums, lists = store.load()
    with blocks.progress_bar(len(strips), progress) as bar:
        for begin in range(done, len(strips), BATCH):
            some = strips[begin : begin + BATCH]
            tasks, parts = blocks.graph(array, [at for strip in some for at in strip]), []
            mark = uuid.uuid4().hex
            tasks[f"request-{mark}"] = shared
            for strip in some:
                places = [(int(rows[i]), int(cols[j]), asked.get((i, j))) for i, j in strip]
                parts.append(f"{blocks.SCAN}{mark}-{len(parts)}")
                work = partial(scan or scan_blocks, places)
                tasks[parts[-1]] = blocks.strip(tasks, array, strip, work, f"request-{mark}")
            while len(parts) > 1:
                groups = [parts[k : k + FAN_IN] for k in range(0, len(parts), FAN_IN)]
                parts = [f"sum-{group[0]}" for group in groups]
                tasks |= {key: (Tally.total, *group) for key, group in zip(parts, groups, strict=True)}
            part = blocks.run(tasks, parts[0])
            bar.update(begin + len(some) - bar.n)
            images = part.lists.pop("images", [])
            known = gathered(sums, images) if images else sums
            sums = known | {name: sums[name] + values if name in sums else values for name, values in part.sums.items()}
            kept = store.keep(part.lists["kept"]) if "kept" in part.lists else None
            part = part.lists | ({} if kept is None else {"kept": kept})
            lists = {name: lists.get(name, []) + items for name, items in part.items()}
            store.save(begin + len(some), sums, lists)
    return Tally(sums, lists)


def _strips(
    bounds: list[np.ndarray], symmetric: bool, asked: list[tuple], everywhere: bool
) -> list[list[tuple[int, int]]]:
    """The blocks that hold pairs (everywhere), or pairs that are asked for, some hundred together or a few.

    Of many blocks those of a square stand together: they share the images of its two sides.
    """
    rows, cols = bounds
    wanted = np.full((len(rows) - 1, len(cols) - 1), everywhere)
    if symmetric or not everywhere:
        wanted &= cols[1:] > rows[:-1, None] + 1
        wanted[tuple(np.array(asked, int).reshape(-1, 2).T)] = True
    wanted = np.argwhere(wanted)
    if len(wanted) <= FEW_BLOCKS:
        ends = np.arange(STRIP, len(wanted), STRIP)
    else:
        square = wanted // np.clip(int(np.sqrt(len(wanted) / STRIPS)), 1, MOST_SIDE)
        code = square[:, 0] * len(cols) + square[:, 1]
        order = np.argsort(code, kind="stable")
        wanted, ends = wanted[order], np.flatnonzero(np.diff(code[order])) + 1
    return [[tuple(at) for at in strip.tolist()] for strip in np.split(wanted, ends)]


def _asked_by_block(asked: tuple, rows: np.ndarray, cols: np.ndarray) -> dict:
    """The pairs asked for in each block: (places among all of them, rows, columns)."""
    row, col = asked
    i, j = np.searchsorted(rows, row, side="right") - 1, np.searchsorted(cols, col, side="right") - 1
    block = i * len(cols) + j
    order = np.argsort(block, kind="stable")
    by_block = np.split(order, np.flatnonzero(np.diff(block[order])) + 1)
    return {(int(i[p[0]]), int(j[p[0]])): (p, row[p] - rows[i[p[0]]], col[p] - cols[j[p[0]]]) for p in by_block}


def scan_asked(places: list[tuple], _request, scores: Iterable[np.ndarray]) -> Tally:
    """The scores in some blocks that are asked for, and nothing else."""
    both = zip(places, scores, strict=True)
    return Tally({}, {"asked": [(place, block[row, col]) for (_, _, (place, row, col)), block in both]})


def scan_blocks(places: list[tuple], request: Request, scores: Iterable[np.ndarray]) -> Tally:
    """The tally of some blocks of scores; places: (first row, first column, pairs asked for) of each.

    Sums: "weight" (slot, column) of impostor pairs, "missing" (cell, column) of failed comparisons, "count" (bin, cell)
    of impostor pairs, and those of sampled people. Lists: "kept" (row, column, score), "asked" (places, scores), and
    "images", what these blocks add to images.
    """
    protocol, ladder = request.protocol, request.ladder
    sums, kept, asked = {"count": np.zeros((ladder.n_bins, protocol.n_cells), np.int64)}, [], []
    if request.asking:
        sums["weight"] = np.zeros((sums["count"].size, protocol.n_columns))
        sums["missing"] = np.zeros((protocol.n_cells, protocol.n_columns))
    own = request.window(places)
    scores = iter(scores)
    for row0, col0, wanted in places:
        block = patch = None  # the next block takes the place of this one, which the cache still holds
        block = next(scores)
        if wanted is not None:
            asked.append((wanted[0], block[wanted[1], wanted[2]]))
        with np.errstate(invalid="ignore", over="ignore"):  # one quick look at a block tells that all is well
            failing = request.asking and not np.isfinite((block @ np.ones(block.shape[1], block.dtype)).sum())
        for patch, rows, cols in patches(block, row0, col0, protocol.symmetric):
            kept.append(_scan_patch(patch, rows, cols, request, sums, own))
            if failing:
                _add_missing(patch, rows, cols, request, sums, own)
    if request.asking and _counts_are_weights(protocol):
        sums["weight"] += sums["count"].reshape(-1, 1)
    kept = [tuple(np.concatenate(parts) for parts in zip(*kept, strict=True))] if kept else []
    sums[PEOPLE] = own.sums[2][:-1]
    return Tally(sums, {"kept": kept, "asked": asked, "images": own.parts()})


def _counts_are_weights(protocol: Protocol) -> bool:
    """Whether every pair weighs one, and there are no replicates: then there is nothing to add up but pairs."""
    return protocol.n_columns == 1 and protocol.whole_run > 0


def patches(block: np.ndarray, row0: int, col0: int, symmetric: bool) -> Iterator[tuple[np.ndarray, slice, slice]]:
    """The patches of a block that hold pairs, with their rows and columns in the whole tensor."""
    for r in range(0, block.shape[0], PATCH):
        for c in range(0, block.shape[1], PATCH):
            patch = np.ascontiguousarray(block[r : r + PATCH, c : c + PATCH])
            if not symmetric or col0 + c + PATCH > row0 + r:
                top, left = row0 + r, col0 + c
                yield patch, slice(top, top + patch.shape[0]), slice(left, left + patch.shape[1])


def codes_of_patch(protocol: Protocol, rows: slice, cols: slice) -> tuple:
    """What the kernels need to know of a patch: where each row's pairs begin (right of the diagonal in a symmetric
    tensor), persons and groups of both sides, and the cells of groups."""
    probe, reference = protocol.probe, protocol.reference
    first = np.zeros(rows.stop - rows.start, np.int64)
    if protocol.symmetric and cols.start < rows.stop:
        first = np.clip(np.arange(rows.start, rows.stop) + 1 - cols.start, 0, cols.stop - cols.start)
    persons, groups = (probe.person[rows], reference.person[cols]), (probe.group[rows], reference.group[cols])
    return first, persons, groups, protocol.cell_of


def _scan_patch(patch: np.ndarray, rows: slice, cols: slice, request: Request, sums: dict, own: Window) -> tuple:
    """Add one patch's pairs to the sums; return the kept ones (rows, columns, scores)."""
    scratch, protocol = scratch_space(), request.protocol
    filed, n_kept = kernels.scan_patch(
        patch,
        codes_of_patch(protocol, rows, cols),
        request.ladder.arrays(patch.dtype),
        own.of_patch(rows, cols),
        sums["count"],
        request.asking and not _counts_are_weights(protocol),
        (scratch.above, scratch.rows, scratch.cols, scratch.slots, *scratch.kept, scratch.score),
    )
    if filed:
        add_sorted(protocol, *sort_filed(filed, len(sums["weight"])), sums["weight"], (rows, cols))
    row, col = (part[:n_kept].astype(np.int32) for part in scratch.kept)
    row += rows.start
    col += cols.start
    return row, col, scratch.score[:n_kept].astype(patch.dtype)


def sort_filed(filed: int, n_slots: int) -> tuple[np.ndarray, tuple]:
    """Where each slot's pairs begin among the pairs filed in this thread's work space, and their rows and columns."""
    scratch, start = scratch_space(), np.empty(n_slots + 1, np.int64)
    pairs = scratch.rows[:filed], scratch.cols[:filed], scratch.slots[:filed]
    kernels.sort_by_slot(*pairs, start, scratch.by_row, scratch.by_col)
    return start, (scratch.by_row, scratch.by_col)


def add_sorted(protocol: Protocol, start, pairs: tuple, sums: np.ndarray, sides=(WHOLE, WHOLE)) -> None:
    """Add the weight of sorted pairs (rows, columns within these parts of the sides) to their slots, (slot, column)."""
    probe, reference, (rows, cols) = protocol.probe, protocol.reference, sides
    if protocol.whole_run:
        weights = probe.weight[rows], reference.weight[cols], protocol.whole_run
        kernels.add_whole(start, *pairs, *weights, sums)
    else:
        weights = probe.weight[rows], reference.weight[cols], probe.scale[rows], reference.scale[cols]
        kernels.add_scaled(start, *pairs, *weights, sums)


def slot_sums(slot: np.ndarray, n_slots: int, row: np.ndarray, col: np.ndarray, protocol: Protocol) -> np.ndarray:
    """Weight of the pairs in each slot, (slot, column), added up as in the sweep over blocks."""
    sums = np.zeros((n_slots, protocol.n_columns))
    if protocol.between is None:
        start, pairs = np.empty(n_slots + 1, np.int64), np.empty((2, len(slot)), np.int32)
        kernels.sort_by_slot(row, col, slot, start, *pairs)
        add_sorted(protocol, start, tuple(pairs), sums)
        return sums
    for begin in range(0, len(slot), CHUNK):  # of a list whose pairs have weights of their own
        part = slice(begin, begin + CHUNK)
        weight = protocol.probe.weight[row[part]].astype(float) * protocol.reference.weight[col[part]]
        np.add.at(sums, slot[part], weight * protocol.factors(row[part], col[part])[:, None])
    return sums


def _add_missing(patch: np.ndarray, rows: slice, cols: slice, request: Request, sums: dict, own: Window) -> None:
    """Weight of the impostor comparisons that failed, by cell and by image; infinite scores are refused."""
    protocol = request.protocol
    blocks.refuse_endless(patch)
    row, col = np.nonzero(np.isnan(patch))
    row, col = row + rows.start, col + cols.start
    cell, probe, reference = protocol.cells(row, col), protocol.probe, protocol.reference
    other = (probe.person[row] != reference.person[col]) & (cell >= 0)
    if protocol.symmetric:
        other &= col > row
    row, col = row[other], col[other]
    weight = probe.weight[row].astype(float) * reference.weight[col]
    np.add.at(sums["missing"], cell[other], weight * protocol.factors(row, col)[:, None])
    own.add_failed(row, col)


def scratch_space() -> threading.local:
    """Work space of this thread, for one patch."""
    if not hasattr(_SCRATCH, "rows"):
        size = PATCH * PATCH + 1
        _SCRATCH.rows, _SCRATCH.cols, _SCRATCH.by_row, _SCRATCH.by_col = np.empty((4, size), np.uint16)
        _SCRATCH.slots, _SCRATCH.above = np.empty(size, np.int32), np.empty(size, np.uint32)
        _SCRATCH.kept, _SCRATCH.score = np.empty((2, size), np.uint16), np.empty(size)
    return _SCRATCH
