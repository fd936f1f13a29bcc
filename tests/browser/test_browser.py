"""Every notebook in a real browser: it opens in JupyterLab, runs, and its controls change its figures."""

import nbformat
import pytest
import run_notebooks

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
# The bytes of the explorer's pictures as one digest, whether `src` is a blob: or a data: address; empty while
# a picture is still on its way.
DIGEST = """async (area) => {
    const images = [...area.querySelectorAll('img')];
    if (!images.length || !images.every(image => image.complete && image.naturalWidth)) return '';
    try {
        const answers = await Promise.all(images.map(image => fetch(image.src)));
        const bytes = await new Blob(await Promise.all(answers.map(answer => answer.blob()))).arrayBuffer();
        const digest = await crypto.subtle.digest('SHA-256', bytes);
        return [...new Uint8Array(digest)].map(byte => byte.toString(16).padStart(2, '0')).join('');
    } catch { return ''; }
}"""
CHANGED = f"async ([area, before]) => {{ const now = await ({DIGEST})(area); return now && now !== before && now; }}"


def open_and_run(page, lab, name):
    """Open one notebook alone, run all its cells and return the errors they left."""
    page.goto(f"{lab.url}/lab/tree/notebooks/{name}?reset")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.wait_for_function("window.jupyterapp?.shell.currentWidget?.sessionContext?.isReady")
    page.evaluate(RUN_ALL)
    page.wait_for_function("window.ranAll", timeout=300_000)
    return page.evaluate(ERRORS)


def new_picture(page, area, before):
    """Wait until the explorer's picture is there and differs from `before`; return its digest."""
    return page.wait_for_function(CHANGED, arg=[area.element_handle(), before]).json_value()


def move_by_keyboard(page, slider):
    """Focus the slider and press an arrow; at the end of its range, the other arrow."""
    before = slider.get_attribute("aria-valuenow")
    slider.focus()
    for key in ("ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
        if slider.get_attribute("aria-valuenow") != before:
            return
    pytest.fail("the slider does not move by keyboard")


def check_explorer(page, area):
    """One control is moved, and the figure becomes another one."""
    area.scroll_into_view_if_needed()
    first = new_picture(page, area, "")
    move_by_keyboard(page, area.locator(SLIDER).first)
    assert new_picture(page, area, first) != first


@pytest.mark.parametrize("name", [path.name for path in run_notebooks.paths()])
def test_notebook_runs_and_its_controls_work(page, lab, shots, name):
    assert open_and_run(page, lab, name) == []
    explorers = page.locator(EXPLORER)
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
    nbformat.write(notebook, work / "notebooks/trial.ipynb")


@pytest.mark.parametrize("show", SHOWS)
@pytest.mark.parametrize("value", [3, 10])
def test_both_kinds_of_figure_are_watched(page, lab, work, show, value):
    """The check itself, on a figure in each kind of widget, with the slider inside and at the end of its range."""
    store(work, TRIAL.format(value=value, show=SHOWS[show]))
    assert open_and_run(page, lab, "trial.ipynb") == []
    check_explorer(page, page.locator(EXPLORER).first)
    assert page.outside == []


def test_errors_of_cells_are_seen(page, lab, work):
    store(work, "1 / 0")
    assert open_and_run(page, lab, "trial.ipynb") == ["ZeroDivisionError: division by zero"]


def test_a_figure_that_stays_is_noticed(page, lab, work):
    store(work, TRIAL.format(value=3, show=SHOWS["image widget"]).replace("[0, slider.value]", "[0, 1]"))
    assert open_and_run(page, lab, "trial.ipynb") == []
    area = page.locator(EXPLORER).first
    first = new_picture(page, area, "")
    move_by_keyboard(page, area.locator(SLIDER).first)
    page.wait_for_timeout(2000)
    assert area.evaluate(DIGEST) == first
