"""Measures: functions of tallies, found by name, that never look at which dimensions are there."""

from frkit.measures.fairness import fdr, garbe, ir
from frkit.measures.registry import Measure, measure, names, register

__all__ = ["Measure", "fdr", "garbe", "ir", "measure", "names", "register"]
