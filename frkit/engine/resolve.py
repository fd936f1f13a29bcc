"""From binned sums and kept pairs to exact thresholds and rates, for the point estimate and every replicate."""

from dataclasses import dataclass, replace

import numpy as np

from frkit.engine import kernels, walks
from frkit.engine.blocks import each
from frkit.engine.lists import slot_sums
from frkit.engine.pairs import Genuine, Pairs
from frkit.engine.plan import Ladder
from frkit.engine.protocol import Protocol

RUN, LONGEST = 512, 2048  # kept pairs whose weights are added up for all columns at once: per cell, and at most
TOLERANCE = 1e-12  # a FAR within this of the level (relatively) keeps to it


@dataclass(frozen=True, eq=False)
class Impostors:
    """The kept impostor pairs from the highest score down, cut into runs, and the weight above each run.

    first, last: (run,) where each run stands. bin: (run,) its bin.
    above: (run, cell, column) impostor weight strictly above the run. totals: (cell, column).
    weight: (column, image) of both sides.
    """

    pairs: Pairs
    first: np.ndarray
    last: np.ndarray
    bin: np.ndarray
    above: np.ndarray
    totals: np.ndarray
    weight: tuple

    def column(self, only: slice) -> "Impostors":
        """The same for some columns."""
        return replace(self, above=self.above[:, :, only], totals=self.totals[:, only])


def cut_pairs(kept: list, ladder: Ladder, protocol: Protocol, bins: np.ndarray, sums: np.ndarray, totals) -> Impostors:
    """Sort the kept pairs of these bins, cut each bin into runs, and add up what lies above each run."""
    score, row, col, of_pair = _sorted_kept(kept, ladder, bins)
    cell, factor = protocol.cells(row, col), protocol.factors(row, col)
    wanted, n_pairs = np.sort(bins)[::-1], len(score)
    ends = [n_pairs - np.searchsorted(of_pair[::-1], wanted, side=side) for side in ("right", "left")]
    run = min(RUN * protocol.n_cells, LONGEST)
    many = np.maximum(1, -(-(ends[1] - ends[0]) // run))
    of_run = np.repeat(np.arange(len(wanted)), many)
    step = np.arange(len(of_run)) - np.repeat(np.cumsum(many) - many, many)
    first = ends[0][of_run] + run * step
    if n_pairs:
        tied = n_pairs - np.searchsorted(score[::-1], score[np.minimum(first, n_pairs - 1)], side="right")
        first = np.where(step > 0, np.maximum(tied, ends[0][of_run]), first)  # equal scores stay in one run
    last = np.where(np.append(step[1:], 0) > 0, np.append(first[1:], 0), ends[1][of_run])
    above = _run_sums((row, col, cell), first, last, protocol)
    _sum_up(above, step, _above_bins(sums, wanted))
    weight = protocol.probe.by_column, protocol.reference.by_column
    return Impostors(Pairs(score, row, col, cell, factor), first, last, wanted[of_run], above, totals, weight)


def _sorted_kept(kept: list, ladder: Ladder, bins: np.ndarray) -> tuple:
    """Score, row, column and bin of the kept pairs in these bins, highest score first."""
    wanted = np.zeros(ladder.n_bins, bool)
    wanted[bins] = True
    most = 1 + sum(len(score) for _, _, score in kept)
    kinds = np.int32, np.int32, kept[0][2].dtype if kept else np.float32, np.int32
    out = tuple(np.empty(most, kind) for kind in kinds)
    low, _, scale, bin_of_cell, _ = ladder.arrays(kinds[2])
    n = 0
    for row, col, score in kept:
        n = kernels.pick_pairs(row, col, score, low, scale, bin_of_cell, wanted, out, n)
    order = np.argsort(-out[2][:n])
    row, col, score, of_pair = (part[:n][order] for part in out)
    return score, row, col, of_pair


def _above_bins(sums: np.ndarray, bins: np.ndarray) -> np.ndarray:
    """Weight strictly above each of some bins, given from the highest down: (bin, cell, column)."""
    out, total, top = np.empty((len(bins), *sums.shape[1:])), np.zeros(sums.shape[1:]), len(sums)
    for place, b in enumerate(bins):
        for higher in range(top - 1, b, -1):
            total += sums[higher]
        out[place], top = total, b + 1
    return out


def _run_sums(pairs: tuple, first: np.ndarray, last: np.ndarray, protocol: Protocol) -> np.ndarray:
    """Weight of each run's pairs, (run, cell, column), added up as in the sweep."""
    row, col, cell = pairs
    run = np.repeat(np.arange(len(first)), last - first)
    start = first[0] if len(first) else 0
    pair = slice(start, start + len(run))
    slot = run * protocol.n_cells + cell[pair]
    sums = slot_sums(slot, len(first) * protocol.n_cells, row[pair], col[pair], protocol)
    return sums.reshape(len(first), protocol.n_cells, protocol.n_columns)


def _sum_up(runs: np.ndarray, step: np.ndarray, above_bin: np.ndarray) -> None:
    """Turn the weight of each run, in place, into the weight above it; step 0 is the first run of a bin."""
    bin_at, total = -1, None
    for run in range(len(runs)):
        if step[run] == 0:
            bin_at += 1
            total = above_bin[bin_at].copy()
        own = runs[run].copy()
        runs[run] = total
        total += own


def level_bins(sums: np.ndarray, totals: np.ndarray, far: np.ndarray) -> np.ndarray:
    """Bin of every level's threshold, (column, level); -1 where it lies below the floor."""
    upward = np.cumsum(sums.sum(1)[::-1], axis=0)
    target = far * totals.sum(0)[:, None] * (1 + TOLERANCE)
    within = np.stack([np.searchsorted(upward[:, c], target[c], side="right") for c in range(upward.shape[1])])
    return len(sums) - 1 - within


def threshold_bins(ladder: Ladder, thresholds: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Bin of each fixed threshold, (level,); -1 where it lies below the floor."""
    low, floor, scale, bin_of_cell, _ = ladder.arrays(dtype)
    bins = kernels.bins_of(thresholds.astype(dtype), low, scale, bin_of_cell)
    return np.where(thresholds < floor, -1, bins)


def resolve_levels(impostors: Impostors, far: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Thresholds (column, level) at FAR levels, and impostor weight above them (column, level, cell)."""
    n_columns, totals = impostors.above.shape[2], impostors.totals.sum(0)
    thresholds = np.full((n_columns, len(far)), np.nan)
    weights = np.empty((n_columns, len(far), impostors.above.shape[1]))
    above = impostors.above.sum(1)

    def one(column: int) -> None:
        target = far * totals[column] * (1 + TOLERANCE)
        at = np.maximum(np.searchsorted(above[:, column], target, side="right") - 1, 0)
        walks.walk_levels(
            np.ascontiguousarray(impostors.above[at, :, column]),
            target,
            impostors.first[at],
            impostors.last[at],
            column_of(impostors.weight, column),
            impostors.pairs,
            thresholds[column],
            weights[column],
        )

    each(one, n_columns)
    return thresholds, weights


def resolve_thresholds(impostors: Impostors, bins: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Impostor weight strictly above fixed thresholds, (column, level, cell); bins: (level,)."""
    n_columns = impostors.above.shape[2]
    weights = np.empty((n_columns, len(bins), impostors.above.shape[1]))
    begin = np.array([np.argmax(impostors.bin == b) for b in bins])
    last = np.array([impostors.last[impostors.bin == b][-1] for b in bins])

    def one(column: int) -> None:
        base = np.ascontiguousarray(impostors.above[begin, :, column])
        walks.weight_above(
            base,
            thresholds,
            impostors.first[begin],
            last,
            column_of(impostors.weight, column),
            impostors.pairs,
            weights[column],
        )

    each(one, n_columns)
    return weights


def rejected(genuine: Genuine, thresholds: np.ndarray) -> np.ndarray:
    """Genuine weight at or below thresholds (column, level), as (column, level, group)."""
    lost = np.isnan(thresholds)  # a replicate without impostor pairs has no threshold, and so no FRR
    highest = np.where(lost, -np.inf, thresholds).max(initial=-np.inf)
    pairs = genuine.pairs.take(slice(np.searchsorted(genuine.pairs.score, highest, side="right")))
    out = np.zeros((*thresholds.shape, len(genuine.totals)))

    def one(column: int) -> None:
        walks.rejected_weight(
            thresholds[column],
            np.argsort(thresholds[column]),
            genuine.column(column),
            pairs,
            out[column],
        )

    each(one, len(thresholds))
    out[lost] = np.nan
    return out


def column_of(weight: tuple, column: int) -> tuple:
    """One column of both sides' weights."""
    return weight[0][column], weight[1][column]


def curves(weight: np.ndarray, n_groups: int, axis: int = 0) -> np.ndarray:
    """Weights of cells (or of groups) along an axis as those of curves: each group's own, and last all together.

    The first cells are those of pairs within each group.
    """
    return np.concatenate([np.take(weight, range(n_groups), axis), weight.sum(axis, keepdims=True)], axis)
