"""What a file contains: a table, or arrays by name; and lists of pairs in the field's forms.

A form is recognised by its header, or by the cells of its first lines. It says what the columns
are, and who is who where they do not: "linked" (names that genuine pairs link are one person),
"models" (references are models and no images) or "repeats" (a name may mean two images, as in RFW,
where 13 people are listed under two races).
"""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import listed, real_numbers, require, warn
from frkit.data.files import file_kind, named, not_read, open_text, reading
from frkit.data.labels import stripped
from frkit.data.sides import SIDES, WHO
from frkit.io.arrays import READERS, are_vectors_by_name, read_npy, vectors_by_name
from frkit.io.cells import as_numbers, is_number_column, refuse_cells, to_numbers
from frkit.io.frames import read_frame
from frkit.io.json_files import by_row, read_json
from frkit.io.names import are_attacks, kinds_of_scores, simplified, words_of_truth
from frkit.io.text import text_layout, warn_of_comments

TABLES = ("text", "parquet", "json lines", "frame")
OF_FACES = ("netcdf", "folder")  # files that contain embeddings and nothing else
HEAD = 100  # lines that show what cells contain
SIDES_OF_LINES = {  # what the names in a line without a header are, by how many there are
    0: (),
    2: SIDES,
    3: ("reference_identity", "probe_identity", "probe"),  # of bob, four columns
    4: ("reference_identity", "reference", "probe_identity", "probe"),  # five columns
}
RFW = {
    "probe": "img_1",
    "reference": "img_2",
    "probe_identity": "id_1",
    "reference_identity": "id_2",
    "genuine": "label",
    "distance": "dist",
    "ethnicity": "ethnicity",
}
BFW = {
    "probe": "p1",
    "reference": "p2",
    "probe_identity": "id1",
    "reference_identity": "id2",
    "genuine": "label",
    "subgroup": ("att1", "att2"),
}
MORE_OF_BFW = {"gender": ("g1", "g2"), "ethnicity": ("e1", "e2")}
NO_SCORES_OF_BFW = ("fold", "a1", "a2", "")
BOB = {
    "probe_identity": "probe_subject_id",
    "reference_identity": "bio_ref_subject_id",
    "score": "score",
}
# of bob's columns of a side, the first that is present names its image
IMAGES_OF_BOB = ("reference_id", "key", "template_id", "subject_id")
RFW_NO_GROUP = "ambiguous"
BONA_FIDE = ("", "nan", "bonafide", "none", "licit", "0")


@dataclass
class Contents:
    """What a file contains.

    Attributes
    ----------
    path : Path or pd.DataFrame
    data : pd.DataFrame or dict of array
        A table, or arrays by name.
    kind : str
        "faces" or "pairs" where the form of the file says it, else "".
    roles : dict
        Roles of columns in a form of pairs, for `columns=`.
    who : str
        How a form of pairs says who is who; else "".
    """

    path: Path | pd.DataFrame
    data: pd.DataFrame | dict
    kind: str = ""
    roles: dict = field(default_factory=dict)
    who: str = ""

    def is_table(self):
        """Return whether it is a table."""
        return isinstance(self.data, pd.DataFrame)


def read_contents(path, options):
    """Read a file, or take a DataFrame.

    options : of `open_data`; its kind may be the name of a form.
    """
    kind = options.get("kind", "")
    require(
        kind in ("", "faces", "matrix", "pairs", *FORMS),
        f"kind must be 'faces', 'matrix', 'pairs' or a form ({', '.join(FORMS)}), got {kind!r}",
    )
    if kind in FORMS:
        return FORMS[kind](path)
    contents = _read(path)
    contents.kind = kind or contents.kind
    if not contents.is_table() or kind in ("faces", "matrix"):
        return contents
    columns = options.get("columns") or {}
    are_given = any(str(name).isdigit() for name in columns.values())
    is_text = file_kind(path) == "text"
    if is_text and not are_given and [*contents.data] == _numbered(contents.data):
        return _lines(contents)
    if not columns and not kind:
        for form, roles in ((_rfw_table, RFW), (_bfw_table, BFW), (_bob_table, BOB)):
            if len(_present(roles, contents.data)) == len(roles):
                return form(contents)
    return contents


def _read(path):
    """Read a table or arrays; lines in LFW's form become a table of pairs."""
    kind = file_kind(path)
    if kind == "text" and _has_numbered_pairs(path):
        return read_lfw(path)
    if kind in TABLES:
        return Contents(path, read_frame(path))
    require(
        kind != "zarr",
        "embeddings in a Zarr store are opened by fk.faces(xr.open_zarr(path)), which reads them "
        "when they are compared",
    )
    data = read_json(path) if kind == "json" else READERS[kind](path)
    is_of_faces = kind in OF_FACES
    if isinstance(data, dict) and are_vectors_by_name(data):
        data, is_of_faces = vectors_by_name(data), True
    is_of_faces |= kind == "json" and isinstance(data, dict)
    return Contents(path, data, "faces" if is_of_faces else "")


def first_rows(path):
    """Return the first rows of a table; None of arrays."""
    kind = file_kind(path)
    return read_frame(path).head() if kind in TABLES else None


def table_of(contents):
    """Return a table, or arrays of one length as one."""
    if contents.is_table():
        return contents.data
    arrays = contents.data
    columns = {name: pd.Series(array) for name, array in arrays.items() if np.ndim(array) == 1}
    lengths = {name: len(column) for name, column in columns.items()}
    longest = max(lengths.values(), default=0)
    require(longest > 0, f"its arrays {listed(arrays)} are no columns of a table")
    if not kinds_of_scores(columns):  # which may differ in length
        shorter = [name for name, length in lengths.items() if length < longest]
        not_read(shorter, f"they are shorter than others, which have {longest:,} entries")
        columns = {name: column for name, column in columns.items() if name not in shorter}
    return by_row(pd.DataFrame(columns))


# --- lines without a header -----------------------------------------------------------------------


def _numbered(table):
    """Return the names that columns of a text without a header have."""
    return [str(place + 1) for place in range(len(table.columns))]


def _lines(contents):
    """Return lines of names of two sides, perhaps a score, and perhaps words of truth.

    Other lines, such as those of embeddings, are returned as they are.
    """
    table = contents.data
    head = table.head(HEAD)
    if any(are_attacks(head[name]).any() for name in head):  # its names are no two images
        return contents
    cells = {name: _cells(head[name]) for name in head}
    truths, scores, wholes, texts = (
        [name for name in table if cells[name] == kind]
        for kind in ("truth", "score", "whole", "text")
    )
    if not scores and len(wholes) == 1 and len(texts) > 1:
        scores, wholes = wholes, []  # whole scores beside names
    names = [name for name in table if name in wholes or name in texts]
    is_list = len(scores) + len(truths) > 0 and max(len(scores), len(truths)) < 2
    is_alone = not names and len(scores) + len(truths) < 2
    is_bob = len(names) > 2 and (truths or not scores)
    if not is_list or is_alone or is_bob or len(names) not in SIDES_OF_LINES:
        return contents
    sides = SIDES_OF_LINES[len(names)]
    if len(names) == 2 and truths:
        sides = sides[::-1]  # trials name the enrolled side first
    # a label, and nothing says that 1 is genuine
    named_cells = dict(zip(names, sides)) | dict.fromkeys(truths, "label")
    contents.data = table.rename(columns=named_cells | dict.fromkeys(scores, "score"))
    contents.roles = {side: side for side in sides}
    if scores:
        contents.roles["score"] = "score"
    if truths:
        contents.roles["genuine"] = "label"
    contents.kind, contents.who = "pairs", "linked"
    if len(names) > 2:
        contents.roles.setdefault("reference", "reference_identity")
        contents.who = "models"
    return contents


def _cells(column):
    """Return what cells contain: words of truth, whole numbers, scores, or text."""
    is_genuine, is_impostor = words_of_truth(column)
    if (is_genuine | is_impostor).all():
        return "truth"
    values, is_missing = as_numbers(column)
    if not (np.isfinite(values) | is_missing).all() or is_missing.all():
        return "text"
    return "score" if (values % 1 > 0).any() or is_missing.any() else "whole"


# --- forms with a name ----------------------------------------------------------------------------


def _present(roles, table):
    """Return the roles whose columns are in a table."""
    return {role: name for role, name in roles.items() if {*np.atleast_1d(name)} <= {*table}}


def read_rfw(path):
    """Read RFW: a table of scores, one `<Race>_pairs.txt`, or a folder of them."""
    if not isinstance(path, Path) or path.name.lower().endswith((".csv", ".csv.gz", ".parquet")):
        return _rfw_table(Contents(path, read_frame(path)))
    paths = sorted(path.rglob("*_pairs.txt")) if path.is_dir() else [path]
    require(len(paths) > 0, "there is no <Race>_pairs.txt in this folder")
    races = []
    for each in paths:
        with named(each):
            race = each.name.removesuffix(".gz").removesuffix("_pairs.txt")
            races.append(_numbered_pairs(each, race).assign(ethnicity=race))
    table = pd.concat(races, ignore_index=True)
    return Contents(path, table, "pairs", {name: name for name in table})


def _rfw_table(contents):
    """Return RFW's table of scores; its label for unclear groups becomes blank, and is counted."""
    table = contents.data
    roles = _present(RFW, table)
    if "ethnicity" in table:
        is_unclear = table["ethnicity"] == RFW_NO_GROUP
        if is_unclear.any():
            warn(
                f"{is_unclear.sum()} pairs have no clear label ({RFW_NO_GROUP!r}): they count in "
                "global rates and in no group of that attribute"
            )
        table = table.assign(ethnicity=table["ethnicity"].mask(is_unclear))
    return Contents(contents.path, table, "pairs", roles, "repeats")


def read_bfw(path):
    """Read BFW's data table."""
    return _bfw_table(Contents(path, read_frame(path)))


def _bfw_table(contents):
    """Return BFW's table, of which by default all other numbers are scores."""
    table = contents.data
    roles = _present(BFW | MORE_OF_BFW, table)
    used = np.hstack([*roles.values(), NO_SCORES_OF_BFW])
    others = table.columns.difference(used, sort=False)
    roles["score"] = [name for name in others if is_number_column(table[name])]
    return Contents(contents.path, table, "pairs", roles)


def read_bob(path):
    """Read bob's scores: CSV, or lines of four or five columns."""
    contents = Contents(path, read_frame(path))
    is_lines = [*contents.data] == _numbered(contents.data)
    return _lines(contents) if is_lines else _bob_table(contents)


def _bob_table(contents):
    """Return bob's CSV: genuine where the subject ids are equal; other columns are attributes."""
    table = _without_presented_attacks(contents.data)
    roles = _present(BOB, table)
    for name in reversed(IMAGES_OF_BOB):
        roles |= _present({"probe": f"probe_{name}", "reference": f"bio_ref_{name}"}, table)
    fields = table.columns.str.extract(r"^(?:probe|bio_ref)_(.*)", expand=False).dropna().unique()
    for name in fields.drop([*IMAGES_OF_BOB], errors="ignore"):
        sides = [f"probe_{name}", f"bio_ref_{name}"]
        roles[name] = [side if side in table else None for side in sides]
    return Contents(contents.path, table, "pairs", roles, "models")


def _without_presented_attacks(table):
    """Return a table without presentation attacks; a warning counts them."""
    attacks = [name for name in table if simplified(name).endswith("attacktype")]
    is_attack = pd.Series(False, table.index)
    for name in attacks:
        types = table[name].astype(object).fillna("").map(simplified)
        is_attack |= ~types.isin(BONA_FIDE)
    if is_attack.any():
        warn(f"{is_attack.sum():,} rows of presentation attacks are left out")
    return table[~is_attack].drop(columns=attacks)


# --- LFW ------------------------------------------------------------------------------------------


def read_lfw(path):
    """Read LFW's pairs.txt, or another list of the same form."""
    table = _numbered_pairs(path)
    return Contents(path, table, "pairs", {name: name for name in table})


def _has_numbered_pairs(path):
    """Return whether lines are those of LFW: name n1 n2, or name n1 other n2."""
    layout = text_layout(path)
    rows = [layout.names, *layout.rows] if layout.has_header else layout.rows
    pairs = rows[_is_count(rows[0]) :]
    lengths = {len(row) for row in pairs}
    return {3} <= lengths <= {3, 4} and all(
        row[1].isdigit() and row[-1].isdigit() and not row[0].isdigit() for row in pairs
    )


def _is_count(cells):
    """Return whether a line says how many pairs follow, as the first one of LFW's list does."""
    return len(cells) < 3 and all(cell.isdigit() for cell in cells)


def _numbered_pairs(path, race=None):
    """Return pairs `name n1 n2`, which are genuine, and `nameA n1 nameB n2`.

    Images are in the folder of the person, or of the race: 13 people are listed under two races.
    """
    lines, comments = {}, []
    with reading("the list"), open_text(path) as file:
        for number, line in enumerate(file, 1):
            if line.startswith("#"):
                comments.append(number)
                continue
            cells = [stripped(cell) for cell in line.split("\t" if "\t" in line else None)]
            if line.strip() and (lines or not _is_count(cells)):
                require(
                    len(cells) in (3, 4),
                    f"line {number} has {len(cells)} cells; a line is: name n1 n2, or name n1 "
                    "other n2",
                )
                lines[number] = cells if len(cells) == 4 else [*cells[:2], cells[0], cells[2]]
    require(len(lines) > 0, "the list has no pair")
    if comments:
        warn_of_comments(comments)
    table = pd.DataFrame.from_dict(lines, "index", columns=["name", "n1", "other", "n2"], dtype=str)
    pairs = pd.DataFrame({"genuine": (table.name == table.other).astype(int)})
    for side, identity, name, number in zip(SIDES, WHO, ("name", "other"), ("n1", "n2")):
        people, numbers = table[name], table[number]
        refuse_cells(numbers, ~numbers.str.fullmatch("[0-9]+").to_numpy(), "is no image number")
        pairs[side] = (race or people) + "/" + people + "_" + numbers.str.zfill(4) + ".jpg"
        pairs[identity] = people
    return pairs


# --- genuine and impostor scores apart ------------------------------------------------------------


def read_two_kinds(genuine, impostor):
    """Read the scores of genuine pairs and those of impostor pairs from a file for each."""
    tables = {}
    for kind, path in (("genuine", genuine), ("impostor", impostor)):
        with named(path):
            tables[kind] = _names_and_scores(Path(path))
    if all({*SIDES} <= {*table} for table in tables.values()):
        both = [table.assign(genuine=int(kind == "genuine")) for kind, table in tables.items()]
        table = by_row(pd.concat(both, ignore_index=True))
        return Contents(table, table, "pairs", {name: name for name in table})
    scores = {kind: table["score"] for kind, table in tables.items()}
    table = by_row(pd.DataFrame(scores))
    return Contents(table, table, "pairs")


def _names_and_scores(path):
    """Return a table of the scores of a file, and of the names of two images if it has them."""
    if file_kind(path) == "npy":
        return pd.DataFrame({"score": real_numbers("scores", read_npy(path)).ravel()})
    table = read_frame(path)
    numbers = [name for name in table if is_number_column(table[name])] or [*table][:1]
    require(len(numbers) == 1, "must have one number in each line, the score")
    scores = pd.DataFrame({"score": to_numbers(table[numbers[0]].rename("score"))})
    names = table.drop(columns=numbers).reset_index(drop=True)
    return scores.join(names.set_axis(SIDES, axis=1)) if len(names.columns) == 2 else scores


def stacked_kinds(table):
    """Return a table of pairs from a column of genuine and one of impostor scores, else None."""
    kinds = kinds_of_scores(table)
    if kinds is None:
        return None
    tables = []
    for kind, is_genuine in (("genuine", 1), ("impostor", 0)):
        column = table[kinds[kind]]
        # blanks at the end fill the shorter column of a table
        scores = to_numbers(column.loc[: column.last_valid_index()])
        tables.append(pd.DataFrame({"score": scores, "genuine": is_genuine}))
    pairs = pd.concat(tables, ignore_index=True)
    return None if pairs["score"].isin([0, 1]).all() else pairs


FORMS = {"lfw": read_lfw, "rfw": read_rfw, "bfw": read_bfw, "bob": read_bob}
