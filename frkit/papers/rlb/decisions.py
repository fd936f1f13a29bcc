"""Bias amplification: how much more predictions tie labels to groups than the training labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import UNKNOWN, listed, require, warn
from frkit.data.labels import clean_labels, reading_order

LABEL = "label"


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
        would be balance where the groups are equal. Labels that were left out have no test share.

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
    train = table_of(train_truth=train_truth, train_group=train_group)
    test = table_of(predicted=predicted, group=group)
    groups = reading_order(train.train_group.values, train_group)
    require(len(groups) >= 2, f"two groups or more are compared, got {listed(groups)} in training")
    extra = np.setdiff1d(test.group, [*groups, UNKNOWN])
    require(
        extra.size == 0,
        f"groups {listed(extra)} are not among the training images; leave these images out",
    )
    require_comparable(train.train_truth, test.predicted)
    train_shares = _shares(train.train_truth, train.train_group, groups)
    labels = train_shares[LABEL].values
    test_shares = _shares(test.predicted, test.group, groups).reindex({LABEL: labels})
    never = test_shares.isnull().all("group")
    require(
        not never.all(),
        "no label of the training images is ever predicted; are these the same labels?",
    )
    dominant = train_shares > 1 / len(groups)
    excess = (test_shares - train_shares).where(dominant).sum("group").where(~never)
    if never.any():
        warn(f"labels {listed(labels[never])} are never predicted; they are left out")
    return xr.Dataset(
        {
            "train": train_shares,
            "test": test_shares,
            "amplification": excess.mean(LABEL),
            "bias_score": test_shares.max("group").mean(LABEL),
        }
    )


def _shares(labels, group, groups):
    """Share of each group among the images with each label; NaN for a label that no image has."""
    in_group = group.values != UNKNOWN
    names, has_label = indicators(labels.values[in_group])
    counts = pd.DataFrame(has_label).groupby(group.values[in_group]).sum()
    counts = counts.reindex(groups, fill_value=0)
    shares = counts / counts.sum()
    return xr.DataArray(shares.T.to_numpy(), {LABEL: names, "group": groups})


def indicators(labels):
    """Names of labels (n,), or numbers of tasks (n, tasks), and whether each image has them."""
    if labels.ndim == 2:
        return np.arange(labels.shape[1]), labels.astype(bool)
    names = np.unique(labels)
    return names, labels[:, None] == names


# --- the table of images --------------------------------------------------------------------------


def table_of(**columns):
    """Return a Dataset over image of labels and, last, of their groups.

    Labels are (n,) or, of tasks, (n, tasks). Columns are joined by position, so those of pandas
    must have one index. Only a group may be missing; it is "unknown" then, with a warning.
    """
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
    *labels, group = columns
    groups = clean_labels(columns[group], np.size(columns[group]), group)
    n_missing = np.count_nonzero(groups == UNKNOWN)
    if n_missing > 0:
        warn(f"{n_missing} of {len(groups)} images have no {group}; they are in no group")
    table = {name: _checked_labels(name, columns[name]) for name in labels}
    return xr.Dataset({**table, group: ("image", groups)})


def _checked_labels(name, values):
    """Return the dims of labels, (n,) or (n, tasks), and the labels; none may be missing."""
    labels = np.asanyarray(values)
    rows = np.flatnonzero(clean_labels(labels.ravel(), labels.size, name) == UNKNOWN)
    message = f"{name} is missing, or NaN, in {len(rows)} place(s), the first is {rows[:1]}"
    require(len(rows) == 0, f"{message} (counted from 0); leave these images out of all arguments")
    if labels.dtype.kind == "O":  # columns of pandas
        labels = np.array(labels.tolist())
    require(
        1 <= labels.ndim <= 2 and labels.dtype.kind in "biufUS",
        f"{name} must be one number or text for each image, got shape {labels.shape} of "
        f"{labels.dtype}",
    )
    return ("image", f"task of {name}")[: labels.ndim], labels


def require_comparable(truth, predicted):
    """Refuse labels that can never be equal, such as 1 and "1", and tasks that are not 0 or 1."""
    require(
        (truth.dtype.kind in "US") == (predicted.dtype.kind in "US"),
        f"true and predicted labels are of different kinds, {truth.dtype} and {predicted.dtype}, "
        "so none would be right; convert one with .astype(...)",
    )
    is_binary = truth.ndim == 1 or bool(truth.isin([0, 1]).all() & predicted.isin([0, 1]).all())
    require(
        truth.shape[1:] == predicted.shape[1:] and is_binary,
        "true and predicted labels must both be labels, (n,), or both 0 or 1 for the same tasks, "
        f"(n, tasks); got shapes {truth.shape} and {predicted.shape}",
    )
