"""Exact rates where identities nearly coincide: quadrature against the series, other integrals
and Monte Carlo."""

import numpy as np
import pytest
from scipy import special

from frkit import InputError, vmf
from frkit.vmf import closepairs, densities, impostors, sampling
from frkit.vmf.series import Identities, pair_coefficients, survival


def two_directions(dim, cosine):
    return np.eye(dim)[[0, 0]] * [[1], [cosine]] + np.eye(dim)[[1, 1]] * [
        [0],
        [np.sqrt(1 - cosine**2)],
    ]


def one_pair(dim, kappa, cosine):
    return closepairs.PairScores(np.array([kappa], float), np.array([cosine]), np.ones(1), dim)


@pytest.fixture(scope="module")
def twins():
    """40 identities with sharp images, of which the first two have mean directions at cosine
    .9999."""
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
    side = Identities(two_directions(dim, cosine), np.array(kappa, float), np.ones(2))
    by_series, _ = survival(np.array([t]), dim, pair_coefficients(side, side, 400))
    found, bound = one_pair(dim, kappa, cosine).survival(np.array([t]))
    assert found[0] == pytest.approx(by_series[0], rel=1e-11)
    assert abs(found[0] - by_series[0]) < bound[0] < 1e-9 * found[0]


def test_density_of_one_score_against_an_integral_over_the_sphere():
    """The hypergeometric function of a matrix argument is E exp(f_1 v_11 + f_2 v_22) for two
    orthonormal v_1, v_2."""
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


@pytest.mark.parametrize(
    ("dim", "kappa", "cosine"),
    [(128, (1e4, 1e5), 0.9999), (16, (1e5, 3e4), 0.99)],
)
def test_sharp_images_against_monte_carlo(dim, kappa, cosine):
    n, mean, rng = 10_000, two_directions(dim, cosine), np.random.default_rng(0)
    radial_parts = sampling.radial_parts(np.array(kappa), dim)
    x, y = (
        sampling.place(
            mean, radial_parts, np.full(n, k), rng.standard_normal(n), rng.standard_normal((n, dim))
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
    """The duplicate pair is one of 780: at high thresholds FAR is its share, and the series alone
    gives up."""
    t = np.array([0.3, 0.98, 0.99])
    rates = twins.population_rates(t)
    alone = one_pair(128, twins.concentrations[:2], 0.9999).survival(t)[0] / 780
    np.testing.assert_allclose(rates.far[1:], alone[1:], rtol=1e-8)
    assert rates.far[0] > alone[0]
    assert float(rates.error_bound.max()) < 1e-6
    with pytest.raises(InputError, match="cannot be trusted"):
        people = Identities(twins.mean_directions, twins.concentrations, np.ones(40))
        impostors.impostor_scores(people, people, False).far(t, "all pairs")
