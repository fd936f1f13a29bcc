"""A study's table, made row by row, and the numbers that its rows are about."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from tqdm.auto import tqdm

from frkit.base import real_numbers, require

Progress = bool | Callable[[float], None]


def along(
    dim: str,
    values: Iterable,
    row: Callable[..., xr.Dataset],
    progress: Progress = False,
) -> xr.Dataset:
    """Stack the rows that are made of these values along a new dimension that names them."""
    values = list(values)
    require(len(values) > 0, f"{dim} is empty: give at least one value")
    steps = with_progress(values, dim.replace("_", " "), progress, len(values))
    return xr.concat([row(value) for value in steps], xr.Variable(dim, values))


def with_progress(
    steps: Iterable,
    words: str,
    progress: Progress,
    total: int,
    initial: int = 0,
) -> Iterator:
    """Yield the steps, with a progress bar (True), or calls of a function with the share done."""
    shown = progress is True
    bar = tqdm(steps, words, total, initial=initial, leave=False, disable=not shown)
    for done, step in enumerate(bar, start=initial + 1):
        yield step
        if callable(progress):
            progress(done / total)


def whole_numbers(name: str, values: ArrayLike, least: int) -> list[int]:
    """Return one or several whole numbers as a list; raise InputError for anything else."""
    numbers = np.atleast_1d(real_numbers(name, values))
    fits = bool(np.all((numbers >= least) & (numbers % 1 == 0)))
    a_list = numbers.ndim == 1 and numbers.size > 0
    require(
        a_list and fits,
        f"{name} must be whole numbers of at least {least}, got {values!r}",
    )
    return [int(number) for number in numbers]


def far_numbers(far: ArrayLike) -> np.ndarray:
    """Return FAR levels in ascending order; raise InputError for anything else."""
    levels = np.unique(real_numbers("far", far)).astype(float)
    inside = levels.size > 0 and bool(np.all((levels > 0) & (levels < 1)))
    require(inside, f"far must be levels in (0, 1), got {far!r}")
    return levels
