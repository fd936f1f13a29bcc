"""Columns of tables and files of scores under the names of `frkit.pairs`, whatever the format."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import IDENTITY, PROBE, REFERENCE, InputError, listed, require
from frkit.data.files import named, read_npy
from frkit.data.tables import MISSING_CELLS, read_text, to_numbers

SIDES = (PROBE, REFERENCE)
NAMES = (PROBE, REFERENCE, f"{PROBE}_{IDENTITY}", f"{REFERENCE}_{IDENTITY}")
_GENUINE = ("1", "true", "target", "genuine", "mated", "same")
_IMPOSTOR = ("0", "-1", "false", "nontarget", "impostor", "non-mated", "different")


def mapped(table: pd.DataFrame, columns: Mapping) -> dict:
    """The columns of a table under the names of `frkit.pairs`, with the lines they stand in.

    `score` may map to one column, a list of columns (models) or a mapping from model to column; an attribute to one
    column or to two, (probe's, reference's), of which one may be None; `trial` to a list of columns, or a mapping.
    """
    out = {"lines": table.index.to_numpy()}
    for name, own in columns.items():
        if name == "score":
            models = own if isinstance(own, (str, Mapping)) else {model: model for model in own}
            out[name] = scores_in(table, models)
        elif name in NAMES:
            out[name] = _complete(_column(table, own, name))
        elif name == "genuine":
            out[name] = _verdicts(_column(table, own, name))
        elif name == "trial":
            of_trials = own if isinstance(own, Mapping) else {column: column for column in own}
            out[name] = {
                attribute: _column(table, column, attribute)
                for attribute, column in of_trials.items()
            }
        elif isinstance(own, str):
            out[name] = _column(table, own, name).to_numpy()
        else:
            require(
                len(own) == 2, f"attribute {name!r} must name one column or two, got {listed(own)}"
            )
            out[name] = tuple(
                None if side is None else _column(table, side, name).to_numpy() for side in own
            )
    return out


def _column(table: pd.DataFrame, name: str, what: str) -> pd.Series:
    require(
        name in table,
        f"there is no column {name!r} ({what}); the columns are {listed(table.columns, 30)}",
    )
    return table[name]


def scores_in(table: pd.DataFrame, own: str | Mapping) -> np.ndarray | dict[str, np.ndarray]:
    """One model's scores, or those of several by name."""
    if isinstance(own, Mapping):
        return {model: scores_in(table, column) for model, column in own.items()}
    return to_numbers(_column(table, own, "score").to_frame())[:, 0]


def _complete(values: pd.Series) -> np.ndarray:
    """Names, none of which is missing."""
    text = values.astype(str).str.strip()
    refuse(values.index[values.isna() | text.isin(MISSING_CELLS)], f": {values.name} is missing")
    return text.to_numpy(str)


def _verdicts(values: pd.Series) -> np.ndarray:
    """Which pairs are genuine, from 1/0, true/false, target/nontarget, genuine/impostor."""
    text = values.astype(str).str.strip().str.lower().str.removesuffix(".0")
    bad = text[~text.isin([*_GENUINE, *_IMPOSTOR])]
    words = f"{', '.join(_GENUINE)} or {', '.join(_IMPOSTOR)}"
    word = bad.head(1).str.cat()
    refuse(
        bad.index,
        f", {values.name}: {word!r} does not say whether the pair is genuine; use {words}",
    )
    return text.isin(_GENUINE).to_numpy()


def refuse(lines, what: str) -> None:
    """Refuse the first of these lines, if there is any; `what` goes on from its number."""
    if len(lines):
        raise InputError(f"line {lines[0]}{what}")


def read_scores(scores, n: int, where) -> np.ndarray | dict[str, np.ndarray]:
    """Scores of n pairs in their order, one per line of a file, an .npy or an array; or of several models."""
    require(
        scores is not None,
        f"{where} hold(s) no scores: give scores=, a file with one score per line",
    )
    if isinstance(scores, Mapping):
        return {str(name): read_scores(one, n, where) for name, one in scores.items()}
    if not isinstance(scores, (str, Path)):
        values = np.asarray(scores, np.float64)
        require(values.shape == (n,), f"scores has shape {values.shape}, but there are {n} pairs")
        return values
    with named(scores):
        values = score_lines(Path(scores))
        require(len(values) == n, f"holds {len(values)} scores, but {where} hold(s) {n} pairs")
    return values


def score_lines(path: Path) -> np.ndarray:
    """One score per line, or an .npy of one dimension."""
    with named(path):
        if path.suffix != ".npy":
            return scores_in(read_text(path, "score", "one score"), "score")
        require(path.is_file(), "there is no such file")
        values = read_npy(path)
        flat = values.ndim == 1 and values.dtype.kind in "fiu"
        require(
            flat,
            f"scores must be numbers in one dimension, got {values.dtype} of shape {values.shape}",
        )
        return values.astype(np.float64)
