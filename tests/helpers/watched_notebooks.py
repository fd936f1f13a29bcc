"""Notebooks with fast parameters, and checks of what their cells draw and leave."""

import re
from pathlib import Path

import nbformat
import run_notebooks

FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)


CODE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


WATCH = """\
%reset -f
import sys; sys.path.insert(0, {folder!r})
import figure_checks; figure_checks.watch(get_ipython())"""


def markdown_cells(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


def watched(path):
    """The cells with fast parameters, the answers to the exercises, and a check of the figures.

    The last cell prints what is wrong with them: words over other words, a legend over the data.
    """
    notebook = run_notebooks.with_fast_parameters(run_notebooks.read(path))
    folded = [block for source in markdown_cells(notebook) for block in FOLDED.findall(source)]
    answers = [code for block in folded for code in CODE.findall(block)]
    watch = WATCH.format(folder=str(Path(__file__).parent))
    check = "print(*figure_checks.FOUND, sep='\\n')"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(watch))
    notebook.cells += [nbformat.v4.new_code_cell(code) for code in [*answers, check]]
    return notebook
