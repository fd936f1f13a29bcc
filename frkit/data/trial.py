"""Reads a whole file once, in a process of its own: what libraries crash or hang over then ends that process only.

Run as a script with a path, the most bytes that it may hold, and the most seconds of processor time; it knows nothing
of frkit, so that it starts at once. What is wrong with the file is said in one line of output.
"""

import sys
from importlib import import_module
from math import ceil, prod
from pathlib import Path
from time import process_time

PIECE = 16_000_000  # bytes that are read at a time
RATIO = 1000  # to which zlib packs at most
HDF5, NETCDF3 = b"\x89HDF\r\n\x1a\n", b"CDF"
NUMBERS = (
    "double",
    "single",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)


def demand(condition: bool, message: str) -> None:
    """Raise with what is wrong with the file, unless the condition holds."""
    if not condition:
        raise ValueError(message)


def check_size(size: int, most: int) -> None:
    """Refuse what unpacks to more than the file can honestly hold."""
    words = f"it unpacks to {size / 1e9:.3g} GB, the limit for a file of its size is {most / 1e9:.3g} GB"
    demand(size <= most, words)


def read_rows(array) -> None:
    """Every value, some rows at a time."""
    if array.shape == ():
        return array[()]
    rows = max(1, array.shape[0] * PIECE // max(1, array.nbytes))
    for start in range(0, array.shape[0], rows):
        array[start : start + rows]


def read_hdf5(path: Path, most: int) -> None:
    """Every attribute and every value; no link may lead to another file, or back."""
    import h5py

    seen, held = set(), 0
    with h5py.File(path, "r") as file:
        found = [("/", file)]
        for name, item in found:  # which grows
            dict(item.attrs)
            if isinstance(item, h5py.Dataset):
                demand(
                    not item.external and not item.is_virtual,
                    f"the values of {name!r} are in another file",
                )
                held += item.nbytes
                check_size(held, most)
                read_rows(item)
            elif isinstance(item, h5py.Group):
                address = h5py.h5o.get_info(item.id).addr
                demand(address not in seen, "its groups link to one another in a circle")
                seen.add(address)
                for one in item:
                    direct = isinstance(item.get(one, getlink=True), h5py.HardLink)
                    demand(direct, f"{one!r} is a link to another place or file")
                    found.append((one, item[one]))


def read_netcdf3(path: Path, most: int) -> None:
    """Every variable, in a file that is mapped: nothing is packed, so they hold no more than the file."""
    from scipy.io import netcdf_file

    file = netcdf_file(path, mmap=True)
    held = sum(variable.itemsize() * prod(variable.shape) for variable in file.variables.values())
    check_size(held, path.stat().st_size)
    for variable in file.variables.values():
        variable[()] if variable.shape == () else variable[:].copy()


def read_mat(path: Path, most: int) -> None:
    """All sizes, then the variables that SciPy is to read; of version 5 the tables of numbers are not among them."""
    from scipy.io import loadmat, matlab, whosmat

    found = whosmat(path)
    check_size(sum(prod(shape) for _, shape, _ in found), most)
    for_scipy = matlab.matfile_version(path)[0] != 1
    others = [
        name
        for name, shape, kind in found
        if for_scipy or kind not in NUMBERS or sum(n > 1 for n in shape) < 2
    ]
    loadmat(path, squeeze_me=True, chars_as_strings=True, variable_names=others)


def read_zarr(path: Path, most: int) -> None:
    """Every array of the store; of a chunk that was cut, Blosc would read on behind its end, whatever is there."""
    import zarr
    from numcodecs.blosc import Blosc

    decode = Blosc.decode

    def whole(codec, chunk, out=None):
        held = memoryview(chunk).cast("B")
        demand(
            int.from_bytes(held[12:16], "little") <= len(held), "a chunk of it was cut"
        )  # its header says how long
        return decode(codec, chunk, out)

    Blosc.decode = whole
    opened = zarr.storage.LocalStore if path.is_dir() else zarr.storage.ZipStore
    with opened(path, read_only=True) as store:
        arrays = dict(zarr.open_group(store, mode="r").arrays())
        check_size(sum(array.nbytes for array in arrays.values()), most)
        for array in arrays.values():
            read_rows(array)


def main(path: Path, most: int, seconds: int) -> None:
    """Read the file by what it begins with, within these limits."""
    if path.is_dir() or path.name.lower().endswith(".zarr.zip"):
        read, library = read_zarr, "zarr"
    else:
        with path.open("rb") as file:
            head = file.read(520)
        hdf5, netcdf3 = HDF5 in (head[:8], head[512:]), head.startswith(NETCDF3)
        read, library = (
            (read_hdf5, "h5py") if hdf5 else (read_netcdf3 if netcdf3 else read_mat, "scipy.io")
        )
    import_module(library)
    limit(
        2**31 if library == "zarr" else 2**27 + 2 * min(most, RATIO * path.stat().st_size), seconds
    )
    return read(path, most)


def limit(more: int, seconds: int) -> None:
    """Let this process take so many more bytes and seconds of work, where the system can hold it to that."""
    try:
        import resource
    except ImportError:  # the caller's clock remains
        return
    seconds += ceil(process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    pages = Path("/proc/self/statm")
    if pages.exists():
        held = int(pages.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + more, resource.RLIM_INFINITY))


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    except Exception as error:
        sys.stdout.write(" ".join((str(error) or type(error).__name__).split()))
