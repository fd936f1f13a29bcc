"""What the field prints of a verification protocol: accuracy over folds, STD and SER, minDCF, Cllr, d', zero-FMR."""

import numpy as np
import xarray as xr
from scipy.optimize import isotonic_regression
from scipy.special import xlogy

from frkit.base import (
    GENUINE,
    GROUP,
    IDENTITY,
    MODEL,
    PAIR,
    PROBE,
    REFERENCE,
    affordable,
    require_inside,
    require_whole,
)
from frkit.scores.groups import (
    checked_scores,
    groups_among,
    is_symmetric,
    labels_of_sides,
    models_of,
    turned,
)

FOLD = "fold"
WORDS = {
    "accuracy": "share of right decisions, mean over folds, thresholds chosen on the other folds",
    "accuracy_error": "standard error of the mean over folds",
    "accuracy_fold": "share of right decisions in each fold",
    "best_accuracy": "largest share of right decisions at any threshold",
    "best_threshold": "threshold of the largest share of right decisions",
    "min_dcf": "smallest normalised detection cost",
    "cllr": "cost of the scores as natural logarithms of likelihood ratios, in bits",
    "min_cllr": "cost of the scores after the best monotone calibration, in bits",
    "d_prime": "distance of mean genuine and impostor score in standard deviations",
    "zero_fmr": "lowest FRR without a false acceptance",
    "fmr100": "lowest FRR at a FAR of at most 1/100",
    "fmr1000": "lowest FRR at a FAR of at most 1/1000",
    "std": "standard deviation of the accuracy over groups (ddof 1)",
    "ser": "skewed error ratio: largest over smallest error (1 - accuracy) of the groups",
}


def verification_metrics(
    scores: xr.DataArray | xr.Dataset,
    *,
    by: str | list[str] | None = None,
    folds: int = 10,
    p_target: float = 0.01,
    cost_miss: float = 1.0,
    cost_fa: float = 1.0,
) -> xr.Dataset:
    """Numbers that tables of the field print: accuracy over folds, minDCF, Cllr, d', zero-FMR, FMR100 and FMR1000.

    All pairs weigh the same. For what is sure about error rates take `evaluate` and `band`: folds share people, so
    that their spread says little of new ones.

    Parameters
    ----------
    scores : xr.DataArray or xr.Dataset
        A list of pairs from `pairs` or `open_pairs`, or a tensor, whose scores are then all held in memory.
    by : str or list of str, optional
        Attribute(s) whose groups get numbers of their own, from the pairs within the group and at the group's own
        thresholds, as in RFW's tables.
    folds : int
        Of a list: the genuine pairs are cut into so many equal parts in their order, and the impostor pairs too, which
        gives the folds of LFW's and RFW's files. A tensor has none.
    p_target : float in (0, 1)
        Prior probability of a genuine pair, for the detection cost.
    cost_miss, cost_fa : float
        Costs of a false rejection and of a false acceptance, positive.

    Returns
    -------
    xr.Dataset
        Over (model): `accuracy` (mean over folds, the threshold of each chosen on the others), `accuracy_error` (its
        standard error, as LFW prints it), `accuracy_fold` also over fold, `best_accuracy` and `best_threshold` (halfway
        between two scores, the strictest of equals), `min_dcf` (divided by the cost of the better blind decision),
        `cllr` and `min_cllr`, `d_prime`, `zero_fmr`, `fmr100`, `fmr1000`; with groups the same with `_group`, and
        `std` and `ser` of the groups' accuracies. NaN where a group has too few pairs.

    Raises
    ------
    InputError
        For no scores of pairs, unknown attributes, fewer than two folds, a prior or cost out of range, or a tensor too
        large for memory.

    References
    ----------
    Huang et al. (2007), Labeled faces in the wild (folds, standard error). Wang & Deng (2020), Mitigating bias in face
    recognition using skewness-aware reinforcement learning (STD, SER). Martin & Przybocki (2000), the NIST speaker
    recognition evaluation (detection cost). Brümmer & du Preez (2006), Application-independent evaluation of speaker
    detection, eq. 14 (Cllr). Daugman (2000), Biometric decision landscapes (d'). Maio et al. (2002), FVC2000
    (zero-FMR, FMR100, FMR1000).

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
    for name, cost in (("cost_miss", cost_miss), ("cost_fa", cost_fa)):
        require_inside(name, cost, 0, np.inf)
    listed = PAIR in scores.dims
    n_folds = require_whole("folds", folds, 2) if listed else 0
    costs = cost_miss * p_target, cost_fa * (1 - p_target)
    genuine, counted, label = _kinds(scores, by)
    groups = np.empty(0, str) if by is None else groups_among(label, by)
    parts = []
    for values in (model.values for model in models_of(scores)):
        here = counted & ~np.isnan(values)
        sets = [here, *(here & (label == name) for name in groups)]
        everyone, *of_groups = (
            _numbers(values[own & genuine], values[own & ~genuine], n_folds, costs) for own in sets
        )
        parts.append(_labelled(everyone, of_groups, groups, turned(scores)))
    return (
        xr.concat(parts, scores[MODEL].variable.to_index_variable())
        if MODEL in scores.dims
        else parts[0]
    )


def _kinds(scores: xr.DataArray, by) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Which pairs are genuine, which count, and the label that both sides have, shaped as the scores of a model."""
    listed = PAIR in scores.dims
    if listed:
        genuine = scores[GENUINE].values.astype(bool)
        itself = (
            scores[PROBE].values == scores[REFERENCE].values
            if PROBE in scores.coords
            else np.zeros_like(genuine)
        )
        counted = ~itself
    else:
        size = scores.sizes[PROBE] * scores.sizes[REFERENCE]
        affordable(16 * size, f"all {size:,} scores at once; select images, or a list of pairs")
        identity = labels_of_sides(scores, IDENTITY)
        genuine = identity[0][:, None] == identity[1]
        counted = scores[PROBE].values[:, None] != scores[REFERENCE].values
        counted &= np.triu(np.ones(counted.shape, bool), 1) if is_symmetric(scores) else True
    if by is None:
        return genuine, counted, None
    probe, reference = labels_of_sides(scores, by)
    probe = probe if listed else probe[:, None]
    return genuine, counted, np.where(probe == reference, probe, "unknown")


def _numbers(
    genuine: np.ndarray, impostor: np.ndarray, n_folds: int, costs: tuple[float, float]
) -> dict:
    """All numbers of one set of genuine and impostor scores."""
    if min(len(genuine), len(impostor)) == 0:  # the same names, and no number
        return {
            name: value * np.nan
            for name, value in _numbers(np.zeros(1), np.zeros(1), n_folds, costs).items()
        }
    points, frr, far = rates_at_scores(genuine, impostor)
    accuracy, threshold = best_accuracy(genuine, impostor)
    numbers = {"best_accuracy": accuracy, "best_threshold": threshold}
    if n_folds:
        numbers["accuracy_fold"] = fold_accuracies(genuine, impostor, n_folds)
        numbers["accuracy"] = numbers["accuracy_fold"].mean()
        numbers["accuracy_error"] = numbers["accuracy_fold"].std(ddof=1) / np.sqrt(n_folds)
    spread = np.sqrt((genuine.var() + impostor.var()) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        numbers["d_prime"] = (genuine.mean() - impostor.mean()) / spread
    numbers["min_dcf"] = (costs[0] * frr + costs[1] * far).min() / min(costs)
    bits = np.logaddexp(0, -genuine).mean() + np.logaddexp(0, impostor).mean()
    numbers |= {"cllr": bits / (2 * np.log(2)), "min_cllr": least_cllr(genuine, impostor)}
    for name, level in (("zero_fmr", 0.0), ("fmr100", 1 / 100), ("fmr1000", 1 / 1000)):
        numbers[name] = frr[far <= level * (1 + 1e-12)].min()
    return numbers


def rates_at_scores(
    genuine: np.ndarray, impostor: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """FRR and FAR where each of the scores that occur is the threshold (accept above it), and below all of them."""
    points = np.append(-np.inf, np.unique(np.concatenate([genuine, impostor])))
    rejected, kept_out = (
        np.searchsorted(np.sort(part), points, side="right") for part in (genuine, impostor)
    )
    return points, rejected / len(genuine), 1 - kept_out / len(impostor)


def best_accuracy(genuine: np.ndarray, impostor: np.ndarray) -> tuple[float, float]:
    """The largest share of right decisions at any threshold, and the strictest such threshold."""
    points, frr, far = rates_at_scores(genuine, impostor)
    right = (len(genuine) * (1 - frr) + len(impostor) * (1 - far)) / (len(genuine) + len(impostor))
    # rounding must not decide between equals: shares differ by a pair at least
    at = np.flatnonzero(right >= right.max() - 0.5 / (len(genuine) + len(impostor)))[-1]
    return float(right[at]), float(points[at : at + 2].mean() if at else points[1] - 1)


def fold_accuracies(genuine: np.ndarray, impostor: np.ndarray, n_folds: int) -> np.ndarray:
    """Accuracy in each fold at the best threshold of the other folds, (fold,); NaN where a fold lacks a kind."""
    if min(len(genuine), len(impostor)) < n_folds:
        return np.full(n_folds, np.nan)
    fold = [np.arange(len(part)) * n_folds // len(part) for part in (genuine, impostor)]
    found = np.empty(n_folds)
    for k in range(n_folds):
        _, threshold = best_accuracy(genuine[fold[0] != k], impostor[fold[1] != k])
        right = (genuine[fold[0] == k] > threshold).sum() + (
            impostor[fold[1] == k] <= threshold
        ).sum()
        found[k] = right / sum((part == k).sum() for part in fold)
    return found


def least_cllr(genuine: np.ndarray, impostor: np.ndarray) -> float:
    """Cllr of the likelihood ratios that pooling adjacent violators makes of the scores, both kinds weighing half."""
    points, place = np.unique(np.concatenate([genuine, impostor]), return_inverse=True)
    share = np.bincount(place[: len(genuine)], minlength=len(points)) / len(genuine)
    other = np.bincount(place[len(genuine) :], minlength=len(points)) / len(impostor)
    posterior = np.clip(isotonic_regression(share / (share + other), weights=share + other).x, 0, 1)
    return float(
        0.0 - (xlogy(share, posterior) + xlogy(other, 1 - posterior)).sum() / (2 * np.log(2))
    )


def _labelled(
    everyone: dict, of_groups: list[dict], groups: np.ndarray, distance: bool
) -> xr.Dataset:
    """The numbers of a model with names; thresholds of distances in their own sign."""
    dims = {name: (FOLD,) if np.ndim(value) else () for name, value in everyone.items()}
    found = {name: (dims[name], value) for name, value in everyone.items()}
    for name in everyone if of_groups else ():
        found[f"{name}_group"] = (
            (GROUP, *dims[name]),
            np.array([numbers[name] for numbers in of_groups]),
        )
    result = xr.Dataset(found, {GROUP: groups} if of_groups else {})
    for name in [name for name in result if name.startswith("best_threshold") and distance]:
        result[name] = 0.0 - result[name]
    if of_groups:
        accuracy = result.get("accuracy_group", result.best_accuracy_group)
        result["std"], error = accuracy.std(GROUP, ddof=1, skipna=False), 1 - accuracy
        with np.errstate(divide="ignore", invalid="ignore"):
            result["ser"] = error.max(GROUP, skipna=False) / error.min(GROUP, skipna=False)
    for name in result.data_vars:
        result[name].attrs["long_name"] = WORDS[str(name).removesuffix("_group")]
    return result
