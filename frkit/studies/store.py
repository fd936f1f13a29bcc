"""Evaluations of many data sets: as arrays in one small file each, and as one evaluation with `data_set` in front."""

import json
import os
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np
import xarray as xr

from frkit.base import InputError, require

DATA_SET = "data_set"
PARAMETERS = "study.json"
HEADER = "header"
ABANDONED = 60  # seconds after which a file that is half written belongs to nobody

Record = dict[str, np.ndarray]  # "scheme/node/variable" -> values; "header": all else in JSON


def recorded(evaluations: dict[str, xr.DataTree]) -> Record:
    """The numbers of one data set's evaluations, by scheme."""
    record, dims, coords, attrs = {}, {}, {}, {}
    for scheme, tree in evaluations.items():
        attrs[scheme] = dict(tree.attrs)
        for node, child in tree.children.items():
            attrs[f"{scheme}/{node}"] = dict(child.attrs)
            coords |= {name: values.values.tolist() for name, values in child.indexes.items()}
            for name, values in child.data_vars.items():
                key = f"{scheme}/{node}/{name}"
                record[key], dims[key] = values.values, list(values.dims)
    return record | {HEADER: np.array(json.dumps({"dims": dims, "coords": coords, "attrs": attrs}))}


def stacked(records: list[Record]) -> dict[str, xr.DataTree]:
    """All data sets as one evaluation by scheme: every variable with `data_set` in front."""
    header = json.loads(str(records[0][HEADER]))
    nodes: dict[str, dict] = {}
    for key, dims in header["dims"].items():
        scheme, node, name = key.split("/")
        values = np.stack([record[key] for record in records])
        nodes.setdefault(scheme, {}).setdefault(node, {})[name] = ((DATA_SET, *dims), values)
    trees = {}
    for scheme, by_node in nodes.items():
        tree = {}
        for node, variables in by_node.items():
            found = xr.Dataset(variables, attrs=header["attrs"][f"{scheme}/{node}"])
            tree[node] = found.assign_coords({name: header["coords"][name] for name in found.dims if name != DATA_SET})
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
        with _written(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        for part in self.folder.glob("*.part"):  # of a study that was killed; a young one may be another process's
            with suppress(OSError):
                if time.time() - part.stat().st_mtime > ABANDONED:
                    part.unlink()
        path = self.folder / PARAMETERS
        if not path.exists():
            strangers = [entry.name for entry in self.folder.iterdir() if entry.suffix != ".part"]
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
    with _written(path):
        try:
            with open(part, "wb") as file:
                yield file
            os.replace(part, path)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)


@contextmanager
def _written(path: Path) -> Iterator[None]:
    """Say what a disk that is full or read-only means."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror}); free some space or give another store: what is finished "
            "is kept there, and the same call goes on from it"
        ) from error


def _read(path: Path) -> Record:
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} cannot be read ({error}); delete it, and its data set is computed again") from error
