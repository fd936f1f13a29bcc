"""Widgets over computed results: each explorer selects, draws, and holds no logic of its own."""

import lazy_loader

# Public names stand in __init__.pyi; each is imported when it is first used: the app shows its
# controls before the libraries of an evaluation and of figures are loaded.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
