"""Checks of the arguments that several functions of this package take."""

import numpy as np
import pandas as pd

from frkit.base import UNKNOWN, listed, require, warn
from frkit.data.labels import clean_labels


def checked_labels(name, values, *, tasks=False):
    """Return labels (n,), one for each image; with tasks, (n, tasks) is allowed too."""
    labels = np.ma.filled(values.astype(object), None) if np.ma.is_masked(values) else values
    labels = np.asarray(labels)
    is_missing = np.ravel(pd.isna(labels))
    if labels.ndim == 1 and labels.dtype.kind in "OU":
        is_missing = clean_labels(labels, len(labels), name) == UNKNOWN
    rows = np.flatnonzero(is_missing)
    message = f"{name} is missing, or NaN, in {len(rows)} place(s), the first is {rows[:1]}"
    require(len(rows) == 0, f"{message} (counted from 0); leave these images out of all arguments")
    if labels.dtype.kind == "O":  # columns of pandas
        labels = np.array(labels.tolist())
    require(
        1 <= labels.ndim <= 1 + tasks and labels.dtype.kind in "biufUS",
        f"{name} must be one number or text for each image, got shape {labels.shape} of "
        f"{labels.dtype}",
    )
    if labels.dtype.kind == "f":
        require(bool(np.isfinite(labels).all()), f"{name} has values that are infinite")
    return labels


def groups_of(name, values):
    """Return the group of each image as text, "unknown" where it is missing, with a warning."""
    groups = clean_labels(values, np.size(values), name)
    n_missing = np.count_nonzero(groups == UNKNOWN)
    if n_missing > 0:
        warn(f"{n_missing} of {len(groups)} images have no {name}; they are in no group")
    return groups


def same_order(**columns):
    """Return columns in the order of the first one; None stays None.

    Columns of pandas are never joined by position: the same labels in another order are brought
    into the order of the first, and anything else is refused.
    """
    given = {name: values for name, values in columns.items() if values is not None}
    pandas_types = (pd.Series, pd.DataFrame)
    orders = [values.index for values in given.values() if isinstance(values, pandas_types)]
    if all(order.equals(orders[0]) for order in orders):
        return list(columns.values())
    first = orders[0]
    same_labels = all(order.is_unique and set(order) == set(first) for order in orders)
    require(
        same_labels and len(orders) == len(given),
        f"the indexes of {', '.join(given)} differ; give all of them the same index, or none "
        "(.to_numpy())",
    )
    return [values if values is None else values.reindex(first) for values in columns.values()]


def require_equal_length(**columns):
    """Refuse columns of images that differ in length."""
    lengths = {name: len(values) for name, values in columns.items()}
    require(
        len(set(lengths.values())) == 1,
        f"values of the images must be of equal length, got {lengths}",
    )


def require_same_kind(truth, predicted):
    """Refuse labels that can never be equal, such as 1 and "1"."""
    require(
        (truth.dtype.kind in "US") == (predicted.dtype.kind in "US"),
        f"true and predicted labels are of different kinds, {truth.dtype} and {predicted.dtype}, "
        "so none would be right; convert one with .astype(...)",
    )


def require_two(noun, names):
    """Refuse a single label or group, which can be compared with nothing."""
    require(
        len(names) >= 2,
        f"two {noun}s or more are needed, got {listed(names)}; nothing can be compared",
    )
