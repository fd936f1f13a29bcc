"""One reader per file format: each returns a plain dict of column name to array. Nothing is unpickled."""

import zipfile
from importlib import import_module
from pathlib import Path

import numpy as np

from frkit.base import InputError, require
from frkit.faces.files import PICKLED, need
from frkit.faces.tables import embedding_columns, read_lines, read_table

_KINDS = {
    ".npz": "npz", ".npy": "npy", ".csv": "text", ".tsv": "text", ".csv.gz": "text", ".tsv.gz": "text",
    ".txt": "lines", ".parquet": "parquet", ".pq": "parquet", ".mat": "mat", ".zarr": "zarr",
    ".zarr.zip": "zarr", ".nc": "netcdf", ".nc4": "netcdf", ".cdf": "netcdf",
}  # fmt: skip
_PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".joblib", ".p")


def file_kind(path: Path) -> str:
    """Tell the format from the name; raise InputError for what cannot or must not be read."""
    require(path.exists(), "there is no such file")
    name = path.name.lower()
    require(not name.endswith(_PICKLES), f"a {path.suffix} file {PICKLED}")
    kind = next((_KINDS[end] for end in sorted(_KINDS, key=len, reverse=True) if name.endswith(end)), None)
    if kind is None and path.is_dir():
        kind = "zarr"
    require(kind is not None, f"unknown format; frkit reads {', '.join(_KINDS)}")
    return kind


def read_columns(path: Path, embedding=None) -> dict[str, np.ndarray]:
    """Read any format with named columns; `embedding=False` reads labels alone."""
    kind = file_kind(path)
    if kind == "text":
        return read_table(path, embedding)
    if kind == "parquet":
        return read_parquet(path, embedding)
    if kind in ("netcdf", "zarr"):
        return import_module("frkit.faces.stores").read_dataset(path, kind)
    if kind == "mat":
        return import_module("frkit.faces.matlab").read_mat(path)
    if kind == "npy":
        return {"embedding": read_npy(path)}
    return read_npz(path) if kind == "npz" else read_lines(path)


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """Read all arrays of an .npz."""
    columns = {}
    try:
        with np.load(path, allow_pickle=False) as arrays:
            require(hasattr(arrays, "files"), "is no .npz but a single array; rename it to .npy")
            for key in arrays.files:
                columns[key] = _member(arrays, key)
    except (ValueError, EOFError, OSError, zipfile.BadZipFile) as error:
        raise _unreadable(error, "the file") from None
    return columns


def _member(arrays, key: str) -> np.ndarray:
    try:
        return arrays[key]
    except ValueError as error:
        raise _unreadable(error, f"array {key!r}") from None


def read_npy(path: Path, mmap_mode: str | None = None) -> np.ndarray:
    """Read an .npy, or map it into memory."""
    try:
        array = np.load(path, mmap_mode=mmap_mode, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise _unreadable(error, "the array") from None
    require(isinstance(array, np.ndarray), "is no .npy but an .npz; rename it to .npz")
    return array


def _unreadable(error: Exception, what: str) -> InputError:
    if isinstance(error, InputError):
        return error
    pickled = "pickle" in str(error).lower() or "Python objects" in str(error)
    return InputError(f"{what} {PICKLED}" if pickled else f"{what} cannot be read: {error}")


def read_parquet(path: Path, embedding=None) -> dict[str, np.ndarray]:
    """Read a Parquet table whose embedding is a column of lists or a set of numbered columns."""
    need("pyarrow.parquet", "reading Parquet")
    import pandas as pd
    import pyarrow as pa

    try:
        frame = pd.read_parquet(path, engine="pyarrow")
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot be read as Parquet: {error}") from None
    if frame.index.name is not None:
        frame = frame.reset_index()
    frame.columns = frame.columns.astype(str)
    lists = [name for name in frame if len(frame) and np.ndim(frame[name].iloc[0]) == 1]
    if embedding is False or (lists and (embedding is None or embedding in lists)):
        columns = {name: frame[name].to_numpy() for name in frame}
        return columns | {name: frame[name].tolist() for name in lists}
    numbers = [frame.columns[k] for k in embedding_columns(list(frame.columns), embedding)]
    columns = {name: frame[name].to_numpy() for name in frame if name not in set(numbers)}
    return columns | {"embedding": _numeric(frame[numbers])}


def _numeric(frame) -> np.ndarray:
    text = [name for name in frame if frame[name].dtype.kind not in "fiub"]
    require(not text, f"embedding column {text[0] if text else ''!r} holds no numbers")
    return frame.to_numpy(np.float64)
