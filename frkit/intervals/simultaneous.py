"""Simultaneous bands: one band that holds the whole curve with the nominal probability (sup-t)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import xarray as xr

from frkit.base import FAR_LEVEL, REPLICATE, THRESHOLD_LEVEL, require
from frkit.intervals.arithmetic import Values, interval, logarithm
from frkit.intervals.nodes import provenance, with_resolved
from frkit.measures.registry import LOG_SCALE, Measure

GENUINE_RATES = ("frr", "frr_group")
IMPOSTOR_RATES = ("far", "far_group", "far_cross")
LEVEL_DIMENSIONS = (FAR_LEVEL, THRESHOLD_LEVEL)


class Scale(NamedTuple):
    """A scale on which the spread of replicates changes little along the curve, and the way back."""

    there: Callable[[xr.DataArray], xr.DataArray]
    back: Callable[[xr.DataArray], xr.DataArray]


def sup_t(evaluation: xr.DataTree, chosen: Measure, values: Values, level: float) -> xr.Dataset:
    """Ends of the sup-t band: estimate ± c sd on a scale, c the quantile of the largest |z| over resolved levels."""
    result = interval(values, "recentered", level, chosen.scale)
    along = [dim for dim in LEVEL_DIMENSIONS if dim in values.estimate.dims]
    require(along, f"a simultaneous band runs over levels, but {chosen.name!r} has {values.estimate.dims}")
    scale = scale_for(evaluation, chosen)
    estimate, centre, replicates = (scale.there(value) for value in values)
    resolved = with_resolved(result, evaluation).get("resolved", estimate.notnull())
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = replicates - centre
        sd = gap.where(np.isfinite(gap)).std(REPLICATE, ddof=1)
        height = np.abs(gap / sd.where(sd > 0)).where(resolved)
    largest = height.max(along)
    critical = largest.quantile(level, REPLICATE, skipna=True).drop_vars("quantile")
    lower, upper = (scale.back(estimate + sign * critical * sd) for sign in (-1, 1))
    return result.assign(lower=lower, upper=upper, critical=critical)


def scale_for(evaluation: xr.DataTree, chosen: Measure) -> Scale:
    """√(rate + 3/(8N)) for rates, the logarithm for ratios, the measure itself for anything else."""
    if chosen.scale == LOG_SCALE:
        return Scale(logarithm, np.exp)
    if chosen.name in GENUINE_RATES + IMPOSTOR_RATES:
        shift = 3 / (8 * _n_pairs(evaluation, chosen))
        return Scale(lambda rate: np.sqrt(rate + shift), lambda root: root * np.abs(root) - shift)
    return Scale(lambda value: value, lambda value: value)


def _n_pairs(evaluation: xr.DataTree, chosen: Measure) -> float:
    """About how many pairs a rate is the mean of."""
    known = provenance(evaluation)
    listed = known.get("n_genuine_pairs" if chosen.name in GENUINE_RATES else "n_impostor_pairs")
    if listed is not None:
        return listed
    n, per_identity = known["n_images"], known["n_images"] / known["n_identities"]
    return n * (per_identity - 1) / 2 if chosen.name in GENUINE_RATES else n * (n - per_identity) / 2
