"""The laws of an evaluation's rates, one by one, from its node "influence": at every level, of every group, at EERs."""

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import xarray as xr

from frkit.base import FAR_LEVEL, GROUP, MODEL, REFERENCE_GROUP, THRESHOLD_LEVEL, listed, require
from frkit.intervals.gamma_satterthwaite import FEWEST_DF, TINY, Law, Move
from frkit.intervals.influence import NEW_PEOPLE, THESE_PEOPLE, Part, Sums, genuine_part, impostor_part, known_clumps
from frkit.intervals.reading import provenance

TARGETS = (NEW_PEOPLE, THESE_PEOPLE)
HALF_WINDOW = 0.5  # of log FAR, over which the slope of the curve is taken, at least
WINDOW_POINTS = 41  # of the curve, for a slope
WIDEST_WINDOW = 2.0  # of log FAR, for the slope at an EER
SUMS = ("accepted", "compared", "rejected", "genuine", "identity", "group", "square", "blocks", "pair_weight")


def law_of(far: Part, frr: Part, slopes, alpha: float | None, setter: int = 0) -> Law:
    """The joint law of FARs, then FRRs, at a threshold.

    slopes: function of a half-width in log FAR to the derivatives (rate,) of all rates, and of their log odds, by the
    log of the FAR that sets the threshold. alpha: that FAR, None for a fixed threshold; setter: which of the FARs.
    """
    influence = np.concatenate([far.influence, frr.influence], 1)
    cross = far.influence.T @ frr.influence
    covariance = np.block([[far.covariance, cross], [cross.T, frr.covariance]])
    rate, own, skewness, least, none, noise = (
        np.concatenate([getattr(far, name), getattr(frr, name)])
        for name in ("rate", "own", "skewness", "least", "none", "noise")
    )
    df = np.maximum(np.divide(2.0, noise, out=np.full(len(rate), np.inf), where=noise > 0), FEWEST_DF)
    move = None
    if alpha is not None:
        deviation = np.sqrt(np.maximum(np.diag(covariance), TINY))
        together = np.clip(covariance[setter] / deviation / deviation[setter], -1, 1)
        by_log, odds = slopes(max(HALF_WINDOW, 2 * deviation[setter] / alpha))  # of log FAR
        move = Move(setter, odds, together)
        # where one sample's FAR is too high the threshold found is, too, by as much as takes the FAR back to the level:
        # every rate then errs by its own error less its slope times that of the setting FAR, which errs no more
        moving = np.eye(len(rate))
        moving[:, setter] -= by_log / alpha
        influence, covariance = influence @ moving.T, moving @ covariance @ moving.T
    return Law(rate, covariance, influence, own, skewness, least, none, df, move)


@dataclass(frozen=True, eq=False)
class Place:
    """Where a rate is found: the law, its entry there, and the share of its logarithm's error that is left.

    events: what is added to the counts, a whole one for the FAR of a threshold that was found. whole: the rate of all
    groups together, of a group's.
    """

    law: Law
    entry: int
    share: float = 1.0
    events: float = 0.5
    whole: float = np.inf

    @property
    def influence(self) -> np.ndarray:
        """What each unit adds to the rate, (unit,)."""
        return self.law.influence[:, self.entry]

    @property
    def unseen(self) -> float:
        """Standard deviation of a rate that no influence tells: half an event where there is no error, or no other."""
        return 0.0 if 0 < self.law.rate[self.entry] < 1 else self.law.event(self.entry) / np.sqrt(2)

    @property
    def least(self) -> float:
        """What no error counts as in draws: a sample holds whole errors, so a quarter of one, or of the rate of all."""
        return min(self.share * self.law.event(self.entry), self.whole or np.inf) / 4

    def quantiles(self, probability: np.ndarray) -> np.ndarray:
        """Quantiles of the rate."""
        if self.events == 1:  # at a threshold that was found, the rate that set it: no other error moves it
            return self.law.at_fixed_threshold(probability, self.entry, 1.0)
        rate, found = self.law.rate[self.entry], self.law.quantiles(probability, self.entry)
        return found if self.share == 1 else rate * (np.maximum(found, 0) / rate) ** self.share

    def ends(self, probabilities: np.ndarray) -> np.ndarray:
        """Quantiles as the ends of an interval, which holds the rate: one without an error reaches down to 0, one
        without any other up to 1."""
        (lower, upper), rate = self.quantiles(probabilities), self.law.rate[self.entry]
        return np.clip([np.minimum(lower, rate), np.maximum(upper, rate)], 0, 1)


@dataclass(frozen=True, eq=False)
class Rates:
    """The laws of one model's rates at every level, and at the EERs of the groups and of all.

    node: the evaluation's node "influence" of one model. levels, groups, references: the places, among those that it
    was made with, of those that the evaluation still holds. fixed: whether thresholds stand, whatever the impostors.
    target: whose rates. alike: whether small groups have the FAR of all, see `Part.borrowed`. FARs and FRRs stand in
    one order everywhere: FAR of all, of each cell (the first cells are the groups' own); FRR of all, of each group.
    """

    node: xr.Dataset
    levels: np.ndarray
    groups: np.ndarray
    references: np.ndarray
    fixed: bool
    target: str
    alike: bool = False

    @property
    def n_levels(self) -> int:
        """Levels; at the further points of the node FAR and FRR are equal."""
        return self.node.attrs["levels"]

    @cached_property
    def masks(self) -> np.ndarray:
        """(rate, group, group) which pairs of groups enter each FAR: all, then each cell of groups that have a name."""
        cells = self.node.cells.values
        named = range(cells[:-1, :-1].max(initial=-1) + 1)  # the last code is "in no group"
        return np.stack([cells >= 0, *(cells == cell for cell in named)]).astype(float)

    @cached_property
    def memberships(self) -> np.ndarray:
        """(rate, group) which groups enter each FRR: all, then each."""
        n = self.node.sizes["partner"]  # of which the last is no group
        return np.concatenate([np.ones((1, n)), np.eye(n)[:-1]])

    @cached_property
    def curves(self) -> np.ndarray:
        """All rates along the curve, (place, rate), from the lowest threshold up."""
        far, frr = self.node.curve_far.values, self.node.curve_frr.values  # those of all are the last
        parts = (far, len(self.masks)), (frr, len(self.memberships))
        return np.column_stack([part[:, [-1, *range(n - 1)]] for part, n in parts])

    @cached_property
    def laws(self) -> list[Law]:
        """The joint law at every level that is held."""
        return [self.law(point) for point in self.levels]

    def law(self, point: int, setter: int = 0) -> Law:
        """The joint law at a point; setter: which FAR sets the threshold (0: of all; 1 + g: of group g)."""
        alpha = float(self.node.rate.values[point])
        if not alpha > 0 or (self.fixed and point < self.n_levels):  # where no pair is accepted no slope is known
            alpha = None
        sums = self.sums(point)
        far, frr = impostor_part(sums, self.masks, self.target), genuine_part(sums, self.memberships, self.target)
        if self.target == NEW_PEOPLE:
            far = far.with_clumps(self.clumps).borrowed(self.alike)
        elif self.node.rate.values[point] < self.node.rate.values[-1]:
            far = far.with_clumps(self.clumps)
        return law_of(far, frr, partial(self.slopes, alpha, setter), alpha, setter)

    @cached_property
    def clumps(self) -> np.ndarray:
        """The weight (rate,) of accepted pairs that come together at the EER of all, where many are accepted."""
        sums = self.sums(self.node.sizes["point"] - 1)
        return known_clumps(sums, self.masks, self.target, self.node.attrs["listed"])

    def sums(self, point: int) -> Sums:
        """What the threshold of a point leaves of all pairs."""
        values = [self.node.variables[name] for name in SUMS]
        return Sums(*(part.values[point] if "point" in part.dims else part.values for part in values))

    def slopes(self, alpha: float, setter: int, half: float) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives (rate,) of all rates by the log of the setting FAR, around a level as far as ± half.

        Those of the rates themselves, and of their log odds.
        """
        away, values = self.around(alpha, setter, half)
        weight = np.exp(away) / np.exp(away).sum()  # as pairs are accepted there: of few the curve knows little
        away = weight * (away - away @ weight)  # least squares: the slope is a sum of values with these weights
        by_log, middle = values @ away / (away @ (away / weight)), (values * (1 - values)) @ weight
        return by_log, np.divide(by_log, middle, out=np.zeros(len(by_log)), where=middle > 0)

    def around(self, alpha: float, setter: int, half: float) -> tuple[np.ndarray, np.ndarray]:
        """Distances in the log of the setting FAR from a level, and all rates there, (rate, place)."""
        # thresholds without an accepted pair have no logarithm
        curve = self.curves[self.curves[:, setter] > 0][::-1]  # from the highest threshold down: FAR rises
        logs = np.log(curve[:, setter])
        lowest = min(max(-half, logs[0] - np.log(alpha)), 0.0)  # nothing is known below the first accepted pair
        away = np.linspace(lowest, half, WINDOW_POINTS)
        return away, np.stack([np.interp(np.log(alpha) + away, logs, column) for column in curve.T])

    def places(self, name: str) -> np.ndarray:
        """Law and entry of every value of a rate, an array of `Place` in the shape of the variable.

        "far" is that of the thresholds as they were found: with other images or people they have another FAR.
        """
        frr, groups = len(self.masks), self.groups
        if name == "eer":
            return np.array(self._equal_errors(len(self.memberships) - 1, 0), object)
        if name == "eer_group":
            return np.array([self._equal_errors(g, 1 + g) for g in groups], object)
        entries = {"far": 0, "threshold": 0, "far_group": 1 + groups, "frr": frr, "frr_group": frr + 1 + groups}
        entries["far_cross"] = 1 + self.node.cells.values[np.ix_(groups, self.references)]
        entry = np.asarray(entries[name])
        found = name == "far" and not self.fixed  # its law, were the thresholds fixed
        laws, events = (replace(self, fixed=True).laws, 1.0) if found else (self.laws, 0.5)
        wholes = [law.rate[entries[name.split("_")[0]]] if entry.ndim else np.inf for law in laws]
        every = ((law, int(at), whole) for law, whole in zip(laws, wholes, strict=True) for at in entry.ravel())
        places = [Place(law, at, events=events, whole=whole) for law, at, whole in every]
        return np.array(places, object).reshape(len(laws), *entry.shape)

    def ends(self, name: str, at: np.ndarray) -> np.ndarray:
        """Lower and upper ends of a rate, or of the threshold, at probabilities `at` that are given for every place.

        Or for all alike: (..., end, interval), of as many intervals as are wanted.
        """
        places = self.places("far" if name == "threshold" else name)
        at = np.broadcast_to(at, (*places.shape, *at.shape[-2:]))
        pairs = list(zip(places.flat, at.reshape(-1, *at.shape[-2:]), strict=True))
        if name == "threshold":  # it falls where FAR rises
            far = [place.quantiles(1 - tail) for place, tail in pairs]
            return np.sort(self.thresholds(np.reshape(far, at.shape)), axis=-2)  # distances rise with FAR
        return np.reshape([place.ends(tail) for place, tail in pairs], at.shape)

    def _equal_errors(self, curve: int, setter: int) -> Place:
        """The law of an EER: where FAR and FRR move against each other, either gives way by its slope."""
        point, entry = self.n_levels + curve, len(self.masks) + setter
        rate, law, share = float(self.node.rate[point]), self.law(point, setter), 1.0
        if rate > 0:  # with few errors the curve is coarse: its relative slope is read as far as the error may move
            spread = np.sqrt(law.own[entry] + law.event(entry) ** 2 / 2) / rate
            half = np.clip(2 * spread, HALF_WINDOW, WIDEST_WINDOW)
            middle = max(self.around(rate, setter, half)[1][entry].mean(), rate)
            # an error e of log FRR at a fixed threshold moves the crossing along both curves: log FAR rises by 1 where
            # log FRR falls by its slope, so that 1 / (1 + |slope|) of e is left
            share = 1 / (1 - self.slopes(rate, setter, half)[0][entry] / middle)
        # the curve's FRR at the crossing and the EER differ by steps of single pairs: the law lies around the EER
        moved = np.where(np.arange(len(law.rate)) == entry, rate, law.rate)
        return Place(replace(law, rate=moved), entry, share)

    def thresholds(self, far: np.ndarray) -> np.ndarray:
        """The thresholds at which the curve has these FARs; beyond the last accepted pair the highest known."""
        known = (self.curves[:, 0] > 0) & np.isfinite(self.node.curve_threshold.values)
        logs, at = np.log(self.curves[known, 0][::-1]), self.node.curve_threshold.values[known][::-1]
        return np.interp(np.log(np.maximum(far, np.exp(logs[0]))), logs, at)


def rates_of(evaluation: xr.DataTree, target: str, alike: bool = False) -> dict[str | None, Rates]:
    """The laws of every model by name; of one without a name by None."""
    known = isinstance(target, str) and target in TARGETS
    require(known, f"target must be one of {', '.join(map(repr, TARGETS))}, got {target!r}")
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
    level = FAR_LEVEL if FAR_LEVEL in data.coords else THRESHOLD_LEVEL
    require(level in data.coords, "nothing says at which level these rates are: select levels without drop=True")
    sizes = {level: node.attrs["levels"]} | dict.fromkeys((GROUP, REFERENCE_GROUP), node.sizes["partner"] - 1)
    held = [_held(evaluation, data, dim, n) for dim, n in sizes.items()]
    fixed = level != FAR_LEVEL
    names = node[MODEL].values.tolist() if MODEL in node.dims else [None]
    models = [node if name is None else node.sel({MODEL: name}, drop=True) for name in names]
    return {name: Rates(model, *held, fixed, target, alike) for name, model in zip(names, models, strict=True)}


def _held(evaluation: xr.DataTree, data: xr.Dataset, dim: str, n: int) -> np.ndarray:
    """The places of the levels (or groups) that an evaluation holds among the n that it was made with."""
    if dim not in data.coords:  # no rate that is left runs over it
        return np.arange(n)
    labels = np.atleast_1d(data[dim].values).tolist()
    made = provenance(evaluation).get(dim, labels if len(labels) == n else [])  # earlier versions do not tell
    lost = [label for label in labels if label not in made]
    require(
        not lost, f"the influences of images know no {dim} {listed(lost)}: give fk.band the evaluation as it was made"
    )
    return np.array([made.index(label) for label in labels], int)
