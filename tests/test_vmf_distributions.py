"""Exact moments and histograms of a mixture's cosines: against samples, against each other, and
closed cases."""

import numpy as np
import pytest
from scipy.special import iv

import frkit as fk

GROUPS = {"a": {}, "b": {"cohesion": 8}, "c": {"kappa": (3, 9)}}


@pytest.fixture(scope="module")
def mix():
    return fk.vmf.mixture(12, 8, kappa=(5, 30), groups=GROUPS, seed=0)


def test_moments_and_fine_histograms_agree(mix):
    """Two ways to the same number: closed forms, and sums over 2,000 bins of the exact rates."""
    exact = mix.population_distributions(4, by="group", bins=2000)
    for kind in ("genuine", "impostor"):
        mass = exact[f"{kind}_histogram_group"]
        np.testing.assert_allclose(mass.sum("score_bin"), 1, atol=1e-9)
        mean = (mass * exact.score_bin).sum("score_bin")
        sd = np.sqrt((mass * exact.score_bin**2).sum("score_bin") - mean**2)
        np.testing.assert_allclose(mean, exact[f"{kind}_mean_group"], atol=2e-6)
        np.testing.assert_allclose(sd, exact[f"{kind}_sd_group"], atol=2e-6)


def test_equal_concentrations_by_hand():
    """Genuine mean A², impostor mean A² mu.mu', A = I_{p/2}(kappa) / I_{p/2-1}(kappa)."""
    directions = np.array([[1, 0, 0], [0.6, 0.8, 0], [0, 0, 1], [0, 1, 0]])
    mix = fk.vmf.Mixture(directions, [7.0] * 4, groups=["x", "x", "y", "y"])
    exact = mix.population_distributions(3, by="group", bins=4)
    length = iv(1.5, 7.0) / iv(0.5, 7.0)
    np.testing.assert_allclose(exact.genuine_mean_group, length**2)
    np.testing.assert_allclose(exact.impostor_mean_group, [0.6 * length**2, 0], atol=1e-14)
    across, along = length / 7, 1 - 2 * length / 7
    np.testing.assert_allclose(
        exact.genuine_sd_group, np.sqrt(along**2 + 2 * across**2 - length**4)
    )
    np.testing.assert_allclose(exact.impostor_sd_group[1], np.sqrt(2 * along * across + across**2))
    assert exact.impostor_pairs_group.values.tolist() == [9, 9]


def test_rotated_copies_are_perfectly_fair():
    exact = (
        fk.vmf.mixture(8, 16, kappa=(20, 60), seed=0)
        .rotated_copies("abc")
        .population_distributions(5, by="group")
    )
    for name in ("sfi_extremal", "cfi_extremal", "dfi_extremal"):
        assert float(fk.measures.measure(name)(exact)) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [(dict(per_identity=1), "at least 2"), (dict(bins=1), "bins"), (dict(by="race"), "race")],
)
def test_what_has_no_answer_is_refused(mix, options, words):
    with pytest.raises(fk.InputError, match=words):
        mix.population_distributions(**({"per_identity": 4, "by": "group"} | options))
