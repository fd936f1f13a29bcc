"""Tables of studies, row by row, with a progress bar."""

from collections.abc import Callable

import xarray as xr
from tqdm.auto import tqdm

from frkit.base import require, require_progress

Progress = bool | Callable[[float], None]


def along(dim, values, row, progress=False):
    """Compute a row for each value, and stack the rows along a new dimension."""
    values = list(values)
    require(len(values) > 0, f"{dim} is empty: give at least one value")
    steps = with_progress(values, dim.replace("_", " "), progress, len(values))
    return xr.concat([row(value) for value in steps], xr.Variable(dim, values))


def with_progress(steps, title, progress, total, initial=0):
    """Yield the steps, and show a progress bar (True) or call a function with the share done."""
    require_progress(progress)
    shown = progress is True
    bar = tqdm(steps, title, total, initial=initial, leave=False, disable=not shown)
    for done, step in enumerate(bar, start=initial + 1):
        yield step
        if callable(progress):
            progress(done / total)
