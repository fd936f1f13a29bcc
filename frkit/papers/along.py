"""Tables of studies, row by row, and work on threads, with a progress bar."""

from concurrent import futures

import dask
import xarray as xr
from dask.system import CPU_COUNT
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm

from frkit.base import gathered_notices, require, require_flag


def along(dim, values, row, progress=False):
    """Compute a row for each value, and stack the rows along a new dimension."""
    values = list(values)
    require(len(values) > 0, f"{dim} is empty: give at least one value")
    steps = with_progress(values, dim.replace("_", " "), progress, len(values))
    return xr.concat([row(value) for value in steps], xr.Variable(dim, values))


def side_by_side(compute, values, title, progress=False):
    """Compute a result for each value, on threads; return the results in the order of values.

    Each result has one thread of its own, so that no number depends on how many there are.
    """

    def quietly(value):
        """Compute a result; what is noticed about one is what a study measures over all."""
        with gathered_notices():
            return compute(value)

    pool = futures.ThreadPoolExecutor(dask.config.get("num_workers", None) or CPU_COUNT)
    with dask.config.set(scheduler="synchronous"), threadpool_limits(1, user_api="blas"):
        try:
            results = pool.map(quietly, values)
            return list(with_progress(results, title, progress, len(values)))
        finally:
            pool.shutdown(cancel_futures=True)


def with_progress(steps, title, progress, total):
    """Yield the steps, with a progress bar or without one."""
    require_flag("progress", progress)
    return tqdm(steps, title, total, leave=False, disable=not progress)
