"""Whether the rates of groups are equal, how unequal they can be, what equal groups would show.

Pearson's chi-square with effective numbers of comparisons (Rao & Scott 1984) tests equality. Along
the line from equal rates to those that were seen and beyond, it also says which rates are
compatible with the data: a disparity's interval runs over their values.
"""

import numpy as np
import xarray as xr
from scipy import stats

from frkit.intervals.effective import effective_rates
from frkit.intervals.reading import data_of
from frkit.measures.registry import LOG_SCALE, rates_read

RATES_OF_GROUPS = ("far_group", "frr_group", "eer_group")
STEPS = 961  # of the line, on either side of equality
FEW_STEPS = 41  # of each line, where a measure reads two
FEW_ERRORS = 10  # in all, below which the test is drawn
DRAWS = 2_000


# --- the test, of groups along the last axis -----------------------------------------------------


def equality_p(rate, n):
    """p-value of equal rates, (group,), from X² with groups - 1 degrees (Rao & Scott 1984).

    With few errors in all the distribution of X² comes from binomial draws with the common rate.
    """
    observed = chi_square(rate, n, pooled(rate, n))
    if (n * rate).sum() < FEW_ERRORS:
        draws = draw_equal(rate, n, DRAWS)
        reached = chi_square(draws, n, pooled(draws, n)) >= observed * (1 - 1e-9)
        return (1 + np.count_nonzero(reached)) / (DRAWS + 1)
    return stats.chi2.sf(observed, len(rate) - 1)


def chi_square(rate, n, truth):
    """X² = Σ n (r - truth)² / (truth (1 - truth))."""
    spread = np.clip(truth * (1 - truth), 1e-300, None)
    return (n * (rate - truth) ** 2 / spread).sum(-1)


def pooled(rate, n):
    """The common rate p0 = Σ n r / Σ n, with the axis of groups kept."""
    return (n * rate).sum(-1, keepdims=True) / n.sum(-1, keepdims=True)


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
    """Rates of groups with effective numbers, the threshold held fixed; p of equality, and n."""
    rates = {}
    p = []
    for name in rates_of_line(chosen, data_of(evaluation)):
        rates[name] = effective_rates(evaluation, name, target, fixed_threshold=True)
        p.append(at_each_place(equality_p, rates[name]))
    smallest = xr.concat(p, "rate").min("rate")
    test = {"p": np.minimum(len(rates) * smallest, 1)}  # Bonferroni
    if len(rates) == 1:
        test["n_effective"] = rates[name].n_effective.sum("group", skipna=False)
    return rates, test


def at_each_place(function, rates, dims=(), **options):
    """Apply a function of (rate, n), each over groups, at every level and model."""
    return xr.apply_ufunc(
        function,
        rates.estimate,
        rates.n_effective,
        kwargs=options,
        input_core_dims=[["group"], ["group"]],
        output_core_dims=[dims],
        vectorize=True,
    )


def equal_draws(evaluation, chosen, target, draws=1_000):
    """The measure of draws from equal groups, over `replicate`; p of equality and n_effective."""
    rates, test = group_rates(evaluation, chosen, target)
    drawn = {}
    for name, rate in rates.items():
        drawn[name] = at_each_place(draw_equal, rate, ("replicate", "group"), draws=draws)
    return chosen(data_of(evaluation).assign(drawn)), test


# --- intervals of disparities --------------------------------------------------------------------


def disparity_interval(evaluation, chosen, level, target):
    """Interval of a disparity measure, and the p-value of equal groups.

    The ends are its smallest and largest value over the rates that the test accepts. A measure of
    two rates (FDR, IR, GARBE) joins both lines, each at 1 - (1 - level) / 2, with twice
    the smaller p.
    """
    data = data_of(evaluation)
    rates, test = group_rates(evaluation, chosen, target)
    alone = len(rates) == 1
    how = {"level": 1 - (1 - level) / len(rates), "steps": STEPS if alone else FEW_STEPS}
    truths = {}
    without_errors = False
    for name, rate in rates.items():
        dims = f"replicate_{name}", "group"
        truths[name] = at_each_place(compatible_rates, rate, dims, **how)
        none = rate.estimate == 0
        some = rate.estimate > 0
        without_errors = without_errors | (none.any("group") & some.any("group"))
    estimate = chosen(data)
    values = chosen(data.assign(truths))
    lines = {*values.dims} - {*estimate.dims}
    lower = values.min(lines)
    upper = values.max(lines)
    if alone:  # the estimate lies on the line, but for halves of errors
        lower, upper = np.minimum(lower, estimate), np.maximum(upper, estimate)
    if chosen.scale == LOG_SCALE:  # the rate of a group without an error may be as low as one likes
        upper = upper.where(~without_errors, np.inf)
    ends = xr.Dataset({"estimate": estimate, "lower": lower, "upper": upper})
    return ends.where(estimate.notnull() | without_errors).assign(test)


def compatible_rates(rate, n, level, steps):
    """Rates that the test accepts, on the line through equal rates and the observed ones.

    r(λ) ∝ exp(λ d), with d = log r - mean of logs and as many errors in all at each λ; a rate
    without an error counts half of one. Returns (steps + 2, group); the last row is the observed
    rates, which also replace the rejected ones.
    """
    if np.isnan(rate).any() or np.isnan(n).any():
        return np.full((steps + 2, len(rate)), np.nan)
    observed = np.maximum(rate, 0.5 / n)
    d = np.log(observed) - np.log(observed).mean()
    length = np.linalg.norm(d)
    if length < 1e-12:  # groups that are exactly equal: the first group's own direction
        d = np.eye(len(rate))[0] - 1 / len(rate)
        length = 1.0
    sd_of_logs = np.sqrt((1 / np.maximum(rate * n, 0.5)).sum())
    farthest = 1 + 5 * sd_of_logs / length
    line = np.append(np.linspace(-farthest, farthest, steps), 0.0)  # λ
    truth = np.exp(line[:, None] * d)
    truth *= (observed * n).sum() / (truth * n).sum(1, keepdims=True)
    truth = np.minimum(truth, 1 - 1e-9)
    limit = stats.chi2.ppf(level, len(rate) - 1)
    truth[chi_square(rate, n, truth) > limit] = observed
    return np.vstack([truth, observed])
