"""Widgets over computed results: each explorer selects and draws, and computes nothing."""

import inspect

import lazy_loader

# Public names are in __init__.pyi. Each is imported when it is first used: the app shows its
# controls before the libraries of evaluation and of figures are loaded.
_find, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name):
    """A public name, imported when it is first used; a function names unfit arguments."""
    from frkit.base import explained  # NumPy takes a moment

    value = _find(name)
    return explained(value) if inspect.isfunction(value) else value
