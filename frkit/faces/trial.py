"""Reads a whole file once, in a process of its own: what libraries crash or hang over then ends that process only.

Run as a script with a path, the most bytes that it may hold, and the most seconds of processor time; it knows nothing
of frkit, so that it starts at once. What is wrong with the file is said in one line of output.
"""

import sys
from pathlib import Path

HDF5, NETCDF3 = b"\x89HDF\r\n\x1a\n", b"CDF"


class Refused(Exception):
    """What is wrong with the file."""


def read_hdf5(path: Path, most: int) -> None:
    """Every attribute and every value; no link may lead to another file, or back."""
    import h5py

    seen, held = set(), 0
    with h5py.File(path, "r") as file:
        groups = [file]
        while groups:
            group = groups.pop()
            address = h5py.h5o.get_info(group.id).addr
            if address in seen:
                raise Refused("its groups link to one another in a circle")
            seen.add(address)
            dict(group.attrs)
            for name in group:
                if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                    raise Refused(f"{name!r} is a link to another place or file: store the values themselves")
                item = group[name]
                if isinstance(item, h5py.Group):
                    groups.append(item)
                elif isinstance(item, h5py.Dataset):
                    if item.external or item.is_virtual:
                        raise Refused(f"the values of {name!r} are in another file: store them in this one")
                    held += item.nbytes
                    check_size(held, most)
                    dict(item.attrs)
                    item[()]


def read_netcdf3(path: Path, most: int) -> None:
    """Every variable."""
    from scipy.io import netcdf_file

    with netcdf_file(path, mmap=False) as file:
        for variable in file.variables.values():
            variable[()] if variable.shape == () else variable[:]


def read_mat(path: Path, most: int) -> None:
    """Every variable; their sizes first."""
    from scipy.io import loadmat, whosmat

    check_size(sum(_product(shape) for _, shape, _ in whosmat(path)), most)
    loadmat(path, squeeze_me=True, chars_as_strings=True)


def read_zarr(path: Path, most: int) -> None:
    """Every array of the store."""
    import zarr

    stores = zarr.storage
    with stores.LocalStore(path, read_only=True) if path.is_dir() else stores.ZipStore(path, mode="r") as store:
        group = zarr.open_group(store, mode="r")
        arrays = dict(group.arrays())
        check_size(sum(array.nbytes for array in arrays.values()), most)
        for array in arrays.values():
            array[...]


def _product(shape: tuple) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def check_size(size: int, most: int) -> None:
    """Refuse what unpacks to more than the file can honestly hold."""
    if size > most:
        raise Refused(f"it unpacks to {size / 1e9:.3g} GB, the limit for a file of its size is {most / 1e9:.3g} GB")


def main(path: Path, most: int, seconds: int) -> str:
    """Read the file by what it begins with; returns what is wrong with it, or nothing."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (4 * most + 2**31, resource.RLIM_INFINITY))
    except ImportError:  # not on this system: the caller's clock remains
        pass
    if path.is_dir() or path.name.lower().endswith(".zarr.zip"):
        read = read_zarr
    else:
        with path.open("rb") as file:
            head = file.read(520)
        netcdf3 = read_netcdf3 if head.startswith(NETCDF3) else read_mat
        read = read_hdf5 if HDF5 in (head[:8], head[512:]) else netcdf3
    try:
        read(path, most)
    except Exception as error:
        return f"{error}" or type(error).__name__
    return ""


if __name__ == "__main__":
    wrong = main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write(" ".join(wrong.split()))
