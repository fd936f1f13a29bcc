"""The papers' experiments, each as one call that returns a labelled Dataset."""

from frkit.studies.bias import bootstrap_bias
from frkit.studies.biased import biased_tasks, coloured_digits, digit_encoder
from frkit.studies.consistency import consistency, split, sup_distance
from frkit.studies.coverage import coverage
from frkit.studies.finetuning import finetuning
from frkit.studies.rlb_tables import spurious, trial, true_bias
from frkit.studies.sample_size import sample_size

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
    "trial",
    "true_bias",
]
