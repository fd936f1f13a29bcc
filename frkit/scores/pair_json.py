"""Scores in JSON: by the names of both sides, as a table, or as genuine and impostor scores."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import PROBE, REFERENCE, listed, require
from frkit.faces.files import reading
from frkit.faces.tables import open_text
from frkit.scores.pair_columns import NAMES, mapped, scores_in
from frkit.scores.pair_formats import two_vectors

_FORMS = (
    "JSON must hold {probe: {reference: score}}, {model: {probe: {reference: score}}}, {'genuine': [...], 'impostor': "
    "[...]}, or a table as a list of objects or an object of lists"
)


def read_json(path, columns=None) -> dict:
    """JSON: {probe: {reference: score}}, or one such for each model; {"genuine": [...], "impostor": [...]}; or a table,
    as a list of objects or an object of lists, whose columns go by names of `frkit.pairs` or by the caller's mapping.
    """
    with reading("the JSON"), open_text(Path(path)) as file:
        data = json.load(file, object_pairs_hook=_distinct)
    require(isinstance(data, (dict, list)) and len(data) > 0, "holds no mapping and no list of scores")
    values = list(data.values()) if isinstance(data, dict) else data
    one = type(values[0])
    require(all(isinstance(value, one) for value in values) and one in (dict, list), _FORMS)
    if isinstance(data, dict) and one is dict:
        require(columns is None, "a mapping of names has no columns: leave columns= out")
        deep = all(isinstance(value, dict) for inner in values for value in inner.values())
        return _nested(data if deep else {"": data})
    if isinstance(data, dict) and {name.lower() for name in data} == {"genuine", "impostor"}:
        parts = {name.lower(): scores_in(pd.DataFrame({"score": scores}), "score") for name, scores in data.items()}
        return two_vectors(parts["genuine"], parts["impostor"])
    require(one is dict or len({len(value) for value in values}) == 1, "its lists differ in length")
    table = pd.DataFrame(data)
    table.index += 1
    own = {name: name for name in table if name in (*NAMES, "score", "genuine")}
    return mapped(table, own if columns is None else columns)


def _distinct(pairs: list[tuple]) -> dict:
    """An object of JSON; a name that stands twice would hide the first."""
    again = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
    require(not again, f"{listed(again)} stands twice in one object")
    return dict(pairs)


def _nested(models: dict) -> dict:
    """Scores {model: {probe: {reference: score}}}; every model must have scored the same pairs."""
    flat = {
        model: {(probe, reference): score for probe, row in rows.items() for reference, score in row.items()}
        for model, rows in models.items()
    }
    names, first = next(iter(flat)), next(iter(flat.values()))
    require(len(first) > 0, "holds no score")
    odd = [model for model, scores in flat.items() if scores.keys() != first.keys()]
    require(not odd, f"models {names!r} and {listed(odd[:1])} did not score the same pairs")
    table = pd.DataFrame({model: [scores[pair] for pair in first] for model, scores in flat.items()}, dtype=object)
    scores = {model: scores_in(table, model) for model in table}
    probe, reference = (np.array(side, str) for side in zip(*first))
    return {"score": scores if "" not in scores else scores[""], PROBE: probe, REFERENCE: reference}
