"""Explorers: labelled controls, figures that follow them, cautions beneath, and work that stops."""

import time
import warnings
from itertools import product
from types import SimpleNamespace

import ipywidgets as widgets
import numpy as np
import pytest
import xarray as xr
from study_results import LEVELS, biased, growing
from widget_checks import controls_and_pictures, find, follows, picture

import frkit as fk
from frkit import plot
from frkit.base import warn
from frkit.explore.panel import Panel

MOVES = {
    "consistency": (growing, {"images per identity": 16, "FAR range": (LEVELS[1], LEVELS[2])}),
    "bootstrap_bias": (biased, {"images per identity": 10, "FAR level": LEVELS[1]}),
}


@pytest.mark.parametrize("name", MOVES)
def test_the_figure_follows_every_control(name):
    make, moves = MOVES[name]
    box = getattr(fk.explore, name)(make())
    first = picture(box)
    assert first.startswith(b"\x89PNG")
    for description, value in moves.items():
        control = find(box, description)
        before = control.value
        assert follows(box, description, value), description
        control.value = before
        assert picture(box) == first, "the same position gives the same picture"


# --- kept pairs ----------------------------------------------------------------------------------
FAR = [0.05, 0.1, 0.2]
QUESTIONS = {
    "groups": ("group", dict(by="group")),
    "interval": ("recentered", dict(resampling=fk.Resampling("image", n=100))),
    "resampling": ("identity", dict(resampling=fk.Resampling("identity", n=100))),
    "replicates": (25, dict(resampling=fk.Resampling("identity", n=25))),
    "weighting": ("pair", dict(weighting="pair")),
    "impostor pairs": ("group", dict(impostors={"group": "same"})),
}


@pytest.fixture(scope="module")
def scores():
    """Two models of people of unequal numbers of images, in groups that differ."""
    mix = fk.vmf.mixture(18, 8, seed=0, groups={"a": {"kappa": 9}, "b": {"kappa": (12, 30)}})
    models = {"Ash": mix.sample(6, 1), "Birch": mix.sample(6, 2)}
    faces = fk.open_data({name: faces.isel(image=slice(100)) for name, faces in models.items()})
    return fk.score_tensor(faces)


@pytest.fixture
def drawn(monkeypatch):
    """What the figures of rates and of fairness were given, the last ones last."""
    results = []
    for name in ("roc", "fairness"):
        monkeypatch.setattr(plot, name, lambda bands, ax, **_others: results.append(bands))
    return results


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
@pytest.mark.parametrize("explorer", ["roc", "fairness"])
def test_every_control_of_kept_pairs_is_answered_at_once(scores, drawn, explorer):
    box = getattr(fk.explore, explorer)(fk.sweep(scores), far=FAR)
    options = {} if explorer == "roc" else dict(by="group")
    measure = "frr" if explorer == "roc" else "frr_max_geomean"
    method = "effective"
    for label, (value, changes) in QUESTIONS.items():
        find(box, label).value = value
        options |= changes
        if label == "groups" and explorer == "roc":
            measure = "frr_group"
        if label == "interval":
            method = value
        evaluation = fk.evaluate(scores.sel(model=["Ash"]), far=FAR, **options)
        expected = fk.band(evaluation, measure, method=method)
        xr.testing.assert_identical(drawn[-1], expected)
    find(box, "models (Ctrl: several)").value = ["Ash", "Birch"]
    find(box, "FAR range").value = (0.1, 0.2)
    evaluation = fk.evaluate(scores, far=FAR, **options)
    expected = fk.band(evaluation, measure, method=method).sel(far_level=slice(0.1, 0.2))
    xr.testing.assert_identical(drawn[-1], expected)
    assert not [child for child in controls_and_pictures(box) if isinstance(child, widgets.Button)]


def test_a_list_of_pairs_is_asked_only_what_it_can_answer(drawn):
    draws = np.random.default_rng(0)
    people = np.repeat([f"id{k}" for k in range(12)], 5)
    first, second = np.array([*product(people[::5], people[::5]), *zip(people, people)]).T
    score = draws.normal(size=len(first)) + 2 * (first == second)
    named = fk.pairs(score, probe_identity=first, reference_identity=second)
    assert find(fk.explore.roc(named, far=FAR), "weighting").value == "pair"
    nameless = fk.pairs(score, genuine=first == second)
    with warnings.catch_warnings(action="ignore"):
        expected = fk.band(fk.evaluate(nameless, far=FAR), "frr")
    box = fk.explore.roc(nameless, far=FAR)
    xr.testing.assert_identical(drawn[-1], expected)
    assert find(box, "interval").options == ("effective",)
    assert find(box, "resampling").disabled
    with pytest.raises(fk.InputError, match="no attribute with two groups"):
        fk.explore.fairness(named, far=FAR)


def test_controls_that_change_nothing_are_disabled(scores):
    box = fk.explore.roc(scores, far=FAR)
    assert find(box, "resampling").disabled and find(box, "replicates").disabled
    find(box, "interval").value = "naive"
    assert not find(box, "resampling").disabled and not find(box, "replicates").disabled


def test_cautions_stand_under_the_figure_and_are_escaped(scores):
    box = fk.explore.roc(scores, far=[1e-3, *FAR])
    (notes,) = [child for child in box.children if type(child) is widgets.HTML]
    assert "fewer than ten false accepts" in notes.value
    find(box, "FAR range").value = (FAR[0], FAR[-2])
    assert "fewer than ten false accepts" in notes.value, "a caution stays as long as it applies"

    def show(ax):
        warn("<script>alert(1)</script>")

    escaped = "<ul><li>&lt;script&gt;alert(1)&lt;/script&gt;</li></ul>"
    assert Panel({}, show, show).cautions.value == escaped, "and each is said once"


def test_an_explorer_starts_where_it_is_told(scores):
    box = fk.explore.bootstrap_bias(biased(), per_identity=9, far=0.25, moved=True)
    assert find(box, "images per identity").value == 10, "the nearest that is offered"
    assert find(box, "FAR level").value == LEVELS[2]
    box = fk.explore.roc(scores, far=FAR, far_range=(0.1, 0.2))
    assert find(box, "FAR range").value == (0.1, 0.2)


def test_wrong_input_is_refused(scores):
    with pytest.raises(fk.InputError, match="no control 'colour'"):
        fk.explore.roc(scores, far=FAR, colour="red")
    with pytest.raises(fk.InputError, match="result must be what"):
        fk.explore.consistency(biased())


def test_an_error_of_a_slider_stands_under_the_figure_and_goes():
    def failing(ax, level):
        if level > 1:
            raise fk.InputError("level must be <small>")

    level = widgets.FloatSlider(0.5, max=2)
    panel = Panel({"level": level}, failing)
    level.value = 1.5
    assert 'role="alert">level must be &lt;small&gt;<' in panel.cautions.value
    level.value = 0.7
    assert panel.cautions.value == ""


def test_a_guess_is_drawn_into_the_figure_that_answers():
    drawn = []
    box = fk.explore.predict("How high?", drawn.append, low=0, high=10, answer=7)
    assert follows(box, "your guess", 2.0) and drawn == []
    find(box, "Show what was found").value = True
    (ax,) = drawn
    assert ax.get_title(loc="left") == "your guess (thick line): 2; the result: 7"
    assert [line.get_ydata()[0] for line in ax.lines] == [2.0]


def working(compute):
    """A panel with a button that computes, as in a notebook: the button returns at once."""
    size = widgets.IntSlider(10, max=100)
    panel = Panel({}, lambda ax: ax.plot([0, 1]))
    panel.box("Run", lambda size, progress: compute(progress), size=size)
    return panel.work, size


def test_a_study_can_be_stopped(monkeypatch):
    kernel = SimpleNamespace(kernel=object())
    monkeypatch.setattr("frkit.explore.work.get_ipython", lambda: kernel)
    finished = []

    def compute(progress):
        for step in range(2000):
            time.sleep(0.005)
            progress(step / 2000)
        finished.append(True)

    work, size = working(compute)
    work.button.click()
    assert work.button.disabled and size.disabled and not work.stop_button.disabled
    assert work.bar.layout.visibility == "visible"
    work.stop_button.click()
    work.thread.join(5)
    assert not work.thread.is_alive() and finished == []
    assert "stopped" in work.words.value and work.bar.layout.visibility == "hidden"
    assert not work.button.disabled and not size.disabled and work.stop_button.disabled


def test_what_fails_in_a_study_becomes_words():
    def compute(progress):
        raise ZeroDivisionError("<zero>")

    work, size = working(compute)
    size.value = 20
    assert "press the button" in work.words.value
    work.button.click()
    assert "ZeroDivisionError: &lt;zero&gt;" in work.words.value and not work.button.disabled
