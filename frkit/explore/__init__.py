"""Widgets over computed results: each explorer selects, draws, and holds no logic of its own."""

from frkit.explore.explorers import (
    bootstrap_bias,
    consistency,
    coverage,
    fairness,
    fairness_indices,
    n_sigma,
    representation_bias,
    roc,
)
from frkit.explore.own_data import own_data
from frkit.explore.predict import predict

__all__ = ["bootstrap_bias", "consistency", "coverage", "fairness", "fairness_indices", "n_sigma"]
__all__ += ["own_data", "predict", "representation_bias", "roc"]
