"""Mixtures, their sampler and what they say to bad input."""

import numpy as np
import pytest
from refusals import refused
from scipy import integrate, special, stats

from frkit import vmf
from frkit.vmf import densities, sampling


@pytest.mark.parametrize(
    ("dim", "kappa"), [(3, 0.5), (4, 7.0), (32, 60.0), (128, 400.0), (512, 3000.0)]
)
def test_radial_part_follows_its_distribution(dim, kappa):
    distribution = sampling.radial_parts(np.array([kappa]), dim)
    z = distribution.quantile(np.linspace(0.0005, 0.9995, 1000), np.zeros(1000, int))
    log_norm = special.gammaln(dim / 2 - 0.5) + 0.5 * np.log(np.pi) - special.gammaln(dim / 2)
    log_norm += float(densities.log_normaliser(np.array([kappa]), dim)[0])

    def density(t):
        return np.exp(kappa * t + (dim - 3) / 2 * np.log1p(-t * t) - log_norm)

    for place in (0, 250, 999):
        ends, inside = (-1, np.tanh(z[place])), [np.tanh(z[0]) - 0.02, np.tanh(z[500])]
        below = integrate.quad(density, *ends, limit=400, points=inside)[0]
        assert below == pytest.approx(0.0005 + place * 0.999 / 999, abs=1e-9)


def test_sampler_agrees_with_scipy():
    mean, kappa, n = np.array([1.0, 2, -1, 0.5, 0]), 12.0, 40_000
    mix = vmf.Mixture([mean, -mean], [kappa, 3.0])
    ours = mix.sample([n, 1], seed=4).embedding.values[:n].astype(float)
    theirs = stats.vonmises_fisher(mix.mean_directions[0], kappa).rvs(n, random_state=5)
    for axis in (mix.mean_directions[0], [0, 0, 0, 0, 1.0]):
        assert stats.ks_2samp(ours @ axis, theirs @ axis).pvalue > 0.01
    np.testing.assert_allclose(ours.mean(0), theirs.mean(0), atol=4 * np.sqrt(2 / n))
    np.testing.assert_allclose(np.cov(ours.T), np.cov(theirs.T), atol=4 * np.sqrt(2 / n))


def test_sample_is_a_faces_dataset_of_unit_vectors(small):
    counts = np.arange(120) % 3 + 2
    faces = small.sample(counts, seed=2)
    assert faces.embedding.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(faces.embedding, axis=1), 1, atol=1e-6)
    names, n_images = np.unique(faces.identity, return_counts=True)
    assert names[7] == "id0007"
    np.testing.assert_array_equal(n_images, counts)
    assert dict(zip(faces.identity.values, faces.group.values))["id0119"] == "b"
    np.testing.assert_array_equal(small.sample(counts, seed=2).embedding, faces.embedding)
    assert not np.allclose(small.sample(counts, seed=3).embedding, faces.embedding)


@pytest.mark.slow
def test_encoders_are_correlated_and_each_is_exact():
    first = vmf.Mixture(np.eye(40)[:4], [90.0] * 4)
    second = first.correlated(centroid_correlation=1, concentration_factor=0.5)
    faces = vmf.sample_encoders({"x": first, "y": second}, 5000, seed=3, correlation=0.8)
    x, y = faces.embedding.sel(model=["x", "y"]).values.astype(float)
    centroids = np.repeat(np.eye(40)[:4], 5000, axis=0)
    radial_x, radial_y = (np.einsum("ip,ip->i", points, centroids) for points in (x, y))
    rank_correlation = stats.spearmanr(radial_x, radial_y).statistic
    assert rank_correlation == pytest.approx(6 / np.pi * np.arcsin(0.4), abs=0.02)
    assert np.corrcoef(x[:, 30], y[:, 30])[0, 1] == pytest.approx(0.8, abs=0.03)
    alone = vmf.Mixture(np.eye(40)[:4], [45.0] * 4).sample(5000, seed=8).embedding.values
    assert stats.ks_2samp(radial_y, np.einsum("ip,ip->i", alone, centroids)).pvalue > 0.01
    many = vmf.mixture(100, 128, seed=0)
    for seed in (0, 1):  # also that of the mixture itself
        turned = many.correlated(centroid_correlation=0.6, seed=seed)
        cosines = (turned.mean_directions * many.mean_directions).sum(axis=1)
        assert cosines.mean() == pytest.approx(0.6, abs=0.02)
    assert stats.ks_2samp(y[:, 30], alone[:, 30]).pvalue > 0.01


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: vmf.Mixture([[1, 0, 0], [0, 0, 0]], [1, 1]), "rows [1]"),
        (lambda m: vmf.Mixture(np.eye(3), [1, 1e30, 2]), "rows [1]"),
        (lambda m: vmf.mixture(10, 8, kappa=(5, 2)), "kappa"),
        (lambda m: vmf.mixture(10, 8, groups={"a": {"size": 3}}), "size"),
        (lambda m: vmf.IdentityLaw(8).population_roc([0.1], by="group"), "groups"),
        (lambda m: m.population_roc([0.0]), "far"),
        (lambda m: vmf.sample_encoders({"x": m, "y": m}, correlation=1.5), "correlation"),
        (lambda m: vmf.sample_encoders({"x": m, "y": vmf.mixture(10, 32)}), "identities"),
    ],
)
def test_bad_input_is_named(small, call, message):
    with refused(message):
        call(small)
