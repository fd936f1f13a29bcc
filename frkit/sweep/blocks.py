"""Blocks of a lazy array as tasks: one optimised graph, run by whatever scheduler is active."""

from contextlib import nullcontext

import dask.array as da
import numpy as np
from dask.array.optimization import optimize
from dask.base import get_scheduler
from threadpoolctl import threadpool_limits


def bounds(array: da.Array) -> list[np.ndarray]:
    """First index of every block, and the end, along each axis."""
    return [np.concatenate([[0], np.cumsum(sizes)]) for sizes in array.chunks]


def graph(array: da.Array, wanted: list[tuple[int, int]]) -> dict:
    """The tasks that compute some blocks of a two-dimensional array; block (i, j) has the key (name, i, j)."""
    return dict(optimize(array.__dask_graph__(), [(array.name, *at) for at in wanted]))


def run(tasks: dict, keys, progress: bool = False):
    """Compute keys with the active scheduler (threads, or a distributed client), one BLAS thread in each."""
    get = get_scheduler() or get_scheduler(scheduler="threads")
    with threadpool_limits(1, user_api="blas"), _bar(progress):
        return get(tasks, keys)


def _bar(progress: bool):
    if not progress:
        return nullcontext()
    from tqdm.dask import TqdmCallback

    return TqdmCallback(desc="sweep", leave=False)
