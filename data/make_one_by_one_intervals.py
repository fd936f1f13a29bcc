"""Run the study of `fk.explore.intervals()`: python data/make_one_by_one_intervals.py

Makes data/one_by_one_intervals.nc: the intervals of 200 data sets, each of 100 new people of one
law with 5 images each, with the exact FRR of these people and of new ones. A minute on two idle
cores.
"""

import warnings
from functools import partial
from pathlib import Path

import numpy as np

import frkit as fk
from frkit.intervals.reading import NEW_PEOPLE, THESE_PEOPLE
from frkit.papers.along import along
from frkit.papers.roc.collecting import DATA_SET, Study

FILE = Path(__file__).with_name("one_by_one_intervals.nc")
INTERVALS = {
    "naive": {"method": "naive"},
    "recentered": {"method": "recentered"},
    f"effective, {THESE_PEOPLE}": {"target": THESE_PEOPLE},
    f"effective, {NEW_PEOPLE}": {"target": NEW_PEOPLE},
}


def intervals(
    law,
    n_identities=100,
    *,
    per_identity=5,
    far=(1e-3, 1e-2),
    levels=(0.8, 0.95),
    n_datasets=100,
    replicates=100,
    seed=0,
    progress=True,
):
    """Draw data sets of new people, and return the intervals of each with the true rates.

    `fk.studies.coverage` counts over data sets; this keeps them one by one. Data set d depends on
    the seed and on d only.

    Returns, of the FRR: `lower` and `upper` over (data_set, level, interval, far_level), `estimate`
    over (data_set, far_level), and `truth` over (data_set, people, far_level): the exact FRR of the
    people in the data set, and that of new people.
    """
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
        warnings.simplefilter("ignore", fk.DataWarning)
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
    return lambda name: fk.band(evaluation, "frr", level=level, **INTERVALS[name])[
        ["lower", "upper"]
    ]


def main():
    law = fk.vmf.IdentityLaw(64, kappa=(40, 250))
    study = intervals(law, 100, per_identity=5, n_datasets=200)
    study = study.assign_attrs(command=f"python data/{Path(__file__).name}")
    packed = {name: {"zlib": True, "dtype": "float32"} for name in study.data_vars}
    study.to_netcdf(FILE, engine="h5netcdf", encoding=packed)


if __name__ == "__main__":
    main()
