"""Shallow predictors of an attribute, read on people they have not seen: accuracy, loss, dataset bias, leakage."""

import warnings
from collections.abc import Sequence

import numpy as np
import xarray as xr
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from frkit.base import require
from frkit.representation.problem import (
    Problem,
    entropy,
    for_each_model,
    standard_error,
    stratified,
)


def probe(
    faces: xr.Dataset,
    attribute: str | tuple[str, ...],
    *,
    folds: int = 5,
    by: str = "identity",
    hidden: Sequence[int] = (),
    penalty: float = 10.0,
    seed: int = 0,
) -> xr.Dataset:
    """How well a shallow predictor tells an attribute from an embedding, on people that it has not seen.

    This is the logits-level reading. Each image is predicted by a classifier fitted to the other folds. The same
    numbers in sample, of classifiers read on what they were fitted to, show how far they overfit.

    Parameters
    ----------
    faces : faces Dataset, dims image and feature (and model).
    attribute : name of the attribute, of two classes or more; a tuple crosses its attributes.
    folds : number of folds, 3 or more; every class needs as many people.
    by : "identity" keeps all images of a person in one fold; "image" does not.
    hidden : widths of hidden layers; none is a linear (logistic) predictor.
    penalty : weight of the squared coefficients against the sum of the losses of all images, above 0.
    seed : non-negative integer, for folds and networks.

    Returns
    -------
    xr.Dataset
        `accuracy`, `loss` (cross entropy, nats), `dataset_bias` (1 - loss/entropy; never clipped) with standard
        errors `accuracy_se`, `loss_se`, `dataset_bias_se` over people; `accuracy_in_sample`, `loss_in_sample`;
        `majority` (accuracy of always naming the largest class) and `entropy` (nats). Dimension model where the
        faces have it.

    Raises
    ------
    InputError : an attribute with one class, or with fewer people than folds in a class, or one that varies within
        an identity; folds below 3; features that are not finite.

    References
    ----------
    Li & Abd-Almageed (2021), eq. 9 and Table II; Li & Vasconcelos (2019) for the dataset bias.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).rotated_copies().sample(per_identity=2)
    >>> found = fk.representation.probe(faces, "group", folds=3)
    >>> bool(found.accuracy < found.accuracy_in_sample)
    True
    """
    require(penalty > 0, f"penalty must be above 0, got {penalty}")
    network = MLPClassifier(
        tuple(hidden), solver="lbfgs", alpha=penalty, max_iter=200, random_state=seed
    )
    predictor = network if hidden else LogisticRegression(C=1 / penalty, max_iter=5000)
    classifier = make_pipeline(StandardScaler(), predictor)
    return for_each_model(
        faces, attribute, by, lambda x, one: _read(x, one, classifier, folds, seed), folds
    )


def dataset_bias(faces: xr.Dataset, attribute: str, **how) -> xr.DataArray:
    """The dataset bias 1 - CE/H: share of an attribute's entropy that a shallow predictor removes.

    Parameters
    ----------
    faces : faces Dataset; its `embedding` may hold any feature, such as the colour of a digit.
    attribute : what is to be predicted.
    **how : folds, by, hidden, penalty and seed, as in `probe`.

    Returns
    -------
    xr.DataArray : at most 1; below 0 where the predictor does worse than the class shares. Dimension model where
        the faces have it. `probe` returns it with its standard error.

    Raises
    ------
    InputError : as `probe`.

    References
    ----------
    Li & Vasconcelos (2019), REPAIR; Li & Abd-Almageed (2021), Fig. 3.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).rotated_copies().sample(per_identity=2)
    >>> bool(fk.representation.dataset_bias(faces, "group", folds=3) < 1)
    True
    """
    return probe(faces, attribute, **how)["dataset_bias"]


def fit(classifier: ClassifierMixin, features: np.ndarray, labels: np.ndarray) -> ClassifierMixin:
    """The classifier, fitted; the number of a network's passes is fixed on purpose, so that nothing warns of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return classifier.fit(features, labels)


def _read(x: np.ndarray, one: Problem, classifier, folds: int, seed: int) -> xr.Dataset:
    """Held-out and in-sample accuracy and loss."""
    held_out, seen = np.empty((2, len(x))), []
    for train, test in stratified(one.z, one.person, folds, seed):
        fit(classifier, x[train], one.z[train])
        held_out[:, test] = _judged(classifier, x[test], one.z[test])
        seen.append(_judged(classifier, x[train], one.z[train]).mean(1))
    (accuracy, loss), (accuracy_seen, loss_seen) = held_out.mean(1), np.mean(seen, axis=0)
    accuracy_se, loss_se = (
        standard_error(values - values.mean(), one.person) for values in held_out
    )
    h = entropy(one.shares)
    values = {"accuracy": accuracy, "accuracy_se": accuracy_se, "loss": loss, "loss_se": loss_se}
    values |= {"dataset_bias": 1 - loss / h, "dataset_bias_se": loss_se / h}
    values |= {"accuracy_in_sample": accuracy_seen, "loss_in_sample": loss_seen}
    values |= {"majority": one.shares.max(), "entropy": h}
    return xr.Dataset(values, attrs={"folds": folds, "n_images": len(x)})


def _judged(classifier: ClassifierMixin, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Whether each image is named rightly, and its log loss: (2, rows)."""
    log_probability = classifier.predict_log_proba(x)
    return np.stack([log_probability.argmax(1) == z, -log_probability[np.arange(len(z)), z]])
