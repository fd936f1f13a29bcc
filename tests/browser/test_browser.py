"""Notebooks in a real browser: they open in JupyterLab, run, and their controls work."""

import nbformat
import pytest
import run_notebooks

pytestmark = pytest.mark.browser

SLIDER = "[role=slider]"
CHOICE = "select"
# An explorer is the output of one cell; this names each one that has a figure.
EXPLORER = f".jp-Cell-outputArea:has(.widget-html img[alt]):has({SLIDER}, {CHOICE})"

RUN_ALL = """async () => {
    const app = window.jupyterapp, panel = app.shell.currentWidget;
    await panel.sessionContext.ready;
    app.commands.execute('notebook:run-all-cells').then(() => { window.ranAll = true; });
}"""
# "Run all" itself reports no error of a cell, so the outputs are read.
OUTPUTS = """() => {
    const cells = window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells;
    return cells.map(cell => cell.getOutputs?.() ?? []);
}"""
# Waits until the explorer's pictures differ from those with the digest `before`, and returns their
# digest, or `before` when time is up. A picture that is still on its way is asked for again.
NEW_PICTURE = """async (area, [before, seconds]) => {
    const digest = async () => {
        const drawn = image => image.complete && image.naturalWidth;
        const images = [...area.querySelectorAll('img')].filter(drawn);
        const answers = await Promise.all(images.map(image => fetch(image.src)));
        const blobs = await Promise.all(answers.map(answer => answer.blob()));
        const bytes = await new Blob(blobs).arrayBuffer();
        const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
        return images.length ? [...hash].join(' ') : '';
    };
    for (const end = Date.now() + 1000 * seconds; Date.now() < end; ) {
        const now = await digest().catch(() => '');
        if (now && now !== before) return now;
        await new Promise(resolve => setTimeout(resolve, 30));
    }
    return before;
}"""
HANDLE = "handle => handle.closest('.noUi-origin').style.transform"


def open_and_run(page, lab, name):
    """Open one notebook alone, run all its cells, and return what each of them left."""
    page.goto(f"{lab}lab/tree/notebooks/{name}?reset")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.wait_for_function("window.jupyterapp?.shell.currentWidget?.sessionContext?.isReady")
    page.evaluate(RUN_ALL)
    page.wait_for_function("window.ranAll", timeout=300_000)
    return page.evaluate(OUTPUTS)


def errors(outputs):
    return [output["evalue"] for cell in outputs for output in cell if "evalue" in output]


def store(work, *sources):
    """A notebook of these cells."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbformat.write(run_notebooks.normalise(notebook), work / "notebooks/trial.ipynb")


def new_picture(area, before="", seconds=60):
    """The digest of the explorer's pictures once they differ from `before`."""
    return area.evaluate(NEW_PICTURE, [before, seconds])


def check_explorer(page, area, seconds=60):
    """One slider is moved by keyboard, or one choice made, and the figure becomes another one."""
    area.scroll_into_view_if_needed()
    first = new_picture(area)
    assert first, "the explorer shows no picture"
    if area.locator(SLIDER).count() > 0:
        move_slider(page, area.locator(SLIDER).first)
    else:
        choice = area.locator(CHOICE).first
        choice.select_option(index=int(choice.evaluate("select => select.selectedIndex") == 0))
    assert new_picture(area, first, seconds) != first, "the picture stays as it was"


def move_slider(page, slider):
    place = slider.evaluate(HANDLE)
    slider.focus()
    for key in ("ArrowRight", "ArrowLeft"):  # at the end of its range, the other one
        if slider.evaluate(HANDLE) == place:
            page.keyboard.press(key)
    assert slider.evaluate(HANDLE) != place, "the slider does not move"


def test_the_first_notebook_runs_and_its_controls_work(page, lab, shots):
    outputs = open_and_run(page, lab, run_notebooks.paths()[0].name)
    assert errors(outputs) == []
    assert any("image/png" in output.get("data", {}) for cell in outputs for output in cell)
    explorers = page.locator(EXPLORER)
    explorers.first.wait_for()
    for k in range(explorers.count()):
        check_explorer(page, explorers.nth(k))
        page.screenshot(path=shots / f"explorer{k + 1}.png")
    assert page.outside == []


FACES = """\
import frkit as fk
mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {"kappa": 20}})
scores = fk.score_tensor(mix.sample(per_identity=6))
"""
TEACHING = {
    "threshold": "fk.explore.threshold(scores)",
    "resample": "fk.explore.resample(scores, far=0.1)",
    "intervals": "fk.explore.intervals()",
}
FITS = "area => area.scrollWidth <= area.clientWidth + 1"


def test_controls_that_teach_follow_the_keyboard(page, lab, work, shots):
    """From one end to the other, on a wide page and on a narrow one."""
    store(work, FACES, *TEACHING.values())
    assert errors(open_and_run(page, lab, "trial.ipynb")) == []
    explorers = page.locator(EXPLORER)
    explorers.nth(len(TEACHING) - 1).wait_for()
    for k, name in enumerate(TEACHING):
        check_keyboard(page, explorers.nth(k), shots, name)
        if name != "threshold":
            check_button(page, explorers.nth(k))
    assert not [message for message in page.messages if message.startswith("page error")]
    assert page.outside == []


def check_keyboard(page, explorer, shots, name):
    """One slider goes to its ends by keyboard, and the figure follows, in pages of two widths."""
    page.set_viewport_size({"width": 1280, "height": 1400})
    check_explorer(page, explorer)
    for width in (1280, 800):
        page.set_viewport_size({"width": width, "height": 1400})
        for key in ("End", "Home"):
            before = new_picture(explorer)
            explorer.locator(SLIDER).first.focus()
            page.keyboard.press(key)
            assert new_picture(explorer, before) != before, f"{key} changes nothing"
            page.screenshot(path=shots / f"{name}-{width}-{key}.png")
        assert explorer.evaluate(FITS)


def check_button(page, explorer):
    """The button that draws more changes the figure."""
    page.keyboard.press("Home")
    before = new_picture(explorer)
    explorer.get_by_role("button", name="100 more").click()
    assert new_picture(explorer, before) != before
