"""A report as a folder: page, numbers, evaluation, tables, figures, and a notebook."""

import json
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import require, writing
from frkit.intervals import provenance
from frkit.reporting.formats import TEMPLATES
from frkit.reporting.page import figure_bytes, page
from frkit.reporting.tables import LIMIT, WORTH, numbers_of

PAGE = "report.html"
NUMBERS = "report.json"
EVALUATION = "evaluation.nc"
NOTEBOOK = "report.ipynb"
TABLES = "tables"
FIGURES = "figures"
ALL = {PAGE, NUMBERS, EVALUATION, NOTEBOOK, TABLES, FIGURES}
SCHEMA = "frkit-report"
SCHEMA_VERSION = 1
WITHOUT_VALUES = ("people", "plan")  # sections whose results are no intervals
ABOUT = {  # attribute of a result -> its name in report.json
    "target": "target",
    "method": "method",
    "scale": "scale",
    "fair": "fair",
    "level": "interval_level",
    "weighting": "weighting",
}
NAMES = {WORTH: "n_effective", LIMIT: "fair_model_up_to"}


def write(report, folder, pdf=False):
    """Write everything into a temporary folder, which then replaces the one that is wanted."""
    check_free(folder)
    with writing(folder, "free some space, or name a folder elsewhere"):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as parent:
            draft = Path(parent, folder.name)
            _write_into(draft, report, pdf)
            if folder.exists():
                shutil.rmtree(folder)  # an earlier report, as `check_free` saw
            draft.rename(folder)
    return folder


def check_free(folder):
    """A report replaces nothing but an earlier report, and its place can be written."""
    here = Path.cwd()
    require(
        folder.resolve() not in (here, *here.parents),
        f"{folder} is the folder that you are in, or contains it: name a new one, such as report",
    )
    above = next(parent for parent in folder.absolute().parents if parent.exists())
    with writing(above, "name a folder elsewhere for the report"):
        tempfile.TemporaryDirectory(dir=above).cleanup()
    with writing(folder, "name another folder for the report"):
        names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    require(
        not names or {PAGE, EVALUATION} <= names <= ALL,
        f"{folder} contains files that are not part of a report: name another folder, or empty it",
    )


def _write_into(draft, report, pdf):
    """All files of a report."""
    for path in (draft, draft / TABLES, draft / FIGURES):
        path.mkdir()
    (draft / PAGE).write_text(page(report), encoding="utf-8")
    (draft / NUMBERS).write_text(numbers(report), encoding="utf-8")
    report.evaluation.to_netcdf(draft / EVALUATION, engine="h5netcdf")
    for name, table in by_file_name(report.tables).items():
        table.to_csv(draft / TABLES / f"{name}.csv", encoding="utf-8")
        table.to_latex(draft / TABLES / f"{name}.tex")
    for name, picture in by_file_name(report.pictures).items():
        (draft / FIGURES / f"{name}.svg").write_bytes(picture.svg)
        if pdf:
            drawn = figure_bytes(picture.figure, picture.caption, "pdf")
            (draft / FIGURES / f"{name}.pdf").write_bytes(drawn)
    notebook = TEMPLATES.get_template("notebook.ipynb.j2").render(evaluation=EVALUATION)
    (draft / NOTEBOOK).write_text(notebook, encoding="utf-8")


def by_file_name(contents):
    """Tables or figures by names of files, none twice, whatever a label contains."""
    files = {}
    for caption, content in contents.items():
        short, _, _ = caption.partition(" (")
        name = re.sub(r"[^a-z0-9]+", "_", short.lower()).strip("_")[:40] or "table"
        files[f"{name}_{len(files)}" if name in files else name] = content
    return files


# --- numbers for programs -------------------------------------------------------------------------


def numbers(report):
    """Every number of the report as JSON; null is not known, or an end without a number."""
    values = []
    for (section, _), result in report.results.items():
        if section not in WITHOUT_VALUES:
            values += _values(section, result)
    contents = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "title": report.title,
        "created": report.created,
        "command": report.command,
        "options": report.arguments,
        "leading_level": report.leading,
        "findings": [vars(tile) for tile in report.tiles],
        "answers": report.answers,
        "values": values,
        "tables": {name: table.numbers() for name, table in report.tables.items()},
        "cautions": report.cautions,
        "left_out": report.left_out,
        "provenance": provenance(report.evaluation),
    }
    return json.dumps(as_builtins(contents), indent=1, ensure_ascii=False)


def _values(section, result):
    """Numbers of one result, one record for each place, with what its interval is about."""
    about = {name: result.attrs[attr] for attr, name in ABOUT.items() if attr in result.attrs}
    records = []
    for row in numbers_of(result).to_dict("records"):
        record = {"section": section, **about}
        for head, value in row.items():
            if value != "":
                name = re.sub(r"\W+", "_", NAMES.get(head, head)).strip("_").lower()
                record[name] = value
        records.append(record)
    return records


def as_builtins(value):
    """The same as JSON and Python write it, with None for what is not finite."""
    return json.loads(json.dumps(value, default=_as_json), parse_constant=lambda _: None)


def _as_json(value):
    if isinstance(value, xr.DataArray):  # thresholds of models, or weights of people
        for dim in {"model", "identity"} & set(value.dims):
            return dict(zip(value[dim].values, value.transpose(dim, ...).values))
    if isinstance(value, pd.DataFrame):
        return value.to_dict("records")
    if isinstance(value, Mapping | pd.Series):
        return dict(value)
    return np.asarray(value).tolist() if hasattr(value, "dtype") else str(value)
