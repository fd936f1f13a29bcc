"""What a file contains: a table, or arrays by name; and lists of pairs in the field's forms.

A form is recognised by its header, or by the cells of its first lines. It says what the columns
are, and who is who where they do not: "linked" (names that genuine pairs link are one person) or
"repeats" (a name may mean two images, as in RFW, where 13 people are listed under two groups).
"""

from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import listed, require, warn
from frkit.data.files import file_kind, named, not_read, open_text, reading
from frkit.data.sides import SIDES, WHO
from frkit.io.arrays import READERS
from frkit.io.cells import as_numbers, refuse_cells, to_numbers
from frkit.io.frames import by_row, read_frame
from frkit.io.names import words_of_truth

TABLES = ("text", "parquet", "json", "json lines", "frame")
KINDS = "biufUSO"  # of arrays of numbers and text, as NumPy calls them
NO_ARRAYS = (
    "complex numbers, structures and objects; save('faces.mat', '-struct', 'T') writes the fields "
    "of a MATLAB struct, and cellstr(...) makes cells of strings"
)
INSTEAD = {  # of what has arrays and is opened in Python, the line that does it
    "zarr": "embeddings in a Zarr store are opened by fk.faces(xr.open_zarr(path)), which reads "
    "them when they are compared",
    "netcdf": "embeddings in a netCDF file are opened by fk.faces(xr.open_dataset(path)), and an "
    "evaluation by fk.open_evaluation(path)",
    "folder": "a folder is no file. Embeddings with an .npy for each image are a table: paths = "
    "sorted(Path(folder).rglob('*.npy')); fk.open_data(pd.DataFrame({'image': [*map(str, paths)], "
    "'embedding': [np.load(path) for path in paths]}), identity='{name}/{file}')",
}
HEAD = 100  # lines that show what cells contain
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
FORM_OF_LFW = "a line is: name n1 n2, or name n1 other n2"
NAME = "(?!#)[^~]*[^~0-9][^~]*"  # ~ is the mark between cells
PAIR_OF_LFW = f"^(?P<name>{NAME})~+(?P<first>[0-9]+)~+(?:(?P<other>{NAME})~+)?(?P<second>[0-9]+)$"


@dataclass
class Contents:
    """What a file contains.

    Attributes
    ----------
    data : pd.DataFrame or dict of array
        A table, or arrays by name.
    kind : str
        "faces" or "pairs" where the form of the file says it, else "".
    roles : dict
        Roles of columns in a form of pairs, for `columns=`.
    who : str
        How a form of pairs says who is who; else "".
    """

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
    contents = read_file(path)
    contents.kind = kind or contents.kind
    if not contents.is_table() or kind in ("faces", "matrix"):
        return contents
    table = contents.data
    columns = options.get("columns") or {}
    are_given = any(str(name).isdigit() for name in columns.values())
    if file_kind(path) == "text" and not are_given and [*table] == names_without_header(table):
        return _lines(contents, "scores" in options)
    return _rfw(contents) if {*RFW.values()} <= {*table} else contents


def read_file(path):
    """Read a table or arrays; lines in LFW's form become a table of pairs."""
    kind = file_kind(path)
    pairs = _numbered_pairs(path) if kind == "text" else None
    if pairs is not None:
        return Contents(pairs, "pairs", {name: name for name in pairs})
    if kind in TABLES:
        return Contents(read_frame(path))
    require(kind not in INSTEAD, INSTEAD.get(kind, ""))
    arrays = {name: _flat(array) for name, array in READERS[kind](path).items()}
    others = [name for name, array in arrays.items() if array.dtype.kind not in KINDS]
    require(len(others) < len(arrays), f"frkit does not read {listed(others)}: {NO_ARRAYS}")
    not_read(others, NO_ARRAYS)
    return Contents({name: array for name, array in arrays.items() if name not in others})


def _flat(array):
    """Return an array in memory without axes of length 1; the first of three may be of models."""
    axes = np.shape(array)[np.ndim(array) != 2 :]
    return array.squeeze() if isinstance(array, np.ndarray) and 1 in axes else array


def table_of(contents):
    """Return a table, or arrays of one length as one."""
    if contents.is_table():
        return contents.data
    arrays = contents.data
    columns = {name: pd.Series(array) for name, array in arrays.items() if np.ndim(array) == 1}
    lengths = {name: len(column) for name, column in columns.items()}
    longest = max(lengths.values(), default=0)
    require(longest > 0, f"its arrays {listed(arrays)} are no columns of a table")
    shorter = [name for name, length in lengths.items() if length < longest]
    not_read(shorter, f"they are shorter than others, which have {longest:,} entries")
    columns = {name: column for name, column in columns.items() if name not in shorter}
    return by_row(pd.DataFrame(columns))


# --- lines without a header -----------------------------------------------------------------------


def names_without_header(table):
    """Return the names that columns of a text without a header have."""
    return [str(number + 1) for number in range(len(table.columns))]


def _lines(contents, are_scored):
    """Return lines of names of two sides, perhaps a score, and perhaps words of truth.

    Other lines, such as those of embeddings, are returned as they are.

    are_scored : whether another file has the scores
    """
    table = contents.data
    head = table.head(HEAD)
    cells = {name: _cells(head[name]) for name in head}
    truths, scores, wholes, texts = (
        [name for name in table if cells[name] == kind]
        for kind in ("truth", "score", "whole", "text")
    )
    if not scores and len(wholes) == 1 and len(texts) > 1:
        scores, wholes = wholes, []  # whole scores beside names
    names = [name for name in table if name in wholes or name in texts]
    is_list = {0: scores and truths, 2: scores or truths or are_scored}.get(len(names))
    if not is_list or len(scores) > 1 or len(truths) > 1:
        return contents
    sides = SIDES[::-1] if truths else SIDES  # trials name the enrolled side first
    roles = {role: role for role in (*sides[: len(names)], *(["score"] if scores else []))}
    if truths:
        roles["genuine"] = "label"  # and nothing says that 1 is genuine
    table = table.rename(columns=dict(zip((*names, *scores, *truths), roles.values())))
    return Contents(table, "pairs", roles, "linked")


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
    return Contents(table, "pairs", RFW, "repeats")


# --- LFW ------------------------------------------------------------------------------------------


def _numbered_pairs(path):
    """Return pairs `name n1 n2`, which are genuine, and `name n1 other n2`; None of other lines."""
    with reading("the list"), open_text(path) as file:
        head = [*islice(file, HEAD)]
        _, first = _cells_of_lfw(head)
        if first["name"].isna().any() or first["other"].notna().all():
            return None
        lines, cells = _cells_of_lfw([*head, *file])
    refuse_cells(lines, cells["name"].isna().to_numpy(), f"is no pair; {FORM_OF_LFW}")
    others = cells["other"].fillna(cells["name"])
    pairs = pd.DataFrame(dict(zip(WHO, (cells["name"], others))))
    for side, who, number in zip(SIDES, WHO, ("first", "second")):
        pairs[side] = pairs[who] + "/" + pairs[who] + "_" + cells[number].str.zfill(4) + ".jpg"
    return pairs.assign(genuine=(cells["name"] == others).astype(int))


def _cells_of_lfw(lines):
    """Return lines, by their numbers, and the cells of each; the first one may count pairs."""
    lines = pd.Series(lines, range(1, len(lines) + 1), dtype=str, name="pair").str.strip()
    lines = lines[(lines != "") & ~((lines.index == 1) & lines.str.fullmatch(r"[0-9\s]+"))]
    marks = [mark for mark in "\t," if lines.head(HEAD).str.contains(mark).any()]
    return lines, lines.str.extract(PAIR_OF_LFW.replace("~", [*marks, r"\s"][0]))


# --- genuine and impostor scores apart ------------------------------------------------------------


def read_two_kinds(genuine, impostor):
    """Read the scores of genuine pairs and those of impostor pairs from a file for each."""
    kinds = []
    for label, path in ((1, genuine), (0, impostor)):
        with named(path):
            kinds.append(pd.DataFrame({"score": _only_scores(Path(path)), "genuine": label}))
    table = by_row(pd.concat(kinds))
    return Contents(table, "pairs", {name: name for name in table})


def _only_scores(path):
    """Return the scores of a file that has nothing else."""
    table = table_of(read_file(path))
    require(
        len(table.columns) == 1,
        "must have one number in each line, the score; of tables with names, make one list: "
        "fk.open_data(pd.concat([genuine.assign(genuine=1), impostor.assign(genuine=0)], "
        "ignore_index=True))",
    )
    return to_numbers(table.iloc[:, 0].rename("score"))
