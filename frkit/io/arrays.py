"""Files of arrays as columns by name: NumPy, MATLAB, HDF5."""

import warnings

import numpy as np

from frkit.base import listed, require
from frkit.data.checks import ROWS
from frkit.data.files import named, need, reading
from frkit.data.stores import check_hdf5

CELLS = "all cells"  # of a file that is one array
UNREAD = np.empty(0, "V1")  # in place of a struct or an object


def read_npz(path):
    """Read all arrays of an .npz."""
    columns = {}
    # opened here, because NumPy leaves a file open whose archive is damaged
    with reading("the file"), open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
        for name in arrays.files:
            with reading(f"array {name!r}"):
                columns[name] = arrays[name]
    return columns


def read_npy(path, mmap_mode=None):
    """Read an .npy, or map it into memory."""
    with reading("the array"):
        array = np.load(path, mmap_mode=mmap_mode, allow_pickle=False)
    require(isinstance(array, np.ndarray), "is an .npz, not an .npy; rename it to .npz")
    return array


class OnDisk:
    """An .npy that is mapped again for each block, so that only its name is sent to processes."""

    def __init__(self, path):
        array = read_npy(path, mmap_mode="r")
        self.path = path.resolve()
        self.shape, self.dtype, self.ndim = array.shape, array.dtype, array.ndim

    def __getitem__(self, index):
        with named(self.path):
            return np.array(read_npy(self.path, mmap_mode="r")[index])


def read_array(path):
    """Read the array of an .npy; with rows and columns it stays on disk until it is compared."""
    stored = OnDisk(path)
    is_column = stored.ndim == 1 or 1 in stored.shape
    return {CELLS: read_npy(path) if is_column else stored}


def as_embedding(array):
    """Return an array as it is, but one on disk for dask, which reads some rows at a time."""
    if not isinstance(array, OnDisk):
        return array
    import dask.array as da

    chunks = (*(1,) * (array.ndim - 2), ROWS, -1)
    return da.from_array(array, chunks=chunks, asarray=False)


def read_mat(path):
    """Read numbers and text of a MATLAB file; vectors lose their second axis."""
    from scipy.io import loadmat

    with reading("the MATLAB file"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what cannot be read is named below
        try:
            variables = loadmat(path, simplify_cells=True)
        except NotImplementedError:
            pymatreader = need("pymatreader", "reading MATLAB 7.3 files", "pymatreader")
            check_hdf5(path)
            variables = pymatreader.read_mat(path)
    return {
        str(name): _plain(variable)
        for name, variable in variables.items()
        if not str(name).startswith(("__", "#"))
    }


def _plain(variable):
    """Return a column of numbers or text; UNREAD for anything else."""
    if isinstance(variable, np.ndarray) and variable.dtype == object:
        variable = variable.ravel().tolist()
    if isinstance(variable, list):  # a cell array; an empty cell is a missing label
        cells = [None if np.size(cell) == 0 else cell for cell in variable]
        is_flat = all(np.ndim(cell) == 0 for cell in cells)
        return np.array(cells, object) if is_flat else UNREAD
    column = np.asarray(variable)
    return column if column.dtype != object else UNREAD


def read_hdf5(path):
    """Read the arrays of numbers and text at the top of an HDF5 file, in memory."""
    import h5py

    check_hdf5(path)
    with reading("the HDF5 file"), h5py.File(path, "r") as file:
        members = {str(name): file[name] for name in file}
        arrays = {name: item for name, item in members.items() if isinstance(item, h5py.Dataset)}
        require(
            arrays,
            f"has no array at the top, but groups {listed(members)}. In Python: "
            "fk.faces(file['group/features'][:], file['group/people'].asstr()[:]), or where each "
            "group is a person, fk.faces(np.concatenate([each['features'][:] for each in "
            "file.values()]), np.repeat([*file], [len(each['features']) for each in "
            "file.values()])), with file = h5py.File(path)",
        )
        texts = [name for name, item in arrays.items() if h5py.check_string_dtype(item.dtype)]
        arrays |= {name: arrays[name].asstr("utf-8") for name in texts}
        return {name: np.asarray(item[()]) for name, item in arrays.items()}


READERS = {
    "npz": read_npz,
    "npy": read_array,
    "mat": read_mat,
    "hdf5": read_hdf5,
}
