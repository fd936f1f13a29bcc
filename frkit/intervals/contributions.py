"""What each person adds to an error rate, from the node `people` of an evaluation.

FAR is a mean over pairs of people, and both people of a pair stand with it (two-way clustering of
U-statistics: Cameron, Gelbach & Miller 2011; Davezies, D'Haultfoeuille & Guyonvarch 2021). FRR is
a mean over people. At a FAR level the threshold has an error of its own: it moves every rate along
the slope of the data's own curve.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import xarray as xr
from scipy import sparse

NEW_PEOPLE, THESE_PEOPLE = "new people", "these people"
TARGETS = (NEW_PEOPLE, THESE_PEOPLE)
WIDTHS = 0.5, 2.0  # of the window of the slope, in log FAR to either side
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Added:
    """What units (people, or images) add to one rate.

    Attributes
    ----------
    rate : the rate. influence : (unit,) what each adds to it, with sum 0.
    noise : variance of single pairs of units, which the squared influences count twice.
    least : the smallest variance that is possible.
    seen : as if so many units had erred alike. units : how many there are.
    comparisons : that make the rate. people : who make it.
    own_errors : (unit,) weight of the errors of each unit.
    repeats : how many alike each unit stands for, in a plan for more people.
    """

    rate: float
    influence: np.ndarray
    noise: float
    least: float
    seen: float
    units: float
    comparisons: float
    people: float
    own_errors: np.ndarray
    repeats: float = 1.0

    def of_more_people(self, factor: float) -> "Added":
        """What is added where there are so many times as many people, alike to these."""
        return replace(
            self,
            influence=self.influence / np.sqrt(factor),
            noise=self.noise / factor,
            least=self.least / factor,
            seen=self.seen * factor,
            units=self.units * factor,
            comparisons=self.comparisons * factor,
            people=self.people * factor,
            repeats=self.repeats * factor,
        )

    @property
    def variance(self) -> float:
        """Variance of the rate over new people (or new images)."""
        return max(float(self.influence @ self.influence) - self.noise, self.least)


def count_alike(squares: float, total: float) -> float:
    """How many equal parts have this total and this sum of squares."""
    return total**2 / squares if squares > 0 else 0.0


class Contributions:
    """What people add to the rates of one model; groups by number, the last number being all."""

    def __init__(self, node: xr.Dataset) -> None:
        self.values = {str(name): node[name].values for name in node.data_vars}
        self.n_levels, self.n_groups = int(node.attrs["levels"]), int(node.attrs["groups"])
        self.at_far_levels = node.attrs["level_of"] == "far"
        self.of_worst_group = node.attrs["far_of"] != "all"
        self.has_auc = bool(node.attrs["auc"])
        self.fars: dict[tuple, Added] = {}  # that were computed
        self.eer_points = self.n_levels + np.arange(self.n_groups + 1)

    # --- units -----------------------------------------------------------------------------------

    @cached_property
    def gather(self) -> sparse.csr_array:
        """(person, entry) adds up the entries of each person."""
        person = self.values["person"]
        ones = np.ones(len(person)), (person, np.arange(len(person)))
        return sparse.csr_array(ones, shape=(int(person.max()) + 1, len(person)))

    def by_person(self, entries: np.ndarray) -> np.ndarray:
        """Sums of (entry,) over the entries of each person."""
        return self.gather @ entries

    def of_units(self, excess: np.ndarray, there: np.ndarray) -> np.ndarray:
        """Influence of each unit, from what entries are above the mean; there: (entry,) who count.

        The factor makes the sum of squares of a mean over K people unbiased.
        """
        n = np.count_nonzero(self.by_person(there))
        return self.by_person(excess) * np.sqrt(n / max(n - 1, 1))

    # --- FAR -------------------------------------------------------------------------------------

    def pairs_of(self, g: int, h: int) -> np.ndarray:
        """(entry, partner) whether such impostor pairs belong to groups g and h, or to all."""
        group = self.values["group"]
        partner = np.arange(self.n_groups + 1)
        if g == self.n_groups:
            return self.values["cells"][group] > 0
        own = (group[:, None] == g) & (partner == h)
        return own | ((group[:, None] == h) & (partner == g))

    def cell_sums(self, name: str, g: int, h: int, point: int | None = None) -> float:
        """A sum over pairs of people, of two groups or of all."""
        table = self.values[name] if point is None else self.values[name][point]
        if g == self.n_groups:
            return float(np.triu(table * (self.values["cells"] > 0)).sum())
        return float(table[g, h])

    def far(self, point: int, g: int, h: int) -> Added:
        """FAR between two groups, or of all, at a fixed threshold."""
        if (point, g, h) not in self.fars:
            self.fars[point, g, h] = self._far(point, g, h)
        return self.fars[point, g, h]

    def _far(self, point: int, g: int, h: int) -> Added:
        pairs = self.pairs_of(g, h)
        accepted = (self.values["accepted"][point] * pairs).sum(1)
        compared = (self.values["compared"] * pairs).sum(1)
        total = compared.sum() / 2  # each pair stands with both of its entries
        if total == 0:
            return self._nothing()
        rate = accepted.sum() / 2 / total
        influence = self.of_units((accepted - rate * compared) / total, compared)
        noise = self.far_noise(point, (g, h), (g, h), (rate, rate), (total, total))
        square = self.cell_sums("accepted_square", g, h, point)
        return Added(
            rate=rate,
            influence=influence,
            noise=noise,
            least=noise,
            seen=count_alike(square, rate * total),
            units=self.cell_sums("people_pairs", g, h),
            comparisons=self.cell_sums("impostor_pairs", g, h),
            people=np.count_nonzero(self.by_person(compared)),
            own_errors=self.by_person(accepted),
        )

    def far_noise(self, point: int, one, other, rates, totals) -> float:
        """Covariance of two FARs from pairs of people alone: Σ m (a - F) m' (a - F').

        one, other: pairs of groups, of which one contains the other or is equal to it.
        """
        inner = one if one[0] < self.n_groups else other
        squares = self.cell_sums("accepted_square", *inner, point)
        cross = self.cell_sums("accepted_cross", *inner, point)
        whole = self.cell_sums("compared_square", *inner)
        both = squares - (rates[0] + rates[1]) * cross + rates[0] * rates[1] * whole
        return float(both / (totals[0] * totals[1]))

    # --- FRR -------------------------------------------------------------------------------------

    def frr(self, point: int, g: int) -> Added:
        """FRR of a group, or of all, at a fixed threshold."""
        here = self.entries_of(g)
        rejected = self.values["rejected"][point] * here
        genuine = self.values["genuine"] * here
        total = genuine.sum()
        if total == 0:
            return self._nothing()
        rate = rejected.sum() / total
        influence = self.of_units((rejected - rate * genuine) / total, genuine)
        return Added(
            rate=rate,
            influence=influence,
            noise=0.0,
            least=0.0,
            **self.genuine_errors(rejected, genuine, g),
        )

    def genuine_errors(self, rejected: np.ndarray, genuine: np.ndarray, g: int) -> dict:
        """Who errs among the people with genuine pairs."""
        errors = self.by_person(rejected)
        people = np.count_nonzero(self.by_person(genuine))
        return {
            "seen": count_alike((errors**2).sum(), errors.sum()),
            "units": people,
            "comparisons": float((self.values["genuine_pairs"] * self.entries_of(g)).sum() / 2),
            "people": people,
            "own_errors": errors,
        }

    def entries_of(self, g: int) -> np.ndarray:
        """(entry,) whether it belongs to a group, or to all."""
        group = self.values["group"]
        return np.ones(len(group), bool) if g == self.n_groups else group == g

    def _nothing(self) -> Added:
        """A rate without comparisons."""
        nobody = np.zeros(self.gather.shape[0])
        return Added(np.nan, nobody, 0.0, 0.0, 0.0, 0.0, 0.0, 0, nobody)

    # --- at FAR levels, at the EER, over the curve -----------------------------------------------

    def at_level(self, rate: str, point: int, g: int, h: int, fixed_threshold: bool) -> Added:
        """FAR or FRR at a level, with the error of its threshold unless that is fixed."""
        added = self.far(point, g, h) if rate == "far" else self.frr(point, g)
        if fixed_threshold or not self.at_far_levels or np.isnan(added.rate):
            return added
        leader = self._leader(point)
        if rate == "far" and (g, h) == (leader, leader):
            return added  # the rate that the threshold holds: what it would be at a fixed one
        reference = self.far(point, leader, leader)
        if not reference.rate > 0:
            return added
        slope = self.slope(rate, g, h, leader, reference)
        share = slope / reference.rate
        influence = added.influence - share * reference.influence
        noise = added.noise + share**2 * reference.noise
        if rate == "far" and self._overlap((g, h), leader):
            total = self._total(g, h), self._total(leader, leader)
            rates = added.rate, reference.rate
            common = self.far_noise(point, (g, h), (leader, leader), rates, total)
            noise -= 2 * share * common
        least = max(added.least, float(added.influence @ added.influence) / 2)
        least = added.least if rate == "far" else least
        return replace(added, influence=influence, noise=noise, least=least)

    def _overlap(self, cell: tuple[int, int], leader: int) -> bool:
        """Whether pairs of a cell are among those whose FAR the threshold keeps."""
        return leader == self.n_groups or cell == (leader, leader)

    def _total(self, g: int, h: int) -> float:
        """Weight of all impostor pairs of a cell."""
        return float((self.values["compared"] * self.pairs_of(g, h)).sum() / 2)

    def _leader(self, point: int) -> int:
        """Whose FAR the threshold keeps to the level: all, or the group with the highest FAR."""
        if not self.of_worst_group:
            return self.n_groups
        rates = [self.far(point, g, g).rate for g in range(self.n_groups)]
        return int(np.nanargmax(rates))

    def curve(self, rate: str, g: int, h: int) -> np.ndarray:
        """A rate along the data's own curve, (place,)."""
        if rate == "frr":
            return self.values["curve_frr"][:, g]
        if g == self.n_groups:
            return self.values["curve_far_all"]
        return self.values["curve_far"][:, g, h]

    def window(self, far: Added) -> float:
        """Width of the window of the slope to either side, in log FAR: two standard deviations."""
        return float(np.clip(2 * np.sqrt(far.variance) / max(far.rate, TINY), *WIDTHS))

    def slope(self, rate: str, g: int, h: int, leader: int, far: Added) -> float:
        """d rate / d log FAR, of the FAR that the threshold keeps."""
        width = self.window(far)
        logs = np.log(np.maximum(self.curve("far", leader, leader), TINY))
        ends = np.log(far.rate) + np.array([-width, width])
        order = np.argsort(logs, kind="stable")
        values = np.interp(ends, logs[order], self.curve(rate, g, h)[order])
        ends = np.clip(ends, logs[order][0], logs[order][-1])
        return float((values[1] - values[0]) / max(ends[1] - ends[0], 1e-9))

    def threshold(self, point: int) -> Added:
        """The threshold of a FAR level, which rises where a person adds to the FAR."""
        leader = self._leader(point)
        far = self.far(point, leader, leader)
        logs = np.log(np.maximum(self.curve("far", leader, leader), TINY))
        order = np.argsort(logs, kind="stable")
        ends = np.log(max(far.rate, TINY)) + self.window(far) * np.array([-1, 1])
        ends = np.clip(ends, logs[order][0], logs[order][-1])
        values = np.interp(ends, logs[order], self.values["curve_threshold"][order])
        falls = (values[0] - values[1]) / max(ends[1] - ends[0], 1e-9)
        influence = falls * far.influence / max(far.rate, TINY)
        return replace(far, rate=float(self.values["threshold"][point]), influence=influence)

    def eer(self, g: int) -> Added:
        """EER of a group, or of all: the rates at the crossing, weighted by each other's slope."""
        point = int(self.eer_points[g])
        far, frr = self.far(point, g, g), self.frr(point, g)
        if np.isnan(far.rate) or np.isnan(frr.rate):
            return self._nothing()
        logs = np.log(np.maximum(self.curve("far", g, g), TINY))
        order = np.argsort(logs, kind="stable")
        ends = np.log(max(far.rate, TINY)) + self.window(far) * np.array([-1, 1])
        falls = np.diff(np.exp(np.clip(ends, logs[order][0], logs[order][-1])))[0]
        rises = -np.diff(np.interp(ends, logs[order], self.curve("frr", g, g)[order]))[0]
        share = falls / (falls + rises) if falls + rises > 0 else 0.5  # of FRR's deviation
        return replace(
            frr,
            rate=float(self.values["rate"][point]),
            influence=share * frr.influence + (1 - share) * far.influence,
            noise=share**2 * frr.noise + (1 - share) ** 2 * far.noise,
            least=(1 - share) ** 2 * far.least,
        )

    def auc(self, g: int) -> Added:
        """1 - AUC of a group, or of all: the probability that an impostor pair scores higher."""
        point = int(self.eer_points[-1]) + 1 + g
        far, frr = self.far(point, g, g), self.frr(point, g)
        if np.isnan(far.rate) or np.isnan(frr.rate):
            return self._nothing()
        influence = far.influence + frr.influence
        return replace(frr, influence=influence, noise=frr.noise + far.noise, least=far.least)
