"""The groups of an evaluation: their test of equality, the interval of a disparity, its floor.

The formulas are in `frkit.intervals.pooled`. The threshold is held fixed where it was found.
"""

import numpy as np
import xarray as xr

from frkit.base import listed, require
from frkit.evaluation.nodes import provenance_of
from frkit.intervals.contributions import contributions
from frkit.intervals.effective import effective_rates
from frkit.intervals.pooled import (
    Groups,
    compatible_rates,
    contrasts,
    equal_draws,
    p_of_equality,
)
from frkit.intervals.reading import NEW_PEOPLE, data_of
from frkit.measures.registry import LOG_SCALE, variables_read

FEWEST_PEOPLE = {"far_group": 3, "frr_group": 2, "eer_group": 2}  # of a group that takes part
TESTED = ("far_group", "frr_group")
DRAWS = 1_000
SEVERAL = 0.05  # if a larger share of people is in several groups, there is no test
IN_SEVERAL = (
    "no p-value of equal groups, because more than 5 % of the people stand in several groups"
)
EER_UNTESTED = "no p-value of equal EERs: compare two groups, or see the tests of FRR and FAR"
FEW_PEOPLE = "no p-value of equal groups: there are hardly more people than groups"
OF_CONTRAST = (
    "estimate", "lower", "upper", "p", "n_effective", "ratio", "ratio_lower", "ratio_upper",
)  # fmt: skip


def rates_of_line(measure, data):
    """The rates of groups that a disparity reads; none if it reads other rates, too.

    None where groups have thresholds of their own, each with an error of its own: the test of equal
    groups holds one threshold fixed for all.
    """
    if "threshold_group" in data:
        return ()
    names = variables_read(measure, data) if measure.fair is not None else ()
    return names if {*names} <= {*FEWEST_PEOPLE} else ()


def with_enough_people(evaluation, measure, target):
    """The evaluation without groups whose rate cannot be estimated, and the names of those.

    A group takes part in a disparity if two of its people were compared, for FAR three.
    """
    names = rates_of_line(measure, data_of(evaluation))
    if not names or "people" not in evaluation.children:
        return evaluation, []
    enough = have_enough_people(evaluation, names, target)
    if enough.all():
        return evaluation, []
    left_out = data_of(evaluation)["group"].values[~enough].tolist()
    require(
        enough.sum() > 1,
        "a disparity needs two groups with two people each who were compared (for FAR three), "
        f"which is not so of {listed(left_out)}",
    )
    return evaluation.isel(group=np.flatnonzero(enough)), left_out


def have_enough_people(evaluation, names, target):
    """Whether so many people of each group were compared that these rates can be compared."""
    data = data_of(evaluation)
    enough = np.ones(data.sizes["group"], bool)
    for name in names:
        people = contributions(evaluation, name, target, fixed_threshold=True).people
        estimable = (people >= FEWEST_PEOPLE[name]) & data[name].notnull()
        enough &= estimable.any({*estimable.dims} - {"group"}).values
    return enough


# --- the numbers of groups, if they are equal ----------------------------------------------------


def equal_groups(evaluation, name, target):
    """Rates of groups, `n_effective` if they are equal, and `df` of the variance that they share.

    The variance is that of the people of all groups; about these people, and for rates that are
    not tested, it is each group's own. attrs["warning"] : why there is no test.
    """
    rate = data_of(evaluation)[name].drop_attrs(deep=False)
    if name not in TESTED or target != NEW_PEOPLE:
        alone = effective_rates(evaluation, name, target, fixed_threshold=True)
        return alone[["estimate", "n_effective"]].assign(df=np.inf)
    added = contributions(evaluation, name, target, fixed_threshold=True)
    estimable = (added.people >= FEWEST_PEOPLE[name]) & rate.notnull()
    n = added.pooled.where(estimable)
    df = added.pooled_df.isel(group=0, drop=True)  # of all groups
    result = xr.Dataset({"estimate": rate, "n_effective": n, "df": df})
    if (added.several > SEVERAL).any():
        return result.assign_attrs(warning=IN_SEVERAL)
    return result.assign_attrs({"warning": FEW_PEOPLE} if (added.pooled_df < 1).any() else {})


def at_levels_and_models(groups, function, dims=(), **options):
    """Apply a function of `pooled.Groups` at every level and model; groups : `equal_groups`."""
    return xr.apply_ufunc(
        lambda *numbers: function(Groups(*numbers), **options),
        groups.estimate,
        groups.n_effective,
        groups.df,
        input_core_dims=[["group"], ["group"], []],
        output_core_dims=[dims],
        output_dtypes=[float],  # else those of the first level, where a p may be the integer 1
        vectorize=True,
    )


def equality_test(evaluation, groups_of_rates):
    """The p-value of equal rates of groups, of one rate or of several together, and n_effective.

    groups_of_rates : `equal_groups` of each rate, by its name.
    """
    p = []
    for name, groups in groups_of_rates.items():
        p_of_rate = _tested(at_levels_and_models(groups, p_of_equality), evaluation, groups)
        p.append(p_of_rate.where(name in TESTED))
    test = {"p": np.minimum(len(p) * xr.concat(p, "rate").min("rate"), 1)}  # Bonferroni
    if len(groups_of_rates) == 1:
        test["n_effective"] = groups.n_effective.sum("group", skipna=False)
    return xr.Dataset(test)


def _tested(p, evaluation, groups):
    """The p-value, where people are known and the test keeps its size."""
    names_people = "n_identities" in provenance_of(evaluation)
    return p.where(names_people and groups.attrs.get("warning") != IN_SEVERAL)


def _warning_of(groups_of_rates):
    """Why there is no p-value, as attrs; empty where there is one."""
    if "eer_group" in groups_of_rates:
        return {"warning": EER_UNTESTED}
    attrs: dict = {}
    for groups in groups_of_rates.values():
        attrs |= groups.attrs
    return attrs


# --- the floor and the interval of a measure -----------------------------------------------------


def _groups_of_rates(evaluation, measure, target):
    """`equal_groups` of each rate that a disparity reads, by its name."""
    names = rates_of_line(measure, data_of(evaluation))
    return {name: equal_groups(evaluation, name, target) for name in names}


def draws_of_equal_groups(evaluation, measure, target):
    """The measure of draws from equal groups, over `replicate`; p of equality and n_effective."""
    dims = "replicate", "group"
    groups_of_rates = _groups_of_rates(evaluation, measure, target)
    drawn = {
        name: at_levels_and_models(groups, equal_draws, dims, draws=DRAWS)
        for name, groups in groups_of_rates.items()
    }
    return measure(xr.Dataset(drawn)), equality_test(evaluation, groups_of_rates)


def disparity_interval(evaluation, measure, level, target):
    """Interval of a disparity measure, and the p-value of equal groups.

    The ends are its smallest and largest value over the rates that the test accepts. A measure of
    two rates (FDR, IR, GARBE) takes the union of both lines, each at 1 - (1 - level) / 2
    (Bonferroni), with twice the smaller p: its ends are at those rates that are its ends with the
    other rate as observed.
    """
    groups_of_rates = _groups_of_rates(evaluation, measure, target)
    test = equality_test(evaluation, groups_of_rates)
    data = data_of(evaluation)[[*groups_of_rates]]
    estimate = measure(data)
    is_of_ratios = _depends_on_ratios_alone(measure, data)
    options = {"level": 1 - (1 - level) / len(groups_of_rates), "free_level": not is_of_ratios}
    dims = "truth", "group"
    truths = {
        name: at_levels_and_models(groups, compatible_rates, dims, **options)
        for name, groups in groups_of_rates.items()
    }
    # variables without labels, which are ten times as fast
    lower, upper = (end.variable for end in _ends(measure, data, truths))
    lower = np.minimum(lower, estimate.variable)
    upper = np.maximum(upper, estimate.variable)
    rates = data.to_dataarray("rate").variable
    without_errors = ((rates == 0).any("group") & (rates > 0).any("group")).any("rate")
    if measure.scale == LOG_SCALE:  # the rate of a group without an error may be arbitrarily low
        upper = upper.where(~without_errors, np.inf)
    ends = {"estimate": estimate.variable, "lower": lower, "upper": upper}
    is_defined = estimate.variable.notnull() | without_errors
    ends = {name: end.where(is_defined) for name, end in ends.items()}
    result = xr.Dataset(ends | dict(test.data_vars.variables), estimate.coords)
    return result.assign_attrs(_warning_of(groups_of_rates))


def _ends(measure, data, truths):
    """The smallest and the largest value of a measure over the rates that were accepted."""
    lowest = {}
    highest = {}
    observed = {name: truth.isel(truth=-1) for name, truth in truths.items()}
    for name, truth in truths.items():
        values = measure(data.assign(observed | {name: truth}))
        if len(truths) == 1:
            return values.min("truth"), values.max("truth")
        lowest[name] = truth.isel(truth=values.fillna(np.inf).argmin("truth"))
        highest[name] = truth.isel(truth=values.fillna(-np.inf).argmax("truth"))
    return measure(data.assign(lowest)), measure(data.assign(highest))


def _depends_on_ratios_alone(measure, data):
    """Whether a measure depends only on ratios of rates: it stays if all rates are halved.

    Read at rates that differ: a difference of rates without an error stays, too.
    """
    differing = xr.zeros_like(data) + xr.Variable(
        "group", np.linspace(0.2, 0.8, data.sizes["group"])
    )
    halved = measure(differing / 2)
    return bool(np.allclose(measure(differing), halved, rtol=1e-9, atol=1e-12, equal_nan=True))


# --- two groups, or one and the rest -------------------------------------------------------------


def group_contrasts(evaluation, groups, pairs, level):
    """Differences and ratios of two sides, each of some groups, with p and intervals.

    groups : `equal_groups` of the rate. pairs : of lists of names of groups. Over `contrast`.
    """
    weights = np.array([[np.isin(groups["group"], side) for side in sides] for sides in pairs])
    options = {"weights": weights, "level": level}
    values = at_levels_and_models(groups, contrasts, ("contrast", "value"), **options)
    result = values.assign_coords(value=[*OF_CONTRAST]).to_dataset("value")
    result["p"] = _tested(result["p"], evaluation, groups)
    return result.assign_attrs(groups.attrs)
