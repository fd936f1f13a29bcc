"""Rates from one sweep: plan, sweep, and exact resolution, for the data, their V-statistic and all replicates."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from frkit.engine import crossings, resolve
from frkit.engine import lists as listed
from frkit.engine import plan as planning
from frkit.engine.pairs import Genuine, Weighted, weigh_genuine
from frkit.engine.pilot import take_pilot
from frkit.engine.plan import Ladder
from frkit.engine.protocol import Protocol
from frkit.engine.sweep import Partial, Request, sweep
from frkit.engine.variance import Spread, spread_of


@dataclass(frozen=True, eq=False)
class Rates:
    """Exact rates. Column 0 is the data, then replicates; `centre_` parts belong to the V-statistic.

    threshold, far, frr: (column, level); far_cell (column, level, cell), frr_group (column, level, group);
    eer, eer_threshold: (column, curve), a curve being a group, and last everybody; n_accepted, n_rejected:
    (level,) raw pairs; n_missing: failed comparisons of the same identity. `_rescaled` parts: FRR without copies of
    an image, each identity's part divided by 1 - 1/n_k; column 0 means nothing there. spread: for the corrected
    interval. genuine, centre, totals: what
    further tallies build on.
    """

    threshold: np.ndarray
    far: np.ndarray
    frr: np.ndarray
    far_cell: np.ndarray
    frr_group: np.ndarray
    eer: np.ndarray
    eer_threshold: np.ndarray
    centre_frr: np.ndarray
    centre_frr_group: np.ndarray
    centre_eer: np.ndarray
    centre_eer_threshold: np.ndarray
    n_accepted: np.ndarray
    n_rejected: np.ndarray
    n_missing: int
    frr_rescaled: np.ndarray | None
    frr_group_rescaled: np.ndarray | None
    spread: Spread | None
    genuine: Genuine
    centre: Genuine
    totals: np.ndarray


def tally_rates(
    scores: xr.DataArray,
    protocol: Protocol,
    far: np.ndarray | None,
    thresholds: np.ndarray | None,
    *,
    ladder: Ladder | None = None,
    progress: bool,
) -> Rates:
    """FAR, FRR and EER at FAR levels or at fixed thresholds, from one sweep over a tensor or a list of pairs.

    ladder: a plan from `plan_rates`, for scores like these; without it these scores are planned.
    """
    levels, fixed = _given(far), _given(thresholds)
    if protocol.listed is not None:
        ladder = listed.list_ladder(scores.values[protocol.listed.impostor])
        found = _sweep_list(scores.values, protocol, ladder)
        return _resolve(found, _needs(found, levels, fixed, ladder), found.partial.kept, ladder, levels, fixed)
    ladder = plan_rates(scores, protocol, far, thresholds) if ladder is None else ladder
    sweeper = _Sweeper(scores, protocol, progress)
    found = sweeper.first(ladder)
    needs = _needs(found, levels, fixed, ladder)
    if needs.below_floor:
        ladder = planning.even_ladder(take_pilot(scores, protocol)[0])
        found = sweeper.first(ladder)
        needs = _needs(found, levels, fixed, ladder)
    absent = needs.bins[~ladder.keep[needs.bins]]
    kept = found.partial.kept + (sweeper.collect(ladder.keeping(absent)) if absent.size else [])
    return _resolve(found, needs, kept, ladder, levels, fixed)


def plan_rates(
    scores: xr.DataArray, protocol: Protocol, far: np.ndarray | None, thresholds: np.ndarray | None
) -> Ladder | None:
    """The plan of a sweep for these rates, from a look at some of the scores; None for a list, which needs none."""
    if protocol.listed is not None:
        return None
    pilot, zones = take_pilot(scores, protocol)
    return planning.make_plan(pilot, protocol.n_pairs, _given(far), _given(thresholds), zones)


def _given(levels: np.ndarray | None) -> np.ndarray:
    return np.empty(0) if levels is None else levels


@dataclass(frozen=True, eq=False)
class _Found:
    """What one sweep brought, with the genuine pairs weighted."""

    protocol: Protocol
    partial: Partial
    sums: np.ndarray
    totals: np.ndarray
    pairs: Weighted
    n_missing: int


class _Sweeper:
    """Sweeps one tensor, as often as it takes."""

    def __init__(self, scores: xr.DataArray, protocol: Protocol, progress: bool) -> None:
        self.scores, self.protocol, self.progress = scores, protocol, progress
        self.failing = not scores.attrs.get("symmetric")

    def first(self, ladder: Ladder) -> _Found:
        """Bins added up, kept pairs and genuine scores."""
        protocol = self.protocol
        request = Request(protocol, ladder, failing=self.failing, asking=True)
        partial = sweep(self.scores, request, progress=self.progress)
        score = np.full(len(protocol.asked[0]), np.nan, self.scores.dtype)
        for place, values in partial.genuine:
            score[place] = values
        totals = protocol.impostor_totals
        if partial.missing is not None:
            totals = totals - partial.missing
        own = self.scores.attrs.get("self_score")
        tallies = weigh_genuine(protocol, score, own)
        sums = partial.sums.reshape(ladder.n_bins, protocol.n_cells, protocol.n_columns)
        return _Found(protocol, partial, sums, totals, tallies, int(np.isnan(score[: protocol.n_genuine]).sum()))

    def collect(self, ladder: Ladder) -> list:
        """The pairs of some bins only."""
        request = Request(self.protocol, ladder, adding=False)
        return sweep(self.scores, request, progress=self.progress).kept


def _sweep_list(scores: np.ndarray, protocol: Protocol, ladder: Ladder) -> _Found:
    """A list of pairs: all of them are kept, so that one look is enough."""
    places = protocol.listed
    partial = listed.tally_list(scores[places.impostor], *places.places(places.impostor), protocol, ladder)
    sums = partial.sums.reshape(ladder.n_bins, protocol.n_cells, protocol.n_columns)
    score = scores[places.genuine]
    tallies = weigh_genuine(protocol, score, None)
    return _Found(protocol, partial, sums, sums.sum(0), tallies, int(np.isnan(score).sum()))


@dataclass(frozen=True, eq=False)
class _Needs:
    """Where thresholds and crossings lie: bins of levels (column, level), and crossings of data and centre."""

    level_bins: np.ndarray
    at: crossings.Crossings
    centre_at: crossings.Crossings

    @property
    def below_floor(self) -> bool:
        """Whether anything lies below what was swept."""
        parts = (self.level_bins, self.at.bins, self.centre_at.bins)
        return any(bool(np.any(part == -1)) for part in parts)

    @property
    def bins(self) -> np.ndarray:
        """Bins whose pairs must be kept for an exact answer."""
        parts = (self.level_bins, self.at.bins, self.centre_at.bins)
        every = np.unique(np.concatenate([part.ravel() for part in parts]))
        return every[every >= 0]


def _needs(found: _Found, far: np.ndarray, fixed: np.ndarray, ladder: Ladder) -> _Needs:
    own = np.arange(len(found.protocol.groups))
    if fixed.size:
        bins = resolve.threshold_bins(ladder, fixed, found.pairs.data.pairs.score.dtype)
        bins = np.repeat(bins[None], found.sums.shape[2], axis=0)
    else:
        bins = resolve.level_bins(found.sums, found.totals, far)
    found_at = [
        crossings.find_crossings(found.sums[:, :, columns], found.totals[:, columns], genuine, ladder, own)
        for genuine, columns in ((found.pairs.data, slice(None)), (found.pairs.centre, slice(0, 1)))
    ]
    return _Needs(bins, *found_at)


def _resolve(found: _Found, needs: _Needs, kept: list, ladder: Ladder, far, fixed) -> Rates:
    own = np.arange(len(found.protocol.groups))
    impostors = resolve.cut_pairs(kept, ladder, found.protocol, needs.bins, found.sums, found.totals)
    if fixed.size:
        above = resolve.resolve_thresholds(impostors, needs.level_bins[0], fixed)
        threshold = np.repeat(fixed[None], len(above), axis=0)
    else:
        threshold, above = resolve.resolve_levels(impostors, far)
    far_found = _ratio(above.sum(2), found.totals.sum(0)[:, None])
    lost = resolve.rejected(found.pairs.data, threshold)
    frr_rescaled, frr_group_rescaled = _rescaled(found, threshold)
    centre_lost = resolve.rejected(found.pairs.centre, threshold[:1])
    eer = crossings.resolve_crossings(impostors, found.pairs.data, needs.at, own)
    centre_eer = crossings.resolve_crossings(impostors.column(slice(0, 1)), found.pairs.centre, needs.centre_at, own)
    score = found.pairs.data.pairs.take(found.pairs.data.pairs.row >= 0).score
    return Rates(
        threshold=threshold,
        far=far_found,
        frr=_ratio(lost.sum(2), found.pairs.data.totals.sum(0)[:, None]),
        far_cell=_ratio(above, found.totals.T[:, None]),
        frr_group=_ratio(lost, found.pairs.data.totals.T[:, None])[..., : len(own)],
        eer=eer[0],
        eer_threshold=eer[1],
        centre_frr=_ratio(centre_lost.sum(2), found.pairs.centre.totals.sum(0)[:, None])[0],
        centre_frr_group=_ratio(centre_lost, found.pairs.centre.totals.T[:, None])[0, :, : len(own)],
        centre_eer=centre_eer[0, 0],
        centre_eer_threshold=centre_eer[1, 0],
        n_accepted=_accepted(found.partial.counts, needs.level_bins[0], impostors, threshold[0]),
        n_rejected=np.searchsorted(score, threshold[0], side="right"),
        n_missing=found.n_missing,
        frr_rescaled=frr_rescaled,
        frr_group_rescaled=frr_group_rescaled,
        spread=spread_of(found.protocol, impostors, found.pairs.data, threshold, far_found, fixed.size > 0),
        genuine=found.pairs.data,
        centre=found.pairs.centre,
        totals=found.totals,
    )


def _rescaled(found: _Found, threshold: np.ndarray) -> tuple:
    """FRR (column, level) and by group, without copies of an image; None where replicates hold none anyway."""
    if found.pairs.rescaled is None:
        return None, None
    pairs = found.pairs.rescaled
    lost = resolve.rejected(pairs, threshold)
    by_group = _ratio(lost, pairs.totals.T[:, None])[..., : len(found.protocol.groups)]
    return _ratio(lost.sum(2), pairs.totals.sum(0)[:, None]), by_group


def _ratio(weight: np.ndarray, total: np.ndarray) -> np.ndarray:
    """weight / total, NaN where there is nothing to divide by."""
    weight, total = np.broadcast_arrays(weight, total)
    return np.divide(weight, total, out=np.full(weight.shape, np.nan), where=total > 0)


def _accepted(counts: np.ndarray, bins: np.ndarray, impostors: resolve.Impostors, thresholds) -> np.ndarray:
    """Impostor pairs above each of the data's thresholds, each counted once; bins: (level,) of the thresholds."""
    above = np.append(np.cumsum(counts[::-1])[::-1], 0)[bins + 1]
    score = impostors.pairs.score
    extents = [(impostors.first[impostors.bin == b][0], impostors.last[impostors.bin == b][-1]) for b in bins]
    return above + [np.count_nonzero(score[a:z] > t) for (a, z), t in zip(extents, thresholds, strict=True)]
