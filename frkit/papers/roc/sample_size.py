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

from frkit.base import require, require_inside, require_one_of
from frkit.evaluation.evaluate import evaluate
from frkit.evaluation.nodes import provenance_of
from frkit.findings.formats import say
from frkit.intervals.compare import difference_variance, paired_contributions
from frkit.intervals.contributions import contributions
from frkit.intervals.effective import (
    effective_number,
    jeffreys,
    with_more_people,
)
from frkit.intervals.reading import NEW_PEOPLE
from frkit.scores.tensor import score_tensor

WIDTH, DIFFERENCE = "relative_half_width", "difference"
GOALS = {  # goal -> what is planned
    WIDTH: "half the width of the interval of FRR, as a share of FRR",
    DIFFERENCE: "power to detect the difference in FRR",
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
    level: float = 0.95,
    power: float = 0.8,
    weighting: ArrayLike | Mapping[str, float] | None = None,
) -> xr.Dataset:
    """Find the smallest number of people that reaches a goal, from pilot data.

    An effective number of comparisons (`frkit.band`) grows with the number of people. The interval
    of FRR is Jeffreys' interval with that number. A difference of two models is detected by a
    paired t-test over people.

    Parameters
    ----------
    data : faces, score tensor or list of pairs
        A pilot study, or a part of the data, with people and images like those to be collected; of
        two models for the goal "difference".
    goal, size : str, float
        "relative_half_width": half the width of the interval of FRR, as a share of FRR;
        "difference": FRR of the second model minus that of the first, by default the one in the
        data.
    far : float
        FAR level in (0, 1).
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
        For an unknown goal, a size or level out of range, another number of models than the goal
        takes, or an FRR of 0 or 1.

    References
    ----------
    Kish (1965), Survey sampling, on effective numbers.

    Examples
    --------
    >>> import frkit as fk
    >>> pilot = fk.vmf.IdentityLaw(16, kappa=(20, 80)).draw(60).sample(5)
    >>> plan = fk.studies.sample_size(pilot, "relative_half_width", 0.2, far=0.05)
    >>> int(plan.n_identities) > 60
    True
    """
    require_one_of("goal", goal, GOALS)
    value = GOALS[goal]
    is_width = goal == WIDTH
    require(size is not None or not is_width, f"goal {goal!r} needs a size: {value}")
    if size is not None:
        require_inside(f"size of goal {goal!r}", size if is_width else abs(size), 0, np.inf)
    require_inside("level", level, 0, 1)
    require_inside("power", power, 0, 1)
    scores = score_tensor(data) if "image" in getattr(data, "dims", ()) else data
    evaluation = evaluate(scores, far=[far], weighting=weighting).isel(far_level=0)
    people = provenance_of(evaluation).get("n_identities")
    require(people, "a plan counts people, but these pairs have no identities: name them")
    rates = evaluation["empirical"].to_dataset()
    _check_rates(goal, rates)
    plan_for = _half_width if is_width else _difference
    prospect, effect = plan_for(evaluation, size, level)
    goal_value = size if is_width else power
    fewest = _fewest_people(rates, people) / people
    for_goal = smallest_factor(prospect, goal_value, not is_width, 2 / people)
    factor = np.maximum(for_goal, fewest) if fewest <= FARTHEST else np.nan
    factors = np.geomspace(fewest / 2, np.fmin(10 * factor, FARTHEST), CURVE)
    values, n_effective = prospect(np.array([1.0, factor, *factors]))
    plan = xr.Dataset(
        {
            "n_identities": np.ceil(factor * people),
            "n_for_goal": np.ceil(for_goal * people),
            "n_effective": n_effective[1],
            "predicted": values[1],
            "n_identities_now": people,
            "n_effective_now": n_effective[0],
            "value_now": values[0],
            "size": float(effect if size is None else size),
            "goal_value": goal_value,
            "effect": effect,
            "frr": float(rates.frr.values.flat[0]),
            "curve_identities": ("curve", factors * people),
            "curve_value": ("curve", values[2:]),
        }
    )
    settings = {"goal": goal, "far": far, "level": level, "power": power, "value": value}
    plan = plan.assign_attrs(settings, kind="studies.sample_size", target=NEW_PEOPLE)
    return plan.assign(answer=say("plan", plan, size is None, FARTHEST, ERRORS))


def _check_rates(goal, rates):
    """Refuse the wrong number of models for the goal, and data without errors."""
    models = rates.sizes.get("model", 1)
    needed = 2 if goal == DIFFERENCE else 1
    require(
        models == needed,
        f"goal {goal!r} takes {needed} model(s), these data have {models}: select with "
        "faces.sel(model=...)",
    )
    frr = rates.frr
    require(
        ((frr > 0) & (frr < 1)).all(),
        f"the FRR of these data is {frr.values}: there are no errors to plan from; take another "
        "FAR level",
    )


def _fewest_people(rates, people):
    """The number of people that makes ten errors of either kind on average, at least two."""
    # rejected pairs grow with people, accepted pairs with their square
    for_rejects = people * ERRORS / rates.false_rejects.values.min()
    for_accepts = people * np.sqrt(ERRORS / max(rates.false_accepts.values.min(), 1))
    return max(for_rejects, for_accepts, 2)


# --- what more people would bring ----------------------------------------------------------------
# Each returns the prospect, a function of factors on the number of people, whose values are
# half-widths or powers and effective numbers of comparisons; and the effect that the data show.


def _half_width(evaluation, _size, level):
    """Half the width of Jeffreys' interval of FRR, as a share of FRR."""
    added = contributions(evaluation, "frr", NEW_PEOPLE).squeeze(drop=True)
    rate = added.rate.item()

    def half_width(factor):
        more = with_more_people(added, xr.DataArray(factor, dims="factor"))
        n = effective_number(more, level).values
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

    from scipy import stats  # slow to import, and only here

    def power(factor):
        more = with_more_people(pair, xr.DataArray(factor, dims="factor"))
        variance = difference_variance(more).values
        df = np.maximum(first.people.item() * factor - 1, 1)
        limit = stats.t.ppf((1 + level) / 2, df)
        return stats.nct.sf(limit, df, planned_effect / np.sqrt(variance)), spread / variance

    return power, effect


def smallest_factor(prospect, goal, rising, fewest):
    """Find the smallest factor on the number of people that reaches the goal, or NaN.

    prospect : a function of an array of factors, whose values come first in what it returns.
    """

    def missing(logarithm):
        values, _ = prospect(np.array([np.exp(logarithm)]))
        gap = (goal - values[0]) * (1 if rising else -1)
        return float(np.nan_to_num(gap, nan=1.0))  # what has no value does not reach the goal

    lowest = np.log(fewest)
    highest = np.log(FARTHEST)
    if lowest > highest or missing(highest) > 0:
        return np.nan
    if missing(lowest) <= 0:
        return fewest
    return np.exp(brentq(missing, lowest, highest))
