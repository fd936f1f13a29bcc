"""What every reader says: the file's name in front of a message, what to install, what was left aside."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from frkit.base import InputError, warn

PICKLED = (
    "can only be read by unpickling, which may run any code, so frkit refuses; "
    "save numbers as a numeric array and labels as text, e.g. np.savez(path, embedding=np.asarray(embedding, "
    "'float32'), identity=np.asarray(identity, str))"
)


@contextmanager
def named(path) -> Iterator[None]:
    """Put the file's name in front of every message about it."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def need(module: str, purpose: str) -> ModuleType:
    """Import an optional package, or say what to install."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise InputError(f"{purpose} needs a package: install it with pip install {package}") from None


def not_read(names: list[str], why: str) -> None:
    """Warn about columns that were left aside."""
    if names:
        warn(f"not read: {', '.join(names)} ({why})")
