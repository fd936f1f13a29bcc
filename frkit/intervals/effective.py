"""The effective number of comparisons: what a rate is worth, and the interval that follows.

A rate p whose variance over new people is v is worth n = p (1 - p) / v independent comparisons
(design effect: Kish 1965). The variance comes from what each person adds to the rate
(`frkit.intervals.contributions`). Few people make most errors: where few of them were seen, the
variance is too small, and n is shrunk towards the number of people (`effective_number`).
"""

from collections.abc import Callable
from functools import reduce

import numpy as np
import xarray as xr
from scipy.special import betaincinv, ndtri, stdtrit

from frkit.base import require
from frkit.evaluation.borrowing import LIKE_OTHERS
from frkit.evaluation.influences import TINY
from frkit.evaluation.nodes import facts_of
from frkit.intervals.contributions import UNIT, UNSEEN, contributions
from frkit.intervals.reading import data_of
from frkit.measures.registry import IDENTITY_SCALE, LOG_SCALE, with_reads

RATES = (
    "far", "frr", "far_group", "frr_group", "far_cross", "eer", "eer_group", "auc", "auc_group",
)  # fmt: skip
THRESHOLDS = ("threshold", "threshold_group")
MOVED = (*(rate for rate in RATES if rate != "far_cross"), *THRESHOLDS)  # what people move
FEWEST_ACCEPTED = 2.5  # with fewer pairs of people, FRR at a FAR level has the upper end 1
STEP = 1e-4  # rates are moved by this share of what a unit adds


def effective_number(contribution, level=0.95):
    """Independent comparisons that a rate is worth: n = p (1 - p) / v.

    contribution : from `contributions`, or its variables without labels, which takes less time. The
    last factor lets a normal quantile stand for that of t, of as many people.
    """
    tail = (1 + level) / 2
    df = np.maximum(contribution["df"], 1)
    return n_among_units(contribution) * (ndtri(tail) / stdtrit(df, tail)) ** 2


def n_among_units(contribution):
    """Effective number p (1 - p) / v, unseen people included, before the factor for few people."""
    rate, variance, erring = (contribution[name] for name in ("rate", "variance", "erring"))
    has_errors = (variance > 0) & (rate > 0) & (rate < 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        n = rate * (1 - rate) / variance
        n = n.where(has_errors, contribution["comparisons"])
        if "partly_alike" in contribution:
            n = contribution["partly_alike"].fillna(n)
        n = np.minimum(n, contribution["most"])
        if "alike" in contribution:
            power = LIKE_OTHERS / (erring + LIKE_OTHERS)
            return n * (contribution["alike"] / n) ** power
        return drawn_to_units(n, contribution["units"], erring, contribution["unseen"])


def drawn_to_units(n, units, erring, unseen=UNSEEN):
    """An effective number, where some units with errors were not seen: n (U/n)^(u / (erring + u)).

    All comparisons of a unit may err together. u : 2 unseen units, or 1 for an EER.
    """
    power = unseen / (erring + unseen)
    return n * np.minimum(units / n, 1) ** power


def with_more_people(contribution, factor):
    """The contributions of several times as many people like these."""
    counts = {"erring", "units", "people", "comparisons", "most", "alike", "partly_alike"}
    counts &= {*contribution}
    more = {name: contribution[name] * factor for name in counts}
    more["df"] = (contribution.df + 1) * factor - 1
    return contribution.assign(more | {"variance": contribution.variance / factor})


def jeffreys(rate, n, level, of_people=0.0):
    """Ends of Jeffreys' interval of a rate with n comparisons (Brown, Cai & DasGupta 2001).

    of_people : A / (A + B) where the variance is A t² + B t (1 - t) for a true rate t. Errors, in
    units of B, are binomial if A < B, also if A is 0; and negative binomial if A > B.
    """
    tail = (1 - level) / 2
    of_pairs = 1 - of_people
    unit = of_pairs / (n * (of_people * rate / np.maximum(1 - rate, TINY) + of_pairs))
    errors = rate / unit
    excess = (of_people - of_pairs) / of_pairs  # A / B - 1; at 0 errors are of a Poisson law
    shape = 1 / (unit * np.maximum(np.abs(excess), 1e-6))
    is_binomial = excess < 0
    others = np.where(is_binomial, shape - errors + 0.5, shape)
    shares = (betaincinv(errors + 0.5, others, side) for side in (tail, 1 - tail))
    lower, upper = (
        shape * unit * np.where(is_binomial, share, share / (1 - share)) for share in shares
    )
    # with less than half an error, too
    return np.minimum(lower, rate), np.maximum(np.minimum(upper, 1), rate)


def labelled_jeffreys(*arrays):
    """`jeffreys` of labelled arrays."""
    return xr.apply_ufunc(jeffreys, *arrays, output_core_dims=[[], []])


def effective_rates(evaluation, name, target, level=0.95, *, fixed_threshold=False):
    """Jeffreys' interval of a rate with `n_effective`, its effective number of comparisons.

    fixed_threshold : whether the threshold is held fixed, as where groups are compared.
    """
    rate = evaluation["empirical"][name].drop_attrs(deep=False)
    added = contributions(evaluation, name, target, fixed_threshold=fixed_threshold).variables
    n = effective_number(added, level)
    of_people = added.get("of_people", 0.0)
    lower, upper = labelled_jeffreys(rate.variable, n, level, of_people)
    if "accepting" in added:  # the true threshold may be any higher one
        endless = added["accepting"] < FEWEST_ACCEPTED
        upper = upper.where(rate.variable.isnull() | ~endless, 1.0)
    n = n.where(rate.variable.notnull())
    ends = {"n_effective": n, "estimate": rate.variable, "lower": lower, "upper": upper}
    result = xr.Dataset(ends, rate.coords)
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
        for far in labelled_jeffreys(added.curve_far, n_effective, level, 0.0)
    ]
    ends = [_sign_of_scores(evaluation) * end for end in ends]
    ends = xr.concat([estimate, *ends], "end", coords="minimal", compat="override")
    return xr.Dataset({"estimate": estimate, "lower": ends.min("end"), "upper": ends.max("end")})


def _sign_of_scores(evaluation):
    """-1 where the user's scores are distances, which are turned inside."""
    return -1 if facts_of(evaluation)["distance"] else 1


# --- functions of rates --------------------------------------------------------------------------


def linearised_interval(evaluation, chosen, level, target):
    """Estimate ± t standard errors on the measure's scale."""
    result = linearised(evaluation, chosen, target)
    on_scale, back = SCALES[chosen.scale]
    middle = on_scale(result.estimate)
    reach = stdtrit(result.df, (1 + level) / 2) * result.se
    return result[["estimate"]].assign(lower=back(middle - reach), upper=back(middle + reach))


def linearised(evaluation, chosen, target):
    """Estimate of a function of rates; its `influence` by unit and `se`, on its scale; and `df`.

    All rates move together a little the way that each unit moves them: the change of the measure is
    the influence of the unit (the delta method). What units add to a rate is scaled so that its
    squares sum to the variance of that rate, without the noise that they contain twice and with the
    people who were not seen.
    """
    data = data_of(evaluation)
    names = [name for name in with_reads(chosen, data).reads if name in MOVED]
    require(names, f"{chosen.name!r} reads no rate: name a method that reads replicates")
    on_scale, _ = SCALES[chosen.scale]
    added = {name: contributions(evaluation, name, target) for name in names}
    moved = {}
    for name, contribution in added.items():
        influence = scaled_influence(contribution)
        if name.startswith("auc"):  # what people add is to 1 - AUC
            influence = -influence
        if name in THRESHOLDS:
            influence = _sign_of_scores(evaluation) * -contribution.change * influence
        moved[name] = data[name] + STEP * influence
    estimate = chosen(data)
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = on_scale(estimate)
        influence = (on_scale(chosen(data.assign(moved))) - middle) / STEP
    influence = influence.where(np.isfinite(influence))
    se = np.sqrt((influence**2).sum(UNIT)).where(np.isfinite(middle))
    degrees = (_df_over(estimate.dims, contribution) for contribution in added.values())
    df = np.maximum(reduce(np.minimum, degrees), 1)
    return xr.Dataset({"estimate": estimate, "influence": influence, "se": se, "df": df})


def _df_over(dims, contribution):
    """The degrees of freedom of a rate; for a measure without groups those of all groups."""
    groups = {"group", "reference_group"} & {*contribution.df.dims} - {*dims}
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
