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

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import dask
import numpy as np
import pandas as pd
import xarray as xr
from dask.base import get_scheduler
from dask.system import CPU_COUNT
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm

from frkit.base import require
from frkit.engine import kernels
from frkit.engine.entries import Protocol
from frkit.scores.tensor import block_side

PRECISE = 1_200_000  # impostor pairs that are kept whatever is asked
MOST_EXACT = 20_000_000  # pairs above a threshold up to which it is exact
MARGIN = 1.1  # of the pairs that a level needs: ties, and rounding
N_LEVELS = 24
PATTERN_ROWS = 1024
BINS = 1 << 13  # in which scores are counted
FIRST_BATCH = 4_200_000  # pairs
BATCHES = 20  # at least so many, for the progress bar
NONE = np.empty(0, int)
WINDOW = 8  # images at either end and in the middle, whose scores are compared with their transpose
SLACK = 2_000_000  # pairs beyond those that the cuts keep, before the others are dropped


@dataclass(eq=False)
class Swept:
    """Kept impostor pairs, and how they were chosen.

    Attributes
    ----------
    impostors : columns of the pairs: entries of rows, entries of columns, scores, and for a list
        with unequal weights these; the columns are taken out when the pairs are filed.
    cuts : (level,) falling; a pair above cut k, and no higher one, weighs 2 ** k.
    failed : entries of rows and of columns of the impostor comparisons that failed.
    genuine_scores : of the protocol's genuine pairs, NaN where the comparison failed.
    extremes : lowest and highest score of all.
    """

    impostors: list[np.ndarray]
    cuts: np.ndarray
    failed: list[np.ndarray]
    genuine_scores: np.ndarray
    extremes: tuple[float, float]


def sweep(
    scores: xr.DataArray,
    protocol: Protocol,
    least_weights,
    thresholds,
    progress: bool | Callable[[float], None],
) -> Swept:
    """Scan every block of a tensor that contains pairs, some blocks at a time.

    least_weights : (curve, level) down to which impostor weight of each curve all pairs are kept.
    thresholds : (level,) above which all pairs are kept.
    progress : whether to show a bar; or what is called with the share that is done.
    """
    side = block_side(max(scores.shape))
    array = scores.data.rechunk(side)
    delayed = array.to_delayed(optimize_graph=False)
    blocks = list(np.ndindex(array.numblocks))
    if protocol.symmetric:
        blocks = [(i, j) for i, j in blocks if i <= j]
    order = np.random.default_rng(0).permutation(len(blocks))
    blocks = [blocks[k] for k in order]
    row = protocol.genuine_row
    col = protocol.genuine_col - protocol.offset
    genuine_pairs = pd.DataFrame({"i": row // side, "j": col // side})
    genuine_pairs = genuine_pairs.groupby(["i", "j"]).indices
    genuine_scores = np.full(len(protocol.genuine_row), np.nan, scores.dtype)
    labels = BlockLabels(
        person=protocol.person,
        kind=protocol.kind,
        cells=protocol.cells_of_kinds,
        offset=protocol.offset,
        symmetric=protocol.symmetric,
    )
    labels = dask.delayed(labels, traverse=False)
    selection = Selection(protocol, least_weights, thresholds)
    failed = []
    extremes = []
    bar = tqdm(total=len(blocks), desc="sweep", unit="block", disable=progress is not True)
    with threads(), bar:
        if protocol.symmetric:
            _check_transpose(scores.data)
        while len(extremes) < len(blocks):
            done = len(extremes)
            size = min(done // 4, len(blocks) // BATCHES)
            size = max(FIRST_BATCH // side**2, size, 1)
            batch = blocks[done : done + size]
            levels = place_levels()
            floor = selection.cuts.astype(scores.dtype)[levels], levels
            floor = dask.delayed(floor, traverse=False)
            tasks = []
            for i, j in batch:
                origin = i * side, j * side
                pairs = genuine_pairs.get((i, j), NONE)
                places = row[pairs] - origin[0], col[pairs] - origin[1]
                tasks.append(_SCAN(delayed[i, j], origin, labels, floor, *places))
            scanned = dask.compute(*tasks)
            for block, (_, failed_pairs, genuine, lowest_highest) in zip(batch, scanned):
                genuine_scores[genuine_pairs.get(block, NONE)] = genuine
                failed.append(failed_pairs)
                extremes.append(lowest_highest)
            selection.add([pairs for pairs, *_ in scanned])
            bar.update(len(batch))
            if callable(progress):
                progress(len(extremes) / len(blocks))
    return Swept(
        impostors=selection.kept(),
        cuts=selection.cuts,
        failed=[np.concatenate(entries) for entries in zip(*failed)],
        genuine_scores=genuine_scores,
        extremes=(min(low for low, _ in extremes), max(high for _, high in extremes)),
    )


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


def _check_transpose(scores):
    """A tensor of which only a triangle is read must equal its transpose, where it is looked at."""
    n = len(scores)
    window = np.arange(min(WINDOW, n))
    begins = np.maximum([0, n // 2 - WINDOW, n - WINDOW], 0)
    some = np.unique(begins[:, None] + window)
    values = scores[some][:, some].compute()
    slack = 1e-4 * np.fmax.reduce(np.abs(values), axis=None, initial=0)
    require(
        np.allclose(values, values.T, rtol=0, atol=slack, equal_nan=True),
        "these scores depend on which image is the probe, but their attribute `symmetric` says "
        "that they do not: say fk.score_tensor(..., symmetric=False), or "
        "scores.assign_attrs(symmetric=0)",
    )


# --- one block -----------------------------------------------------------------------------------


class BlockLabels(NamedTuple):
    """What a block must know of the protocol."""

    person: np.ndarray
    kind: np.ndarray
    cells: np.ndarray
    offset: int
    symmetric: bool


def _scan(block, origin, labels: BlockLabels, floor, genuine_row, genuine_col):
    """Choose among the impostor pairs of a block; read the genuine scores that lie in it.

    Returns columns (row, column, score, level) of the pairs, rows and columns of failed impostor
    pairs, the genuine scores, and the lowest and the highest score.

    origin : row and column of the tensor where the block begins. genuine_row, genuine_col : places
    in the block.
    """
    block = np.ascontiguousarray(block)
    first_row, first_col = origin[0], origin[1] + labels.offset  # entries
    row_person = labels.person[first_row : first_row + block.shape[0]]
    col_person = labels.person[first_col : first_col + block.shape[1]]
    n = block.size + 1
    row, col = np.empty((2, n), np.int32)
    score = np.empty(n, block.dtype)
    level = np.empty(n, np.uint8)
    n = kernels.select(
        block, origin, labels.offset, (row_person, col_person), *floor, labels.symmetric,
        row, col, score, level,
    )  # fmt: skip
    kinds = labels.kind[row[:n]], labels.kind[col[:n]]
    kept = labels.cells[kinds] >= 0
    pairs = [column[:n][kept] for column in (row, col, score, level)]
    failed_row, failed_col = np.empty((2, 0), np.int32)
    extremes = float(block.min()), float(block.max())
    if not np.all(np.isfinite(extremes)):
        n_infinite = int(np.isinf(block).sum())
        require(
            n_infinite == 0,
            f"{n_infinite} score(s) of a block are infinite; mark failed comparisons as missing, "
            "or NaN",
        )
        row, col = np.nonzero(np.isnan(block))
        row = (row + first_row).astype(np.int32)
        col = (col + first_col).astype(np.int32)
        impostor = labels.person[row] != labels.person[col]
        impostor &= labels.cells[labels.kind[row], labels.kind[col]] >= 0
        if labels.symmetric:
            impostor &= col > row
        failed_row = row[impostor]
        failed_col = col[impostor]
        lowest = np.fmin.reduce(block, axis=None, initial=np.inf)
        highest = np.fmax.reduce(block, axis=None, initial=-np.inf)
        extremes = float(lowest), float(highest)
    return pairs, (failed_row, failed_col), block[genuine_row, genuine_col], extremes


_SCAN = dask.delayed(_scan, pure=False)


# --- which pairs are kept ------------------------------------------------------------------------


@cache
def place_levels():
    """(PATTERN_ROWS, SEGMENT) the level of each place: k with probability 2 ** -(k + 1)."""
    shape = PATTERN_ROWS, kernels.SEGMENT
    bits = np.random.default_rng(1).integers(1, 1 << 31, shape)
    lowest_bit = bits & -bits
    return np.minimum(np.log2(lowest_bit), N_LEVELS - 1).astype(np.uint8)


class Selection:
    """The pairs that are kept so far, and the cuts that later pairs must exceed.

    batches : (row, column, score, level) of the pairs of each batch of blocks.
    counts : (level, bin) pairs by score. mass : (curve, bin) their weight.
    """

    def __init__(self, protocol: Protocol, least_weights, thresholds) -> None:
        self.protocol, self.least_weights, self.thresholds = protocol, least_weights, thresholds
        self.cuts = np.full(N_LEVELS, -np.inf)
        self.batches: list[list[np.ndarray]] = []
        self.n = self.n_after_drop = 0
        self.counts = np.zeros((N_LEVELS, BINS), np.int64)
        self.mass = np.zeros((len(least_weights), BINS))
        self.low = self.bins_per_score = np.nan

    def add(self, blocks) -> None:
        """Add the pairs of some blocks and let the cuts rise."""
        batch = [np.concatenate(column) for column in zip(*blocks)]
        row, col, score, level = batch
        if len(score) == 0:
            return
        if np.isnan(self.low):  # bins wide enough for more than the first scores show
            low = float(score.min())
            high = float(score.max())
            spread = max(high - low, 1e-6 * max(abs(high), 1.0))
            self.low = low - spread / 2
            self.bins_per_score = BINS / (2 * spread)
        protocol = self.protocol
        kernels.count(
            row, col, score, level, protocol.scale, protocol.kind, protocol.cells_of_kinds,
            self.low, self.bins_per_score, self.counts, self.mass,
        )  # fmt: skip
        self.batches.append(batch)
        self.n += len(score)
        self.cuts = np.maximum(self.cuts, self._enough().astype(score.dtype))
        if self.n > 1.1 * self.n_after_drop + SLACK:
            self._drop()

    def _enough(self):
        """For each level the lowest edge of a bin that hardly more pairs exceed than are needed."""
        # pairs of this level and higher ones, in this bin and higher ones
        reversed_counts = self.counts[::-1, ::-1]
        above = reversed_counts.cumsum(0).cumsum(1)[::-1, ::-1]
        n_above = above[0]
        precise = (n_above > MARGIN * PRECISE).sum()
        at_thresholds = (self.thresholds - self.low) * self.bins_per_score - 1
        mass_above = self.mass[:, ::-1].cumsum(1)[:, ::-1]
        needed = MARGIN * self.least_weights[:, :, None]
        at_levels = (mass_above[:, None] > needed).sum(2).max(0) - 1
        first_bins = np.append(at_thresholds, at_levels)
        first_bins = np.clip(first_bins, 0, BINS - 1).astype(int)
        exact = min(first_bins[n_above[first_bins] <= MOST_EXACT], default=precise)
        exact = min(exact, precise)
        n_exact = n_above[exact] if exact < BINS else 0
        enough = np.maximum(PRECISE / 2, n_exact / 2.0 ** np.arange(N_LEVELS))
        edges = (above > MARGIN * enough[:, None]).sum(1)
        edges[0] = exact
        edges = np.minimum.accumulate(edges)
        return np.where(edges > 0, self.low + edges / self.bins_per_score, -np.inf)

    def _drop(self):
        """Drop the pairs that no longer exceed the cut of their level."""
        for number, batch in enumerate(self.batches):
            _, _, score, level = batch
            exceeds = np.flatnonzero(score > self.cuts.astype(score.dtype)[level])
            self.batches[number] = [column[exceeds] for column in batch]
        self.n = self.n_after_drop = sum(len(batch[0]) for batch in self.batches)

    def kept(self):
        """Rows, columns and scores of the pairs above the cuts."""
        if not self.batches:
            none = np.empty(0, np.int32)
            return [none, none, none.astype(np.float32)]
        self._drop()
        columns = []
        for _ in range(3):  # one column at a time, so that no pair is in memory twice
            columns.append(np.concatenate([batch.pop(0) for batch in self.batches]))
        return columns
