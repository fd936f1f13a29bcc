"""Explorers: labelled controls beside figures that follow them."""

import asyncio
from threading import Thread
from types import SimpleNamespace

import ipywidgets as widgets
import pytest
import xarray as xr
from refusals import refused
from study_results import LEVELS, biased, growing
from widget_checks import controls_and_pictures, find, follows, picture

import frkit as fk
from frkit import plot
from frkit.base import warn
from frkit.figures.panel import Panel
from frkit.papers.roc import coverage_figures

MIX = fk.vmf.mixture(18, 8, seed=0, groups={"a": {"kappa": 9}, "b": {"kappa": (12, 30)}})
FAR = [0.05, 0.1, 0.2]
quiet = pytest.mark.filterwarnings("ignore::frkit.DataWarning")


def coverage():
    options = {"far": FAR, "replicates": 20, "seed": 3, "progress": False}
    return fk.studies.coverage(MIX, n_datasets=4, schemes=("image", "identity"), **options)


def n_sigma():
    scores = fk.score_tensor(MIX.sample(6, 1))
    options = dict(by="group", subsets=20, fpr=0.1)
    by_size = [fk.n_sigma(scores, subset_size=size, **options) for size in (4, 8)]
    sizes = xr.Variable("subset_size", [4, 8])
    return xr.concat(by_size, sizes, coords="different", compat="equals")


def indices():
    drawn = {kind: fk.canonical_scores(kind, sizes=(40, 40)) for kind in ("fair", "unfair")}
    options = dict(by="group", score_map="identity", bins=4)
    return {kind: fk.fairness_indices(table, **options) for kind, table in drawn.items()}


def leakage():
    rlb = xr.DataArray([[0.1, 0.3], [0.2, 0.5]], dims=("model", "case"))
    labels = {"model": ["A", "B"], "case": ["usual", "permuted"]}
    return xr.Dataset({"rlb": rlb, "rlb_se": rlb / 10}, labels, {"kind": "representation_bias"})


# --- study ---------------------------------------------------------------------------------------
MOVES = {
    growing: {"size of the parts": 4},
    biased: {"images per identity": 5, "FAR level": LEVELS[1]},
    coverage: {"FAR level": 0.2, "nominal coverage": 0.9, "scheme": "identity"},
    n_sigma: {"people in a subset": 4},
    indices: {"result": "unfair"},
    leakage: {"model": "B"},
}


@pytest.mark.slow
@quiet
@pytest.mark.parametrize("compute", MOVES)
def test_a_study_has_a_control_for_each_dimension_that_its_figures_do_not_show(compute):
    box = fk.explore.study(compute())
    first = picture(box)
    assert "image/png;base64" in first and 'alt=""' not in first
    labels = [getattr(child, "description", "") for child in controls_and_pictures(box)]
    assert {label for label in labels if label} == set(MOVES[compute])
    for description, value in MOVES[compute].items():
        control = find(box, description)
        before = control.value
        assert follows(box, description, value), description
        control.value = before
        assert picture(box) == first, "the same position gives the same picture"


@pytest.mark.slow
@quiet
def test_a_study_draws_what_is_chosen(monkeypatch):
    """The chosen labels are selected, except in the dimension along which a figure runs."""
    drawn = []
    monkeypatch.setattr(
        coverage_figures, "coverage", lambda study, along, ax: drawn.append((along, study))
    )
    study = coverage()
    box = fk.explore.study(study, far_level=0.12, level=0.8, scheme="identity")
    along_level, along_far = (part for _, part in drawn[-2:])
    assert [along for along, _ in drawn[-2:]] == ["level", "far_level"]
    xr.testing.assert_identical(along_level, study.sel(scheme="identity", far_level=0.1))
    xr.testing.assert_identical(along_far, study.sel(scheme="identity", level=0.8))
    find(box, "FAR level").value = 0.2
    xr.testing.assert_identical(drawn[-2][1], study.sel(scheme="identity", far_level=0.2))


@pytest.fixture(scope="module")
def evaluation():
    """Two models of people in groups that differ."""
    faces = fk.open_data({"Ash": MIX.sample(6, 1), "Birch": MIX.sample(6, 2)})
    draws = fk.Resampling("image", n=30)
    return fk.evaluate(fk.score_tensor(faces), far=[1e-3, *FAR], by="group", resampling=draws)


@pytest.mark.slow
@quiet
def test_bands_by_name_are_rates_or_disparities(evaluation, monkeypatch):
    drawn = []
    for name in ("roc", "fairness"):
        monkeypatch.setattr(plot, name, lambda bands, ax, zones=None: drawn.append((bands, zones)))
    for measure in ("frr_group", "frr_max_min"):
        methods = ("effective", "recentered")
        bands = {name: fk.band(evaluation, measure, method=name) for name in methods}
        box = fk.explore.study(bands)
        find(box, "result").value = "recentered"
        shown, zones = drawn[-1]
        xr.testing.assert_identical(shown, bands["recentered"])
    assert zones.identical(fk.decision_zones(bands["recentered"]))


@pytest.mark.slow
@quiet
def test_other_results_are_refused(evaluation):
    with refused("results", "fk.studies.consistency", "fk.band"):
        fk.explore.study(evaluation)
    with refused("results", "fk.band", "fk.fair_floor"):
        fk.explore.study(fk.fair_floor(evaluation, "frr_gini"))
    with pytest.raises(fk.InputError, match="of one kind"):
        fk.explore.study({"a": growing(), "b": biased()})
    with refused("results"):
        fk.explore.study({})
    with refused("colour"):
        fk.explore.study(biased(), colour="red")


@pytest.mark.slow
def test_an_explorer_starts_where_it_is_told():
    box = fk.explore.study(biased(), per_identity=9, far_level=0.25)
    assert find(box, "images per identity").value == 10, "the nearest that is offered"
    assert find(box, "FAR level").value == LEVELS[2]


# --- panel ---------------------------------------------------------------------------------------
def test_cautions_stand_under_the_figure_as_long_as_they_apply():
    def numbers(size):
        warn("<b>few</b>")
        return size

    def show(ax, data, level):
        if level > 1:
            warn("high")

    controls = {"size": widgets.IntSlider(1), "level": widgets.IntSlider(2)}
    panel = Panel(controls, show, show, prepare=numbers)
    few = "<li>&lt;b&gt;few&lt;/b&gt;</li>"
    assert panel.cautions.value == f"<ul>{few}<li>high</li></ul>", "each is said once"
    controls["level"].value = 0
    assert panel.cautions.value == f"<ul>{few}</ul>", "the data are the same"


def test_steps_that_come_late_are_skipped_and_pictures_change_together(monkeypatch):
    """In a kernel steps queue up while a figure is drawn."""
    drawn = {"left": [], "right": []}

    def left(ax, _data, level):
        drawn["left"].append(level)

    def right(ax, _data, level):
        drawn["right"].append(level)
        assert drawn["left"][-1] == level
        assert not pictures or [each.image.value for each in pictures] == before

    pictures = []
    level = widgets.IntSlider(0)
    panel = Panel({"level": level}, left, right)
    pictures = panel.pictures
    before = [each.image.value for each in pictures]

    async def drag():
        for step in range(1, 9):
            level.value = step
        await asyncio.sleep(0.2)

    kernel = SimpleNamespace(kernel=object())
    monkeypatch.setattr("frkit.figures.panel.get_ipython", lambda: kernel)
    thread = Thread(target=asyncio.run, args=[drag()])  # a browser's loop may run in this one
    thread.start()
    thread.join()
    assert drawn == {"left": [0, 8], "right": [0, 8]}


def test_data_are_prepared_once_for_each_question():
    """Moving a step computes nothing; and nothing of an earlier question is kept."""
    asked = []
    controls = {"step": widgets.IntSlider(0), "model": widgets.IntSlider(0)}

    def prepare(model):
        asked.append(model)

    def show(ax, _data, step):
        ax.plot([step])

    Panel(controls, show, prepare=prepare)
    controls["step"].value = 3
    assert asked == [0]
    controls["model"].value = 1
    controls["model"].value = 0
    assert asked == [0, 1, 0]


def test_an_error_of_a_slider_stands_under_the_figure_and_goes():
    def failing(ax, _data, level):
        if level > 1:
            raise fk.InputError("level must be <small>")

    level = widgets.FloatSlider(0.5, max=2)
    panel = Panel({"level": level}, failing)
    level.value = 1.5
    assert 'role="alert">level must be &lt;small&gt;<' in panel.cautions.value
    assert panel.pictures[0].image.layout.visibility == "hidden"
    level.value = 0.7
    assert panel.cautions.value == ""
    assert panel.pictures[0].image.layout.visibility == "visible"


def test_a_guess_is_drawn_into_the_figure_that_answers():
    drawn = []
    box = fk.explore.predict("How high?", drawn.append, low=0, high=10, answer=7)
    assert follows(box, "your guess", 2.0) and drawn == []
    find(box, "Show what was found").value = True
    (ax,) = drawn
    assert ax.get_title(loc="left") == "your guess (thick line): 2; the result: 7"
    assert [line.get_ydata()[0] for line in ax.lines] == [2.0]
