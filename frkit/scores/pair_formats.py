"""The field's formats of scored pairs as presets: a table, and what its columns are.

A reader returns a table, the roles of its columns, and its rule of who is who ("linked": names that
genuine pairs link are one person, where names do not say who it is; "models": references are models
and no images; "repeats": a name may stand for two images, as in RFW, where 13 people stand under
two races).
"""

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import listed, require, warn
from frkit.data.arrays import is_table
from frkit.data.files import file_kind, named, not_read, reading
from frkit.data.names import NAMES, simplified, words_of_truth
from frkit.data.opening import TABLES, read_columns
from frkit.data.roles import SIDES, WHO
from frkit.data.tables import (
    by_row,
    is_number,
    is_number_column,
    open_text,
    read_frame,
    refuse_cells,
    text_layout,
    to_numbers,
)

LINES = {  # the cells of a line without a header
    "voxceleb": "genuine reference probe",
    "ijbc": "probe reference genuine",
    "kaldi": "reference probe genuine",
    "speechbrain": "reference probe genuine score",
    "pyeer": "probe reference score",
    "pairs-score-label": "probe reference score genuine",
    "label-pairs-score": "genuine reference probe score",
    "score-label": "score genuine",
    "label-score": "genuine score",
    "bob4": "reference_identity probe_identity probe score",
    "bob5": "reference_identity reference probe_identity probe score",
}
WITHOUT_SCORES = ("lfw", "voxceleb", "kaldi", "ijbc")
RFW_TABLE = {
    "probe": "img_1",
    "reference": "img_2",
    "probe_identity": "id_1",
    "reference_identity": "id_2",
    "genuine": "label",
    "distance": "dist",
    "ethnicity": "ethnicity",
}
RFW_NO_GROUP = "ambiguous"
BFW_TABLE = {
    "probe": "p1",
    "reference": "p2",
    "probe_identity": "id1",
    "reference_identity": "id2",
    "genuine": "label",
    "subgroup": ["att1", "att2"],
    "gender": ["g1", "g2"],
    "ethnicity": ["e1", "e2"],
}
BFW_OTHERS = ("fold", "a1", "a2", "")
BOB_SIDES = {"probe": "probe_", "reference": "bio_ref_"}
BOB_NAMES = ("reference_id", "key", "template_id")  # columns that name an image, the first one wins
TWO_KINDS = {"score": "score", "genuine": "genuine"}
BONA_FIDE = ("", "nan", "bonafide", "none", "licit", "0")
HEADERS = {  # columns that a table of this format has
    "rfw": {*RFW_TABLE.values()},
    "bfw": {"p1", "p2", "id1", "id2", "label", "att1", "att2"},
    "bob-csv": {"probe_subject_id", "bio_ref_subject_id", "score"},
}
JSON = (
    "JSON must contain {probe: {reference: score}}, {model: {probe: {reference: score}}}, "
    "{'genuine': [...], 'impostor': [...]}, or a table as a list of objects or an object of lists"
)


# --- which format it is --------------------------------------------------------------------------


def recognised_format(path):
    """Return the format of lines without a header whose content leaves no doubt, else None."""
    layout = text_layout(path)
    rows = [layout.names, *layout.rows] if layout.has_header else layout.rows
    if _are_numbered_pairs(rows):
        return "lfw"
    if layout.has_header or len({len(row) for row in rows}) > 1:
        return None
    contents = [_content(cells) for cells in zip(*rows)]
    if contents == ["whole", "whole", "genuine"]:
        return "ijbc"
    shape = ["name" if content in ("whole", "text") else content for content in contents]
    if contents[-1] == "whole":
        shape[-1] = "score"
    formats = {tuple(map(_content_of_role, roles.split())): name for name, roles in LINES.items()}
    return formats.get(tuple(shape))


def format_of_header(header):
    """Return the format of which a table has the columns, else None."""
    return next((name for name, columns in HEADERS.items() if columns <= {*header}), None)


def _content_of_role(role):
    """Return what cells of a role contain."""
    return role if role in ("genuine", "score") else "name"


def _content(cells):
    """Return what a column contains: words of truth, whole numbers, scores, or text."""
    is_genuine, is_impostor = words_of_truth(pd.Series(cells))
    if (is_genuine | is_impostor).all():
        return "genuine"
    if all(is_number(cell) for cell in cells):
        return "whole" if all(cell.lstrip("+-").isdigit() for cell in cells) else "score"
    return "text"


def _are_numbered_pairs(rows):
    """Return whether lines are those of LFW: name n1 n2, or name n1 other n2."""
    pairs = rows[_is_count(rows[0]) :]
    lengths = {len(row) for row in pairs}
    return {3} <= lengths <= {3, 4} and all(
        row[1].isdigit() and row[-1].isdigit() and not row[0].isdigit() for row in pairs
    )


def _is_count(cells):
    """Return whether the first line of a list as LFW's says how many pairs follow."""
    return len(cells) < 3 and all(cell.isdigit() for cell in cells)


# --- text ----------------------------------------------------------------------------------------


def read_table(path):
    """Read any table, or arrays of one length, whose columns are guessed or named."""
    if file_kind(path) in TABLES:
        return read_frame(path), {}, ""
    columns = read_columns(path)
    require(is_table(columns), f"its arrays {listed(columns)} have different lengths or shapes")
    columns = {name: column for name, column in columns.items() if np.ndim(column) == 1}
    return by_row(pd.DataFrame(columns)), {}, ""


def read_lines(format, path):
    """Read lines without a header, whose cells have known roles; a header is passed over."""
    roles = LINES[format].split()
    # a label, of which nothing says that 1 is genuine
    names = ["label" if role == "genuine" else role for role in roles]
    layout = text_layout(path)
    require(
        len(layout.names) == len(names),
        f"a line has {len(layout.names)} cells; a line of {format} is: {LINES[format]}",
    )
    table = read_frame(path, None if layout.has_header else names).set_axis(names, axis=1)
    columns = dict(zip(roles, names))
    if "reference_identity" in columns:
        columns.setdefault("reference", "reference_identity")
        return table, columns, "models"
    return table, columns, "linked"


def read_bfw(path):
    """Read BFW's data table; by default all other numbers are scores."""
    table = read_frame(path)
    preset = {}
    others = table.columns.difference(BFW_OTHERS, sort=False)
    for role, source in BFW_TABLE.items():
        columns = source if isinstance(source, list) else [source]
        others = others.difference(columns, sort=False)
        if {*columns} <= {*table}:
            preset[role] = source
    preset["score"] = [name for name in others if is_number_column(table[name])]
    not_read(others.difference(preset["score"]), "no numbers")
    return table, preset, ""


def read_rfw(path):
    """Read RFW: a score table, one `<Race>_pairs.txt`, several, or a folder of them."""
    paths = [Path(path)] if isinstance(path, (str, Path)) else [Path(race) for race in path]
    if paths[0].is_dir():
        paths = sorted(paths[0].rglob("*_pairs.txt"))
        require(len(paths) > 0, "there is no <Race>_pairs.txt in this folder")
    if paths[0].name.lower().endswith((".csv", ".csv.gz", ".parquet")):
        table = read_frame(paths[0])
        return _without_no_group(table) if "ethnicity" in table else table, RFW_TABLE, "repeats"
    races = []
    for path in paths:
        with named(path):
            race = path.name.removesuffix(".gz").removesuffix("_pairs.txt")
            races.append(_numbered_pairs(path, race).assign(ethnicity=race))
    table = pd.concat(races, ignore_index=True)
    return table, {name: name for name in table}, ""


def _without_no_group(table):
    """Return RFW's table without the labels that say no group, which are counted."""
    is_unclear = table["ethnicity"] == RFW_NO_GROUP
    if is_unclear.any():
        warn(
            f"{is_unclear.sum()} pairs have no clear label ({RFW_NO_GROUP!r}): they count in "
            "global rates and in no group of that attribute"
        )
    return table.assign(ethnicity=table["ethnicity"].mask(is_unclear))


def read_lfw(path):
    """Read LFW's pairs.txt, or a list of one's own in its form."""
    table = _numbered_pairs(Path(path))
    return table, {name: name for name in table}, ""


def _numbered_pairs(path, race=None):
    """Return pairs `name n1 n2`, which are genuine, and `nameA n1 nameB n2`.

    Images are in the folder of the person, or of the race: 13 people stand under two races.
    """
    lines = {}
    with reading("the list"), open_text(path) as file:
        for number, line in enumerate(file, 1):
            cells = [cell.strip() for cell in line.split("\t" if "\t" in line else None)]
            if line.strip() and (lines or not _is_count(cells)):
                require(
                    len(cells) in (3, 4),
                    f"line {number} has {len(cells)} cells; a line is: name n1 n2, or name n1 "
                    "other n2",
                )
                lines[number] = cells if len(cells) == 4 else [*cells[:2], cells[0], cells[2]]
    require(len(lines) > 0, "the list has no pair")
    table = pd.DataFrame.from_dict(lines, "index", columns=["name", "n1", "other", "n2"], dtype=str)
    pairs = pd.DataFrame({"genuine": (table.name == table.other).astype(int)})
    for side, identity, name, number in zip(SIDES, WHO, ("name", "other"), ("n1", "n2")):
        people, numbers = table[name], table[number]
        refuse_cells(numbers, ~numbers.str.fullmatch("[0-9]+").to_numpy(), "is no image number")
        pairs[side] = (race or people) + "/" + people + "_" + numbers.str.zfill(4) + ".jpg"
        pairs[identity] = people
    return pairs


def read_bob_csv(path):
    """Read bob's CSV: genuine where the subject ids are equal; other columns are attributes."""
    table = _without_attacks(read_frame(path))
    roles = {"score": "score"}
    fields = table.columns.str.extract(r"^(?:probe|bio_ref)_(.*)", expand=False).dropna()
    for name in fields.unique().drop(["subject_id", *BOB_NAMES], errors="ignore"):
        sides = [f"{prefix}{name}" for prefix in BOB_SIDES.values()]
        roles[name] = [side if side in table else None for side in sides]
    for side, prefix in BOB_SIDES.items():
        names = [f"{prefix}{name}" for name in (*BOB_NAMES, "subject_id")]
        roles[f"{side}_identity"] = f"{prefix}subject_id"
        roles[side] = next((name for name in names if name in table), None)
    return table, roles, "models"


def _without_attacks(table):
    """Return a table without presentation attacks, which are counted."""
    attacks = [name for name in table if simplified(name).endswith("attacktype")]
    is_attack = pd.Series(False, table.index)
    for name in attacks:
        types = table[name].astype(object).fillna("").map(simplified)
        is_attack |= ~types.isin(BONA_FIDE)
    if is_attack.any():
        warn(f"{is_attack.sum():,} rows of presentation attacks are left out")
    return table[~is_attack].drop(columns=attacks)


def read_vectors(path):
    """Read genuine scores and impostor scores from two files, or from two arrays of one."""
    if isinstance(path, Path):
        table = two_kinds(read_columns(path))
        require(table is not None, "it must have genuine and impostor scores, and nothing else")
        return table, TWO_KINDS, ""
    require(len(path) == 2, "two files are needed, a pair of paths: (genuine, impostor)")
    scores = []
    for file in path:
        with named(file):
            scores.append(to_numbers(read_frame(Path(file), ["score"])["score"]))
    return _table_of_kinds(*scores), TWO_KINDS, ""


def kinds_of_scores(names):
    """Return the names of genuine and of impostor scores, where a file has just these; or None."""
    names = [name for name in names if name]
    kinds = {}
    for name in names:
        stem = re.sub("scores?$", "", simplified(name))
        kinds |= {kind: name for kind in ("genuine", "impostor") if stem in NAMES[kind]}
    return kinds if len(names) == len(kinds) == 2 else None


def two_kinds(columns):
    """Return a table of pairs from a column of genuine and one of impostor scores, else None."""
    kinds = kinds_of_scores(columns)
    if kinds is None:
        return None
    scores = []
    for kind in ("genuine", "impostor"):
        column = pd.Series(columns[kinds[kind]]).rename(kinds[kind])
        # blanks at the end fill the shorter column of a table
        scores.append(to_numbers(column.loc[: column.last_valid_index()]))
    is_flag = all(np.isin(values, [0, 1]).all() for values in scores)
    return None if is_flag else _table_of_kinds(*scores)


def _table_of_kinds(genuine, impostor):
    """Return a table of genuine and of impostor scores."""
    tables = [
        pd.DataFrame({"score": genuine, "genuine": 1}),
        pd.DataFrame({"score": impostor, "genuine": 0}),
    ]
    return pd.concat(tables, ignore_index=True)


# --- JSON ----------------------------------------------------------------------------------------


def read_json(path):
    """Read scores nested by names, of one model or several; two lists of scores; or a table."""
    with reading("the JSON"), open_text(path) as file:
        data = json.load(file, object_pairs_hook=_object)
    if isinstance(data, dict):
        lists = [value for value in data.values() if isinstance(value, list)]
        if len(lists) == 1 and lists[0] and isinstance(lists[0][0], dict):
            data = lists[0]  # records, with facts about all of them around
        elif data and all(isinstance(value, dict) for value in data.values()):
            return _nested(data)
        elif {*data} == {"genuine", "impostor"}:
            with reading("the JSON"):
                return _table_of_kinds(**data), TWO_KINDS, ""
    with reading("the JSON"):
        is_list = isinstance(data, list)
        table = pd.json_normalize(data, sep="_") if is_list else pd.DataFrame(data)
    require(len(table) > 0 and len(table.columns) > 1, JSON)
    return by_row(table), {}, ""


def _object(pairs):
    """Return an object of JSON; a name that stands twice would hide the first."""
    data = dict(pairs)
    require(len(data) == len(pairs), f"a name occurs twice in the object of {listed(data)}")
    return data


def _nested(data):
    """Return the scores of {probe: {reference: score}}, or of several such by model."""
    has_models = all(isinstance(value, dict) for rows in data.values() for value in rows.values())
    scores = {}
    for model, rows in (data if has_models else {"score": data}).items():
        pairs = {(probe, name): rows[probe][name] for probe in rows for name in rows[probe]}
        scores[model] = pd.Series(pairs, dtype=object)
    table = pd.DataFrame(scores)
    require(len(table) > 0, JSON)
    is_same = all(len(scores_of_model) == len(table) for scores_of_model in scores.values())
    require(is_same, f"models {listed(scores)} did not score the same pairs")
    table.index.names = SIDES
    roles = {side: side for side in SIDES}
    roles["score"] = {name: name for name in scores} if has_models else "score"
    return by_row(table.reset_index()), roles, ""


PAIR_FORMATS: dict[str, Callable] = {
    "rfw": read_rfw,
    "lfw": read_lfw,
    "bfw": read_bfw,
    "bob-csv": read_bob_csv,
    **{format: partial(read_lines, format) for format in LINES},
    "columns": read_table,
    "vectors": read_vectors,
    "json": read_json,
}
