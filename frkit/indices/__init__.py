"""Fairness indices of whole score distributions: SFI, CFI and DFI with their intervals and floors."""

from frkit.indices.canonical import canonical_population, canonical_scores
from frkit.indices.evaluating import evaluate, fairness_indices, summary
from frkit.indices.maps import SCORE_MAPS, unit_scores
from frkit.indices.thinning import thinned

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
