"""Figures draw the numbers they are given: the drawn data is tested, not the pixels."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from drawn_ends import band_ends, interval_ends
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from refusals import noticed, refused
from study_results import biased, growing
from trees import EMPIRICAL, FAR, tree, two_models

import frkit as fk
from frkit.figures.style import UNRESOLVED


def labelled(ax, label):
    """The one line whose legend entry contains the words."""
    (line,) = [line for line in ax.lines if label in str(line.get_label())]
    return line


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# --- roc -----------------------------------------------------------------------------------------
def test_roc_draws_the_estimate_and_the_ends_of_the_band(ax):
    band = fk.band(tree(), "frr", level=0.9)
    assert fk.plot.roc(band, ax=ax) is ax
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    title = ax.get_title(loc="left")
    assert "90 % recentered band, image scheme, 50 replicates" in title
    assert "about these 30 identities, new images" in title
    np.testing.assert_array_equal(labelled(ax, "empirical curve").get_ydata(), EMPIRICAL)
    ends = np.transpose([band.lower, band.upper])
    np.testing.assert_allclose(band_ends(ax.collections[-1], FAR), ends)


def test_bands_by_name_and_by_model_each_get_a_curve_of_their_own_colour(ax):
    bands = {"first": fk.band(tree(), "frr"), "second": fk.band(two_models(), "frr")}
    fk.plot.roc(bands, ax=ax)
    assert legend(ax) == ["first", "second, A", "second, B"]
    np.testing.assert_allclose(labelled(ax, "second, B").get_ydata(), 1.2 * EMPIRICAL)
    assert len({labelled(ax, label).get_color() for label in legend(ax)}) == 3


def test_unresolved_levels_are_dotted_on_grey(ax):
    with noticed("FRR", "FAR 0.0001 to 0.001"):
        band = fk.band(tree(resolved=[False, False, True, True]), "frr")
    fk.plot.roc(band, ax=ax)
    (grey,) = [drawn for drawn in ax.collections if drawn.get_label() == "fewer than ten errors"]
    assert to_hex(grey.get_facecolor()[0]) == UNRESOLVED.lower()
    (dotted,) = [line for line in ax.lines if line.get_linestyle() == ":"]
    np.testing.assert_array_equal(np.isfinite(dotted.get_ydata()), [True, True, True, False])
    coloured = np.isfinite(labelled(ax, "empirical").get_ydata())
    np.testing.assert_array_equal(coloured, [False, False, True, True])
    fk.plot.roc({"first": band, "second": band}, ax=plt.figure().add_subplot())
    assert legend(plt.gca()) == ["first", "second", "fewer than ten errors"], "curves come first"


def test_a_single_level_has_an_interval_and_its_name(ax):
    band = fk.band(two_models(), "frr").isel(far_level=[1])
    fk.plot.roc(band, ax=ax)
    ends = [interval_ends(lines)[0] for lines in ax.collections]
    np.testing.assert_allclose(ends, np.column_stack([band.lower, band.upper]))
    assert legend(ax) == ["A", "B"]
    points = [line.get_ydata().item() for line in ax.lines]
    np.testing.assert_allclose(points, band.estimate.values.ravel())


def test_zeros_are_visible_at_the_foot_of_the_log_axis(ax):
    band = fk.band(tree([0.0, 0.2, 0.1, 0.05]), "frr")
    band.lower[1] = -0.01
    fk.plot.roc(band, ax=ax)
    floor = ax.get_ylim()[0]
    marks = [line for line in ax.lines if line.get_marker() == "v" and len(line.get_xdata())]
    assert [line.get_xdata().tolist() for line in marks] == [[FAR[0]], [FAR[1]]]
    assert all(line.get_ydata()[0] == floor for line in marks)
    drawn = labelled(ax, "empirical curve").get_ydata()
    np.testing.assert_array_equal(drawn, [floor, 0.2, 0.1, 0.05])


def test_the_truth_is_drawn_dashed(ax):
    truth = xr.Dataset({"frr": ("far_level", EMPIRICAL / 2)}, coords={"far_level": FAR})
    fk.plot.roc(fk.band(tree(), "frr"), ax=ax, truth=truth)
    line = labelled(ax, "exact truth")
    np.testing.assert_array_equal(line.get_ydata(), EMPIRICAL / 2)
    assert line.get_linestyle() == "--"
    assert ax.get_ylim()[0] < EMPIRICAL.min() / 2


def test_a_det_curve_has_probit_axes(ax):
    fk.plot.roc(fk.band(tree(), "frr"), ax=ax, scale="det")
    for axis in (ax.xaxis, ax.yaxis):
        steps = np.diff(axis.get_transform().transform(np.array([0.1, 0.5, 0.9])))
        assert steps[0] == pytest.approx(steps[1])


def test_other_results_are_refused(ax):
    with refused("bands", "plot.difference"):
        fk.plot.roc(fk.compare(two_models(), "frr", models=("A", "B")), ax=ax)
    with refused("replicates", "far_level", "model", ".sel"):
        fk.plot.replicate_curves(fk.replicate_curves(two_models()), ax=ax)


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_wrong_kinds_of_arguments_have_a_message():
    frr = fk.band(tree(), "frr")
    scores = fk.score_tensor(fk.vmf.mixture(20, 16, seed=0).sample(per_identity=6))
    evaluation = fk.evaluate(scores, threshold=[0.4])
    at_thresholds = [fk.band(evaluation, rate) for rate in ("far", "frr")]
    calls = {
        "ax=axes[0]": lambda: fk.plot.roc(frr, ax=[1]),
        "figure": lambda: fk.plot.headline(None, "finding"),
        "mixture.population_roc(far)": lambda: fk.plot.roc(frr, truth=3),
        "at": lambda: fk.plot.points_on_roc(*at_thresholds, at="x"),
    }
    for message, call in calls.items():
        with refused(message):
            call()


# --- fan and difference --------------------------------------------------------------------------
def test_the_fan_draws_every_replicate_the_empirical_curve_and_its_centre(ax):
    evaluation = tree()
    fk.plot.replicate_curves(fk.replicate_curves(evaluation), ax=ax)
    (bundle,) = [drawn for drawn in ax.collections if isinstance(drawn, LineCollection)]
    assert len(bundle.get_segments()) == 50
    np.testing.assert_allclose(bundle.get_segments()[7][:, 1], evaluation["replicates"].frr[7])
    np.testing.assert_array_equal(labelled(ax, "empirical").get_ydata(), EMPIRICAL)
    np.testing.assert_array_equal(labelled(ax, "V-statistic").get_ydata(), 0.9 * EMPIRICAL)


def test_the_difference_has_a_linear_axis_and_a_line_of_no_difference(ax):
    comparison = fk.compare(two_models(), "frr", models=("A", "B"))
    fk.plot.difference(comparison, ax=ax)
    ends = np.transpose([comparison.lower, comparison.upper])
    np.testing.assert_allclose(band_ends(ax.collections[0], FAR), ends)
    np.testing.assert_allclose(labelled(ax, "paired estimate").get_ydata(), -0.2 * EMPIRICAL)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "linear")
    assert labelled(ax, "no difference").get_ydata()[0] == 0
    assert ax.get_ylabel().startswith("A \u2212 B")
    assert "band of the paired difference" in ax.get_title(loc="left")


def test_the_differences_of_all_models_are_drawn_by_their_names(ax):
    evaluation = two_models()
    comparison = fk.compare(evaluation, "frr", models=("A", "B"))
    several = fk.compare(evaluation, "frr", models="all")
    fk.plot.difference(several, ax=ax)
    line = labelled(ax, "A \u2212 B").get_ydata()
    np.testing.assert_allclose(line, comparison.estimate)


# --- studies -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_consistency_draws_every_seed_and_the_slope(ax):
    distances = fk.studies.sup_distance(growing())
    fk.plot.consistency(distances, ax=ax)
    typical, slope, *dots = [line.get_ydata() for line in ax.lines]
    np.testing.assert_array_equal(typical, distances.typical)
    np.testing.assert_array_equal(slope, distances.reference)
    np.testing.assert_allclose(dots[:2], distances.distance)


def test_growth_draws_the_seeds_of_one_size(ax):
    result = growing()
    fk.plot.growth(result, 16, ax=ax)
    curves = [line.get_ydata() for line in ax.lines if "320 images" in line.get_label()]
    np.testing.assert_allclose(curves, result.frr.sel(size=16).transpose("seed", ...))
    np.testing.assert_allclose(labelled(ax, "exact truth").get_ydata(), result.truth)


def test_bootstrap_bias_draws_both_intervals_at_the_level(ax):
    study = biased()
    fk.plot.bootstrap_bias(study, 0.2, ax=ax)
    for drawn, name in zip(ax.collections[:2], ("naive", "recentered"), strict=True):
        ends = interval_ends(drawn)
        expected = study.sel(far_level=0.2, interval=name)
        np.testing.assert_allclose(ends, np.column_stack([expected.lower, expected.upper]))
    np.testing.assert_allclose(labelled(ax, "exact truth").get_ydata()[0], study.truth[2])


# --- what all figures share ----------------------------------------------------------------------
def test_a_dollar_in_a_headline_begins_no_formula(ax):
    fk.plot.headline(ax.figure, "It costs $5")
    assert ax.figure.get_suptitle() == r"It costs \$5"


@pytest.mark.parametrize(
    ("place", "inches", "points"),
    [("notebook", (6.4, 4.4), 9), ("hall", (12.8, 7.2), 18), ("paper", (3.5, 2.6), 8)],
)
def test_a_theme_has_the_size_and_the_type_of_its_place(place, inches, points):
    with plt.rc_context():
        fk.plot.set_theme(place)
        ax = fk.plot.roc(fk.band(tree(), "frr"))
        fk.plot.headline(ax.figure, "The rate of false rejects falls as the rate of false accepts")
        ax.figure.canvas.draw()
        assert tuple(ax.figure.get_size_inches()) == inches
        assert ax.xaxis.label.get_size() == pytest.approx(points * 19 / 18)
        assert (
            ax.get_legend().texts[0].get_size()
            == ax.yaxis.majorTicks[0].label1.get_size()
            == points
        )
        drawn = ax.figure.get_tightbbox()
        assert min(drawn.x0, drawn.y0) >= 0 and drawn.x1 <= inches[0] and drawn.y1 <= inches[1]
    plt.close("all")


def test_a_figure_made_for_a_notebook_has_the_same_layout_in_a_hall():
    with plt.rc_context():
        fk.plot.set_theme("hall")
        for inches, expected in (((5, 3), (10, 6)), ((12.8, 4), (12.8, 4))):
            figure, _ = plt.subplots(figsize=inches)
            fk.plot.headline(figure, "A finding")
            fk.plot.headline(figure, "The same in other words")
            assert tuple(figure.get_size_inches()) == expected
    plt.close("all")


def test_a_theme_of_another_place_is_refused():
    with refused("shown_in", "poster"):
        fk.plot.set_theme("poster")
