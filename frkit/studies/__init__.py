"""The papers' experiments, each as one call that returns a labelled Dataset."""

from frkit.studies.bias import bootstrap_bias
from frkit.studies.consistency import consistency, sup_distance
from frkit.studies.sample_size import sample_size
from frkit.studies.split import split

__all__ = ["bootstrap_bias", "consistency", "sample_size", "split", "sup_distance"]
