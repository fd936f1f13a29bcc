"""A report as a folder: page, numbers, evaluation, tables, figures, and a notebook."""

import json
import shutil
import tempfile
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import listed, require, writing
from frkit.findings.formats import TEMPLATES
from frkit.intervals import provenance
from frkit.intervals.rows import rows_of
from frkit.reporting.page import page

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


def write(report, folder):
    """Write everything into a draft inside the folder, then move it to its place, file by file.

    So the folder itself may be a link or a mount. Of what it contains only the files of an earlier
    report are replaced.
    """
    earlier = earlier_files(folder)
    with writing(folder, "free some space, or name a folder elsewhere"):
        folder.resolve().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".draft-") as draft:
            _write_into(Path(draft), report)
            for path in earlier:
                path.unlink(missing_ok=True)
            shutil.copytree(draft, folder, copy_function=shutil.move, dirs_exist_ok=True)
    return folder


def earlier_files(folder):
    """Files of an earlier report in this folder; refuse a folder where a report cannot be written.

    They are listed in its report.json. Other files stay, unless a report could need their names.
    A folder without a report must be empty.
    """
    whole = folder.resolve()
    with writing(folder, "name another folder for the report"):
        nearest = next(path for path in (whole, *whole.parents) if path.exists())
        tempfile.TemporaryDirectory(dir=nearest).cleanup()
        if nearest != whole or not any(folder.iterdir()):
            return []
        names = _listed_files(folder / NUMBERS)
        message = f"{folder} contains files that are not part of a report"
        require(names, f"{message}: name another folder, or empty it")
        present = _files_of(folder)
    own = {name for name in present - names if name.partition("/")[0] in ALL}
    require(not own, f"{message}, {listed(sorted(own))}: move them, or name another folder")
    return [folder / name for name in present & names]


def _files_of(folder):
    """Names of all files in a folder."""
    paths = folder.rglob("*")
    return {path.relative_to(folder).as_posix() for path in paths if not path.is_dir()}


def _listed_files(path):
    """Names of the files that a report.json lists; none where it is not one."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        return {str(name) for name in report["files"]} if report["schema"] == SCHEMA else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _write_into(draft, report):
    """All files of a report."""
    for name in (TABLES, FIGURES):
        (draft / name).mkdir()
    (draft / PAGE).write_text(page(report), encoding="utf-8")
    report.evaluation.to_netcdf(draft / EVALUATION, engine="h5netcdf")
    for name, table in by_file_name(report.tables).items():
        table.to_csv(draft / TABLES / f"{name}.csv", encoding="utf-8")
        table.to_latex(draft / TABLES / f"{name}.tex")
    for name, picture in by_file_name(report.pictures).items():
        (draft / FIGURES / f"{name}.svg").write_text(picture.svg, encoding="utf-8")
    notebook = TEMPLATES.get_template("notebook.ipynb.j2").render(evaluation=EVALUATION)
    (draft / NOTEBOOK).write_text(notebook, encoding="utf-8")
    files = sorted(_files_of(draft) | {NUMBERS})
    (draft / NUMBERS).write_text(numbers(report, files), encoding="utf-8")


def by_file_name(contents):
    """Tables or figures by names of files, none twice, whatever a label contains."""
    files = {}
    for caption, content in contents.items():
        short, _, _ = caption.lower().partition(" (")
        letters = [sign if sign.isascii() and sign.isalnum() else " " for sign in short]
        stem = "_".join("".join(letters).split())[:40] or "table"
        names = (f"{stem}_{k}" if k else stem for k in count())
        files[next(name for name in names if name not in files)] = content
    return files


# --- numbers for programs -------------------------------------------------------------------------


def numbers(report, files=()):
    """Every number of the report as JSON; null is not known, or an end without a number.

    files : names of the files of the report, which a later one may replace.
    """
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
        "files": files,
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
    for row in rows_of(result).to_dict("records"):
        row = {name: value for name, value in row.items() if value != ""}
        records.append({"section": section, **about, **row})
    return records


def as_builtins(value):
    """The same as JSON and Python write it, with None for what is not finite."""
    return json.loads(json.dumps(value, default=_as_json), parse_constant=lambda _: None)


def _as_json(value):
    if isinstance(value, pd.DataFrame):
        return value.to_dict("records")
    return np.asarray(value).tolist() if hasattr(value, "dtype") else str(value)
