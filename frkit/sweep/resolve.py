"""From binned sums and kept pairs to exact thresholds and rates, for the point estimate and every replicate."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from dask.system import CPU_COUNT

from frkit.sweep import kernels
from frkit.sweep.design import Design
from frkit.sweep.plan import Ladder

TOLERANCE = 1e-12  # a FAR within this of the level (relatively) keeps to it


@dataclass(frozen=True, eq=False)
class Impostors:
    """Impostor weight by bin, and the kept pairs from the highest score down.

    sums: (bin, cell, column). totals: (cell, column). pairs: score, row, column, cell, factor; first: (bin,)
    and last: (bin,) say where each bin's pairs stand. weight: (column, image) of both sides.
    """

    sums: np.ndarray
    totals: np.ndarray
    pairs: tuple
    first: np.ndarray
    last: np.ndarray
    weight: tuple

    @property
    def above(self) -> np.ndarray:
        """Weight strictly above each bin, (bin, cell, column)."""
        upward = np.cumsum(self.sums[::-1], axis=0)[::-1]
        return np.concatenate([upward[1:], np.zeros_like(upward[:1])])


@dataclass(frozen=True, eq=False)
class Genuine:
    """Genuine pairs from the lowest score up: score, row, column, identity, group, factor.

    A row of -1 marks the copies of one image. image_weight: (column, image) of both sides; identity_count:
    (column, identity). totals: (group, column) weight of all genuine pairs; the last group is "no group".
    """

    pairs: tuple
    image_weight: tuple
    identity_count: np.ndarray
    totals: np.ndarray


def sort_pairs(kept: list, ladder: Ladder, design: Design, bins: np.ndarray) -> tuple:
    """The kept pairs of these bins, highest score first, and where each bin begins and ends."""
    row, col, score = (np.concatenate(part) if kept else np.empty(0, kind) for part, kind in
                       zip(zip(*kept, strict=True) if kept else ((),) * 3, (np.int32, np.int32, np.float32), strict=True))
    low, _, scale, bin_of_cell, _ = ladder.arrays(score.dtype)
    of_pair = kernels.bins_of(score, low, scale, bin_of_cell)
    wanted = np.zeros(ladder.n_bins, bool)
    wanted[bins] = True
    chosen = np.flatnonzero(wanted[of_pair])
    order = chosen[np.argsort(-score[chosen])]
    row, col, score, of_pair = row[order], col[order], score[order], of_pair[order]
    cell = design.cell_of[design.probe.group[row], design.reference.group[col]]
    factor = design.scales(design.probe)[row] * design.scales(design.reference)[col]
    first = np.searchsorted(-of_pair, -np.arange(ladder.n_bins), side="left")
    last = np.searchsorted(-of_pair, -np.arange(ladder.n_bins), side="right")
    return (score, row, col, cell, factor), first, last


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


def resolve_levels(impostors: Impostors, bins: np.ndarray, far: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Thresholds (column, level) at FAR levels, and impostor weight above them (column, level, cell)."""
    above, totals = impostors.above, impostors.totals.sum(0)
    thresholds = np.full(bins.shape, np.nan)
    weights = np.empty((*bins.shape, above.shape[1]))

    def one(column: int) -> None:
        at = bins[column]
        base = np.ascontiguousarray(above[at, :, column])
        target = far * totals[column] * (1 + TOLERANCE)
        kernels.walk_levels(
            base, target, impostors.first[at], impostors.last[at], _column(impostors.weight, column),
            impostors.pairs, thresholds[column], weights[column],
        )

    _each(one, len(bins))
    return thresholds, weights


def resolve_thresholds(impostors: Impostors, bins: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Impostor weight strictly above fixed thresholds, (column, level, cell)."""
    above = impostors.above
    weights = np.empty((above.shape[2], len(bins), above.shape[1]))

    def one(column: int) -> None:
        base = np.ascontiguousarray(above[bins, :, column])
        kernels.weight_above(
            base, thresholds, impostors.first[bins], impostors.last[bins], _column(impostors.weight, column),
            impostors.pairs, weights[column],
        )

    _each(one, above.shape[2])
    return weights


def rejected(genuine: Genuine, thresholds: np.ndarray) -> np.ndarray:
    """Genuine weight at or below thresholds (column, level), as (column, level, group)."""
    highest = np.nanmax(thresholds) if thresholds.size else -np.inf
    pairs = tuple(part[: np.searchsorted(genuine.pairs[0], highest, side="right")] for part in genuine.pairs)
    out = np.zeros((*thresholds.shape, len(genuine.totals)))

    def one(column: int) -> None:
        kernels.rejected_weight(
            thresholds[column], np.argsort(thresholds[column]), _column(genuine.image_weight, column),
            genuine.identity_count[column], pairs, out[column],
        )

    _each(one, len(thresholds))
    return out


@dataclass(frozen=True, eq=False)
class Crossings:
    """Where FAR and FRR cross: bins (column, curve), -1 below the floor, -2 where a rate has no pairs.

    A curve is a group, and last all pairs together. far, frr: (column, curve) rates just below the bin.
    """

    bins: np.ndarray
    far: np.ndarray
    frr: np.ndarray
    genuine_bins: np.ndarray


def find_crossings(sums, totals, genuine: Genuine, ladder: Ladder, own_cell: np.ndarray) -> Crossings:
    """The bin in which FAR and FRR of every group, and of all, cross.

    own_cell: (group,) the cell of pairs within each group.
    """
    n_columns = sums.shape[2]
    score = genuine.pairs[0]
    low, floor, scale, bin_of_cell, _ = ladder.arrays(score.dtype)
    bins = kernels.bins_of(score, low, scale, bin_of_cell)
    bins[~(score > floor)] = -1
    binned = np.zeros((n_columns, len(sums) + 1, len(genuine.totals)))

    def one(column: int) -> None:
        kernels.binned_genuine(
            bins, len(sums), _column(genuine.image_weight, column), genuine.identity_count[column],
            genuine.pairs, binned[column],
        )

    _each(one, n_columns)
    curves = range(len(own_cell) + 1)
    impostor = np.stack([sums[:, c] for c in own_cell] + [sums.sum(1)])
    imp_total = np.stack([totals[c] for c in own_cell] + [totals.sum(0)])
    gen = np.moveaxis(np.concatenate([binned[:, :, : len(own_cell)], binned.sum(2, keepdims=True)], 2), 0, 2)
    gen_total = np.concatenate([genuine.totals[: len(own_cell)], genuine.totals.sum(0, keepdims=True)])
    shape = (n_columns, len(own_cell) + 1)
    found, far, frr = np.full(shape, -2), np.full(shape, np.nan), np.full(shape, np.nan)
    for curve in curves:
        ok = np.flatnonzero((imp_total[curve] > 0) & (gen_total[curve] > 0))
        upward = np.cumsum(impostor[curve][::-1], axis=0)[::-1][:, ok] / imp_total[curve, ok]
        upto = np.cumsum(gen[:, curve][:, ok], axis=0) / gen_total[curve, ok]
        after = np.concatenate([upward, np.zeros((1, len(ok)))])  # FAR at the upper end of place b is after[b]
        crossed = upto - after >= -TOLERANCE
        place = np.where(crossed.any(0), crossed.argmax(0), len(sums))
        found[ok, curve] = place - 1
        inside = np.maximum(place - 1, 0)
        far[ok, curve], frr[ok, curve] = upward[inside, np.arange(len(ok))], upto[inside, np.arange(len(ok))]
    return Crossings(found, far, frr, bins)


def resolve_crossings(impostors: Impostors, genuine: Genuine, at: Crossings, own_cell: np.ndarray) -> np.ndarray:
    """EER and its threshold of every column and curve, (2, column, curve); NaN where a rate has no pairs."""
    out = np.full((2, *at.bins.shape), np.nan)
    cells, groups = [*own_cell, -1], [*range(len(own_cell)), -1]

    def one(column: int) -> None:
        weight = (*_column(impostors.weight, column), *_column(genuine.image_weight, column))
        for curve, b in enumerate(at.bins[column]):
            if b < 0:
                continue
            imp = (int(impostors.first[b]), int(impostors.last[b]))
            gen = int(np.searchsorted(at.genuine_bins, b))
            totals = _total(impostors.totals, cells[curve], column), _total(genuine.totals, groups[curve], column)
            out[:, column, curve] = kernels.crossing(
                at.far[column, curve], at.frr[column, curve], imp, gen, weight, genuine.identity_count[column],
                impostors.pairs, genuine.pairs, cells[curve], groups[curve], totals, TOLERANCE,
            )

    _each(one, len(at.bins))
    return out


def _total(totals: np.ndarray, index: int, column: int) -> float:
    return float(totals[:, column].sum() if index < 0 else totals[index, column])


def _column(weight: tuple, column: int) -> tuple:
    return weight[0][column], weight[1][column]


def _each(work, n: int) -> None:
    """Do the work for 0..n-1 on all processors; the kernels release the interpreter's lock."""
    with ThreadPoolExecutor(CPU_COUNT) as pool:
        list(pool.map(work, range(n)))
