"""Tables as DataFrames: text, Parquet, and frames with an index."""

import numpy as np
import pandas as pd

from frkit.base import listed, require
from frkit.data.files import file_kind, reading
from frkit.io.text import read_text


def read_frame(path):
    """Read a table.

    Parameters
    ----------
    path : Path or pd.DataFrame
        Text of any name, plain or .gz; Parquet.

    Returns
    -------
    pd.DataFrame
        Columns of numbers, and of text as it is written, missing where blank. The index is the
        line of text, or the row, from 1.
    """
    readers = {"frame": _as_table, "parquet": _read_arrow}
    table = readers.get(file_kind(path), read_text)(path)
    require(len(table) > 0, "the file has no row of data")
    return table


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
        "the columns have several levels of names: make one, such as df.columns = "
        "df.columns.map('_'.join)",
    )
    if not isinstance(frame.index, pd.RangeIndex):
        unnamed = "level_{}" if frame.index.nlevels > 1 else ""
        names = [name or unnamed.format(level) for level, name in enumerate(frame.index.names)]
        index = frame.index.to_frame(index=False).set_axis(names, axis=1)
        frame = pd.concat([index, frame.reset_index(drop=True)], axis=1)
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
        "one, such as probe_id, reference_id; in pandas: df.columns = df.columns.map('_'.join)",
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
        return len(cell) == 0 or isinstance(cell[0], (int, float, np.number))
    return not isinstance(cell, dict) and not (isinstance(cell, bytes) and not cell.isascii())
