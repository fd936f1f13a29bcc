"""Leakage: how well an attribute can be told from labels, and from a model's predictions."""

import numpy as np
import xarray as xr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from frkit.base import require
from frkit.representation.decisions import checked_labels
from frkit.representation.problem import stratified


def leakage(truth, predicted, protected, *, identity=None, folds: int = 5, seed: int = 0) -> xr.Dataset:
    """Dataset leakage and model leakage: how well a protected attribute is told from labels and from predictions.

    An attacker, a logistic predictor with classes weighed equally, is fitted to one part of the images and read on
    the rest: its balanced accuracy is the leakage, 1/classes by chance. A model that errs leaks less merely by its
    errors, so its leakage is compared with that of true labels of which as many are replaced at random.

    Parameters
    ----------
    truth, predicted : array-like (n,), the true and the predicted label of each image; two labels or more.
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
    truth, predicted, protected, _ = checked_labels(truth, predicted, protected)
    classes, codes = np.unique(protected.astype(str), return_inverse=True)
    person = np.arange(codes.size) if identity is None else np.unique(np.asarray(identity), return_inverse=True)[1]
    require(person.size == codes.size, f"identity must be given for each of the {codes.size} images, got {person.size}")
    people = [np.unique(person[codes == k]).size for k in range(len(classes))]
    rare = int(np.argmin(people))
    require(
        2 <= folds <= people[rare],
        f"folds must be 2 or more, and at most the {people[rare]} people of class {classes[rare]!r}; got {folds}",
    )
    fold_rows = list(stratified(codes, person, folds, seed))
    spoiled = _spoiled(truth, truth != predicted, np.random.default_rng(np.random.SeedSequence(seed)))
    seen = {"dataset_leakage": truth, "dataset_leakage_at_accuracy": spoiled, "model_leakage": predicted}
    values = {name: _attack(given, codes, fold_rows) for name, given in seen.items()}
    values["amplification"] = values["model_leakage"] - values["dataset_leakage_at_accuracy"]
    return xr.Dataset(values | {"accuracy": (truth == predicted).mean(), "chance": 1 / len(classes)})


def _spoiled(truth: np.ndarray, wrong: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """True labels of which as many are wrong as the model has wrong, at places chosen at random."""
    labels, codes = np.unique(truth, return_inverse=True)
    places = rng.permuted(wrong)
    moved = (codes + rng.integers(1, max(labels.size, 2), codes.size)) % labels.size
    return labels[np.where(places, moved, codes)]


def _attack(labels: np.ndarray, codes: np.ndarray, fold_rows: list) -> float:
    """Balanced accuracy on images not seen before; the attacker sees labels as one column each."""
    columns = (labels[:, None] == np.unique(labels)).astype(float)
    attacker = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=5000))
    guessed = np.empty_like(codes)
    for train, test in fold_rows:
        guessed[test] = attacker.fit(columns[train], codes[train]).predict(columns[test])
    return float(balanced_accuracy_score(codes, guessed))
