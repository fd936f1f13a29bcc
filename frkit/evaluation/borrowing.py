"""Effective numbers of groups that are equal: people vary alike in all of them."""

from typing import NamedTuple

import numpy as np

DIGITS = 50  # binary ones of ρ


class Pooled(NamedTuple):
    """What the people of all groups say about each group's rate, (..., group) or (...).

    n : effective number of comparisons. n_without : the same, if this group had no error. df :
    degrees of freedom of the test of equal groups, infinite for FAR.
    """

    n: np.ndarray
    n_without: np.ndarray
    df: np.ndarray


@np.errstate(divide="ignore", invalid="ignore")
def pooled_frr(rate, pairs, weight) -> Pooled:
    """Effective numbers of comparisons of the groups' FRR, if they are equal.

    Person k is rejected in a share r_k of m_k pairs, with Var r_k = p0 (1 - p0) [ρ + (1 - ρ) / m_k]
    and one ρ for the people of all groups (`correlation_of_pairs`). A group's rate is r = Σ w_k r_k
    with Σ w_k = 1 in the group, so its variance is Σ w_k² Var r_k = p0 (1 - p0) / n.

    Person k has the part q_k = K n w_k² [ρ + (1 - ρ) / m_k] in a group of K people. The F test has
    (Σ q)² / Σ q² - G degrees of freedom (Satterthwaite 1946): with equal weights those of a one-way
    analysis of variance.

    rate, pairs, weight : r_k, m_k and w_k on any scale, (..., group, person); weight 0 where a
    person is not in a group. A group of one person takes no part.
    """
    people = (weight > 0).sum(-1)
    people = np.where(people > 1, people, np.nan)
    present = (weight > 0) & (people > 1)[..., None]
    share = np.where(present, weight / weight.sum(-1, keepdims=True), 0.0)
    rate = np.where(present, rate, 0.0)
    rate_of_group = (share * rate).sum(-1)
    beyond = rate - rate_of_group[..., None]
    own_variance = (share**2 * beyond**2 / (1 - share)).sum(-1)  # Bell & McCaffrey 2002
    square = share**2
    square_over_pairs = square / np.where(present, pairs, 1)
    sums = people, square.sum(-1), square_over_pairs.sum(-1)
    rho = correlation_of_pairs(rate_of_group, own_variance, *sums)
    n = _number_of_frr(rho, *sums)
    squared_parts = (
        rho**2 * (square**2).sum(-1)
        + 2 * rho * (1 - rho) * (square * square_over_pairs).sum(-1)
        + (1 - rho) ** 2 * (square_over_pairs**2).sum(-1)
    )
    df = _total(people) ** 2 / _total((people * n) ** 2 * squared_parts)
    df = df[..., 0] - np.isfinite(n).sum(-1)
    for_each = [each[..., None, :] for each in sums]
    rho = correlation_of_pairs(_without_each(rate_of_group), _without_each(own_variance), *for_each)
    n_without = np.diagonal(_number_of_frr(rho, *for_each), axis1=-2, axis2=-1)
    return Pooled(n, n_without, df)


def _number_of_frr(rho, people, if_one, if_zero):
    """p0 (1 - p0) over the variance; NaN for groups that take no part."""
    return np.where(people > 1, 1 / (rho * if_one + (1 - rho) * if_zero), np.nan)


@np.errstate(divide="ignore", invalid="ignore")
def correlation_of_pairs(rate, own_variance, people, if_one, if_zero):
    """ρ, by which two pairs of a person err together, (..., 1); all arguments (..., group).

    The people of a group estimate the variance of its rate, too, by Σ w_k² (r_k - r)² / (1 - w_k).
    With the ρ in [0, 1] that is chosen, such variances are as large as p0 (1 - p0) [ρ Σ w_k² +
    (1 - ρ) Σ w_k² / m_k] on average over people. Without an error it is 1. if_one, if_zero : both
    sums.
    """
    rho = 0.0
    step = 1.0
    for _ in range(DIGITS):  # the largest ρ, up to 1, with which own variances are not smaller
        step /= 2
        n = _number_of_frr(rho + step, people, if_one, if_zero)
        p0 = _total(n * rate) / _total(n)
        binomial = p0 * (1 - p0)
        is_larger = _total(people * (own_variance * n / binomial - 1)) >= 0
        rho = rho + step * (is_larger | (binomial < 1e-12))  # or nobody errs, or everybody
    return rho


@np.errstate(divide="ignore", invalid="ignore")
def pooled_far(rate, squares, noise, people, pairs_of_people, comparisons) -> Pooled:
    """Effective numbers of comparisons of the groups' FAR, if they are equal.

    All arguments are of groups, (..., group): r, both sums of squares, K, U, and the number of
    pairs of images; NaN where a group has no rate. X² of the test has its chi-square distribution.
    """
    sizes = people, pairs_of_people, comparisons
    n = _number_of_far(rate, squares, noise, *sizes)
    errors_without = [_without_each(each) for each in (rate, squares, noise)]
    n_without = _number_of_far(*errors_without, *(each[..., None, :] for each in sizes))
    n_without = np.diagonal(n_without, axis1=-2, axis2=-1)
    return Pooled(n, n_without, np.full(np.shape(rate)[:-1], np.inf))


@np.errstate(divide="ignore", invalid="ignore")
def _number_of_far(rate, squares, noise, people, pairs_of_people, comparisons):
    """The number of `pooled_far`, by an analysis of variance of pairs of people (Griffing 1956).

    Two of a group's K people are accepted in a share a = F + g_k + g_l + s of their m image pairs.
    With U pairs of people, x = 4 Var g / K is people's part of the variance of the group's FAR and
    y = Var s / U that of single pairs. The squares of what people add sum to α x + β y on average,
    and those of single pairs to δ x + ε y, if each person is in 2 U / K pairs. Both parts follow,
    times the determinant α ε - β δ, without bias in small groups, too.

    If groups are equal, x = r² c / K with one c for all: the mean of K x over that of the squared
    rates, which r² - x - y estimates and of which the mean is at least that of the common rate p0.
    And Var s = p0 (1 - p0) [ρ + (1 - ρ) / m], with one ρ in [0, 1].
    """
    p0 = _total(pairs_of_people * rate) / _total(pairs_of_people)
    partners = 2 * pairs_of_people / people
    alpha = (1 + 1 / partners - 4 / people) * people / (people - 1)
    beta = 2 * (people - 2) / (people - 1)
    delta = (1 - 2 / people) / partners
    epsilon = 1 - 1 / pairs_of_people
    determinant = alpha * epsilon - beta * delta
    people_part = epsilon * squares - beta * noise
    pairs_part = alpha * noise - delta * squares
    weight = _total(pairs_of_people * determinant)
    square = _total(pairs_of_people * (determinant * rate**2 - people_part - pairs_part))
    square = np.maximum(square, weight * p0**2)
    c = np.maximum(_total(pairs_of_people * people * people_part) / square, 0)
    c = np.where(weight > 1e-9, c, 0)  # groups of at most three people do not tell parts apart
    if_zero = pairs_of_people / comparisons  # Var s in units of p0 (1 - p0), if ρ = 0
    least = _total(pairs_of_people * rate * if_zero) / _total(pairs_of_people * rate)
    single_pairs = (noise - delta * p0 * rate * c / people) * pairs_of_people / (1 - rate)
    single_pairs = np.where((rate > 0) & (rate < 1), single_pairs, 0)
    pairs_that_vary = _total(pairs_of_people * epsilon * rate)
    spread = _total(pairs_of_people * single_pairs) / pairs_that_vary
    rho = np.clip((spread - least) / (1 - least), 0, 1)
    # each group may have one pair of people, or two may have one pair of images
    rho = np.where((pairs_that_vary > 0) & (least < 1), rho, 1)
    variance_of_single_pairs = (rho + (1 - rho) * if_zero) / pairs_of_people
    n = 1 / (c / people * p0 / (1 - p0) + variance_of_single_pairs)
    # without an error a pair of people counts as one comparison
    return np.where((p0 > 0) & (p0 < 1), n, pairs_of_people)


def _without_each(values):
    """Values of the groups, with 0 for each group in turn: (..., group, group)."""
    is_own = np.eye(np.shape(values)[-1], dtype=bool)
    return np.where(is_own, 0.0, np.asarray(values)[..., None, :])


def _total(values):
    """Sum over groups that have a rate, (..., 1)."""
    return np.nansum(values, -1, keepdims=True)
