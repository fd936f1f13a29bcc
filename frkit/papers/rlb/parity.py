"""Bias read from predicted labels: gaps between groups, and metrics across cohorts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from frkit.base import UNKNOWN, listed, real_numbers, refuse_infinite, require, warn
from frkit.data.labels import clean_labels, reading_order


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
    images, _ = _decisions(group, truth=truth, predicted=predicted)
    images = images[images.group != UNKNOWN]
    gaps = {}
    for label in _labels(images):
        is_predicted = (images.predicted == label).astype(float)
        is_label = images.truth == label
        rates = pd.DataFrame(
            {
                "predicted": is_predicted,
                "true_positive": is_predicted.where(is_label),
                "false_positive": is_predicted.where(~is_label),
            }
        )
        rates = rates.groupby(images.group).mean()
        gap = rates.max() - rates.min()
        if rates.isna().any(axis=None):
            warn(f"some group has only images with, or none with, label {label!r}: NaN there")
            gap[["true_positive", "false_positive"]] = np.nan
        gaps[label] = {
            "demographic_parity": gap.predicted,
            "equal_opportunity": gap.true_positive,
            "equalized_odds": np.maximum(gap.true_positive, gap.false_positive),
        }
    table = xr.Dataset.from_dataframe(pd.DataFrame(gaps).T.rename_axis("label"))
    return table.assign_attrs(kind="representation.parity_gaps")


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
        `overall` (metric): the same of all images; `sd` (metric): standard deviation over the
        groups (ddof 1). NaN, with a warning, where a cohort lacks a label.

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
    of_score = {} if score is None else {"score": score}
    images, groups = _decisions(group, truth=truth, predicted=predicted, **of_score)
    labels = _labels(images)
    require(len(labels) == 2, f"cohorts are compared for two labels, got {listed(labels)}")
    if score is not None:
        refuse_infinite(real_numbers("score", images.score))
    images[["truth", "predicted"]] = images[["truth", "predicted"]] == labels[1]
    by_group = {name: _metrics(images[images.group == name]) for name in groups}
    values = pd.DataFrame(by_group).rename_axis("metric").rename_axis("group", axis=1)
    if values.isna().any(axis=None):
        warn(
            "a cohort lacks a label, so some of its metrics are not defined (NaN); "
            "the spread leaves it out"
        )
    over_groups = pd.DataFrame({"overall": _metrics(images), "sd": values.std(axis=1)})
    table = xr.Dataset.from_dataframe(over_groups.rename_axis("metric")).assign(value=values)
    return table.assign_attrs(kind="representation.cohort_spread")


def _metrics(images):
    """Metrics of one cohort, a table of truth, predicted and score; NaN if they are not defined."""
    truth, predicted = images.truth, images.predicted
    metrics = {
        "accuracy": (truth == predicted).mean(),
        "false_positive_rate": predicted[~truth].mean(),
        "f1": f1_score(truth, predicted, zero_division=np.nan),
    }
    if "score" in images:
        of_scores = {"auc": roc_auc_score, "average_precision": average_precision_score}
        has_both = truth.nunique() == 2
        for name, metric in of_scores.items():
            metrics[name] = metric(truth, images.score) if has_both else np.nan
    return pd.Series(metrics)


def _decisions(group, **columns):
    """Return a table of images with their groups, and the names of these in their order.

    Columns are joined by position, so those of pandas must have one index. Only a group may be
    missing; it is "unknown" then, with a warning.
    """
    everything = {**columns, "group": group}
    for name, values in everything.items():
        is_tree = isinstance(values, (xr.Dataset, xr.DataTree))
        require(not is_tree, f"{name} must be labels of the images, got {type(values).__name__}")
    shapes = {name: np.shape(values) for name, values in everything.items()}
    require(
        len(shapes["group"]) == 1 and len({*shapes.values()}) == 1,
        "one value for each image is needed, shape (n,), and all of equal length, got shapes "
        f"{shapes}",
    )
    indexes = [values.index for values in everything.values() if isinstance(values, pd.Series)]
    require(
        all(index.equals(indexes[0]) for index in indexes),
        f"the indexes of {', '.join(everything)} differ; give all of them the same index, or none "
        "(.to_numpy())",
    )
    complete = {name: _complete(name, values) for name, values in columns.items()}
    is_text = {complete[name].dtype.kind in "US" for name in ("truth", "predicted")}
    require(
        len(is_text) == 1,
        "true and predicted labels are of different kinds, text and numbers, so none would be "
        "right; convert one with .astype(...)",
    )
    images = pd.DataFrame(complete)
    images["group"] = clean_labels(group, len(images), "group")
    n_missing = (images.group == UNKNOWN).sum()
    if n_missing > 0:
        warn(f"{n_missing} of {len(images)} images have no group; they are in no group")
    names = reading_order(images.group.values, group)
    require(len(names) >= 2, f"two groups or more are compared, got {listed(names)}")
    return images, names


def _complete(name, values):
    """Numbers or texts (n,), one for each image; none may be missing."""
    labels = np.asanyarray(values)
    rows = np.flatnonzero(clean_labels(labels, labels.size, name) == UNKNOWN)
    require(
        len(rows) == 0,
        f"{name} is missing, or NaN, in {len(rows)} place(s), the first is {rows[:1]} (counted "
        "from 0); leave these images out of all arguments",
    )
    if labels.dtype.kind == "O":  # columns of pandas
        labels = np.array(labels.tolist())
    require(
        labels.dtype.kind in "biufUS",
        f"{name} must be numbers or texts, got {labels.dtype}",
    )
    return labels


def _labels(images):
    """Return all labels, true and predicted, in their order."""
    labels = np.union1d(images.truth, images.predicted)
    require(len(labels) >= 2, f"two labels or more are needed, got {listed(labels)}")
    return labels
