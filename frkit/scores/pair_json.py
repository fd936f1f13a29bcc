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
    "JSON must contain {probe: {reference: score}}, {model: {probe: {reference: score}}}, "
    "{'genuine': [...], 'impostor': [...]}, or a table as a list of objects or an object of lists"
)


def read_json(path, columns=None) -> dict:
    """Read scores nested by names, of one model or several; two lists of scores; or a table.

    The columns of a table go by names of `frkit.pairs`, or by the caller's mapping.
    """
    with reading("the JSON"), open_text(Path(path)) as file:
        data = json.load(file, object_pairs_hook=_object)
    require(isinstance(data, (dict, list)) and len(data) > 0, FORMS)
    values = list(data.values()) if isinstance(data, dict) else data
    kinds = {type(value) for value in values}
    require(kinds in ({dict}, {list}), FORMS)
    if isinstance(data, dict) and kinds == {dict}:
        require(columns is None, "a mapping of names has no columns: leave columns= out")
        return _nested(data)
    if isinstance(data, dict) and {name.lower() for name in data} == {"genuine", "impostor"}:
        lists = {name.lower(): _numbers(scores) for name, scores in data.items()}
        return two_vectors(lists["genuine"], lists["impostor"])
    with reading("the JSON"):
        table = pd.DataFrame(data)
    table.index += 1
    names = {name: name for name in table if name in (*NAMES, "score", "genuine")}
    return mapped(table, names if columns is None else columns)


def _object(pairs):
    """Return an object of JSON; a name that stands twice would hide the first."""
    again = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
    require(not again, f"{listed(again)} stands twice in one object")
    return dict(pairs)


def _nested(data):
    """Return the scores of {probe: {reference: score}}, or of several such by model."""
    has_models = all(isinstance(value, dict) for rows in data.values() for value in rows.values())
    models = {}
    for model, rows in (data if has_models else {"": data}).items():
        scores = {(probe, name): rows[probe][name] for probe in rows for name in rows[probe]}
        models[model] = pd.Series(scores, dtype=object)
    table = pd.DataFrame(models)
    require(len(table) > 0, "contains no score")
    is_same = all(len(scores) == len(table) for scores in models.values())
    require(is_same, f"models {listed(models)} did not score the same pairs")
    scores = {model: _numbers(table[model]) for model in models}
    probe, reference = zip(*table.index)
    return {
        "score": scores if has_models else scores[""],
        PROBE: np.array(probe, object),
        REFERENCE: np.array(reference, object),
    }


def _numbers(scores):
    """Return scores as numbers; messages count them from 1."""
    return to_numbers(pd.Series(list(scores), range(1, len(scores) + 1), object, "score"))


def two_vectors(genuine: np.ndarray, impostor: np.ndarray) -> dict:
    """Return genuine scores, then impostor scores."""
    is_genuine = np.repeat([True, False], [len(genuine), len(impostor)])
    return {"score": np.concatenate([genuine, impostor]), "genuine": is_genuine}
