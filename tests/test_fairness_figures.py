"""Figures and explorer of fairness: the drawn data, the zones, and controls that are followed."""

import numpy as np
import pytest
import xarray as xr
from matplotlib import pyplot as plt
from test_explore import find, follows, picture

import frkit as fk
from frkit.explore.fairness import first_replicates

FAR = [0.05, 0.1, 0.15, 0.2]
pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")


@pytest.fixture(scope="module")
def scores():
    groups = {"a": {}, "b": {"kappa": (6, 10)}, "c": {"cohesion": 4}}
    mix = fk.vmf.mixture(18, 8, kappa=(8, 20), seed=0, groups=groups)
    one, other = mix.sample(6, seed=1), mix.sample(6, seed=2)
    return fk.score_tensor(fk.stack_models({"Ash": one, "Birch": other}))


@pytest.fixture(scope="module")
def evaluation(scores):
    return fk.evaluate(scores, far=FAR, by="group", resampling=fk.Resampling("image", n=30))


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def line(ax, words):
    (one,) = [one for one in ax.lines if one.get_label() == words]
    return one


# --- zones --------------------------------------------------------------------------------------------------
def two_bands(first, second, upper_first, upper_second, fair=1.0):
    def one(estimate, upper):
        data = {"estimate": estimate, "upper": upper, "lower": np.zeros(len(estimate))}
        found = xr.Dataset(
            {k: ("far_level", np.array(v, float)) for k, v in data.items()}, {"far_level": FAR}
        )
        return found.assign_attrs(measure="m", fair=fair)

    return {"x": one(first, upper_first), "y": one(second, upper_second)}


def test_zones_on_paper():
    bands = two_bands([2, 3, 3, 2], [3, 2, 2, 2], [4, 4, 6, 3], [5, 5, 5, 4])
    zones = fk.decision_zones(bands)
    assert zones.zone.values.tolist() == ["A", "B", "C", ""]
    assert zones.by_estimate.values.tolist() == ["x", "y", "y", ""]
    assert zones.by_band.values.tolist() == ["x", "x", "y", "x"]


def test_zones_turn_round_where_fair_is_the_top():
    bands = two_bands([0.9] * 4, [0.8] * 4, [1] * 4, [1] * 4, fair=1.0)
    bands["x"]["lower"] += 0.5
    assert fk.decision_zones(bands).zone.values.tolist() == ["A"] * 4


def test_zones_need_two_models_and_a_disparity(evaluation):
    with pytest.raises(fk.InputError, match="same disparity measure"):
        fk.decision_zones(fk.band(evaluation, "frr"))
    with pytest.raises(fk.InputError, match="got 1"):
        fk.decision_zones(fk.band(evaluation, "frr_gini").sel(model=["Ash"]))


# --- figures ------------------------------------------------------------------------------------------------
def test_fairness_draws_bands_floors_and_the_fair_value(evaluation, ax):
    band, floor = fk.band(evaluation, "frr_max_min"), fk.fair_floor(evaluation, "frr_max_min")
    assert fk.plot.fairness(band, ax, floors=floor) is ax
    ash = band.sel(model="Ash")
    np.testing.assert_array_equal(line(ax, "Ash").get_ydata(), ash.estimate.where(ash.resolved))
    limit, drawn = (
        floor.limit.sel(model="Birch").values,
        line(ax, "Birch: 95 % of fair floor").get_ydata(),
    )
    bottom, top = ax.get_ylim()
    np.testing.assert_array_equal(drawn[np.isfinite(limit)], limit[np.isfinite(limit)])
    assert bottom < drawn.min() and np.isfinite(limit).any()
    assert (
        (drawn < top) == (limit < 10 * np.nanmax(band.upper.where(np.isfinite(band.upper))))
    ).all()
    np.testing.assert_array_equal(line(ax, "perfectly fair").get_ydata(), [1, 1])
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    title = ax.get_title(loc="left")
    assert "effective" in title and "new people" in title and "Rao & Scott" in title


def test_fairness_draws_several_metrics_on_a_linear_axis(evaluation, ax):
    one = evaluation["empirical"].model.values[0]
    bands = {name: fk.band(evaluation, f"{name}_gini").sel(model=one) for name in ("far", "frr")}
    fk.plot.fairness(bands, ax)
    words = {text.get_text() for text in ax.get_legend().get_texts()}
    assert words == {"far", "frr", "perfectly fair", "not resolved: fewer than 10 errors"}
    assert ax.get_yscale() == "linear"


def test_a_floor_without_a_number_leaves_the_axes(ax):
    bands = two_bands([2, 2, 2, 2], [2] * 4, [3, 4, 5, 3], [3] * 4)
    floor = bands["x"].assign(limit=("far_level", [2.5, 20.0, 80.0, np.inf]))
    for scale in ("log", "linear"):
        bands["x"].attrs["scale"] = scale
        fk.plot.fairness(bands["x"], ax, floors=floor)
        drawn, top = line(ax, "95 % of the fair floor").get_ydata(), ax.get_ylim()[1]
        assert drawn[1] == 20 < top < 30 and (drawn[2:] > top).all() and np.isfinite(drawn).all()
        ax.clear()


def test_ends_without_a_number_reach_the_edges(ax):
    bands = two_bands([2, 2, 2, 2], [2] * 4, [3, 4, np.inf, 3], [3] * 4)
    for one in bands.values():
        one.attrs["scale"] = "log"
    fk.plot.fairness(bands["x"], ax)
    bottom, top = ax.get_ylim()
    np.testing.assert_array_equal(line(ax, "no upper end").get_ydata(), [top])
    vertices = ax.collections[-1].get_paths()[0].vertices
    bands["y"].estimate[0] = np.inf
    fk.plot.fairness(bands["y"], ax)
    np.testing.assert_array_equal(line(ax, "estimate is infinite").get_xdata(), [FAR[0]])
    assert np.isfinite(vertices).all()
    assert vertices[:, 1].min() == bottom


def test_letters_of_the_zones_are_drawn(ax):
    bands = two_bands([2, 3, 3, 3], [3, 2, 2, 2], [4, 4, 6, 6], [5, 5, 5, 5])
    fk.plot.fairness(bands, ax, zones=fk.decision_zones(bands))
    assert [text.get_text() for text in ax.texts] == ["A", "B", "C"]
    borders = [one.get_xdata()[0] for one in ax.lines if one.get_color() == "#666666"]
    np.testing.assert_allclose(borders, [np.sqrt(0.05 * 0.1), np.sqrt(0.1 * 0.15)])


def test_each_group_has_its_own_curve(evaluation, ax):
    far, frr = (fk.band(evaluation, name).sel(model="Ash") for name in ("far_group", "frr_group"))
    fk.plot.group_roc(far, frr, ax)
    np.testing.assert_array_equal(line(ax, "b").get_xdata(), far.estimate.sel(group="b"))
    np.testing.assert_array_equal(line(ax, "b").get_ydata(), frr.estimate.sel(group="b"))
    with pytest.raises(fk.InputError, match="over far_level and group, got .*model"):
        fk.plot.group_roc(fk.band(evaluation, "far_group"), frr, ax)


def test_the_matrix_prints_every_rate(evaluation, ax):
    rates = evaluation["empirical"].far_cross.isel(far_level=1).sel(model="Ash")
    fk.plot.cross_matrix(rates, ax)
    assert [text.get_text() for text in ax.texts] == [
        f"{value:.2g}" for value in rates.values.ravel()
    ]
    np.testing.assert_array_equal(ax.collections[0].get_array(), rates)
    bare = rates.where(rates.group != "a", 0.0)
    ax = fk.plot.cross_matrix(bare)
    assert (
        ax.texts[0].get_text() == "0" and ax.collections[0].norm.vmin == bare.where(bare > 0).min()
    )
    plt.close(ax.figure)
    with pytest.raises(fk.InputError, match="select one of the rest"):
        fk.plot.cross_matrix(evaluation["empirical"].far_cross, ax)


# --- explorer -----------------------------------------------------------------------------------------------
def test_the_figure_follows_every_control(evaluation):
    box = fk.explore.fairness(evaluation)
    assert picture(box).startswith(b"\x89PNG")
    moves = {
        "metric": "far_gini",
        "nominal level": 0.6,
        "replicates": 25,
        "models (Ctrl for several)": ("Ash",),
    }
    for description, value in moves.items():
        assert follows(box, description, value), description
    options = find(box, "FAR range").options
    assert follows(box, "FAR range", (options[1][1], options[3][1]))


def test_fewer_replicates_are_those_of_a_smaller_run(scores, evaluation):
    small = fk.evaluate(scores, far=FAR, by="group", resampling=fk.Resampling("image", n=25))
    found = first_replicates(evaluation, 25)
    xr.testing.assert_identical(fk.band(found, "frr_gini"), fk.band(small, "frr_gini"))


def test_a_button_evaluates_another_scheme_and_same_group_pairs(scores, evaluation):
    box = fk.explore.fairness(evaluation, scores)
    before = picture(box)
    find(box, "scheme").value = "identity"
    waiting = picture(box)
    find(box, "Evaluate these settings").click()
    evaluated = picture(box)
    assert len({before, waiting, evaluated}) == 3
    find(box, "same-group pairs only").value = True
    find(box, "Evaluate these settings").click()
    assert picture(box) not in (before, waiting, evaluated)
    find(box, "same-group pairs only").value = False
    assert picture(box) == evaluated


def test_an_explorer_needs_groups(scores):
    lone = fk.evaluate(scores, far=FAR, resampling=fk.Resampling("image", n=10))
    with pytest.raises(fk.InputError, match="has no groups"):
        fk.explore.fairness(lone)
