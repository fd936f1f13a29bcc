"""Figures draw the numbers they are given: the drawn data is tested, not the pixels."""

import numpy as np
import pytest
import xarray as xr
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection
from trees import EMPIRICAL, FAR, tree, two_models

import frkit as fk
from frkit.plot.style import COLOURS, UNRESOLVED, curve_colours, even_lines


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def labelled(ax, words):
    """The one line whose legend entry holds the words."""
    (line,) = [line for line in ax.lines if words in str(line.get_label())]
    return line


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# --- roc ----------------------------------------------------------------------------------------------------
def test_roc_draws_the_estimate_and_the_ends_of_the_band(ax):
    band = fk.band(tree(), "frr")
    assert fk.plot.roc(band, ax=ax) is ax
    np.testing.assert_array_equal(labelled(ax, "empirical curve").get_ydata(), EMPIRICAL)
    drawn = ax.collections[-1].get_paths()[0].vertices
    for x, lower, upper in zip(FAR, band.lower.values, band.upper.values, strict=True):
        at_x = drawn[np.isclose(drawn[:, 0], x), 1]
        np.testing.assert_allclose([at_x.min(), at_x.max()], [lower, upper])


def test_axes_are_logarithmic_labelled_and_name_the_target(ax):
    fk.plot.roc(fk.band(tree(), "frr", level=0.9), ax=ax)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.get_xlabel() == "FAR (share of impostor pairs accepted)"
    assert ax.get_ylabel() == "FRR (share of genuine pairs rejected)"
    title = ax.get_title(loc="left")
    assert "90 % recentered band, image scheme, 50 resamples" in title
    assert "about these 30 identities, new images" in title


def test_bands_by_name_and_by_model_each_get_a_curve(ax):
    fk.plot.roc({"first": fk.band(tree(), "frr"), "second": fk.band(two_models(), "frr")}, ax=ax)
    assert legend(ax) == ["first", "second, A", "second, B"]
    np.testing.assert_allclose(labelled(ax, "second, B").get_ydata(), 1.2 * EMPIRICAL)


def test_unresolved_levels_are_grey(ax):
    with pytest.warns(fk.DataWarning, match="fewer than ten errors"):
        band = fk.band(tree(resolved=[False, False, True, True]), "frr")
    fk.plot.roc(band, ax=ax)
    grey = labelled(ax, "not resolved")
    assert grey.get_color() == UNRESOLVED
    np.testing.assert_array_equal(np.isfinite(grey.get_ydata()), [True, True, True, False])
    np.testing.assert_array_equal(
        np.isfinite(labelled(ax, "empirical").get_ydata()), [False, False, True, True]
    )


def test_zeros_are_visible_at_the_foot_of_the_log_axis(ax):
    band = fk.band(tree([0.0, 0.2, 0.1, 0.05]), "frr")
    band.lower[1] = -0.01
    fk.plot.roc(band, ax=ax)
    floor = ax.get_ylim()[0]
    marks = [line for line in ax.lines if line.get_marker() == "v" and len(line.get_xdata())]
    assert [line.get_xdata().tolist() for line in marks] == [[FAR[0]], [FAR[1]]]
    assert all(line.get_ydata()[0] == floor for line in marks)
    np.testing.assert_array_equal(
        labelled(ax, "empirical curve").get_ydata(), [floor, 0.2, 0.1, 0.05]
    )
    assert legend(ax)[-2:] == ["estimate 0: no place on a log axis", "band reaches 0 or below"]


def test_the_truth_is_drawn_dashed(ax):
    truth = xr.Dataset({"frr": ("far_level", EMPIRICAL / 2)}, coords={"far_level": FAR})
    fk.plot.roc(fk.band(tree(), "frr"), ax=ax, truth=truth)
    line = labelled(ax, "exact truth")
    np.testing.assert_array_equal(line.get_ydata(), EMPIRICAL / 2)
    assert line.get_linestyle() == "--"
    assert ax.get_ylim()[0] < EMPIRICAL.min() / 2


def test_curves_of_a_second_data_set_are_dashed_in_the_colours_of_the_first(ax):
    second = two_models()["empirical"]
    fk.plot.roc({"first": fk.band(two_models(), "frr")}, ax=ax, curves={"second": second})
    dashed = labelled(ax, "second, B")
    np.testing.assert_allclose(dashed.get_ydata(), 1.2 * EMPIRICAL)
    assert dashed.get_linestyle() == "--"
    assert dashed.get_color() == labelled(ax, "first, B").get_color()


def test_names_from_data_are_drawn_as_they_are(ax):
    fk.plot.roc({"_a $x$": fk.band(tree(), "frr")}, ax=ax)
    ax.figure.canvas.draw()
    assert legend(ax) == ["\u200b_a \\$x\\$"]


def test_a_band_of_a_number_is_no_curve(ax):
    with pytest.raises(fk.InputError, match="far_level or threshold_level"):
        fk.plot.roc(xr.Dataset({"estimate": 0.1}), ax=ax)


def test_no_bands_are_refused(ax):
    with pytest.raises(fk.InputError, match="empty"):
        fk.plot.roc({}, ax=ax)


def test_a_new_figure_is_made_where_no_axes_are_given():
    ax = fk.plot.roc(fk.band(tree(), "frr"))
    assert len(ax.lines) >= 1
    plt.close(ax.figure)


# --- fan ----------------------------------------------------------------------------------------------------
def test_the_fan_draws_every_replicate_the_empirical_curve_and_its_centre(ax):
    evaluation = tree()
    fk.plot.fan(fk.fan(evaluation), ax=ax)
    (bundle,) = [found for found in ax.collections if isinstance(found, LineCollection)]
    assert len(bundle.get_segments()) == 50
    np.testing.assert_allclose(bundle.get_segments()[7][:, 1], evaluation["replicates"].frr[7])
    np.testing.assert_array_equal(labelled(ax, "empirical").get_ydata(), EMPIRICAL)
    np.testing.assert_array_equal(labelled(ax, "V-statistic").get_ydata(), 0.9 * EMPIRICAL)
    assert legend(ax)[0] == "50 naive bootstrap curves"


def test_the_recentered_fan_says_so(ax):
    fk.plot.fan(fk.fan(tree(), recentered=True), ax=ax)
    assert legend(ax)[0] == "50 recentered bootstrap curves"


def test_a_fan_shows_one_model(ax):
    with pytest.raises(fk.InputError, match="over far_level, got model, far_level: select"):
        fk.plot.fan(fk.fan(two_models()), ax=ax)
    with pytest.raises(fk.InputError, match=r"what frkit.fan\(evaluation\) returned"):
        fk.plot.fan(tree(), ax=ax)
    fk.plot.fan(fk.fan(two_models()).sel(model="B"), ax=ax)
    np.testing.assert_allclose(labelled(ax, "empirical").get_ydata(), 1.2 * EMPIRICAL)


# --- difference ---------------------------------------------------------------------------------------------
def test_the_difference_has_a_linear_axis_and_a_line_of_no_difference(ax):
    fk.plot.difference(fk.compare(two_models(), "frr", models=("A", "B")), ax=ax)
    np.testing.assert_allclose(labelled(ax, "paired estimate").get_ydata(), -0.2 * EMPIRICAL)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "linear")
    assert labelled(ax, "no difference").get_ydata()[0] == 0
    assert ax.get_ylabel().startswith("A \u2212 B")
    assert "band of the paired difference" in ax.get_title(loc="left")


# --- studies ------------------------------------------------------------------------------------------------
def growing() -> xr.Dataset:
    truth = xr.DataArray(EMPIRICAL, dims="far_level", coords={"far_level": FAR})
    error = xr.DataArray([[0.04, 0.02], [0.02, 0.01]], dims=("seed", "size"))
    frr = (truth + error).assign_coords(seed=[0, 1], size=[4, 16])
    return xr.Dataset(
        {"frr": frr, "truth": truth, "n_images": ("size", [100, 400])},
        attrs={"exact": 1, "n_full": 0},
    )


def test_consistency_draws_every_seed_and_the_slope(ax):
    distances = fk.studies.sup_distance(growing())
    fk.plot.consistency(distances, ax=ax)
    dots = [line.get_ydata() for line in ax.lines if line.get_label() == "one dot a seed"]
    np.testing.assert_allclose(dots, distances.distance)
    np.testing.assert_array_equal(
        labelled(ax, "slope of 1/\u221an").get_ydata(), distances.reference
    )
    np.testing.assert_array_equal(labelled(ax, "root mean square").get_ydata(), distances.typical)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["100", "400"]


def test_growth_draws_the_seeds_of_one_size(ax):
    fk.plot.growth(growing(), 16, ax=ax, far=(1e-3, 1e-2))
    curves = [line.get_ydata() for line in ax.lines if "400 images" in line.get_label()]
    np.testing.assert_allclose(curves, [EMPIRICAL + 0.02, EMPIRICAL + 0.01])
    assert len(legend(ax)) == 2
    np.testing.assert_array_equal(labelled(ax, "exact truth").get_ydata(), EMPIRICAL)
    with pytest.raises(fk.InputError, match=r"no size 5 in this study; it has \[4, 16\]"):
        fk.plot.growth(growing(), 5, ax=ax)


def biased() -> xr.Dataset:
    sizes = xr.Variable("per_identity", [2, 10])
    fans = []
    for number in (2, 10):
        found = fk.fan(tree(centre=(1 - 1 / number) * EMPIRICAL))
        ends = found.replicates.quantile([0.1, 0.9], "replicate").drop_vars("quantile")
        both = xr.concat([ends, ends + found.estimate - found.centre], "interval")
        both = both.assign_coords(interval=["naive", "recentered"])
        fans.append(found.assign(lower=both[:, 0], upper=both[:, 1]))
    truth = xr.DataArray(EMPIRICAL, dims="far_level", coords={"far_level": FAR})
    words = {"words": "about these", "level": 0.8, "seed": 0}
    return xr.concat(fans, sizes).assign(truth=truth).assign_attrs(fans[0].attrs | words)


def test_bootstrap_bias_draws_both_intervals_at_the_level(ax):
    study = biased()
    fk.plot.bootstrap_bias(study, 1e-2, ax=ax)
    naive, recentered = ax.collections[:2]
    for drawn, name in ((naive, "naive"), (recentered, "recentered")):
        ends = np.array([segment[:, 1] for segment in drawn.get_segments()])
        expected = study.sel(far_level=1e-2, interval=name)
        np.testing.assert_allclose(ends, np.column_stack([expected.lower, expected.upper]))
    np.testing.assert_allclose(labelled(ax, "exact truth").get_ydata()[0], EMPIRICAL[2])
    assert "FAR 0.01" in ax.get_ylabel()


# --- what all figures share -----------------------------------------------------------------------------------
def linear(colour):
    channels = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def lab(light):
    """CIE L*a*b* of linear sRGB under D65."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x = to_xyz @ np.clip(light, 0, 1) / [0.95047, 1, 1.08883]
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


# Machado, Oliveira and Fernandes (2009), severity 1.
SEEN = {
    "all cones": np.eye(3),
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
}


@pytest.mark.parametrize("eyes", SEEN)
def test_colours_are_told_apart(eyes):
    *seen, unresolved = [
        lab(np.asarray(SEEN[eyes]) @ linear(colour)) for colour in (*COLOURS, UNRESOLVED)
    ]
    smallest = min(np.linalg.norm(a - b) for at, a in enumerate(seen) for b in seen[:at])
    assert smallest > {"all cones": 32, "deuteranopia": 17.5, "protanopia": 21}[eyes]
    assert min(np.linalg.norm(unresolved - one) for one in seen) > 11


def test_colours_have_contrast_on_white():
    luminance = [linear(colour) @ [0.2126, 0.7152, 0.0722] for colour in COLOURS]
    assert min(1.05 / (value + 0.05) for value in luminance) >= 3


def test_models_and_groups_keep_their_colours():
    assert list(curve_colours(["Cedar"])) == [COLOURS[2]]
    assert list(curve_colours(["first half, Ash", "first half, Cedar"])) == [COLOURS[0], COLOURS[2]]
    assert list(curve_colours(["split 1, Ash", "split 2, Ash"])) == list(COLOURS[:2])
    others = list(curve_colours(["mine", "Ash", "yours"]))
    assert others[1] == COLOURS[0]
    assert len(set(others)) == 3


def test_a_headline_and_one_legend():
    figure, axes = plt.subplots(1, 2, layout="constrained")
    for ax in axes:
        fk.plot.roc({"A $": fk.band(tree(), "frr")}, ax=ax)
    fk.plot.headline(figure, "Costs fall by 5 $ " + 30 * "and on ", one_legend=True)
    figure.canvas.draw()
    assert figure.get_suptitle().startswith("Costs fall by 5 \\$ and on")
    assert "\n" in figure.get_suptitle()
    assert [ax.get_legend() for ax in axes] == [None, None]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["A \\$"]
    plt.close(figure)


def test_a_shared_axis_is_named_once_in_each_row():
    figure, axes = plt.subplots(2, 2, sharey="row", layout="constrained")
    for ax in axes.flat:
        ax.set_ylabel("FRR")
    axes[1, 1].set_ylabel("FAR")
    fk.plot.headline(figure, "Both fall")
    assert [ax.get_ylabel() for ax in axes.flat] == ["FRR", "", "FRR", "FAR"]
    plt.close(figure)
    figure, axes = plt.subplots(1, 2)
    for ax in axes:
        ax.set_ylabel("FRR")
    fk.plot.headline(figure, "Scales differ")
    assert [ax.get_ylabel() for ax in axes] == ["FRR", "FRR"]
    plt.close(figure)


def test_lines_are_broken_evenly():
    words = "95 % recentered band, image scheme, 200 resamples"
    assert even_lines(words, 49) == [words]
    assert even_lines(words, 45) == ["95 % recentered band, image", "scheme, 200 resamples"]
    assert even_lines("", 20) == [] and even_lines("unbreakable" * 3, 20) == [
        "unbreakableunbreakab",
        "leunbreakable",
    ]


def test_a_single_level_has_a_mark_and_a_bar(ax):
    band = fk.band(tree(), "frr").isel(far_level=[1])
    fk.plot.roc(band, ax=ax)
    assert labelled(ax, "empirical curve").get_marker() == "o"
    (bar,) = [drawn for drawn in ax.collections if isinstance(drawn, LineCollection)]
    np.testing.assert_allclose(bar.get_segments()[0][:, 1], [band.lower.item(), band.upper.item()])


def test_no_errors_at_all_are_drawn(ax):
    attrs = {"fair": 1.0, "scale": "log", "label": "ratio"}
    nothing = xr.Dataset(
        {name: ("far_level", [np.nan, np.nan]) for name in ("estimate", "lower", "upper")}
    )
    fk.plot.fairness(nothing.assign_coords(far_level=[0.01, 0.1]).assign_attrs(attrs), ax=ax)
    ax.figure.canvas.draw()
    assert labelled(ax, "no value").get_xdata().tolist() == [0.01, 0.1]


def test_rates_of_zero_stand_at_the_foot_of_group_curves(ax):
    coords = {"far_level": [0.01, 0.1], "group": ["a", "b"]}
    rates = xr.Dataset(
        {
            name: (("far_level", "group"), np.zeros((2, 2)))
            for name in ("estimate", "lower", "upper")
        }
    )
    fk.plot.group_roc(rates.assign_coords(coords), rates.assign_coords(coords), ax=ax)
    ax.figure.canvas.draw()
    assert labelled(ax, "a rate of 0").get_xdata().size == 4
