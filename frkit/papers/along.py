"""Tables of studies, row by row, with a progress bar."""

import xarray as xr
from tqdm.auto import tqdm

from frkit.base import require, require_flag


def along(dim, values, row, progress=False):
    """Compute a row for each value, and stack the rows along a new dimension."""
    values = list(values)
    require(len(values) > 0, f"{dim} is empty: give at least one value")
    steps = with_progress(values, dim.replace("_", " "), progress, len(values))
    return xr.concat([row(value) for value in steps], xr.Variable(dim, values))


def with_progress(steps, title, progress, total):
    """Yield the steps, with a progress bar or without one."""
    require_flag("progress", progress)
    return tqdm(steps, title, total, leave=False, disable=not progress)
