"""Long text files of pairs: read by pandas, and every complaint names the line."""

import csv
import gzip
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import InputError, listed, require
from frkit.faces.files import named, need
from frkit.faces.formats import file_kind, read_npy
from frkit.faces.tables import MISSING_CELLS, check_header, delimiter_of, open_text

_GENUINE = {"1": 1, "true": 1, "target": 1, "genuine": 1, "mated": 1, "same": 1}
_IMPOSTOR = {"0": 0, "-1": 0, "false": 0, "nontarget": 0, "impostor": 0, "non-mated": 0, "different": 0}
_LABELS = _GENUINE | _IMPOSTOR


def read_fields(path: Path, fewest: int, most: int, form: str) -> pd.DataFrame:
    """Read a file whose lines are fields between blanks or tabs; blank lines are passed over.

    Parameters
    ----------
    path : Path
        Plain or .gz.
    fewest, most : int
        How many fields a line may have.
    form : str
        A line in words, for messages.

    Returns
    -------
    pd.DataFrame
        Columns 0, 1, ... of str, "" where a line is short; the index is the line number, from 1.
    """
    require(path.is_file(), "there is no such file")
    options = dict(header=None, dtype=str, keep_default_na=False, quoting=csv.QUOTE_NONE, skip_blank_lines=False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            names = range(most + 1)
            table = pd.read_csv(path, sep=r"\s+", names=names, index_col=False, encoding="utf-8-sig", **options)
    except pd.errors.EmptyDataError:
        raise InputError("the file is empty") from None
    except pd.errors.ParserWarning:
        raise InputError(f"line 1 has more than {most} fields; a line is: {form}") from None
    except pd.errors.ParserError as error:
        raise InputError(f"a line has too many fields ({_reason(error)}); a line is: {form}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text ({error}); save it again as UTF-8") from None
    except (EOFError, gzip.BadGzipFile) as error:
        raise InputError(f"cannot be decompressed: {error}") from None
    table.index = np.arange(1, len(table) + 1)
    many = (table != "").sum(axis=1)
    bad = table.index[(many != 0) & ((many < fewest) | (many > most))]
    refuse(bad, f" has {many[bad].max()} fields; a line is: {form}")
    table = table.loc[many > 0, list(range(most))]
    require(len(table) > 0, "the file is empty")
    return table


def refuse(lines, what: str) -> None:
    """Refuse the first of these lines, if there is any; `what` goes on from its number."""
    if len(lines):
        raise InputError(f"line {lines[0]}{what}")


def _reason(error: Exception) -> str:
    return str(error).rpartition("C error: ")[2].strip()


def read_pair_table(path: Path) -> pd.DataFrame:
    """Read a table with a header, .csv or .tsv (plain or .gz) as text, or .parquet as it is.

    Returns
    -------
    pd.DataFrame
        The index is the line number (of a .parquet the row, from 1); a blank cell is "".
    """
    kind = file_kind(path)
    require(kind in ("text", "parquet"), "a table of pairs is read from .csv, .tsv or .parquet")
    if kind == "parquet":
        need("pyarrow.parquet", "reading Parquet")
        import pyarrow as pa

        try:
            table = pd.read_parquet(path, engine="pyarrow").reset_index(drop=True)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"cannot be read as Parquet: {error}") from None
        table.columns = table.columns.astype(str)
        table.index = np.arange(1, len(table) + 1)
    else:
        mark = delimiter_of(path)
        _check_widths(path, mark)
        options = dict(dtype=str, keep_default_na=False, skip_blank_lines=False, skipinitialspace=True)
        table = pd.read_csv(path, sep=mark, index_col=False, encoding="utf-8-sig", **options)
        table.columns = table.columns.str.strip()
        table.index = np.arange(2, len(table) + 2)
        table = table[(table != "").any(axis=1)]
    require(len(table) > 0, "there is a header but no row")
    return table


def _check_widths(path: Path, mark: str) -> None:
    """Every row is as long as the header."""
    try:
        with open_text(path) as lines:
            reader = csv.reader(lines, delimiter=mark, strict=True)
            header = next(reader, None)
            require(bool(header), "the file is empty, or its first line is blank")
            check_header([cell.strip() for cell in header])
            for row in reader:
                if len(row) != len(header) and row:
                    raise InputError(f"line {reader.line_num} has {len(row)} cells, the header {len(header)}")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text ({error}); save it again as UTF-8") from None
    except (csv.Error, EOFError, gzip.BadGzipFile) as error:
        raise InputError(f"cannot be read as a table: {error}") from None


def column(table: pd.DataFrame, name: str, what: str) -> pd.Series:
    """One column by its name."""
    require(name in table, f"there is no column {name!r} ({what}); the columns are {listed(table.columns, 30)}")
    return table[name]


def whole(values: pd.Series, what: str) -> pd.Series:
    """Whole numbers."""
    bad = values.index[~values.str.fullmatch(r"\d{1,9}")]
    refuse(bad, f": {values[bad].head(1).str.cat()!r} is no {what}")
    return values.astype(int)


def numbers(values: pd.Series, what: str = "score") -> np.ndarray:
    """Finite numbers; missing cells become NaN."""
    if values.dtype.kind in "fiu":
        return values.to_numpy(np.float64)
    text = values.astype(str).str.strip()
    found = pd.to_numeric(text, errors="coerce").to_numpy(np.float64)
    bad = values.index[(np.isnan(found) & ~text.isin(MISSING_CELLS)) | np.isinf(found)]
    refuse(bad, f", {what}: {text[bad].head(1).str.cat()!r} is not a finite number")
    return found


def complete(values: pd.Series, what: str) -> np.ndarray:
    """Names, none of which is missing."""
    text = values.astype(str).str.strip()
    bad = values.index[values.isna() | text.isin(MISSING_CELLS)]
    refuse(bad, f": {what} is missing")
    return text.to_numpy(str)


def verdicts(values: pd.Series, what: str = "label") -> np.ndarray:
    """Which pairs are genuine, from 1/0, true/false, target/nontarget, genuine/impostor."""
    text = values.astype(str).str.strip().str.lower().str.removesuffix(".0")
    found = text.map(_LABELS)
    bad = values.index[found.isna()]
    words = f"{', '.join(_GENUINE)} or {', '.join(_IMPOSTOR)}"
    refuse(bad, f", {what}: {text[bad].head(1).str.cat()!r} does not say whether the pair is genuine; use {words}")
    return found.to_numpy() == 1


def read_scores(scores, n: int, where: str) -> np.ndarray | dict[str, np.ndarray]:
    """Scores of n pairs in their order: one per line of a file, an .npy or an array; or a mapping from models to such.

    Returns
    -------
    np.ndarray of shape (n,), or dict of model name to such
    """
    require(scores is not None, f"{where} hold(s) no scores: give scores=, a file with one score per line")
    if isinstance(scores, Mapping):
        return {str(name): read_scores(one, n, where) for name, one in scores.items()}
    if not isinstance(scores, (str, Path)):
        values = np.asarray(scores, np.float64)
        require(values.shape == (n,), f"scores has shape {values.shape}, but there are {n} pairs")
        return values
    values = score_lines(Path(scores))
    with named(scores):
        require(len(values) == n, f"holds {len(values)} scores, but {where} hold(s) {n} pairs")
    return values


def score_lines(path: Path) -> np.ndarray:
    """One score per line, or an .npy of one dimension."""
    with named(path):
        require(path.is_file(), "there is no such file")
        if path.suffix == ".npy":
            values = read_npy(path)
            flat = values.ndim == 1 and values.dtype.kind in "fiu"
            require(flat, f"scores must be numbers in one dimension, got {values.dtype} of shape {values.shape}")
            return values.astype(np.float64)
        return numbers(read_fields(path, 1, 1, "one score")[0])
