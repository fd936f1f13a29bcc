"""The joint law of an evaluation's rates: ends of rates, and draws for measures of rates.

Every rate has the law of `laws.Rates`. Together they have the correlations of their influences: units (images, or
people) get normal multipliers, the same for all rates, levels, groups and models, so that differences of models and
measures of groups are drawn with what their rates have in common.
"""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from scipy.special import ndtr, ndtri

from frkit.base import MODEL, REPLICATE, InputError
from frkit.intervals.gamma_satterthwaite import TINY
from frkit.intervals.influence import NEW_PEOPLE, rejected_shares
from frkit.intervals.laws import Place, rates_of
from frkit.intervals.reading import Values, tails
from frkit.measures.registry import Measure, rates_read

DRAWS, MULTIPLIERS = 2_000, 3_000_000  # draws at least, and five times as many where so many multipliers are enough
RATES = ("far", "frr", "far_group", "frr_group", "far_cross", "eer", "eer_group", "threshold")
UNITS_AT_ONCE = 10_000
HEIGHTS = np.linspace(-6, 6, 241)  # normal heights at which a law is tabulated


def ends(
    evaluation: xr.DataTree, name: str, level: float, target: str, together: xr.DataArray | None = None
) -> tuple[xr.DataArray, xr.DataArray]:
    """Lower and upper end of a rate, with the dimensions of the variable.

    together: at which levels, and of which model, the whole curve is to lie inside at once; None for each level by
    itself.
    """
    estimate = evaluation["empirical"].to_dataset()[name]
    found = []
    for model, rates in rates_of(evaluation, target).items():
        at = tails(level)
        if together is not None:
            own = together.sel({MODEL: model}) if MODEL in together.dims else together
            at = _sup_tails(rates.places("far" if name == "threshold" else name), level, own.values)
        found.append(rates.ends(name, at[..., None])[..., 0])
    both = np.stack(found) if MODEL in estimate.dims else found[0]
    both = both.reshape(*estimate.shape, 2)
    return tuple(estimate.copy(data=np.where(estimate.isnull(), np.nan, both[..., end])) for end in (0, 1))


def _sup_tails(places: np.ndarray, level: float, together: np.ndarray) -> np.ndarray:
    """Probabilities, (..., end), at which all levels of a curve hold at once: from the largest height along it."""
    found = np.empty((*places.shape[1:], 2))
    for curve in np.ndindex(places.shape[1:]):
        along = places[(together if together.any() else slice(None), *curve)]
        # neighbouring levels share most of their errors: the highest of correlated heights is far below that of as
        # many independent ones, and each level keeps the shape of its own law
        heights = _heights(along)
        highest = np.quantile(np.abs(heights).max(0), level)
        found[curve] = ndtr([-highest, highest])
    return found


def draws(
    evaluation: xr.DataTree, names: tuple[str, ...], target: str, n: int | None = None, place: int = 0, laws=None
) -> xr.Dataset:
    """Draws of rates from their joint law, with `replicate` in front; the same units get the same multipliers.

    n: how many, None for the more the fewer units there are. place: of the evaluation among those that are compared:
    errors that nobody has seen are not the same in two of them. laws: what `rates_of` returned.
    """
    data = evaluation["empirical"].to_dataset()
    parts = {name: [] for name in names}
    for rates in (laws or rates_of(evaluation, target)).values():
        places = {name: rates.places(name).ravel() for name in names}
        heights = iter(_heights(np.concatenate([*places.values()]), n, place))
        for name, found in places.items():
            parts[name].append([_drawn(one, next(heights)) for one in found])
    variables = {}
    for name, found in parts.items():
        whole = xr.DataArray(np.reshape(found, (*data[name].shape, -1)), dims=(*data[name].dims, REPLICATE))
        variables[name] = whole.where(data[name].notnull()).transpose(REPLICATE, ...)
    drawn = xr.Dataset(variables, {name: data[name] for name in data.coords})
    return drawn.assign_coords({REPLICATE: np.arange(drawn.sizes[REPLICATE])})


def known(laws: dict, data: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """The rates that the draws of a variable belong to, and what one error counts as in them.

    laws: what `rates_of` returned; with `alike` they are FARs as if small groups were like all, see `Part.borrowed`.
    """
    places = [rates.places(data.name) for rates in laws.values()]
    places = np.stack(places) if MODEL in data.dims else places[0]
    every = [[one.law.rate[one.entry], 4 * one.least] for one in places.flat]
    return tuple(data.copy(data=np.reshape(part, data.shape)) for part in zip(*every, strict=True))


def mixed_draws(evaluation: xr.DataTree, n: int) -> tuple[xr.DataArray, xr.DataArray]:
    """FRR of groups whose people are drawn, with replacement, from the people of all groups, and the least of them.

    So vary the groups' FRR over new people where groups do not differ. No error counts half a pair. Where all people
    are alike (nobody has an error, or everybody) the draws are NaN.
    """
    data, found = evaluation["empirical"].frr_group, []
    for rates in rates_of(evaluation, NEW_PEOPLE).values():
        known = [rejected_shares(rates.sums(point), rates.memberships) for point in rates.levels]
        mass, shares = known[0][0], np.stack([share for _, share in known], 1)  # (person, group), (person, level)
        people, rng, drawn = np.flatnonzero(mass.any(1)), np.random.default_rng([2, 0]), []
        for size in np.count_nonzero(mass, 0):
            counts = rng.multinomial(size, np.full(len(people), 1 / len(people)), n) * mass.sum(1)[people]
            drawn.append(counts @ shares[people] / np.maximum(counts.sum(1), TINY)[:, None])
        least = np.stack([law.least[-mass.shape[1] :] / 2 for law in rates.laws])
        alike = np.ptp(shares[people], axis=0)[:, None] == 0
        values = np.where(alike, np.nan, np.maximum(np.stack(drawn, -1), least))
        found.append(np.concatenate([values, least[None]])[..., rates.groups])
    whole = np.ascontiguousarray(np.moveaxis(found, 1, -1)).reshape(*data.shape, n + 1)  # quicker: draws side by side
    whole = xr.DataArray(whole, {dim: data[dim] for dim in data.dims}, (*data.dims, REPLICATE))
    return whole.isel({REPLICATE: slice(n)}), whole.isel({REPLICATE: n})


def _drawn(place: Place, heights: np.ndarray) -> np.ndarray:
    """Values of a rate at normal heights."""
    return np.clip(np.interp(heights, HEIGHTS, place.quantiles(ndtr(HEIGHTS))), place.least, 1.0)


def _heights(places: Sequence[Place], n: int | None = None, turn: int = 0) -> np.ndarray:
    """Standard normal heights, (rate, draw), with the correlations of the rates' influences.

    What no influence tells of a rate without an error has heights of its own, the same at all levels.
    """
    influence = np.stack([place.influence for place in places], 1)
    n = n or int(np.clip(MULTIPLIERS // max(len(influence), 4 * len(places[0].law.rate)), DRAWS, 5 * DRAWS))
    entry, unseen = [place.entry for place in places], np.array([place.unseen for place in places])
    even = np.tile(ndtri((np.arange(n) + 0.5) / n), (max(entry) + 1, 1))
    own = np.random.default_rng([1, turn]).permuted(even, axis=1)[entry]
    total = own * unseen[:, None]
    for number, begin in enumerate(range(0, len(influence), UNITS_AT_ONCE)):
        part = influence[begin : begin + UNITS_AT_ONCE]
        multipliers = np.random.default_rng([0, number]).standard_normal((len(part), n), np.float32)
        total += part.T @ multipliers
    length = np.sqrt((influence**2).sum(0) + unseen**2)[:, None]
    return np.divide(total, length, out=own, where=length > 0)


def drawn_values(evaluation: xr.DataTree, chosen: Measure, target: str, place: int = 0) -> Values:
    """A measure of the rates, and of draws from their joint law, whose centre is the estimate."""
    data = evaluation["empirical"].to_dataset()
    held = tuple(name for name in RATES if name in data and name != "threshold")
    drawn = draws(evaluation, rates_read(chosen, data, held) or held, target, place=place)
    estimate = chosen(data)
    try:
        return Values(estimate, estimate, chosen(drawn))
    except (KeyError, AttributeError, InputError) as error:
        message = f"method='influence' is for measures of {', '.join(RATES)}; {chosen.name!r} reads something else"
        raise InputError(message) from error
