"""The methods: from the estimate, the centre and the replicates of a measure to the ends of an interval.

A new method is a function of (values, level, scale) in `FROM_REPLICATES`, or one of (evaluation, measure, level) in
`INTERVALS`; `choose` says which is taken. Formulas in Conti & Clémençon (2024), section 3.2.

The corrected interval counts each part of the noise once, on a scale on which the spread is even.
Resampling images spreads replicates too little where identities have few images (by about 1 - 1/n_k), and too widely
where pairs are nearly independent: the part of a pair's indicator that belongs to the pair alone counts three times.
With U the FRR at a fixed threshold, t* the threshold of a replicate, and FAR^, FRR^ the rates of the data,

    V = Var U + Var FAR^(t) · Var*(FRR^(t*)) / Var*(FAR^(t*)) + 2 Cov,

where Var U and Var FAR^(t) come from counts of pairs (`frr_variance`, `far_variance` of the evaluation), the quotient
is the squared slope of the ROC curve, and Cov the replicates' covariance of both parts, each scaled to its variance.
The ends are (√(θ + 3u/8) ± z √u / 2)² - 3u/8 with u = V/θ, the weight of one error (Anscombe's scale).
"""

from collections.abc import Callable

import numpy as np
import xarray as xr
from scipy.special import ndtri

from frkit.base import FAR_LEVEL, MODEL, REPLICATE, THRESHOLD_LEVEL, InputError, require
from frkit.intervals.influence import NEW_PEOPLE, THESE_PEOPLE
from frkit.intervals.inversion import inverted
from frkit.intervals.joint import RATES, draws, ends
from frkit.intervals.reading import GENUINE_RATES, IMPOSTOR_RATES, Values, provenance, values_of
from frkit.measures.registry import LOG_SCALE, Measure

AUTO = "auto"
Ends = tuple[xr.DataArray, xr.DataArray]


# --- ends from replicates: functions of (values, level, scale) -----------------------------------------------


def naive(values: Values, level: float, _scale: str) -> Ends:
    """The quantiles of θ*."""
    return quantiles(values.replicates, _tails(level))


def recentered(values: Values, level: float, _scale: str) -> Ends:
    """θ plus the quantiles of θ* - θ~."""
    return quantiles(values.estimate + (values.replicates - values.centre), _tails(level))


def gaussian(values: Values, level: float, _scale: str) -> Ends:
    """Normal quantiles at the mean and standard deviation of θ + (θ* - θ~)."""
    moved = values.estimate + (values.replicates - values.centre)
    mean, sd = moved.mean(REPLICATE), moved.std(REPLICATE, ddof=1)
    lower, upper = (mean + ndtri(tail) * sd for tail in _tails(level))
    return lower, upper


def pivotal(values: Values, level: float, scale: str) -> Ends:
    """θ minus the opposite quantiles of θ* - θ~, on the measure's scale."""
    if scale == LOG_SCALE:
        lower, upper = pivotal(Values(*map(logarithm, values)), level, "")
        return np.exp(lower), np.exp(upper)
    lower, upper = quantiles(values.replicates - values.centre, _tails(level))
    return values.estimate - upper, values.estimate - lower


FROM_REPLICATES: dict[str, Callable[[Values, float, str], Ends]] = {
    "recentered": recentered,
    "naive": naive,
    "gaussian": gaussian,
    "pivotal": pivotal,
    "rescaled": recentered,  # of other replicates: see `values_of`
}


def interval(values: Values, method: str, level: float, scale: str) -> xr.Dataset:
    """Estimate, ends and centre of one method, and how many replicates are not finite."""
    require(0 < level < 1, f"level must lie in (0, 1), got {level}")
    with np.errstate(invalid="ignore"):
        return as_dataset(values, *FROM_REPLICATES[method](values, level, scale))


def as_dataset(values: Values, lower: xr.DataArray, upper: xr.DataArray) -> xr.Dataset:
    """What every interval consists of."""
    n_nonfinite = (~np.isfinite(values.replicates)).sum(REPLICATE)
    ends = {"estimate": values.estimate, "lower": lower, "upper": upper, "centre": values.centre}
    return xr.Dataset({**ends, "n_nonfinite": n_nonfinite})


def _tails(level: float) -> tuple[float, float]:
    return (1 - level) / 2, (1 + level) / 2


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
    below, above = np.quantile(row, at, method="lower"), np.quantile(row, at, method="higher")
    with np.errstate(invalid="ignore"):
        between = np.quantile(row, at)
    between = np.where(np.isposinf(above), above, between)
    between = np.where(np.isneginf(below), below, between)
    return np.where(below == above, below, between)


# --- methods: functions of (evaluation, measure, level) that give the whole interval --------------------------


def _from_replicates(method: str) -> Callable[[xr.DataTree, Measure, float, str], xr.Dataset]:
    """The method of an evaluation that takes its ends from replicates."""
    return lambda evaluation, chosen, level, _target: interval(
        values_of(evaluation, chosen, method), method, level, chosen.scale
    )


def influence(evaluation: xr.DataTree, chosen: Measure, level: float, target: str) -> xr.Dataset:
    """Ends of a rate from its own law; of any other measure of rates the quantiles of draws from their joint law."""
    require(0 < level < 1, f"level must lie in (0, 1), got {level}")
    data = evaluation["empirical"].to_dataset()
    if chosen.name in data and chosen.name in RATES:
        lower, upper = ends(evaluation, chosen.name, level, target)
        return xr.Dataset({"estimate": data[chosen.name], "lower": lower, "upper": upper})
    lower, upper = quantiles(drawn_measure(evaluation, chosen, target), _tails(level))
    return xr.Dataset({"estimate": chosen(data), "lower": lower, "upper": upper})


def drawn_measure(evaluation: xr.DataTree, chosen: Measure, target: str) -> xr.DataArray:
    """A measure of draws of the rates from their joint law, with `replicate`."""
    data = evaluation["empirical"].to_dataset()
    drawn = draws(evaluation, tuple(name for name in RATES if name in data and name != "threshold"), target)
    try:
        return chosen(drawn)
    except (KeyError, AttributeError, InputError) as error:
        message = f"method='influence' is for measures of {', '.join(RATES)}; {chosen.name!r} reads something else"
        raise InputError(message) from error


def corrected(evaluation: xr.DataTree, chosen: Measure, level: float, _target: str = "") -> xr.Dataset:
    """Normal ends on the root scale, with the variance that counts of pairs give; an end may lie below 0."""
    values = values_of(evaluation, chosen)
    why_not = obstacle(evaluation, chosen.name)
    require(not why_not, f"method='corrected' does not fit {chosen.name!r} here: {why_not}. Take method='auto'")
    require(0 < level < 1, f"level must lie in (0, 1), got {level}")
    one_error = (variance(evaluation) / values.estimate.where(values.estimate > 0)).fillna(0)
    root = np.sqrt(values.estimate + 3 / 8 * one_error)
    half = ndtri((1 + level) / 2) * np.sqrt(one_error) / 2
    return as_dataset(values, *(end * np.abs(end) - 3 / 8 * one_error for end in (root - half, root + half)))


def obstacle(evaluation: xr.DataTree, name: str) -> str:
    """Why the corrected interval of a measure cannot be had; empty where it can."""
    if name != "frr":
        return "it is known for 'frr' alone"
    if {"frr_variance", "far_variance"} <= set(evaluation["empirical"].data_vars):
        return ""
    return "the evaluation holds no variances over draws of images: that takes the image scheme and a square of scores"


def variance(evaluation: xr.DataTree) -> xr.DataArray:
    """Variance of FRR at FAR levels or at fixed thresholds, over draws of images."""
    data, replicates = (evaluation[node].to_dataset() for node in ("empirical", "replicates"))
    if "frr_data" not in replicates:
        return data.frr_variance
    of_threshold, at_threshold = replicates.frr_data, replicates.frr_rescaled - replicates.frr_data
    scale = np.sqrt(_ratio(data.far_variance, replicates.far_data.var(REPLICATE, ddof=1)))
    own_scale = np.sqrt(_ratio(data.frr_variance, at_threshold.var(REPLICATE, ddof=1)))
    together = xr.cov(of_threshold, at_threshold, REPLICATE, ddof=1)
    moved = scale**2 * of_threshold.var(REPLICATE, ddof=1)
    return np.maximum(data.frr_variance + moved + 2 * scale * own_scale * together, 0)


def _ratio(wanted: xr.DataArray, had: xr.DataArray) -> xr.DataArray:
    """wanted / had, 0 where replicates do not move at all."""
    return xr.where(had > 0, wanted / had.where(had > 0, 1), 0)


INTERVALS = {name: _from_replicates(name) for name in FROM_REPLICATES}
INTERVALS |= {"corrected": corrected, "influence": influence, "inverted": inverted}
METHODS = (*INTERVALS, AUTO)
WITHOUT_REPLICATES = ("influence", "inverted")


def sup_t(evaluation: xr.DataTree, chosen: Measure, level: float, target: str) -> xr.Dataset:
    """Simultaneous band: at all resolved levels at once, from the largest height along the curve.

    Of a rate by its own laws; of anything else estimate ± c sd on a scale, c the quantile of the largest |z|.
    """
    data, known = evaluation["empirical"].to_dataset(), "influence" in evaluation.children
    drawn = known and reads_rates(data, chosen)
    estimate = chosen(data)
    along = [dim for dim in (FAR_LEVEL, THRESHOLD_LEVEL) if dim in estimate.dims]
    require(along, f"a simultaneous band runs over levels, but {chosen.name!r} has {estimate.dims}")
    resolved = data["resolved"] if "resolved" in data else estimate.notnull()
    if known and chosen.name in RATES and chosen.name != "threshold" and MODEL not in resolved.dims:
        lower, upper = ends(evaluation, chosen.name, level, target, resolved.values)
        return xr.Dataset({"estimate": estimate, "lower": lower, "upper": upper})
    if drawn:
        values = Values(estimate, estimate, drawn_measure(evaluation, chosen, target))
    else:
        values = values_of(evaluation, chosen)
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
    if chosen.name not in GENUINE_RATES + IMPOSTOR_RATES:
        return (lambda value: value), (lambda value: value)
    known, kind = provenance(evaluation), "genuine" if chosen.name in GENUINE_RATES else "impostor"
    n_pairs = known.get(f"n_{kind}_pairs")
    if n_pairs is None:
        n, per_identity = known["n_images"], known["n_images"] / known["n_identities"]
        n_pairs = n * (per_identity - 1) / 2 if kind == "genuine" else n * (n - per_identity) / 2
    shift = 3 / (8 * n_pairs)
    return (lambda rate: np.sqrt(rate + shift)), (lambda root: root * np.abs(root) - shift)


# --- which method is taken -----------------------------------------------------------------------------------


def choose(method: str | None, evaluation: xr.DataTree, chosen: Measure) -> tuple[str, str]:
    """The method to use, and why."""
    require(method is None or method in METHODS, f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if method not in (None, AUTO):
        return method, "named"
    children = evaluation.children if isinstance(evaluation, xr.DataTree) else ()
    require("empirical" in children, "this is no evaluation: no node 'empirical'; pass what evaluate(...) returned")
    data, known = evaluation["empirical"].to_dataset(), "influence" in children
    if chosen.fair is None:
        if known and chosen.name in RATES:
            return "influence", "a rate, whose law is known from what each image adds to it"
        return "recentered", f"{chosen.name!r} is no rate: replicates tell how it varies"
    if known and reads_rates(data, chosen):
        return "inverted", "a disparity of rates: a test of fairness and beyond, inverted"
    return "pivotal", f"{chosen.name!r} reads more than FAR, FRR and EER: replicates tell how it varies"


def reads_rates(data: xr.Dataset, chosen: Measure) -> bool:
    """Whether a measure can be had from rates alone."""
    try:
        chosen(data[[name for name in RATES if name in data]])
    except (KeyError, AttributeError, InputError):
        return False
    return True


def target_of(evaluation: xr.DataTree, target: str | None) -> str:
    """Whose rates an interval is about: as asked, or else as the scheme of the replicates has it, or new people."""
    if target is not None:
        return target
    whole = "influence" not in evaluation.children or evaluation["influence"].attrs["complete"]
    return THESE_PEOPLE if provenance(evaluation).get("scheme") == "image" and whole else NEW_PEOPLE
