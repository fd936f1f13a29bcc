"""The fair floor: what a disparity measure would print for a perfectly fair model, on these data.

Three ways to such a model: binomial draws of equal rates with the groups' effective numbers of
comparisons; where other things than rates are read, replicates whose group rates are divided by
their centre (`made_fair`); and people dealt to groups at random (`frkit.intervals.deals`), for
whole score distributions and for N-Sigma.
"""

import numpy as np
import xarray as xr

from frkit.base import GROUP, REFERENCE_GROUP, REPLICATE, require, require_inside, require_one_of
from frkit.intervals.bands import AnyMeasure
from frkit.intervals.contributions import TARGETS
from frkit.intervals.deals import DEALT
from frkit.intervals.equality import equal_draws, rates_of_line
from frkit.intervals.reading import NEW_PEOPLE, data_of, labelled, warn_of, with_resolved
from frkit.intervals.replicates import quantiles
from frkit.measures.registry import GROUP_RATES
from frkit.measures.registry import measure as find_measure

SHIFTED = ("eer_threshold_group", "impostor_mean_group", "genuine_mean_group")  # to be fair
SCALED = (*GROUP_RATES, "impostor_sd_group", "genuine_sd_group", "auc_group")
MADE_FAIR = (*SCALED, *SHIFTED)
TIE = 1e-12  # a floor this close to the estimate reaches it
SIZES = {  # what `p` is worth as a test
    "rates": "the chi-square test of equal rates (Rao & Scott 1984)",
    "replicates": "as a test not counted: permutation_test is exact, for new people",
    "people": "deals people to groups at random: exact where people could change groups",
    "scores": "deals scores to groups at random: liberal where pairs share people",
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
    themselves are dealt to groups of the same sizes at random (the shuffle baseline); only an
    evaluation by `indices.evaluate` contains such deals.

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
        The measure has no fair value, there are no replicates or deals where these are read, an
        unknown target, or a level outside (0, 1).

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
    estimate = chosen(data)  # says what it lacks
    about, test = {}, {}
    if chosen.dealt:
        require(
            DEALT in evaluation.children,
            f"the floor of {chosen.name!r} deals people to groups at random, which needs the "
            "scores: make the evaluation with fk.indices.evaluate(scores, by=..., deals=200)",
        )
        draws, size = chosen(evaluation[DEALT].to_dataset()), evaluation[DEALT].attrs["dealt"]
    elif "people" in evaluation.children and rates_of_line(chosen, data):
        draws, test = equal_draws(evaluation, chosen, target)
        about, size = {"target": target}, "rates"
    else:
        draws, size = _of_fair_replicates(evaluation, chosen), "replicates"
    result = against(estimate, draws, chosen.fair, level).assign(test)
    result = with_resolved(result, chosen, evaluation)
    attrs = {"level": level, "size": SIZES[size], **about}
    result = labelled(result, evaluation, chosen, "fair floor", **attrs)
    warn_of(evaluation, chosen, result)
    return result


def _of_fair_replicates(evaluation, chosen):
    """The measure of replicates of a model whose groups are all alike."""
    require(
        "replicates" in evaluation.children,
        f"the floor of {chosen.name!r} needs replicates: evaluate(..., resampling=Resampling(...))",
    )
    nodes = ("empirical", "vstatistic", "replicates")
    return chosen(made_fair(*(evaluation[node].to_dataset() for node in nodes)))


def made_fair(data, centre, replicates):
    """Replicates in which groups no longer differ; what cannot be made fair is left out."""
    fair = {name: value for name, value in replicates.items() if GROUP not in value.dims}
    with np.errstate(divide="ignore", invalid="ignore"):
        for name in {*replicates} & {*MADE_FAIR}:
            drawn, middle, common = replicates[name], centre[name], _common(data[name])
            if name in SHIFTED:
                fair[name] = drawn - middle + common
            elif name == "auc_group":
                fair[name] = 1 - (1 - drawn) / (1 - middle) * (1 - common)
            else:  # a group without an error has no noise to be seen: NaN
                fair[name] = drawn / middle.where(middle > 0) * common
                if name in GROUP_RATES:
                    fair[name] = fair[name].clip(max=1)
        if "frr_group" in fair and "frr" in fair:
            fair["frr"] = replicates.frr / centre.frr * _common(data.frr_group)
    return xr.Dataset(fair, coords=replicates.coords)


def _common(rates):
    """One rate for all groups."""
    return rates.mean({GROUP, REFERENCE_GROUP} & {*rates.dims})


def against(estimate, draws, fair, level):
    """Quantiles of the floor, away from the fair value, and how much of it reaches the estimate."""
    away = -1.0 if float((draws - fair).where(np.isfinite(draws)).sum()) < 0 else 1.0
    distance = away * (draws - fair)
    median, limit = (fair + away * end for end in quantiles(distance, (0.5, level)))
    reached = (distance >= away * (estimate - fair) - TIE).sum(REPLICATE)
    n = distance.notnull().sum(REPLICATE)
    result = {
        "estimate": estimate,
        "median": median,
        "limit": limit,
        "p": ((1 + reached) / (1 + n)).where(estimate.notnull() & (n > 0)),
        "n_nonfinite": (~np.isfinite(draws)).sum(REPLICATE),
    }
    return xr.Dataset(result)
