"""Checks of the arguments that several functions of this package take."""

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import UNKNOWN, listed, require, warn
from frkit.data.labels import clean_labels


def checked_labels(name, values, *, tasks=False):
    """Return labels (n,), one for each image; with tasks, (n, tasks) is allowed too."""
    labels = np.asanyarray(values)
    rows = np.flatnonzero(clean_labels(labels.ravel(), labels.size, name) == UNKNOWN)
    message = f"{name} is missing, or NaN, in {len(rows)} place(s), the first is {rows[:1]}"
    require(len(rows) == 0, f"{message} (counted from 0); leave these images out of all arguments")
    if labels.dtype.kind == "O":  # columns of pandas
        labels = np.array(labels.tolist())
    require(
        1 <= labels.ndim <= 1 + tasks and labels.dtype.kind in "biufUS",
        f"{name} must be one number or text for each image, got shape {labels.shape} of "
        f"{labels.dtype}",
    )
    return labels


def groups_of(name, values):
    """Return the group of each image as text, "unknown" where it is missing, with a warning."""
    groups = clean_labels(values, np.size(values), name)
    n_missing = np.count_nonzero(groups == UNKNOWN)
    if n_missing > 0:
        warn(f"{n_missing} of {len(groups)} images have no {name}; they are in no group")
    return groups


def require_same_images(**columns):
    """Refuse columns of unequal length, and of pandas with indexes that differ; None is left out.

    Columns are joined by position.
    """
    columns = {name: values for name, values in columns.items() if values is not None}
    for name, values in columns.items():
        is_tree = isinstance(values, (xr.Dataset, xr.DataTree))
        require(not is_tree, f"{name} must be labels of the images, got {type(values).__name__}")
    lengths = {name: np.shape(values)[:1] for name, values in columns.items()}
    require(
        len(set(lengths.values())) == 1,
        f"values of the images must be of equal length, got {lengths}",
    )
    pandas_types = (pd.Series, pd.DataFrame)
    orders = [values.index for values in columns.values() if isinstance(values, pandas_types)]
    require(
        all(order.equals(orders[0]) for order in orders),
        f"the indexes of {', '.join(columns)} differ; give all of them the same index, or none "
        "(.to_numpy())",
    )


def require_same_kind(truth, predicted):
    """Refuse labels that can never be equal, such as 1 and "1"."""
    require(
        (truth.dtype.kind in "US") == (predicted.dtype.kind in "US"),
        f"true and predicted labels are of different kinds, {truth.dtype} and {predicted.dtype}, "
        "so none would be right; convert one with .astype(...)",
    )


def require_same_tasks(**labels):
    """Refuse labels beside tasks, other numbers of tasks, and tasks that are not 0 or 1."""
    first, second = labels.values()
    values = {*first.ravel().tolist(), *second.ravel().tolist()}
    require(
        first.shape[1:] == second.shape[1:] and (first.ndim == 1 or values <= {0, 1}),
        f"{' and '.join(labels)} must both be labels, (n,), or both 0 or 1 for the same tasks, (n, "
        f"tasks); got shapes {first.shape} and {second.shape}",
    )


def require_two(noun, names):
    """Refuse a single label or group, which can be compared with nothing."""
    require(
        len(names) >= 2,
        f"two {noun}s or more are needed, got {listed(names)}; nothing can be compared",
    )
