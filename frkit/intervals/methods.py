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

from frkit.base import FAR_LEVEL, REPLICATE, THRESHOLD_LEVEL, InputError, require
from frkit.intervals.reading import GENUINE_RATES, IMPOSTOR_RATES, Values, provenance, values_of, with_resolved
from frkit.measures.registry import LOG_SCALE, Measure

AUTO, CORRECTED = "auto", "corrected"
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


def _from_replicates(method: str) -> Callable[[xr.DataTree, Measure, float], xr.Dataset]:
    """The method of an evaluation that takes its ends from replicates."""
    return lambda evaluation, chosen, level: interval(
        values_of(evaluation, chosen, method), method, level, chosen.scale
    )


def corrected(evaluation: xr.DataTree, chosen: Measure, level: float) -> xr.Dataset:
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


INTERVALS = {name: _from_replicates(name) for name in FROM_REPLICATES} | {CORRECTED: corrected}
METHODS = (*INTERVALS, AUTO)


def sup_t(evaluation: xr.DataTree, chosen: Measure, level: float) -> xr.Dataset:
    """Simultaneous band: estimate ± c sd on a scale, c the quantile of the largest |z| over resolved levels."""
    values = values_of(evaluation, chosen)
    result = interval(values, "recentered", level, chosen.scale)
    along = [dim for dim in (FAR_LEVEL, THRESHOLD_LEVEL) if dim in values.estimate.dims]
    require(along, f"a simultaneous band runs over levels, but {chosen.name!r} has {values.estimate.dims}")
    there, back = _even_scale(evaluation, chosen)
    estimate, centre, replicates = map(there, values)
    resolved = with_resolved(result, evaluation).get("resolved", estimate.notnull())
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


def choose(method: str | None, evaluation: xr.DataTree, chosen: Measure, *, paired: bool = False) -> tuple[str, str]:
    """The method to use, and why; paired: for the difference of two evaluations, which has no corrected interval."""
    require(method is None or method in METHODS, f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if method == AUTO:
        return _recommended(evaluation, chosen, paired)
    if method is None:
        return ("recentered" if chosen.fair is None else "pivotal"), "the default of the measure"
    require(
        not paired or method != CORRECTED,
        "method='corrected' is for the rates of one model; for a difference take method='auto' or 'rescaled'",
    )
    return method, "named"


def _recommended(evaluation: xr.DataTree, chosen: Measure, paired: bool) -> tuple[str, str]:
    """The rule of method="auto", in the words of `band`."""
    if chosen.fair is not None:
        return "pivotal", "a disparity measure"
    known = provenance(evaluation)
    if not known.get("copies", False):
        return "recentered", f"replicates of the {known.get('scheme')} scheme hold no copies of images"
    if not paired and not obstacle(evaluation, chosen.name):
        few, _, many = known["images_per_identity"]
        return CORRECTED, f"{chosen.name} with its variance over draws of images, {few:g} to {many:g} per identity"
    if chosen.name in ("threshold", *IMPOSTOR_RATES):
        return "recentered", f"{chosen.name} reads no FRR, which alone has copies of images"
    try:
        values_of(evaluation, chosen, "rescaled")
    except InputError:
        return "recentered", f"{chosen.name} does not read FAR and FRR alone"
    return "rescaled", f"{chosen.name} reads FAR and FRR, and its variance over draws of images is not known"
