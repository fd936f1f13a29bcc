"""The corrected interval: each part of the noise counted once, on a scale on which the spread is even.

Resampling images spreads replicates too little where identities have few images (by about 1 - 1/n_k), and too widely
where pairs are nearly independent: the part of a pair's indicator that belongs to the pair alone counts three times.
With U the FRR at a fixed threshold, t* the threshold of a replicate, and FAR^, FRR^ the rates of the data,

    V = Var U + Var FAR^(t) · Var*(FRR^(t*)) / Var*(FAR^(t*)) + 2 Cov,

where Var U and Var FAR^(t) come from counts of pairs (`frr_variance`, `far_variance` of the evaluation), the quotient
is the squared slope of the ROC curve, and Cov the replicates' covariance of both parts, each scaled to its variance.
The ends are (√(θ + 3u/8) ± z √u / 2)² - 3u/8 with u = V/θ, the weight of one error (Anscombe's scale).
"""

import numpy as np
import xarray as xr
from scipy.special import ndtri

from frkit.base import REPLICATE, require
from frkit.intervals.arithmetic import Values

NEEDED = ("frr_variance", "far_variance")


def obstacle(evaluation: xr.DataTree, name: str) -> str:
    """Why the corrected interval of a measure cannot be had; empty where it can."""
    if name != "frr":
        return "it is known for 'frr' alone"
    if not set(NEEDED) <= set(evaluation["empirical"].data_vars):
        return (
            "the evaluation holds no variances over draws of images: that takes the image scheme and a square of scores"
        )
    return ""


def corrected(evaluation: xr.DataTree, name: str, values: Values, level: float) -> xr.Dataset:
    """Estimate, ends and centre of FRR, and how many replicates are not finite."""
    why_not = obstacle(evaluation, name)
    require(not why_not, f"method='corrected' does not fit {name!r} here: {why_not}. Take method='auto'")
    require(0 < level < 1, f"level must lie in (0, 1), got {level}")
    lower, upper = _root_ends(values.estimate, variance(evaluation), level)
    return xr.Dataset(
        {
            "estimate": values.estimate,
            "lower": lower,
            "upper": upper,
            "centre": values.centre,
            "n_nonfinite": (~np.isfinite(values.replicates)).sum(REPLICATE),
        }
    )


def variance(evaluation: xr.DataTree) -> xr.DataArray:
    """Variance of FRR at FAR levels or at fixed thresholds, over draws of images."""
    found, replicates = (evaluation[node].to_dataset() for node in ("empirical", "replicates"))
    if "frr_data" not in replicates:
        return found.frr_variance
    of_threshold, at_threshold = replicates.frr_data, replicates.frr_rescaled - replicates.frr_data
    scale = np.sqrt(_ratio(found.far_variance, replicates.far_data.var(REPLICATE, ddof=1)))
    own_scale = np.sqrt(_ratio(found.frr_variance, at_threshold.var(REPLICATE, ddof=1)))
    together = xr.cov(of_threshold, at_threshold, REPLICATE, ddof=1)
    moved = scale**2 * of_threshold.var(REPLICATE, ddof=1)
    return np.maximum(found.frr_variance + moved + 2 * scale * own_scale * together, 0)


def _ratio(wanted: xr.DataArray, had: xr.DataArray) -> xr.DataArray:
    """wanted / had, 0 where replicates do not move at all."""
    return xr.where(had > 0, wanted / had.where(had > 0, 1), 0)


def _root_ends(estimate: xr.DataArray, spread: xr.DataArray, level: float) -> tuple[xr.DataArray, xr.DataArray]:
    """Ends of a normal interval on the scale √(θ + 3u/8); an end may lie below 0."""
    one_error = spread / estimate.where(estimate > 0)
    one_error = one_error.fillna(0)
    root = np.sqrt(estimate + 3 / 8 * one_error)
    half = ndtri((1 + level) / 2) * np.sqrt(one_error) / 2
    return tuple(end * np.abs(end) - 3 / 8 * one_error for end in (root - half, root + half))
