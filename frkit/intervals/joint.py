"""The joint law of an evaluation's rates, from its node "influence": ends of rates, and draws for measures of rates.

Every rate has the law of `influence.Law`. Together they have the correlations of their influences: units (images, or
people) get normal multipliers, the same for all rates, levels, groups and models, so that differences of models and
measures of groups are drawn with what their rates have in common.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.special import ndtr

from frkit.base import MODEL, REPLICATE, require
from frkit.intervals.influence import NEW_PEOPLE, THESE_PEOPLE, Law, Sums, law_of

TARGETS = (NEW_PEOPLE, THESE_PEOPLE)
DRAWS = 2_000
WINDOW_POINTS = 41  # of the curve, for a slope
RATES = ("far", "frr", "far_group", "frr_group", "far_cross", "eer", "eer_group", "threshold")
UNITS_AT_ONCE = 10_000
HEIGHTS = np.linspace(-6, 6, 241)  # normal heights at which a law is tabulated
SUMS = ("accepted", "compared", "rejected", "genuine", "identity", "group", "square", "blocks", "pair_weight")


class Place(NamedTuple):
    """Where a rate is found: the law, and its entry there."""

    law: Law
    entry: int


@dataclass(frozen=True, eq=False)
class Rates:
    """The laws of one model's rates at every level, and at the EERs of the groups and of all.

    node: the evaluation's node "influence" of one model. groups: labels.
    """

    node: xr.Dataset
    groups: np.ndarray
    fixed: bool
    target: str

    @cached_property
    def cells(self) -> list[tuple[int, int]]:
        """Pairs of groups that have a FAR of their own: each group's, then those between two groups."""
        n = len(self.groups)
        within = [(g, g) for g in range(n)]
        return within + [(g, h) for g in range(n) for h in range(g + 1, n) if self.node.cells.values[g, h] >= 0]

    @cached_property
    def masks(self) -> np.ndarray:
        """(rate, group, group) which pairs of groups enter each FAR: all, then the cells."""
        counted = self.node.cells.values >= 0
        masks = np.zeros((1 + len(self.cells), *counted.shape))
        masks[0] = counted
        for place, (g, h) in enumerate(self.cells):
            masks[1 + place, g, h] = masks[1 + place, h, g] = 1
        return masks

    @cached_property
    def memberships(self) -> np.ndarray:
        """(rate, group) which groups enter each FRR: all, then each."""
        n = self.node.sizes["partner"]
        return np.concatenate([np.ones((1, n)), np.eye(n)[: len(self.groups)]])

    def law(self, point: int, setter: int = 0) -> Law:
        """The joint law at a point; setter: which FAR sets the threshold (0: of all; 1 + g: of group g)."""
        node = self.node
        sums = Sums(
            *(node[name].values[point] if "point" in node[name].dims else node[name].values for name in SUMS)
        )
        order = [setter, *(place for place in range(len(self.masks)) if place != setter)]
        fixed = self.fixed and point < node.attrs["levels"]
        alpha = float(node.rate[point])
        alpha = None if fixed or not alpha > 0 else alpha  # where no pair is accepted no slope is known
        law = law_of(sums, self.masks[order], self.memberships, self._slopes(alpha, order), alpha, self.target)
        n_far = len(order)
        back = np.append(np.argsort(order), np.arange(n_far, n_far + len(self.memberships)))
        return law.take(back)

    @cached_property
    def laws(self) -> list[Law]:
        """The joint law at every level."""
        return [self.law(point) for point in range(self.node.attrs["levels"])]

    def places(self, name: str) -> np.ndarray:
        """Law and entry of every value of a rate, an array of `Place` in the shape of the variable.

        "far" is that of the thresholds as they were found: with other images or people they have another FAR.
        """
        n_far, n = len(self.masks), len(self.groups)
        if name in ("eer", "eer_group"):
            first = self.node.attrs["levels"]
            by_group = name == "eer_group"
            found = [self._eer(first + g, 1 + g) for g in range(n)] if by_group else [self._eer(first + n, 0)]
            return _array(found, (n,) if by_group else ())
        if name == "far_cross":
            entry = np.zeros((n, n), int)
            for place, (g, h) in enumerate(self.cells):
                entry[g, h] = entry[h, g] = 1 + place
        else:
            first = n_far if name.startswith("frr") else 0
            entry = first + 1 + np.arange(n) if name.endswith("_group") else np.array(first)
        laws = self.laws if name != "far" or self.fixed else replace(self, fixed=True).laws
        found = [Place(law, int(at)) for law in laws for at in entry.ravel()]
        return _array(found, (len(self.laws), *entry.shape))

    def _eer(self, point: int, setter: int) -> Place:
        """The law of an EER: where FAR and FRR move against each other, either gives way by its slope."""
        law, entry = self.law(point, setter), len(self.masks) + setter
        rate = float(self.node.rate[point])
        slope = -self._slopes(rate, [setter])(0.5)[1 + setter] if rate > 0 else 0.0
        share = 1 / (1 + slope / rate) if rate > 0 else 1.0
        return Place(law.scaled(share, rate, entry), entry)

    def _slopes(self, alpha: float | None, order: list[int]) -> Callable[[float], np.ndarray] | None:
        """Derivatives of all rates by log FAR around a level, as a function of the half-width."""
        if alpha is None or not alpha > 0:
            return None
        far, frr, cells = self.node.curve_far.values, self.node.curve_frr.values, self.node.cells.values
        columns = [far[:, -1], *(far[:, cells[pair]] for pair in self.cells)]
        columns = [columns[place] for place in order] + [frr[:, -1], *(frr[:, g] for g in range(len(self.groups)))]
        curve = np.stack(columns, 1)[columns[0] > 0][::-1]  # from the highest threshold down: FAR rises
        logs = np.log(curve[:, 0])

        def slopes(half: float) -> np.ndarray:
            lowest = min(max(-half, logs[0] - np.log(alpha)), 0.0)  # nothing is known below the first accepted pair
            away = np.linspace(lowest, half, WINDOW_POINTS)
            values = np.stack([np.interp(np.log(alpha) + away, logs, column) for column in curve.T])
            away -= away.mean()
            return values @ away / (away @ away)

        return slopes

    def thresholds(self, probabilities: np.ndarray) -> np.ndarray:
        """Quantiles of the threshold at every level, (level, probability): where the curve has FAR's quantiles."""
        far, at = self.node.curve_far.values[:, -1], self.node.curve_threshold.values
        known = (far > 0) & np.isfinite(at)
        logs, at = np.log(far[known][::-1]), at[known][::-1]
        out = []
        for point in range(self.node.attrs["levels"]):
            law = replace(self, fixed=True).law(point)
            levels = law.quantiles(1 - np.asarray(probabilities), 0)
            out.append(np.interp(np.log(np.maximum(levels, np.exp(logs[0]))), logs, at))
        return np.array(out)


def _array(found: list, shape: tuple) -> np.ndarray:
    """Objects in an array of this shape."""
    out = np.empty(len(found), object)
    out[:] = found
    return out.reshape(shape)


def rates_of(evaluation: xr.DataTree, target: str) -> dict[str | None, Rates]:
    """The laws of every model by name; of one without a name by None."""
    require(target in TARGETS, f"target must be one of {', '.join(map(repr, TARGETS))}, got {target!r}")
    require(
        "influence" in evaluation.children,
        "this evaluation holds no influences of its images (it was stored by an earlier version, or its pairs carry no "
        "identities): call evaluate(...) again, or name a method that reads replicates",
    )
    node, data = evaluation["influence"].to_dataset(), evaluation["empirical"].to_dataset()
    require(
        target == NEW_PEOPLE or node.attrs["complete"],
        f"intervals for {THESE_PEOPLE!r} need every image compared with every other, as in a score tensor: from these "
        f"scores the images of a person cannot be told apart; take target={NEW_PEOPLE!r}",
    )
    groups = data["group"].values if "group" in data.coords else np.empty(0, str)
    fixed = "far_level" not in data.dims
    names = node[MODEL].values.tolist() if MODEL in node.dims else [None]
    models = [node if name is None else node.sel({MODEL: name}, drop=True) for name in names]
    return {name: Rates(model, groups, fixed, target) for name, model in zip(names, models, strict=True)}


def ends(
    evaluation: xr.DataTree, name: str, level: float, target: str, together: xr.DataArray | None = None
) -> tuple[xr.DataArray, xr.DataArray]:
    """Lower and upper end of a rate, with the dimensions of the variable.

    together: (level,) at which levels the whole curve is to lie inside at once; None for each level by itself.
    """
    estimate = evaluation["empirical"].to_dataset()[name]
    found = []
    for rates in rates_of(evaluation, target).values():
        if name == "threshold":
            found.append(rates.thresholds(_tails(level)))
            continue
        places = rates.places(name)
        tails = _tails(level) if together is None else _sup_tails(places, level, together)
        tails = np.broadcast_to(tails, (*places.shape, 2))
        by_place = zip(places.ravel(), tails.reshape(-1, 2), strict=True)
        values = [place.law.ends(tail, place.entry) for place, tail in by_place]
        found.append(np.reshape(values, tails.shape))
    both = np.stack(found) if MODEL in estimate.dims else found[0]
    return tuple(estimate.copy(data=np.where(estimate.isnull(), np.nan, both[..., end])) for end in (0, 1))


def _tails(level: float) -> np.ndarray:
    return np.array([(1 - level) / 2, (1 + level) / 2])


def _sup_tails(places: np.ndarray, level: float, together: np.ndarray) -> np.ndarray:
    """Probabilities, (..., end), at which all levels of a curve hold at once: from the largest height along it."""
    tails = np.empty((*places.shape[1:], 2))
    for curve in np.ndindex(places.shape[1:]):
        every = places[(slice(None), *curve)]
        along = every[together] if together.any() else every
        influence = np.stack([place.law.influence[:, place.entry] for place in along], 1)
        highest = np.quantile(np.abs(_heights(influence, DRAWS)).max(0), level)
        tails[curve] = ndtr([-highest, highest])
    return tails


def draws(evaluation: xr.DataTree, names: tuple[str, ...], target: str, n: int = DRAWS) -> xr.Dataset:
    """Draws of rates from their joint law, with `replicate` in front; the same units get the same multipliers."""
    data = evaluation["empirical"].to_dataset()
    parts = {name: [] for name in names}
    for rates in rates_of(evaluation, target).values():
        places = {name: rates.places(name) for name in names}
        every = [place for found in places.values() for place in found.ravel()]
        heights = _heights(np.stack([place.law.influence[:, place.entry] for place in every], 1), n)
        values = [
            # a sample holds whole errors: what is far less than one is none, and counts a quarter of one
            np.clip(
                np.interp(height, HEIGHTS, place.law.quantiles(ndtr(HEIGHTS), place.entry)),
                place.law.event(place.entry) / 4,
                1.0,
            )
            for height, place in zip(heights, every, strict=True)
        ]
        begin = 0
        for name, found in places.items():
            part = np.array(values[begin : begin + found.size]).reshape(*found.shape, n)
            parts[name].append(np.moveaxis(part, -1, 0))
            begin += found.size
    variables = {}
    for name, found in parts.items():
        dims = [dim for dim in data[name].dims if dim != MODEL]
        whole = np.stack(found, 1) if MODEL in data[name].dims else found[0]
        lead = (REPLICATE, MODEL) if MODEL in data[name].dims else (REPLICATE,)
        variables[name] = xr.DataArray(whole, dims=(*lead, *dims)).where(data[name].notnull())
    return xr.Dataset(variables, {name: data[name] for name in data.coords}).assign_coords({REPLICATE: np.arange(n)})


def _heights(influence: np.ndarray, n: int) -> np.ndarray:
    """Standard normal heights, (rate, draw), with the correlations of the influences, (unit, rate)."""
    length = np.sqrt((influence**2).sum(0))
    total = np.zeros((influence.shape[1], n))
    for number, begin in enumerate(range(0, len(influence), UNITS_AT_ONCE)):
        part = influence[begin : begin + UNITS_AT_ONCE]
        multipliers = np.random.default_rng([0, number]).standard_normal((len(part), n), np.float32)
        total += part.T @ multipliers
    fallback = np.random.default_rng([1, 0]).standard_normal(n)  # of rates without an error: only half an event varies
    return np.where(length[:, None] > 0, total / np.where(length > 0, length, 1)[:, None], fallback)
