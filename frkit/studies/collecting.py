"""The data sets of a coverage study: evaluated in parallel, each kept in a file."""

import hashlib
import json
import os
from concurrent import futures
from contextlib import closing, contextmanager
from dataclasses import dataclass

import dask
import numpy as np
import xarray as xr
from dask.base import get_scheduler
from dask.system import CPU_COUNT
from threadpoolctl import threadpool_limits

from frkit.base import InputError, gathered_notices, require, writing
from frkit.evaluation.evaluate import evaluate_parts
from frkit.resampling import Resampling
from frkit.scores.tensor import score_tensor
from frkit.studies.along import with_progress

DATA_SET, PEOPLE = "data_set", "people"
HEADER = "header"
REMEDY = "free some space or give another store: finished data sets are kept there"


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
        with _one_thread_each():
            for number in numbers:
                number_of[pool.submit(_evaluated, study, number)] = number
            for done in futures.as_completed(list(number_of)):
                yield number_of.pop(done), done.result()
    finally:
        for waiting in number_of:
            waiting.cancel()
        pool.shutdown()


@contextmanager
def _one_thread_each():
    """Give each parallel evaluation one thread."""
    with dask.config.set(scheduler="synchronous"), threadpool_limits(1, user_api="blas"):
        yield


def _evaluated(study, number):
    """Evaluate one data set, in a thread or in the process of a worker."""
    # a notice about one data set is what the study measures over all
    with _one_thread_each(), gathered_notices():
        return study.data_set(number)


# --- the file of a data set ----------------------------------------------------------------------


def path_of(folder, number):
    """Return the file of one data set."""
    return folder / f"data_set_{number:06}.npz"


def write_data_set(path, evaluations, parameters):
    """Write the evaluations of one data set, by scheme, with what they depend on.

    The file gets its name when it is complete, so that a study that is killed leaves whole files.
    """
    arrays = {}
    nodes = {}
    for name, node in xr.DataTree(children=evaluations).to_dict(relative=True).items():
        for variable, values in node.data_vars.items():
            arrays[f"{name}/{variable}"] = values.values
        nodes[name] = {
            "dims": {variable: values.dims for variable, values in node.data_vars.items()},
            "coords": {dim: index.tolist() for dim, index in node.indexes.items()},
            "attrs": node.attrs,
        }
    header = json.dumps({"parameters": parameters, "nodes": nodes})
    incomplete = path.with_suffix(f".{os.getpid()}.part")
    with writing(path, REMEDY):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(incomplete, "wb") as file:
                np.savez(file, **arrays, **{HEADER: np.array(header)})
            os.replace(incomplete, path)
        finally:
            incomplete.unlink(missing_ok=True)


def is_finished(path, parameters, people):
    """Whether a file contains the data set with these parameters, and what people add to rates."""
    if not path.exists():
        return False
    with _opened(path) as (_, header):
        stored = header["parameters"]
        nodes = header["nodes"]
    differing = [name for name, value in parameters.items() if stored.get(name) != value]
    require(
        not differing,
        f"{path} contains a data set of another number or seed, or of a study with other "
        f"parameters ({', '.join(differing)}): give another store",
    )
    return not people or any(name.endswith(PEOPLE) for name in nodes)


def read_data_set(path, people=True):
    """Read the evaluations of one data set, by scheme; with or without what people add to rates."""
    evaluations = {}
    with _opened(path) as (file, header):
        for name, node in header["nodes"].items():
            if people or not name.endswith(PEOPLE):
                variables = {
                    variable: (dims, file[f"{name}/{variable}"])
                    for variable, dims in node["dims"].items()
                }
                evaluations[name] = xr.Dataset(variables, node["coords"], node["attrs"])
    return dict(xr.DataTree.from_dict(evaluations).children)


def stacked(paths):
    """Read all data sets as one evaluation by scheme: `data_set` is the first dim of each variable.

    What people add to the rates, which would fill the memory, is left out.
    """
    trees = [xr.DataTree(children=read_data_set(path, people=False)) for path in paths]
    return dict(xr.map_over_datasets(_joined, *trees).children)


def _joined(*data_sets):
    """The same node of all data sets; the names of people may differ."""
    return xr.concat(data_sets, DATA_SET, data_vars="all", join="override")


@contextmanager
def _opened(path):
    """Open a file and read its header; one that is damaged is refused."""
    try:
        with np.load(path, allow_pickle=False) as file:
            yield file, json.loads(str(file[HEADER]))
    except Exception as error:
        raise InputError(
            f"{path} cannot be read ({error}); delete it, and its data set is computed again"
        ) from error
