"""Figures of N-Sigma: the drawn data, and controls that are followed."""

import numpy as np
import pytest
import xarray as xr

import frkit as fk


@pytest.fixture(scope="module")
def scores():
    groups = {
        "a": {"kappa": (8, 14)},
        "b": {"kappa": (6, 10)},
        "c": {"cohesion": 4, "kappa": (8, 14)},
    }
    mix = fk.vmf.mixture(60, 8, seed=0, groups=groups)
    models = {"Ash": mix.sample(5, seed=1), "Birch": mix.sample(5, seed=2)}
    return fk.score_tensor(fk.open_data(models))


@pytest.fixture(scope="module")
def result(scores):
    return fk.n_sigma(scores, by="group", subsets=30, fpr=0.1)


@pytest.fixture(scope="module")
def sizes(scores):
    options = dict(by="group", subsets=30, fpr=0.1)
    each = [fk.n_sigma(scores.isel(model=0), subset_size=size, **options) for size in (8, 20)]
    return xr.concat(each, xr.Variable("subset_size", [8, 20]), coords="different", compat="equals")


def test_bars_are_n_of_every_group_and_model(result, ax):
    fk.plot.n_sigma(result, ax)
    heights = [[bar.get_height() for bar in bars] for bars in ax.containers]
    np.testing.assert_allclose(heights, result.n_absolute.transpose("group", "model"))
    assert [text.get_text() for text in ax.get_xticklabels()] == ["Ash", "Birch"]
    assert {"minimal", "limited", "high", "unacceptable"} <= {text.get_text() for text in ax.texts}


def test_what_equal_groups_show_takes_the_place_of_levels_of_risk(result, ax):
    floor = (result.n_absolute.max("group") + [1.0, 2.0]).assign_coords(quantile=0.9)
    fk.plot.n_sigma(result, ax, floor=floor)
    (lines,) = [part for part in ax.collections if "90 % are below" in part.get_label()]
    assert [segment[0, 1] for segment in lines.get_segments()] == floor.values.tolist()
    assert not {"minimal", "unacceptable"} & {text.get_text() for text in ax.texts}
    assert ax.get_ylim()[1] > floor.max()


def test_a_floor_without_an_end_leaves_the_axes_finite(result, ax):
    """Where equal groups may have no error, |N| has no limit."""
    floor = (result.n_absolute.max("group") * [np.inf, 2.0]).assign_coords(quantile=0.9)
    fk.plot.n_sigma(result, ax, floor=floor)
    assert floor[1] < ax.get_ylim()[1] < 2 * floor[1]
    (mark,) = [line for line in ax.lines if "no limit" in line.get_label()]
    assert mark.get_xdata() == [0] and mark.get_ydata() == [ax.get_ylim()[1]]


def test_distributions_show_means_and_intervals(scores, result, ax):
    result_of_model = result.isel(model=0)
    ev = fk.evaluate(scores.isel(model=0), far=[0.1], by="group", weighting="pair")
    intervals = fk.band(ev, "eer_group")
    fk.plot.eer_distributions(result_of_model, ax, intervals=intervals)
    drawn = [line.get_ydata(orig=False) for line in ax.lines]
    np.testing.assert_allclose(drawn[-2:], [result_of_model.eer_mean, intervals.estimate])
    of_subsets, of_people = ax.collections[-2:]
    middle, reach = result_of_model.eer_mean, result_of_model.eer_sd
    bars = [bar[:, 1] for bar in of_subsets.get_segments()]
    np.testing.assert_allclose(bars, np.transpose([middle - reach, middle + reach]))
    bars = [bar[:, 1] for bar in of_people.get_segments()]
    np.testing.assert_allclose(bars, np.transpose([intervals.lower, intervals.upper]))
    bundles = [part.get_segments() for part in ax.collections if part.get_linewidth()[0] == 0.4]
    sticks = np.concatenate(bundles)[:, 0, 1]
    np.testing.assert_allclose(np.sort(sticks), np.sort(result_of_model.eer, axis=None))
