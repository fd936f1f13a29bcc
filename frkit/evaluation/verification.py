"""What the field prints of a verification protocol: accuracy over folds, minDCF, Cllr, d' ..."""

import numpy as np
import pandas as pd
import xarray as xr
from scipy.optimize import isotonic_regression
from scipy.special import xlogy

from frkit.base import listed, require_inside, require_whole, warn
from frkit.evaluation.design import make_design
from frkit.evaluation.populations import (
    compared_weight,
    kinds_of_pairs,
    populations_of_groups,
    whole_population,
)
from frkit.evaluation.rate_tables import of_models
from frkit.evaluation.sweep import swept
from frkit.scores.groups import checked_scores, turned
from frkit.scores.kept import is_list, pairs_of_models

FAR_LEVELS = {"zero_fmr": 0.0, "fmr100": 1 / 100, "fmr1000": 1 / 1000}
NO_PAIRS = pd.DataFrame({"score": 0.0, "weight": 1.0, "genuine": [True, False], "fold": 0})


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
    require_whole("folds", folds, 2)
    n_folds = folds if is_list(scores) else 0
    costs = cost_miss * p_target, cost_fa * (1 - p_target)
    kept = swept(scores, by=by)
    design = make_design(kept, by=by, varying="keep", weighting="pair")
    groups = design.images.groups
    results = []
    for pairs in pairs_of_models(kept):
        table = _table_of_pairs(pairs, design)
        whole = whole_population(design, pairs)
        parts = populations_of_groups(whole, design.images.group_code, len(groups))
        result = _numbers(table, compared_weight(whole), n_folds, costs)
        numbers_of_groups = [
            _numbers(table[table.group == group], compared_weight(part), n_folds, costs)
            for (group, _), part in parts.items()
        ]
        if numbers_of_groups:
            result = _with_groups(result, numbers_of_groups, groups)
        results.append(result)
    result = of_models(results, kept)
    _warn_of_missing(result, folds)
    if turned(kept):
        for name in {"best_threshold", "best_threshold_group"} & {*result}:
            result[name] = 0.0 - result[name]
    # one row of `to_dataframe()` where there is no dim
    return result if result.dims else result.assign_coords(scores=["all"])


def _table_of_pairs(pairs, design):
    """The pairs in their order: score, weight, whether genuine, group of both sides (or -1)."""
    row, col, is_genuine, is_impostor, number = kinds_of_pairs(design, pairs)
    group_code = design.images.group_code
    columns = {
        "score": pairs.score,
        "weight": number.astype(float),
        "genuine": is_genuine,
        "group": np.where(group_code[row] == group_code[col], group_code[row], -1),
    }
    return pd.DataFrame(columns)[is_genuine | is_impostor]


def _numbers(table, n_impostors, n_folds, costs):
    """All numbers of one set of pairs; NaN where one kind has no scores.

    Folds are cut from all pairs of a kind in their order, those that failed included.
    """
    kinds = table.groupby("genuine").genuine
    fold = kinds.cumcount() * n_folds // kinds.transform("size")
    table = table.assign(fold=fold)[table.score.notna()]
    if table.genuine.nunique() < 2:
        return _numbers(NO_PAIRS, 0, n_folds, costs) * np.nan
    share = weights_at_scores(table)
    share /= share.sum()
    score = share.index.to_numpy()[:, None]
    mean = (share * score).sum()
    variance = (share * (score - mean.to_numpy()) ** 2).sum()
    nats = np.logaddexp(0, score * [-1, 1])  # of genuine scores, and of impostor scores
    rates = rates_at_scores(table, n_impostors)
    numbers = dict(zip(("best_accuracy", "best_threshold"), best_accuracy(table, n_impostors)))
    numbers["min_dcf"] = (costs[0] * rates.frr + costs[1] * rates.far).min() / min(costs)
    numbers["cllr"] = (share * nats).to_numpy().sum() / (2 * np.log(2))
    numbers["min_cllr"] = least_cllr(share.to_numpy())
    with np.errstate(divide="ignore", invalid="ignore"):
        numbers["d_prime"] = np.divide(mean[True] - mean[False], np.sqrt(variance.mean()))
    for name, level in FAR_LEVELS.items():
        numbers[name] = rates.frr[rates.far <= level * (1 + 1e-12)].min()
    if n_folds:
        accuracies = fold_accuracies(table, n_folds)
        numbers["accuracy"] = accuracies.mean()
        numbers["accuracy_error"] = accuracies.std(ddof=1) / np.sqrt(n_folds)
        numbers["accuracy_fold"] = "fold", accuracies
    return xr.Dataset(numbers)


def weights_at_scores(table):
    """Weight of the genuine and of the impostor pairs at each distinct score, rising."""
    weight = table.weight.groupby([table.score, table.genuine]).sum().unstack(fill_value=0.0)
    return weight.reindex(columns=[True, False], fill_value=0.0)


def rates_at_scores(table, n_impostors=None):
    """FRR and FAR at each distinct score, and at a threshold below all of them.

    n_impostors : how many the pairs represent; an estimate where some were thinned.
    """
    weight = weights_at_scores(table)
    n_genuine, n_all = weight.sum()
    not_above = weight.cumsum()
    not_above = pd.concat([0 * not_above.head(1).set_axis([-np.inf]), not_above])
    far = (n_all - not_above[False]) / (n_impostors or n_all)
    return pd.DataFrame({"frr": not_above[True] / n_genuine, "far": far.clip(upper=1)})


def best_accuracy(table, n_impostors=None):
    """The largest share of right decisions at any threshold, and the strictest such threshold.

    A threshold lies halfway between two scores.
    """
    rates = rates_at_scores(table, n_impostors)
    scores = rates.index.to_numpy()
    n_pairs = table.weight.sum()
    share = table.weight[table.genuine].sum() / n_pairs
    right = share * (1 - rates.frr) + (1 - share) * (1 - rates.far)
    # rounding must not decide between equal shares, which differ by at least one pair
    best = np.flatnonzero(right >= right.max() - 0.5 / n_pairs)[-1]
    threshold = scores[best : best + 2].mean() if best else scores[1] - 1
    return float(right.iloc[best]), float(threshold)


def fold_accuracies(table, n_folds):
    """Accuracy in each fold at the best threshold of the others; NaN where one lacks a kind."""
    accuracies = np.full(n_folds, np.nan)
    if len(table[["fold", "genuine"]].drop_duplicates()) == 2 * n_folds:
        for k in range(n_folds):
            _, threshold = best_accuracy(table[table.fold != k])
            fold = table[table.fold == k]
            accuracies[k] = np.mean((fold.score > threshold) == fold.genuine)
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
    missing = result.isnull()
    if "group" in result.dims:
        missing_in_groups = missing.best_accuracy_group
        empty = missing_in_groups.any({*missing_in_groups.dims} - {"group"}).values
        if empty.any():
            names = listed(result["group"].values[empty])
            warn(f"all numbers of {names} are NaN: no genuine, or no impostor pair there")
    without_folds = [
        f"accuracy{suffix}"
        for suffix in ("", "_group")
        if f"accuracy{suffix}" in result
        and (missing[f"accuracy{suffix}"] & ~missing[f"best_accuracy{suffix}"]).any()
    ]
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
