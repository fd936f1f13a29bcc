"""Bias read from predicted labels: parity gaps, metrics across cohorts, bias score and its amplification."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from frkit.base import GROUP, listed, require, warn

LABEL, METRIC = "label", "metric"
METRICS = (
    "accuracy",
    "false_positive_rate",
    "f1",
    "auc",
    "average_precision",
)  # the last two need scores


def parity_gaps(truth: ArrayLike, predicted: ArrayLike, group: ArrayLike) -> xr.Dataset:
    """Largest gaps between groups in the rates at which each label is predicted.

    Parameters
    ----------
    truth, predicted : array-like (n,), the true and the predicted label of each image. Each label in turn is the
        positive outcome, all others together the negative one.
    group : array-like (n,), the protected attribute's value of each image; two groups or more.

    Returns
    -------
    xr.Dataset, dimension label, largest minus smallest over the groups, in [0, 1]
        `demographic_parity` (rate of being predicted), `equal_opportunity` (that rate where the label is true),
        `equalized_odds` (the larger of that gap and the gap in false positive rates). NaN, with a warning, where a
        group has no image with the label, or none without it.

    Raises
    ------
    InputError : lengths differ, a single group, a single label.

    References
    ----------
    Hardt, Price & Srebro (2016); Li & Abd-Almageed (2021), Section IV-A.

    Examples
    --------
    >>> gaps = parity_gaps([0, 1, 0, 1], [0, 1, 1, 1], ["a", "a", "b", "b"])
    >>> gaps.demographic_parity.values.tolist(), gaps.equalized_odds.values.tolist()
    ([0.5, 0.5], [1.0, 1.0])
    """
    truth, predicted, group, labels = checked_labels(truth, predicted, group)
    true = pd.DataFrame(truth[:, None] == labels, columns=labels)
    said = pd.DataFrame(predicted[:, None] == labels, columns=labels, dtype=float)
    rates = [images.groupby(group).mean() for images in (said, said.where(true), said.where(~true))]
    rate_gap, hit_gap, false_alarm_gap = (rate.max() - rate.min() for rate in rates)
    undefined = (rates[1].isna() | rates[2].isna()).any()
    if undefined.any():
        warn(
            f"some group has only images with, or none with, label {listed(labels[undefined])}: no rates there (NaN)"
        )
    gaps = {"demographic_parity": rate_gap, "equal_opportunity": hit_gap.mask(undefined)}
    gaps["equalized_odds"] = np.maximum(hit_gap, false_alarm_gap).mask(undefined)
    return xr.Dataset({name: (LABEL, gap) for name, gap in gaps.items()}, {LABEL: labels})


def cohort_spread(
    truth: ArrayLike, predicted: ArrayLike, group: ArrayLike, *, score: ArrayLike | None = None
) -> xr.Dataset:
    """Metrics of a classifier within each cohort, and how far they spread.

    Parameters
    ----------
    truth, predicted : array-like (n,), the true and the predicted label of each image; two labels or more.
    group : array-like (n,), the cohort of each image.
    score : array-like (n, labels), optional; larger = the label (in sorted order) is likelier. For two labels (n,)
        may be given, for the second one. Without it there is no AUC and no average precision.

    Returns
    -------
    xr.Dataset
        `value` (metric, group): accuracy, false_positive_rate, f1, auc, average_precision; for two labels with the
        second one as positive, for more the mean over the labels, each against the rest. `overall` (metric): the
        same of all images; `mean`, `sd` (ddof 1) and `range` (metric) over the groups. NaN, with a warning, where a
        cohort lacks a label.

    Raises
    ------
    InputError : lengths differ, a single group, a single label, a score of another shape.

    References
    ----------
    Li & Abd-Almageed (2021), Table I (accuracy across cohorts), Tables III and IV.

    Examples
    --------
    >>> found = cohort_spread([0, 1, 0, 1], [0, 1, 1, 1], ["a", "a", "b", "b"])
    >>> found.value.sel(metric="accuracy").values.tolist()
    [1.0, 0.5]
    """
    truth, predicted, group, labels = checked_labels(truth, predicted, group)
    score = None if score is None else _score(score, truth.size, labels.size)
    cohorts = {name: group == name for name in np.unique(group)}
    overall, *values = (
        _metrics(truth[rows], predicted[rows], labels, None if score is None else score[rows])
        for rows in (np.ones(group.size, bool), *cohorts.values())
    )
    value = xr.DataArray(
        np.transpose(values), {METRIC: list(METRICS[: len(overall)]), GROUP: list(cohorts)}
    )
    if value.isnull().any():
        warn(
            "a cohort lacks a label, so some of its metrics are not defined (NaN); the spread leaves it out"
        )
    summary = {"overall": (METRIC, overall), "mean": value.mean(GROUP)}
    spread = {"sd": value.std(GROUP, ddof=1), "range": value.max(GROUP) - value.min(GROUP)}
    return xr.Dataset({"value": value, **summary, **spread})


def bias_amplification(
    train_truth: ArrayLike, train_group: ArrayLike, predicted: ArrayLike, group: ArrayLike
) -> xr.Dataset:
    """How much more a model's predictions tie labels to groups than its training labels do.

    The bias of a label towards a group is the group's share of the images with that label. A label counts for the
    groups whose share in the training data is above 1/groups.

    Parameters
    ----------
    train_truth, train_group : array-like (n_train,), true labels and groups of the training images. Labels may be
        a 0/1 array (n_train, tasks) instead; then each task is a label.
    predicted, group : array-like (n,) (or (n, tasks)) and (n,), predicted labels and groups of the test images.

    Returns
    -------
    xr.Dataset
        `train` and `test` (label, group): the shares; `amplification`: mean over labels of test minus train, summed
        over the groups that dominate in training; `bias_score`: mean over labels of the largest test share (what
        the paper's "BA" columns hold; 1/groups would be balance where the groups are equal).

        A label that is never predicted has no test share. The rule here: it is left out of both means, with a warning;
        its `test` is NaN, and attrs `rule` and `never_predicted` say so. (Counted as shares of 0, such labels would
        make a model that predicts fewer of them seem to amplify less.) So is a label that only the predictions have.

    Raises
    ------
    InputError : lengths differ, a test group that training does not have, no label of training is predicted.

    References
    ----------
    Zhao et al. (2017); Li & Abd-Almageed (2021), Tables III and IV.

    Examples
    --------
    >>> found = bias_amplification(["cook"] * 4, ["f", "f", "f", "m"], ["cook"] * 4, ["f", "f", "f", "f"])
    >>> found.amplification.item(), found.bias_score.item()
    (0.25, 1.0)
    """
    train_group, group = np.asarray(train_group).astype(str), np.asarray(group).astype(str)
    groups = _two_or_more(np.unique(train_group), "group of the training images")
    extra = np.setdiff1d(group, groups)
    require(
        extra.size == 0,
        f"groups {listed(extra)} are not among the training images; leave these images out",
    )
    train = _shares(train_truth, train_group, groups)
    test = _shares(predicted, group, groups).reindex({LABEL: train[LABEL].values})
    never = test.isnull().all(GROUP)
    require(
        not never.all(),
        "no label of the training images is ever predicted; are these the same labels?",
    )
    if never.any():
        warn(f"labels {listed(train[LABEL].values[never])} are never predicted; they are left out")
    excess = (test - train).where(train > 1 / groups.size).sum(GROUP).where(~never)
    found = {"amplification": excess.mean(LABEL), "bias_score": test.max(GROUP).mean(LABEL)}
    rule = {
        "rule": "means over the labels that are predicted",
        "never_predicted": train[LABEL].values[never].tolist(),
    }
    return xr.Dataset({"train": train, "test": test, **found}, attrs=rule if never.any() else {})


def checked_labels(
    truth, predicted, group
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The three as arrays of equal length, and the labels that there are: two at least, and two groups."""
    truth, predicted, group = np.asarray(truth), np.asarray(predicted), np.asarray(group)
    shapes = {"truth": truth.shape, "predicted": predicted.shape, "group": group.shape}
    flat = truth.ndim == 1 and truth.size > 0 and len(set(shapes.values())) == 1
    require(flat, f"labels must be flat and of equal length, got shapes {shapes}")
    check_kinds(truth, predicted)
    _two_or_more(np.unique(group), "group")
    return truth, predicted, group, _two_or_more(np.union1d(truth, predicted), "label")


def check_kinds(truth: np.ndarray, predicted: np.ndarray) -> None:
    """Refuse labels that can never be equal, such as 1 and "1"."""
    alike = (truth.dtype.kind in "biuf") == (predicted.dtype.kind in "biuf")
    kinds = f"of different kinds, {truth.dtype} and {predicted.dtype}"
    require(
        alike,
        f"true and predicted labels are {kinds}, so none would be right; convert one with .astype(...)",
    )


def _two_or_more(found: np.ndarray, what: str) -> np.ndarray:
    """Refuse a single label or group."""
    require(
        found.size >= 2,
        f"two {what}s or more are needed, got {listed(found)}; nothing can be compared",
    )
    return found


def _score(score, n: int, n_labels: int) -> np.ndarray:
    """Scores with one column for each label."""
    score = np.asarray(score, float)
    if score.ndim == 1 and n_labels == 2:
        score = np.column_stack([-score, score])
    fits = score.shape == (n, n_labels) and np.isfinite(score).all()
    require(
        fits,
        f"score must be finite, with shape ({n}, {n_labels}): one column for each label, got {score.shape}",
    )
    return score


def _metrics(
    truth: np.ndarray, predicted: np.ndarray, labels: np.ndarray, score: np.ndarray | None
) -> list[float]:
    """The metrics of one cohort: for two labels of the second one, for more the mean over the labels.

    False positive rate, F1 and, from scores, AUC and average precision of a label against the rest; NaN where not
    defined.
    """
    rows = []
    for k in range(labels.size) if labels.size > 2 else [1]:
        true, said = truth == labels[k], predicted == labels[k]
        rows.append(
            [
                np.nan if true.all() else said[~true].mean(),
                f1_score(true, said, zero_division=np.nan),
            ]
        )
        if score is not None:
            both = true.any() and not true.all()
            of_scores = (roc_auc_score, average_precision_score)
            rows[-1] += [metric(true, score[:, k]) if both else np.nan for metric in of_scores]
    return [np.mean(truth == predicted), *np.mean(rows, axis=0)]


def _shares(labels, group: np.ndarray, groups: np.ndarray) -> xr.DataArray:
    """Share of each group among the images with each label."""
    labels = np.asarray(labels)
    fits = labels.ndim in (1, 2) and len(labels) == len(group) > 0
    both = f"{labels.shape} and {group.shape}"
    require(
        fits, f"one label (or row of labels) and one group for each image are needed, got {both}"
    )
    names = np.unique(labels) if labels.ndim == 1 else np.arange(labels.shape[1])
    holds = labels[:, None] == names if labels.ndim == 1 else labels.astype(bool)
    counts = holds.T.astype(float) @ (group[:, None] == groups)
    with np.errstate(invalid="ignore"):  # a label that nobody has: NaN
        return xr.DataArray(counts / counts.sum(1, keepdims=True), {LABEL: names, GROUP: groups})
