"""The one reader of tables: text between commas, semicolons, tabs or blanks, plain or .gz, and Parquet."""

import csv
import gzip
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

import numpy as np
import pandas as pd

from frkit.base import InputError, listed, real_numbers, require
from frkit.data.files import (
    BLOCK,
    check_unpacked,
    file_kind,
    narrow,
    need,
    opener,
    reading,
    wide_enough,
)

_NEVER = "[\n\r\0]"  # in no cell: a quote was left open, or the file is no text
MISSING_CELLS = frozenset({"", "NA", "N/A", "n/a", "null", "NULL", "nan", "NaN", "<NA>"})
_PIECE = 15_000  # cells held as text at a time, where they become numbers
_KNOWN_PREFIXES = (
    "f",
    "feat",
    "feature",
    "features",
    "emb",
    "embedding",
    "embeddings",
    "dim",
    "d",
    "x",
    "v",
    "",
)


def read_pieces(
    path: Path, fields: str | None = None, form: str | None = None
) -> Iterator[pd.DataFrame]:
    """Read a text table some rows at a time; blank lines are passed over, and every complaint names the line.

    Parameters
    ----------
    path : Path
        Text in UTF-8, plain or .gz.
    fields : str, optional
        Names of the fields of a line, where these stand between blanks or tabs and there is no header; in
        brackets those that may be absent from the end of a line. Default: the first line is a header; its
        delimiter is a tab in a .tsv, otherwise the comma, unless the line has none and has a semicolon, a tab or (but
        for a .csv) blanks.
    form : str, optional
        A line in words, for messages (default: its fields).

    Yields
    ------
    pd.DataFrame
        Columns of stripped text, "" where a cell is missing (MISSING_CELLS) or absent; the index is the line
        number, from 1.
    """
    require(path.is_file(), "there is no such file")
    empty = True
    with reading("the table"), open_text(path) as lines:
        if fields is None:
            first = lines.readline()
            lines.seek(0)
            mark = (
                "\t"
                if ".tsv" in path.suffixes
                else next((mark for mark in ",;\t" if mark in first), None)
            )
            blanks = (
                mark is None and len(first.split()) > 1 and ".csv" not in path.suffixes
            )  # one name there
            rows = _between_blanks(lines) if blanks else _between_marks(lines, mark or ",")
            names = next(rows, (0, []))[1]
            fewest, form = len(names), f"the first line has {len(names)} cells"
        else:
            rows = _between_blanks(lines)
            names = fields.replace("[", "").replace("]", "").split()
            fewest, form = (
                len(fields.partition("[")[0].split()),
                f"a line is: {form or ' '.join(names)}",
            )
        require(len(names) > 0, "the file is empty")
        while len(table := _next_piece(rows, names, fewest, form)):
            empty = False
            yield table
            del (
                table
            )  # before the next is made: text takes twenty times as much as the numbers in it
    require(not empty, "there is a header but no row" if fields is None else "the file is empty")


def open_text(path: Path) -> TextIO:
    """Open a text file, plain or .gz; the latter is read to its end before, which may be missing."""
    if opener(path) is gzip.open:
        _most_lines(path)
    return opener(path)(path, "rt", encoding="utf-8-sig", newline="")


def _most_lines(path: Path) -> int:
    """How many lines a text has at most, read through."""
    size, ends = 0, 1
    with reading("the file"), opener(path)(path, "rb") as file:
        while block := file.read(1 << 20):
            check_unpacked(size := size + len(block), path)
            ends += block.count(b"\n") + block.count(b"\r")
    return ends


def _between_blanks(lines: TextIO) -> Iterator[tuple[int, list[str]]]:
    """Rows with a field, each with its number."""
    return ((number, line.split()) for number, line in enumerate(lines, 1) if not line.isspace())


def _between_marks(lines: TextIO, mark: str) -> Iterator[tuple[int, list[str]]]:
    """Rows with a cell that is not blank, each with the number of its last line."""
    reader = csv.reader(lines, delimiter=mark, strict=True)
    for row in reader:
        cells = [cell.strip() for cell in row]
        if re.search(_NEVER, "".join(cells)):
            odd = next(cell for cell in cells if re.search(_NEVER, cell))
            raise InputError(
                f"line {reader.line_num}: a cell holds {odd[:40]!r}: an open quote, or a NUL? mend it"
            )
        if any(cells):
            yield reader.line_num, cells


def _next_piece(rows, names: list[str], fewest: int, form: str) -> pd.DataFrame:
    """Some more rows; their cells go into one flat list, because a list for each row keeps the collector busy."""
    numbers, cells = [], []
    for number, row in islice(rows, max(1, _PIECE // len(names))):
        if not fewest <= len(row) <= len(names):
            raise InputError(f"line {number} has {len(row)} cells; {form}")
        numbers.append(number)
        cells += ("" if cell in MISSING_CELLS else cell for cell in row)
        cells += [""] * (len(names) - len(row))
    table = np.array(cells, object).reshape(-1, len(names))
    return pd.DataFrame(table, index=numbers, columns=names, dtype=object)


def read_text(path: Path, fields: str | None = None, form: str | None = None) -> pd.DataFrame:
    """Read a whole text table, as in `read_pieces`."""
    return pd.concat([piece.astype("str") for piece in read_pieces(path, fields, form)])


def read_frame(path: Path) -> pd.DataFrame:
    """Read a whole table with a header: text, or a Parquet as it is (its rows are counted from 1)."""
    if file_kind(path) == "parquet":
        with _parquet(path) as file:
            table = _frame(file, file.schema_arrow.names)
    else:
        table = read_text(path)
    check_header(list(table.columns))
    return table


@contextmanager
def _parquet(path: Path) -> Iterator:
    """An open Parquet with rows, whose columns are read as they are asked for."""
    arrow, pq = (
        need(name, "reading Parquet", "frkit[parquet]") for name in ("pyarrow", "pyarrow.parquet")
    )
    known = arrow.__version__
    right = (
        int(known.partition(".")[0]) >= 19
    )  # those before read lists wrong where they are read in pieces
    require(
        right,
        f"pyarrow {known} can give wrong numbers: install 19.0.1 or later, pip install -U pyarrow",
    )
    with (
        reading("the Parquet table"),
        pq.ParquetFile(path, buffer_size=1 << 16, pre_buffer=False) as file,
    ):
        check_unpacked(4 * file.metadata.num_rows * file.metadata.num_columns, path)
        require(file.metadata.num_rows > 0, "the table has no row")
        yield file
    arrow.default_memory_pool().release_unused()  # it would keep a sixth of an embedding


def _frame(file, names: list[str]) -> pd.DataFrame:
    """Columns of a Parquet; an index without a name is none."""
    table = file.read(columns=names, use_threads=False).to_pandas()
    table = table.reset_index(drop=table.index.name is None)
    table.columns, table.index = table.columns.astype(str), range(1, len(table) + 1)
    return table


def check_header(header: list[str]) -> None:
    """Names must be distinct; a blank name is allowed only in front, where tables keep a row number."""
    blank = [k for k, name in enumerate(header, start=1) if not name and k > 1]
    require(not blank, f"column {listed(blank)} has no name in the header")
    twice = [name for name, count in Counter(header).items() if count > 1]
    require(not twice, f"column names must be distinct, but {listed(twice)} stand twice")


def read_table(path: Path, embedding=None) -> dict[str, np.ndarray]:
    """Read a table of images: label columns as they are, numbered columns as one `embedding`.

    Parameters
    ----------
    path : Path
        A .csv or .tsv, plain or .gz, or a Parquet, whose embedding may also be a column of lists.
    embedding : str, sequence of str or False, optional
        The embedding's columns: the prefix of numbered columns (default: a usual one such as f0, f1, ... or
        embedding_0, ...), their names, or False for a table of labels alone.

    Returns
    -------
    dict
        Column name to array (n_rows,), in a text table of str, blank where missing; "embedding" to
        float32 (float64 if that cannot hold one of the numbers), (n_rows, n_features).
    """
    if file_kind(path) == "parquet":
        return _read_parquet_table(path, embedding)
    labels, values, n = [], None, 0
    for piece in read_pieces(path):
        if not labels:
            check_header(list(piece))
            numbers = [] if embedding is False else embedding_columns(list(piece), embedding)
        if numbers:
            block = to_numbers(piece[numbers], blank=False)
            room = (
                np.empty((_most_lines(path), len(numbers)), np.float32)
                if values is None
                else values
            )
            values = wide_enough(room, block)
            values[n : n + len(block)] = block
        n += len(piece)
        labels.append(
            piece.drop(columns=[*numbers, ""], errors="ignore").copy()
        )  # a view would keep all the text
        del piece
    table = pd.concat(labels)
    columns = {name: table[name].to_numpy() for name in table}
    return columns | ({} if values is None else {"embedding": values[:n]})


def _read_parquet_table(path: Path, embedding) -> dict[str, np.ndarray]:
    """Some of the embedding's columns at a time, or some rows of a column of lists."""
    with _parquet(path) as file:
        schema, n = file.schema_arrow, file.metadata.num_rows
        check_header(schema.names)
        lists = [field.name for field in schema if "list" in str(field.type).partition("<")[0]]
        alone = embedding is False or (lists and (embedding is None or embedding in lists))
        numbers = [] if alone else embedding_columns(schema.names, embedding)
        table = _frame(file, [name for name in schema.names if name not in (*numbers, *lists, "")])
        columns = {name: table[name].to_numpy() for name in table}
        columns |= {name: narrow(*_lists(file, name)) for name in lists}
        if numbers:
            step = max(1, BLOCK // n)
            places = [slice(start, start + step) for start in range(0, len(numbers), step)]
            parts = (
                (place, to_numbers(_frame(file, numbers[place])[numbers[place]], blank=False))
                for place in places
            )
            columns["embedding"] = narrow(
                (n, len(numbers)), (((slice(None), place), part) for place, part in parts)
            )
    return columns


def _lists(file, name: str) -> tuple[tuple[int, int], Iterator[tuple[slice, np.ndarray]]]:
    """The shape of a column of lists, and its rows, some at a time."""
    n, groups = file.metadata.num_rows, range(file.num_row_groups)
    size = max(1, sum(file.metadata.row_group(group).total_byte_size for group in groups))
    batches = file.iter_batches(max(1, BLOCK * n // size), columns=[name], use_threads=False)
    cells = (batch.to_pandas()[name] for batch in batches)
    first = next(cells)
    width = np.size(first.iloc[0])

    def blocks() -> Iterator[tuple[slice, np.ndarray]]:
        start = 0
        for part in chain([first], cells):
            odd = next(
                (row for row, cell in enumerate(part, start) if np.shape(cell) != (width,)), None
            )
            require(
                odd is None,
                f"the rows of {name!r} differ in length: row 0 has {width} numbers, row {odd} not",
            )
            yield (
                slice(start, start := start + len(part)),
                real_numbers(repr(name), np.stack(part.tolist())),
            )

    return (n, width), blocks()


def embedding_columns(header: list[str], embedding=None) -> list[str]:
    """Find the names of the embedding's columns, in the order of their numbers."""
    if embedding is not None and not isinstance(embedding, str):
        absent = [name for name in embedding if name not in header]
        require(not absent, f"no column {listed(absent)}; the columns are {listed(header, 12)}")
        return list(embedding)
    groups: dict[str, dict[int, str]] = {}
    for name in header:
        if match := re.fullmatch(r"(.*?)(\d+)", name):
            groups.setdefault(_bare(match[1]), {})[int(match[2])] = name
    wanted = _KNOWN_PREFIXES if embedding is None else (_bare(embedding),)
    found = [prefix for prefix in wanted if prefix in groups]
    such = f"no numbered columns such as {embedding or 'f'}0, {embedding or 'f'}1, ... for the embedding"
    remedy = f"say embedding='prefix' or embedding=[names]; the columns are {listed(header, 12)}"
    require(len(found) > 0, f"{such}; {remedy}")
    choices = ", ".join(f"{prefix!r} ({len(groups[prefix])} columns)" for prefix in found)
    require(len(found) == 1, f"several sets of numbered columns: {choices}; say embedding='prefix'")
    names = [name for _, name in sorted(groups[found[0]].items())]
    numbers = groups[found[0]].keys()
    gaps = sorted(set(range(min(*numbers, 1), max(numbers))) - numbers)
    words = f"must be numbered without gaps from 0 or 1, but {listed(gaps)} is absent before {names[-1]!r}"
    require(not gaps, f"the embedding's columns {words}; name the columns with embedding=[...]")
    return names


def _bare(prefix: str) -> str:
    return prefix.lower().rstrip("_-. ")


def to_numbers(table: pd.DataFrame, blank: bool = True) -> np.ndarray:
    """The cells as float64, each to its last bit and finite; NaN where blank, if that is allowed."""
    try:
        values = table.to_numpy(np.float64)
    except (ValueError, TypeError):
        values = np.array([_number(cell) for cell in table.to_numpy(object).ravel()]).reshape(
            table.shape
        )
    bad = np.isinf(values) if blank else ~np.isfinite(values)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        cell, name = str(table.iloc[row, column]), str(table.columns[column])
        comma = ": write it with a point" if re.fullmatch(r"[-+]?\d+,\d+", cell) else ""
        raise InputError(
            f"line {table.index[row]}, column {name!r}: {cell!r} is not a finite number{comma}"
        )
    return values


def _number(cell) -> float:
    """NaN where blank; what is no number counts as infinite, because both are refused."""
    try:
        return np.nan if cell is None or cell is pd.NA or cell == "" else float(cell)
    except (ValueError, TypeError):
        return np.inf
