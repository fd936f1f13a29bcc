"""Results of studies to draw."""

from functools import cache

import xarray as xr

import frkit as fk

LEVELS = [0.05, 0.1, 0.2, 0.4]


MIX = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)


@cache
def growing() -> xr.Dataset:
    return fk.studies.consistency(MIX, sizes=(4, 16), far=LEVELS, seeds=2, progress=False)


@cache
def biased() -> xr.Dataset:
    options = {"far": LEVELS, "n": 20, "progress": False}
    return fk.studies.bootstrap_bias(MIX, per_identity=(5, 10), **options)
