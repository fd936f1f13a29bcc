"""What the field prints of a verification protocol: accuracy over folds, minDCF, Cllr, d' ..."""

import numpy as np
import xarray as xr
from scipy.optimize import isotonic_regression
from scipy.special import xlogy

from frkit.base import UNKNOWN, affordable, require_inside, require_whole
from frkit.scores.groups import (
    checked_scores,
    groups_among,
    is_symmetric,
    labels_of_sides,
    models_of,
    turned,
)

FOLD = "fold"


def verification_metrics(
    scores: xr.DataArray | xr.Dataset,
    *,
    by: str | list[str] | None = None,
    folds: int = 10,
    p_target: float = 0.01,
    cost_miss: float = 1.0,
    cost_fa: float = 1.0,
) -> xr.Dataset:
    """Numbers that tables of the field print, such as accuracy over folds, minDCF and Cllr.

    All pairs weigh the same. For the uncertainty of error rates use `evaluate` and `band`: folds
    share people, so their spread does not show the uncertainty for new people.

    Parameters
    ----------
    scores : xr.DataArray or xr.Dataset
        A list of pairs from `pairs` or `open_pairs`, or a tensor, whose scores are then all in
        memory.
    by : str or list of str, optional
        Attribute(s) whose groups get numbers of their own, from the pairs within the group and at
        the group's own thresholds, as in RFW's tables.
    folds : int
        Of a list: the genuine pairs are cut into so many equal parts in their order, and the
        impostor pairs too, which gives the folds of LFW's and RFW's files. A tensor has none.
    p_target : float in (0, 1)
        Prior probability of a genuine pair, for the detection cost.
    cost_miss, cost_fa : float
        Costs of a false rejection and of a false acceptance, positive.

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
        For no scores of pairs, unknown attributes, fewer than two folds, a prior or cost out of
        range, or a tensor too large for memory.

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
    >>> found = fk.verification_metrics(fk.pairs([*range(10, 30), *range(20)], genuine))
    >>> float(found.best_accuracy), float(found.fmr100)
    (0.75, 0.5)
    """
    scores = checked_scores(scores)
    require_inside("p_target", p_target, 0, 1)
    require_inside("cost_miss", cost_miss, 0, np.inf)
    require_inside("cost_fa", cost_fa, 0, np.inf)
    n_folds = require_whole("folds", folds, 2) if "pair" in scores.dims else 0
    costs = cost_miss * p_target, cost_fa * (1 - p_target)
    genuine, compared = _kinds(scores)
    groups = []
    label = None
    if by is not None:
        probe, reference = labels_of_sides(scores, by)
        probe = probe if "pair" in scores.dims else probe[:, None]
        label = np.where(probe == reference, probe, UNKNOWN)
        groups = groups_among(label, by)
    results = []
    for model in models_of(scores):
        values = model.values
        present = compared & ~np.isnan(values)
        result = _numbers(values[present & genuine], values[present & ~genuine], n_folds, costs)
        of_groups = []
        for group in groups:
            some = present & (label == group)
            of_groups.append(
                _numbers(values[some & genuine], values[some & ~genuine], n_folds, costs)
            )
        results.append(_with_groups(result, of_groups, groups) if of_groups else result)
    result = results[0]
    if "model" in scores.dims:
        result = xr.concat(results, scores["model"].variable.to_index_variable())
    if turned(scores):
        for name in {"best_threshold", "best_threshold_group"} & {*result}:
            result[name] = 0.0 - result[name]
    if not result.dims:  # one row of `to_dataframe()`
        result = result.assign_coords(scores=["all"])
    return result


def _kinds(scores):
    """Which pairs are genuine, and which count, shaped as the scores of a model."""
    if "pair" in scores.dims:
        genuine = scores["genuine"].values.astype(bool)
        if "probe" not in scores.coords:
            return genuine, np.ones_like(genuine)
        return genuine, scores["probe"].values != scores["reference"].values
    size = scores.sizes["probe"] * scores.sizes["reference"]
    affordable(16 * size, f"all {size:,} scores at once; select images, or a list of pairs")
    probe, reference = labels_of_sides(scores, "identity")
    compared = scores["probe"].values[:, None] != scores["reference"].values
    if is_symmetric(scores):
        compared &= np.triu(np.ones(compared.shape, bool), 1)
    return probe[:, None] == reference, compared


def _numbers(genuine, impostor, n_folds, costs):
    """All numbers of one set of genuine and impostor scores; NaN without scores of one kind."""
    if min(len(genuine), len(impostor)) == 0:
        return _numbers(np.zeros(1), np.zeros(1), n_folds, costs) * np.nan
    _, frr, far = rates_at_scores(genuine, impostor)
    accuracy, threshold = best_accuracy(genuine, impostor)
    numbers = {"best_accuracy": accuracy, "best_threshold": threshold}
    accuracies = fold_accuracies(genuine, impostor, n_folds)
    if n_folds:
        numbers["accuracy"] = accuracies.mean()
        numbers["accuracy_error"] = accuracies.std(ddof=1) / np.sqrt(n_folds)
    sd = np.sqrt((genuine.var() + impostor.var()) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        numbers["d_prime"] = (genuine.mean() - impostor.mean()) / sd
    cost_miss, cost_fa = costs
    numbers["min_dcf"] = (cost_miss * frr + cost_fa * far).min() / min(costs)
    nats = np.logaddexp(0, -genuine).mean() + np.logaddexp(0, impostor).mean()
    numbers["cllr"] = nats / (2 * np.log(2))
    numbers["min_cllr"] = least_cllr(genuine, impostor)
    for name, level in (("zero_fmr", 0.0), ("fmr100", 1 / 100), ("fmr1000", 1 / 1000)):
        numbers[name] = frr[far <= level * (1 + 1e-12)].min()
    if n_folds:
        numbers["accuracy_fold"] = FOLD, accuracies
    return xr.Dataset(numbers)


def rates_at_scores(genuine, impostor):
    """Thresholds at each distinct score and below all of them, and FRR and FAR there."""
    thresholds = np.append(-np.inf, np.unique(np.concatenate([genuine, impostor])))
    rejected = np.searchsorted(np.sort(genuine), thresholds, side="right")
    not_accepted = np.searchsorted(np.sort(impostor), thresholds, side="right")
    return thresholds, rejected / len(genuine), 1 - not_accepted / len(impostor)


def best_accuracy(genuine, impostor):
    """The largest share of right decisions at any threshold, and the strictest such threshold.

    A threshold lies halfway between two scores.
    """
    scores, frr, far = rates_at_scores(genuine, impostor)
    n = len(genuine) + len(impostor)
    right = (len(genuine) * (1 - frr) + len(impostor) * (1 - far)) / n
    # rounding must not decide between equals: shares differ by a pair at least
    best = np.flatnonzero(right >= right.max() - 0.5 / n)[-1]
    threshold = scores[best : best + 2].mean() if best else scores[1] - 1
    return float(right[best]), float(threshold)


def fold_accuracies(genuine, impostor, n_folds):
    """Accuracy in each fold at the best threshold of the others; NaN where one lacks a kind."""
    accuracies = np.full(n_folds, np.nan)
    if min(len(genuine), len(impostor)) < n_folds:
        return accuracies
    genuine_fold = np.arange(len(genuine)) * n_folds // len(genuine)
    impostor_fold = np.arange(len(impostor)) * n_folds // len(impostor)
    for k in range(n_folds):
        _, threshold = best_accuracy(genuine[genuine_fold != k], impostor[impostor_fold != k])
        accepted = genuine[genuine_fold == k] > threshold
        rejected = impostor[impostor_fold == k] <= threshold
        accuracies[k] = np.concatenate([accepted, rejected]).mean()
    return accuracies


def least_cllr(genuine, impostor):
    """Cllr after the best monotone calibration; both kinds have the same weight."""
    scores, place = np.unique(np.concatenate([genuine, impostor]), return_inverse=True)
    n_genuine = len(genuine)
    n_scores = len(scores)
    share = np.bincount(place[:n_genuine], minlength=n_scores) / n_genuine
    other = np.bincount(place[n_genuine:], minlength=n_scores) / len(impostor)
    weight = share + other
    posterior = isotonic_regression(share / weight, weights=weight).x
    posterior = np.clip(posterior, 0, 1)
    nats = xlogy(share, posterior) + xlogy(other, 1 - posterior)
    return float(0.0 - nats.sum() / (2 * np.log(2)))


def _with_groups(result, of_groups, groups):
    """The numbers of all, and those of groups with STD and SER of their accuracies."""
    of_groups = xr.concat(of_groups, xr.Variable("group", groups))
    accuracy = of_groups.get("accuracy", of_groups.best_accuracy)
    error = 1 - accuracy
    result = result.merge(of_groups.rename({name: f"{name}_group" for name in of_groups}))
    result["std"] = accuracy.std("group", ddof=1, skipna=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        result["ser"] = error.max("group", skipna=False) / error.min("group", skipna=False)
    return result
