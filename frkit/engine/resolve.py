"""From binned sums and kept pairs to exact thresholds and rates, for the point estimate and every replicate."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from frkit.engine import kernels, walks
from frkit.engine.blocks import each
from frkit.engine.pairs import Genuine, Pairs
from frkit.engine.plan import Ladder
from frkit.engine.protocol import Protocol
from frkit.engine.sweep import slot_sums

RUN, LONGEST = 512, 2048  # kept pairs whose weights are added up for all columns at once: per cell, and at most
PIECE = 1 << 18  # pairs whose weights one thread adds up at a time
PORTION = 6_000_000  # kept pairs that are sorted and walked at once, 24 bytes each
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

    def column(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """Counts of one column, of the images on either side."""
        return self.weight[0][column], self.weight[1][column]


def portions(found, ladder: Ladder, protocol: Protocol, bins: np.ndarray) -> Iterator[Impostors]:
    """The kept pairs of these bins, some bins at a time: memory holds a few million pairs, however many there are."""
    bins = np.sort(bins)[::-1]
    number = np.cumsum(found.counts[bins].sum(1)) // PORTION
    for some in np.split(bins, np.flatnonzero(np.diff(number)) + 1):
        yield cut_pairs(found, ladder, protocol, some)


def cut_pairs(found, ladder: Ladder, protocol: Protocol, wanted: np.ndarray) -> Impostors:
    """Sort the kept pairs of these bins, cut each bin into runs, and add up what lies above each run.

    found: what the sweep brought, `frkit.engine.rates._Found`. wanted: bins, from the highest down.
    """
    # where the pairs of each bin begin and end
    end = np.cumsum(found.counts.sum(1)[wanted])
    begin = np.append(0, end[:-1])
    n_pairs = int(end[-1])
    pairs = _sorted_kept(found, ladder, protocol, wanted, (begin, end))
    score = pairs.score
    run = min(RUN * protocol.n_cells, LONGEST)
    n_runs = np.maximum(1, -(-(end - begin) // run))
    of_run = np.repeat(np.arange(len(wanted)), n_runs)
    step = np.arange(len(of_run)) - np.repeat(np.cumsum(n_runs) - n_runs, n_runs)
    first = begin[of_run] + run * step
    if n_pairs:
        # equal scores stay in one run, because a threshold takes all of them or none
        tied = n_pairs - np.searchsorted(score[::-1], score[np.minimum(first, n_pairs - 1)], side="right")
        first = np.where(step > 0, np.maximum(tied, begin[of_run]), first)
    last = np.where(np.append(step[1:], 0) > 0, np.append(first[1:], 0), end[of_run])
    above = _weight_above(pairs, last - first, wanted[of_run], found.sums, protocol)
    weight = protocol.probe.by_column, protocol.reference.by_column
    return Impostors(pairs, first, last, wanted[of_run], above, found.totals, weight)


def _sorted_kept(found, ladder: Ladder, protocol: Protocol, bins: np.ndarray, places: tuple) -> Pairs:
    """The kept pairs of these bins, highest score first; places: where those of each bin begin, and end."""
    (begin, end), kind = places, found.genuine.data.pairs.score.dtype
    pairs = Pairs(*(np.empty(end[-1], part) for part in (kind, np.int32, np.int32, np.int32, float)))
    score, row, col, cell, factor = pairs
    following = np.full(ladder.n_bins, -1)
    following[bins] = begin
    for part in found.kept:
        kernels.pick_pairs(tuple(part), ladder.arrays(kind), following, (row, col, score))

    def sort(number: int) -> None:
        own = slice(begin[number], end[number])
        order = np.argsort(-score[own])
        for part in (row, col, score):
            part[own] = part[own][order]
        cell[own], factor[own] = protocol.cells(row[own], col[own]), protocol.factors(row[own], col[own])

    each(sort, len(bins))
    return pairs


def _weight_above(pairs: Pairs, lengths, bins, sums: np.ndarray, protocol: Protocol) -> np.ndarray:
    """Weight above each run, (run, cell, column), from that of the bins, as swept, and of the runs within a bin.

    lengths, bins: of the runs, from the highest down; together they hold all pairs. sums: (bin, cell, column).
    """
    weight, ends = np.empty((len(lengths), *sums.shape[1:])), np.cumsum(lengths)
    cuts = np.unique(np.append(np.searchsorted(ends, np.arange(0, ends[-1], PIECE)), len(lengths)))

    def add(piece: int) -> None:
        runs = slice(*cuts[piece : piece + 2])
        own = slice(ends[runs.start] - lengths[runs.start], ends[runs.stop - 1])
        slot = np.repeat(np.arange(runs.stop - runs.start), lengths[runs]) * protocol.n_cells + pairs.cell[own]
        n_slots = (runs.stop - runs.start) * protocol.n_cells
        weight[runs] = slot_sums(slot, n_slots, pairs.row[own], pairs.col[own], protocol).reshape(weight[runs].shape)

    each(add, len(cuts) - 1)
    above_bin, added = np.zeros(sums.shape[1:]), len(sums)
    for run, b in enumerate(bins):
        if run == 0 or b < bins[run - 1]:
            # begin anew with every bin: what the sweep added up does not depend on how the bins above were cut
            while added > b + 1:
                added -= 1
                above_bin += sums[added]
            above = above_bin.copy()
        weight[run], above = above, above + weight[run]
    return weight


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


def resolve_levels(impostors: Impostors, far: np.ndarray, bins: np.ndarray, thresholds, weights) -> None:
    """Fill in thresholds (column, level) at FAR levels, and impostor weight above them, (column, level, cell), of those
    whose bins, (column, level), are among these."""
    totals, above, here = impostors.totals.sum(0), impostors.above.sum(1), np.isin(bins, impostors.bin)

    def one(column: int) -> None:
        own = np.flatnonzero(here[column])
        target = far[own] * totals[column] * (1 + TOLERANCE)
        at = np.maximum(np.searchsorted(above[:, column], target, side="right") - 1, 0)
        base = np.ascontiguousarray(impostors.above[at, :, column])
        pairs = impostors.first[at], impostors.last[at], impostors.column(column), impostors.pairs
        found = np.full(len(own), np.nan), np.empty(base.shape)
        walks.walk_levels(base, target, *pairs, *found)
        thresholds[column, own], weights[column, own] = found

    each(one, len(bins))


def resolve_thresholds(impostors: Impostors, fixed: np.ndarray, bins: np.ndarray, weights: np.ndarray) -> None:
    """Fill in impostor weight strictly above fixed thresholds, (column, level, cell), of those whose bins, (level,),
    are among these."""
    own = np.flatnonzero(np.isin(bins, impostors.bin))
    begin = np.array([np.argmax(impostors.bin == b) for b in bins[own]], int)
    last = np.array([impostors.last[impostors.bin == b][-1] for b in bins[own]], int)

    def one(column: int) -> None:
        above, weight = np.ascontiguousarray(impostors.above[begin, :, column]), impostors.column(column)
        found = np.empty(above.shape)
        walks.weight_above(above, fixed[own], impostors.first[begin], last, weight, impostors.pairs, found)
        weights[column, own] = found

    each(one, len(weights))


def rejected(genuine: Genuine, thresholds: np.ndarray) -> np.ndarray:
    """Genuine weight at or below thresholds (column, level), as (column, level, group); of the first columns."""
    thresholds = thresholds[: len(genuine.identity_count)]
    lost = np.isnan(thresholds)  # a replicate without impostor pairs has no threshold, and so no FRR
    highest = np.where(lost, -np.inf, thresholds).max(initial=-np.inf)
    pairs = genuine.pairs.take(slice(np.searchsorted(genuine.pairs.score, highest, side="right")))
    out = np.zeros((*thresholds.shape, len(genuine.totals)))

    def one(column: int) -> None:
        order = np.argsort(thresholds[column])
        walks.rejected_weight(thresholds[column], order, genuine.column(column), pairs, out[column])

    each(one, len(thresholds))
    out[lost] = np.nan
    return out
