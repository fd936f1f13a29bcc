"""Fairness indices of whole score distributions: SFI, CFI, DFI, their intervals and floors."""

from frkit.indices.canonical import canonical_scores, with_fewer_people
from frkit.indices.distributions import distributions, fairness_indices
from frkit.indices.maps import SCORE_MAPS, unit_scores

__all__ = [
    "SCORE_MAPS",
    "canonical_scores",
    "distributions",
    "fairness_indices",
    "with_fewer_people",
    "unit_scores",
]
