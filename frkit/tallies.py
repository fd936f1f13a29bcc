"""Rates from one sweep: plan, sweep, and exact resolution, for the data, their V-statistic and all replicates."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from frkit.cohort import Cohort
from frkit.genuine import genuine_tally
from frkit.sweep import blocks, crossings, listed, resolve
from frkit.sweep import plan as planning
from frkit.sweep.design import Design
from frkit.sweep.plan import Ladder, Patch, Pilot
from frkit.sweep.run import Partial, Request, sweep

PILOT_PAIRS = 300_000  # pairs in the pilot, at least
PILOT_SHARE = 300  # and one in so many of all pairs
PILOT_BLOCKS = 24  # taken from so many blocks of the tensor
PILOT_REPLICATES = 24
DIAGONAL_BLOCKS = 8  # whole blocks in which the pilot looks for genuine pairs


@dataclass(frozen=True, eq=False)
class Rates:
    """Exact rates. Column 0 is the data, then replicates; `centre_` parts belong to the V-statistic.

    threshold, far, frr: (column, level); far_cell (column, level, cell), frr_group (column, level, group);
    eer, eer_threshold: (column, curve), a curve being a group, and last everybody; n_accepted, n_rejected:
    (level,) raw pairs; n_missing: failed comparisons of the same identity. genuine, centre, totals: what further
    tallies build on.
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
    genuine: resolve.Genuine
    centre: resolve.Genuine
    totals: np.ndarray


def tally_rates(
    scores: xr.DataArray,
    who: Cohort,
    far: np.ndarray | None,
    thresholds: np.ndarray | None,
    *,
    progress: bool,
) -> Rates:
    """FAR, FRR and EER at FAR levels or at fixed thresholds, from one sweep over a tensor or a list of pairs."""
    levels = np.empty(0) if far is None else far
    fixed = np.empty(0) if thresholds is None else thresholds
    if who.listed is not None:
        ladder = listed.list_ladder(scores.values[who.listed.impostor])
        found = _sweep_list(scores.values, who, ladder)
        return _resolve(found, _needs(found, levels, fixed, ladder), found.partial.kept, ladder, levels, fixed)
    pilot, zones = take_pilot(scores, who)
    ladder = planning.make_plan(pilot, who.design.n_pairs, levels, fixed, zones)
    sweeper = _Sweeper(scores, who, progress)
    found = sweeper.first(ladder)
    needs = _needs(found, levels, fixed, ladder)
    if needs.below_floor:
        ladder = planning.even_ladder(pilot)
        found = sweeper.first(ladder)
        needs = _needs(found, levels, fixed, ladder)
    absent = needs.bins[~ladder.keep[needs.bins]]
    kept = found.partial.kept + (sweeper.collect(ladder.keeping(absent)) if absent.size else [])
    return _resolve(found, needs, kept, ladder, levels, fixed)


def take_pilot(scores: xr.DataArray, who: Cohort) -> tuple[Pilot, list]:
    """A sample of the scores from some of the blocks, and FAR ranges in which EERs should lie."""
    design = who.design
    share = max(PILOT_PAIRS, design.n_pairs // PILOT_SHARE) / max(design.n_pairs, 1)
    n_blocks = np.prod(scores.data.numblocks) / (1 + design.symmetric)
    step = max(1, int(np.sqrt(min(1.0, PILOT_BLOCKS / n_blocks) / share)))
    rng = np.random.default_rng(0)  # a guess of where to look closely; no result depends on it
    patches = []
    for block, rows, cols in _sampled(scores.data, step, _some_blocks(scores.data, design.symmetric, step, rng)):
        patches.append(_patch(block, rows, cols, who, rng))
    genuine = [[] for _ in range(len(who.groups) + 1)]
    for block, rows, cols in _sampled(scores.data, 1, _diagonal_blocks(scores.data)):
        _file_genuine(block, rows, cols, who, genuine)
    pilot = Pilot(patches)
    return pilot, planning.crossing_zones(pilot, [np.concatenate(found) for found in genuine])


def _some_blocks(array, symmetric: bool, step: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Blocks at random, of the upper triangle where the tensor is symmetric."""
    every = [at for at in np.ndindex(array[::step, step // 2 :: step].numblocks) if not symmetric or at[1] >= at[0]]
    return [every[k] for k in rng.permutation(len(every))[:PILOT_BLOCKS]]


def _diagonal_blocks(array) -> list[tuple[int, int]]:
    """Some blocks along the diagonal: where images stand by identity, they hold the genuine pairs."""
    n = min(array.numblocks)
    return [(int(k), int(k)) for k in np.unique(np.linspace(0, n - 1, min(n, DIAGONAL_BLOCKS)).round())]


def _sampled(array, step: int, wanted: list[tuple[int, int]]):
    """Some blocks with every so many-th row and column: (scores, rows, columns)."""
    data = array[::step, step // 2 :: step] if step > 1 else array
    rows, cols = np.arange(0, array.shape[0], step), np.arange(step // 2 if step > 1 else 0, array.shape[1], step)
    values = blocks.run(blocks.graph(data, wanted), [(data.name, *at) for at in wanted])
    bounds = blocks.bounds(data)
    for (i, j), block in zip(wanted, values, strict=True):
        yield block, rows[bounds[0][i] : bounds[0][i + 1]], cols[bounds[1][j] : bounds[1][j + 1]]


def _patch(values: np.ndarray, rows: np.ndarray, cols: np.ndarray, who: Cohort, rng: np.random.Generator) -> Patch:
    """Impostor scores of one block of the pilot, with their images' weights."""
    design = who.design
    impostor = design.probe.person[rows][:, None] != design.reference.person[cols]
    impostor &= design.cell_of[design.probe.group[rows][:, None], design.reference.group[cols]] >= 0
    drawn = bool(np.any(who.identity_count != 1))
    weights = [_pilot_weight(side, at, drawn, rng) for side, at in ((design.probe, rows), (design.reference, cols))]
    return Patch(np.where(impostor, values, np.float32(np.nan)), *weights)


def _file_genuine(values: np.ndarray, rows: np.ndarray, cols: np.ndarray, who: Cohort, genuine: list) -> None:
    """Genuine scores of one block of the pilot: all of them, then by group."""
    design = who.design
    r, c = np.nonzero(design.probe.identity[rows][:, None] == design.reference.identity[cols])
    apart = who.people.probe[rows[r]] != who.people.reference[cols[c]]
    found, group = values[r, c][apart], design.probe.group[rows[r]][apart]
    known = ~np.isnan(found)
    genuine[-1].append(found[known])
    for g in range(len(who.groups)):
        genuine[g].append(found[known & (group == g)])


def _pilot_weight(side, at: np.ndarray, drawn: bool, rng: np.random.Generator) -> np.ndarray:
    """Weights of the pilot's images: the data, then the data blurred, then replicates where identities are drawn."""
    weight = side.weight[at, :1] * side.scale[at, None]
    blurred = weight * rng.poisson(1.0, (len(at), planning.BLURRED))
    replicates = side.weight[at, 1 : PILOT_REPLICATES + 1] * side.scale[at, None]
    return np.concatenate([weight, blurred, replicates[:, : PILOT_REPLICATES if drawn else 0]], 1).astype(np.float32)


@dataclass(frozen=True, eq=False)
class _Found:
    """What one sweep brought, with the genuine pairs weighted for replicates and for the V-statistic."""

    who: Cohort
    partial: Partial
    sums: np.ndarray
    totals: np.ndarray
    genuine: resolve.Genuine
    centre: resolve.Genuine
    n_missing: int

    @property
    def design(self) -> Design:
        return self.who.design


class _Sweeper:
    """Sweeps one tensor, as often as it takes."""

    def __init__(self, scores: xr.DataArray, who: Cohort, progress: bool) -> None:
        self.scores, self.who, self.progress = scores, who, progress
        self.failing = not scores.attrs.get("symmetric")

    def first(self, ladder: Ladder) -> _Found:
        """Bins added up, kept pairs and genuine scores."""
        design = self.who.design
        request = Request(design, ladder, failing=self.failing, genuine=self.who.asked)
        partial = sweep(self.scores, request, progress=self.progress)
        score = np.full(len(self.who.asked), np.nan, self.scores.dtype)
        for place, values in partial.genuine:
            score[place] = values
        totals = design.impostor_totals()
        if partial.missing is not None:
            totals = totals - partial.missing
        own = self.scores.attrs.get("self_score")
        tallies = [genuine_tally(self.who, score, own, centre) for centre in (False, True)]
        sums = partial.sums.reshape(ladder.n_bins, design.n_cells, design.n_columns)
        return _Found(self.who, partial, sums, totals, *tallies, int(np.isnan(score[: self.who.n_genuine]).sum()))

    def collect(self, ladder: Ladder) -> list:
        """The pairs of some bins only."""
        request = Request(self.who.design, ladder, adding=False)
        return sweep(self.scores, request, progress=self.progress).kept


def _sweep_list(scores: np.ndarray, who: Cohort, ladder: Ladder) -> _Found:
    """A list of pairs: all of them are kept, so that one look is enough."""
    places = who.listed
    impostor = (part[places.impostor] for part in (scores, places.row, places.col))
    partial = listed.tally_list(*impostor, who.design, ladder)
    sums = partial.sums.reshape(ladder.n_bins, who.design.n_cells, who.design.n_columns)
    score = scores[places.genuine]
    tallies = [genuine_tally(who, score, None, centre) for centre in (False, True)]
    return _Found(who, partial, sums, sums.sum(0), *tallies, int(np.isnan(score).sum()))


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
    own = found.who.own_cell
    if fixed.size:
        bins = resolve.threshold_bins(ladder, fixed, found.genuine.pairs[0].dtype)
        bins = np.repeat(bins[None], found.sums.shape[2], axis=0)
    else:
        bins = resolve.level_bins(found.sums, found.totals, far)
    found_at = [
        crossings.find_crossings(found.sums[:, :, columns], found.totals[:, columns], genuine, ladder, own)
        for genuine, columns in ((found.genuine, slice(None)), (found.centre, slice(0, 1)))
    ]
    return _Needs(bins, *found_at)


def _resolve(found: _Found, needs: _Needs, kept: list, ladder: Ladder, far, fixed) -> Rates:
    design, own = found.design, found.who.own_cell
    impostors = resolve.cut_pairs(kept, ladder, design, needs.bins, found.sums, found.totals)
    if fixed.size:
        above = resolve.resolve_thresholds(impostors, needs.level_bins[0], fixed)
        threshold = np.repeat(fixed[None], len(above), axis=0)
    else:
        threshold, above = resolve.resolve_levels(impostors, far)
    lost = resolve.rejected(found.genuine, threshold)
    centre_lost = resolve.rejected(found.centre, threshold[:1])
    eer = crossings.resolve_crossings(impostors, found.genuine, needs.at, own)
    centre_eer = crossings.resolve_crossings(impostors.column(slice(0, 1)), found.centre, needs.centre_at, own)
    score = found.genuine.pairs[0][found.genuine.pairs[1] >= 0]
    return Rates(
        threshold=threshold,
        far=_ratio(above.sum(2), found.totals.sum(0)[:, None]),
        frr=_ratio(lost.sum(2), found.genuine.totals.sum(0)[:, None]),
        far_cell=_ratio(above, found.totals.T[:, None]),
        frr_group=_ratio(lost, found.genuine.totals.T[:, None])[..., : len(own)],
        eer=eer[0],
        eer_threshold=eer[1],
        centre_frr=_ratio(centre_lost.sum(2), found.centre.totals.sum(0)[:, None])[0],
        centre_frr_group=_ratio(centre_lost, found.centre.totals.T[:, None])[0, :, : len(own)],
        centre_eer=centre_eer[0, 0],
        centre_eer_threshold=centre_eer[1, 0],
        n_accepted=_accepted(found.partial.counts, needs.level_bins[0], impostors, threshold[0]),
        n_rejected=np.searchsorted(score, threshold[0], side="right"),
        n_missing=found.n_missing,
        genuine=found.genuine,
        centre=found.centre,
        totals=found.totals,
    )


def _ratio(weight: np.ndarray, total: np.ndarray) -> np.ndarray:
    """weight / total, NaN where there is nothing to divide by."""
    weight, total = np.broadcast_arrays(weight, total)
    return np.divide(weight, total, out=np.full(weight.shape, np.nan), where=total > 0)


def _accepted(counts: np.ndarray, bins: np.ndarray, impostors: resolve.Impostors, thresholds) -> np.ndarray:
    """Impostor pairs above each of the data's thresholds, each counted once; bins: (level,) of the thresholds."""
    above = np.append(np.cumsum(counts[::-1])[::-1], 0)[bins + 1]
    score = impostors.pairs[0]
    extents = [(impostors.first[impostors.bin == b][0], impostors.last[impostors.bin == b][-1]) for b in bins]
    return above + [np.count_nonzero(score[a:z] > t) for (a, z), t in zip(extents, thresholds, strict=True)]
