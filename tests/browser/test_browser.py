"""Every notebook in a real browser: it opens in JupyterLab, runs, and its controls change its figures."""

import nbformat
import pytest
import run_notebooks

pytestmark = pytest.mark.browser

SLIDER = "[role=slider]"
# An explorer is the output of one cell; this names each one that holds a slider.
EXPLORER = f".jp-Cell-outputArea:has({SLIDER})"

RUN_ALL = """async () => {
    const app = window.jupyterapp, panel = app.shell.currentWidget;
    await panel.sessionContext.ready;
    app.commands.execute('notebook:run-all-cells').then(() => { window.ranAll = true; });
}"""
# "Run all" itself reports no error of a cell, so the outputs are read.
ERRORS = """() => {
    const cells = window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells;
    const outputs = cells.filter(cell => cell.cell_type === 'code').flatMap(cell => cell.getOutputs());
    return outputs.filter(output => output.output_type === 'error').map(o => `${o.ename}: ${o.evalue}`);
}"""
# What the last cell printed: what is wrong with the figures.
PRINTED = """() => {
    const cells = window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells;
    return cells.at(-1).getOutputs().map(output => output.text ?? output.evalue).flat().join('').trim();
}"""
HAS_PICTURE = """() => {
    const cells = window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells;
    return cells.flatMap(cell => cell.getOutputs?.() ?? []).some(output => 'image/png' in (output.data ?? {}));
}"""
# Waits until the explorer's pictures differ from those with the digest `before`, and returns their digest, or
# `before` when time is up. It compares bytes, so `src` may be a blob: or a data: address. A picture that is
# still on its way, or whose blob was just replaced, is asked for again.
NEW_PICTURE = """async (area, [before, seconds]) => {
    const digest = async () => {
        const drawn = image => image.complete && image.naturalWidth;
        const images = [...area.querySelectorAll('img')].filter(drawn);
        const answers = await Promise.all(images.map(image => fetch(image.src)));
        const bytes = await new Blob(await Promise.all(answers.map(answer => answer.blob()))).arrayBuffer();
        const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
        return images.length ? [...hash].map(byte => byte.toString(16).padStart(2, '0')).join('') : '';
    };
    for (const end = Date.now() + 1000 * seconds; Date.now() < end; ) {
        const now = await digest().catch(() => '');
        if (now && now !== before) return now;
        await new Promise(resolve => setTimeout(resolve, 30));
    }
    return before;
}"""


def open_and_run(page, lab, name):
    """Open one notebook alone, run all its cells and return the errors they left."""
    page.goto(f"{lab.url}/lab/tree/notebooks/{name}?reset")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.wait_for_function("window.jupyterapp?.shell.currentWidget?.sessionContext?.isReady")
    page.evaluate(RUN_ALL)
    page.wait_for_function("window.ranAll", timeout=300_000)
    return page.evaluate(ERRORS)


def new_picture(area, before="", seconds=60):
    """The digest of the explorer's pictures once they differ from `before`; `before` if they never do."""
    return area.evaluate(NEW_PICTURE, [before, seconds])


WITHOUT_SLIDER = {"08_your_own_data.ipynb"}  # its controls are driven in test_page.py
HANDLE = "handle => handle.closest('.noUi-origin').style.transform"  # its number is said with one decimal only


def move_by_keyboard(page, slider):
    """Focus the slider and press an arrow; at the end of its range, the other arrow."""
    before = slider.evaluate(HANDLE)
    slider.focus()
    for key in ("ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
        if slider.evaluate(HANDLE) != before:
            return
    pytest.fail("the slider does not move by keyboard")


def check_explorer(page, area):
    """One control is moved, and the figure becomes another one."""
    area.scroll_into_view_if_needed()
    first = new_picture(area)
    assert first, "the explorer shows no picture"
    move_by_keyboard(page, area.locator(SLIDER).first)
    assert new_picture(area, first) != first, "the picture stays as it was"


@pytest.mark.parametrize("name", [path.name for path in run_notebooks.paths()])
def test_notebook_runs_and_its_controls_work(page, lab, shots, name):
    assert open_and_run(page, lab, name) == []
    assert page.evaluate(PRINTED) == ""
    assert page.evaluate(HAS_PICTURE)
    explorers = page.locator(EXPLORER)
    if name not in WITHOUT_SLIDER:
        explorers.first.wait_for()
    for at in range(explorers.count()):
        check_explorer(page, explorers.nth(at))
        page.screenshot(path=shots / f"{name.removesuffix('.ipynb')}-explorer{at + 1}.png")
    assert page.outside == []


TRIAL = """\
import io, ipywidgets as widgets, matplotlib.pyplot as plt
from IPython.display import display
slider, image, output = widgets.IntSlider({value}, max=10), widgets.Image(), widgets.Output()
def draw(change=None):
    fig, ax = plt.subplots(figsize=(4, 3)); ax.plot([0, slider.value])
    fig.savefig(file := io.BytesIO()); plt.close(fig); {show}
draw(); slider.observe(draw, "value")
widgets.VBox([slider, output, image])"""
SHOWS = {
    "image widget": "image.value = file.getvalue()",
    "output widget": "output.clear_output(wait=True)\n    with output: display(fig)",
}


def store(work, source):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    nbformat.write(run_notebooks.normalise(notebook), work / "notebooks/trial.ipynb")


@pytest.mark.parametrize("show", SHOWS)
@pytest.mark.parametrize("value", [3, 10])
def test_both_kinds_of_figure_are_watched(page, lab, work, show, value):
    """The check itself, on a figure in each kind of widget, inside and at the end of the slider's range."""
    store(work, TRIAL.format(value=value, show=SHOWS[show]))
    assert open_and_run(page, lab, "trial.ipynb") == []
    check_explorer(page, page.locator(EXPLORER).first)
    assert page.outside == []


def test_errors_of_cells_are_seen(page, lab, work):
    store(work, "print('a word'); 1 / 0")
    assert open_and_run(page, lab, "trial.ipynb") == ["ZeroDivisionError: division by zero"]
    assert page.evaluate(PRINTED) == "a word\ndivision by zero"
    assert not page.evaluate(HAS_PICTURE)


def test_a_figure_that_stays_is_noticed(page, lab, work, monkeypatch):
    store(
        work,
        TRIAL.format(value=3, show=SHOWS["image widget"]).replace("[0, slider.value]", "[0, 1]"),
    )
    assert open_and_run(page, lab, "trial.ipynb") == []
    monkeypatch.setattr(new_picture, "__defaults__", ("", 2))
    with pytest.raises(AssertionError, match="stays as it was"):
        check_explorer(page, page.locator(EXPLORER).first)
