"""Evaluated data sets of a study, each in a separate file."""

import json
import os
from contextlib import contextmanager

import numpy as np
import xarray as xr

from frkit.base import InputError, require, writing

DATA_SET, PEOPLE = "data_set", "people"
HEADER = "header"
REMEDY = "free some space or give another store: finished data sets are kept there"


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
