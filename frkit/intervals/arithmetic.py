"""Intervals from an estimate, its centre and its replicates: formulas that know nothing of evaluations."""

from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.special import ndtri

from frkit.base import REPLICATE, require
from frkit.measures.registry import LOG_SCALE


class Values(NamedTuple):
    """One measure on the three nodes of an evaluation."""

    estimate: xr.DataArray
    centre: xr.DataArray
    replicates: xr.DataArray


def interval(values: Values, method: str, level: float, scale: str) -> xr.Dataset:
    """Estimate, ends and centre of one method, and how many replicates are not finite."""
    require(0 < level < 1, f"level must lie in (0, 1), got {level}")
    ends = (1 - level) / 2, (1 + level) / 2
    with np.errstate(invalid="ignore"):
        lower, upper = _ends(values, method, ends, scale)
    return xr.Dataset(
        {
            "estimate": values.estimate,
            "lower": lower,
            "upper": upper,
            "centre": values.centre,
            "n_nonfinite": (~np.isfinite(values.replicates)).sum(REPLICATE),
        }
    )


def _ends(values: Values, method: str, at: tuple[float, float], scale: str) -> tuple:
    """Lower and upper end of one method; `at` holds the two probabilities."""
    estimate, centre, replicates = values
    if method == "naive":
        return quantiles(replicates, at)
    if method == "pivotal":
        return _pivotal(values, at, scale)
    recentered = estimate + (replicates - centre)
    if method in ("recentered", "rescaled"):
        return quantiles(recentered, at)
    mean, sd = recentered.mean(REPLICATE), recentered.std(REPLICATE, ddof=1)
    return mean + ndtri(at[0]) * sd, mean + ndtri(at[1]) * sd


def _pivotal(values: Values, at: tuple[float, float], scale: str) -> tuple[xr.DataArray, xr.DataArray]:
    """The pivotal interval: θ minus the opposite quantiles of θ* - θ~, on the measure's scale."""
    if scale == LOG_SCALE:
        estimate, centre, replicates = (logarithm(value) for value in values)
        lower, upper = quantiles(replicates - centre, at)
        return np.exp(estimate - upper), np.exp(estimate - lower)
    lower, upper = quantiles(values.replicates - values.centre, at)
    return values.estimate - upper, values.estimate - lower


def logarithm(values: xr.DataArray) -> xr.DataArray:
    """The logarithm, with log 0 = -inf said without NumPy's warning."""
    with np.errstate(divide="ignore"):
        return np.log(values)


def quantiles(values: xr.DataArray, at: tuple[float, float]) -> tuple[xr.DataArray, xr.DataArray]:
    """Two quantiles over the replicates, NumPy's default (type 7)."""
    both = xr.apply_ufunc(
        _quantile_pair,
        values,
        kwargs={"at": at},
        input_core_dims=[[REPLICATE]],
        output_core_dims=[["end"]],
    )
    return both.isel(end=0), both.isel(end=1)


def _quantile_pair(values: np.ndarray, at: tuple[float, float]) -> np.ndarray:
    """Quantiles along the last axis; infinite values keep their rank, NaN are left out."""
    if np.isfinite(values).all():
        return np.moveaxis(np.quantile(values, at, axis=-1), 0, -1)
    flat = values.reshape(-1, values.shape[-1])
    ends = np.array([_row_quantiles(row[~np.isnan(row)], at) for row in flat])
    return ends.reshape(*values.shape[:-1], 2)


def _row_quantiles(row: np.ndarray, at: tuple[float, float]) -> np.ndarray:
    """Quantiles of one row; between a finite value and an infinite one lies the infinite one."""
    if row.size == 0:
        return np.full(2, np.nan)
    below, above = np.quantile(row, at, method="lower"), np.quantile(row, at, method="higher")
    with np.errstate(invalid="ignore"):
        between = np.quantile(row, at)
    between = np.where(np.isposinf(above), above, between)
    between = np.where(np.isneginf(below), below, between)
    return np.where(below == above, below, between)
