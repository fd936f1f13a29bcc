"""Tables as DataFrames: text between commas, semicolons, tabs or blanks, JSON lines, Parquet."""

import csv
import re
from dataclasses import dataclass
from importlib import import_module
from itertools import islice, zip_longest

import numpy as np
import pandas as pd

from frkit.base import LARGEST_WHOLE, InputError, listed, require, warn
from frkit.data.files import encoding_of, file_kind, open_text, reading
from frkit.data.json_files import by_row, read_json
from frkit.data.labels import ABRIDGED, NO_WIDTH, stripped
from frkit.data.names import is_known_name, simplified

NO_NUMBER = ["", "nan", "NaN", "NA", "N/A", "n/a", "null", "NULL", "None", "<NA>"]
# of a comparison that failed, or of an image that was not acquired, enrolled or found
NO_NUMBER += "FTA fta FTE fte FTC FTX fail Fail FAIL failed Failed FAILED".split()
NO_NUMBER += "failure Failure FAILURE error Error ERROR".split()
HEAD = 100  # lines that show how a table is written
MOST_COMMENTS = 0.5  # share of lines that can begin with "#" and be no data
WIDE = 20  # a table of at least this many columns contains embeddings or a matrix
# a number that could be written anew, which 007 could not
NUMBER = re.compile(r"[+-]?(?!0[0-9])(?=[.,]?[0-9])[0-9]*([.,][0-9]+)?([eE][+-]?[0-9]+)?")
FRACTION = re.compile(r".*([.,][0-9]{3}|[eE])")
# up to 999, or with a point that may separate thousands or precede three decimals
THOUSANDS = re.compile(r"[+-]?(0|[1-9][0-9]{0,2}([.,][0-9]{3})?)")
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
UNNAMED = ("", "level_0", "Unnamed: 0")  # of a first column without a name, as pandas writes it
NUMBERED = re.compile(r"^(.*?)([0-9]+)$")


def read_frame(path, names=None, n_rows=None):
    """Read a table.

    Parameters
    ----------
    path : Path or pd.DataFrame
        Text of any name, plain or .gz; JSON and JSON Lines; Parquet or Feather.
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
    readers = {
        "frame": _as_table,
        "parquet": _read_arrow,
        "json lines": _read_records,
        "json": read_json,
    }
    kind = file_kind(path)
    table = readers[kind](path) if kind in readers else _read_text(path, names, n_rows)
    require(isinstance(table, pd.DataFrame), "it contains embeddings and no table")
    require(len(table) > 0, "the file has no row of data")
    return table if n_rows is None else table.head(n_rows)


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
    if not isinstance(frame.index, pd.RangeIndex):
        names = [name or place or "" for place, name in enumerate(frame.index.names)]
        index = frame.index.to_frame(index=False).set_axis(names, axis=1)
        frame = pd.concat([index, frame.reset_index(drop=True)], axis=1)
    return by_row(frame)


def _read_records(path):
    """Read a file with one JSON object per line."""
    with reading("the JSON"), open_text(path) as file:
        table = pd.read_json(file, lines=True, dtype=False, precise_float=True)
        require(isinstance(table, pd.DataFrame), "a line is not a JSON object")
    return by_row(table)


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


def _read_text(path, names=None, n_rows=None):
    """Read a text table; blank lines are skipped, and every error names the line."""
    with reading("the table"):
        layout = text_layout(path, names)
        numbers = _number_columns(layout)
        table = None
        if n_rows is None:
            table = _read_fast(path, layout, numbers)
            if table is None:  # perhaps a cell is no number: `to_numbers` will name its line
                table = _read_fast(path, layout, [])
        if table is None:
            table = _read_with_care(path, layout, numbers, n_rows)
        columns = [_clean(table[place], layout) for place in table]
        table = pd.concat(columns, axis=1).set_axis(layout.names, axis=1)
        is_blank = table.isna().all(axis=1)
        table = table[~is_blank] if is_blank.any() else table
        return _without_comments(table, n_rows is None)


def _without_comments(table, is_whole):
    """Return a table without lines that begin with "#", unless most do, as names of rows may.

    is_whole : whether all lines were read, so that a warning counts those that are skipped.
    """
    first = table.iloc[:, 0]
    if len(table) == 0 or pd.api.types.is_numeric_dtype(first):
        return table
    is_comment = first.str.startswith("#", na=False)
    if not 0 < is_comment.mean() <= MOST_COMMENTS:
        return table
    if is_whole:
        warn_of_comments(table.index[is_comment])
    return table[~is_comment]


def warn_of_comments(lines):
    """Warn that lines are skipped; lines : their numbers."""
    warn(f"{len(lines):,} line(s) that begin with '#' are skipped, the first is line {lines[0]}")


def _read_fast(path, layout, numbers):
    """Read a table by Arrow, which does not know several blanks in a row; None where it cannot."""
    import pyarrow as pa
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    if encoding_of(path) == "utf-16":
        return None
    types = {str(place): pa.string() for place in range(len(layout.names))}
    types |= {str(place): pa.float64() for place in numbers}
    # without threads, which hang in a forked process
    lines = ReadOptions(
        column_names=[*types], skip_rows_after_names=layout.first - 1, use_threads=False
    )
    cells = ParseOptions(
        delimiter=layout.mark or " ", ignore_empty_lines=False, newlines_in_values=True
    )
    values = ConvertOptions(column_types=types, null_values=NO_NUMBER, decimal_point=layout.decimal)
    try:
        table = read_csv(path, lines, cells, values).to_pandas(use_threads=False)
    except ValueError:
        return None
    texts = [table[name] for name in types if int(name) not in numbers]
    if layout.mark is None and any(text.str.contains("\t", regex=False).any() for text in texts):
        return None
    table.index += layout.first
    return table


def _read_with_care(path, layout, numbers, n_rows):
    """Read a table with blank lines, or name the line that has another number of cells."""
    _check_cells(path, layout, n_rows)  # pandas would fill a short line with missing values
    try:
        return _read_csv(path, layout, numbers, n_rows)
    except ValueError:  # pandas' errors of parsing are ValueErrors, too
        return _read_csv(path, layout, [], n_rows)


def text_layout(path, names=None):
    """Find out from the first lines how a table is written."""
    with reading("the table"), open_text(path) as file:
        head = enumerate(islice(file, HEAD), 1)
        lines = {number: line.rstrip("\r\n") for number, line in head if line.strip()}
        require(lines, "the file is empty")
        no_comments = [line for line in lines.values() if line[0] != "#"]
        mark = _delimiter(path, no_comments or [*lines.values()])
        cells = [[stripped(cell) for cell in row] for row in _split(lines.values(), mark)]
        rows = dict(zip(lines, cells))
    first, *others = rows
    while others and lines[first][0] == "#":
        is_above_header = all(map(is_known_name, rows[others[0]]))
        has_names = any(is_known_name(cell.strip("# ")) for cell in rows[first])
        if len(rows[first]) == len(cells[-1]) and has_names and not is_above_header:
            break  # it is the header
        first, *others = others
    no_comments = [number for number in others if lines[number][0] != "#"]
    if len(no_comments) >= MOST_COMMENTS * len(others):
        others = no_comments
    cells = [rows[number] for number in (first, *others)]
    has_header = names is None and _has_header(cells)
    if names is None:
        names = cells[0] if has_header else [str(place + 1) for place in range(len(cells[0]))]
    body = cells[has_header:]
    if has_header and body and all(len(row) == len(names) + 1 for row in body):
        names = ["", *names]  # R writes names of rows under no name
    is_comma = mark != "," and any(DECIMAL_COMMA.fullmatch(cell) for row in body for cell in row)
    return Layout(mark, first + has_header, has_header, names, "," if is_comma else ".", body)


def _delimiter(path, lines):
    """Return the separator of the cells; None for blanks."""
    if ".tsv" in path.suffixes:
        return "\t"
    for mark in "\t;,|":
        is_in_first = mark in lines[0] or mark == "\t"  # LFW's first line is a number
        if is_in_first and sum(mark in line for line in lines) > len(lines) / 2:
            return mark
    n_cells = len(lines[0].split())
    is_alike = sum(len(line.split()) in (n_cells, n_cells + 1) for line in lines) > len(lines) / 2
    is_single = n_cells < 2 or ".csv" in path.suffixes and not is_alike
    return "," if is_single else None


def _split(lines, mark):
    """Iterate over the cells of each line."""
    if mark is None:
        lines = (" ".join(line.split()) for line in lines)
    return csv.reader(lines, delimiter=mark or " ")


def _has_header(rows):
    """Return whether the first line names the columns: text above numbers, or usual names."""
    first, *others = rows
    if first[0] in UNNAMED or all(is_known_name(name) for name in first):
        return True
    numbers = [float(name.replace(",", ".")) for name in first if is_number(name)]
    if not others:
        return not numbers
    columns = [*zip(first, *(row for row in others if len(row) == len(first)))]
    if any(not is_number(name) and all(map(is_number, cells)) for name, *cells in columns):
        return True
    if numbers:
        return len(numbers) > 1 and numbers[0] in (0, 1) and set(np.diff(numbers)) == {1}
    return len(first) > 1 and not any(name in cells for name, *cells in columns)


def is_number(cell):
    """Return whether a cell is a number, which may have a decimal comma."""
    try:
        float(cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell)
    except ValueError:
        return False
    return "_" not in cell


def _number_columns(layout):
    """Return the places of columns that can be read as numbers without changing a label.

    These are fractions with many decimals, and the columns of an embedding or of a matrix. What a
    spreadsheet abridged stays text, and what may be thousands, so that both can be refused.
    """
    is_wide = len(layout.names) > WIDE
    places = []
    for place, cells in enumerate(zip_longest(*layout.rows, fillvalue="")):
        numbers = [cell for cell in cells if cell not in NO_NUMBER]
        if numbers and all(map(NUMBER.fullmatch, numbers)):
            is_fraction = any(map(FRACTION.match, numbers))
            is_unclear = any(map(ABRIDGED.fullmatch, numbers))
            is_unclear |= all(map(THOUSANDS.fullmatch, numbers))
            if (is_wide or is_fraction) and not is_unclear:
                places.append(place)
    return places


def _read_csv(path, layout, numbers, n_rows):
    """Read columns of numbers as such, and others as text."""
    places = range(len(layout.names))
    table = pd.read_csv(
        path,
        header=None,
        names=places,
        sep=layout.mark or r"\s+",
        skiprows=layout.first - 1,
        nrows=n_rows,
        dtype=dict.fromkeys(places, str) | dict.fromkeys(numbers, float),
        na_values=dict.fromkeys(places, [""]) | dict.fromkeys(numbers, NO_NUMBER),
        keep_default_na=False,
        skip_blank_lines=False,
        decimal=layout.decimal,
        encoding=encoding_of(path),
        low_memory=False,
    )
    table.index += layout.first
    return table


def _check_cells(path, layout, n_rows):
    """Name the first line that has another number of cells, or a quote that stays open."""
    n_names = len(layout.names)
    number = layout.first
    with open_text(path) as file:
        rows = _split(islice(file, layout.first - 1, None), layout.mark)
        try:
            for number, cells in enumerate(islice(rows, n_rows), layout.first):
                is_remark = 0 < len(cells) < n_names and cells[0].startswith("#")
                if len(cells) not in (0, n_names) and not is_remark:
                    raise InputError(
                        f"line {number} has {len(cells)} cells; the first line has {n_names} cells"
                    )
        except csv.Error as error:
            raise InputError(f"line {number}: {error}") from error


def _clean(column, layout):
    """Return text without blanks around it and with decimal points; refuse one of several lines."""
    if pd.api.types.is_numeric_dtype(column):
        return column
    long = column[column.str.contains("\n", regex=False, na=False)]
    is_open = ~long.str.startswith("[")  # a list may extend over several lines
    if is_open.any():
        raise InputError(f"line {is_open.idxmax()}: a cell has no end: was an open quote left?")
    column = column.str.strip()
    if column.str.contains(f"[{NO_WIDTH}]", na=False).any():
        column = column.map(stripped, na_action="ignore")
    words = [word for word in column.dropna().unique() if word not in NO_NUMBER]
    if layout.decimal == "," and all(map(is_number, words)):
        has_point = column.str.contains(".", regex=False, na=False)
        if column.str.contains(",", regex=False, na=False).any():
            refuse_cells(
                column.rename(layout.names[int(column.name)]),
                has_point.to_numpy(),
                "has a decimal point, and other cells of this column have a decimal comma: which "
                "of both separates thousands? Write thousands without a mark",
            )
        column = column.str.replace(",", ".", regex=False)
    return column.where(column != "")


# --- columns -------------------------------------------------------------------------------------


def several_marks(missing):
    """Return marks of failed comparisons, of which the user may give one or several, as a list."""
    if missing is None:
        return []
    return [missing] if isinstance(missing, str) else np.ravel(np.array(missing, object)).tolist()


def without_words(table, missing):
    """Return a table whose columns of numbers are blank where the user's words say "failed"."""
    words = [mark for mark in several_marks(missing) if isinstance(mark, str)]
    if not words:
        return table
    columns = []
    for place in range(len(table.columns)):  # names may occur twice
        column = table.iloc[:, place]
        is_word = column.astype(str).isin(words)
        is_score = is_word.any() and is_number_column(column[~is_word])
        columns.append(column.mask(is_word) if is_score else column)
    return pd.concat(columns, axis=1)


def to_numbers(column, blank=True):
    """Return the cells as finite float64; NaN where missing, if that is allowed."""
    values, is_missing = as_numbers(column)
    is_allowed = np.isfinite(values) | (is_missing & blank)
    _refuse_words(column, ~is_allowed, blank)
    _refuse_some_percent(column, values)
    _refuse_thousands(column, values)
    is_large = np.abs(values) >= LARGEST_WHOLE
    if is_large.any() and pd.Series(values).nunique() < column.nunique():
        refuse_cells(
            column, is_large, "is so large that different scores become equal: subtract a constant"
        )
    return values


def _refuse_some_percent(column, values):
    """Refuse a column in which only some numbers have a percent sign; values : what they are."""
    if pd.api.types.is_numeric_dtype(column):
        return
    is_percent = column.astype(str).str.strip().str.endswith("%").to_numpy(bool)
    is_bare = np.isfinite(values) & (values != 0) & ~is_percent
    if is_percent.any() and is_bare.any():
        bare = int(np.argmax(is_bare))
        other = str(column.iloc[bare])
        refuse_cells(
            column,
            is_percent,
            f"is a percentage, but {other!r} in {_place(column, bare)} has no sign: "
            "write all numbers of a column with it, or none",
        )


def _refuse_thousands(column, values):
    """Ask where points may separate thousands: 1.234 and 987, but nothing like 0.5 or 1.2.

    values : the numbers that the cells are.
    """
    has_fraction = values % 1 > 0
    if pd.api.types.is_numeric_dtype(column) or not has_fraction.any():
        return
    cells = column[np.isfinite(values)].astype(str)
    if all(texts.str.fullmatch(THOUSANDS).all() for texts in (cells[:HEAD], cells)):
        wholes = cells[~cells.str.contains(".", regex=False) & (cells != "0")]
        refuse_cells(
            column,
            has_fraction & (len(wholes) > 0),
            "may have a decimal point, or one behind thousands: which is it? All numbers with a "
            "point have three digits behind it, and others, such as "
            f"{listed(wholes, 1)}, have no point; write thousands without it, or three decimals "
            "everywhere",
        )


def _refuse_words(column, is_bad, blank):
    """Refuse the first cell that is no number; ask about a word, where cells may be blank."""
    reason, answers = "is not a finite number", []
    words = column[is_bad].dropna().astype(str)
    is_word = ~words.str.contains("[0-9]|inf")
    if blank and is_word.any():
        word = words[is_word].iloc[0]
        reason += f"; if {word!r} marks a failed comparison, give missing={word!r}"
        answers = [{"missing": [word]}]
    refuse_cells(column, is_bad, reason, answers)


def as_numbers(column):
    """Return cells as float64, NaN where they are not numbers; and which are missing."""
    is_missing = column.isna().to_numpy()
    if not pd.api.types.is_numeric_dtype(column):
        # as text, because pandas then reads neither 1_0 nor digits that are not ASCII
        column = column.astype(str).str.strip().str.removesuffix("%")
        is_missing = is_missing | column.isin(NO_NUMBER).to_numpy()
    values = pd.to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    return values, is_missing


def is_number_column(column, least=0.9):
    """Return whether almost all cells of a column are numbers."""
    values, is_missing = as_numbers(column)
    return not is_missing.all() and np.isfinite(values[~is_missing]).mean() > least


def refuse_cells(column, is_bad, reason, answers=()):
    """Refuse the first bad cell; the message names its line, or its row."""
    if np.any(is_bad):
        place = int(np.argmax(is_bad))
        cell = column.iloc[place]
        cell = "a blank cell" if pd.isna(cell) else repr(str(cell))
        where = f"{_place(column, place)}, column {column.name!r}"
        raise InputError(f"{where}: {cell} {reason}", answers)


def _place(column, place):
    """Return the line, or the row, of a cell."""
    return f"{column.index.name or 'line'} {column.index[place]}"


def numbered_runs(header):
    """Return columns that are numbered without gaps from 0 or 1, by the text before the number."""
    places = {}
    for name in header:
        match = NUMBERED.match(name)
        if match:
            places.setdefault(simplified(match[1]), {})[int(match[2])] = name
    runs = {}
    for prefix, names in places.items():
        first, last = min(names), max(names)
        if first <= 1 and last - first == len(names) - 1:
            runs[prefix] = [names[number] for number in sorted(names)]
    return runs
