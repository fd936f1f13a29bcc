"""The effective number of comparisons: what a rate is worth, and the interval that follows.

A rate p whose variance over new people is v is worth n = p (1 - p) / v independent comparisons
(design effect: Kish 1965). The variance comes from what each person adds to the rate
(`frkit.intervals.contributions`). Few people make most errors: where few of them were seen, the
variance is too small, and n is shrunk towards the number of people (`drawn_to_units`). A group has
few people, and borrows from the people of all groups (`moderated`).
"""

from collections.abc import Callable
from functools import reduce

import numpy as np
import xarray as xr
from scipy.special import betaincinv, ndtri, stdtrit

from frkit.base import require
from frkit.evaluation.nodes import provenance_of
from frkit.intervals.contributions import UNIT, UNSEEN, contributions, thresholds_were_found
from frkit.intervals.reading import NEW_PEOPLE, data_of
from frkit.measures.registry import IDENTITY_SCALE, LOG_SCALE, variables_read

RATES = (
    "far", "frr", "far_group", "frr_group", "far_cross", "eer", "eer_group", "auc", "auc_group",
)  # fmt: skip
THRESHOLDS = ("threshold", "threshold_group")
MOVED = (*(rate for rate in RATES if rate != "far_cross"), *THRESHOLDS)  # what people move
BORROWED = 4  # people of all groups, from whom a group borrows
FEWEST_IN_GROUP = 3  # people, for an interval that says something
FEWEST_ACCEPTED = 2.5  # with fewer pairs of people, FRR at a FAR level has the upper end 1
STEP = 1e-4  # rates are moved by this share of what a unit adds


def effective_number(contribution, level):
    """Independent comparisons that a rate is worth: n = p (1 - p) / v.

    contribution : from `contributions`, or its variables without labels, which takes less time.
    """
    return of_few_people(n_among_units(contribution), degrees_of_freedom(contribution), level)


def of_few_people(n, df, level):
    """The number with which a normal quantile stands for that of t."""
    tail = (1 + level) / 2
    return n * (ndtri(tail) / stdtrit(np.maximum(df, 1), tail)) ** 2


def n_among_units(contribution):
    """Effective number p (1 - p) / v, unseen people included, before the factor for few people.

    Where nobody errs a unit counts as one comparison, or in a group as many as the people of all
    groups say; where everybody errs it is the same.
    """
    rate, variance, most = (contribution[name] for name in ("rate", "variance", "most"))
    some_err = (rate > 0) & (rate < 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        if "pooled" in contribution:
            n = rate * (1 - rate) / moderated(contribution)
            return np.minimum(n, most).where(some_err, contribution["pooled"])
        n = rate * (1 - rate) / variance
        n = n.where(some_err & (variance > 0), contribution["comparisons"])
        n = np.minimum(n, most)
        erring = contribution["erring"].where(some_err, 0)
        return drawn_to_units(n, contribution["units"], erring, contribution["unseen"])


def moderated(contribution):
    """Variance of a group's rate: its own, and that of all groups' people as if from four of them.

    The weight of its own is k - 1, if k people make it: the moderated variance of Smyth (2004).
    """
    rate, own, own_df = (contribution[name] for name in ("rate", "variance", "own_df"))
    pooled = rate * (1 - rate) / contribution["pooled"]
    by_threshold = own - contribution["fixed_variance"]
    in_proportion = pooled * own / contribution["fixed_variance"]
    pooled = (pooled + by_threshold).where(by_threshold >= 0, in_proportion)
    return (BORROWED * pooled + own_df * own) / (BORROWED + own_df)


def degrees_of_freedom(contribution):
    """One less than the people who make the variance; of a group with those whom it borrows."""
    if "pooled" not in contribution:
        return contribution["df"]
    rate = contribution["rate"]
    df = np.minimum(BORROWED + contribution["own_df"], contribution["df"])
    return df.where((rate > 0) & (rate < 1), contribution["df_of_all"])


def highest_without_errors(contribution, level):
    """The upper end of a rate with as many people, but no error."""
    if "pooled" in contribution:
        n, df = contribution["pooled_without"], contribution["df_of_all"]
    else:
        n = np.minimum(contribution["units"], contribution["most"])
        df = contribution["df"]
    _, highest = jeffreys(0 * n, of_few_people(n, df, level), level)
    return highest


def drawn_to_units(n, units, erring, unseen=UNSEEN):
    """An effective number, where some units with errors were not seen: n (U/n)^(u / (erring + u)).

    All comparisons of a unit may err together. u : 2 unseen units, or 1 for an EER.
    """
    power = unseen / (erring + unseen)
    return n * np.minimum(units / n, 1) ** power


def with_more_people(contribution, factor):
    """The contributions of several times as many people like these."""
    counts = {"erring", "units", "people", "comparisons", "most"} & {*contribution}
    more = {name: contribution[name] * factor for name in counts}
    more["df"] = (contribution.df + 1) * factor - 1
    return contribution.assign(more | {"variance": contribution.variance / factor})


def jeffreys(rate, n, level):
    """Ends of Jeffreys' interval of a rate with n comparisons (Brown, Cai & DasGupta 2001).

    They contain the rate, with less than half an error, too.
    """
    tail = (1 - level) / 2
    errors = rate * n
    lower, upper = (betaincinv(errors + 0.5, n - errors + 0.5, side) for side in (tail, 1 - tail))
    return np.minimum(lower, rate), np.maximum(upper, rate)


def effective_rates(evaluation, name, target, level=0.95, *, fixed_threshold=False):
    """Jeffreys' interval of a rate with `n_effective`, its effective number of comparisons.

    For new people an error never lowers the upper end of a FAR or FRR: it is at least that without
    an error, and the lower end at most that if everybody erred. fixed_threshold : whether the
    threshold is held fixed, as where groups are compared.
    """
    rate = evaluation["empirical"][name].drop_attrs(deep=False)
    added = contributions(evaluation, name, target, fixed_threshold=fixed_threshold).variables
    n = effective_number(added, level)
    lower, upper = jeffreys(rate.variable, n, level)
    if name.startswith(("far", "frr")) and target == NEW_PEOPLE:
        highest = highest_without_errors(added, level)
        lower, upper = np.minimum(lower, 1 - highest), np.maximum(upper, highest)
    if "accepting" in added:  # the true threshold may be any higher one
        endless = added["accepting"] < FEWEST_ACCEPTED
        upper = upper.where(rate.variable.isnull() | ~endless, 1.0)
    n = n.where(rate.variable.notnull())
    ends = {"n_effective": n, "estimate": rate.variable, "lower": lower, "upper": upper}
    result = xr.Dataset(ends, rate.coords)
    if "pooled" in added:
        is_small = (added["people"] < FEWEST_IN_GROUP) & rate.variable.notnull()
        is_small = is_small.any({*is_small.dims} - {"group"}).values
        result.attrs["few_people"] = rate["group"].values[is_small].tolist()
    if name != "far_cross":
        return result
    options = {"level": level, "fixed_threshold": fixed_threshold}
    of_groups = effective_rates(evaluation, "far_group", target, **options)
    return result.where(rate["group"] != rate["reference_group"], of_groups)


def threshold_interval(evaluation, name, level, target):
    """Thresholds at which the interval of the FAR contains the FAR level.

    Along the data's own curve the FAR has as many effective comparisons as at the level. Where few
    impostor pairs are accepted, even the highest scores may lie below the true threshold: then
    there is no upper end (no lower one of distances).
    """
    added = contributions(evaluation, name, target)
    estimate = data_of(evaluation)[name].drop_attrs(deep=False)
    n_effective = effective_number(added, level)
    ends = [
        xr.apply_ufunc(
            np.interp,
            np.log(estimate["far_level"]),
            logarithm(far),
            added.curve_threshold,
            input_core_dims=[[], ["place"], ["place"]],
            kwargs={"left": np.inf, "right": -np.inf},
            vectorize=True,
        )
        for far in jeffreys(added.curve_far, n_effective, level)
    ]
    ends = [_sign_of_scores(evaluation) * end for end in ends]
    ends = xr.concat([estimate, *ends], "end", coords="minimal", compat="override")
    return xr.Dataset({"estimate": estimate, "lower": ends.min("end"), "upper": ends.max("end")})


def _sign_of_scores(evaluation):
    """-1 where the user's scores are distances, which are turned inside."""
    return -1 if provenance_of(evaluation)["distance"] else 1


# --- functions of rates --------------------------------------------------------------------------


def linearised_interval(evaluation, measure, level, target):
    """Estimate ± t standard errors on the measure's scale."""
    result = linearised(evaluation, measure, target)
    on_scale, back = SCALES[measure.scale]
    middle = on_scale(result.estimate)
    reach = stdtrit(result.df, (1 + level) / 2) * result.se
    return result[["estimate"]].assign(lower=back(middle - reach), upper=back(middle + reach))


def linearised(evaluation, measure, target):
    """Estimate of a function of rates; its `influence` by unit and `se`, on its scale; and `df`.

    All rates move together a little the way that each unit moves them: the change of the measure is
    the influence of the unit (the delta method). What units add to a rate is scaled so that its
    squares sum to the variance of that rate, without the noise that they contain twice and with the
    people who were not seen.
    """
    data = data_of(evaluation)
    moved_by_people = {*MOVED}
    if not thresholds_were_found(evaluation):
        moved_by_people -= {*THRESHOLDS}
    names = [name for name in variables_read(measure, data) if name in moved_by_people]
    require(names, f"{measure.name!r} reads no rate: name a method that reads replicates")
    on_scale, _ = SCALES[measure.scale]
    added = {name: contributions(evaluation, name, target) for name in names}
    moved = {}
    for name, contribution in added.items():
        influence = scaled_influence(contribution)
        if name.startswith("auc"):  # what people add is to 1 - AUC
            influence = -influence
        if name in THRESHOLDS:
            influence = _sign_of_scores(evaluation) * -contribution.change * influence
        moved[name] = data[name] + STEP * influence
    estimate = measure(data)
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = on_scale(estimate)
        influence = (on_scale(measure(data.assign(moved))) - middle) / STEP
    influence = influence.where(np.isfinite(influence))
    se = np.sqrt((influence**2).sum(UNIT)).where(np.isfinite(middle))
    degrees = (_df_over(estimate.dims, contribution) for contribution in added.values())
    df = np.maximum(reduce(np.minimum, degrees), 1)
    return xr.Dataset({"estimate": estimate, "influence": influence, "se": se, "df": df})


def _df_over(dims, contribution):
    """The degrees of freedom of a rate; for a measure without groups those of all groups."""
    groups = {"group", "reference_group"} & {*contribution.df.dims} - {*dims}
    if not groups:
        return degrees_of_freedom(contribution)
    people = (contribution.df + 1).where(contribution.rate.notnull()).sum(groups)
    return np.minimum(people, contribution.sizes[UNIT]) - 1


def scaled_influence(contribution):
    """What units add to a rate, so that its squares sum to the variance of the rate."""
    rate = contribution.rate
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = rate * (1 - rate) / n_among_units(contribution)
    squares = (contribution.influence**2).sum(UNIT)
    return contribution.influence * np.sqrt(variance / squares.where(squares > 0, np.inf))


def logarithm(values):
    """The logarithm, with log 0 = -inf without NumPy's warning."""
    with np.errstate(divide="ignore"):
        return np.log(values)


SCALES: dict[str, tuple[Callable, Callable]] = {  # on which a measure is compared, and the way back
    LOG_SCALE: (logarithm, np.exp),
    IDENTITY_SCALE: (np.positive, np.positive),
}
