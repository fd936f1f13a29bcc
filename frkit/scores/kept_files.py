"""Files of kept pairs."""

import xarray as xr

from frkit.base import require
from frkit.data.arrays import open_tree
from frkit.data.files import file_kind
from frkit.data.hdf5 import check_heaps
from frkit.scores.kept import DESIGN, IMAGES, is_list, model_names_of, node_of_model

OPTIONS = {"netcdf": {"engine": "h5netcdf"}, "zarr": {"engine": "zarr", "consolidated": False}}


def contains_kept_pairs(path) -> bool:
    """Whether a file is of kept pairs, as `kept.to_netcdf(path)` or `.to_zarr` writes them."""
    options = OPTIONS.get(file_kind(path))
    if options is None:
        return False
    try:
        if path.is_file():
            check_heaps(path)
        with xr.open_dataset(path, **options) as root:
            return DESIGN in root.attrs
    except Exception:  # its own reader says what is wrong with it
        return False


def open_kept(path) -> xr.DataTree:
    """Read kept pairs; the whole file is read at once."""
    kept = open_tree(path, "the kept pairs")
    if is_list(kept):
        require("score" in kept and "genuine" in kept.coords, "they contain no scored pairs")
        return kept
    nodes = {f"/{node_of_model(name)}" for name in model_names_of(kept) or [None]}
    absent = sorted({f"/{IMAGES}", *nodes} - {*kept.groups})
    require(not absent, f"these kept pairs are not complete: they have no {', '.join(absent)}")
    return kept
