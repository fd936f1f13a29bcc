"""The sweep: every block of a lazy array of scores is visited once, by whatever scheduler is active, and tallied."""

import operator
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import NamedTuple

import dask
import dask.array as da
import numpy as np
import xarray as xr
from dask.array.optimization import optimize
from dask.base import get_scheduler, tokenize
from dask.callbacks import Callback
from dask.local import get_sync
from dask.system import CPU_COUNT
from tqdm.auto import tqdm

from frkit.base import require
from frkit.engine import kernels
from frkit.engine.protocol import Protocol
from frkit.engine.store import Checkpoint, Store
from frkit.data.dataset import fingerprint
from frkit.scores.tensor import ScoreArray, one_blas_thread

FAN_IN = 8  # partial tallies added at a time
STRIP = 16  # blocks that share one partial tally: its sums are larger than a block
FEW_BLOCKS, STRIPS, MOST_SIDE = 2_048, 300, 16  # beyond so many, about so many squares, of so many blocks a side
HELD_PAIRS = 5_000_000  # kept pairs in memory, 60 MB; further ones wait in a file
BATCH = 32  # strips between two states that can be stored, whose kept pairs are held in memory
LABELS = ("people", "image_count", "identity_count", "share", "asked", "owner", "listed")  # of no use to blocks
SCAN = "scan-"  # with this begin the names of tasks that scan a strip
PATCH = 512  # rows and columns that are scanned at once
CHUNK = 20_000  # listed pairs whose weights in all columns are held at once
WHOLE = slice(None)


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


def sweep(
    scores: xr.DataArray,
    request,
    scan: Callable[..., Tally],
    *,
    everywhere: bool = True,
    progress: bool = False,
    checkpoint: Checkpoint | None = None,
) -> Tally:
    """Visit every block that holds pairs (the upper triangle of a symmetric tensor) and add up its tally.

    scan(places, request, blocks) makes the tally of a strip of blocks; a place is (rows, columns, pairs that are asked
    for). everywhere: or only of blocks that hold such pairs. A strip's blocks are made one after the other and scanned
    while they are in the processor's cache. Strips run side by side, a batch of them at a time: between batches the
    state can be stored, so that memory holds the parts of one batch only.
    """
    array, protocol, source = scores.data, request.protocol, source_of(scores.data)
    edges = bounds(array)
    asked = _asked_by_block(protocol.asked, *edges) if request.asking else {}
    strips = _strips(edges, protocol.symmetric, list(asked), everywhere)
    shared = replace(request, protocol=replace(protocol, **dict.fromkeys(LABELS)))
    store = None if checkpoint is None else Store(checkpoint)
    done, sums, lists = (0, {}, {}) if store is None else store.load()
    n_kept = 0
    with progress_bar(len(strips), progress) as bar:
        for begin in range(done, len(strips), BATCH):
            some = strips[begin : begin + BATCH]
            blocks, parts, mark = [(array.name, *at) for strip in some for at in strip], [], uuid.uuid4().hex
            tasks = dict(optimize(array.__dask_graph__(), blocks)) if source is None else {array.name: source}
            tasks[f"request-{mark}"] = shared
            for strip in some:
                places = [(*sides_of(edges, block), asked.get(block)) for block in strip]
                parts.append(f"{SCAN}{mark}-{len(parts)}")
                tasks[parts[-1]] = _strip(tasks, array, strip, partial(scan, places), f"request-{mark}")
            # a tree of sums, not one task for all: parts are let go as soon as they are added, in one order on every
            # scheduler
            while len(parts) > 1:
                groups = [parts[k : k + FAN_IN] for k in range(0, len(parts), FAN_IN)]
                parts = [f"sum-{group[0]}" for group in groups]
                tasks |= {key: (Tally.total, *group) for key, group in zip(parts, groups, strict=True)}
            part = run(tasks, parts[0])
            bar.update(begin + len(some) - bar.n)
            # images' parts are listed, not added in tasks: filled up to all images each would be as large as the whole
            gathered(sums, part.lists.pop("images", []))
            sums |= {name: sums[name] + values if name in sums else values for name, values in part.sums.items()}
            n_kept += sum(len(score) for _, _, score in part.lists.get("kept", []))
            if store is None and n_kept > HELD_PAIRS:
                store = Store()
            if store is not None:
                part.lists["kept"] = store.keep(part.lists["kept"])
            lists = {name: lists.get(name, []) + items for name, items in part.lists.items()}
            if checkpoint is not None:
                store.save(begin + len(some), sums, lists)
    return Tally(sums, lists)


def _strips(
    edges: list[np.ndarray], symmetric: bool, asked: list[tuple], everywhere: bool
) -> list[list[tuple[int, int]]]:
    """The blocks that hold pairs (everywhere), or pairs that are asked for, some hundred together or a few.

    Of many blocks those of a square stand together: they share the images of its two sides.
    """
    rows, cols = edges
    wanted = np.full((len(rows) - 1, len(cols) - 1), everywhere)
    if symmetric or not everywhere:
        # of a triangle only blocks with a place right of the diagonal; blocks that are asked for come in any case
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


def gathered(sums: dict[str, np.ndarray], parts: list[tuple]) -> None:
    """Add parts, as `Window.parts` names them, to the sums of all images, by name."""
    for name, n_images, start, part in parts:
        if name not in sums:
            sums[name] = np.zeros((*part.shape[:-2], part.shape[-1], n_images), part.dtype).swapaxes(-1, -2)
        sums[name][..., start : start + part.shape[-2], :] += part


def swept_with(scores: list[xr.DataArray], protocol: Protocol, levels: tuple, plans: list) -> str:
    """A fingerprint of all that the bits of a sweep depend on; scores of each model.

    Scores are known by some of their blocks and by the plan, which a pilot made; an unchanged tensor by its embeddings.
    """
    known = [protocol.fingerprint, protocol.cell_of, protocol.pooled, protocol.symmetric, *levels[:2]]
    known += [(ladder.low, ladder.floor, ladder.scale, ladder.bin_of_cell, ladder.keep) for ladder in plans]
    for array in (model.data for model in scores):
        source, places = source_of(array), np.linspace(0, min(array.numblocks) - 1, 8).astype(int).tolist()
        some = parts_of(array, [sides_of(bounds(array), (k, k)) for k in places])
        known += [array.dtype.str, array.chunks, some, source and fingerprint(source.embedding)]
    return tokenize(known)


# --- blocks as tasks ------------------------------------------------------------------------------------------


def bounds(array: da.Array) -> list[np.ndarray]:
    """First index of every block, and the end, along each axis."""
    return [np.concatenate([[0], np.cumsum(sizes)]) for sizes in array.chunks]


def sides_of(edges: list[np.ndarray], block: tuple[int, int]) -> tuple[slice, slice]:
    """The rows and columns of a block."""
    return tuple(slice(*side[k : k + 2].tolist()) for side, k in zip(edges, block, strict=True))


def source_of(array: da.Array) -> ScoreArray | None:
    """What computes any part of an array that nobody has changed since; None where tasks of dask lie between."""
    layers, name = array.dask.layers, f"original-{array.name}"
    source = layers[name][name] if layers.keys() == {array.name, name} else None
    return source if isinstance(source, ScoreArray) else None


@dataclass(frozen=True, eq=False)
class Strip:
    """Work on some blocks, each made when it is its turn: `work(given, blocks)`.

    nodes: the tasks that make the blocks, or the parts of the array where its source makes them; names: what those
    tasks need, in the order in which it is handed over.
    """

    work: Callable
    nodes: list
    names: list | None

    def __call__(self, given, *values):
        with one_blas_thread():  # on the workers of a cluster, too
            if self.names is None:
                return self.work(given, (values[0][part] for part in self.nodes))
            known = dict(zip(self.names, values, strict=True))
            return self.work(given, (node(known) for node in self.nodes))


def _strip(tasks: dict, array: da.Array, wanted: list[tuple[int, int]], work: Callable, given: str) -> tuple:
    """A task that makes these blocks inside itself, in place of their own tasks, which leave the graph."""
    if array.name in tasks:
        parts = [sides_of(bounds(array), block) for block in wanted]
        return Strip(work, parts, None), given, array.name
    nodes = [_made_by(tasks, (array.name, *at)) for at in wanted]
    names = sorted({name for node in nodes for name in node.dependencies}, key=str)
    return (Strip(work, nodes, names), given, *names)


def _made_by(tasks: dict, key):
    """The task behind a key, through other names for it; it leaves the graph."""
    node = tasks.pop(key)
    while getattr(node, "target", None) in tasks:
        node = tasks.pop(node.target)
    return node


def parts_of(array: da.Array, parts: list[tuple]) -> list[np.ndarray]:
    """Some parts of an array, each given by its rows and columns."""
    source = source_of(array)
    if source is None:
        return dask.compute(*(array[rows, :][:, cols] for rows, cols in parts))
    return each(lambda place: source[parts[place]], len(parts))


def refuse_endless(block: np.ndarray) -> None:
    """Infinite scores have no place among the others."""
    many = int(np.isinf(block).sum())
    require(many == 0, f"{many} score(s) of a block are infinite; mark failed comparisons as missing, or as NaN")


def run(tasks: dict, keys) -> list:
    """Compute keys with the active scheduler (threads, or a distributed client), one BLAS thread in each."""
    get = get_scheduler() or get_scheduler(scheduler="threads")
    with one_blas_thread():
        return get(tasks, keys)


@contextmanager
def progress_bar(n_strips: int, shown: bool) -> Iterator[tqdm]:
    """A bar of strips with the time that is left; on a cluster it moves when a batch of strips is done."""
    with tqdm(total=n_strips, desc="sweep", unit="strip", leave=False, disable=not shown) as bar:

        def note(key, *_) -> None:
            if str(key).startswith(SCAN):
                bar.update(1)

        with Callback(posttask=note) if shown else nullcontext():
            yield bar


def each(work: Callable[[int], object], n: int) -> list:
    """The work for 0..n-1, on all threads of the active scheduler; the kernels release the interpreter's lock."""
    n_threads = 1 if get_scheduler() is get_sync else dask.config.get("num_workers", None) or CPU_COUNT
    if n_threads == 1:
        return [work(k) for k in range(n)]
    some = np.array_split(np.arange(n), min(n, 4 * n_threads)) if n else []  # to hand over one by one costs as much
    with ThreadPoolExecutor(n_threads) as pool:
        parts = pool.map(lambda part: [work(k) for k in part.tolist()], some)
        return [found for part in parts for found in part]


# --- what every scan of a block begins and ends with -------------------------------------------------------------


class _Scratch(threading.local):
    """Work space of each thread, for one patch."""

    def __init__(self) -> None:
        size = PATCH * PATCH + 1
        self.rows, self.cols, self.by_row, self.by_col = np.empty((4, size), np.uint16)
        self.slots, self.above = np.empty(size, np.int32), np.empty(PATCH + 1, np.uint16)
        self.kept, self.score = np.empty((2, size), np.int32), np.empty(size)


SCRATCH = _Scratch()


def patches(block: np.ndarray, rows: slice, cols: slice, symmetric: bool) -> Iterator[tuple[np.ndarray, slice, slice]]:
    """The patches of a block that hold pairs, with their rows and columns in the whole tensor, as the block's."""
    for r in range(0, block.shape[0], PATCH):
        for c in range(0, block.shape[1], PATCH):
            patch = np.ascontiguousarray(block[r : r + PATCH, c : c + PATCH])
            top, left = rows.start + r, cols.start + c
            if not symmetric or left + PATCH > top:
                yield patch, slice(top, top + patch.shape[0]), slice(left, left + patch.shape[1])


def codes_of_patch(protocol: Protocol, rows: slice, cols: slice) -> tuple:
    """What the kernels need to know of a patch: where each row's pairs begin (right of the diagonal in a symmetric
    tensor), persons and groups of both sides, and the cells of groups."""
    probe, reference = protocol.probe, protocol.reference
    first = np.zeros(rows.stop - rows.start, np.int64)
    if protocol.symmetric and cols.start < rows.stop:
        # a patch that the diagonal may cross: of each row only what lies right of it
        first = np.clip(np.arange(rows.start, rows.stop) + 1 - cols.start, 0, cols.stop - cols.start)
    persons, groups = (probe.person[rows], reference.person[cols]), (probe.group[rows], reference.group[cols])
    return first, persons, groups, protocol.cell_of


def sort_filed(filed: int, n_slots: int) -> tuple[np.ndarray, tuple]:
    """Where each slot's pairs begin among the pairs filed in this thread's work space, and their rows and columns."""
    start = np.empty(n_slots + 1, np.int64)
    pairs = SCRATCH.rows[:filed], SCRATCH.cols[:filed], SCRATCH.slots[:filed]
    kernels.sort_by_slot(*pairs, start, SCRATCH.by_row, SCRATCH.by_col)
    return start, (SCRATCH.by_row, SCRATCH.by_col)


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
