"""The ground floor: dimension names and the one voice of errors."""

import warnings

IMAGE, FEATURE, MODEL = "image", "feature", "model"
PROBE, REFERENCE = "probe", "reference"
REPLICATE, IDENTITY, GROUP, FAR_LEVEL = "replicate", "identity", "group", "far_level"
PERSON = "person"
PAIR, GENUINE = "pair", "genuine"
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


def listed(items, limit: int = 5) -> str:
    """Write the first few items for a message: `'a', 'b', ... (7 in all)`."""
    items = list(items)
    text = ", ".join(repr(str(item)) for item in items[:limit])
    return text if len(items) <= limit else f"{text}, ... ({len(items)} in all)"
