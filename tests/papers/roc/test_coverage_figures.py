"""Figures of coverage studies draw what the study contains."""

import numpy as np
import pytest
from drawn_ends import band_ends

import frkit as fk

FAR = [1e-3, 1e-2, 1e-1]
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::frkit.DataWarning")]


@pytest.fixture(scope="module")
def both():
    """A study of two schemes."""
    mix = fk.vmf.mixture(12, 16, kappa=(10, 40), seed=3)
    options = {"per_identity": 4, "far": FAR, "replicates": 4, "seed": 3, "progress": False}
    return fk.studies.coverage(mix, n_datasets=2, schemes=("image", "identity"), **options)


@pytest.fixture
def study(both):
    return both.sel(scheme=["image"])


def line(ax, label):
    (curve,) = [curve for curve in ax.lines if curve.get_label() == label]
    return curve


@pytest.mark.slow
def test_coverage_stands_over_its_nominal_level(study, ax):
    fk.plot.coverage(study.sel(far_level=1e-2), ax=ax)
    for method in ("recentered", "naive"):
        values = study.coverage.sel({"method": method, "far_level": 1e-2, "scheme": "image"})
        drawn = line(ax, method).get_xydata()
        np.testing.assert_allclose(drawn, np.transpose([study.level.values, values]))


@pytest.mark.slow
def test_coverage_along_far_marks_levels_that_are_not_resolved(study, ax):
    study = study.sel(level=0.95).isel(scheme=0).assign(resolved=("far_level", [1.0, 0.5, 0.1]))
    fk.plot.coverage(study, "far_level", ax=ax)
    values = study.coverage.sel({"method": "recentered"})
    np.testing.assert_allclose(line(ax, "recentered").get_xydata(), np.transpose([FAR, values]))
    hollow = [marks for marks in ax.lines if marks.get_markerfacecolor() == "white"]
    shown = [marks.get_xdata()[np.isfinite(marks.get_ydata())] for marks in hollow]
    np.testing.assert_array_equal(shown, [[0.1]] * 3)


def test_coverage_has_a_shade_of_two_standard_errors(study, ax):
    study = study.sel({"level": 0.95, "method": ["naive"]}).isel(scheme=0)
    fk.plot.coverage(study, "far_level", ax=ax)
    (shade,) = [part for part in ax.collections if part.get_alpha() == 0.1]
    noise = 2 * study.coverage_se.values.ravel()
    values = study.coverage.values.ravel()
    ends = np.clip([values - noise, values + noise], 0, 1)
    np.testing.assert_allclose(band_ends(shade, FAR), ends.T)
