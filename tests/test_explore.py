"""Explorers: labelled controls, figures that follow them, cautions beneath, and work that stops."""

import time
import warnings
from types import SimpleNamespace

import ipywidgets as widgets
import pytest
from test_plot import LEVELS, biased, growing
from trees import FAR, tree, two_models

import frkit as fk
from frkit.explore.panel import Panel


def controls_and_pictures(box):
    """What an explorer shows, in order."""
    rows = [getattr(child, "children", (child,)) for child in box.children]
    return [child for row in rows for child in row]


def find(box, description):
    """The one control with this label."""
    children = controls_and_pictures(box)
    return next(child for child in children if getattr(child, "description", "") == description)


def picture(box) -> bytes:
    """All pictures of an explorer."""
    children = controls_and_pictures(box)
    return b"".join(bytes(child.value) for child in children if isinstance(child, widgets.Image))


def follows(box, description, value) -> bool:
    """True where moving a control changes the figure."""
    before = picture(box)
    find(box, description).value = value
    return picture(box) != before


MOVES = {
    "roc": (two_models, {"interval": "naive", "nominal level": 0.6}),
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


def test_roc_offers_the_models_and_several_evaluations():
    box = fk.explore.roc({"split 1": two_models(), "split 2": tree()})
    chooser = find(box, "curves (Ctrl for several)")
    assert [words for words, _ in chooser.options] == ["split 1, A", "split 1, B", "split 2"]
    assert follows(box, "curves (Ctrl for several)", [("split 2", "")])
    assert follows(box, "curves (Ctrl for several)", [])


def test_cautions_stand_under_the_figure_and_are_escaped():
    box = fk.explore.roc(tree(resolved=[False] + [True] * (FAR.size - 1)))
    (notes,) = [child for child in box.children if type(child) is widgets.HTML]
    assert "fewer than ten errors" in notes.value
    find(box, "FAR range").value = (FAR[0], FAR[-2])
    assert "fewer than ten errors" in notes.value, "a caution stays as long as it applies"

    def show(ax):
        warnings.warn("<script>alert(1)</script>", fk.DataWarning, stacklevel=1)

    escaped = "<ul><li>&lt;script&gt;alert(1)&lt;/script&gt;</li></ul>"
    assert Panel({}, show, show).cautions.value == escaped, "and each is said once"


def test_an_explorer_starts_where_it_is_told():
    box = fk.explore.bootstrap_bias(biased(), per_identity=9, far=0.25, moved=True)
    assert find(box, "images per identity").value == 10, "the nearest that is offered"
    assert find(box, "FAR level").value == LEVELS[2]
    chosen = find(fk.explore.roc(two_models(), far=(FAR[1], FAR[2])), "FAR range").value
    assert chosen == (FAR[1], FAR[2])


def test_wrong_input_is_refused():
    with pytest.raises(fk.InputError, match="no control 'colour'"):
        fk.explore.roc(two_models(), colour="red")
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
