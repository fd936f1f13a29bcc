"""Scores in JSON: nested by names, two lists, or a table."""

import json

import pandas as pd

from frkit.base import listed, require
from frkit.data.files import reading
from frkit.data.tables import open_text

FORMS = (
    "JSON must contain {probe: {reference: score}}, {model: {probe: {reference: score}}}, "
    "{'genuine': [...], 'impostor': [...]}, or a table as a list of objects or an object of lists"
)


def read_json(path):
    """Read scores nested by names, of one model or several; two lists of scores; or a table."""
    with reading("the JSON"), open_text(path) as file:
        data = json.load(file, object_pairs_hook=_object)
    if isinstance(data, dict) and data and all(isinstance(value, dict) for value in data.values()):
        return _nested(data)
    if isinstance(data, dict) and {*data} == {"genuine", "impostor"}:
        tables = [
            pd.DataFrame({"score": data[kind], "genuine": int(kind == "genuine")})
            for kind in ("genuine", "impostor")
        ]
        return pd.concat(tables, ignore_index=True), {"score": "score", "genuine": "genuine"}, ""
    with reading("the JSON"):
        table = pd.DataFrame(data)
    require(len(table) > 0 and len(table.columns) > 1, FORMS)
    table.index = pd.RangeIndex(1, len(table) + 1, name="row")
    return table.rename(columns=str), {}, ""


def _object(pairs):
    """Return an object of JSON; a name that stands twice would hide the first."""
    data = dict(pairs)
    require(len(data) == len(pairs), f"a name stands twice in the object of {listed(data)}")
    return data


def _nested(data):
    """Return the scores of {probe: {reference: score}}, or of several such by model."""
    has_models = all(isinstance(value, dict) for rows in data.values() for value in rows.values())
    models = {}
    for model, rows in (data if has_models else {"score": data}).items():
        scores = {(probe, name): rows[probe][name] for probe in rows for name in rows[probe]}
        models[model] = pd.Series(scores, dtype=object)
    table = pd.DataFrame(models)
    require(len(table) > 0, FORMS)
    is_same = all(len(scores) == len(table) for scores in models.values())
    require(is_same, f"models {listed(models)} did not score the same pairs")
    columns = table.columns.astype(str).tolist()
    table.columns = columns
    for level, side in enumerate(("probe", "reference")):
        table[side] = table.index.get_level_values(level).to_numpy(object)
    table.index = pd.RangeIndex(1, len(table) + 1, name="row")
    scores = {name: name for name in columns} if has_models else "score"
    return table, {"score": scores, "probe": "probe", "reference": "reference"}, ""
