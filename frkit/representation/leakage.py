"""Leakage: how well an attribute can be told from labels, and from a model's predictions."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from frkit.base import require
from frkit.representation.decisions import check_kinds
from frkit.representation.problem import stratified


def leakage(
    truth: ArrayLike,
    predicted: ArrayLike,
    protected: ArrayLike,
    *,
    identity: ArrayLike | None = None,
    folds: int = 5,
    seed: int = 0,
) -> xr.Dataset:
    """Dataset leakage and model leakage: how well a protected attribute is told from labels and from predictions.

    An attacker, a logistic predictor with classes weighed equally, is fitted to one part of the images and read on
    the rest: its balanced accuracy is the leakage, 1/classes by chance. A model that errs leaks less merely by its
    errors, so its leakage is compared with that of true labels of which as many are replaced at random.

    Parameters
    ----------
    truth : array-like (n,) of labels, or (n, tasks) of 0/1.
    predicted : the model's predictions in the same form; or its scores, which leak more: (n, labels), of which the
        largest names the label (in sorted order), or (n, tasks) of probabilities in [0, 1] or of logits.
    protected : array-like (n,), the protected attribute of each image.
    identity : array-like (n,), optional; images of a person are then kept in one fold.
    folds : number of folds, 2 or more.
    seed : non-negative integer, for folds and replaced labels.

    Returns
    -------
    xr.Dataset
        `dataset_leakage`, `dataset_leakage_at_accuracy`, `model_leakage`, `amplification` (model leakage minus the
        one before), `accuracy` (of the model) and `chance`.

    Raises
    ------
    InputError : lengths differ, one class, too few people for the folds.

    References
    ----------
    Wang et al. (2019), Balanced datasets are not enough; Li & Abd-Almageed (2021), Table I.

    Examples
    --------
    >>> found = leakage(["cook", "pilot"] * 20, ["cook", "pilot"] * 20, ["f", "m"] * 20)
    >>> found.dataset_leakage.item(), found.amplification.item()
    (1.0, 0.0)
    """
    classes, codes = np.unique(np.asarray(protected).astype(str), return_inverse=True)
    require(
        len(classes) >= 2,
        f"the protected attribute has one class, {classes[0]!r}: nothing can leak",
    )
    truth, predicted = np.asarray(truth), np.asarray(predicted)
    person = (
        np.arange(codes.size)
        if identity is None
        else np.unique(np.asarray(identity), return_inverse=True)[1]
    )
    lengths = [len(truth), len(predicted), codes.size, person.size]
    require(
        len(set(lengths)) == 1,
        f"truth, predicted, protected and identity must be of equal length, got {lengths}",
    )
    people = [np.unique(person[codes == k]).size for k in range(len(classes))]
    rare = int(np.argmin(people))
    most = f"at most the {people[rare]} people of class {classes[rare]!r}"
    require(2 <= folds <= people[rare], f"folds must be 2 or more, and {most}; got {folds}")
    fold_rows = list(stratified(codes, person, folds, seed))
    correct = _correct(truth, predicted)
    spoiled = _spoiled(truth, correct, np.random.default_rng(np.random.SeedSequence(seed)))
    seen = {
        "dataset_leakage": truth,
        "dataset_leakage_at_accuracy": spoiled,
        "model_leakage": predicted,
    }
    values = {name: _attack(labels, codes, fold_rows) for name, labels in seen.items()}
    values["amplification"] = values["model_leakage"] - values["dataset_leakage_at_accuracy"]
    return xr.Dataset(values | {"accuracy": correct.mean(), "chance": 1 / len(classes)})


def _correct(truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Which labels the model has right; scores name the label, or the tasks."""
    if truth.ndim == predicted.ndim == 1:
        check_kinds(truth, predicted)
        return truth == predicted
    if truth.ndim == 1:
        labels = np.unique(truth)
        require(
            predicted.shape[1] == labels.size,
            f"{labels.size} labels need as many scores, got {predicted.shape}",
        )
        return truth == labels[predicted.argmax(1)]
    require(
        truth.shape == predicted.shape,
        f"truth has shape {truth.shape}, predicted {predicted.shape}",
    )
    probabilities = predicted.min() >= 0 and predicted.max() <= 1
    return truth.astype(bool) == (predicted > (0.5 if probabilities else 0))


def _spoiled(truth: np.ndarray, correct: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """True labels of which as many are wrong as the model has wrong, at places chosen at random."""
    wrong = rng.permuted(~correct, axis=0)
    if truth.ndim == 2:
        return np.where(wrong, 1 - truth.astype(int), truth.astype(int))
    labels, codes = np.unique(truth, return_inverse=True)
    moved = (codes + rng.integers(1, max(labels.size, 2), codes.size)) % labels.size
    return labels[np.where(wrong, moved, codes)]


def _attack(labels: np.ndarray, codes: np.ndarray, fold_rows: list) -> float:
    """Balanced accuracy on images not seen before; the attacker sees labels as one column each, scores as they are."""
    columns = (
        labels.astype(float)
        if labels.ndim == 2
        else (labels[:, None] == np.unique(labels)).astype(float)
    )
    attacker = make_pipeline(
        StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=5000)
    )
    return float(
        balanced_accuracy_score(codes, cross_val_predict(attacker, columns, codes, cv=fold_rows))
    )
