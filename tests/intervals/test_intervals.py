"""Intervals against a twin that reads like Algorithms 2 and 3, one replicate at a time."""

import numpy as np
import pytest
from refusals import noticed, refused
from trees import EMPIRICAL, FAR, node, tree, two_models
from twin_intervals import interval_by_hand, sd_by_hand

import frkit as fk

METHODS = ["recentered", "naive", "gaussian", "pivotal"]


# --- the twin -------------------------------------------------------------------------------------


def values_at(evaluation, level_index):
    estimate = float(evaluation["empirical"].frr[level_index])
    centre = float(evaluation["vstatistic"].frr[level_index])
    return estimate, centre, evaluation["replicates"].frr[:, level_index].values.tolist()


# --- bands ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_band_equals_the_twin(method, level):
    evaluation = tree()
    band = fk.band(evaluation, "frr", method=method, level=level)
    for k in range(FAR.size):
        lower, upper = interval_by_hand(*values_at(evaluation, k), method, level)
        np.testing.assert_allclose([band.lower[k], band.upper[k]], [lower, upper], rtol=1e-13)


# --- replicates that are not numbers --------------------------------------------------------------
def test_nan_replicates_are_counted_and_left_out_with_a_warning():
    replicates = 0.9 * EMPIRICAL * np.random.default_rng(2).normal(1, 0.1, (50, 4))
    replicates[:3, 1] = np.nan
    evaluation = tree(replicates=replicates)
    with noticed("3 replicates", "frr", "n_nonfinite"):
        band = fk.band(evaluation, "frr")
    np.testing.assert_array_equal(band.n_nonfinite, [0, 3, 0, 0])
    estimate, centre, replicates = values_at(evaluation, 1)
    lower, upper = interval_by_hand(estimate, centre, replicates[3:], "recentered", 0.95)
    np.testing.assert_allclose([band.lower[1], band.upper[1]], [lower, upper])


# --- uncertainty ----------------------------------------------------------------------------------
def test_uncertainty_equals_the_twin():
    evaluation = tree()
    uncertainty = fk.uncertainty(evaluation, "frr")
    for k in range(FAR.size):
        estimate, centre, replicates = values_at(evaluation, k)
        expected = sd_by_hand([value - centre for value in replicates]) / estimate
        np.testing.assert_allclose(uncertainty[k], expected, rtol=1e-13)
    assert np.isnan(fk.uncertainty(tree([0.4, 0.2, 0.1, 0.0]), "frr")[3])
    assert fk.uncertainty(evaluation.isel(far_level=0), "frr").dims == ()


# --- cautions -------------------------------------------------------------------------------------
@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_replicates_that_cannot_vary_are_refused():
    """Of two people replicates contain both, or no impostors, unless images are drawn."""
    scores = fk.score_tensor(fk.vmf.mixture(2, 16, kappa=(10, 40), seed=0).sample(6, seed=0))
    images = fk.evaluate(scores, far=[0.1], resampling=fk.Resampling("two-level", n=50))
    band = fk.band(images, "frr", method="naive")
    assert band.lower.item() < band.upper.item()
    people = fk.evaluate(scores, far=[0.1], resampling=fk.Resampling("identity", n=50))
    with refused("two people"):
        fk.band(people, "frr", method="naive")


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_a_caution_names_the_levels_and_groups_where_it_applies_and_no_others():
    faces = fk.vmf.mixture(30, 16, kappa=(10, 40), seed=0).sample(6, seed=1)
    group = np.repeat(["a", "a", "b", "b", "c"], 36)
    faces = faces.assign_coords(group=("image", group))
    evaluation = fk.evaluate(fk.score_tensor(faces), far=[0.002, 0.005, 0.1], by="group")
    with pytest.warns(fk.DataWarning) as caught:
        band = fk.band(evaluation, "far_group")
    (message,) = [str(each.message) for each in caught if "fewer than ten" in str(each.message)]
    assert set(band.resolved.values.ravel()) == {True, False}
    named = np.zeros(band.resolved.shape, bool)
    where = message.split("fewer than ten false accepts or false rejects ")[1].split(": marked")[0]
    for part in where.split("; "):
        levels, groups = part.removeprefix("at FAR ").split(" of group ")
        lowest, *_, highest = [*map(float, levels.split(" to "))] * 2
        between = (band.far_level >= lowest) & (band.far_level <= highest)
        named |= (between & band["group"].isin(eval(f"[{groups}]"))).transpose(*band.resolved.dims)
    np.testing.assert_array_equal(named, ~band.resolved)


# --- comparison -----------------------------------------------------------------------------------
@pytest.mark.parametrize("method", METHODS)
def test_comparison_equals_the_twin(method):
    a = tree()
    b = tree(1.1 * EMPIRICAL, replicates=1.1 * a["replicates"].frr.values + 0.001)
    comparison = fk.compare(a, b, "frr", method=method)
    for k in range(FAR.size):
        (est_a, cen_a, rep_a), (est_b, cen_b, rep_b) = values_at(a, k), values_at(b, k)
        differences = [x - y for x, y in zip(rep_a, rep_b, strict=True)]
        lower, upper = interval_by_hand(est_a - est_b, cen_a - cen_b, differences, method, 0.95)
        np.testing.assert_allclose(
            [comparison.lower[k], comparison.upper[k]], [lower, upper], rtol=1e-12
        )
    assert (comparison.attrs["contrast"], comparison.attrs["null"]) == ("difference", 0)


def test_models_of_one_evaluation_are_compared_by_name_and_resolved_where_both_are():
    comparison = fk.compare(two_models(), "frr", models=("A", "B"))
    np.testing.assert_allclose(comparison.estimate, -0.2 * EMPIRICAL)
    with refused("C", "A", "B"):
        fk.compare(two_models(), "frr", models=("A", "C"))
    a = tree(resolved=[True, True, False, True])
    b = tree(resolved=[False, True, True, True])
    with noticed("FRR", "FAR 0.0001:"):
        np.testing.assert_array_equal(fk.band(b, "frr").resolved, [False, True, True, True])
    with noticed("FRR", "FAR 0.0001, 0.01"):
        comparison = fk.compare(a, b, "frr")
    np.testing.assert_array_equal(comparison.resolved, [False, True, False, True])


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_other_images_under_the_same_names_are_refused():
    """Images that are numbered, and labels that nobody asked for, tell data sets apart as well."""
    mix = fk.vmf.mixture(12, 16, kappa=(5, 15), seed=0)
    first, second = mix.sample(5, seed=1), mix.sample(5, seed=2)
    assert first.image.values.tolist() == second.image.values.tolist()
    evaluations = [fk.evaluate(fk.score_tensor(faces), far=[0.1]) for faces in (first, second)]
    with refused("image=names"):
        fk.compare(*evaluations, "frr")
    named = fk.faces(first.embedding.values, first.identity.values, image=first.image.values)
    aged = [named.assign_coords(age=("image", [age] * 60)) for age in ("old", "new")]
    with refused("age"):
        fk.compare(*(fk.evaluate(fk.score_tensor(faces), far=[0.1]) for faces in aged), "frr")


def test_other_draws_or_levels_are_refused():
    with refused("seed"):
        fk.compare(tree(), tree(seed=1), "frr")
    with pytest.raises(ValueError, match="far_level"):
        fk.compare(tree(), tree().isel(far_level=[0, 1]), "frr")


# --- errors ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 95}, "level"),
        ({"method": "bca"}, "bca"),
        ({"measure": "nothing"}, "nothing"),
    ],
)
def test_unknown_options_are_refused(options, message):
    with refused(message):
        fk.band(tree(), **{"measure": "frr", **options})


def test_an_evaluation_without_replicates_says_what_to_do():
    evaluation = tree()
    del evaluation["replicates"]
    for call in (fk.band, fk.uncertainty, fk.replicate_curves):
        with refused("resampling=Resampling(...)"):
            call(evaluation, "frr")


@pytest.mark.parametrize(
    "call", [fk.band, fk.uncertainty, fk.replicate_curves, fk.fair_floor, fk.compare]
)
def test_what_is_no_evaluation_is_refused(call):
    with refused("evaluate(...)"):
        call(node(EMPIRICAL), "frr_gini")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_a_comparison_of_models_has_one_order_of_dims():
    faces = fk.vmf.mixture(30, 16, kappa=(10, 40), seed=0).sample(per_identity=4)
    faces = faces.assign_coords(group=("image", np.repeat(["x", "y", "z"], 40)))
    noise = np.random.default_rng(0).normal(scale=0.1, size=faces.embedding.shape)
    other = faces.assign(embedding=faces.embedding + noise)
    scores = fk.score_tensor(fk.open_data({"a": faces, "b": other}))
    evaluation = fk.evaluate(scores, far=[0.05, 0.1], by="group")
    for measure in ("frr_group", "frr_max_min"):
        result = fk.compare(evaluation, measure, models=("a", "b"))
        for name in ("se", "lower", "upper", "p"):
            assert result[name].dims == result.estimate.dims, (measure, name)


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
def test_a_registered_range_ends_at_zero():
    """A function alone gets a standard error; nothing says that it cannot be below 0."""

    def own_range(rates):
        return rates.frr_group.max("group") - rates.frr_group.min("group")

    faces = fk.vmf.mixture(30, 16, kappa=(10, 60), seed=0).sample(per_identity=4, seed=1)
    faces = faces.assign_coords(group=("image", np.repeat(["x", "y", "z"], 40)))
    evaluation = fk.evaluate(fk.score_tensor(faces), far=[0.05, 0.1], by="group")
    registered = fk.measures.Measure(
        "own_range", own_range, fair=0.0, label="own range", reads=("frr_group",)
    )
    built_in = fk.band(evaluation, "frr_max_difference")
    lower = fk.band(evaluation, registered).lower
    np.testing.assert_allclose(lower, built_in.lower)
    assert (built_in.lower >= 0).all()
