"""The field's formats of scored pairs as presets: a table, and what its columns are.

A reader returns a table, the roles of its columns, and its rule of who is who ("linked": names that
genuine pairs link are one person, where names do not say who it is; "models": references are models
and no images; "repeats": a name may stand for two images, as in RFW, where 13 people stand under
two races).
"""

import json
from functools import partial
from pathlib import Path

import pandas as pd

from frkit.base import listed, require, warn
from frkit.data.files import named, not_read, reading
from frkit.data.names import simplified, words_of_truth
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

RFW_TABLE = {
    "probe": "img_1",
    "reference": "img_2",
    "probe_identity": "id_1",
    "reference_identity": "id_2",
    "genuine": "label",
    "distance": "dist",
    "ethnicity": "ethnicity",
}
BFW_TABLE = {
    "probe": "p1",
    "reference": "p2",
    "probe_identity": "id1",
    "reference_identity": "id2",
    "genuine": "label",
    "subgroup": ("att1", "att2"),
    "gender": ("g1", "g2"),
    "ethnicity": ("e1", "e2"),
}
BFW_OTHERS = ("fold", "a1", "a2", "")
BOB_SIDES = {"probe": "probe_", "reference": "bio_ref_"}
BOB_NAMES = ("reference_id", "key", "template_id")  # columns that name an image, the first one wins
BONA_FIDE = ("bonafide", "none", "licit", "0")
LINES = {  # cells of a line without a header, by their roles; ? for other cells
    "voxceleb": "genuine reference probe",
    "kaldi": "reference probe genuine",
    "ijbc": "probe reference genuine",
    "speechbrain": "reference probe genuine score",
    "pyeer": "probe reference score",
    "pairs-score-label": "probe reference score genuine",
    "label-pairs-score": "genuine reference probe score",
    "score-label": "score genuine",
    "label-score": "genuine score",
    "bob4": "reference_identity probe_identity probe score",
    "bob5": "reference_identity reference probe_identity probe score",
}
JSON = (
    "JSON must contain {probe: {reference: score}}, {model: {probe: {reference: score}}}, "
    "{'genuine': [...], 'impostor': [...]}, or a table as a list of objects or an object of lists"
)
WITHOUT_SCORES = ("lfw", "voxceleb", "kaldi", "ijbc")
SHAPES = {  # what the cells contain: T text or whole numbers, B truth, N numbers -> format
    "BTT": "voxceleb",
    "TTB": "kaldi",
    "TTBN": "speechbrain",
    "TTN": "pyeer",
    "TTNB": "pairs-score-label",
    "BTTN": "label-pairs-score",
    "NB": "score-label",
    "BN": "label-score",
    "TTTN": "bob4",
    "TTTTN": "bob5",
}
COLUMNS_OF_FORMATS = {  # columns that a table of this format has
    "rfw": {*RFW_TABLE.values()},
    "bfw": {"p1", "p2", "id1", "id2", "label", "att1", "att2"},
    "bob-csv": {"probe_subject_id", "bio_ref_subject_id", "score"},
}


def recognised_format(path):
    """Return the format of lines without a header whose content leaves no doubt, else None."""
    layout = text_layout(path)
    rows = [layout.names, *layout.rows] if layout.has_header else layout.rows
    if _are_numbered_pairs(rows):
        return "lfw"
    if layout.has_header or len({len(row) for row in rows}) > 1:
        return None
    shape = "".join(_content(cells) for cells in zip(*rows))
    if shape == "WWB":
        return "ijbc"
    shape = shape[:-1].replace("W", "T") + shape[-1].replace("W", "N")  # scores may be whole
    return SHAPES.get(shape)


def format_of_header(header):
    """Return the format of which a table has the columns, else None."""
    names = [name for name, columns in COLUMNS_OF_FORMATS.items() if columns <= {*header}]
    return names[0] if names else None


def _content(cells):
    """Return what a column contains: B truth, W whole numbers, N other numbers, T text."""
    is_genuine, is_impostor = words_of_truth(pd.Series(cells))
    if (is_genuine | is_impostor).all():
        return "B"
    if all(is_number(cell) for cell in cells):
        return "W" if all(cell.lstrip("+-").isdigit() for cell in cells) else "N"
    return "T"


def _are_numbered_pairs(rows):
    """Return whether lines are those of LFW: name n1 n2, or name n1 other n2."""
    is_head = len(rows[0]) < 3 and all(cell.isdigit() for cell in rows[0])
    pairs = rows[1:] if is_head else rows
    is_pair = [
        len(row) in (3, 4) and row[1].isdigit() and row[-1].isdigit() and not row[0].isdigit()
        for row in pairs
    ]
    return all(is_pair) and any(len(row) == 3 for row in pairs)


def read_table(path):
    """Read any table, whose columns are guessed or named."""
    return read_frame(path), {}, ""


def read_lines(format, path):
    """Read lines without a header, whose cells have known roles; a header is passed over."""
    roles = LINES[format].split()
    # a label, of which nothing says that 1 is genuine
    names = ["label" if role == "genuine" else role for role in roles]
    layout = text_layout(path)
    words = f"a line has {len(layout.names)} cells; a line of {format} is: {LINES[format]}"
    require(len(layout.names) == len(names), words)
    table = read_frame(path, None if layout.has_header else names)
    table.columns = names
    columns = dict(zip(roles, names))
    if "reference_identity" in columns:
        columns.setdefault("reference", "reference_identity")
    rule = "models" if format in ("bob4", "bob5") else "linked"
    return table, columns, rule


def read_bfw(path):
    """Read BFW's data table; by default all other numbers are scores."""
    table = read_frame(path)
    preset, usual = {}, {*BFW_OTHERS}
    for role, source in BFW_TABLE.items():
        columns = {source} if isinstance(source, str) else {*source}
        usual |= columns
        if columns <= {*table}:
            preset[role] = source
    others = table.columns.difference(usual, sort=False)
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
        return read_frame(paths[0]), RFW_TABLE, "repeats"
    races = []
    for path in paths:
        with named(path):
            race = path.name.removesuffix(".gz").removesuffix("_pairs.txt")
            races.append(_numbered_pairs(path, race).assign(ethnicity=race))
    table = pd.concat(races, ignore_index=True)
    return table, {name: name for name in table}, ""


def read_lfw(path):
    """Read LFW's pairs.txt, or a list of one's own in its form."""
    table = _numbered_pairs(Path(path))
    return table, {name: name for name in table}, ""


def _numbered_pairs(path, race=None):
    """Return pairs `name n1 n2`, which are genuine, and `nameA n1 nameB n2`.

    Images are in the folder of the person, or of the race: 13 people stand under two races.
    """
    rows = {}
    with reading("the list"), open_text(path) as file:
        for number, line in enumerate(file, 1):
            cells = [cell.strip() for cell in line.split("\t" if "\t" in line else None)]
            is_head = not rows and len(cells) < 3 and all(cell.isdigit() for cell in cells)
            if line.strip() and not is_head:
                words = f"line {number} has {len(cells)} cells; a line is: name n1 n2"
                require(len(cells) in (3, 4), f"{words}, or name n1 other n2")
                name, first, *other, second = cells
                rows[number] = name, first, *(other or [name]), second
    require(len(rows) > 0, "the list has no pair")
    table = pd.DataFrame.from_dict(rows, "index", columns=["name", "n1", "other", "n2"], dtype=str)
    out = pd.DataFrame(index=table.index)
    for side, identity, person, number in zip(SIDES, WHO, ("name", "other"), ("n1", "n2")):
        numbers = table[number]
        refuse_cells(numbers, ~numbers.str.fullmatch("[0-9]+").to_numpy(), "is no image number")
        folder = race or table[person]
        out[side] = folder + "/" + table[person] + "_" + numbers.str.zfill(4) + ".jpg"
        out[identity] = table[person]
    out["genuine"] = (table.name == table.other).astype(int)
    return out


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
        words = table[name].astype(object).fillna("").astype(str).map(simplified)
        is_attack |= ~words.isin(["", "nan", *BONA_FIDE])
    if is_attack.any():
        warn(f"{int(is_attack.sum()):,} rows of presentation attacks are left out")
    return table[~is_attack].drop(columns=attacks)


def read_vectors(path):
    """Read genuine scores and impostor scores from two files."""
    is_pair = isinstance(path, (tuple, list)) and len(path) == 2
    require(is_pair, "two files are needed, a pair of paths: (genuine, impostor)")
    scores = []
    for file in path:
        with named(file):
            scores.append(to_numbers(read_frame(Path(file), ["score"])["score"]))
    return two_kinds(*scores)


def two_kinds(genuine, impostor):
    """Return a table of genuine and of impostor scores."""
    tables = [
        pd.DataFrame({"score": scores, "genuine": kind})
        for scores, kind in ((genuine, 1), (impostor, 0))
    ]
    return pd.concat(tables, ignore_index=True), {"score": "score", "genuine": "genuine"}, ""


# --- JSON ----------------------------------------------------------------------------------------


def read_json(path):
    """Read scores nested by names, of one model or several; two lists of scores; or a table."""
    with reading("the JSON"), open_text(path) as file:
        data = json.load(file, object_pairs_hook=_object)
    if isinstance(data, dict) and data and all(isinstance(value, dict) for value in data.values()):
        return _nested(data)
    with reading("the JSON"):
        if isinstance(data, dict) and {*data} == {"genuine", "impostor"}:
            return two_kinds(**data)
        table = pd.DataFrame(data)
    require(len(table) > 0 and len(table.columns) > 1, JSON)
    return by_row(table), {}, ""


def _object(pairs):
    """Return an object of JSON; a name that stands twice would hide the first."""
    data = dict(pairs)
    require(len(data) == len(pairs), f"a name stands twice in the object of {listed(data)}")
    return data


def _nested(data):
    """Return the scores of {probe: {reference: score}}, or of several such by model."""
    has_models = all(isinstance(value, dict) for rows in data.values() for value in rows.values())
    models = {
        model: pd.Series(
            {(probe, name): rows[probe][name] for probe in rows for name in rows[probe]},
            dtype=object,
        )
        for model, rows in (data if has_models else {"score": data}).items()
    }
    table = pd.DataFrame(models)
    require(len(table) > 0, JSON)
    is_same = all(len(scores) == len(table) for scores in models.values())
    require(is_same, f"models {listed(models)} did not score the same pairs")
    table.index.names = SIDES
    roles = {"score": {name: name for name in models} if has_models else "score"}
    return by_row(table.reset_index()), roles | {side: side for side in SIDES}, ""


PAIR_FORMATS = {
    "rfw": read_rfw,
    "lfw": read_lfw,
    "bfw": read_bfw,
    "bob-csv": read_bob_csv,
    **{format: partial(read_lines, format) for format in LINES},
    "columns": read_table,
    "vectors": read_vectors,
    "json": read_json,
}
