"""The papers' experiments, each as one call that returns a labelled Dataset."""

from frkit.studies.bias import bootstrap_bias
from frkit.studies.consistency import consistency, split, sup_distance
from frkit.studies.coverage import coverage
from frkit.studies.finetuning import Training, finetuning
from frkit.studies.sample_size import sample_size

__all__ = [
    "Training",
    "bootstrap_bias",
    "consistency",
    "coverage",
    "finetuning",
    "sample_size",
    "split",
    "sup_distance",
]
