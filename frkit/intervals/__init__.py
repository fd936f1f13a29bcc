"""Intervals: bands, floors, comparisons, normalised uncertainty and fans of replicates."""

from frkit.intervals.bands import METHODS, band, fan, uncertainty
from frkit.intervals.compare import compare, decision_zones
from frkit.intervals.floors import fair_floor
from frkit.intervals.permutation import permutation_test
from frkit.intervals.reading import provenance

__all__ = [
    "METHODS",
    "band",
    "compare",
    "decision_zones",
    "fan",
    "fair_floor",
    "permutation_test",
    "provenance",
]
__all__ += ["uncertainty"]
