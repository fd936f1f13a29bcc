"""Intervals of disparity measures: a test inverted along the ray from fairness to the estimate.

A disparity cannot fall below its fair value, so that noise alone lifts it: near fairness neither the replicates nor
their mirror image tell where the truth lies. Instead each group is supposed to lie λ times as far from their mean as it
was seen (rates on the log scale), and λ is accepted where the measure that was seen is no rarity among draws of such a
model. λ = 0 is exactly fair: an interval never passes the fair value, reaches it where fairness is not rejected, and
gives the p-value of fairness; the draws there are the floor.
"""

from typing import NamedTuple

import numpy as np
import xarray as xr

from frkit.base import GROUP, REPLICATE, require
from frkit.intervals.influence import NEW_PEOPLE
from frkit.intervals.joint import draws, known, mixed_draws
from frkit.intervals.laws import rates_of
from frkit.intervals.reading import kept_with, tails, values_of
from frkit.measures.registry import Measure, rates_read

MOMENTS = tuple(f"{kind}_{name}_group" for kind in ("genuine", "impostor") for name in ("mean", "sd"))
STRETCH = "stretch"
STEPS = xr.DataArray(np.linspace(0, 1, 61), dims=STRETCH)
SPREADS = 5.0  # standard deviations of the groups, by which the ray reaches beyond the estimate
TIE, ROUNDING = 1e-12, 1e-6
N_DRAWS = 1_000
MOST_GROWN = 2.0  # factor by which the noise of a log rate is supposed to grow where the rate is lower than seen


class Ray(NamedTuple):
    """A measure along the ray: as it was seen, of each supposed truth, and of draws of the data such a truth gives.

    counted: the draws, of which less than one error counts as fewer than were seen, where less than one was seen, and
    none is as frequent as in a count.
    drawn: of draws of the rates as they were seen, where the ray leaves out truths (of a measure that grows with the
    rates, and where nothing was seen), NaN elsewhere.
    """

    seen: xr.DataArray
    truth: xr.DataArray
    noisy: xr.DataArray
    counted: xr.DataArray
    drawn: xr.DataArray

    @property
    def side(self) -> float:
        """1 where noise moves the measure up from its fair value (with which the truth begins), -1 where down."""
        return np.sign(float((self.noisy - self.truth).isel({STRETCH: 0}).sum())) or 1.0


class Spread(NamedTuple):
    """Values of all groups, rates as logarithms: as seen, with their errors over `replicate`.

    at: the logarithms of the rates to which the errors belong. drawn: the values over `replicate`, rates from their
    joint law. sizes: of the groups. None where values are no rates. one: what one error counts as, all that come
    together with it (other pairs of the same two people); and twice what none does where none was seen.
    """

    seen: xr.DataArray
    errors: xr.DataArray
    at: xr.DataArray | None = None
    drawn: xr.DataArray | None = None
    sizes: xr.DataArray | float = 1.0
    one: xr.DataArray | float = -np.inf

    @property
    def few(self) -> xr.DataArray:
        """Where less than one error was seen."""
        return self.seen < self.one

    def counted(self, truth: xr.DataArray, noisy: xr.DataArray) -> xr.DataArray:
        """Draws as errors are counted: less than one is no error, which is no more than was seen where that is few.

        A law without a gap between none and one shows none too rarely: a count, Poisson's, does so with probability
        exp(-m), where m is supposed. At least that share of the draws, the lowest, are none.
        """
        if not self.few.any():
            return noisy
        place = (self.errors.transpose(..., REPLICATE).argsort(-1).argsort(-1) + 0.5) / self.errors.sizes[REPLICATE]
        some = (noisy >= self.one) & (place > np.exp(-np.exp(truth - self.one)))
        return noisy.where(~self.few | some, np.minimum(noisy, self.seen - np.log(2)))

    @property
    def away(self) -> xr.DataArray:
        """Distances from the middle."""
        return self.seen - self.seen.mean(_group_dims(self.seen))

    def supposed(self, stretches: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
        """Values that lie so many times as far apart, and their errors. The rate of all groups together stays.

        Noise of counts grows with the root of the rate: where a rate is lower, its logarithm varies more.
        """
        if self.at is None:
            return self.seen - self.away + stretches * self.away, self.errors
        moved, dims = stretches * self.away, _group_dims(self.seen)
        together, apart = (np.log((np.exp(log) * self.sizes).sum(dims)) for log in (self.seen, moved))
        rate = (together - apart + moved).clip(max=0)
        return rate, self.errors * np.exp((self.at - rate) / 2).clip(1 / MOST_GROWN, MOST_GROWN)


def inverted(evaluation: xr.DataTree, chosen: Measure, level: float, target: str) -> xr.Dataset:
    """Estimate and ends of a disparity measure, and the p-value of fairness."""
    ray = ray_of(evaluation, chosen, target)
    side, tail, back = ray.side, tails(level)[0], {STRETCH: slice(None, None, -1)}
    far, near = (side * (drawn - ray.seen) for drawn in (ray.counted, ray.noisy))
    as_far, as_near, n = (far >= -TIE).mean(REPLICATE), (near <= TIE).mean(REPLICATE), far.sizes[REPLICATE]
    near, off = _reach(as_far, ray.truth, tail), _reach(as_near[back], ray.truth[back], tail)
    # groups that are more alike than noise lets any be leave no λ: the other end is then what fair ones still show
    of_fair = ray.noisy.isel({STRETCH: 0}).quantile(1 - tail if side > 0 else tail, REPLICATE, skipna=False)
    told = (as_near >= tail).any(STRETCH) & (np.abs(ray.seen - chosen.fair) > TIE)
    off = off.where(told, of_fair.drop_vars("quantile"))
    data = evaluation["empirical"].to_dataset()
    estimate = chosen(data)
    # the rate of all groups together stays along the ray, so that no supposed rate of one passes what all errors in it
    # give: how far a measure that grows with the rates may reach is told by their own law
    drawn = ray.drawn.quantile(1 - tail if side > 0 else tail, REPLICATE, skipna=False).drop_vars("quantile")
    # what is seen is held: with half an error for none, and without
    for held in (ray.seen, estimate.where(np.isfinite(estimate), ray.seen), drawn.fillna(ray.seen)):
        off = side * np.maximum(side * off, side * held)
    # a group without an error may have a rate as near to 0 as one likes: the measure may be what it is where one group
    # alone has errors, a ratio infinite
    alone = {name: xr.zeros_like(data[name]) + (data[GROUP] == data[GROUP][0]) for name in rates_read(chosen, data)}
    off = off.where(np.isfinite(estimate), chosen(data.assign(alone)))
    lower, upper = (near, off) if side > 0 else (off, near)
    p = (1 + n * as_far.isel({STRETCH: 0})) / (1 + n)
    return xr.Dataset({"estimate": estimate, "lower": lower, "upper": upper, "p": p}).where(ray.seen.notnull())


@np.errstate(invalid="ignore", divide="ignore")  # a group without pairs is NaN from here to the end
def ray_of(evaluation: xr.DataTree, chosen: Measure, target: str, steps: xr.DataArray = STEPS) -> Ray:
    """The measure along the ray, at steps from 0 (fairness) to 1 (as far beyond the estimate as noise could reach)."""
    data = evaluation["empirical"].to_dataset()
    require(chosen.fair is not None, f"method='inverted' is for disparity measures; {chosen.name!r} has no fair value")
    names = rates_read(chosen, data)
    spreads = _kept(evaluation, names, target) if names else _of_moments(evaluation, chosen)
    back = np.exp if names else np.positive
    stretches, every = _stretches(spreads.values(), steps), {}
    for name, spread in spreads.items():
        truth, errors = spread.supposed(stretches)
        noisy, half = truth + errors, spread.drawn - (np.log(2) if names else 0)
        every[name] = spread.seen, truth, noisy, spread.drawn, half, spread.counted(truth, noisy)
    some = any(spread.few.any() for spread in spreads.values())
    seen, truth, noisy, drawn, half, *counted = (
        chosen(data.assign({name: back(parts[place]).clip(max=1) for name, parts in every.items()}))
        for place in range(5 + some)
    )
    truth = truth.where((steps > 0) | truth.isnull(), chosen.fair)  # but for rounding it is fair
    grows = (np.abs(drawn - half) > ROUNDING * np.abs(drawn).clip(min=1)).any(REPLICATE)
    told = grows | (np.abs(seen - chosen.fair) <= TIE)
    return Ray(seen, truth, noisy, *(counted or [noisy]), drawn.where(told))


def _kept(evaluation: xr.DataTree, names: tuple[str, ...], target: str) -> dict[str, Spread]:
    """`_of_rates`, kept as long as the evaluation is there: a band and its floor read the same draws."""
    now = [evaluation["empirical"].variables[name].values.tobytes() for name in names]
    kept = kept_with(evaluation)
    if kept.get((names, target), [None])[0] != now:  # never asked for, or written into since
        kept[names, target] = now, _of_rates(evaluation, names, target)
    return kept[names, target][1]


def _of_rates(evaluation: xr.DataTree, names: tuple[str, ...], target: str) -> dict[str, Spread]:
    """Rates of groups with errors from their joint law. Those of new people err as if people could change groups.

    A group of few people may show none of the worst, and then its own noise is too small to tell it from the others.
    """
    data, new = evaluation["empirical"].to_dataset(), target == NEW_PEOPLE
    drawn = draws(evaluation, names, target, N_DRAWS).clip(min=1e-300)
    group = np.atleast_2d(evaluation["influence"].group.values)[0]  # that of every model
    laws_seen = rates_of(evaluation, target)
    held = next(iter(laws_seen.values())).groups
    images = xr.DataArray(np.bincount(group, minlength=held.max() + 1)[held], dims=GROUP)
    spreads = {}
    for name in names:
        sizes, values = images if name.endswith(f"_{GROUP}") else 1.0, drawn[name]
        if name == "frr_group" and new:
            mixed, least = mixed_draws(evaluation, N_DRAWS)
            values, one = mixed.fillna(values), 2 * least  # people who are all alike tell nothing of others
            seen = _together(np.log(data[name].clip(min=least)), data[name])
            at = np.log((np.exp(seen) * sizes).sum(GROUP) / sizes.where(seen.notnull()).sum(GROUP))
        elif new and name.startswith("far_"):
            laws = rates_of(evaluation, target, alike=True)
            values, (rate, one) = draws(evaluation, (name,), target, N_DRAWS, laws=laws)[name], known(laws, data[name])
            seen = _together(np.log(data[name].clip(min=one / 4)), data[name])
            at = np.log(rate).where(rate > 0, seen)
        else:
            _, one = known(laws_seen, data[name])
            seen = np.log(data[name].where(data[name] > 0, values.mean(REPLICATE)))
            seen = at = _together(seen, data[name])
        errors = np.log(values) - np.log(values.mean(REPLICATE))
        one = np.maximum(np.log(one), (seen + np.log(2)).where(data[name] == 0, -np.inf))
        spreads[name] = Spread(seen, errors, at, np.log(drawn[name]), sizes, one)
    return spreads


def _together(seen: xr.DataArray, rate: xr.DataArray) -> xr.DataArray:
    """The same; where no group has an error none differs from another."""
    return seen.where((rate > 0).any(_group_dims(rate)), seen.mean(_group_dims(rate)))


def _of_moments(evaluation: xr.DataTree, chosen: Measure) -> dict[str, Spread]:
    """Means and standard deviations of the groups' scores with the errors of the replicates."""
    data = evaluation["empirical"].to_dataset()
    names = rates_read(chosen, data, MOMENTS)
    require(
        len(names) > 0,
        "method='inverted' is for disparities of rates, or of means and standard deviations of scores, of groups, "
        f"and {chosen.name!r} reads others, or none: evaluate with by='the name of an attribute', or name another "
        "method",
    )
    values_of(evaluation, chosen)  # says what is missing
    drawn, centre = (evaluation[node].to_dataset() for node in ("replicates", "vstatistic"))
    return {name: Spread(data[name], drawn[name] - centre[name], drawn=drawn[name]) for name in names}


def _group_dims(rate: xr.DataArray) -> list:
    """Dimensions over which groups run."""
    return [dim for dim in rate.dims if str(dim).endswith(GROUP)]


def _stretches(spreads, steps: xr.DataArray) -> xr.DataArray:
    """λ along the ray: from 0 to as far beyond the estimate as noise could reach."""
    seen = sum((spread.away**2).sum(_group_dims(spread.seen)) for spread in spreads)
    noise = sum(spread.errors.var(REPLICATE).sum(_group_dims(spread.seen)) for spread in spreads)
    return steps * (1 + SPREADS * np.sqrt(noise) / np.sqrt(seen).clip(min=1e-6))


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
