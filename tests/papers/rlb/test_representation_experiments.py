"""The paper's experiments in small: shares as asked for, and results of the right sign."""

import make_representation as make
import numpy as np
import pytest
import xarray as xr
from refusals import refused

import frkit as fk
from frkit import studies as ex
from frkit.papers.rlb.biased_data import PALETTES
from frkit.representation import Critic, probe

QUICK = Critic(hidden=16, iterations=150, patience=75)


@pytest.fixture(scope="module")
def faces():
    return fk.representation.shifted_classes(300, 6, distance=4, per_identity=3, seed=2)


# --- spurious representations (Table II) ---
def test_spurious_versions_keep_what_they_say(faces):
    cases = ex.spurious(faces, "group", seed=1)
    x = faces.embedding.values
    assert list(cases) == ["normal", "R_S", "R_G", "Z_S", "Z_G"]
    np.testing.assert_array_equal(np.sort(cases["R_S"].embedding, axis=1), np.sort(x, axis=1))
    rows = {row.tobytes() for row in x}
    assert {row.tobytes() for row in cases["R_G"].embedding.values} == rows
    for name in ("Z_S", "Z_G"):
        version = cases[name]
        np.testing.assert_array_equal(version.embedding, x)
        assert version.group.groupby(version.identity).map(lambda labels: labels[:1]).size == 100
    assert sorted(cases["Z_S"].group.values) == sorted(faces.group.values)


@pytest.mark.slow
def test_only_the_normal_case_shows_anything(faces):
    table = make.spurious_table(faces, "group", seed=0, critic=QUICK)
    spurious = table.drop_sel(case="normal")
    assert table.rlb.sel(case="normal") > 0.6 > 0.2 > spurious.rlb.max()
    assert (spurious.accuracy < spurious.majority + 0.1).all()
    assert (spurious.accuracy_in_sample > spurious.accuracy).all()


# --- coloured digits (Figs. 2 and 3) ---
def test_colours_are_those_of_the_digits_without_spread():
    digits = ex.coloured_digits("extreme", 0.0)
    names = np.array(list(PALETTES["extreme"]))
    np.testing.assert_array_equal(digits.colour, names[digits.digit.values.astype(int)])
    two = ex.coloured_digits("moderate", 0.0)
    np.testing.assert_array_equal(two.colour == "red", two.digit.values.astype(int) < 5)


def test_parts_share_no_digit_and_colours_follow_the_seed():
    train, test = (ex.coloured_digits("moderate", 0.0, part=part) for part in ("train", "test"))
    assert train.sizes["image"] + test.sizes["image"] == 1797
    painted = ex.coloured_digits("moderate", 0.3)
    xr.testing.assert_identical(painted, ex.coloured_digits("moderate", 0.3))
    assert not painted.equals(ex.coloured_digits("moderate", 0.3, seed=1))


@pytest.mark.slow
def test_less_biased_colours_give_less_bias():
    result = make.bias_of_digits("moderate", None, 0, [0.05, 0.8], critic=QUICK)
    for name in ("rlb", "dcor2", "dataset_bias"):
        assert result[name][0] > result[name][1], name


# --- crossed identities (Fig. 4) ---
def test_shares_are_those_asked_for():
    faces = make.crossed_faces(400, 10, female=0.2, black=0.7, seed=1)
    assert (faces.sex == "female").mean() == pytest.approx(0.2, abs=0.03)
    assert (faces.race == "Black").mean() == pytest.approx(0.7, abs=0.03)
    assert (faces.race == "Indian").mean() == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("classes", [2, 4])
def test_the_dominant_share_has_the_entropy(classes):
    share = make.dominant_share(0.6 * np.log(classes), classes)
    rest = (1 - share) / (classes - 1)
    entropy = -share * np.log(share) - (classes - 1) * rest * np.log(rest)
    assert entropy == pytest.approx(0.6 * np.log(classes))
    assert make.dominant_share(np.log(classes), classes) == pytest.approx(1 / classes)


@pytest.mark.slow
def test_unbalanced_training_gives_more_bias():
    shares = [(0.5, 0.25), (0.02, 0.25)]
    results = [make.crossed_bias(shares, seed, "sex", 200, QUICK).rlb.values for seed in (0, 1)]
    balanced, unbalanced = np.mean(results, axis=0)
    assert unbalanced > balanced + 0.1


# --- debiasing (Tables III and IV, Fig. 7) ---
def test_labels_go_along_with_groups():
    tasks = ex.biased_tasks(20_000)
    women = tasks.label[tasks.sex.values == "female"].mean("image")
    np.testing.assert_allclose(women[:4], [0.75, 0.25, 0.75, 0.25], atol=0.02)
    black = tasks.label[tasks.race.values == "Black"].mean("image")
    np.testing.assert_allclose(black[4:], [0.75, *3 * [0.5 - 0.25 / 3]], atol=0.02)


@pytest.fixture(scope="module")
def encoded():
    train, test = ex.biased_tasks(1500, seed=0), ex.biased_tasks(1500, seed=1)
    return {method: make.debiased(train, "sex", method)(test) for method in make.METHODS}


@pytest.mark.slow
def test_what_each_method_promises(encoded):
    bias = {method: float(probe(faces, "sex").dataset_bias) for method, faces in encoded.items()}
    right = {
        method: float((faces.predicted == faces.label).mean()) for method, faces in encoded.items()
    }
    assert bias["baseline"] > bias["resampling"] > 0.1
    assert abs(bias["subspace removed"]) < 0.02 and abs(bias["groups aligned"]) < 0.02
    assert max(right, key=right.get) == "classifier per group"
    assert right["subspace removed"] < right["baseline"]


@pytest.mark.slow
def test_the_table_holds_every_measure():
    methods = ["baseline", "groups aligned"]
    table = make.debiasing_table("race", 400, 0, methods, QUICK)
    assert table.accuracy.sizes == {"family": 2, "group": 8}
    assert (table.average_precision > table.bias_score.max()).all()
    assert table.dcor2.sel(family="baseline") > table.dcor2.sel(family="groups aligned")
    assert table.rlb.sel(family="baseline") > table.rlb.sel(family="groups aligned")


def test_a_negative_spread_is_refused():
    with refused("sigma"):
        ex.coloured_digits("moderate", -0.1)
