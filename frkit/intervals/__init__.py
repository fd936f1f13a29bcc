"""Replicates -> intervals: bands, normalised uncertainty, fans of replicates and paired comparison."""

from frkit.intervals.bands import METHODS, band, fan, uncertainty
from frkit.intervals.comparison import compare
from frkit.intervals.nodes import provenance

__all__ = ["METHODS", "band", "compare", "fan", "provenance", "uncertainty"]
