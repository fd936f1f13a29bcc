"""The fair floor: what a disparity measure would print for a perfectly fair model, on these data.

Two ways to such a model: binomial draws of equal rates with the groups' effective numbers of
comparisons; and people permuted between groups at random (`frkit.intervals.permutation`), for whole
score distributions and for N-Sigma.
"""

import numpy as np
import xarray as xr

from frkit.base import require, require_inside
from frkit.intervals.bands import AnyMeasure
from frkit.intervals.equality import draws_of_equal_groups, rates_of_line, with_enough_people
from frkit.intervals.reading import (
    NEW_PEOPLE,
    data_of,
    warn_of,
    with_attrs,
    with_resolved,
)
from frkit.intervals.replicates import quantiles
from frkit.measures.registry import measure as find_measure
from frkit.measures.registry import with_reads

PERMUTED = "permuted"  # the node of an evaluation whose people, or scores, were permuted
TIE = 1e-12  # a floor this close to the estimate reaches it


def fair_floor(
    evaluation: xr.DataTree,
    measure: AnyMeasure,
    *,
    target: str = NEW_PEOPLE,
    level: float = 0.95,
) -> xr.Dataset:
    """Show what a perfectly fair model would print: the noise floor of a disparity measure.

    A disparity cannot fall below its fair value, so noise alone lifts it. Equal rates of all
    groups, with the groups' effective numbers of comparisons, are drawn 1,000 times from binomials:
    the measure of these draws is the floor. `p` is that of the test of equal rates in `band`. For
    SFI, CFI and DFI, which compare whole distributions, the labels of the people are permuted; only
    an evaluation by `indices.distributions` contains permutations.

    Parameters
    ----------
    evaluation : xr.DataTree
        What `evaluate(..., by=...)` or `indices.distributions` returned.
    measure : str or callable
        A disparity of FAR, FRR or EER: a registered name such as "frr_max_geomean", or one
        registered by you with `fair=`; or an index of whole distributions such as "dfi_normal".
    target : {"new people", "these people"}
        As in `band`.
    level : float
        The quantile of the floor that is given as `limit`, in (0, 1).

    Returns
    -------
    xr.Dataset
        `estimate`, `median` and `limit` (quantiles of the floor, away from the fair value), `p`,
        `n_nonfinite` (draws of the floor that are not finite) and `resolved`, over the measure's
        own dimensions; with effective numbers `n_effective`, that of all groups together. Infinite
        draws count as the largest, NaN are left out. Of permuted people `p` is exact where people
        could change groups; of permuted scores it is liberal where pairs share people.

    Raises
    ------
    InputError
        The measure has no fair value or reads other things than rates, an index without
        permutations, people who are not known, an unknown target, or a level outside (0, 1).

    Warns
    -----
    DataWarning
        As `band`.

    References
    ----------
    The same idea as the floor of SP (DeAlcala et al. 2023) and of DFI from permutations.

    Examples
    --------
    >>> import frkit as fk
    >>> fair = fk.vmf.mixture(20, 16, kappa=(10, 20), seed=0).rotated_copies()
    >>> scores = fk.score_tensor(fair.sample(per_identity=6))
    >>> ev = fk.evaluate(scores, far=[0.02], by="group")
    >>> bool(fk.fair_floor(ev, "frr_max_min").p[0] > 0.05)
    True
    """
    measure = with_reads(find_measure(measure), data_of(evaluation))
    require_inside("level", level, 0, 1)
    require(
        measure.fair is not None,
        f"{measure.name!r} has no fair value, so it has no floor; register a disparity measure "
        "with fair=",
    )
    whole = evaluation
    measure(data_of(whole))  # raises if a variable is missing
    evaluation, left_out = with_enough_people(whole, measure, target)
    data = data_of(evaluation)
    estimate = measure(data)
    test = {}
    about: dict = {"kind": "fair_floor", "level": level, "left_out": left_out or None}
    if measure.permuted:
        require(
            PERMUTED in evaluation.children,
            f"the floor of {measure.name!r} permutes the labels of people, which needs the "
            "scores: make the evaluation with "
            "fk.indices.distributions(scores, by=..., permutations=200)",
        )
        draws = measure(evaluation[PERMUTED].to_dataset())
    else:
        require(
            "people" in evaluation.children and rates_of_line(measure, data),
            f"{measure.name!r} has no floor here: floors are of disparities of FAR, FRR or EER, "
            "in evaluations that know the people",
        )
        draws, test = draws_of_equal_groups(evaluation, measure, target)
        about["target"] = target
    result = against(estimate, draws, measure.fair, level).assign(test)
    result = with_resolved(result, measure, evaluation)
    result = with_attrs(result, evaluation, measure, "fair floor", **about)
    warn_of(whole, measure, result)
    return result


def against(estimate, draws, fair, level):
    """Quantiles of the floor, away from the fair value, and how much of it reaches the estimate."""
    draws = draws.transpose(*estimate.dims, "replicate")
    above = draws - fair
    finite = np.isfinite(above)
    away = -1.0 if float(above.where(finite).sum()) < 0 else 1.0
    distance = away * above
    median, limit = (fair + away * end.variable for end in quantiles(distance, (0.5, level)))
    # variables without labels, which are ten times as fast
    observed = away * (estimate.variable - fair)
    n = distance.variable.notnull().sum("replicate")
    reached = (distance.variable >= observed - TIE).sum("replicate")
    result = {
        "estimate": estimate.variable,
        "median": median,
        "limit": limit,
        "p": ((1 + reached) / (1 + n)).where(observed.notnull() & (n > 0)),
        "n_nonfinite": (~finite.variable).sum("replicate"),
    }
    return xr.Dataset(result, estimate.coords).transpose(*estimate.dims)
