"""Intervals: bands, floors, comparisons, normalised uncertainty and replicate curves."""

from frkit.evaluation.nodes import provenance_of as provenance
from frkit.intervals.bands import METHODS, band, replicate_curves, uncertainty
from frkit.intervals.compare import compare
from frkit.intervals.floors import fair_floor
from frkit.intervals.zones import decision_zones

__all__ = [
    "METHODS",
    "band",
    "compare",
    "decision_zones",
    "replicate_curves",
    "fair_floor",
    "provenance",
    "uncertainty",
]
