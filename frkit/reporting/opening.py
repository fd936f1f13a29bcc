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
    models = by_model(data) if isinstance(data, (list, tuple)) else data
    are_models = isinstance(models, Mapping) and not hasattr(models, "dims")
    if not are_models and not isinstance(data, (str, Path, pd.DataFrame)):
        return Opened(data, None, [])
    paths = None
    sources = models.values() if are_models else [data]
    if all(isinstance(source, (str, Path)) for source in sources):
        paths = str(data)
        if are_models:
            paths = {str(name): str(path) for name, path in models.items()}
    with gathered_notices() as notices:
        return Opened(open_data(data, **opening), paths, notices)
