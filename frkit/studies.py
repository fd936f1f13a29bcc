"""The papers' experiments, each as one call that returns a labelled Dataset."""

from frkit.papers.nsigma.finetuning import finetuning
from frkit.papers.rlb.biased_data import biased_tasks, coloured_digits, digit_encoder
from frkit.papers.rlb.spurious import spurious
from frkit.papers.roc.bootstrap_bias import bootstrap_bias
from frkit.papers.roc.consistency import consistency, split, sup_distance
from frkit.papers.roc.coverage import coverage
from frkit.papers.roc.sample_size import sample_size

__all__ = [
    "biased_tasks",
    "bootstrap_bias",
    "coloured_digits",
    "consistency",
    "coverage",
    "digit_encoder",
    "finetuning",
    "sample_size",
    "split",
    "spurious",
    "sup_distance",
]
