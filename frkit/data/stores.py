"""HDF5 and Zarr files that frkit wrote or reads: opened whole, and never unpickled."""

import xarray as xr

from frkit.base import require
from frkit.data.files import PICKLED, check_regular, need, reading


def open_tree(path, kind_of_file: str) -> xr.DataTree:
    """Read a tree from a netCDF file or a Zarr store, all of it at once."""
    check_regular(path)
    if path.is_dir() or path.name.endswith(".zip"):
        return _open_zarr(path, kind_of_file)
    check_hdf5(path)
    with reading(kind_of_file), xr.open_datatree(path, engine="h5netcdf") as tree:
        return tree.load()


def _open_zarr(path, kind_of_file):
    """Read a tree from a Zarr store, a folder or a .zip, none of whose arrays is pickled."""
    zarr = need("zarr", "reading Zarr", "zarr")
    open_store = zarr.storage.LocalStore if path.is_dir() else zarr.storage.ZipStore
    with reading(kind_of_file), open_store(path, read_only=True) as store:
        for name, member in zarr.open_group(store, mode="r").members(max_depth=None):
            # among the codecs; the words of a user's attributes come along
            is_pickled = "pickle" in repr(member.metadata).lower()
            require(
                not (isinstance(member, zarr.Array) and is_pickled), f"array {name!r} {PICKLED}"
            )
        return xr.open_datatree(store, engine="zarr", consolidated=False).load()


# --- HDF5 that reads other files -----------------------------------------------------------------


def check_hdf5(path) -> None:
    """Refuse an HDF5 file that reads other files."""
    with reading("the HDF5 file"):
        _check_links(path)


def _check_links(path):
    """Refuse external links, and data sets whose values are in other files."""
    import h5py

    def stored_elsewhere(name, link):
        """Return the name of what is stored elsewhere, which ends the visit."""
        if isinstance(link, h5py.ExternalLink):
            return name
        item = file[name]
        has_source = isinstance(item, h5py.Dataset) and (item.external or item.is_virtual)
        return name if has_source else None

    if h5py.is_hdf5(path):
        with h5py.File(path, "r") as file:
            name = file.visititems_links(stored_elsewhere)
        require(
            name is None,
            f"its {name!r} is stored in another file, which frkit does not read: copy the values "
            "into this file",
        )
