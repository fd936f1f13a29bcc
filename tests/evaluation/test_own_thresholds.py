"""far_of="own group": each group is read at the threshold of its own FAR."""

import numpy as np
import pytest
from refusals import refused

import frkit as fk

FAR = [0.01, 0.1]


@pytest.fixture(scope="module")
def faces():
    mixture = fk.vmf.mixture(40, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {"kappa": 20}})
    return mixture.sample(6)


@pytest.fixture(scope="module")
def evaluation(faces):
    draws = fk.Resampling("identity", n=20)
    scores = fk.score_tensor(faces)
    return fk.evaluate(scores, far=FAR, by="group", far_of="own group", resampling=draws)


def alone(faces, group):
    chosen = np.flatnonzero(faces.group.values == group)
    return fk.evaluate(fk.score_tensor(faces.isel(image=chosen)), far=FAR)


@pytest.mark.parametrize("group", ["a", "b"])
def test_a_group_has_the_rates_that_it_has_alone(faces, evaluation, group):
    data, of_group = alone(faces, group)["empirical"], evaluation["empirical"].sel(group=group)
    np.testing.assert_array_equal(of_group.threshold_group, data.threshold)
    np.testing.assert_allclose(of_group.far_group, data.far, rtol=1e-12)
    np.testing.assert_allclose(of_group.frr_group, data.frr, rtol=1e-12)
    assert (of_group.far_group <= np.array(FAR) * (1 + 1e-9)).all()


@pytest.mark.parametrize("group", ["a", "b"])
def test_the_interval_of_its_threshold_is_nearly_the_one_alone(faces, evaluation, group):
    """Its own curve is read at other places."""
    expected = fk.band(alone(faces, group), "threshold")
    band = fk.band(evaluation, "threshold_group").sel(group=group)
    for end in ("lower", "upper"):
        np.testing.assert_allclose(band[end], expected[end], atol=0.005)


def test_replicates_find_thresholds_of_their_own(evaluation):
    replicates = evaluation["replicates"].to_dataset()
    assert replicates.threshold_group.dims == ("replicate", "far_level", "group")
    assert float(replicates.threshold_group.std("replicate").min()) > 0
    assert (replicates.far_group <= 0.1 + 1e-9).all()


def test_thresholds_with_errors_of_their_own_are_not_tested_as_one(evaluation):
    """The test of equal groups holds one threshold for all."""
    assert "p" not in fk.band(evaluation, "frr_max_difference")
    with refused("far_of='own group'"):
        fk.compare(evaluation, "frr_group", groups="all")


def test_thresholds_of_groups_of_distances_are_distances(faces):
    who, group = faces.identity.values, faces.group.values
    distances = 1 - fk.score_tensor(faces).values
    scores = fk.score_matrix(
        distances, who, who, distance=True, same_images=True, attributes={"group": (group, group)}
    )
    data = fk.evaluate(scores, far=FAR, by="group", far_of="own group")["empirical"]
    assert (data.threshold_group > 0).all() and (data.threshold > 0).all()


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_a_group_without_a_genuine_pair_has_no_frr_and_no_warning_of_numpy():
    who = ["ann", "bob", "cat", "cat", "dan", "dan"]
    group = ["a", "a", "b", "b", "b", "b"]
    vectors = np.random.default_rng(0).normal(size=(6, 4))
    scores = fk.score_tensor(fk.faces(vectors, who, group=group))
    for far_of in ("all", "own group"):
        evaluation = fk.evaluate(scores, far=[0.2], by="group", far_of=far_of)
        for target in ("new people", "these people"):
            band = fk.band(evaluation, "frr_group", target=target).squeeze()
            assert np.isnan(band.estimate.sel(group="a")) and np.isnan(band.upper.sel(group="a"))
            assert band.estimate.sel(group="b").notnull()
