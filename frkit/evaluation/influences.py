"""What each person adds to an error rate, and the variance of the rate over new people.

FRR is a mean over people, FAR a mean over couples of people, which count for both of their people
(two-way clustering of U-statistics: Cameron, Gelbach & Miller 2011; Davezies, D'Haultfoeuille &
Guyonvarch 2021). At a FAR level the threshold is estimated, too: its error moves every rate along
the slope of the data's own curve. Each function is about one rate at one threshold.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from frkit.evaluation.design import codes_of_couples
from frkit.evaluation.error_rates import (
    far,
    frr,
    losses,
    number_accepted,
    number_rejected,
    thresholds,
    weights_of_data,
)
from frkit.evaluation.populations import Pairs, Population, compared

N_THRESHOLDS = 200  # of the data's own curve
WIDTHS = 0.5, 2.0  # of the window of a slope, in log FAR to either side
TINY = 1e-300


class Added(NamedTuple):
    """What units add to one rate; a unit is a person, or an image for intervals about these people.

    influence : (unit,) what each adds to the rate at a fixed threshold, with sum 0. errors :
    (unit,) weight of its errors. noise : variance of single couples, which the squared influences
    contain twice. least : the smallest possible variance. erring : effective number of units that
    err; units : how many there are, people, of FAR couples of them. people : who make the rate.
    df : of the variance. comparisons : how many pairs. total : their weight. change : d rate / d
    FAR, by which the error of a FAR level's threshold moves the rate; noise_at_level and
    variance_at_level contain it. curve_far : of a threshold, the data's own curve of the FAR whose
    level it meets.
    """

    rate: Any
    influence: np.ndarray
    errors: np.ndarray
    erring: Any
    units: Any
    people: Any
    df: Any
    comparisons: Any
    total: Any
    noise: Any = 0.0
    least: Any = 0.0
    change: Any = 0.0
    noise_at_level: Any = 0.0
    variance_at_level: Any = 0.0
    curve_far: Any = ()

    @property
    def squares(self):
        """Sum of squared influences."""
        return (self.influence**2).sum(-1)

    @property
    def variance(self):
        """Variance of the rate over new people (or new images), at a fixed threshold."""
        return np.maximum(self.squares - self.noise, self.least)


class Point(NamedTuple):
    """The pairs that err at a threshold, or what all pairs add to 1 - AUC.

    accepted, rejected : (row,) weight of impostor pairs and of genuine ones, with both images.
    couples : (couple,) weight of the accepted pairs of the first couples of `PeopleOf`.
    """

    accepted: np.ndarray
    rejected: np.ndarray
    couples: np.ndarray


def curve_thresholds(whole: Population):
    """Thresholds of the data's own curve, from the highest down."""
    n_pairs = whole.impostors.number.sum(dtype=float)
    levels = np.geomspace(1 / max(n_pairs, 2), 0.999, N_THRESHOLDS)
    return thresholds(whole, weights_of_data(whole), levels)


class PeopleOf:
    """The people of a population: what was compared, and their pairs."""

    def __init__(self, population: Population, curve_threshold, lowest=None):
        """Read the pairs; lowest : threshold of `point`, by default all pairs.

        curve_threshold : of the data's own curve, from the highest down, so that its FAR rises.
        """
        self.population = population
        self.weights = weights_of_data(population)
        self.compared = compared(population)
        self.curve_far = np.nan_to_num(far(population, self.weights, curve_threshold))
        self.curve_frr = np.nan_to_num(frr(population, self.weights, curve_threshold))
        self.genuine = population.genuine.weight * (population.genuine.number > 0)
        genuine = population.genuine
        self.genuine_of_row = sums_by_row(population, genuine, self.genuine) / 2
        self.genuine_of_person = self.by_person(self.genuine_of_row)
        self.pairs_of_person = self.by_person(sums_by_row(population, genuine, genuine.number) / 2)
        n = None if lowest is None else number_accepted(population, lowest)
        impostors = population.impostors.take(slice(n))
        couple = codes_of_couples(
            population.person[impostors.a],
            population.person[impostors.b],
            population.design.n_people,
        )
        self.couple_of_pair, self.couples = pd.factorize(couple)  # those accepted first
        self.compared_of_couple = self.compared.of(*self.people_of_couples)
        self.itself = overlap(self, self)

    @property
    def people_of_couples(self):
        """Both people of each couple, (couple,) each."""
        return np.divmod(self.couples, self.population.design.n_people)

    def point(self, threshold) -> Point:
        """The pairs that err at a threshold; none at NaN."""
        n_accepted = number_accepted(self.population, threshold)
        n_rejected = number_rejected(self.population, threshold)
        if np.isnan(threshold):
            n_rejected = 0
        accepted = self.population.impostors.weight[:n_accepted]
        rejected = np.where(np.arange(len(self.genuine)) < n_rejected, self.genuine, 0.0)
        return self._sums(accepted, rejected)

    def disorder(self) -> tuple[Point, float]:
        """What all pairs add to 1 - AUC, and 1 - AUC."""
        accepted, rejected, rate = losses(self.population, self.weights)
        return self._sums(accepted, np.nan_to_num(rejected)), rate

    def _sums(self, accepted, rejected) -> Point:
        n = len(accepted)
        return Point(
            sums_by_row(self.population, self.population.impostors, accepted, n),
            sums_by_row(self.population, self.population.genuine, rejected) / 2,
            np.bincount(self.couple_of_pair[:n], accepted, len(self.couples)),
        )

    def by_person(self, of_row):
        """Sums over the images of each person."""
        return np.bincount(self.population.person, of_row, self.population.design.n_people)


def sums_by_row(population: Population, pairs: Pairs, value, n=None):
    """Sums over the first n pairs (or all) by row: a pair is in the sums of both of its rows."""
    n_rows = len(population.person)
    return sum(np.bincount(row[:n], value[:n], n_rows) for row in (pairs.a, pairs.b))


def effective_count(errors):
    """How many units err if all that did err did so equally: (Σ e)² / Σ e²."""
    squares = (errors**2).sum()
    return errors.sum() ** 2 / squares if squares > 0 else 0.0


# --- at a fixed threshold ------------------------------------------------------------------------


def far_of_people(people: PeopleOf, point: Point) -> Added:
    """FAR: φ_k = Σ_l m_kl (a_kl - FAR). The noise of couples is in Σ φ_k² twice."""
    accepted, weight = people.by_person(point.accepted), people.compared.weight
    result = _mean(accepted, weight, sides=2)._replace(
        units=people.compared.couples, comparisons=people.compared.pairs
    )
    squares = point.couples @ point.couples
    erring = (accepted.sum() / 2) ** 2 / squares if squares > 0 else 0.0
    noise = far_covariance(people.itself, point, result, point, result)
    return result._replace(erring=erring, noise=noise, least=noise)


def frr_of_people(people: PeopleOf, point: Point) -> Added:
    """FRR: ψ_k = m_k (r_k - FRR)."""
    rejected = people.by_person(point.rejected)
    genuine, pairs = people.genuine_of_person, people.pairs_of_person
    result = _mean(rejected, genuine, sides=1)
    variance, df = variance_of_mean(rejected, genuine, pairs)
    return result._replace(
        noise=result.squares - variance,
        df=df,
        erring=effective_count(rejected),
        comparisons=pairs.sum(),
    )


def _mean(errors, weight, sides) -> Added:
    """A mean over people (1), or over couples, which are in the sums of both sides (2).

    The factor K / (K - 1) makes the sum of squares of a mean over K people unbiased.
    """
    total = weight.sum() / sides
    n = np.count_nonzero(weight)
    rate: Any = np.nan
    influence = np.full(len(weight), np.nan)
    if total > 0:
        rate = errors.sum() / sides / total
        influence = (errors - rate * weight) / total * np.sqrt(n / np.maximum(n - 1, 1))
    return Added(rate, influence, errors, 0.0, n, n, n - 1, 0.0, total)


class Overlap(NamedTuple):
    """How a population lies in a larger one, or in itself.

    couple_in_whole : (couple,) the number of each of its couples in the whole. in_whole : (couple,)
    the weight of all their pairs in the whole. here : weight in the population of each couple of
    the whole. product : sum over all couples of the product of both weights.
    """

    couple_in_whole: np.ndarray
    in_whole: np.ndarray
    here: np.ndarray
    product: float


def overlap(people: PeopleOf, whole: PeopleOf) -> Overlap:
    """How a population lies in a larger one."""
    couple_in_whole = pd.Index(whole.couples).get_indexer(people.couples)
    return Overlap(
        couple_in_whole=couple_in_whole,
        in_whole=whole.compared_of_couple[couple_in_whole],
        here=people.compared.of(*whole.people_of_couples),
        product=people.compared.product(whole.compared),
    )


def far_covariance(shared: Overlap, point: Point, own: Added, whole_point, whole: Added):
    """Covariance of two FARs from single couples: D = Σ m (a - F) m' (a' - F').

    own, whole : FAR of a population, and of one that contains it, or of the same.
    """
    products = point.couples @ whole_point.couples[shared.couple_in_whole]
    products -= whole.rate * (point.couples @ shared.in_whole)
    products -= own.rate * (shared.here @ whole_point.couples)
    products += own.rate * whole.rate * shared.product
    return products / (own.total * whole.total) if own.total * whole.total > 0 else np.nan


@np.errstate(divide="ignore", invalid="ignore")
def variance_of_mean(rejected, genuine, pairs):
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
    most_df = np.count_nonzero(present) - 1
    if most_df < 1:
        return 0.0 if most_df == 0 else np.nan, most_df
    weight = genuine[present] / genuine.sum()
    rate = rejected[present] / genuine[present]
    pair_share = 1 / pairs[present]
    share = np.minimum(weight, np.median(weight))
    share = share / share.sum()
    free = share * (1 - share)  # how much of σ_k² is in the squares
    mean = (share * rate).sum()
    between = (share * (rate - mean) ** 2).sum() / free.sum()
    binomial = mean * (1 - mean)
    mean_pair_share = (free * pair_share).sum() / free.sum()
    surplus = between - binomial * mean_pair_share
    rho = np.nan_to_num(np.clip(surplus / (binomial * (1 - mean_pair_share)), 0, 1))
    shape = rho + (1 - rho) * pair_share
    shape = shape * free.sum() / (free * shape).sum()
    seen = (weight**2 * (rate - (weight * rate).sum()) ** 2).sum()
    hidden = 2 * (weight**3 * shape).sum()
    variance = (seen + between * hidden) / (1 + (weight**2).sum())
    shown = weight**2 * (1 - weight) ** 2
    variance_of_all = 2 * (weight**3).sum()
    degrees = max(1 / (share**2).sum() - 1, 1)
    squares = (shown**2).sum() + variance_of_all**2 / degrees
    df = (shown.sum() + variance_of_all) ** 2 / squares
    return variance, min(df, most_df)


# --- about these people: units are images --------------------------------------------------------


@np.errstate(divide="ignore", invalid="ignore")  # a group may have no pair
def far_of_images(people: PeopleOf, point: Point, of_people: Added) -> Added:
    """FAR over new images of the same people, of a design without failures."""
    person = people.population.person
    compared_of_row = _compared_of_rows(people)
    excess = (point.accepted - of_people.rate * compared_of_row) / of_people.total
    influence = _beyond_person(person, excess, compared_of_row != 0)
    n_images = np.count_nonzero(compared_of_row)
    noise = noise_of_images(people.itself, point, of_people, point, of_people)
    return of_people._replace(
        influence=influence,
        errors=point.accepted,
        noise=noise,
        least=noise,
        erring=effective_count(point.accepted),
        units=n_images,
        people=n_images,
        df=n_images - 1,
    )


def _compared_of_rows(people: PeopleOf):
    """Weight of the impostor pairs of each row of a complete design."""
    population = people.population
    weight = np.zeros(len(population.person))
    for probe, reference in population.products:
        for own, partner in ((probe, reference), (reference, probe)):
            of_others = partner.sum() - people.by_person(partner)[population.person]
            weight += own * of_others
    return weight


def noise_of_images(shared: Overlap, point, own: Added, whole_point, whole: Added):
    """Covariance of two FARs from single pairs of images of the same two people."""
    squares = point.couples @ whole_point.couples[shared.couple_in_whole]
    within = own.rate - (squares / shared.product if shared.product > 0 else 0.0)
    n_pairs = max(own.comparisons, 1)
    return max(within, 0) / n_pairs * own.total / whole.total if whole.total > 0 else np.nan


@np.errstate(divide="ignore", invalid="ignore")  # a group may have no pair
def frr_of_images(people: PeopleOf, point: Point, of_people: Added, is_auc=False) -> Added:
    """FRR over new images of the same people: a mean over pairs of images of each person.

    The influence of an image on a mean over pairs is twice that on its own mean (a U-statistic).
    Of few images its squares are far too large, by what `_variance_of_people` says. Two images make
    a single pair, which shows no variance: such people get that of independent pairs with the
    common rate.
    """
    person = people.population.person
    rate, total = of_people.rate, of_people.total
    share, weight = point.rejected / total, people.genuine_of_row / total
    influence = _beyond_person(person, share - rate * weight, weight != 0)
    n = np.bincount(person)[person]
    mean_of_others = (n - 1) / np.maximum(n - 2, 1)
    influence = np.where(n > 2, 2 * influence * mean_of_others, 0.0)
    weight_of_single_pairs = 2 * np.where(n == 2, weight, 0.0)
    independent_pairs = (weight_of_single_pairs**2).sum() / 2
    variance, if_independent = _variance_of_people(person, share, weight, is_auc)
    too_large = np.bincount(person, influence**2) - variance
    too_large = too_large[np.isfinite(variance)].sum()
    n_images = np.count_nonzero(weight)
    return of_people._replace(
        influence=influence,
        errors=point.rejected,
        noise=too_large - rate * (1 - rate) * independent_pairs,
        least=if_independent.sum(),
        erring=effective_count(point.rejected),
        units=n_images,
        people=n_images,
        df=n_images - 1,
    )


def _variance_of_people(person, share_of_errors, weight, is_auc):
    """Variance of what each person adds to FRR over new images, and what it is at least.

    Person k adds S = Σ ν e over pairs of n images, and R_i of them with image i. Two pairs without
    a common image are independent, so S² - Σ R² + ν S, the sum over all such couples of pairs,
    estimates the square of the mean of S without bias, where pairs err or do not. Of AUC they err
    in a share of the impostors; and fewer than 4 images have no such pairs: NaN. The least is the
    variance of independent pairs.

    share_of_errors, weight : R_i / 2, and the same if all were rejected, (image,).
    """
    n = np.bincount(person)
    added = np.bincount(person, share_of_errors)
    squares = np.bincount(person, (2 * share_of_errors) ** 2)
    sums = np.bincount(person, weight)
    n_pairs = n * (n - 1) / 2
    sum_of_pair = sums / np.maximum(n_pairs, 1)
    apart = (n - 2) * (n - 3) / 2  # pairs without an image of a given one
    apart = np.where((n > 3) & (not is_auc), apart, np.nan)
    squared_mean = n_pairs / apart * (added**2 - squares + sum_of_pair * added)
    if_independent = sum_of_pair * added * (1 - added / np.where(sums > 0, sums, 1.0))
    return added**2 - squared_mean, if_independent


def _beyond_person(person, values, is_compared):
    """What each image adds beyond the mean of its person, as large as over new images.

    The image of a person with a single one cannot be compared with others of the person: it varies
    as much as those of the others on average.
    """
    n = np.bincount(person)
    mean = np.bincount(person, values) / np.maximum(n, 1)
    n = n[person]
    beyond = (values - mean[person]) * np.sqrt(n / np.maximum(n - 1, 1))
    several = n > 1
    mean_square = (beyond[several] ** 2).mean() if several.any() else 0.0
    return np.where(several | ~is_compared, beyond, np.sqrt(np.nan_to_num(mean_square)))


# --- rates whose threshold errs, too -------------------------------------------------------------


def slope(level: PeopleOf, reference: Added, values):
    """How steeply values along the curve rise with log FAR around a FAR: c = d value / d log FAR.

    level, reference : the population whose FAR the threshold meets, and that FAR.
    """
    rise, lowest, highest = _window(level, reference, values)
    return rise / max(highest - lowest, 1e-9)


def _window(level: PeopleOf, reference: Added, values):
    """How much a curve rises in a window around a FAR, and log FAR at its ends.

    It reaches two standard deviations of log FAR to either side. Where no pair is accepted, it
    begins at the FAR of one pair.
    """
    if reference.rate > 0:
        rate = reference.rate
        below = above = np.clip(2 * np.sqrt(reference.variance) / rate, *WIDTHS)
    else:
        rate = 1 / max(reference.comparisons, 1)
        below, above = 0.0, WIDTHS[1]
    log_far = np.log(np.maximum(level.curve_far, TINY))
    ends = np.clip(np.log(rate) + np.array([-below, above]), log_far[0], log_far[-1])
    low, high = np.interp(ends, log_far, values)
    return high - low, *ends


def at_fixed_threshold(fixed: Added) -> Added:
    """A rate whose threshold does not err: one that was given, or that the rate itself meets."""
    return fixed._replace(
        noise_at_level=fixed.noise,
        variance_at_level=fixed.variance,
    )


def frr_at_level(fixed: Added, reference: Added, steepness, about_images) -> Added:
    """FRR at a FAR level α: ψ_k - c φ_k / α, with c = d FRR / d log FAR."""
    change, squares, noise = _moved(fixed, reference, steepness)
    if reference.rate == 0:  # nothing shows how precise the threshold is: log FAR has SD 1
        noise -= steepness**2
    variance = max(squares - noise, fixed.least if about_images else squares / 2)
    return fixed._replace(change=change, noise_at_level=noise, variance_at_level=variance)


def far_at_level(fixed: Added, reference: Added, steepness, covariance) -> Added:
    """FAR of a part (or of another group) at a FAR level: φ_k - c φ'_k / α."""
    change, squares, noise = _moved(fixed, reference, steepness)
    noise -= 2 * change * covariance
    variance = max(squares - noise, noise, 0.0)
    return fixed._replace(change=change, noise_at_level=noise, variance_at_level=variance)


def change_at(reference: Added, steepness):
    """Change of a rate with the FAR, d rate / d FAR, from its rise with log FAR."""
    return steepness / reference.rate if reference.rate > 0 else 0.0


def _moved(fixed: Added, reference: Added, steepness):
    """The change of a rate with the FAR; squares and noise with the threshold's error."""
    change = change_at(reference, steepness)
    squares = ((fixed.influence - change * reference.influence) ** 2).sum()
    return change, squares, fixed.noise + change**2 * reference.noise


def eer_of(people: PeopleOf, accepts: Added, rejects: Added, rate) -> Added:
    """EER at the crossing: (b φ_k + a ψ_k) / (a + b).

    a and b are what FAR falls and FRR rises with the threshold.
    """
    rise, lowest, highest = _window(people, accepts, people.curve_frr)
    a, b = np.exp(highest) - np.exp(lowest), -rise
    share_of_frr = a / (a + b) if a + b > 0 else 0.5
    return _sum(rejects, accepts, share_of_frr, 1 - share_of_frr, rate)


def auc_of(accepts: Added, rejects: Added, rate) -> Added:
    """1 - AUC, the probability that an impostor pair scores higher than a genuine one: φ + ψ."""
    return _sum(rejects, accepts, 1.0, 1.0, rate)


def _sum(rejects: Added, accepts: Added, frr_weight, far_weight, rate) -> Added:
    result = rejects._replace(
        rate=rate,
        influence=frr_weight * rejects.influence + far_weight * accepts.influence,
        noise=frr_weight**2 * rejects.noise + far_weight**2 * accepts.noise,
        least=far_weight**2 * accepts.least,
    )
    return at_fixed_threshold(result)
