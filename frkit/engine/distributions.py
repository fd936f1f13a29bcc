"""Whole score distributions, for measures that need every pair: AUC, moments and histograms."""

from dataclasses import dataclass

import dask
import dask.array as da
import numpy as np
import xarray as xr
from threadpoolctl import threadpool_limits

from frkit.base import require
from frkit.engine import histogram as distribution
from frkit.engine import lists as listed
from frkit.engine.pairs import Genuine
from frkit.engine.protocol import Protocol
from frkit.engine.sweep import sweep

TABLE_LIMIT = 2e9  # bytes of the table that AUC needs
ROUNDING = 1e-5  # of the range: by so much may a score lie outside


@dataclass(frozen=True, eq=False)
class Distributions:
    """Per column and curve (a group, and last everybody): AUC, mean, standard deviation (ddof 0), histogram.

    auc (column, curve); impostor and genuine: (mean, sd) (column, curve) and histogram (column, bin, curve), sum
    1; edges (bin + 1,); images (column, curve): how many, or pairs where no images are named; pairs: of each kind
    (column, curve), where all pairs weigh the same. The last column is the V-statistic's.
    """

    auc: np.ndarray
    impostor: tuple
    genuine: tuple
    edges: np.ndarray
    images: np.ndarray
    pairs: dict[str, np.ndarray]


def tally_distributions(
    scores: xr.DataArray, protocol: Protocol, rates, *, bins: int, bounds: tuple[float, float], progress: bool
) -> Distributions:
    """One more sweep, over every pair; `rates` brings the genuine pairs, which are known by now."""
    own = np.arange(len(protocol.groups))
    low, high = bounds
    edges = np.linspace(low, high, bins + 1)
    levels, lost = _lost(rates.genuine, rates.centre, len(own))
    of_cell = np.full(protocol.n_cells, -1)
    of_cell[own] = np.arange(len(own))
    wanted = distribution.Distribution(protocol, edges, levels, lost, of_cell)
    if protocol.listed is None:
        found = sweep(scores, wanted, scan=distribution.scan, add=distribution.add, progress=progress)
    else:
        impostor = protocol.listed.impostor
        found = listed.distribute_list(scores.values[impostor], *protocol.listed.places(impostor), wanted)
    slack = ROUNDING * (high - low)
    require(
        found.low >= low - slack and found.high <= high + slack,
        f"scores reach from {found.low:.6g} to {found.high:.6g}, outside the histogram's bounds "
        f"({low:.6g}, {high:.6g}); "
        "give wider ones with bounds=(low, high)",
    )
    sums = found.sums.reshape(bins, protocol.n_cells, protocol.n_columns)
    impostor_totals = _curves(rates.totals[None], own)[0]
    genuine = [_genuine_moments(part, len(own), edges) for part in (rates.genuine, rates.centre)]
    genuine_totals = np.concatenate([part[0] for part in genuine])
    totals = np.concatenate([impostor_totals, impostor_totals[:, :1]], 1).T * genuine_totals
    beaten = np.divide(found.beaten.T, totals, out=np.full(totals.shape, np.nan), where=totals > 0)
    pairs = _pairs(impostor_totals.T, genuine_totals)
    return Distributions(
        auc=1 - beaten,
        impostor=_finished(impostor_totals.T, np.moveaxis(_curves(found.powers, own), 2, 1), _curves(sums, own)),
        genuine=tuple(np.concatenate([part[k] for part in genuine]) for k in (1, 2, 3)),
        edges=edges,
        images=_images(protocol, pairs),
        pairs=pairs if protocol.pooled else {},
    )


def _pairs(impostor: np.ndarray, genuine: np.ndarray) -> dict[str, np.ndarray]:
    """Weight of the pairs of each kind, (column, curve); the V-statistic has, in all, as many as the data."""
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = genuine[-1:] * (genuine[0, -1] / genuine[-1, -1])
    return {"impostor": np.concatenate([impostor, impostor[:1]]), "genuine": np.concatenate([genuine[:-1], centre])}


def _images(protocol: Protocol, pairs: dict[str, np.ndarray]) -> np.ndarray:
    """Images of each group, and of all, (column, curve): pairs, where a list names no images."""
    if protocol.listed is not None and not protocol.listed.named:
        return pairs["impostor"] + pairs["genuine"]
    drawn = protocol.image_count * protocol.identity_count[:, protocol.people.identity_code].astype(float)
    each = [drawn[:, protocol.people.group == group].sum(1) for group in protocol.groups]
    many = np.stack([*each, drawn.sum(1)], axis=1)
    return np.concatenate([many, many[:1]])


def score_bounds(scores: xr.DataArray) -> tuple[float, float]:
    """Where scores can lie: known for the cosine; else one look at all of them."""
    if scores.attrs.get("similarity") == "cosine":
        return -1.0, 1.0
    with threadpool_limits(1, user_api="blas"):
        low, high = (float(value) for value in dask.compute(scores.data.min(), scores.data.max()))
    if np.isnan(low) or np.isnan(high):
        low, high = (float(v) for v in dask.compute(da.nanmin(scores.data), da.nanmax(scores.data)))
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _curves(cells: np.ndarray, own: np.ndarray) -> np.ndarray:
    """(…, cell, column) to (…, curve, column): each group's own cell, and all cells together."""
    return np.concatenate([cells[:, own], cells.sum(1, keepdims=True)], axis=1)


def _finished(totals: np.ndarray, powers: np.ndarray, histogram: np.ndarray) -> tuple:
    """Mean, sd (column, curve) and histogram (column, bin, curve); the V-statistic has the data's own."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = powers[0] / totals
        spread = np.sqrt(np.maximum(powers[1] / totals - mean**2, 0))
        share = np.moveaxis(histogram, 2, 0) / totals[:, None]
    return tuple(np.concatenate([part, part[:1]]) for part in (mean, spread, share))


def _lost(genuine: Genuine, centre: Genuine, n_groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct genuine scores, and (curve, level + 1, column) the genuine weight below each; last the centre's."""
    levels = np.unique(np.concatenate([genuine.pairs.score, centre.pairs.score]))
    columns = [(genuine, c) for c in range(len(genuine.identity_count))] + [(centre, 0)]
    size = (n_groups + 1) * (len(levels) + 1) * len(columns) * 8
    require(
        size <= TABLE_LIMIT,
        f"AUC of {len(columns) - 2} replicates and {n_groups} groups over {len(levels)} distinct genuine scores takes "
        f"{size / 1e9:.1f} GB; ask for fewer replicates or groups, or use mode='tail'",
    )
    lost = np.zeros((n_groups + 1, len(levels) + 1, len(columns)))
    for c, (part, column) in enumerate(columns):
        at, group = np.searchsorted(levels, part.pairs.score), part.pairs.cell
        weight = part.weights(column)
        for curve in range(n_groups + 1):
            mine = weight if curve == n_groups else np.where(group == curve, weight, 0)
            lost[curve, 1:, c] = np.cumsum(np.bincount(at, mine, minlength=len(levels)))
    return levels, lost


def _genuine_moments(genuine: Genuine, n_groups: int, edges: np.ndarray) -> tuple:
    """Totals, means, sds (column, curve) and histograms (column, bin, curve) of the genuine pairs."""
    score, group = genuine.pairs.score.astype(float), genuine.pairs.cell
    at = np.clip(np.searchsorted(edges, score, side="right") - 1, 0, len(edges) - 2)
    n, n_bins = len(genuine.identity_count), len(edges) - 1
    place, kinds = group * n_bins + at, n_groups + 1  # the last group is "no group"
    sums, histogram = np.zeros((3, n, kinds)), np.zeros((n, n_bins, kinds))
    for column in range(n):
        weight = genuine.weights(column)
        for power in range(3):
            sums[power, column] = np.bincount(group, weight * score**power, minlength=kinds)
        counts = np.bincount(place, weight, minlength=kinds * n_bins)
        histogram[column] = counts.reshape(kinds, n_bins).T
    for part in (sums, histogram):
        part[..., -1] = part.sum(-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums[1] / sums[0]
        return (
            sums[0],
            mean,
            np.sqrt(np.maximum(sums[2] / sums[0] - mean**2, 0)),
            histogram / sums[0][:, None],
        )
