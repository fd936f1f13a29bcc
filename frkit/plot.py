"""Figures of given Datasets: each function takes `ax`, returns it, and computes nothing."""

from frkit.figures.fairness_figures import cross_matrix, fairness, group_roc
from frkit.figures.person_bars import errors_by_person
from frkit.figures.roc import difference, replicate_curves, roc
from frkit.figures.style import headline, set_theme
from frkit.figures.threshold import points_on_roc, threshold
from frkit.papers.indices.figures import fairness_indices, score_histograms
from frkit.papers.nsigma.figures import eer_distributions, n_sigma
from frkit.papers.rlb.figures import representation_bias
from frkit.papers.roc.coverage_figures import coverage, interval_stack, running_hits
from frkit.papers.roc.replicate_figures import image_counts, replicates
from frkit.papers.roc.study_figures import bootstrap_bias, consistency, growth, sample_size

__all__ = [
    "bootstrap_bias",
    "consistency",
    "errors_by_person",
    "coverage",
    "cross_matrix",
    "difference",
    "eer_distributions",
    "fairness",
    "fairness_indices",
    "replicate_curves",
    "group_roc",
    "growth",
    "headline",
    "image_counts",
    "interval_stack",
    "n_sigma",
    "points_on_roc",
    "representation_bias",
    "replicates",
    "roc",
    "running_hits",
    "sample_size",
    "score_histograms",
    "set_theme",
    "threshold",
]
