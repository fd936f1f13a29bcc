"""The fair floor: what a disparity measure would print for a perfectly fair model, on these data."""

import numpy as np
import xarray as xr

from frkit.base import GROUP, REPLICATE, require
from frkit.intervals.bands import AnyMeasure
from frkit.intervals.methods import quantiles
from frkit.intervals.reading import attributes, values_of, warn_of, with_resolved
from frkit.measures.registry import Measure
from frkit.measures.registry import measure as find_measure

RATES = ("far_group", "frr_group", "far_cross", "eer_group", "impostor_sd_group", "genuine_sd_group")
PLACES = ("eer_threshold_group", "impostor_mean_group", "genuine_mean_group")
DEALT = "dealt"  # the node of an evaluation whose people, or scores, were dealt to groups at random
TIE = 1e-12  # a floor this close to the estimate reaches it
SIZES = {  # measured; see data/fairness_coverage.csv
    "image": "as a test at 5 % has size 0 to .03 (conservative)",
    "identity": "as a test at 5 % has size 0 to .14 (can be liberal)",
    "people": "deals people to groups at random: as a test exact where people could change groups",
    "scores": "deals scores to groups at random: as a test liberal where pairs share people",
}


def floor(evaluation: xr.DataTree, measure: AnyMeasure, *, level: float = 0.95) -> xr.Dataset:
    """Show what a perfectly fair model would print: the noise floor of a disparity measure.

    A disparity cannot fall below its fair value, so noise alone lifts it. Each group's replicate rates are
    divided by their own centre and multiplied by one rate for all groups (the mean over groups): such a
    model is fair by construction and as noisy as these data. The measure of its replicates is the floor.
    For SFI, CFI and DFI, which compare whole distributions, the people themselves are dealt to groups of the
    same sizes at random (the shuffle baseline); only an evaluation by `indices.evaluate` holds such deals.

    Parameters
    ----------
    evaluation : what `evaluate(..., by=..., resampling=...)` or `indices.evaluate` returned.
    measure : a disparity measure: a registered name such as "frr_max_geomean", or one registered by you
        with `fair=`. AUCs are made fair through 1 - AUC; means of scores and thresholds by a shift.
    level : the quantile of the floor that is given as `limit`, in (0, 1).

    Returns
    -------
    xr.Dataset with `estimate`, `median` and `limit` (quantiles of the floor, away from the fair value), `p`
    (share of the floor at least as far from the fair value as the estimate), `n_nonfinite` (replicates of the
    floor that are not finite) and `resolved`, over the measure's own dimensions. Infinite replicates count as
    the largest, NaN are left out. attrs["size"] says what `p` is worth as a test.

    Raises
    ------
    InputError : the measure has no fair value, there are no replicates or deals, or a level outside (0, 1).

    Warns
    -----
    DataWarning : as `band`.

    References
    ----------
    The same idea as the floor of SP (DeAlcala et al. 2023) and the shuffle baseline of DFI.

    Examples
    --------
    >>> import frkit as fk
    >>> fair = fk.vmf.mixture(20, 16, kappa=(20, 60), seed=0).rotated_copies()
    >>> how = dict(far=[0.1], by="group", resampling=fk.Resampling("image", n=50))
    >>> ev = fk.evaluate(fk.score_tensor(fair.sample(per_identity=6)), **how)
    >>> bool(fk.floor(ev, "frr_max_min").p[0] > 0.05)
    True
    """
    chosen = find_measure(measure)
    require(0 < level < 1, f"level must lie in (0, 1), got {level}")
    require(
        chosen.fair is not None,
        f"{chosen.name!r} has no fair value, so it has no floor; register a disparity measure with fair=",
    )
    if chosen.dealt:
        result = _against(*_dealt(evaluation, chosen), chosen.fair, level)
    else:
        estimate = values_of(evaluation, chosen).estimate
        fair = made_fair(evaluation)
        require(
            set(fair.data_vars) & {*RATES, *PLACES, "auc_group"},
            "a floor needs groups: evaluate with by='the name of an attribute'",
        )
        result = _against(estimate, _replicates(fair, chosen), chosen.fair, level)
    result = with_resolved(result, evaluation)
    result.attrs = attributes(evaluation, chosen, "fair floor", level)
    drawn = "image" if result.attrs.get("scheme") == "image" else "identity"
    result.attrs["size"] = SIZES[evaluation[DEALT].attrs["dealt"] if chosen.dealt else drawn]
    warn_of(evaluation, result)
    return result


def _dealt(evaluation: xr.DataTree, chosen: Measure) -> tuple[xr.DataArray, xr.DataArray]:
    """The measure of the data, and of all deals."""
    require(
        isinstance(evaluation, xr.DataTree) and DEALT in evaluation.children,
        f"the floor of {chosen.name!r} deals people to groups at random, which needs the scores: make the evaluation "
        "with fk.indices.evaluate(scores, by=..., deals=200)",
    )
    return chosen(evaluation["empirical"].to_dataset()), chosen(evaluation[DEALT].to_dataset())


def made_fair(evaluation: xr.DataTree) -> xr.Dataset:
    """The replicates of a model whose groups are all alike: what no longer differs is kept, the rest left out."""
    data, centre, replicates = (evaluation[node].to_dataset() for node in ("empirical", "vstatistic", "replicates"))
    kept = {name: value for name, value in replicates.items() if GROUP not in value.dims}
    with np.errstate(divide="ignore", invalid="ignore"):
        for name in set(replicates.data_vars) & set(RATES):
            kept[name] = replicates[name] / centre[name] * _common(data[name])
        for name in set(replicates.data_vars) & set(PLACES):
            kept[name] = replicates[name] - centre[name] + _common(data[name])
        if "auc_group" in replicates:
            ratio = (1 - replicates.auc_group) / (1 - centre.auc_group)
            kept["auc_group"] = 1 - ratio * (1 - _common(data.auc_group))
        if "frr_group" in kept and "frr" in kept:
            kept["frr"] = replicates.frr / centre.frr * _common(data.frr_group)
    return xr.Dataset(kept, coords=replicates.coords)


def _common(rates: xr.DataArray) -> xr.DataArray:
    """One rate for all groups."""
    return rates.mean([dim for dim in rates.dims if str(dim).endswith(GROUP)])


def _replicates(fair: xr.Dataset, chosen: Measure) -> xr.DataArray:
    """The measure of the fair replicates."""
    try:
        return chosen(fair)
    except (KeyError, AttributeError) as error:
        require(
            False,
            f"{chosen.name!r} reads {error.args[0]}, which cannot be made fair; a floor is known for "
            f"{', '.join((*RATES, *PLACES, 'auc_group'))}",
        )


def _against(estimate: xr.DataArray, replicates: xr.DataArray, fair: float, level: float) -> xr.Dataset:
    """Quantiles of the floor, counted away from the fair value, and how much of it reaches the estimate."""
    away = -1.0 if float((replicates - fair).where(np.isfinite(replicates)).sum()) < 0 else 1.0
    distance = away * (replicates - fair)
    median, limit = quantiles(distance, (0.5, level))
    known = distance.notnull()
    reached = ((distance >= away * (estimate - fair) - TIE) & known).sum(REPLICATE)
    share = reached / known.sum(REPLICATE).where(lambda n: n > 0)
    return xr.Dataset(
        {
            "estimate": estimate,
            "median": fair + away * median,
            "limit": fair + away * limit,
            "p": share.where(estimate.notnull()),
            "n_nonfinite": (~np.isfinite(replicates)).sum(REPLICATE),
        }
    )
