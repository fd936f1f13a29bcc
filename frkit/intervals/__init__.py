"""Intervals: bands, floors, comparisons, normalised uncertainty and replicate curves."""

from frkit.intervals.bands import METHODS, band, replicate_curves, uncertainty
from frkit.intervals.compare import compare
from frkit.intervals.floors import fair_floor
from frkit.intervals.reading import provenance
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
