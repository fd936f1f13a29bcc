"""One row of a study's table after the other, with a progress bar."""

from collections.abc import Callable, Iterable

import xarray as xr
from tqdm.auto import tqdm


def along(
    dim: str, values: Iterable, row: Callable[..., xr.Dataset], progress: bool = False
) -> xr.Dataset:
    """The rows that are made of these values, along a new dimension in front that names them."""
    values = list(values)
    rows = [
        row(value)
        for value in tqdm(values, desc=dim.replace("_", " "), disable=not progress, leave=False)
    ]
    return xr.concat(rows, xr.Variable(dim, values))
