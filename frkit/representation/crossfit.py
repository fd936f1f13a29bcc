"""Networks for every encoder, attribute, seed and fold, side by side."""

from collections.abc import Sequence

import dask
import numpy as np
from threadpoolctl import threadpool_limits
from tqdm.dask import TqdmCallback

from frkit.representation.folds import split
from frkit.representation.problem import Problem
from frkit.representation.training import Critic, Fold, Reading, read


def plan(one: Problem, by: str, folds: int, seeds: Sequence[int]) -> list[Fold]:
    """All splits, seed after seed."""
    roots = [np.random.SeedSequence(0, spawn_key=(seed,)) for seed in seeds]
    return [fold for root in roots for fold in split(one, by, folds, root)]


def run(encoders: Sequence, problems: Sequence, plans: Sequence, critic: Critic, progress: bool) -> list:
    """Readings of all splits, as one list for every encoder and attribute, in that order.

    Each network has its own seed and one BLAS thread, so that the numbers do not depend on the threads.
    """
    train, tasks = dask.delayed(read, pure=False), []
    for x in encoders:
        for one, splits in zip(problems, plans, strict=True):
            rows = x if len(one.rows) == len(x) else x[one.rows]
            shared = dask.delayed(rows, pure=False, traverse=False)
            tasks.append([train(shared, one.z, one.shares, fold, critic) for fold in splits])
    with threadpool_limits(1, user_api="blas"), TqdmCallback(desc="networks", disable=not progress, leave=False):
        return list(dask.compute(*tasks))


def joined(splits: list[Fold], readings: list[Reading], n: int, folds: int) -> np.ndarray:
    """T (seed, n, K) of all images, each from the network that knew nothing of it."""
    t = np.empty((len(splits) // folds, n, readings[0].t.shape[1]))
    for k, (fold, reading) in enumerate(zip(splits, readings, strict=True)):
        t[k // folds, fold.test] = reading.t
    return t
