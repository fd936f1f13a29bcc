"""Figures and explorer of the fairness indices: the drawn data, and controls that are followed."""

import numpy as np
import pytest
from widget_checks import find, picture

import frkit as fk

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")


@pytest.fixture(scope="module")
def indices():
    table = fk.canonical_scores("unfair", sizes=(100, 300, 200))
    drawn = fk.Resampling("pair", n=20)
    return fk.fairness_indices(table, by="group", score_map="identity", bins=20, resampling=drawn)


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


def test_nine_points_with_intervals_and_floors(indices, ax):
    fk.plot.fairness_indices(indices, ax)
    lines = {line.get_label(): line for line in ax.lines}
    for index in ("sfi", "cfi", "dfi"):
        np.testing.assert_array_equal(lines[index.upper()].get_ydata(), indices[index])
    np.testing.assert_allclose([bar.get_y() for bar in ax.patches][:3], indices.sfi_floor_limit)
    ends = [part.get_segments() for part in ax.collections if len(part.get_segments()) == 3]
    drawn = np.array(ends[1])[:, :, 1]
    np.testing.assert_array_equal(drawn, np.transpose([indices.sfi_lower, indices.sfi_upper]))


@pytest.mark.slow
def test_the_explorer_follows_its_controls():
    table = fk.canonical_scores("unfair", sizes=(200, 200, 200))
    maps = {"as": "identity", "root": np.sqrt}
    box = fk.explore.fairness_indices(table, by="group", score_maps=maps, permutations=5)
    seen = {picture(box)}
    moves = {"share of it that stays": 0.25, "bins": 20, "score map": "root"}
    for label, value in moves.items():
        find(box, label).value = value
        seen.add(picture(box))
    assert len(seen) == 4


def test_the_explorer_shows_each_of_several_models():
    mixture = fk.vmf.mixture(12, 8, seed=0, groups={"a": {}, "b": {}})
    models = {name: mixture.sample(4, seed=seed) for seed, name in enumerate(("one", "two"))}
    scores = fk.score_tensor(fk.open_data(models))
    box = fk.explore.fairness_indices(scores, by="group", permutations=5)
    first = picture(box)
    find(box, "model").value = "two"
    assert picture(box) != first
