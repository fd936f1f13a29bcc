"""What each person adds to an error rate, from the node `people` of an evaluation.

FAR is a mean over pairs of people, and both people of a pair stand with it (two-way clustering of
U-statistics: Cameron, Gelbach & Miller 2011; Davezies, D'Haultfoeuille & Guyonvarch 2021). FRR is
a mean over people. At a FAR level the threshold has an error of its own: it moves every rate along
the slope of the data's own curve.

The node contains sums by entry (an image under a group label) and by point (a threshold). A unit
is a person, or an image for intervals about these people. Groups are numbers g and h, which are
arrays over `group` and `reference_group`; None stands for all pairs.
"""

from dataclasses import dataclass, replace

import numpy as np
import xarray as xr

from frkit.base import FAR_LEVEL, GROUP, REFERENCE_GROUP, THRESHOLD_LEVEL, require
from frkit.intervals.reading import NEW_PEOPLE, THESE_PEOPLE, provenance

TARGETS = (NEW_PEOPLE, THESE_PEOPLE)
ENTRY, UNIT, PLACE = "entry", "unit", "place"
PARTNERS = ["partner", "partner_b"]  # groups of the two people of a pair
WIDTHS = 0.5, 2.0  # of the window of the slope, in log FAR to either side
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Added:
    """What units (people, or images) add to a rate: arrays over the dims of the rate.

    Attributes
    ----------
    rate : the rate. weight : of all its comparisons.
    influence : what each unit adds to it, over `unit` too, with sum 0.
    noise : variance of single pairs of units, which the squared influences count twice.
    least : the smallest variance that is possible.
    seen : as if so many units had erred alike. units : how many there are.
    comparisons : that make the rate. people : who make it.
    errors : weight of the errors of each unit, over `unit` too.
    repeats : how many alike each unit stands for, in a plan for more people.
    """

    rate: xr.DataArray
    weight: xr.DataArray
    influence: xr.DataArray
    noise: xr.DataArray
    least: xr.DataArray
    seen: xr.DataArray
    units: xr.DataArray
    comparisons: xr.DataArray
    people: xr.DataArray
    errors: xr.DataArray
    repeats: float = 1.0

    @property
    def variance(self) -> xr.DataArray:
        """Variance of the rate over new people (or new images)."""
        return np.maximum((self.influence**2).sum(UNIT) - self.noise, self.least)

    def of_more_people(self, factor: float) -> "Added":
        """What is added where there are so many times as many people, alike to these."""
        growing = ("seen", "units", "comparisons", "people", "repeats")
        return replace(
            self,
            influence=self.influence / np.sqrt(factor),
            noise=self.noise / factor,
            least=self.least / factor,
            **{name: getattr(self, name) * factor for name in growing},
        )


def contributions(evaluation, name, target, *, fixed_threshold=False) -> Added:
    """What units add to a rate (or to the threshold), over its own dims.

    fixed_threshold: whether the threshold is taken as it was found, without its own error.
    """
    number = _numbers_of_labels(evaluation, evaluation["empirical"][name])
    sums = _sums_of_entries(evaluation, target)
    first, n_groups = sums.attrs["levels"], sums.attrs["groups"]
    kind, *whose = name.split("_")
    g = number[GROUP] if whose else None
    h = number[REFERENCE_GROUP] if whose == ["cross"] else g
    curve = n_groups if g is None else g
    points = {"eer": first + curve, "auc": first + n_groups + 1 + curve}
    level = number.get(FAR_LEVEL, number.get(THRESHOLD_LEVEL))
    sums = sums.isel(point=points.get(kind, level))
    with np.errstate(divide="ignore", invalid="ignore"):
        if kind == "threshold":
            return threshold(sums)
        if kind == "eer":
            return eer(sums, g)
        if kind == "auc":
            return auc(sums, g)
        added = far(sums, g, h) if kind == "far" else frr(sums, g)
        if fixed_threshold or sums.attrs["level_of"] != "far":
            return added
        return with_error_of_threshold(added, kind, sums, g, h)


def _numbers_of_labels(evaluation, rate):
    """The numbers that levels and groups of a rate have among those that were evaluated.

    A part of an evaluation may have fewer of them, in another order, or a single one.
    """
    labels = provenance(evaluation)
    return {
        dim: xr.apply_ufunc(labels[dim].index, rate[dim].variable, vectorize=True)
        for dim in (FAR_LEVEL, THRESHOLD_LEVEL, GROUP, REFERENCE_GROUP)
        if dim in rate.coords
    }


def _sums_of_entries(evaluation, target):
    """The node `people`, with the unit of each entry, and the person of each unit."""
    require(
        "people" in evaluation.children,
        "this evaluation does not say what people add to its rates: make it with fk.evaluate, "
        "without scheme 'pair' for known people, or name a method that reads replicates",
    )
    node, these_people = evaluation["people"].to_dataset(), target == THESE_PEOPLE
    require(
        not these_people or node.attrs["complete"],
        "target='these people' needs every image compared with every other, without failures, but "
        "these scores are no whole square: take target='new people'",
    )
    number = node.image if these_people else node.person
    _, first, unit = np.unique(number, return_index=True, return_inverse=True)
    person = node.person.values[first]
    node = node.rename(group="group_of_entry").assign_attrs(these_people=these_people)
    return node.assign(unit_of_entry=(ENTRY, unit), person_of_unit=(UNIT, person))


# --- rates at a fixed threshold ------------------------------------------------------------------


def far(sums, g, h):
    """FAR between two groups, or of all, at a fixed threshold: φ_k = Σ_l m_kl (a_kl - FAR).

    Each pair stands with both of its people. Its noise is in Σ φ_k² twice, and comes off once.
    """
    accepted = _impostors(sums, "accepted", g, h)
    compared = _impostors(sums, "compared", g, h)
    total = compared.sum(ENTRY) / 2  # each pair stands with both of its entries
    rate = accepted.sum(ENTRY) / 2 / total
    noise = far_covariance(sums, g, h, rate, total, rate, total)
    influence = _influence(sums, (accepted - rate * compared) / total, compared)
    errors = by_unit(sums, accepted)
    people = (by_unit(sums, compared) != 0).sum(UNIT)
    if sums.attrs["these_people"]:
        seen = count_alike(errors)
        units = np.maximum((influence != 0).sum(UNIT), people)
    else:
        squares = _of_pairs(sums, "accepted_square", g, h)
        seen = ((rate * total) ** 2 / squares).where(squares > 0, 0.0)
        units = _of_pairs(sums, "people_pairs", g, h)
    comparisons = _of_pairs(sums, "impostor_pairs", g, h)
    return Added(rate, total, influence, noise, noise, seen, units, comparisons, people, errors)


def far_covariance(sums, g, h, rate, total, whole_rate, whole_total):
    """Covariance of two FARs from single pairs of people: Σ m (a - F) m' (a - F').

    rate, total: FAR and weight of the pairs of groups g and h. whole_rate, whole_total: those of
    all pairs, or the same.
    """
    if sums.attrs["these_people"]:  # single image pairs, as if they were independent
        n_pairs = np.maximum(_of_pairs(sums, "impostor_pairs", g, h), 1.0)
        return rate * (1 - rate) / n_pairs * total / whole_total
    squares = _of_pairs(sums, "accepted_square", g, h)
    cross = _of_pairs(sums, "accepted_cross", g, h)
    weights = _of_pairs(sums, "compared_square", g, h)
    products = squares - (rate + whole_rate) * cross + rate * whole_rate * weights
    return products / (total * whole_total)


def frr(sums, g):
    """FRR of a group, or of all, at a fixed threshold: ψ_k = m_k (r_k - FRR)."""
    here = 1 if g is None else sums.group_of_entry == g
    rejected, genuine = sums.rejected.astype(float) * here, sums.genuine * here
    total = genuine.sum(ENTRY)
    rate = rejected.sum(ENTRY) / total
    influence = _influence(sums, (rejected - rate * genuine) / total, genuine)
    noise = xr.zeros_like(rate)
    errors, weight = by_unit(sums, rejected), by_unit(sums, genuine)
    seen, people = count_alike(errors), (weight != 0).sum(UNIT)
    pairs = (sums.genuine_pairs * here).sum(ENTRY) / 2
    added = Added(rate, total, influence, noise, noise, seen, people, pairs, people, errors)
    return _over_new_images(added, sums, weight / total) if sums.attrs["these_people"] else added


def _over_new_images(added, sums, weight):
    """FRR over new images of the same people: a mean over pairs of images of each person.

    The influence of an image on a mean over pairs is twice its own mean's (a U-statistic).
    Two images make a single pair, which shows no variance: such people are supposed to vary
    as independent pairs with the common rate do. weight: of each image, (unit,).
    """
    n = _images_of_person(sums)
    mean_without_itself = (n - 1) / np.maximum(n - 2, 1)
    influence = 2 * added.influence * mean_without_itself.where(n > 2, 0.0)
    alone = ((2 * weight.where(n == 2, 0.0)) ** 2).sum(UNIT) / 2
    units = np.maximum((influence != 0).sum(UNIT), added.people)
    noise = -added.rate * (1 - added.rate) * alone
    return replace(added, influence=influence, noise=noise, units=units)


# --- rates whose threshold errs, too -------------------------------------------------------------


def with_error_of_threshold(added, kind, sums, g, h):
    """FAR or FRR at a FAR level α: ψ_k - c φ_k / α, with c = d rate / d log FAR."""
    leader = _leader(sums)
    if kind == "far" and g is None and leader is None:
        return added  # the rate that the threshold keeps
    reference = far(sums, leader, leader)
    share = _change_per_far(sums, reference, leader, _curve(sums, kind, g, h))
    if kind == "far" and leader is not None and g is not None:
        share = share.where((g != leader) | (h != leader), 0.0)
    influence = added.influence - share * reference.influence
    noise, least = added.noise + share**2 * reference.noise, added.least
    if kind == "far" and leader is None:
        of_all = reference.rate, reference.weight
        both = far_covariance(sums, g, h, added.rate, added.weight, *of_all)
        noise = noise - 2 * share * both
    if kind == "frr":
        least = np.maximum(least, (influence**2).sum(UNIT) / 2)
    return replace(added, influence=influence, noise=noise, least=least)


def threshold(sums):
    """The threshold of a FAR level, which rises where a person adds to the FAR."""
    leader = _leader(sums)
    added = far(sums, leader, leader)
    falls = _change_per_far(sums, added, leader, sums.curve_threshold)
    return replace(added, rate=sums.threshold, influence=-falls * added.influence)


def _leader(sums):
    """Whose FAR the threshold keeps to the level: None for all, or the group with the highest."""
    if sums.attrs["far_of"] == "all":
        return None
    groups = xr.DataArray(np.arange(sums.attrs["groups"]), dims="leader")
    return far(sums, groups, groups).rate.fillna(-1.0).argmax("leader")


def _change_per_far(sums, reference, g, values):
    """How much a curve changes with the FAR of group g: c / α, with c = d value / d log FAR."""
    low, high, lowest, highest = _window(sums, reference, g, values)
    slope = (high - low) / np.maximum(highest - lowest, 1e-9)
    return (slope / reference.rate).where(reference.rate > 0, 0.0)


def eer(sums, g):
    """EER of a group, or of all: the rates at the crossing, weighted by each other's slope."""
    accepts, rejects = far(sums, g, g), frr(sums, g)
    low, high, lowest, highest = _window(sums, accepts, g, _curve(sums, "frr", g, g))
    falls, rises = np.exp(highest) - np.exp(lowest), low - high
    both = falls + rises
    share = (falls / both).where(both > 0, 0.5)  # of FRR's deviation
    return replace(
        rejects,
        rate=sums.rate,
        influence=share * rejects.influence + (1 - share) * accepts.influence,
        noise=share**2 * rejects.noise + (1 - share) ** 2 * accepts.noise,
        least=(1 - share) ** 2 * accepts.least,
    )


def auc(sums, g):
    """1 - AUC of a group, or of all: the probability that an impostor pair scores higher."""
    accepts, rejects = far(sums, g, g), frr(sums, g)
    influence, noise = accepts.influence + rejects.influence, accepts.noise + rejects.noise
    return replace(rejects, influence=influence, noise=noise, least=accepts.least)


def _curve(sums, kind, g, h):
    """FAR or FRR along the data's own curve, over `place`."""
    if kind == "frr":
        return sums.curve_frr.isel(group_or_all=-1 if g is None else g)
    return sums.curve_far_all if g is None else sums.curve_far.isel(partner=g, partner_b=h)


def _window(sums, reference, g, values):
    """Values of a curve, and log FAR, at both ends of a window around the FAR of group g.

    It reaches two standard deviations of log FAR to either side. Curves of lists have steps: they
    are interpolated in log FAR.
    """
    rate = np.maximum(reference.rate, TINY)
    width = np.clip(2 * np.sqrt(reference.variance) / rate, *WIDTHS)
    return xr.apply_ufunc(
        _interpolated,
        np.log(np.maximum(_curve(sums, "far", g, g), TINY)),
        values,
        np.log(rate),
        width,
        input_core_dims=[[PLACE], [PLACE], [], []],
        output_core_dims=[[], [], [], []],
        vectorize=True,
    )


def _interpolated(log_far, values, middle, width):
    """A curve at middle ± width, and these two places where the curve reaches so far."""
    order = np.argsort(log_far, kind="stable")
    log_far, values = log_far[order], values[order]
    ends = middle + np.array([-width, width])
    return *np.interp(ends, log_far, values), *np.clip(ends, log_far[0], log_far[-1])


# --- sums ----------------------------------------------------------------------------------------


def _impostors(sums, name, g, h):
    """Weight of the impostor pairs of each entry, of all or between groups g and h."""
    table, group = sums[name].astype(float), sums.group_of_entry
    if g is None:
        return table.sum("partner")
    with_h = table.isel(partner=h) * (group == g)
    return with_h if h is g else with_h + table.isel(partner=g) * ((group == h) & (g != h))


def _of_pairs(sums, name, g, h):
    """A sum over pairs of two people, of all or of groups g and h."""
    if g is None:
        once = sums.cells.copy(data=np.triu(sums.cells >= 1))
        return (sums[name] * once).sum(PARTNERS)
    return sums[name].isel(partner=g, partner_b=h)


def by_unit(sums, table):
    """Sums over the entries of each unit."""
    return _added_up(table, sums.unit_of_entry, UNIT)


def _added_up(table, number, dim):
    """Sums of all that have the same number, over a dim of these numbers."""
    return xr.apply_ufunc(
        np.bincount,
        number,
        table,
        kwargs={"minlength": int(number.max()) + 1},
        input_core_dims=[number.dims, number.dims],
        output_core_dims=[[dim]],
        vectorize=True,
    )


def _influence(sums, excess, weight):
    """Influence of each unit, from what its entries are above the mean; weight: of all its pairs.

    The factor makes the sum of squares of a mean over K people unbiased.
    """
    values, there = by_unit(sums, excess), by_unit(sums, weight) != 0
    if sums.attrs["these_people"]:
        return _beyond_person(sums, values, there)
    n = there.sum(UNIT)
    return values * np.sqrt(n / np.maximum(n - 1, 1))


def _beyond_person(sums, values, there):
    """What each image adds beyond the mean of its person, as large as over new images.

    The image of a person with a single one cannot be compared with others of the person: it
    varies as much as those of the others on average.
    """
    person, n = sums.person_of_unit, _images_of_person(sums)
    mean = _added_up(values, person, "person").isel(person=person) / n
    beyond = (values - mean) * np.sqrt(n / np.maximum(n - 1, 1))
    typical = np.sqrt((beyond**2).where(n > 1).mean(UNIT))
    return beyond.where((n > 1) | ~there | ~(n > 1).any(), typical)


def _images_of_person(sums):
    """How many images each image's person has, (unit,)."""
    person = sums.person_of_unit
    return person.copy(data=np.bincount(person)[person].astype(float))


def count_alike(errors):
    """As if so many units had erred alike: (Σ e)² / Σ e², e being the errors of each."""
    squares = (errors**2).sum(UNIT)
    return (errors.sum(UNIT) ** 2 / squares).where(squares > 0, 0.0)
