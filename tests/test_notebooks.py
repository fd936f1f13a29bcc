"""Every notebook runs, is stored executed, and keeps the form of a teaching notebook."""

import ast
import base64
import io
import re
from pathlib import Path

import figure_checks
import nbformat
import numpy as np
import pytest
import run_notebooks
from jupyter_client.manager import KernelManager
from matplotlib import pyplot as plt
from PIL import Image

PATHS = run_notebooks.paths()
LESSONS = [path for path in PATHS if "01" <= path.stem[:2] <= "07"]
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
CODE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
each_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
each_notebook = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tree_of(cell):
    """The cell's syntax tree; lines that only IPython understands are left out."""
    lines = [line for line in cell.source.splitlines() if not line.lstrip().startswith(("%", "!"))]
    return ast.parse("\n".join(lines))


def assigned_names(cell):
    stored = (node for node in ast.walk(tree_of(cell)) if isinstance(node, ast.Name))
    return {node.id for node in stored if isinstance(node.ctx, ast.Store)}


def has_picture(cell):
    return any("image/png" in output.get("data", {}) for output in cell.outputs)


def markdown_cells(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


def answers(notebook):
    """The code of the folded answers to the exercises; asserts in it say what the answers claim."""
    folded = [block for source in markdown_cells(notebook) for block in FOLDED.findall(source)]
    return [code for block in folded for code in CODE.findall(block)]


WATCH = """\
%reset -f
import sys; sys.path.insert(0, {folder!r})
import figure_checks; figure_checks.watch(get_ipython())"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """One for all notebooks, so that libraries are loaded once; none sees a name of another. Its folder is not the
    notebooks', as on Colab."""
    manager = KernelManager()
    manager.start_kernel(
        env=run_notebooks.kernel_environment(), cwd=str(tmp_path_factory.mktemp("elsewhere"))
    )
    yield manager
    manager.shutdown_kernel(now=True)


def watched(path):
    """The cells with fast parameters, and behind them the answers to the exercises; the last one prints what is wrong
    with their figures: words that lie over other words, a legend over the data."""
    notebook = run_notebooks.with_fast_parameters(run_notebooks.read(path))
    notebook.cells += [nbformat.v4.new_code_cell(code) for code in answers(notebook)]
    notebook.cells.insert(
        0, nbformat.v4.new_code_cell(WATCH.format(folder=str(Path(__file__).parent)))
    )
    notebook.cells.append(nbformat.v4.new_code_cell("print(*figure_checks.FOUND, sep='\\n')"))
    return notebook


@pytest.mark.notebooks
@each_notebook
def test_runs_with_fast_parameters(path, kernel):
    """What Chromium runs in this session is not run twice."""
    executed = run_notebooks.execute(watched(path), ".", timeout=300, kernel=kernel)
    errors = [o for cell in code_cells(executed) for o in cell.outputs if o.output_type == "error"]
    assert errors == []
    assert any(has_picture(cell) for cell in code_cells(executed))
    assert executed.cells[-1].outputs[0].text.split("\n") == ["", ""]


@pytest.mark.notebooks
def test_what_spoils_a_figure_is_told_in_its_own_notebook_alone(kernel):
    spoilt = "import matplotlib.pyplot as plt; kept = 1; plt.figtext(0.5, 0.5, 'one'); plt.figtext(0.5, 0.5, 'other');"
    for source, told in ((spoilt, ": 'one' over 'other'\n"), ("'kept' in globals()", "\n")) * 2:
        sources = [
            WATCH.format(folder=str(Path(__file__).parent)),
            source,
            "print(*figure_checks.FOUND, sep='\\n')",
        ]
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(one) for one in sources]
        )
        executed = run_notebooks.execute(notebook, ".", timeout=60, kernel=kernel)
        assert executed.cells[-1].outputs[0].text == told
    assert executed.cells[1].outputs[0].data["text/plain"] == "False"


@each_notebook
def test_is_stored_executed(path):
    cells = code_cells(run_notebooks.read(path))
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert [o for cell in cells for o in cell.outputs if o.output_type == "error"] == []
    assert any(has_picture(cell) for cell in cells)


@each_notebook
def test_is_stored_normalised(path):
    """What is stored is what the command writes: normalising it once more changes no byte."""
    stored = path.read_text(encoding="utf-8")
    again = nbformat.writes(run_notebooks.normalise(run_notebooks.read(path)))
    assert stored.rstrip("\n") == again.rstrip("\n")


@each_notebook
def test_holds_no_place_of_a_machine(path):
    stored = path.read_text(encoding="utf-8")
    assert [word for word in ("/tmp/", "/home/", "/root/", "site-packages") if word in stored] == []


@each_notebook
def test_is_small(path):
    assert path.stat().st_size < 300_000


@each_notebook
def test_cells_are_short_and_define_nothing(path):
    cells = code_cells(run_notebooks.read(path))
    assert max(len(cell.source.splitlines()) for cell in cells) <= 12
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    nodes = (node for cell in cells for node in ast.walk(tree_of(cell)))
    assert [node.name for node in nodes if isinstance(node, definitions)] == []


@each_notebook
def test_uses_public_names_only(path):
    nodes = [
        node for cell in code_cells(run_notebooks.read(path)) for node in ast.walk(tree_of(cell))
    ]
    private = [
        node.attr for node in nodes if isinstance(node, ast.Attribute) and node.attr.startswith("_")
    ]
    imported = [
        alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    ]
    assert private + [name for name in imported if name.startswith("_")] == []


@each_notebook
def test_begins_with_words(path):
    first = run_notebooks.read(path).cells[0]
    assert first.cell_type == "markdown"
    assert first.source.startswith("# ")


@each_notebook
def test_fast_values_are_parameters(path):
    notebook = run_notebooks.read(path)
    [at] = run_notebooks.tagged(notebook, "parameters")
    assert set(notebook.metadata["frkit"]["fast"]) <= assigned_names(notebook.cells[at])


@each_notebook
def test_controls_stand_behind_a_static_figure(path):
    """A reader without a kernel sees the point too, because widgets are not stored in the file."""
    cells = code_cells(run_notebooks.read(path))
    controls = [
        at
        for at, cell in enumerate(cells)
        if "explore." in cell.source.replace("explore.predict", "")
    ]
    assert controls
    assert [at for at in controls if not any(map(has_picture, cells[:at]))] == []


@each_lesson
def test_asks_before_it_tells(path):
    """Two questions at least; behind each stands the figure that answers it."""
    cells = code_cells(run_notebooks.read(path))
    questions = [at for at, cell in enumerate(cells) if "explore.predict" in cell.source]
    assert len(questions) >= 2
    assert [at for at in questions if not any(map(has_picture, cells[at + 1 :]))] == []


@each_notebook
def test_what_a_button_draws_keeps_its_names(path):
    """A figure that is drawn later, when all cells have run, finds what its cell meant: no name has been taken anew."""
    cells = code_cells(run_notebooks.read(path))
    for at, cell in enumerate(cells):
        later = set().union(*map(assigned_names, cells[at + 1 :]))
        for drawn in (node for node in ast.walk(tree_of(cell)) if isinstance(node, ast.Lambda)):
            read = {node.id for node in ast.walk(drawn.body) if isinstance(node, ast.Name)}
            assert (read - {one.arg for one in drawn.args.args}) & later == set()


@each_lesson
def test_prose_comes_in_small_pieces(path):
    """150 words a cell at most; tables and the code of answers do not count."""
    prose = [
        CODE.sub("", source).splitlines() for source in markdown_cells(run_notebooks.read(path))
    ]
    words = [
        sum(len(line.split()) for line in lines if not line.startswith("|")) for lines in prose
    ]
    assert max(words) <= 150


@each_lesson
def test_every_exercise_has_an_answer(path):
    prose = (
        "\n\n".join(markdown_cells(run_notebooks.read(path)))
        .split("## Exercises")[1]
        .split("\n## ")[0]
    )
    assert len(re.findall(r"^\d\. ", prose, re.MULTILINE)) == len(FOLDED.findall(prose)) > 0


@each_lesson
def test_cautions_are_tidy(path):
    """No red block: what a cell warns of stands in a sentence."""
    outputs = [output for cell in code_cells(run_notebooks.read(path)) for output in cell.outputs]
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []


@each_lesson
def test_every_picture_has_its_words(path):
    outputs = [output for cell in code_cells(run_notebooks.read(path)) for output in cell.outputs]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert all(output.metadata.get("image/png", {}).get("alt") for output in pictures)


# What the four papers print; the start page says where each of them stands.
PAPERS = {
    "1": {"Fig.": range(1, 23), "Table": range(1, 3), "Algorithm": range(1, 4)},
    "2": {"Fig.": range(1, 6), "Table": range(1, 4)},
    "3": {"Fig.": range(1, 3), "Table": range(1, 3)},
    "4": {"Fig.": range(1, 8), "Table": range(1, 5)},
}
ROMAN = {"I": "1", "II": "2", "III": "3", "IV": "4"}


def items(words):
    """The single figures, tables and algorithms of an entry such as "Figs. 5, 10 to 13"."""
    kind, rest = words.split(maxsplit=1)
    kind = {"Figs.": "Fig.", "Tables": "Table", "Algorithms": "Algorithm"}.get(kind, kind)
    found = []
    for part in rest.split(", "):
        first, _, last = (ROMAN.get(word, word) for word in part.partition(" to "))
        found += [(kind, number) for number in range(int(first), int(last or first) + 1)]
    return found


def test_everything_of_the_papers_stands_somewhere():
    prose = "".join(
        markdown_cells(run_notebooks.read(run_notebooks.NOTEBOOKS / "00_start_here.ipynb"))
    )
    entry = r"^\| (\d) \| ([^|]+) \| \[\d\d\]\(([^)]+)\), (?:(Figure \d+)|\"([^\"]+)\") \|"
    rows = re.findall(entry, prose, re.MULTILINE)
    listed = sorted((paper, *item) for paper, words, *_ in rows for item in items(words))
    wanted = [
        (paper, kind, n)
        for paper, kinds in PAPERS.items()
        for kind, numbers in kinds.items()
        for n in numbers
    ]
    assert listed == sorted(wanted)
    for _, words, name, figure, heading in rows:
        there = "\n".join(markdown_cells(run_notebooks.read(run_notebooks.NOTEBOOKS / name)))
        assert (f"**{figure}" if figure else heading) in there, (
            f"{words}: {name} has no {figure or heading}"
        )


@each_notebook
def test_links_lead_to_notebooks(path):
    linked = re.findall(r"\]\((\d\d_\w+\.ipynb)", "".join(markdown_cells(run_notebooks.read(path))))
    assert set(linked) - {"08_your_own_data.ipynb"} <= {other.name for other in PATHS}


TRIAL = """\
import warnings, ipywidgets, matplotlib.pyplot as plt
warnings.warn("few images per identity", UserWarning)
ipywidgets.IntSlider()
plt.plot([0, 1]); plt.show()
object()"""


def trial_run(folder):
    """A notebook with everything in it that could differ between two runs, executed and normalised."""
    cells = [
        nbformat.v4.new_code_cell(line, id=f"cell{n}") for n, line in enumerate(TRIAL.splitlines())
    ]
    notebook = run_notebooks.execute(nbformat.v4.new_notebook(cells=cells), folder, timeout=120)
    return run_notebooks.normalise(notebook)


@pytest.mark.notebooks
def test_two_runs_store_the_same_bytes(tmp_path):
    first, second = trial_run(tmp_path), trial_run(tmp_path)
    assert nbformat.writes(first) == nbformat.writes(second)
    _, warned, widget, figure, shown = first.cells
    assert warned.outputs[0].text.startswith("UserWarning: few images per identity")
    assert widget.outputs == []
    assert has_picture(figure)
    assert shown.outputs[0].data["text/plain"] == "<object at 0x...>"
    assert set(first.metadata) == {"kernelspec", "language_info"}


def test_fast_parameters_follow_the_parameters_cell():
    cell = nbformat.v4.new_code_cell("n = 1000")
    cell.metadata["tags"] = ["parameters"]
    notebook = nbformat.v4.new_notebook(cells=[cell, nbformat.v4.new_code_cell("n")])
    notebook.metadata["frkit"] = {"fast": {"n": 20, "far": [0.01, 0.1]}}
    run_notebooks.with_fast_parameters(notebook)
    assert [cell.source for cell in notebook.cells] == [
        "n = 1000",
        "n = 20\nfar = [0.01, 0.1]",
        "n",
    ]


def test_a_caption_is_the_words_of_its_picture(tmp_path):
    cells = [
        nbformat.v4.new_code_cell(
            "import matplotlib.pyplot as plt; plt.plot([0, 1]); plt.show()", id="picture"
        ),
        nbformat.v4.new_markdown_cell(
            "**Figure 1.** The *line* $x_1 = \\hat\\theta - \\theta^*$ of [a paper](https://x.org) rises.\n\nMore.",
            id="words",
        ),
    ]
    notebook = run_notebooks.execute(nbformat.v4.new_notebook(cells=cells), tmp_path, timeout=120)
    (output,) = run_notebooks.normalise(notebook).cells[0].outputs
    assert output.metadata == {
        "image/png": {"alt": "Figure 1. The line x_1 = θ^ - θ* of a paper rises."}
    }


def test_few_colours_keep_those_of_a_short_line():
    """A line in a legend is a few dozen pixels of a picture that has thousands of other colours."""
    places = np.mgrid[0:300, 0:400]
    pixels = np.stack(
        [places[0] * 255 // 299, places[1] * 255 // 399, np.full((300, 400), 128)], axis=2
    )
    pixels = pixels.astype(np.uint8)
    pixels[150:152, 200:220] = (0, 114, 178)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    few = run_notebooks.with_few_colours(base64.b64encode(buffer.getvalue()).decode(), 24)
    found = Image.open(io.BytesIO(base64.b64decode(few)))
    assert found.mode == "P" and len(found.getcolors()) <= 24
    assert (np.asarray(found.convert("RGB"))[150:152, 200:220] == (0, 114, 178)).all()
    assert run_notebooks.with_few_colours(few, 24) == few


def test_faults_of_a_figure_are_seen():
    figure, ax = plt.subplots()
    ax.plot([0, 1], [0, 1], label="a line")
    ax.text(0.2, 0.7, "one word")
    assert figure_checks.faults(figure) == []
    ax.text(0.21, 0.7, "another")
    ax.legend(loc="center")
    over, covered = figure_checks.faults(figure)
    assert over == "'one word' over 'another'" and covered.startswith("legend over")
    plt.close(figure)
