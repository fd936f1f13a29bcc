"""Score matrices from files: a text table with ids on both sides, or an .npy with files of ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import listed, require, require_path
from frkit.data.arrays import OnDisk, read_npy
from frkit.data.files import beside, file_kind, named
from frkit.data.joins import is_pattern
from frkit.data.labels import clean_labels
from frkit.data.names import simplified
from frkit.data.opening import LABEL_FILES, read_columns, read_labels
from frkit.data.roles import SIDES, WHO, as_mapping
from frkit.data.square import role_of_square
from frkit.data.tables import read_frame, refuse_cells, to_numbers
from frkit.scores.matrix_arrays import PEOPLE, matrix_of_arrays
from frkit.scores.matrix_names import GUESS, is_nameless

CELLS = "all cells"  # of a file that is one matrix
OF_ARRAYS = ("npz", "mat", "hdf5")


def open_scores(
    path: str | Path,
    *,
    missing: ArrayLike | None = GUESS,
    labels: str | Path | Sequence[str | Path] | None = None,
    identity: str | None = None,
    metadata: str | Path | None = None,
    columns: Mapping | None = None,
    **options,
) -> xr.DataArray:
    r"""Open a matrix file: a table with ids on both sides, an .npz, or .npy with files of ids.

    Parameters
    ----------
    path : str or Path
        A table with the references' ids as header and the probes' ids as first column; or an .npy
        of shape (n_probes, n_references), which is mapped and never whole in memory; or an .npz,
        .mat or .h5 with the matrix and labels of both sides, such as `scores`, `probe_ids`,
        `gallery_ids`.
    missing : float, sequence of float or None, default "guess"
        The value(s) that mark a failed comparison; None or [] for none. Blank cells, NA and
        NaN always do. "guess" is -1, if all other scores are positive or lie far from it, which a
        warning says.
    labels : path or pair of paths, optional
        A table with a row for each image, where rows and columns are the same images: in their
        order, or with a column of the names that the matrix has. Or files with the ids of probes
        and of references (.txt with one per line, .npy, or a table with a column `identity`).
        Default of an .npy: the files `<stem>_probe` and `<stem>_reference`, or `<stem>`, beside it.
    identity : str, optional
        The column of identities; or, where the ids are names of images, a pattern that says who is
        in them, such as "{name}_{number}.jpg". Usual patterns are tried where each id stands once;
        they are used where scores of one person are clearly higher.
    metadata : str or Path, optional
        A table of people or images: its other columns become attributes of the ids that one of its
        columns names.
    columns : mapping, optional
        Role (`score` or `distance`, `probe_identity`, `reference_identity`, `probe`, `reference`;
        `identity` and `image` for both sides) or attribute to array(s) or columns of the labels,
        where their names do not tell.
    **options
        As in `score_matrix`. Default of `distance`: as the name of the matrix says, or its diagonal
        (0, or the largest score), if the people agree.

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
    >>> open_scores(path).values.tolist()
    [[0.9, nan], [0.2, 0.8]]
    """
    path = require_path("path", path)
    with named(path):
        kind = file_kind(path)
        if kind in OF_ARRAYS:
            arrays = read_columns(path)
        elif kind == "npy":
            arrays = {CELLS: OnDisk(path)}
            labels = labels or _ids_beside(path)
        else:
            require(
                kind in ("text", "parquet"),
                "a score matrix is read from a table, an .npy, .npz, .mat or .h5",
            )
            arrays = _from_table(read_frame(path))
        given = both_sides(columns, identity)
        if labels is not None:
            arrays = _with_labels(arrays, labels)
        if SIDES[0] in arrays and not {*given} & {*SIDES, *WHO}:
            given |= dict(zip(SIDES, SIDES))
        identity = identity if is_pattern(identity) else None
        options |= {"missing": missing, "identity": identity, "metadata": metadata}
        return matrix_of_arrays(arrays, given, **options)


def both_sides(columns, identity=None):
    """Return roles of a matrix; those of images, such as identity, are of both its sides."""
    given = as_mapping(columns)
    if identity is not None and not is_pattern(identity):
        given["identity"] = identity
    for role, sides in (("identity", WHO), ("image", SIDES)):
        if role in given:
            given |= dict.fromkeys(sides, given.pop(role))
    return given


def _from_table(table):
    """Return the scores of a text table and, where it has such, names of both sides."""
    if is_nameless(table):
        return {CELLS: table.to_numpy(float)}
    ids = table.iloc[:, 0].rename("the probes' ids")
    refuse_cells(ids, ids.isna().to_numpy(), "is not an id")
    columns = [to_numbers(table.iloc[:, place]) for place in range(1, len(table.columns))]
    values = np.column_stack(columns)
    sides = [clean_labels(each, len(each), "ids") for each in (ids, table.columns[1:])]
    if all(_are_places(side) for side in sides) and role_of_square(values):
        return {CELLS: values}
    return {CELLS: values} | dict(zip(SIDES, sides))


def _are_places(names):
    """Return whether names count from 0 or 1, as pandas numbers rows."""
    return any(names.tolist() == [*map(str, range(k, k + len(names)))] for k in (0, 1))


def _with_labels(arrays, labels):
    """Return arrays with labels of both sides, of a table for both or of two files."""
    paths = [labels] if isinstance(labels, (str, Path)) else labels
    require(len(paths) in (1, 2), f"labels must be one path or a pair of paths, got {len(paths)}")
    tables = [_columns_of_labels(Path(path)) for path in paths]
    if len(tables) == 1 and len(tables[0]) > 1:
        if SIDES[0] not in arrays:
            return arrays | tables[0]
        with named(paths[0]):
            names = [arrays[side] for side in SIDES]
            return {CELLS: arrays[CELLS]} | _by_names(pd.DataFrame(tables[0]), names)
    arrays = arrays | dict(zip(SIDES, [_ids(table) for table in tables] * 2))
    sides = zip(SIDES, tables)
    return arrays | {f"{side}_{name}": table[name] for side, table in sides for name in table}


def _ids(table):
    """Return, and take out of a table, its only column or that of identities."""
    people = [name for name in table if len(table) == 1 or simplified(name) in PEOPLE]
    require(people, f"no column says who is in the images; the columns are {listed(table, 12)}")
    return table.pop(people[0])


def _columns_of_labels(path):
    """Read labels of images: a table, or one id a line or in an .npy."""
    with named(path):
        return {"id": read_npy(path)} if file_kind(path) == "npy" else read_labels(path)


def _by_names(table, names):
    """Return a table's columns in the order of names, for each side of a matrix."""
    matrix_names = {*np.concatenate(names).tolist()}
    keys = [name for name in table if matrix_names <= {*table[name].astype(str)}]
    require(
        len(keys) > 0 and table[keys[0]].is_unique,
        "no column names the rows and columns of the matrix, each once, such as "
        f"{listed([*names[0][:1], *names[1][:1]])}",
    )
    table = table.set_index(table[keys[0]].astype(str)).rename(columns={keys[0]: "image"})
    columns = {}
    for side, order in zip(SIDES, names):
        columns |= {f"{side}_{name}": table[name].loc[order].to_numpy() for name in table}
    return columns


def _ids_beside(path):
    """Return the labels beside an .npy: two files of ids, or one table for both sides."""
    endings = (".txt", ".csv", ".npy")
    ids = {side: tuple(f"_{side}{end}" for end in endings) for side in SIDES}
    if any(path.with_name(path.stem + end).exists() for end in LABEL_FILES):
        return beside(path, LABEL_FILES, "labels")
    return [beside(path, ids[side], "ids") for side in SIDES]
