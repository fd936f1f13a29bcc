"""Intervals and floors of disparities, against loops over replicates of the slow twin."""

import warnings
from math import exp, log

import numpy as np
import pytest
import xarray as xr
from engine_cases import as_twin, counts, people
from twin import empirical, vstatistic, weighted
from twin_intervals import interval_by_hand
from twin_rates import summary

import frkit as fk
from frkit.intervals.permutation import permutations
from frkit.measures import measure

FAR = (0.1, 0.25)
SIZES = [6, 7, 9, 5, 8, 6, 10, 7, 6, 8, 9, 6]
GROUPS = ["a", "b", "c"]
N = 12
RESAMPLING = fk.Resampling("image", n=N, seed=3)
LEVEL = 1  # of FAR, at which every group has errors
FORMS = ("max_min", "max_geomean", "log_geomean", "gini", "max_difference")
MEASURES = [*(f"{kind}_{form}" for kind in ("far", "frr") for form in FORMS), "fdr", "ir", "garbe"]


# --- one small evaluation, and the twin's group rates of every node -------------------------------
@pytest.fixture(scope="module")
def scores():
    return fk.score_tensor(people(SIZES, groups=GROUPS, dim=3), chunks=13)


@pytest.fixture(scope="module")
def evaluation(scores):
    return fk.evaluate(scores, far=FAR, by="gender", resampling=RESAMPLING)


@pytest.fixture(scope="module")
def rates(scores):
    """FAR and FRR of the groups, of the data, the V-statistic and each replicate, at one level."""
    twin = as_twin(scores, "gender")
    drawn = [weighted(twin, *counts(twin, RESAMPLING, b)) for b in range(N)]
    nodes = []
    for pairs in (empirical(twin), vstatistic(twin), *drawn):
        node = summary(pairs, far=FAR, groups=GROUPS)
        groups = {name: ("group", node[name][LEVEL]) for name in ("far_group", "frr_group")}
        nodes.append(xr.Dataset(groups))
    return nodes


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
@pytest.mark.parametrize("name", MEASURES)
def test_intervals_from_replicates_equal_the_twin(name, evaluation, rates):
    estimate, centre, *replicates = (float(measure(name)(node)) for node in rates)
    values = estimate, centre, replicates
    assert np.isfinite(replicates).all()
    for method in ("naive", "recentered", "pivotal"):
        band = fk.band(evaluation, name, method=method, level=0.8).isel(far_level=LEVEL)
        np.testing.assert_allclose([band.estimate, band.centre], values[:2], rtol=1e-9)
        if method == "pivotal" and measure(name).scale == "log":
            logs = log(values[0]), log(values[1]), [log(value) for value in values[2]]
            ends = [exp(end) for end in interval_by_hand(*logs, method, 0.8)]
        else:
            ends = interval_by_hand(*values, method, 0.8)
        np.testing.assert_allclose([band.lower, band.upper], ends, rtol=1e-9)
    if name.startswith("far_"):  # FAR has no diagonal
        np.testing.assert_array_equal(band.centre, band.estimate)


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_what_has_no_fair_value_has_no_floor(evaluation):
    with pytest.raises(fk.InputError, match="no fair value"):
        fk.fair_floor(evaluation, "frr_group")


def test_groups_that_are_not_there_are_asked_for(scores):
    without = fk.evaluate(scores, far=FAR)
    for ask in (fk.band, fk.fair_floor):
        with pytest.raises(fk.InputError, match="by='the name of an attribute'"):
            ask(without, "frr_max_min")


@pytest.mark.filterwarnings("ignore:.*fewer than ten false accepts:frkit.DataWarning")
def test_a_group_too_small_is_named_and_stays():
    faces = people([6, 7, 9, 5, 6], groups=["a", "b", "c", "a", "b"], dim=3)
    with pytest.warns(fk.DataWarning, match="FAR of 'c'"):
        ev = fk.evaluate(fk.score_tensor(faces), far=[0.3], by="gender")
    assert ev["empirical"].group.values.tolist() == ["a", "b", "c"]
    with pytest.warns(fk.DataWarning, match="without 'c'.*two of its people"):
        band = fk.band(ev, "far_max_min")
    rates = ev["empirical"].far_group.values[0, :2]
    assert float(band.estimate[0]) == pytest.approx(rates.max() / rates.min())


def test_nothing_is_said_twice_of_an_evaluation(scores):
    draws = fk.Resampling("identity", n=20, strata="gender")
    ev = fk.evaluate(scores, far=[0.3], by="gender", resampling=draws)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for name in ("frr_max_min", "frr_gini", "frr_max_min", "frr_group"):
            fk.band(ev, name)
        fk.band(ev, "far_gini", method="pivotal")
        fk.compare(ev, ev, "frr_gini")
    messages = [str(warning.message) for warning in given]
    assert any("up to √3 times too wide at low FAR" in message for message in messages)
    assert len(messages) == len(set(messages))


# --- an exact test --------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_permutations_equal_those_evaluated_one_by_one():
    faces = people([6, 7, 8, 5, 6, 7, 6, 5], groups=["a", "b"], dim=3)
    scores = fk.score_tensor(faces)
    evaluation = fk.evaluate(scores, far=[0.1, 0.3], by="gender")
    threshold = evaluation["empirical"].threshold.values
    who, first, owner = np.unique(faces.identity.values, return_index=True, return_inverse=True)
    code = np.searchsorted(["a", "b"], faces.gender.values[first])
    nodes = []
    for permuted in permutations(code, 19, 3):
        gender = np.array(["a", "b"])[permuted][owner]
        permuted = fk.score_tensor(faces.assign_coords(gender=("image", gender)))
        node = fk.evaluate(permuted, threshold=threshold, by="gender")["empirical"]
        nodes.append(node.to_dataset())
    for name, away in (("far_gini", 1), ("fdr", -1)):
        test = fk.permutation_test(scores, name, by="gender", far=[0.1, 0.3], n=19, seed=3)
        values = np.array([measure(name)(node) for node in nodes])
        estimate = measure(name)(evaluation["empirical"].to_dataset())
        reached = (away * values >= away * estimate.values - 1e-12).sum(0)
        np.testing.assert_allclose(test.estimate, estimate)
        np.testing.assert_allclose(test.p, (1 + reached) / 20)
        np.testing.assert_allclose(test["median"], np.median(values, axis=0), rtol=1e-9)


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_permutations_of_models_and_of_lists():
    faces = people([6, 7, 8, 5, 6, 7, 6, 5], groups=["a", "b"], dim=3)
    tensor, options = fk.score_tensor(faces), {"by": "gender", "far": [0.1], "n": 39}
    both = fk.score_tensor(fk.stack_models({"A": faces, "B": faces}))
    for_both_models = fk.permutation_test(both, "far_gini", **options)
    for_one_model = fk.permutation_test(tensor, "far_gini", **options)
    np.testing.assert_array_equal(for_both_models.p.sel(model="B"), for_one_model.p)
    i, j = np.triu_indices(faces.sizes["image"], 1)
    names, who, gender = (faces[name].values for name in ("image", "identity", "gender"))
    labels = {"probe": names[i], "reference": names[j]}
    labels |= {"probe_identity": who[i], "reference_identity": who[j]}
    pairs = fk.pairs(tensor.values[i, j], gender=(gender[i], gender[j]), **labels)
    listed = fk.permutation_test(pairs, "frr_max_min", **options)
    pooled = fk.permutation_test(tensor, "frr_max_min", weighting="pair", **options)
    np.testing.assert_allclose(listed.p, pooled.p)
    mixed = fk.pairs(tensor.values[i, j], gender=np.where(i % 2, "a", "b"), **labels)
    with pytest.raises(fk.InputError, match="labels of 'gender' differ between"):
        fk.permutation_test(mixed, "frr_max_min", **options)


def test_a_permutation_test_needs_a_disparity_of_rates_and_whole_people(scores):
    with pytest.raises(fk.InputError, match="no fair value"):
        fk.permutation_test(scores, "frr", by="gender", far=[0.3])
    with pytest.raises(fk.InputError, match="several people of one"):
        fk.permutation_test(scores, "frr_gini", by="gender", far=[0.3], varying="split")


def test_a_permutation_test_of_pairs_without_identities_says_what_is_missing():
    nameless = fk.pairs(np.arange(40.0), np.arange(40) > 20, race=["a", "b"] * 20)
    with pytest.raises(fk.InputError, match="no identities"):
        fk.permutation_test(nameless, "frr_max_min", by="race", far=[0.1], n=9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_a_permutation_test_is_exact_where_groups_are_alike():
    """Labels at random: p <= 20 % in at most 20 % of 60 data sets, but for chance (.999)."""
    small, mix = 0, fk.vmf.mixture(24, 8, kappa=(4, 12), seed=1)
    for seed in range(60):
        faces = mix.sample(4, seed=seed)
        one_of_two = np.random.default_rng(seed).permutation(np.repeat(["a", "b"], [8, 16]))
        labels = dict(zip(np.unique(faces.identity.values), one_of_two, strict=True))
        faces = faces.assign_coords(gender=("image", [labels[k] for k in faces.identity.values]))
        options = {"by": "gender", "far": [0.1], "n": 19}
        test = fk.permutation_test(fk.score_tensor(faces), "frr_max_difference", **options)
        small += test.p.item() <= 0.2
    assert small <= 22


def test_a_far_rests_on_false_accepts_alone():
    """A system without false rejects has FARs of groups as certain as any other."""
    mix = fk.vmf.mixture(30, 16, kappa=(2000, 3000), seed=0, groups={"a": {}, "b": {}})
    evaluation = fk.evaluate(fk.score_tensor(mix.sample(4, seed=1)), far=[0.1], by="group")
    assert evaluation["empirical"].false_rejects == 0
    assert fk.band(evaluation, "far_group").resolved.all()  # a warning here would fail the test
    assert fk.band(evaluation, "far_max_min").resolved.all()
    with pytest.warns(fk.DataWarning, match="fewer than ten false accepts"):
        assert not fk.band(evaluation, "frr_group").resolved.any()
