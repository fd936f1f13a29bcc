"""Measures: functions of tallies, found by name, that never look at which dimensions are there."""

from frkit.measures.registry import Measure, measure, names, register

__all__ = ["Measure", "measure", "names", "register"]
