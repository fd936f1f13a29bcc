"""Columns of tables and files of scores under the names of `frkit.pairs`, whatever the format."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import IDENTITY, PROBE, REFERENCE, InputError, listed, require
from frkit.data.arrays import read_npy
from frkit.data.files import named
from frkit.data.tables import MISSING_CELLS, read_text, to_numbers

SIDES = (PROBE, REFERENCE)
IDENTITIES = (f"{PROBE}_{IDENTITY}", f"{REFERENCE}_{IDENTITY}")
NAMES = (*SIDES, *IDENTITIES)
GENUINE_WORDS = ("1", "true", "target", "genuine", "mated", "same")
IMPOSTOR_WORDS = ("0", "-1", "false", "nontarget", "impostor", "non-mated", "different")


def mapped(table: pd.DataFrame, columns: Mapping) -> dict:
    """Return the columns of a table under the names of `frkit.pairs`, with their lines.

    `score` may map to one column, a list of columns (models) or a mapping from model to column; an
    attribute to one column or to two, (probe's, reference's), of which one may be None; `trial` to
    a list of columns, or a mapping.
    """
    out = {"lines": table.index.to_numpy()}
    for name, source in columns.items():
        if name == "score":
            out[name] = scores_in(table, source)
        elif name == "genuine":
            out[name] = _verdicts(_column(table, source, name))
        elif name in NAMES:
            out[name] = _complete(_column(table, source, name))
        elif name == "trial":
            sources = source if isinstance(source, Mapping) else dict(zip(source, source))
            out[name] = {trial: _column(table, sources[trial], trial) for trial in sources}
        elif isinstance(source, str):
            out[name] = _column(table, source, name).to_numpy()
        else:
            words = f"attribute {name!r} must name one column or two, got {listed(source)}"
            require(len(source) == 2, words)
            sides = [None if side is None else _column(table, side, name) for side in source]
            out[name] = tuple(None if side is None else side.to_numpy() for side in sides)
    return out


def _column(table: pd.DataFrame, name: str, what: str) -> pd.Series:
    names = listed(table.columns, 30)
    require(name in table, f"there is no column {name!r} ({what}); the columns are {names}")
    return table[name]


def scores_in(table: pd.DataFrame, source) -> np.ndarray | dict[str, np.ndarray]:
    """Return one model's scores, or those of several by name."""
    if isinstance(source, str):
        return to_numbers(_column(table, source, "score"))
    columns = source if isinstance(source, Mapping) else dict(zip(source, source))
    return {model: to_numbers(_column(table, columns[model], "score")) for model in columns}


def _complete(column: pd.Series) -> np.ndarray:
    """Return names, none of which is missing."""
    text = column.astype(str).str.strip()
    missing = column.isna() | text.isin(MISSING_CELLS)
    refuse(column.index[missing], f": {column.name} is missing")
    return text.to_numpy(object)


def _verdicts(column: pd.Series) -> np.ndarray:
    """Return which pairs are genuine; a blank cell says neither, and is refused."""
    text = column.astype(str).str.strip().str.lower().str.removesuffix(".0")
    genuine, impostor = text.isin(GENUINE_WORDS), text.isin(IMPOSTOR_WORDS)
    unclear = column[~(genuine | impostor)]
    refuse(
        unclear.index,
        f", {column.name}: {listed(unclear[:1])} does not say whether the pair is genuine; "
        f"use {', '.join(GENUINE_WORDS)} or {', '.join(IMPOSTOR_WORDS)}",
    )
    return genuine.to_numpy(bool)


def refuse(lines, what: str) -> None:
    """Refuse the first of these lines, if there is any; `what` goes on from its number."""
    if len(lines):
        raise InputError(f"line {lines[0]}{what}")


def read_scores(scores, n: int, where) -> np.ndarray | dict[str, np.ndarray]:
    """Read the scores of n pairs in their order, from a file or an array; or of several models."""
    missing = f"{where} hold(s) no scores: give scores=, a file with one score per line"
    require(scores is not None, missing)
    if isinstance(scores, Mapping):
        return {str(name): read_scores(model, n, where) for name, model in scores.items()}
    if isinstance(scores, (str, Path)):
        values = score_lines(Path(scores))
        fits = f"{scores}: holds {len(values)} scores, but {where} hold(s) {n} pairs"
        require(len(values) == n, fits)
        return values
    values = np.asarray(scores, np.float64)
    require(values.shape == (n,), f"scores has shape {values.shape}, but there are {n} pairs")
    return values


def score_lines(path: Path) -> np.ndarray:
    """Read one score per line, or an .npy of one dimension."""
    with named(path):
        if path.suffix != ".npy":
            return to_numbers(read_text(path, "score", "one score")["score"])
        values = read_npy(path)
        form = f"{values.dtype} of shape {values.shape}"
        is_list = values.ndim == 1 and values.dtype.kind in "fiu"
        require(is_list, f"scores must be numbers in one dimension, got {form}")
        return values.astype(np.float64)
