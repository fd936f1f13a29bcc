"""Rates known from elsewhere for real scores: that files, engine and bands agree with the world
outside.

The data stay outside the project, without them these tests skip; formulas are held by the twin
(test_engine), bands
and comparisons by test_intervals."""

from pathlib import Path

import numpy as np
import pytest

import frkit as fk

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
pytestmark = [
    pytest.mark.skipif(not DATA.is_dir(), reason=f"the real data are not here: {DATA}"),
    pytest.mark.filterwarnings("ignore::frkit.DataWarning"),
]
FAR = [1e-3, 1e-2]
KNOWN = {"facenet": (0.0138, [0.074, 0.018]), "insightface": (0.0449, [0.1466, 0.0724])}


def lfw(encoder):
    """Scores of one encoder on 158 people with ten images each."""
    return fk.score_tensor(fk.open_faces(DATA / f"lfw158_{encoder}.npz"))


@pytest.fixture(scope="module")
def evaluations():
    """Both encoders on the same draws, all pairs weighted equally."""
    options = dict(
        far=FAR, by="gender", weighting="pair", resampling=fk.Resampling("image", n=200, seed=0)
    )
    return {encoder: fk.evaluate(lfw(encoder), **options) for encoder in KNOWN}


@pytest.mark.parametrize("encoder", KNOWN)
def test_known_rates_of_two_encoders(evaluations, encoder):
    empirical = evaluations[encoder]["empirical"].dataset
    eer, frr = KNOWN[encoder]
    digits = 3 if encoder == "facenet" else 4
    assert round(float(empirical.eer), 4) == eer
    np.testing.assert_array_equal(np.round(empirical.frr.values, digits), frr)
    assert (empirical.far <= np.array(FAR) * (1 + 1e-12)).all()


@pytest.mark.parametrize(("missing", "eer", "frr"), [(None, 0.0445, 0.0851), (-1, 0.0426, 0.0833)])
def test_known_rates_of_an_asymmetric_matrix(missing, eer, frr):
    """The known figures take the mark of a failed comparison for a score; left out, one rejection
    less."""
    scores = fk.open_scores(DATA / "bssr1_face_c.csv.gz", missing=missing)
    assert scores.shape == (517, 517)
    assert int(np.isnan(scores).sum()) == (0 if missing is None else 517)
    empirical = fk.evaluate(scores, far=[1e-2], weighting="pair")["empirical"].dataset
    assert round(float(empirical.eer), 4) == eer
    assert round(float(empirical.frr.values[0]), 4) == frr


@pytest.mark.parametrize("encoder", KNOWN)
def test_band_of_an_encoder(evaluations, encoder):
    band = fk.band(evaluations[encoder], "frr", method="recentered", level=0.95)
    naive = fk.band(evaluations[encoder], "frr", method="naive", level=0.95)
    assert (band.lower < band.estimate).all() and (band.estimate < band.upper).all()
    assert (naive.upper < band.upper).all(), "the naive band is centred on the smaller V-statistic"
    np.testing.assert_allclose(band.centre, 0.9 * band.estimate, rtol=1e-9)
    assert "these 158 identities" in band.attrs["target"] and band.attrs["method"] == "recentered"


def test_paired_comparison_of_the_encoders(evaluations):
    """The files name no images: that both hold the same ones, `stack_models` says."""
    with pytest.raises(fk.InputError, match="stack_models"):
        fk.compare(evaluations["facenet"], evaluations["insightface"], "frr")
    both = fk.stack_models({name: fk.open_faces(DATA / f"lfw158_{name}.npz") for name in KNOWN})
    together = fk.evaluate(fk.score_tensor(both), far=FAR, by="gender", weighting="pair")
    difference = fk.compare(together, "frr", models=("facenet", "insightface"))
    frr = [evaluations[encoder]["empirical"].frr.values for encoder in KNOWN]
    np.testing.assert_allclose(difference.estimate, frr[0] - frr[1], rtol=1e-12)
    assert (difference.upper < 0).all(), "FaceNet makes fewer false rejects on these images"
    assert (difference.lower < difference.estimate).all()
