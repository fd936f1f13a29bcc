"""Are the groups' rates equal, how unequal can they be, and what would equal groups show?

Pearson's chi-square with effective numbers of comparisons (Rao & Scott 1984) tests equality. Along
the line from equal rates to those that were seen and beyond, it also says which rates are
compatible with the data: a disparity's interval runs over their values.
"""

import numpy as np
import xarray as xr
from scipy import stats

from frkit.base import GROUP, REPLICATE
from frkit.intervals.effective import effective_rates
from frkit.measures.registry import Measure, rates_read

LINES = ("far_group", "frr_group", "eer_group")  # rates of groups that have a line
STEPS = 961  # of the line, on either side of equality
FEW_ERRORS = 10  # in all, below which the test is drawn
DRAWS = 2_000
FEW_STEPS = 41  # of each line, where a measure reads two


def pooled(rate: np.ndarray, n: np.ndarray) -> np.ndarray:
    """The common rate of groups, over the last axis, kept there."""
    return (n * rate).sum(-1, keepdims=True) / n.sum(-1, keepdims=True)


def chi_square(rate: np.ndarray, n: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Σ n (r - truth)² / (truth (1 - truth)) over the last axis."""
    spread = np.clip(truth * (1 - truth), 1e-300, None)
    return (n * (rate - truth) ** 2 / spread).sum(-1)


def equality_test(rate: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """X² and p-value of equal rates, groups over the last axis (Rao & Scott 1984).

    With few errors in all the same statistic is drawn from binomials with the common rate.
    """
    common = pooled(rate, n)
    statistic = chi_square(rate, n, common)
    p = np.array(stats.chi2.sf(statistic, rate.shape[-1] - 1), float)
    few = (n * rate).sum(-1) < FEW_ERRORS
    for place in np.ndindex(p.shape):
        if not few[place]:
            continue
        drawn = draw_equal(rate[place], n[place], DRAWS)
        values = chi_square(drawn, n[place], pooled(drawn, n[place]))
        reached = np.count_nonzero(values >= statistic[place] * (1 - 1e-9))
        p[place] = (1 + reached) / (DRAWS + 1)
    return statistic, np.where(np.isnan(statistic), np.nan, p)


def draw_equal(rate: np.ndarray, n: np.ndarray, draws: int) -> np.ndarray:
    """Rates of groups with the common rate and these effective numbers, (draw, group)."""
    rng = np.random.Generator(np.random.SFC64(0))
    trials = np.maximum(np.round(n), 1).astype(int)
    common = float(np.clip(pooled(rate, n)[0], 0, 1))
    return rng.binomial(trials, common, (draws, len(trials))) / trials


def group_rates(evaluation: xr.DataTree, name: str, target: str) -> xr.Dataset:
    """Rates of groups with effective numbers at the threshold that was found, and p of equality."""
    found = effective_rates(evaluation, name, target, fixed_threshold=True)
    found = found.transpose(..., GROUP)
    _, p = equality_test(found.estimate.values, found.n_effective.values)
    return found.assign(p=(found.estimate.dims[:-1], p))


# --- intervals of disparities --------------------------------------------------------------------


def lines_of(chosen: Measure, data: xr.Dataset) -> tuple[str, ...]:
    """The rates of groups that a disparity measure reads, where each of them has a line."""
    names = rates_read(chosen, data)
    return names if names and set(names) <= set(LINES) else ()


def disparity(evaluation: xr.DataTree, chosen: Measure, level: float, target: str) -> xr.Dataset:
    """Interval of a disparity measure, and the p-value of equal groups.

    A measure of two rates (FDR, IR, GARBE) joins both lines, each at 1 - (1 - level) / 2, and
    twice the smaller p.
    """
    data = evaluation["empirical"].to_dataset()
    names = lines_of(chosen, data)
    share = 1 - (1 - level) / len(names)
    rates = {name: group_rates(evaluation, name, target) for name in names}
    accepted = {name: _accepted_rates(found, share, len(names)) for name, found in rates.items()}
    steps = {name: f"{REPLICATE}_{name}" for name in names}
    truths = {name: values.rename({REPLICATE: steps[name]}) for name, values in accepted.items()}
    over = [steps[name] for name in names]
    values = chosen(data.drop_vars(list(names)).assign(truths))
    estimate = chosen(data)
    lower, upper = values.min(over), values.max(over)
    if len(names) == 1:  # the estimate stands on the line, but for halves of errors
        lower, upper = np.minimum(lower, estimate), np.maximum(upper, estimate)
    without = _some_without_error([data[name] for name in names])
    if chosen.scale == "log":  # the rate of a group without an error may be as low as one likes
        upper = upper.where(~without, np.inf)
    known = estimate.notnull() | without
    ends = xr.Dataset({"estimate": estimate, "lower": lower, "upper": upper}).where(known)
    return ends.assign(p=_joint_p(rates), **comparisons_of(rates))


def comparisons_of(rates: dict[str, xr.Dataset]) -> dict[str, xr.DataArray]:
    """Effective number of comparisons of all groups together, where a measure reads one rate."""
    if len(rates) > 1:
        return {}
    (found,) = rates.values()
    return {"n_effective": found.n_effective.sum(GROUP, skipna=False)}


def _some_without_error(rates: list[xr.DataArray]) -> xr.DataArray:
    """Where some group has no error, and another one has."""
    found = [((rate == 0).any(GROUP) & (rate > 0).any(GROUP)) for rate in rates]
    return found[0] if len(found) == 1 else found[0] | found[1]


def _accepted_rates(found: xr.Dataset, level: float, n_lines: int) -> xr.DataArray:
    """Rates along the line that the test does not reject, over `replicate`; others repeat one."""
    rate, n = found.estimate.values, found.n_effective.values
    shape = rate.shape[:-1]
    steps = STEPS if n_lines == 1 else FEW_STEPS
    out = np.empty((steps + 2, *rate.shape))
    for place in np.ndindex(shape):
        out[(slice(None), *place)] = _line(rate[place], n[place], level, steps)
    dims = (REPLICATE, *found.estimate.dims)
    coords = {dim: found[dim] for dim in found.estimate.dims if dim in found.coords}
    return xr.DataArray(out, coords, dims)


def _line(rate: np.ndarray, n: np.ndarray, level: float, steps: int) -> np.ndarray:
    """Compatible rates of groups on the line through equal rates and those that were seen.

    The line is straight in log rates, with as many errors in all at each of its points; a rate
    without an error counts half of one. Returns (steps + 2, group), the first being those seen.
    """
    if np.isnan(rate).any() or np.isnan(n).any():
        return np.full((steps + 2, len(rate)), np.nan)
    seen = np.log(np.maximum(rate, 0.5 / n))
    away = seen - seen.mean()
    length = np.linalg.norm(away)
    if length < 1e-12:  # groups that are exactly equal: each group's own direction
        away, length = np.eye(len(rate))[0] - 1 / len(rate), 1.0
    reach = 1 + 5 * np.sqrt((1 / np.maximum(rate * n, 0.5)).sum()) / max(length, 1e-9)
    stretch = np.append(np.linspace(-reach, reach, steps), 0.0)
    truth = np.exp(stretch[:, None] * away)
    truth *= ((np.exp(seen) * n).sum() / (truth * n).sum(1))[:, None]
    truth = np.minimum(truth, 1 - 1e-9)
    limit = stats.chi2.ppf(level, len(rate) - 1)
    compatible = chi_square(rate, n, truth) <= limit
    truth[~compatible] = np.exp(seen)
    return np.concatenate([np.exp(seen)[None], truth])


# --- what equal groups would show ----------------------------------------------------------------


def equal_draws(
    evaluation: xr.DataTree, chosen: Measure, target: str, draws: int = 1_000
) -> tuple[xr.DataArray, dict[str, xr.DataArray]]:
    """The measure of draws from equal groups, over `replicate`; and p of equality, `n_effective`."""
    data = evaluation["empirical"].to_dataset()
    rates = {name: group_rates(evaluation, name, target) for name in lines_of(chosen, data)}
    drawn = {}
    for name, found in rates.items():
        rate, n = found.estimate.values, found.n_effective.values
        out = np.full((draws, *rate.shape), np.nan)
        for place in np.ndindex(rate.shape[:-1]):
            if not np.isnan(rate[place]).any():
                out[(slice(None), *place)] = draw_equal(rate[place], n[place], draws)
        drawn[name] = (REPLICATE, *found.estimate.dims), out
    values = chosen(data.drop_vars(list(drawn)).assign(drawn))
    return values, {"p": _joint_p(rates), **comparisons_of(rates)}


def _joint_p(rates: dict[str, xr.Dataset]) -> xr.DataArray:
    """The smallest p-value of some rates, times their number (Bonferroni)."""
    smallest = xr.concat([found.p for found in rates.values()], "line").min("line")
    return np.minimum(len(rates) * smallest, 1)
