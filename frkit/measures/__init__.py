"""Measures: functions of evaluations with any dimensions, found by name."""

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
    "unnormalised_weight",
]
