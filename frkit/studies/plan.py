"""From variances that were measured to a number of people, and what to say of it."""

import warnings
from functools import partial
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.optimize import nnls
from scipy.stats import norm

from frkit.base import GROUP, MODEL, DataWarning
from frkit.intervals.bands import band
from frkit.intervals.compare import compare
from frkit.resampling import SCHEMES

GOALS = {
    "half_width": "half the width of the band of FRR",
    "relative_half_width": "half the width of the band of FRR, as a share of FRR",
    "difference": "power to see the difference in FRR",
    "ratio": "power to see the ratio between the groups' FRR",
}
WHAT = {
    "half_width": "bring the half-width of the {level:.0%} band of FRR to {size:g}",
    "relative_half_width": "bring the half-width of the {level:.0%} band to {size:.0%} of FRR",
    "difference": "see a difference of {size:.3g} in FRR with a power of {power:.0%}",
    "ratio": "see a ratio of {size:.3g} between the groups' FRR with a power of {power:.0%}",
}
TESTS = ("difference", "ratio")
SCHEME, REPLICATES = "identity", 400
TERMS = ("people", "images", "pairs")
ERRORS = 10  # expected of either kind, from which on a level is resolved
FAR_OUT = 2  # times as many people as there are: from here on it is said


class Contrast(NamedTuple):
    """What is planned for as a weighted sum of rates `frr`. A ratio is linear in log around the data's.

    rarest: share of genuine pairs that are rejected in the model or group that has the fewest.
    """

    goal: str
    weights: xr.DataArray
    effect: float
    frr: xr.DataArray
    rarest: float
    resolved: bool

    def value(self, rates: xr.Dataset, log: bool = False) -> xr.DataArray:
        """What is planned for; log: of a ratio its logarithm itself, which is infinite for a group without an error."""
        frr, weights = rates[self.frr.name].reindex_like(self.weights), self.weights
        if log and self.goal == "ratio":
            frr, weights = np.log(frr), np.sign(weights)
        return (frr * weights).sum(weights.dims, skipna=False)

    @np.errstate(divide="ignore", invalid="ignore")
    def half_width(self, evaluation: xr.DataTree, level: float) -> float:
        """Half of the interval that the kit gives it, about new people."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            if self.goal == "difference":
                names = evaluation["empirical"][MODEL].values.tolist()
                found = compare(evaluation, "frr", models=tuple(names), level=level)
            elif self.goal == "ratio":
                found = band(evaluation, partial(self.value, log=True), level=level)
            else:
                found = band(evaluation, "frr", level=level)
        width = (found.upper - found.lower).item() / 2
        return width * float(self.weights) if self.goal == "relative_half_width" else width


class Plan(NamedTuple):
    """A goal to be solved for.

    counts, mass: images of the people of the data, and the weight that each has for another reason than its images.
    pooled: whether all genuine pairs weigh the same. width: (2,) half of the kit's interval in standard deviations: a
    constant, and what is divided by the square of people. fewest: people of the smallest part that was tried.
    """

    contrast: Contrast
    size: float
    far: float
    level: float
    power: float
    counts: np.ndarray
    mass: np.ndarray
    pooled: bool
    width: np.ndarray
    fewest: int

    @property
    def wished(self) -> float:
        """The size on the scale of the contrast."""
        return float(np.log(self.size) if self.contrast.goal == "ratio" else abs(self.size))

    def value(self, variance, people):
        """Half-width as the goal counts it, or power, with so many people and this variance a person."""
        sd, sds = np.sqrt(variance / people), self.width @ [people**0, 1 / people**2]
        return norm.cdf(self.wished / sd - sds) if self.contrast.goal in TESTS else sds * sd

    def needed(self, variance, n, wished: float | None = None) -> np.ndarray:
        """The smallest number of people with n images and this variance a person that reaches the goal."""
        even, few = self.width + [norm.ppf(self.power) if self.contrast.goal in TESTS else 0, 0]
        # wished / sd = even + few / people²: in the root of people a polynomial with one root above 0
        sds = np.atleast_1d(np.sqrt(variance) / (wished or self.wished))
        roots = [np.roots([1, -even * sd, 0, 0, 0, -few * sd]) for sd in sds]
        by_goal = [root[np.isreal(root)].real.max() ** 2 for root in roots]
        by_accepts, by_rejects = np.sqrt(2 * ERRORS / self.far) / n, ERRORS / (n * (n - 1) / 2 * self.contrast.rarest)
        return np.ceil(np.maximum.reduce(np.broadcast_arrays(by_goal, by_accepts, by_rejects, self.fewest))).astype(int)

    def shares(self, n: np.ndarray) -> np.ndarray:
        """What one person's, the images' and the pairs' variance weigh, a person, if each had so many images."""
        weight = self.mass * (n * (n - 1) if self.pooled else 1)
        return (weight / weight.sum()) ** 2 @ terms(n) * len(n)

    def result(self, measured: dict[int, float], per_identity: tuple, observed: bool) -> xr.Dataset:
        """Everything as `sample_size` returns it, from the variances that were measured with so many images."""
        people, goal = len(self.counts), self.contrast.goal
        design = np.array([self.shares(np.minimum(self.counts, most)) for most in measured])
        variances = np.array(list(measured.values())) * people
        law = nnls(design / variances[:, None], np.ones(len(variances)))[0]  # equal relative errors
        numbers = np.array(per_identity)
        one_person = np.array([self.shares(np.full(people, n)) for n in numbers]) @ law
        needed = self.needed(one_person, numbers)
        curve = np.unique(np.geomspace(min(needed.min(), people) / 2, max(needed.max(), people) * 2, 60).round())
        plan = xr.Dataset(
            {
                "n_identities": ("per_identity", needed),
                "n_images": ("per_identity", needed * numbers),
                "predicted": ("per_identity", self.value(one_person, needed)),
                "curve_value": (("per_identity", "curve"), self.value(one_person[:, None], curve)),
                "curve_identities": ("curve", curve.astype(int)),
                "part_images": ("part", list(measured)),
                "part_identities": ("part", np.full(len(variances), people)),
                "part_value": ("part", self.value(variances, people)),
                "part_predicted": ("part", self.value(design @ law, people)),
                "law": ("term", law),
            },
            {"per_identity": numbers, "term": list(TERMS)},
        )
        value, line = ("power", self.power) if goal in TESTS else (GOALS[goal], self.size)
        plan.attrs = {"goal": goal, "size": self.size, "far": self.far, "level": self.level}
        plan.attrs |= {"value": value, "line": line, "effect": self.contrast.effect, "scheme": SCHEME}
        plan.attrs |= {"effect_se": float(np.sqrt(variances[-1] / people)), "target": SCHEMES[SCHEME].target}
        plan.attrs |= {"frr": float(self.contrast.frr.values.flat[0]), "width": self.width.tolist()}
        plan.attrs["answer"] = " ".join([self.answer(plan), *self.cautions(plan, observed)])
        return plan

    def answer(self, plan: xr.Dataset) -> str:
        """What is recommended, in a sentence."""
        n, k = _best(plan)
        what = WHAT[self.contrast.goal].format(level=self.level, size=self.size, power=self.power)
        rates = " and ".join(f"{frr:.3g}" for frr in self.contrast.frr.values.flat)
        every = zip(plan.per_identity.values, plan.n_identities.values, strict=True)
        others = f"; people needed by images per person: {' or '.join(f'{k:,} with {n}' for n, k in every)}"
        text = f"At FAR {self.far:g} (FRR {rates}), about {k:,} people with {n} images each ({k * n:,} images) {what}"
        return f"{text}{others if plan.sizes['per_identity'] > 1 else ''}."

    def cautions(self, plan: xr.Dataset, observed: bool) -> list[str]:
        """What limits the answer."""
        people, (n, k), error = len(self.counts), _best(plan), plan.attrs["effect_se"]
        words = [f"This holds for new people like the {people:,} whose variance was measured."]
        if observed:
            log = " in its logarithm" if self.contrast.goal == "ratio" else ""
            words.append(f"The effect is the one observed, with a standard error of {error:.2g}{log}.")
            if (left := self.wished - error) > 0:
                more = self.needed(plan.law.values @ self.shares(np.full(people, n)), n, left)[0]
                words.append(f"Were it one smaller, {more:,} people would be needed.")
        if self.contrast.goal == "ratio":
            first, last = self.contrast.frr[GROUP].values
            words.append(f"The groups are those with the highest and the lowest FRR here, {first} and {last}.")
        if k == self.fewest:
            words.append("Fewer people were not tried.")
        if self.pooled or np.ptp(self.mass) > 0:
            words.append(f"{'Genuine pairs weigh alike' if self.pooled else 'People weigh'} as in these data.")
        if k > FAR_OUT * people:
            words.append(f"That is {k / people:.1f} times as many people as there are here.")
        if (most := plan.per_identity.values.max()) > self.counts.max():
            words.append(f"No person here has {most} images: what more than {self.counts.max()} are worth is a guess.")
        if not self.contrast.resolved:
            words.append(f"These data hold fewer than {ERRORS} errors of a kind at this level: the plan is rough.")
        return words


def _best(plan: xr.Dataset) -> tuple[int, int]:
    """Images per person and people of the plan that needs the fewest images."""
    best = plan.isel(per_identity=int(plan.n_images.values.argmin()))
    return int(best.per_identity), int(best.n_identities)


def terms(n) -> np.ndarray:
    """The shares of the person's, the images' and the pairs' variance in that of FRR: (..., term)."""
    n = np.asarray(n)
    return np.stack([np.ones(n.shape), 1 / n, 1 / (n * (n - 1))], -1)
