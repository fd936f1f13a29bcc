"""Groups as arrays: the test of equal rates, disparities, the floor and contrasts."""

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, chdtri, fdtrc, fdtri

STEPS = 601  # values of λ
HALVINGS = 30
HIGHEST = 1 - 1e-9  # rate
TOLERANCE = 1e-6  # of X²


class Groups(NamedTuple):
    """The groups of one model at one level.

    rate, n : rates of the groups, and their effective numbers if they are equal, (group,).
    df : degrees of freedom of the common variance; infinite where X² has its chi-square
    distribution.
    """

    rate: np.ndarray
    n: np.ndarray
    df: float

    @property
    def are_comparable(self):
        """Whether there are two groups, all with a number, and people beyond one of each."""
        return len(self.rate) > 1 and self.df >= 1 and not np.isnan(self.rate + self.n).any()


# --- the test ------------------------------------------------------------------------------------


def p_of_equality(groups):
    """p-value of equal rates; NaN without an error, or nothing else."""
    p0 = common_rate(groups)
    if not groups.are_comparable or not 0 < p0 < 1:
        return np.nan
    square, others = chi_square(groups, p0), len(groups.rate) - 1
    if np.isinf(groups.df):
        return chdtrc(others, square)
    return fdtrc(others, groups.df, square / others)


def largest_chi_square(groups, p):
    """The X² of equal groups that is exceeded with this probability."""
    others = len(groups.rate) - 1
    if np.isinf(groups.df):
        return chdtri(others, p)
    return others * fdtri(others, groups.df, 1 - p)


def common_rate(groups):
    """p0 = Σ n r / Σ n."""
    return np.clip((groups.n * groups.rate).sum() / groups.n.sum(), 0, 1)


def chi_square(groups, truth):
    """X² = Σ n (r - truth)² / (truth (1 - truth)); truth : one rate, or (..., group)."""
    spread = np.maximum(truth * (1 - truth), 1e-300)
    return (groups.n * (groups.rate - truth) ** 2 / spread).sum(-1)


# --- rates that are compatible with the data -----------------------------------------------------


def compatible_rates(groups, *, level, free_level):
    """Rates that the test accepts on the line from equal rates to those seen, and beyond.

    r(λ) ∝ exp(λ d), with d = log r - mean of logs, and with as many errors in all as there are; a
    rate without an error counts half of one. free_level : also the lowest and highest c r(λ) that
    are accepted, for measures that change with the level of all rates; on the other side of equal
    rates only where their p allows it. Returns (truth, group); the last row is the observed rates,
    which also replace the rejected ones.
    """
    if not groups.are_comparable:
        return np.full(((1 + 2 * free_level) * STEPS + 1, len(groups.rate)), np.nan)
    observed = _observed(groups)
    limit = largest_chi_square(groups, 1 - level) + TOLERANCE
    positions = _positions(groups)
    line = _line(groups, positions)
    on_line = chi_square(groups, line) <= limit
    lines, accepted = [line], [on_line]
    if free_level:
        are_equal_accepted = on_line[-1]
        is_possible = (positions > 0) | are_equal_accepted
        for rates in _extreme_levels(groups, line, limit):
            lines.append(rates)
            accepted.append(is_possible & (chi_square(groups, rates) <= limit))
    rates = np.where(np.concatenate(accepted)[:, None], np.vstack(lines), observed)
    return np.vstack([rates, observed])


def _observed(groups):
    """The rates of groups; one without an error counts half of one."""
    return np.maximum(groups.rate, 0.5 / groups.n)


def _direction(groups):
    """The direction d of the line; of groups that are exactly equal that of the first group."""
    logarithm = np.log(_observed(groups))
    d = logarithm - logarithm.mean()
    if np.linalg.norm(d) < 1e-12:
        return np.eye(len(d))[0] - 1 / len(d)
    return d


def _positions(groups):
    """Values of λ, the last of them 0, to five standard deviations of the logarithms."""
    sd_of_logs = np.sqrt((1 / np.maximum(groups.rate * groups.n, 0.5)).sum())
    farthest = 1 + 5 * sd_of_logs / np.linalg.norm(_direction(groups))
    return np.append(np.linspace(-farthest, farthest, STEPS - 1), 0.0)


def _line(groups, positions):
    """Rates r(λ), (λ, group), with as many errors in all as there are."""
    line = np.exp(positions[:, None] * _direction(groups))
    errors = _common_level(groups) * groups.n.sum()
    return np.minimum(errors / (line @ groups.n)[:, None] * line, HIGHEST)


def _common_level(groups):
    """The common rate; without an error that of half of one in all."""
    return min(common_rate(groups) or 0.5 / groups.n.sum(), HIGHEST)


def _extreme_levels(groups, line, limit):
    """The lowest and the highest c r(λ) that are accepted, by bisection, (2, λ, group).

    From the likeliest c, that minimises X² for rates well below 1: c² = Σ n r² / r(λ) / Σ n r(λ);
    without an error from 1.
    """
    squares = (groups.n * groups.rate**2 / line).sum(1)
    squares = np.where(squares > 0, squares, (groups.n * line).sum(1))
    likeliest = np.log(squares / (groups.n * line).sum(1)) / 2
    likeliest = np.minimum(likeliest, np.log(HIGHEST / line.max(1)))
    reach = 10 / np.sqrt(max(_common_level(groups) * groups.n.sum(), 0.5))
    rejected = likeliest + np.array([[-reach], [reach]])
    accepted = np.broadcast_to(likeliest, rejected.shape)

    def rates(logarithm):
        return np.minimum(np.exp(logarithm)[..., None] * line, HIGHEST)

    for _ in range(HALVINGS):
        between = (accepted + rejected) / 2
        inside = chi_square(groups, rates(between)) <= limit
        accepted = np.where(inside, between, accepted)
        rejected = np.where(inside, rejected, between)
    return rates(accepted)


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
    rng = np.random.Generator(np.random.SFC64(0))
    drawn = rng.binomial(trials, common_rate(groups), (draws, len(n))) / trials
    return drawn[:, np.argsort(order)]


# --- contrasts -----------------------------------------------------------------------------------


def contrasts(groups, *, weights, level):
    """Differences and ratios of two (weighted means of) groups, by the test and intervals above.

    weights : of the groups in both sides, (contrast, 2, group). Returns (contrast, value): the
    difference, its ends, p, the effective number of both sides, the ratio and its ends.
    """
    was_compared = np.isfinite(groups.rate + groups.n)
    compared = Groups(groups.rate[was_compared], groups.n[was_compared], groups.df)
    values = np.full((len(weights), 8), np.nan)
    for row, both_sides in zip(values, weights[:, :, was_compared]):
        if both_sides.any(1).all():
            row[:] = _contrast(weighted_means(compared, both_sides), level)
    return values


def _contrast(sides, level):
    """The values of `contrasts` for two sides, given as two groups."""
    a, b = sides.rate
    rates = compatible_rates(sides, level=level, free_level=True)
    differences = rates[:, 0] - rates[:, 1]
    at_common_rate = compatible_rates(sides, level=level, free_level=False)
    ratios = at_common_rate[:, 0] / at_common_rate[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = a / b
    lowest = ratios.min() if a > 0 else 0.0
    highest = ratios.max() if b > 0 else np.inf
    ends = min(differences.min(), a - b), max(differences.max(), a - b)
    return a - b, *ends, p_of_equality(sides), sides.n.sum(), ratio, lowest, highest


def weighted_means(groups, weights):
    """Means of groups that weigh by their numbers, as groups; weights : (mean, group)."""
    weights = weights * groups.n / (weights * groups.n).sum(1, keepdims=True)
    return Groups(weights @ groups.rate, 1 / (weights**2 @ (1 / groups.n)), groups.df)
