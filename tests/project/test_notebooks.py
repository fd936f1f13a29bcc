"""Every notebook runs, is stored as it was executed, and leads to everything in the papers."""

import re

import drawn
import figure_checks
import nbformat
import pytest
import run_notebooks
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


@pytest.mark.slow
@pytest.mark.notebooks
@each_notebook
def test_shows_what_is_stored_and_its_exercises_have_answers(path, tmp_path):
    """Executed once, in another folder, as on Colab; no words stand over others in a figure."""
    stored = run_notebooks.read(path)
    executed = watched(run_notebooks.read(path))
    run_notebooks.execute(executed, tmp_path)
    assert executed.cells[-1].outputs[0].text.strip() == ""
    executed.cells = executed.cells[1 : 1 + len(stored.cells)]
    assert run_notebooks.differences(stored, run_notebooks.as_stored(executed)) == []


@pytest.mark.notebooks
def test_a_cell_that_shows_something_else_is_named(tmp_path):
    path = tmp_path / "tiny.ipynb"
    sources = [
        "n = 3",
        "print(n, 'of 10')",
        "from matplotlib import pyplot\npyplot.plot([1, n, 2]);",
        "print('the same')",
    ]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    run_notebooks.write(path)
    executed = run_notebooks.read(path)
    assert run_notebooks.differences(run_notebooks.read(path), executed) == []

    other_number = run_notebooks.read(path)
    other_number.cells[1].outputs[0].text = "2 of 10\n"
    [sentence] = run_notebooks.differences(other_number, executed)
    assert all(words in sentence for words in ("cell [2]", "2 of 10", "3 of 10"))

    other_data = run_notebooks.read(path)
    figure = other_data.cells[2].outputs[0].data
    figure["text/plain"] = figure["text/plain"].replace("y 1 to 3", "y 1 to 3.01")
    [sentence] = run_notebooks.differences(other_data, executed)
    assert "cell [3]" in sentence and "y 1 to 3.01" in sentence

    executed.cells[0].source = "n = 4"
    nbformat.write(executed, path)
    texts = run_notebooks.check(path)
    assert [text.partition("\n")[0] for text in texts] == [
        "tiny.ipynb, cell [2]",
        "tiny.ipynb, cell [3]",
    ]


@pytest.mark.parametrize(
    "stored, now, is_same",
    [
        ("FRR 0.1234", "FRR 0.12345", True),
        ("FRR 0.1234", "FRR 0.1237", False),
        ("12,345 pairs", "12,346 pairs", True),
        ("123 pairs", "124 pairs", False),
        ("0 off", "3e-17 off", True),
        ("2e-5 off", "3e-5 off", False),
        ("1.5", "-1.5", False),
        ("FRR 0.1234", "FAR 0.1234", False),
        ("one line", "one line\nand one more", False),
    ],
)
def test_words_are_equal_and_numbers_nearly(stored, now, is_same):
    assert (run_notebooks.first_difference(stored, now) is None) == is_same


def figure_text(values, colour="C0", **settings):
    """The text of a figure with a line, points and bars, drawn with these settings."""
    with plt.rc_context(settings):
        figure, ax = plt.subplots(layout="constrained")
        ax.plot(values, values, label="a line")
        ax.scatter(values, values[::-1], c=colour)
        ax.bar(["one", "two", "three"], values)
        ax.set(title="what it says")
        ax.legend()
        text = drawn.description(figure)
        plt.close(figure)
    return text


def test_the_text_of_a_figure_changes_with_data_and_not_with_letters():
    text = figure_text([0.1, 0.3, 0.2])
    assert "what it says" in text and "a line" in text and "three" in text
    other_letters = {"font.family": "monospace", "font.size": 30}
    assert figure_text([0.1, 0.3, 0.2], **other_letters) == text
    for changed in ([0.1, 0.2, 0.3], [0.1, 0.301, 0.2]):
        assert run_notebooks.first_difference(text, figure_text(changed)) is not None
    assert run_notebooks.first_difference(text, figure_text([0.1, 0.3, 0.2], "C1")) is not None


@each_notebook
def test_is_stored_executed_and_normalised(path):
    """What is stored is what the command writes: normalising it once more changes no byte."""
    notebook = run_notebooks.read(path)
    assert [output for output in outputs(notebook) if output.output_type == "error"] == []
    assert any(map(has_picture, outputs(notebook)))
    tags = [tag for cell in notebook.cells for tag in cell.metadata.get("tags", [])]
    assert tags.count("parameters") == 1
    stored = path.read_text(encoding="utf-8")
    again = nbformat.writes(run_notebooks.normalise(notebook))
    assert stored.rstrip("\n") == again.rstrip("\n")
    assert [place for place in ("/tmp/", "/home/", "/root/") if place in stored] == []


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


# What the four papers print; a page of the documentation says where each of them stands.
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
ENTRY = r"^\| (\d) \| ([^|]+) \| \[\d\d\]\(notebooks/([^)]+)\), (?:(Figure \d+)|\"([^\"]+)\") \|"


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
    page = (run_notebooks.ROOT / "binder/docs/papers.md").read_text(encoding="utf-8")
    rows = re.findall(ENTRY, page, re.MULTILINE)
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


def minutes_of_reading(notebook):
    """Words at 180 and lines of code at 15 a minute, exercises apart."""
    n_words = 0
    n_lines = 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            before_exercises = re.split("^## Exercises", cell.source, flags=re.MULTILINE)[0]
            n_words += len(before_exercises.split())
        else:
            n_lines += sum(bool(line.strip()) for line in cell.source.splitlines())
    return round(n_words / 180 + n_lines / 15)


def test_the_start_page_says_how_long_reading_takes():
    start, *others = (run_notebooks.read(path) for path in PATHS)
    first_screen = start.cells[0].source
    rows = re.findall(r"^\| (\d+) \| [^|]*\]\((\d\d)_", first_screen, re.MULTILINE)
    stated = {name: int(minutes) for minutes, name in rows}
    counted = {path.name[:2]: minutes_of_reading(each) for path, each in zip(PATHS[1:], others)}
    advice = "write the minutes of the right side into the table of notebook 00, a row for each"
    assert stated == counted, advice
    of_core = [counted[name] for name in ("01", "02", "03", "10")]
    longest = max(counted[name] for name in ("05", "06", "07"))
    core = minutes_of_reading(start) + sum(of_core) + longest
    assert f"at most {core} minutes" in first_screen, "notebook 00 says how long the core takes"
    row = f"| {minutes_of_reading(start)} | this page |"
    assert row in first_screen, "notebook 00 says how long it takes itself"


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
