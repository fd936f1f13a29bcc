"""What each person adds to an error rate, and the variance of the rate over new people.

FRR is a mean over people, FAR a mean over pairs of people, which count for both of their people
(two-way clustering of U-statistics: Cameron, Gelbach & Miller 2011; Davezies, D'Haultfoeuille &
Guyonvarch 2021). At a FAR level the threshold is estimated, too: its error moves every rate along
the slope of the data's own curve.

The node `people` of an evaluation contains sums by row (an image under its labels), at each level,
and at the EER of all and of each group. A unit is a person, or an image for intervals about these
people. g and h are numbers of groups, over `group` and `reference_group`; None stands for all
pairs. The functions work on all models, levels and groups at once, with variables that know their
dims but no labels, which saves most of the time. Each returns a dict of
- rate, and of FAR total, the weight of all its comparisons;
- influence: what each unit adds to the rate, over `unit`, with sum 0;
- noise: variance of single pairs of units, which the squared influences contain twice;
- least: the smallest possible variance;
- errors: weight of the errors of each unit, over `unit`; erring: their effective number;
- units, people, comparisons: how many make the rate; of these people, units and people are images;
- df: the degrees of freedom of the variance;
- most: the largest possible effective number; unseen: further units that are assumed to err;
- weight and pairs: of each person, how much it weighs and (of FRR) how many genuine pairs it has;
- accepting: of FRR at a FAR level, the effective number of pairs of people that are accepted;
- alike: of the FRR of groups, the effective number if people vary equally in all groups;
- partly_alike: of the FAR of groups, the effective number to which the people of all groups
  contribute; of_people: as in `effective.jeffreys`;
- share_of_frr, far_variance, curve: of the EER of groups, a / (a + b), the variance of the FAR at
  the crossing, and the FRR where the group's FAR is each of FARS, over `far`; errors_at_eer: of
  each unit at one threshold for all, that of the EER of all.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import xarray as xr

from frkit.base import require, require_one_of
from frkit.intervals.pooled import FARS, partly_pooled_far, pooled_frr
from frkit.intervals.reading import NEW_PEOPLE, THESE_PEOPLE

TARGETS = (NEW_PEOPLE, THESE_PEOPLE)
UNIT = "unit"
BOTH_PARTNERS = ["partner", "partner_b"]
WIDTHS = 0.5, 2.0  # of the window of the slope, in log FAR to either side
TINY = 1e-300
UNSEEN = 2  # further units that are assumed to err
OF_FAR = ("rate", "squares", "noise", "people", "units", "comparisons")


def contributions(evaluation, name, target, *, fixed_threshold=False) -> xr.Dataset:
    """What units add to a rate (or to the threshold), at every model, level and group.

    fixed_threshold : whether the threshold is held fixed, without its own error. Returns the
    variables above and `variance`, over the dims of the rate; `identity` names the units where they
    are people with names.
    """
    rate = evaluation["empirical"][name]
    people = _people(evaluation, target)
    variables = _variables(people, name)
    kind, *suffixes = name.split("_")
    g: Any = _places_of_groups(rate["group"], people) if suffixes else None
    with np.errstate(divide="ignore", invalid="ignore"):
        if kind in ("eer", "auc"):
            result = eer_or_auc(variables, kind, g)
        elif kind == "threshold":
            result = threshold_at_far(variables)
        elif suffixes == ["cross"]:  # one group at a time needs less memory than all
            h = _places_of_groups(rate["reference_group"], people)
            rows = [_at_level(variables, kind, g[[k]], h, fixed_threshold) for k in range(g.size)]
            joined = xr.concat(map(xr.Dataset, rows), "group", data_vars="minimal")
            result = dict(joined.variables)
        else:
            result = _at_level(variables, kind, g, g, fixed_threshold)
        result["variance"] = variance(result)
    result = {"most": result["comparisons"], "unseen": UNSEEN} | result
    names = evaluation["people"].coords.get("identity")
    coords = dict(rate.coords)
    if target == NEW_PEOPLE and names is not None:
        coords["identity"] = UNIT, names.values
    return xr.Dataset(result, coords).transpose(*rate.dims, UNIT, ...)


def _places_of_groups(labels, people):
    """The places of groups among those of `people`."""
    place = people.indexes["partner"].get_indexer(np.atleast_1d(labels))
    return xr.Variable(labels.dims, place.reshape(labels.shape))


def _variables(people, name_of_rate):
    """The sums of a rate, as variables under their names: at its levels and of its groups.

    At the EER (or of 1 - AUC), of all or of each group, they have the names of those at levels.
    """
    variables = {name: values.variable for name, values in people.data_vars.items()}
    suffix = f"_{name_of_rate}"
    at_point = [name for name in variables if name.endswith(suffix)]
    variables |= {name.removesuffix(suffix): variables[name] for name in at_point}
    is_auc = np.bool_(name_of_rate.startswith("auc"))
    return SimpleNamespace(**variables, **people.attrs, errors_are_shares=is_auc)


def _at_level(people, kind, g, h, fixed_threshold):
    """What units add to FAR or FRR, at a fixed threshold or at that of a FAR level."""
    pools_people = g is not None and g is h and people.target == NEW_PEOPLE and not fixed_threshold
    if kind == "far":
        fixed = far_of_groups(people, g) if pools_people else far(people, g, h)
    else:
        fixed = frr(people, g)
        if pools_people:
            fixed["alike"] = alike(people, g)
    if fixed_threshold or people.level_of == "threshold":
        return fixed
    return with_error_of_threshold(people, kind, fixed, g, h)


def _people(evaluation, target):
    """The node `people`, its rows sorted by unit, with the first row of each unit."""
    require_one_of("target", target, TARGETS)
    require(
        "people" in evaluation.children,
        "this evaluation does not say what people add to its rates: make it with fk.evaluate, "
        "without scheme 'pair' for known people, or name a method that reads replicates",
    )
    people = evaluation["people"].to_dataset().assign_attrs(target=target)
    people["couples"] = BOTH_PARTNERS, np.triu(people.cells >= 1)  # each couple of groups once
    if target == THESE_PEOPLE:
        return _by_image(people)
    people = people.sortby("person")
    _, first_row = np.unique(people.person, return_index=True)
    return people.assign(first_row=(UNIT, first_row))


def _by_image(people):
    """The node `people` sorted by person and image, the unit of intervals about these people."""
    require(
        people.complete,
        "target='these people' needs every image compared with every other, without failures, "
        "and labels that do not vary within a person, which is not so here: take target='new "
        "people'",
    )
    people = people.sortby(["person", "image"])
    _, first_row = np.unique(people.image, return_index=True)
    first_row.sort()
    _, first_unit, owner, images = np.unique(
        people.person.values[first_row], return_index=True, return_inverse=True, return_counts=True
    )
    return people.assign(
        first_row=(UNIT, first_row),
        first_unit=("person_of_units", first_unit),
        owner=(UNIT, owner),
        images_of_owner=(UNIT, images[owner]),
    )


# --- rates at a fixed threshold ------------------------------------------------------------------


def far(people, g, h):
    """FAR between two groups, or of all, at a fixed threshold: φ_k = Σ_l m_kl (a_kl - FAR).

    Each pair counts for both of its people. Its noise is twice in Σ φ_k² and is subtracted once.
    """
    accepted = _between(people, "accepted", g, h)
    compared = _between(people, "compared", g, h)
    total = compared.sum(UNIT) / 2  # each pair is in the sums of both of its people
    rate = accepted.sum(UNIT) / 2 / total
    influence = _influence(people, (accepted - rate * compared) / total, compared != 0)
    n_people = (compared != 0).sum(UNIT)
    if people.target == THESE_PEOPLE:
        erring = effective_count(accepted)
        units = n_people
    else:
        of_all = "_all" if g is None else ""
        squares = _number_of_pairs(people, f"accepted_square{of_all}", g, h)
        erring = ((rate * total) ** 2 / squares).where(squares > 0, 0.0)
        units = _number_of_pairs(people, f"people_pairs{of_all}", g, h)
    result = {"rate": rate, "total": total, "influence": influence, "errors": accepted}
    noise = far_covariance(people, g, h, result, result)
    comparisons = _number_of_pairs(people, "impostor_pairs", g, h)
    return result | {
        "noise": noise,
        "least": noise,
        "erring": erring,
        "units": units,
        "people": n_people,
        "df": n_people - 1,
        "comparisons": comparisons,
        "weight": compared,
    }


def far_covariance(people, g, h, between, whole):
    """Covariance of two FARs from single pairs of people: D = Σ m (a - F) m' (a - F').

    between, whole : `rate` F and `total` weight of the pairs of groups g and h, and those of all
    pairs, or the same.
    """
    of_all = "_all" if g is None or whole is not between else ""
    squares = _number_of_pairs(people, f"accepted_square{of_all}", g, h)
    weights = _number_of_pairs(people, f"compared_square{of_all}", g, h)
    if people.target == THESE_PEOPLE:  # single image pairs of the same two people
        n_pairs = np.maximum(_number_of_pairs(people, "impostor_pairs", g, h), 1)
        within = between["rate"] - (squares / weights).where(weights > 0, 0.0)
        return np.maximum(within, 0) / n_pairs * between["total"] / whole["total"]
    accepted_compared = _number_of_pairs(people, f"accepted_cross{of_all}", g, h)
    compared_accepted = accepted_compared
    if of_all:
        compared_accepted = _number_of_pairs(people, "accepted_all_cross", g, h)
    first, second = between["rate"], whole["rate"]
    products = squares - second * accepted_compared - first * compared_accepted
    products = products + first * second * weights
    return products / (between["total"] * whole["total"])


def frr(people, g):
    """FRR of a group, or of all, at a fixed threshold: ψ_k = m_k (r_k - FRR)."""
    in_group = _in_group(people, g)
    within = "" if g is None else "_within"  # of a group only pairs of two of its images count
    rejected, genuine, pairs = (
        _sums(getattr(people, f"{name}{within}") * in_group, people.first_row)
        for name in ("rejected", "genuine", "genuine_pairs")
    )
    total = genuine.sum(UNIT)
    rate = rejected.sum(UNIT) / total
    n_people = (genuine != 0).sum(UNIT)
    pairs = pairs / 2
    comparisons = pairs.sum(UNIT)
    influence = _influence(people, (rejected - rate * genuine) / total, genuine != 0)
    result = {
        "rate": rate,
        "influence": influence,
        "noise": 0.0,
        "least": 0.0,
        "errors": rejected,
        "erring": effective_count(rejected),
        "units": n_people,
        "people": n_people,
        "df": n_people - 1,
        "comparisons": comparisons,
        "weight": genuine,
        "pairs": pairs,
    }
    if people.target == THESE_PEOPLE:
        return _over_images(people, result, rejected / total, genuine / total)
    variance_of_mean, df = _variance_of_mean(rejected, genuine, pairs)
    return result | {"noise": (influence**2).sum(UNIT) - variance_of_mean, "df": df}


def _variance_of_mean(rejected, genuine, pairs):
    """Variance V of FRR = Σ w_k r_k over new people, and its degrees of freedom.

    The weights may be any. A person with a large one pulls the mean towards its own r_k, so that
    d_k = r_k - FRR hides much of its variance σ_k²: E Σ w_k² d_k² = V (1 + Σ w_k²) - 2 Σ w_k³ σ_k².
    What is hidden is taken from all people: σ_k² is in proportion to ρ + (1 - ρ) / m_k for m_k
    pairs, as in `pooled_frr`, and on average the variance of r_k. With equal weights V is that
    variance over K.

    The mean over all people counts a person by its weight, up to the median one, so
    that neither many pairs nor a single one outweigh the others. The degrees of freedom are
    Satterthwaite's, of the squares of single people and of the part that is taken from all, as if
    all people varied alike; at most K - 1.
    """
    present = genuine > 0
    most_df = present.sum(UNIT) - 1
    weight = genuine / genuine.sum(UNIT)
    rate = (rejected / genuine).where(present)
    pair_share = (1 / pairs).where(present)
    counted = np.minimum(weight, weight.where(present).median(UNIT)).where(present)
    share = counted / counted.sum(UNIT)
    free = share * (1 - share)  # how much of σ_k² is in the squares
    degrees = 1 / (share**2).sum(UNIT) - 1
    mean = (share * rate).sum(UNIT)
    between = (share * (rate - mean) ** 2).sum(UNIT) / free.sum(UNIT)
    binomial = mean * (1 - mean)
    mean_pair_share = (free * pair_share).sum(UNIT) / free.sum(UNIT)
    surplus = between - binomial * mean_pair_share
    rho = (surplus / (binomial * (1 - mean_pair_share))).clip(0, 1).fillna(0)
    shape = rho + (1 - rho) * pair_share
    shape = shape * free.sum(UNIT) / (free * shape).sum(UNIT)
    seen = (weight**2 * (rate - (weight * rate).sum(UNIT)) ** 2).sum(UNIT)
    hidden = 2 * (weight**3 * shape).sum(UNIT)
    variance_of_mean = (seen + between * hidden) / (1 + (weight**2).sum(UNIT))
    shown = weight**2 * (1 - weight) ** 2
    variance_of_all = 2 * (weight**3).sum(UNIT)
    squares = (shown**2).sum(UNIT) + variance_of_all**2 / np.maximum(degrees, 1)
    df = (shown.sum(UNIT) + variance_of_all) ** 2 / squares
    return variance_of_mean, np.minimum(df.fillna(1), most_df)


def alike(people, g):
    """Effective number of a group's FRR at a fixed threshold, if people vary equally in all."""
    frr_of_all = frr(people, _every_group(people))
    numbers = xr.apply_ufunc(
        pooled_frr,
        frr_of_all["errors"] / frr_of_all["weight"],
        frr_of_all["pairs"],
        frr_of_all["weight"],
        input_core_dims=[["any_group", UNIT]] * 3,
        output_core_dims=[["any_group"]],
    )
    return numbers.isel(any_group=g)


def far_of_groups(people, g):
    """FAR of groups at a fixed threshold, with what `partly_pooled_far` says of its variance."""
    groups = _every_group(people)
    result = far(people, groups, groups)
    result["squares"] = (result["influence"] ** 2).sum(UNIT)
    result["partly_alike"], result["of_people"] = xr.apply_ufunc(
        partly_pooled_far,
        effective_count(result["errors"]),
        *(result[name].where(result["people"] >= 2) for name in OF_FAR),
        input_core_dims=[["any_group"]] * (1 + len(OF_FAR)),
        output_core_dims=[["any_group"]] * 2,
    )
    return {name: values.isel(any_group=g) for name, values in result.items()}


def _every_group(people):
    """The numbers of all groups, over a separate dim."""
    return xr.Variable("any_group", np.arange(people.cells.sizes["partner"] - 1))


def _over_images(people, over_people, share_of_errors, weight):
    """FRR over new images of the same people: a mean over pairs of images of each person.

    The influence of an image on a mean over pairs is twice that on its own mean (a U-statistic).
    Of few images its squares are far too large, by what `_variance_of_people` says. Two images make
    a single pair, which shows no variance: such people get that of independent pairs with the
    common rate. share_of_errors, weight : of each image in all, over `unit`.
    """
    n = people.images_of_owner
    rate = over_people["rate"]
    mean_of_others = (n - 1) / np.maximum(n - 2, 1)
    influence = (2 * over_people["influence"] * mean_of_others).where(n > 2, 0.0)
    weight_of_single_pairs = 2 * weight.where(n == 2, 0.0)
    independent_pairs = (weight_of_single_pairs**2).sum(UNIT) / 2
    variance_of_people, if_independent = _variance_of_people(people, share_of_errors, weight)
    squares = _sums(influence**2, people.first_unit)
    too_large = (
        (squares - variance_of_people)
        .where(np.isfinite(variance_of_people), 0.0)
        .sum("person_of_units")
    )
    return over_people | {
        "influence": influence,
        "noise": too_large - rate * (1 - rate) * independent_pairs,
        "least": if_independent.sum("person_of_units"),
    }


def _variance_of_people(people, share_of_errors, weight):
    """Variance of what each person adds to FRR over new images, and what it is at least.

    Person k adds S = Σ ν e over pairs of n images, and R_i of them with image i. Two pairs without
    a common image are independent, so S² - Σ R² + ν S, the sum over all such couples of pairs,
    estimates the square of the mean of S without bias, where pairs err or do not. Of AUC they err
    in a share of the impostors; and fewer than 4 images have no such pairs: NaN. The least is the
    variance of independent pairs.

    share_of_errors, weight : R_i / 2, and the same if all were rejected, over `unit`.
    """
    n = _sums(xr.ones_like(people.owner, float), people.first_unit)
    added = _sums(share_of_errors, people.first_unit)
    squares = _sums((2 * share_of_errors) ** 2, people.first_unit)
    sums = _sums(weight, people.first_unit)
    n_pairs = n * (n - 1) / 2
    sum_of_pair = sums / np.maximum(n_pairs, 1)
    apart = (n - 2) * (n - 3) / 2  # pairs without an image of a given one
    is_known = (n > 3) & ~people.errors_are_shares
    squared_mean = n_pairs / apart.where(is_known) * (added**2 - squares + sum_of_pair * added)
    if_independent = sum_of_pair * added * (1 - added / sums.where(sums > 0, 1.0))
    return added**2 - squared_mean, if_independent


def variance(contribution):
    """Variance of the rate over new people (or new images)."""
    squares = (contribution["influence"] ** 2).sum(UNIT)
    return np.maximum(squares - contribution["noise"], contribution["least"])


# --- rates whose threshold errs, too -------------------------------------------------------------


def with_error_of_threshold(people, kind, fixed, g, h):
    """FAR or FRR at a FAR level α: ψ_k - c φ_k / α, with c = d rate / d log FAR."""
    reference, level_group = far_at_level(people)
    if kind == "far" and g is None and level_group is None:
        return fixed  # the rate whose level the threshold meets
    slope = _slope(people, reference, level_group, _curve(people, kind, g, h))
    nothing_accepted = reference["rate"] == 0
    change = (slope / reference["rate"]).where(~nothing_accepted, 0.0)
    influence = fixed["influence"] - change * reference["influence"]
    noise = fixed["noise"] + change**2 * reference["noise"]
    if kind == "frr":
        # nothing shows how precise the threshold is: log FAR has SD 1, as with one accepted pair
        noise = noise - (slope**2).where(nothing_accepted, 0.0)
        least = fixed["least"] if people.target == THESE_PEOPLE else (influence**2).sum(UNIT) / 2
        moved = fixed | {"noise": noise, "least": least, "influence": influence}
        moved["accepting"] = reference["erring"]
        if "alike" in fixed:
            wider = np.maximum(variance(moved) - variance(fixed), 0)
            binomial = fixed["rate"] * (1 - fixed["rate"])
            number = 1 / (1 / fixed["alike"] + wider / binomial)
            moved["alike"] = number.where(binomial > 0, fixed["alike"])
        return moved
    if level_group is None:
        noise = noise - 2 * change * far_covariance(people, g, h, fixed, reference)
    moved = {"influence": influence, "noise": noise, "least": np.maximum(noise, 0)}
    if "partly_alike" in fixed:
        moved_variance = variance(moved)
        share = (variance(fixed) / moved_variance).where(moved_variance > 0, 1.0)
        moved["partly_alike"] = fixed["partly_alike"] * share.where(fixed["rate"] > 0, 1.0)
    if g is not None and level_group is not None:
        is_other = (g != level_group) | (h != level_group)
        moved = {name: values.where(is_other, fixed[name]) for name, values in moved.items()}
    return fixed | moved


def far_at_level(people):
    """The FAR whose level the threshold meets, and its group.

    That of all (None), or of the group with the highest (far_of="worst group").
    """
    if people.far_of == "all":
        return far(people, None, None), None
    groups = _every_group(people)
    far_of_groups = xr.Dataset(far(people, groups, groups))
    worst = far_of_groups.rate.variable.fillna(-1).argmax("any_group")
    return dict(far_of_groups.isel(any_group=worst).variables), worst


def threshold_at_far(people):
    """The FAR whose level the threshold meets, and the data's own curve of it.

    change : d threshold / d FAR. curve_far, curve_threshold : over `place`, with rising FAR.
    """
    reference, group = far_at_level(people)
    slope = _slope(people, reference, group, people.curve_threshold)
    return reference | {
        "change": (slope / reference["rate"]).where(reference["rate"] > 0, 0.0),
        "curve_far": _curve(people, "far", group, group),
        "curve_threshold": people.curve_threshold,
    }


def eer_or_auc(people, kind, g):
    """EER of a group, or of all, at the crossing: (b φ_k + a ψ_k) / (a + b); 1 - AUC: φ_k + ψ_k.

    a and b are what FAR falls and FRR rises with the threshold. 1 - AUC is the probability that an
    impostor pair scores higher than a genuine one.
    """
    accepts = far(people, g, g)
    rejects = frr(people, g)
    result = rejects | {"rate": people.rate, "most": np.inf}  # no shares of comparisons that err
    far_weight = frr_weight = 1.0
    if kind == "eer":
        result["unseen"] = 1  # who was not seen moves the threshold, too, which takes back half
        rise_of_frr, lowest, highest = _window(people, accepts, g, _curve(people, "frr", g, g))
        a = np.exp(highest) - np.exp(lowest)
        b = -rise_of_frr
        frr_weight = (a / (a + b)).where(a + b > 0, 0.5)
        far_weight = 1 - frr_weight
    if kind == "eer" and g is not None:
        rejected = people.rejected_within_eer * _in_group(people, g)
        result |= {
            "share_of_frr": frr_weight,
            "far_variance": variance(accepts),
            "curve": frr_at_fars(people, g),
            "errors_at_eer": _sums(rejected, people.first_row),
        }
    return result | {
        "influence": frr_weight * rejects["influence"] + far_weight * accepts["influence"],
        "noise": frr_weight**2 * rejects["noise"] + far_weight**2 * accepts["noise"],
        "least": far_weight**2 * accepts["least"],
    }


def frr_at_fars(people, g):
    """The FRR of a group where its own FAR is each of FARS, by its curve, over `far`."""
    log_fars = xr.Variable("far", np.log(FARS))
    return _interpolated(people, log_fars, g, _curve(people, "frr", g, g))


def _slope(people, reference, group, values):
    """How steeply a curve rises with log FAR around the FAR of a group: c = d value / d log FAR."""
    rise, lowest, highest = _window(people, reference, group, values)
    return rise / np.maximum(highest - lowest, 1e-9)


def _window(people, reference, g, values):
    """How much a curve rises in a window around the FAR of group g, and log FAR at its ends.

    It reaches two standard deviations of log FAR to either side. Where no pair is accepted, it
    begins at the FAR of one pair.
    """
    nothing_accepted = reference["rate"] == 0
    share_of_a_pair = 1 / np.maximum(reference["comparisons"], 1)
    rate = reference["rate"].where(~nothing_accepted, share_of_a_pair)
    sd_of_log = np.sqrt(variance(reference)).where(~nothing_accepted, rate) / rate
    width = (2 * sd_of_log).clip(*WIDTHS)
    below = width.where(~nothing_accepted, 0.0)
    log_far = _log_far(people, g)
    first, last = (log_far.isel(place=place) for place in (0, -1))
    lowest = np.minimum(np.maximum(np.log(rate) - below, first), last)
    highest = np.minimum(np.maximum(np.log(rate) + width, first), last)
    low, high = (_interpolated(people, end, g, values) for end in (lowest, highest))
    return high - low, lowest, highest


def _interpolated(people, log_far, g, values):
    """A curve where the FAR of group g has these logarithms; over `far`, where they have this dim.

    Curves of lists have steps: they are interpolated in log FAR.
    """
    dims = [dim for dim in log_far.dims if dim == "far"]
    return xr.apply_ufunc(
        np.interp,
        log_far,
        _log_far(people, g),
        values,
        input_core_dims=[dims, ["place"], ["place"]],
        output_core_dims=[dims],
        vectorize=True,
    )


def _log_far(people, g):
    """The logarithm of the FAR of a group, or of all, along the data's own curve."""
    return np.log(np.maximum(_curve(people, "far", g, g), TINY))


def _curve(people, kind, g, h):
    """FAR or FRR along the data's own curve, over `place`, with rising FAR."""
    if kind == "frr":
        return people.curve_frr.isel(group_or_all=-1 if g is None else g)
    if g is None:
        return people.curve_far_all
    return people.curve_far.isel(partner=g, partner_b=h)


def _in_group(people, g):
    """Whether a row is in group g; None is all."""
    group = people.group_of_row
    return group == group if g is None else group == g


# --- sums ----------------------------------------------------------------------------------------


def _between(people, name, g, h):
    """Weight of the impostor pairs of each unit, of all or between groups g and h.

    name : of a table over `row` and `partner`, the group of the partner.
    """
    table = getattr(people, name)
    group = people.group_of_row
    if "partner" not in table.dims:  # of pairs within the row's own group
        return _sums(table.where(group == g, 0.0), people.first_row)
    if g is None:
        return _sums(table.sum("partner", dtype=float), people.first_row)
    as_g = table.isel(partner=h).where(group == g, 0.0)
    as_h = table.isel(partner=g).where((group == h) & (g != h), 0.0)
    return _sums(as_g, people.first_row) + _sums(as_h, people.first_row)


def _sums(values, first):
    """Sums of a variable over the rows of each unit (or the units of each owner).

    first : the first row of each unit.
    """
    last_dim = "row" if "row" in values.dims else UNIT
    return xr.apply_ufunc(
        np.add.reduceat,
        values,
        first,
        kwargs={"axis": -1, "dtype": float},
        input_core_dims=[[last_dim], first.dims],
        output_core_dims=[first.dims],
    )


def _number_of_pairs(people, name, g, h):
    """A sum over pairs of two people, of all or of groups g and h."""
    table = getattr(people, name)
    if "partner" not in table.dims:  # of pairs within each group
        return table
    if g is None:
        return (table * people.couples).sum(BOTH_PARTNERS)
    return table.isel(partner=g, partner_b=h)


def effective_count(errors):
    """How many units err if all that err did so equally: (Σ e)² / Σ e²."""
    squares = (errors**2).sum(UNIT)
    return (errors.sum(UNIT) ** 2 / squares).where(squares > 0, 0.0)


def _influence(people, excess, compared):
    """Influence of each unit, from what it adds above the mean; compared : whether it is there.

    The factor K / (K - 1) makes the sum of squares of a mean over K people unbiased.
    """
    if people.target == THESE_PEOPLE:
        return _beyond_person(people, excess, compared)
    k = compared.sum(UNIT)
    return excess * np.sqrt(k / np.maximum(k - 1, 1))


def _beyond_person(people, values, compared):
    """What each image adds beyond the mean of its person, as large as over new images.

    The image of a person with a single one cannot be compared with others of the person: it varies
    as much as those of the others on average.
    """
    n = people.images_of_owner
    mean = _sums(values, people.first_unit).isel(person_of_units=people.owner) / n
    beyond = (values - mean) * np.sqrt(n / np.maximum(n - 1, 1))
    mean_square = (beyond**2).where(n > 1).mean(UNIT)
    return beyond.where((n > 1) | ~compared, np.sqrt(mean_square).fillna(0))
