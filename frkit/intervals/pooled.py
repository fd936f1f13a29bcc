"""Groups as arrays: effective numbers if they are equal, the test, disparities and the floor."""

from typing import NamedTuple

import numpy as np
from scipy.special import betainc, fdtrc, fdtri, gammaincc, gammainccinv, xlogy

from frkit.evaluation.influences import FARS

STEPS = 601  # values of λ
HALVINGS = 30
HIGHEST = 1 - 1e-9  # rate
FEWEST_ERRORS = 5  # effective ones of a group that is not small
MANY_ERRORS = 30  # of a group whose deviance is chi-square
TINY = 1e-300
TOLERANCE = 1e-6  # of X²
FEWEST = 1e-3  # errors in all, of rates that are tried


class Groups(NamedTuple):
    """The groups at one place.

    rate, n : rates of the groups, and their effective numbers if they are equal, (group,).
    n_people : K, the people of all groups; infinite where X² has its chi-square distribution.
    precision : inverse of the correlation matrix of the rates, (group, group), for people who are
    in several groups.
    people_variance, pairs_variance : A and B of the variance A t² + B t (1 - t) of each group's FAR
    if the true one is t, (group,).
    curve : of EERs, what each group's rate exceeds a true one by, (group, far), see `excess_of`.
    """

    rate: np.ndarray
    n: np.ndarray
    n_people: float
    precision: np.ndarray
    people_variance: np.ndarray
    pairs_variance: np.ndarray
    curve: np.ndarray | None = None


def precision_of(influence):
    """Inverse of the correlations ρ_ab that people in several groups cause.

    influence : what people add to the rates of the groups, (..., group, person).
    """
    lengths = np.linalg.norm(influence, axis=-1, keepdims=True)
    directions = influence / np.where(lengths > 0, lengths, 1)
    correlation = directions @ np.swapaxes(directions, -1, -2)
    correlation = np.where(np.eye(influence.shape[-2]), 1, correlation)
    return np.linalg.pinv(correlation, rcond=1e-6, hermitian=True)


# --- the test ------------------------------------------------------------------------------------


def p_of_equality(groups):
    """p-value of equal rates.

    A group of few people hides differences of others in X²: where there is one, p is twice the
    smaller of the p-values with and without such groups.
    """
    p = _p_of_equality(groups)
    large = large_groups(groups)
    if large.all():
        return p
    return min(2 * min(p, _p_of_equality(chosen_of(groups, large))), 1.0)


def _p_of_equality(groups):
    """p-value of equal rates of these groups."""
    p0 = common_rate(groups)
    if len(groups.rate) < 2 or groups.n_people <= len(groups.rate) or not 0 < p0 < 1:
        return np.nan
    square = chi_square(groups, p0)
    df, n_others = _degrees_of_freedom(groups)
    if np.isfinite(n_others):
        return fdtrc(df, n_others, square / df)
    shape, scale = _gamma_laws(groups)
    return gammaincc(shape, square / scale).max()


def largest_chi_square(groups, p):
    """The X² of equal groups that is exceeded with this probability."""
    df, n_others = _degrees_of_freedom(groups)
    if np.isfinite(n_others):
        return df * fdtri(df, n_others, 1 - p)
    shape, scale = _gamma_laws(groups)
    return (scale * gammainccinv(shape, p)).max()


def _degrees_of_freedom(groups):
    """G - 1 and K - G of the F law of X² / (G - 1), an analysis of variance over people.

    For infinite K it is chi-square, or another gamma law.
    """
    df = len(groups.rate) - 1
    return df, groups.n_people - df - 1


def _gamma_laws(groups):
    """Shapes and scales of the laws of X² of equal groups for infinite K; the wider one counts.

    Chi-square, and the gamma law with the mean and the variance that few effective errors make.
    """
    df = len(groups.rate) - 1
    mean, variance = _moments_of_deviance(groups)
    others = 1 - groups.n / groups.n.sum()  # p0 takes the rest of a group's deviance
    mean = (others * mean).sum()
    variance = 2 * df + (others**2 * (variance - 2)).sum()
    if not mean > 1e-9:  # there is no error
        mean, variance = df, 2 * df
    return np.array([df / 2, mean**2 / variance]), np.array([2, variance / mean])


def large_groups(groups):
    """Which groups are large: if all are equal, they have enough effective errors.

    All, where X² follows the people of all groups, and where fewer than two groups have them.
    """
    errors = groups.n * common_rate(groups)
    large = ~(errors < FEWEST_ERRORS)
    if np.isfinite(groups.n_people) or large.sum() < 2:
        return np.ones(len(groups.rate), bool)
    return large


def common_rate(groups):
    """p0 = Σ n r / Σ n, or the same with people in several groups.

    For EERs it is the p0 that they exceed by 0 on average; without an error it is 0.
    """
    root = np.sqrt(groups.n)
    weight = root * (groups.precision @ root)
    if groups.curve is not None:
        return np.exp(np.interp(0, -(weight @ groups.curve), np.log(FARS), left=-np.inf))
    return np.clip((weight * groups.rate).sum() / weight.sum(), 0, 1)


def excess_of(groups, truth):
    """How much the groups' rates exceed true ones; truth : one or (..., group).

    An EER is p if the group's FRR is p at the threshold where its FAR is p. The FRR there
    exceeds p by so much as the EER does by w of it; `curve` is that for each p in FARS. With few
    errors the EER itself is not a linear function of them.
    """
    if groups.curve is None:
        return groups.rate - truth
    logs = np.log(np.broadcast_to(truth, np.broadcast_shapes(np.shape(truth), groups.rate.shape)))
    frr_of_groups = [
        np.interp(logs[..., g], np.log(FARS), row) for g, row in enumerate(groups.curve)
    ]
    return np.stack(frr_of_groups, -1)


def chi_square(groups, truth):
    """X² = zᵀ R⁻¹ z of the groups' deviations z, with their correlations R; truth : (..., group).

    z = (r - truth) √(n / (truth (1 - truth))) where X² follows the people of all groups. Where it
    is chi-square, z² is twice the logarithm of the likelihood ratio (`_deviance`).
    """
    if np.isfinite(groups.n_people):  # FRR and EER; otherwise FAR
        spread = np.maximum(truth * (1 - truth), TINY)
        z = excess_of(groups, truth) * np.sqrt(groups.n / spread)
    else:
        parts = groups.people_variance, groups.pairs_variance
        deviance = _deviance(groups.rate, truth, *parts)
        z = np.sign(groups.rate - truth) * np.sqrt(deviance)
    return ((z @ groups.precision) * z).sum(-1)


def _deviance(rate, truth, people_variance, pairs_variance):
    """Twice the quasi-likelihood ratio of rates, 2 ∫ (r - u) / V(u) du from the truth to r.

    V(u) = A u² + B u (1 - u): where people differ, the variance grows with the squared rate. So
    it is the likelihood ratio of a binomial law if A is 0, and nearly that of a negative binomial
    one otherwise (Wedderburn 1974; McCullagh & Nelder 1989). Rates of a few people are as skewed
    as these laws: (r - t)² / V(t) would be too large too often where a rate is high by chance.
    """
    c = people_variance / pairs_variance - 1
    c = np.where(np.abs(c) < 1e-4, 1e-4, c)  # at 0 it is the limit, a Poisson law
    above = 1 + c * rate
    log_of_rate = xlogy(rate, rate) - xlogy(rate, truth)
    log_of_complement = xlogy(above, above / (1 + c * truth)) / c
    return np.maximum(2 * (log_of_rate - log_of_complement) / pairs_variance, 0)


def _moments_of_deviance(groups):
    """Mean and variance of each group's deviance from p0, if groups are equal: (group,) each.

    There are p0 / B effective errors on average, with a negative binomial law of the shape 1 / A.
    With many errors they are 1 and 2.
    """
    unit = groups.pairs_variance
    p0 = np.clip(common_rate(groups), TINY, HIGHEST)
    expected = p0 / unit
    few = np.minimum(expected, MANY_ERRORS)
    shape = 1 / np.maximum(groups.people_variance, 1e-6)
    errors = np.arange(1000)[:, None]
    at_most = betainc(shape, errors + 1, shape / (shape + few))
    chance = np.diff(at_most, axis=0, prepend=0)
    chance /= chance.sum(0)
    rates = np.minimum(errors * unit, 1)
    deviance = _deviance(rates, p0, groups.people_variance, unit)
    mean = (chance * deviance).sum(0)
    variance = (chance * (deviance - mean) ** 2).sum(0)
    return [np.where(expected < MANY_ERRORS, *each) for each in ((mean, 1), (variance, 2))]


# --- rates that are compatible with the data -----------------------------------------------------


def compatible_rates(groups, *, level, free_level):
    """Rates that the test accepts on the line from equal rates to those seen, and beyond.

    r(λ) ∝ exp(λ d), with d = log r - mean of logs, at the level of the common rate; a rate without
    an error counts half of one. A group of few people makes the line lead far away from what the
    others have in common, so there is a second line, on which such groups have the common rate of
    the others. Rates have to be accepted by both tests of `p_of_equality`; equal rates are where
    its p is at least 1 - level.

    free_level : also the lowest and highest c r(λ) that are accepted, for measures that change with
    the level of all rates; equality and what lies beyond it only where its p allows it. And the
    lowest and the highest rate as far apart as the test of these two groups alone accepts. Returns
    (truth, group); the last row is the observed rates, which also replace the rejected ones.
    """
    rate, n = groups.rate, groups.n
    with_pair = free_level and len(rate) > 2
    if np.isnan(rate + n).any() or groups.n_people <= len(rate):
        return np.full((2 * (1 + 2 * free_level) * STEPS + with_pair + 1, len(rate)), np.nan)
    tests = _tests_of(groups, level)
    line = np.vstack([_line_of_test(groups, test) for test in tests])
    observed = _observed(groups)

    def accepted(rates, excess):
        return np.where(excess[..., None] > TOLERANCE, observed, rates)

    own_level = [_at_common_rate(test.groups, line[:, test.places]) for test in tests]
    excess = _excess(tests, own_level)
    rows = [accepted(line, excess)]
    if free_level:
        logarithm = _accepted_levels(groups, tests, line)
        excess_at_level = _excess_at(tests, line, logarithm)
        equality = np.arange(STEPS - 1, len(line), STEPS)
        if (excess[equality] > TOLERANCE).all():  # then no level makes rates acceptable near it
            nearer = np.concatenate([_positions(test.groups) < 1 for test in tests])
            excess_at_level = np.where(nearer, np.maximum(excess, excess_at_level), excess_at_level)
        rows += [*accepted(_at_level(line, logarithm), excess_at_level)]
    unused = np.repeat([observed], (2 - len(tests)) * len(rows) * STEPS, 0)
    if with_pair:
        rows.append(_pair_apart(groups, observed, level))
    return np.vstack([*rows, unused, observed])


def _pair_apart(groups, observed, level):
    """The observed rates, (1, group), but the lowest and the highest as far apart as may be."""
    pair = np.lexsort((groups.n, groups.rate))[[0, -1]]
    of_pair = compatible_rates(chosen_of(groups, pair), level=level, free_level=True)
    apart = observed.copy()
    apart[pair] = of_pair[np.ptp(of_pair, axis=1).argmax()]
    return apart[None]


class _Test(NamedTuple):
    """A test of some groups: which, as `Groups`, and the largest X² that it accepts."""

    places: np.ndarray
    groups: Groups
    limit: float


def _tests_of(groups, level):
    """The tests of all groups and, where some have few people, of the others.

    Two tests share 1 - level.
    """
    every = np.ones(len(groups.rate), bool)
    large = large_groups(groups)
    sets = [every] if large.all() else [every, large]
    tests = []
    for places in sets:
        tested = groups if places.all() else chosen_of(groups, places)
        tail = (1 - level) / len(sets)
        tests.append(_Test(places, tested, largest_chi_square(tested, tail)))
    return tests


def _line_of_test(groups, test):
    """Rates r(λ) of the groups of a test, (λ, group); other groups have their common rate."""
    line = np.full((STEPS, len(groups.rate)), _level_of(test.groups))
    line[:, test.places] = _at_common_rate(test.groups, _line(test.groups))
    return line


def _level_of(groups):
    """The common rate; without an error that of half of one in all."""
    return min(common_rate(groups) or 0.5 / groups.n.sum(), HIGHEST)


def _at_common_rate(groups, rates):
    """Rates in the same proportions, with as many errors as the common rate gives."""
    factor = _level_of(groups) * groups.n.sum() / (rates @ groups.n)
    return np.minimum(factor[:, None] * rates, HIGHEST)


def _at_level(line, logarithm):
    """Rates c r(λ) for the logarithms of c."""
    return np.minimum(np.exp(logarithm)[..., None] * line, HIGHEST)


def _excess(tests, rates):
    """By how much X² exceeds its limit, in the test where that is most; rates : of each test."""
    excess = [
        chi_square(test.groups, group_rates) - test.limit for test, group_rates in zip(tests, rates)
    ]
    return np.max(excess, axis=0)


def _excess_at(tests, line, logarithm):
    """`_excess` of c r(λ) for the logarithms of c."""
    rates = _at_level(line, logarithm)
    return _excess(tests, [rates[..., test.places] for test in tests])


def _accepted_levels(groups, tests, line):
    """Logarithms of the lowest and the highest c where c r(λ) is accepted, by bisection.

    From the likeliest level, or where that makes a rate larger than 1 from the one that makes it 1;
    (2, λ).
    """
    highest = np.log(HIGHEST / line.max(1))
    middle = np.minimum(_likeliest_level(groups, line), highest)
    reach = 10 / np.sqrt(max(_level_of(groups) * groups.n.sum(), 0.5))
    rejected = middle + np.array([[-reach], [reach]])
    accepted = np.broadcast_to(middle, rejected.shape)
    for _ in range(HALVINGS):
        between = (accepted + rejected) / 2
        inside = _excess_at(tests, line, between) <= 0
        accepted = np.where(inside, between, accepted)
        rejected = np.where(inside, rejected, between)
    return accepted


def _likeliest_level(groups, line):
    """The logarithm of the level c that minimises X² of c r(λ), for rates well below 1.

    With a thousandth of an error in all at least.
    """
    rate, n = groups.rate, groups.n
    errors = (n * line).sum(1)
    if np.isfinite(groups.n_people):
        likeliest = np.log(np.maximum((n * rate**2 / line).sum(1), TINY) / errors) / 2
    else:
        weight = 1 / (groups.people_variance * line + groups.pairs_variance)
        likeliest = np.log(np.maximum((weight * rate).sum(1), TINY) / (weight * line).sum(1))
    return np.maximum(likeliest, np.log(FEWEST / errors))


def _positions(groups):
    """Values of λ, the last of them 0, to five standard deviations of the logarithms."""
    logarithm = np.log(_observed(groups))
    length = np.linalg.norm(logarithm - logarithm.mean())
    sd_of_logs = np.sqrt((1 / np.maximum(groups.rate * groups.n, 0.5)).sum())
    farthest = 1 + 5 * sd_of_logs / (length if length > 1e-12 else 1)
    return np.append(np.linspace(-farthest, farthest, STEPS - 1), 0.0)


def _line(groups):
    """Rates in the proportions r(λ) ∝ exp(λ d), (λ, group)."""
    logarithm = np.log(_observed(groups))
    d = logarithm - logarithm.mean()
    if np.linalg.norm(d) < 1e-12:  # groups that are exactly equal: the first group's own direction
        d = np.eye(len(d))[0] - 1 / len(d)
    return np.exp(_positions(groups)[:, None] * d)


def _observed(groups):
    """The rates of groups; one without an error counts half of one."""
    return np.maximum(groups.rate, 0.5 / groups.n)


# --- the floor -----------------------------------------------------------------------------------


def equal_draws(groups, *, draws):
    """Rates of groups that are equal, from binomial draws with these numbers, (draw, group).

    Groups are drawn in the order of their numbers, whatever they are called.
    """
    n = groups.n
    if np.isnan(groups.rate + n).any():
        return np.full((draws, len(n)), np.nan)
    order = np.argsort(n, kind="stable")
    trials = np.maximum(np.round(n[order]), 1).astype(int)
    p0 = common_rate(groups)
    rng = np.random.Generator(np.random.SFC64(0))
    drawn = rng.binomial(trials, p0, (draws, len(n))) / trials
    return drawn[:, np.argsort(order)]


# --- contrasts -----------------------------------------------------------------------------------


def contrasts(groups, *, weights, level):
    """Differences and ratios of two (weighted means of) groups, by the test and intervals above.

    weights : of the groups in both sides, (contrast, 2, group). Returns (contrast, value): the
    difference, its ends, p, the effective number of both sides, the ratio and its ends.
    """
    was_compared = np.isfinite(groups.rate + groups.n)
    compared = chosen_of(groups, was_compared)
    correlation = np.linalg.pinv(compared.precision, hermitian=True)
    values = np.full((len(weights), 8), np.nan)
    for row, both_sides in zip(values, weights[:, :, was_compared]):
        if both_sides.any(1).all():
            row[:] = _contrast(weighted_means(compared, both_sides, correlation), level)
    return values


def _contrast(sides, level):
    """The values of `contrasts` for two sides, given as two groups."""
    a, b = sides.rate
    rates = compatible_rates(sides, level=level, free_level=True)
    differences = rates[:, 0] - rates[:, 1]
    at_common_rate = rates[[*range(STEPS), -1]]  # two groups have one test
    ratios = at_common_rate[:, 0] / at_common_rate[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = a / b
    lowest = ratios.min() if a > 0 else 0.0
    highest = ratios.max() if b > 0 else np.inf
    ends = min(differences.min(), a - b), max(differences.max(), a - b)
    return a - b, *ends, p_of_equality(sides), sides.n.sum(), ratio, lowest, highest


def chosen_of(groups, chosen):
    """Some of the groups."""
    correlation = np.linalg.pinv(groups.precision, hermitian=True)[np.ix_(chosen, chosen)]
    return groups._replace(
        rate=groups.rate[chosen],
        n=groups.n[chosen],
        precision=np.linalg.pinv(correlation, rcond=1e-6, hermitian=True),
        people_variance=groups.people_variance[chosen],
        pairs_variance=groups.pairs_variance[chosen],
        curve=None if groups.curve is None else groups.curve[chosen],
    )


def weighted_means(groups, weights, correlation):
    """Means of groups that weigh by their numbers, as groups; weights : (mean, group)."""
    weights = weights * groups.n / (weights * groups.n).sum(1, keepdims=True)

    def covariance(variances):
        sd = np.sqrt(variances)
        return weights @ (correlation * np.outer(sd, sd)) @ weights.T

    whole_covariance = covariance(1 / groups.n)  # in units of p0 (1 - p0)
    n = 1 / np.diag(whole_covariance)
    return Groups(
        weights @ groups.rate,
        n,
        groups.n_people,
        np.linalg.pinv(whole_covariance * np.sqrt(np.outer(n, n)), rcond=1e-6, hermitian=True),
        np.diag(covariance(groups.people_variance)),
        np.diag(covariance(groups.pairs_variance)),
        None if groups.curve is None else weights @ groups.curve,
    )
