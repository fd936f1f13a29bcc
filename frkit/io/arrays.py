"""Files of arrays as columns by name: NumPy, MATLAB, HDF5; and folders of .npy."""

import warnings

import numpy as np

from frkit.base import InputError, listed, require
from frkit.data.checks import ROWS
from frkit.data.files import named, need, not_read, reading
from frkit.data.stores import check_hdf5
from frkit.io.names import is_known_name

LABEL_FILES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".txt")
CELLS = "all cells"  # of a file that is one array
FEWEST_NAMES = 8  # arrays of which each can be an image

MATLAB_TYPES = (
    "a MATLAB string array, one of several structs, object or complex array; save strings as "
    "cellstr(...), a table as table2struct(t, 'ToScalar', true)"
)


def read_npz(path):
    """Read all arrays of an .npz."""
    columns = {}
    # opened here, because NumPy leaves a file open whose archive is damaged
    with reading("the file"), open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
        for name in arrays.files:
            with reading(f"array {name!r}"):
                columns[name] = arrays[name]
                require(columns[name].dtype.kind != "c", "has complex numbers: give real ones")
    return columns


def read_npy(path, mmap_mode=None):
    """Read an .npy, or map it into memory."""
    with reading("the array"):
        array = np.load(path, mmap_mode=mmap_mode, allow_pickle=False)
    require(isinstance(array, np.ndarray), "is an .npz, not an .npy; rename it to .npz")
    return array


def read_folder(path):
    """Read a folder with an .npy for each image, perhaps in folders of people."""
    files = sorted(file for file in path.rglob("*.npy") if not file.name.startswith("."))
    others = listed(file.name for file in path.iterdir()) or "nothing"
    require(len(files) > 0, f"is a folder without .npy files; it contains {others}")
    vectors = {}
    for file in files:
        with named(file):
            vector = read_npy(file).squeeze()
            vectors[file.relative_to(path).with_suffix("").as_posix()] = vector
            first = next(iter(vectors.values())).shape
            require(
                vector.ndim == 1 and vector.shape == first,
                f"must have one embedding, of as many numbers as the first file of the folder, "
                f"but has shape {vector.shape}; the first has {first}",
            )
    return vectors_by_name(vectors)


def vectors_by_name(vectors):
    """Return the embeddings and names of images as columns."""
    return {"embedding": np.stack([*vectors.values()]), "image": np.array([*vectors])}


def are_vectors_by_name(arrays):
    """Return whether each array is the embedding of the image that has its name."""
    if len(arrays) < FEWEST_NAMES or any(map(is_known_name, arrays)):
        return False
    is_vector = all(array.dtype.kind == "f" and array.ndim == 1 for array in arrays.values())
    return is_vector and len({len(array) for array in arrays.values()}) == 1


def labels_beside(path):
    """Return the file of labels next to an .npy that has its name."""
    others = [other for other in path.parent.iterdir() if other != path and _may_be_labels(other)]
    present = [other for other in others if other.name.startswith(f"{path.stem}.")]
    if len(present) != 1:
        names = listed(sorted(other.name for other in others)) or "no file of labels"
        raise InputError(
            "embeddings or a score matrix in an .npy need labels, a table with a row for each "
            f"image; next to it there is {names}",
            [{"labels": str(other)} for other in others if len(others) < 4],
        )
    return present[0]


def _may_be_labels(path):
    """Return whether a file may be labels of images: a table, lines of text or one array."""
    try:
        return path.name.lower().endswith(LABEL_FILES) or (
            path.suffix == ".npy" and read_npy(path, mmap_mode="r").ndim == 1
        )
    except InputError:  # a damaged array
        return False


class OnDisk:
    """An .npy that is mapped again for each block, so that only its name is sent to processes."""

    def __init__(self, path):
        array = read_npy(path, mmap_mode="r")
        self.path = path.resolve()
        self.shape, self.dtype, self.ndim = array.shape, array.dtype, array.ndim

    def __getitem__(self, index):
        with named(self.path):
            return np.array(read_npy(self.path, mmap_mode="r")[index])

    def __dask_tokenize__(self):
        return str(self.path), self.path.stat().st_mtime_ns, self.shape, str(self.dtype)


def read_array(path):
    """Read the array of an .npy; with rows and columns it stays on disk until it is compared."""
    stored = OnDisk(path)
    require(
        not stored.dtype.names,
        "is a structured array: save its fields as arrays, np.savez('faces.npz', **{name: array["
        "name] for name in array.dtype.names})",
    )
    return {CELLS: stored if stored.ndim > 1 else read_npy(path)}


def as_embedding(stored):
    """Return an array on disk as an embedding, of which dask reads some rows at a time."""
    import dask.array as da

    chunks = (*(1,) * (stored.ndim - 2), ROWS, -1)
    return da.from_array(stored, chunks=chunks, asarray=False)


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
    columns = {
        str(name): variable
        for name, variable in variables.items()
        if not str(name).startswith(("__", "#"))
    }
    if len(columns) == 1:  # perhaps a struct, whose fields are the columns
        columns = next((fields for fields in columns.values() if isinstance(fields, dict)), columns)
    columns = {name: _plain(variable) for name, variable in columns.items()}
    not_read([name for name in columns if columns[name] is None], MATLAB_TYPES)
    return {name: column for name, column in columns.items() if column is not None}


def _plain(variable):
    """Return a column of real numbers or text; None for anything else."""
    if isinstance(variable, np.ndarray) and variable.dtype == object:
        variable = variable.ravel().tolist()
    if isinstance(variable, list):  # a cell array; an empty cell is a missing label
        cells = [None if np.size(cell) == 0 else cell for cell in variable]
        is_flat = all(np.ndim(cell) == 0 for cell in cells)
        return np.array(cells, object) if is_flat else None
    column = np.asarray(variable)
    return column if column.dtype.kind in "biufU" else None


def read_hdf5(path):
    """Read the arrays of numbers and text at the top of an HDF5 file, or in its only group."""
    import h5py

    check_hdf5(path)
    with reading("the HDF5 file"), h5py.File(path, "r") as file:
        items = _items(file)
        while len(items) == 1 and isinstance(*items.values(), h5py.Group):
            items = _items(*items.values())
        arrays = {name: item for name, item in items.items() if isinstance(item, h5py.Dataset)}
        require(
            arrays,
            f"has no array at the top, but groups {listed(items)}: write the arrays of one model "
            "into a file of their own",
        )
        columns = {name: _array(item) for name, item in arrays.items()}
    return columns


def _items(group):
    """Return the members of a group; group.items() would skip damaged ones."""
    return {str(name): group[name] for name in group}


def _array(item):
    """Return an array of HDF5 in memory, text as text."""
    import h5py

    is_text = h5py.check_string_dtype(item.dtype) is not None
    return item.asstr("utf-8")[()] if is_text else item[()]


READERS = {
    "npz": read_npz,
    "npy": read_array,
    "mat": read_mat,
    "hdf5": read_hdf5,
    "folder": read_folder,
}
