"""The sweep: a lazy array of scores becomes a list of pairs, all of them or some with weights.

All impostor pairs above the lowest threshold that is needed are kept, and at least the PRECISE
highest. Of the rest one pair in two, in four, in eight ... is kept, with weight 2, 4, 8 ..., so
that about PRECISE / 2 pairs stand for each halving of the rank. Whether a pair is kept depends on
its place and its score alone: every place has a level, drawn once (level k with probability
2 ** -(k + 1)), and every level a cut, which the score must exceed.

The cuts rise while blocks are scanned: the cut of a level is a score that enough pairs of this
level and higher ones exceed already, so that nothing is dropped that the whole sweep would keep.
Blocks lie on a grid that depends on the tensor's size alone, and so does their order. No chunk,
thread, worker or guess changes the result.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import dask
import numpy as np
import xarray as xr
from dask.base import get_scheduler
from dask.system import CPU_COUNT
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm

from frkit.base import require
from frkit.engine import kernels
from frkit.engine.protocol import Protocol
from frkit.scores.tensor import block_side

PRECISE = 1_200_000  # impostor pairs that are kept whatever is asked
MOST_EXACT = 20_000_000  # pairs above a threshold up to which it is exact
MARGIN = 1.1  # of the pairs that a level needs: ties, and rounding
N_LEVELS = 24
PATTERN_ROWS = 1024
BINS = 1 << 13  # in which scores are counted
FIRST_BATCH = 4_200_000  # pairs
BATCHES = 20  # at least so many, for the progress bar
SLACK = 2_000_000  # pairs beyond those that the cuts keep, before the others are dropped


class Needs(NamedTuple):
    """Down to where pairs must all be kept: (level,) weights above thresholds, and thresholds.

    weight: impostor weight above the threshold of each FAR level, by curve: (curve, level); with
    several curves the strictest counts. threshold: fixed ones.
    """

    weight: np.ndarray
    threshold: np.ndarray


@dataclass(frozen=True, eq=False)
class Swept:
    """Kept impostor pairs, and how they were chosen.

    pairs: entries of rows, entries of columns, and scores; taken out when they are filed.
    cuts: (level,) falling; a pair above cut k, and no higher one, weighs 2 ** k. failed: entries
    of the comparisons that failed. genuine: scores of the protocol's genuine pairs, NaN where
    the comparison failed. extremes: lowest and highest score of all.
    """

    pairs: list[np.ndarray]
    cuts: np.ndarray
    failed: tuple[np.ndarray, np.ndarray]
    genuine: np.ndarray
    extremes: tuple[float, float]


def sweep(scores: xr.DataArray, protocol: Protocol, needs: Needs, progress: bool) -> Swept:
    """Scan every block of a tensor that contains pairs, some blocks at a time."""
    side = block_side(max(scores.shape))
    array = scores.data.rechunk(side)
    blocks = _blocks(array.numblocks, protocol.symmetric)
    asked = _genuine_by_block(protocol, side)
    sides = dask.delayed(_Sides.of(protocol), traverse=False)
    chosen = Selection(protocol, needs)
    failed = [(np.empty(0, np.int32), np.empty(0, np.int32))]
    extremes = []
    genuine = np.full(len(protocol.genuine[0]), np.nan, scores.dtype)
    delayed = array.to_delayed(optimize_graph=False)
    with (
        threads(),
        tqdm(total=len(blocks), desc="sweep", unit="block", disable=not progress) as bar,
    ):
        done = 0
        while done < len(blocks):
            size = max(FIRST_BATCH // side**2, min(done // 4, len(blocks) // BATCHES), 1)
            batch = blocks[done : done + size]
            floor = dask.delayed(chosen.floor(scores.dtype), traverse=False)
            tasks = []
            for i, j in batch:
                places = asked.get((i, j), _NOTHING)[1:]
                origin = i * side, j * side
                tasks.append(_SCAN(delayed[i, j], origin, sides, floor, places))
            found = dask.compute(*tasks)
            chosen.add([part.pairs for part in found])
            for block, part in zip(batch, found, strict=True):
                failed.append(part.failed)
                extremes.append(part.extremes)
                if block in asked:
                    genuine[asked[block][0]] = part.genuine
            done += len(batch)
            bar.update(len(batch))
    rows, cols = zip(*failed, strict=True)
    lowest, highest = zip(*extremes, strict=True)
    return Swept(
        chosen.kept(),
        chosen.cuts,
        (np.concatenate(rows), np.concatenate(cols)),
        genuine,
        (min(lowest), max(highest)),
    )


def _blocks(shape: tuple[int, int], symmetric: bool) -> list[tuple[int, int]]:
    """The blocks that contain pairs, in an order that is drawn once."""
    every = [(i, j) for i in range(shape[0]) for j in range(shape[1]) if not symmetric or i <= j]
    order = np.random.default_rng(0).permutation(len(every))
    return [every[k] for k in order]


_NOTHING = (np.empty(0, int),) * 3


def _genuine_by_block(protocol: Protocol, side: int) -> dict:
    """Of each block with genuine pairs: which of them, and their rows and columns in the block."""
    row, col = protocol.genuine[0], protocol.genuine[1] - protocol.offset
    block = np.stack([row // side, col // side])
    order = np.lexsort(block)
    new_block = np.any(np.diff(block[:, order]) != 0, axis=0)
    found = {}
    for places in np.split(order, np.flatnonzero(new_block) + 1):
        i, j = (int(part) for part in block[:, places[0]])
        found[i, j] = places, row[places] - i * side, col[places] - j * side
    return found


@contextmanager
def threads():
    """The active scheduler of dask, with threads of this call's own and one BLAS thread in each.

    dask's own pool of threads does not survive a fork of the process.
    """
    n = dask.config.get("num_workers", None) or CPU_COUNT
    with threadpool_limits(1, user_api="blas"):
        if get_scheduler() is not None or dask.config.get("pool", None) is not None:
            yield
            return
        with ThreadPoolExecutor(n) as pool, dask.config.set(pool=pool):
            yield


# --- one block -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Sides:
    """What a block must know of the protocol."""

    persons: tuple[np.ndarray, np.ndarray]
    kinds: tuple[np.ndarray, np.ndarray]
    cell_of: np.ndarray | None
    offset: int
    triangle: bool

    @classmethod
    def of(cls, protocol: Protocol) -> "_Sides":
        """The codes of rows and of columns; cells only where some pairs are left out."""
        rows, cols = slice(0, protocol.n_probes), slice(protocol.offset, None)
        persons = protocol.person[rows], protocol.person[cols]
        kinds = protocol.kind[rows], protocol.kind[cols]
        cells = protocol.cell_of if np.any(protocol.cell_of < 0) else None
        return cls(persons, kinds, cells, protocol.offset, protocol.symmetric)


class _Part(NamedTuple):
    """What a block contains: kept pairs (row, column, score, level), failed ones, genuine scores."""

    pairs: tuple
    failed: tuple[np.ndarray, np.ndarray]
    genuine: np.ndarray
    extremes: tuple[float, float]


def _scan(block: np.ndarray, origin, sides: _Sides, floor: tuple, places: tuple) -> _Part:
    """Choose among the impostor pairs of a block; read the genuine scores that lie in it."""
    block = np.ascontiguousarray(block)
    n_rows, n_cols = block.shape
    rows, cols = slice(origin[0], origin[0] + n_rows), slice(origin[1], origin[1] + n_cols)
    persons = sides.persons[0][rows], sides.persons[1][cols]
    row, col = np.empty((2, block.size + 1), np.int32)
    score, level = np.empty(block.size + 1, block.dtype), np.empty(block.size + 1, np.uint8)
    out = row, col, score, level
    n = kernels.select(block, origin, sides.offset, persons, *floor, sides.triangle, *out)
    pairs = tuple(part[:n].copy() for part in out)
    if sides.cell_of is not None:
        row, col = pairs[0], pairs[1] - sides.offset
        wanted = sides.cell_of[sides.kinds[0][row], sides.kinds[1][col]] >= 0
        pairs = tuple(part[wanted] for part in pairs)
    extremes = float(block.min()), float(block.max())
    failed = np.empty(0, np.int32), np.empty(0, np.int32)
    if not np.all(np.isfinite(extremes)):
        failed = _failed(block, origin, sides, persons)
        lowest = np.fmin.reduce(block, axis=None, initial=np.inf)
        extremes = float(lowest), float(np.fmax.reduce(block, axis=None, initial=-np.inf))
    return _Part(pairs, failed, block[places[0], places[1]], extremes)


_SCAN = dask.delayed(_scan, pure=False)


def _failed(block: np.ndarray, origin, sides: _Sides, persons: tuple) -> tuple:
    """Entries of the impostor comparisons of a block that failed; infinite scores are refused."""
    endless = int(np.isinf(block).sum())
    require(
        endless == 0,
        f"{endless} score(s) of a block are infinite; mark failed comparisons as missing, or NaN",
    )
    row, col = np.nonzero(np.isnan(block))
    impostor = persons[0][row] != persons[1][col]
    row, col = row + origin[0], col + origin[1]
    if sides.triangle:
        impostor &= col > row
    if sides.cell_of is not None:
        impostor &= sides.cell_of[sides.kinds[0][row], sides.kinds[1][col]] >= 0
    return row[impostor].astype(np.int32), (col[impostor] + sides.offset).astype(np.int32)


# --- which pairs are kept ------------------------------------------------------------------------


@cache
def place_levels() -> np.ndarray:
    """(PATTERN_ROWS, SEGMENT) the level of each place: k with probability 2 ** -(k + 1)."""
    bits = np.random.default_rng(1).integers(1, 1 << 31, (PATTERN_ROWS, kernels.SEGMENT))
    lowest_bit = bits & -bits
    return np.minimum(np.log2(lowest_bit), N_LEVELS - 1).astype(np.uint8)


@dataclass(eq=False)
class Selection:
    """The pairs that are kept so far, and the cuts that later pairs must exceed."""

    protocol: Protocol
    needs: Needs
    columns: list = field(default_factory=lambda: [None] * 4)  # row, column, score and level
    n: int = 0  # pairs in these columns
    n_after_drop: int = 0
    cuts: np.ndarray = field(default_factory=lambda: np.full(N_LEVELS, -np.inf))
    counts: np.ndarray | None = None  # (level, bin)
    mass: np.ndarray | None = None  # (curve, bin) weight of pairs
    low: float = 0.0
    scale: float = 1.0

    def floor(self, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
        """The score that a pair at each place must exceed, and the level of each place."""
        levels = place_levels()
        return self.cuts.astype(dtype)[levels], levels

    def add(self, parts: list[tuple]) -> None:
        """Add the pairs of some blocks and let the cuts rise."""
        parts = [part for part in parts if len(part[0])]
        if not parts:
            return
        if self.counts is None:
            self._begin_counting(np.concatenate([score for _, _, score, _ in parts]))
        self._make_room(sum(len(part[0]) for part in parts), parts[0])
        for part in parts:
            row, col, score, level = part
            kernels.count(score, level, self.low, self.scale, self.counts)
            self._add_mass(row, col, score)
            for column, values in zip(self.columns, part, strict=True):
                column[self.n : self.n + len(values)] = values
            self.n += len(row)
        self.cuts = np.maximum(self.cuts, self._new_cuts().astype(parts[0][2].dtype))
        if self.n > 1.1 * self.n_after_drop + SLACK:
            self._drop()

    def kept(self) -> list[np.ndarray]:
        """Rows, columns and scores of the pairs above the cuts."""
        if self.columns[0] is None:
            return [np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32)]
        self._drop()
        return [column[: self.n] for column in self.columns[:3]]

    def _make_room(self, more: int, part: tuple) -> None:
        """Longer columns, if they are too short."""
        length = 0 if self.columns[0] is None else len(self.columns[0])
        if self.n + more <= length:
            return
        length = max(self.n + more, int(1.2 * length))
        for number, values in enumerate(part):  # one after the other, for the sake of memory
            column = np.empty(length, values.dtype)
            if self.columns[number] is not None:
                column[: self.n] = self.columns[number][: self.n]
            self.columns[number] = column

    def _drop(self) -> None:
        """Drop the pairs that no longer exceed the cut of their level."""
        in_use = [column[: self.n] for column in self.columns]
        self.n = self.n_after_drop = int(kernels.drop(*in_use, self.cuts))

    def _begin_counting(self, score: np.ndarray) -> None:
        """Bins for scores, wide enough for more than the first ones show."""
        low, high = float(score.min()), float(score.max())
        spread = max(high - low, 1e-6 * max(abs(high), 1.0))
        self.low, self.scale = low - spread / 2, BINS / (2 * spread)
        self.counts = np.zeros((N_LEVELS, BINS), np.int64)
        if len(self.needs.weight) > 1 or not self.protocol.equal_scale:
            self.mass = np.zeros((len(self.needs.weight), BINS))

    def _add_mass(self, row, col, score: np.ndarray) -> None:
        """Add the weight of pairs to their bins, for each curve, where it is not their number."""
        if self.mass is None:
            return
        bins = np.clip((score - self.low) * self.scale, 0, BINS - 1).astype(np.int64)
        weight = self.protocol.scale[row] * self.protocol.scale[col]
        cell = self.protocol.cells(row, col) if len(self.mass) > 1 else None
        for curve, sums in enumerate(self.mass):
            own = slice(None) if cell is None else cell == curve
            sums += np.bincount(bins[own], weight[own], BINS)

    def _new_cuts(self) -> np.ndarray:
        """The lowest edge of a bin, for each level, that not many more exceed than are needed."""
        above = self.counts[::-1].cumsum(0)[::-1]  # of this level and higher ones
        above = above[:, ::-1].cumsum(1)[:, ::-1]
        first = self._exact_bin(above[0])
        cuts = [first]
        for k in range(1, N_LEVELS):
            enough = max(PRECISE / 2, above[0][first] / 2**k if first < BINS else 0)
            lowest = int(np.searchsorted(-above[k], -MARGIN * enough))
            cuts.append(min(lowest, cuts[-1]))
        edges = self.low + np.array(cuts) / self.scale
        return np.where(np.array(cuts) > 0, edges, -np.inf)

    def _exact_bin(self, above: np.ndarray) -> int:
        """The bin from which on all pairs are kept; above: (bin,) pairs in it and higher ones."""
        bins = [int(np.searchsorted(-above, -MARGIN * PRECISE))]
        for threshold in self.needs.threshold:
            bins.append(int(np.clip((threshold - self.low) * self.scale - 1, 0, BINS - 1)))
        by_curve = above[None]
        if self.mass is not None:
            by_curve = self.mass[:, ::-1].cumsum(1)[:, ::-1]
        for level in self.needs.weight.T:
            reached = [
                np.searchsorted(-heavier, -MARGIN * least) - 1
                for heavier, least in zip(by_curve, level, strict=True)
            ]
            bins.append(max(int(max(reached)), 0))
        affordable = [b for b in bins if b == bins[0] or above[b] <= MOST_EXACT]
        return min(affordable)
