"""A question to a user of Python ends with the calls that answer it."""

from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import xarray as xr

from frkit.base import InputError
from frkit.io.command_words import with_answer


@contextmanager
def asking(source, options):
    """Add to a question, an error with answers, the calls that open the data with each answer.

    Parameters
    ----------
    source : path, list of paths, pd.DataFrame, or xr.DataArray of a matrix
    options : dict
        Of `open_data`, as they are now.
    """
    try:
        yield
    except InputError as error:
        error.calls = [python_line(source, options, answer) for answer in error.answers]
        raise


def python_line(source, options, answer):
    """Return the call of `open_data` with an answer."""
    if isinstance(source, (str, Path)):
        arguments = [repr(str(source))]
    elif isinstance(source, (list, tuple)):
        arguments = [repr([str(path) for path in source])]
    elif isinstance(source, xr.DataArray):
        arguments = ["values.to_pandas()"]
    else:
        arguments = ["frame" if isinstance(source, pd.DataFrame) else "models"]
    for name, value in with_answer(options, answer).items():
        value = str(value) if isinstance(value, Path) else value
        if isinstance(value, pd.DataFrame):
            arguments.append(f"{name}={name}")
            continue
        arguments.append(f"{name}={value!r}")
    return f"fk.open_data({', '.join(arguments)})"
