"""The expensive half of a coverage study: data sets are drawn and evaluated in parallel."""

import hashlib
import warnings
from concurrent import futures
from contextlib import closing, contextmanager
from dataclasses import dataclass

import dask
import numpy as np
from dask.base import get_scheduler
from dask.system import CPU_COUNT
from threadpoolctl import threadpool_limits

from frkit.base import DataWarning
from frkit.evaluation.evaluate import evaluate_parts
from frkit.resampling import Resampling
from frkit.scores.tensor import score_tensor
from frkit.studies.along import with_progress
from frkit.studies.store import is_finished, path_of, write_data_set


@dataclass(frozen=True, eq=False, kw_only=True)
class Study:
    """The design of a study: data set d depends only on it and on d.

    population: its identities are in every data set; with n_identities, every data set draws so
    many of them. people: whether what each image adds to the rates is kept, which takes much space.
    """

    population: object
    n_identities: int | None
    per_identity: np.ndarray
    far: np.ndarray
    by: str | None = None
    schemes: tuple[str, ...]
    replicates: int
    seed: int
    people: bool = False

    def seeds(self, number):
        """Return the seeds of the identities, images and replicates of one data set."""
        children = np.random.SeedSequence(self.seed, spawn_key=(number,)).spawn(3)
        return [int(child.generate_state(1, np.uint64)[0]) for child in children]

    def mixture(self, number):
        """Draw the identities of one data set."""
        if self.n_identities is None:
            return self.population
        return self.population.draw(self.n_identities, self.seeds(number)[0])

    def data_set(self, number):
        """Draw one data set and evaluate it by every scheme."""
        _, images, replicates = self.seeds(number)
        sample = self.mixture(number).sample(per_identity=self.per_identity, seed=images)
        scores = score_tensor(sample)
        evaluations = {}
        for scheme in self.schemes:
            # the groups of all data sets have the same sizes: so do those of the replicates
            strata = None if scheme == "image" else self.by
            draws = Resampling(scheme, n=self.replicates, seed=replicates, strata=strata)
            evaluations[scheme] = evaluate_parts(
                scores, by=self.by, resampling=draws, far=self.far, people=self.people
            )
        return evaluations

    def parameters(self):
        """Return all that the data sets depend on, as JSON."""
        first = self.mixture(0)
        digest = hashlib.sha256(first.mean_directions.tobytes() + first.concentrations.tobytes())
        concentrations = [float(first.concentrations.min()), float(first.concentrations.max())]
        return {
            "population": digest.hexdigest()[:32],
            "new identities in every data set": self.n_identities is not None,
            "n_identities": first.n_identities,
            "dim": first.dim,
            "concentrations": concentrations,
            "per_identity": self.per_identity.tolist(),
            "far": self.far.tolist(),
            "by": self.by,
            "schemes": list(self.schemes),
            "replicates": self.replicates,
            "seed": self.seed,
        }


def collect(study, n_datasets, folder, progress):
    """Evaluate the data sets that are not in the folder yet; return the files of all of them."""
    paths = [path_of(folder, number) for number in range(n_datasets)]
    parameters = study.parameters()
    missing = [
        number
        for number, path in enumerate(paths)
        if not is_finished(path, {"data_set": number, **parameters}, study.people)
    ]
    done = n_datasets - len(missing)
    with closing(_side_by_side(study, missing)) as finished:
        steps = with_progress(finished, "data sets", progress, n_datasets, done)
        for number, evaluations in steps:
            write_data_set(paths[number], evaluations, {"data_set": number, **parameters})
    return paths


def _side_by_side(study, numbers):
    """Yield finished data sets, from threads or from the workers of the active dask Client."""
    client = getattr(get_scheduler(), "__self__", None)
    if hasattr(client, "scatter"):
        pool = client.get_executor(pure=False)
        study = client.scatter(study, broadcast=True, hash=False)
    else:
        workers = dask.config.get("num_workers", None) or CPU_COUNT
        pool = futures.ThreadPoolExecutor(workers, thread_name_prefix="data sets")
    number_of = {}
    try:
        with _quiet_and_one_thread_each():
            for number in numbers:
                number_of[pool.submit(_evaluated, study, number)] = number
            for done in futures.as_completed(list(number_of)):
                yield number_of.pop(done), done.result()
    finally:
        for waiting in number_of:
            waiting.cancel()
        pool.shutdown()


@contextmanager
def _quiet_and_one_thread_each():
    """Give each parallel evaluation one thread, and no DataWarning."""
    with (
        dask.config.set(scheduler="synchronous"),
        threadpool_limits(1, user_api="blas"),
        warnings.catch_warnings(),
    ):
        # a warning about one data set is what the study measures over all
        warnings.simplefilter("ignore", DataWarning)
        yield


def _evaluated(study, number):
    """Evaluate one data set, in a thread or in the process of a worker."""
    with _quiet_and_one_thread_each():
        return study.data_set(number)
