"""Widgets over computed results: each explorer selects, draws, and holds no logic of its own."""

from frkit.explore.bias import bootstrap_bias
from frkit.explore.coverage import coverage
from frkit.explore.curves import roc
from frkit.explore.disparity import fairness
from frkit.explore.growth import consistency
from frkit.explore.indices import fairness_indices
from frkit.explore.nsigma import n_sigma
from frkit.explore.representation import representation_bias

__all__ = [
    "bootstrap_bias",
    "consistency",
    "coverage",
    "fairness",
    "fairness_indices",
    "n_sigma",
    "representation_bias",
    "roc",
]
