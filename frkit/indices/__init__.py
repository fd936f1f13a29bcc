"""Fairness indices of whole score distributions: SFI, CFI, DFI, their intervals and floors."""

from frkit.indices.canonical import canonical_population, canonical_scores, thinned
from frkit.indices.evaluate import evaluate, fairness_indices, summary
from frkit.indices.maps import SCORE_MAPS, unit_scores

__all__ = [
    "SCORE_MAPS",
    "canonical_population",
    "canonical_scores",
    "evaluate",
    "fairness_indices",
    "summary",
    "thinned",
    "unit_scores",
]
