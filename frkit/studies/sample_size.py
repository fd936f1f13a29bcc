"""How many people until an interval is narrow enough, or a difference is seen.

With as many images each, what one person adds to a rate falls in proportion to the number of
people. An interval's width, or a test's power, is computed for a factor on that number by the
formulas of the intervals themselves, and solved for the factor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy import stats
from scipy.optimize import brentq

from frkit.base import (
    FAR_LEVEL,
    IMAGE,
    MODEL,
    require,
    require_inside,
    require_one_of,
)
from frkit.evaluation.evaluate import evaluate
from frkit.intervals.compare import difference_variance
from frkit.intervals.contributions import NEW_PEOPLE
from frkit.intervals.effective import added_to, effective_number, jeffreys
from frkit.intervals.equality import chi_square, pooled
from frkit.intervals.reading import provenance
from frkit.scores.tensor import score_tensor

GOALS = {
    "half_width": "half the width of the interval of FRR",
    "relative_half_width": "half the width of the interval of FRR, as a share of FRR",
    "difference": "power to see the difference in FRR",
    "ratio": "power to see the ratio between the groups' FRR",
}
TASKS = {
    "half_width": "bring half the width of the {level:.0%} interval of FRR to {size:.3g}",
    "relative_half_width": "bring half the width of the {level:.0%} interval to {size:.3g} times FRR",
    "difference": "see a difference of {size:.3g} in FRR with a power of {power:.0%}",
    "ratio": "see a ratio of {size:.3g} between the groups' FRR with a power of {power:.0%}",
}
TESTS = ("difference", "ratio")
FARTHEST = 100  # times the people that are there: beyond that nothing is promised
ERRORS = 10  # of either kind that are expected at least
CURVE = 60  # points


class Prospect(NamedTuple):
    """What more people would bring.

    value : half-width or power as a function of the factor on the number of people.
    comparisons : effective number of comparisons, likewise. effect : what the data show.
    rejects : rejected genuine pairs where they are fewest.
    """

    value: Callable[[float], float]
    comparisons: Callable[[float], float]
    effect: float
    rejects: int


def sample_size(
    data: xr.Dataset | xr.DataArray,
    goal: str,
    size: float | None = None,
    *,
    far: float = 1e-3,
    by: str | None = None,
    level: float = 0.95,
    power: float = 0.8,
    weighting: ArrayLike | Mapping[str, float] | None = None,
) -> xr.Dataset:
    """Find the smallest number of people that reaches a goal, from data like those to come.

    An effective number of comparisons (`frkit.band`) grows with the number of people. The interval
    of FRR is Jeffreys' with that number, a difference of two models is seen in a paired t-test over
    people, a ratio of groups in the chi-square test of equal rates.

    Parameters
    ----------
    data : faces, score tensor or list of pairs
        A pilot study, or a part of what there is, with people and images like those to come. For
        the goal "difference" of two models.
    goal, size : str, float
        "half_width": half the width of the interval of FRR, in units of FRR;
        "relative_half_width": as a share of FRR; "difference": FRR of the second model minus that
        of the first; "ratio": FRR of the worst group over that of the best (above 1; needs `by`).
        Without a size, for the last two: what it is in the data.
    far : float
        FAR level in (0, 1).
    by : str, optional
        Attribute of the people, for the goal "ratio"; groups keep their shares.
    level, power : float
        Nominal coverage of intervals (1 - size of tests), and the probability with which an effect
        is to be seen. In (0, 1).
    weighting : as in `evaluate`

    Returns
    -------
    xr.Dataset
        `n_identities`: how many people reach the goal, with at least ten errors of either kind
        expected; NaN where 100 times as many people as there are would not. `n_effective`: the
        effective number of comparisons then. `n_identities_now`, `n_effective_now`: in the data.
        `predicted`: half-width or power with `n_identities`. `curve_identities`, `curve_value`:
        the same along a curve. attrs["answer"] says it in sentences; `effect` and `frr` are those
        of the data (`frr` of the first model).

    Raises
    ------
    InputError
        For an unknown goal, a size or level out of range, groups or models that the data have not,
        or an FRR of 0 or 1.

    References
    ----------
    Kish (1965), Survey sampling, on effective numbers; Rao & Scott (1984) on the test of groups.

    Examples
    --------
    >>> import frkit as fk
    >>> pilot = fk.vmf.IdentityLaw(16, kappa=(20, 80)).draw(60).sample(5)
    >>> plan = fk.studies.sample_size(pilot, "half_width", 0.02, far=0.05)
    >>> int(plan.n_identities) > 60
    True
    """
    require_one_of("goal", goal, GOALS)
    require(size is not None or goal in TESTS, f"goal {goal!r} needs a size: {GOALS[goal]}")
    if size is not None:
        wished = abs(size) if goal == "difference" else size
        require_inside(f"size of goal {goal!r}", wished, int(goal == "ratio"), np.inf)
    for name, value in (("far", far), ("level", level), ("power", power)):
        require_inside(name, value, 0, 1)
    require(goal != "ratio" or by is not None, "goal 'ratio' compares groups: name one with by=")
    scores = score_tensor(data) if IMAGE in getattr(data, "dims", ()) else data
    evaluation = evaluate(scores, far=[far], by=by, weighting=weighting)
    rates = evaluation["empirical"].to_dataset().isel({FAR_LEVEL: 0})
    _check_models(goal, rates)
    prospect = _PROSPECTS[goal](evaluation, size, level)
    people = provenance(evaluation).get("n_identities")
    require(
        people, "a plan counts people, but these pairs do not say who they show: name identities"
    )
    planned_size = prospect.effect if size is None else size
    goal_line = power if goal in TESTS else size
    accepts = max(int(rates.false_accepts.min()), 1)  # they grow with the square of people
    fewest = max(ERRORS / prospect.rejects, np.sqrt(ERRORS / accepts), 2 / people)
    factor = _smallest_factor(prospect.value, goal_line, goal in TESTS, fewest)
    farthest = FARTHEST if np.isnan(factor) else min(10 * factor, FARTHEST)
    factors = np.geomspace(fewest / 2, farthest, CURVE)
    plan = xr.Dataset(
        {
            "n_identities": np.ceil(factor * people),
            "n_effective": np.nan if np.isnan(factor) else prospect.comparisons(factor),
            "predicted": np.nan if np.isnan(factor) else prospect.value(factor),
            "n_identities_now": people,
            "n_effective_now": prospect.comparisons(1.0),
            "value_now": prospect.value(1.0),
            "curve_identities": ("curve", factors * people),
            "curve_value": ("curve", [prospect.value(point) for point in factors]),
        }
    )
    plan.attrs = {
        "goal": goal,
        "size": float(planned_size),
        "far": far,
        "level": level,
        "power": power,
        "effect": prospect.effect,
        "frr": float(np.ravel(rates.frr)[0]),
        "line": goal_line,
        "value": GOALS[goal],
        "target": NEW_PEOPLE,
    }
    plan.attrs["answer"] = _answer(plan, observed=size is None)
    return plan


def _check_models(goal: str, rates: xr.Dataset) -> None:
    """Refuse a number of models that the goal is not about, and data without an error."""
    models = rates.sizes.get(MODEL, 1)
    if goal == "difference":
        require(models == 2, f"goal 'difference' takes two models, these data have {models}")
    else:
        message = f"goal {goal!r} is about one model: give one, such as faces.sel(model=name)"
        require(models == 1, message)
    frr = rates.frr_group if goal == "ratio" else rates.frr
    require(
        bool(((frr > 0) & (frr < 1)).all()),
        f"the FRR of these data is {frr.values}: there are no errors to plan from; take another "
        "FAR level",
    )


# --- what more people would bring ----------------------------------------------------------------


def _interval(evaluation: xr.DataTree, _size, level: float, relative: bool = False) -> Prospect:
    """Half the width of Jeffreys' interval of FRR."""
    (added,) = added_to(evaluation, "frr", NEW_PEOPLE).ravel()

    def comparisons(factor: float) -> float:
        return effective_number(added.of_more_people(factor), level)

    def half_width(factor: float) -> float:
        lower, upper = jeffreys(np.array(added.rate), np.array(comparisons(factor)), level)
        return float(upper - lower) / 2 / (added.rate if relative else 1)

    rejects = evaluation["empirical"].false_rejects.item()
    return Prospect(half_width, comparisons, np.nan, rejects)


def _relative_interval(evaluation: xr.DataTree, size, level: float) -> Prospect:
    return _interval(evaluation, size, level, relative=True)


def _difference(evaluation: xr.DataTree, size: float | None, level: float) -> Prospect:
    """Power of the paired t-test over people, by the noncentral t distribution."""
    first, second = added_to(evaluation, "frr", NEW_PEOPLE).ravel()
    effect = second.rate - first.rate
    wished = abs(effect if size is None else size)
    spread = sum(one.rate * (1 - one.rate) for one in (first, second))

    def variance(factor: float) -> float:
        return difference_variance(first.of_more_people(factor), second.of_more_people(factor))

    def power(factor: float) -> float:
        df = max(first.people * factor - 1, 1)
        limit = stats.t.ppf((1 + level) / 2, df)
        return float(stats.nct.sf(limit, df, wished / np.sqrt(variance(factor))))

    rejects = int(evaluation["empirical"].false_rejects.min())
    return Prospect(power, lambda factor: spread / variance(factor), effect, rejects)


def _ratio(evaluation: xr.DataTree, size: float | None, level: float) -> Prospect:
    """Power of the chi-square test of equal groups, on the line through the rates that were seen."""
    groups = added_to(evaluation, "frr_group", NEW_PEOPLE, fixed_threshold=True).ravel()
    rate, df = np.array([added.rate for added in groups]), len(groups) - 1
    effect = float(rate.max() / rate.min())
    require(effect > 1, "the groups of these data have one FRR: there is no ratio to plan from")
    away = np.log(rate) - np.log(rate).mean()
    truth = np.exp(away * np.log(effect if size is None else size) / np.log(effect))

    def numbers(factor: float) -> np.ndarray:
        return np.array([effective_number(one.of_more_people(factor), level) for one in groups])

    def power(factor: float) -> float:
        n = numbers(factor)
        rates = truth * (n * rate).sum() / (n * truth).sum()  # as many errors in all
        statistic = chi_square(rates, n, pooled(rates, n))
        return float(stats.ncx2.sf(stats.chi2.ppf(level, df), df, statistic))

    rejects = int(evaluation["empirical"].false_rejects_group.min())
    return Prospect(power, lambda factor: numbers(factor).sum(), effect, rejects)


_PROSPECTS = {
    "half_width": _interval,
    "relative_half_width": _relative_interval,
    "difference": _difference,
    "ratio": _ratio,
}


def _smallest_factor(value: Callable, goal: float, rising: bool, fewest: float) -> float:
    """The smallest factor on the number of people that reaches the goal; NaN beyond FARTHEST."""

    def missing(logarithm: float) -> float:
        gap = goal - value(float(np.exp(logarithm)))
        return gap if rising else -gap

    lowest, highest = np.log(fewest), np.log(FARTHEST)
    if lowest > highest or missing(highest) > 0:
        return np.nan
    if missing(lowest) <= 0:
        return fewest
    return float(np.exp(brentq(missing, lowest, highest)))


def _answer(plan: xr.Dataset, observed: bool) -> str:
    """The plan in sentences."""
    goal, far, people = plan.attrs["goal"], plan.attrs["far"], int(plan.n_identities_now)
    task = TASKS[goal].format(**{**plan.attrs, "size": abs(plan.attrs["size"])})
    comparisons = f"{float(plan.n_effective_now):,.0f} independent comparisons"
    worth = f"These data of {people:,} people are worth {comparisons}"
    if np.isnan(plan.n_identities):
        sentences = [
            f"To {task} at FAR {far:g} cannot be decided with data like these: it takes more "
            f"than {FARTHEST} times as many people. {worth}."
        ]
    else:
        sentences = [
            f"To {task} at FAR {far:g} takes about {int(plan.n_identities):,} people like "
            f"these, with as many images each. {worth}; {float(plan.n_effective):,.0f} are needed."
        ]
    if observed:
        sentences.append(
            "The effect is the one that these data show; if it is smaller in truth, more people are "
            "needed."
        )
    return " ".join(sentences)
