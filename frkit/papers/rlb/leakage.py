"""Leakage: how well labels, and a model's predictions, predict a protected attribute."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from frkit.base import UNKNOWN, seed_sequence
from frkit.data.labels import complete_labels
from frkit.papers.rlb.decisions import indicators, require_comparable, table_of
from frkit.papers.rlb.problem import require_classes, stratified

FOLDS, SEED = 5, 0  # of the attacker's images


def leakage(
    truth: ArrayLike,
    predicted: ArrayLike,
    group: ArrayLike,
    *,
    identity: ArrayLike | None = None,
) -> xr.Dataset:
    """Dataset and model leakage: how well labels and predictions predict an attribute.

    An attacker, a logistic predictor with classes of equal weight, is fitted to one part of the
    images and predicts the attribute of the rest. Its balanced accuracy is the leakage; by chance
    it is 1/classes. Errors alone make a model leak less, so its leakage is compared with that of
    true labels with as many errors, placed at random.

    Parameters
    ----------
    truth, predicted : array-like (n,) or (n, tasks)
        True and predicted labels of each image; or 0 or 1 for each of several tasks.
    group : array-like (n,)
        The protected attribute's value of each image; images without one are left out, with a
        warning.
    identity : array-like (n,), optional
        People; all images of a person are then in one fold.

    Returns
    -------
    xr.Dataset
        `dataset_leakage`, `dataset_leakage_at_accuracy`, `model_leakage`, `amplification` (model
        leakage minus the one before), `accuracy` (of the model) and `chance`.

    Raises
    ------
    InputError
        If lengths differ, there is one class, or fewer than five people in a class.

    References
    ----------
    Wang et al. (2019), Balanced datasets are not enough; Li & Abd-Almageed (2021), Table I.

    Examples
    --------
    >>> result = leakage(["cook", "pilot"] * 20, ["cook", "pilot"] * 20, ["f", "m"] * 20)
    >>> result.dataset_leakage.item(), result.amplification.item()
    (1.0, 0.0)
    """
    images = table_of(truth=truth, predicted=predicted, group=group)
    require_comparable(images.truth, images.predicted)
    n_images = images.sizes["image"]
    if identity is None:
        identity = np.arange(n_images)
    images["identity"] = "image", complete_labels(identity, n_images, "identity")
    images = images.isel(image=images.group != UNKNOWN)
    truth, predicted = images.truth.values, images.predicted.values
    classes, codes = np.unique(images.group, return_inverse=True)
    _, person = np.unique(images.identity, return_inverse=True)
    require_classes("group", classes, codes, person, FOLDS)
    splits = list(stratified(codes, person, FOLDS, SEED))
    correct = truth == predicted
    rng = np.random.default_rng(seed_sequence(SEED))
    at_accuracy = _attack(_spoiled(truth, correct, rng), codes, splits)
    model_leakage = _attack(predicted, codes, splits)
    return xr.Dataset(
        {
            "dataset_leakage": _attack(truth, codes, splits),
            "dataset_leakage_at_accuracy": at_accuracy,
            "model_leakage": model_leakage,
            "amplification": model_leakage - at_accuracy,
            "accuracy": correct.mean(),
            "chance": 1 / len(classes),
        }
    )


def _spoiled(truth, correct, rng):
    """True labels with as many errors as the model makes, placed at random."""
    wrong = rng.permuted(~correct, axis=0)
    if truth.ndim == 2:
        return truth.astype(bool) ^ wrong
    labels, codes = np.unique(truth, return_inverse=True)
    other = codes + rng.integers(1, len(labels), len(codes))
    return labels[np.where(wrong, other % len(labels), codes)]


def _attack(labels, codes, splits):
    """Balanced accuracy of a predictor of the classes on images that it was not trained on.

    It sees a column for each label, or each task.
    """
    _, columns = indicators(labels)
    attacker = make_pipeline(
        StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=5000)
    )
    guesses = cross_val_predict(attacker, columns.astype(float), codes, cv=splits)
    return float(balanced_accuracy_score(codes, guesses))
