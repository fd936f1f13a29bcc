"""Equal error rates: where FAR and FRR of the data, their V-statistic and every replicate cross."""

from dataclasses import dataclass

import numpy as np

from frkit.engine import kernels, walks
from frkit.engine.blocks import each
from frkit.engine.pairs import Genuine
from frkit.engine.plan import Ladder
from frkit.engine.resolve import TOLERANCE, Impostors, column_of


@dataclass(frozen=True, eq=False)
class Crossings:
    """Where FAR and FRR cross: bins (column, curve), -1 below the floor, -2 where a rate has no pairs.

    A curve is a group, and last all pairs together. accepted, rejected: (column, curve) impostor weight above
    and genuine weight below the lower end of the bin: weights, which are whole numbers where all n_k are equal,
    so that the rates do not depend on where the bins happen to lie.
    """

    bins: np.ndarray
    accepted: np.ndarray
    rejected: np.ndarray
    genuine_bins: np.ndarray


def find_crossings(sums, totals, genuine: Genuine, ladder: Ladder, own_cell: np.ndarray) -> Crossings:
    """The bin in which FAR and FRR of every group, and of all, cross.

    own_cell: (group,) the cell of pairs within each group.
    """
    n_columns = sums.shape[2]
    score = genuine.pairs.score
    low, floor, scale, bin_of_cell, _ = ladder.arrays(score.dtype)
    bins = kernels.bins_of(score, low, scale, bin_of_cell)
    bins[~(score > floor)] = -1
    binned = np.zeros((n_columns, len(sums) + 1, len(genuine.totals)))

    def one(column: int) -> None:
        walks.binned_genuine(bins, len(sums) - 1, genuine.column(column), genuine.pairs, binned[column])

    each(one, n_columns)
    curves = range(len(own_cell) + 1)
    impostor = np.stack([sums[:, c] for c in own_cell] + [sums.sum(1)])
    imp_total = np.stack([totals[c] for c in own_cell] + [totals.sum(0)])
    gen = np.moveaxis(np.concatenate([binned[:, :, : len(own_cell)], binned.sum(2, keepdims=True)], 2), 0, 2)
    gen_total = np.concatenate([genuine.totals[: len(own_cell)], genuine.totals.sum(0, keepdims=True)])
    shape = (n_columns, len(own_cell) + 1)
    found, accepted, refused = np.full(shape, -2), np.full(shape, np.nan), np.full(shape, np.nan)
    for curve in curves:
        ok = np.flatnonzero((imp_total[curve] > 0) & (gen_total[curve] > 0))
        upward = np.cumsum(impostor[curve][::-1], axis=0)[::-1][:, ok]
        upto = np.cumsum(gen[:, curve][:, ok], axis=0)
        after = np.concatenate([upward, np.zeros((1, len(ok)))])  # impostor weight above the end of place b
        crossed = upto / gen_total[curve, ok] - after / imp_total[curve, ok] >= -TOLERANCE
        place = np.where(crossed.any(0), crossed.argmax(0), len(sums))
        found[ok, curve] = place - 1
        inside = np.maximum(place - 1, 0)
        accepted[ok, curve] = upward[inside, np.arange(len(ok))]
        refused[ok, curve] = upto[inside, np.arange(len(ok))]
    return Crossings(found, accepted, refused, bins)


@dataclass(frozen=True, eq=False)
class _Runs:
    """The runs of kept pairs from the lowest score up, with the weights at the upper end of each.

    accepted (curve, run, column): impostor weight above the run. rejected (curve, run, column): genuine weight up
    to its highest score. found (curve, column): the first run by whose upper end the curves have crossed.
    """

    first: np.ndarray
    last: np.ndarray
    bin: np.ndarray
    accepted: np.ndarray
    rejected: np.ndarray
    found: np.ndarray
    genuine_place: np.ndarray


def resolve_crossings(impostors: Impostors, genuine: Genuine, at: Crossings, own_cell: np.ndarray) -> np.ndarray:
    """EER and its threshold of every column and curve, (2, column, curve); NaN where a rate has no pairs."""
    out = np.full((2, *at.bins.shape), np.nan)
    if not np.any(at.bins >= 0):
        return out
    cells, groups = [*own_cell, -1], [*range(len(own_cell)), -1]
    imp_total, gen_total = _curves(impostors.totals, own_cell), _curves(genuine.totals, np.arange(len(own_cell)))
    runs = _find_runs(impostors, genuine, at, own_cell, (imp_total, gen_total))
    begin, end = (np.searchsorted(runs.bin, at.bins, side=side) for side in ("left", "right"))

    def one(column: int) -> None:
        weight, genuine_weight = column_of(impostors.weight, column), genuine.column(column)
        for curve, b in enumerate(at.bins[column]):
            if b < 0:
                continue
            out[:, column, curve] = walks.crossing(
                *_start(runs, at, column, curve, (begin[column, curve], end[column, curve])),
                weight,
                genuine_weight,
                impostors.pairs,
                genuine.pairs,
                cells[curve],
                groups[curve],
                (imp_total[curve, column], gen_total[curve, column]),
                TOLERANCE,
            )

    each(one, len(at.bins))
    return out


def _curves(weights: np.ndarray, own: np.ndarray) -> np.ndarray:
    """(cell or group, ...) to (curve, ...): each group's own, and all together."""
    return np.concatenate([weights[own], weights.sum(0, keepdims=True)])


def _find_runs(impostors: Impostors, genuine: Genuine, at: Crossings, own_cell, totals: tuple) -> _Runs:
    """At which run of the bins with crossings each curve crosses, from the weights at the runs' upper ends."""
    up = np.flatnonzero(np.isin(impostors.bin, at.bins))[::-1]
    first, last, n_runs = impostors.first[up], impostors.last[up], len(up)
    highest = np.full(n_runs, -np.inf)
    filled = last > first
    highest[filled] = impostors.pairs[0][first[filled]]
    place = np.searchsorted(np.maximum.accumulate(highest), genuine.pairs.score)
    binned = np.zeros((impostors.above.shape[2], n_runs + 1, len(genuine.totals)))

    def one(column: int) -> None:
        walks.binned_genuine(place - 1, n_runs - 1, genuine.column(column), genuine.pairs, binned[column])

    each(one, len(binned))
    upto = np.cumsum(binned[:, :n_runs], axis=1)
    rejected = _curves(np.moveaxis(upto, (2, 1), (0, 1)), np.arange(len(own_cell)))
    accepted = _curves(np.moveaxis(impostors.above[up], 1, 0), own_cell)
    with np.errstate(invalid="ignore", divide="ignore"):
        crossed = rejected / totals[1][:, None] - accepted / totals[0][:, None] >= -TOLERANCE
    found = np.where(crossed.any(1), crossed.argmax(1), n_runs)
    return _Runs(first, last, impostors.bin[up], accepted, rejected, found, place)


def _start(runs: _Runs, at: Crossings, column: int, curve: int, inside: tuple) -> tuple:
    """Where to begin the walk: weights accepted and rejected there, the run's pairs, the next genuine pair.

    inside: the first of the bin's runs, and the one after its last.
    """
    b, run = at.bins[column, curve], runs.found[curve, column]
    run = min(max(run, inside[0]), inside[1])  # past the bin's last pair only genuine pairs are left
    pairs = (int(runs.first[run]), int(runs.last[run])) if run < inside[1] else (0, 0)
    before = run - 1
    if before < inside[0] or runs.last[before] == runs.first[before] and before == inside[0]:
        genuine = int(np.searchsorted(at.genuine_bins, b))
        return at.accepted[column, curve], at.rejected[column, curve], pairs, genuine
    genuine = int(np.searchsorted(runs.genuine_place, run))
    return runs.accepted[curve, before, column], runs.rejected[curve, before, column], pairs, genuine
