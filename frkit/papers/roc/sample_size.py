"""How many people it takes for a narrow enough interval, or to detect a difference.

With as many images each, what one person adds to a rate falls in proportion to the number of
people. An interval's width, or a test's power, is computed for a factor on that number by the
formulas of the intervals themselves, and solved for the factor.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from frkit.base import listed, require, require_inside, require_one_of
from frkit.evaluation.evaluate import evaluate
from frkit.evaluation.nodes import provenance_of
from frkit.intervals.compare import difference_variance, paired_contributions
from frkit.intervals.contributions import contributions
from frkit.intervals.effective import (
    effective_number,
    jeffreys,
    with_more_people,
)
from frkit.intervals.equality import equal_groups
from frkit.intervals.pooled import Groups, chi_square, common_rate, largest_chi_square
from frkit.intervals.reading import NEW_PEOPLE
from frkit.scores.tensor import score_tensor

WIDTH, DIFFERENCE, RATIO = "relative_half_width", "difference", "ratio"
# goal -> what is planned, and a sentence that begins with "To"
GOALS = {
    WIDTH: (
        "half the width of the interval of FRR, as a share of FRR",
        "bring half the width of the {level:.0%} interval to {size:.3g} times FRR",
    ),
    DIFFERENCE: (
        "power to detect the difference in FRR",
        "detect a difference of {size:.3g} in FRR with a power of {power:.0%}",
    ),
    RATIO: (
        "power to detect the ratio between the groups' FRR",
        "detect a ratio of {size:.3g} between the groups' FRR with a power of {power:.0%}",
    ),
}
FARTHEST = 100  # search limit: multiple of the number of people in the data
ERRORS = 10  # least number of errors of either kind that is expected
CURVE = 60  # points


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
    """Find the smallest number of people that reaches a goal, from pilot data.

    An effective number of comparisons (`frkit.band`) grows with the number of people. The interval
    of FRR is Jeffreys' interval with that number. A difference of two models is detected by a
    paired t-test over people, a ratio of groups by the test of equal rates (`frkit.band`).

    Parameters
    ----------
    data : faces, score tensor or list of pairs
        A pilot study, or a part of the data, with people and images like those to be collected; of
        two models for the goal "difference".
    goal, size : str, float
        "relative_half_width": half the width of the interval of FRR, as a share of FRR;
        "difference": FRR of the second model minus that of the first; "ratio": FRR of the worst
        group over that of the best (above 1; needs `by`). For the last two, the default is the
        effect in the data.
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
        expected; NaN where 100 times as many people as there are would not. `n_for_goal`: how many
        reach the goal, however few errors are expected. `n_effective`: the
        effective number of comparisons then. `n_identities_now`, `n_effective_now`: in the data.
        `predicted`: half-width or power with `n_identities`. `curve_identities`, `curve_value`:
        the same along a curve. `size` and `goal_value`: the effect or width that is planned for,
        and the half-width or power that is to be reached. `effect` and `frr`: those of the data
        (`frr` of the first model). `answer`: all this in sentences.

    Raises
    ------
    InputError
        For an unknown goal, a size or level out of range, groups or models that are not in the
        data, or an FRR of 0 or 1.

    References
    ----------
    Kish (1965), Survey sampling, on effective numbers; Rao & Scott (1984), Annals of Statistics 12,
    on the test of groups.

    Examples
    --------
    >>> import frkit as fk
    >>> pilot = fk.vmf.IdentityLaw(16, kappa=(20, 80)).draw(60).sample(5)
    >>> plan = fk.studies.sample_size(pilot, "relative_half_width", 0.2, far=0.05)
    >>> int(plan.n_identities) > 60
    True
    """
    _check_goal(goal, size, by)
    require_inside("level", level, 0, 1)
    require_inside("power", power, 0, 1)
    scores = score_tensor(data) if "image" in getattr(data, "dims", ()) else data
    evaluation = evaluate(scores, far=[far], by=by, weighting=weighting).isel(far_level=0)
    people = provenance_of(evaluation).get("n_identities")
    require(people, "a plan counts people, but these pairs have no identities: name them")
    rates = evaluation["empirical"].to_dataset()
    _check_rates(goal, rates)
    prospect, effect = PROSPECTS[goal](evaluation, size, level)
    is_test = goal != WIDTH
    line = power if is_test else size
    fewest = _fewest_people(goal, rates, people) / people
    for_goal = smallest_factor(prospect, line, is_test, 2 / people)
    factor = np.maximum(for_goal, fewest) if fewest <= FARTHEST else np.nan
    predicted, n_effective = prospect(factor)
    value_now, n_effective_now = prospect(1.0)
    factors = np.geomspace(fewest / 2, np.fmin(10 * factor, FARTHEST), CURVE)
    curve_values, _ = prospect(factors)
    value, _ = GOALS[goal]
    plan = xr.Dataset(
        {
            "n_identities": np.ceil(factor * people),
            "n_for_goal": np.ceil(for_goal * people),
            "n_effective": n_effective,
            "predicted": predicted,
            "n_identities_now": people,
            "n_effective_now": n_effective_now,
            "value_now": value_now,
            "size": float(effect if size is None else size),
            "goal_value": line,
            "effect": effect,
            "frr": float(rates.frr.values.flat[0]),
            "curve_identities": ("curve", factors * people),
            "curve_value": ("curve", curve_values),
        }
    )
    settings = {"goal": goal, "far": far, "level": level, "power": power, "value": value}
    plan = plan.assign_attrs(settings, target=NEW_PEOPLE)
    return plan.assign(answer=_answer(plan, observed=size is None))


def _check_goal(goal, size, by):
    """Refuse an unknown goal, and one without the size or the groups that it needs."""
    require_one_of("goal", goal, GOALS)
    value, _ = GOALS[goal]
    require(size is not None or goal != WIDTH, f"goal {goal!r} needs a size: {value}")
    if size is not None:
        effect = abs(size) if goal == DIFFERENCE else size
        require_inside(f"size of goal {goal!r}", effect, 1 if goal == RATIO else 0, np.inf)
    require(goal != RATIO or by is not None, "goal 'ratio' compares groups: name one with by=")


def _check_rates(goal, rates):
    """Refuse the wrong number of models for the goal, and data without errors."""
    models = rates.sizes.get("model", 1)
    needed = 2 if goal == DIFFERENCE else 1
    require(
        models == needed,
        f"goal {goal!r} takes {needed} model(s), these data have {models}: select with "
        "faces.sel(model=...)",
    )
    frr = rates.frr_group if goal == RATIO else rates.frr
    require(
        ((frr > 0) & (frr < 1)).all(),
        f"the FRR of these data is {frr.values}: there are no errors to plan from; take another "
        "FAR level",
    )


def _fewest_people(goal, rates, people):
    """The number of people that makes ten errors of either kind on average, at least two."""
    rejects = rates.false_rejects_group if goal == RATIO else rates.false_rejects
    # rejected pairs grow with people, accepted pairs with their square
    for_rejects = people * ERRORS / rejects.values.min()
    for_accepts = people * np.sqrt(ERRORS / max(rates.false_accepts.values.min(), 1))
    return max(for_rejects, for_accepts, 2)


# --- what more people would bring ----------------------------------------------------------------
# Each returns the prospect, a function of one or many factors on the number of people, whose values
# are half-widths or powers and effective numbers of comparisons; and the effect that the data show.


def _half_width(evaluation, _size, level):
    """Half the width of Jeffreys' interval of FRR, as a share of FRR."""
    added = contributions(evaluation, "frr", NEW_PEOPLE).squeeze(drop=True)
    rate = added.rate.item()

    def half_width(factor):
        factor = xr.DataArray(factor, dims=["curve"][: np.ndim(factor)])
        n = effective_number(with_more_people(added, factor), level).values
        lower, upper = jeffreys(rate, n, level)
        return (upper - lower) / 2 / rate, n

    return half_width, np.nan


def _difference(evaluation, size, level):
    """Power of the paired t-test over people, by the noncentral t distribution."""
    first, second = (
        contributions(evaluation.isel(model=model, drop=True), "frr", NEW_PEOPLE)
        for model in (0, 1)
    )
    effect = (second.rate - first.rate).item()
    planned_effect = abs(effect if size is None else size)
    spread = (first.rate * (1 - first.rate) + second.rate * (1 - second.rate)).item()
    pair = paired_contributions(first, second)

    from scipy import stats  # slow to import, and only here and in _ratio

    def power(factor):
        variance = difference_variance(with_more_people(pair, factor)).item()
        df = max(first.people.item() * factor - 1, 1)
        limit = stats.t.ppf((1 + level) / 2, df)
        return stats.nct.sf(limit, df, planned_effect / np.sqrt(variance)), spread / variance

    return np.vectorize(power, otypes=[float, float]), effect


def _ratio(evaluation, size, level):
    """Power of the test of equal groups, on the line through the observed rates."""
    equal = equal_groups(evaluation, "frr_group", NEW_PEOPLE)
    rate = equal.estimate.values.ravel()
    number = equal.n_effective.values.ravel()
    df_now = equal.df.item()
    alone = equal["group"].values[np.isnan(number)]
    require(
        len(alone) == 0,
        f"group(s) {listed(alone)} have one person, so how much people differ is unknown: "
        "leave them out, or merge them with others",
    )
    effect = float(rate.max() / rate.min())
    require(effect > 1, "the groups of these data have one FRR: there is no ratio to plan from")
    direction = (np.log(rate) - np.log(rate).mean()) / np.log(effect)
    truth = np.exp(direction * np.log(effect if size is None else size))

    from scipy import stats

    def power(factor):
        n = number * factor
        df = (df_now + len(rate)) * factor - len(rate)
        if df < 1:
            return 0.0, n.sum()
        rates = truth * (n * rate).sum() / (n * truth).sum()  # keeps the number of errors
        groups = Groups(rates, n, df)
        shift = chi_square(groups, common_rate(groups))
        limit = largest_chi_square(groups, 1 - level)
        others = len(rate) - 1
        return stats.ncf.sf(limit / others, others, df, shift), n.sum()

    return np.vectorize(power, otypes=[float, float]), effect


PROSPECTS = {WIDTH: _half_width, DIFFERENCE: _difference, RATIO: _ratio}


def smallest_factor(prospect, goal, rising, fewest):
    """Find the smallest factor on the number of people that reaches the goal, or NaN."""

    def missing(logarithm):
        value, _ = prospect(np.exp(logarithm))
        gap = (goal - value) * (1 if rising else -1)
        return float(np.nan_to_num(gap, nan=1.0))  # what has no value does not reach the goal

    lowest = np.log(fewest)
    highest = np.log(FARTHEST)
    if lowest > highest or missing(highest) > 0:
        return np.nan
    if missing(lowest) <= 0:
        return fewest
    return np.exp(brentq(missing, lowest, highest))


def _answer(plan, observed):
    """Write the plan in sentences."""
    values = {**plan.attrs, "size": abs(float(plan["size"]))}
    _, task = GOALS[values["goal"]]
    task = f"{task.format(**values)} at FAR {values['far']:g}"
    needed = ""
    if values["goal"] == DIFFERENCE:  # whose effective number counts no comparisons
        now = f"These data have {int(plan.n_identities_now):,} people"
    else:
        now = (
            f"These data of {int(plan.n_identities_now):,} people are worth "
            f"{float(plan.n_effective_now):,.0f} independent comparisons"
        )
        needed = f"; {float(plan.n_effective):,.0f} are needed"
    if np.isnan(plan.n_identities):
        answer = f"It takes more than {FARTHEST} times as many people like these to {task}. {now}."
    else:
        answer = (
            f"It takes about {int(plan.n_identities):,} people like these, with as many images "
            f"each, to {task}. {now}{needed}."
        )
        if plan.n_identities <= plan.n_identities_now:
            answer += " So these data are enough."
    goal_is_reached = not np.isnan(plan.n_for_goal)
    if goal_is_reached and plan.n_for_goal != plan.n_identities:
        answer += (
            f" So many people are needed for {ERRORS} errors of either kind; the goal alone takes "
            f"about {int(plan.n_for_goal):,}."
        )
    if observed:
        answer += (
            " The effect is the one that these data show; if it is smaller in truth, more people "
            "are needed."
        )
    return answer
