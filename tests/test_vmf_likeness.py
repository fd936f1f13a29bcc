"""New identities in the likeness of few: their rates come close to those of the population the few came from."""

import numpy as np
import pytest

from frkit import InputError, vmf

FAR = [1e-3, 1e-2]


@pytest.fixture(scope="module")
def crowd():
    """800 identities that are more alike along some axes than along others, and alike on average."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((800, 64)) * np.exp(-np.arange(64) / 24)
    points[:, 1] += 1
    return vmf.Mixture(points, rng.uniform(60, 300, 800), np.where(np.arange(800) % 4, "a", "b"))


def few(mix, size):
    groups = {name: labels[:size] for name, labels in mix.groups.items()}
    return vmf.Mixture(mix.mean_directions[:size], mix.concentrations[:size], groups)


@pytest.mark.parametrize("images", [None, 3, 10])
def test_likeness_of_few_has_the_rates_of_the_crowd(crowd, images):
    sample = few(crowd, 150)
    sample = sample if images is None else vmf.fit(sample.sample(images, seed=4))
    found, exact = vmf.Likeness(sample).draw(800, seed=2).population_roc(FAR), crowd.population_roc(FAR)
    np.testing.assert_allclose(found.threshold, exact.threshold, atol=0.02)
    np.testing.assert_allclose(found.frr, exact.frr, rtol=0.35)


def test_two_people_are_as_alike_as_in_the_mixture(crowd):
    drawn = vmf.Likeness(few(crowd, 100)).draw(800, seed=3).mean_directions
    for power, close in ((1, 0.02), (2, 0.01)):
        found, meant = (
            np.mean((points @ points.T)[np.triu_indices(len(points), 1)] ** power)
            for points in (drawn, few(crowd, 100).mean_directions)
        )
        assert found == pytest.approx(meant, abs=close)


def test_groups_keep_shares_concentrations_and_cohesion():
    groups = {"a": {"share": 3}, "b": {"share": 1, "kappa": (30, 60), "cohesion": 20}}
    mix = vmf.mixture(400, 32, kappa=(60, 150), groups=groups, seed=1)
    law = vmf.Likeness(mix, by="group")
    drawn = law.draw(800, seed=2)
    assert np.unique(drawn.groups["group"], return_counts=True)[1].tolist() == [600, 200]
    found, exact = drawn.population_roc(FAR, by="group"), mix.population_roc(FAR, by="group")
    np.testing.assert_allclose(found.frr_group, exact.frr_group, rtol=0.2, atol=2e-3)
    np.testing.assert_allclose(found.far_group, exact.far_group, rtol=0.35)


def test_uniform_directions_stay_uniform():
    law = vmf.IdentityLaw(64, kappa=(60, 300))
    found = vmf.Likeness(law.draw(100, seed=1)).draw(800, seed=2).population_roc(FAR)
    np.testing.assert_allclose(found.threshold, law.population_roc(FAR).threshold, atol=0.01)


def test_fewer_dimensions_keep_the_genuine_scores(crowd):
    law = vmf.Likeness(few(crowd, 100), dim=24)
    drawn = law.draw(500, seed=1)
    assert drawn.dim == 24
    means = []
    for mix in (few(crowd, 100), drawn):
        points = mix.sample(2, seed=5).embedding.values
        means.append((points[::2] * points[1::2]).sum(1).mean())
    assert means[1] == pytest.approx(means[0], abs=0.03)


def test_same_seed_same_identities(crowd):
    law = vmf.Likeness(few(crowd, 50))
    first, again, other = (law.draw(20, seed).mean_directions for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "age"}, r"attributes are \['group'\]"),
        ({"dim": 2}, "between 3 and"),
        ({"dim": 65}, "between 3 and"),
    ],
)
def test_bad_input_is_named(crowd, options, message):
    with pytest.raises(InputError, match=message):
        vmf.Likeness(crowd, **options)


def test_a_group_of_two_is_refused():
    mix = vmf.Mixture(np.eye(5), [9.0] * 5, ["a", "a", "a", "b", "b"])
    with pytest.raises(InputError, match=r"\['b'\] have fewer than three"):
        vmf.Likeness(mix, by="group")
