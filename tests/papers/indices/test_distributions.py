"""From scores to the nine indices: slow twin, maps, floors, intervals and refusals."""

import warnings

import numpy as np
import pytest
import xarray as xr
from engine_cases import people
from refusals import noticed, refused
from twin_indices import from_pairs, from_tensor, nine

import frkit as fk
from frkit.intervals.permutation import permutations

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
VARIANTS = ("normal", "extremal", "weighted")
ENDS = ("", "_lower", "_upper")
NINE = [f"{index}_{variant}" for index in ("sfi", "cfi", "dfi") for variant in VARIANTS]


def in_unit_range(cosines: xr.DataArray) -> xr.DataArray:
    return (1 + cosines) / 2


def values(result: xr.Dataset) -> dict[str, float]:
    return {name: float(result[name[:3]].sel(variant=name[4:])) for name in NINE}


def indices_of_replicate(node, replicate) -> dict[str, float]:
    tallies = node.to_dataset().isel(replicate=replicate)
    return {name: float(fk.measures.measure(name)(tallies)) for name in NINE}


@pytest.fixture(scope="module")
def scores():
    groups = {"a": {}, "b": {"kappa": (6, 10)}, "c": {"cohesion": 4}}
    mix = fk.vmf.mixture(18, 8, kappa=(8, 20), seed=0, groups=groups)
    return fk.score_tensor(mix.sample(6, seed=1))


# --- the twin ------------------------------------------------------------------------------------
@pytest.mark.parametrize("options", [{}, {"balance": True}])
def test_a_tensor_agrees_with_the_twin(options):
    """Unequal images, a person in no group."""
    tensor = fk.score_tensor(people("unequal", dim=4))
    indices = fk.fairness_indices(tensor, by="gender", bins=12, **options)
    twin = from_tensor(in_unit_range(tensor), "gender", bins=12, **options)
    assert values(indices) == pytest.approx(twin, abs=1e-6)  # scores are float32


@pytest.mark.parametrize("sizes", [(40, 60, 90), (30, 50)])
def test_a_pair_table_agrees_with_the_twin(sizes):
    table = fk.canonical_scores("unfair", index="cfi", sizes=sizes, seed=2)
    indices = fk.fairness_indices(table, by="group", score_map="identity", bins=15)
    assert values(indices) == pytest.approx(from_pairs(table, bins=15), abs=1e-12)
    np.testing.assert_array_equal(indices.images, 2 * np.array(sizes))


def test_every_replicate_agrees_with_the_twin():
    """The image scheme by hand: images count as often as drawn; copies are genuine pairs."""
    tensor = fk.score_tensor(people("equal", dim=4))
    drawn = fk.Resampling("image", n=3, seed=4)
    ev = fk.indices.distributions(tensor, by="gender", bins=8, resampling=drawn, permutations=0)
    score, who = in_unit_range(tensor).values.astype(float), tensor.probe_identity.values
    np.fill_diagonal(score, 1.0)
    gender = tensor.probe_gender.values
    counts = drawn.weights(who, tensor.probe.values).image_count.values
    for b in range(3):
        images = np.repeat(np.arange(len(who)), counts[b])
        pairs = {group: ([], []) for group in ("f", "m")}
        for a, i in enumerate(images):
            for j in images[a + 1 :]:
                if gender[i] == gender[j] != "unknown":
                    pairs[gender[i]][int(who[i] != who[j])].append(score[i, j])
        sizes = {group: int((gender[images] == group).sum()) for group in pairs}
        indices = indices_of_replicate(ev["replicates"], b)
        assert indices == pytest.approx(nine(pairs, sizes, bins=8), abs=1e-6)


# --- maps ----------------------------------------------------------------------------------------
def test_a_function_maps_scores_and_the_scores_of_the_caller_stay_as_they_are(scores):
    ev = fk.indices.distributions(scores, by="group", score_map=lambda score: 1 / (2 - score))
    means = ev["empirical"].genuine_mean_group
    cosines = fk.indices.distributions(scores, by="group", score_map="cosine")["empirical"]
    assert (means != cosines.genuine_mean_group).all() and (means <= 1).all()
    distances = fk.pairs([0.0, -2.0, -1.0, -1.0], [1, 0, 1, 0], group=["a", "a", "b", "b"])
    ev = fk.indices.distributions(distances, by="group", score_map=lambda score: 1 / (1 - score))
    np.testing.assert_allclose(ev["empirical"].genuine_mean_group, [1, 1 / 2])
    np.testing.assert_allclose(ev["empirical"].impostor_mean_group, [1 / 3, 1 / 2])
    assert scores.attrs["similarity"] == "cosine"


# --- floors --------------------------------------------------------------------------------------


def test_a_permutation_is_the_evaluation_of_relabelled_people(scores):
    """Each random assignment, made by hand: new group labels for the people, and the twin."""
    ev = fk.indices.distributions(scores, by="group", bins=9, permutations=3)
    who = scores.probe_identity.values
    names, first = np.unique(who, return_index=True)
    code = np.unique(scores.probe_group.values[first], return_inverse=True)[1]
    for number, permuted in enumerate(permutations(code, 3, 0)):
        label = np.array(list("abc"))[permuted][np.searchsorted(names, who)]
        again = in_unit_range(scores).assign_coords(probe_group=("probe", label))
        indices = indices_of_replicate(ev["permuted"], number)
        assert indices == pytest.approx(from_tensor(again, "group", bins=9), abs=1e-6)


def test_the_floor_of_an_index_is_that_of_the_permuted_groups():
    table = fk.canonical_scores("unfair", sizes=(30, 50), seed=1)
    options = dict(by="group", score_map="identity", bins=7, permutations=39)
    indices = fk.fairness_indices(table, **options).sel(variant="normal")
    permuted = fk.indices.distributions(table, **options)["permuted"].to_dataset()
    for index in ("sfi", "cfi", "dfi"):
        drawn = np.asarray(fk.measures.measure(f"{index}_normal")(permuted))
        assert float(indices[f"{index}_floor"]) == pytest.approx(np.median(drawn), rel=1e-12)
        # of 39 fair ones, one in twenty
        assert np.sum(drawn < float(indices[f"{index}_floor_limit"])) in (1, 2)
        n_no_fairer = np.sum(drawn <= float(indices[index]) + 1e-12)
        assert float(indices[f"{index}_p"]) == pytest.approx((1 + n_no_fairer) / 40)


def test_floor_calls_the_unfair_unfair_and_needs_permutations():
    mix = fk.vmf.mixture(24, 8, kappa=(20, 30), seed=0, groups={"a": {}, "b": {"kappa": (4, 6)}})
    scores = fk.score_tensor(mix.sample(6, seed=1))
    floor = fk.fair_floor(
        fk.indices.distributions(scores, by="group", bins=20, permutations=60), "sfi_normal"
    )
    assert float(floor.estimate) < float(floor.limit) < float(floor["median"]) < 1
    assert float(floor.p) <= 0.05
    plain = fk.evaluate(scores, threshold=[0.5], by="group", weighting="pair", histogram=20)
    with refused("fk.indices.distributions"):
        fk.fair_floor(plain, "dfi_normal")


# --- intervals -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_summary_repeats_bands_and_floors(scores):
    ev = fk.indices.distributions(
        scores, by="group", bins=20, resampling=fk.Resampling("image", n=30)
    )
    summary = fk.fairness_indices(ev, level=0.9)
    row = summary.sel(variant="extremal")
    band = fk.band(ev, "cfi_extremal", level=0.9)
    floor = fk.fair_floor(ev, "cfi_extremal", level=0.9)
    assert (row.cfi_lower, row.cfi_upper) == (band.lower, band.upper)
    assert (row.cfi_floor, row.cfi_p) == (floor["median"], floor.p)
    assert ev["permuted"].sizes["replicate"] == 30, "as many assignments as replicates by default"
    np.testing.assert_allclose(summary.z_distribution.sum("score_bin"), 1)
    np.testing.assert_allclose(
        summary.z_separation, abs(summary.genuine_mean - summary.impostor_mean)
    )
    assert summary.attrs["target"] == "these 18 identities, new images"


# --- refusals ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("score", "genuine", "options", "message"),
    [
        ([0.5, 1.5, 0.2, 0.1], [1, 1, 0, 0], {}, "score_map"),
        ([0.5, np.nan, 0.2, 0.1], [1, 1, 0, 0], {}, "NaN"),
        ([0.5, 0.4, 0.2, 0.1], [1, 1, 0, 0], {"group": list("xxxx")}, "x"),
        ([0.5, 0.2, 0.2, 0.1], [1, 0, 0, 0], {}, "y"),
        ([0.5, 0.2, 0.2, 0.1], [1, 1, 1, 0], {}, "x"),
        ([0.5, 0.4, 0.2, 0.1], [1, 1, 0, 0], {"score_map": np.negative}, "score_map"),
        ([0.5, 0.4, 0.2, 0.1], [1, 1, 0, 0], {"permutations": 1}, "permutations"),
    ],
)
def test_bad_pair_tables_are_refused(score, genuine, options, message):
    options = {"by": "group", **options}
    table = fk.pairs(score, genuine, group=options.pop("group", list("xyxy")))
    with refused(message):
        fk.fairness_indices(table, **options)


def test_few_scores_in_a_bin_are_warned_of():
    table = fk.canonical_scores("fair", sizes=(400, 1000))
    with noticed("10 bins", "group 1"):
        fk.fairness_indices(table, by="group", score_map="identity", bins=10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fk.fairness_indices(table, by="group", score_map="identity", bins=8)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["identity", "image"])
def test_intervals_of_indices_near_their_largest_value(scheme):
    """They contain the estimate and reach below it; none that is printed passes 1."""
    is_near = 0
    for seed in range(3):
        mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=seed, groups={"a": {}, "b": {}})
        drawn = fk.Resampling(scheme, n=60, seed=seed)
        scores = fk.score_tensor(mix.sample(4, seed=1))
        evaluation = fk.indices.distributions(scores, by="group", resampling=drawn, permutations=0)
        result = fk.fairness_indices(evaluation)
        for name in NINE:
            index, variant = name.split("_")
            row = result.sel(variant=variant)
            estimate, lower, upper = (float(row[index + end]) for end in ENDS)
            pivotal = fk.band(evaluation, name, method="pivotal")
            theta = evaluation["replicates"].to_dataset()
            replicates = fk.measures.measure(name)(theta).values
            if name.startswith("dfi"):
                assert lower == min(pivotal.lower, estimate) < estimate <= min(upper, 1.0)
            elif pivotal.upper >= 1:
                centre = float(fk.measures.measure(name)(evaluation["vstatistic"].to_dataset()))
                recentered = estimate + np.quantile(replicates - centre, 0.025)
                assert lower == pytest.approx(min(recentered, float(pivotal.lower), estimate))
                is_near += 1
            else:
                assert (lower, upper) == (float(pivotal.lower), float(pivotal.upper))
        printed = fk.table(result).numbers()
        assert printed.filter(like="upper").astype(float).max(axis=None) <= 1
    assert is_near > 0


@pytest.mark.slow
def test_a_group_that_most_replicates_lack_is_named_once_and_has_no_interval():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(26), 3)
    group = np.array([*"a" * 12, *"b" * 12, "tiny", "tiny"])[who]
    faces = fk.faces(rng.normal(size=(26, 8))[who] + rng.normal(size=(78, 8)), who, group=group)
    draws = fk.Resampling("identity", n=30, seed=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        options = dict(by="group", bins=2, resampling=draws, permutations=0)
        result = fk.fairness_indices(fk.score_tensor(faces), **options)
    [message] = [str(each.message) for each in caught if "replicates" in str(each.message)]
    assert "of 30 replicates" in message and "'tiny'" in message and "no interval" in message
    assert result.sfi_lower.isnull().all() and result.sfi.notnull().all()
