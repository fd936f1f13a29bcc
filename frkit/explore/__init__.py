"""Widgets over computed results: each explorer selects, draws, and holds no logic of its own."""

from frkit.explore.fairness import fairness, fairness_indices, n_sigma
from frkit.explore.own_data import own_data
from frkit.explore.predict import predict
from frkit.explore.roc import roc
from frkit.explore.studies import bootstrap_bias, consistency, coverage, representation_bias

__all__ = ["bootstrap_bias", "consistency", "coverage", "fairness", "fairness_indices", "n_sigma"]
__all__ += ["own_data", "predict", "representation_bias", "roc"]
