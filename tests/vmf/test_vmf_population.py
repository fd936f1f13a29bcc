"""Exact rates and score distributions of mixtures and of the law of identities."""

import make_measures_coverage
import mpmath
import numpy as np
import pytest
from benchmarks import vmf_monte_carlo
from refusals import refused
from scipy import integrate, special

import frkit as fk
from frkit import vmf
from frkit.vmf import densities
from frkit.vmf.exact import GenuineScores, pair_coefficients, survival


@pytest.mark.parametrize(("dim", "kappa"), [(3, 2.0), (128, 100.0), (128, 800.0), (512, 4000.0)])
def test_bessel_ratios_against_mpmath(dim, kappa):
    ratios = densities.bessel_ratios(np.array([kappa]), dim, 60)[0]
    for m in (0, 1, 17, 59):
        order = mpmath.mpf(dim) / 2 - 1
        exact = mpmath.besseli(order + m, kappa) / mpmath.besseli(order, kappa)
        assert ratios[m] == pytest.approx(float(exact), rel=1e-14)


@pytest.mark.parametrize(
    ("dim", "radius"), [(3, 1e-3), (128, 30.0), (128, 800.0), (1024, 60.0), (2048, 200.0)]
)
def test_log_normaliser_against_mpmath(dim, radius):
    exact = mpmath.log(mpmath.hyp0f1(mpmath.mpf(dim) / 2, mpmath.mpf(radius) ** 2 / 4))
    value = densities.log_normaliser(np.array([radius]), dim)[0]
    assert value == pytest.approx(float(exact), rel=1e-9, abs=1e-11)


def test_genuine_scores_on_the_ordinary_sphere():
    """In three dimensions h(r) = sinh(r) / r, so the density of the genuine score is elementary."""
    kappa, t = 4.0, np.array([-0.5, 0.2, 0.9])

    def density(s):
        return np.sinh(r := kappa * np.sqrt(2 + 2 * s)) / r * (kappa / np.sinh(kappa)) ** 2 / 2

    frr = GenuineScores(np.array([kappa]), np.ones(1), 3).frr(t)
    exact = [integrate.quad(density, -1, end)[0] for end in t]
    np.testing.assert_allclose(frr, exact, rtol=1e-11)


def test_impostor_scores_on_the_ordinary_sphere():
    """P(<X, Y> > t) by integrating over X the probability that Y lies in the cap around it."""
    mix = vmf.Mixture([[0, 0, 1.0], [0, 1.0, 1.0]], [6.0, 3.0])
    t, (first, second) = 0.4, mix.mean_directions
    frame = np.linalg.svd(first[None])[2]

    def cap(cosine):  # P(<x, Y> > t) with <x, mu_2> = cosine: Y = t x + ... around the axis x
        def ring(s):
            around = special.i0(3 * np.sqrt((1 - s * s) * (1 - cosine**2)))
            return np.exp(3 * (s * cosine - 1)) * around

        return integrate.quad(ring, t, 1)[0] / integrate.quad(ring, -1, 1)[0]

    def along(w, angle):
        side = np.sqrt(1 - w * w) * (np.cos(angle) * frame[1] + np.sin(angle) * frame[2])
        return np.exp(6 * (w - 1)) * cap((w * first + side) @ second)

    radial, weight = np.polynomial.legendre.leggauss(40)
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    values = np.array([np.mean([along(w, angle) for angle in angles]) for w in radial])
    exact = weight @ values / (weight @ np.exp(6 * (radial - 1)))
    assert float(mix.population_roc(exact).threshold[0]) == pytest.approx(t, rel=1e-9)


@pytest.mark.slow
def test_monte_carlo_of_ten_million_pairs():
    levels = np.array([1e-4, 1e-3, 1e-2])
    table, pairs = vmf_monte_carlo.compare(1e7, n_identities=200, levels=levels)
    assert pairs > 1e7
    assert table.z.abs().max() < 4
    assert np.sqrt(np.mean(table.z**2)) < 1.5


def test_threshold_and_far_agree(small):
    levels = np.geomspace(1e-8, 0.5, 12)
    roc = small.population_roc(levels, by="group")
    np.testing.assert_allclose(roc.far, levels, rtol=1e-9)
    assert np.all(np.diff(roc.threshold) < 0)
    assert float(roc.error_bound.max()) < 1e-9


def test_groups_have_the_rates_of_their_own_identities(small):
    roc = small.population_roc([1e-5, 1e-2], by="group")
    np.testing.assert_allclose(roc.frr_group.mean("group"), roc.frr)
    in_b = small.groups["group"] == "b"
    alone = vmf.Mixture(small.mean_directions[in_b], small.concentrations[in_b])
    alone = alone.population_roc(roc.far_group.sel(group="b"))
    np.testing.assert_allclose(roc.threshold, alone.threshold, rtol=1e-9)
    np.testing.assert_allclose(roc.frr_group.sel(group="b"), alone.frr, rtol=1e-9)
    assert np.all(roc.far_group.sel(group="b") > roc.far_group.sel(group="a"))
    assert np.all(roc.frr_group.sel(group="b") > roc.frr_group.sel(group="a"))


def test_far_is_the_tail_of_one_coordinate():
    thresholds = (-0.2, 0.1, 0.45)

    def weight(x):
        return (1 - x * x) ** mpmath.mpf(62.5)

    whole = mpmath.quad(weight, [-1, 0, 1])
    far = [float(mpmath.quad(weight, [t, (1 + t) / 2, 1]) / whole) for t in thresholds]
    roc = vmf.IdentityLaw(128).population_roc(far)
    np.testing.assert_allclose(roc.threshold, thresholds, rtol=1e-11)


def test_frr_is_the_mean_over_kappa():
    roc = vmf.IdentityLaw(64, kappa=(40, 300)).population_roc(1e-5)

    def frr_at_kappa(kappa):
        return GenuineScores(np.array([kappa]), np.ones(1), 64).frr(roc.threshold.values)[0]

    mean = integrate.quad(frr_at_kappa, 40, 300, epsrel=1e-11)[0] / 260
    assert float(roc.frr[0]) == pytest.approx(mean, rel=1e-9)


def test_moments_and_fine_histograms_agree():
    """Two ways to the same number: closed forms, and sums over 2,000 bins of the exact rates."""
    groups = {"a": {}, "b": {"cohesion": 8}, "c": {"kappa": (3, 9)}}
    mix = vmf.mixture(12, 8, kappa=(5, 30), groups=groups, seed=0)
    exact = make_measures_coverage.score_distributions(mix, 4, bins=2000)
    for kind in ("genuine", "impostor"):
        mass = exact[f"{kind}_histogram_group"]
        np.testing.assert_allclose(mass.sum("score_bin"), 1, atol=1e-9)
        mean = (mass * exact.score_bin).sum("score_bin")
        sd = np.sqrt((mass * exact.score_bin**2).sum("score_bin") - mean**2)
        np.testing.assert_allclose(mean, exact[f"{kind}_mean_group"], atol=2e-6)
        np.testing.assert_allclose(sd, exact[f"{kind}_sd_group"], atol=2e-6)


def test_rotated_copies_are_perfectly_fair():
    mix = vmf.mixture(8, 16, kappa=(20, 60), seed=0).rotated_copies(list("abc"))
    exact = make_measures_coverage.score_distributions(mix, 5)
    for name in ("sfi_extremal", "cfi_extremal", "dfi_extremal"):
        assert float(fk.measures.measure(name)(exact)) == pytest.approx(1, abs=1e-9)


def test_error_bound_holds_where_directions_are_close():
    """Against the same series in extended precision: P_m near 1 is where rounding is largest."""
    rng = np.random.default_rng(0)
    mean = rng.standard_normal((60, 128))
    mean[:, 0] += 6
    mix, n_terms = vmf.Mixture(mean, rng.uniform(100, 800, 60)), 200
    coefficients = pair_coefficients(mix.mean_directions, mix.concentrations, n_terms)
    rows, columns = np.triu_indices(60, 1)
    directions = mix.mean_directions.astype(np.longdouble)
    cosine = (directions[rows] * directions[columns]).sum(axis=1)
    ratios = densities.bessel_ratios(mix.concentrations, 128, n_terms)
    before, now, precise = np.zeros_like(cosine), np.ones_like(cosine), coefficients.copy()
    for m in range(n_terms):
        precise[0, m] = np.mean(ratios[rows, m] * ratios[columns, m] * now)
        before, now = now, ((2 * m + 126) * cosine * now - m * before) / np.longdouble(m + 126)
    t = np.linspace(-0.5, 0.8, 14)
    far, bound = survival(t, 128, coefficients)
    assert np.all(np.abs(far - survival(t, 128, precise)[0]) <= bound)


def test_a_level_that_cannot_be_computed_raises():
    with refused("1e-30"):
        vmf.mixture(20, 128).population_roc([1e-2, 1e-30])
    with refused("a", "by="):
        apart = vmf.Mixture(np.eye(60)[[0, 1, 2, 2]], [3e3, 3e3, 300, 300], ["a", "a", "b", "b"])
        apart.population_roc([1e-9], by="group")


@pytest.mark.slow
def test_near_duplicates_are_refused():
    directions = np.eye(128)[:40]
    directions[1] = directions[0] + 0.01 * directions[2]
    mix = vmf.Mixture(directions, np.geomspace(1e3, 1e4, 40))
    with refused("identities"):
        mix.population_roc([0.01])
