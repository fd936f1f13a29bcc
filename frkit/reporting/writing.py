"""A report as a folder: one page, the evaluation, tables, figures, and the notebook that makes it all again."""

import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np
import pandas as pd

from frkit.base import IDENTITY, MODEL, require, writing
from frkit.reporting import page

if TYPE_CHECKING:
    from frkit.reporting.report import Report

PAGE, EVALUATION, NOTEBOOK = "report.html", "evaluation.nc", "report.ipynb"
FILES = ("labels", "metadata", "scores")  # options of `open_data` that are paths


def write(report: "Report", folder: Path) -> Path:
    """Write everything into a folder beside the one that is wanted, which then takes its place as a whole."""
    check_free(folder)
    draft = folder.with_name(f".{folder.name}-{uuid4().hex}")
    try:
        with writing(folder, "free some space, or name a folder elsewhere"):
            draft.mkdir(parents=True)
            (draft / PAGE).write_text(page.page(report), encoding="utf-8")
            report.evaluation.to_netcdf(draft / EVALUATION, engine="h5netcdf")
            _write_tables(report, draft / "tables")
            _write_figures(report, draft / "figures")
            (draft / NOTEBOOK).write_text(notebook(report, folder), encoding="utf-8")
            if folder.exists():
                shutil.rmtree(folder)  # an earlier report, as `check_free` saw
            draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def check_free(folder: Path) -> None:
    """A report replaces nothing but an earlier report, and its place can be written."""
    here = Path.cwd()
    free = folder.resolve() not in (here, *here.parents)
    require(
        free, f"{folder} is the folder that you are in, or holds it: name a new one, such as report"
    )
    above = next(parent for parent in folder.absolute().parents if parent.exists())
    require(
        os.access(above, os.W_OK),
        f"{above} cannot be written: name a folder elsewhere for the report",
    )
    if folder.exists():
        require(folder.is_dir(), f"{folder} is a file: name another folder for the report")
        held = {path.name for path in folder.iterdir()}
        ours = not held or {PAGE, EVALUATION} <= held <= {
            PAGE,
            EVALUATION,
            NOTEBOOK,
            "tables",
            "figures",
        }
        require(
            ours,
            f"{folder} holds something else than a report of frkit: name another folder, or empty it",
        )


def file_name(words: str) -> str:
    """Words as the name of a file, whatever a label holds."""
    return re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")[:60] or "table"


def _distinct(names: list[str]) -> list[str]:
    """Names of files, none twice."""
    files = [file_name(name) for name in names]
    return [name if files.index(name) == at else f"{name}_{at}" for at, name in enumerate(files)]


def _write_tables(report: "Report", folder: Path) -> None:
    """Every table as CSV and as LaTeX."""
    folder.mkdir()
    for name, table in zip(_distinct([*report.tables]), report.tables.values()):
        table.flat().to_csv(folder / f"{name}.csv", index=False, encoding="utf-8")
        table.to_latex(folder / f"{name}.tex")


def _write_figures(report: "Report", folder: Path) -> None:
    """Every figure as SVG and as PDF, a column wide, without a caption."""
    folder.mkdir()
    for name, picture in zip(_distinct([*report.pictures]), report.pictures.values()):
        (folder / f"{name}.svg").write_bytes(picture.svg)
        (folder / f"{name}.pdf").write_bytes(page.saved(picture.figure, picture.words, "pdf"))


# --- the notebook --------------------------------------------------------------------------------------------------


def notebook(report: "Report", folder: Path) -> str:
    """A notebook that makes the report again, and goes on from there."""
    cells = [
        _cell("# The report again, and on from there\n\nRun all cells: they make the report of the page beside this "
              "notebook anew, with the same numbers, and show how each of them is had by itself.", False),
        _cell("import frkit as fk"),
        _cell(_call(report, folder)),
        _cell("report"),
        _cell("## On from there\n\nThe evaluation behind the report: any measure, interval, figure or table can be "
              "read from it without another look at the scores.", False),
        _cell(f'evaluation = fk.open_evaluation("{EVALUATION}")\n'
              'roc = fk.band(evaluation, "frr", target="new people")\nfk.table(roc)'),
        _cell("fk.plot.roc(roc);"),
        _cell('print(fk.table(roc).to_latex())  # for a paper\nprint(fk.describe(evaluation))'),
    ]  # fmt: skip
    python = {"name": "python3", "display_name": "Python 3", "language": "python"}
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    whole = {"cells": cells, "metadata": {"kernelspec": python}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _cell(source: str, code: bool = True) -> dict:
    """One cell."""
    cell = {"cell_type": "code" if code else "markdown", "metadata": {}, "source": source}
    return cell | ({"execution_count": None, "outputs": []} if code else {})


def _call(report: "Report", folder: Path) -> str:
    """The call that makes the report."""
    made = _plain(report.made)
    data, opening = made.pop("data"), made.get("opening", {})
    opening |= {name: _from(folder, opening[name]) for name in FILES if name in opening}
    options = ", ".join(f"{name}={value!r}" for name, value in made.items())
    if data is None:
        source = (
            "# the report was made from data in memory: put them in place of this line\ndata = ..."
        )
    elif isinstance(data, str):
        source = f"data = {_from(folder, data)!r}"
    else:
        each = "".join(f"    {name!r}: {_from(folder, path)!r},\n" for name, path in data.items())
        source = f"data = {{\n{each}}}"
    return f"{source}\nreport = fk.report(data, {options})"


def _plain(value):
    """A value as Python writes it, which arrays, and what has labels, are not."""
    for dim in {MODEL, IDENTITY} & {*getattr(value, "dims", ())}:
        value = dict(zip(value[dim].values, value.transpose(dim, ...).values))
    if isinstance(value, Mapping | pd.Series):
        return {_plain(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_plain, value)]
    return np.asarray(value).tolist() if hasattr(value, "dtype") else value


def _from(folder: Path, path: str) -> str:
    """The path of a file as it is seen from the folder."""
    try:
        return Path(os.path.relpath(Path(path).resolve(), folder.resolve())).as_posix()
    except ValueError:  # on another drive
        return str(Path(path).resolve())
