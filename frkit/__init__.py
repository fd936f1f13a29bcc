"""frkit: how good is this matching system, how fair is it, and how sure are we?

Public names are loaded when they are first used, so that `import frkit` stays quick. Only the bottom room
is loaded at once: its function `faces` has the name of its module, and must be bound after it.
"""

from importlib import import_module

from frkit.base import DataWarning, InputError
from frkit.faces import faces, stack_models

__version__ = "0.1.0"

_HOME = {
    "open_faces": "faces.opening",
    "score_tensor": "scores.tensor",
    "score_matrix": "scores.matrix",
    "open_scores": "scores.matrix",
    "pairs": "scores.pairs",
    "open_pairs": "scores.pair_files",
    "Resampling": "resampling",
    "far_levels": "evaluation.evaluate",
    "evaluate": "evaluation.evaluate",
    "open_evaluation": "evaluation.nodes",
    "threshold_for_all_groups": "evaluation.thresholds",
    "contributions": "evaluation.contributions",
    "worst_pairs": "evaluation.contributions",
    "band": "intervals",
    "uncertainty": "intervals",
    "compare": "intervals",
    "fan": "intervals",
    "floor": "intervals",
    "decision_zones": "intervals",
    "representation_bias": "representation",
    "fairness_indices": "indices",
    "canonical_scores": "indices",
    "n_sigma": "nsigma",
}
_ROOMS = {"vmf", "indices", "studies", "plot", "explore", "measures", "representation", "nsigma"}
__all__ = sorted({"DataWarning", "InputError", "faces", "stack_models"} | set(_HOME) | _ROOMS)


def __getattr__(name: str):
    """Load a public name, or a room such as `frkit.plot`, on first use."""
    if name in _HOME:
        value = getattr(import_module(f"frkit.{_HOME[name]}"), name)
    elif name in _ROOMS:
        value = import_module(f"frkit.{name}")
    else:
        raise AttributeError(f"module 'frkit' has no attribute {name!r}; public names: {', '.join(__all__)}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
