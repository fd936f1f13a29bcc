"""Error rates of pairs: thresholds at FAR levels, FAR, FRR, EER and AUC, in every column.

Columns are the data, the replicates and the V-statistic. A curve is a group, or all pairs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import xarray as xr

from frkit.base import require
from frkit.engine import kernels
from frkit.engine.pairs import (
    GenuinePairs,
    ImpostorPairs,
    file_pairs,
    genuine_pairs,
    list_pairs,
)
from frkit.engine.protocol import Protocol
from frkit.engine.sweep import Needs, sweep

WORST_GROUP = "worst group"  # whose FAR the levels may refer to
TOGETHER = 2_000_000  # weights of pairs that are held at once
TOLERANCE = 1e-12  # a FAR within this of a level (relatively) keeps to it


@dataclass(frozen=True, eq=False)
class Tally:
    """All pairs of one model with their weights: what every rate is read from.

    totals : (cell, column) weight of all impostor pairs.
    extremes : lowest and highest score.
    """

    impostors: ImpostorPairs
    genuine: GenuinePairs
    totals: np.ndarray
    extremes: tuple[float, float]

    @property
    def n_groups(self) -> int:
        """Groups with rates of their own."""
        return len(self.impostors.protocol.groups)

    @cached_property
    def sums(self) -> np.ndarray:
        """Impostor weight of each chunk, (chunk, cell, column)."""
        return self.impostors.sums()

    @cached_property
    def above(self) -> np.ndarray:
        """Impostor weight in each chunk and higher ones, (chunk + 1, cell, column)."""
        above = np.zeros((len(self.sums) + 1, *self.sums.shape[1:]))
        np.cumsum(self.sums[::-1], axis=0, out=above[-2::-1])
        return above

    @cached_property
    def rejected(self) -> np.ndarray:
        """Genuine weight in the chunks lower than each, (chunk + 1, group, column)."""
        in_chunk = self.genuine.sums(self.impostors.upper, "right")
        rejected = np.zeros((len(in_chunk) + 1, *in_chunk.shape[1:]))
        np.cumsum(in_chunk, axis=0, out=rejected[1:])
        return rejected

    @property
    def genuine_totals(self) -> np.ndarray:
        """Weight of all genuine pairs, (group, column)."""
        return self.rejected[-1]

    def cells_of(self, curve: int) -> slice:
        """The cells whose pairs belong to a curve: a group's own, or all."""
        return slice(curve, curve + 1) if curve < self.n_groups else slice(None)

    def pairs_by_chunk(
        self, chunk: np.ndarray
    ) -> Iterator[tuple["ChunkPairs", tuple[np.ndarray, ...]]]:
        """For an array of chunks: each chunk's pairs, and where in the array this chunk stands.

        Some places at a time, so that weights (pair, place) need little memory; -1 is no chunk.
        """
        for k in np.unique(chunk[chunk >= 0]):
            pairs = ChunkPairs.of(self, int(k))
            places = np.stack(np.nonzero(chunk == k))
            step = max(1, TOGETHER // max(len(pairs.score) + len(pairs.genuine), 1))
            for begin in range(0, places.shape[1], step):
                yield pairs, tuple(places[:, begin : begin + step])


@dataclass(frozen=True, eq=False)
class ChunkPairs:
    """Pairs of one chunk: impostor pairs by cell, genuine pairs by group.

    of_cell : (cell + 1,) where the impostor pairs of each cell begin. genuine : (pair,) places
    of the genuine pairs; of_group : (group + 1,) where those of each group begin.
    """

    tally: Tally
    k: int
    impostors: slice
    of_cell: np.ndarray
    genuine: np.ndarray
    of_group: np.ndarray

    @classmethod
    def of(cls, tally: Tally, k: int) -> "ChunkPairs":
        """The pairs of chunk k."""
        impostors, genuine = tally.impostors, tally.genuine
        part, n_cells = impostors.of_chunks(k, k + 1), impostors.protocol.n_cells
        of_cell = impostors.start[k * n_cells : (k + 1) * n_cells + 1] - part.start
        lower = impostors.upper[k - 1] if k > 0 else -np.inf
        places = []
        for first, last in pairwise(genuine.start):
            ends = np.array([lower, impostors.upper[k]], genuine.score.dtype)
            begin, end = np.searchsorted(genuine.score[first:last], ends, "right")
            places.append(np.arange(first + begin, first + end))
        of_group = np.append(0, np.cumsum([len(some) for some in places]))
        return cls(tally, k, part, of_cell, np.concatenate(places), of_group)

    @property
    def score(self) -> np.ndarray:
        """Scores of the impostor pairs."""
        return self.tally.impostors.score[self.impostors]

    @property
    def genuine_score(self) -> np.ndarray:
        """Scores of the genuine pairs."""
        return self.tally.genuine.score[self.genuine]

    def impostor_weights(self, columns: np.ndarray, order=slice(None)) -> np.ndarray:
        """Weight of the impostor pairs, in an order, in some columns, (pair, column)."""
        impostors = self.tally.impostors
        counts = impostors.protocol.weight
        weight = counts[impostors.row[self.impostors][order]][:, columns].astype(float)
        weight *= counts[impostors.col[self.impostors][order]][:, columns]
        factor = impostors.factor(self.impostors)[order] * impostors.stands_for[self.k]
        weight *= factor[:, None]
        return weight

    def genuine_weights(self, columns: np.ndarray) -> np.ndarray:
        """Weight of the genuine pairs in some columns, (pair, column)."""
        return self.tally.genuine.weights(columns, self.genuine)


def tally_pairs(
    scores: xr.DataArray, protocol: Protocol, needs: Needs, edges: np.ndarray, progress: bool
) -> Tally:
    """The pairs of one model: a tensor is swept, a list is taken as it is.

    edges: of a histogram's bins, or none.
    """
    if protocol.pairs is None:
        swept = sweep(scores, protocol, needs, progress)
        whole = protocol.impostor_totals
        totals = whole - _weight_of(swept.failed, protocol)
        totals = np.where(totals > 1e-12 * whole, totals, 0)  # where all failed, rounding is left
        _require_some(totals)
        genuine = genuine_pairs(protocol, swept.genuine, scores.attrs.get("self_score"))
        impostors = file_pairs(swept, protocol, edges, genuine)
        return Tally(impostors, genuine, totals, swept.extremes)
    values = scores.values
    genuine = genuine_pairs(protocol, values[protocol.pairs.genuine], None)
    impostors = list_pairs(values, protocol, edges, genuine)
    totals = impostors.sums().sum(0)
    _require_some(totals)
    return Tally(impostors, genuine, totals, (float(np.nanmin(values)), float(np.nanmax(values))))


def _require_some(totals: np.ndarray) -> None:
    """Refuse scores without an impostor comparison."""
    require(
        totals[:, 0].any(),
        "all impostor comparisons failed (NaN or marked as missing): there is nothing to evaluate",
    )


def _weight_of(pairs: tuple[np.ndarray, np.ndarray], protocol: Protocol) -> np.ndarray:
    """Weight of some impostor pairs, (cell, column)."""
    row, col = pairs
    sums = np.zeros((protocol.n_cells, protocol.n_columns))
    cell = protocol.cells(row, col)
    order = np.argsort(cell, kind="stable")
    row, col = row[order], col[order]
    start = np.searchsorted(cell[order], np.arange(protocol.n_cells + 1))
    factor = protocol.scale[row] * protocol.scale[col]
    kernels.add_weights(start, row, col, factor, protocol.weight, protocol.weight, sums)
    return sums


def needs_of(protocol: Protocol, far: np.ndarray, fixed: np.ndarray, far_of: str) -> Needs:
    """Down to where a sweep must keep all pairs, for FAR levels or fixed thresholds."""
    if protocol.pairs is not None:
        return Needs(np.empty((1, 0)), fixed)
    totals = protocol.impostor_totals[:, 0]
    weight = totals[: len(protocol.groups)] if far_of == WORST_GROUP else totals.sum(keepdims=True)
    return Needs(weight[:, None] * far, fixed)


def thresholds_at(
    tally: Tally, far: np.ndarray, curve: int, n_columns: int | None = None
) -> np.ndarray:
    """The smallest observed score that keeps to each FAR level (D.1), (column, level)."""
    cells = tally.cells_of(curve)
    above = tally.above[:, cells, :n_columns].sum(1)
    totals = tally.totals[cells, :n_columns].sum(0)
    target = far * totals[:, None] * (1 + TOLERANCE)  # (column, level)
    # the highest chunk whose pairs would lift the weight above the level
    lower = [np.searchsorted(a[::-1], t, "right") for a, t in zip(above.T, target, strict=True)]
    chunk = np.maximum(len(above) - 1 - np.array(lower), 0)
    chunk[above[0] == 0] = -1  # a replicate without impostors
    thresholds = np.full(target.shape, np.nan)
    for pairs, (column, level) in tally.pairs_by_chunk(chunk):
        own = slice(*pairs.of_cell[[cells.start or 0, cells.stop or -1]])
        falling = own.start + np.argsort(-pairs.score[own], kind="stable")
        weight = pairs.impostor_weights(column, falling)
        accepted = np.cumsum(weight, axis=0)
        left = target[column, level] - tally.above[pairs.k + 1, cells].sum(0)[column]
        place = (accepted <= left).sum(0)
        # none lifts it where the sums of chunks were rounded otherwise: then the last that counts
        none = place == len(weight)
        place[none] = len(weight) - 1 - (weight[::-1, none] > 0).argmax(0)
        thresholds[column, level] = pairs.score[falling][place]
    return thresholds


def errors_at(tally: Tally, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weight of the pairs that err at thresholds (column, level).

    Returns that of accepted impostor pairs, (column, level, cell), and of rejected genuine pairs,
    (column, level, group).
    """
    n_cells, n_groups = tally.sums.shape[1], tally.genuine.n_groups
    accepted = np.full((*thresholds.shape, n_cells), np.nan)
    rejected = np.full((*thresholds.shape, n_groups), np.nan)
    chunk = np.where(np.isnan(thresholds), -1, tally.impostors.chunk_of(thresholds))
    for pairs, (column, level) in tally.pairs_by_chunk(chunk):
        threshold = thresholds[column, level]
        weight = pairs.impostor_weights(column)
        weight *= pairs.score[:, None] > threshold
        weight = _sums_between(pairs.of_cell, weight)
        accepted[column, level] = (tally.above[pairs.k + 1][:, column] + weight).T
        weight = pairs.genuine_weights(column)
        weight *= pairs.genuine_score[:, None] <= threshold
        weight = _sums_between(pairs.of_group, weight)
        rejected[column, level] = (tally.rejected[pairs.k][:, column] + weight).T
    return accepted, rejected


def _sums_between(start: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Sums of weights (pair, column) from each start to the next: (start - 1, column)."""
    sums = np.zeros((len(start) - 1, weight.shape[1]))
    some = np.diff(start) > 0
    if some.any():
        sums[some] = np.add.reduceat(weight, start[:-1][some], axis=0)
    return sums


def accepted_counts(tally: Tally, thresholds: np.ndarray) -> np.ndarray:
    """Number of impostor pairs above thresholds, (level, cell), each counted once."""
    impostors, many = tally.impostors, tally.impostors.counts()
    accepted = []
    for threshold in thresholds:
        pairs = ChunkPairs.of(tally, int(impostors.chunk_of(threshold)))
        errs = (pairs.score > threshold).astype(float)[:, None]
        many_inside = _sums_between(pairs.of_cell, errs)[:, 0] * impostors.stands_for[pairs.k]
        accepted.append(many[pairs.k + 1 :].sum(0) + many_inside)
    return np.array(accepted)


def ratio(weight: np.ndarray, total: np.ndarray) -> np.ndarray:
    """weight / total, NaN where there is nothing to divide by."""
    weight, total = np.broadcast_arrays(weight, total)
    return np.divide(weight, total, out=np.full(weight.shape, np.nan), where=total > 0)


def curves(weight: np.ndarray, n_groups: int, axis: int) -> np.ndarray:
    """Weights of cells (or groups) along an axis as those of curves: groups, and last all."""
    own = np.take(weight, range(n_groups), axis)
    return np.concatenate([own, weight.sum(axis, keepdims=True)], axis)


# --- equal error rates ---------------------------------------------------------------------------


def equal_error_rates(tally: Tally) -> tuple[np.ndarray, np.ndarray]:
    """EER and its threshold, (column, curve).

    The threshold is the smallest observed score at which FRR >= FAR. The EER lies on the line
    from the rates just below that score to the rates at it, where both are equal.
    """
    n_groups = tally.n_groups
    all_impostors = curves(tally.totals, n_groups, 0)  # (curve, column)
    all_genuine = curves(tally.genuine_totals, n_groups, 0)
    far = ratio(curves(tally.above, n_groups, 1), all_impostors)  # (chunk + 1, curve, column)
    frr = ratio(curves(tally.rejected, n_groups, 1), all_genuine)
    crossed = frr[1:] - far[1:] >= -TOLERANCE
    chunk = np.where((all_impostors > 0) & (all_genuine > 0), crossed.argmax(0), -1)
    eer, threshold = np.full((2, *chunk.shape), np.nan)
    for pairs, (curve, column) in tally.pairs_by_chunk(chunk):
        whole = all_impostors[curve, column], all_genuine[curve, column]
        begin = far[pairs.k, curve, column], frr[pairs.k, curve, column]
        crossing = _crossings(pairs, column, curve, begin, whole)
        eer[curve, column], threshold[curve, column] = crossing
    return eer.T, threshold.T


def _crossings(pairs: ChunkPairs, column, curve, begin: tuple, whole: tuple) -> tuple:
    """EERs and thresholds of some columns and curves inside a chunk.

    begin: FAR and FRR at its lower end. whole: weight of all impostor and all genuine pairs.
    """
    every = curve == pairs.tally.n_groups
    lost = pairs.impostor_weights(column) / whole[0]
    won = pairs.genuine_weights(column) / whole[1]
    cell = np.repeat(np.arange(len(pairs.of_cell) - 1), np.diff(pairs.of_cell))
    group = np.repeat(np.arange(len(pairs.of_group) - 1), np.diff(pairs.of_group))
    lost *= every | (cell[:, None] == curve)
    won *= every | (group[:, None] == curve)
    scores = np.append(pairs.score, pairs.genuine_score)
    order = np.argsort(scores, kind="stable")
    scores = scores[order]
    last = np.append(scores[1:] > scores[:-1], True)  # of equal scores
    no_loss, no_win = np.zeros_like(won), np.zeros_like(lost)
    far = begin[0] - np.cumsum(np.concatenate([lost, no_loss])[order], axis=0)[last]
    frr = begin[1] + np.cumsum(np.concatenate([no_win, won])[order], axis=0)[last]
    crossed = frr - far >= -TOLERANCE
    crossed[-1] = True  # but for rounding it is
    first = crossed.argmax(0)
    at_first = first, np.arange(len(column))
    far_before = np.concatenate([begin[0][None], far])[at_first]
    gap = far_before - np.concatenate([begin[1][None], frr])[at_first]
    gap_after = frr[at_first] - far[at_first]
    share = ratio(gap, gap + gap_after)
    eer = far_before + np.nan_to_num(share) * (far[at_first] - far_before)
    return np.where(np.abs(eer) < TOLERANCE, 0.0, eer), scores[last][first]


# --- area under the curve ------------------------------------------------------------------------


def auc(tally: Tally) -> tuple[np.ndarray, float]:
    """AUC, (column, curve), as if half of the couples within a chunk were in order.

    Also returns the largest error that this can make.
    """
    n_groups = tally.n_groups
    impostor = curves(tally.sums, n_groups, 1)  # (chunk, curve, column)
    rejected = curves(tally.rejected, n_groups, 1)
    genuine = np.diff(rejected, axis=0)
    couples = impostor.sum(0) * rejected[-1]
    beaten = (impostor * (rejected[1:] - genuine / 2)).sum(0)
    error = ratio((impostor * genuine / 2).sum(0), couples)
    return (1 - ratio(beaten, couples)).T, float(np.nan_to_num(error).max())
