"""The law of identities: exact rates of infinitely many, against quadrature, draws and a large
mixture."""

import mpmath
import numpy as np
import pytest
from scipy import integrate

from frkit import InputError, vmf
from frkit.vmf.genuine import GenuineScores


def test_far_is_the_tail_of_one_coordinate():
    far = vmf.IdentityLaw(128).population_rates([-0.2, 0.1, 0.45]).far

    def weight(x):
        return (1 - x * x) ** mpmath.mpf(62.5)

    whole = mpmath.quad(weight, [-1, 0, 1])
    for value, t in zip(far.values, (-0.2, 0.1, 0.45)):
        assert value == pytest.approx(
            float(mpmath.quad(weight, [t, (1 + t) / 2, 1]) / whole), rel=1e-12
        )


def test_frr_is_the_mean_over_kappa():
    law, t = vmf.IdentityLaw(64, kappa=(40, 300)), 0.5

    def one(kappa):
        return GenuineScores(np.array([kappa]), np.ones(1), 64).frr(np.array([t]))[0]

    mean = integrate.quad(one, 40, 300, epsrel=1e-11)[0] / 260
    assert float(law.population_rates(t).frr[0]) == pytest.approx(mean, rel=1e-9)


@pytest.mark.slow
def test_mixtures_are_drawn_around_it():
    """Rates of 50 mixtures of 100 identities: their mean is the law's, within its standard
    error."""
    law, t = vmf.IdentityLaw(32, kappa=(30, 150)), [0.3, 0.5, 0.65]
    exact = law.population_rates(t)
    drawn = [law.draw(100, seed).population_rates(t) for seed in range(50)]
    for name in ("far", "frr"):
        values = np.array([rates[name] for rates in drawn])
        z = (values.mean(0) - exact[name].values) / (values.std(0, ddof=1) / np.sqrt(50))
        assert np.abs(z).max() < 3.5, (name, z)


def test_groups_have_shares_and_rates_of_their_own():
    groups = {"a": {"share": 3}, "b": {"kappa": (20, 60)}}
    law = vmf.IdentityLaw(32, kappa=(50, 100), groups=groups)
    rates = law.population_roc([0.01, 0.1], by="group")
    np.testing.assert_allclose(rates.frr_group.values @ [0.75, 0.25], rates.frr)
    np.testing.assert_allclose(
        rates.frr_group.sel(group="b"),
        vmf.IdentityLaw(32, (20, 60)).population_roc([0.01, 0.1]).frr,
    )
    np.testing.assert_array_equal(rates.far_group.sel(group="b"), rates.far)
    assert np.unique(law.draw(40).groups["group"], return_counts=True)[1].tolist() == [30, 10]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vmf.IdentityLaw(2), "at least 3"),
        (lambda: vmf.IdentityLaw(8, kappa=(5, 2)), "low <= high"),
        (lambda: vmf.IdentityLaw(8, groups={"a": {"cohesion": 3}, "b": {}}), "cohesion"),
        (lambda: vmf.IdentityLaw(8, groups={"a": {"share": 0}, "b": {}}), "positive"),
        (lambda: vmf.IdentityLaw(8).population_roc(0.1, by="group"), "no such groups"),
        (lambda: vmf.IdentityLaw(8).population_roc(2.0), r"\(0, 1\)"),
        (lambda: vmf.IdentityLaw(8).population_rates(2.0), r"\(-1, 1\)"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()
