"""Exact rates where identities nearly coincide: quadrature against the series, other integrals and Monte Carlo."""

import numpy as np
import pytest
from scipy import integrate, special

from frkit import InputError, vmf
from frkit.vmf import closepairs, densities, impostors, sampling


def two_directions(dim, cosine):
    return np.eye(dim)[[0, 0]] * [[1], [cosine]] + np.eye(dim)[[1, 1]] * [
        [0],
        [np.sqrt(1 - cosine**2)],
    ]


def one_pair(dim, kappa, cosine):
    return closepairs.PairScores(np.array([kappa], float), np.array([cosine]), np.ones(1), dim)


@pytest.fixture(scope="module")
def twins():
    """40 identities with sharp images, of which the first two have mean directions at cosine .9999."""
    rng = np.random.default_rng(3)
    mean = rng.standard_normal((40, 128))
    mean /= np.linalg.norm(mean, axis=1)[:, None]
    side = rng.standard_normal(128)
    side -= (side @ mean[0]) * mean[0]
    mean[1] = 0.9999 * mean[0] + np.sqrt(1 - 0.9999**2) * side / np.linalg.norm(side)
    return vmf.Mixture(mean, np.geomspace(1e4, 1e5, 40), np.tile(["a", "a", "b", "b"], 10))


# ---- one pair


@pytest.mark.parametrize(
    ("dim", "kappa", "cosine", "t"),
    [
        (3, (5, 9), 0.3, 0.2),
        (32, (100, 300), 0.7, 0.6),
        (128, (100, 800), 0.4, 0.2),
        (64, (2000, 50), 0.0, 0.3),
    ],
)
def test_quadrature_meets_the_series(dim, kappa, cosine, t):
    side = (two_directions(dim, cosine), np.array(kappa, float), np.ones(2))
    by_series, _ = impostors.survival(
        np.array([t]), dim, impostors.pair_coefficients(side, None, 400)
    )
    found, bound = one_pair(dim, kappa, cosine).survival(np.array([t]))
    assert found[0] == pytest.approx(by_series[0], rel=1e-11)
    assert abs(found[0] - by_series[0]) < bound[0] < 1e-9 * found[0]


def test_density_of_one_score_against_an_integral_over_the_sphere():
    """The hypergeometric function of a matrix argument is E exp(f_1 v_11 + f_2 v_22) for two orthonormal v_1, v_2."""
    kappa, cosine, t, dim = np.array([300.0, 500.0]), 0.95, 0.9, 8
    directions, images = two_directions(2, cosine), two_directions(2, t)
    large, small = np.linalg.svd(directions.T @ np.diag(kappa) @ images)[1]
    angle, angle_weight = (0.4 * part for part in np.polynomial.legendre.leggauss(300))
    angle += 0.4  # v_11 = cos(angle), v_12 = sin(angle) u; beyond .8 nothing is left
    u, u_weight = np.polynomial.legendre.leggauss(60)
    across = np.sqrt(1 - (np.sin(angle)[:, None] * u) ** 2)
    inner = np.exp(densities.log_normaliser(small * across, dim - 1)) @ (
        u_weight * (1 - u * u) ** (dim / 2 - 2)
    )
    mean = angle_weight * np.exp(large * (np.cos(angle) - 1)) * np.sin(angle) ** (dim - 2) @ inner
    mean /= special.beta(0.5, dim / 2 - 0.5) * special.beta(0.5, dim / 2 - 1)
    norm = densities.log_normaliser(kappa, dim).sum() + densities.log_uniform(dim)
    exact = np.log(mean) + large - norm + (dim - 1) / 2 * np.log(1 - t * t)
    found = closepairs.log_density(np.array([np.arctanh(t)]), kappa, cosine, dim)
    assert found[0] == pytest.approx(exact, abs=1e-9)


def test_equal_directions_are_a_genuine_pair():
    t = np.array([0.99, 0.994, 0.996])
    found, _ = one_pair(128, (2e4, 2e4), 1.0).survival(t)
    np.testing.assert_allclose(
        found, 1 - densities.GenuineScores(np.array([2e4]), np.ones(1), 128).frr(t), atol=1e-9
    )


def test_sharp_images_on_the_ordinary_sphere():
    """P(<X, Y> > t) by integrating over X, whose radial part is exponential there."""
    first, second, cosine, t = 2000.0, 3000.0, 0.9999, 0.9996

    def cap(w):  # P(<x, Y> > t) with <x, mu_2> = w
        def ring(s):
            reach = second * np.sqrt((1 - s * s) * (1 - w * w))
            return second * np.exp(second * (s * w - 1) + reach) * special.ive(0, reach)

        return integrate.quad(ring, t, 1, epsabs=1e-13, epsrel=1e-11)[0]

    uniform, weight = np.polynomial.legendre.leggauss(30)
    angles = np.linspace(0, 2 * np.pi, 32, endpoint=False)
    radial = 1 + np.log((uniform + 1) / 2) / first
    along = radial[:, None] * cosine + np.sqrt((1 - radial**2) * (1 - cosine**2))[:, None] * np.cos(
        angles
    )
    exact = weight / 2 @ np.vectorize(cap)(along).mean(1)
    assert one_pair(3, (first, second), cosine).survival(np.array([t]))[0][0] == pytest.approx(
        exact, rel=1e-5
    )


@pytest.mark.parametrize(
    ("dim", "kappa", "cosine"),
    [(128, (1e4, 1e5), 0.9999), (256, (1e6, 1e6), 0.99999), (16, (1e5, 3e4), 0.99)],
)
def test_sharp_images_against_monte_carlo(dim, kappa, cosine):
    n, mean, rng = 10_000, two_directions(dim, cosine), np.random.default_rng(0)
    inverse = densities.RadialInverse(np.array(kappa), dim)
    x, y = (
        sampling.place(
            mean, inverse, np.full(n, k), rng.standard_normal(n), rng.standard_normal((n, dim))
        )
        for k in (0, 1)
    )
    drawn = (x * y).sum(1)
    t = np.quantile(drawn, [0.01, 0.5, 0.99])
    found, bound = one_pair(dim, kappa, cosine).survival(t)
    z = ((drawn[:, None] > t).mean(0) - found) / np.sqrt(found * (1 - found) / n)
    assert np.abs(z).max() < 3.5
    assert np.all(bound < 1e-7 * found)


# ---- populations


def test_near_duplicates_have_exact_rates(twins):
    """The duplicate pair is one of 780: at high thresholds FAR is its share, and the series alone gives up."""
    t = np.array([0.3, 0.98, 0.99])
    rates = twins.population_rates(t)
    alone = one_pair(128, twins.concentrations[:2], 0.9999).survival(t)[0] / 780
    np.testing.assert_allclose(rates.far[1:], alone[1:], rtol=1e-8)
    assert rates.far[0] > alone[0]
    assert float(rates.error_bound.max()) < 1e-6
    with pytest.raises(InputError, match="cannot be trusted"):
        impostors.impostor_scores(
            [(twins.mean_directions, twins.concentrations, np.ones(40))], False
        )[1].far(t, "x")


def test_only_the_near_duplicates_are_integrated(twins):
    _, total = impostors.impostor_scores(
        [(twins.mean_directions, twins.concentrations, np.ones(40))], True
    )
    np.testing.assert_array_equal(total.single.share, [1 / 780])


def test_thresholds_and_groups_of_near_duplicates(twins):
    roc = twins.population_roc([5e-3], by="group", cross=True)
    pairs = np.array([[190, 200], [200, 190]])
    np.testing.assert_allclose(
        (roc.far_cross * pairs).sum(("group", "reference_group")) / 780, roc.far, rtol=1e-8
    )


def test_populations_without_close_pairs_keep_to_the_series():
    mix = vmf.mixture(50, 32)
    side = [(mix.mean_directions, mix.concentrations, np.ones(50))]
    plain, careful = (impostors.impostor_scores(side, how)[1] for how in (False, True))
    assert careful.single is None
    np.testing.assert_array_equal(plain.coefficients, careful.coefficients)


def test_too_many_close_pairs_are_refused(monkeypatch, twins):
    monkeypatch.setattr(impostors, "MOST_PAIRS", 0)
    mix = vmf.Mixture(twins.mean_directions, twins.concentrations)
    with pytest.raises(InputError, match="1 pairs of identities are too close"):
        mix.population_rates(0.3)
