"""MATLAB files: version 5 (and 7) through SciPy, version 7.3, which is HDF5, through h5py."""

from pathlib import Path

import numpy as np

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
        columns = _read_hdf5(path) if hdf5 else _read_v5(path)
    not_read([repr(name) for name, value in columns.items() if value is None], _WHY)
    return {name: value for name, value in columns.items() if value is not None}


def _read_v5(path: Path) -> dict[str, np.ndarray | None]:
    from scipy.io import loadmat

    variables = loadmat(path, squeeze_me=True, chars_as_strings=True)
    return {name: _plain(value) for name, value in variables.items() if not name.startswith("__")}


def _plain(value: np.ndarray) -> np.ndarray | None:
    """A column of numbers or text; None for what is neither."""
    value = np.asarray(value)
    if value.dtype.names is not None or value.dtype.kind == "V":
        return None
    if value.dtype.kind != "O":
        return value
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
        return {name: _h5_column(file, file[name]) for name in file if not name.startswith("#")}


def _h5_column(file, item) -> np.ndarray | None:
    """One variable, its axes turned back (MATLAB writes them in reverse)."""
    kind = _matlab_class(item)
    if not hasattr(item, "dtype") or kind in ("string", "struct", "function_handle"):
        return None
    if kind == "cell":
        cells = [_h5_cell(file[ref]) for ref in item[()].T.ravel()]
        return None if any(cell is NotImplemented for cell in cells) else np.array(cells, object)
    if kind == "char":
        return np.squeeze(_h5_text(item))
    if kind is None:
        return item.asstr()[()] if item.dtype.kind == "O" else item[()]
    return np.squeeze(item[()].T)


def _h5_cell(item):
    if not hasattr(item, "dtype") or _matlab_class(item) in ("string", "cell", "struct"):
        return NotImplemented
    if item.attrs.get("MATLAB_empty", 0):
        return None
    return _cell(np.squeeze(_h5_text(item)) if _matlab_class(item) == "char" else item[()])


def _h5_text(item) -> np.ndarray:
    """The rows of a char matrix, stored as UTF-16 code units."""
    if item.attrs.get("MATLAB_empty", 0):
        return np.array([], str)
    rows = np.ascontiguousarray(np.atleast_2d(item[()].T), "<u2")
    return np.array([row.tobytes().decode("utf-16-le", "replace").rstrip() for row in rows], str)


def _matlab_class(item) -> str | None:
    kind = item.attrs.get("MATLAB_class")
    return kind.decode() if isinstance(kind, bytes) else kind
