"""Tables as DataFrames: text, JSON, Parquet, and frames with an index."""

import json

import numpy as np
import pandas as pd

from frkit.base import listed, require
from frkit.data.files import file_kind, open_text, reading
from frkit.io.text import read_text

NO_TABLE = (
    "JSON must contain a table, as a list of flat objects (frkit check reads a report of frkit); "
    "others become a table in pandas, for fk.open_data\n"
    "  what DataFrame.to_json writes: pd.read_json(path)\n"
    "  columns: pd.DataFrame(contents); a part: pd.DataFrame(contents['pairs'])\n"
    "  objects within objects: pd.json_normalize(contents, sep='_')\n"
    "  a vector for each name: pd.DataFrame({'image': list(contents), 'embedding': "
    "list(contents.values())})\n"
    "  several vectors of each person: fk.faces(np.concatenate([*contents.values()]), "
    "np.repeat([*contents], [*map(len, contents.values())]))\n"
    "  (with contents = json.loads(Path(path).read_text()), or of lines [json.loads(line) for line "
    "in open(path)])"
)
ONE_LEVEL = "df.columns = ['_'.join(map(str, names)) for names in df.columns]"


def read_frame(path):
    """Read a table.

    Parameters
    ----------
    path : Path or pd.DataFrame
        Text of any name, plain or .gz; JSON and JSON Lines; Parquet.

    Returns
    -------
    pd.DataFrame
        Columns of numbers, and of text as it is written, missing where blank. The index is the
        line of text, or the row, from 1.
    """
    readers = {
        "frame": _as_table,
        "parquet": _read_arrow,
        "json lines": _read_json,
        "json": _read_json,
    }
    kind = file_kind(path)
    table = readers[kind](path) if kind in readers else read_text(path)
    require(len(table) > 0, "the file has no row of data")
    return table


def _read_json(path):
    """Read a list of objects, or one object per line."""
    with reading("the JSON"), open_text(path) as file:
        if file_kind(path) == "json lines":
            rows = [json.loads(line) for line in file if line.strip()]
        else:
            rows = json.load(file)
    are_objects = isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
    table = pd.DataFrame(rows if are_objects else [])
    are_nested = table.map(lambda cell: isinstance(cell, dict)).any(axis=None)
    require(len(table.columns) > 1 and not are_nested, NO_TABLE)
    return by_row(table)


def _read_arrow(path):
    """Read Parquet."""
    from pyarrow.parquet import read_table

    with reading("the table"):
        # without threads, which hang in a forked process
        stored = read_table(path, use_threads=False, pre_buffer=False)
        stored.validate(full=True)  # pandas would find text that is not UTF-8 later
        table = stored.to_pandas(use_threads=False)
    return _as_table(table)


def _as_table(frame):
    """Return a DataFrame whose index, unless it only counts rows, became its first columns."""
    require(
        frame.columns.nlevels == 1,
        "the columns have several levels of names; a matrix of scores with people and images on "
        "both sides is fk.score_matrix(df.droplevel('person').droplevel('person', axis=1), "
        "*(names.get_level_values('person') for names in df.axes)); of other tables make one "
        f"level, such as {ONE_LEVEL}",
    )
    if not isinstance(frame.index, pd.RangeIndex):
        names = None if frame.index.nlevels > 1 else frame.index.name or ""
        frame = frame.reset_index(names=names, allow_duplicates=True)
    return by_row(frame)


def check_header(header):
    """Refuse equal names and blank names; the first may be blank, as above row numbers."""
    require(
        "" not in header[1:],
        f"a column has no name in the header: {listed(header, 12)}; name each, and write a table "
        "of Markdown or of a database as CSV",
    )
    twice = pd.Index(header)[pd.Index(header).duplicated()]
    require(
        len(twice) == 0,
        f"column names must be distinct; repeated: {listed(twice)}; of a header of two lines make "
        f"one, such as probe_id, reference_id; in pandas: {ONE_LEVEL}; a matrix with people in its "
        "header alone is fk.score_matrix(frame.to_numpy(), people, people, same_images=True)",
    )


def by_row(table):
    """Return a table whose index counts rows from 1, and whose names are text."""
    first_row = table.iloc[:1].astype(object).to_numpy().ravel()
    table = table.loc[:, [_is_of_labels(cell) for cell in first_row] or slice(None)]
    table.index = pd.RangeIndex(1, len(table) + 1, name="row")
    return table.rename(columns=str)


def _is_of_labels(cell):
    """Return whether a cell is a label or a vector, and no picture, object or list of others."""
    if isinstance(cell, (list, np.ndarray)):
        is_vector = getattr(cell, "ndim", 1) == 1
        return is_vector and (len(cell) == 0 or isinstance(cell[0], (int, float, np.number)))
    is_binary = isinstance(cell, bytes) and not cell.isascii()
    return not (isinstance(cell, (dict, set)) or is_binary)
