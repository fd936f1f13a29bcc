"""A linear predictor of an attribute, evaluated on people who were not used in training."""

import numpy as np
import xarray as xr
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from frkit.papers.rlb.bounds import entropy, standard_error
from frkit.papers.rlb.problem import for_labelled_images, stratified

FOLDS, SEED = 5, 0
PENALTY = 10.0  # weight of the squared coefficients relative to the sum of all losses


def probe(faces: xr.Dataset, attribute: str | tuple[str, ...]) -> xr.Dataset:
    """How well a linear predictor predicts an attribute from an embedding, for unseen people.

    This is the paper's logits-level measure, with a logistic predictor. Each image is predicted by
    a classifier that was fitted to the other four of five folds of people. The same numbers in
    sample, on the images that the classifier was fitted to, show how far it overfits.

    Parameters
    ----------
    faces : xr.Dataset
        Faces with dims image and feature (and model).
    attribute : str or tuple of str
        Attribute of two classes or more; a tuple crosses its attributes.

    Returns
    -------
    xr.Dataset
        `accuracy`, `loss` (cross entropy, nats) and `dataset_bias` (1 - loss/entropy; never
        clipped), with standard errors `accuracy_se`, `loss_se` and `dataset_bias_se` over people;
        `accuracy_in_sample`, `loss_in_sample`; `majority` (accuracy of always naming the largest
        class) and `entropy` (nats). Over model where the faces have it.

    Raises
    ------
    InputError
        If an attribute has one class, fewer than five people in a class, or varies within an
        identity; if features are not finite.

    References
    ----------
    Li & Abd-Almageed (2021), eq. 9 and Table II; Li & Vasconcelos (2019) for the dataset bias.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).rotated_copies()
    >>> faces = mix.sample(per_identity=2)
    >>> result = fk.representation.probe(faces, "group")
    >>> bool(result.accuracy < result.accuracy_in_sample)
    True
    """
    predictor = LogisticRegression(C=1 / PENALTY, max_iter=5000)
    classifier = make_pipeline(StandardScaler(), predictor)
    return for_labelled_images(faces, attribute, FOLDS, _read, classifier)


def _read(x, problem, classifier):
    """Held-out and in-sample accuracy and loss."""
    z, person = problem.z, problem.person
    h = entropy(problem.shares)
    right, losses = np.empty((2, len(z)))
    in_sample = []
    for train, test in stratified(z, person, FOLDS, SEED):
        classifier.fit(x[train], z[train])
        right[test], losses[test] = _judged(classifier, x[test], z[test])
        in_sample.append(np.mean(_judged(classifier, x[train], z[train]), axis=1))
    accuracy_in_sample, loss_in_sample = np.mean(in_sample, axis=0)
    accuracy = right.mean()
    loss = losses.mean()
    loss_se = standard_error(losses - loss, person)
    values = {
        "accuracy": accuracy,
        "accuracy_se": standard_error(right - accuracy, person),
        "loss": loss,
        "loss_se": loss_se,
        "dataset_bias": 1 - loss / h,
        "dataset_bias_se": loss_se / h,
        "accuracy_in_sample": accuracy_in_sample,
        "loss_in_sample": loss_in_sample,
        "majority": problem.shares.max(),
        "entropy": h,
    }
    about = {"kind": "representation.probe", "folds": FOLDS, "n_images": len(x)}
    return xr.Dataset(values, attrs=about)


def _judged(classifier, x, z):
    """Whether each image is classified correctly, and its log loss."""
    log_probability = classifier.predict_log_proba(x)
    is_right = log_probability.argmax(axis=1) == z
    return is_right, -log_probability[np.arange(len(z)), z]
