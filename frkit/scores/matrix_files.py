"""Score matrices from files: values and the identities of both sides."""

from pathlib import Path

import numpy as np

from frkit.base import PROBE, REFERENCE, InputError, listed, require
from frkit.faces.files import named
from frkit.faces.formats import file_kind, read_columns, read_npy
from frkit.faces.opening import IDENTITY_NAMES, take_column
from frkit.faces.tables import read_rows, to_numbers


def read_matrix(path, missing=-1, *, labels=None) -> tuple:
    """Read a matrix of scores, probes down and references across; failed comparisons become NaN.

    Parameters
    ----------
    path : str or Path
        A .csv or .tsv (plain or .gz) with a blank corner, the references' ids as header and the probes' ids
        as first column; or an .npy of shape (n_probes, n_references).
    missing : float, sequence of float or None, default -1
        The value, or values, that mark a failed comparison. Blank cells and NaN always do.
    labels : path or pair of paths, optional
        For .npy: files with the ids of probes and of references (.txt with one per line, .npy, or a table
        with a column `identity`); one file where both sides have the same ids in the same order. Default: the
        files `<stem>_probe` and `<stem>_reference` (.txt, .csv or .npy) beside it.

    Returns
    -------
    values : np.ndarray or dask array, shape (n_probes, n_references)
        Floating point; NaN where the comparison is missing. An .npy is mapped and never whole in memory.
    probe_ids, reference_ids : np.ndarray of str, shape (n_probes,) and (n_references,)
        As they stand in the file; an id may repeat (`frkit.faces.labels.numbered` makes image names of them).

    Raises
    ------
    InputError
        If the file is absent, pickled or malformed, with line and column where it is text; if an id is
        missing, or the numbers of ids and scores differ.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "scores.csv")
    >>> _ = path.write_text(",anna,bo\\nanna,0.9,-1\\nbo,0.2,0.8\\n")
    >>> values, probes, references = read_matrix(path)
    >>> values.tolist(), probes.tolist()
    ([[0.9, nan], [0.2, 0.8]], ['anna', 'bo'])
    """
    path = Path(path)
    marks = [] if missing is None else np.atleast_1d(missing)
    with named(path):
        kind = file_kind(path)
        require(kind in ("text", "npy"), "a score matrix is read from .csv, .tsv or .npy")
        values, probes, references = _from_text(path) if kind == "text" else _from_npy(path, labels)
        for ids, side, count in [(probes, PROBE, values.shape[0]), (references, REFERENCE, values.shape[1])]:
            _check_ids(ids, side, count)
    return _without(values, marks), probes, references


def _from_text(path: Path) -> tuple:
    rows = read_rows(path)
    corner, *references = next(rows)[1]
    require(corner == "", f"the first cell must be blank (ids as header and first column), got {corner!r}")
    require(len(references) > 0, "the header holds no reference id; is the delimiter a comma?")
    probes, values = [], []
    for line, (probe, *cells) in rows:
        require(probe != "", f"line {line}: the probe's id in the first column is missing")
        row = to_numbers(cells, line, references)
        if np.isinf(row).any():
            column = references[int(np.isinf(row).argmax())]
            raise InputError(f"line {line}, column {column!r}: infinite score")
        probes.append(probe)
        values.append(row)
    require(len(values) > 0, "there is a header but no row of scores")
    return np.array(values), np.array(probes, str), np.array(references, str)


class _OnDisk:
    """An .npy that is mapped anew for each block: tasks sent to other processes carry its name only."""

    def __init__(self, path: Path) -> None:
        array = read_npy(path, mmap_mode="r")
        self.path, self.shape, self.dtype, self.ndim = path.resolve(), array.shape, array.dtype, array.ndim

    def __getitem__(self, index) -> np.ndarray:
        return np.array(read_npy(self.path, mmap_mode="r")[index])

    def __dask_tokenize__(self) -> tuple:
        return str(self.path), self.path.stat().st_mtime_ns, self.shape, str(self.dtype)


def _from_npy(path: Path, labels) -> tuple:
    import dask.array as da

    values = _OnDisk(path)
    require(values.ndim == 2, f"a score matrix has two dimensions, got shape {values.shape}")
    require(values.dtype.kind in "fiu", f"scores must be real numbers, got dtype {values.dtype}")
    probe_path, reference_path = _label_paths(path, labels)
    return da.from_array(values, chunks="auto"), _ids(probe_path), _ids(reference_path)


def _label_paths(path: Path, labels) -> tuple[Path, Path]:
    if isinstance(labels, (str, Path)):
        return Path(labels), Path(labels)
    if labels is not None:
        require(len(labels) == 2, f"labels must be one path or a pair of paths, got {len(labels)}")
        return Path(labels[0]), Path(labels[1])
    return _beside(path, PROBE), _beside(path, REFERENCE)


def _beside(path: Path, side: str) -> Path:
    found = [path.with_name(f"{path.stem}_{side}{end}") for end in (".txt", ".csv", ".npy")]
    found = [one for one in found if one.exists()]
    require(
        len(found) == 1,
        f"an .npy needs ids: {'several' if found else 'no'} {path.stem}_{side}.txt, .csv or .npy beside it; "
        "say labels=(probe ids, reference ids)",
    )
    return found[0]


def _ids(path: Path) -> np.ndarray:
    with named(path):
        if file_kind(path) == "npy":
            return read_npy(path).astype(str)
        return take_column(read_columns(path, embedding=False), "identity", None, IDENTITY_NAMES)


def _check_ids(ids: np.ndarray, side: str, count: int) -> None:
    require(ids.shape == (count,), f"lengths differ: {ids.size} {side} ids for {count} {side}s")
    blank = np.flatnonzero(np.strings.strip(ids) == "")
    require(len(blank) == 0, f"the {side} id is missing at position {listed(blank)} (counted from 0)")


def _without(values, marks):
    """Floating-point values with NaN in place of the marks, lazily where the values are lazy."""
    if isinstance(values, np.ndarray):
        return _blank_marks(values, marks)
    dtype = values.dtype if values.dtype.kind == "f" else np.float64
    return values.map_blocks(_blank_marks, marks, dtype=dtype)


def _blank_marks(block: np.ndarray, marks) -> np.ndarray:
    dtype = block.dtype if block.dtype.kind == "f" else np.float64
    return np.where(np.isin(block, marks), np.asarray(np.nan, dtype), block.astype(dtype))
