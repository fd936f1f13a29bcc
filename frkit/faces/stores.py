"""Faces Datasets back from netCDF and Zarr."""

import zipfile
from pathlib import Path

import numpy as np
import xarray as xr

from frkit.base import FEATURE, IDENTITY, IMAGE, MODEL, InputError, listed, require
from frkit.faces.files import PICKLED, need


def read_dataset(path: Path, kind: str) -> dict[str, np.ndarray]:
    """Read a stored faces Dataset as columns; attributes marked "keep" are listed in `image_attributes`."""
    ds = _load_zarr(path) if kind == "zarr" else _load_netcdf(path)
    require("embedding" in ds, f"no variable 'embedding'; the variables are {listed(ds.variables, 12)}")
    dims = ds["embedding"].dims
    require(
        set(dims) in ({IMAGE, FEATURE}, {MODEL, IMAGE, FEATURE}),
        f"embedding must have dims (image, feature) or (model, image, feature), got {dims}; rename them",
    )
    order = [dim for dim in (MODEL, IMAGE, FEATURE) if dim in dims]
    columns = {"embedding": ds["embedding"].transpose(*order).values}
    for name in ds.variables:
        if name != "embedding" and ds[name].dims in ((IMAGE,), (MODEL,)):
            columns[str(name)] = ds[name].values
    require(IDENTITY in columns, f"no coordinate 'identity'; the variables are {listed(ds.variables, 12)}")
    kept = [str(name) for name in columns if ds[name].attrs.get("varying") == "keep"]
    return columns | {"image_attributes": np.array(kept, str)}


def _load_netcdf(path: Path) -> xr.Dataset:
    try:
        return xr.load_dataset(path, decode_times=False)
    except (ValueError, OSError) as error:
        raise InputError(f"cannot be read as netCDF: {error}") from None


def _load_zarr(path: Path) -> xr.Dataset:
    zarr = need("zarr", "reading Zarr")
    good = path.is_dir() or zipfile.is_zipfile(path)
    require(good, "cannot be read as Zarr: it is neither a directory nor a zip")
    storage = zarr.storage
    store = storage.LocalStore(path, read_only=True) if path.is_dir() else storage.ZipStore(path, mode="r")
    try:
        with store:
            _refuse_pickles(zarr.open_group(store, mode="r"))
            return xr.load_dataset(store, engine="zarr", consolidated=False, decode_times=False)
    except InputError:
        raise
    except (ValueError, OSError, KeyError) as error:
        raise InputError(f"cannot be read as Zarr: {error}") from None


def _refuse_pickles(group) -> None:
    """Zarr 2 may hold arrays that only pickle can decode: look at the metadata before any value is read."""
    for name, array in group.arrays():
        codecs = [getattr(array.metadata, kind, None) for kind in ("filters", "compressor", "codecs")]
        require("pickle" not in repr(codecs).lower(), f"array {name!r} {PICKLED}")
