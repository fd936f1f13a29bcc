"""Intervals of disparity measures: a test inverted along the ray from fairness to the estimate.

A disparity cannot fall below its fair value, so that noise alone lifts it: near fairness neither the replicates nor
their mirror image tell where the truth lies. Instead each group's log rate is supposed to lie λ times as far from
their mean as it was seen, and λ is accepted where the measure that was seen is no rarity among draws of such a model.
λ = 0 is exactly fair: an interval never passes the fair value, reaches it where fairness is not rejected, and gives the
p-value of fairness.
"""

import numpy as np
import xarray as xr

from frkit.base import GROUP, REPLICATE, require
from frkit.intervals.joint import draws, tails
from frkit.measures.registry import Measure, rates_read

STRETCH = "stretch"
STEPS = xr.DataArray(np.linspace(0, 1, 61), dims=STRETCH)
SPREADS = 5.0  # standard deviations of the groups' log rates, by which the ray reaches beyond the estimate
TIE = 1e-12
N_DRAWS = 1_000


@np.errstate(invalid="ignore", divide="ignore")  # a group without pairs is NaN from here to the end
def inverted(evaluation: xr.DataTree, chosen: Measure, level: float, target: str) -> xr.Dataset:
    """Estimate and ends of a disparity measure, and the p-value of fairness."""
    data = evaluation["empirical"].to_dataset()
    require(chosen.fair is not None, f"method='inverted' is for disparity measures; {chosen.name!r} has no fair value")
    names = rates_read(chosen, data)
    require(len(names) > 0, "a disparity measure needs groups: evaluate with by='the name of an attribute'")
    drawn = draws(evaluation, names, target, N_DRAWS)
    rates = {name: data[name].where(data[name] > 0, drawn[name].mean(REPLICATE)) for name in names}
    errors = {name: np.log(drawn[name].clip(min=1e-300)) - np.log(drawn[name].mean(REPLICATE)) for name in names}
    middle = {name: np.log(rate).mean(_group_dims(rate)) for name, rate in rates.items()}
    away = {name: np.log(rates[name]) - middle[name] for name in names}
    stretches = _stretches(away, errors)
    plain = data.drop_vars([name for name in data.data_vars if GROUP in data[name].dims and name not in names])
    seen = chosen(plain.assign(rates))
    stretched = {name: np.exp(middle[name] + stretches * away[name]).clip(max=1) for name in names}
    truth = chosen(plain.assign(stretched))
    truth = truth.where((STEPS > 0) | truth.isnull(), chosen.fair)  # but for rounding it is
    # noise of counts grows with the root of the rate: where a rate is supposed lower than seen, its log varies more
    grown = {name: np.sqrt(rates[name] / stretched[name]).clip(0.5, 2.0) for name in names}
    noisy = chosen(
        plain.assign({name: (stretched[name] * np.exp(errors[name] * grown[name])).clip(max=1) for name in names})
    )
    side = np.sign(float((noisy - chosen.fair).isel({STRETCH: 0}).sum())) or 1.0
    as_far = (side * (noisy - seen) >= -TIE).mean(REPLICATE)
    as_near = (side * (noisy - seen) <= TIE).mean(REPLICATE)
    tail = tails(level)[0]
    back = {STRETCH: slice(None, None, -1)}
    near, far = _reach(as_far, truth, tail), _reach(as_near[back], truth[back], tail)
    lower, upper = (near, far) if side > 0 else (far, near)
    p = (1 + N_DRAWS * as_far.isel({STRETCH: 0})) / (1 + N_DRAWS)
    result = xr.Dataset({"estimate": chosen(data), "lower": lower, "upper": upper, "p": p})
    return result.where(seen.notnull())


def _group_dims(rate: xr.DataArray) -> list:
    return [dim for dim in rate.dims if str(dim).endswith(GROUP)]


def _stretches(away: dict, errors: dict) -> xr.DataArray:
    """λ along the ray: from 0 to as far beyond the estimate as noise could reach."""
    seen = sum((distance**2).sum(_group_dims(distance)) for distance in away.values())
    noise = sum(error.var(REPLICATE).sum(_group_dims(error)) for error in errors.values())
    return STEPS * (1 + SPREADS * np.sqrt(noise) / np.sqrt(seen).clip(min=1e-6))


def _reach(share: xr.DataArray, truth: xr.DataArray, tail: float) -> xr.DataArray:
    """The first value along the ray that is accepted: where the share of draws first reaches the tail."""
    return xr.apply_ufunc(
        _first, share, truth, kwargs={"tail": tail}, input_core_dims=[[STRETCH], [STRETCH]], vectorize=True
    )


def _first(share: np.ndarray, truth: np.ndarray, tail: float) -> float:
    """Value at which a share first reaches the tail, between two places by interpolation."""
    enough = share >= tail
    if not enough.any():
        return truth[np.argmax(share)]
    first = int(np.argmax(enough))
    if first == 0:
        return truth[0]
    before, after = share[first - 1], share[first]
    return truth[first - 1] + (truth[first] - truth[first - 1]) * (tail - before) / (after - before)
