"""Two thresholds for the same scores: compared within people, by hand and by draws."""

import numpy as np
import pytest
from refusals import refused
from scipy import stats

import frkit as fk

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
LOW, HIGH = 0.4, 0.6
OF_ALL = dict(far=[0.05], by="group")
OF_WORST = dict(far=[0.05], by="group", far_of="worst group")


def faces(seed, people=30):
    """Images of new people of two groups, of which one has more alike faces."""
    groups = {"a": {}, "b": {"cohesion": 6}}
    mixture = fk.vmf.mixture(people, 12, kappa=(10, 40), seed=seed, groups=groups)
    return mixture.sample(4, seed=seed + 1)


def difference(data, first, second, measure="frr"):
    """The comparison of two evaluations of the same faces, at one level each."""
    scores = fk.score_tensor(data)
    return fk.compare(fk.evaluate(scores, **first), fk.evaluate(scores, **second), measure)


def test_two_fixed_thresholds_differ_by_the_pairs_between_them():
    data = faces(0)
    scores, who = fk.score_tensor(data).values, data.identity.values
    shares = []
    for person in np.unique(who):
        own = scores[np.ix_(who == person, who == person)]
        own = own[np.triu_indices(len(own), 1)]
        shares.append(np.mean(own <= HIGH) - np.mean(own <= LOW))
    result = difference(data, dict(threshold=[HIGH]), dict(threshold=[LOW]))
    k = len(shares)
    se = np.std(shares, ddof=1) / np.sqrt(k)
    assert result.estimate.item() == pytest.approx(np.mean(shares))
    assert result.se.item() == pytest.approx(se)
    p = 2 * stats.t.sf(np.mean(shares) / se, k - 1)
    assert result.p.item() == pytest.approx(p, rel=1e-6)
    reach = stats.t.ppf(0.975, k - 1) * se
    assert result.upper.item() == pytest.approx(np.mean(shares) + reach)


def test_found_thresholds_move_with_the_people_of_both_policies():
    data = faces(2)
    found = difference(data, OF_ALL, OF_WORST)
    held = difference(data, *[dict(threshold=[t]) for t in thresholds(data)])
    assert found.estimate.item() == pytest.approx(held.estimate.item())
    assert found.se.item() > 1.3 * held.se.item()


def thresholds(data):
    """The thresholds that both policies find."""
    scores = fk.score_tensor(data)
    found = [fk.evaluate(scores, **policy) for policy in (OF_ALL, OF_WORST)]
    return [evaluation["empirical"].threshold.item() for evaluation in found]


@pytest.mark.parametrize("measure", ["frr", "frr_group", "frr_max_min"])
def test_a_policy_compared_the_other_way_round_has_the_opposite_sign(measure):
    forth = difference(faces(4), OF_ALL, OF_WORST, measure)
    back = difference(faces(4), OF_WORST, OF_ALL, measure)
    opposite = 1 / back.estimate if measure.endswith("max_min") else -back.estimate
    assert np.allclose(forth.estimate, opposite)
    assert np.allclose(forth.p, back.p)


@pytest.mark.parametrize("measure", ["far", "far_group", "far_max_min", fk.measures.fdr()])
def test_the_far_that_a_level_sets_is_not_compared(measure):
    """At the level of the worst group its FAR is the level, whoever the people are."""
    with refused():
        difference(faces(0), OF_ALL, OF_WORST, measure)
    fixed = [dict(threshold=[threshold], by="group") for threshold in (LOW, HIGH)]
    assert difference(faces(0), *fixed, measure).p.notnull().all()


@pytest.mark.parametrize(
    "first, second, names",
    [
        (dict(threshold=[LOW]), dict(threshold=[HIGH]), ("threshold 0.4", "threshold 0.6")),
        (dict(far=[0.05]), dict(threshold=[LOW]), ("FAR 0.05", "threshold 0.4")),
        (OF_ALL, OF_WORST, ("FAR 0.05", "FAR 0.05 of worst group")),
        (OF_ALL, OF_ALL, ("A", "B")),
    ],
)
def test_the_result_names_the_thresholds_where_they_are_not_the_same(first, second, names):
    result = difference(faces(0), first, second)
    assert (result.attrs["a"], result.attrs["b"]) == names


@pytest.mark.parametrize(
    "other", [dict(far=[0.1, 0.2]), dict(threshold=[LOW, HIGH]), dict(far=[0.1], by="group")]
)
def test_several_levels_must_be_the_same_and_groups_too(other):
    scores = fk.score_tensor(faces(0))
    first, second = fk.evaluate(scores, threshold=[LOW]), fk.evaluate(scores, **other)
    with refused():
        fk.compare(first, second, "frr" if "by" not in other else "frr_group")


@pytest.mark.slow
def test_the_standard_error_of_two_policies_is_the_spread_over_new_people():
    results = [difference(faces(seed), OF_ALL, OF_WORST) for seed in range(1000, 1160, 2)]
    estimates = [result.estimate.item() for result in results]
    variances = [result.se.item() ** 2 for result in results]
    assert 0.75 < np.sqrt(np.mean(variances)) / np.std(estimates, ddof=1) < 1.3
