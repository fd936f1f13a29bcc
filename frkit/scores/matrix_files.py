"""Score matrices from files: a text table with ids on both sides, or an .npy with files of ids."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import require, require_path
from frkit.data.arrays import OnDisk, read_npy
from frkit.data.files import beside, file_kind, named
from frkit.data.joins import identities_from, joined
from frkit.data.opening import IDENTITY_NAMES, read_columns, take_column
from frkit.data.tables import read_header, read_text, refuse_cells, to_numbers
from frkit.scores.matrix import score_matrix


def open_scores(
    path: str | Path,
    *,
    missing: ArrayLike | None = -1,
    labels: str | Path | Sequence[str | Path] | None = None,
    identity: str | None = None,
    metadata: str | Path | None = None,
    **options,
) -> xr.DataArray:
    r"""Open a matrix file: CSV with ids as header and first column, or .npy with files of ids.

    Parameters
    ----------
    path : str or Path
        A .csv or .tsv (plain or .gz) with a blank corner, the references' ids as header and the
        probes' ids as first column; or an .npy of shape (n_probes, n_references), which is mapped
        and never whole in memory.
    missing : float, sequence of float or None, default -1
        The value(s) that mark a failed comparison. Blank cells, NA and NaN always do.
    labels : path or pair of paths, optional
        For .npy: files with the ids of probes and of references (.txt with one per line, .npy, or a
        table with a column `identity`); one file where both sides have the same ids in the same
        order. Default: the files `<stem>_probe` and `<stem>_reference` (.txt, .csv or .npy) beside
        it.
    identity : str, optional
        Where the ids are names of images: a pattern that says who is in them, such as
        "{name}_{number}.jpg".
    metadata : str or Path, optional
        A table of people or images: its other columns become attributes of the ids that one of its
        columns names.
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
    >>> _ = path.write_text(",anna,bo\nanna,0.9,-1\nbo,0.2,0.8\n")
    >>> open_scores(path).values.tolist()
    [[0.9, nan], [0.2, 0.8]]
    """
    path = require_path("path", path)
    with named(path):
        kind = file_kind(path)
        is_matrix = kind in ("text", "lines", "npy")
        require(is_matrix, "a score matrix is read from a text table or .npy")
        if kind == "npy":
            values, *ids = _from_npy(path, labels)
        else:
            require(labels is None, "labels= go with an .npy: a text table has its own ids")
            values, *ids = _from_text(path)
        people = ids
        keys = {"identity": ids}
        if identity is not None:
            people = [identities_from(side, identity) for side in ids]
            options |= dict(zip(("probe", "reference"), ids))
            keys = {"image": ids, "identity": people}
        if metadata is not None:
            given = dict(options.get("attributes") or {})
            options["attributes"] = given | joined(metadata, keys, given)
        return score_matrix(values, *people, missing=missing, **options)


def _from_text(path):
    """Return scores, ids of probes and ids of references."""
    corner, *references = read_header(path)
    words = f"the first cell must be blank (ids as header and first column), got {corner!r}"
    require(corner == "", words)
    places = range(1, 1 + len(references))
    table = read_text(path, numbers=places)
    probes = table.iloc[:, 0].rename("the probes' ids")
    refuse_cells(probes, probes.isna(), "is no id")
    columns = [to_numbers(table.iloc[:, place]) for place in places]
    return np.column_stack(columns), probes.to_numpy(str), references


def _from_npy(path, labels):
    """Return scores, which stay on disk, ids of probes and ids of references."""
    values = OnDisk(path)
    if labels is None:
        endings = (".txt", ".csv", ".npy")
        labels = [
            beside(path, tuple(f"_{side}{end}" for end in endings), "ids")
            for side in ("probe", "reference")
        ]
    elif isinstance(labels, (str, Path)):
        labels = [labels, labels]
    require(len(labels) == 2, f"labels must be one path or a pair of paths, got {len(labels)}")
    return values, *(_ids(Path(side)) for side in labels)


def _ids(path):
    with named(path):
        if file_kind(path) == "npy":
            return read_npy(path)
        columns = read_columns(path, embedding=False)
        return take_column(columns, "identity", None, IDENTITY_NAMES)
