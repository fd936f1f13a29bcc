"""The expensive half of a coverage study: data sets drawn and evaluated side by side, each one kept once."""

import hashlib
import json
import warnings
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial

import dask
import numpy as np
import xarray as xr
from dask.base import get_scheduler
from dask.system import CPU_COUNT
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm

from frkit.base import DataWarning, require
from frkit.evaluation.evaluate import evaluate_parts
from frkit.indices import evaluate as evaluate_indices
from frkit.resampling import Resampling
from frkit.scores.tensor import score_tensor
from frkit.studies.store import HEADER, Record, Store, holds_people, recorded


@dataclass(frozen=True, eq=False, kw_only=True)
class Study:
    """What the data sets of a study are: data set d depends on this and on d alone.

    population: its identities are in every data set, or with n_identities every data set draws so many of it.
    far: FAR levels; None for whole distributions of scores, which `indices.evaluate` tallies. influence: whether
    records are to hold what each image adds to the rates, which makes them large.
    """

    population: object
    n_identities: int | None
    per_identity: np.ndarray
    far: np.ndarray | None
    by: str | None = None
    schemes: tuple[str, ...]
    replicates: int
    seed: int
    influence: bool = False

    def seeds(self, number: int) -> list[int]:
        """Seeds of the identities, images and replicates of one data set."""
        children = np.random.SeedSequence(self.seed, spawn_key=(number,)).spawn(3)
        return [int(child.generate_state(1, np.uint64)[0]) for child in children]

    def mixture(self, number: int):
        """The identities of one data set."""
        if self.n_identities is None:
            return self.population
        return self.population.draw(self.n_identities, self.seeds(number)[0])

    def scores(self, number: int) -> xr.DataArray:
        """The score tensor of one data set."""
        images = self.seeds(number)[1]
        return score_tensor(
            self.mixture(number).sample(per_identity=self.per_identity, seed=images)
        )

    def draws(self, number: int) -> list[Resampling]:
        """Those of one data set, by every scheme; draws of people keep the sizes of groups, as the data sets do."""
        strata, how = {"image": None}, {"n": self.replicates, "seed": self.seeds(number)[2]}
        return [
            Resampling(scheme, strata=strata.get(scheme, self.by), **how) for scheme in self.schemes
        ]

    @property
    def evaluate(self) -> Callable[..., xr.DataTree]:
        """What evaluates a data set with given draws."""
        if self.far is None:
            return partial(evaluate_indices, by=self.by)
        return partial(evaluate_parts, far=self.far, by=self.by, people=self.influence)

    def data_set(self, number: int) -> Record:
        """Draw one data set and evaluate it by every scheme."""
        scores, draws = self.scores(number), self.draws(number)
        return recorded({draw.scheme: self.evaluate(scores, resampling=draw) for draw in draws})

    def parameters(self) -> dict:
        """All that the data sets depend on, as JSON can hold it."""
        first = self.mixture(0)
        arrays = first.mean_directions, first.concentrations
        digest = hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays))
        return {
            "population": digest.hexdigest()[:32],
            "new identities in every data set": self.n_identities is not None,
            "n_identities": first.n_identities,
            "dim": first.dim,
            "concentrations": [
                float(first.concentrations.min()),
                float(first.concentrations.max()),
            ],
            "per_identity": self.per_identity.tolist(),
            "far": None if self.far is None else self.far.tolist(),
            "by": self.by,
            "schemes": list(self.schemes),
            "replicates": self.replicates,
            "seed": self.seed,
        }


def collect(study: Study, n_datasets: int, store: Store | None, progress: bool) -> list[Record]:
    """Evaluate the data sets that are not in the store yet, or lack influences, and return all in their order."""
    kept = {} if store is None else store.finished(n_datasets)
    for number, record in kept.items():
        seed, nodes = study.seeds(number)[2], json.loads(str(record[HEADER])).values()
        made = [json.loads(node["attrs"].get("provenance", "{}")) for node in nodes]
        same = all(known.get("seed", seed) == seed for known in made)
        require(
            same,
            f"{store.path(number)} holds a data set of another number or seed: delete it, to have it again",
        )
    kept = {
        number: record
        for number, record in kept.items()
        if holds_people(record) or not study.influence
    }
    missing = [number for number in range(n_datasets) if number not in kept]
    bar = tqdm(
        total=n_datasets, initial=len(kept), desc="data sets", disable=not progress, leave=False
    )
    with bar, warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DataWarning
        )  # they say of one data set what the study measures
        with closing(_side_by_side(study, missing)) as finished:
            for number, record in finished:
                kept[number] = record if store is None else store.write(number, record)
                bar.update()
    return [kept[number] for number in range(n_datasets)]


def _side_by_side(study: Study, numbers: list[int]) -> Iterator[tuple[int, Record]]:
    """Finished data sets, in the order in which threads, or the workers of the active Client, finish them."""
    client = getattr(get_scheduler(), "__self__", None)
    if hasattr(client, "scatter"):  # a distributed Client
        pool, task = (
            client.get_executor(pure=False),
            (_on_worker, client.scatter(study, broadcast=True, hash=False)),
        )
    else:
        workers = min(dask.config.get("num_workers", None) or CPU_COUNT, max(len(numbers), 1))
        pool, task = (
            futures.ThreadPoolExecutor(workers, thread_name_prefix="data sets"),
            (Study.data_set, study),
        )
    number_of = {}
    try:
        with _one_thread_each():
            number_of |= {pool.submit(*task, number): number for number in numbers}
            for done in futures.as_completed(list(number_of)):
                yield number_of.pop(done), done.result()
    finally:
        for left in number_of:
            left.cancel()
        pool.shutdown()


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Evaluations that run side by side use one thread each."""
    with dask.config.set(scheduler="synchronous"), threadpool_limits(1, user_api="blas"):
        yield


def _on_worker(study: Study, number: int) -> Record:
    """One data set in a worker's process."""
    with _one_thread_each(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return study.data_set(number)
