"""The experiments of Li & Abd-Almageed (2021) in small, on data whose bias is put in by hand."""

from frkit.representation.experiments.crossed import crossed_faces, dominant_share, identity_encoder
from frkit.representation.experiments.debiasing import METHODS, biased_tasks, debiased
from frkit.representation.experiments.digits import PALETTES, coloured_digits, digit_encoder
from frkit.representation.experiments.runs import crossed_bias, debiasing_table, digit_bias, spurious_table
from frkit.representation.experiments.spurious import CASES, spurious
from frkit.representation.experiments.trials import trial, true_bias

__all__ = [
    "CASES",
    "METHODS",
    "PALETTES",
    "biased_tasks",
    "coloured_digits",
    "crossed_bias",
    "crossed_faces",
    "debiased",
    "debiasing_table",
    "digit_bias",
    "digit_encoder",
    "dominant_share",
    "identity_encoder",
    "spurious",
    "spurious_table",
    "trial",
    "true_bias",
]
