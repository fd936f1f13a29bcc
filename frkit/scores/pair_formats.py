"""The field's formats of scored pairs, each a mapping from names of `frkit.pairs` to the columns of one reader."""

import json
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import IDENTITY, PROBE, REFERENCE, InputError, listed, require
from frkit.data.files import named, not_read, reading
from frkit.data.tables import open_text, read_frame, read_text
from frkit.scores.pair_columns import (
    NAMES,
    SIDES,
    mapped,
    read_scores,
    refuse,
    score_lines,
    scores_in,
)

BLOCK = 300  # pairs of one kind in a row, in RFW's protocol
_RFW_TABLE = dict(zip(NAMES, ("img_1", "img_2", "id_1", "id_2"))) | {
    "genuine": "label", "score": "dist", "ethnicity": "ethnicity"
}  # fmt: skip
_BFW = dict(zip(NAMES, ("p1", "p2", "id1", "id2"))) | {"genuine": "label"}
_BFW_ATTRIBUTES = {"subgroup": ("att1", "att2"), "gender": ("g1", "g2"), "ethnicity": ("e1", "e2")}
_BFW_KNOWN = {*_BFW.values(), *sum(_BFW_ATTRIBUTES.values(), ()), "fold", "a1", "a2", ""}
_BOB_SIDES = ("probe_", "bio_ref_")
_BOB_IDS = ("template_id", "key", "reference_id")
_JSON_FORMS = (
    "JSON must hold {probe: {reference: score}}, {model: {probe: {reference: score}}}, {'genuine': [...], 'impostor': "
    "[...]}, or a table as a list of objects or an object of lists"
)


def read_mapped(path, columns=None) -> dict:
    """Any table, by the caller's mapping."""
    words = "format 'columns' needs columns={'score': ..., 'genuine': ..., ...}: names of frkit.pairs to columns"
    require(isinstance(columns, Mapping) and "score" in columns, words)
    return mapped(read_frame(Path(path)), columns)


def read_bfw(path, columns=None) -> dict:
    """BFW's data table; columns= names the encoders to read, by default every further column of numbers."""
    table = read_frame(Path(path))
    if columns is None:
        others = [name for name in table if name not in _BFW_KNOWN]
        columns = [
            name
            for name in others
            if pd.to_numeric(table[name].iloc[:1], errors="coerce").notna().all()
        ]
        require(
            len(columns) > 0,
            f"no column of scores beside BFW's own; the columns are {listed(table.columns, 30)}",
        )
        not_read([name for name in others if name not in columns], "no numbers")
    known = {name: both for name, both in _BFW_ATTRIBUTES.items() if {*both} <= {*table.columns}}
    return mapped(
        table, _BFW | known | {"score": [columns] if isinstance(columns, str) else columns}
    )


def read_bob_csv(path) -> dict:
    """bob's CSV: `probe_template_id`, `probe_*`, `bio_ref_*`, `score`; genuine where the subject ids are equal."""
    table = read_frame(Path(path))
    columns = {"score": "score"}
    for side, prefix in zip(SIDES, _BOB_SIDES, strict=True):
        own = [f"{prefix}{name}" for name in _BOB_IDS if f"{prefix}{name}" in table]
        columns |= {
            side: [*own, f"{prefix}template_id"][0],
            f"{side}_{IDENTITY}": f"{prefix}subject_id",
        }
    known = {"subject_id", *_BOB_IDS}
    own = {
        name.removeprefix(prefix)
        for prefix in _BOB_SIDES
        for name in table
        if name.startswith(prefix)
    } - known
    both = {name: [f"{prefix}{name}" for prefix in _BOB_SIDES] for name in sorted(own)}
    columns |= {
        name: [side if side in table else None for side in sides] for name, sides in both.items()
    }
    return _with_models(mapped(table, columns))


def _with_models(columns: dict) -> dict:
    """bob's references are models: no image, whatever their names."""
    return columns | {REFERENCE: np.char.add("model ", columns[REFERENCE])}


def read_bob(fields: str, model: str, path) -> dict:
    """bob's 4 or 5 columns, the third or fourth of them the probe."""
    columns = dict(zip(NAMES, ("probe", model, "real_id", "claimed_id"))) | {"score": "score"}
    return _with_models(mapped(read_text(Path(path), fields), columns))


def read_trials(fields: str, path, scores=None) -> dict:
    """Trials of VoxCeleb or Kaldi with a file of scores: in their order, or as `enrol test score`."""
    table = read_text(Path(path), fields)
    out = mapped(table, {"genuine": "label", PROBE: "test", REFERENCE: "enrol"})
    people = [_speakers(table[side]) for side in ("test", "enrol")]
    return out | {
        "score": _trial_scores(table, scores, path),
        **dict(zip(NAMES[2:], people, strict=True)),
    }


def _speakers(names: pd.Series) -> np.ndarray:
    """The first component of a path; without slashes what stands before the first hyphen, as Kaldi names utterances."""
    first = names.str.split("/", n=1).str[0]
    return first.where(
        names.str.contains("/", regex=False), names.str.split("-", n=1).str[0]
    ).to_numpy(str)


def _trial_scores(trials: pd.DataFrame, scores, path) -> np.ndarray | dict[str, np.ndarray]:
    """Scores in the trials' order; from a file of three columns by the names of both sides."""
    if isinstance(scores, Mapping):
        return {str(name): _trial_scores(trials, one, path) for name, one in scores.items()}
    if not isinstance(scores, (str, Path)) or str(scores).endswith(".npy"):
        return read_scores(scores, len(trials), path)
    with named(scores):
        table = read_text(Path(scores), "enrol [test score]", "enrol test score, or one score")
        width = (table != "").sum(axis=1)
        odd = table.index[(width != width.iloc[0]) | (width == 2)]
        refuse(odd, " has another number of fields; a line is: enrol test score")
        if width.iloc[0] == 1:
            return read_scores(
                scores_in(table.set_axis(["score", 1, 2], axis=1), "score"), len(trials), path
            )
        sides = ["enrol", "test"]
        refuse(table.index[table.duplicated(sides)], " scores a trial for a second time")
        values = scores_in(table, "score")
        place = pd.MultiIndex.from_frame(table[sides]).get_indexer(
            pd.MultiIndex.from_frame(trials[sides])
        )
        lost = trials[place < 0]
        for line, trial in lost.head(1).iterrows():
            raise InputError(
                f"no score for the trial in line {line} of {path}: {trial.enrol} {trial.test}"
            )
        return values[place]


def read_ijbc(path, scores=None, metadata=None) -> dict:
    """IJB-C in InsightFace's form: `tid1 tid2 label` with a file of scores; metadata may be `img tid mid`.

    The files name no people: templates that genuine pairs link, directly or by way of others, are one person.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    out = mapped(
        read_text(Path(path), "tid1 tid2 label"),
        {"genuine": "label", PROBE: "tid1", REFERENCE: "tid2"},
    )
    template, names = pd.factorize(np.concatenate([out[side] for side in SIDES]))
    if metadata is not None:
        with named(metadata):
            known = read_text(Path(metadata), "img tid mid").tid
        lost = names[~np.isin(names, known.to_numpy(str))][:1]
        require(len(lost) == 0, f"template {listed(lost)} does not stand in {metadata}")
    sides = np.split(template, 2)
    links = tuple(side[out["genuine"]] for side in sides)
    graph = coo_array((np.ones(len(links[0])), links), shape=(len(names), len(names)))
    person = np.char.add("person ", connected_components(graph, directed=False)[1].astype(str))
    out |= {name: person[side] for name, side in zip(NAMES[2:], sides, strict=True)}
    return out | {"score": read_scores(scores, len(sides[0]), path)}


def read_lfw(path, scores=None) -> dict:
    """LFW's pairs.txt with a file of scores in the same order."""
    form = "name n1 n2, or nameA n1 nameB n2, after a first line of folds and pairs"
    table = read_text(Path(path), "name [n1 other n2]", form)
    head = [int(cell) for cell in table.iloc[0] if cell.isdecimal()]
    first = (table.iloc[0] != "").sum()
    require(
        0 < len(head) == first <= 2,
        f"line {table.index[0]} must be the number of folds and of pairs a fold",
    )
    folds, block = (1, *head)[-2:]
    body = table.iloc[1:]
    words = f"line {table.index[0]} announces {folds} fold(s) of 2 x {block} pairs"
    require(len(body) == 2 * folds * block, f"{words}, but there are {len(body)} lines")
    out = _numbered_pairs(body, block)
    for side in SIDES:
        out[side] = np.char.add(np.char.add(out[f"{side}_{IDENTITY}"], "/"), out[side])
    return out | {"score": read_scores(scores, len(body), path)}


def _numbered_pairs(body: pd.DataFrame, block: int) -> dict:
    """Pairs `name n1 n2` (genuine) and `nameA n1 nameB n2`, in blocks of each kind by turns."""
    refuse(
        body.index[body.other == ""],
        " has too few fields; a line is: name n1 n2, or nameA n1 nameB n2",
    )
    short = body.n2 == ""
    due = np.arange(len(body)) // block % 2 == 0
    order = f"{block} genuine pairs (3 fields) and {block} impostor pairs (4 fields) by turns"
    refuse(body.index[short.to_numpy() != due], f" breaks the order of {order}")
    second = body.name.where(short, body.other)
    refuse(
        body.index[(body.name == second) & ~short],
        " names one person twice, but has the form of an impostor pair",
    )
    out = {"lines": body.index.to_numpy(), "genuine": short.to_numpy()}
    for side, person, number in zip(
        SIDES, (body.name, second), (body.n1, body.other.where(short, body.n2))
    ):
        bad = number[~number.str.fullmatch(r"\d{1,9}")]
        refuse(bad.index, f": {bad.head(1).str.cat()!r} is no image number")
        images = person + "_" + number.astype(int).astype(str).str.zfill(4) + ".jpg"
        out |= {side: images.to_numpy(str), f"{side}_{IDENTITY}": person.to_numpy(str)}
    return out


def read_rfw(path, scores=None) -> dict:
    """RFW: a score table, one `<Race>_pairs.txt`, several, or a folder that holds them, with scores."""
    paths = [Path(one) for one in ([path] if isinstance(path, (str, Path)) else path)]
    if len(paths) == 1 and paths[0].is_dir():
        paths = sorted(paths[0].rglob("*_pairs.txt"))
        require(len(paths) > 0, "there is no <Race>_pairs.txt in this folder")
    if len(paths) == 1 and paths[0].name.lower().endswith((".csv", ".csv.gz", ".parquet")):
        require(scores is None, "the score table holds its scores: leave scores= out")
        return mapped(read_frame(paths[0]), _RFW_TABLE) | {"distance": True}
    parts = [_rfw_race(one) for one in paths]
    out = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if len(paths) > 1:
        del out["lines"]
    return out | {
        "score": read_scores(scores, len(out["genuine"]), ", ".join(one.name for one in paths))
    }


def _rfw_race(path: Path) -> dict:
    """One race's protocol; image names carry the race, because 13 people stand under two races."""
    race = path.name.removesuffix(".gz").removesuffix(".txt").removesuffix("_pairs")
    with named(path):
        out = _numbered_pairs(
            read_text(path, "name n1 other [n2]", "id n1 n2, or idA n1 idB n2"), BLOCK
        )
    out |= {side: np.char.add(f"{race}/", out[side]) for side in SIDES}
    return out | {"ethnicity": np.full(len(out["lines"]), race)}


def read_vectors(path, scores=None) -> dict:
    """Genuine scores and impostor scores: path and scores=, or a pair of paths."""
    both = (path, scores) if scores is not None else path
    two = isinstance(both, (tuple, list)) and len(both) == 2
    require(two, "two files are needed: open_pairs((genuine, impostor), format='vectors')")
    return two_vectors(*(score_lines(Path(one)) for one in both))


def two_vectors(*parts: np.ndarray) -> dict:
    """Genuine scores, then impostor scores."""
    return {
        "score": np.concatenate(parts),
        "genuine": np.repeat([True, False], [len(part) for part in parts]),
    }


def read_json(path, columns=None) -> dict:
    """JSON: {probe: {reference: score}}, or one such for each model; {"genuine": [...], "impostor": [...]}; or a table,
    as a list of objects or an object of lists, whose columns go by names of `frkit.pairs` or by the caller's mapping.
    """
    with reading("the JSON"), open_text(Path(path)) as file:
        data = json.load(file, object_pairs_hook=_distinct)
    require(
        isinstance(data, (dict, list)) and len(data) > 0, "holds no mapping and no list of scores"
    )
    values = list(data.values()) if isinstance(data, dict) else data
    one = type(values[0])
    require(all(isinstance(value, one) for value in values) and one in (dict, list), _JSON_FORMS)
    if isinstance(data, dict) and one is dict:
        require(columns is None, "a mapping of names has no columns: leave columns= out")
        deep = all(isinstance(value, dict) for inner in values for value in inner.values())
        return _nested(data if deep else {"": data})
    if isinstance(data, dict) and {name.lower() for name in data} == {"genuine", "impostor"}:
        parts = {
            name.lower(): scores_in(pd.DataFrame({"score": scores}), "score")
            for name, scores in data.items()
        }
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
        model: {
            (probe, reference): score
            for probe, row in rows.items()
            for reference, score in row.items()
        }
        for model, rows in models.items()
    }
    names, first = next(iter(flat)), next(iter(flat.values()))
    require(len(first) > 0, "holds no score")
    odd = [model for model, scores in flat.items() if scores.keys() != first.keys()]
    require(not odd, f"models {names!r} and {listed(odd[:1])} did not score the same pairs")
    table = pd.DataFrame(
        {model: [scores[pair] for pair in first] for model, scores in flat.items()}, dtype=object
    )
    scores = {model: scores_in(table, model) for model in table}
    probe, reference = (np.array(side, str) for side in zip(*first))
    return {"score": scores if "" not in scores else scores[""], PROBE: probe, REFERENCE: reference}


PAIR_FORMATS = {
    "rfw": read_rfw,
    "lfw": read_lfw,
    "bfw": read_bfw,
    "bob4": partial(read_bob, "claimed_id real_id probe score", "claimed_id"),
    "bob5": partial(read_bob, "claimed_id model_label real_id probe score", "model_label"),
    "bob-csv": read_bob_csv,
    "voxceleb": partial(read_trials, "label enrol test"),
    "kaldi": partial(read_trials, "enrol test label"),
    "ijbc": read_ijbc,
    "columns": read_mapped,
    "vectors": read_vectors,
    "json": read_json,
}
