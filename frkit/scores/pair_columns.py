"""Columns of tables and files of scores as arguments of `frkit.pairs`, whatever the format."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import listed, real_numbers, require
from frkit.data.arrays import read_npy
from frkit.data.files import named, reading
from frkit.data.tables import read_text, refuse_cells, to_numbers

SIDES = ("probe", "reference")
IDENTITIES = ("probe_identity", "reference_identity")
NAMES = (*SIDES, *IDENTITIES)
GENUINE_WORDS = ("1", "true", "target", "genuine", "mated", "same")
IMPOSTOR_WORDS = ("0", "-1", "false", "nontarget", "impostor", "non-mated", "different")


def mapped(table: pd.DataFrame, columns: Mapping) -> dict:
    """Return columns of a table as arguments of `frkit.pairs`, its attributes as a mapping.

    `score` may map to one column, a list of columns (models) or a mapping from model to column; an
    attribute to one column or to two, (probe's, reference's), of which one may be None; `trial` to
    a list of columns, or a mapping.
    """
    sources = [column for source in columns.values() for _, column in _by_name(source)]
    absent = [column for column in sources if column is not None and column not in table]
    words = f"there is no column {listed(absent)}; the columns are {listed(table.columns, 30)}"
    require(not absent, words)
    attributes = {}
    out = {"attributes": attributes}
    for name, source in columns.items():
        if name == "score":
            scores = {model: to_numbers(table[column]) for model, column in _by_name(source)}
            out[name] = scores[source] if isinstance(source, str) else scores
        elif name == "genuine":
            out[name] = _verdicts(table[source])
        elif name in NAMES:
            refuse_cells(table[source], table[source].isna(), "names nobody")
            out[name] = table[source].astype(str).str.strip().to_numpy(object)
        elif name == "trial":
            out[name] = {trial: table[column] for trial, column in _by_name(source)}
        elif isinstance(source, str):
            attributes[name] = table[source].to_numpy()
        else:
            attributes[name] = tuple(side and table[side].to_numpy() for side in source)
    return out


def _by_name(source):
    """Return name and column; without names of their own columns go by those they have."""
    if isinstance(source, Mapping):
        return list(source.items())
    columns = [source] if isinstance(source, str) else source
    return [(column, column) for column in columns]


def _verdicts(column):
    """Return which pairs are genuine; a blank cell says neither, and is refused."""
    text = column.astype(str).str.strip().str.lower().str.removesuffix(".0")
    is_genuine = text.isin(GENUINE_WORDS)
    words = f"use {', '.join(GENUINE_WORDS)} or {', '.join(IMPOSTOR_WORDS)}"
    reason = f"does not say whether the pair is genuine; {words}"
    refuse_cells(column, ~is_genuine & ~text.isin(IMPOSTOR_WORDS), reason)
    return is_genuine.to_numpy(bool)


def read_scores(scores, n: int, trials: pd.DataFrame | None = None):
    """Read the scores of n pairs in their order, from a file or an array; or of several models."""
    require(scores is not None, "give scores=, a file with one score per line")
    if isinstance(scores, Mapping):
        return {str(name): read_scores(model, n, trials) for name, model in scores.items()}
    if isinstance(scores, (str, Path)):
        values, source = score_lines(Path(scores), trials), scores
    else:
        values, source = real_numbers("scores", scores), "scores="
    words = f"there are {n} pairs, but the scores in {source} have shape {values.shape}"
    require(values.shape == (n,), words)
    return values


def score_lines(path: Path, trials: pd.DataFrame | None = None) -> np.ndarray:
    """Read one score per line, or an .npy; for trials also lines `enrol test score`."""
    with named(path):
        if path.suffix == ".npy":
            values = real_numbers("scores", read_npy(path))
            require(values.ndim == 1, f"scores must have one dimension, got shape {values.shape}")
            return values.astype(np.float64)
        if trials is None:
            return to_numbers(read_text(path, "score")["score"])
        table = read_text(path, "enrol [test score]")
        if table.test.isna().all():
            return to_numbers(table.enrol.rename("score"))
        table["score"] = to_numbers(table.score, blank=False)
        with reading("the list of scores"):
            scored = trials.merge(table, "left", ["enrol", "test"], validate="many_to_one")
        lines = trials.index[scored.score.isna()]
        require(len(lines) == 0, f"there is no score for the trials of lines {listed(lines)}")
        return scored.score.to_numpy()
