"""Tables as DataFrames: text between commas, semicolons, tabs or blanks, plain or .gz; Parquet."""

import csv
import re
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
    if embedding is False or file_kind(path) == "parquet":
        table = read_frame(path)
        numbers = [] if embedding is False else embedding_columns(table, embedding)
    else:
        header = read_header(path)
        check_header(header)
        numbers = numbered_columns(header, embedding)
        table = read_text(path, numbers=[header.index(name) for name in numbers])
    labels = table.drop(columns=["", *numbers], errors="ignore")
    lists = columns_of_lists(labels)
    not_read(lists, "lists, where an image needs one label")
    columns = {name: labels[name].to_numpy() for name in labels.drop(columns=lists)}
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
    table = _read_parquet(path) if file_kind(path) == "parquet" else read_text(path)
    check_header(list(table.columns))
    return table


def _read_parquet(path):
    parquet = need("pyarrow.parquet", "reading Parquet", "frkit[parquet]")
    with reading("the Parquet table"):
        # without threads, which hang in a forked process
        stored = parquet.read_table(path, use_threads=False, pre_buffer=False)
        stored.validate(full=True)  # pandas would find text that is no UTF-8 later
        table = stored.to_pandas(use_threads=False)
    require(len(table) > 0, "the table has no row")
    table = table.reset_index(drop=table.index.name is None)
    table.index = pd.RangeIndex(1, len(table) + 1, name="row")
    return table.rename(columns=str)


def check_header(header):
    """Refuse equal names and blank names; the first may be blank, as above row numbers."""
    require("" not in header[1:], f"a column has no name in the header: {listed(header, 12)}")
    names = pd.Index(header)
    twice = names[names.duplicated()]
    require(len(twice) == 0, f"column names must be distinct, but {listed(twice)} stand twice")


def read_header(path):
    """Read the names of the columns of a text table."""
    with reading("the table"):
        _, names = next(_rows(path, _delimiter(path)), (0, []))
    require(len(names) > 0, "the file is empty")
    return names


def read_text(path, fields=None, n_rows=None, numbers=()):
    """Read a text table; blank lines are skipped, and every error names the line.

    Parameters
    ----------
    path : Path
        Text in UTF-8, plain or .gz.
    fields : str, optional
        Names of the fields of a line, where these stand between blanks or tabs and there is no
        header; in brackets those that may be absent from the end of a line. Default: the first
        line is a header, and determines the delimiter.
    n_rows : int, optional
        How many rows to read (default: all).
    numbers : sequence of int, optional
        Places of the columns that pandas may read as numbers.

    Returns
    -------
    pd.DataFrame
        Columns of stripped text, missing where a cell is one of MISSING_CELLS or absent, and of
        numbers; the index is the line, from 1.
    """
    if fields is None:
        names = read_header(path)
        fewest = len(names)
        expected = f"the first line has {fewest} cells"
    else:
        names = re.findall(r"\w+", fields)
        fewest = len(fields.partition("[")[0].split())
        expected = f"a line is: {fields}"
    with reading("the table"):
        mark = None if fields else _delimiter(path)
        first = 0 if fields else 1
        is_blank = {}
        # pandas would fill a short row with missing values
        for line, cells in islice(_rows(path, mark), first, n_rows and first + n_rows):
            is_blank[line] = not any(cells)
            fits = is_blank[line] or fewest <= len(cells) <= len(names)
            require(fits, f"line {line} has {len(cells)} cells; {expected}")
        require(not all(is_blank.values()), "the file has no row of data")
        table = _read_csv(path, mark, len(names), len(is_blank), None if fields else 0, numbers)
    table.index = list(is_blank)
    table.columns = names
    return table[~np.array(list(is_blank.values()))]


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
    require(path.is_file(), "there is no such file")
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


def _read_csv(path, mark, n_columns, n_rows, header, numbers):
    """Read columns of text, and of numbers where all cells of one of these are such."""
    labels = [place for place in range(n_columns) if place not in numbers]
    with open_text(path) as file:
        table = pd.read_csv(
            file,
            sep=mark or r"\s+",
            quoting=csv.QUOTE_MINIMAL if mark else csv.QUOTE_NONE,
            header=header,
            names=range(n_columns),
            nrows=n_rows,
            dtype=dict.fromkeys(labels, str),
            keep_default_na=False,
            na_values=list(MISSING_CELLS),
            low_memory=False,  # one type a column
        )
    for place in table:
        if not pd.api.types.is_numeric_dtype(table[place]):
            column = table[place].str.strip()
            table[place] = column.mask(column.isin(MISSING_CELLS))
    return table


def numbered_columns(header, embedding=None):
    """Return the names of the embedding's columns, in the order of their numbers."""
    if embedding is not None and not isinstance(embedding, str):
        absent = [name for name in embedding if name not in header]
        require(not absent, f"no column {listed(absent)}; the columns are {listed(header, 12)}")
        return list(embedding)
    if embedding is None:
        prefixes = EMBEDDING_PREFIXES
    else:
        prefixes = [embedding.lower().rstrip("_-. ")]
    columns = pd.Series(header, header).str.extract(r"^(?P<prefix>.*?)(?P<number>[0-9]+)$").dropna()
    columns.prefix = columns.prefix.str.lower().str.rstrip("_-. ")
    columns = columns[columns.prefix.isin(prefixes)]
    example = embedding or "f"
    require(
        len(columns) > 0,
        f"no numbered columns such as {example}0, {example}1, ... for the embedding; name their "
        f"prefix, or all of them; the columns are {listed(header, 12)}",
    )
    choices = columns.prefix.unique()
    words = f"several sets of numbered columns: {listed(choices)}; name the prefix of one"
    require(len(choices) == 1, words)
    numbers = columns.number.astype(float).sort_values()
    require(
        numbers.iloc[0] <= 1 and (numbers.diff()[1:] == 1).all(),
        "the embedding's columns must be numbered without gaps from 0 or 1, but they are "
        f"{listed(numbers.index, 12)}; or name them all",
    )
    return list(numbers.index)


def to_numbers(column, blank=True):
    """Return the cells as finite float64; NaN where blank, if that is allowed."""
    # as text, of which pandas reads neither 1_0 nor digits that are not ASCII
    words = column if pd.api.types.is_numeric_dtype(column) else column.astype(str)
    values = pd.to_numeric(words, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    is_bad = ~np.isfinite(values)
    if blank:
        is_bad &= column.notna().to_numpy()
    refuse_cells(column, is_bad, "is not a finite number")
    return values


def refuse_cells(column, is_bad, reason):
    """Refuse the first cell that is bad, with its line, or its row of a Parquet."""
    bad = column[is_bad]
    if len(bad) > 0:
        cell = "a blank cell" if pd.isna(bad.iloc[0]) else repr(str(bad.iloc[0]))
        where = f"{column.index.name or 'line'} {bad.index[0]}, column {column.name!r}"
        raise InputError(f"{where}: {cell} {reason}")
