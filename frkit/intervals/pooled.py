"""Tests of equal groups, intervals of disparities, floors and contrasts, from pooled variance.

If groups are equal, people differ alike in all of them. So the variance of each group's rate comes
from the people of all groups, as in a one-way analysis of variance. From it follow the group's
effective number of comparisons, the test of equality, the interval of a disparity and its floor.

Arrays only. rate, n : rates of the groups and their effective numbers, (group,). n_people : K, the
people of all groups; infinite where X² has its chi-square distribution. precision : inverse of the
correlation matrix of the groups' rates, (group, group), for people who stand in several groups.
curve : of EERs, what each group's rate exceeds a true one by, (group, far), see `excess_of`.
"""

import numpy as np
from scipy.optimize import brentq
from scipy.special import fdtrc, fdtri, gammaincc, gammaincinv

STEPS = 601  # values of λ
HALVINGS = 30
HIGHEST = 1 - 1e-9  # rate
FEWEST_ERRORS = 5  # effective ones of a group that is not small
TINY = 1e-300
FARS = np.geomspace(1e-6, 1, 400)  # of curves


# --- effective numbers of groups that are equal --------------------------------------------------


def pooled_frr(rate, pairs, weight):
    """Effective numbers of comparisons of the groups' FRR.

    Person k is rejected in a share r_k of m_k pairs, with Var r_k = p0 (1 - p0) [ρ + (1 - ρ) / m_k]
    and one ρ in [0, 1] for the people of all groups. A group's rate r = Σ w_k r_k, with Σ w_k = 1
    in the group, has the variance Σ w_k² Var r_k. The group's own people estimate it, too, by
    Σ w_k² (r_k - r)² / (1 - w_k) (Bell & McCaffrey 2002). With the ρ that is chosen, own variances
    are as large as these on average over groups, which count by their people.

    rate, pairs, weight : r_k, m_k and w_k on any scale, (group, person); weight 0 where a person is
    not in a group.
    """
    present = weight > 0
    people = present.sum(1)
    share = weight / weight.sum(1, keepdims=True)
    rate = np.where(present, rate, 0.0)
    of_group = (share * rate).sum(1)
    beyond = rate - of_group[:, None]
    own = (share**2 * beyond**2 / np.where(share < 1, 1 - share, 1)).sum(1)
    if_one = (share**2).sum(1)  # variance in units of p0 (1 - p0), if ρ = 1
    if_zero = (share**2 / np.where(present, pairs, 1)).sum(1)

    def surplus(rho):
        n = 1 / (rho * if_one + (1 - rho) * if_zero)
        p0 = np.nansum(n * of_group) / np.nansum(n)
        return np.nansum(people * (own * n / (p0 * (1 - p0)) - 1))

    rho = 1.0
    if 0 < np.nansum(of_group) < np.isfinite(of_group).sum() and surplus(1) < 0:
        rho = brentq(surplus, 0, 1) if surplus(0) > 0 else 0.0
    return 1 / (rho * if_one + (1 - rho) * if_zero)


def pooled_far(rate, variance, noise, people, pairs_of_people, comparisons):
    """Effective numbers of comparisons of the groups' FAR.

    A group's variance V has a part D of its single pairs of people, and a part of its K people that
    is in proportion to the squared rate: its mean over groups counts by their errors. Two people of
    m image pairs are accepted in a share a with Var a = p0 (1 - p0) [ρ + (1 - ρ) / m], with one ρ
    in [0, 1] for all groups, so that U pairs of people have D = Var a / U.

    All arguments are of groups, (group,): r, V, D, K, U, and the number of pairs of images; NaN
    where a group has no rate.
    """
    errors = rate * pairs_of_people
    p0 = np.nansum(errors) / np.nansum(pairs_of_people)
    if not 0 < p0 < 1:  # without an error a person counts as one comparison
        return np.minimum(people, comparisons)

    def mean(values):
        return np.nansum(errors * values) / np.nansum(errors)

    of_people = p0**2 * mean((variance - noise) / rate**2 * people) / people
    if_zero = pairs_of_people / comparisons  # D U in units of p0 (1 - p0), if ρ = 0
    least = mean(if_zero)
    spread = mean(pairs_of_people * noise / (rate * (1 - rate)))
    rho = np.clip((spread - least) / (1 - least), 0, 1) if least < 1 else 1.0
    of_pairs = p0 * (1 - p0) * (rho + (1 - rho) * if_zero) / pairs_of_people
    return np.minimum(p0 * (1 - p0) / (of_people + of_pairs), comparisons)


def precision_of(influence):
    """Inverse of the correlations ρ_ab that people who stand in several groups make.

    influence : what people add to the rates of the groups, (group, person).
    """
    lengths = np.linalg.norm(influence, axis=1)
    directions = influence / np.where(lengths > 0, lengths, 1)[:, None]
    correlation = directions @ directions.T
    np.fill_diagonal(correlation, 1)
    return np.linalg.pinv(correlation, rcond=1e-6, hermitian=True)


# --- the test ------------------------------------------------------------------------------------


def p_of_equality(rate, n, n_people, precision, curve=None):
    """p-value of equal rates: the largest under the laws of X², see `shapes_of_gamma`.

    A group of few people hides differences of others in X²: where there is one, p is twice the
    smaller of those with and without such groups.
    """
    p = _p_of_equality(rate, n, n_people, precision, curve)
    large = large_groups(rate, n, n_people, precision, curve)
    if large.all():
        return p
    without = _p_of_equality(*_of_groups(large, rate, n, n_people, precision, curve))
    return min(2 * min(p, without), 1.0)


def _p_of_equality(rate, n, n_people, precision, curve):
    """p-value of equal rates of these groups."""
    p0 = common_rate(rate, n, precision, curve)
    if len(rate) < 2 or n_people <= len(rate) or not 0 < p0 < 1:
        return np.nan
    square = chi_square(rate, p0, n, precision, curve)
    df = len(n) - 1
    if np.isfinite(n_people):
        return fdtrc(df, n_people - len(n), square / df)
    shapes = shapes_of_gamma(n, p0)
    return gammaincc(shapes, square * shapes / df).max()


def large_groups(rate, n, n_people, precision, curve=None):
    """Which groups have so many effective errors, if they are equal, that X² is chi-square.

    All, where X² follows the people of all groups, and where fewer than two groups have them.
    """
    errors = n * common_rate(rate, n, precision, curve)
    large = ~(errors < FEWEST_ERRORS)
    if np.isfinite(n_people) or large.sum() < 2:
        return np.ones(len(rate), bool)
    return large


def _of_groups(chosen, rate, n, n_people, precision, curve):
    """What tests read, of some groups."""
    correlation = np.linalg.pinv(precision, hermitian=True)[np.ix_(chosen, chosen)]
    precision = np.linalg.pinv(correlation, rcond=1e-6, hermitian=True)
    return rate[chosen], n[chosen], n_people, precision, None if curve is None else curve[chosen]


def common_rate(rate, n, precision, curve=None):
    """p0 = Σ n r / Σ n, or the same with people who stand in several groups.

    Of EERs the p0 that they exceed by 0 on average; without an error it is 0.
    """
    root = np.sqrt(n)
    weight = root * (precision @ root)
    if curve is not None:
        return np.exp(np.interp(0, -(weight @ curve), np.log(FARS), left=-np.inf))
    return np.clip((weight * rate).sum() / weight.sum(), 0, 1)


def excess_of(rate, truth, curve=None):
    """How much the groups' rates exceed true ones; truth : one or (..., group).

    An EER is p if at the threshold at which the group's FAR is p its FRR is p, too. The FRR there
    exceeds p by so much as the EER does by w of it; `curve` is that for each p in FARS. With few
    errors the EER itself is no linear function of them.
    """
    if curve is None:
        return rate - truth
    logs = np.log(np.broadcast_to(truth, np.broadcast_shapes(np.shape(truth), rate.shape)))
    of_groups = [np.interp(logs[..., g], np.log(FARS), row) for g, row in enumerate(curve)]
    return np.stack(of_groups, -1)


def chi_square(rate, truth, n, precision, curve=None):
    """X² = Σ n (r - truth)² / (truth (1 - truth)); truth : one or (..., group)."""
    spread = np.maximum(truth * (1 - truth), TINY)
    z = excess_of(rate, truth, curve) * np.sqrt(n / spread)
    return ((z @ precision) * z).sum(-1)


def shapes_of_gamma(n, p0):
    """Shapes of the gamma laws with mean G - 1 that X² of equal groups may have; the wider counts.

    X² / (G - 1) is F with G - 1 and K - G: with equal weights the one-way analysis of variance over
    people. For infinite K, X² is chi-square, the gamma law of shape (G - 1) / 2. Where groups have
    few effective errors it varies more, and is often near 0: its variance grows by Σ (1 - n/N)² k,
    with the excess kurtosis k of each group's errors, which a gamma law has, too (Haldane 1937).
    """
    df = len(n) - 1
    kurtosis = np.maximum(1 / (p0 * (1 - p0)) - 6, 0) / n
    variance = 2 * df + ((1 - n / n.sum()) ** 2 * kurtosis).sum()
    return np.array([df / 2, df**2 / variance])


def limit_of_chi_square(level, n, p0, n_people):
    """The X² that equal groups exceed with probability 1 - level at most."""
    df = len(n) - 1
    if np.isfinite(n_people):
        return df * fdtri(df, n_people - len(n), level)
    shapes = shapes_of_gamma(n, p0)
    return (gammaincinv(shapes, level) * df / shapes).max()


# --- rates that are compatible with the data -----------------------------------------------------


def compatible_rates(rate, n, n_people, precision, curve=None, *, level, free_level):
    """Rates that the test accepts on the line from equal rates to those seen, and beyond.

    A group of few people makes the line lead far away from what the others have in common, so rows
    are added in which the others alone are on their line, and such groups have the common rate.
    Returns (truth, group), see `_on_line`.
    """
    rows = _on_line(rate, n, n_people, precision, curve, level=level, free_level=free_level)
    large = large_groups(rate, n, n_people, precision, curve)
    added = np.repeat(rows[-1:], len(rows), 0)
    if not large.all():
        some = _of_groups(large, rate, n, n_people, precision, curve)
        some_rate, some_n, _, some_precision, some_curve = some
        added[:, ~large] = common_rate(some_rate, some_n, some_precision, some_curve)
        added[:, large] = _on_line(*some, level=level, free_level=free_level)
        added[-1] = rows[-1]
    return np.vstack([added, rows])


def _on_line(rate, n, n_people, precision, curve, *, level, free_level):
    """Rates on the line from equal rates to those seen, and beyond, that the test accepts.

    r(λ) ∝ exp(λ d), with d = log r - mean of logs and as many errors in all; a rate without an
    error counts half of one. free_level : the lowest and highest c r(λ) that is accepted, too, for
    measures that change with the level of all rates. Returns (truth, group); the last row is the
    observed rates, which also replace the rejected ones.
    """
    groups = len(rate)
    if np.isnan(rate + n).any() or n_people <= groups:
        return np.full(((1 + 2 * free_level) * STEPS + 1, groups), np.nan)
    observed = np.maximum(rate, 0.5 / n)
    errors = (observed * n).sum()
    line = _line(observed, rate, n)
    line *= errors / (line * n).sum(1, keepdims=True)
    p0 = np.clip(errors / n.sum(), TINY, HIGHEST)
    limit = limit_of_chi_square(level, n, p0, n_people)

    def at_level(logarithm):
        return np.minimum(np.exp(logarithm)[..., None] * line, HIGHEST)

    def excess(logarithm):
        return chi_square(rate, at_level(logarithm), n, precision, curve) - limit

    levels = np.zeros((1, STEPS))
    if free_level:  # around the level at which X² is smallest, for rates well below 1
        squares = np.maximum((n * rate**2 / line).sum(1), TINY)
        middle = np.log(squares / (n * line).sum(1)) / 2
        levels = _accepted_levels(excess, middle, 10 / np.sqrt(max(errors, 0.5)))
    rates = at_level(levels)
    rates[excess(levels) > 1e-6] = observed
    return np.vstack([*rates, observed])


def _accepted_levels(excess, middle, reach):
    """Logarithms of the middle level, and of the lowest and highest accepted ones, by bisection."""
    rejected = middle + np.array([[-reach], [reach]])
    accepted = np.broadcast_to(middle, rejected.shape)
    for _ in range(HALVINGS):
        between = (accepted + rejected) / 2
        inside = excess(between) <= 0
        accepted = np.where(inside, between, accepted)
        rejected = np.where(inside, rejected, between)
    return np.vstack([middle, accepted])


def _line(observed, rate, n):
    """exp(λ d) for λ from below 0, where the order is reversed, to beyond 1: (λ, group)."""
    d = np.log(observed) - np.log(observed).mean()
    length = float(np.linalg.norm(d))
    if length < 1e-12:  # groups that are exactly equal: the first group's own direction
        d = np.eye(len(rate))[0] - 1 / len(rate)
        length = 1.0
    sd_of_logs = np.sqrt((1 / np.maximum(rate * n, 0.5)).sum())
    farthest = 1 + 5 * sd_of_logs / length
    line = np.append(np.linspace(-farthest, farthest, STEPS - 1), 0.0)
    return np.exp(line[:, None] * d)


# --- the floor -----------------------------------------------------------------------------------


def equal_draws(rate, n, n_people, precision, curve=None, *, draws):
    """Rates of groups that are equal, from binomial draws with these numbers, (draw, group).

    Groups are drawn in the order of their numbers, whatever they are called.
    """
    if np.isnan(rate + n).any():
        return np.full((draws, len(rate)), np.nan)
    order = np.argsort(n, kind="stable")
    trials = np.maximum(np.round(n[order]), 1).astype(int)
    p0 = common_rate(rate, n, precision, curve)
    rng = np.random.Generator(np.random.SFC64(0))
    drawn = rng.binomial(trials, p0, (draws, len(n))) / trials
    return drawn[:, np.argsort(order)]


# --- contrasts -----------------------------------------------------------------------------------


def contrast(rate, n, n_people, precision, curve=None, *, weights, level):
    """Difference and ratio of two (weighted means of) groups, by the test and intervals above.

    weights : of the groups in both sides, (2, group). Returns the difference, its ends, p, the
    effective number of both sides, the ratio and its ends.
    """
    was_compared = np.isfinite(rate + n)
    rate, n, weights = rate[was_compared], n[was_compared], np.array(weights)[:, was_compared]
    if not weights.any(1).all():
        return np.full(8, np.nan)
    correlation = np.linalg.pinv(precision, hermitian=True)
    correlation = correlation[np.ix_(was_compared, was_compared)]
    weights = weights * n / (weights * n).sum(1, keepdims=True)
    covariance = weights @ (correlation / np.sqrt(np.outer(n, n))) @ weights.T
    n = 1 / np.diag(covariance)  # in units of p0 (1 - p0)
    precision = np.linalg.pinv(covariance * np.sqrt(np.outer(n, n)), rcond=1e-6, hermitian=True)
    if curve is not None:
        curve = weights @ curve[was_compared]
    a, b = rate = weights @ rate
    sides = rate, n, n_people, precision, curve
    differences, ratios = (
        compatible_rates(*sides, level=level, free_level=free_level) for free_level in (True, False)
    )
    differences = differences[:, 0] - differences[:, 1]
    ratios = ratios[:, 0] / ratios[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = a / b
    lowest = ratios.min() if a > 0 else 0.0
    highest = ratios.max() if b > 0 else np.inf
    ends = differences.min(), differences.max()
    return np.array([a - b, *ends, p_of_equality(*sides), n.sum(), ratio, lowest, highest])
