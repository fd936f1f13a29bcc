"""Whether the rates of groups are equal, how unequal they can be, what equal groups would show.

Pearson's chi-square with effective numbers of comparisons (Rao & Scott 1984) tests equality. Along
the line from equal rates to those that were seen and beyond, it also says which rates are
compatible with the data: a disparity's interval runs over their values.
"""

import numpy as np
import xarray as xr
from scipy import stats

from frkit.base import GROUP, REPLICATE
from frkit.intervals.effective import effective_rates
from frkit.measures.registry import LOG_SCALE, rates_read

RATES_OF_GROUPS = ("far_group", "frr_group", "eer_group")
STEPS = 961  # of the line, on either side of equality
FEW_STEPS = 41  # of each line, where a measure reads two
FEW_ERRORS = 10  # in all, below which the test is drawn
DRAWS = 2_000


# --- the test, of groups along the last axis -----------------------------------------------------


def pooled(rate: np.ndarray, n: np.ndarray) -> np.ndarray:
    """The common rate p0 = Σ n r / Σ n, with the axis of groups kept."""
    return (n * rate).sum(-1, keepdims=True) / n.sum(-1, keepdims=True)


def chi_square(rate: np.ndarray, n: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """X² = Σ n (r - truth)² / (truth (1 - truth))."""
    spread = np.clip(truth * (1 - truth), 1e-300, None)
    return (n * (rate - truth) ** 2 / spread).sum(-1)


def equality_p(rate, n):
    """p-value of equal rates, (group,), from X² with groups - 1 degrees (Rao & Scott 1984).

    With few errors in all the same statistic is drawn from binomials with the common rate.
    """
    statistic = chi_square(rate, n, pooled(rate, n))
    if (n * rate).sum() < FEW_ERRORS:
        drawn = draw_equal(rate, n, DRAWS)
        reached = chi_square(drawn, n, pooled(drawn, n)) >= statistic * (1 - 1e-9)
        return (1 + np.count_nonzero(reached)) / (DRAWS + 1)
    return stats.chi2.sf(statistic, len(rate) - 1)


def draw_equal(rate, n, draws):
    """Rates of groups with the common rate and these effective numbers, (draw, group)."""
    if np.isnan(rate).any():
        return np.full((draws, len(rate)), np.nan)
    rng = np.random.Generator(np.random.SFC64(0))
    trials = np.maximum(np.round(n), 1).astype(int)
    common = np.clip(pooled(rate, n), 0, 1)
    return rng.binomial(trials, common, (draws, len(trials))) / trials


# --- the groups of an evaluation -----------------------------------------------------------------


def rates_of_line(chosen, data):
    """The rates of groups that a disparity reads, where it reads no others; else none."""
    names = rates_read(chosen, data) if chosen.fair is not None else ()
    return names if {*names} <= {*RATES_OF_GROUPS} else ()


def group_rates(evaluation, chosen, target):
    """Rates of groups with effective numbers at the threshold that was found; and `_joint`."""
    names = rates_of_line(chosen, evaluation["empirical"].to_dataset())
    rates = {
        name: effective_rates(evaluation, name, target, fixed_threshold=True) for name in names
    }
    p = xr.concat([at_each_place(equality_p, rate) for rate in rates.values()], "line")
    joint = {"p": np.minimum(len(rates) * p.min("line"), 1)}  # Bonferroni
    if len(rates) == 1:
        joint["n_effective"] = rates[names[0]].n_effective.sum(GROUP, skipna=False)
    return rates, joint


def at_each_place(function, rates, dims=(), **options):
    """Apply a function of (rate, n), each over groups, at every level and model."""
    return xr.apply_ufunc(
        function,
        rates.estimate,
        rates.n_effective,
        kwargs=options,
        input_core_dims=[[GROUP], [GROUP]],
        output_core_dims=[dims],
        vectorize=True,
    )


def equal_draws(evaluation, chosen, target, draws=1_000):
    """The measure of draws from equal groups, over `replicate`; p of equality and `n_effective`."""
    rates, joint = group_rates(evaluation, chosen, target)
    drawn = {
        name: at_each_place(draw_equal, rate, (REPLICATE, GROUP), draws=draws)
        for name, rate in rates.items()
    }
    return chosen(evaluation["empirical"].to_dataset().assign(drawn)), joint


# --- intervals of disparities --------------------------------------------------------------------


def disparity_interval(evaluation, chosen, level, target):
    """Interval of a disparity measure, and the p-value of equal groups.

    The ends are its smallest and largest value over the rates that the test accepts. A measure of
    two rates (FDR, IR, GARBE) joins both lines, each at 1 - (1 - level) / 2, with twice
    the smaller p.
    """
    data = evaluation["empirical"].to_dataset()
    rates, joint = group_rates(evaluation, chosen, target)
    options = {
        "level": 1 - (1 - level) / len(rates),
        "steps": STEPS if len(rates) == 1 else FEW_STEPS,
    }
    steps = {name: f"{REPLICATE}_{name}" for name in rates}
    truths = {
        name: at_each_place(compatible_rates, rate, (steps[name], GROUP), **options)
        for name, rate in rates.items()
    }
    values, estimate = chosen(data.assign(truths)), chosen(data)
    lower, upper = values.min(steps.values()), values.max(steps.values())
    if len(rates) == 1:  # the estimate stands on the line, but for halves of errors
        lower, upper = np.minimum(lower, estimate), np.maximum(upper, estimate)
    without_errors = False
    for name in rates:
        low, high = data[name].min(GROUP), data[name].max(GROUP)
        without_errors = without_errors | (low == 0) & (high > 0)
    if chosen.scale == LOG_SCALE:  # the rate of a group without an error may be as low as one likes
        upper = upper.where(~without_errors, np.inf)
    ends = xr.Dataset({"estimate": estimate, "lower": lower, "upper": upper})
    return ends.where(estimate.notnull() | without_errors).assign(joint)


def compatible_rates(rate, n, level, steps):
    """Rates on the line through equal rates and those that were seen that the test accepts.

    r(λ) ∝ exp(λ d), with d = log r - mean of logs and as many errors in all at each λ; a rate
    without an error counts half of one. Returns (steps + 2, group); the rates that were seen, which
    are the last ones, also stand for those that are rejected.
    """
    if np.isnan(rate).any() or np.isnan(n).any():
        return np.full((steps + 2, len(rate)), np.nan)
    seen = np.log(np.maximum(rate, 0.5 / n))
    d = seen - seen.mean()
    length = np.linalg.norm(d)
    if length < 1e-12:  # groups that are exactly equal: the first group's own direction
        d, length = np.eye(len(rate))[0] - 1 / len(rate), 1.0
    reach = 1 + 5 * np.sqrt((1 / np.maximum(rate * n, 0.5)).sum()) / length
    stretch = np.append(np.linspace(-reach, reach, steps), 0.0)  # λ
    truth = np.exp(stretch[:, None] * d)
    truth *= ((np.exp(seen) * n).sum() / (truth * n).sum(1))[:, None]
    truth = np.minimum(truth, 1 - 1e-9)
    accepted = chi_square(rate, n, truth) <= stats.chi2.ppf(level, len(rate) - 1)
    truth[~accepted] = np.exp(seen)
    return np.vstack([truth, np.exp(seen)])
