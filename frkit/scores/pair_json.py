"""Scores in JSON: nested by names, two lists, or a table."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import listed, require
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
    if isinstance(data, dict) and all(isinstance(value, dict) for value in data.values()):
        require(columns is None, "a mapping of names has no columns: leave columns= out")
        return _nested(data)
    if isinstance(data, dict) and {*data} == {"genuine", "impostor"}:
        return two_vectors(_numbers(data["genuine"]), _numbers(data["impostor"]))
    with reading("the JSON"):
        table = pd.DataFrame(data)
    table.index += 1
    if columns is None:
        columns = {name: name for name in table if name in (*NAMES, "score", "genuine")}
    require("score" in columns, FORMS)
    return mapped(table, columns)


def _object(pairs):
    """Return an object of JSON; a name that stands twice would hide the first."""
    data = dict(pairs)
    require(len(data) == len(pairs), f"a name stands twice in the object of {listed(data)}")
    return data


def _nested(data):
    """Return the scores of {probe: {reference: score}}, or of several such by model."""
    has_models = all(isinstance(value, dict) for rows in data.values() for value in rows.values())
    models = {}
    for model, rows in (data if has_models else {"": data}).items():
        scores = {(probe, name): rows[probe][name] for probe in rows for name in rows[probe]}
        models[model] = pd.Series(scores, dtype=object)
    table = pd.DataFrame(models)
    require(len(table) > 0, FORMS)
    is_same = all(len(scores) == len(table) for scores in models.values())
    require(is_same, f"models {listed(models)} did not score the same pairs")
    scores = {model: _numbers(table[model]) for model in models}
    probe, reference = (table.index.get_level_values(side).to_numpy(object) for side in (0, 1))
    return {"score": scores if has_models else scores[""], "probe": probe, "reference": reference}


def _numbers(scores):
    """Return scores as numbers; messages count them from 1."""
    return to_numbers(pd.Series(list(scores), range(1, len(scores) + 1), object, "score"))


def two_vectors(genuine: np.ndarray, impostor: np.ndarray) -> dict:
    """Return genuine scores, then impostor scores."""
    is_genuine = np.repeat([True, False], [len(genuine), len(impostor)])
    return {"score": np.concatenate([genuine, impostor]), "genuine": is_genuine}
