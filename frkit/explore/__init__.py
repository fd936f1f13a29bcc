"""Widgets over computed results: each explorer selects and draws, and computes nothing."""

import lazy_loader

# Public names are in __init__.pyi. Each is imported when it is first used: the app shows its
# controls before the libraries of evaluation and of figures are loaded.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
