"""Notebooks with their answers to exercises, and checks of what their cells draw."""

import re
from pathlib import Path

import nbformat

FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)


CODE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


WATCH = """\
import sys; sys.path.insert(0, {folder!r})
import figure_checks; figure_checks.watch(get_ipython())"""


def markdown_cells(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


def watched(notebook):
    """The cells between one that watches their figures, and the answers to the exercises.

    The last cell prints what is wrong with the figures: words over other words, a legend over the
    data.
    """
    folded = [block for source in markdown_cells(notebook) for block in FOLDED.findall(source)]
    answers = [code for block in folded for code in CODE.findall(block)]
    watch = WATCH.format(folder=str(Path(__file__).parent))
    check = "print(*figure_checks.FOUND, sep='\\n')"
    added = [nbformat.v4.new_code_cell(source) for source in [watch, *answers, check]]
    cells = [added[0], *notebook.cells, *added[1:]]
    return nbformat.v4.new_notebook(cells=cells, metadata=notebook.metadata)
