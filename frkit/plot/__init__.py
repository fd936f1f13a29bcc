"""Figures of given Datasets: each function takes `ax`, returns it, and computes nothing."""

from frkit.plot.coverage_figures import coverage, interval_stack, running_hits
from frkit.plot.fairness_figures import cross_matrix, fairness, group_roc
from frkit.plot.indices import fairness_indices, score_histograms
from frkit.plot.nsigma import eer_distributions, n_sigma
from frkit.plot.person_bars import errors_by_person
from frkit.plot.representation import representation_bias, trials
from frkit.plot.resample import image_counts, replicates
from frkit.plot.roc import difference, replicate_curves, roc
from frkit.plot.study_figures import bootstrap_bias, consistency, growth, sample_size
from frkit.plot.style import headline, set_theme
from frkit.plot.threshold import genuine_and_impostor, points_on_roc, threshold

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
    "genuine_and_impostor",
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
    "trials",
]
