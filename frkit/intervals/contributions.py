"""What each person adds to an error rate, and the variance of the rate over new people.

FRR is a mean over people, FAR a mean over pairs of people, which count for both of their people
(two-way clustering of U-statistics: Cameron, Gelbach & Miller 2011; Davezies, D'Haultfoeuille &
Guyonvarch 2021). At a FAR level the threshold has an error of its own: it moves every rate along
the slope of the data's own curve.

The node `people` of an evaluation contains sums by entry (an image under a group label) and by
point (a threshold). A unit is a person, or an image for intervals about these people. g and h are
numbers of groups; None stands for all pairs.
"""

from dataclasses import dataclass, replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import xarray as xr

from frkit.base import FAR_LEVEL, GROUP, MODEL, REFERENCE_GROUP, THRESHOLD_LEVEL, require
from frkit.intervals.reading import NEW_PEOPLE, THESE_PEOPLE, provenance
from frkit.scores.groups import models_of

TARGETS = (NEW_PEOPLE, THESE_PEOPLE)
UNIT = "unit"
WIDTHS = 0.5, 2.0  # of the window of the slope, in log FAR to either side
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Contribution:
    """A rate at one threshold, and what its units (people, or images) add to it.

    Attributes
    ----------
    rate : the rate. total : weight of all its comparisons.
    influence : what each unit adds to the rate, (unit,), with sum 0.
    noise : variance of single pairs of units, which the squared influences contain twice.
    least : the smallest possible variance.
    errors : weight of the errors of each unit, (unit,). erring : their effective number.
    units, people, comparisons : how many make the rate.
    """

    rate: float
    total: float
    influence: np.ndarray
    noise: float
    least: float
    errors: np.ndarray
    erring: float
    units: float
    people: float
    comparisons: float

    @property
    def variance(self):
        """Variance of the rate over new people (or new images)."""
        return np.maximum((self.influence**2).sum() - self.noise, self.least)


def contributions(evaluation, name, target, *, fixed_threshold=False) -> xr.Dataset:
    """What units add to a rate (or to the threshold), at every model, level and group.

    fixed_threshold : whether the threshold is held fixed, without its own error. Returns the fields
    of `Contribution` and `variance`, over the dims of the rate; influence and errors over unit too.
    """
    rate = evaluation["empirical"][name]
    kind, *suffix = name.split("_")
    levels = _numbers(evaluation, rate, FAR_LEVEL, THRESHOLD_LEVEL)
    groups = _numbers(evaluation, rate, GROUP) if suffix else [None]
    couples = [(group, group) for group in groups]
    if suffix == ["cross"]:
        couples = list(product(groups, _numbers(evaluation, rate, REFERENCE_GROUP)))
    results = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for sums in _sums_of_models(evaluation, target):
            moving = kind in ("far", "frr") and sums.level_of == "far" and not fixed_threshold
            for point in levels:
                reference = far_at_level(sums, point) if moving else None
                for g, h in couples:
                    results.append(_contribution(sums, kind, point, g, h, reference))
    return _stacked(results, rate)


def _numbers(evaluation, rate, *dims):
    """The numbers that labels of a rate have among those that were evaluated; [None] without.

    A selection from an evaluation may have fewer labels, in another order, or a single one.
    """
    evaluated = provenance(evaluation)
    for dim in dims:
        if dim in rate.coords:
            labels = np.atleast_1d(rate[dim].values).tolist()
            return [evaluated[dim].index(label) for label in labels]
    return [None]


def _sums_of_models(evaluation, target):
    """The arrays of the node `people` for each model, with the unit of each entry."""
    require(
        "people" in evaluation.children,
        "this evaluation does not say what people add to its rates: make it with fk.evaluate, "
        "without scheme 'pair' for known people, or name a method that reads replicates",
    )
    node = evaluation["people"].to_dataset()
    these_people = target == THESE_PEOPLE
    require(
        not these_people or node.attrs["complete"],
        "target='these people' needs every image compared with every other, without failures, "
        "which is not so here: take target='new people'",
    )
    name = node.image.values if these_people else node.person.values
    _, first, unit = np.unique(name, return_index=True, return_inverse=True)
    person = node.person.values[first]
    for model in models_of(node):
        yield SimpleNamespace(
            **{name: variable.values for name, variable in model.data_vars.items()},
            **node.attrs,
            n_groups=node.attrs["groups"],
            these_people=these_people,
            unit=unit,
            person_of_unit=person,
            images_of_person=np.bincount(person)[person],
        )


def _contribution(sums, kind, point, g, h, reference):
    """What units add to one rate at one level, which is the number of its point.

    The points of EERs (of each group and of all), and those of AUCs, follow those of levels.
    """
    if kind == "threshold":
        return threshold(sums, point)
    if kind in ("eer", "auc"):
        before = sums.levels if kind == "eer" else sums.levels + sums.n_groups + 1
        return eer_or_auc(sums, kind, before + (sums.n_groups if g is None else g), g)
    fixed = far(sums, point, g, h) if kind == "far" else frr(sums, point, g)
    if reference is None:
        return fixed
    return with_error_of_threshold(sums, kind, point, fixed, reference, g, h)


def _stacked(results, rate):
    """Results in the order of models, levels and groups as one dataset."""
    order = (MODEL, FAR_LEVEL, THRESHOLD_LEVEL, GROUP, REFERENCE_GROUP)
    dims = [dim for dim in order if dim in rate.dims]
    shape = [rate.sizes[dim] for dim in dims]
    variables = {}
    for name in [*Contribution.__annotations__, "variance"]:
        values = np.array([getattr(result, name) for result in results])
        if values.ndim == 1:
            variables[name] = dims, values.reshape(shape)
        else:
            variables[name] = [*dims, UNIT], values.reshape([*shape, -1])
    return xr.Dataset(variables, rate.coords)


# --- rates at a fixed threshold ------------------------------------------------------------------


def far(sums, point, g, h):
    """FAR between two groups, or of all, at a fixed threshold: φ_k = Σ_l m_kl (a_kl - FAR).

    Each pair counts for both of its people. Its noise is in Σ φ_k² twice, and comes off once.
    """
    accepted = _between(sums, sums.accepted[point], g, h)
    compared = _between(sums, sums.compared, g, h)
    total = compared.sum() / 2  # each pair is in the sums of both of its entries
    rate = accepted.sum() / 2 / total
    influence = _influence(sums, (accepted - rate * compared) / total, compared)
    errors = np.bincount(sums.unit, accepted)
    people = np.count_nonzero(np.bincount(sums.unit, compared))
    noise = far_covariance(sums, point, g, h, rate, total, rate, total)
    if sums.these_people:
        erring = effective_count(errors)
        units = max(np.count_nonzero(influence), people)
    else:
        squares = _of_pairs(sums, sums.accepted_square[point], g, h)
        erring = (rate * total) ** 2 / squares if squares > 0 else 0.0
        units = _of_pairs(sums, sums.people_pairs, g, h)
    comparisons = _of_pairs(sums, sums.impostor_pairs, g, h)
    return Contribution(
        rate, total, influence, noise, noise, errors, erring, units, people, comparisons
    )


def far_covariance(sums, point, g, h, rate, total, whole_rate, whole_total):
    """Covariance of two FARs from single pairs of people: D = Σ m (a - F) m' (a - F').

    rate, total : FAR F and weight of the pairs of groups g and h. whole_rate, whole_total : those
    of all pairs, or the same.
    """
    if sums.these_people:  # single image pairs, as if they were independent
        n_pairs = max(_of_pairs(sums, sums.impostor_pairs, g, h), 1)
        return rate * (1 - rate) / n_pairs * total / whole_total
    squares = _of_pairs(sums, sums.accepted_square[point], g, h)
    cross = _of_pairs(sums, sums.accepted_cross[point], g, h)
    weights = _of_pairs(sums, sums.compared_square, g, h)
    products = squares - (rate + whole_rate) * cross + rate * whole_rate * weights
    return products / (total * whole_total)


def frr(sums, point, g):
    """FRR of a group, or of all, at a fixed threshold: ψ_k = m_k (r_k - FRR)."""
    in_group = 1 if g is None else sums.group == g
    rejected = sums.rejected[point].astype(float) * in_group
    genuine = sums.genuine * in_group
    total = genuine.sum()
    rate = rejected.sum() / total
    influence = _influence(sums, (rejected - rate * genuine) / total, genuine)
    errors = np.bincount(sums.unit, rejected)
    weight = np.bincount(sums.unit, genuine)
    people = np.count_nonzero(weight)
    pairs = (sums.genuine_pairs * in_group).sum() / 2
    erring = effective_count(errors)
    over_people = Contribution(
        rate, total, influence, 0.0, 0.0, errors, erring, people, people, pairs
    )
    return _over_images(sums, over_people, weight / total) if sums.these_people else over_people


def _over_images(sums, over_people, weight):
    """FRR over new images of the same people: a mean over pairs of images of each person.

    The influence of an image on a mean over pairs is twice that on its own mean (a U-statistic).
    Two images make a single pair, which shows no variance: such people get that of independent
    pairs with the common rate. weight : of each image, (unit,).
    """
    n = sums.images_of_person
    rate = over_people.rate
    mean_of_others = (n - 1) / np.maximum(n - 2, 1)
    influence = 2 * over_people.influence * mean_of_others
    influence[n <= 2] = 0
    units = max(np.count_nonzero(influence), over_people.people)
    weight_of_single_pairs = 2 * weight[n == 2]
    independent_pairs = (weight_of_single_pairs**2).sum() / 2
    noise = -rate * (1 - rate) * independent_pairs
    return replace(over_people, influence=influence, noise=noise, units=units)


# --- rates whose threshold errs, too -------------------------------------------------------------


def far_at_level(sums, point):
    """The FAR that the threshold keeps to the level, and its group.

    That of all (None), or of the group with the highest (far_of="worst group").
    """
    if sums.far_of == "all":
        return far(sums, point, None, None), None
    of_groups = [far(sums, point, g, g) for g in range(sums.n_groups)]
    rates = np.nan_to_num([group.rate for group in of_groups], nan=-1)
    worst = int(rates.argmax())
    return of_groups[worst], worst


def with_error_of_threshold(sums, kind, point, fixed, reference, g, h):
    """FAR or FRR at a FAR level α: ψ_k - c φ_k / α, with c = d rate / d log FAR."""
    at_level, group = reference
    if kind == "far" and g == h == group:
        return fixed  # the rate that the threshold keeps to the level
    change = _change_per_far(sums, at_level, group, _curve(sums, kind, g, h))
    influence = fixed.influence - change * at_level.influence
    noise = fixed.noise + change**2 * at_level.noise
    least = fixed.least
    if kind == "far" and group is None:
        rates = fixed.rate, fixed.total, at_level.rate, at_level.total
        noise = noise - 2 * change * far_covariance(sums, point, g, h, *rates)
    if kind == "frr":
        least = max(least, (influence**2).sum() / 2)
    return replace(fixed, influence=influence, noise=noise, least=least)


def threshold(sums, point):
    """The threshold of a FAR level, which rises where a person adds to the FAR."""
    at_level, group = far_at_level(sums, point)
    change = _change_per_far(sums, at_level, group, sums.curve_threshold)
    influence = -change * at_level.influence
    return replace(at_level, rate=sums.threshold[point], influence=influence)


def _change_per_far(sums, at_level, group, values):
    """How much a curve changes with the FAR: c / α, with c = d value / d log FAR."""
    if not at_level.rate > 0:
        return 0.0
    (low, high), (lowest, highest) = _window(sums, at_level, group, values)
    slope = (high - low) / max(highest - lowest, 1e-9)
    return slope / at_level.rate


def eer_or_auc(sums, kind, point, g):
    """EER of a group, or of all, at the crossing: (b φ_k + a ψ_k) / (a + b); 1 - AUC: φ_k + ψ_k.

    a and b are what FAR falls and FRR rises with the threshold. 1 - AUC is the probability that an
    impostor pair scores higher than a genuine one.
    """
    accepts = far(sums, point, g, g)
    rejects = frr(sums, point, g)
    of_far = of_frr = 1.0
    if kind == "eer":
        (frr_at_low, frr_at_high), log_far = _window(sums, accepts, g, _curve(sums, "frr", g, g))
        far_at_low, far_at_high = np.exp(log_far)
        a = far_at_high - far_at_low
        b = frr_at_low - frr_at_high
        of_frr = a / (a + b) if a + b > 0 else 0.5
        of_far = 1 - of_frr
    return replace(
        rejects,
        rate=sums.rate[point],
        influence=of_frr * rejects.influence + of_far * accepts.influence,
        noise=of_frr**2 * rejects.noise + of_far**2 * accepts.noise,
        least=of_far**2 * accepts.least,
    )


def _curve(sums, kind, g, h):
    """FAR or FRR along the data's own curve, (place,)."""
    if kind == "frr":
        return sums.curve_frr[:, -1 if g is None else g]
    return sums.curve_far_all if g is None else sums.curve_far[:, g, h]


def _window(sums, at_level, g, values):
    """Values of a curve, and log FAR, at both ends of a window around the FAR of group g.

    It reaches two standard deviations of log FAR to either side. Curves of lists have steps: they
    are interpolated in log FAR.
    """
    far_of_curve = np.log(np.maximum(_curve(sums, "far", g, g), TINY))
    order = np.argsort(far_of_curve, kind="stable")
    far_of_curve = far_of_curve[order]
    rate = max(at_level.rate, TINY)
    sd_of_log = np.sqrt(at_level.variance) / rate
    width = np.clip(2 * sd_of_log, *WIDTHS)
    ends = np.log(rate) + np.array([-width, width])
    values_at_ends = np.interp(ends, far_of_curve, values[order])
    return values_at_ends, np.clip(ends, far_of_curve[0], far_of_curve[-1])


# --- sums ----------------------------------------------------------------------------------------


def _between(sums, table, g, h):
    """Weight of the impostor pairs of each entry, of all or between groups g and h, (entry,).

    table : (entry, group of the partner).
    """
    table = table.astype(float)
    if g is None:
        return table.sum(1)
    weight = np.where(sums.group == g, table[:, h], 0.0)
    if g != h:
        weight = weight + np.where(sums.group == h, table[:, g], 0.0)
    return weight


def _of_pairs(sums, table, g, h):
    """A sum over pairs of two people, of all or of groups g and h; table : (group, group)."""
    if g is None:
        return table[np.triu(sums.cells >= 1)].sum()
    return table[g, h]


def effective_count(errors):
    """How many units err if all that err did so equally: (Σ e)² / Σ e², of (unit,)."""
    squares = (errors**2).sum()
    return errors.sum() ** 2 / squares if squares > 0 else 0.0


def _influence(sums, excess, weight):
    """Influence of each unit, from what its entries are above the mean; weight : of all its pairs.

    The factor K / (K - 1) makes the sum of squares of a mean over K people unbiased.
    """
    values = np.bincount(sums.unit, excess)
    compared = np.bincount(sums.unit, weight) != 0
    if sums.these_people:
        return _beyond_person(sums, values, compared)
    k = np.count_nonzero(compared)
    return values * np.sqrt(k / max(k - 1, 1))


def _beyond_person(sums, values, compared):
    """What each image adds beyond the mean of its person, as large as over new images.

    The image of a person with a single one cannot be compared with others of the person: it varies
    as much as those of the others on average.
    """
    person = sums.person_of_unit
    n = sums.images_of_person
    mean = np.bincount(person, values)[person] / n
    beyond = (values - mean) * np.sqrt(n / np.maximum(n - 1, 1))
    several = n > 1
    if several.any():
        mean_square = (beyond[several] ** 2).mean()
        beyond[~several & compared] = np.sqrt(mean_square)
    return beyond
