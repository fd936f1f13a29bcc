"""JSON: a table, as a list of objects."""

import json

import numpy as np
import pandas as pd

from frkit.base import listed, require
from frkit.data.files import file_kind, open_text, reading

NO_TABLE = (
    "JSON must contain a table, as a list of objects; others become one in pandas: "
    "what DataFrame.to_json writes by pd.read_json(path); with contents = "
    "json.loads(Path(path).read_text()), columns by pd.DataFrame(contents), a part by "
    "pd.DataFrame(contents['pairs']), vectors by name by pd.DataFrame({'image': list(contents), "
    "'embedding': list(contents.values())})"
)


def read_json(path):
    """Read a list of objects, or one object per line, as a table."""
    with reading("the JSON"), open_text(path) as file:
        if file_kind(path) == "json lines":
            lines = [line for line in file if line.strip()]
            data = [json.loads(line, object_pairs_hook=_object) for line in lines]
        else:
            data = json.load(file, object_pairs_hook=_object)
    is_report = isinstance(data, dict) and data.get("schema") == "frkit-report"
    require(not is_report, "is a report of frkit and no data: frkit check reads it")
    is_table = isinstance(data, list) and all(isinstance(row, dict) for row in data)
    table = pd.json_normalize(data, sep="_") if is_table else pd.DataFrame()
    require(len(table.columns) > 1, NO_TABLE)
    return by_row(table)


def _object(pairs):
    """Return a JSON object; refuse a name that occurs twice, because it would hide the first."""
    data = dict(pairs)
    require(len(data) == len(pairs), f"a name occurs twice in the object of {listed(data)}")
    return data


def by_row(table):
    """Return a table whose index counts rows from 1, and whose names are text."""
    has_no_labels = [_has_no_labels(table.iloc[:, k]) for k in range(len(table.columns))]
    table = table.loc[:, ~np.array(has_no_labels, bool)]
    table.index = pd.RangeIndex(1, len(table) + 1, name="row")
    return table.rename(columns=str)


def _has_no_labels(column):
    """Return whether cells are neither labels nor vectors, but pictures, objects or lists."""
    cells = column.array if column.dtype == object else []
    first = cells[0] if len(cells) > 0 else None
    if isinstance(first, dict):
        return True
    if isinstance(first, (list, np.ndarray)):
        return len(first) > 0 and not isinstance(first[0], (int, float, np.number))
    try:
        for cell in cells:
            if isinstance(cell, bytes):
                cell.decode()
    except UnicodeDecodeError:
        return True
    return False
