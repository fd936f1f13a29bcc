"""Evaluations of many data sets: as arrays in one small file each, and as one evaluation with `data_set` in front."""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np
import xarray as xr

from frkit.base import InputError, listed, require, writing

DATA_SET, PEOPLE = "data_set", "people"
PARAMETERS = "study.json"
HEADER = "header"
KEPT = "free some space or give another store: what is finished is kept there, and the same call goes on from it"
ABANDONED = 60  # seconds after which a file that is half written belongs to nobody

Record = dict[str, np.ndarray]  # "scheme/node/variable" -> values; "header": all else in JSON


def recorded(evaluations: dict[str, xr.DataTree]) -> Record:
    """The numbers of one data set's evaluations, by scheme."""
    record, header = {}, {}
    for path, node in xr.DataTree(children=evaluations).to_dict(relative=True).items():
        record |= {f"{path}/{name}": values.values for name, values in node.data_vars.items()}
        coords = {name: values.values.tolist() for name, values in node.indexes.items()}
        dims = {name: values.dims for name, values in node.data_vars.items()}
        header[path] = {"dims": dims, "coords": coords, "attrs": node.attrs}
    return record | {HEADER: np.array(json.dumps(header))}


def stacked(records: list[Record]) -> dict[str, xr.DataTree]:
    """All data sets as one evaluation by scheme: every variable with `data_set` in front, but for influences."""
    kept = {path: node for path, node in _header(records[0]).items() if not path.endswith(PEOPLE)}
    return _trees(
        kept, lambda key, dims: ((DATA_SET, *dims), np.stack([record[key] for record in records]))
    )


def opened(record: Record) -> dict[str, xr.DataTree]:
    """One data set's evaluations as they were, by scheme."""
    return _trees(_header(record), lambda key, dims: (dims, record[key]))


def holds_people(record: Record) -> bool:
    """Whether a record says what each image adds to the rates."""
    return any(path.endswith(PEOPLE) for path in _header(record))


def _header(record: Record) -> dict:
    """Dims, coordinates and attributes of every node, by path."""
    return json.loads(str(record[HEADER]))


def _trees(header: dict, variable: Callable) -> dict[str, xr.DataTree]:
    """Evaluations by scheme, with what `variable` makes of each variable's key and dims."""
    nodes = {}
    for path, node in header.items():
        variables = {name: variable(f"{path}/{name}", dims) for name, dims in node["dims"].items()}
        nodes[path] = xr.Dataset(variables, node["coords"], node["attrs"])
    return dict(xr.DataTree.from_dict(nodes).children)


class Finished(dict):
    """The record in a file. What images add, nearly all of it, stays there until it is asked for."""

    def __init__(self, record: Record, path: Path):
        super().__init__(
            {key: values for key, values in record.items() if f"/{PEOPLE}/" not in key}
        )
        self.path = path

    def __missing__(self, key: str) -> np.ndarray:
        return _read(self.path, key)[key]


class Store:
    """A folder with one file for each finished data set, and the parameters that they were made with.

    A file is written under another name first and renamed when it is complete, so that a study killed at any
    moment leaves whole files only.
    """

    def __init__(self, folder: str | Path, parameters: dict):
        self.folder = Path(folder)
        require(not self.folder.is_file(), f"store={str(folder)!r} is a file; give a folder")
        with writing(self.folder, KEPT):
            self.folder.mkdir(parents=True, exist_ok=True)
        for part in self.folder.glob(
            "*.part"
        ):  # of a study that was killed; a young one may be another process's
            with suppress(OSError):
                if time.time() - part.stat().st_mtime > ABANDONED:
                    part.unlink()
        path = self.folder / PARAMETERS
        if not path.exists():
            strangers = [entry.name for entry in self.folder.iterdir() if entry.suffix != ".part"]
            require(
                not strangers,
                f"store={str(folder)!r} holds other files ({listed(strangers)}); give a new folder",
            )
            with _renamed_when_whole(path) as file:
                file.write(json.dumps(parameters, indent=1).encode())
        try:
            kept = dict(json.loads(path.read_text()))
        except (OSError, ValueError, TypeError) as error:
            raise InputError(
                f"{path} cannot be read ({error}); delete its folder, or give another store"
            ) from error
        other = [name for name, value in parameters.items() if kept.get(name) != value]
        both = [
            (name, json.dumps(kept.get(name))[:60], json.dumps(parameters[name])[:60])
            for name in other
        ]
        words = "; ".join(f"{name} {there} there, {here} here" for name, there, here in both)
        require(
            not other,
            f"store={str(folder)!r} belongs to a study with other parameters ({words}); give another",
        )

    def path(self, number: int) -> Path:
        """The file of one data set."""
        return self.folder / f"data_set_{number:06}.npz"

    def finished(self, n_datasets: int) -> dict[int, Record]:
        """The data sets among the first n that are here already."""
        there = (number for number in range(n_datasets) if self.path(number).exists())
        return {number: Finished(_read(self.path(number)), self.path(number)) for number in there}

    def write(self, number: int, record: Record) -> Record:
        """Keep one finished data set, and give it back."""
        with _renamed_when_whole(self.path(number)) as file:
            np.savez(file, **record)
        return Finished(record, self.path(number))


@contextmanager
def _renamed_when_whole(path: Path) -> Iterator[BinaryIO]:
    """A file that has this name from the moment on at which it is complete."""
    part = path.with_suffix(f".{os.getpid()}.part")
    with writing(path, KEPT):
        try:
            with open(part, "wb") as file:
                yield file
            os.replace(part, path)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)


def _read(path: Path, *keys: str) -> Record:
    """One finished data set, or some of its arrays; InputError where the file is damaged."""
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            return {key: file[key] for key in keys or file}
    except Exception as error:
        raise InputError(
            f"{path} cannot be read ({error}); delete it, and its data set is computed again"
        ) from error
