"""Real data that everybody has: handwritten digits of scikit-learn, against its own ROC curve."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score, roc_curve

import frkit as fk


@pytest.fixture(scope="module")
def digits():
    """600 scanned digits as embeddings of 10 "people", the digits, written by many hands."""
    images, digit = load_digits(return_X_y=True)
    return fk.faces(images[:600], digit[:600].astype(str))


def test_rates_are_those_of_scikit_learn(digits):
    scores = fk.score_tensor(digits)
    evaluation = fk.evaluate(scores, far=[0.001, 0.01, 0.1], weighting="pair", histogram=4000)
    rates = evaluation["empirical"]
    row, col = np.triu_indices(600, 1)
    genuine = digits.identity.values[row] == digits.identity.values[col]
    score = scores.values[row, col]
    fpr, tpr, _ = roc_curve(genuine, score, drop_intermediate=False)
    for level in (0.001, 0.01, 0.1):
        place = np.flatnonzero(fpr <= level)[-1]
        at_level = rates.sel(far_level=level)
        assert at_level.far == pytest.approx(fpr[place])
        assert at_level.frr == pytest.approx(1 - tpr[place], abs=1e-9)
    nearest = np.argmin(abs(1 - tpr - fpr))
    assert rates.eer == pytest.approx(fpr[nearest], abs=1e-3)
    assert rates.auc == pytest.approx(roc_auc_score(genuine, score), abs=1e-4)


def test_an_interval_for_new_digits_is_wider_than_for_new_images_of_these(digits):
    """Ten digits say little about an eleventh one."""
    evaluation = fk.evaluate(fk.score_tensor(digits), far=[0.01])
    new = fk.band(evaluation, "frr", target="new people")
    these = fk.band(evaluation, "frr", target="these people")
    assert (new.upper - new.lower) > 2 * (these.upper - these.lower)
