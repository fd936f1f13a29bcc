"""Run the study of `fk.explore.intervals()`: python data/make_one_by_one_intervals.py

data/one_by_one_intervals.nc: the intervals of 200 data sets, each of 100 new people of one law with
5 images each, beside the exact FRR of these people and of new ones. A minute on two idle cores.
"""

from pathlib import Path

import frkit as fk

FILE = Path(__file__).with_name("one_by_one_intervals.nc")

if __name__ == "__main__":
    law = fk.vmf.IdentityLaw(64, kappa=(40, 250))
    study = fk.studies.intervals(law, 100, per_identity=5, n_datasets=200)
    study = study.assign_attrs(command=f"python data/{Path(__file__).name}")
    packed = {name: {"zlib": True, "dtype": "float32"} for name in study.data_vars}
    study.to_netcdf(FILE, engine="h5netcdf", encoding=packed)
