"""Kept pairs: what is kept, whatever the chunks; what they answer, stored or in part."""

import dask
import numpy as np
import pytest
import xarray as xr
from engine_cases import FAR, looked_up, people, table
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from threadpoolctl import threadpool_limits

import frkit as fk
from frkit.evaluation import sweep as public
from frkit.scores import blocks

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
NODES = ("empirical", "vstatistic", "replicates", "people")


def faces_of_groups(n_people=100, shares=(0.6, 0.3, 0.1)):
    """Four images each of people in three groups, of which the last is small."""
    sizes = np.round(np.array(shares) * n_people).astype(int)
    return people([4] * n_people, dim=16, groups=np.repeat(["x", "y", "z"], sizes))


def impostor_scores(faces, scores):
    """Scores of all impostor pairs, each once, and their groups where both have the same."""
    row, col = np.triu_indices(len(scores), 1)
    with threadpool_limits(1):  # as in the sweep: more threads multiply in another order
        values = scores.values
    who, group = faces.identity.values, faces.gender.values
    impostor = who[row] != who[col]
    row, col = row[impostor], col[impostor]
    return values[row, col], np.where(group[row] == group[col], group[row], "")


def assert_same_answers(first, second):
    """Two evaluations agree in every bit of every node."""
    assert first.groups == second.groups
    for node in first.groups:
        xr.testing.assert_identical(
            first[node].to_dataset().drop_attrs(), second[node].to_dataset().drop_attrs()
        )


# --- what is kept --------------------------------------------------------------------------------


def test_all_pairs_above_the_deepest_level_are_kept_and_the_others_stand_for_the_rest(few_are_kept):
    faces = faces_of_groups()
    scores = fk.score_tensor(faces)
    kept = fk.sweep(scores, far=0.1, by=[])
    pairs = kept["pairs"].to_dataset()
    who = faces.identity.values
    is_impostor = who[pairs.probe_image] != who[pairs.reference_image]
    every = np.sort(impostor_scores(faces, scores)[0])[::-1]
    single = pairs.score[is_impostor & (pairs.stands_for == 1)]
    assert len(single) >= 0.1 * len(every)
    np.testing.assert_array_equal(np.sort(single)[::-1], every[: len(single)])
    assert pairs.attrs["impostor_pairs"] == len(every)
    assert is_impostor.sum() < 0.5 * len(every)
    total = float(pairs.stands_for[is_impostor].sum())
    assert total == pytest.approx(len(every), rel=0.05)
    assert (~is_impostor).sum() == 100 * 6 and set(pairs.stands_for.values[~is_impostor]) == {1}


@pytest.mark.slow
def test_neither_chunks_nor_the_order_of_blocks_nor_threads_matter(few_are_kept, monkeypatch):
    faces = faces_of_groups(160)
    whole = fk.sweep(fk.score_tensor(faces), far=0.05)
    assert int(whole["pairs"].stands_for.max()) > 1

    @settings(max_examples=6, deadline=None, derandomize=True)
    @given(st.integers(100, 640), st.integers(0, 99), st.sampled_from([1, 4]))
    def check(chunks, seed, workers):
        def shuffled(shape, symmetric):
            in_order = [(i, j) for i, j in np.ndindex(shape) if i <= j or not symmetric]
            return [in_order[k] for k in np.random.default_rng(seed).permutation(len(in_order))]

        monkeypatch.setattr(blocks, "blocks_in_order", shuffled)
        with dask.config.set(num_workers=workers):
            xr.testing.assert_identical(
                fk.sweep(fk.score_tensor(faces).chunk(probe=chunks, reference=chunks), far=0.05),
                whole,
            )

    check()


@pytest.mark.slow
def test_models_do_not_change_each_other(few_are_kept):
    first = faces_of_groups()
    second = first.assign(embedding=first.embedding.roll(feature=1) ** 3)
    both = fk.sweep(fk.score_tensor(fk.open_data({"b": first, "a/b": second})))
    for name, faces in {"b": first, "a/b": second}.items():
        alone = fk.evaluate(fk.sweep(fk.score_tensor(faces)), far=FAR, by="gender")
        selected = fk.evaluate(both.sel(model=name), far=FAR, by="gender")
        assert_no_difference = xr.testing.assert_identical
        assert_no_difference(
            selected["empirical"].to_dataset().drop_attrs().drop_vars("model", errors="ignore"),
            alone["empirical"].to_dataset().drop_attrs(),
        )


def test_an_answer_from_thinned_pairs_lies_within_its_stated_error(few_are_kept):
    """FAR at thresholds far below those that were asked for, of all, of groups and between."""
    faces = faces_of_groups()
    scores = fk.score_tensor(faces)
    every, group = impostor_scores(faces, scores)
    thresholds = np.quantile(every, [0.3, 0.5, 0.7, 0.9])
    kept = fk.sweep(scores, far=1e-3)
    data = fk.evaluate(kept, threshold=thresholds, by="gender", weighting="pair")["empirical"]
    exact = np.array([(every > t).mean() for t in thresholds])
    assert 0 < data.thinned.max() < 0.05
    assert np.all(abs(data.far / exact - 1) <= 4 * data.thinned + 1e-12)
    for name in "xyz":
        exact = np.array([(every[group == name] > t).mean() for t in thresholds])
        rates = data.to_dataset().sel(group=name)
        assert np.all(abs(rates.far_group / exact - 1) <= 4 * rates.thinned_group + 1e-12)


@pytest.mark.slow
def test_thinning_adds_its_variance_once_to_that_of_the_far(few_are_kept, monkeypatch):
    """At thresholds far below those that were asked for, where it is larger than that of people."""
    faces = faces_of_groups()
    scores = fk.score_tensor(faces)
    options = {"threshold": np.quantile(impostor_scores(faces, scores)[0], [0.5, 0.7])}

    def variance_and_rates(kept):
        rates = fk.evaluate(kept, **options)
        far = fk.band(rates, "far")
        return far.estimate * (1 - far.estimate) / far.n_effective, rates["empirical"]

    added = []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(faces.sizes["image"])
        kept = fk.sweep(fk.score_tensor(faces.isel(image=order)), far=1e-3)
        variance, rates = variance_and_rates(kept)
        added.append((variance, (rates.far * rates.thinned) ** 2))
    monkeypatch.setattr(public, "WHOLE", 1e9)
    variance_of_all, _ = variance_and_rates(fk.sweep(scores, far=1e-3))
    variance, of_thinning = np.mean(added, axis=0)
    assert (of_thinning > 2 * variance_of_all).all()
    np.testing.assert_allclose(variance - variance_of_all, of_thinning, rtol=0.2)


@pytest.mark.slow
def test_thinned_rates_are_right_on_average(few_are_kept):
    """Over images in other orders, which thin other pairs: no drift in FAR or in a group's FAR."""
    faces = faces_of_groups()
    every, group = impostor_scores(faces, fk.score_tensor(faces))
    thresholds = np.quantile(every, [0.5, 0.8])
    exact = np.array([(every > t).mean() for t in thresholds])
    exact_of_x = np.array([(every[group == "x"] > t).mean() for t in thresholds])
    errors = []
    for seed in range(15):
        order = np.random.default_rng(seed).permutation(faces.sizes["image"])
        kept = fk.sweep(fk.score_tensor(faces.isel(image=order)), far=1e-3)
        rates = fk.evaluate(kept, threshold=thresholds, by="gender", weighting="pair")["empirical"]
        far_of_x = rates.far_group.sel(group="x")
        errors.append(np.concatenate([rates.far / exact - 1, far_of_x / exact_of_x - 1]))
    standard_error = np.std(errors, axis=0, ddof=1) / np.sqrt(15)
    assert (standard_error > 0).all()
    assert (abs(np.mean(errors, axis=0)) < 3.5 * standard_error).all()


@pytest.mark.slow
def test_stated_errors_are_as_large_as_the_real_ones():
    """Of 4,800 images, so that many pairs have their level from the same place of the pattern."""
    faces = faces_of_groups(1200, shares=(0.5, 0.3, 0.2))
    scores = fk.score_tensor(faces)
    every, group = impostor_scores(faces, scores)
    thresholds = np.quantile(every[::100], [0.6, 0.75, 0.9])
    kept = fk.sweep(scores, far=1e-3)
    data = fk.evaluate(kept, threshold=thresholds, by="gender", weighting="pair")["empirical"]
    in_errors = []
    for name in "xyz":
        rates = data.to_dataset().sel(group=name)
        exact = np.array([(every[group == name] > t).mean() for t in thresholds])
        in_errors.append((rates.far_group / exact - 1) / rates.thinned_group)
    assert 0.2 < np.sqrt(np.mean(np.square(in_errors))) < 2


@pytest.mark.slow
def test_the_few_pairs_of_high_levels_stand_for_the_right_number(monkeypatch):
    """Of 24 million impostor pairs one in thousands is kept at the lowest scores."""
    for module in (blocks, public):
        monkeypatch.setattr(module, "PRECISE", 4_000)
    scores = fk.score_tensor(faces_of_groups(1750, shares=(0.5, 0.3, 0.2)))
    pairs = fk.sweep(scores, far=1e-6, by=[])["pairs"]
    n_genuine = 1750 * 6
    stands_for = pairs.stands_for.values.sum(dtype=float) - n_genuine
    assert stands_for == pytest.approx(pairs.attrs["impostor_pairs"], rel=0.05)


def test_small_groups_are_thinned_apart_from_the_others(few_are_kept):
    faces = faces_of_groups()
    scores = fk.score_tensor(faces)
    options = {"threshold": [0.0], "by": "gender", "weighting": "pair"}
    apart = fk.evaluate(fk.sweep(scores, far=1e-3), **options)["empirical"]
    together = fk.evaluate(fk.sweep(scores, far=1e-3, by=[]), **options)["empirical"]
    for name in ("y", "z"):
        errors = [ev.thinned_group.sel(group=name).item() for ev in (apart, together)]
        assert errors[0] < 0.6 * errors[1]
    every, group = impostor_scores(faces, scores)
    assert apart.thinned_group.sel(group="z").item() == 0
    exact = (every[group == "z"] > 0).mean()
    assert apart.far_group.sel(group="z").item() == pytest.approx(exact, rel=1e-12)


def test_pairs_above_a_threshold_are_all_kept(few_are_kept):
    scores = fk.score_tensor(faces_of_groups())
    data = fk.evaluate(fk.sweep(scores, threshold=[0.4, -0.2]), threshold=[-0.2])["empirical"]
    assert "thinned" in data and data.thinned.item() == 0


# --- what kept pairs answer ----------------------------------------------------------------------


def designs():
    """Scores of every design, with failed comparisons where they can fail."""
    score, faces = table("unequal", seed=3)
    sides = score.copy()
    sides[2, 5] = sides[7, :] = -1
    who = faces.identity.values
    gender = {"gender": (faces.gender.values, faces.gender.values)}
    names = faces.image.values
    rectangle = fk.score_matrix(
        sides[:15, 5:], who[:15], who[5:], probe=names[:15], reference=names[5:], missing=-1,
        attributes={"gender": (faces.gender.values[:15], faces.gender.values[5:])},
    )  # fmt: skip
    row, col = np.triu_indices(len(score), 1)
    listed = fk.pairs(
        score[row, col],
        probe=names[row],
        reference=names[col],
        probe_identity=who[row],
        reference_identity=who[col],
        gender=(faces.gender.values[row], faces.gender.values[col]),
    )
    return {
        "tensor": fk.score_tensor(people("unequal")),
        "own similarity": looked_up(score, faces),
        "asymmetric": fk.score_matrix(
            sides + np.triu(np.full_like(score, 0.5)), who, who, probe=names, reference=names,
            same_images=True, missing=-1, attributes=gender,
        ),
        "rectangle": rectangle,
        "models": fk.score_tensor(
            fk.open_data({"one": people("unequal"), "other": people("unequal", seed=0) * 1.0})
        ),
        "list": listed,
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "design", ["tensor", "own similarity", "asymmetric", "rectangle", "models", "list"]
)
def test_kept_pairs_stored_and_opened_give_the_same_as_the_scores(design, tmp_path):
    scores = designs()[design]
    options = {"far": FAR, "by": "gender", "histogram": (10, (-9, 9))}
    options["resampling"] = fk.Resampling("image", n=3)
    from_scores = fk.evaluate(scores, **options)
    kept = fk.sweep(scores)
    assert_same_answers(fk.evaluate(kept, **options), from_scores)
    kept.to_netcdf(tmp_path / "kept.nc")
    assert_same_answers(fk.evaluate(fk.open_data(tmp_path / "kept.nc"), **options), from_scores)


@pytest.mark.slow
def test_scores_of_a_list_that_were_changed_are_read_anew():
    options = {"far": FAR, "by": "gender"}
    kept = designs()["list"]
    before = fk.evaluate(kept, **options)
    assert_same_answers(fk.evaluate(kept, **options), before)
    kept["pairs"]["score"].values[::7] -= 0.5
    after = fk.evaluate(kept, **options)
    assert not after["empirical"].frr.equals(before["empirical"].frr)
    assert_same_answers(after, fk.evaluate(kept.copy(deep=True), **options))


def test_an_image_of_which_all_comparisons_failed_is_marked_and_left_out():
    score, faces = table("equal", seed=1)
    score[4, :] = score[:, 4] = np.nan
    who, names = faces.identity.values, faces.image.values
    kept = fk.sweep(
        fk.score_matrix(score, who, who, probe=names, reference=names, same_images=True)
    )
    pairs = kept["pairs"]
    assert pairs.failed.values.nonzero()[0].tolist() == [4]
    failed = np.isnan(pairs.score.values)
    assert np.all(who[pairs.probe_image[failed]] == who[pairs.reference_image[failed]])
    others = np.arange(len(who)) != 4
    left = fk.score_matrix(
        score[others][:, others], who[others], who[others], probe=names[others],
        reference=names[others], same_images=True,
    )  # fmt: skip
    rates = [fk.evaluate(s, far=FAR, weighting="pair")["empirical"] for s in (kept, left)]
    for name in ("threshold", "far", "frr", "eer"):
        np.testing.assert_allclose(rates[0][name], rates[1][name], rtol=1e-12)


def test_an_unknown_attribute_is_named():
    with refused("color", "gender"):
        fk.sweep(fk.score_tensor(people("unequal")), by="color")


def test_a_list_is_kept_as_it_is():
    listed = designs()["list"]
    assert fk.sweep(listed).identical(listed)


def test_what_is_in_a_file_of_kept_pairs_is_shown(tmp_path):
    fk.sweep(designs()["models"]).to_netcdf(tmp_path / "kept.nc")
    shown = fk.look(tmp_path / "kept.nc")
    assert "24 images of 8 people" in shown and "models: one, other" in shown
    assert shown.endswith("kept.nc --by gender")


@pytest.mark.slow
@pytest.mark.usefixtures("brief_reports")
def test_a_report_of_kept_pairs_has_the_numbers_of_the_scores():
    faces = fk.vmf.mixture(30, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}}).sample(
        4, seed=1
    )
    scores = fk.score_tensor(faces)
    options = {"by": "group", "far": [0.01, 0.1], "quick": True, "progress": False}
    from_kept, from_scores = (fk.report(data, **options) for data in (fk.sweep(scores), scores))
    for name, expected in from_scores.tables.items():
        assert from_kept.tables[name].to_latex() == expected.to_latex(), name


@pytest.mark.slow
@pytest.mark.usefixtures("brief_reports")
def test_a_full_report_of_kept_pairs_of_two_models_has_a_plan_for_each():
    faces = fk.vmf.mixture(30, 16, kappa=(10, 40), seed=0).sample(4, seed=1)
    kept = fk.sweep(fk.score_tensor(fk.open_data({"one": faces, "two": faces})))
    report = fk.report(kept, far=[0.1], progress=False)
    plans = [plan for (section, _), plan in report.results.items() if section == "plan"]
    assert len(plans) == 2
    direct = fk.studies.sample_size(faces, "relative_half_width", 0.2, far=0.1)
    assert all(plan.n_identities == direct.n_identities for plan in plans)
