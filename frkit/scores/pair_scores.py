"""Scores of a list of pairs that are in a file, or an array, of their own."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import InputError, listed, real_numbers, require, warn
from frkit.data.arrays import read_npy
from frkit.data.files import named
from frkit.data.sides import Sides, coded_sides
from frkit.data.tables import read_frame, to_numbers


def read_scores(scores, table, images):
    """Return the scores of pairs by model, "" for one without a name.

    Parameters
    ----------
    scores : path, array, or mapping of model to such
    table : pd.DataFrame
        The pairs, by line.
    images : Sides or None
        Their names, by which lines `enrol test score` are joined.
    """
    if isinstance(scores, Mapping):
        return {str(name): read_scores(scores[name], table, images)[""] for name in scores}
    source = "scores="
    if isinstance(scores, (str, Path)):
        source = scores
        with named(scores):
            values = _score_lines(Path(scores), table, images)
    else:
        values = real_numbers("scores", scores)
    words = f"there are {len(table)} pairs, but the scores in {source} have shape {values.shape}"
    require(values.shape == (len(table),), words)
    return {"": values}


def _score_lines(path, table, images):
    """Read one score per line, or an .npy; or lines `reference probe score` in any order."""
    if path.suffix == ".npy":
        values = real_numbers("scores", read_npy(path))
        require(values.ndim == 1, f"scores must have one dimension, got shape {values.shape}")
        return values.astype(np.float64)
    scored = read_frame(path)
    if len(scored.columns) == 1:
        return to_numbers(scored.iloc[:, 0].rename("score"))
    words = f"a line of scores is: score, or enrol test score; it has {len(scored.columns)} cells"
    require(len(scored.columns) == 3 and images is not None, words)
    scored.columns = ["reference", "probe", "score"]
    values = to_numbers(scored.score, blank=False)
    sides = coded_sides([scored.probe, scored.reference], ("probe", "reference"), len(scored))
    again, differing = repeats(sides, {"score": values})
    if len(differing) > 0:
        pair = listed(sides.names[[side[differing[0]] for side in (sides.reference, sides.probe)]])
        lines = listed(scored.index[differing])
        raise InputError(f"{pair} has two scores (lines {lines}): leave one out")
    places = np.append(pd.Index(images.names).get_indexer(sides.names), -1)
    sides = Sides(places[sides.probe], places[sides.reference], images.names)
    is_wanted = (sides.probe >= 0) & (sides.reference >= 0)
    is_wanted[again] = False
    lookup = pd.Series(values[is_wanted], sides.rows(is_wanted).pair())
    values = lookup.reindex(images.pair()).to_numpy()
    lines = table.index[np.isnan(values)]
    require(len(lines) == 0, f"there is no score for the trials of lines {listed(lines)}")
    return values


def repeats(sides, values):
    """Return the rows that repeat an ordered pair, which are counted in a warning.

    Parameters
    ----------
    sides : Sides
    values : dict of array, (pair,)

    Returns
    -------
    again : array of int
    differing : sequence of int
        Two rows of a pair with different values, if there are such.
    """
    pair = pd.Series(sides.pair())
    rows = np.flatnonzero(pair.duplicated(keep=False))
    if len(rows) == 0:
        return rows, rows
    twice = pd.DataFrame({name: column[rows] for name, column in values.items()}, rows)
    twice["pair"] = pair
    distinct = twice.drop_duplicates()
    wrong = distinct.pair[distinct.pair.duplicated()]
    if len(wrong) > 0:
        return rows, distinct.index[distinct.pair == wrong.iloc[0]][:2]
    again = rows[twice.pair.duplicated().to_numpy()]
    warn(f"{len(again):,} pairs stand twice with the same score: each counts once")
    return again, rows[:0]
