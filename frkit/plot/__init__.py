"""Figures of given Datasets: each function takes `ax`, returns it, and computes nothing."""

from frkit.plot.attributes import against, boxes, coloured_digits, shares
from frkit.plot.curves import difference, fan, roc
from frkit.plot.experiments import bootstrap_bias, consistency, growth
from frkit.plot.fairness import fairness, uncertainties
from frkit.plot.groups import cross_matrix, group_roc
from frkit.plot.representation import comparators, convergence, representation_bias, trials

__all__ = [
    "against",
    "bootstrap_bias",
    "boxes",
    "coloured_digits",
    "comparators",
    "consistency",
    "convergence",
    "cross_matrix",
    "difference",
    "fairness",
    "fan",
    "group_roc",
    "growth",
    "representation_bias",
    "roc",
    "shares",
    "trials",
    "uncertainties",
]
