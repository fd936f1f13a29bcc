"""Scores in JSON: nested by names, two lists, or a table."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import PROBE, REFERENCE, listed, require
from frkit.data.files import reading
from frkit.data.tables import open_text, to_numbers
from frkit.scores.pair_columns import NAMES, mapped

FORMS = (
    "JSON must hold {probe: {reference: score}}, {model: {probe: {reference: score}}}, "
    "{'genuine': [...], 'impostor': [...]}, or a table as a list of objects or an object of lists"
)


def read_json(path, columns=None) -> dict:
    """Read scores nested by names, of one model or several; two lists of scores; or a table.

    The columns of a table go by names of `frkit.pairs`, or by the caller's mapping.
    """
    with reading("the JSON"), open_text(Path(path)) as file:
        data = json.load(file, object_pairs_hook=_object)
    is_filled = isinstance(data, (dict, list)) and len(data) > 0
    require(is_filled, "holds no mapping and no list of scores")
    values = list(data.values()) if isinstance(data, dict) else data
    kinds = {type(value) for value in values}
    require(kinds in ({dict}, {list}), FORMS)
    if isinstance(data, dict) and kinds == {dict}:
        require(columns is None, "a mapping of names has no columns: leave columns= out")
        inner = [value for rows in values for value in rows.values()]
        return _nested(data if all(isinstance(v, dict) for v in inner) else {"": data})
    if isinstance(data, dict) and {name.lower() for name in data} == {"genuine", "impostor"}:
        lists = {name.lower(): to_numbers(_series(scores)) for name, scores in data.items()}
        return two_vectors(lists["genuine"], lists["impostor"])
    is_table = kinds == {dict} or len({len(value) for value in values}) == 1
    require(is_table, "its lists differ in length")
    table = pd.DataFrame(data)
    table.index += 1
    names = {name: name for name in table if name in (*NAMES, "score", "genuine")}
    return mapped(table, names if columns is None else columns)


def _object(pairs: list[tuple]) -> dict:
    """Return an object of JSON; a name that stands twice would hide the first."""
    again = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
    require(not again, f"{listed(again)} stands twice in one object")
    return dict(pairs)


def _series(scores: list) -> pd.Series:
    return pd.Series(scores, range(1, len(scores) + 1), dtype=object, name="score")


def _nested(models: dict) -> dict:
    """Return the scores of {model: {probe: {reference: score}}}, all of the same pairs."""
    score_of = {
        model: {
            (probe, reference): row[reference] for probe, row in rows.items() for reference in row
        }
        for model, rows in models.items()
    }
    first, *others = score_of
    pairs = list(score_of[first])
    require(len(pairs) > 0, "holds no score")
    odd = [model for model in others if score_of[model].keys() != score_of[first].keys()]
    require(not odd, f"models {first!r} and {listed(odd[:1])} did not score the same pairs")
    scores = {
        model: to_numbers(_series([of_pair[pair] for pair in pairs]))
        for model, of_pair in score_of.items()
    }
    probe, reference = (np.array(side, object) for side in zip(*pairs))
    return {"score": scores.get("", scores), PROBE: probe, REFERENCE: reference}


def two_vectors(genuine: np.ndarray, impostor: np.ndarray) -> dict:
    """Return genuine scores, then impostor scores."""
    is_genuine = np.repeat([True, False], [len(genuine), len(impostor)])
    return {"score": np.concatenate([genuine, impostor]), "genuine": is_genuine}
