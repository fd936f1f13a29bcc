"""Files of arrays, and what every reader of files says: name in front, what cannot be read, what to install."""

import gzip
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from math import prod
from pathlib import Path
from types import ModuleType

import numpy as np
import xarray as xr

from frkit.base import FEATURE, IMAGE, MODEL, InputError, listed, require, warn
from frkit.data.checks import ROWS

PICKLED = (
    "can only be read by unpickling, which may run any code, so frkit refuses; "
    "save numbers as a numeric array and labels as text, e.g. np.savez(path, embedding=np.asarray(embedding, "
    "'float32'), identity=[str(name) for name in identity]), where a missing label is ''"
)
KINDS = {
    ".npz": "npz", ".npy": "npy", ".csv": "text", ".tsv": "text", ".csv.gz": "text", ".tsv.gz": "text",
    ".txt": "lines", ".parquet": "parquet", ".pq": "parquet", ".mat": "mat", ".zarr": "zarr",
    ".zarr.zip": "zarr", ".nc": "netcdf", ".nc4": "netcdf", ".cdf": "netcdf",
}  # fmt: skip
BLOCK = 250_000  # numbers of a file that are read at a time, where they become float32
_UNPACKED, _RATIO = (
    200_000_000,
    100,
)  # bytes that any file may unpack to, and how often its own size
_PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".joblib", ".p")


def beside(path: Path, ends: tuple[str, ...], what: str, remedy: str) -> Path:
    """The one file beside an .npy that has its stem and one of these endings."""
    found = [one for end in ends if (one := path.with_name(path.stem + end)).exists()]
    there = f"{'several' if found else 'no'} {path.stem}{', '.join(ends)} beside it"
    require(len(found) == 1, f"an .npy needs {what}: {there}; say labels={remedy}")
    return found[0]


@contextmanager
def named(path) -> Iterator[None]:
    """Put the file's name in front of every message about it, unless it tells of another file already."""
    try:
        yield
    except InputError as error:
        if not hasattr(error, "file"):
            error.file, error.args = path, (f"{path}: {error}",)
        raise


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn whatever a library raises over a bad file into an InputError."""
    try:
        yield
    except InputError:
        raise
    except UnicodeDecodeError as error:
        code = "UTF-16" if error.object[:2] in (b"\xff\xfe", b"\xfe\xff") else "Latin-1 or the like"
        raise InputError(
            f"not UTF-8 text but, it seems, {code} ({error}); save it again as UTF-8"
        ) from None
    except EOFError as error:
        raise InputError(f"{what} is truncated ({error}): copy or download it again") from None
    except MemoryError as error:
        raise InputError(
            f"{what} does not fit into memory ({error}): is the file damaged? otherwise cut it"
        ) from None
    except Exception as error:
        pickled = any(words in str(error) for words in ("allow_pickle", "Python objects"))
        said = f"{error}" or type(error).__name__
        remedy = "the file may be damaged or cut short: copy or write it again"
        raise InputError(
            f"{what} {PICKLED}" if pickled else f"{what} cannot be read: {said}; {remedy}"
        ) from None


def may_hold(path: Path) -> int:
    """Bytes that a file, or a folder of files, may honestly unpack to."""
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    return max(_UNPACKED, _RATIO * sum(file.stat().st_size for file in files))


def check_unpacked(size: int, path: Path) -> None:
    """Refuse a file that unpacks to more than such a file can honestly hold."""
    limit = may_hold(path)
    words = f"it unpacks to {size / 1e9:.3g} GB, the limit for a file of its size is {limit / 1e9:.3g} GB"
    require(size <= limit, f"{words}; unpack it first")


def check_in_child(path: Path) -> None:
    """Have all of a file read once in a process of its own, because libraries crash or hang over damaged ones."""
    most, script = may_hold(path), Path(__file__).with_name("trial.py")
    seconds = 1 + most // _RATIO // 4_000_000
    command = [sys.executable, "-P", str(script), str(path), str(most), str(seconds)]
    one_thread = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        child = subprocess.run(
            command, capture_output=True, timeout=60 + 10 * seconds, env=one_thread
        )
    except OSError:  # no process can be started here
        return
    except subprocess.TimeoutExpired:
        raise InputError(
            f"it takes more than {seconds} s to read: the file is damaged; write it again"
        ) from None
    wrong = child.stdout.decode("utf-8", "replace")
    wrong = (
        wrong or child.returncode and f"its library crashes or hangs (exit code {child.returncode})"
    )
    require(
        not wrong,
        f"cannot be read: {wrong}; the file may be damaged or not what its name says: write it again",
    )


def need(module: str, purpose: str, package: str | None = None) -> ModuleType:
    """Import an optional package, or say what to install."""
    try:
        return import_module(module)
    except ImportError:
        package = package or module.partition(".")[0]
        raise InputError(
            f"{purpose} needs a package: install it with pip install {package}"
        ) from None


def not_read(names: list[str], why: str) -> None:
    """Warn about columns that were left aside."""
    if names:
        warn(f"not read: {', '.join(names)} ({why})")


def file_kind(path: Path) -> str:
    """Tell the format from the name; raise InputError for what cannot or must not be read."""
    require(path.exists(), "there is no such file")
    require(
        path.is_file() or path.is_dir(),
        "is neither a file nor a folder, but a pipe or a device; give a file",
    )
    name = path.name.lower()
    require(not name.endswith(_PICKLES), f"a {path.suffix} file {PICKLED}")
    ends = [end for end in KINDS if name.endswith(end)]
    kind = (
        KINDS[max(ends, key=len)] if ends else "zarr" if path.is_dir() else _kind_of_content(path)
    )
    require(
        kind is not None,
        f"unknown format; frkit reads {', '.join(KINDS)}, and text of any other name",
    )
    return kind


def opener(path: Path) -> Callable:
    """What opens the file, plain or .gz."""
    return gzip.open if path.name.lower().endswith(".gz") else open


def _kind_of_content(path: Path) -> str | None:
    """Text under any name, plain or .gz, is a table; nothing else is guessed."""
    with reading("the file"), opener(path)(path, "rb") as file:
        head = file.read(4096)
    return "text" if head.strip() and b"\0" not in head else None


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """Read all arrays of an .npz."""
    columns = {}
    if zipfile.is_zipfile(path):
        with reading("the file"), zipfile.ZipFile(path) as archive:
            check_unpacked(sum(entry.file_size for entry in archive.infolist()), path)
    # opened here, because NumPy leaves a file open whose archive is damaged
    with reading("the file"), open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
        require(hasattr(arrays, "files"), "is no .npz but a single array; rename it to .npy")
        for key in arrays.files:
            with reading(f"array {key!r}"):
                large = _large_array(arrays.zip, f"{key}.npy")
                columns[key] = arrays[key] if large is None else large
    return columns


def _large_array(archive: zipfile.ZipFile, member: str) -> np.ndarray | None:
    """A table of numbers wider than float32, read block by block; None for anything else."""
    if member not in archive.namelist():
        return None
    with archive.open(member) as file:
        if np.lib.format.read_magic(file) != (1, 0):
            return None
        shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
        if not to_narrow(shape, dtype):
            return None
        size = prod(shape)
        places = (slice(start, min(start + BLOCK, size)) for start in range(0, size, BLOCK))
        numbers = ((place, place.stop - place.start) for place in places)
        blocks = (
            (place, np.frombuffer(file.read(n * dtype.itemsize), dtype, n)) for place, n in numbers
        )
        return narrow((size,), blocks).reshape(shape, order="F" if by_columns else "C")


def to_narrow(shape: tuple[int, ...], dtype: np.dtype) -> bool:
    """Whether an array may be an embedding (labels have one long axis) of numbers that take more than float32 does."""
    return sum(size > 1 for size in shape) > 1 and dtype.kind in "fiu" and dtype.itemsize > 4


def narrow(shape: tuple[int, ...], blocks: Iterable[tuple]) -> np.ndarray:
    """What is read block by block, (place, numbers), as float32; as float64 if that cannot hold one of the numbers."""
    values = np.empty(shape, np.float32)
    for place, block in blocks:
        values = wide_enough(values, block)
        values[place] = block
    return values


def wide_enough(values: np.ndarray, block: np.ndarray) -> np.ndarray:
    """The values as float64, once there is a number in the block that float32 cannot hold."""
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # the part that is not filled yet may hold anything
        fits = (
            values.dtype == np.float64
            or (np.isfinite(block.astype(np.float32)) == np.isfinite(block)).all()
        )
        return values if fits else values.astype(np.float64)


def read_npy(path: Path, mmap_mode: str | None = None) -> np.ndarray:
    """Read an .npy, or map it into memory."""
    with reading("the array"):
        with open(path, "rb") as file:
            require(file.read(2) != b"PK", "is no .npy but an .npz; rename it to .npz")
        return np.load(path, mmap_mode=mmap_mode, allow_pickle=False)


class OnDisk:
    """An .npy that is mapped anew for each block: tasks sent to other processes carry its name only."""

    def __init__(self, path: Path) -> None:
        array = read_npy(path, mmap_mode="r")
        self.path, self.shape, self.dtype, self.ndim = (
            path.resolve(),
            array.shape,
            array.dtype,
            array.ndim,
        )

    def __getitem__(self, index) -> np.ndarray:
        with named(self.path):
            return np.array(read_npy(self.path, mmap_mode="r")[index])

    def __dask_tokenize__(self) -> tuple:
        return str(self.path), self.path.stat().st_mtime_ns, self.shape, str(self.dtype)


def read_dataset(path: Path, kind: str) -> dict[str, np.ndarray]:
    """Read a stored faces Dataset as columns; attributes marked "keep" are listed in `image_attributes`."""
    if kind == "zarr":
        ds = _load_zarr(path)
    else:
        check_in_child(path)
        with reading("the netCDF file"), xr.open_dataset(path, decode_times=False) as stored:
            ds = _in_memory(stored)
    require(
        "embedding" in ds, f"no variable 'embedding'; the variables are {listed(ds.variables, 12)}"
    )
    dims = ds["embedding"].dims
    fits = set(dims) in ({IMAGE, FEATURE}, {MODEL, IMAGE, FEATURE})
    require(
        fits,
        f"embedding must have dims (image, feature) or (model, image, feature), got {dims}; rename them",
    )
    columns = {
        str(name): ds[name].values for name in ds.variables if ds[name].dims in ((IMAGE,), (MODEL,))
    }
    for name, values in columns.items():
        require(
            _is_text(values),
            f"{name!r} holds what is no text: the file may be damaged, write it again",
        )
    kept = [name for name in columns if ds[name].attrs.get("varying") == "keep"]
    embedding = ds["embedding"].transpose(..., IMAGE, FEATURE)
    return columns | {"embedding": embedding.data, "image_attributes": np.array(kept, str)}


def _load_zarr(path: Path) -> xr.Dataset:
    zarr = need("zarr", "reading Zarr", "frkit[zarr]")
    require(
        path.is_dir() or zipfile.is_zipfile(path),
        "cannot be read as Zarr: it is neither a directory nor a zip",
    )
    with reading("the Zarr store"):
        open_store = zarr.storage.LocalStore if path.is_dir() else zarr.storage.ZipStore
        with open_store(path, read_only=True) as store:
            for name, array in zarr.open_group(store, mode="r").arrays():
                # Zarr 2 may hold arrays that only pickle can decode: the metadata tell before any value is read
                codecs = [
                    getattr(array.metadata, kind, None)
                    for kind in ("filters", "compressor", "codecs")
                ]
                require("pickle" not in repr(codecs).lower(), f"array {name!r} {PICKLED}")
                lost = array.nchunks - array.nchunks_initialized
                require(
                    lost == 0,
                    f"array {name!r} lacks {lost} of {array.nchunks} chunks: they are lost, or were left out because "
                    "all values are the fill value; write it with write_empty_chunks=True",
                )
            check_in_child(path)
            ds = xr.open_dataset(
                store, engine="zarr", chunks=None, consolidated=False, decode_times=False
            )
            return _embedding_stays(ds) if path.is_dir() and "embedding" in ds else _in_memory(ds)


def _is_text(values: np.ndarray) -> bool:
    """Whether text of fixed length holds characters only: Python breaks over a number that stands for none."""
    if values.dtype.kind != "U" or values.dtype.itemsize == 0:
        return True
    codes = np.ascontiguousarray(values).view(f"{values.dtype.str[0]}u4")
    return bool(((codes < 0xD800) | (codes > 0xDFFF) & (codes <= 0x10FFFF)).all())


def _embedding_stays(ds: xr.Dataset) -> xr.Dataset:
    """The Dataset in memory but for its embedding, of which some rows are read at a time, in whole chunks."""
    embedding = ds["embedding"].chunk({IMAGE: _whole_chunks(ds["embedding"]), FEATURE: -1})
    return ds.drop_vars("embedding").load().assign(embedding=embedding)


def _in_memory(ds: xr.Dataset) -> xr.Dataset:
    """The Dataset in memory, its embedding read some rows at a time where it takes more than float32 does."""
    embedding = ds.get("embedding")
    if (
        embedding is None
        or IMAGE not in embedding.dims
        or not to_narrow(embedding.shape, embedding.dtype)
    ):
        return ds.load()
    before = (slice(None),) * embedding.get_axis_num(IMAGE)
    rows = _whole_chunks(embedding)
    places = [
        (*before, slice(start, start + rows)) for start in range(0, embedding.sizes[IMAGE], rows)
    ]
    values = narrow(embedding.shape, ((place, embedding[place].values) for place in places))
    return ds.drop_vars("embedding").load().assign(embedding=embedding.copy(data=values))


def _whole_chunks(embedding: xr.DataArray) -> int:
    """Rows that are read at a time: those of whole chunks, each of which is unpacked once."""
    stored = embedding.encoding.get("preferred_chunks", {}).get(IMAGE, 1)
    return -(-ROWS // stored) * stored
