"""Figures of fairness: the drawn data and the zones."""

import numpy as np
import pytest
import xarray as xr
from drawn_ends import band_ends
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from refusals import refused

import frkit as fk

FAR = [0.05, 0.1, 0.15, 0.2]
pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")


@pytest.fixture(scope="module")
def scores():
    groups = {"a": {}, "b": {"kappa": (6, 10)}, "c": {"cohesion": 4}}
    mix = fk.vmf.mixture(18, 8, kappa=(8, 20), seed=0, groups=groups)
    return fk.score_tensor(fk.open_data({"Ash": mix.sample(6, 1), "Birch": mix.sample(6, 2)}))


@pytest.fixture(scope="module")
def evaluation(scores):
    return fk.evaluate(scores, far=FAR, by="group", resampling=fk.Resampling("image", n=30))


def line(ax, label):
    (drawn,) = [drawn for drawn in ax.lines if drawn.get_label() == label]
    return drawn


def bands_of_two(estimate, upper, lower=0.0):
    """Bands of models x and y at four levels."""
    data = {"estimate": estimate, "upper": upper, "lower": np.full((2, 4), lower)}
    data = {name: (("model", "far_level"), np.array(values)) for name, values in data.items()}
    about = {"kind": "band", "measure": "m", "fair": 1.0}
    return xr.Dataset(data, {"model": ["x", "y"], "far_level": FAR}, about)


# --- zones ---------------------------------------------------------------------------------------
def test_zones_on_paper():
    estimate = [[2.0, 3, 3, 2], [3, 2, 2, 2]]
    zones = fk.decision_zones(bands_of_two(estimate, [[4.0, 4, 6, 3], [5, 5, 5, 4]]))
    assert zones.zone.values.tolist() == ["A", "B", "C", ""]
    assert zones.by_estimate.values.tolist() == ["x", "y", "y", ""]
    assert zones.by_band.values.tolist() == ["x", "x", "y", "x"]


def test_zones_turn_round_where_fair_is_the_top():
    bands = bands_of_two([[0.9] * 4, [0.8] * 4], np.ones((2, 4)), [[0.5] * 4, [0.0] * 4])
    assert fk.decision_zones(bands).zone.values.tolist() == ["A"] * 4


def test_zones_need_two_models_and_a_disparity(evaluation):
    with refused("zones"):
        fk.decision_zones(fk.band(evaluation, "frr"))
    with refused("zones", "two models"):
        fk.decision_zones(fk.band(evaluation, "frr_gini").sel(model=["Ash"]))


def test_zones_change_halfway_between_two_levels_of_the_axis(evaluation, ax):
    bands = fk.band(evaluation, "frr_max_min")
    zones = fk.decision_zones(bands).assign(zone=("far_level", [*"AABC"]))
    fk.plot.fairness(bands, ax, zones=zones)
    (borders,) = [drawn for drawn in ax.collections if drawn.get_linestyle()[0][1] is not None]
    at = [segment[0, 0] for segment in borders.get_segments()]
    np.testing.assert_allclose(at, np.sqrt([0.1 * 0.15, 0.15 * 0.2]))
    letters = {text.get_text(): text.get_position()[0] for text in ax.texts}
    assert letters["A"] < at[0] < letters["B"] < at[1] < letters["C"]


# --- figures -------------------------------------------------------------------------------------
def test_fairness_draws_bands_floors_and_the_fair_value(evaluation, ax):
    band, floor = fk.band(evaluation, "frr_max_min"), fk.fair_floor(evaluation, "frr_max_min")
    assert fk.plot.fairness(band, ax, floors=floor) is ax
    ash = band.sel(model="Ash")
    np.testing.assert_array_equal(line(ax, "Ash").get_ydata(), ash.estimate.where(ash.resolved))
    shade = next(drawn for drawn in ax.collections if len(drawn.get_paths()))
    ends = np.transpose([ash.lower, ash.upper])[ash.resolved]
    np.testing.assert_allclose(band_ends(shade, np.array(FAR)[ash.resolved]), ends)
    limit = floor.limit.sel(model="Birch").values
    drawn, shown = line(ax, "Birch: 95 % point of the fair floor").get_ydata(), np.isfinite(limit)
    np.testing.assert_array_equal(drawn[shown], limit[shown])
    np.testing.assert_array_equal(line(ax, "perfectly fair").get_ydata(), [1, 1])
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    fk.plot.fairness(band, ax, floors=fk.fair_floor(evaluation, "frr_max_min", level=0.9))
    assert line(ax, "Birch: 90 % point of the fair floor")
    with refused("floors"):
        fk.plot.fairness(ash, ax, floors=floor)


def test_ends_without_a_number_reach_the_edges(ax):
    bands = bands_of_two([[np.inf, 2, np.nan, 2]] * 2, [[np.inf, 3, np.inf, 3]] * 2)
    band = bands.sel(model="x", drop=True).assign_attrs(scale="log")
    fk.plot.fairness(band, ax)
    bottom, top = ax.get_ylim()
    np.testing.assert_array_equal(line(ax, "no upper end").get_xydata(), [[0.05, top], [0.15, top]])
    np.testing.assert_array_equal(line(ax, "estimate is infinite").get_xydata(), [[0.05, top]])
    missing = line(ax, "no value: no errors to compare")
    np.testing.assert_array_equal(missing.get_xydata(), [[0.15, bottom]])


def test_letters_of_the_zones_are_drawn(ax):
    bands = bands_of_two([[2.0, 3, 3, 3], [3, 2, 2, 2]], [[4.0, 4, 6, 6], [5] * 4])
    fk.plot.fairness(bands, ax, zones=fk.decision_zones(bands))
    assert [text.get_text() for text in ax.texts] == ["A", "B", "C"]


def test_each_group_has_its_own_curve(evaluation, ax):
    far, frr = (fk.band(evaluation, name).sel(model="Ash") for name in ("far_group", "frr_group"))
    fk.plot.group_roc(far, frr, ax)
    np.testing.assert_array_equal(line(ax, "b").get_xdata(), far.estimate.sel(group="b"))
    np.testing.assert_array_equal(line(ax, "b").get_ydata(), frr.estimate.sel(group="b"))
    of_group = frr.sel(group="b")
    ends = np.maximum(np.transpose([of_group.lower, of_group.upper]), ax.get_ylim()[0])
    np.testing.assert_allclose(band_ends(ax.collections[1], far.estimate.sel(group="b")), ends)
    with refused("far", "far_group"):
        fk.plot.group_roc(frr, frr, ax)


def test_the_matrix_prints_every_rate(evaluation, ax):
    rates = evaluation["empirical"].far_cross.isel(far_level=1).sel(model="Ash")
    rates = rates.where(rates.group != "a", 0.0)
    fk.plot.cross_matrix(rates, ax)
    assert [text.get_text() for text in ax.texts] == [f"{x:.2g}" for x in rates.values.ravel()]
    np.testing.assert_array_equal(ax.collections[0].get_array(), rates)


def test_the_largest_contributors_are_drawn(scores, ax):
    who = fk.errors_by_person(scores.isel(model=0), far=[0.1], by="group").isel(far_level=0)
    fk.plot.errors_by_person(who, ax)
    share = who.frr_share
    widths = [bar.get_width() for bars in ax.containers for bar in bars]
    np.testing.assert_allclose(widths, np.sort(share.values[share > 0])[::-1][:12])
    first = who.sel(identity=share.idxmax("identity"))
    errors, pairs = first.false_rejects_identity.item(), first.genuine_pairs_identity.item()
    assert ax.texts[0].get_text() == f"{errors:,.0f} of {pairs:,.0f}"


def test_people_with_few_pairs_have_pale_bars(scores, ax):
    """A person with one of one pair rejected must not look like one with 91 of 91."""
    who = fk.errors_by_person(scores.isel(model=0), far=[0.1], by="group").isel(far_level=0)
    pairs = who.genuine_pairs_identity.copy()
    largest = int(who.frr_share.argmax("identity"))
    pairs[:] = 10
    pairs[largest] = 9
    fk.plot.errors_by_person(who.assign(genuine_pairs_identity=pairs), ax)
    pale, full, *_ = [bar for bars in ax.containers for bar in bars]
    assert pale.get_alpha() < 1
    assert full.get_alpha() in (None, 1)


@pytest.mark.slow
@pytest.mark.usefixtures("brief_reports")
def test_a_group_has_one_colour_in_all_figures_of_a_page():
    """Of nine groups, two of which have no curve, no two look the same."""
    faces = fk.vmf.mixture(40, 16, kappa=(5, 10), seed=0).sample(3, seed=1)
    k = np.array([int(name[2:]) for name in faces.identity.values])
    groups = np.where(k < 2, k, k % 7 + 2).astype(str)
    faces = faces.assign_coords(team=("image", groups))
    report = fk.report(faces, by="team", far=[0.1], quick=True, progress=False)
    drawn = {}
    for title in ("Groups", "People with most of the FRR at FAR 0.1"):
        (draw,) = [draw for name, draw in report.figures.items() if name.startswith(title)]
        ax = draw(plt.figure().subplots())
        handles, labels = ax.get_legend_handles_labels()
        for label, artist in zip(labels, handles):
            is_line = hasattr(artist, "get_color")
            colour = artist.get_color() if is_line else artist.get_facecolor()
            if label in groups:
                drawn.setdefault(label, set()).add(to_hex(colour))
    assert all(len(colours) == 1 for colours in drawn.values())
    assert len(set().union(*drawn.values())) == len(drawn) > 5


@pytest.mark.parametrize("highest", [1.3, 3.28, 4.9, 20.0, 99.0])
def test_ticks_of_a_ratio_reach_the_data(ax, highest):
    bands = bands_of_two([[2.0, 1.5, 1.2, highest]] * 2, [[highest] * 4] * 2)
    fk.plot.fairness(bands.sel(model="x", drop=True).assign_attrs(scale="log"), ax)
    ax.figure.canvas.draw()
    labels = [*ax.get_yticklabels(), *ax.get_yticklabels(minor=True)]
    numbers = [float(label.get_text()) for label in labels if label.get_text()]
    top = ax.get_ylim()[1]
    assert highest <= max(number for number in numbers if number <= top * 1.0001)
