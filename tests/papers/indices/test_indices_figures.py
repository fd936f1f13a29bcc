"""Figures of the fairness indices: the drawn data, and controls that are followed."""

import numpy as np
import pytest
from drawn_ends import interval_ends

import frkit as fk

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")


@pytest.fixture(scope="module")
def indices():
    table = fk.canonical_scores("unfair", sizes=(100, 300, 200))
    drawn = fk.Resampling("pair", n=20)
    return fk.fairness_indices(table, by="group", score_map="identity", bins=20, resampling=drawn)


@pytest.mark.slow
def test_histograms_stand_in_one_row_for_each_group(indices, ax):
    fk.plot.score_histograms(indices, ax)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["group 1\nn = 200", "group 2\nn = 600", "group 3\nn = 400"]
    kinds = [indices.genuine_histogram, indices.impostor_histogram]
    shares = np.concatenate([histogram.transpose("group", "score_bin") for histogram in kinds])
    areas = [steps for steps in ax.patches if steps.get_fill()]
    for foot, steps, group_shares in zip([1, 2, 3] * 2, areas, shares / shares.max(), strict=True):
        heights, edges, baseline = steps.get_data()
        np.testing.assert_allclose(edges, np.arange(21) / 20, atol=1e-12)
        np.testing.assert_allclose((foot - heights) / 0.88, group_shares)
        assert baseline == foot


@pytest.mark.slow
def test_nine_points_with_intervals_and_floors(indices, ax):
    fk.plot.fairness_indices(indices, ax)
    lines = {line.get_label(): line for line in ax.lines}
    for index in ("sfi", "cfi", "dfi"):
        np.testing.assert_array_equal(lines[index.upper()].get_ydata(), indices[index])
    np.testing.assert_allclose([bar.get_y() for bar in ax.patches][:3], indices.sfi_floor_limit)
    intervals = [part for part in ax.collections if part.get_alpha() is not None]
    for index, drawn in zip(("sfi", "cfi", "dfi"), intervals, strict=True):
        ends = indices[f"{index}_lower"], indices[f"{index}_upper"].clip(max=1)
        np.testing.assert_array_equal(interval_ends(drawn), np.transpose(ends))
