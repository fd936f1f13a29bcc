"""What the field prints of a verification protocol: accuracy over folds, minDCF, Cllr, d' ..."""

import numpy as np
import xarray as xr
from scipy.optimize import isotonic_regression
from scipy.special import xlogy

from frkit.base import listed, require_inside, require_whole, warn
from frkit.evaluation.design import make_design
from frkit.evaluation.error_rates import far, frr, weights_of_data
from frkit.evaluation.populations import (
    ALL,
    kinds_of_pairs,
    populations_of_groups,
    whole_population,
)
from frkit.evaluation.rate_tables import of_models
from frkit.evaluation.sweep import swept
from frkit.scores.groups import checked_scores, turned
from frkit.scores.kept import is_list, pairs_of_models

FAR_LEVELS = {"zero_fmr": 0.0, "fmr100": 1 / 100, "fmr1000": 1 / 1000}
NUMBERS = (
    *("best_accuracy", "best_threshold", "min_dcf", "cllr", "min_cllr", "d_prime"),
    *FAR_LEVELS,
)


def verification_metrics(
    scores: xr.DataArray | xr.Dataset,
    *,
    by: str | list[str] | None = None,
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
    by : str or list of str, optional
        Attribute(s) by which the numbers are given for each group, from the pairs within the group
        and at the group's own thresholds, as in RFW's tables.
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
        `d_prime`, `zero_fmr`, `fmr100`, `fmr1000`; with groups the same with `_group`, and `std`
        and `ser` of the groups' accuracies. NaN where a group has too few pairs.

    Raises
    ------
    InputError
        For no scores of pairs, infinite scores, unknown attributes, fewer than two folds, a prior
        out of range.

    Warns
    -----
    DataWarning
        Where a fold, or a group, has no genuine or no impostor pair: its numbers are NaN.

    References
    ----------
    Huang et al. (2007), Labeled faces in the wild (folds, standard error). Wang & Deng (2020),
    Mitigating bias in face recognition using skewness-aware reinforcement learning (STD, SER).
    Martin & Przybocki (2000), the NIST speaker recognition evaluation (detection cost). Brümmer &
    du Preez (2006), Application-independent evaluation of speaker detection, eq. 14 (Cllr). Daugman
    (2000), Biometric decision landscapes (d'). Maio et al. (2002), FVC2000 (zero-FMR, FMR100,
    FMR1000).

    Examples
    --------
    >>> import frkit as fk
    >>> genuine = [True] * 20 + [False] * 20
    >>> metrics = fk.verification_metrics(fk.pairs([*range(10, 30), *range(20)], genuine))
    >>> float(metrics.best_accuracy), float(metrics.fmr100)
    (0.75, 0.5)
    """
    scores = checked_scores(scores)
    require_inside("p_target", p_target, 0, 1)
    require_whole("folds", folds, 2)
    n_folds = folds if is_list(scores) else 0
    kept = swept(scores, by=by)
    design = make_design(kept, by=by, varying="keep", weighting="pair")
    groups = design.images.groups
    results = []
    for pairs in pairs_of_models(kept):
        whole = whole_population(design, pairs)
        group_code = design.images.group_code
        parts = populations_of_groups(whole, group_code, len(groups))
        row, col, is_genuine, is_impostor, _ = kinds_of_pairs(design, pairs)
        group_of_pair = np.where(group_code[row] == group_code[col], group_code[row], -1)
        numbers = []
        for key, population in [(ALL, whole), *parts.items()]:
            of_population = metrics_of(population, p_target)
            if n_folds:
                is_within = key is ALL or (group_of_pair == key[0])
                selected = (is_genuine | is_impostor) & is_within
                accuracies = fold_accuracies(pairs.score[selected], is_genuine[selected], n_folds)
                of_population["accuracy"] = accuracies.mean()
                of_population["accuracy_error"] = accuracies.std(ddof=1) / np.sqrt(n_folds)
                of_population["accuracy_fold"] = "fold", accuracies
            numbers.append(xr.Dataset(of_population))
        results.append(_with_groups(*numbers, groups=groups))
    result = of_models(results, kept)
    _warn_of_missing(result, folds)
    if turned(kept):
        for name in {"best_threshold", "best_threshold_group"} & {*result}:
            result[name] = 0.0 - result[name]
    # one row of `to_dataframe()` where there is no dim
    return result if result.dims else result.assign_coords(scores=["all"])


def metrics_of(population, p_target):
    """All numbers of one set of pairs but those of folds; NaN where one kind has no scores."""
    genuine, impostors = population.genuine, population.impostors
    if not len(genuine.score) or not len(impostors.score):
        return dict.fromkeys(NUMBERS, np.nan)
    scores = np.unique(np.append(genuine.score, impostors.score))
    thresholds = np.append(-np.inf, scores)
    weights = weights_of_data(population)
    frr_at, far_at = (rate(population, weights, thresholds) for rate in (frr, far))
    cost = p_target * frr_at + (1 - p_target) * far_at
    shares, means, variances, nats = [], [], [], 0.0
    for pairs, sign in ((genuine, -1), (impostors, 1)):
        score = pairs.score.astype(float)
        total = pairs.weight.sum()
        share = pairs.weight / total
        rank = np.searchsorted(scores, pairs.score)
        shares.append(np.bincount(rank, pairs.weight, len(scores)) / total)
        means.append(share @ score)
        variances.append(share @ (score - means[-1]) ** 2)
        nats += share @ np.logaddexp(0, sign * score)
    n_genuine, n_impostors = weights.mated, weights.accepted[-1]
    n_pairs = n_genuine + n_impostors
    right = (n_genuine * (1 - frr_at) + n_impostors * (1 - far_at)) / n_pairs
    accuracy, threshold = best_accuracy(thresholds, right, n_pairs)
    with np.errstate(divide="ignore", invalid="ignore"):
        d_prime = np.divide(means[0] - means[1], np.sqrt(np.mean(variances)))
    points = {
        name: frr_at[far_at <= level * (1 + 1e-12)].min() for name, level in FAR_LEVELS.items()
    }
    return points | {
        "best_accuracy": accuracy,
        "best_threshold": threshold,
        "min_dcf": cost.min() / min(p_target, 1 - p_target),
        "cllr": nats / (2 * np.log(2)),
        "min_cllr": least_cllr(np.stack(shares, 1)),
        "d_prime": d_prime,
    }


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


def _warn_of_missing(result, folds):
    """Warn of NaN where a group or a fold has no genuine or no impostor pairs."""
    if "group" in result.dims:
        missing = result.best_accuracy_group.isnull()
        if missing.any():
            names = listed(missing.where(missing, drop=True)["group"].values)
            warn(f"all numbers of {names} are NaN: no genuine, or no impostor pair there")
    without_folds = [
        name
        for name in {"accuracy", "accuracy_group"} & {*result}
        if (result[name].isnull() & result[f"best_{name}"].notnull()).any()
    ]
    if without_folds:
        warn(
            f"{' and '.join(sorted(without_folds))}: NaN where one of the {folds} folds has no "
            "genuine or no impostor pair; take fewer folds, such as folds=2, or read best_accuracy"
        )


def _with_groups(result, *numbers, groups):
    """The numbers of all, and those of groups with STD and SER of their accuracies."""
    if not numbers:
        return result
    of_groups = xr.concat(numbers, xr.Variable("group", groups))
    accuracy = of_groups.get("accuracy", of_groups.best_accuracy)
    error = 1 - accuracy
    result = result.merge(of_groups.rename({name: f"{name}_group" for name in of_groups}))
    result["std"] = accuracy.std("group", ddof=1, skipna=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        result["ser"] = error.max("group", skipna=False) / error.min("group", skipna=False)
    return result
