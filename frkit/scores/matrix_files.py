"""Score matrices from files: a text table with ids on both sides, or an .npy with files of ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import require, require_path
from frkit.data.arrays import OnDisk, read_npy
from frkit.data.face_roles import face_labels
from frkit.data.files import beside, file_kind, named
from frkit.data.joins import identities_from, joined
from frkit.data.opening import read_columns, read_labels
from frkit.data.roles import SIDES
from frkit.data.tables import read_frame, refuse_cells, to_numbers
from frkit.scores.matrix import score_matrix
from frkit.scores.matrix_arrays import matrix_of_arrays
from frkit.scores.matrix_names import failed_mark, people_of_matrix
from frkit.scores.pair_list import failed_as_nan

OF_ARRAYS = ("npz", "mat", "hdf5")


def open_scores(
    path: str | Path,
    *,
    missing: ArrayLike | None = None,
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
    missing : float or sequence of float, optional
        The value(s) that mark a failed comparison; [] for none. Blank cells, NA and NaN always do.
        Default: -1, if all other scores are positive or lie far from it, which a warning says.
    labels : path or pair of paths, optional
        For .npy: files with the ids of probes and of references (.txt with one per line, .npy, or a
        table with a column `identity`); one file where both sides have the same ids in the same
        order. Default: the files `<stem>_probe` and `<stem>_reference` (.txt, .csv or .npy) beside
        it.
    identity : str, optional
        Where the ids are names of images: a pattern that says who is in them, such as
        "{name}_{number}.jpg". Usual patterns are tried where each id stands once; they are used
        where scores of one person are clearly higher.
    metadata : str or Path, optional
        A table of people or images: its other columns become attributes of the ids that one of its
        columns names.
    columns : mapping, optional
        Of an .npz, .mat or .h5: role (`score` or `distance`, `probe_identity`,
        `reference_identity`, `probe`, `reference`) or attribute to array(s), where their names do
        not tell.
    **options
        As in `score_matrix`.

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
            require(labels is None, "labels= go with an .npy: here other arrays are the labels")
            return matrix_of_arrays(read_columns(path), columns, missing=missing, **options)
        require(columns is None, "columns= are of named arrays: a table has ids on both sides")
        require(
            kind in ("text", "parquet", "npy"),
            "a score matrix is read from a table, an .npy, .npz, .mat or .h5",
        )
        if kind == "npy":
            values, *ids = _from_npy(path, labels)
        else:
            require(labels is None, "labels= go with an .npy: a text table has its own ids")
            values, *ids = _from_table(read_frame(path))
        return _matrix_of(values, ids, identity, metadata, missing, **options)


def _matrix_of(values, ids, identity, metadata, missing, **options):
    """Return the tensor of a matrix with ids of both sides, which are people or images."""
    missing, failed = failed_mark(values, missing)
    people, images, source = ids, None, ""
    if identity is not None:
        people, images = [identities_from(side, identity) for side in ids], ids
        source = f"by the pattern {identity!r} of names of images"
    elif isinstance(values, np.ndarray):  # and not on disk
        scores = failed_as_nan(values, missing, False)
        people, images, source = people_of_matrix(scores, ids, options.get("distance"))
    keys = {"identity": people}
    if images is not None:
        options |= dict(zip(SIDES, images))
        keys = {"image": images} | keys
    if metadata is not None:
        given = options.get("attributes") or {}
        options["attributes"] = given | joined(metadata, keys, given)
    scores = score_matrix(values, *people, missing=missing, **options)
    role = "distance" if options.get("distance") else "score"
    source = source or "the ids are people"
    _require_genuine_pairs(scores)
    return scores.assign_attrs(columns=f"{role}: all cells{failed}\nidentities: {source}")


def _require_genuine_pairs(scores):
    """Refuse a symmetric matrix in which each person has one image: the ids may be images."""
    people = scores["probe_identity"].values
    require(
        not scores.attrs["symmetric"] or len(np.unique(people)) < len(people),
        f"no id stands twice, so there is no genuine pair; if ids such as {str(people[0])!r} are "
        "names of images, say who is in them: identity='{name}_{number}.jpg'",
    )


def _from_table(table):
    """Return scores, ids of probes and ids of references."""
    ids = table.iloc[:, 0].rename("the probes' ids")
    refuse_cells(ids, ids.isna().to_numpy(), "is no id")
    columns = [to_numbers(table.iloc[:, place]) for place in range(1, len(table.columns))]
    return np.column_stack(columns), ids.to_numpy(str), list(table.columns[1:])


def _from_npy(path, labels):
    """Return scores, which stay on disk, ids of probes and ids of references."""
    if labels is None:
        endings = (".txt", ".csv", ".npy")
        labels = [beside(path, tuple(f"_{side}{end}" for end in endings), "ids") for side in SIDES]
    elif isinstance(labels, (str, Path)):
        labels = [labels, labels]
    require(len(labels) == 2, f"labels must be one path or a pair of paths, got {len(labels)}")
    return OnDisk(path), *(_ids(Path(side)) for side in labels)


def _ids(path):
    """Read the ids of one side."""
    with named(path):
        if file_kind(path) == "npy":
            return read_npy(path)
        columns = read_labels(path)
        return face_labels(columns) if len(columns) > 1 else [*columns.values()][0]
