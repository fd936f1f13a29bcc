"""Bias read from predicted labels: parity gaps, metrics across cohorts, bias amplification."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from frkit.base import UNKNOWN, listed, real_numbers, require, warn
from frkit.data.labels import clean_labels, reading_order

LABEL, METRIC = "label", "metric"


def parity_gaps(truth: ArrayLike, predicted: ArrayLike, group: ArrayLike) -> xr.Dataset:
    """Largest gaps between groups in the rates at which each label is predicted.

    Parameters
    ----------
    truth, predicted : array-like (n,)
        The true and the predicted label of each image. Each label in turn is the positive
        outcome, all others together the negative one.
    group : array-like (n,)
        The protected attribute's value of each image; two groups or more. Images without one are
        left out, with a warning.

    Returns
    -------
    xr.Dataset
        Over label, largest minus smallest over the groups, in [0, 1]: `demographic_parity` (rate
        of being predicted), `equal_opportunity` (that rate where the label is true) and
        `equalized_odds` (the larger of that gap and the gap in false positive rates). NaN, with a
        warning, where a group has no image with the label, or none without it.

    Raises
    ------
    InputError
        If lengths differ, or there is a single group or label.

    References
    ----------
    Hardt, Price & Srebro (2016); Li & Abd-Almageed (2021), Section IV-A.

    Examples
    --------
    >>> gaps = parity_gaps([0, 1, 0, 1], [0, 1, 1, 1], ["a", "a", "b", "b"])
    >>> gaps.demographic_parity.values.tolist(), gaps.equalized_odds.values.tolist()
    ([0.5, 0.5], [1.0, 1.0])
    """
    truth, predicted, group, _ = _checked(truth, predicted, group)
    in_group = group != UNKNOWN
    truth, predicted, group = truth[in_group], predicted[in_group], group[in_group]
    labels = _labels(truth, predicted)
    is_label = pd.DataFrame(truth[:, None] == labels, columns=labels)
    says_label = pd.DataFrame(predicted[:, None] == labels, columns=labels, dtype=float)
    rates = says_label.groupby(group).mean()
    true_positive_rates = says_label.where(is_label).groupby(group).mean()
    false_positive_rates = says_label.where(~is_label).groupby(group).mean()
    undefined = (true_positive_rates.isna() | false_positive_rates.isna()).any()
    if undefined.any():
        warn(
            "some group has only images with, or none with, label "
            f"{listed(labels[undefined])}: no rates there (NaN)"
        )
    opportunity = _gap(true_positive_rates)
    false_positive_gap = _gap(false_positive_rates)
    gaps = {
        "demographic_parity": _gap(rates),
        "equal_opportunity": opportunity.mask(undefined),
        "equalized_odds": np.maximum(opportunity, false_positive_gap).mask(undefined),
    }
    return xr.Dataset({name: (LABEL, gap) for name, gap in gaps.items()}, {LABEL: labels})


def _gap(rates):
    """Largest difference between groups, for every label."""
    return rates.max() - rates.min()


def cohort_spread(
    truth: ArrayLike, predicted: ArrayLike, group: ArrayLike, *, score: ArrayLike | None = None
) -> xr.Dataset:
    """Metrics of a classifier within each cohort, and how far they spread.

    Parameters
    ----------
    truth, predicted : array-like (n,)
        The true and the predicted label of each image. There are two labels; the second one in
        sorted order is positive.
    group : array-like (n,)
        The cohort of each image. Images without one count in `overall` alone, with a warning.
    score : array-like (n,), optional
        Larger means that the positive label is likelier. Without scores there is no AUC and no
        average precision.

    Returns
    -------
    xr.Dataset
        `value` (metric, group): accuracy, false_positive_rate, f1, auc, average_precision.
        `overall` (metric): the same of all images; `mean`, `sd` (ddof 1) and `range` (metric) over
        the groups. NaN, with a warning, where a cohort lacks a label.

    Raises
    ------
    InputError
        If lengths differ, there is a single group, there are not two labels, or a score is missing.

    References
    ----------
    Li & Abd-Almageed (2021), Table I (accuracy across cohorts), Tables III and IV.

    Examples
    --------
    >>> result = cohort_spread([0, 1, 0, 1], [0, 1, 1, 1], ["a", "a", "b", "b"])
    >>> result.value.sel(metric="accuracy").values.tolist()
    [1.0, 0.5]
    """
    require_same_images(truth=truth, predicted=predicted, group=group, score=score)
    truth, predicted, group, cohorts = _checked(truth, predicted, group)
    labels = _labels(truth, predicted)
    require(len(labels) == 2, f"cohorts are compared for two labels, got {listed(labels)}")
    columns = {"truth": truth == labels[1], "predicted": predicted == labels[1]}
    if score is not None:
        score = real_numbers("score", score)
        same_shape = score.shape == truth.shape
        require(same_shape, f"score must have shape {truth.shape}, one each, got {score.shape}")
        columns["score"] = score
        rows = np.flatnonzero(~np.isfinite(score))
        message = f"score is NaN or infinite in {len(rows)} image(s), the first is {rows[:1]}"
        require(len(rows) == 0, f"{message} (counted from 0); leave these images out")
    images = pd.DataFrame(columns)
    overall = _metrics(images)
    table = pd.DataFrame([_metrics(images[group == name]) for name in cohorts], cohorts)
    if table.isna().any(axis=None):
        warn(
            "a cohort lacks a label, so some of its metrics are not defined (NaN); "
            "the spread leaves it out"
        )
    return xr.Dataset(
        {
            "value": xr.DataArray(table.T, dims=(METRIC, "group")),
            "overall": (METRIC, list(overall.values())),
            "mean": (METRIC, table.mean()),
            "sd": (METRIC, table.std()),
            "range": (METRIC, table.max() - table.min()),
        }
    )


def _metrics(images):
    """Metrics of one cohort, a table of truth, predicted and score; NaN if they are not defined."""
    truth, predicted = images["truth"], images["predicted"]
    metrics = {
        "accuracy": (truth == predicted).mean(),
        "false_positive_rate": predicted[~truth].mean(),
        "f1": f1_score(truth, predicted, zero_division=np.nan),
    }
    if "score" in images:
        has_both = truth.any() and not truth.all()
        metrics["auc"] = metrics["average_precision"] = np.nan
        if has_both:
            metrics["auc"] = roc_auc_score(truth, images["score"])
            metrics["average_precision"] = average_precision_score(truth, images["score"])
    return metrics


def bias_amplification(
    train_truth: ArrayLike, train_group: ArrayLike, predicted: ArrayLike, group: ArrayLike
) -> xr.Dataset:
    """How much more a model's predictions tie labels to groups than its training labels do.

    The bias of a label towards a group is the group's share of the images with that label. A label
    counts for the groups whose share in the training data is above 1/groups.

    A label that is never predicted has no test share. It is left out of both means, with a
    warning, because shares of 0 would make a model that predicts fewer labels seem to amplify
    less. A label that only the predictions have is left out, too.

    Parameters
    ----------
    train_truth, train_group : array-like (n_train,)
        True labels and groups of the training images. Labels may be a 0/1 array (n_train, tasks)
        instead; then each task is a label.
    predicted, group : array-like (n,)
        Predicted labels, or (n, tasks), and groups of the test images. Images without a group are
        left out, in training and test, with a warning.

    Returns
    -------
    xr.Dataset
        `train` and `test` (label, group): the shares. `amplification`: mean over labels of test
        minus train, summed over the groups that dominate in training. `bias_score`: mean over
        labels of the largest test share, which is what the paper's "BA" columns contain; 1/groups
        would be balance where the groups are equal. The attr `never_predicted` names the
        labels that were left out.

    Raises
    ------
    InputError
        If lengths differ, a test group is not in training, or no label of training is predicted.

    References
    ----------
    Zhao et al. (2017); Li & Abd-Almageed (2021), Tables III and IV.

    Examples
    --------
    >>> train_group, group = ["f", "f", "f", "m"], ["f", "f", "f", "f"]
    >>> result = bias_amplification(["cook"] * 4, train_group, ["cook"] * 4, group)
    >>> result.amplification.item(), result.bias_score.item()
    (0.25, 1.0)
    """
    require_same_images(train_truth=train_truth, train_group=train_group)
    require_same_images(predicted=predicted, group=group)
    given_train_group = train_group
    train_group = groups_of("train_group", train_group)
    group = groups_of("group", group)
    groups = reading_order(train_group, given_train_group)
    require_two("group of the training image", groups)
    extra = np.setdiff1d(group, [*groups, UNKNOWN])
    require(
        extra.size == 0,
        f"groups {listed(extra)} are not among the training images; leave these images out",
    )
    train_truth = checked_labels("train_truth", train_truth, tasks=True)
    predicted = checked_labels("predicted", predicted, tasks=True)
    require_same_tasks(train_truth=train_truth, predicted=predicted)
    train = _shares(train_truth, train_group, groups)
    test = _shares(predicted, group, groups)
    labels = train[LABEL].values
    test = test.reindex({LABEL: labels})
    never = test.isnull().all("group")
    require(
        not never.all(),
        "no label of the training images is ever predicted; are these the same labels?",
    )
    dominant = train > 1 / len(groups)
    excess = (test - train).where(dominant).sum("group").where(~never)
    result = xr.Dataset(
        {
            "train": train,
            "test": test,
            "amplification": excess.mean(LABEL),
            "bias_score": test.max("group").mean(LABEL),
        }
    )
    if never.any():
        warn(f"labels {listed(labels[never])} are never predicted; they are left out")
        result.attrs["never_predicted"] = labels[never].tolist()
    return result


def _shares(labels, group, groups):
    """Share of each group among the images with each label; NaN for a label that no image has."""
    in_group = group != UNKNOWN
    labels, group = labels[in_group], group[in_group]
    if labels.ndim == 1:
        names = np.unique(labels)
        has_label = labels[:, None] == names
    else:
        names = np.arange(labels.shape[1])
        has_label = labels.astype(bool)
    counts = pd.DataFrame(has_label).groupby(group).sum().reindex(groups, fill_value=0)
    shares = counts / counts.sum()
    return xr.DataArray(shares.T.to_numpy(), {LABEL: names, "group": groups})


def _checked(truth, predicted, group):
    """The three columns, checked and of equal length, and the names of the groups."""
    require_same_images(truth=truth, predicted=predicted, group=group)
    truth = checked_labels("truth", truth)
    predicted = checked_labels("predicted", predicted)
    given = group
    group = groups_of("group", given)
    require_same_kind(truth, predicted)
    groups = reading_order(group, given)
    require_two("group", groups)
    return truth, predicted, group, groups


def _labels(truth, predicted):
    """All labels, sorted; two at least."""
    labels = np.union1d(truth, predicted)
    require_two("label", labels)
    return labels


# --- checks of labels -----------------------------------------------------------------------------


def checked_labels(name, values, *, tasks=False):
    """Return labels (n,), one for each image; with tasks, (n, tasks) is allowed too."""
    labels = np.asanyarray(values)
    rows = np.flatnonzero(clean_labels(labels.ravel(), labels.size, name) == UNKNOWN)
    message = f"{name} is missing, or NaN, in {len(rows)} place(s), the first is {rows[:1]}"
    require(len(rows) == 0, f"{message} (counted from 0); leave these images out of all arguments")
    if labels.dtype.kind == "O":  # columns of pandas
        labels = np.array(labels.tolist())
    require(
        1 <= labels.ndim <= 1 + tasks and labels.dtype.kind in "biufUS",
        f"{name} must be one number or text for each image, got shape {labels.shape} of "
        f"{labels.dtype}",
    )
    return labels


def groups_of(name, values):
    """Return the group of each image as text, "unknown" where it is missing, with a warning."""
    groups = clean_labels(values, np.size(values), name)
    n_missing = np.count_nonzero(groups == UNKNOWN)
    if n_missing > 0:
        warn(f"{n_missing} of {len(groups)} images have no {name}; they are in no group")
    return groups


def require_same_images(**columns):
    """Refuse columns of unequal length, and of pandas with indexes that differ; None is left out.

    Columns are joined by position.
    """
    columns = {name: values for name, values in columns.items() if values is not None}
    for name, values in columns.items():
        is_tree = isinstance(values, (xr.Dataset, xr.DataTree))
        require(not is_tree, f"{name} must be labels of the images, got {type(values).__name__}")
    lengths = {name: np.shape(values)[:1] for name, values in columns.items()}
    require(
        len(set(lengths.values())) == 1,
        f"values of the images must be of equal length, got {lengths}",
    )
    pandas_types = (pd.Series, pd.DataFrame)
    orders = [values.index for values in columns.values() if isinstance(values, pandas_types)]
    require(
        all(order.equals(orders[0]) for order in orders),
        f"the indexes of {', '.join(columns)} differ; give all of them the same index, or none "
        "(.to_numpy())",
    )


def require_same_kind(truth, predicted):
    """Refuse labels that can never be equal, such as 1 and "1"."""
    require(
        (truth.dtype.kind in "US") == (predicted.dtype.kind in "US"),
        f"true and predicted labels are of different kinds, {truth.dtype} and {predicted.dtype}, "
        "so none would be right; convert one with .astype(...)",
    )


def require_same_tasks(**labels):
    """Refuse labels with tasks, unequal numbers of tasks, and tasks that are not 0 or 1."""
    first, second = labels.values()
    values = {*first.ravel().tolist(), *second.ravel().tolist()}
    require(
        first.shape[1:] == second.shape[1:] and (first.ndim == 1 or values <= {0, 1}),
        f"{' and '.join(labels)} must both be labels, (n,), or both 0 or 1 for the same tasks, (n, "
        f"tasks); got shapes {first.shape} and {second.shape}",
    )


def require_two(noun, names):
    """Refuse a single label or group, which can be compared with nothing."""
    require(
        len(names) >= 2,
        f"two {noun}s or more are needed, got {listed(names)}; nothing can be compared",
    )
