"""For all tests: no window is opened, a slow machine fails no property test, and processes share
the cores."""

import os

os.environ["MPLBACKEND"] = "agg"
if (
    "PYTEST_XDIST_WORKER" in os.environ
):  # one thread for each worker, its kernels and commands; read when NumPy loads
    for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")

from hypothesis import settings

settings.register_profile("frkit", deadline=None)
settings.load_profile("frkit")
