"""HDF5 and Zarr files that frkit wrote or reads: opened whole, and never unpickled."""

from contextlib import contextmanager

import xarray as xr

from frkit.base import require
from frkit.data.files import PICKLED, check_regular, need, reading


def open_tree(path, kind_of_file: str) -> xr.DataTree:
    """Read a tree from a netCDF file or a Zarr store, all of it at once."""
    check_regular(path)
    if path.is_dir() or path.name.endswith(".zip"):
        with reading(kind_of_file), zarr_store(path) as (store, _):
            return xr.open_datatree(store, engine="zarr", consolidated=False).load()
    check_hdf5(path)
    with reading(kind_of_file), xr.open_datatree(path, engine="h5netcdf") as tree:
        return tree.load()


@contextmanager
def zarr_store(path):
    """Open a Zarr store, a folder or a .zip, with its arrays by name, none of them pickled."""
    zarr = need("zarr", "reading Zarr", "zarr")
    open_store = zarr.storage.LocalStore if path.is_dir() else zarr.storage.ZipStore
    with open_store(path, read_only=True) as store:
        members = zarr.open_group(store, mode="r").members(max_depth=None)
        arrays = {name: each for name, each in members if isinstance(each, zarr.Array)}
        for name, array in arrays.items():
            # among the codecs; the words of a user's attributes come along
            require("pickle" not in repr(array.metadata).lower(), f"array {name!r} {PICKLED}")
        yield store, arrays


# --- HDF5 that reads other files -----------------------------------------------------------------


def check_hdf5(path) -> None:
    """Refuse an HDF5 file that reads other files."""
    with reading("the HDF5 file"):
        _check_links(path)


def _check_links(path):
    """Refuse external links, and data sets whose values are in other files."""
    import h5py

    if not h5py.is_hdf5(path):
        return
    with h5py.File(path, "r") as file:
        groups = [file]
        seen = set()
        while groups:
            group = groups.pop()
            for name in group:
                link = group.get(name, getlink=True)
                is_elsewhere = isinstance(link, h5py.ExternalLink)
                item = None if is_elsewhere else group[name]
                if isinstance(item, h5py.Dataset):
                    is_elsewhere = item.external is not None or item.is_virtual
                elif isinstance(item, h5py.Group) and item.id not in seen:
                    seen.add(item.id)
                    groups.append(item)
                require(
                    not is_elsewhere,
                    f"its {name!r} is stored in another file, which frkit does not read: copy the "
                    "values into this file",
                )
