"""How good is this matching system, how fair is it between groups of people, and how sure are we?

For face recognition and any other similarity scoring. Start with faces or scores, evaluate them, ask for a band:

    import frkit as fk

    faces = fk.demo_faces()  # or fk.open_faces, fk.faces, fk.open_scores, fk.open_pairs
    scores = fk.score_tensor(faces)  # lazy: nothing is computed yet
    evaluation = fk.evaluate(scores, far=fk.far_levels(1e-4, 1e-2), by="gender")
    roc = fk.band(evaluation, "frr")  # with intervals for new people
    fk.plot.roc(roc)

`fk.report(faces, by="gender")` says all of that in one page. `fk.band`, `fk.floor`, `fk.uncertainty` and `fk.compare`
take any measure by name (`fk.measures.names()`). Each function's help has an example that runs; the notebooks teach the
methods.
"""

import ast
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

__version__ = "0.1.0"

# The public names stand in __init__.pyi, where editors and type checkers find them; they are loaded at first use.
_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_HOME = {name.asname: node.module for node in _STUB.body if isinstance(node, ast.ImportFrom) for name in node.names}
__all__ = sorted(_HOME)


def __getattr__(name: str):
    """Load a public name, or a room such as `frkit.plot`, on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'frkit' has no attribute {name!r}; public names: {', '.join(__all__)}")
    home = _HOME[name]
    value = import_module(f"frkit.{name}") if home == "frkit" else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


class _Kit(ModuleType):
    """This module, in which `faces` is the function although a room has that name.

    Importing a room binds it here; a property stands before what is bound, in whatever order things are imported.
    """

    @property
    def faces(self):
        return import_module("frkit.faces").faces

    @faces.setter
    def faces(self, room) -> None:
        """The import system binds the room: it is found in sys.modules all the same."""


sys.modules[__name__].__class__ = _Kit
