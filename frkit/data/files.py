"""Formats of files by name, and the one place where errors of libraries become errors of frkit."""

import gzip
import stat
import sys
from contextlib import contextmanager
from importlib import import_module

import pandas as pd

from frkit.base import InputError, listed, require, require_path, warn

KINDS = {
    ".npz": "npz",
    ".npy": "npy",
    ".csv": "text",
    ".tsv": "text",
    ".csv.gz": "text",
    ".tsv.gz": "text",
    ".jsonl": "json lines",
    ".ndjson": "json lines",
    ".json": "json",
    ".jsonl.gz": "json lines",
    ".json.gz": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".mat": "mat",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".zarr": "zarr",
    ".zarr.zip": "zarr",
    ".nc": "netcdf",
    ".nc4": "netcdf",
    ".cdf": "netcdf",
}
SHEET = (
    "save the sheet as CSV, or in Python give fk.open_data(pd.read_excel(path)), which needs "
    "pip install openpyxl (odfpy for .ods)"
)
INSTEAD = {  # of a file that frkit does not read, what to do
    ".zip": "unpack it and give the file in it",
    ".tar": "unpack it and give the file in it",
    ".xlsx": SHEET,
    ".xls": SHEET,
    ".ods": SHEET,
    ".feather": "in Python give fk.open_data(pd.read_feather(path))",
    ".rds": "write it in R with write.csv",
    ".rdata": "write it in R with write.csv",
}
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # as such a file begins
PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".joblib", ".p")
PICKLED = (
    "can only be read by unpickling, which may run any code, so frkit refuses; save numbers as a "
    "numeric array and labels as text, e.g. np.savez(path, embedding=np.asarray(embedding, "
    "'float32'), identity=[str(name) for name in identity]), where a missing label is ''"
)


@contextmanager
def named(path):
    """Put the file's name in front of every message, unless it names another file already."""
    name = "the DataFrame" if isinstance(path, pd.DataFrame) else path
    try:
        yield
    except InputError as error:
        if not hasattr(error, "file"):
            error.file, error.text = name, f"{name}: {error.text}"
        raise


def require_data(name, value):
    """Refuse what is neither the path of a file nor a DataFrame."""
    name = f"{name}, unless it is a DataFrame such as pd.DataFrame(data),"
    return value if isinstance(value, pd.DataFrame) else require_path(name, value)


@contextmanager
def reading(description):
    """Turn any error that a library raises over a bad file into an InputError."""
    try:
        yield
    except InputError:
        raise
    except UnicodeDecodeError as error:
        raise InputError(
            f"{description} is not UTF-8 text ({error}); save it again as UTF-8"
        ) from error
    except Exception as error:
        message = str(error) or type(error).__name__
        if "bject arrays" in message or "Python objects" in message:
            raise InputError(f"{description} {PICKLED}") from error
        if "allow_pickle" in message:  # of whatever is no array
            message = "it does not begin like one; if it was pickled, frkit does not read it"
        raise InputError(
            f"{description} cannot be read; the file may be damaged or cut short: copy or write "
            f"it again (the reason: {message})"
        ) from error


def file_kind(path):
    """Return the format, from the name; text with any other name is a table."""
    if isinstance(path, pd.DataFrame):
        return "frame"
    check_regular(path)
    name = path.name.lower()
    require(not name.endswith(PICKLES), f"a {path.suffix} file {PICKLED}")
    for ending, kind in KINDS.items():
        if name.endswith(ending):
            return kind
    instead = INSTEAD.get(path.suffix.lower())
    require(not instead, f"frkit does not read {path.suffix} files: {instead}")
    if path.is_dir():
        is_store = any((path / name).exists() for name in (".zgroup", "zarr.json"))
        return "zarr" if is_store else "folder"
    with reading("the file"), opener(path)(path, "rb") as file:
        beginning = file.read(4096)
    is_text = beginning.strip() and (b"\0" not in beginning or beginning.startswith(UTF_16))
    require(is_text, f"unknown format; frkit reads {', '.join(KINDS)}, and text of any other name")
    return "text"


def check_regular(path):
    """Refuse what is neither file nor folder: a pipe would block, and can be read only once."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise InputError("there is no such file") from None
    except (OSError, ValueError) as error:  # no permission; a name too long or with NUL
        reason = getattr(error, "strerror", None) or error
        message = f"it cannot be opened ({reason}); check its name and permissions"
        raise InputError(message) from None
    require(
        stat.S_ISREG(mode) or stat.S_ISDIR(mode),
        "is a pipe, a device or a socket, which frkit does not read; write its contents into a "
        "file, and give that one",
    )


def opener(path):
    """Return the function that opens the file, plain or .gz."""
    return gzip.open if path.name.lower().endswith(".gz") else open


def encoding_of(path):
    """Return how a text file is encoded: UTF-8, or UTF-16 as Excel writes "Unicode text"."""
    with opener(path)(path, "rb") as file:
        return "utf-16" if file.read(2) in UTF_16 else "utf-8-sig"


def open_text(path):
    """Open a text file, plain or .gz."""
    require(path.is_file(), "there is no such file")
    return opener(path)(path, "rt", encoding=encoding_of(path), newline="")


def need(module, purpose, package):
    """Import an optional package, or say what to install."""
    try:
        return import_module(module)
    except ImportError:
        command = f"{sys.executable} -m pip install {package}"
        raise InputError(f"{purpose} needs the package {package}: {command}") from None


def not_read(names, why):
    """Warn about columns that are ignored."""
    if len(names) > 0:
        warn(f"not read: {listed(names, 12)} ({why})")
