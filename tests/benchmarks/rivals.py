"""Other ways to replicates of an ROC curve: the paper's algorithm as written, and three packages'
bootstraps."""

import numpy as np

ROUNDING = 1 + 1e-12  # a FAR within this of its level keeps to it


def algorithm_1(embedding, identity, group, far, counts) -> dict[str, np.ndarray]:
    """One replicate as Conti & Clémençon (2024, Algorithm 1) write it: copies of images,
    everything anew.

    embedding: (image, feature) unit rows. identity, group: (image,) integer codes. counts: (image,)
    how often each image was drawn, n_k draws among the n_k images of identity k. Returns threshold,
    far, frr over (far_level,) and, unless group is None, far_group, frr_group over (far_level,
    group).
    """
    copies = np.repeat(np.arange(len(counts)), counts)
    rows, who = embedding[copies], identity[copies]
    scores = rows @ rows.T
    above_diagonal = np.triu(np.ones(scores.shape, bool), 1)
    same = who[:, None] == who[None, :]
    n_k = np.bincount(who)[who].astype(float)
    impostor = _weighted(scores, above_diagonal & ~same, 1 / n_k)
    threshold = thresholds(*impostor, far)
    out = {"threshold": threshold, "far": share_above(*impostor, threshold)}
    out["frr"] = 1 - share_above(*_genuine(scores, above_diagonal & same, n_k), threshold)
    if group is None:
        return out
    by_group, race = [], group[copies]
    for g in range(group.max() + 1):
        own = np.ix_(race == g, race == g)
        pairs, kin = above_diagonal[own], same[own]
        accepted = share_above(*_weighted(scores[own], pairs & ~kin, 1 / n_k[race == g]), threshold)
        rejected = 1 - share_above(*_genuine(scores[own], pairs & kin, n_k[race == g]), threshold)
        by_group.append((accepted, rejected))
    out["far_group"], out["frr_group"] = np.moveaxis(np.array(by_group), 0, 2)
    return out


def _weighted(scores: np.ndarray, pairs: np.ndarray, factor: np.ndarray) -> tuple:
    """Scores of these pairs, ascending, and their weights; None where all weigh the same."""
    if np.all(factor == factor[0]):
        return np.sort(scores[pairs]), None
    score, weight = scores[pairs], np.outer(factor, factor)[pairs]
    order = np.argsort(score)
    return score[order], weight[order]


def _genuine(scores: np.ndarray, pairs: np.ndarray, n_k: np.ndarray) -> tuple:
    """All identities weigh the same: 2 / (n_k (n_k - 1)) for each pair of identity k."""
    return _weighted(scores, pairs, np.sqrt(1 / (n_k * np.maximum(n_k - 1, 1))))


def thresholds(score: np.ndarray, weight, far: np.ndarray) -> np.ndarray:
    """Smallest observed score at which the share of weight above keeps to each level (score
    ascending)."""
    if weight is None:
        return score[len(score) - 1 - np.floor(far * len(score) * ROUNDING).astype(int)]
    downward = np.cumsum(weight[::-1])
    return score[::-1][np.searchsorted(downward, far * downward[-1] * ROUNDING, side="right")]


def share_above(score: np.ndarray, weight, threshold: np.ndarray) -> np.ndarray:
    """Share of weight strictly above thresholds (score ascending)."""
    at = np.searchsorted(score, threshold, side="right")
    if weight is None:
        return 1 - at / len(score)
    upto = np.concatenate([[0.0], np.cumsum(weight)])
    return 1 - upto[at] / upto[-1]


def pair_scores(embedding: np.ndarray, identity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Genuine and impostor scores as two plain lists, which general packages take."""
    row, col = np.triu_indices(len(identity), 1)
    scores = (embedding @ embedding.T)[row, col]
    same = identity[row] == identity[col]
    return scores[same], scores[~same]


def with_scipy(genuine: np.ndarray, impostor: np.ndarray, far: np.ndarray, n: int):
    """`scipy.stats.bootstrap` of FRR at FAR levels: scores drawn as if they were independent."""
    from scipy import stats

    def frr(genuine, impostor, axis=-1):
        genuine, impostor = np.atleast_2d(genuine)[-1], np.atleast_2d(impostor)[-1]
        rates = 1 - share_above(np.sort(genuine), None, thresholds(np.sort(impostor), None, far))
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


def with_score_analysis(
    genuine: np.ndarray, impostor: np.ndarray, far: np.ndarray, n: int
) -> np.ndarray:
    """`score-analysis`: its own fast bootstrap (sorted scores, Poisson counts) of FNMR at FMR, (n,
    far_level)."""
    from score_analysis import BootstrapConfig, Scores

    def frr(scores):
        return scores.fnr(scores.threshold_at_fpr(far))

    return Scores(genuine, impostor).bootstrap_metric(frr, BootstrapConfig(nb_samples=n))
