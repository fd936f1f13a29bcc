"""Errors, warnings and checks of arguments, and small helpers that all packages share."""

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

import numpy as np

UNKNOWN = "unknown"
MEMORY_LIMIT = 8_000_000_000  # bytes that one table of numbers may take
LARGEST_WHOLE = 2**53  # above it float64 cannot represent every integer


class InputError(ValueError):
    """Bad input: the message says what is wrong, where, and what to do.

    Attributes
    ----------
    text : what is wrong, in words that are the same everywhere.
    answers : of a question, the options that answer it, a dict for each answer. Python, the command
        line and the app write them in their own words.
    calls : the whole call with each answer, where data are opened in Python.
    """

    def __init__(self, text: str, answers: Sequence[dict] = ()) -> None:
        super().__init__(text, answers)
        self.text = text
        self.answers = list(answers)
        self.calls: list[str] = []

    def __str__(self) -> str:
        answers = [
            " with ".join(f"{name}={value!r}" for name, value in answer.items())
            for answer in self.answers
        ]
        lines = [f"say which it is: {', or '.join(answers)}"] if answers else []
        if self.calls:
            lines = [f"Python: {call}" for call in self.calls]
        return "\n".join([self.text, *lines])


class DataWarning(UserWarning):
    """The data allow less than was asked: the message says what that means for the result."""


class Notice(NamedTuple):
    """What the data do not allow, in words; programs know it by its code, if it has one."""

    text: str
    code: str = ""


NOTICES: ContextVar[list[Notice] | None] = ContextVar("notices", default=None)


def require(condition: object, text: str, answers: Sequence[dict] = ()) -> None:
    """Raise InputError unless the condition is true."""
    if not condition:
        raise InputError(text, answers)


def require_one_of(name: str, value, allowed) -> None:
    """Raise InputError unless the value is one of the allowed words."""
    require(
        isinstance(value, str) and value in allowed,
        f"{name} must be one of {', '.join(allowed)}; got {value!r}",
    )


def require_text(name: str, value, example: str = "a text") -> None:
    """Raise InputError unless the value is a text; `example` says which."""
    require(isinstance(value, str), f"{name} must be {example}, got {type(value).__name__}")


def require_sequence(name: str, value, entries: str) -> tuple:
    """Raise InputError unless the value is a list or tuple, or a text, which is one entry."""
    values = (value,) if isinstance(value, str) else value
    require(isinstance(values, (list, tuple)), f"{name} must be {entries}, got {value!r}")
    return tuple(values)


def require_flag(name: str, value) -> bool:
    """Raise InputError unless the value is True or False; a text such as "no" would be true."""
    require(isinstance(value, (bool, np.bool_)), f"{name} must be True or False, got {value!r}")
    return bool(value)


def require_progress(progress) -> None:
    """Raise InputError unless this is None, True, False, or a function of the progress."""
    is_kind = progress is None or isinstance(progress, bool) or callable(progress)
    require(is_kind, f"progress must be True, False or a function, got {progress!r}")


def require_whole(name: str, value: int, least: int) -> int:
    """Raise InputError unless the value is an integer of at least `least`."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    require(
        is_whole and value >= least,
        f"{name} must be a whole number of at least {least}, got {value!r}",
    )
    return int(value)


def seed_sequence(seed: int) -> np.random.SeedSequence:
    """Return NumPy's seed sequence of a seed, which must be a whole number of at least 0."""
    return np.random.SeedSequence(require_whole("seed", seed, 0))


def require_path(name: str, value) -> Path:
    """Raise InputError unless the value can be the path of a file."""
    is_path = isinstance(value, (str, Path))
    require(is_path, f"{name} must be the path of a file, got {type(value).__name__}")
    return Path(value)


def require_inside(name: str, value, low: float, high: float) -> None:
    """Raise InputError unless the value is a number strictly between two others."""
    number = real_numbers(name, value)
    require(
        number.ndim == 0 and low < number < high,
        f"{name} must lie in ({low}, {high}), got {value!r}",
    )


def require_number(name: str, value, low: float, high: float = np.inf) -> float:
    """Raise InputError unless the value is a number in [low, high]."""
    number = real_numbers(name, value)
    limits = f"lie in [{low:g}, {high:g}]" if high < np.inf else f"be at least {low:g}"
    inside = number.ndim == 0 and low <= number <= high
    require(inside, f"{name} must {limits}, got {value!r}")
    return float(number)


def require_range(name: str, ends) -> np.ndarray:
    """Raise InputError unless these are two numbers, the lowest and the highest of a range."""
    numbers = real_numbers(name, ends)
    is_pair = numbers.shape == (2,)
    require(is_pair, f"{name} must be the lowest and the highest value, got {ends!r}")
    return numbers


def require_mapping(name: str, value, example: str, least: int = 1) -> None:
    """Raise InputError unless the value is a dict or another mapping with at least `least` entries.

    example : what one looks like. A Dataset is a mapping for Python, but not what is meant.
    """
    is_mapping = isinstance(value, Mapping) and not hasattr(value, "dims") and len(value) >= least
    is_empty = isinstance(value, dict) and not value
    contents = "an empty one" if is_empty else type(value).__name__
    require(is_mapping, f"{name} must be a mapping such as {example}, got {contents}")


def parse_number(text: str) -> float:
    """Read a number that a person wrote: 0.001, 1e-3 or 0.1%."""
    digits = text.strip()
    is_percent = digits.endswith("%")
    try:
        number = float(digits.removesuffix("%"))
    except ValueError:
        raise InputError(f"{text!r} is not a number: write 0.001, 1e-3 or 0.1%") from None
    return number / 100 if is_percent else number


def require_returned(name: str, value, made_by: str, *contents: str) -> None:
    """Raise InputError unless the value has the variables, dims or coordinates that a call makes.

    For what has no kind: truths, histograms, faces, tables that users write by hand.
    """
    fields = ("variables", "coords", "dims")
    present = {part for field in fields for part in getattr(value, field, ())}
    absent = [each for each in contents if each not in present]
    require(
        not absent,
        f"{name} must be what {made_by} returned; this {type(value).__name__} has no "
        f"{', '.join(absent)}",
    )


def require_kind(name: str, value, *kinds: str) -> None:
    """Raise InputError unless the value, or each of a mapping, is a result of one of these kinds.

    The kind of a result is the public function that returned it, such as "studies.coverage".
    """
    made_by = " or ".join(f"fk.{kind}" for kind in kinds)
    if isinstance(value, dict):
        require(len(value) > 0, f"{name} is an empty mapping: pass what {made_by} returned")
    results = value if isinstance(value, dict) else {"": value}
    for key, result in results.items():
        kind = getattr(result, "attrs", {}).get("kind")
        label = f"{name}[{key!r}]" if key else name
        other = f"what fk.{kind} returned" if kind else type(result).__name__
        require(kind in kinds, f"{label} must be what {made_by} returned, got {other}")


def real_numbers(name: str, values) -> np.ndarray:
    """An array of real numbers in their own precision, NaN where masked, None or pandas' NA."""
    try:
        raw = values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
        is_plain = raw.dtype.kind != "O" and not np.ma.isMaskedArray(raw)
        array = raw if is_plain else _as_floats(raw)
    except (ValueError, TypeError):
        raise InputError(
            f"{name} must be numbers, in rows of one length; got {str(values)[:60]}"
        ) from None
    require(
        array.dtype.kind in "fiub",
        f"{name} must be numbers, not text or complex ones, got {array.dtype}: {str(values)[:60]}",
    )
    if isinstance(values, (list, tuple)) and np.nanmax(np.abs(array), initial=0) >= LARGEST_WHOLE:
        raw = np.array(values, object)  # NumPy rounds integers that are mixed with floats
    require_exact(name, raw)
    return np.ma.filled(array, np.nan)


def checked_far(far) -> np.ndarray:
    """FAR levels, (level,), in the order given; one alone may be a number."""
    levels = np.atleast_1d(real_numbers("far", far).astype(float))
    require(levels.ndim == 1 and levels.size, f"far must be FAR levels in one row, got {far!r}")
    outside = levels[~((levels > 0) & (levels < 1))]
    numbers = ", ".join(f"{level:g}" for level in outside)
    require(not outside.size, f"far must lie in (0, 1), got {numbers}: a FAR of 1 % is 0.01")
    return levels


def refuse_infinite(scores: np.ndarray) -> None:
    """Raise InputError if a score is infinite; NaN is a comparison that failed."""
    n_infinite = np.count_nonzero(np.isinf(scores))
    require(
        n_infinite == 0,
        f"{n_infinite} score(s) are infinite; mark failed comparisons as NaN, or name them as "
        "missing",
    )


def _as_floats(array):
    """Objects, or masked numbers, as float64; pandas' NA, which NumPy cannot convert, is NaN."""
    if array.dtype.kind == "O" and not np.ma.isMaskedArray(array):
        import pandas as pd

        array = np.where(pd.isna(array), np.nan, array)
    return array.astype(float)


def require_exact(name: str, array: np.ndarray) -> None:
    """Raise InputError for whole numbers that would become equal in float64."""
    if array.dtype.kind in "iu":
        numbers = [array.max(), array.min()] if array.size else []
    elif array.dtype.kind == "O":
        numbers = [number for number in array.ravel() if isinstance(number, (int, np.integer))]
    else:
        return
    largest = max((abs(int(number)) for number in numbers), default=0)
    require(
        largest <= LARGEST_WHOLE,
        f"{name} has whole numbers up to {largest}, and from 2**53 on different ones become equal "
        "in float64; subtract a constant from all of them, or divide them before they are passed",
    )


def affordable(n_bytes: int, advice: str) -> None:
    """Raise InputError where a table is too large; `advice` says what it is, and what to do.

    The number of bytes is a Python integer: a product of NumPy's could overflow.
    """
    require(
        n_bytes <= MEMORY_LIMIT,
        f"this would take {n_bytes / 1e9:.3g} GB of memory, the limit is {MEMORY_LIMIT / 1e9:.3g} "
        f"GB: {advice}",
    )


@contextmanager
def writing(path, remedy: str) -> Iterator[None]:
    """Turn the error of a full or read-only disk into a message that says what to do."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{path} cannot be written ({reason}); {remedy}") from error


def warn(text: str, code: str = "") -> None:
    """Hand a notice to the caller that gathers them, else to the user, as a DataWarning.

    The warning points at the line outside frkit that led to it.
    """
    notices = NOTICES.get()
    if notices is not None:
        if Notice(text, code) not in notices:
            notices.append(Notice(text, code))
        return
    inside = ("frkit", "contextlib")  # contextlib calls what a context manager decorates
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in inside:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, DataWarning, stacklevel=level)


@contextmanager
def gathered_notices() -> Iterator[list[Notice]]:
    """Gather the notices of all calls inside, each once, in place of warnings."""
    notices: list[Notice] = []
    token = NOTICES.set(notices)
    try:
        yield notices
    finally:
        NOTICES.reset(token)


def listed(items, limit: int = 5) -> str:
    """Write the first few items for a message: `'a', 'b', ... (7 in all)`."""
    items = list(items)
    text = ", ".join(repr(str(item)) for item in items[:limit])
    return text if len(items) <= limit else f"{text}, ... ({len(items)} in all)"


def compiled(**options) -> Callable:
    """Numba's `njit`, with its cache on disk where a folder for it can be written."""
    from numba import njit

    def decorate(function: Callable) -> Callable:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # Numba finds no folder that it can write to
            return njit(**options)(function)

    return decorate
