"""Figures of given Datasets: each function takes `ax`, returns it, and computes nothing."""

from frkit.plot.curves import difference, fan, roc
from frkit.plot.experiments import bootstrap_bias, consistency, growth
from frkit.plot.fairness import cross_matrix, fairness, group_roc, uncertainties

__all__ = [
    "bootstrap_bias",
    "consistency",
    "cross_matrix",
    "difference",
    "fairness",
    "fan",
    "group_roc",
    "growth",
    "roc",
    "uncertainties",
]
