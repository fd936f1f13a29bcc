"""Tables as DataFrames: text, JSON lines, Parquet, and frames with an index."""

from importlib import import_module

import pandas as pd

from frkit.base import listed, require
from frkit.data.files import file_kind, reading
from frkit.io.json_files import by_row, read_json
from frkit.io.text import read_text


def read_frame(path):
    """Read a table.

    Parameters
    ----------
    path : Path or pd.DataFrame
        Text of any name, plain or .gz; JSON and JSON Lines; Parquet or Feather.

    Returns
    -------
    pd.DataFrame
        Columns of numbers, and of text as it is written, missing where blank. The index is the
        line of text, or the row, from 1.
    """
    readers = {
        "frame": _as_table,
        "parquet": _read_arrow,
        "json lines": read_json,
        "json": read_json,
    }
    kind = file_kind(path)
    table = readers[kind](path) if kind in readers else read_text(path)
    require(len(table) > 0, "the file has no row of data")
    return table


def _read_arrow(path):
    """Read Parquet or Feather."""
    is_feather = path.suffix.lower() == ".feather"
    module = "feather" if is_feather else "parquet"
    arrow = import_module(f"pyarrow.{module}")
    options = {} if is_feather else {"pre_buffer": False}
    with reading("the table"):
        # without threads, which hang in a forked process
        stored = arrow.read_table(path, use_threads=False, **options)
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
        names = [name or number or "" for number, name in enumerate(frame.index.names)]
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
