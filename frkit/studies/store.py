"""Evaluations of many data sets: as arrays in one small file each, and as one evaluation with `data_set` in front."""

import json
import os
import zipfile
from pathlib import Path

import numpy as np
import xarray as xr

from frkit.base import FAR_LEVEL, InputError, require

DATA_SET = "data_set"
PARAMETERS = "study.json"
HEADER = "header"

Record = dict[str, np.ndarray]  # "scheme/node/variable" -> values; "header": dimensions and provenance in JSON


def recorded(evaluations: dict[str, xr.DataTree]) -> Record:
    """The numbers of one data set's evaluations, by scheme."""
    record, dims = {}, {}
    for scheme, tree in evaluations.items():
        for node, child in tree.children.items():
            for name, values in child.data_vars.items():
                key = f"{scheme}/{node}/{name}"
                record[key], dims[key] = values.values, list(values.dims)
    provenance = {scheme: tree.attrs["provenance"] for scheme, tree in evaluations.items()}
    return record | {HEADER: np.array(json.dumps({"dims": dims, "provenance": provenance}))}


def stacked(records: list[Record], far: np.ndarray) -> dict[str, xr.DataTree]:
    """All data sets as one evaluation by scheme: every variable with `data_set` in front."""
    header = json.loads(str(records[0][HEADER]))
    nodes: dict[str, dict] = {}
    for key, dims in header["dims"].items():
        scheme, node, name = key.split("/")
        values = np.stack([record[key] for record in records])
        nodes.setdefault(scheme, {}).setdefault(node, {})[name] = ((DATA_SET, *dims), values)
    trees = {}
    for scheme, by_node in nodes.items():
        trees[scheme] = xr.DataTree.from_dict(
            {node: xr.Dataset(variables, {FAR_LEVEL: far}) for node, variables in by_node.items()}
        )
        trees[scheme].attrs["provenance"] = header["provenance"][scheme]
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
        if path.exists():
            _check_parameters(path, parameters)
        else:
            strangers = [entry.name for entry in self.folder.iterdir()]
            words = f"store={str(folder)!r} holds other files ({', '.join(strangers[:3])}); give a new folder"
            require(not strangers, words)
            _write_whole(path, json.dumps(parameters, indent=1).encode())

    def path(self, number: int) -> Path:
        """The file of one data set."""
        return self.folder / f"data_set_{number:06}.npz"

    def finished(self, n_datasets: int) -> dict[int, Record]:
        """The data sets among the first n that are here already."""
        there = (number for number in range(n_datasets) if self.path(number).exists())
        return {number: _read(self.path(number)) for number in there}

    def write(self, number: int, record: Record) -> Record:
        """Keep one finished data set, and give it back."""
        part = self.path(number).with_suffix(f".{os.getpid()}.part")
        with open(part, "wb") as file:
            np.savez(file, **record)
        os.replace(part, self.path(number))
        return record


def _write_whole(path: Path, content: bytes) -> None:
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_bytes(content)
    os.replace(part, path)


def _read(path: Path) -> Record:
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} cannot be read ({error}); delete it, and its data set is computed again") from error


def _check_parameters(path: Path, parameters: dict) -> None:
    """Refuse a store that was made by another study."""
    try:
        stored = json.loads(path.read_text())
    except ValueError as error:
        raise InputError(f"{path} cannot be read ({error}); give another store") from error
    other = [name for name in parameters if stored.get(name) != parameters[name]]
    words = "; ".join(f"{name} {_short(stored.get(name))} there, {_short(parameters[name])} here" for name in other)
    require(
        not other,
        f"store={str(path.parent)!r} belongs to a study with other parameters ({words}); give another folder, or "
        "the same parameters",
    )


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
