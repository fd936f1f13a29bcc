"""The ground floor: all names of dimensions and variables that rooms share, and the one voice of errors."""

import numbers
import sys
import warnings

IMAGE, FEATURE, MODEL = "image", "feature", "model"
PROBE, REFERENCE = "probe", "reference"
REPLICATE, IDENTITY, GROUP, FAR_LEVEL = "replicate", "identity", "group", "far_level"
PERSON = "person"
PAIR, GENUINE = "pair", "genuine"
THRESHOLD_LEVEL, REFERENCE_GROUP, SCORE_BIN = "threshold_level", "reference_group", "score_bin"
UNKNOWN = "unknown"


class InputError(ValueError):
    """Bad input: the message says what is wrong, where, and what to do."""


class DataWarning(UserWarning):
    """The data allow less than was asked: the message says what, and what that means for the result."""


def require(condition: bool, message: str) -> None:
    """Raise InputError with the message unless the condition holds."""
    if not condition:
        raise InputError(message)


def require_whole(name: str, value: int, least: int) -> None:
    """Raise InputError unless the value is a whole number, and not below the least one."""
    whole = isinstance(value, numbers.Integral) and value >= least
    require(whole, f"{name} must be a whole number of at least {least}, got {value!r}")


def warn(message: str) -> None:
    """Give a DataWarning that points at the line outside the kit that led to it."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "frkit":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, DataWarning, stacklevel=level)


def listed(items, limit: int = 5) -> str:
    """Write the first few items for a message: `'a', 'b', ... (7 in all)`."""
    items = list(items)
    text = ", ".join(repr(str(item)) for item in items[:limit])
    return text if len(items) <= limit else f"{text}, ... ({len(items)} in all)"
