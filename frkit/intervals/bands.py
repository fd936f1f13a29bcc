"""Bands, normalised uncertainty and the fan of replicates of one evaluation, and the methods by which they are made.

A method goes from the estimate, the centre and the replicates of a measure to the ends of an interval. A new one is a
function of (values, level, scale) in `FROM_REPLICATES`, or one of (evaluation, measure, level, target) in `INTERVALS`;
`choose` says which is taken. Formulas in Conti & Clémençon (2024), section 3.2.
"""

from collections.abc import Callable

import numpy as np
import xarray as xr
from scipy.special import ndtri

from frkit.base import FAR_LEVEL, REPLICATE, THRESHOLD_LEVEL, require, require_inside, require_one_of
from frkit.intervals.influence import NEW_PEOPLE, THESE_PEOPLE
from frkit.intervals.inversion import MOMENTS, inverted
from frkit.intervals.joint import RATES, drawn_values, ends
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
from frkit.resampling import OF_THESE_PEOPLE

PAIRS_OF = dict.fromkeys(("frr", "frr_group"), "genuine") | dict.fromkeys(("far", "far_group", "far_cross"), "impostor")
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
        _quantile_pair, values, kwargs={"at": at}, input_core_dims=[[REPLICATE]], output_core_dims=[["end"]]
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
    infinite = np.where(np.isinf(below) & (np.isfinite(above) | (np.asarray(at) < 0.5)), below, above)
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite([below, above]).all(0), np.quantile(row, at), infinite)


# --- methods: functions of (evaluation, measure, level, target) that give the whole interval -------------------


def _from_replicates(method: str) -> Callable[[xr.DataTree, Measure, float, str], xr.Dataset]:
    """The method of an evaluation that takes its ends from replicates."""
    return lambda evaluation, chosen, level, _target: interval(
        values_of(evaluation, chosen), method, level, chosen.scale
    )


def influence(evaluation: xr.DataTree, chosen: Measure, level: float, target: str) -> xr.Dataset:
    """Ends of a rate from its own law; of any other measure of rates the quantiles of draws from their joint law."""
    data = evaluation["empirical"].to_dataset()
    if chosen.name in data and chosen.name in RATES:
        lower, upper = ends(evaluation, chosen.name, level, target)
        return xr.Dataset({"estimate": data[chosen.name], "lower": lower, "upper": upper})
    return interval(drawn_values(evaluation, chosen, target), "naive", level, "")[["estimate", "lower", "upper"]]


INTERVALS = {name: _from_replicates(name) for name in FROM_REPLICATES}
INTERVALS |= {"influence": influence, "inverted": inverted}
METHODS = tuple(INTERVALS)
WITHOUT_REPLICATES = ("influence", "inverted")


def values_by(method: str, evaluation: xr.DataTree, chosen: Measure, target: str, place: int = 0) -> Values:
    """A measure with draws from the joint law of the rates, or with replicates, whichever a method reads."""
    if method in WITHOUT_REPLICATES:
        return drawn_values(evaluation, chosen, target, place)
    return values_of(evaluation, chosen)


def sup_t(evaluation: xr.DataTree, chosen: Measure, method: str, level: float, target: str) -> xr.Dataset:
    """Simultaneous band: at all resolved levels at once, from the largest height along the curve.

    Of a rate by its own laws; of anything else estimate ± c sd on a scale, c the quantile of the largest |z|.
    """
    data = evaluation["empirical"].to_dataset()
    estimate = chosen(data)
    along = [dim for dim in (FAR_LEVEL, THRESHOLD_LEVEL) if dim in estimate.dims]
    require(along, f"a simultaneous band runs over levels, but {chosen.name!r} has {estimate.dims}")
    resolved = data["resolved"] if "resolved" in data else estimate.notnull()
    if method == "influence" and chosen.name in RATES:
        lower, upper = ends(evaluation, chosen.name, level, target, resolved)
        return xr.Dataset({"estimate": estimate, "lower": lower, "upper": upper})
    values = values_by(method, evaluation, chosen, target)
    result = interval(values, "recentered", level, chosen.scale)
    there, back = _even_scale(evaluation, chosen)
    estimate, centre, replicates = map(there, values)
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = replicates - centre
        sd = gap.where(np.isfinite(gap)).std(REPLICATE, ddof=1)
        height = np.abs(gap / sd.where(sd > 0)).where(resolved)
    critical = height.max(along).quantile(level, REPLICATE, skipna=True).drop_vars("quantile")
    lower, upper = (back(estimate + sign * critical * sd) for sign in (-1, 1))
    return result.assign(lower=lower, upper=upper, critical=critical)


def _even_scale(evaluation: xr.DataTree, chosen: Measure) -> tuple[Callable, Callable]:
    """A scale on which replicates spread evenly along the curve, and the way back.

    √(rate + 3/(8N)) for rates of about N pairs, the logarithm for ratios, the measure itself for anything else.
    """
    if chosen.scale == LOG_SCALE:
        return logarithm, np.exp
    if chosen.name not in PAIRS_OF:
        return (lambda value: value), (lambda value: value)
    known, kind = provenance(evaluation), PAIRS_OF[chosen.name]
    n_pairs = known.get(f"n_{kind}_pairs")
    if n_pairs is None:
        n, per_identity = known["n_images"], known["n_images"] / known["n_identities"]
        n_pairs = n * (per_identity - 1) / 2 if kind == "genuine" else n * (n - per_identity) / 2
    shift = 3 / (8 * n_pairs)
    return (lambda rate: np.sqrt(rate + shift)), (lambda root: root * np.abs(root) - shift)


# --- which method is taken -----------------------------------------------------------------------------------


def choose(method: str | None, evaluation: xr.DataTree, chosen: Measure) -> tuple[str, str]:
    """The method to use, and why."""
    if method is not None:
        require_one_of("method", method, METHODS)
    children = evaluation.children if isinstance(evaluation, xr.DataTree) else ()
    require("empirical" in children, "this is no evaluation: no node 'empirical'; pass what evaluate(...) returned")
    data = evaluation["empirical"].to_dataset()
    chosen(data)  # says what it lacks
    if method is not None:
        return method, "named"
    if "influence" in children and reads_rates(data, chosen):
        if chosen.fair is None:
            return "influence", "a measure of rates, whose law is known from what each image adds to them"
        return "inverted", "a disparity of rates: a test of fairness and beyond, inverted"
    if chosen.dealt and rates_read(chosen, data, MOMENTS):
        return "inverted", "a disparity of means or standard deviations of scores: a test of fairness, inverted"
    rule = f"{chosen.name!r} reads more than FAR, FRR and EER, or images are not known: replicates tell how it varies"
    return "recentered" if chosen.fair is None else "pivotal", rule


def reads_rates(data: xr.Dataset, chosen: Measure) -> bool:
    """Whether a measure can be had from rates alone."""
    return can_be_had(chosen, data[[name for name in RATES if name in data]])


def target_of(evaluation: xr.DataTree, target: str | None) -> str:
    """Whose rates an interval is about: as asked, or else as the scheme of the replicates has it, or new people."""
    if target is not None:
        return target
    whole = "influence" not in evaluation.children or evaluation["influence"].attrs["complete"]
    return THESE_PEOPLE if provenance(evaluation).get("scheme") in OF_THESE_PEOPLE and whole else NEW_PEOPLE


# --- for users -----------------------------------------------------------------------------------------------


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

    Without a method the kit takes the one that held best in its coverage studies (notebook 4): "influence" for rates
    and what is made of them, "inverted" for disparity measures of rates, and for whatever else replicates tell
    "recentered", or "pivotal" for a disparity.

    - influence: no replicates. From what each image adds to the error rates come their variances, with the noise of
      single pairs counted once, the slope of the curve, and the ends of a shifted gamma law; a rate without an error
      gets [0, upper]. Other measures of rates are drawn from the joint law of all rates. Groups of fewer than 100
      people cannot tell how much their FAR varies over new people: they borrow the rest of it from all people. Fewer
      than 30 hardly show the worst of them: an unseen rejection of theirs weighs up to all pairs of a person. Where a
      few of 30 to 60 people look like many others, FAR over new people is held by .70 to .91 of its intervals only.
    - inverted: a disparity cannot fall below its fair value. Group rates are supposed λ times as far from each other
      as they were seen, and those λ are accepted at which the measure that was seen is no rarity. It never passes the
      fair value, and gives `p`, the p-value of fairness. A ratio has no upper end (inf) where a group has no error: its
      rate may be as near to 0 as one likes. Of unfair data sets in which one group had no error max/min held in 95 of
      103 for these people and 67 of 71 for new ones; where none of its pairs was accepted, in 6 of 11 and 4 of 4.
    - With replicates θ*, estimate θ and centre θ~ (the V-statistic where the scheme resamples images): recentered, the
      paper's, gives θ + quantiles of (θ* - θ~); naive the quantiles of θ*; gaussian the normal quantiles at the mean
      and standard deviation of θ + (θ* - θ~); pivotal θ - the opposite quantiles of (θ* - θ~), on the log scale for
      ratios.

    Parameters
    ----------
    evaluation : what `evaluate(...)` returned.
    measure : a registered name such as "frr", or a function Dataset -> DataArray.
    method : one of the names above; None takes what held best, and attrs["rule"] says why.
    target : "new people", or "these people" (new images of the people that are there), for methods without replicates;
        None takes that of the scheme of the replicates, and new people where there are none. Other methods are about
        what their scheme draws.
    level : nominal coverage, in (0, 1).
    simultaneous : True gives one band for the whole curve (sup-t): the truth lies inside at all resolved
        levels at once with the nominal probability.

    Returns
    -------
    xr.Dataset with `estimate`, `lower`, `upper`, where replicates are read `centre` and `n_nonfinite` (replicates that
    are not finite), for inverted `p`, and, for curves, `resolved` (at least ten errors), over the measure's dimensions.
    A disparity measure also has `includes_fair`: the band reaches the value of a fair model, or an end lies beyond it;
    missing where an end is. Replicates that are NaN are left out of the interval with a warning; infinite ones count as
    larger than any number. The attrs name measure, method, level, in words whose rates the band is about (target), and
    scheme and n of the replicates that were read.

    Raises
    ------
    InputError : a method that reads replicates where there are none; an unknown method, target or measure; a level
        outside (0, 1); simultaneous=True for a measure that does not run over levels, or together with a method;
        target="these people" for scores that are not a whole square.

    Warns
    -----
    DataWarning : few images per identity, levels below the resolution of the data, unresolved levels.

    References
    ----------
    Conti & Clémençon (2024), Algorithms 1 and 2 and eq. 10; appendix B.1 for the gaussian variant.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> scores = fk.score_tensor(faces)
    >>> ev = fk.evaluate(scores, far=[0.1, 0.2], resampling=fk.Resampling("image", n=50))
    >>> fk.band(ev, "frr", target="new people").attrs["method"]
    'influence'
    >>> fk.band(ev, "frr", method="recentered").attrs["target"]
    'these 20 identities, new images'
    """
    chosen = find_measure(measure)
    require(method is None or not simultaneous, "a simultaneous band has a method of its own: leave method out")
    require_inside("level", level, 0, 1)
    method, rule = choose(method, evaluation, chosen)
    data = evaluation["empirical"].to_dataset()
    given = chosen.name == "threshold" and FAR_LEVEL not in data.coords
    require(not given, "these thresholds were given and do not vary; evaluate at far=... for those of FAR levels")
    target = target_of(evaluation, target)
    if simultaneous:
        result = sup_t(evaluation, chosen, method, level, target)
    else:
        result = INTERVALS[method](evaluation, chosen, level, target)
    result = with_fair(with_resolved(result, chosen, evaluation), chosen)
    of = target if method in WITHOUT_REPLICATES and reads_rates(data, chosen) else None
    result.attrs = attributes(evaluation, chosen, "sup-t" if simultaneous else method, level, of) | {"rule": rule}
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


def fan(evaluation: xr.DataTree, measure: AnyMeasure = "frr", *, recentered: bool = False) -> xr.Dataset:
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
