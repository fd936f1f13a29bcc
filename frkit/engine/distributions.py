"""Whole score distributions, for measures that need every pair: AUC, moments and histograms."""

import dask
import numpy as np
import xarray as xr
from threadpoolctl import threadpool_limits

from frkit.base import GROUP, SCORE_BIN, affordable, require
from frkit.engine import everypair, walks
from frkit.engine.blocks import each
from frkit.engine.pairs import Genuine, Weighted
from frkit.engine.protocol import Protocol
from frkit.engine.rates import COLUMN, Rates, by_curve, labelled, ratio, with_centre
from frkit.engine.resolve import curves
from frkit.engine.sweep import Tally, sweep

AUC_BINS = 1000  # at least so many stand behind the AUC
ROUNDING = 1e-5  # of the range: by so much may a score lie outside


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
    wanted = everypair.EveryPair(everypair.curves_of(protocol), _bins(shown, rates.genuine))
    n_bins, n_cells, n_columns = len(wanted.bins.middle), wanted.protocol.n_cells, protocol.n_columns
    what = f"{bins:,} bins, {n_columns:,} columns and {n_cells:,} groups; take fewer of one"
    affordable(8 * n_bins * n_cells * n_columns, what)
    if protocol.listed is None:
        found = sweep(scores, wanted, everypair.scan, progress=progress)
    else:
        impostor = protocol.listed.impostor
        found = everypair.of_list(scores.values[impostor], *protocol.listed.places(impostor), wanted)
    _check_bounds(found.lists["extremes"], bounds)
    impostor = _impostor_summary(found, wanted.bins, rates.totals, n_groups)
    genuine, centre = (_genuine_summary(kind, n_groups, wanted.bins) for kind in rates.genuine)
    kinds = {
        "genuine": {name: np.concatenate([genuine[name], centre[name]]) for name in genuine},
        "impostor": {name: with_centre(values) for name, values in impostor.items()},
    }
    table, error = _auc(kinds)
    pairs = {kind: part["total"] for kind, part in kinds.items()}
    pairs["genuine"] = _as_many_as_the_data(pairs["genuine"])
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


def _bins(shown: np.ndarray, genuine: Weighted) -> everypair.Bins:
    """Bins between the edges that are shown, and within these as fine as the AUC needs.

    It asks where impostors stand among genuine pairs, so that fine bins beside each other which hold no genuine pair
    can be one.
    """
    parts = -(-AUC_BINS // (len(shown) - 1))
    n_fine = (len(shown) - 1) * parts
    edges = np.interp(np.arange(n_fine + 1) / parts, np.arange(len(shown)), shown)  # holds those exactly
    fine = everypair.Bins(edges, np.arange(n_fine))
    holds = np.zeros(n_fine, bool)
    for kind in genuine:
        holds[fine.of(kind.pairs.score)] = True
    begins = holds | (np.arange(n_fine) % parts == 0)
    begins[1:] |= holds[:-1]
    return everypair.Bins(edges, np.cumsum(begins) - 1)


def _impostor_summary(found: Tally, bins: everypair.Bins, totals: np.ndarray, n_groups: int) -> dict[str, np.ndarray]:
    """As `_summary`, from the sums of a sweep; totals: (cell, column)."""
    n_columns = totals.shape[1]
    binned = found.sums["binned"].reshape(len(bins.middle), -1, found.sums["powers"].shape[2])[..., :n_columns]
    in_middle = np.stack([np.tensordot(bins.middle**power, binned, 1) for power in (1, 2)])
    powers = curves(found.sums["powers"][..., :n_columns] + in_middle, n_groups, 1).swapaxes(1, 2)
    return _summary(curves(totals, n_groups).T, powers, np.moveaxis(curves(binned, n_groups, 1), 2, 0))


def _genuine_summary(genuine: Genuine, n_groups: int, bins: everypair.Bins) -> dict[str, np.ndarray]:
    """The same of the genuine pairs."""
    n_columns, n_kinds = len(genuine.identity_count), n_groups + 1  # the last is "no group"
    powers, binned = np.zeros((n_columns, 3, n_kinds)), np.zeros((n_columns, len(bins.middle), n_kinds))
    place = bins.of(genuine.pairs.score)

    def one(column: int) -> None:
        walks.sum_genuine(place, genuine.column(column), genuine.pairs, binned[column], powers[column])

    each(one, n_columns)
    powers[..., -1], binned[..., -1] = powers.sum(-1), binned.sum(-1)
    return _summary(powers[:, 0], powers[:, 1:].swapaxes(0, 1), binned)


def _auc(kinds: dict[str, dict]) -> tuple[dict, float]:
    """AUC as if within a bin half of the couples were in order, and the largest error that this can make."""
    genuine, impostor = (kinds[kind]["histogram"] for kind in ("genuine", "impostor"))
    couples = kinds["genuine"]["total"] * kinds["impostor"]["total"]
    beaten = (impostor * (np.cumsum(genuine, axis=1) - genuine / 2)).sum(1)
    error = ratio((impostor * genuine / 2).sum(1), couples)
    return by_curve("auc", (COLUMN,), 1 - ratio(beaten, couples)), float(np.nan_to_num(error).max())


def _as_many_as_the_data(total: np.ndarray) -> np.ndarray:
    """Numbers of genuine pairs, (column, curve), where those of the V-statistic are, in all, as many as the data's."""
    return np.concatenate([total[:-1], total[-1:] * ratio(total[0, -1], total[-1, -1])])


def _images(protocol: Protocol, pairs: dict[str, np.ndarray]) -> np.ndarray:
    """Images of each group, and of all, (column, curve): pairs, where a list names no images."""
    if protocol.listed is not None and protocol.listed.facts.get("n_images", "") is None:
        return pairs["impostor"] + pairs["genuine"]
    drawn = protocol.image_count * protocol.identity_count[:, protocol.people.identity_code].astype(float)
    of_groups = [drawn[:, protocol.people.group == group].sum(1) for group in protocol.groups]
    return with_centre(np.stack([*of_groups, drawn.sum(1)], axis=1))


def score_bounds(scores: xr.DataArray) -> tuple[float, float]:
    """Where scores can lie: known for the cosine; else one look at all of them."""
    if scores.attrs.get("similarity") == "cosine":
        return -1.0, 1.0
    with threadpool_limits(1, user_api="blas"):
        low, high = (float(value) for value in dask.compute(scores.min(), scores.max()))
    return (low, high) if high > low else (low - 0.5, low + 0.5)
