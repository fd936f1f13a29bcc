"""Measures: functions of tallies, found by name, that never look at which dimensions are there."""

from frkit.measures.disparity import fdr, garbe, ir
from frkit.measures.registry import Measure, measure, names, register
from frkit.measures.sfi_cfi_dfi import cfi, dfi, fusion_weights, sfi, unnormalised_weight

__all__ = [
    "Measure",
    "cfi",
    "dfi",
    "fdr",
    "fusion_weights",
    "garbe",
    "ir",
    "measure",
    "names",
    "register",
    "sfi",
]
__all__ += ["unnormalised_weight"]
