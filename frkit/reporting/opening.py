"""The data that a report is about, with the files they came from."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import xarray as xr

from frkit.base import gathered_notices
from frkit.io.door import by_model, open_data


@dataclass
class Opened:
    """Data that were opened, the paths that they came from, and notices about them.

    `paths` is one path, a mapping of model to path, or None where not all came from files.
    """

    data: xr.Dataset | xr.DataArray
    paths: str | dict | None
    notices: list


def opened(data, opening):
    """Open what a report is about: data, a path, a DataFrame, or a mapping of models to such."""
    if isinstance(data, Opened):
        return data
    with gathered_notices() as notices:
        data, paths = _with_paths(data, opening)
    return Opened(data, paths, notices)


def _with_paths(data, opening):
    """Open data; the paths are None where they did not come from files."""
    if isinstance(data, (str, Path)):
        return open_data(data, **opening), str(data)
    if isinstance(data, pd.DataFrame):
        return open_data(data, **opening), None
    if isinstance(data, (list, tuple)):
        paths = {name: str(path) for name, path in by_model(data).items()}
        return open_data(data, **opening), paths
    if not isinstance(data, Mapping) or hasattr(data, "dims"):
        return data, None
    models = {str(name): source for name, source in data.items()}
    are_files = all(isinstance(source, (str, Path)) for source in models.values())
    paths = {name: str(path) for name, path in models.items()} if are_files else None
    return open_data(models, **opening), paths
