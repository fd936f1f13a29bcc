"""The papers' experiments, each as one call that returns a labelled Dataset."""

from frkit.studies.bias import bootstrap_bias
from frkit.studies.consistency import consistency, sup_distance
from frkit.studies.coverage import coverage
from frkit.studies.split import split

__all__ = ["bootstrap_bias", "consistency", "coverage", "split", "sup_distance"]
