"""Intervals and floors of disparities, against loops over replicates of the slow twin."""

import warnings
from math import exp, log

import numpy as np
import pytest
import xarray as xr
from engine_cases import as_twin, counts, people
from refusals import noticed, refused
from twin import empirical, vstatistic, weighted
from twin_intervals import interval_by_hand
from twin_permutation import p_of_permutations
from twin_rates import summary

import frkit as fk
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
    return fk.score_tensor(people(SIZES, groups=GROUPS, dim=3))


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
    with refused("frr_group", "fair="):
        fk.fair_floor(evaluation, "frr_group")


def test_groups_that_are_not_there_are_asked_for(scores):
    without = fk.evaluate(scores, far=FAR)
    for ask in (fk.band, fk.fair_floor):
        with refused("frr_group", "by="):
            ask(without, "frr_max_min")


@pytest.mark.filterwarnings("ignore:.*fewer than ten false accepts:frkit.DataWarning")
def test_a_group_too_small_is_named_and_stays():
    faces = people([6, 7, 9, 5, 6, 5, 6], groups=["a", "b", "c", "a", "b", "a", "b"], dim=3)
    with noticed("FAR", "c"):
        ev = fk.evaluate(fk.score_tensor(faces), far=[0.3], by="gender")
    assert ev["empirical"].group.values.tolist() == ["a", "b", "c"]
    with noticed("far_max_min", "c"):
        band = fk.band(ev, "far_max_min")
    rates = ev["empirical"].far_group.values[0, :2]
    assert float(band.estimate[0]) == pytest.approx(rates.max() / rates.min())


def test_each_call_gives_each_caution_once(scores):
    draws = fk.Resampling("identity", n=20, strata="gender")
    ev = fk.evaluate(scores, far=[0.3], by="gender", resampling=draws)
    for _ in range(2):
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            fk.band(ev, "far_gini", method="pivotal")
        messages = [str(warning.message) for warning in given]
        assert any("up to √3 times too wide at low FAR" in message for message in messages)
        assert len(messages) == len(set(messages))


# --- an exact test --------------------------------------------------------------------------------


@pytest.mark.slow
def test_p_of_equal_groups_is_near_that_of_permuted_people():
    """Six data sets, of which half have groups with other rates: p and its exact twin."""
    differences = []
    for seed in range(6):
        sharp = (8, 30) if seed % 2 else (4, 12)
        groups = {"a": {"kappa": sharp}, "b": {"kappa": (8, 30)}}
        faces = fk.vmf.mixture(60, 8, seed=seed, groups=groups).sample(4, seed=seed)
        faces = faces.rename(group="gender")
        evaluation = fk.evaluate(fk.score_tensor(faces), far=[0.1], by="gender")
        p = fk.band(evaluation, "frr_max_difference").p.item()
        exact = p_of_permutations(faces, "frr_max_difference", far=0.1, n=199, seed=seed)
        differences.append(p - exact)
    assert np.abs(differences).max() < 0.15
    assert np.abs(np.mean(differences)) < 0.05


def test_a_far_rests_on_false_accepts_alone():
    """A system without false rejects has FARs of groups as certain as any other."""
    mix = fk.vmf.mixture(30, 16, kappa=(2000, 3000), seed=0, groups={"a": {}, "b": {}})
    evaluation = fk.evaluate(fk.score_tensor(mix.sample(4, seed=1)), far=[0.1], by="group")
    assert evaluation["empirical"].false_rejects == 0
    assert fk.band(evaluation, "far_group").resolved.all()  # a warning here would fail the test
    assert fk.band(evaluation, "far_max_min").resolved.all()
    with noticed("FRR", "FAR 0.1"):
        assert not fk.band(evaluation, "frr_group").resolved.any()
