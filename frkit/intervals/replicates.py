"""Intervals from replicates: the methods of Conti & Clémençon (2024), section 3.2.

Each goes from an estimate θ, the centre θ~ and replicates θ* to the two ends of an interval.
"""

import warnings

import numpy as np
import xarray as xr
from scipy.special import ndtri

from frkit.base import require
from frkit.evaluation.nodes import provenance_of
from frkit.intervals.effective import logarithm
from frkit.intervals.reading import data_of
from frkit.measures.registry import LOG_SCALE
from frkit.resampling import SCHEMES

MOSTLY = 0.5  # share of the replicates that an interval needs: the others lack the group


def interval(values, method, level, scale):
    """Estimate, ends and centre of one method, and how many replicates are not finite.

    The ends are NaN where most replicates have no value, as for a group of two people.
    """
    with np.errstate(invalid="ignore"):
        lower, upper = FROM_REPLICATES[method](values, level, scale)
    present = values.replicates.notnull().mean("replicate") > MOSTLY
    lower = lower.where(present)
    upper = upper.where(present)
    result = {
        "estimate": values.estimate,
        "lower": lower,
        "upper": upper,
        "centre": values.centre,
        "n_nonfinite": (~np.isfinite(values.replicates)).sum("replicate"),
    }
    return xr.Dataset(result)


def recentered(values, level, _scale):
    """Algorithm 2: θ plus the quantiles of θ* - θ~."""
    return quantiles(values.estimate + (values.replicates - values.centre), tails(level))


def naive(values, level, _scale):
    """The quantiles of θ*."""
    return quantiles(values.replicates, tails(level))


def gaussian(values, level, _scale):
    """Normal quantiles at the mean and standard deviation of θ + (θ* - θ~), appendix B.1."""
    moved = values.estimate + (values.replicates - values.centre)
    mean = moved.mean("replicate")
    sd = moved.std("replicate", ddof=1)
    low, high = ndtri(tails(level))
    return mean + low * sd, mean + high * sd


def pivotal(values, level, scale):
    """θ minus the opposite quantiles of θ* - θ~, on the measure's scale."""
    if scale == LOG_SCALE:
        lower, upper = pivotal(logarithm(values), level, "")
        return np.exp(lower), np.exp(upper)
    lower, upper = quantiles(values.replicates - values.centre, tails(level))
    return values.estimate - upper, values.estimate - lower


FROM_REPLICATES = {method.__name__: method for method in (recentered, naive, gaussian, pivotal)}


def tails(level):
    """Probabilities of the two ends of an interval."""
    return np.array([(1 - level) / 2, (1 + level) / 2])


def quantiles(values, probabilities):
    """Two quantiles over replicates, NumPy's default (type 7), with the dims of the values.

    NaN are left out, infinite values keep their rank: where one of two neighbours is infinite,
    the quantile between them is, too; between both infinities it lies outwards.
    """
    values = values.transpose(..., "replicate")
    rows = values.values
    if np.isfinite(rows).all():
        low, high = np.quantile(rows, probabilities, axis=-1)
    else:
        with warnings.catch_warnings():  # of rows without a number: their quantiles are NaN
            warnings.simplefilter("ignore", RuntimeWarning)
            low, high = np.nanquantile(rows, probabilities, axis=-1)
            below = np.nanquantile(rows, probabilities[0], axis=-1, method="lower")
            above = np.nanquantile(rows, probabilities[1], axis=-1, method="higher")
        low = np.where(np.isnan(low), below, low)
        high = np.where(np.isnan(high), above, high)
    template = values.isel(replicate=0, drop=True)
    return [template.copy(data=ends) for ends in (low, high)]


# --- the three values of a measure ---------------------------------------------------------------


def values_of(evaluation, measure):
    """A measure of the data (`estimate`), the V-statistic (`centre`) and the `replicates`."""
    estimate = measure(data_of(evaluation))
    require(
        "replicates" in evaluation.children,
        "this evaluation has no replicates: call evaluate(..., resampling=Resampling(...))",
    )
    provenance = provenance_of(evaluation)
    require(
        provenance.get("varies", True),
        "this scheme cannot vary these data: there is nothing to draw from but one image of each "
        "person on each side, one person in each stratum, or two people, so that every interval "
        "from these replicates would have width zero; draw more people with "
        "Resampling('identity', n=...), without strata, or name no method, which needs no "
        "replicates",
    )
    centre = measure(evaluation["vstatistic"].to_dataset())
    replicates = measure(evaluation["replicates"].to_dataset())
    n = replicates.sizes.get("replicate", 0)
    message = f"an interval needs at least 2 replicates, got {n}: ask for Resampling(..., n=200)"
    require(n >= 2, message)
    if measure.binned:
        centre = _centre_of_binned(centre, replicates, SCHEMES[provenance["scheme"]].pair_noise)
    return xr.Dataset({"estimate": estimate, "centre": centre, "replicates": replicates})


def _centre_of_binned(centre, replicates, pair_noise):
    """The centre of a measure of histograms, whose replicates are more biased than the estimate.

    The noise of single pairs moves scores to other bins, which always increases a divergence. A
    pair's count in a replicate is a product of two (or four) counts, so that this noise is
    `pair_noise` times as large there. The estimate has only that part of the bias: the centre moves
    towards the mean of the replicates accordingly.
    """
    mean = replicates.mean("replicate")
    return mean + (centre - mean) / pair_noise
