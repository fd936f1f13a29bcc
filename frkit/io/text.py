"""Text tables: cells between commas, semicolons, tabs, bars or blanks."""

import csv
import re
from dataclasses import dataclass
from itertools import islice, zip_longest

import numpy as np
import pandas as pd

from frkit.base import InputError, require
from frkit.data.files import encoding_of, open_text, opener, reading
from frkit.data.labels import stripped
from frkit.io.cells import NO_NUMBER, refuse_cells
from frkit.io.names import are_places, is_known_name

HEAD = 100  # lines that show how a table is written
NO_COMMENT = (
    "remove such lines; comments are left out by fk.open_data(pd.read_csv(path, comment='#'))"
)
# a number that could be written anew, which 007 could not, and no long one that a spreadsheet cut
NUMBER = re.compile(r"[+-]?(?!0[0-9])[0-9]*([.,][0-9]+)?([eE](-|[+]?0)[0-9]+)?")
LONG_FRACTION = re.compile(r"[+-]?0?[.,][0-9]{3}|.*[.,][0-9]{4}")  # 1.234 may be thousands
DECIMAL_COMMA = re.compile(r"^([+-]?[0-9]*),([0-9]+)$")
UNNAMED = ("", "level_0", "Unnamed: 0")  # of a first column without a name, as pandas writes it


@dataclass
class Layout:
    """How a text table is written.

    Attributes
    ----------
    mark : what separates cells; None for blanks, of which several are one.
    first : the number of the first line of data.
    names : of the columns; "1", "2", ... without a header.
    decimal : "," where numbers have decimal commas.
    rows : cells of the first lines of data.
    """

    mark: str | None
    first: int
    names: list
    decimal: str
    rows: list


def read_text(path):
    """Read a text table, plain or .gz: text as it is written, missing where blank.

    Returns
    -------
    pd.DataFrame
        Its index is the number of the line. Blank lines are skipped, and first lines that begin
        with "#".
    """
    with reading("the table"):
        layout = text_layout(path)
        table = _parsed(path, layout).set_axis(layout.names, axis=1)
        table = pd.concat([_clean(column, layout.decimal) for _, column in table.items()], axis=1)
        _refuse_comments(table.iloc[:, 0])
        # a blank line of scores alone is one that failed
        return table if len(layout.names) == 1 else table.dropna(how="all")


def _parsed(path, layout):
    """Return the cells of a table; a line with another number of cells is refused."""
    with opener(path)(path, "rb") as file:
        content = file.read()
    if encoding_of(path) == "utf-16":
        content = content.decode("utf-16").encode()
    if len(layout.names) == 1:
        content = content.rstrip()
    if layout.mark is None:
        content = _with_single_blanks(content)
    try:
        return _arrow_table(content, layout, _number_columns(layout))
    except InputError:
        raise
    except ValueError:  # a cell is no number: `to_numbers` will name its line
        content.decode()
        return _arrow_table(content, layout, [])


def _with_single_blanks(content):
    """Return lines without blanks at their ends, and with one between cells."""
    if any(blanks in content for blanks in (b"\t", b"  ", b"\n ", b" \n", b" \r")):
        content = re.sub(rb"[ \t]+", b" ", content)
        content = re.sub(rb"(?m)^ | (?=\r?$)", b"", content)
    return content


def _arrow_table(content, layout, numbers):
    """Parse text; numbers : the places of columns that are read as such."""
    import pyarrow as pa
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    refused = []

    def stop(row):
        """Stop at a line with too many or too few cells."""
        refused.append(row)
        return "error"

    text = pa.dictionary(pa.int32(), pa.string())
    types = {str(number): text for number in range(len(layout.names))}
    types |= {str(number): pa.float64() for number in numbers}
    # without threads, which hang in a forked process
    lines = ReadOptions(
        column_names=[*types], skip_rows_after_names=layout.first - 1, use_threads=False
    )
    cells = ParseOptions(
        delimiter=layout.mark or " ",
        ignore_empty_lines=False,
        newlines_in_values=True,
        invalid_row_handler=stop,
    )
    values = ConvertOptions(column_types=types, null_values=NO_NUMBER, decimal_point=layout.decimal)
    try:
        parsed = read_csv(pa.BufferReader(content), lines, cells, values)
    except ValueError:
        if refused:
            _refuse_line(refused[0])
        raise
    table = parsed.to_pandas(use_threads=False)
    table.index += layout.first
    return table


def _refuse_line(row):
    """Refuse a line with too many or too few cells."""
    why = (
        "is it cut, does it have a separator too many, or is a quote left open? Correct or remove "
        "it, and a first line for Excel; names of rows need a name in the header, too; comments "
        "are left out by fk.open_data(pd.read_csv(path, comment='#'))"
    )
    cells = re.split("[,;|\\t ]+", row.text)
    if any(map(is_known_name, cells)) and not any(map(is_number, cells)):  # it is the header
        why = (
            "titles above it are left out by fk.open_data(pd.read_csv(path, "
            f"skiprows={row.number - 1}, sep=None, engine='python'))"
        )
    raise InputError(
        f"line {row.number} has {row.actual_columns} cells; the first line has "
        f"{row.expected_columns} cells: {why}"
    )


def _refuse_comments(first):
    """Refuse lines that begin with "#" below others; first : the first column."""
    if not pd.api.types.is_numeric_dtype(first):
        is_comment = first.str.startswith("#", na=False).to_numpy(bool)
        refuse_cells(first, is_comment, f"begins with '#', below the first lines: {NO_COMMENT}")


def text_layout(path):
    """Find out from the first lines how a table is written."""
    with reading("the table"), open_text(path) as file:
        head = enumerate(islice(file, HEAD), 1)
        lines = {number: line.rstrip("\r\n") for number, line in head if line.strip()}
        require(lines, "the file is empty")
        no_comments = [line for line in lines.values() if line[0] != "#"]
        mark = _delimiter(no_comments or [*lines.values()])
        rows = [[stripped(cell) for cell in row] for row in _split(lines.values(), mark)]
    numbers = [*lines]
    while len(rows) > 1 and lines[numbers[0]][0] == "#" and not _name_columns(*rows[:2]):
        del rows[0], numbers[0]
    has_header = _has_header(rows)
    names = rows[0] if has_header else [str(number + 1) for number in range(len(rows[0]))]
    names = [names[0].lstrip("# "), *names[1:]]
    body = rows[has_header:]
    if has_header and all(len(row) == len(names) + 1 and row[-1] for row in body):
        names = ["", *names]  # as R writes names of rows
    require(
        has_header or mark != "," or not _are_cut(body),
        "numbers seem to have decimal commas, which also separate the cells: write them with a "
        "point, or separate cells by semicolons",
    )
    is_comma = mark != "," and any(DECIMAL_COMMA.match(cell) for row in body for cell in row)
    return Layout(mark, numbers[0] + has_header, names, "," if is_comma else ".", body)


def _are_cut(rows):
    """Return whether a column of 0 alone stands before one of digits, as of 0,8123."""
    columns = [*zip(*rows)]
    has_points = any("." in cell and is_number(cell) for row in rows for cell in row)
    are_zero = [{*column} <= {"0", "-0"} for column in columns]
    are_digits = [all(map(str.isdigit, column)) for column in columns]
    return not has_points and any(map(all, zip(are_zero, are_digits[1:])))


def _name_columns(comment, row):
    """Return whether the cells of a line with "#" name the columns of the next one."""
    has_names = any(is_known_name(cell.strip("# ")) for cell in comment)
    is_header = all(map(is_known_name, row))
    return has_names and len(comment) == len(row) and not is_header


def _delimiter(lines):
    """Return the separator of the cells; None for blanks."""
    for mark in "\t;,|":
        if mark in lines[0] and sum(mark in line for line in lines) > len(lines) / 2:
            return mark
    return "," if len(lines[0].split()) < 2 else None


def _split(lines, mark):
    """Iterate over the cells of each line."""
    if mark is None:
        lines = (" ".join(line.split()) for line in lines)
    return csv.reader(lines, delimiter=mark or " ")


def _has_header(rows):
    """Return whether the first line names the columns: text above numbers, or usual names."""
    first, *others = rows
    if first[0] in UNNAMED or all(map(is_known_name, first)):
        return True
    numbers = [name for name in first if is_number(name)]
    columns = [*zip(first, *(row for row in others if len(row) == len(first)))]
    is_above_numbers = [
        not is_number(name) and all(map(is_number, cells)) for name, *cells in columns
    ]
    if others and any(is_above_numbers):
        return True
    if numbers:
        return len(numbers) > 1 and are_places(numbers)
    return len(first) > 1 and not any(name in cells for name, *cells in columns)


def is_number(cell):
    """Return whether a cell is a number, which may have a decimal comma."""
    try:
        float(DECIMAL_COMMA.sub(r"\1.\2", cell))
    except ValueError:
        return False
    return "_" not in cell


def _number_columns(layout):
    """Return the places of columns that can be read as numbers without changing a label.

    These are fractions with many decimals. What a spreadsheet abridged stays text, and what may be
    thousands, so that both can be refused.
    """
    positions = []
    for number, cells in enumerate(zip_longest(*layout.rows, fillvalue="")):
        numbers = [cell for cell in cells if cell not in NO_NUMBER]
        if any(map(LONG_FRACTION.match, numbers)) and all(map(NUMBER.fullmatch, numbers)):
            positions.append(number)
    return positions


def _clean(column, decimal):
    """Return text without blanks around it and with decimal points; refuse one of several lines.

    column : of numbers, or categories of text, each of which is cleaned once
    decimal : "," where numbers have decimal commas
    """
    if pd.api.types.is_numeric_dtype(column):
        return column
    cells = pd.Series(column.cat.categories, dtype="str")
    # a list may extend over several lines
    is_open = cells.str.contains("\n", regex=False) & ~cells.str.startswith("[")
    refuse_cells(column, column.isin(cells[is_open]), "has no end: was an open quote left?")
    cells = cells.str.strip()
    # beside a point, a comma may separate thousands: `to_numbers` will name its line
    if decimal == "," and not cells.str.contains(".", regex=False).any():
        cells = cells.str.replace(DECIMAL_COMMA, r"\1.\2", regex=True)
    codes, distinct = pd.factorize(cells.where(cells != ""))
    clean = pd.Categorical.from_codes(np.append(codes, -1)[column.cat.codes], distinct)
    return pd.Series(clean, column.index, name=column.name)
