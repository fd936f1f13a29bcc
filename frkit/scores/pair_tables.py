"""Tables of scored pairs with a header: BFW's, bob's, and any other by a mapping of its columns."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import listed, require
from frkit.faces.files import named, not_read
from frkit.scores.pair_text import column, complete, numbers, read_pair_table, verdicts

SIDES = ("probe", "reference")
_BFW_KNOWN = {"fold", "p1", "p2", "label", "id1", "id2", "att1", "att2", "a1", "a2", "g1", "g2", "e1", "e2"}
_BFW_ATTRIBUTES = {"att": "subgroup", "g": "gender", "e": "ethnicity"}
_NAMES = ("probe", "reference", "probe_identity", "reference_identity")
_BOB_SIDES = ("probe_", "bio_ref_")
_BOB_IDS = ("template_id", "subject_id", "key", "reference_id")


def read_bfw(path, columns=None) -> dict:
    """BFW's data table; columns= names the encoders to read, by default every further column of numbers."""
    with named(path):
        table = read_pair_table(Path(path))
        out = {name: complete(column(table, own, name), own) for name, own in zip(_NAMES, ("p1", "p2", "id1", "id2"))}
        out["genuine"] = verdicts(column(table, "label", "1 for a genuine pair"))
        models = _encoders(table) if columns is None else [columns] if isinstance(columns, str) else list(columns)
        out["score"] = {name: numbers(column(table, name, "scores"), name) for name in models}
        for letter, name in _BFW_ATTRIBUTES.items():
            if f"{letter}1" in table and f"{letter}2" in table:
                out[name] = tuple(table[f"{letter}{side}"].to_numpy() for side in (1, 2))
    return out | {"lines": table.index.to_numpy()}


def _encoders(table: pd.DataFrame) -> list[str]:
    """Columns that BFW does not name itself and that begin with a number."""
    first = {name: pd.to_numeric(table[name].iloc[:1], errors="coerce").notna().all() for name in table}
    models = [name for name in table if name not in _BFW_KNOWN and name and first[name]]
    require(len(models) > 0, f"no column of scores beside BFW's own; the columns are {listed(table.columns, 30)}")
    not_read([name for name in table if name not in _BFW_KNOWN and name and not first[name]], "no numbers")
    return models


def read_bob_csv(path) -> dict:
    """bob's CSV: `probe_template_id`, `probe_*`, `bio_ref_*`, `score`; genuine where the subject ids are equal."""
    with named(path):
        table = read_pair_table(Path(path))
        out = {"score": numbers(column(table, "score", "the score")), "lines": table.index.to_numpy()}
        for side, prefix in zip(SIDES, _BOB_SIDES, strict=True):
            own = [f"{prefix}{name}" for name in ("template_id", "key", "reference_id") if f"{prefix}{name}" in table]
            columns = listed(table.columns, 30)
            require(len(own) > 0, f"there is no column {prefix}template_id; the columns are {columns}")
            names = complete(table[own[0]], own[0])
            out[side] = np.char.add("model ", names) if side == "reference" else names
            who = f"{prefix}subject_id"
            out[f"{side}_identity"] = complete(column(table, who, "who is compared"), who)
        return out | _bob_attributes(table)


def _bob_attributes(table: pd.DataFrame) -> dict:
    """Every attribute that both sides have."""
    names = [{name.removeprefix(p) for name in table if name.startswith(p)} - set(_BOB_IDS) for p in _BOB_SIDES]
    both = sorted(names[0] & names[1])
    alone = [f"{prefix}{name}" for prefix, own in zip(_BOB_SIDES, names) for name in sorted(own - set(both))]
    not_read(alone, "one side alone has it")
    return {name: tuple(table[f"{prefix}{name}"].to_numpy() for prefix in _BOB_SIDES) for name in both}


def read_mapped(path, columns=None) -> dict:
    """Any table, with `columns` from names of `frkit.pairs` to names of its columns.

    `score` may map to one column, a list of columns (models) or a mapping from model to column; an attribute to one
    column or to two, (probe's, reference's).
    """
    require(
        isinstance(columns, Mapping) and "score" in columns,
        "format 'columns' needs columns={'score': ..., 'genuine': ..., ...}: names of frkit.pairs to columns",
    )
    with named(path):
        table = read_pair_table(Path(path))
        mapped = {name: _mapped(table, name, own) for name, own in columns.items()}
    return mapped | {"lines": table.index.to_numpy()}


def _mapped(table: pd.DataFrame, name: str, own) -> np.ndarray | tuple | dict:
    """What one name of `frkit.pairs` is mapped to: a column, an attribute's two, or the scores of several models."""
    if name == "score":
        return _score_columns(table, own)
    if name == "genuine":
        return verdicts(column(table, own, name), own)
    if name in _NAMES:
        return complete(column(table, own, name), own)
    if isinstance(own, str):
        return column(table, own, name).to_numpy()
    require(len(own) == 2, f"attribute {name!r} must name one column or two, got {listed(own)}")
    return tuple(column(table, one, name).to_numpy() for one in own)


def _score_columns(table: pd.DataFrame, wanted) -> np.ndarray | dict[str, np.ndarray]:
    """One model's scores, or those of several by name."""
    if isinstance(wanted, str):
        return numbers(column(table, wanted, "score"), wanted)
    models = wanted if isinstance(wanted, Mapping) else {name: name for name in wanted}
    return {name: numbers(column(table, own, "score"), own) for name, own in models.items()}
