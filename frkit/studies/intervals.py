"""Intervals of one data set after the other, beside the truths that they are about."""

import warnings
from functools import partial

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import DataWarning, require_whole
from frkit.intervals import band
from frkit.intervals.reading import NEW_PEOPLE, THESE_PEOPLE
from frkit.studies.along import Progress, along
from frkit.studies.collecting import Study
from frkit.studies.store import DATA_SET
from frkit.vmf import IdentityLaw

INTERVALS = {
    "naive": {"method": "naive"},
    "recentered": {"method": "recentered"},
    f"effective, {THESE_PEOPLE}": {"target": THESE_PEOPLE},
    f"effective, {NEW_PEOPLE}": {"target": NEW_PEOPLE},
}


def intervals(
    law: IdentityLaw,
    n_identities: int = 100,
    *,
    per_identity: int = 5,
    far: ArrayLike = (1e-3, 1e-2),
    levels: ArrayLike = (0.8, 0.95),
    n_datasets: int = 100,
    replicates: int = 100,
    seed: int = 0,
    progress: Progress = True,
) -> xr.Dataset:
    """Draw data sets of new people, and return the intervals of each with the true rates.

    `coverage` counts over data sets; this keeps them one by one, for `explore.intervals`.

    Parameters
    ----------
    law : IdentityLaw
        The law that people are drawn from.
    n_identities : int
        New people in each data set.
    per_identity : int
        Images of each person, at least 2.
    far : sequence of float
        FAR levels in (0, 1).
    levels : sequence of float
        Nominal coverages in (0, 1).
    n_datasets : int
        Number of data sets, at least 2.
    replicates : int
        Of the image scheme, for the naive and the recentered interval.
    seed : int
        Data set d depends on the seed and on d only.
    progress : bool or callable
        As in `coverage`.

    Returns
    -------
    xr.Dataset
        Of the FRR: `lower` and `upper` over (data_set, level, interval, far_level), `estimate` over
        (data_set, far_level), and `truth` over (data_set, people, far_level): the exact FRR of the
        people in the data set, and that of new people.

    Raises
    ------
    InputError
        A number outside its range.

    References
    ----------
    Conti & Clémençon (2024), appendix B.1.

    Examples
    --------
    >>> import frkit as fk
    >>> law = fk.vmf.IdentityLaw(16, kappa=(10, 40))
    >>> how = dict(far=[0.1], n_datasets=3, replicates=20, progress=False)
    >>> dict(fk.studies.intervals(law, 20, **how).lower.sizes)
    {'data_set': 3, 'level': 2, 'interval': 4, 'far_level': 1}
    """
    require_whole("n_datasets", n_datasets, 2)
    require_whole("per_identity", per_identity, 2)
    study = Study(
        population=law,
        n_identities=n_identities,
        per_identity=np.asarray(per_identity),
        far=np.unique(far),
        schemes=("image",),
        replicates=replicates,
        seed=seed,
        people=True,
    )
    row = partial(_intervals_of_data_set, study, np.ravel(levels).tolist())
    result = along(DATA_SET, range(n_datasets), row, progress)
    description = f"{n_identities:,} new people in each data set, {per_identity} images of each"
    return result.assign_attrs(words=description)


def _intervals_of_data_set(study, levels, number):
    """Intervals and truths of one data set."""
    with warnings.catch_warnings():
        # warnings say of one interval what the study shows
        warnings.simplefilter("ignore", DataWarning)
        evaluation = study.data_set(number)["image"]
        ends = partial(_ends, evaluation)
        result = along("level", levels, lambda level: along("interval", INTERVALS, ends(level)))
    exact = {
        THESE_PEOPLE: study.mixture(number).population_roc(study.far),
        NEW_PEOPLE: study.population.population_roc(study.far),
    }
    result["estimate"] = evaluation["empirical"].frr
    result["truth"] = along("people", exact, lambda people: exact[people].frr)
    return result.reset_coords(drop=True).drop_attrs()


def _ends(evaluation, level):
    """The function that makes an interval by its name."""
    return lambda name: band(evaluation, "frr", level=level, **INTERVALS[name])[["lower", "upper"]]
