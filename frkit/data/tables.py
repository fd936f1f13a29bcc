"""Tables as DataFrames: text between commas, semicolons, tabs or blanks, JSON, Parquet."""

import csv
import json
import re
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pandas as pd

from frkit.base import InputError, listed, require
from frkit.data.files import file_kind, need, opener, reading
from frkit.data.names import is_known_name, plain

NO_NUMBER = ("", "nan", "NaN", "NA", "N/A", "n/a", "null", "NULL", "None", "<NA>")
HEAD = 100  # lines that show how a table is written
WIDE = 20  # columns from which on a table contains embeddings or a matrix
DECIMALS = re.compile(r"[+-]?[0-9]*[.,][0-9]{3,}([eE][+-]?[0-9]+)?|[+-]?[0-9.,]+[eE][+-]?[0-9]+")
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
NUMBERED = re.compile(r"^(.*?)([0-9]+)$")


def read_frame(path, names=None, n_rows=None):
    """Read a table.

    Parameters
    ----------
    path : Path
        Text of any name, plain or .gz; JSON or JSON Lines; or Parquet.
    names : list of str, optional
        Names of the cells of a line where there is no header. Default: the header's, or "1", "2",
        ... where the first line contains data already.
    n_rows : int, optional
        How many rows to read; default: all.

    Returns
    -------
    pd.DataFrame
        Columns of numbers, and of text as it is written, missing where blank. The index is the
        line of text, or the row, from 1.
    """
    kind = file_kind(path)
    if kind == "parquet":
        table = _read_parquet(path)
    elif kind == "json lines":
        table = _read_json_lines(path)
    else:
        table = read_text(path, names, n_rows)
    require(len(table) > 0, "the file has no row of data")
    return table if n_rows is None else table[:n_rows]


def _read_parquet(path):
    parquet = need("pyarrow.parquet", "reading Parquet", "frkit[parquet]")
    with reading("the Parquet table"):
        # without threads, which hang in a forked process
        stored = parquet.read_table(path, use_threads=False, pre_buffer=False)
        stored.validate(full=True)  # pandas would find text that is no UTF-8 later
        table = stored.to_pandas(use_threads=False)
    table = table.reset_index(drop=table.index.name is None)
    table.index = pd.RangeIndex(1, len(table) + 1, name="row")
    return table.rename(columns=str)


def _read_json_lines(path):
    """Read one object a line."""
    rows = {}
    with reading("the JSON"), open_text(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                rows[number] = json.loads(line)
                require(isinstance(rows[number], dict), f"line {number} is no object of JSON")
    return pd.DataFrame.from_dict(rows, orient="index")


def check_header(header):
    """Refuse equal names and blank names; the first may be blank, as above row numbers."""
    require("" not in header[1:], f"a column has no name in the header: {listed(header, 12)}")
    names = pd.Index(header)
    twice = names[names.duplicated()]
    require(len(twice) == 0, f"column names must be distinct, but {listed(twice)} stand twice")


def open_text(path):
    """Open a text file, plain or .gz."""
    require(path.is_file(), "there is no such file")
    return opener(path)(path, "rt", encoding="utf-8-sig", newline="")


# --- text ----------------------------------------------------------------------------------------


@dataclass
class Layout:
    """How a text table is written: its delimiter (None: blanks), its first line, its columns."""

    mark: str | None
    first: int
    has_header: bool
    names: list
    decimal: str
    rows: list  # cells of the first lines of data


def read_text(path, names=None, n_rows=None):
    """Read a text table; blank lines are skipped, and every error names the line."""
    with reading("the table"):
        layout = text_layout(path, names)
        if any(len(row) > len(layout.names) for row in layout.rows):
            _check_cells(path, layout)
        try:
            table = _read_csv(path, layout, _number_columns(layout), n_rows)
        except UnicodeDecodeError:
            raise
        except ValueError:  # of which pandas' errors of parsing are some
            _check_cells(path, layout)
            table = _read_csv(path, layout, [], n_rows)  # `to_numbers` will name the line
        is_blank = table.isna().all(axis=1).to_numpy()
        # pandas fills a short line with missing values
        if (table.iloc[:, -1].isna().to_numpy() & ~is_blank).any():
            _check_cells(path, layout)
        table.index = pd.RangeIndex(layout.first, layout.first + len(table))
        table.columns = layout.names
        table = table if not is_blank.any() else table[~is_blank]
        return table.apply(_clean, points=layout.decimal == ",") if len(table) else table


def text_layout(path, names=None):
    """See from the first lines how a table is written."""
    with reading("the table"), open_text(path) as file:
        lines = list(enumerate(islice(file, HEAD), 1))
        lines = [(number, line.rstrip("\r\n")) for number, line in lines if line.strip()]
        require(len(lines) > 0, "the file is empty")
        texts = [line for _, line in lines]
        mark = _delimiter(path, texts)
        rows = [_cells(line, mark) for line in texts]
    has_header = names is None and _has_header(rows)
    body = rows[has_header:]
    if has_header:
        names = rows[0]
    elif names is None:
        names = [str(place) for place in range(1, len(rows[0]) + 1)]
    is_comma = mark != "," and any(DECIMAL_COMMA.fullmatch(cell) for row in body for cell in row)
    first = lines[0][0] + has_header
    return Layout(mark, first, has_header, list(names), "," if is_comma else ".", body)


def _delimiter(path, lines):
    """Return what stands between the cells; None for blanks."""
    if ".tsv" in path.suffixes:
        return "\t"
    for mark in "\t;,":
        is_in_first = mark in lines[0] or mark == "\t"  # LFW's first line is a number
        if is_in_first and sum(mark in line for line in lines) > len(lines) / 2:
            return mark
    n_cells = len(lines[0].split())
    is_alike = sum(len(line.split()) == n_cells for line in lines) > len(lines) / 2
    is_single = n_cells < 2 or ".csv" in path.suffixes and not is_alike
    return "," if is_single else None


def _cells(line, mark):
    """Return the cells of a line."""
    cells = next(csv.reader([line], delimiter=mark)) if mark else line.split()
    return [cell.strip() for cell in cells]


def _has_header(rows):
    """Return whether the first line names the columns: text above numbers, or usual names."""
    first, *others = rows
    if first[0] == "":
        return True
    if not others:
        return not any(is_number(cell) for cell in first)
    if len(first) == 1 and not is_known_name(first[0]):
        return not is_number(first[0]) and all(is_number(row[0]) for row in others)
    columns = list(zip(*(row for row in others if len(row) == len(first))))
    above = [
        not is_number(name) and all(is_number(cell) for cell in column)
        for name, column in zip(first, columns)
    ]
    numbers = [float(name) for name in first if is_number(name)]
    if numbers:
        counts_on = bool((np.diff(numbers) == 1).all()) and numbers[0] in (0, 1)
        return any(above) or (counts_on and len(numbers) > 1)
    is_repeated = any(name in column for name, column in zip(first, columns))
    return any(above) or not is_repeated or all(is_known_name(name) for name in first)


def is_number(cell):
    """Return whether a cell is a number, which may have a decimal comma."""
    try:
        float(cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell)
    except ValueError:
        return False
    return "_" not in cell


def _number_columns(layout):
    """Return the places of columns that pandas may read as numbers, as no label changes by that.

    These are fractions with many decimals, and the columns of an embedding or of a matrix.
    """
    columns = []
    for place in range(len(layout.names)):
        cells = [row[place] for row in layout.rows if place < len(row)]
        columns.append([cell for cell in cells if cell not in NO_NUMBER])
    are_numbers = [bool(cells) and all(map(_is_plain_number, cells)) for cells in columns]
    runs = numbered_runs(layout.names).values()
    wide = {name for run in runs if len(run) > WIDE for name in run}
    if len(columns) > WIDE and all(are_numbers[1:]):
        wide |= {*layout.names[1:]}
    return [
        place
        for place, cells in enumerate(columns)
        if are_numbers[place] and (layout.names[place] in wide or any(map(_is_fraction, cells)))
    ]


def _is_plain_number(cell):
    """Return whether a cell is a number that could be written anew: not 007."""
    digits = cell.lstrip("+-")
    return is_number(cell) and not (digits[:1] == "0" and digits[1:2].isdigit())


def _is_fraction(cell):
    return DECIMALS.fullmatch(cell) is not None


def _has_text(layout, place):
    """Return whether the first lines show a cell that is no number."""
    cells = [row[place] for row in layout.rows if place < len(row) and row[place]]
    return any(not is_number(cell) for cell in cells)


def _read_csv(path, layout, numbers, n_rows):
    """Read text as categories, which are small where it repeats, and numbers as numbers."""
    labels = [place for place in range(len(layout.names)) if place not in numbers]
    missing = dict.fromkeys(labels, [""]) | dict.fromkeys(numbers, list(NO_NUMBER))
    # pandas would turn categories that are all numbers into numbers: "007" into 7
    types = {place: "category" if _has_text(layout, place) else object for place in labels}
    return pd.read_csv(
        path,
        sep=layout.mark or r"\s+",
        quoting=csv.QUOTE_MINIMAL if layout.mark else csv.QUOTE_NONE,
        header=None,
        names=range(len(layout.names)),
        skiprows=layout.first - 1,
        nrows=n_rows,
        dtype=types | dict.fromkeys(numbers, float),
        keep_default_na=False,
        na_values=missing,
        skip_blank_lines=False,
        decimal=layout.decimal,
        low_memory=False,
        encoding="utf-8",
        compression="gzip" if opener(path) is not open else None,
    )


def _check_cells(path, layout):
    """Name the first line that has another number of cells, or a quote that stays open."""
    n_names = len(layout.names)
    with open_text(path) as file:
        lines = islice(enumerate(file, 1), layout.first - 1, None)
        for number, line in lines:
            if not line.strip():
                continue
            try:
                cells = _cells(line.rstrip("\r\n"), layout.mark)
            except csv.Error as error:
                raise InputError(f"line {number}: {error}") from error
            words = f"line {number} has {len(cells)} cells; the first line has {n_names} cells"
            require(len(cells) == n_names, words)


def _clean(column, points):
    """Return text without blanks around it, `points` for decimal commas; on one line."""
    if pd.api.types.is_numeric_dtype(column):
        return column
    column = column.astype("category")
    words = column.cat.categories.astype(str)
    is_long = words.str.contains("\n", regex=False)
    if is_long.any():
        rows = column.index[column.isin(words[is_long])]
        raise InputError(f"line {rows[0]}: a cell has no end: was an open quote left?")
    clean = words.str.strip()
    if points and all(is_number(word) for word in clean):
        clean = clean.str.replace(",", ".", regex=False)
    if not clean.equals(words):
        codes, clean = pd.factorize(clean.where(clean != "", None))
        codes = np.append(codes, -1)[column.cat.codes]
        column = pd.Series(pd.Categorical.from_codes(codes, clean), column.index)
    return column


# --- columns -------------------------------------------------------------------------------------


def to_numbers(column, blank=True):
    """Return the cells as finite float64; NaN where missing, if that is allowed."""
    values, is_missing = as_numbers(column)
    is_bad = ~np.isfinite(values)
    if blank:
        is_bad &= ~is_missing
    refuse_cells(column, is_bad, "is not a finite number")
    return values


def as_numbers(column):
    """Return cells as float64, NaN where they are no numbers; and which are missing."""
    if column.dtype == "category":
        words = column.cat.categories
        numbers, is_missing = as_numbers(pd.Series(words, words))
        codes = column.cat.codes.to_numpy()
        return np.append(numbers, np.nan)[codes], np.append(is_missing, True)[codes]
    is_missing = column.isna().to_numpy()
    if not pd.api.types.is_numeric_dtype(column):
        # as text, of which pandas reads neither 1_0 nor digits that are not ASCII
        column = column.astype(str).str.strip()
        is_missing = is_missing | column.isin(NO_NUMBER).to_numpy()
    values = pd.to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    return values, is_missing


def refuse_cells(column, is_bad, reason):
    """Refuse the first cell that is bad, with its line, or its row of a Parquet."""
    if np.any(is_bad):
        place = int(np.argmax(is_bad))
        cell = column.iloc[place]
        cell = "a blank cell" if pd.isna(cell) else repr(str(cell))
        where = f"{column.index.name or 'line'} {column.index[place]}, column {column.name!r}"
        raise InputError(f"{where}: {cell} {reason}")


def numbered_runs(header):
    """Return columns that are numbered without gaps from 0 or 1, by the text before the number."""
    places = {}
    for name in header:
        match = NUMBERED.match(name)
        if match:
            places.setdefault(plain(match[1]), {})[int(match[2])] = name
    runs = {}
    for prefix, names in places.items():
        numbers = sorted(names)
        if numbers[0] <= 1 and numbers == [*range(numbers[0], numbers[0] + len(numbers))]:
            runs[prefix] = [names[number] for number in numbers]
    return runs
