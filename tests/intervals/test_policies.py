"""Two thresholds for the same scores: compared within people, by hand and by draws."""

from functools import cache

import numpy as np
import pytest
from refusals import refused
from scipy import stats

import frkit as fk

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
LOW, HIGH = 0.4, 0.6
POLICIES = {
    "low": dict(threshold=[LOW]),
    "high": dict(threshold=[HIGH]),
    "low for groups": dict(threshold=[LOW], by="group"),
    "high for groups": dict(threshold=[HIGH], by="group"),
    "of all people": dict(far=[0.05]),
    "of all": dict(far=[0.05], by="group"),
    "of worst": dict(far=[0.05], by="group", far_of="worst group"),
}


def faces(seed, people=30):
    """Images of new people of two groups, of which one has more alike faces."""
    groups = {"a": {}, "b": {"cohesion": 6}}
    mixture = fk.vmf.mixture(people, 12, kappa=(10, 40), seed=seed, groups=groups)
    return mixture.sample(4, seed=seed + 1)


@cache
def evaluated(seed, policy):
    """The evaluation of the faces of a seed, at one level."""
    return fk.evaluate(fk.score_tensor(faces(seed)), **POLICIES[policy])


def difference(seed, first, second, measure="frr"):
    """The comparison of two policies for the same faces."""
    return fk.compare(evaluated(seed, first), evaluated(seed, second), measure)


def test_two_fixed_thresholds_differ_by_the_pairs_between_them():
    data = faces(0)
    scores, who = fk.score_tensor(data).values, data.identity.values
    shares = []
    for person in np.unique(who):
        own = scores[np.ix_(who == person, who == person)]
        own = own[np.triu_indices(len(own), 1)]
        shares.append(np.mean(own <= HIGH) - np.mean(own <= LOW))
    result = difference(0, "high", "low")
    k = len(shares)
    se = np.std(shares, ddof=1) / np.sqrt(k)
    assert result.estimate.item() == pytest.approx(np.mean(shares))
    assert result.se.item() == pytest.approx(se)
    p = 2 * stats.t.sf(np.mean(shares) / se, k - 1)
    assert result.p.item() == pytest.approx(p, rel=1e-6)
    reach = stats.t.ppf(0.975, k - 1) * se
    assert result.upper.item() == pytest.approx(np.mean(shares) + reach)


def test_found_thresholds_move_with_the_people_of_both_policies():
    found = difference(2, "of all", "of worst")
    policies = [evaluated(2, name)["empirical"] for name in ("of all", "of worst")]
    scores = fk.score_tensor(faces(2))
    held = fk.compare(
        *[fk.evaluate(scores, threshold=[rates.threshold.item()]) for rates in policies], "frr"
    )
    assert found.estimate.item() == pytest.approx(held.estimate.item())
    assert found.se.item() > 1.3 * held.se.item()


@pytest.mark.parametrize("measure", ["frr", "frr_group", "frr_max_min"])
def test_a_policy_compared_the_other_way_round_has_the_opposite_sign(measure):
    forth = difference(2, "of all", "of worst", measure)
    back = difference(2, "of worst", "of all", measure)
    opposite = 1 / back.estimate if measure.endswith("max_min") else -back.estimate
    assert np.allclose(forth.estimate, opposite)
    assert np.allclose(forth.p, back.p)


@pytest.mark.parametrize("measure", ["far", "far_group", "far_max_min", fk.measures.fdr()])
def test_the_far_that_a_level_sets_is_not_compared(measure):
    """At the level of the worst group its FAR is the level, whoever the people are."""
    with refused():
        difference(0, "of all", "of worst", measure)
    result = difference(0, "low for groups", "high for groups", measure)
    assert result.p.notnull().all()


@pytest.mark.parametrize(
    "first, second, names",
    [
        ("low", "high", ("threshold 0.4", "threshold 0.6")),
        ("of all people", "low", ("FAR 0.05", "threshold 0.4")),
        ("of all", "of worst", ("FAR 0.05", "FAR 0.05 of worst group")),
        ("of all", "of all", ("A", "B")),
    ],
)
def test_the_result_names_the_thresholds_where_they_are_not_the_same(first, second, names):
    result = difference(0, first, second)
    assert (result.attrs["a"], result.attrs["b"]) == names


@pytest.mark.parametrize(
    "other", [dict(far=[0.1, 0.2]), dict(threshold=[LOW, HIGH]), dict(far=[0.1], by="group")]
)
def test_several_levels_must_be_the_same_and_groups_too(other):
    second = fk.evaluate(fk.score_tensor(faces(0)), **other)
    with refused():
        fk.compare(evaluated(0, "low"), second, "frr" if "by" not in other else "frr_group")


@pytest.mark.slow
def test_the_standard_error_of_two_policies_is_the_spread_over_new_people():
    results = [difference(seed, "of all", "of worst") for seed in range(1000, 1160, 2)]
    estimates = [result.estimate.item() for result in results]
    variances = [result.se.item() ** 2 for result in results]
    assert 0.75 < np.sqrt(np.mean(variances)) / np.std(estimates, ddof=1) < 1.3
