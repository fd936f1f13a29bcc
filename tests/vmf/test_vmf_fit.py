"""Fitting mixtures: concentrations of known mixtures come back, with two images as with twenty."""

import numpy as np
import pytest
from scipy import integrate, stats

import frkit as fk
from frkit import DataWarning, InputError, vmf
from frkit.vmf import densities


def errors(fitted, kappa, true):
    """Bias and root mean square of the error of log kappa."""
    error = np.log(fitted[kappa].values / true)
    return error.mean(), np.sqrt((error**2).mean())


def test_likelihood_and_direction_are_scipys():
    faces = vmf.mixture(4, 8, kappa=(20, 40), seed=1).sample(6, seed=2)
    fitted = vmf.fit(faces)
    for k in range(4):
        points = faces.embedding.values[6 * k : 6 * k + 6].astype(float)
        points /= np.linalg.norm(points, axis=1)[:, None]
        direction, kappa = stats.vonmises_fisher.fit(points)
        np.testing.assert_allclose(fitted.mean_directions[k], direction, atol=1e-6)
        assert fitted.fitted.kappa_likelihood[k] == pytest.approx(kappa, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("n_images", [2, 5, 20])
def test_concentrations_come_back(n_images):
    true = vmf.IdentityLaw(64, kappa=(60, 400)).draw(250, seed=1)
    fitted = vmf.fit(true.sample(n_images, seed=2)).fitted
    bias, size = errors(fitted, "kappa", true.concentrations)
    one = np.sqrt(2 / ((n_images - 1) * 63))  # what one identity's images can say
    assert abs(bias) < 4 * one / np.sqrt(250)
    assert size < 1.1 * one
    likelihood_bias, _ = errors(fitted, "kappa_likelihood", true.concentrations)
    assert likelihood_bias == pytest.approx(np.log(n_images / (n_images - 1)), rel=0.25)
    assert size <= errors(fitted, "kappa_marginal", true.concentrations)[1] * 1.02
    log_kappa = np.log(true.concentrations)
    assert fitted.attrs["log_kappa_mean"] == pytest.approx(log_kappa.mean(), abs=0.04)
    assert fitted.attrs["log_kappa_spread"] == pytest.approx(log_kappa.std(), rel=0.1)


def test_few_images_are_shrunk_and_many_are_not():
    """Where the population is narrow, two images say less than it does."""
    true = vmf.IdentityLaw(16, kappa=(55, 65)).draw(200, seed=3)
    counts = np.where(np.arange(200) < 190, 2, 60)
    counts[:5] = 1
    fitted = vmf.fit(true.sample(counts, seed=4)).fitted
    few, many = fitted.isel(identity=slice(5, 190)), fitted.isel(identity=slice(190, None))
    assert np.log(few.kappa).std() < 0.35 * np.log(few.kappa_marginal).std()
    np.testing.assert_allclose(fitted.kappa[:5], np.exp(fitted.attrs["log_kappa_mean"]), rtol=1e-3)
    assert errors(many, "kappa", true.concentrations[190:])[1] < 0.1
    assert float(few.log_kappa_sd.mean()) > float(many.log_kappa_sd.mean())


def test_posterior_against_integration():
    """Posterior mean of log kappa by quadrature at the population's fitted mean and spread."""
    faces = vmf.mixture(12, 10, kappa=(10, 60), seed=5).sample(3, seed=6)
    fitted = vmf.fit(faces).fitted
    mean, spread = (fitted.attrs[f"log_kappa_{name}"] for name in ("mean", "spread"))
    total = faces.embedding.values[:3].astype(float).sum(0)

    lengths = np.array([np.linalg.norm(total), 1])

    def weight(x):
        of_sum, of_image = densities.log_normaliser(np.exp(x) * lengths, 10)
        return np.exp(of_sum - 3 * of_image - 0.5 * ((x - mean) / spread) ** 2)

    ends = (mean - 6 * spread, mean + 6 * spread)
    exact = integrate.quad(lambda x: x * weight(x), *ends)[0] / integrate.quad(weight, *ends)[0]
    assert np.log(fitted.kappa.values[0]) == pytest.approx(exact, abs=2e-3)


def test_rates_of_the_fitted_mixture_are_those_of_the_true_one():
    groups = {"a": {}, "b": {"kappa": (40, 120)}}
    true = vmf.mixture(120, 64, kappa=(60, 400), groups=groups, seed=1)
    fitted = vmf.fit(true.sample(8, seed=2))
    assert fitted.groups["group"].tolist() == true.groups["group"].tolist()
    far = [1e-3, 1e-2]
    found, exact = fitted.population_roc(far, by="group"), true.population_roc(far, by="group")
    np.testing.assert_allclose(found.frr_group, exact.frr_group, rtol=0.15, atol=2e-3)
    assert fitted.fitted.attrs["residual_dimension"] == pytest.approx(63, rel=0.03)


def test_an_image_level_attribute_is_left_out_aloud():
    faces = vmf.mixture(6, 8, seed=0).sample(2)
    labels = dict(age=np.tile(["old", "young"], 6), sex=["f"] * 12)
    ages = fk.faces(faces.embedding, faces.identity, varying="keep", **labels)
    with pytest.warns(DataWarning, match="'age' varies"):
        fitted = vmf.fit(ages)
    assert list(fitted.groups) == ["sex"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: fk.stack_models({"x": f, "y": f}), "several models.*vmf.fit"),
        (lambda f: f.isel(image=slice(None, None, 2)), "nothing to fit"),
        (lambda f: f.isel(image=[0, 0, 2, 3]), "'id0000' are copies"),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(InputError, match=message):
        vmf.fit(change(vmf.mixture(6, 8, seed=0).sample(2)))
