"""A question to a user of Python ends with the calls that answer it."""

from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import InputError
from frkit.io.command_words import with_answer

TABLES = pd.DataFrame, pd.Series, np.ndarray  # which a call has under a name


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
    words = {
        name: name if isinstance(value, TABLES) else _word(value)
        for name, value in with_answer(options, answer).items()
    }
    data = "models" if isinstance(source, Mapping) else _word(source)
    arguments = [data, *(f"{name}={word}" for name, word in words.items())]
    return f"fk.open_data({', '.join(arguments)})"


def _word(value):
    """Return an argument as Python writes it; tables and models by a name."""
    if isinstance(value, Path):
        return repr(str(value))
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_word, value))}]"
    if isinstance(value, xr.DataArray):
        return "values.to_pandas()"
    return "frame" if isinstance(value, pd.DataFrame) else repr(value)
