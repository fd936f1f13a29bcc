"""Explorers: labelled controls, a figure that follows them, cautions beneath it, and text that is escaped."""

import io
import time
import warnings

import figure_checks
import ipywidgets as widgets
import numpy as np
import pytest
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.image import imread
from test_plot import biased, growing
from trees import FAR, provenance, tree, two_models

import frkit as fk
from frkit.explore.panel import Panel, remembered
from frkit.explore.roc import chosen_bands
from frkit.explore.studies import recentered


def find(box, description):
    """The one control with this label."""
    rows = [
        child.children if isinstance(child, widgets.HBox) else (child,) for child in box.children
    ]
    (control,) = [
        child for row in rows for child in row if getattr(child, "description", None) == description
    ]
    return control


def pictures(box) -> list[widgets.Image]:
    """One for each panel of the figure."""
    (row,) = [
        child
        for child in box.children
        if isinstance(getattr(child, "children", [None])[0], widgets.Image)
    ]
    return row.children


def picture(box) -> bytes:
    return b"".join(bytes(image.value) for image in pictures(box))


def follows(box, description, value) -> bool:
    """True where moving a control changes the figure."""
    before = picture(box)
    find(box, description).value = value
    return picture(box) != before


BOXES = {
    "roc": (lambda: fk.explore.roc(two_models()), {"interval": "naive", "nominal level": 0.6}),
    "consistency": (lambda: fk.explore.consistency(growing()), {"images per identity": 16}),
    "bias": (
        lambda: fk.explore.bootstrap_bias(biased()),
        {"images per identity": 10, "FAR level": FAR[1]},
    ),
}


@pytest.mark.parametrize("name", BOXES)
def test_the_figure_follows_every_control(name):
    make, moves = BOXES[name]
    box = make()
    assert picture(box).startswith(b"\x89PNG")
    for description, value in moves.items():
        assert follows(box, description, value), description


@pytest.fixture
def panels(monkeypatch):
    """Explorers give their panels in place of what a page shows."""
    monkeypatch.setattr(Panel, "box", lambda panel, *_: panel)


@pytest.mark.usefixtures("panels")
def test_each_panel_of_a_figure_is_a_whole_picture():
    """They stand one below the other where the page is narrow: nothing is drawn across the line between them."""
    panel = fk.explore.bootstrap_bias(biased())
    for canvas, image in zip(panel.canvases, panel.pictures.children, strict=True):
        shown, drawn = (
            imread(io.BytesIO(image.value), format="png"),
            np.asarray(canvas.buffer_rgba()) / 255,
        )
        np.testing.assert_allclose(shown, drawn[..., :3], atol=1e-6)
        assert (shown[:, 0] == 1).all() and (shown[:, -1] == 1).all() and (drawn[..., 3] == 1).all()
    assert panel.pictures.layout.flex_flow == "row wrap"


@pytest.mark.usefixtures("panels")
@pytest.mark.parametrize("name", BOXES)
def test_words_and_ticks_that_stay_change_no_pixel(name):
    """From one picture to the next they are kept, wherever the controls were before."""
    make, moves = BOXES[name]
    panel = make()
    before = [image.value for image in panel.pictures.children]
    for control in panel.controls.values():
        for description, value in moves.items():
            if control.description == description:
                first, control.value = control.value, value
                control.value = first
    assert [image.value for image in panel.pictures.children] == before
    for canvas in panel.canvases:
        again = FigureCanvasAgg(canvas.figure)
        again.draw()
        apart = np.abs(
            np.asarray(again.buffer_rgba()).astype(int) - np.asarray(canvas.buffer_rgba())
        )
        assert apart.max() <= 3 and len(canvas.renderer.kept) > 5


def test_a_figure_is_drawn_again_only_where_a_control_of_its_own_was_moved():
    drawn = []
    controls = {name: widgets.IntSlider(1) for name in ("far", "level", "rest")}
    panel = Panel(controls, lambda ax, far, **more: drawn.append(("left", far, more)),
                  lambda ax, far, level: drawn.append(("right", far, level)))  # fmt: skip
    assert drawn == [("left", 1, {"rest": 1}), ("right", 1, 1)]
    moves = {"far": [("left", 2, {"rest": 1}), ("right", 2, 1)], "level": [("right", 2, 2)]}
    for name, expected in (moves | {"rest": [("left", 2, {"rest": 2})]}).items():
        drawn.clear()
        controls[name].value = 2
        assert drawn == expected
    drawn.clear()
    panel.redraw()
    assert len(drawn) == 2, "after new data all of them"


@pytest.mark.usefixtures("panels")
def test_ticks_that_a_figure_removed_stay_away():
    """Small ticks came back between ticks that a figure sets itself, and one lay over another."""

    def show(ax):
        ax.set(xscale="log", xlim=(5, 50))
        ax.set_xticks([17, 50], ["17", "50"])
        ax.set_xticks([], minor=True)

    (canvas,) = Panel({}, show).canvases
    assert (
        canvas.ax.xaxis.get_minorticklocs().size == 0 and figure_checks.faults(canvas.figure) == []
    )


@pytest.mark.usefixtures("panels")
@pytest.mark.parametrize(
    "far", [(1e-3, 1e-2), (2e-4, 6e-3), (1.8e-4, 5.6e-3), (3e-3, 5e-3), (1e-4, 1e-1)]
)
def test_words_of_ticks_have_room(far):
    """On an axis of a decade or two the words of all nine ticks between powers of ten lay over each other."""

    def show(ax):
        ax.set(xscale="log", xlim=far, xlabel="FAR")

    assert figure_checks.faults(Panel({}, show).canvases[0].figure) == []


@pytest.mark.parametrize("name", BOXES)
def test_every_control_has_a_label(name):
    box = BOXES[name][0]()
    controls = [child for child in box.children if isinstance(child, widgets.ValueWidget)]
    described = [child for child in controls if not isinstance(child, widgets.Image | widgets.HTML)]
    assert len(described) >= 2
    assert all(child.description for child in described)


def test_roc_offers_the_models_and_several_evaluations():
    box = fk.explore.roc({"split 1": two_models(), "split 2": tree()})
    chooser = find(box, "curves (Ctrl for several)")
    assert [words for words, _ in chooser.options] == ["split 1, A", "split 1, B", "split 2"]
    assert follows(box, "curves (Ctrl for several)", [("split 2", "")])
    assert follows(box, "curves (Ctrl for several)", [])


def test_selecting_bands_is_a_pure_function():
    evaluation = two_models()
    whole = fk.band(evaluation, "frr", method="naive", level=0.9)
    found = chosen_bands({"": whole}.get, (("", "B"),), (1e-3, 1e-2))
    assert list(found) == [""]
    expected = whole.sel(model=["B"], far_level=[1e-3, 1e-2])
    xr.testing.assert_equal(found[""], expected)


def test_cautions_stand_under_the_figure_and_are_escaped():
    evaluation = tree(resolved=[False] + [True] * (FAR.size - 1))
    box = fk.explore.roc(evaluation)
    (notes,) = [child for child in box.children if type(child) is widgets.HTML]
    assert "fewer than ten errors" in notes.value
    find(box, "FAR range").value = (FAR[0], FAR[-2])
    assert "fewer than ten errors" in notes.value, "a caution stays as long as it holds"

    def show(ax):
        warnings.warn("<script>alert(1)</script>", fk.DataWarning, stacklevel=1)

    assert (
        Panel({}, show).cautions.value == "<ul><li>&lt;script&gt;alert(1)&lt;/script&gt;</li></ul>"
    )


def test_consistency_reduces_over_the_chosen_range(monkeypatch):
    asked = []

    def distances(result, far):
        asked.append((result.sizes["far_level"], far))
        return sup_distance(result, far)

    sup_distance = fk.studies.sup_distance
    monkeypatch.setattr(fk.studies, "sup_distance", distances)
    box = fk.explore.consistency(growing())
    find(box, "FAR range").value = (FAR[1], FAR[2])
    assert asked == [(4, (FAR[0], FAR[3])), (4, (FAR[1], FAR[2]))]


def test_the_recentered_selection_moves_the_fan_to_the_estimate():
    study = biased()
    naive = study.sel(per_identity=2)
    moved = recentered(naive)
    gap = (moved.replicates - naive.replicates).isel(replicate=0)
    np.testing.assert_allclose(gap, 0.5 * naive.estimate)


def test_the_button_draws_new_data(monkeypatch):
    asked = {}

    def again(mixture, **settings):
        asked.update(settings, mixture=mixture)
        return biased().assign_attrs(seed=settings["seed"])

    monkeypatch.setattr(fk.studies, "bootstrap_bias", again)
    mixture = fk.vmf.mixture(4, 8, kappa=9, seed=0)
    box = fk.explore.bootstrap_bias(biased(), mixture=mixture)
    find(box, "Draw new data and bootstrap them").click()
    assert (asked["mixture"], asked["seed"], asked["n"], asked["per_identity"]) == (
        mixture,
        1,
        50,
        (2, 10),
    )
    find(box, "Draw new data and bootstrap them").click()
    assert asked["seed"] == 2


def test_roc_needs_far_levels():
    evaluation = xr.DataTree.from_dict(
        {"empirical": xr.Dataset({"frr": ("threshold_level", [0.1])})}
    )
    evaluation.attrs["provenance"] = provenance()
    with pytest.raises(fk.InputError, match="no FAR levels"):
        fk.explore.roc(evaluation)


def test_an_explorer_starts_where_it_is_told():
    box = fk.explore.bootstrap_bias(biased(), per_identity=9, far=2e-2, moved=True)
    assert find(box, "images per identity").value == 10, "the nearest that is offered"
    assert find(box, "FAR level").value == FAR[2]
    assert find(box, "bootstrap curves").value is True
    assert find(fk.explore.roc(two_models(), far=(FAR[1], FAR[2])), "FAR range").value == (
        FAR[1],
        FAR[2],
    )
    with pytest.raises(fk.InputError, match="no control 'colour'"):
        fk.explore.roc(two_models(), colour="red")
    with pytest.raises(fk.InputError, match="choose from"):
        fk.explore.roc(two_models(), method="best")


def failing(ax, level):
    if level > 1:
        raise fk.InputError("level must be <small>")
    ax.plot([0, 1])


def test_an_error_of_a_slider_stands_under_the_figure_and_goes():
    level = widgets.FloatSlider(0.5, max=2)
    panel = Panel({"level": level}, failing)
    level.value = 1.5
    assert panel.cautions.value == '<p role="alert"><b>level must be &lt;small&gt;</b></p>'
    level.value = 0.7
    assert panel.cautions.value == ""
    with pytest.raises(fk.InputError):
        Panel({"level": widgets.FloatSlider(1.5, max=2)}, failing)


def test_a_size_that_moved_says_that_the_figure_has_not():
    size = widgets.IntSlider(10, max=100)
    panel = Panel({}, lambda ax: ax.plot([0, 1]))
    box = panel.box("Run", lambda size: None, lambda size: size / 2, size=size)
    button = find(box, "Run")
    assert panel.stale.value == '<p role="status">A run takes about 5 s.</p>'
    size.value = 20
    assert "press the button. A run takes about 10 s." in panel.stale.value
    size.value = 10
    assert "press the button" not in panel.stale.value, "moved back"
    size.value = 20
    button.click()
    assert "press the button" not in panel.stale.value


def test_a_kept_result_warns_again():
    calls = []

    def compute(place):
        calls.append(place)
        warnings.warn("few", fk.DataWarning, stacklevel=1)

    again = remembered(compute)
    for _ in range(2):
        with pytest.warns(fk.DataWarning, match="few"):
            again(1)
    assert calls == [1]


def test_a_guess_is_drawn_into_the_figure_that_answers():
    drawn = []
    box = fk.explore.predict("How high?", drawn.append, low=0, high=10, answer=7)
    assert drawn == []
    before = picture(box)
    find(box, "your guess").value = 2.0
    assert picture(box) != before
    assert drawn == []
    find(box, "Show what was found").value = True
    (ax,) = drawn
    assert ax.get_title(loc="left") == "you said 2, found was 7"
    assert [line.get_ydata()[0] for line in ax.lines if line.get_label() == "your guess"] == [2.0]


def test_a_guess_joins_the_legend_and_repeats_none_of_it():
    seen = []

    def draw(ax):
        seen.append(ax)
        [ax.plot([0, 1], label=name) for name in ("found", "random", "random")]
        ax.legend()

    box = fk.explore.predict("How high?", draw, low=0, high=10, answer=7, shown=True)
    assert picture(box)
    assert [text.get_text() for text in seen[0].get_legend().get_texts()] == [
        "found",
        "random",
        "your guess",
    ]


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_floors_of_several_encoders_at_once():
    law = fk.vmf.mixture(20, 16, seed=0, groups={"a": {"kappa": 12}, "b": {"kappa": 8}})
    faces = fk.vmf.sample_encoders(
        {"A": law, "B": law.correlated(concentration_factor=0.8)}, per_identity=5
    )
    both, alone = (
        fk.evaluate(fk.score_tensor(seen), far=[0.1], by="group")
        for seen in (faces, faces.sel(model="A"))
    )
    limit = fk.fair_floor(both, "frr_max_min").limit
    assert limit.dims == ("model", "far_level")
    assert np.isfinite(limit).all() and np.isfinite(fk.fair_floor(alone, "frr_max_min").limit).all()


def test_a_study_can_be_stopped(monkeypatch):
    """As in a notebook: the button returns at once, and the other one ends the work at its next line."""
    kernel = type("Shell", (), {"kernel": object()})()
    monkeypatch.setattr("frkit.explore.panel.get_ipython", lambda: kernel)
    size, done = widgets.IntSlider(10, max=100), []

    def compute(size):
        for _ in range(2000):
            time.sleep(0.005)
        done.append(size)

    panel = Panel({}, lambda ax: ax.plot([0, 1]))
    box = panel.box("Run", compute, lambda size: size / 2, size=size)
    run, stop, bar = next(
        child for child in box.children if isinstance(child, widgets.HBox)
    ).children
    before = picture(box)
    run.click()
    assert run.disabled and size.disabled and not stop.disabled
    assert bar.layout.visibility == "visible"
    stop.click()
    panel.work.thread.join(5)
    assert not panel.work.thread.is_alive() and done == []
    assert panel.stale.value.startswith('<p role="status">Stopped: ') and picture(box) == before
    assert not run.disabled and not size.disabled and stop.disabled


def test_sliders_get_names_in_the_page():
    box = fk.explore.roc(two_models())
    (script,) = [
        child.outputs[0]["data"]["text/html"]
        for child in box.children
        if isinstance(child, widgets.Output)
    ]
    assert "aria-label" in script and script.startswith("<script>")
