"""Figures of given Datasets: each function takes `ax`, returns it, and computes nothing."""

from frkit.plot.attributes import against, boxes, coloured_digits, shares
from frkit.plot.coverage import coverage, coverage_along, error_laws
from frkit.plot.curves import difference, fan, roc
from frkit.plot.experiments import bootstrap_bias, consistency, growth
from frkit.plot.fairness import fairness, uncertainties
from frkit.plot.groups import cross_matrix, group_roc
from frkit.plot.indices import components, fairness_indices, index_by_size, score_histograms
from frkit.plot.nsigma import dependence, eer_distributions, n_matrix, n_sigma
from frkit.plot.representation import comparators, convergence, representation_bias, trials
from frkit.plot.sample_size import sample_size
from frkit.plot.weights import group_weights, weight_curves

__all__ = [
    "against",
    "bootstrap_bias",
    "boxes",
    "coloured_digits",
    "comparators",
    "components",
    "consistency",
    "convergence",
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
    "representation_bias",
    "roc",
    "sample_size",
    "score_histograms",
    "shares",
    "trials",
    "uncertainties",
    "weight_curves",
]
