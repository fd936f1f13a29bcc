"""The groups of an evaluation: their test of equality, the interval of a disparity, its floor.

The formulas are in `frkit.intervals.pooled`. The threshold is held fixed where it was found.
"""

import numpy as np
import xarray as xr

from frkit.base import remembered
from frkit.intervals.contributions import UNIT, contributions
from frkit.intervals.effective import effective_rates
from frkit.intervals.pooled import (
    FARS,
    compatible_rates,
    contrast,
    equal_draws,
    p_of_equality,
    pooled_far,
    pooled_frr,
    precision_of,
)
from frkit.intervals.reading import NEW_PEOPLE, data_of, names_people
from frkit.measures.registry import LOG_SCALE, with_reads

RATES_OF_GROUPS = ("far_group", "frr_group", "eer_group")
DRAWS = 1_000
SEVERAL = 0.05  # share of people who stand in several groups, above which EERs are not tested
UNTESTED = (
    "no p-value of equal EERs, because many people stand in several groups: the test would call "
    "equal groups different too often there; FRR and FAR have one"
)
OF_FAR = ["rate", "variance", "noise", "people", "units", "comparisons"]
OTHER = "other_group"
OF_GROUPS = {  # what a test of groups reads, and its dims
    "estimate": ["group"],
    "n_effective": ["group"],
    "n_people": [],
    "precision": ["group", OTHER],
    "curve": ["group", "far"],
}
OF_CONTRAST = (
    "estimate", "lower", "upper", "p", "n_effective", "ratio", "ratio_lower", "ratio_upper",
)  # fmt: skip


def rates_of_line(chosen, data):
    """The rates of groups that a disparity reads, where it reads no others; else none."""
    names = with_reads(chosen, data).reads if chosen.fair is not None else ()
    return names if {*names} <= {*RATES_OF_GROUPS} else ()


def with_two_people(evaluation, chosen, target):
    """The evaluation without groups whose rate cannot be estimated, and the names of those.

    A group takes part in a disparity if two of its people were compared.
    """
    data = data_of(evaluation)
    names = rates_of_line(chosen, data)
    if not names or "people" not in evaluation.children:
        return evaluation, []
    without = remembered(evaluation, "left out", dict)
    if (names, target) not in without:
        without[names, target] = _without_two_people(evaluation, names, target)
    left_out = without[names, target]
    if not left_out:
        return evaluation, []
    remaining = remembered(evaluation, "without groups", dict)
    if tuple(left_out) not in remaining:
        stay = ~np.isin(data["group"].values, left_out)
        remaining[tuple(left_out)] = evaluation.isel(group=np.flatnonzero(stay))
    return remaining[tuple(left_out)], left_out


def _without_two_people(evaluation, names, target):
    """The names of groups of which fewer than two people were compared."""
    data = data_of(evaluation)
    enough = xr.ones_like(data["group"], bool)
    for name in names:
        people = contributions(evaluation, name, target, fixed_threshold=True).people
        levels = {"far_level", "threshold_level"} & {*data[name].dims}
        some = (people >= 2) & data[name].notnull().any(levels)
        enough = enough & some.any({*some.dims} - {"group"})
    return data["group"].values[~enough.values].tolist()


# --- the numbers of groups, if they are equal ----------------------------------------------------


def equal_groups(evaluation, name, target):
    """Rates of groups, `n_effective` if they are equal, and what their test needs.

    They are computed once for an evaluation. `n_people` : the people of all groups; infinite where
    X² has its chi-square distribution. `precision` : inverse of the correlations between groups.
    """
    results = remembered(evaluation, "equal groups", dict)
    if (name, target) not in results:
        pooled = name in RATES_OF_GROUPS and target == NEW_PEOPLE
        compute = _pooled_groups if pooled else _each_group_alone
        results[name, target] = compute(evaluation, name, target)
    return results[name, target]


def _pooled_groups(evaluation, name, target):
    """`equal_groups` with the variance of the people of all groups."""
    rate = data_of(evaluation)[name].drop_attrs()
    added = contributions(evaluation, name, target, fixed_threshold=True)
    estimable = (added.people >= 2) & rate.notnull()
    precision = _over_groups(precision_of, added.influence.where(estimable, 0.0), dims=[OTHER])
    several = 0.0  # share of people who stand in several groups
    with np.errstate(divide="ignore", invalid="ignore"):
        if name == "far_group":
            n_people = np.inf
            n = _over_groups(pooled_far, *(added[name].where(estimable) for name in OF_FAR))
        else:
            weight = added.weight.where(estimable, 0.0)
            groups_of_person = (weight > 0).sum("group")
            n_people = (groups_of_person > 0).sum(UNIT).astype(float)
            several = ((groups_of_person > 1).sum(UNIT) / n_people).max()
            errors = added.errors_at_eer if name == "eer_group" else added.errors
            n = _over_groups(pooled_frr, errors / added.weight, added.pairs, weight)
    groups = {"estimate": rate, "n_effective": n, "n_people": n_people, "precision": precision}
    if name == "eer_group":
        groups |= pooled_eer(added.where(estimable), rate, n)
    result = xr.Dataset(groups)
    if name == "eer_group" and several > SEVERAL:
        result.attrs["warning"] = UNTESTED
    return result


def pooled_eer(added, rate, n_frr):
    """Effective numbers of the groups' EER, and the curves that their test reads (`excess_of`).

    Var EER = w² Var FRR + (1 - w)² Var FAR at the crossing, with one w for all groups. FRR has its
    pooled number; the variance of FAR, times the number of people, is one for all groups.
    """
    every = added.people.sum("group")
    w = (added.people * added.share_of_frr).sum("group") / every
    p0 = (added.people * rate).sum("group") / every
    of_far = (added.people * added.far_variance).mean("group") / added.people
    n = 1 / (w**2 / n_frr + (1 - w) ** 2 * of_far / (p0 * (1 - p0)))
    # without an error a person counts as one comparison
    return {
        "n_effective": n.where(p0 > 0, n_frr),
        "curve": w * (added.curve - xr.Variable("far", FARS)),
    }


def _over_groups(function, *values, dims=()):
    """A function of values of all groups, or of the people in them; dims : more of the result."""
    inputs = [["group", UNIT] if UNIT in array.dims else ["group"] for array in values]
    return xr.apply_ufunc(
        function,
        *values,
        input_core_dims=inputs,
        output_core_dims=[["group", *dims]],
        vectorize=True,
    )


def _each_group_alone(evaluation, name, target):
    """The same where nothing is pooled: about these people, and for rates that are not tested."""
    rates = effective_rates(evaluation, name, target, fixed_threshold=True)
    identity = np.eye(rates.sizes["group"])
    return rates[["estimate", "n_effective"]].assign(
        n_people=np.inf, precision=(("group", OTHER), identity)
    )


def at_each_place(function, groups, dims=(), **options):
    """Apply a function of (rate, n, people, precision[, curve]) at every level and model."""
    inputs = {name: core_dims for name, core_dims in OF_GROUPS.items() if name in groups}
    return xr.apply_ufunc(
        function,
        *(groups[name] for name in inputs),
        kwargs=options,
        input_core_dims=[*inputs.values()],
        output_core_dims=[dims],
        vectorize=True,
    )


def _at_places_of(evaluation, name, target, function, dims=(), **options):
    """`at_each_place` of the groups of an evaluation, once for all measures of a rate."""
    results = remembered(evaluation, "at each place", dict)
    key = name, target, function.__name__, *options.values()
    if key not in results:
        groups = equal_groups(evaluation, name, target)
        results[key] = at_each_place(function, groups, dims, **options)
    return results[key]


def equality_test(evaluation, chosen, target):
    """The rates of groups that a measure reads, the p-value of equality, and n_effective."""
    rates = {}
    p = []
    for name in rates_of_line(chosen, data_of(evaluation)):
        rates[name] = equal_groups(evaluation, name, target)
        p_of_rate = _at_places_of(evaluation, name, target, p_of_equality)
        p.append(_tested(p_of_rate, evaluation, rates[name]))
    test = {"p": np.minimum(len(p) * xr.concat(p, "rate").min("rate"), 1)}  # Bonferroni
    if len(rates) == 1:
        test["n_effective"] = rates[name].n_effective.sum("group", skipna=False)
    return rates, test


def _tested(p, evaluation, groups):
    """The p-value, where people are known and the test keeps its size."""
    tested = names_people(evaluation) and "warning" not in groups.attrs
    return p if tested else xr.full_like(p, np.nan)


# --- the floor and the interval of a measure -----------------------------------------------------


def draws_of_equal_groups(evaluation, chosen, target):
    """The measure of draws from equal groups, over `replicate`; p of equality and n_effective."""
    rates, test = equality_test(evaluation, chosen, target)
    dims = "replicate", "group"
    drawn = {
        name: _at_places_of(evaluation, name, target, equal_draws, dims, draws=DRAWS)
        for name in rates
    }
    return chosen(xr.Dataset(drawn)), test


def disparity_interval(evaluation, chosen, level, target):
    """Interval of a disparity measure, and the p-value of equal groups.

    The ends are its smallest and largest value over the rates that the test accepts. A measure of
    two rates (FDR, IR, GARBE) joins both lines, each at 1 - (1 - level) / 2, with twice the smaller
    p: its ends are at those rates that are its ends with the other rate as observed.
    """
    rates, test = equality_test(evaluation, chosen, target)
    data = data_of(evaluation)[[*rates]]
    estimate = chosen(data)
    of_ratios = _of_ratios(chosen, data, estimate)
    how = {"level": 1 - (1 - level) / len(rates), "free_level": not of_ratios}
    dims = "truth", "group"
    truths = {
        name: _at_places_of(evaluation, name, target, compatible_rates, dims, **how)
        for name in rates
    }
    lower, upper = _ends(chosen, data, truths)
    lower = np.minimum(lower, estimate)
    upper = np.maximum(upper, estimate)
    without_errors = False
    for groups in rates.values():
        some = (groups.estimate > 0).any("group")
        without_errors = without_errors | (some & (groups.estimate == 0).any("group"))
    if chosen.scale == LOG_SCALE:  # the rate of a group without an error may be arbitrarily low
        upper = upper.where(~without_errors, np.inf)
    ends = xr.Dataset({"estimate": estimate, "lower": lower, "upper": upper})
    ends = ends.where(estimate.notnull() | without_errors).assign(test)
    for groups in rates.values():
        ends.attrs |= groups.attrs
    return ends


def _ends(chosen, data, truths):
    """The smallest and the largest value of a measure over the rates that were accepted."""
    if len(truths) == 1:
        values = chosen(data.assign(truths))
        return values.min("truth"), values.max("truth")
    observed = {name: truth.isel(truth=-1) for name, truth in truths.items()}
    lowest = {}
    highest = {}
    for name, truth in truths.items():
        values = chosen(data.assign(observed | {name: truth}))
        lowest[name] = truth.isel(truth=values.fillna(np.inf).argmin("truth"))
        highest[name] = truth.isel(truth=values.fillna(-np.inf).argmax("truth"))
    return chosen(data.assign(lowest)), chosen(data.assign(highest))


def _of_ratios(chosen, data, estimate):
    """Whether a measure depends on ratios of rates alone: it stays if all rates are halved."""
    return bool(np.allclose(estimate, chosen(data / 2), rtol=1e-9, atol=1e-12, equal_nan=True))


# --- two groups, or one and the rest -------------------------------------------------------------


def contrasts(evaluation, name, sides, target, level):
    """Yield the difference and the ratio of two sides, with p and intervals.

    sides : of each contrast, the names of the groups of either side.
    """
    groups = equal_groups(evaluation, name, target)
    labels = groups["group"].values
    for sides_of_contrast in sides:
        weights = np.array([np.isin(labels, side) for side in sides_of_contrast], float)
        values = at_each_place(contrast, groups, ("value",), weights=weights, level=level)
        result = {key: values.isel(value=place) for place, key in enumerate(OF_CONTRAST)}
        result["p"] = _tested(result["p"], evaluation, groups)
        yield xr.Dataset(result, attrs=groups.attrs)
