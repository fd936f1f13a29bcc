"""What `evaluate` accepts, refuses, warns of, and writes down about itself."""

import json
import warnings
from itertools import product

import numpy as np
import pytest
import xarray as xr
from engine_cases import FAR, check_evaluation, people, split_by
from refusals import noticed, refused

import frkit as fk
from frkit.intervals import provenance

quiet = pytest.mark.filterwarnings("ignore::frkit.DataWarning")


@pytest.fixture(scope="module")
def scores():
    """Six people of four images."""
    return fk.score_tensor(people("equal"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(far=[0.1, 1.5]), "1.5"),
        (dict(far=[]), "far"),
        (dict(histogram=(10, 5)), "histogram"),
        (dict(histogram=True), "histogram"),
        (dict(far=[0.1], threshold=[0.5]), "threshold="),
        (dict(threshold=[np.inf]), "inf"),
        (dict(by="age"), "age"),
        (dict(by=["gender", "gender"]), "['gender', 'gender']"),
        (dict(weighting="equal"), "equal"),
        (dict(weighting={"id0": 1.0}), "id1"),
        (dict(weighting=[1, 1, 1, 1, 1, 1]), "weighting"),
        (dict(weighting={f"id{k}": k - 1 for k in range(6)}), "weighting"),
        (dict(impostors="some"), "some"),
        (dict(impostors="same-group"), "by="),
        (dict(resampling=fk.Resampling("identity", n=2, strata="gender")), "strata"),
    ],
)
def test_options_that_make_no_sense_are_refused(scores, options, message):
    with refused(message):
        fk.evaluate(scores, **options)


def test_scores_that_are_none_are_refused(scores):
    with refused("fk.score_tensor"):
        fk.evaluate(np.ones((4, 4)), far=FAR)
    with refused("image"):
        fk.evaluate(fk.score_tensor(people("equal")).isel(probe=[]), far=[0.1])
    with refused("model", "gender"):
        fk.evaluate(fk.score_tensor(fk.open_data({"A": people("equal")})), by="model")
    with refused("far", 2):
        fk.sweep(fk.sweep(scores), far=2)
    with refused("genuine"):
        fk.evaluate(fk.score_matrix([[0.1, 0.2]], ["a"], ["b", "c"]), far=FAR)
    with refused("impostor"):
        fk.evaluate(fk.score_matrix([[0.1, 0.2]], ["a"], ["a", "a"]), far=FAR)


@quiet
def test_crossed_attributes_make_one_label():
    faces = people("equal", groups=("f", "m"))
    race = np.where(faces.identity.values < "id3", "A", "B")
    both = [f"{g} & {r}" for g, r in zip(faces.gender.values, race)]
    scores = fk.score_tensor(faces.assign_coords(race=("image", race), both=("image", both)))
    options = dict(far=FAR, resampling=fk.Resampling("image", n=2))
    crossed = fk.evaluate(scores, by=["gender", "race"], **options)
    other = fk.evaluate(scores, by="both", **options)
    assert crossed["empirical"].group.values.tolist() == ["f & A", "f & B", "m & A", "m & B"]
    xr.testing.assert_equal(crossed["replicates"].dataset, other["replicates"].dataset)


@quiet
def test_an_age_that_varies_is_refused_or_settled():
    faces = people([6, 5, 4, 6, 3], ties=True)
    age = np.where(np.arange(24) % 3 == 0, "old", "young")
    kept = fk.faces(faces.embedding.values, faces.identity.values, age=age)
    scores = fk.score_tensor(kept)
    with refused("age"):
        fk.evaluate(scores, by="age", far=FAR)
    split = split_by(kept, "age")
    options = dict(by="age", far=FAR, resampling=fk.Resampling("image", n=2))
    at_use = fk.evaluate(scores, varying="split", **options)
    check_evaluation(at_use, fk.score_tensor(split), **options)


@quiet
def test_a_label_that_was_kept_belongs_to_the_image():
    """A pair counts in a group where both of its images have its label."""
    faces = people([6, 5, 4, 6, 3])
    age = np.where(np.arange(24) % 3 == 0, "old", "young")
    who = faces.identity.values
    kept = fk.faces(faces.embedding.values, who, age=age)
    scores = fk.score_tensor(kept)
    options = dict(by="age", varying="keep", weighting="pair", threshold=[0.2])
    rates = fk.evaluate(scores, **options)["empirical"].dataset.isel(threshold_level=0)
    i, j = np.triu_indices(24, 1)
    accepted = scores.values[i, j] > 0.2
    for label in ("old", "young"):
        of_group = (age[i] == label) & (age[j] == label)
        genuine = of_group & (who[i] == who[j])
        impostor = of_group & (who[i] != who[j])
        group = rates.sel(group=label)
        assert float(group.frr_group) == pytest.approx(np.mean(~accepted[genuine]))
        assert float(group.far_group) == pytest.approx(np.mean(accepted[impostor]))


def test_a_level_may_be_asked_for_twice(scores):
    twice = fk.evaluate(scores, far=[0.3, 0.1, 0.3])["empirical"]
    assert twice.far_level.values.tolist() == [0.3, 0.1, 0.3]
    assert twice.frr[0] == twice.frr[2]


def test_levels_below_one_pair_and_distances_are_noticed(scores):
    with noticed("FAR", "1e-05") as caught:
        fk.evaluate(scores, far=[1e-5, 0.1])
    assert caught[0].filename == __file__
    four = fk.score_tensor(fk.faces([[9, 0], [9, 1], [0, 9], [1, 9]], ["a", "a", "b", "b"]))
    with noticed("FAR", 0.2, 0.25):
        fk.evaluate(four, far=[0.2])
    with noticed("EER", 0.81):
        fk.evaluate(-scores.drop_attrs(), far=[0.1])


FEW = "intervals from replicates of the image scheme are too narrow"


def test_few_images_are_warned_of_by_their_share_of_the_weight(scores):
    options = dict(far=[0.1], resampling=fk.Resampling("image", n=2))
    with noticed("100%", "FRR", "6 of 6", "identity"):
        fk.evaluate(scores, **options)
    few = fk.score_tensor(people([2] * 5 + [8] * 6))
    with noticed("45%", "FRR", "5 of 11"):
        fk.evaluate(few, **options)


def test_errors_are_counted_in_every_group(scores):
    data = fk.evaluate(scores, threshold=[0.2, 0.6], by="gender")["empirical"].to_dataset()
    row, col = np.triu_indices(scores.sizes["probe"], 1)
    score, label, who = scores.values[row, col], scores.probe_gender.values, scores.probe_identity
    same, pair = who.values[row] == who.values[col], np.sort([label[row], label[col]], axis=0)
    for threshold in (0.2, 0.6):
        data_there = data.sel(threshold_level=threshold)
        accepted, rejected = ~same & (score > threshold), same & (score <= threshold)
        for g, h in product(data.group.values, repeat=2):
            there = (pair[0] == min(g, h)) & (pair[1] == max(g, h))
            cell = dict(group=g, reference_group=h)
            assert data_there.false_accepts_cross.sel(cell) == (there & accepted).sum()
            if g == h:
                assert data_there.false_accepts_group.sel(group=g) == (there & accepted).sum()
                assert data_there.false_rejects_group.sel(group=g) == (there & rejected).sum()
    enough = (data.false_accepts_group >= 10) & (data.false_rejects_group >= 10)
    assert (data.resolved_group == enough).all()


def test_provenance_says_what_was_done(scores):
    resampling = fk.Resampling("identity", n=3, seed=5)
    ev = fk.evaluate(scores, far=[0.1], by="gender", resampling=resampling, weighting="pair")
    facts = json.loads(ev.attrs["provenance"])
    expected = dict(scheme="identity", n=3, seed=5, target="new identities", weighting="pair")
    expected |= dict(by="gender", impostors="all", n_images=24, n_identities=6)
    assert facts | expected == facts
    assert {"numpy", "xarray", "dask"} <= set(facts["versions"])


@pytest.mark.slow
@quiet
def test_an_evaluation_survives_a_file(scores, tmp_path):
    ev = fk.evaluate(scores, far=FAR, by="gender", resampling=fk.Resampling("image", n=3))
    ev.to_netcdf(tmp_path / "evaluation.nc", engine="h5netcdf")
    again = fk.open_evaluation(tmp_path / "evaluation.nc")
    assert again.attrs["provenance"] == ev.attrs["provenance"]
    for node in ("empirical", "vstatistic", "replicates"):
        xr.testing.assert_equal(again[node].dataset, ev[node].dataset)
    with refused("absent.nc"):
        fk.open_evaluation(tmp_path / "absent.nc")


@quiet
def test_an_evaluation_of_an_earlier_version_is_refused(scores, tmp_path):
    """What people add to each rate had a node of its own."""
    ev = fk.evaluate(scores, far=FAR)
    of_frr = xr.Dataset({"rate": ev["empirical"].frr, "variance": ev["empirical"].frr})
    nodes = {"empirical": ev["empirical"].to_dataset(), "people/frr": of_frr}
    earlier = xr.DataTree.from_dict(nodes)
    earlier.attrs = ev.attrs
    with refused("earlier version", "again"):
        fk.band(earlier, "frr")
    earlier.to_netcdf(tmp_path / "earlier.nc", engine="h5netcdf")
    with refused("earlier version", "again"):
        fk.open_evaluation(tmp_path / "earlier.nc")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*Zarr", "ignore:Consolidated metadata")
@pytest.mark.filterwarnings("ignore:.*fewer than ten false accepts")
def test_an_evaluation_survives_zarr(scores, tmp_path):
    pytest.importorskip("zarr")
    ev = fk.evaluate(scores, far=FAR, by="gender")
    ev.to_zarr(tmp_path / "evaluation.zarr")
    again = fk.open_evaluation(tmp_path / "evaluation.zarr")
    assert again.equals(ev) and again.attrs["provenance"] == ev.attrs["provenance"]
    np.testing.assert_array_equal(fk.band(again, "frr").upper, fk.band(ev, "frr").upper)
    for chunk in (tmp_path / "evaluation.zarr/empirical/frr").rglob("*"):
        if chunk.is_file() and chunk.suffix != ".json":
            chunk.write_bytes(chunk.read_bytes()[:5])
    with refused("evaluation.zarr"):
        fk.open_evaluation(tmp_path / "evaluation.zarr")


def test_far_levels_are_even_on_the_logarithm():
    levels = fk.far_levels(1e-6, 1e-1, per_decade=4)
    assert len(levels) == 21 and levels[0] == 1e-6 and levels[-1] == 1e-1
    np.testing.assert_allclose(np.diff(np.log10(levels)), 0.25)
    with refused(0.1, 0.01):
        fk.far_levels(0.1, 0.01)


# --- levels in the order given, thresholds for each model ----------------------------------------


def two_encoders():
    groups = {"f": {}, "m": {"cohesion": 4}}
    a = fk.vmf.mixture(12, 16, kappa=(3, 9), seed=0, groups=groups).sample(6, seed=1)
    noise = np.random.default_rng(3).normal(size=a.embedding.shape).astype(np.float32)
    b = a.assign(embedding=a.embedding + 0.3 * noise)
    return fk.score_tensor(fk.open_data({"A": a, "B": b}))


@pytest.mark.slow
@quiet
def test_levels_come_back_in_the_order_given():
    scores = two_encoders()
    order = [0.1, 0.01, 0.03]
    up = fk.evaluate(scores, far=sorted(order), by="group")
    down = fk.evaluate(scores, far=order, by="group")
    assert down["empirical"].far_level.values.tolist() == order
    for node in ("empirical", "vstatistic"):
        ordered = up[node].to_dataset().sel(far_level=order)
        xr.testing.assert_identical(ordered, down[node].to_dataset())
    upper = fk.band(up, "frr_group").upper.sel(far_level=order)
    xr.testing.assert_allclose(upper, fk.band(down, "frr_group").upper)


@pytest.mark.slow
@quiet
def test_every_model_has_thresholds_of_its_own():
    scores, subset = two_encoders(), slice(24, 72)
    other = scores.isel(probe=subset, reference=subset)
    tuned = fk.evaluate(other, far=[0.1, 0.02], by="group", far_of="worst group")
    threshold = tuned["empirical"].to_dataset().threshold
    ev = fk.evaluate(scores, threshold=threshold, by="group")
    assert ev["empirical"].threshold_level.values.tolist() == [0.1, 0.02]
    np.testing.assert_array_equal(ev["empirical"].threshold, threshold)
    again = fk.evaluate(scores, threshold=threshold.sel(model=["B", "A"]), by="group")
    np.testing.assert_array_equal(again["empirical"].frr, ev["empirical"].frr)
    compared = fk.compare(ev, "frr", models=("A", "B"))
    assert compared.estimate.sizes == {"threshold_level": 2}


def test_thresholds_must_have_a_row_for_each_model():
    with refused("threshold", "A", "B"):
        threshold = xr.DataArray([[0.1]], {"model": ["A"]}, ("model", "threshold_level"))
        fk.evaluate(two_encoders(), threshold=threshold)


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_more_groups_than_memory_has_room_for_are_refused_with_what_would_fit():
    n = 2_000
    scores = fk.pairs(np.arange(2.0 * n), np.arange(2 * n) < n, race=np.arange(2 * n) % n)
    with refused("2,000 groups"):
        fk.evaluate(scores, by="race")


def test_an_evaluation_contains_its_warnings():
    scores = two_encoders()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluation = fk.evaluate(scores, far=[1e-9])
    notices = provenance(evaluation)["notices"]
    said = [str(each.message) for each in caught if issubclass(each.category, fk.DataWarning)]
    assert notices == said and any("below the weight of one impostor pair" in n for n in notices)
