"""The effective number of comparisons: what a rate is worth, and the interval that follows.

A rate p whose variance over new people is v is worth n = p (1 - p) / v independent comparisons
(design effect: Kish 1965). The variance comes from what each person adds to the rate
(`frkit.intervals.contributions`). Few people make most errors: where few of them were seen, the
variance is too small, and n is drawn towards the number of people (`effective_number`).
"""

import numpy as np
import xarray as xr
from scipy import stats
from scipy.special import ndtri, stdtrit

from frkit.intervals.contributions import UNIT, Added, contributions
from frkit.intervals.reading import provenance
from frkit.measures.registry import IDENTITY_SCALE, LOG_SCALE, rates_read

UNSEEN = 2  # units with errors that are supposed beside those that were seen
RATES = (
    "far", "frr", "far_group", "frr_group", "far_cross", "eer", "eer_group", "auc", "auc_group",
)  # fmt: skip
MOVED = (*RATES, "threshold")  # what people move
STEP = 1e-4  # share of what a unit adds by which rates are moved


def effective_number(added: Added, level: float = 0.95) -> xr.DataArray:
    """Independent comparisons that a rate is worth: n = p (1 - p) / v.

    added: what each unit (a person, or an image) adds to the rate. The last factor lets a normal
    quantile stand for that of t, of as many people.
    """
    rate, variance, n = added.rate, added.variance, added.comparisons
    has_errors = (variance > 0) & (rate > 0) & (rate < 1)
    n = xr.where(has_errors, np.minimum(rate * (1 - rate) / variance, n), n)
    n = drawn_to_units(n, added.units, added.seen)
    tail = (1 + level) / 2
    return n * (ndtri(tail) / stdtrit(np.maximum(added.people - 1, 1), tail)) ** 2


def drawn_to_units(n, units, seen):
    """An effective number, where some units with errors were not seen: n (U/n)^(2 / (seen + 2)).

    What was not seen may be all comparisons of a unit.
    """
    return xr.where(units < n, n * (units / n) ** (UNSEEN / (seen + UNSEEN)), n)


def jeffreys(rate, n, level):
    """Ends of Jeffreys' interval of a rate with n comparisons (Brown, Cai & DasGupta 2001)."""
    tail = (1 - level) / 2
    errors, others = rate * n + 0.5, (1 - rate) * n + 0.5
    lower = xr.apply_ufunc(stats.beta.ppf, tail, errors, others)
    upper = xr.apply_ufunc(stats.beta.ppf, 1 - tail, errors, others)
    return xr.where(rate == 0, 0 * errors, lower), xr.where(rate == 1, 0 * errors + 1, upper)


def effective_rates(evaluation, name, target, level=0.95, *, fixed_threshold=False):
    """Jeffreys' interval of a rate with `n_effective`, its effective number of comparisons.

    fixed_threshold: whether the threshold is taken as it was found, as where groups are compared.
    """
    rate = evaluation["empirical"][name].drop_attrs()
    added = contributions(evaluation, name, target, fixed_threshold=fixed_threshold)
    with np.errstate(divide="ignore", invalid="ignore"):
        n = effective_number(added, level).transpose(*rate.dims).where(rate.notnull())
    lower, upper = jeffreys(rate, n, level)
    return xr.Dataset({"estimate": rate, "n_effective": n, "lower": lower, "upper": upper})


# --- functions of rates --------------------------------------------------------------------------


def linearised_interval(evaluation, chosen, level, target):
    """Estimate ± t standard errors on the measure's scale."""
    result = linearised(evaluation, chosen, target)
    forth, back = SCALES[chosen.scale]
    reach = stdtrit(result.df, (1 + level) / 2) * result.se
    middle = forth(result.estimate)
    ends = {"lower": back(middle - reach), "upper": back(middle + reach)}
    return result[["estimate"]].assign(ends)


def linearised(evaluation, chosen, target):
    """Estimate of a function of rates; what units add to it and `se`, on its scale; and `df`.

    All rates are moved a little the way that each unit moves them: what the measure does then is
    what the unit adds to it (the delta method). The noise of single pairs of people is in it twice,
    so that intervals are rather too wide.
    """
    data, moved, people = evaluation["empirical"].to_dataset(), {}, []
    forth, _ = SCALES[chosen.scale]
    for name in rates_read(chosen, data, MOVED):
        added = contributions(evaluation, name, target)
        people.append(added.people.values.flat[0])
        falls = name.startswith("auc")  # what people add is to 1 - AUC
        if name == "threshold":
            falls = provenance(evaluation)["distance"]
        moved[name] = data[name] + (-STEP if falls else STEP) * added.influence
    estimate = chosen(data)
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = forth(estimate)
        of_units = (forth(chosen(data.assign(moved))) - middle) / STEP
    of_units = of_units.where(np.isfinite(of_units))
    df, se = max(people[0] - 1, 1), standard_error(of_units, middle)
    return xr.Dataset({"estimate": estimate, "of_units": of_units, "df": df, "se": se})


def standard_error(of_units, middle):
    """Root of the sum of squares of what units add; NaN where the estimate has no finite value."""
    return np.sqrt((of_units**2).sum(UNIT)).where(np.isfinite(middle))


def logarithm(values):
    """The logarithm, with log 0 = -inf said without NumPy's warning."""
    with np.errstate(divide="ignore"):
        return np.log(values)


SCALES = {  # on which a measure is compared, and the way back
    LOG_SCALE: (logarithm, np.exp),
    IDENTITY_SCALE: (np.positive, np.positive),
}
