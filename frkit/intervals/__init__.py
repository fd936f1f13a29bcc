"""Replicates -> intervals: bands, normalised uncertainty, fans of replicates and paired comparison."""

from frkit.intervals.bands import band, fan, uncertainty
from frkit.intervals.choice import METHODS
from frkit.intervals.comparison import compare
from frkit.intervals.floors import floor
from frkit.intervals.nodes import provenance
from frkit.intervals.zones import decision_zones

__all__ = ["METHODS", "band", "compare", "decision_zones", "fan", "floor", "provenance", "uncertainty"]
