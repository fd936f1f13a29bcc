"""What the field prints of a verification protocol: accuracy over folds, minDCF, Cllr, d' ..."""

import numpy as np
import xarray as xr
from scipy.optimize import isotonic_regression
from scipy.special import xlogy

from frkit.base import require_inside, require_whole, warn
from frkit.evaluation.design import make_design
from frkit.evaluation.error_rates import TOLERANCE, far, frr, weights_of_data
from frkit.evaluation.populations import whole_population
from frkit.evaluation.rate_tables import of_models
from frkit.evaluation.sweep import swept
from frkit.scores.groups import checked_scores, turned
from frkit.scores.kept import pairs_of_models

FAR_LEVELS = {"zero_fmr": 0.0, "fmr100": 1 / 100, "fmr1000": 1 / 1000}


def verification_metrics(
    scores: xr.DataArray | xr.Dataset,
    *,
    folds: int = 10,
    p_target: float = 0.01,
) -> xr.Dataset:
    """Numbers that tables of the field print, such as accuracy over folds, minDCF and Cllr.

    All pairs weigh the same. For the uncertainty of error rates use `evaluate` and `band`: folds
    share people, so their spread does not show the uncertainty for new people.

    Parameters
    ----------
    scores : xr.DataArray or xr.Dataset
        A list of pairs from `pairs` or `open_data`, a tensor, or kept pairs. If a tensor
        has more than two million impostor pairs, some represent others (`sweep`).
    folds : int
        The genuine pairs of a list, and the impostor pairs, are cut into this many equal parts, in
        their order: these are the folds of LFW's and RFW's files. A failed comparison keeps its
        place. A tensor has no folds.
    p_target : float in (0, 1)
        Prior probability of a genuine pair, for the detection cost, if both errors cost the same.
        If a false rejection costs c times as much as a false acceptance, and the prior is p, give
        c p / (c p + 1 - p).

    Returns
    -------
    xr.Dataset
        Over (model): `accuracy` (mean over folds, the threshold of each chosen on the others),
        `accuracy_error` (its standard error, as LFW prints it), `accuracy_fold` also over fold,
        `best_accuracy` and `best_threshold` (halfway between two scores, the strictest of equals),
        `min_dcf` (divided by the cost of the better blind decision), `cllr` and `min_cllr`,
        `d_prime`, `zero_fmr`, `fmr100`, `fmr1000`.

    Raises
    ------
    InputError
        For no scores of pairs, infinite scores, fewer than two folds, a prior out of range.

    Warns
    -----
    DataWarning
        Where a fold has no genuine or no impostor pair: the accuracy over folds is NaN.

    References
    ----------
    Huang et al. (2007), Labeled faces in the wild (folds, standard error). Martin & Przybocki
    (2000), the NIST speaker recognition evaluation (detection cost). Brümmer & du Preez (2006),
    Application-independent evaluation of speaker detection, eq. 14 (Cllr). Daugman (2000),
    Biometric decision landscapes (d'). Maio et al. (2002), FVC2000 (zero-FMR, FMR100, FMR1000).

    Examples
    --------
    >>> import frkit as fk
    >>> genuine = [True] * 20 + [False] * 20
    >>> metrics = fk.verification_metrics(fk.pairs([*range(10, 30), *range(20)], genuine))
    >>> float(metrics.best_accuracy), float(metrics.fmr100)
    (0.75, 0.5)

    Of each group of a table of pairs, as RFW prints them:

    >>> import pandas as pd
    >>> table = pd.DataFrame({"score": [9, 8, 2, 1, 7, 3, 4, 0], "same": [1, 1, 0, 0] * 2})
    >>> table["race"] = ["Asian"] * 4 + ["Indian"] * 4
    >>> for race, rows in table.groupby("race"):
    ...     metrics = fk.verification_metrics(fk.pairs(rows.score, rows.same), folds=2)
    ...     print(race, float(metrics.accuracy))
    Asian 1.0
    Indian 0.5
    """
    scores = checked_scores(scores)
    require_inside("p_target", p_target, 0, 1)
    require_whole("folds", folds, 2)
    kept = swept(scores)
    design = make_design(kept, weighting="pair")
    tables = []
    for pairs in pairs_of_models(kept):
        metrics = metrics_of(whole_population(design, pairs), p_target)
        if design.listed is not None:
            is_pair = design.listed.is_genuine | design.listed.is_impostor
            is_genuine = design.listed.is_genuine[is_pair]
            accuracies = fold_accuracies(pairs.score[is_pair], is_genuine, folds)
            metrics["accuracy"] = accuracies.mean()
            metrics["accuracy_error"] = accuracies.std(ddof=1) / np.sqrt(folds)
            metrics["accuracy_fold"] = "fold", accuracies
        tables.append(xr.Dataset(metrics))
    result = of_models(tables, kept).assign_attrs(kind="verification_metrics")
    if "accuracy" in result and result.accuracy.isnull().any():
        warn(
            f"accuracy: NaN where one of the {folds} folds has no genuine or no impostor pair; "
            "take fewer folds, such as folds=2, or read best_accuracy"
        )
    if turned(kept):
        result["best_threshold"] = 0.0 - result.best_threshold
    # one row of `to_dataframe()` where there is no dim
    return result if result.dims else result.assign_coords(scores=["all"])


def metrics_of(population, p_target):
    """All numbers but those of folds."""
    weights = weights_of_data(population)
    kinds = population.genuine, population.impostors
    scores = np.unique(np.concatenate([pairs.score for pairs in kinds]))
    share = np.stack([_shares_of_scores(pairs, scores) for pairs in kinds], 1)
    scores = scores.astype(float)
    thresholds = np.append(-np.inf, scores)
    frr_at = frr(population, weights, thresholds)
    far_at = far(population, weights, thresholds)
    n_genuine, n_impostors = weights.mated, weights.accepted[-1]
    n_pairs = n_genuine + n_impostors
    right = (n_genuine * (1 - frr_at) + n_impostors * (1 - far_at)) / n_pairs
    accuracy, threshold = best_accuracy(thresholds, right, n_pairs)
    cost = p_target * frr_at + (1 - p_target) * far_at
    nats = share[:, 0] @ np.logaddexp(0, -scores) + share[:, 1] @ np.logaddexp(0, scores)
    metrics = {
        "best_accuracy": accuracy,
        "best_threshold": threshold,
        "min_dcf": cost.min() / min(p_target, 1 - p_target),
        "cllr": nats / (2 * np.log(2)),
        "min_cllr": least_cllr(share),
        "d_prime": d_prime(share, scores),
    }
    for name, level in FAR_LEVELS.items():
        metrics[name] = frr_at[far_at <= level * (1 + TOLERANCE)].min()
    return metrics


def _shares_of_scores(pairs, scores):
    """The share of the weight of pairs that have each of these distinct scores."""
    weight = np.bincount(np.searchsorted(scores, pairs.score), pairs.weight, len(scores))
    return weight / pairs.weight.sum()


def d_prime(share, scores):
    """The distance of both means in units of the root mean variance; share : (score, kind)."""
    mean = scores @ share
    variance = ((scores[:, None] - mean) ** 2 * share).sum(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(mean[0] - mean[1], np.sqrt(variance.mean()))


def best_accuracy(thresholds, right, n_pairs):
    """The largest share of right decisions at any threshold, and the strictest such threshold.

    thresholds : one below all scores, and each distinct score. The threshold lies halfway between
    two scores.
    """
    # rounding must not decide between equal shares, which differ by at least one pair
    best = np.flatnonzero(right >= right.max() - 0.5 / n_pairs)[-1]
    threshold = thresholds[best : best + 2].mean() if best else thresholds[1] - 1
    return right[best], float(threshold)


def fold_accuracies(score, is_genuine, n_folds):
    """Accuracy in each fold at the best threshold of the others; NaN where one lacks a kind.

    Folds are cut from all pairs of a kind in their order, those that failed included.
    """
    fold = np.empty(len(score), int)
    for is_of_kind in (is_genuine, ~is_genuine):
        n = np.count_nonzero(is_of_kind)
        fold[is_of_kind] = np.arange(n) * n_folds // max(n, 1)
    is_scored = ~np.isnan(score)
    score, is_genuine, fold = score[is_scored], is_genuine[is_scored], fold[is_scored]
    accuracies = np.full(n_folds, np.nan)
    if len(np.unique(2 * fold + is_genuine)) == 2 * n_folds:
        for k in range(n_folds):
            others, genuine = score[fold != k], is_genuine[fold != k]
            thresholds = np.append(-np.inf, np.unique(others))
            rejected, not_accepted = (
                np.searchsorted(np.sort(others[kind]), thresholds, "right")
                for kind in (genuine, ~genuine)
            )
            right = (genuine.sum() - rejected + not_accepted) / len(others)
            _, threshold = best_accuracy(thresholds, right, len(others))
            accuracies[k] = np.mean((score > threshold)[fold == k] == is_genuine[fold == k])
    return accuracies


def least_cllr(share):
    """Cllr after the best monotone calibration; both kinds have the same weight.

    share : (score, kind) of the genuine and of the impostor pairs, by rising score.
    """
    both = share.sum(1)
    posterior = np.clip(isotonic_regression(share[:, 0] / both, weights=both).x, 0, 1)
    nats = xlogy(share, np.stack([posterior, 1 - posterior], 1))
    return float(0.0 - nats.sum() / (2 * np.log(2)))
