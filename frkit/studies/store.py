"""Evaluated data sets of a study, each in a file of its own."""

import json
import os

import numpy as np
import xarray as xr

from frkit.base import InputError, require, writing

DATA_SET, PEOPLE = "data_set", "people"
HEADER = "header"
REMEDY = "free some space or give another store: finished data sets are kept there"


def path_of(folder, number):
    """Return the file of one data set."""
    return folder / f"data_set_{number:06}.npz"


def write(path, evaluations, parameters):
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
    header, _ = _read(path, arrays=False)
    stored = header["parameters"]
    differing = [name for name, value in parameters.items() if stored.get(name) != value]
    require(
        not differing,
        f"{path} contains a data set of another number or seed, or of a study with other "
        f"parameters ({', '.join(differing)}): give another store",
    )
    return not people or any(name.endswith(PEOPLE) for name in header["nodes"])


def read(path):
    """Read the evaluations of one data set, by scheme."""
    header, arrays = _read(path)
    return _evaluations(header, arrays)


def stacked(paths):
    """Read all data sets as one evaluation by scheme: `data_set` is the first dim of each variable.

    What people add to the rates, which would fill the memory, is left out.
    """
    records = [_read(path, people=False) for path in paths]
    header, first = records[0]
    arrays = {name: np.stack([arrays[name] for _, arrays in records]) for name in first}
    return _evaluations(header, arrays, (DATA_SET,))


def _read(path, arrays=True, people=True):
    """Read the header of a file and its arrays."""
    try:
        with np.load(path, allow_pickle=False) as file:
            header = json.loads(str(file[HEADER]))
            names = [name for name in file if name != HEADER] if arrays else []
            names = [name for name in names if people or f"/{PEOPLE}/" not in name]
            return header, {name: file[name] for name in names}
    except Exception as error:
        raise InputError(
            f"{path} cannot be read ({error}); delete it, and its data set is computed again"
        ) from error


def _evaluations(header, arrays, front=()):
    """Put the arrays together again, with further dims in front of those that they had."""
    nodes = {}
    for path, node in header["nodes"].items():
        keys = {name: f"{path}/{name}" for name in node["dims"]}
        if all(key in arrays for key in keys.values()):
            variables = {
                name: ((*front, *node["dims"][name]), arrays[key]) for name, key in keys.items()
            }
            nodes[path] = xr.Dataset(variables, node["coords"], node["attrs"])
    return dict(xr.DataTree.from_dict(nodes).children)
