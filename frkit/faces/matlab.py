"""MATLAB files: version 5 (and 7) through SciPy, version 7.3, which is HDF5, through h5py."""

from pathlib import Path

import numpy as np
from scipy.io import loadmat

from frkit.faces.files import check_in_child, need, not_read, reading

_WHY = "a MATLAB string array, struct or object; save strings as cellstr(...) and fields as variables"


def read_mat(path: Path) -> dict[str, np.ndarray]:
    """Read numbers, char matrices and cell arrays of char vectors; vectors lose their second axis."""
    with path.open("rb") as file:
        head = file.read(520)
    hdf5 = b"\x89HDF\r\n\x1a\n" in (head[:8], head[512:])  # version 7.3 puts 512 bytes of its own in front
    if hdf5:
        need("h5py", "reading MATLAB 7.3 files")
    check_in_child(path)
    with reading("the MATLAB file"):
        variables = _read_hdf5(path) if hdf5 else loadmat(path, squeeze_me=True, chars_as_strings=True)
    columns = {name: _plain(value) for name, value in variables.items() if not name.startswith("__")}
    not_read([repr(name) for name, value in columns.items() if value is None], _WHY)
    return {name: value for name, value in columns.items() if value is not None}


def _plain(value: np.ndarray | None) -> np.ndarray | None:
    """A column of numbers or text; None for what is neither."""
    value = np.asarray(value)
    if value.dtype.kind != "O":
        return None if value.dtype.kind == "V" else value
    cells = [_cell(item) for item in value.ravel().tolist()]
    return None if any(cell is NotImplemented for cell in cells) else np.array(cells, object)


def _cell(item):
    """What stands in one cell of a cell array; an empty cell is a missing label."""
    if np.size(item) == 0:
        return None
    if np.size(item) > 1 or np.asarray(item).dtype.kind in "OV":
        return NotImplemented
    return np.asarray(item).item()


def _read_hdf5(path: Path) -> dict[str, np.ndarray | None]:
    import h5py

    with h5py.File(path, "r") as file:
        return {name: _h5_value(file, file[name]) for name in file if not name.startswith("#")}


def _h5_value(file, item) -> np.ndarray | None:
    """One variable or cell, its axes turned back (MATLAB writes them in reverse); None for strings and structs."""
    kind = item.attrs.get("MATLAB_class", b"").decode()
    if not hasattr(item, "dtype") or kind in ("", "string", "struct", "function_handle"):
        return None
    if item.attrs.get("MATLAB_empty", 0):
        return np.array([], str)
    values = item[()].T
    if kind == "cell":
        cells = np.empty(values.size, object)
        for k, reference in enumerate(values.ravel()):
            cells[k] = _h5_value(file, file[reference])
        return cells
    if kind == "char":  # rows of UTF-16 code units
        rows = np.ascontiguousarray(np.atleast_2d(values), "<u2")
        values = np.array([row.tobytes().decode("utf-16-le", "replace").rstrip() for row in rows], str)
    return np.squeeze(values)
