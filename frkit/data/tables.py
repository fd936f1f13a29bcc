"""Tables as DataFrames: text between commas, semicolons, tabs or blanks, plain or .gz; Parquet."""

import csv
import re
from collections import Counter
from itertools import islice

import numpy as np
import pandas as pd

from frkit.base import InputError, listed, real_numbers, require
from frkit.data.files import file_kind, need, not_read, opener, reading

MISSING_CELLS = ("", "NA", "N/A", "n/a", "null", "NULL", "nan", "NaN", "<NA>")
EMBEDDING_NAMES = "embedding embeddings emb embs features feats feat vectors templates x".split()
# "": columns that are called 0, 1, ...
EMBEDDING_PREFIXES = ["", *"f feat feature features emb embedding embeddings dim d x v".split()]


def read_table(path, embedding=None):
    """Read a table of images: label columns as they are, the numbers as one `embedding`.

    Parameters
    ----------
    path : Path
        A .csv or .tsv, plain or .gz, or a Parquet, whose embedding may also be a column of lists.
    embedding : str, sequence of str or False, optional
        The embedding's columns: the prefix of numbered columns (default: a usual one such as
        f0, f1, ... or embedding_0, ...), their names, or False for a table of labels alone.

    Returns
    -------
    dict
        Column name to array (n_rows,), missing where blank; "embedding" to (n_rows, n_features).
    """
    if file_kind(path) == "text" and embedding is not False:
        header = read_header(path)
        check_header(header)
        numbers = numbered_columns(header, embedding)
        table = read_text(path, numbers=[header.index(name) for name in numbers])
    else:
        table = read_frame(path)
        numbers = [] if embedding is False else embedding_columns(table, embedding)
    others = [name for name in columns_of_lists(table) if name not in numbers]
    not_read([repr(name) for name in others], "lists, where an image needs one label")
    labels = [name for name in table if name not in ("", *numbers, *others)]
    columns = {name: table[name].to_numpy() for name in labels}
    if numbers:
        columns["embedding"] = stacked_numbers(table, numbers)
    return columns


def embedding_columns(table, embedding=None):
    """Return the column of lists of numbers, or the numbered columns, of an embedding."""
    of_lists = columns_of_lists(table)
    usual = [name for name in of_lists if name.lower() in EMBEDDING_NAMES]
    if embedding is None and len(usual) == 1:
        return usual
    if embedding in of_lists:
        return [embedding]
    return numbered_columns(list(table), embedding)


def columns_of_lists(table):
    """Return the names of columns that have a list in each row."""
    return [name for name in table if np.ndim(table[name].iloc[0]) == 1]


def stacked_numbers(table, columns):
    """Return an embedding from one column of lists, or from several columns of numbers."""
    if columns == columns_of_lists(table[columns]):
        return real_numbers(columns[0], table[columns[0]].tolist())
    return np.column_stack([to_numbers(table[name], blank=False) for name in columns])


def read_frame(path):
    """Read a whole table with a header; the index has the line (of a Parquet, the row from 1)."""
    if file_kind(path) == "parquet":
        parquet = need("pyarrow.parquet", "reading Parquet", "frkit[parquet]")
        with reading("the Parquet table"):
            # without threads, which hang in a forked process
            stored = parquet.read_table(path, use_threads=False, pre_buffer=False)
            stored.validate(full=True)  # pandas would find text that is no UTF-8 later
            table = stored.to_pandas(use_threads=False)
        require(len(table) > 0, "the table has no row")
        table = table.reset_index(drop=table.index.name is None)
        table.columns = table.columns.astype(str)
        table.index = pd.RangeIndex(1, len(table) + 1, name="row")
    else:
        table = read_text(path)
    check_header(list(table.columns))
    return table


def check_header(header):
    """Refuse equal names and blank names; the first may be blank, as above row numbers."""
    blank = [number for number, name in enumerate(header, 1) if not name and number > 1]
    require(not blank, f"column {listed(blank)} has no name in the header")
    twice = [name for name, count in Counter(header).items() if count > 1]
    require(not twice, f"column names must be distinct, but {listed(twice)} stand twice")


def read_header(path):
    """Read the names of the columns of a text table."""
    with reading("the table"):
        _, names = next(_rows(path, _delimiter(path)), (0, []))
    require(len(names) > 0, "the file is empty")
    return names


def read_text(path, fields=None, form=None, n_rows=None, numbers=()):
    """Read a text table; blank lines are skipped, and every error names the line.

    Parameters
    ----------
    path : Path
        Text in UTF-8, plain or .gz.
    fields : str, optional
        Names of the fields of a line, where these stand between blanks or tabs and there is no
        header; in brackets those that may be absent from the end of a line. Default: the first
        line is a header, and determines the delimiter.
    form : str, optional
        A line in words, for messages (default: its fields).
    n_rows : int, optional
        How many rows to read (default: all).
    numbers : sequence of int, optional
        Places of the columns that become float64.

    Returns
    -------
    pd.DataFrame
        Columns of stripped text, missing where a cell is one of MISSING_CELLS or absent, and of
        numbers; the index is the line, from 1.
    """
    require(path.is_file(), "there is no such file")
    with reading("the table"):
        mark = None if fields else _delimiter(path)
        rows = _rows(path, mark)
        if fields is None:
            _, names = next(rows, (0, []))
            fewest = len(names)
            expected = f"the first line has {len(names)} cells"
        else:
            names = re.findall(r"\w+", fields)
            fewest = len(fields.partition("[")[0].split())
            expected = f"a line is: {form or ' '.join(names)}"
        lines = []
        is_blank = []
        # pandas would fill a short row with missing values
        for line, cells in islice(rows, n_rows):
            is_blank.append(not any(cells))
            lines.append(line)
            fits = is_blank[-1] or fewest <= len(cells) <= len(names)
            require(fits, f"line {line} has {len(cells)} cells; {expected}")
        words = "there is a header but no row" if fields is None and names else "the file is empty"
        require(not all(is_blank), words)
        table = _read_csv(path, mark, names, lines, None if fields else 0, set(numbers))
    return table[~np.array(is_blank)]


def _delimiter(path):
    """Return the delimiter of the first line; None for blanks."""
    with open_text(path) as file:
        first_line = file.readline()
    if ".tsv" in path.suffixes:
        return "\t"
    for mark in ",;\t":
        if mark in first_line:
            return mark
    is_single = len(first_line.split()) < 2
    return "," if is_single or ".csv" in path.suffixes else None


def open_text(path):
    """Open a text file, plain or .gz."""
    return opener(path)(path, "rt", encoding="utf-8-sig", newline="")


def _rows(path, mark):
    """Yield the cells of each line that is not blank, with its number."""
    with open_text(path) as file:
        if mark is None:
            rows = (re.findall(r"[^ \t\r\n]+", line) for line in file)
        else:
            rows = csv.reader(file, delimiter=mark, strict=True)
        for line, row in enumerate(rows, 1):
            cells = [cell.strip() for cell in row]
            if mark is not None and rows.line_num != line:
                raise InputError(f"line {line}: a cell has no end: was an open quote left?")
            if any(cells) or len(cells) > 1:
                yield line, cells


def _read_csv(path, mark, names, lines, header, numbers):
    """Read the rows in these lines as text, and as numbers where all cells are such."""
    places = range(len(names))
    options = {
        "sep": mark or r"\s+",
        "quoting": csv.QUOTE_MINIMAL if mark else csv.QUOTE_NONE,
        "header": header,
        "names": places,
        "nrows": len(lines),
        "keep_default_na": False,
        "na_values": list(MISSING_CELLS),
    }
    types = {place: np.float64 if place in numbers else str for place in places}
    with open_text(path) as file:
        try:
            table = pd.read_csv(file, dtype=types, **options)
        except ValueError:  # a cell is no number: `to_numbers` will see which
            file.seek(0)
            table = pd.read_csv(file, dtype=str, **options)
    for place in places:
        if table[place].dtype != np.float64:
            column = table[place].str.strip()
            table[place] = column.mask(column.isin(MISSING_CELLS))
    table.index, table.columns = lines, names
    return table


def numbered_columns(header, embedding=None):
    """Return the names of the embedding's columns, in the order of their numbers."""
    if embedding is not None and not isinstance(embedding, str):
        absent = [name for name in embedding if name not in header]
        require(not absent, f"no column {listed(absent)}; the columns are {listed(header, 12)}")
        return list(embedding)
    columns = pd.Series(header, header).str.extract(r"^(?P<prefix>.*?)(?P<number>[0-9]+)$").dropna()
    columns.prefix = columns.prefix.str.lower().str.rstrip("_-. ")
    # without a prefix: columns called 0, 1, ...
    prefixes = (
        [*EMBEDDING_PREFIXES, ""] if embedding is None else [embedding.lower().rstrip("_-. ")]
    )
    columns = columns[columns.prefix.isin(prefixes)]
    example = embedding or "f"
    require(
        len(columns) > 0,
        f"no numbered columns such as {example}0, {example}1, ... for the embedding; name their "
        f"prefix, or all of them; the columns are {listed(header, 12)}",
    )
    sizes = columns.prefix.value_counts(sort=False)
    choices = [f"{prefix!r} ({size} columns)" for prefix, size in sizes.items()]
    words = f"several sets of numbered columns: {', '.join(choices)}; name the prefix of one"
    require(len(sizes) == 1, words)
    numbers = columns.number.astype(float).sort_values()
    expected = np.arange(len(numbers)) + min(numbers.iloc[0], 1)
    require(
        np.array_equal(numbers, expected),
        "the embedding's columns must be numbered without gaps from 0 or 1, but they are "
        f"{listed(numbers.index, 12)}; or name them all",
    )
    return list(numbers.index)


def to_numbers(column, blank=True):
    """Return the cells as finite float64; NaN where blank, if that is allowed."""
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(np.float64, na_value=np.nan)
    else:
        values = np.array([_number(cell) for cell in column], np.float64)
    bad = np.isinf(values) if blank else ~np.isfinite(values)
    if bad.any():
        row = np.argmax(bad)
        cell = column.iloc[row]
        shown = "a blank cell" if pd.isna(cell) else repr(str(cell))
        where = f"{column.index.name or 'line'} {column.index[row]}, column {column.name!r}"
        raise InputError(f"{where}: {shown} is not a finite number")
    return values


def _number(cell):
    """Return NaN where blank; what is no number counts as infinite, because both are refused."""
    if cell is None or cell is pd.NA or cell != cell:
        return np.nan
    text = str(cell)
    if "_" in text or not text.isascii():  # Python reads 1_0, and digits of any script
        return np.inf
    try:
        return float(text)
    except ValueError:
        return np.inf
