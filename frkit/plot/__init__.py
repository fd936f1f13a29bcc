"""Figures of given Datasets: each function takes `ax`, returns it, and computes nothing."""

from frkit.plot.coverage import coverage, coverage_along, error_laws
from frkit.plot.curves import difference, fan, roc
from frkit.plot.experiments import bootstrap_bias, consistency, growth
from frkit.plot.fairness import fairness, uncertainties
from frkit.plot.groups import cross_matrix, group_roc
from frkit.plot.nsigma import dependence, eer_distributions, n_matrix, n_sigma

__all__ = [
    "bootstrap_bias",
    "consistency",
    "coverage",
    "coverage_along",
    "cross_matrix",
    "dependence",
    "difference",
    "eer_distributions",
    "error_laws",
    "fairness",
    "fan",
    "group_roc",
    "growth",
    "n_matrix",
    "n_sigma",
    "roc",
    "uncertainties",
]
