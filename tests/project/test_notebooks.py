"""Every notebook runs, is stored as it was executed, and leads to everything in the papers."""

import ast
import re

import figure_checks
import nbformat
import pytest
import run_notebooks
from jupyter_client.manager import KernelManager
from matplotlib import pyplot as plt
from watched_notebooks import markdown_cells, watched

PATHS = run_notebooks.paths()
each_notebook = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(notebook):
    return [output for cell in code_cells(notebook) for output in cell.outputs]


def has_picture(output):
    return "image/png" in output.get("data", {})


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """One for all notebooks, so that libraries are loaded once; none sees a name of another.

    Its folder is not the notebooks', as on Colab.
    """
    manager = KernelManager()
    folder = str(tmp_path_factory.mktemp("elsewhere"))
    manager.start_kernel(env=run_notebooks.kernel_environment(), cwd=folder)
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.mark.notebooks
@each_notebook
def test_runs_with_fast_parameters(path, kernel):
    """What Chromium runs in this session is not run twice."""
    executed = run_notebooks.execute(watched(path), ".", timeout=300, kernel=kernel)
    assert [output for output in outputs(executed) if output.output_type == "error"] == []
    assert any(map(has_picture, outputs(executed)))
    assert executed.cells[-1].outputs[0].text.strip() == ""


@each_notebook
def test_is_stored_executed_and_normalised(path):
    """What is stored is what the command writes: normalising it once more changes no byte."""
    notebook = run_notebooks.read(path)
    assert [output for output in outputs(notebook) if output.output_type == "error"] == []
    assert any(map(has_picture, outputs(notebook)))
    stored = path.read_text(encoding="utf-8")
    again = nbformat.writes(run_notebooks.normalise(notebook))
    assert stored.rstrip("\n") == again.rstrip("\n")
    assert [place for place in ("/tmp/", "/home/", "/root/") if place in stored] == []


@each_notebook
def test_fast_values_are_parameters(path):
    notebook = run_notebooks.read(path)
    [place] = run_notebooks.tagged(notebook, "parameters")
    names = {
        node.id
        for node in ast.walk(ast.parse(notebook.cells[place].source))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    assert set(notebook.metadata["frkit"]["fast"]) <= names


@each_notebook
def test_controls_stand_behind_a_static_figure(path):
    """A reader without a kernel sees the point, too: widgets are not stored in the file."""
    cells = code_cells(run_notebooks.read(path))
    explorers = [
        k for k, cell in enumerate(cells) if re.search(r"explore\.(?!predict)", cell.source)
    ]
    pictures = [k for k, cell in enumerate(cells) if any(map(has_picture, cell.outputs))]
    assert explorers and min(pictures) < min(explorers)


@each_notebook
def test_links_lead_to_notebooks(path):
    linked = re.findall(r"\]\((\d\d_\w+\.ipynb)", "".join(markdown_cells(run_notebooks.read(path))))
    assert set(linked) <= {other.name for other in PATHS}


# What the four papers print; the start page says where each of them stands.
PAPERS = {
    "1": {
        "Fig.": range(1, 23),
        "Table": range(1, 3),
        "Algorithm": range(1, 4),
        "Theorem": range(1, 4),
        "Corollary": range(1, 2),
        "Proposition": range(1, 2),
        "Remark": range(1, 3),
        "Definition": range(1, 2),
        "Assumption": range(1, 3),
        "eq.": range(1, 26),
    },
    "2": {"Fig.": range(1, 6), "Table": range(1, 4), "eq.": range(1, 13)},
    "3": {"Fig.": range(1, 3), "Table": range(1, 3), "eq.": range(1, 7)},
    "4": {
        "Fig.": range(1, 8),
        "Table": range(1, 5),
        "Definition": range(1, 4),
        "eq.": range(1, 10),
    },
}
ROMAN = {"I": "1", "II": "2", "III": "3", "IV": "4"}
ENTRY = r"^\| (\d) \| ([^|]+) \| \[\d\d\]\(([^)]+)\), (?:(Figure \d+)|\"([^\"]+)\") \|"


def items(text):
    """Numbers of figures, tables, theorems ... in an entry such as "Figs. 5, 10 to 13"."""
    kind, rest = text.split(maxsplit=1)
    kind = {"Figs.": "Fig."}.get(kind, kind.removesuffix("s"))
    if kind not in PAPERS["1"]:  # a section
        return []
    numbers = []
    for part in rest.split(", "):
        first, _, last = (ROMAN.get(word, word) for word in part.partition(" to "))
        numbers += [(kind, number) for number in range(int(first), int(last or first) + 1)]
    return numbers


def test_everything_of_the_papers_stands_somewhere():
    start = run_notebooks.read(run_notebooks.NOTEBOOKS / "00_start_here.ipynb")
    rows = re.findall(ENTRY, "".join(markdown_cells(start)), re.MULTILINE)
    listed = sorted((paper, *item) for paper, text, *_ in rows for item in items(text))
    expected = [
        (paper, kind, number)
        for paper, kinds in PAPERS.items()
        for kind, numbers in kinds.items()
        for number in numbers
    ]
    assert listed == sorted(expected)
    for _, text, name, figure, heading in rows:
        notebook = run_notebooks.read(run_notebooks.NOTEBOOKS / name)
        place = f"**{figure}" if figure else heading
        assert place in "\n".join(markdown_cells(notebook)), f"{text}: {name} has no {place}"


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
