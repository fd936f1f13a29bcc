"""Checks of the arguments that several functions of this package take."""

import numpy as np

from frkit.base import InputError, listed, real_numbers, require


def number(name: str, value, low: float, high: float) -> float:
    """Return one number in [low, high]."""
    given = real_numbers(name, value)
    require(
        given.ndim == 0 and low <= given <= high,
        f"{name} must be a number from {low:g} to {high:g}, got {value!r}",
    )
    return float(given)


def labels_of(name: str, values, *, tasks: bool = False) -> np.ndarray:
    """Return labels (n,), one for each image; with tasks, (n, tasks) is allowed too."""
    try:
        labels = np.asarray(values)
        if labels.dtype.kind == "O":  # columns of pandas
            labels = np.array(labels.tolist())
    except ValueError:
        raise InputError(
            f"{name} must be one label for each image; rows differ in length"
        ) from None
    dims = (1, 2) if tasks else (1,)
    require(
        labels.ndim in dims and labels.size > 0 and labels.dtype.kind in "biufUS",
        f"{name} must be one number or text for each image, got shape {labels.shape} of "
        f"{labels.dtype}",
    )
    if labels.dtype.kind == "f":
        require(bool(np.isfinite(labels).all()), f"{name} has values that are NaN or infinite")
    return labels


def require_equal_length(**columns: np.ndarray) -> None:
    """Refuse columns of images that differ in length."""
    lengths = {name: len(values) for name, values in columns.items()}
    require(
        len(set(lengths.values())) == 1,
        f"values of the images must be of equal length, got {lengths}",
    )


def require_same_kind(truth: np.ndarray, predicted: np.ndarray) -> None:
    """Refuse labels that can never be equal, such as 1 and "1"."""
    require(
        (truth.dtype.kind in "biuf") == (predicted.dtype.kind in "biuf"),
        f"true and predicted labels are of different kinds, {truth.dtype} and {predicted.dtype}, "
        "so none would be right; convert one with .astype(...)",
    )


def require_two(what: str, names: np.ndarray) -> None:
    """Refuse a single label or group, which can be compared with nothing."""
    require(
        len(names) >= 2,
        f"two {what}s or more are needed, got {listed(names)}; nothing can be compared",
    )
