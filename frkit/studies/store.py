"""Evaluations of many data sets: as arrays in one small file each, and as one evaluation with `data_set` in front."""

import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
import xarray as xr

from frkit.base import InputError, require

DATA_SET, INFLUENCE = "data_set", "influence"
PARAMETERS = "study.json"
HEADER = "header"

Record = dict[str, np.ndarray]  # "scheme/node/variable" -> values; "header": all else in JSON


def recorded(evaluations: dict[str, xr.DataTree], influence: bool = False) -> Record:
    """The numbers of one data set's evaluations, by scheme; influence: with what each image adds to the rates."""
    record, dims, coords, attrs = {}, {}, {}, {}
    for scheme, tree in evaluations.items():
        attrs[scheme] = dict(tree.attrs)
        for node, child in tree.children.items():
            if node == INFLUENCE and not influence:
                continue
            attrs[f"{scheme}/{node}"] = dict(child.attrs)
            coords |= {name: values.values.tolist() for name, values in child.indexes.items()}
            for name, values in child.data_vars.items():
                key = f"{scheme}/{node}/{name}"
                record[key], dims[key] = values.values, list(values.dims)
    return record | {HEADER: np.array(json.dumps({"dims": dims, "coords": coords, "attrs": attrs}))}


def stacked(records: list[Record]) -> dict[str, xr.DataTree]:
    """All data sets as one evaluation by scheme: every variable with `data_set` in front, but for influences."""
    header = json.loads(str(records[0][HEADER]))
    kept = {key: dims for key, dims in header["dims"].items() if key.split("/")[1] != INFLUENCE}
    variables = {key: ((DATA_SET, *dims), np.stack([record[key] for record in records])) for key, dims in kept.items()}
    return _trees(variables, header)


def opened(record: Record) -> dict[str, xr.DataTree]:
    """One data set's evaluations as they were, by scheme."""
    header = json.loads(str(record[HEADER]))
    return _trees({key: (dims, record[key]) for key, dims in header["dims"].items()}, header)


def holds_influence(record: Record) -> bool:
    """Whether a record says what each image adds to the rates."""
    return any(key.split("/")[1:2] == [INFLUENCE] for key in record)


def _trees(variables: dict[str, tuple], header: dict) -> dict[str, xr.DataTree]:
    """Variables by "scheme/node/variable" as one evaluation by scheme."""
    nodes: dict[str, dict] = {}
    for key, variable in variables.items():
        scheme, node, name = key.split("/")
        nodes.setdefault(scheme, {}).setdefault(node, {})[name] = variable
    coords, trees = header["coords"], {}
    for scheme, by_node in nodes.items():
        tree = {}
        for node, held in by_node.items():
            found = xr.Dataset(held, attrs=header["attrs"][f"{scheme}/{node}"])
            tree[node] = found.assign_coords({name: coords[name] for name in found.dims if name in coords})
        trees[scheme] = xr.DataTree.from_dict(tree)
        trees[scheme].attrs = header["attrs"][scheme]
    return trees


class Store:
    """A folder with one file for each finished data set, and the parameters that they were made with.

    A file is written under another name first and renamed when it is complete, so that a study killed at any
    moment leaves whole files only.
    """

    def __init__(self, folder: str | Path, parameters: dict):
        self.folder = Path(folder)
        require(not self.folder.is_file(), f"store={str(folder)!r} is a file; give a folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / PARAMETERS
        if not path.exists():
            strangers = [entry.name for entry in self.folder.iterdir()]
            words = f"store={str(folder)!r} holds other files ({', '.join(strangers[:3])}); give a new folder"
            require(not strangers, words)
            with _renamed_when_whole(path) as file:
                file.write(json.dumps(parameters, indent=1).encode())
        try:
            kept = json.loads(path.read_text())
        except ValueError as error:
            raise InputError(f"{path} cannot be read ({error}); give another store") from error
        words = [
            f"{name} {json.dumps(kept.get(name))[:60]} there, {json.dumps(parameters[name])[:60]} here"
            for name in parameters
            if kept.get(name) != parameters[name]
        ]
        require(
            not words,
            f"store={str(folder)!r} belongs to a study with other parameters ({'; '.join(words)}); give another "
            "folder, or the same parameters",
        )

    def path(self, number: int) -> Path:
        """The file of one data set."""
        return self.folder / f"data_set_{number:06}.npz"

    def finished(self, n_datasets: int) -> dict[int, Record]:
        """The data sets among the first n that are here already."""
        return {number: _read(self.path(number)) for number in range(n_datasets) if self.path(number).exists()}

    def write(self, number: int, record: Record) -> Record:
        """Keep one finished data set, and give it back."""
        with _renamed_when_whole(self.path(number)) as file:
            np.savez(file, **record)
        return record


@contextmanager
def _renamed_when_whole(path: Path) -> Iterator[BinaryIO]:
    part = path.with_suffix(f".{os.getpid()}.part")
    with open(part, "wb") as file:
        yield file
    os.replace(part, path)


def _read(path: Path) -> Record:
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} cannot be read ({error}); delete it, and its data set is computed again") from error
