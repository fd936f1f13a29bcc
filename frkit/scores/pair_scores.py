"""Scores of a list of pairs from a separate file or array."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import InputError, listed, real_numbers, require, warn
from frkit.data.arrays import read_npy
from frkit.data.files import named
from frkit.data.sides import coded_sides
from frkit.data.tables import read_frame, to_numbers


def read_scores(scores, table, images):
    """Return the scores of pairs by model, "" for one without a name.

    Parameters
    ----------
    scores : path, array, or mapping of model to such
    table : pd.DataFrame
        The pairs, by line.
    images : Sides or None
        Their names, for joining lines `enrol test score`.
    """
    by_model = scores if isinstance(scores, Mapping) else {"": scores}
    values = {}
    for model, source in by_model.items():
        is_file = isinstance(source, (str, Path))
        if is_file:
            with named(source):
                scores_of_model = _score_lines(Path(source), table, images)
        else:
            scores_of_model = real_numbers("scores", source)
        require(
            scores_of_model.shape == (len(table),),
            f"there are {len(table)} pairs, but the scores in {source if is_file else 'scores='} "
            f"have shape {scores_of_model.shape}",
        )
        values[str(model)] = scores_of_model
    return values


def _score_lines(path, table, images):
    """Read one score per line, or an .npy; or lines `reference probe score` in any order."""
    if path.suffix == ".npy":
        return real_numbers("scores", read_npy(path)).astype(float)
    scored = read_frame(path)
    n_cells = len(scored.columns)
    if n_cells == 1:
        return to_numbers(scored.iloc[:, 0].rename("score"))
    require(
        n_cells == 3 and images is not None,
        f"a line of scores is: score, or enrol test score; it has {n_cells} cells",
    )
    scored.columns = ["reference", "probe", "score"]
    values = to_numbers(scored.score, blank=False)
    sides = coded_sides([scored.probe, scored.reference], ("probe", "reference"), len(scored))
    again, differing = repeats(sides, {"score": values})
    if len(differing) > 0:
        refuse_two(sides, differing, scored.index, "has two scores")
    values = pd.Series(values, sides.pair_among(images.names)).drop(index=-1, errors="ignore")
    values = values[~values.index.duplicated()].reindex(images.pair()).to_numpy()
    lines = table.index[np.isnan(values)]
    require(len(lines) == 0, f"there is no score for the trials of lines {listed(lines)}")
    return values


def refuse_two(sides, rows, lines, what, remedy="leave one out"):
    """Refuse two rows of a pair that contradict each other."""
    first, second = rows
    pair = listed(sides.names[[sides.probe[first], sides.reference[first]]])
    raise InputError(f"the pair {pair} {what} (lines {lines[first]} and {lines[second]}): {remedy}")


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
    values = values | {"pair": pair.to_numpy()}
    twice = pd.DataFrame({name: column[rows] for name, column in values.items()}, rows)
    distinct = twice.drop_duplicates()
    wrong = distinct.pair[distinct.pair.duplicated()]
    if len(wrong) > 0:
        return rows, distinct.index[distinct.pair == wrong.iloc[0]][:2]
    again = rows[twice.pair.duplicated().to_numpy()]
    if len(again) > 0:
        warn(f"{len(again):,} pairs occur twice with the same score: each counts once")
    return again, rows[:0]
