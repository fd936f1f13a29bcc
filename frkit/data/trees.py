"""Trees of labelled arrays in files: evaluations and kept pairs."""

import xarray as xr

from frkit.data.arrays import zarr_store
from frkit.data.files import check_regular, reading
from frkit.data.hdf5 import check_heaps


def open_tree(path, what: str) -> xr.DataTree:
    """Read a tree from a netCDF file or a Zarr store, all of it at once. what : for messages."""
    check_regular(path)
    if path.is_dir() or path.name.endswith(".zip"):
        with reading(what), zarr_store(path) as (store, _):
            return xr.open_datatree(store, engine="zarr", consolidated=False).load()
    check_heaps(path)
    with reading(what), xr.open_datatree(path, engine="h5netcdf") as tree:
        return tree.load()
