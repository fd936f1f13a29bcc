"""What the field prints of a verification protocol: accuracy over folds, minDCF, Cllr, d' ..."""

import numpy as np
import pandas as pd
import xarray as xr
from scipy.optimize import isotonic_regression
from scipy.special import xlogy

from frkit.base import listed, require_inside, require_whole, warn
from frkit.engine.protocol import make_protocol
from frkit.engine.tally import kinds_of_pairs
from frkit.evaluation.sweep import swept
from frkit.scores.groups import checked_scores, turned
from frkit.scores.kept import is_list, pairs_of_models

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
        A list of pairs from `pairs` or `open_pairs`, a tensor, or kept pairs; of more than two
        million impostor pairs of a tensor some stand for others (`sweep`).
    by : str or list of str, optional
        Attribute(s) whose groups get numbers of their own, from the pairs within the group and at
        the group's own thresholds, as in RFW's tables.
    folds : int
        Of a list: the genuine pairs are cut into so many equal parts in their order, and the
        impostor pairs too, which gives the folds of LFW's and RFW's files; a comparison that
        failed keeps its place. A tensor has none.
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
        For no scores of pairs, infinite scores, unknown attributes, fewer than two folds, a prior
        or cost out of range.

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
    require_inside("cost_miss", cost_miss, 0, np.inf)
    require_inside("cost_fa", cost_fa, 0, np.inf)
    n_folds = require_whole("folds", folds, 2) if is_list(scores) else 0
    costs = cost_miss * p_target, cost_fa * (1 - p_target)
    kept = swept(scores, by=by)
    protocol = make_protocol(kept, by=by, varying="keep", weighting="pair")
    results = []
    for pairs in pairs_of_models(kept):
        table = _table_of_pairs(pairs, protocol)
        result = _numbers(_in_folds(table, n_folds), n_folds, costs)
        groups = [table[table.group == g] for g in range(len(protocol.groups))]
        if groups:
            numbers_of_groups = [
                _numbers(_in_folds(group, n_folds), n_folds, costs) for group in groups
            ]
            result = _with_groups(result, numbers_of_groups, protocol.groups)
        results.append(result)
    result = results[0]
    if "model" in kept.dims:
        result = xr.concat(results, kept["model"].variable.to_index_variable())
    _warn_of_missing(result, folds)
    if turned(kept):
        for name in {"best_threshold", "best_threshold_group"} & {*result}:
            result[name] = 0.0 - result[name]
    if not result.dims:  # one row of `to_dataframe()`
        result = result.assign_coords(scores=["all"])
    return result


def _table_of_pairs(pairs, protocol) -> pd.DataFrame:
    """The pairs: score, weight, whether genuine, and the group of both sides, or -1."""
    row, col, is_genuine, is_impostor = kinds_of_pairs(pairs, protocol)
    group = np.where(protocol.group[row] == protocol.group[col], protocol.group[row], -1)
    table = pd.DataFrame(
        {
            "score": pairs.score,
            "weight": 1.0 if pairs.stands_for is None else pairs.stands_for.astype(float),
            "genuine": is_genuine,
            "group": np.where(group < len(protocol.groups), group, -1),
        }
    )
    return table[is_genuine | is_impostor]


def _in_folds(table, n_folds):
    """The pairs that were scored, with their fold.

    Folds are cut from all pairs of a kind in their order, those that failed included.
    """
    kinds = table.groupby("genuine").genuine
    fold = kinds.cumcount() * n_folds // kinds.transform("size")
    return table.assign(fold=fold)[table.score.notna()]


def _numbers(table, n_folds, costs):
    """All numbers of one set of pairs; NaN where one kind has no scores."""
    genuine = table[table.genuine]
    impostor = table[~table.genuine]
    if min(len(genuine), len(impostor)) == 0:
        nobody = pd.DataFrame({"score": [0.0, 0.0], "weight": 1.0, "genuine": [True, False]})
        return _numbers(nobody.assign(fold=0), n_folds, costs) * np.nan
    rates = rates_at_scores(table)
    accuracy, threshold = best_accuracy(table)
    numbers = {"best_accuracy": accuracy, "best_threshold": threshold}
    if n_folds:
        accuracies = fold_accuracies(table, n_folds)
        numbers["accuracy"] = accuracies.mean()
        numbers["accuracy_error"] = accuracies.std(ddof=1) / np.sqrt(n_folds)
    means, variances = zip(*(_moments(kind) for kind in (genuine, impostor)))
    with np.errstate(divide="ignore", invalid="ignore"):
        numbers["d_prime"] = (means[0] - means[1]) / np.sqrt(sum(variances) / 2)
    cost_miss, cost_fa = costs
    numbers["min_dcf"] = (cost_miss * rates.frr + cost_fa * rates.far).min() / min(costs)
    nats = np.average(np.logaddexp(0, -genuine.score), weights=genuine.weight)
    nats += np.average(np.logaddexp(0, impostor.score), weights=impostor.weight)
    numbers["cllr"] = nats / (2 * np.log(2))
    numbers["min_cllr"] = least_cllr(table)
    for name, level in (("zero_fmr", 0.0), ("fmr100", 1 / 100), ("fmr1000", 1 / 1000)):
        numbers[name] = rates.frr[rates.far <= level * (1 + 1e-12)].min()
    if n_folds:
        numbers["accuracy_fold"] = FOLD, accuracies
    return xr.Dataset(numbers)


def _moments(table):
    """Mean and variance (ddof 0) of scores."""
    mean = np.average(table.score, weights=table.weight)
    return mean, np.average((table.score - mean) ** 2, weights=table.weight)


def weights_at_scores(table):
    """Weight of the genuine and of the impostor pairs at each distinct score, rising."""
    weight = table.weight.groupby([table.score, table.genuine]).sum().unstack(fill_value=0.0)
    return weight.reindex(columns=[True, False], fill_value=0.0)


def rates_at_scores(table):
    """FRR and FAR at each distinct score, and at a threshold below all of them."""
    weight = weights_at_scores(table)
    lowest = pd.DataFrame({True: 0.0, False: 0.0}, index=[-np.inf])
    not_above = pd.concat([lowest, weight]).cumsum() / weight.sum()
    return pd.DataFrame({"frr": not_above[True], "far": 1 - not_above[False]})


def best_accuracy(table):
    """The largest share of right decisions at any threshold, and the strictest such threshold.

    A threshold lies halfway between two scores.
    """
    rates = rates_at_scores(table)
    scores = rates.index.to_numpy()
    n_genuine = table.weight[table.genuine].sum()
    n_impostor = table.weight.sum() - n_genuine
    right = (n_genuine * (1 - rates.frr) + n_impostor * (1 - rates.far)) / (n_genuine + n_impostor)
    # rounding must not decide between equals: shares differ by a pair at least
    best = np.flatnonzero(right >= right.max() - 0.5 / table.weight.sum())[-1]
    threshold = scores[best : best + 2].mean() if best else scores[1] - 1
    return float(right.iloc[best]), float(threshold)


def fold_accuracies(table, n_folds):
    """Accuracy in each fold at the best threshold of the others; NaN where one lacks a kind."""
    n_kinds = table.groupby("fold").genuine.nunique().reindex(range(n_folds), fill_value=0)
    if n_kinds.min() < 2:
        return np.full(n_folds, np.nan)
    accuracies = []
    for k in range(n_folds):
        _, threshold = best_accuracy(table[table.fold != k])
        fold = table[table.fold == k]
        right = (fold.score > threshold) == fold.genuine
        accuracies.append(np.average(right, weights=fold.weight))
    return np.array(accuracies)


def least_cllr(table):
    """Cllr after the best monotone calibration; both kinds have the same weight."""
    weight = weights_at_scores(table)
    share = (weight / weight.sum()).to_numpy()
    both = share.sum(1)
    posterior = isotonic_regression(share[:, 0] / both, weights=both).x
    posterior = np.clip(posterior, 0, 1)
    nats = xlogy(share[:, 0], posterior) + xlogy(share[:, 1], 1 - posterior)
    return float(0.0 - nats.sum() / (2 * np.log(2)))


def _warn_of_missing(result, folds):
    """Warn where numbers are NaN, because a group or a fold lacks a kind of pairs."""
    groups = result.get("best_accuracy_group")
    if groups is not None and groups.isnull().any():
        empty = groups["group"][groups.isnull().any([*{*groups.dims} - {"group"}])]
        warn(
            f"all numbers of {listed(empty.values)} are NaN: no genuine, or no impostor pair there"
        )
    without_folds = []
    for suffix in ("", "_group"):
        if f"accuracy{suffix}" in result:
            missing = result[f"accuracy{suffix}"].isnull()
            missing &= result[f"best_accuracy{suffix}"].notnull()
            if missing.any():
                without_folds.append(f"accuracy{suffix}")
    if without_folds:
        warn(
            f"{' and '.join(without_folds)}: NaN where one of the {folds} folds has no genuine or "
            "no impostor pair; take fewer folds, such as folds=2, or read best_accuracy"
        )


def _with_groups(result, numbers, groups):
    """The numbers of all, and those of groups with STD and SER of their accuracies."""
    numbers = xr.concat(numbers, xr.Variable("group", groups))
    accuracy = numbers.get("accuracy", numbers.best_accuracy)
    error = 1 - accuracy
    result = result.merge(numbers.rename({name: f"{name}_group" for name in numbers}))
    result["std"] = accuracy.std("group", ddof=1, skipna=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        result["ser"] = error.max("group", skipna=False) / error.min("group", skipna=False)
    return result
