"""MATLAB files: version 5 (and 7) through SciPy, version 7.3, which is HDF5, through h5py."""

import zlib
from collections.abc import Callable, Iterator
from functools import partial
from math import prod
from pathlib import Path
from struct import Struct
from typing import BinaryIO

import numpy as np
from scipy.io import loadmat, matlab, whosmat

from frkit.base import require
from frkit.data.files import BLOCK, check_in_child, narrow, need, not_read, reading

_WHY = "a MATLAB string array, struct, object or complex array; save strings as cellstr(...) and fields as variables"


def read_mat(path: Path) -> dict[str, np.ndarray]:
    """Read numbers, char matrices and cell arrays of char vectors; vectors lose their second axis."""
    with path.open("rb") as file:
        head = file.read(520)
    hdf5 = b"\x89HDF\r\n\x1a\n" in (
        head[:8],
        head[512:],
    )  # version 7.3 puts 512 bytes of its own in front
    if hdf5:
        need("h5py", "reading MATLAB 7.3 files")
    check_in_child(path)
    with reading("the MATLAB file"):
        variables = _read_hdf5(path) if hdf5 else _read_5(path)
    columns = {
        name: _plain(value) for name, value in variables.items() if not name.startswith("__")
    }
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


# --- version 5 -----------------------------------------------------------------------------------------------------

_MATRIX, _PACKED, _COMPLEX = 14, 15, 0x0800
_NUMERIC = range(6, 16)  # classes of arrays: double, single, integers
_STORED = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}


def _read_5(path: Path) -> dict[str, np.ndarray]:
    """All variables: tables of numbers block by block, the others as SciPy reads them."""
    large = {}
    if matlab.matfile_version(path, appendmat=False)[0] == 1:
        with path.open("rb") as file:
            large = dict(_tables(file))
    others = [name for name, *_ in whosmat(path) if name not in large]
    return loadmat(path, squeeze_me=True, chars_as_strings=True, variable_names=others) | large


def _tables(file: BinaryIO) -> Iterator[tuple[str, np.ndarray | None]]:
    """Arrays of numbers with more than one axis, each with its name; None where they are complex.

    These alone the child process has not read, because that would take all of the file's memory.
    """
    order = "<" if file.read(128)[126:] == b"IM" else ">"
    tag = Struct(f"{order}II")
    while len(head := file.read(8)) == 8:
        kind, size = tag.unpack(head)
        end = file.tell() + size
        packed = zlib.decompressobj() if kind == _PACKED else None
        read = partial(_unpacked, file, packed, end) if packed else file.read
        if packed:
            kind, _ = tag.unpack(read(8))
        if kind == _MATRIX:
            flags = np.frombuffer(_element(read, order)[1], f"{order}u4")[0]
            shape = tuple(np.frombuffer(_element(read, order)[1], f"{order}i4").tolist())
            name = _element(read, order)[1].decode("latin-1")
            if flags & 0xFF in _NUMERIC and sum(n > 1 for n in shape) > 1:
                values = None if flags & _COMPLEX else _turned(read, order, shape)
                if packed and values is not None:
                    read(8)  # what fills up the last eight bytes, and the check sum behind it
                    require(packed.eof, f"{name!r} is cut short")
                yield name, values
        file.seek(end)


def _unpacked(file: BinaryIO, packed, end: int, size: int) -> bytes:
    """The next bytes of a packed element."""
    found, more, got = bytearray(), b"", b" "
    while len(found) < size and (got or more) and not packed.eof:
        more = packed.unconsumed_tail or file.read(min(1 << 16, end - file.tell()))
        found += (got := packed.decompress(more, size - len(found)))
    return bytes(found)


def _element(
    read: Callable[[int], bytes], order: str, head_only: bool = False
) -> tuple[int, bytes | int]:
    """Kind and content of a part of a matrix, or its length alone; short ones stand in their own head."""
    first, second = Struct(f"{order}II").unpack(head := read(8))
    if first >> 16:
        return first & 0xFFFF, head[4 : 4 + (first >> 16)]
    return first, second if head_only else read(second + -second % 8)[:second]


def _turned(read: Callable[[int], bytes], order: str, shape: tuple[int, ...]) -> np.ndarray:
    """The numbers, which are stored with the last axis outermost."""
    kind, _ = _element(read, order, head_only=True)
    stored, inner = np.dtype(order + _STORED[kind]), prod(shape[:-1])
    step = max(1, BLOCK // max(1, inner))
    places = [slice(start, min(start + step, shape[-1])) for start in range(0, shape[-1], step)]

    def block(part: slice) -> np.ndarray:
        n = inner * (part.stop - part.start)
        return np.frombuffer(read(n * stored.itemsize), stored, n).reshape(-1, *shape[-2::-1]).T

    return narrow(shape, (((..., part), block(part)) for part in places))


# --- version 7.3 ---------------------------------------------------------------------------------------------------


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
    if kind not in ("cell", "char") and sum(size > 1 for size in item.shape) > 1:
        return np.squeeze(
            narrow(item.shape[::-1], ((place[::-1], item[place].T) for place in _places(item)))
        )
    values = item[()].T
    if kind == "cell":
        cells = np.empty(values.size, object)
        for k, reference in enumerate(values.ravel()):
            cells[k] = _h5_value(file, file[reference])
        return cells
    if kind == "char":  # rows of UTF-16 code units
        rows = np.ascontiguousarray(np.atleast_2d(values), "<u2")
        values = np.array(
            [row.tobytes().decode("utf-16-le", "replace").rstrip() for row in rows], str
        )
    return np.squeeze(values)


def _places(item) -> Iterator[tuple[slice, ...]]:
    """Where to read at a time: chunk by chunk, each of which is unpacked once, or some of the outermost axis."""
    if item.chunks:
        return item.iter_chunks()
    step, inner = max(1, BLOCK // max(1, prod(item.shape[1:]))), (slice(None),) * (item.ndim - 1)
    return ((slice(start, start + step), *inner) for start in range(0, item.shape[0], step))
