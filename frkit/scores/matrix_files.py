"""Score matrices from files: which array is the matrix, and which are labels of both its sides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import listed, require, require_flag
from frkit.data.arrays import OnDisk, labels_beside
from frkit.data.checks import completed
from frkit.data.files import file_kind, named, require_data
from frkit.data.joins import identities_from, is_pattern, joined
from frkit.data.labels import can_be_named, clean_labels
from frkit.data.names import NAMES, WEAK, simplified
from frkit.data.notices import warn_of_parts
from frkit.data.opening import read_columns, read_labels
from frkit.data.pair_roles import OPPOSITE, role_of_score
from frkit.data.roles import SIDES, WHO, as_mapping, given_roles
from frkit.data.sides import side_columns
from frkit.data.tables import (
    as_numbers,
    is_number_column,
    read_frame,
    refuse_cells,
    to_numbers,
    without_words,
)
from frkit.scores.matrix import (
    as_written,
    ask_whom,
    check_direction,
    occur_again,
    score_matrix,
)

SHOWN = 30  # rows and columns that show what a table contains
CELLS = "all cells"  # of a file that is one matrix
NAMES_OF_SIDES = [f"{side}_image" for side in SIDES]  # in its header and its first column
OF_ARRAYS = ("npz", "mat", "hdf5")
PEOPLE = NAMES["identity"] | WEAK["identity"]
NO_NAMES = "identity= reads names of images, but it is not clear which arrays have them"


def open_scores(
    path: str | Path,
    *,
    missing: ArrayLike | None = None,
    labels: str | Path | None = None,
    identity: str | None = None,
    metadata: str | Path | None = None,
    columns: Mapping | None = None,
    distance: bool | None = None,
    same_images: bool | None = None,
    **options,
) -> xr.DataArray:
    r"""Open a matrix file: a table with ids on both sides, an .npz, or an .npy with labels.

    Parameters
    ----------
    path : str or Path
        A table with the references' ids as header and the probes' ids as first column; or an .npy
        of shape (n_probes, n_references), which is mapped and never whole in memory; or an .npz,
        .mat or .h5 with the matrix and labels of both sides, such as `scores`, `probe_ids`,
        `gallery_ids`.
    missing : float, str or sequence of such, optional
        The value(s) that mark a failed comparison, of text also words; [] for none. Blank cells,
        NA, NaN and FTA always do. Where a score such as -1 stands apart from all others, frkit
        asks.
    labels : path, optional
        A table with a row for each image, where rows and columns are the same images: in their
        order, or with a column of the names that the matrix has. Default of an
        .npy: the table of the same name next to it.
    identity : str, optional
        The column of identities; or, where the ids are names of images, a pattern that says who is
        in them, such as "{name}_{number}.jpg".
    metadata : str or Path, optional
        A table of people or images: its other columns become attributes of the ids that one of its
        columns names.
    columns : mapping, optional
        Role (`score` or `distance`, `probe_identity`, `reference_identity`, `probe`, `reference`;
        `identity` and `image` for both sides) or attribute to array(s) or columns of the labels,
        where their names do not say so.
    same_images : bool, optional
        As in `score_matrix`; False also says that ids which occur once on each side are people.
    **options
        As in `score_matrix`. Default of `distance`: as the name of the matrix says, if the people
        agree; without a name it contains similarities if those of one person are clearly higher,
        else frkit asks.

    Returns
    -------
    xr.DataArray
        As from `score_matrix`.

    Raises
    ------
    InputError
        If the file is absent, pickled or malformed, with its name, and line and column where it is
        text; if an id is missing, the numbers of ids and scores differ, the pattern does not fit a
        name, or nothing can be joined.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "scores.csv")
    >>> _ = path.write_text(",anna,bo\nanna,0.9,\nbo,0.2,0.8\n")
    >>> open_scores(path, same_images=False).values.tolist()
    [[0.9, nan], [0.2, 0.8]]
    """
    path = require_data("path", path)
    pattern = identity if is_pattern(identity) else None
    with named(path):
        arrays = _arrays(path, missing)
        if labels is None and file_kind(path) == "npy":
            labels = labels_beside(path)
        if labels is not None:
            arrays = _with_labels(arrays, labels)
        # without line numbers, because rows are in the order of the matrix here
        arrays = {
            name: array.to_numpy() if isinstance(array, pd.Series) else array
            for name, array in arrays.items()
        }
        user_columns = both_sides(columns, None if pattern else identity)
        roles = matrix_roles(arrays, user_columns, is_certain=True)
        warn_of_parts(roles, arrays)
        name = roles.scores()[0]
        values = arrays[name]
        is_distance_given = _settle_direction(roles, distance)
        is_distance = bool(roles.column("distance"))
        people, images = _who(arrays, roles, missing, pattern, same_images)
        attributes = {
            name: tuple(arrays[side] for side in (sides * 2)[:2])
            for name, sides in roles.attributes.items()
        }
        if metadata is not None:
            keys = {"image": images or (None, None), "identity": people}
            attributes |= joined(metadata, keys, attributes)
        options |= dict(zip(SIDES, images or ()))
        options |= {"attributes": attributes, "missing": missing, "same_images": same_images}
        scores = score_matrix(values, *people, distance=is_distance, **options)
        _require_genuine_pairs(scores)
        if not is_distance_given:
            check_direction(values, people, missing, is_distance, bool(role_of_score(name)))
    return scores.assign_attrs(roles.attrs())


def both_sides(columns, identity=None):
    """Return roles of a matrix; identity and image stand for those of both sides."""
    user_columns = as_mapping(columns)
    if identity is not None:
        user_columns["identity"] = identity
    for role, sides in (("identity", WHO), ("image", SIDES)):
        if role in user_columns:
            user_columns |= dict.fromkeys(sides, user_columns.pop(role))
    return user_columns


# --- arrays of a file, and labels ----------------------------------------------------------------


def _arrays(path, missing):
    """Return the arrays of a file, one of which may be a matrix; missing : marks of the user."""
    kind = file_kind(path)
    if kind in OF_ARRAYS:
        return read_columns(path)
    if kind == "npy":
        return {CELLS: OnDisk(path)}
    require(
        kind in ("text", "parquet", "frame"),
        "a score matrix is read from a table, an .npy, .npz, .mat or .h5",
    )
    table = without_words(read_frame(path), missing)
    numbered = [name for name in table if name.isdigit()]
    rows = table.iloc[:, 0] if table.columns[0] == "" else pd.Series(numbered)
    rows = rows.astype(str).str.removesuffix(".0").tolist()
    if are_places(numbered) and are_places(rows) and len(table) == len(numbered):
        labels = {name: table[name] for name in table if name and name not in numbered}
        columns = [to_numbers(table[name]) for name in numbered]
        return {CELLS: np.column_stack(columns)} | labels
    ids = table.iloc[:, 0].rename("the probes' ids")
    refuse_cells(ids, ids.isna().to_numpy(), "is not an id")
    columns = [to_numbers(table.iloc[:, number]) for number in range(1, len(table.columns))]
    values = np.column_stack(columns)
    header = as_written(table.columns[1:], ids)
    sides = [clean_labels(each, len(each), "ids") for each in (ids, header)]
    if not occur_again(sides):
        values, images = completed(values, *sides, equal_cells=True)
        sides = sides if images is None else [images.to_numpy()] * 2
    return {CELLS: values} | dict(zip(NAMES_OF_SIDES, sides))


def _with_labels(arrays, path):
    """Return arrays with labels of both sides, from a table with a row for each image."""
    require(
        isinstance(path, (str, Path)),
        f"labels must be the path of one table, got {path!r}; labels of probes and of references "
        "are given with fk.score_matrix(values, probe_identity, reference_identity)",
    )
    table = _labels_of_images(Path(path))
    if len(table) == 1 or NAMES_OF_SIDES[0] not in arrays:
        return arrays | table
    with named(path):
        names = [arrays[side] for side in NAMES_OF_SIDES]
        return {CELLS: arrays[CELLS]} | _by_names(pd.DataFrame(table), names)


def _labels_of_images(path):
    """Read labels of images; the only column has names of images, or of people."""
    with named(path):
        table = read_labels(path)
    return table if len(table) > 1 else {"image": next(iter(table.values()))}


def _by_names(table, names):
    """Return a table's columns in the order of names, for each side of a matrix."""
    matrix_names = {*np.concatenate(names).tolist()}
    keys = [name for name in table if matrix_names <= {*table[name].astype(str)}]
    require(
        len(keys) > 0 and table[keys[0]].is_unique,
        "no column names the rows and columns of the matrix, each once, such as "
        f"{listed([*names[0][:1], *names[1][:1]])}",
    )
    labels = table.set_index(table[keys[0]].astype(str)).rename(columns={keys[0]: "image"})
    columns = {}
    for side, order in zip(SIDES, names):
        columns |= dict(labels.loc[order].add_prefix(f"{side}_"))
    return columns


# --- roles ---------------------------------------------------------------------------------------


def matrix_roles(columns, user_columns=None, is_certain=False):
    """Find out which array is a matrix of scores, and which are labels of both its sides.

    It is the only array with rows and columns, and is called a score or a distance, or has labels
    of two sides.

    Parameters
    ----------
    columns : dict of str to array
    user_columns : mapping, optional
        What the user says: role or attribute to column(s).
    is_certain : bool
        Whether the only array with rows and columns is a matrix of scores, as the user says.

    Returns
    -------
    Roles or None
        None where no array is clearly a matrix of scores.
    """
    roles = given_roles("pairs", user_columns, list(columns))
    tables = [name for name, array in columns.items() if np.ndim(array) == 2]
    candidates = [name for name in roles.scores() or tables if name in tables]
    if len(candidates) != 1:
        if is_certain:
            roles.ask(columns, "no array is clearly a matrix of scores", {"score": "..."})
        return None
    [name] = candidates
    labels = _labels_of_sides(roles, columns, columns[name].shape)
    if not roles.scores():
        role = role_of_score(name)
        has_sides = role or any(probe != other for probe, other in labels.values())
        if not is_certain and (not has_sides or simplified(name) in NAMES["embedding"]):
            return None
        roles.columns[role or "score"] = [name]
    for stem, sides in labels.items():
        is_weak = simplified(stem) in WEAK["identity"]  # of people or of images
        are_people = simplified(stem) in PEOPLE
        are_images = simplified(stem) in NAMES["image"]
        if is_weak and not occur_again([columns[name] for name in sides]):
            are_people, are_images = False, True
        if are_people and not any(map(roles.column, WHO)):
            roles.columns |= {role: [name] for role, name in zip(WHO, sides)}
        elif are_images and not any(map(roles.column, SIDES)):
            roles.columns |= {role: [name] for role, name in zip(SIDES, sides)}
        elif can_be_named(stem):
            roles.attributes.setdefault(stem, list(sides))
    roles.unused += [*{*roles.free(columns)}.difference(*labels.values())]
    return roles


def _labels_of_sides(roles, columns, shape):
    """Return the arrays that are labels of rows and of columns, by what their names share.

    Of a square, an array without the mark of a side is labels of both.
    """
    free = roles.free(columns)
    lengths = [(length,) for length in shape]
    labels = {
        stem: sides
        for stem, sides in side_columns(free).items()
        if [np.shape(columns[name]) for name in sides] == lengths
    }
    if shape[0] == shape[1]:
        alone = [name for name in free if not any(name in sides for sides in labels.values())]
        labels |= {name: (name, name) for name in alone if np.shape(columns[name]) == shape[:1]}
    return labels


def _settle_direction(roles, distance):
    """Take the matrix as scores or as distances; return whether the user says which."""
    if distance is None:
        return bool(roles.given & {*OPPOSITE})
    role = "distance" if require_flag("distance", distance) else "score"
    roles.columns |= {role: roles.scores(), OPPOSITE[role]: []}
    return True


def _who(columns, roles, missing, pattern, same_images):
    """Return people and images (or None) of both sides: by their roles, or by a pattern."""
    people, images = (
        [columns[roles.column(role)] for role in names] if all(map(roles.column, names)) else None
        for names in (WHO, SIDES)
    )
    names = images or people
    if pattern is not None:
        if names is None:
            roles.ask(columns, NO_NAMES, dict.fromkeys(SIDES, "..."))
        roles.who = f"by the pattern {pattern!r} of names of images"
        both = identities_from(np.concatenate(names), pattern)
        return np.split(both, [len(names[0])]), names
    if people is None and images is not None:
        if same_images is not False and not occur_again(images):
            is_distance = bool(roles.column("distance"))
            ask_whom(roles, columns, columns[roles.scores()[0]], images, missing, is_distance)
        people, images = images, None
        roles.columns |= {who: roles.columns.pop(side) for side, who in zip(SIDES, WHO)}
    if people is None:
        roles.ask(
            columns,
            "no array says who is on each row and each column of the matrix; labels= is a table "
            "with a row for each image; in Python also fk.score_matrix(values, identity, identity)",
            {"probe_identity": "...", "reference_identity": "..."},
        )
    return people, images


def _require_genuine_pairs(scores):
    """Refuse a symmetric matrix in which each person has one image: the ids may be images."""
    people = scores["probe_identity"].values
    require(
        not scores.attrs["symmetric"] or len(np.unique(people)) < len(people),
        f"no id occurs twice, so there is no genuine pair; if ids such as {str(people[0])!r} are "
        "names of images, say who is in them: identity='{name}_{number}.jpg'",
    )


# --- which table is a matrix ----------------------------------------------------------------------


def is_matrix(table):
    """Return whether a table has names in its header and first column, and numbers elsewhere."""
    if len(table.columns) < 3 or len(table) < 2:
        return False
    for name in range(1, min(len(table.columns), SHOWN)):
        values, is_missing = as_numbers(table.iloc[:SHOWN, name])
        if not (np.isfinite(values) | is_missing).all():
            return False
    names = [*map(str, table.columns[1:])]
    rows = clean_labels(table.iloc[:, 0], len(table), "ids").tolist()
    if are_places(rows):  # as pandas numbers rows: perhaps of embeddings in columns 0, 1, ...
        return False
    n_shared = len({*names}.intersection(rows))
    return n_shared >= min(len({*names}), len({*rows})) / 2


def names_people(table):
    """Return whether most names of the first column contain the name of another column.

    Then rows may be images of the people in the header: S001_01.jpg and S001.
    """
    columns = {str(name) for name in table.columns[1:] if not str(name).isdigit()}
    if is_number_column(table.iloc[:, 0]) or len(columns) < 2:
        return False
    names = table.iloc[:, 0].astype(str)
    contain = [bool({*re.split(r"[-_./\\ ]", name)} & columns) for name in names]
    return np.mean(contain) > 0.5


def are_places(names):
    """Return whether a list of names counts from 0 or 1, as pandas numbers rows."""
    return any(names == [*map(str, range(k, k + len(names)))] for k in (0, 1))
