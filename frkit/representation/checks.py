"""Checks of the arguments that several functions of this package take."""

import numpy as np

from frkit.base import listed, require


def labels_of(name, values, *, tasks=False):
    """Return labels (n,), one for each image; with tasks, (n, tasks) is allowed too."""
    labels = np.asarray(values)
    if labels.dtype.kind == "O":  # columns of pandas
        labels = np.array(labels.tolist())
    require(
        1 <= labels.ndim <= 1 + tasks and labels.dtype.kind in "biufUS",
        f"{name} must be one number or text for each image, got shape {labels.shape} of "
        f"{labels.dtype}",
    )
    if labels.dtype.kind == "f":
        require(bool(np.isfinite(labels).all()), f"{name} has values that are NaN or infinite")
    return labels


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


def require_two(what, names):
    """Refuse a single label or group, which can be compared with nothing."""
    require(
        len(names) >= 2,
        f"two {what}s or more are needed, got {listed(names)}; nothing can be compared",
    )
