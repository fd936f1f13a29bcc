"""Whole score distributions, for measures that need every pair: AUC, moments and histograms, from a sweep of its own.

It visits every pair, without a floor: sums within bins, of the scores and of their squares.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import dask
import numpy as np
import xarray as xr

from frkit.base import GROUP, SCORE_BIN, affordable, require
from frkit.engine import kernels
from frkit.engine.pairs import (
    COLUMN,
    Genuine,
    by_curve,
    curves,
    labelled,
    ratio,
    weigh_genuine,
    with_centre,
)
from frkit.engine.protocol import Protocol, Side
from frkit.engine.rates import Rates
from frkit.engine.scan import Request, asked_of_list, counted_pairs
from frkit.engine.sweep import (
    PATCH,
    SCRATCH,
    Tally,
    add_sorted,
    codes_of_patch,
    each,
    patches,
    slot_sums,
    sort_filed,
    sweep,
)
from frkit.scores.tensor import one_blas_thread

AUC_BINS = 1000  # at least so many stand behind the AUC
ROUNDING = 1e-5  # of the range: by so much may a score lie outside
MANY_PAIRS = 1_000_000  # from here on single precision serves for what is beside the middles of bins
LISTED = 8192  # pairs of a list whose weights are written out at once
LANES = 16  # columns of weights are filled up to a multiple of what the processor adds at once


@dataclass(frozen=True, eq=False)
class Bins:
    """Even fine bins between edges, and the bins that are added up, each of some neighbouring fine ones.

    bin_of: (fine bin,). The sum of the scores in a bin is its weight times its middle, and what is beside that.
    """

    edges: np.ndarray
    bin_of: np.ndarray

    @cached_property
    def middle(self) -> np.ndarray:
        """The middle of each bin."""
        ends = self.edges[np.append(np.flatnonzero(np.diff(self.bin_of, prepend=-1)), len(self.bin_of))]
        return ends[1:] / 2 + ends[:-1] / 2

    def of(self, score: np.ndarray) -> np.ndarray:
        """The bin of each of some scores."""
        last = len(self.bin_of) - 1
        return self.bin_of[np.clip(np.searchsorted(self.edges, score, side="right") - 1, 0, last)]


@dataclass(frozen=True, eq=False)
class EveryPair:
    """What this sweep is to bring back: sums within bins. The protocol's cells are curves: the groups, and the rest."""

    protocol: Protocol
    bins: Bins
    asking: bool = False  # for the scores of genuine pairs: they are known already


def genuine_alone(scores: xr.DataArray, protocol: Protocol, bar: bool) -> Rates:
    """No rates, but the genuine pairs, on which the tallies of whole distributions build."""
    if protocol.listed is None:
        tally = sweep(scores, Request(protocol, None, None), scan_asked, everywhere=False, progress=bar)
    else:
        tally = Tally({}, {"asked": asked_of_list(scores.values, protocol)})
    genuine = weigh_genuine(protocol, tally.asked_scores(protocol, scores.dtype), scores.attrs.get("self_score"))
    return Rates(xr.Dataset(), None, genuine, None)


def tally_distributions(
    scores: xr.DataArray, protocol: Protocol, rates: Rates, *, bins: int, bounds: tuple[float, float], progress: bool
) -> xr.Dataset:
    """One more sweep, over every pair; `rates` brings the genuine pairs, which are known by now.

    Returns the columns of `rates.table` (the data, replicates, the V-statistic) for groups and for all: `auc`,
    `images` (pairs, where no images are named), and of each kind mean, standard deviation (ddof 0), histogram (sum 1)
    and, where all pairs weigh the same, number of pairs. Attribute `auc_error`: no AUC is further from the exact one.
    """
    n_groups = len(protocol.groups)
    shown = np.linspace(*bounds, bins + 1)
    wanted = EveryPair(curves_of(protocol), _bins(shown, rates.genuine))
    n_bins, n_cells, n_columns = len(wanted.bins.middle), wanted.protocol.n_cells, protocol.n_columns
    what = f"{bins:,} bins, {n_columns:,} columns and {n_cells:,} groups; take fewer of one"
    affordable(8 * n_bins * n_cells * n_columns, what)
    if protocol.listed is None:
        found = sweep(scores, wanted, scan, progress=progress)
    else:
        found = bin_list(scores.values, wanted.protocol, wanted.bins)
    _check_bounds(found.lists["extremes"], bounds)
    impostor = _impostor_summary(found, wanted, rates.totals, n_columns)
    kinds = {"genuine": _genuine_summary(rates.genuine, n_groups, wanted.bins)}
    kinds["impostor"] = {name: with_centre(values) for name, values in impostor.items()}
    table, error = _auc(kinds)
    pairs = {kind: part["total"].copy() for kind, part in kinds.items()}
    total = pairs["genuine"]
    total[-1] *= ratio(total[0, -1], total[-1, -1])  # in all, as many of the V-statistic as of the data
    first = np.searchsorted(wanted.bins.middle, shown[:-1])  # of the bins within each one that is shown
    for kind, part in kinds.items():
        coarse = np.add.reduceat(part["histogram"], first, axis=1)
        shares = ratio(coarse, part["total"][:, None])
        table |= by_curve(f"{kind}_mean", (COLUMN,), part["mean"])
        table |= by_curve(f"{kind}_sd", (COLUMN,), part["sd"])
        table |= by_curve(f"{kind}_histogram", (COLUMN, SCORE_BIN), shares)
        table |= by_curve(f"{kind}_pairs", (COLUMN,), pairs[kind]) if protocol.pooled else {}
    table |= by_curve("images", (COLUMN,), _images(protocol, pairs))
    coords = {SCORE_BIN: (shown[1:] + shown[:-1]) / 2, GROUP: protocol.groups}
    return labelled(table, coords, auc_error=error)


def _check_bounds(extremes: list[float], bounds: tuple[float, float]) -> None:
    (low, high), lowest, highest = bounds, min(extremes), max(extremes)
    slack = ROUNDING * (high - low)
    require(
        lowest >= low - slack and highest <= high + slack,
        f"scores reach from {lowest:.6g} to {highest:.6g}, outside the histogram's bounds ({low:.6g}, "
        f"{high:.6g}); give wider ones with histogram=(bins, (low, high))",
    )


def _summary(total: np.ndarray, powers: np.ndarray, binned: np.ndarray) -> dict[str, np.ndarray]:
    """Total weight, mean and sd, (column, curve), and weight in each bin, (column, bin, curve)."""
    mean = ratio(powers[0], total)
    spread = np.sqrt(np.maximum(ratio(powers[1], total) - mean**2, 0))
    return {"total": total, "mean": mean, "sd": spread, "histogram": binned}


def _bins(shown: np.ndarray, genuine: Genuine) -> Bins:
    """Bins between the edges that are shown, and within these as fine as the AUC needs.

    It asks where impostors stand among genuine pairs, so that fine bins beside each other which hold no genuine pair
    can be one.
    """
    parts = -(-AUC_BINS // (len(shown) - 1))
    n_fine = (len(shown) - 1) * parts
    edges = np.interp(np.arange(n_fine + 1) / parts, np.arange(len(shown)), shown)  # holds those exactly
    fine = Bins(edges, np.arange(n_fine))
    holds = np.zeros(n_fine, bool)
    holds[fine.of(genuine.pairs.score)] = True
    begins = holds | (np.arange(n_fine) % parts == 0)
    begins[1:] |= holds[:-1]
    return Bins(edges, np.cumsum(begins) - 1)


def _impostor_summary(
    found: Tally, wanted: EveryPair, totals: np.ndarray | None, n_columns: int
) -> dict[str, np.ndarray]:
    """As `_summary`, from the sums of a sweep; totals: (cell, column), otherwise those of the bins."""
    bins, n_groups = wanted.bins, len(wanted.protocol.cell_of) - 1
    binned = found.sums["binned"].reshape(len(bins.middle), -1, found.sums["powers"].shape[2])[..., :n_columns]
    totals = binned.sum(0) if totals is None else totals
    in_middle = np.stack([np.tensordot(bins.middle**power, binned, 1) for power in (1, 2)])
    powers = curves(found.sums["powers"][..., :n_columns] + in_middle, n_groups, 1).swapaxes(1, 2)
    return _summary(curves(totals, n_groups).T, powers, np.moveaxis(curves(binned, n_groups, 1), 2, 0))


def _genuine_summary(genuine: Genuine, n_groups: int, bins: Bins) -> dict[str, np.ndarray]:
    """The same of the genuine pairs."""
    n_columns, n_kinds = genuine.n_columns, n_groups + 1  # the last is "no group"
    powers, binned = np.zeros((n_columns, 3, n_kinds)), np.zeros((n_columns, len(bins.middle), n_kinds))
    place = bins.of(genuine.pairs.score)
    each(lambda k: kernels.binned_genuine(place, *genuine.column(k), binned[k], powers[k]), n_columns)
    powers[..., -1], binned[..., -1] = powers.sum(-1), binned.sum(-1)
    return _summary(powers[:, 0], powers[:, 1:].swapaxes(0, 1), binned)


def _auc(kinds: dict[str, dict]) -> tuple[dict, float]:
    """AUC as if within a bin half of the couples were in order, and the largest error that this can make."""
    genuine, impostor = (kinds[kind]["histogram"] for kind in ("genuine", "impostor"))
    couples = kinds["genuine"]["total"] * kinds["impostor"]["total"]
    beaten = (impostor * (np.cumsum(genuine, axis=1) - genuine / 2)).sum(1)
    error = ratio((impostor * genuine / 2).sum(1), couples)
    return by_curve("auc", (COLUMN,), 1 - ratio(beaten, couples)), float(np.nan_to_num(error).max())


def _images(protocol: Protocol, pairs: dict[str, np.ndarray]) -> np.ndarray:
    """Images of each group, and of all, (column, curve): pairs, where a list names no images."""
    if protocol.listed is not None and protocol.listed.facts.get("n_images", "") is None:
        return pairs["impostor"] + pairs["genuine"]
    counts = protocol.image_count, protocol.identity_count[:, protocol.people.identity_code]
    in_group = [protocol.people.group == group for group in protocol.groups] + [np.ones(counts[0].shape[1], bool)]
    return with_centre(np.einsum("ci,ci,gi->cg", *counts, in_group, dtype=float))


def score_bounds(scores: xr.DataArray) -> tuple[float, float]:
    """Where scores can lie: known for the cosine; else one look at all of them."""
    if scores.attrs.get("similarity") == "cosine":
        return -1.0, 1.0
    with one_blas_thread():
        low, high = (float(value) for value in dask.compute(scores.min(), scores.max()))
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def scan_asked(places: list[tuple], _request, scores: Iterable[np.ndarray]) -> Tally:
    """The scores in some blocks that are asked for, and nothing else."""
    both = zip(places, scores, strict=True)
    return Tally({}, {"asked": [(place, block[row, col]) for (_, _, (place, row, col)), block in both]})


# --- the sweep over every pair -------------------------------------------------------------------------------


def curves_of(protocol: Protocol) -> Protocol:
    """The same with one cell for all pairs of two groups, behind those of each; columns of zeros fill up the lanes."""

    def filled(side: Side) -> Side:
        return replace(side, weight=np.pad(side.weight, ((0, 0), (0, -protocol.n_columns % LANES))))

    probe = filled(protocol.probe)
    reference = probe if protocol.reference is protocol.probe else filled(protocol.reference)
    cells = np.minimum(protocol.cell_of, len(protocol.groups))
    return replace(protocol, probe=probe, reference=reference, cell_of=cells)


def scan(places: list[tuple], wanted: EveryPair, scores: Iterable[np.ndarray]) -> Tally:
    """The sums of some blocks: "binned" (slot, column) weight, "powers" (2, cell, column) of what is beside the middles
    of bins in scores and their squares; "extremes" of the scores."""
    protocol, low, high = wanted.protocol, np.inf, -np.inf
    binned = np.zeros((len(wanted.bins.middle) * protocol.n_cells, protocol.n_columns))
    powers = np.zeros((2, protocol.n_cells, protocol.n_columns))
    # of what is beside the middles of bins; with many pairs its rounding averages out
    real = np.float32 if protocol.n_pairs > MANY_PAIRS else np.float64
    room = np.empty(2 * PATCH**2, real), np.empty(PATCH * protocol.n_columns, real)
    for block, (*sides, _) in zip(scores, places, strict=True):
        ends = block.min(initial=low), block.max(initial=high)
        if np.isnan(ends[0]):  # a comparison failed: what leaves it out takes ten times as long
            ends = np.nanmin(block, initial=low), np.nanmax(block, initial=high)
        low, high = map(float, ends)
        for patch, rows, cols in patches(block, *sides, protocol.symmetric):
            _add_patch(patch, rows, cols, wanted, room, (binned, powers))
    return Tally({"binned": binned, "powers": powers}, {"extremes": [low, high]})


def _add_patch(patch, rows: slice, cols: slice, wanted: EveryPair, room: tuple, sums: tuple) -> None:
    """File the pairs of a patch under their bins; sum what is beside the middles by products with the weights.

    A column of weights w gives, of a matrix S of scores, the sum of w_i s_ij w_j over a group's columns as that of
    w o (S w): one product for all columns of weights. For these the columns of S stand by group.
    """
    protocol, bins, (binned, powers) = wanted.protocol, wanted.bins, sums
    codes, rest = codes_of_patch(protocol, rows, cols), room[0][: 2 * patch.size].reshape(2, *patch.shape)
    product = room[1][: patch.shape[0] * protocol.n_columns].reshape(patch.shape[0], -1)
    of_rows, of_cols = codes[2]
    order = np.argsort(of_cols, kind="stable")
    place_of = np.argsort(order).astype(np.int32)
    scale = protocol.scales(protocol.reference)[cols]
    tables, columns = (bins.edges, bins.bin_of, bins.middle), (place_of, scale)
    out = SCRATCH.rows, SCRATCH.cols, SCRATCH.slots, *rest
    filed = kernels.file_in_bins(patch, *codes, tables, columns, out)
    if not filed:
        return
    start, pairs = sort_filed(filed, len(binned))
    if protocol.whole_run:
        run = protocol.whole_run, min(protocol.whole_run, 255 // int(protocol.reference.weight.max()))
        weights = protocol.probe.weight[rows], protocol.reference.weight[cols]
        kernels.add_whole_by_row(start, *pairs, *weights, run, binned)
    else:
        add_sorted(protocol, start, pairs, binned, (rows, cols))
    row_weight, row_scale = protocol.probe.real_weight[rows], protocol.scales(protocol.probe)[rows]
    col_weight = protocol.reference.real_weight[cols][order].astype(rest.dtype, copy=False)
    begin = np.searchsorted(of_cols[order], np.arange(len(protocol.cell_of) + 1))
    for h in np.unique(of_cols):
        own = slice(begin[h], begin[h + 1])
        share = (np.arange(protocol.n_cells)[:, None] == protocol.cell_of[of_rows, h]) * row_scale
        for power in range(2):
            np.matmul(rest[power][:, own], col_weight[own], out=product)
            product *= row_weight
            powers[power] += share.astype(rest.dtype) @ product


def bin_list(scores: np.ndarray, protocol: Protocol, bins: Bins) -> Tally:
    """The sums of the impostor pairs of a list in these bins, as `scan` makes them."""
    score, row, col, cell = counted_pairs(scores, protocol)
    middle, bins = bins.middle, bins.of(score)
    binned = slot_sums(bins * protocol.n_cells + cell, len(middle) * protocol.n_cells, row, col, protocol)
    powers = np.zeros((2, protocol.n_cells, protocol.n_columns))
    for begin in range(0, len(score), LISTED):
        for c in range(protocol.n_cells):
            own = begin + np.flatnonzero(cell[begin : begin + LISTED] == c)
            weight = protocol.probe.real_weight[row[own]] * protocol.reference.real_weight[col[own]]
            factor = protocol.factors(row[own], col[own])
            for power in (1, 2):
                rest = score[own].astype(float) ** power - middle[bins[own]] ** power
                powers[power - 1, c] += (factor * rest) @ weight.astype(float)
    extremes = [float(score.min(initial=np.inf)), float(score.max(initial=-np.inf))]
    return Tally({"binned": binned, "powers": powers}, {"extremes": extremes})
