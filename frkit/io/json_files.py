"""JSON: a table, as a list of objects or as an object of columns."""

import json

import numpy as np
import pandas as pd

from frkit.base import listed, require
from frkit.data.files import open_text, reading

NO_TABLE = (
    "JSON must contain a table, as a list of objects or an object of lists of one length; others "
    "become one in pandas: with contents = json.loads(Path(path).read_text()), a part by "
    "pd.DataFrame(contents['pairs']); vectors by name by pd.DataFrame({'image': list(contents), "
    "'embedding': list(contents.values())}); another orient by pd.read_json(path, orient='split')"
)


def read_json(path):
    """Read a file of JSON as a table."""
    with reading("the JSON"), open_text(path) as file:
        data = json.load(file, object_pairs_hook=_object)
    if isinstance(data, dict):
        is_report = data.get("schema") == "frkit-report"
        require(not is_report, "is a report of frkit and no data: frkit check reads it")
        has_objects = any(isinstance(value, dict) for value in data.values())
        require(not has_objects or _are_columns(data), NO_TABLE)
    try:
        is_list = isinstance(data, list)
        table = pd.json_normalize(data, sep="_") if is_list else pd.DataFrame(data)
    except (ValueError, TypeError, AttributeError, NotImplementedError):
        table = ()
    require(len(table) > 0 and len(table.columns) > 1, NO_TABLE)
    return by_row(table)


def _object(pairs):
    """Return a JSON object; refuse a name that occurs twice, because it would hide the first."""
    data = dict(pairs)
    require(len(data) == len(pairs), f"a name occurs twice in the object of {listed(data)}")
    return data


def _are_columns(data):
    """Return whether objects are columns, as pandas writes a table: with rows 0, 1, 2, ..."""
    columns = [*data.values()]
    if not all(isinstance(column, dict) for column in columns):
        return False
    rows = [*map(str, range(max(map(len, columns))))]
    return "0" not in data and all([*column] == rows for column in columns)


def by_row(table):
    """Return a table whose index counts rows from 1, and whose names are text."""
    if len(table) > 0 and table.columns.is_unique:
        table = pd.concat([_flat(table[name]) for name in table], axis=1)
    has_no_labels = [_has_no_labels(table.iloc[:, k]) for k in range(len(table.columns))]
    table = table.loc[:, ~np.array(has_no_labels, bool)]
    table.index = pd.RangeIndex(1, len(table) + 1, name="row")
    return table.rename(columns=str)


def _flat(column):
    """Return a column; of a column of objects the fields, such as probe_image, probe_subject."""
    cells = column.array
    if all(isinstance(cell, (list, np.ndarray)) and len(cell) == 1 for cell in cells):
        cells = [cell[0] for cell in cells]  # as of DeepFace, which lists the faces of an image
    if not all(isinstance(cell, dict) for cell in cells):
        return column
    return pd.json_normalize(list(cells), sep="_").add_prefix(f"{column.name}_")


def _has_no_labels(column):
    """Return whether cells are neither labels nor vectors, but pictures, objects or lists."""
    cells = column.array if column.dtype == object else []
    first = cells[0] if len(cells) > 0 else None
    if isinstance(first, (list, np.ndarray)):
        return len(first) > 0 and not isinstance(first[0], (int, float, np.number))
    try:
        for cell in cells:
            if isinstance(cell, bytes):
                cell.decode()
    except UnicodeDecodeError:
        return True
    return False
