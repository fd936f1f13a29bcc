"""Error rates of pairs: thresholds at FAR levels, FAR, FRR, EER and AUC, in every column.

Columns are the data, the replicates and the V-statistic. A curve is a group, or all pairs.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

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
        higher = np.cumsum(self.sums[::-1], axis=0)[::-1]
        return np.concatenate([higher, np.zeros_like(higher[:1])])

    @cached_property
    def rejected(self) -> np.ndarray:
        """Genuine weight up to the end of each chunk, (column, chunk, group)."""
        return self.genuine.rejected(self.impostors.upper)

    @property
    def genuine_totals(self) -> np.ndarray:
        """Weight of all genuine pairs, (column, group)."""
        return self.rejected[:, -1]

    def cells_of(self, curve: int) -> slice:
        """The cells whose pairs belong to a curve: a group's own, or all."""
        return slice(curve, curve + 1) if curve < self.n_groups else slice(None)

    @cached_property
    def chunk(self):
        """The pairs of a chunk from the highest score down: scores, cells, and their places."""

        @lru_cache(maxsize=64)
        def sorted_chunk(k: int):
            part = self.impostors.of_chunks(k, k + 1)
            order = np.argsort(-self.impostors.score[part], kind="stable")
            protocol = self.impostors.protocol
            row, col = self.impostors.row[part][order], self.impostors.col[part][order]
            factor = self.impostors.factor(part)[order] * self.impostors.stands_for[k]
            return self.impostors.score[part][order], protocol.cells(row, col), row, col, factor

        return sorted_chunk

    def chunk_weight(self, k: int, column: int) -> np.ndarray:
        """Weight of the pairs of a chunk in one column, from the highest score down."""
        _, _, row, col, factor = self.chunk(k)
        counts = self.impostors.protocol.weight
        return factor * (counts[row, column].astype(float) * counts[col, column])


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
        return Tally(file_pairs(swept, protocol, edges), genuine, totals, swept.extremes)
    values = scores.values
    genuine = genuine_pairs(protocol, values[protocol.pairs.genuine], None)
    impostors = list_pairs(values, protocol, edges)
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
    kernels.add_weights(start, row, col, factor, protocol.weight, sums)
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
    target = far[:, None] * totals * (1 + TOLERANCE)  # (level, column)
    found = np.full(target.T.shape, np.nan)
    for column in range(above.shape[1]):
        if above[0, column] == 0:
            continue  # a replicate without impostors
        # the highest chunk whose pairs would lift the weight above the level
        chunk = len(above) - 1 - np.searchsorted(above[::-1, column], target[:, column], "right")
        for level, k in enumerate(np.maximum(chunk, 0)):
            goal = target[level, column]
            found[column, level] = _threshold_in_chunk(tally, int(k), column, cells, goal)
    return found


def _threshold_in_chunk(tally: Tally, k: int, column: int, cells: slice, target: float) -> float:
    """The highest score whose own pairs would lift the accepted weight above the target."""
    score, cell = tally.chunk(k)[:2]
    weight = tally.chunk_weight(k, column)
    if cells != slice(None):
        weight = np.where(cell == cells.start, weight, 0.0)
    accepted = tally.above[k + 1, cells, column].sum() + np.cumsum(weight)
    place = np.searchsorted(accepted, target, side="right")
    if place == len(score):  # the sums of chunks were rounded otherwise
        place = np.flatnonzero(weight > 0)[-1]
    return score[place]


def accepted_weight(tally: Tally, thresholds: np.ndarray) -> np.ndarray:
    """Impostor weight above thresholds (column, level), by cell: (column, level, cell)."""
    n_cells = tally.sums.shape[1]
    chunks = tally.impostors.chunk_of(thresholds)
    out = np.full((*thresholds.shape, n_cells), np.nan)
    for column, level in np.argwhere(~np.isnan(thresholds)):
        k = chunks[column, level]
        score, cell = tally.chunk(int(k))[:2]
        n = np.searchsorted(-score, -thresholds[column, level], side="left")
        weight = tally.chunk_weight(int(k), column)[:n]
        out[column, level] = tally.above[k + 1, :, column]
        out[column, level] += np.bincount(cell[:n], weight, n_cells)
    return out


def accepted_counts(tally: Tally, thresholds: np.ndarray) -> np.ndarray:
    """Number of impostor pairs above thresholds, (level, cell), each counted once."""
    many = tally.impostors.counts()
    above = np.concatenate([np.cumsum(many[::-1], axis=0)[::-1], np.zeros_like(many[:1])])
    out = []
    for threshold in thresholds:
        k = int(tally.impostors.chunk_of(threshold))
        score, cell = tally.chunk(k)[:2]
        n = np.searchsorted(-score, -threshold, side="left")
        inside = np.bincount(cell[:n], minlength=many.shape[1])
        out.append(above[k + 1] + inside * tally.impostors.stands_for[k])
    return np.array(out)


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
    all_impostors = curves(tally.totals, n_groups, 0).T
    all_genuine = curves(tally.genuine_totals, n_groups, 1)
    far = ratio(np.moveaxis(curves(tally.above, n_groups, 1), 2, 0), all_impostors[:, None])
    frr = ratio(curves(tally.rejected, n_groups, 2), all_genuine[:, None])  # at the ends of chunks
    crossed = frr - far[:, 1:] >= -TOLERANCE
    chunk = crossed.argmax(1)
    eer = np.full((2, *chunk.shape), np.nan)
    for column, curve in np.argwhere((all_impostors > 0) & (all_genuine > 0)):
        k = int(chunk[column, curve])
        begin = far[column, k, curve], frr[column, k - 1, curve] if k > 0 else 0.0
        whole = all_impostors[column, curve], all_genuine[column, curve]
        eer[:, column, curve] = _crossing(tally, k, int(column), int(curve), begin, whole)
    return eer[0], eer[1]


def _crossing(tally: Tally, k: int, column: int, curve: int, begin, whole) -> tuple:
    """EER and threshold inside a chunk; begin: FAR and FRR at its lower end."""
    score, cell = tally.chunk(k)[:2]
    weight = tally.chunk_weight(k, column) / whole[0]
    if curve < tally.n_groups:
        weight = np.where(cell == curve, weight, 0.0)
    genuine_score, genuine_weight = _genuine_in_chunk(tally, k, column, curve)
    # in an order of rising scores; what weighs nothing in this column is not observed
    scores = np.append(score[::-1], genuine_score)
    far_loss = np.append(weight[::-1], np.zeros(len(genuine_score)))
    frr_gain = np.append(np.zeros(len(score)), genuine_weight / whole[1])
    seen = far_loss + frr_gain > 0
    scores, place = np.unique(scores[seen], return_inverse=True)
    far = begin[0] - np.cumsum(np.bincount(place, far_loss[seen], len(scores)))
    frr = begin[1] + np.cumsum(np.bincount(place, frr_gain[seen], len(scores)))
    if len(scores) == 0:
        return begin[0], np.nan
    crossed = frr - far >= -TOLERANCE
    first = int(crossed.argmax()) if crossed.any() else len(scores) - 1
    before = (far[first - 1], frr[first - 1]) if first else begin
    gap, gap_after = before[0] - before[1], frr[first] - far[first]
    share = gap / (gap + gap_after) if gap + gap_after > 0 else 0.0
    eer = before[0] + share * (far[first] - before[0])
    return (0.0 if abs(eer) < TOLERANCE else eer), scores[first]


def _genuine_in_chunk(tally: Tally, k: int, column: int, curve: int) -> tuple:
    """Scores and weights in one column of the genuine pairs of a curve within a chunk."""
    genuine, upper = tally.genuine, tally.impostors.upper
    groups = [curve] if curve < tally.n_groups else range(genuine.n_groups)
    places = []
    for g in groups:
        scores = genuine.score[genuine.start[g] : genuine.start[g + 1]]
        first = np.searchsorted(scores, upper[k - 1], side="right") if k > 0 else 0
        last = np.searchsorted(scores, upper[k], side="right")
        places.append(genuine.start[g] + np.arange(first, last))
    places = np.concatenate(places)
    weight = genuine.weights(slice(column, column + 1), places)[0]
    return genuine.score[places], weight


# --- area under the curve ------------------------------------------------------------------------


def auc(tally: Tally) -> tuple[np.ndarray, float]:
    """AUC, (column, curve), as if half of the couples within a chunk were in order.

    Also returns the largest error that this can make.
    """
    n_groups = tally.n_groups
    impostor = np.moveaxis(curves(tally.sums, n_groups, 1), 2, 0)  # (column, chunk, curve)
    upto = curves(tally.rejected, n_groups, 2)
    genuine = np.diff(upto, axis=1, prepend=0.0)
    couples = impostor.sum(1) * upto[:, -1]
    beaten = (impostor * (upto - genuine / 2)).sum(1)
    error = ratio((impostor * genuine / 2).sum(1), couples)
    return 1 - ratio(beaten, couples), float(np.nan_to_num(error).max())
