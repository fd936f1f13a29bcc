"""For all tests: no windows, no deadline of property tests, one thread for each worker."""

import gc
import os
import sys

os.environ["MPLBACKEND"] = "agg"
if "PYTEST_XDIST_WORKER" in os.environ:  # one thread for each worker; read when NumPy loads
    for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import pytest
from hypothesis import settings
from matplotlib import pyplot as plt

settings.register_profile("frkit", deadline=None)
settings.load_profile("frkit")
# checks of internet addresses, which nobody needs here, would take seconds to load
sys.modules.setdefault("rfc3987_syntax", None)


def pytest_collection_modifyitems(items):
    """Notebooks take minutes and begin first: at the end no worker waits for the other."""
    items.sort(key=lambda item: item.get_closest_marker("notebooks") is None)


def pytest_collection_finish():
    """Modules stay until the end: the search for garbage may leave them out."""
    gc.freeze()


@pytest.fixture
def brief_reports():
    """Reports list some measures of disparity only, in this test."""
    from report_faces import brief_reports

    with brief_reports():
        yield


@pytest.fixture
def ax():
    """Axes to draw on."""
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)
