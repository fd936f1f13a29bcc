"""Blocks of a lazy array as tasks, run by whatever scheduler is active."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache

import dask
import dask.array as da
import numpy as np
from dask.array.optimization import optimize
from dask.base import get_scheduler
from dask.callbacks import Callback
from dask.local import get_sync
from dask.system import CPU_COUNT
from threadpoolctl import ThreadpoolController
from tqdm.auto import tqdm

from frkit.base import require
from frkit.scores.tensor import ScoreArray

SCAN = "scan-"  # with this begin the names of tasks that scan a strip


def bounds(array: da.Array) -> list[np.ndarray]:
    """First index of every block, and the end, along each axis."""
    return [np.concatenate([[0], np.cumsum(sizes)]) for sizes in array.chunks]


def source_of(array: da.Array) -> ScoreArray | None:
    """What computes any part of an array that nobody has changed since; None where tasks of dask lie between."""
    layers, name = array.dask.layers, f"original-{array.name}"
    source = layers[name][name] if layers.keys() == {array.name, name} else None
    return source if isinstance(source, ScoreArray) else None


def graph(array: da.Array, wanted: list[tuple[int, int]]) -> dict:
    """The tasks that compute some blocks of a two-dimensional array; block (i, j) has the key (name, i, j)."""
    source = source_of(array)
    if source is not None:
        return {array.name: source}
    return dict(optimize(array.__dask_graph__(), [(array.name, *at) for at in wanted]))


@dataclass(frozen=True, eq=False)
class Strip:
    """Work on some blocks, each made when it is its turn: `work(given, blocks)`.

    nodes: the tasks that make the blocks, or the parts of the array where its source makes them; names: what those
    tasks need, in the order in which it is handed over.
    """

    work: Callable
    nodes: list
    names: list | None

    def __call__(self, given, *values):
        if self.names is None:
            return self.work(given, (values[0][part] for part in self.nodes))
        known = dict(zip(self.names, values, strict=True))
        return self.work(given, (node(known) for node in self.nodes))


def strip(tasks: dict, array: da.Array, wanted: list[tuple[int, int]], work: Callable, given: str) -> tuple:
    """A task that makes these blocks inside itself, in place of their own tasks, which leave the graph."""
    if array.name in tasks:
        rows, cols = bounds(array)
        parts = [(slice(*rows[i : i + 2].tolist()), slice(*cols[j : j + 2].tolist())) for i, j in wanted]
        return Strip(work, parts, None), given, array.name
    nodes = [_made_by(tasks, (array.name, *at)) for at in wanted]
    names = sorted({name for node in nodes for name in node.dependencies}, key=str)
    return (Strip(work, nodes, names), given, *names)


def _made_by(tasks: dict, key):
    """The task behind a key, through other names for it; it leaves the graph."""
    node = tasks.pop(key)
    while getattr(node, "target", None) in tasks:
        node = tasks.pop(node.target)
    return node


def parts_of(array: da.Array, parts: list[tuple]) -> list[np.ndarray]:
    """Some parts of an array, each given by its rows and columns."""
    source = source_of(array)
    if source is None:
        return dask.compute(*(array[rows, :][:, cols] for rows, cols in parts))
    return each(lambda place: source[parts[place]], len(parts))


def refuse_endless(block: np.ndarray) -> None:
    """Infinite scores have no place among the others."""
    many = int(np.isinf(block).sum())
    require(many == 0, f"{many} score(s) of a block are infinite; mark failed comparisons as missing, or as NaN")


def run(tasks: dict, keys) -> list:
    """Compute keys with the active scheduler (threads, or a distributed client), one BLAS thread in each."""
    get = get_scheduler() or get_scheduler(scheduler="threads")
    with one_blas_thread():
        return get(tasks, keys)


@contextmanager
def progress_bar(n_strips: int, shown: bool) -> Iterator[tqdm]:
    """A bar of strips with the time that is left; on a cluster it moves when a batch of strips is done."""
    with tqdm(total=n_strips, desc="sweep", unit="strip", leave=False, disable=not shown) as bar:

        def note(key, *_) -> None:
            if str(key).startswith(SCAN):
                bar.update(1)

        with Callback(posttask=note) if shown else nullcontext():
            yield bar


@cache
def _libraries() -> ThreadpoolController:
    """The libraries with threads of their own; to find them takes milliseconds."""
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager:
    """A context in which matrix products take one thread each: blocks are the tasks that run side by side."""
    return _libraries().limit(limits=1, user_api="blas")


def each(work: Callable[[int], object], n: int) -> list:
    """The work for 0..n-1, on all threads of the active scheduler; the kernels release the interpreter's lock."""
    n_threads = 1 if get_scheduler() is get_sync else dask.config.get("num_workers", None) or CPU_COUNT
    with ThreadPoolExecutor(n_threads) if n_threads > 1 else nullcontext() as pool:
        return list((pool.map if pool else map)(work, range(n)))
