"""The field's formats of scored pairs as arguments of `frkit.pairs`."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from frkit.base import require
from frkit.data.files import named, not_read
from frkit.data.tables import read_frame, read_text, refuse_cells
from frkit.scores.pair_columns import IDENTITIES, NAMES, SIDES, mapped, read_scores, score_lines
from frkit.scores.pair_json import read_json, two_vectors

RFW_TABLE = {
    "probe": "img_1",
    "reference": "img_2",
    "probe_identity": "id_1",
    "reference_identity": "id_2",
    "genuine": "label",
    "score": "dist",
    "ethnicity": "ethnicity",
}
BFW_TABLE = {
    "probe": "p1",
    "reference": "p2",
    "probe_identity": "id1",
    "reference_identity": "id2",
    "genuine": "label",
}
BFW_ATTRIBUTES = {"subgroup": ("att1", "att2"), "gender": ("g1", "g2"), "ethnicity": ("e1", "e2")}
BFW_OTHERS = ("fold", "a1", "a2", "")
BOB_SIDES = {"probe": "probe_", "reference": "bio_ref_"}
BOB_NAMES = ("template_id", "key", "reference_id")  # columns that name an image, the last one first
SPEAKER = r"/.*|^([^-/]*)-[^/]*$"  # what follows a speaker: a folder's slash, or Kaldi's hyphen


def read_mapped(path, columns=None) -> dict:
    """Read any table, by the caller's mapping."""
    words = "format 'columns' needs columns={'score': ..., 'genuine': ..., ...}"
    is_mapping = isinstance(columns, Mapping) and "score" in columns
    require(is_mapping, f"{words}: names of frkit.pairs to columns")
    return mapped(read_frame(Path(path)), columns)


def read_bfw(path, columns=None) -> dict:
    """Read BFW's data table; columns= names the encoders, by default all other numbers."""
    table = read_frame(Path(path))
    attributes = {name: both for name, both in BFW_ATTRIBUTES.items() if set(both) <= set(table)}
    if columns is None:
        usual = [*BFW_TABLE.values(), *BFW_OTHERS, *sum(BFW_ATTRIBUTES.values(), ())]
        others = table.drop(columns=usual, errors="ignore")
        is_number = pd.to_numeric(others.iloc[0], errors="coerce").notna()
        not_read(others.columns[~is_number], "no numbers")
        columns = [*others.columns[is_number]]
    scores = [columns] if isinstance(columns, str) else columns
    return mapped(table, {**BFW_TABLE, **attributes, "score": scores})


def read_bob_csv(path) -> dict:
    """Read bob's CSV: genuine where the subject ids are equal; other columns are attributes."""
    table = read_frame(Path(path))
    columns = {"score": "score"}
    fields = table.columns.str.extract(r"^(?:probe|bio_ref)_(.*)", expand=False).dropna()
    for name in fields.unique().drop(["subject_id", *BOB_NAMES], errors="ignore"):
        sides = [f"{prefix}{name}" for prefix in BOB_SIDES.values()]
        columns[name] = [side if side in table else None for side in sides]
    for side, prefix in BOB_SIDES.items():
        names = [f"{prefix}{name}" for name in BOB_NAMES]
        columns[side] = next((name for name in names if name in table), names[0])
        columns[f"{side}_identity"] = f"{prefix}subject_id"
    return _with_models(mapped(table, columns))


def _with_models(columns):
    """Rename bob's references, which are models and no images, whatever their names."""
    return columns | {"reference": "model " + columns["reference"]}


def read_bob(fields: str, model: str, path) -> dict:
    """Read bob's 4 or 5 columns."""
    columns = dict(zip(NAMES, ("probe", model, "real_id", "claimed_id")))
    return _with_models(mapped(read_text(Path(path), fields), columns | {"score": "score"}))


def read_trials(fields: str, path, scores=None) -> dict:
    """Read trials of speakers with a file of scores: in their order, or by names of both sides."""
    table = read_text(Path(path), fields)
    for side in ("test", "enrol"):
        table[f"{side} speaker"] = table[side].str.replace(SPEAKER, r"\1", regex=True)
    columns = dict(zip(NAMES, ("test", "enrol", "test speaker", "enrol speaker")))
    out = mapped(table, columns | {"genuine": "label"})
    return out | {"score": read_scores(scores, len(table), table[["enrol", "test"]])}


def read_ijbc(path, scores=None) -> dict:
    """Read IJB-C in InsightFace's form, `tid1 tid2 label`.

    The file names no people: templates that genuine pairs link, directly or by way of others, are
    one person.
    """
    columns = {"genuine": "label", "probe": "tid1", "reference": "tid2"}
    out = mapped(read_text(Path(path), "tid1 tid2 label"), columns)
    template, names = pd.factorize(np.concatenate([out[side] for side in SIDES]))
    both = template.reshape(2, -1)
    links = both[:, out["genuine"]]
    graph = coo_array((np.ones(links.shape[1]), links), shape=(len(names), len(names)))
    _, component = connected_components(graph, directed=False)
    person = np.char.add("person ", component.astype(str))
    out |= dict(zip(IDENTITIES, person[both]))
    return out | {"score": read_scores(scores, both.shape[1])}


def read_lfw(path, scores=None) -> dict:
    """Read LFW's pairs.txt with a file of scores in the same order."""
    table = read_text(Path(path), "name [n1 other n2]")
    is_head = table.iloc[0].dropna().str.fullmatch("[0-9]+").all()
    require(is_head, f"line {table.index[0]} must be the number of folds and of pairs a fold")
    out = _numbered_pairs(table.iloc[1:])
    return out | {"score": read_scores(scores, len(table) - 1)}


def _numbered_pairs(table, race=None):
    """Return pairs `name n1 n2`, which are genuine, and as many `nameA n1 nameB n2`.

    Images are in the folder of the person, or of the race: 13 people stand under two races.
    """
    genuine = table.n2.isna()
    words = f"half of the lines must be genuine (3 fields), but {genuine.sum()} of {len(table)} are"
    require(2 * genuine.sum() == len(table), words)
    people = (table.name, table.other.mask(genuine, table.name))
    numbers = (table.n1, table.n2.fillna(table.other))
    out = {"genuine": genuine.to_numpy(bool)}
    for side, identity, person, number in zip(SIDES, IDENTITIES, people, numbers):
        refuse_cells(number, ~number.str.fullmatch("[0-9]+", na=False), "is no image number")
        folder = race or person
        out[side] = (folder + "/" + person + "_" + number.str.zfill(4) + ".jpg").to_numpy(object)
        out[identity] = person.to_numpy(object)
    return out


def read_rfw(path, scores=None) -> dict:
    """Read RFW: a score table, one `<Race>_pairs.txt`, several, or a folder of them."""
    paths = [Path(path)] if isinstance(path, (str, Path)) else [Path(race) for race in path]
    if paths[0].is_dir():
        paths = sorted(paths[0].rglob("*_pairs.txt"))
        require(len(paths) > 0, "there is no <Race>_pairs.txt in this folder")
    if paths[0].name.lower().endswith((".csv", ".csv.gz", ".parquet")):
        require(scores is None, "the score table contains its scores: leave scores= out")
        return mapped(read_frame(paths[0]), RFW_TABLE) | {"distance": True}
    races = pd.concat([_rfw_race(race) for race in paths])
    out = {name: races[name].to_numpy() for name in races}
    out["attributes"] = {"ethnicity": out.pop("ethnicity")}
    return out | {"score": read_scores(scores, len(races))}


def _rfw_race(path):
    """Read the protocol of one race."""
    race = path.name.removesuffix(".gz").removesuffix("_pairs.txt")
    with named(path):
        pairs = _numbered_pairs(read_text(path, "name n1 other [n2]"), race)
    return pd.DataFrame(pairs).assign(ethnicity=race)


def read_vectors(path, scores=None) -> dict:
    """Read genuine scores and impostor scores: path and scores=, or a pair of paths."""
    both = (path, scores) if scores is not None else path
    two = isinstance(both, (tuple, list)) and len(both) == 2
    require(two, "two files are needed: open_pairs((genuine, impostor), format='vectors')")
    return two_vectors(*(score_lines(Path(file)) for file in both))


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
