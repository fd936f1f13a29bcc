"""The field's formats of scored pairs as presets: a table, and what its columns are.

A reader returns a table, the roles of its columns, and its rule of who is who ("linked": names that
genuine pairs link are one person, where names do not say who it is; "models": references are models
and no images; "repeats": a name may mean two images, as in RFW, where 13 people are listed under
two races).
"""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import listed, real_numbers, require, warn
from frkit.data.arrays import read_npy
from frkit.data.files import file_kind, named, not_read, open_text, reading
from frkit.data.json_files import by_row
from frkit.data.labels import stripped
from frkit.data.names import NAMES, are_attacks, simplified, words_of, words_of_truth
from frkit.data.opening import TABLES as KINDS_OF_TABLES
from frkit.data.opening import read_columns
from frkit.data.roles import SIDES, WHO
from frkit.data.tables import (
    is_number,
    is_number_column,
    read_frame,
    refuse_cells,
    text_layout,
    to_numbers,
    warn_of_comments,
)

LINES = {  # the cells of a line without a header
    "voxceleb": "genuine reference probe",
    "ijbc": "probe reference genuine",
    "kaldi": "reference probe genuine",
    "speechbrain": "reference probe genuine score",
    "pyeer": "probe reference score",
    "bozorth3": "score probe reference",
    "pairs-score-label": "probe reference score genuine",
    "label-pairs-score": "genuine reference probe score",
    "score-label": "score genuine",
    "label-score": "genuine score",
    "bob4": "reference_identity probe_identity probe score",
    "bob5": "reference_identity reference probe_identity probe score",
}
WITHOUT_SCORES = ("lfw", "voxceleb", "kaldi", "ijbc")
TABLES = {  # the columns by which a table of this format is recognised, by their roles
    "rfw": {
        "probe": "img_1",
        "reference": "img_2",
        "probe_identity": "id_1",
        "reference_identity": "id_2",
        "genuine": "label",
        "distance": "dist",
        "ethnicity": "ethnicity",
    },
    "bfw": {
        "probe": "p1",
        "reference": "p2",
        "probe_identity": "id1",
        "reference_identity": "id2",
        "genuine": "label",
        "subgroup": ("att1", "att2"),
    },
    "bob-csv": {
        "probe_identity": "probe_subject_id",
        "reference_identity": "bio_ref_subject_id",
        "score": "score",
    },
}
MORE_OF_BFW = {"gender": ("g1", "g2"), "ethnicity": ("e1", "e2")}
# of bob's columns of a side, the first that is present names its image
IMAGES_OF_BOB = ("reference_id", "key", "template_id", "subject_id")
KINDS = {  # names of files, arrays or columns of scores of one kind
    "genuine": NAMES["genuine"] | {*"gen pos tar client intra authentic mates".split()},
    "impostor": NAMES["impostor"] | {*"imp neg non inter impostors imposters nonmates".split()},
}
NO_SCORES_OF_BFW = ("fold", "a1", "a2", "")
RFW_NO_GROUP = "ambiguous"
BONA_FIDE = ("", "nan", "bonafide", "none", "licit", "0")


# --- which format it is --------------------------------------------------------------------------


def recognised_format(path):
    """Return the format of lines without a header whose content leaves no doubt, else None."""
    layout = text_layout(path)
    rows = [layout.names, *layout.rows] if layout.has_header else layout.rows
    if _are_numbered_pairs(rows):
        return "lfw"
    if layout.has_header or len({len(row) for row in rows}) > 1:
        return None
    columns = [*zip(*rows)]
    if any(are_attacks(pd.Series(cells)).any() for cells in columns):
        return None
    contents = [_content(cells) for cells in columns]
    if contents == ["whole", "whole", "genuine"]:
        return "ijbc"
    shape = ["name" if content in ("whole", "text") else content for content in contents]
    if contents[-1] == "whole":
        shape[-1] = "score"
    elif contents == ["whole", "text", "text"]:
        shape[0] = "score"
    for name, roles in reversed(LINES.items()):  # Kaldi's before the same cells of IJB-C
        if shape == [role if role in ("genuine", "score") else "name" for role in roles.split()]:
            return name
    return None


def format_of_header(header):
    """Return the format whose columns a table has, else None."""
    for name, roles in TABLES.items():
        if len(_present(roles, header)) == len(roles):
            return name
    return None


def _present(roles, header):
    """Return the roles whose columns are in a table."""
    return {role: name for role, name in roles.items() if {*np.atleast_1d(name)} <= {*header}}


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
    """Return whether a line says how many pairs follow, as the first one of LFW's list does."""
    return len(cells) < 3 and all(cell.isdigit() for cell in cells)


# --- text ----------------------------------------------------------------------------------------


def read_table(path):
    """Read any table, or arrays of one length, whose columns are guessed or named."""
    if file_kind(path) in KINDS_OF_TABLES:
        return read_frame(path), {}, ""
    arrays = read_columns(path)
    columns = {name: pd.Series(array) for name, array in arrays.items() if np.ndim(array) == 1}
    longest = max(map(len, columns.values()), default=0)
    require(longest > 0, f"its arrays {listed(arrays)} are no columns of a table")
    if not kinds_of_scores(columns):  # which may differ in length
        shorter = [name for name, column in columns.items() if len(column) < longest]
        not_read(shorter, f"they are shorter than others, which have {longest:,} entries")
        columns = {name: column for name, column in columns.items() if name not in shorter}
    return by_row(pd.DataFrame(columns)), {}, ""


def read_lines(format, path):
    """Read lines whose cells have known roles; a header is ignored."""
    roles = LINES[format].split()
    # a label, and nothing says that 1 is genuine
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
    roles = _present(TABLES["bfw"] | MORE_OF_BFW, table)
    used = np.hstack([*roles.values(), NO_SCORES_OF_BFW])
    others = table.columns.difference(used, sort=False)
    return table, roles | {"score": [name for name in others if is_number_column(table[name])]}, ""


def read_rfw(path):
    """Read RFW: a table of scores, one `<Race>_pairs.txt`, or a folder of them."""
    if not isinstance(path, Path) or path.name.lower().endswith((".csv", ".csv.gz", ".parquet")):
        table = read_frame(path)
        table = _without_no_group(table) if "ethnicity" in table else table
        return table, _present(TABLES["rfw"], table), "repeats"
    paths = sorted(path.rglob("*_pairs.txt")) if path.is_dir() else [path]
    require(len(paths) > 0, "there is no <Race>_pairs.txt in this folder")
    races = []
    for path in paths:
        with named(path):
            race = path.name.removesuffix(".gz").removesuffix("_pairs.txt")
            races.append(_numbered_pairs(path, race).assign(ethnicity=race))
    table = pd.concat(races, ignore_index=True)
    return table, {name: name for name in table}, ""


def _without_no_group(table):
    """Blank RFW's label for unclear groups; a warning counts them."""
    is_unclear = table["ethnicity"] == RFW_NO_GROUP
    if is_unclear.any():
        warn(
            f"{is_unclear.sum()} pairs have no clear label ({RFW_NO_GROUP!r}): they count in "
            "global rates and in no group of that attribute"
        )
    return table.assign(ethnicity=table["ethnicity"].mask(is_unclear))


def read_lfw(path):
    """Read LFW's pairs.txt, or another list of the same form."""
    table = _numbered_pairs(path)
    return table, {name: name for name in table}, ""


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


def read_bob_csv(path):
    """Read bob's CSV: genuine where the subject ids are equal; other columns are attributes."""
    table = _without_attacks(read_frame(path))
    roles = _present(TABLES["bob-csv"], table)
    for name in reversed(IMAGES_OF_BOB):
        roles |= _present({"probe": f"probe_{name}", "reference": f"bio_ref_{name}"}, table)
    fields = table.columns.str.extract(r"^(?:probe|bio_ref)_(.*)", expand=False).dropna().unique()
    for name in fields.drop([*IMAGES_OF_BOB], errors="ignore"):
        sides = [f"probe_{name}", f"bio_ref_{name}"]
        roles[name] = [side if side in table else None for side in sides]
    return table, roles, "models"


def _without_attacks(table):
    """Return a table without presentation attacks; a warning counts them."""
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
    if not isinstance(path, (list, tuple)):
        return read_table(path)
    require(len(path) == 2, "two files are needed, a pair of paths: (genuine, impostor)")
    tables = {}
    for kind, file in zip(("genuine", "impostor"), path):
        with named(file):
            tables[kind] = _names_and_scores(Path(file))
    if all({*SIDES} <= {*table} for table in tables.values()):
        both = [table.assign(genuine=int(kind == "genuine")) for kind, table in tables.items()]
        table = by_row(pd.concat(both, ignore_index=True))
        return table, {name: name for name in table}, ""
    scores = {kind: table["score"] for kind, table in tables.items()}
    return by_row(pd.DataFrame(scores)), {}, ""


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


def kinds_of_scores(names):
    """Return the names of genuine and of impostor scores, if there are just these two; or None."""
    names = [name for name in names if name]
    if len(names) != 2:
        return None
    shared = set.intersection(*map(words_of, names))  # such as the name of a model
    kinds = {}
    for name in names:
        stems = {re.sub("scores?$", "", simplified(name)), "".join(words_of(name) - shared)}
        kinds |= {kind: name for kind in ("genuine", "impostor") if stems & KINDS[kind]}
    return kinds if len(kinds) == 2 else None


def two_kinds(table):
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


PAIR_FORMATS: dict[str, Callable] = {
    "rfw": read_rfw,
    "lfw": read_lfw,
    "bfw": read_bfw,
    "bob-csv": read_bob_csv,
    **{format: partial(read_lines, format) for format in LINES},
    "columns": read_table,
    "vectors": read_vectors,
}
