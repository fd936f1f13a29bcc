"""Bands, normalised uncertainty and the fan of replicates of one evaluation.

The default rests on effective numbers of comparisons (`frkit.intervals.effective`). The methods of
Conti & Clémençon (2024), section 3.2, go from replicates to the ends of an interval: functions of
(values, level, scale) in `FROM_REPLICATES`.
"""

from collections.abc import Callable

import numpy as np
import xarray as xr
from scipy import stats
from scipy.special import expit, logit, ndtri

from frkit.base import (
    FAR_LEVEL,
    REPLICATE,
    THRESHOLD_LEVEL,
    InputError,
    require,
    require_inside,
    require_one_of,
)
from frkit.intervals.contributions import NEW_PEOPLE
from frkit.intervals.effective import RATES, added_to, effective_rates, jeffreys
from frkit.intervals.equality import disparity, lines_of
from frkit.intervals.reading import (
    Values,
    attributes,
    provenance,
    tails,
    values_of,
    warn_of,
    with_fair,
    with_resolved,
)
from frkit.measures.registry import LOG_SCALE, Measure, can_be_had, rates_read
from frkit.measures.registry import measure as find_measure

EFFECTIVE = "effective"
MOVED = (*RATES, "threshold")  # what people move
Ends = tuple[xr.DataArray, xr.DataArray]
AnyMeasure = str | Callable[[xr.Dataset], xr.DataArray] | Measure


# --- ends from replicates: functions of (values, level, scale) -----------------------------------------------


def naive(values: Values, level: float, _scale: str) -> Ends:
    """The quantiles of θ*."""
    return quantiles(values.replicates, tails(level))


def recentered(values: Values, level: float, _scale: str) -> Ends:
    """θ plus the quantiles of θ* - θ~."""
    return quantiles(values.estimate + (values.replicates - values.centre), tails(level))


def gaussian(values: Values, level: float, _scale: str) -> Ends:
    """Normal quantiles at the mean and standard deviation of θ + (θ* - θ~)."""
    moved = values.estimate + (values.replicates - values.centre)
    mean, sd = moved.mean(REPLICATE), moved.std(REPLICATE, ddof=1)
    lower, upper = (mean + ndtri(tail) * sd for tail in tails(level))
    return lower, upper


def pivotal(values: Values, level: float, scale: str) -> Ends:
    """θ minus the opposite quantiles of θ* - θ~, on the measure's scale."""
    if scale == LOG_SCALE:
        lower, upper = pivotal(Values(*map(logarithm, values)), level, "")
        return np.exp(lower), np.exp(upper)
    lower, upper = quantiles(values.replicates - values.centre, tails(level))
    return values.estimate - upper, values.estimate - lower


FROM_REPLICATES = {method.__name__: method for method in (recentered, naive, gaussian, pivotal)}


def interval(values: Values, method: str, level: float, scale: str) -> xr.Dataset:
    """Estimate, ends and centre of one method, and how many replicates are not finite."""
    with np.errstate(invalid="ignore"):
        lower, upper = FROM_REPLICATES[method](values, level, scale)
    known = {"estimate": values.estimate, "lower": lower, "upper": upper, "centre": values.centre}
    return xr.Dataset({**known, "n_nonfinite": (~np.isfinite(values.replicates)).sum(REPLICATE)})


def logarithm(values: xr.DataArray) -> xr.DataArray:
    """The logarithm, with log 0 = -inf said without NumPy's warning."""
    with np.errstate(divide="ignore"):
        return np.log(values)


def quantiles(values: xr.DataArray, at: tuple[float, float]) -> Ends:
    """Two quantiles over replicates, NumPy's default (type 7); NaN are left out, infinite values keep their rank."""
    both = xr.apply_ufunc(
        _quantile_pair,
        values,
        kwargs={"at": at},
        input_core_dims=[[REPLICATE]],
        output_core_dims=[["end"]],
    )
    return both.isel(end=0), both.isel(end=1)


def _quantile_pair(values: np.ndarray, at: tuple[float, float]) -> np.ndarray:
    """Quantiles along the last axis."""
    if np.isfinite(values).all():
        return np.moveaxis(np.quantile(values, at, axis=-1), 0, -1)
    return np.apply_along_axis(_row_quantiles, -1, values, at)


def _row_quantiles(row: np.ndarray, at: tuple[float, float]) -> np.ndarray:
    """Quantiles of one row; between a finite value and an infinite one lies the infinite one."""
    row = row[~np.isnan(row)]
    if row.size == 0:
        return np.full(2, np.nan)
    below, above = (np.quantile(row, at, method=side) for side in ("lower", "higher"))
    # between both infinities the end lies outwards, whatever the weights: nothing is known there
    infinite = np.where(
        np.isinf(below) & (np.isfinite(above) | (np.asarray(at) < 0.5)), below, above
    )
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite([below, above]).all(0), np.quantile(row, at), infinite)


# --- ends from effective numbers -----------------------------------------------------------------


def effective(evaluation: xr.DataTree, chosen: Measure, level: float, target: str) -> xr.Dataset:
    """Ends from effective numbers of comparisons: of a rate, a disparity, or a function of rates."""
    data = evaluation["empirical"].to_dataset()
    if chosen.name in RATES:
        return rate_interval(evaluation, chosen.name, level, target)
    if chosen.fair is not None and lines_of(chosen, data):
        return disparity(evaluation, chosen, level, target)
    estimate, sd, df, _ = linearised(evaluation, chosen, target)
    there, back = scale_of(chosen)
    reach = stats.t.ppf((1 + level) / 2, df) * sd
    lower, upper = back(there(estimate) - reach), back(there(estimate) + reach)
    return xr.Dataset({"estimate": estimate, "lower": lower, "upper": upper})


def rate_interval(evaluation: xr.DataTree, name: str, level: float, target: str) -> xr.Dataset:
    """Jeffreys' interval of a rate with its effective number of comparisons."""
    found = effective_rates(evaluation, name, target, level=level)
    estimate = found.estimate
    error = 1 - estimate if name.startswith("auc") else estimate
    lower, upper = (
        xr.DataArray(end, estimate.coords, estimate.dims)
        for end in jeffreys(error.values, found.n_effective.values, level)
    )
    if name.startswith("auc"):
        lower, upper = 1 - upper, 1 - lower
    return found[["estimate", "n_effective"]].assign(lower=lower, upper=upper)


def linearised(evaluation: xr.DataTree, chosen: Measure, target: str) -> tuple:
    """Estimate, standard deviation on the measure's scale, degrees of freedom and what units add.

    All rates are moved a little the way that each unit moves them: what the measure does then is
    what the unit adds to it (the delta method). The noise of single pairs of people is in it twice,
    so that intervals are rather too wide.
    """
    data = evaluation["empirical"].to_dataset()
    there, _ = scale_of(chosen)
    step = 1e-4
    names = rates_read(chosen, data, MOVED)
    moved = {name: _moved(evaluation, name, target, step) for name in names}
    whole = chosen(data)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_units = (there(chosen(data.assign(moved))) - there(whole)) / step
    of_units = of_units.where(np.isfinite(of_units))
    sd = np.sqrt((of_units**2).sum(REPLICATE)).where(np.isfinite(there(whole)))
    first = added_to(evaluation, next(iter(moved)), target).ravel()[0]
    return whole, sd, max(first.people - 1, 1), of_units


def _moved(evaluation: xr.DataTree, name: str, target: str, step: float) -> xr.DataArray:
    """A rate that each unit has moved a little, over `replicate`."""
    estimate = evaluation["empirical"][name]
    added = added_to(evaluation, name, target)
    influence = np.stack([one.influence for one in added.ravel()], axis=1)
    influence = influence.reshape(-1, *added.shape)
    sign = -1 if name.startswith("auc") else 1
    if name == "threshold" and provenance(evaluation)["distance"]:
        sign = -1
    values = estimate.values + sign * step * influence
    return xr.DataArray(values, estimate.coords, (REPLICATE, *estimate.dims))


def scale_of(chosen: Measure) -> tuple[Callable, Callable]:
    """The scale on which a measure is compared, and the way back."""
    if chosen.scale == LOG_SCALE:
        return logarithm, np.exp
    return (lambda value: value), (lambda value: value)


# --- simultaneous bands --------------------------------------------------------------------------


def sup_t(evaluation: xr.DataTree, chosen: Measure, level: float, target: str) -> xr.Dataset:
    """Simultaneous band: at all resolved levels at once, from the largest height along the curve.

    Of a rate on the logit scale, of anything else on the measure's: estimate ± c sd, c being the
    quantile of the largest |z| of normal variables that correlate as what people add does.
    """
    data = evaluation["empirical"].to_dataset()
    estimate = chosen(data)
    along = [dim for dim in (FAR_LEVEL, THRESHOLD_LEVEL) if dim in estimate.dims]
    require(along, f"a simultaneous band runs over levels, but {chosen.name!r} has {estimate.dims}")
    resolved = data["resolved"] if "resolved" in data else estimate.notnull()
    result = effective(evaluation, chosen, level, target)
    if chosen.name in RATES:
        n = result.n_effective
        middle = (estimate * n + 0.5) / (n + 1)
        sd, there, back = 1 / np.sqrt(n * middle * (1 - middle)), logit, expit
        of_units = _moved(evaluation, chosen.name, target, 1.0) - estimate
    else:
        there, back = scale_of(chosen)
        middle, sd, _, of_units = linearised(evaluation, chosen, target)
    critical = _critical(of_units, resolved, along[0], level)
    lower, upper = back(there(middle) - critical * sd), back(there(middle) + critical * sd)
    lower, upper = np.minimum(lower, estimate), np.maximum(upper, estimate)
    return result.assign(lower=lower, upper=upper, critical=critical)


def _critical(of_units: xr.DataArray, resolved: xr.DataArray, along: str, level: float):
    """The height that the largest |z| along the curve exceeds with probability 1 - level."""
    resolved = resolved & (of_units.std(REPLICATE) > 0)
    core = [[along, REPLICATE], [along]]
    return xr.apply_ufunc(
        _largest_height,
        of_units.fillna(0),
        resolved,
        input_core_dims=core,
        kwargs={"level": level},
        vectorize=True,
    )


def _largest_height(of_units: np.ndarray, resolved: np.ndarray, level: float) -> float:
    """Of (level, unit), at the resolved levels."""
    if not resolved.any():
        return float(ndtri((1 + level) / 2))
    heights = of_units[resolved] / np.linalg.norm(of_units[resolved], axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(heights @ heights.T)
    root = vectors * np.sqrt(np.maximum(values, 0))
    rng = np.random.Generator(np.random.SFC64(0))
    drawn = rng.standard_normal((10_000, len(root))) @ root.T
    return float(np.quantile(np.abs(drawn).max(1), level))


# --- which method is taken -----------------------------------------------------------------------

METHODS = (EFFECTIVE, *FROM_REPLICATES)
WITHOUT_REPLICATES = (EFFECTIVE,)


def choose(method: str | None, evaluation: xr.DataTree, chosen: Measure) -> tuple[str, str]:
    """The method to use, and why."""
    if method is not None:
        require_one_of("method", method, METHODS)
    children = evaluation.children if isinstance(evaluation, xr.DataTree) else ()
    require(
        "empirical" in children,
        "this is no evaluation: no node 'empirical'; pass what evaluate(...) returned",
    )
    data = evaluation["empirical"].to_dataset()
    chosen(data)  # says what it lacks
    if method is not None:
        return method, "named"
    if "people" in children and reads_rates(data, chosen):
        return EFFECTIVE, "a measure of rates, whose variance is known from what people add"
    rule = f"{chosen.name!r} reads more than rates, or people are not known: replicates are read"
    return "recentered" if chosen.fair is None else "pivotal", rule


def reads_rates(data: xr.Dataset, chosen: Measure) -> bool:
    """Whether a measure can be computed from rates alone."""
    return can_be_had(chosen, data[[name for name in MOVED if name in data]])


# --- for users -----------------------------------------------------------------------------------


def band(
    evaluation: xr.DataTree,
    measure: AnyMeasure,
    *,
    method: str | None = None,
    target: str | None = None,
    level: float = 0.95,
    simultaneous: bool = False,
) -> xr.Dataset:
    """Put an interval around a measure, at every FAR level, group and model of the evaluation.

    By default ("effective") the interval rests on an effective number of comparisons and reads no
    replicates. 13,173 genuine comparisons of 360 people are not 13,173 independent ones. A rate p
    whose variance over new people is v is worth n = p (1 - p) / v independent comparisons (Kish
    1965; Korn & Graubard 1998). v adds up what each person adds to the rate, the threshold's own
    error included; pairs of people are counted with both (Cameron, Gelbach & Miller 2011; Davezies
    et al. 2021; see also Fogliato, Patil & Perona 2024). Few people make most errors; where few of
    them were seen, n is drawn towards the number of people, as if two more could err. The interval
    is Jeffreys' for n trials (Brown, Cai & DasGupta 2001). Groups are compared by Pearson's
    chi-square with such n (Rao & Scott 1984): `p`. The interval of a disparity contains its values
    for all rates on the line from equal ones to those seen, and beyond, that this test accepts.
    Other functions of rates get estimate ± t standard errors (delta method).

    With replicates θ*, estimate θ and centre θ~ (the V-statistic where the scheme resamples
    images): "recentered", the paper's, gives θ + quantiles of (θ* - θ~); "naive" the quantiles of
    θ*; "gaussian" the normal quantiles at the mean and standard deviation of θ + (θ* - θ~);
    "pivotal" θ - the opposite quantiles of (θ* - θ~), on the log scale for ratios.

    Parameters
    ----------
    evaluation : what `evaluate(...)` returned.
    measure : a registered name such as "frr", or a function Dataset -> DataArray.
    method : one of the names above; None takes "effective" wherever rates alone are read, and
        replicates elsewhere ("recentered", or "pivotal" for a disparity); attrs["rule"] says why.
    target : whom the interval is about, for "effective": "new people" (default), other people from
        the same population, or "these people", new images of the people that are there. Other
        methods are about what their scheme draws.
    level : nominal coverage, in (0, 1).
    simultaneous : True gives one band for the whole curve (sup-t): the truth lies inside at all
        resolved levels at once with the nominal probability.

    Returns
    -------
    xr.Dataset
        `estimate`, `lower`, `upper`; of a rate `n_effective`; of a disparity of one rate
        `n_effective` (of all groups together); of a disparity `p` (of equal groups) and
        `includes_fair` (the band reaches the value of a fair model); where replicates are read
        `centre` and `n_nonfinite` (replicates that are not finite); for curves `resolved` (at least
        ten errors); over the measure's dimensions. A ratio has no upper end (inf) where a group has
        no error. The attrs name measure, method, level and target.

    Raises
    ------
    InputError
        A method that reads replicates where there are none; an unknown method, target or measure; a
        level outside (0, 1); simultaneous=True for a measure that does not run over levels, or
        together with a method; target="these people" for scores that are not a whole square.

    Warns
    -----
    DataWarning
        Few images per identity, levels below the resolution of the data, unresolved levels.

    References
    ----------
    Kish (1965), Survey sampling. Korn & Graubard (1998), Survey Methodology 24. Brown, Cai &
    DasGupta (2001), Statistical Science 16. Rao & Scott (1984), Annals of Statistics 12. Cameron,
    Gelbach & Miller (2011), JBES 29. Davezies, D'Haultfoeuille & Guyonvarch (2021), Annals of
    Statistics 49. Fogliato, Patil & Perona (2024). Conti & Clémençon (2024), Algorithms 1 and 2 and
    eq. 10; appendix B.1 for the gaussian variant.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> scores = fk.score_tensor(faces)
    >>> ev = fk.evaluate(scores, far=[0.1, 0.2], resampling=fk.Resampling("image", n=50))
    >>> fk.band(ev, "frr").attrs["method"]
    'effective'
    >>> fk.band(ev, "frr", method="recentered").attrs["target"]
    'these 20 identities, new images'
    """
    chosen = find_measure(measure)
    require(
        method is None or not simultaneous,
        "a simultaneous band has a method of its own: leave method out",
    )
    require_inside("level", level, 0, 1)
    method, rule = choose(method, evaluation, chosen)
    data = evaluation["empirical"].to_dataset()
    given = chosen.name == "threshold" and FAR_LEVEL not in data.coords
    require(
        not given,
        "these thresholds were given and do not vary; evaluate at far=... for those of FAR levels",
    )
    target = NEW_PEOPLE if target is None else target
    if simultaneous and method == EFFECTIVE:
        result = sup_t(evaluation, chosen, level, target)
    elif simultaneous:
        raise InputError(f"{chosen.name!r} has no simultaneous band: it is no measure of rates")
    elif method == EFFECTIVE:
        result = effective(evaluation, chosen, level, target)
    else:
        values = values_of(evaluation, chosen)
        result = interval(values, method, level, chosen.scale)
    result = with_fair(with_resolved(result, chosen, evaluation), chosen)
    about = target if method == EFFECTIVE else None
    name = "sup-t" if simultaneous else method
    result.attrs = attributes(evaluation, chosen, name, level, about) | {"rule": rule}
    warn_of(evaluation, chosen, result)
    return result


def uncertainty(evaluation: xr.DataTree, measure: AnyMeasure) -> xr.DataArray:
    """Give the normalised uncertainty: sd(θ* - θ~) / θ, one number that compares measures and levels.

    Parameters
    ----------
    evaluation : what `evaluate(..., resampling=...)` returned.
    measure : a registered name such as "frr", or a function Dataset -> DataArray.

    Returns
    -------
    xr.DataArray over the measure's dimensions, without unit; NaN where the estimate is 0, and where a
    replicate is not finite. The standard deviation has n - 1 in its denominator.

    Raises
    ------
    InputError : no replicates in the evaluation, or an unknown measure.

    References
    ----------
    Conti & Clémençon (2024), eq. 11 and Algorithm 3.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> ev = fk.evaluate(fk.score_tensor(faces), far=[0.1], resampling=fk.Resampling("image", n=50))
    >>> bool(fk.uncertainty(ev, "frr")[0] > 0)
    True
    """
    chosen = find_measure(measure)
    estimate, centre, replicates = values_of(evaluation, chosen)
    finite = np.isfinite(replicates).all(REPLICATE)
    gap = (replicates - centre).where(finite)
    result = gap.std(REPLICATE, ddof=1, skipna=False) / estimate.where(estimate != 0)
    result = result.rename("uncertainty")
    result.attrs = attributes(evaluation, chosen, "standard deviation over estimate", None)
    return result


def fan(
    evaluation: xr.DataTree, measure: AnyMeasure = "frr", *, recentered: bool = False
) -> xr.Dataset:
    """Collect the replicate curves of a measure with their centre and the estimate, for a picture.

    Parameters
    ----------
    evaluation : what `evaluate(..., resampling=...)` returned.
    measure : a registered name such as "frr", or a function Dataset -> DataArray.
    recentered : False gives the replicates θ* as they are (Fig. 2), True gives θ + (θ* - θ~).

    Returns
    -------
    xr.Dataset with `estimate`, `centre` and `replicates`, the last one over `replicate` too.

    Raises
    ------
    InputError : no replicates in the evaluation, or an unknown measure.

    References
    ----------
    Conti & Clémençon (2024), Fig. 2 and section 3.2.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> ev = fk.evaluate(fk.score_tensor(faces), far=[0.1], resampling=fk.Resampling("image", n=50))
    >>> fk.fan(ev).replicates.sizes["replicate"]
    50
    """
    chosen = find_measure(measure)
    estimate, centre, replicates = values_of(evaluation, chosen)
    curves = (replicates - centre) + estimate if recentered else replicates
    result = xr.Dataset({"estimate": estimate, "centre": centre, "replicates": curves})
    result = with_resolved(result, chosen, evaluation)
    result.attrs = attributes(evaluation, chosen, "recentered" if recentered else "naive", None)
    return result
