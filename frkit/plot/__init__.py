"""Figures of given Datasets: each function takes `ax`, returns it, and computes nothing."""

from frkit.plot.coverage import coverage, coverage_along, error_laws
from frkit.plot.curves import difference, fan, roc
from frkit.plot.experiments import bootstrap_bias, consistency, growth
from frkit.plot.fairness import fairness, uncertainties
from frkit.plot.groups import cross_matrix, group_roc
from frkit.plot.indices import components, fairness_indices, index_by_size, score_histograms
from frkit.plot.nsigma import dependence, eer_distributions, n_matrix, n_sigma
from frkit.plot.weights import group_weights, weight_curves

__all__ = [
    "bootstrap_bias",
    "components",
    "consistency",
    "coverage",
    "coverage_along",
    "cross_matrix",
    "dependence",
    "difference",
    "eer_distributions",
    "error_laws",
    "fairness",
    "fairness_indices",
    "fan",
    "group_roc",
    "group_weights",
    "growth",
    "index_by_size",
    "n_matrix",
    "n_sigma",
    "roc",
    "score_histograms",
    "uncertainties",
    "weight_curves",
]
