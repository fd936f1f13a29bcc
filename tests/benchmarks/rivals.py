"""Bootstraps of general packages: FRR at FAR levels from plain lists of scores."""

import numpy as np


def pair_scores(embedding: np.ndarray, identity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Genuine and impostor scores of unit rows as two lists."""
    probe, reference = np.triu_indices(len(identity), 1)
    scores = (embedding @ embedding.T)[probe, reference]
    genuine = identity[probe] == identity[reference]
    return scores[genuine], scores[~genuine]


def with_scipy(genuine: np.ndarray, impostor: np.ndarray, far: np.ndarray, n: int):
    """`scipy.stats.bootstrap`: scores are drawn as if they were independent."""
    from scipy import stats

    def frr(genuine, impostor, axis=-1):
        impostor, genuine = np.sort(np.atleast_2d(impostor)[-1]), np.atleast_2d(genuine)[-1]
        accepted = np.floor(far * len(impostor)).astype(int)
        threshold = impostor[len(impostor) - 1 - accepted]
        rates = np.searchsorted(np.sort(genuine), threshold, side="right") / len(genuine)
        return rates if axis is None else rates[:, None]

    return stats.bootstrap(
        (genuine, impostor),
        frr,
        n_resamples=n,
        batch=1,
        vectorized=True,
        method="percentile",
        rng=0,
    )


def with_score_analysis(genuine: np.ndarray, impostor: np.ndarray, far: np.ndarray, n: int):
    """`score-analysis`: its own fast bootstrap of FNMR at FMR, (n, far_level)."""
    from score_analysis import BootstrapConfig, Scores

    def frr(scores):
        return scores.fnr(scores.threshold_at_fpr(far))

    return Scores(genuine, impostor).bootstrap_metric(frr, BootstrapConfig(nb_samples=n))
