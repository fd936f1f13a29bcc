"""Shallow predictors of an attribute, read on people they have not seen: accuracy, loss, dataset bias, leakage."""

from collections.abc import Iterator, Sequence

import numpy as np
import xarray as xr

from frkit.faces import listed, require
from frkit.representation.samples import Samples, clustered_error, entropy, for_each_model, samples


def probe(
    faces: xr.Dataset,
    attribute: str,
    *,
    folds: int = 5,
    by: str = "identity",
    hidden: Sequence[int] = (),
    penalty: float = 1.0,
    seed: int = 0,
) -> xr.Dataset:
    """How well a shallow predictor tells an attribute from an embedding, on people that it has not seen.

    This is the logits-level reading. Each image is predicted by a classifier fitted to the other folds. The same
    numbers in sample, of classifiers read on what they were fitted to, show how far they overfit.

    Parameters
    ----------
    faces : faces Dataset, dims image and feature (and model).
    attribute : name of the attribute, of two classes or more.
    folds : number of folds, 2 or more; every class needs as many people.
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
        an identity; folds below 2.

    References
    ----------
    Li & Abd-Almageed (2021), eq. 9 and Table II; Li & Vasconcelos (2019) for the dataset bias.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).rotated_copies().sample(per_identity=2)
    >>> found = fk.representation.probe(faces, "group", folds=2)
    >>> bool(found.accuracy < found.accuracy_in_sample)
    True
    """
    require(penalty > 0, f"penalty must be above 0, got {penalty}")
    classifier = _classifier(hidden, penalty, seed)
    return for_each_model(faces, lambda one: _read(samples(one, attribute, by), classifier, folds, by, seed))


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
    >>> bool(fk.representation.dataset_bias(faces, "group", folds=2) < 1)
    True
    """
    return probe(faces, attribute, **how)["dataset_bias"]


def splits(codes: np.ndarray, person: np.ndarray, folds: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Train and test rows of each fold: classes in equal shares, all images of a person in one fold."""
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    people = np.array([np.unique(person[codes == k]).size for k in range(codes.max() + 1)])
    require(folds >= 2, f"folds must be 2 or more, got {folds}")
    require(
        people.min() >= folds,
        f"{folds} folds need {folds} people or more in every class; the classes have {listed(people)}; use fewer "
        "folds, or leave rare classes out",
    )
    if np.unique(person).size == codes.size:  # the same folds in law, and much quicker
        return StratifiedKFold(folds, shuffle=True, random_state=seed).split(codes, codes)
    return StratifiedGroupKFold(folds, shuffle=True, random_state=seed).split(codes, codes, person)


def _classifier(hidden: Sequence[int], penalty: float, seed: int):
    """A scikit-learn classifier of standardised features."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if not hidden:
        return make_pipeline(StandardScaler(), LogisticRegression(C=1 / penalty, max_iter=5000))
    network = MLPClassifier(tuple(hidden), alpha=penalty, early_stopping=True, max_iter=500, random_state=seed)
    return make_pipeline(StandardScaler(), network)


def _read(given: Samples, classifier, folds: int, by: str, seed: int) -> xr.Dataset:
    """Held-out and in-sample accuracy and loss."""
    n, rows = given.codes.size, np.arange(given.codes.size)
    held_out, fitted = np.zeros((n, len(given.classes))), np.zeros((folds, n, len(given.classes)))
    for fold, (train, test) in enumerate(splits(given.codes, given.person, folds, seed)):
        classifier.fit(given.features[train], given.codes[train])
        held_out[test] = classifier.predict_proba(given.features[test])
        fitted[fold, train] = classifier.predict_proba(given.features[train])
    right, loss = _judge(held_out, given.codes, rows)
    seen = [_judge(one[inside], given.codes[inside], rows[: inside.sum()]) for one in fitted for inside in [one.any(1)]]
    h = entropy(given.codes)
    values = {
        "accuracy": right.mean(),
        "accuracy_se": clustered_error(right, given.person),
        "loss": loss.mean(),
        "loss_se": clustered_error(loss, given.person),
        "dataset_bias": 1 - loss.mean() / h,
        "dataset_bias_se": clustered_error(loss, given.person) / h,
        "accuracy_in_sample": np.mean([one.mean() for one, _ in seen]),
        "loss_in_sample": np.mean([one.mean() for _, one in seen]),
        "majority": np.bincount(given.codes).max() / n,
        "entropy": h,
    }
    return xr.Dataset(values, attrs={"folds": folds, "by": by, "n_images": n})


def _judge(probability: np.ndarray, codes: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether each image is named rightly, and its log loss."""
    right = (probability.argmax(1) == codes).astype(float)
    return right, -np.log(np.maximum(probability[rows, codes], np.finfo(float).tiny))
