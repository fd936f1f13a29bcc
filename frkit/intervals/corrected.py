"""The corrected interval: each part of the noise counted once, on a scale on which the spread is even.

Resampling images spreads replicates too little where identities have few images (by about 1 - 1/n_k), and too widely
where pairs are nearly independent: the part of a pair's indicator that belongs to the pair alone counts three times.
With U the FRR at a fixed threshold, t* the threshold of a replicate, and FAR^, FRR^ the rates of the data,

    V = Var U + Var FAR^(t) · Var*(FRR^(t*)) / Var*(FAR^(t*)) + 2 Cov,

where Var U and Var FAR^(t) come from counts of pairs (`frr_variance`, `far_variance` of the evaluation), the quotient
is the squared slope of the ROC curve, and Cov the replicates' covariance of both parts, each scaled to its variance.
The ends are θ + u z² / 4 ± z √(V + 3u² / 8), those of √(x + 3/8) ± z / 2 for x = V / u² errors of weight u each. Where
all errors weigh the same u is V / θ; where the images per identity are unequal u is larger, for errors of identities
with few images weigh more: u = `frr_step` + (V - Var U) / θ.
"""

import numpy as np
import xarray as xr
from scipy.special import ndtri

from frkit.base import REPLICATE, require
from frkit.intervals.arithmetic import Values

NEEDED = ("frr_variance", "frr_step", "far_variance")


def obstacle(evaluation: xr.DataTree, name: str) -> str:
    """Why the corrected interval of a measure cannot be had; empty where it can."""
    if name != "frr":
        return "it is known for 'frr' alone"
    if not set(NEEDED) <= set(evaluation["empirical"].data_vars):
        return (
            "the evaluation holds no variances over draws of images, which take the image scheme and a square of scores"
        )
    return ""


def corrected(evaluation: xr.DataTree, name: str, values: Values, level: float) -> xr.Dataset:
    """Estimate, ends and centre of FRR, and how many replicates are not finite."""
    why_not = obstacle(evaluation, name)
    require(not why_not, f"method='corrected' does not fit {name!r} here: {why_not}. Take method='auto'")
    require(0 < level < 1, f"level must lie in (0, 1), got {level}")
    found, variance, z = evaluation["empirical"].to_dataset(), total_variance(evaluation), ndtri((1 + level) / 2)
    moved = xr.where(found.frr > 0, (variance - found.frr_variance) / found.frr, 0)
    step = np.maximum(found.frr_step + moved, 0)
    half = z * np.sqrt(variance + 3 / 8 * step**2)
    middle = values.estimate + step * z**2 / 4
    return xr.Dataset(
        {
            "estimate": values.estimate,
            "lower": middle - half,
            "upper": middle + half,
            "centre": values.centre,
            "n_nonfinite": (~np.isfinite(values.replicates)).sum(REPLICATE),
        }
    )


def total_variance(evaluation: xr.DataTree) -> xr.DataArray:
    """Variance of FRR over draws of images, at FAR levels or at fixed thresholds."""
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
