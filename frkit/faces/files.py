"""Files of arrays, and what every reader of files says: name in front, what cannot be read, what to install."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import xarray as xr

from frkit.base import FEATURE, IMAGE, MODEL, InputError, listed, require, warn

PICKLED = (
    "can only be read by unpickling, which may run any code, so frkit refuses; "
    "save numbers as a numeric array and labels as text, e.g. np.savez(path, embedding=np.asarray(embedding, "
    "'float32'), identity=np.asarray(identity, str))"
)
_KINDS = {
    ".npz": "npz", ".npy": "npy", ".csv": "text", ".tsv": "text", ".csv.gz": "text", ".tsv.gz": "text",
    ".txt": "lines", ".parquet": "parquet", ".pq": "parquet", ".mat": "mat", ".zarr": "zarr",
    ".zarr.zip": "zarr", ".nc": "netcdf", ".nc4": "netcdf", ".cdf": "netcdf",
}  # fmt: skip
_PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".joblib", ".p")


@contextmanager
def named(path) -> Iterator[None]:
    """Put the file's name in front of every message about it, unless it tells of another file already."""
    try:
        yield
    except InputError as error:
        if hasattr(error, "file"):
            raise
        with_name = InputError(f"{path}: {error}")
        with_name.file = path
        raise with_name from None


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn whatever a library raises over a bad file into an InputError."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text ({error}); save it again as UTF-8") from None
    except Exception as error:
        pickled = any(words in str(error) for words in ("allow_pickle", "Python objects"))
        raise InputError(f"{what} {PICKLED}" if pickled else f"{what} cannot be read: {error}") from None


def need(module: str, purpose: str, package: str | None = None) -> ModuleType:
    """Import an optional package, or say what to install."""
    try:
        return import_module(module)
    except ImportError:
        package = package or module.partition(".")[0]
        raise InputError(f"{purpose} needs a package: install it with pip install {package}") from None


def not_read(names: list[str], why: str) -> None:
    """Warn about columns that were left aside."""
    if names:
        warn(f"not read: {', '.join(names)} ({why})")


def file_kind(path: Path) -> str:
    """Tell the format from the name; raise InputError for what cannot or must not be read."""
    require(path.exists(), "there is no such file")
    name = path.name.lower()
    require(not name.endswith(_PICKLES), f"a {path.suffix} file {PICKLED}")
    ends = [end for end in _KINDS if name.endswith(end)]
    kind = _KINDS[max(ends, key=len)] if ends else "zarr" if path.is_dir() else None
    require(kind is not None, f"unknown format; frkit reads {', '.join(_KINDS)}")
    return kind


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """Read all arrays of an .npz."""
    columns = {}
    with reading("the file"), np.load(path, allow_pickle=False) as arrays:
        require(hasattr(arrays, "files"), "is no .npz but a single array; rename it to .npy")
        for key in arrays.files:
            with reading(f"array {key!r}"):
                columns[key] = arrays[key]
    return columns


def read_npy(path: Path, mmap_mode: str | None = None) -> np.ndarray:
    """Read an .npy, or map it into memory."""
    with reading("the array"):
        array = np.load(path, mmap_mode=mmap_mode, allow_pickle=False)
    require(isinstance(array, np.ndarray), "is no .npy but an .npz; rename it to .npz")
    return array


def read_dataset(path: Path, kind: str) -> dict[str, np.ndarray]:
    """Read a stored faces Dataset as columns; attributes marked "keep" are listed in `image_attributes`."""
    if kind == "zarr":
        ds = _load_zarr(path)
    else:
        with reading("the netCDF file"):
            ds = xr.load_dataset(path, decode_times=False)
    require("embedding" in ds, f"no variable 'embedding'; the variables are {listed(ds.variables, 12)}")
    dims = ds["embedding"].dims
    require(
        set(dims) in ({IMAGE, FEATURE}, {MODEL, IMAGE, FEATURE}),
        f"embedding must have dims (image, feature) or (model, image, feature), got {dims}; rename them",
    )
    columns = {str(name): ds[name].values for name in ds.variables if ds[name].dims in ((IMAGE,), (MODEL,))}
    kept = [name for name in columns if ds[name].attrs.get("varying") == "keep"]
    embedding = ds["embedding"].transpose(..., IMAGE, FEATURE).values
    return columns | {"embedding": embedding, "image_attributes": np.array(kept, str)}


def _load_zarr(path: Path) -> xr.Dataset:
    zarr = need("zarr", "reading Zarr", "frkit[zarr]")
    require(path.is_dir() or zipfile.is_zipfile(path), "cannot be read as Zarr: it is neither a directory nor a zip")
    with reading("the Zarr store"):
        open_store = zarr.storage.LocalStore if path.is_dir() else zarr.storage.ZipStore
        with open_store(path, read_only=True) as store:
            for name, array in zarr.open_group(store, mode="r").arrays():
                # Zarr 2 may hold arrays that only pickle can decode: the metadata tell before any value is read
                codecs = [getattr(array.metadata, kind, None) for kind in ("filters", "compressor", "codecs")]
                require("pickle" not in repr(codecs).lower(), f"array {name!r} {PICKLED}")
            return xr.load_dataset(store, engine="zarr", consolidated=False, decode_times=False)
