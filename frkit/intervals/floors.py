"""The fair floor: what a disparity measure would print for a perfectly fair model, on these data.

Three ways to such a model: binomial draws of equal rates with the groups' effective numbers of
comparisons; where other things than rates are read, replicates whose group rates are divided by
their centre (`fair_replicates`); and people permuted between groups at random
(`frkit.intervals.permuted`), for whole score distributions and for N-Sigma.
"""

import numpy as np
import xarray as xr

from frkit.base import GROUP, REFERENCE_GROUP, REPLICATE, require, require_inside, require_one_of
from frkit.intervals.bands import AnyMeasure
from frkit.intervals.contributions import TARGETS
from frkit.intervals.equality import equal_draws, rates_of_line
from frkit.intervals.permuted import DEALT
from frkit.intervals.reading import NEW_PEOPLE, data_of, labelled, warn_of, with_resolved
from frkit.intervals.replicates import quantiles
from frkit.measures.registry import GROUP_RATES
from frkit.measures.registry import measure as find_measure

SHIFTED = ("eer_threshold_group", "impostor_mean_group", "genuine_mean_group")
SCALED = (*GROUP_RATES, "impostor_sd_group", "genuine_sd_group", "auc_group")
TIE = 1e-12  # a floor this close to the estimate reaches it
SIZES = {  # what `p` is worth as a test
    "rates": "the chi-square test of equal rates (Rao & Scott 1984)",
    "replicates": "as a test not counted: permutation_test is exact, for new people",
    "people": "assigns people to groups at random: exact where people could change groups",
    "scores": "assigns scores to groups at random: liberal where pairs share people",
}


def fair_floor(
    evaluation: xr.DataTree, measure: AnyMeasure, *, target: str | None = None, level: float = 0.95
) -> xr.Dataset:
    """Show what a perfectly fair model would print: the noise floor of a disparity measure.

    A disparity cannot fall below its fair value, so noise alone lifts it. Equal rates of all
    groups, with the groups' effective numbers of comparisons, are drawn 1,000 times from binomials:
    the measure of these draws is the floor. `p` is that of the chi-square test of equal rates, as
    in `band`. What is no rate comes from replicates, divided by their own centre and multiplied by
    the mean over groups. For SFI, CFI and DFI, which compare whole distributions, the people
    themselves are assigned to groups of the same sizes at random (the shuffle baseline); only an
    evaluation by `indices.evaluate` contains such assignments.

    Parameters
    ----------
    evaluation : xr.DataTree
        What `evaluate(..., by=...)` or `indices.evaluate` returned.
    measure : str or callable
        A disparity measure: a registered name such as "frr_max_geomean", or one registered by you
        with `fair=`. AUCs are made fair through 1 - AUC; means of scores and thresholds by a shift.
    target : {"new people", "these people"}, optional
        As in `band`.
    level : float
        The quantile of the floor that is given as `limit`, in (0, 1).

    Returns
    -------
    xr.Dataset
        `estimate`, `median` and `limit` (quantiles of the floor, away from the fair value), `p`,
        `n_nonfinite` (draws of the floor that are not finite) and `resolved`, over the measure's
        own dimensions; with effective numbers `n_effective`, that of all groups together. Infinite
        draws count as the largest, NaN are left out. attrs["size"] says what `p` is worth as a
        test, which `permutation_test` makes exact.

    Raises
    ------
    InputError
        The measure has no fair value, there are no replicates or random assignments where these
        are read, an unknown target, or a level outside (0, 1).

    Warns
    -----
    DataWarning
        As `band`.

    References
    ----------
    The same idea as the floor of SP (DeAlcala et al. 2023) and the shuffle baseline of DFI.

    Examples
    --------
    >>> import frkit as fk
    >>> fair = fk.vmf.mixture(20, 16, kappa=(10, 20), seed=0).rotated_copies()
    >>> scores = fk.score_tensor(fair.sample(per_identity=6))
    >>> ev = fk.evaluate(scores, far=[0.02], by="group")
    >>> bool(fk.fair_floor(ev, "frr_max_min").p[0] > 0.05)
    True
    """
    chosen = find_measure(measure)
    require_inside("level", level, 0, 1)
    require(
        chosen.fair is not None,
        f"{chosen.name!r} has no fair value, so it has no floor; register a disparity measure with "
        "fair=",
    )
    target = target or NEW_PEOPLE
    require_one_of("target", target, TARGETS)
    data = data_of(evaluation)
    estimate = chosen(data)  # raises if a variable is missing
    about = {}
    test = {}
    if chosen.dealt:
        require(
            DEALT in evaluation.children,
            f"the floor of {chosen.name!r} assigns people to groups at random, which needs the "
            "scores: make the evaluation with fk.indices.evaluate(scores, by=..., deals=200)",
        )
        permuted = evaluation[DEALT].to_dataset()
        draws = chosen(permuted)
        size = permuted.attrs["dealt"]
    elif "people" in evaluation.children and rates_of_line(chosen, data):
        draws, test = equal_draws(evaluation, chosen, target)
        about = {"target": target}
        size = "rates"
    else:
        require(
            "replicates" in evaluation.children,
            f"the floor of {chosen.name!r} needs replicates: "
            "evaluate(..., resampling=Resampling(...))",
        )
        nodes = ("empirical", "vstatistic", "replicates")
        draws = chosen(fair_replicates(*(evaluation[node].to_dataset() for node in nodes)))
        size = "replicates"
    result = against(estimate, draws, chosen.fair, level).assign(test)
    result = with_resolved(result, chosen, evaluation)
    attrs = {"level": level, "size": SIZES[size], **about}
    result = labelled(result, evaluation, chosen, "fair floor", **attrs)
    warn_of(evaluation, chosen, result)
    return result


def fair_replicates(data, centre, replicates):
    """Replicates in which groups differ by noise alone; what cannot be made fair is left out."""
    fair = {name: value for name, value in replicates.items() if GROUP not in value.dims}
    with np.errstate(divide="ignore", invalid="ignore"):
        for name in {*replicates} & {*SCALED, *SHIFTED}:
            common = _common(data[name])
            if name in SHIFTED:
                fair[name] = replicates[name] - centre[name] + common
            elif name == "auc_group":
                relative = (1 - replicates[name]) / (1 - centre[name])
                fair[name] = 1 - relative * (1 - common)
            else:  # a group without an error shows no noise: NaN
                relative = replicates[name] / centre[name].where(centre[name] > 0)
                most = 1 if name in GROUP_RATES else np.inf
                fair[name] = (relative * common).clip(max=most)
        if "frr_group" in fair and "frr" in fair:
            fair["frr"] = replicates.frr / centre.frr * _common(data.frr_group)
    return xr.Dataset(fair, coords=replicates.coords)


def _common(rates):
    """One rate for all groups."""
    return rates.mean({GROUP, REFERENCE_GROUP} & {*rates.dims})


def against(estimate, draws, fair, level):
    """Quantiles of the floor, away from the fair value, and how much of it reaches the estimate."""
    finite = np.isfinite(draws)
    mostly_below = float((draws - fair).where(finite).sum()) < 0
    away = -1.0 if mostly_below else 1.0
    distance = away * (draws - fair)
    median, limit = quantiles(distance, (0.5, level))
    n = distance.notnull().sum(REPLICATE)
    reached = (distance >= away * (estimate - fair) - TIE).sum(REPLICATE)
    p = (1 + reached) / (1 + n)
    result = {
        "estimate": estimate,
        "median": fair + away * median,
        "limit": fair + away * limit,
        "p": p.where(estimate.notnull() & (n > 0)),
        "n_nonfinite": (~finite).sum(REPLICATE),
    }
    return xr.Dataset(result)
