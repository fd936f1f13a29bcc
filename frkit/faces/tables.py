"""Text tables, read row by row, so that every complaint names the line."""

import csv
import gzip
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from frkit.base import IDENTITY, InputError, listed, require

MISSING_CELLS = frozenset({"", "NA", "N/A", "n/a", "null", "NULL", "nan", "NaN", "<NA>"})
_KNOWN_PREFIXES = ("f", "feat", "feature", "features", "emb", "embedding", "embeddings", "dim", "d", "x", "v")


def read_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, stripped cells) of a .csv or .tsv, plain or .gz; blank lines are passed over.

    Raises InputError naming the line where a row is not as long as the first one.
    """
    width = None
    with open_text(path) as lines:
        try:
            reader = csv.reader(lines, delimiter=delimiter_of(path), strict=True)
            for row in reader:
                if not row:
                    continue
                width = width or len(row)
                if len(row) != width:
                    raise InputError(f"line {reader.line_num} has {len(row)} cells, the first line {width}")
                yield reader.line_num, [cell.strip() for cell in row]
        except UnicodeDecodeError as error:
            raise InputError(f"not UTF-8 text ({error}); save it again as UTF-8") from None
        except (csv.Error, EOFError, gzip.BadGzipFile) as error:
            raise InputError(f"cannot be read as a table: {error}") from None
    require(width is not None, "the file is empty")


def open_text(path: Path) -> TextIO:
    """Open a text file, plain or .gz."""
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    return opener(path, "rt", encoding="utf-8-sig", newline="")


def delimiter_of(path: Path) -> str:
    """Tab in a .tsv; otherwise comma, unless the first line has none and has a semicolon or a tab."""
    if ".tsv" in path.suffixes:
        return "\t"
    with open_text(path) as lines:
        first = lines.readline()
    return next((mark for mark in ",;\t" if mark in first), ",")


def read_table(path: Path, embedding=None) -> dict[str, np.ndarray]:
    """Read a table with a header: label columns as text, numbered columns as one `embedding`.

    Parameters
    ----------
    path : Path
        A .csv or .tsv, plain or .gz.
    embedding : str, sequence of str or False, optional
        The embedding's columns: the prefix of numbered columns (default: a usual one such as f0, f1, ... or
        embedding_0, ...), their names, or False for a table of labels alone.

    Returns
    -------
    dict
        Column name to array (n_rows,) of str, blank where missing; "embedding" to float64
        (n_rows, n_features).
    """
    rows = read_rows(path)
    header = next(rows)[1]
    check_header(header)
    numbers = [] if embedding is False else embedding_columns(header, embedding)
    words = [k for k, name in enumerate(header) if name and k not in set(numbers)]
    values, labels = [], []
    for line, row in rows:
        labels.append(["" if row[k] in MISSING_CELLS else row[k] for k in words])
        if numbers:
            values.append(_parsed([row[k] for k in numbers], line, [header[k] for k in numbers]))
    require(len(labels) > 0, "there is a header but no row")
    by_column = zip(words, zip(*labels, strict=True), strict=True) if words else ()
    columns = {header[k]: np.array(column, str) for k, column in by_column}
    return columns | ({"embedding": np.array(values)} if numbers else {})


def check_header(header: list[str]) -> None:
    """Names must be distinct; a blank name is allowed only in front, where tables keep a row number."""
    names = header if header[0] else header[1:]
    blank = [k for k, name in enumerate(header, start=1) if not name and k > 1]
    require(not blank, f"column {listed(blank)} has no name in the header")
    twice = [name for name, count in Counter(names).items() if count > 1]
    require(not twice, f"column names must be distinct, but {listed(twice)} stand twice")


def embedding_columns(header: list[str], embedding=None) -> list[int]:
    """Find the positions of the embedding's columns, in the order of their numbers."""
    if embedding is not None and not isinstance(embedding, str):
        absent = [name for name in embedding if name not in header]
        require(not absent, f"no column {listed(absent)}; the columns are {listed(header, 12)}")
        return [header.index(name) for name in embedding]
    groups = _numbered_groups(header)
    wanted = (*_KNOWN_PREFIXES, "") if embedding is None else (_bare(embedding),)
    found = [prefix for prefix in wanted if prefix in groups]
    require(
        len(found) > 0,
        f"no numbered columns such as {embedding or 'f'}0, {embedding or 'f'}1, ... for the embedding; "
        f"say embedding='prefix' or embedding=[names]; the columns are {listed(header, 12)}",
    )
    choices = ", ".join(f"{prefix!r} ({len(groups[prefix])} columns)" for prefix in found)
    require(len(found) == 1, f"several sets of numbered columns: {choices}; say embedding='prefix'")
    return _in_order(groups[found[0]], header)


def _bare(prefix: str) -> str:
    return prefix.lower().rstrip("_-. ")


def _numbered_groups(header: list[str]) -> dict[str, dict[int, int]]:
    """Prefix to {number: position} of all columns that end in a number."""
    groups: dict[str, dict[int, int]] = {}
    for position, name in enumerate(header):
        match = re.fullmatch(r"(.*?)(\d+)", name)
        if match:
            groups.setdefault(_bare(match[1]), {})[int(match[2])] = position
    return groups


def _in_order(positions: dict[int, int], header: list[str]) -> list[int]:
    numbers = sorted(positions)
    gaps = [number for number in range(min(numbers[0], 1), numbers[-1]) if number not in positions]
    require(
        not gaps,
        f"the embedding's columns must be numbered without gaps from 0 or 1, but {listed(gaps)} is absent "
        f"before {header[positions[numbers[-1]]]!r}; name the columns with embedding=[...]",
    )
    return [positions[number] for number in numbers]


def _parsed(cells: list[str], line: int, names: list[str]) -> np.ndarray:
    """One row of finite numbers."""
    values = to_numbers(cells, line, names)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise InputError(f"line {line}, column {names[bad[0]]!r}: {cells[bad[0]]!r} is not a finite number")
    return values


def to_numbers(cells: list[str], line: int, names) -> np.ndarray:
    """Parse one row of numbers; missing cells become NaN."""
    try:
        return np.array(cells, np.float64)
    except ValueError:
        pass
    values = np.empty(len(cells))
    for k, cell in enumerate(cells):
        try:
            values[k] = np.nan if cell in MISSING_CELLS else float(cell)
        except ValueError:
            raise InputError(f"line {line}, column {str(names[k])!r}: {cell!r} is not a number") from None
    return values


def read_lines(path: Path) -> dict[str, np.ndarray]:
    """Read a list of identities: a text file without header, one per line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text ({error}); save it again as UTF-8") from None
    return {IDENTITY: np.array([line.strip() for line in text.splitlines()], str)}
