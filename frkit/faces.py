"""The bottom room: dimension names, the one voice of errors, and the faces Dataset."""

import warnings

import numpy as np
import xarray as xr

IMAGE, FEATURE, MODEL = "image", "feature", "model"
PROBE, REFERENCE = "probe", "reference"
REPLICATE, IDENTITY, GROUP, FAR_LEVEL = "replicate", "identity", "group", "far_level"
PERSON = "person"
UNKNOWN = "unknown"


class InputError(ValueError):
    """Bad input: the message says what is wrong, where, and what to do."""


class DataWarning(UserWarning):
    """The data allow less than was asked: the message says what, and what that means for the result."""


def require(condition: bool, message: str) -> None:
    """Raise InputError with the message unless the condition holds."""
    if not condition:
        raise InputError(message)


def warn(message: str) -> None:
    """Give a DataWarning that points at the caller of the public function."""
    warnings.warn(message, DataWarning, stacklevel=3)


def faces(embedding, identity, *, image=None, varying="error", **attributes) -> xr.Dataset:
    """Collect embeddings and labels in one Dataset (first slice: arrays only, few checks)."""
    embedding = np.asarray(embedding, np.float32)
    identity = np.asarray(identity, str)
    names = np.arange(len(identity)).astype(str) if image is None else np.asarray(image, str)
    labels = {name: (IMAGE, np.asarray(values, str)) for name, values in attributes.items()}
    return xr.Dataset(
        {"embedding": ((IMAGE, FEATURE), embedding)},
        coords={IMAGE: names, IDENTITY: (IMAGE, identity), **labels},
    )


def stack_models(models: dict[str, xr.Dataset]) -> xr.Dataset:
    """Stack several encoders of the same images along `model`."""
    return xr.concat(list(models.values()), dim=xr.Variable(MODEL, list(models)))
