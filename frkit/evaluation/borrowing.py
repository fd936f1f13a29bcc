"""Effective numbers of groups whose people vary equally: what groups borrow from all people."""

import numpy as np

DIGITS = 50  # binary ones of ρ
LIKE_OTHERS = 4  # with so many people who err, a group is half like all groups
RESOLVED = 10  # errors of either kind that a level needs before its interval means something


@np.errstate(divide="ignore", invalid="ignore")
def pooled_frr(rate, pairs, weight):
    """Effective numbers of comparisons of the groups' FRR, (..., group).

    Person k is rejected in a share r_k of m_k pairs, with Var r_k = p0 (1 - p0) [ρ + (1 - ρ) / m_k]
    and one ρ in [0, 1] for the people of all groups. A group's rate r = Σ w_k r_k, with Σ w_k = 1
    in the group, has the variance Σ w_k² Var r_k. The group's own people estimate it, too, by
    Σ w_k² (r_k - r)² / (1 - w_k) (Bell & McCaffrey 2002). With the ρ that is chosen, own variances
    are as large as these on average over groups, weighted by their people.

    rate, pairs, weight : r_k, m_k and w_k on any scale, (..., group, person); weight 0 where a
    person is not in a group.
    """
    present = weight > 0
    people = present.sum(-1)
    share = weight / weight.sum(-1, keepdims=True)
    rate = np.where(present, rate, 0.0)
    rate_of_group = (share * rate).sum(-1)
    beyond = rate - rate_of_group[..., None]
    own_variance = (share**2 * beyond**2 / np.where(share < 1, 1 - share, 1)).sum(-1)
    if_one = (share**2).sum(-1)  # variance in units of p0 (1 - p0), if ρ = 1
    if_zero = (share**2 / np.where(present, pairs, 1)).sum(-1)
    rho = 0.0
    step = 1.0
    for _ in range(DIGITS):  # the largest ρ, up to 1, with which own variances are not smaller
        step /= 2
        n = 1 / ((rho + step) * if_one + (1 - rho - step) * if_zero)
        p0 = _total(n * rate_of_group) / _total(n)
        binomial = p0 * (1 - p0)
        is_larger = _total(people * (own_variance * n / binomial - 1)) >= 0
        rho = rho + step * (is_larger | (binomial < 1e-12))  # or nobody errs, or everybody
    return 1 / (rho * if_one + (1 - rho) * if_zero)


@np.errstate(divide="ignore", invalid="ignore")
def pooled_far(rate, squares, noise, people, pairs_of_people, comparisons):
    """Effective numbers of comparisons of the groups' FAR, and the two parts of its variance.

    Two of a group's K people are accepted in a share a = F + g_k + g_l + s of their m image pairs:
    an analysis of variance of pairs (Griffing 1956). With U pairs of people, x = 4 Var g / K is
    people's part of the variance of the group's FAR and y = Var s / U that of single pairs. The
    squares of what people add sum to α x + β y on average, and those of single pairs to δ x + ε y,
    if each person is in 2 U / K pairs. Both parts follow, times the determinant α ε - β δ, without
    bias in small groups, too.

    If groups are equal, x = r² c / K with one c for all: the mean of K x over that of the squared
    rates, which r² - x - y estimates and of which the mean is at least that of the common rate p0.
    And Var s = p0 (1 - p0) [ρ + (1 - ρ) / m], with one ρ in [0, 1].

    All arguments are of groups, (..., group): r, both sums of squares, K, U, and the number of
    pairs of images; NaN where a group has no rate. Returns n, A = c / K and B = Var s / (U p0 (1 -
    p0)): where the true rate is t, the variance is A t² + B t (1 - t).
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
    people_variance = c / people
    pairs_variance = (rho + (1 - rho) * if_zero) / pairs_of_people
    n = 1 / (people_variance * p0 / (1 - p0) + pairs_variance)
    # without an error a person counts as one comparison
    one_each = np.minimum(people, comparisons)
    without_errors = one_each, 0 * people, 1 / one_each
    has_errors = (p0 > 0) & (p0 < 1)
    with_errors = n, people_variance, pairs_variance
    return tuple(np.where(has_errors, *each) for each in zip(with_errors, without_errors))


@np.errstate(divide="ignore", invalid="ignore")
def partly_pooled_far(people_who_err, rate, squares, noise, *sizes):
    """Effective numbers of comparisons of the groups' FAR, and A / (A + B) of its variance.

    A and B are means of those of the group's own people and of those of all groups, which weigh as
    much as four people who err (their effective number). NaN and 0 where all groups together have
    fewer than ten effective errors, which do not show how people differ. The arguments after the
    number of people are those of `pooled_far`.
    """
    _, *of_all = pooled_far(rate, squares, noise, *sizes)
    _, pairs_of_people, comparisons = sizes
    some_err = (rate > 0) & (rate < 1)
    own_people = np.where(some_err, np.maximum(squares - 2 * noise, 0) / rate**2, 0.0)
    own_pairs = np.where(some_err, noise / (rate * (1 - rate)), 0.0)
    share = LIKE_OTHERS / (people_who_err + LIKE_OTHERS)
    a = share * of_all[0] + (1 - share) * own_people
    b = share * of_all[1] + (1 - share) * np.maximum(own_pairs, 1 / comparisons)
    n = 1 / (a * np.where(rate < 1, rate / (1 - rate), 0.0) + b)
    p0 = _total(pairs_of_people * rate) / _total(pairs_of_people)
    show_people = _total(p0 / of_all[1]) >= RESOLVED
    return np.where(show_people, n, np.nan), np.where(show_people, a / (a + b), 0.0)


def _total(values):
    """Sum over groups that have a rate, (..., 1)."""
    return np.nansum(values, -1, keepdims=True)
