"""What a file contains: a table, or arrays by name; and lists of pairs in the field's forms.

A form is recognised by its header, or by the cells of its first lines. It says what the columns
are, and who is who where they do not: "linked" (names that genuine pairs link are one person),
"models" (references are models and no images) or "repeats" (a name may mean two images, as in RFW,
where 13 people are listed under two groups).
"""

import csv
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
from frkit.io.json_files import by_row
from frkit.io.names import are_attacks, kinds_of_scores, words_of_truth
from frkit.io.text import text_layout, warn_of_comments

TABLES = ("text", "parquet", "json", "json lines", "frame")
OF_XARRAY = {  # files that xarray opens
    "zarr": "embeddings in a Zarr store are opened by fk.faces(xr.open_zarr(path)), which reads "
    "them when they are compared",
    "netcdf": "embeddings in a netCDF file are opened by fk.faces(xr.open_dataset(path)), and an "
    "evaluation by fk.open_evaluation(path)",
}
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
RFW_NO_GROUP = "ambiguous"
BOB = {
    "probe_identity": "probe_subject_id",
    "reference_identity": "bio_ref_subject_id",
    "score": "score",
}
# of bob's columns of a side, the first that is present names its image
IMAGES_OF_BOB = ("reference_id", "key", "template_id", "subject_id")


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
    """Read a file, or take a DataFrame; options : of `open_data`."""
    kind = options.get("kind", "")
    require(
        kind in ("", "faces", "matrix", "pairs"),
        f"kind must be 'faces', 'matrix' or 'pairs', got {kind!r}",
    )
    contents = _read(path)
    contents.kind = kind or contents.kind
    if not contents.is_table() or kind in ("faces", "matrix"):
        return contents
    table = contents.data
    columns = options.get("columns") or {}
    are_given = any(str(name).isdigit() for name in columns.values())
    if file_kind(path) == "text" and not are_given and [*table] == _numbered(table):
        return _lines(contents, "scores" in options)
    if {*RFW.values()} <= {*table}:
        return _rfw(contents)
    return _bob(contents) if {*BOB.values()} <= {*table} else contents


def _read(path):
    """Read a table or arrays; lines in LFW's form become a table of pairs."""
    kind = file_kind(path)
    if kind == "text" and _has_numbered_pairs(path):
        table = _numbered_pairs(path)
        return Contents(path, table, "pairs", {name: name for name in table})
    if kind in TABLES:
        return Contents(path, read_frame(path))
    require(kind not in OF_XARRAY, OF_XARRAY.get(kind, ""))
    arrays = {name: _flat(array) for name, array in READERS[kind](path).items()}
    are_vectors = are_vectors_by_name(arrays)
    if are_vectors:
        arrays = vectors_by_name(arrays)
    return Contents(path, arrays, "faces" if are_vectors or kind == "folder" else "")


def _flat(array):
    """Return names that are stored as one column, or as one row, in one dimension."""
    is_line = isinstance(array, np.ndarray) and array.ndim == 2 and 1 in array.shape
    return array.ravel() if is_line else array


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
    return [str(number + 1) for number in range(len(table.columns))]


def _lines(contents, are_scored):
    """Return lines of names of two sides, perhaps a score, and perhaps words of truth.

    Other lines, such as those of embeddings, are returned as they are.

    are_scored : whether another file has the scores
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
    is_list = len(scores) + len(truths) + are_scored > 0 and max(len(scores), len(truths)) < 2
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


def _rfw(contents):
    """Return RFW's table of scores; its label for unclear groups becomes blank, and is counted."""
    groups = contents.data["ethnicity"]
    is_unclear = groups == RFW_NO_GROUP
    if is_unclear.any():
        warn(
            f"{is_unclear.sum()} pairs have no clear label ({RFW_NO_GROUP!r}): they count in "
            "global rates and in no group of that attribute"
        )
    table = contents.data.assign(ethnicity=groups.mask(is_unclear))
    return Contents(contents.path, table, "pairs", RFW, "repeats")


def _bob(contents):
    """Return bob's CSV: genuine where the subject ids are equal; a reference is a model."""
    roles = dict(BOB)
    for side, mark in zip(SIDES, ("probe", "bio_ref")):
        names = [f"{mark}_{name}" for name in IMAGES_OF_BOB]
        roles[side] = next(name for name in names if name in contents.data)
    return Contents(contents.path, contents.data, "pairs", roles, "models")


# --- LFW ------------------------------------------------------------------------------------------


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


def _numbered_pairs(path):
    """Return pairs `name n1 n2`, which are genuine, and `nameA n1 nameB n2`."""
    with reading("the list"), open_text(path) as file:
        table = pd.read_csv(
            file,
            sep=text_layout(path).mark or r"\s+",
            names=["name", "n1", "other", "n2"],
            dtype=str,
            keep_default_na=False,
            skip_blank_lines=False,
            quoting=csv.QUOTE_NONE,
        )
    table = table.map(stripped)
    table.index += 1
    is_comment = table.name.str.startswith("#")
    if is_comment.any():
        warn_of_comments(table.index[is_comment])
    table = table[~is_comment & (table != "").any(axis=1)]
    if _is_count([cell for cell in table.iloc[0] if cell]):
        table = table.iloc[1:]
    is_of_one = table.n2 == ""
    table.n2 = table.n2.mask(is_of_one, table.other)
    table.other = table.other.mask(is_of_one, table.name)
    pairs = pd.DataFrame({"genuine": (table.name == table.other).astype(int)})
    for side, identity, name, number in zip(SIDES, WHO, ("name", "other"), ("n1", "n2")):
        people, numbers = table[name], table[number]
        is_bad = ~numbers.str.fullmatch("[0-9]+").to_numpy()
        reason = "is no image number; a line is: name n1 n2, or name n1 other n2"
        refuse_cells(numbers, is_bad, reason)
        pairs[side] = people + "/" + people + "_" + numbers.str.zfill(4) + ".jpg"
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
    scores = [
        each[["score"]].assign(genuine=int(kind == "genuine")) for kind, each in tables.items()
    ]
    table = by_row(pd.concat(scores, ignore_index=True))
    return Contents(table, table, "pairs", {name: name for name in table})


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
