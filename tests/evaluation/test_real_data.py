"""Rates known from elsewhere for real scores; the data stay outside the project."""

import numpy as np
import pytest
from paths import REAL_DATA

import frkit as fk

pytestmark = [
    pytest.mark.skipif(not REAL_DATA.is_dir(), reason=f"the real data are not here: {REAL_DATA}"),
    pytest.mark.filterwarnings("ignore::frkit.DataWarning"),
]
FAR = [1e-3, 1e-2]
KNOWN = {"facenet": (0.0138, [0.074, 0.018]), "insightface": (0.0449, [0.1466, 0.0724])}


@pytest.mark.slow
@pytest.mark.parametrize("encoder", KNOWN)
def test_known_rates_of_two_encoders(encoder):
    scores = fk.score_tensor(fk.open_data(REAL_DATA / f"lfw158_{encoder}.npz"))
    empirical = fk.evaluate(scores, far=FAR, weighting="pair")["empirical"].dataset
    eer, frr = KNOWN[encoder]
    digits = 3 if encoder == "facenet" else 4
    assert round(float(empirical.eer), 4) == eer
    np.testing.assert_array_equal(np.round(empirical.frr.values, digits), frr)
    assert (empirical.far <= np.array(FAR) * (1 + 1e-12)).all()


@pytest.mark.slow
@pytest.mark.parametrize(("missing", "eer", "frr"), [([], 0.0445, 0.0851), (-1, 0.0426, 0.0833)])
def test_known_rates_of_an_asymmetric_matrix(missing, eer, frr):
    """The known figures take the mark of a failed comparison for a score."""
    scores = fk.open_data(
        REAL_DATA / "bssr1_face_c.csv.gz", kind="matrix", missing=missing, same_images=False
    )
    assert scores.shape == (517, 517)
    assert int(np.isnan(scores).sum()) == (517 if missing else 0)
    empirical = fk.evaluate(scores, far=[1e-2], weighting="pair")["empirical"].dataset
    assert round(float(empirical.eer), 4) == eer
    assert round(float(empirical.frr.values[0]), 4) == frr
