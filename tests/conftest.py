"""For all tests: no windows, no deadline of property tests, one thread for each worker."""

import os

os.environ["MPLBACKEND"] = "agg"
if "PYTEST_XDIST_WORKER" in os.environ:  # one thread for each worker; read when NumPy loads
    for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import pytest
from hypothesis import settings
from matplotlib import pyplot as plt

settings.register_profile("frkit", deadline=None)
settings.load_profile("frkit")


@pytest.fixture
def ax():
    """Axes to draw on."""
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)
