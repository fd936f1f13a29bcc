"""Fairness indices of whole score distributions: SFI, CFI and DFI with their intervals and floors."""

from frkit.indices.canonical import canonical_population, canonical_scores, thinned
from frkit.indices.evaluate import SCORE_MAPS, evaluate, fairness_indices, summary, unit_scores

__all__ = [
    "SCORE_MAPS",
    "canonical_population",
    "canonical_scores",
    "evaluate",
    "fairness_indices",
    "summary",
]
__all__ += ["thinned", "unit_scores"]
