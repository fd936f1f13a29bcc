"""How many people until an interval is narrow enough, or a difference is seen.

With as many images each, what one person adds to a rate falls in proportion to the number of
people. An interval's width, or a test's power, is computed for a factor on that number by the
formulas of the intervals themselves, and solved for the factor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
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
    real_numbers,
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
    "relative_half_width": (
        "bring half the width of the {level:.0%} interval to {size:.3g} times FRR"
    ),
    "difference": "see a difference of {size:.3g} in FRR with a power of {power:.0%}",
    "ratio": "see a ratio of {size:.3g} between the groups' FRR with a power of {power:.0%}",
}
TESTS = ("difference", "ratio")
FARTHEST = 100  # times the people that are there: beyond that nothing is promised
ERRORS = 10  # of either kind that are expected at least
CURVE = 60  # points


class Prospect(NamedTuple):
    """What more people would bring.

    value: half-width or power as a function of the factor on the number of people.
    comparisons: effective number of comparisons, likewise. effect: what the data show.
    """

    value: Callable[[float], float]
    comparisons: Callable[[float], float]
    effect: float


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
    weighting
        As in `evaluate`.

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
    is_test = goal in TESTS
    require(
        size is not None or is_test,
        f"goal {goal!r} needs a size: {GOALS[goal]}",
    )
    if size is not None:
        given = real_numbers("size", size)
        wanted = abs(given) if goal == "difference" else given
        require_inside(
            f"size of goal {goal!r}",
            wanted,
            1 if goal == "ratio" else 0,
            np.inf,
        )
    require_inside("far", far, 0, 1)
    require_inside("level", level, 0, 1)
    require_inside("power", power, 0, 1)
    require(
        goal != "ratio" or by is not None,
        "goal 'ratio' compares groups: name one with by=",
    )
    scores = score_tensor(data) if IMAGE in getattr(data, "dims", ()) else data
    evaluation = evaluate(scores, far=[far], by=by, weighting=weighting)
    people = provenance(evaluation).get("n_identities")
    require(
        people,
        "a plan counts people, but these pairs have no identities: name them",
    )
    rates = evaluation["empirical"].to_dataset().isel({FAR_LEVEL: 0})
    _check_rates(goal, rates)
    prospect = _PROSPECTS[goal](evaluation, size, level)
    goal_line = power if is_test else size
    # rejected pairs grow with people, accepted pairs with their square
    rejects = int(np.min(rates.false_rejects_group if goal == "ratio" else rates.false_rejects))
    accepts = max(int(rates.false_accepts.min()), 1)
    fewest = max(ERRORS / rejects, np.sqrt(ERRORS / accepts), 2 / people)
    factor = _smallest_factor(prospect.value, goal_line, is_test, fewest)
    reached = not np.isnan(factor)
    farthest = min(10 * factor, FARTHEST) if reached else FARTHEST
    factors = np.geomspace(fewest / 2, farthest, CURVE)
    plan = xr.Dataset(
        {
            "n_identities": np.ceil(factor * people),
            "n_effective": prospect.comparisons(factor) if reached else np.nan,
            "predicted": prospect.value(factor) if reached else np.nan,
            "n_identities_now": people,
            "n_effective_now": prospect.comparisons(1.0),
            "value_now": prospect.value(1.0),
            "curve_identities": ("curve", factors * people),
            "curve_value": (
                "curve",
                [prospect.value(point) for point in factors],
            ),
        },
        attrs={
            "goal": goal,
            "size": float(prospect.effect if size is None else size),
            "far": far,
            "level": level,
            "power": power,
            "effect": float(prospect.effect),
            "frr": float(np.ravel(rates.frr)[0]),
            "line": goal_line,
            "value": GOALS[goal],
            "target": NEW_PEOPLE,
        },
    )
    return plan.assign_attrs(answer=_answer(plan, observed=size is None))


def _check_rates(goal: str, rates: xr.Dataset) -> None:
    """Refuse another number of models than the goal is about, and data without an error."""
    models = rates.sizes.get(MODEL, 1)
    if goal == "difference":
        require(
            models == 2,
            f"goal 'difference' takes two models, these data have {models}",
        )
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


def _half_width(evaluation: xr.DataTree, _size, level: float, relative: bool = False) -> Prospect:
    """Half the width of Jeffreys' interval of FRR."""
    (added,) = added_to(evaluation, "frr", NEW_PEOPLE).ravel()
    unit = added.rate if relative else 1

    def comparisons(factor: float) -> float:
        return effective_number(added.of_more_people(factor), level)

    def half_width(factor: float) -> float:
        lower, upper = jeffreys(np.array(added.rate), np.array(comparisons(factor)), level)
        return float(upper - lower) / 2 / unit

    return Prospect(half_width, comparisons, np.nan)


def _difference(evaluation: xr.DataTree, size: float | None, level: float) -> Prospect:
    """Power of the paired t-test over people, by the noncentral t distribution."""
    first, second = added_to(evaluation, "frr", NEW_PEOPLE).ravel()
    effect = second.rate - first.rate
    wanted = abs(effect if size is None else size)
    spread = first.rate * (1 - first.rate) + second.rate * (1 - second.rate)

    def variance(factor: float) -> float:
        return difference_variance(first.of_more_people(factor), second.of_more_people(factor))

    def comparisons(factor: float) -> float:
        return spread / variance(factor)

    def power(factor: float) -> float:
        df = max(first.people * factor - 1, 1)
        limit = stats.t.ppf((1 + level) / 2, df)
        return float(stats.nct.sf(limit, df, wanted / np.sqrt(variance(factor))))

    return Prospect(power, comparisons, effect)


def _ratio(evaluation: xr.DataTree, size: float | None, level: float) -> Prospect:
    """Power of the chi-square test of equal groups, on the line through the observed rates."""
    groups = added_to(evaluation, "frr_group", NEW_PEOPLE, fixed_threshold=True).ravel()
    rate = np.array([added.rate for added in groups])
    df = len(groups) - 1
    effect = float(rate.max() / rate.min())
    require(
        effect > 1,
        "the groups of these data have one FRR: there is no ratio to plan from",
    )
    direction = (np.log(rate) - np.log(rate).mean()) / np.log(effect)
    truth = np.exp(direction * np.log(effect if size is None else size))

    def numbers(factor: float) -> np.ndarray:
        return np.array([effective_number(one.of_more_people(factor), level) for one in groups])

    def comparisons(factor: float) -> float:
        return numbers(factor).sum()

    def power(factor: float) -> float:
        n = numbers(factor)
        rates = truth * (n * rate).sum() / (n * truth).sum()  # as many errors in all
        statistic = chi_square(rates, n, pooled(rates, n))
        return float(stats.ncx2.sf(stats.chi2.ppf(level, df), df, statistic))

    return Prospect(power, comparisons, effect)


_PROSPECTS = {
    "half_width": _half_width,
    "relative_half_width": partial(_half_width, relative=True),
    "difference": _difference,
    "ratio": _ratio,
}


def _smallest_factor(value: Callable, goal: float, rising: bool, fewest: float) -> float:
    """Find the smallest factor on the number of people that reaches the goal, or NaN."""

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
    """Write the plan in sentences."""
    facts = {**plan.attrs, "size": abs(plan.attrs["size"])}
    task = f"To {TASKS[facts['goal']].format(**facts)} at FAR {facts['far']:g}"
    now = (
        f"These data of {int(plan.n_identities_now):,} people are worth "
        f"{float(plan.n_effective_now):,.0f} independent comparisons"
    )
    if np.isnan(plan.n_identities):
        answer = (
            f"{task} cannot be decided with data like these: it takes more than {FARTHEST} times "
            f"as many people. {now}."
        )
    else:
        answer = (
            f"{task} takes about {int(plan.n_identities):,} people like these, with as many images "
            f"each. {now}; {float(plan.n_effective):,.0f} are needed."
        )
    if observed:
        answer += (
            " The effect is the one that these data show; if it is smaller in truth, more people "
            "are needed."
        )
    return answer
