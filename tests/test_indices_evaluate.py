"""From scores to the nine indices: the slow twin, maps, deals, intervals and refusals."""

import warnings

import dask
import numpy as np
import pytest
import xarray as xr
from engine_cases import people
from twin_indices import from_pairs, from_tensor, nine

import frkit as fk
from frkit.intervals.deals import deal, generators

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
NINE = [
    f"{index}_{variant}"
    for index in ("sfi", "cfi", "dfi")
    for variant in ("normal", "extremal", "weighted")
]


def values(found: xr.Dataset) -> dict[str, float]:
    return {name: float(found[name[:3]].sel(variant=name[4:])) for name in NINE}


def of_node(evaluation, node="empirical") -> dict[str, float]:
    return {name: float(fk.measures.measure(name)(evaluation[node].to_dataset())) for name in NINE}


@pytest.fixture(scope="module")
def scores():
    mix = fk.vmf.mixture(
        18,
        8,
        kappa=(8, 20),
        seed=0,
        groups={"a": {}, "b": {"kappa": (6, 10)}, "c": {"cohesion": 4}},
    )
    return fk.score_tensor(mix.sample(6, seed=1), chunks=40)


# --- the twin ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "options", [{}, {"balance": True}, {"c": 0.3}, {"group_sizes": {"f": 5, "m": 50}}]
)
def test_a_tensor_agrees_with_the_twin(options):
    """Unequal images, a person in no group."""
    tensor = fk.score_tensor(people("unequal", dim=4), chunks=7)
    found = fk.fairness_indices(tensor, by="gender", bins=12, **options)
    options = {"sizes" if name == "group_sizes" else name: value for name, value in options.items()}
    twin = from_tensor(fk.indices.unit_scores(tensor), "gender", bins=12, **options)
    assert values(found) == pytest.approx(twin, abs=1e-6)  # scores are float32


@pytest.mark.parametrize("sizes", [(40, 60, 90), (30, 50)])
def test_a_pair_table_agrees_with_the_twin(sizes):
    table = fk.canonical_scores("unfair", index="cfi", sizes=sizes, seed=2)
    found = fk.fairness_indices(table, by="group", score_map="identity", bins=15)
    assert values(found) == pytest.approx(from_pairs(table, bins=15), abs=1e-12)
    np.testing.assert_array_equal(found.images, 2 * np.array(sizes))


def test_every_replicate_agrees_with_the_twin():
    """The image scheme by hand: images count as often as drawn; copies are genuine pairs."""
    tensor = fk.score_tensor(people("equal", dim=4), chunks=24)
    drawn = fk.Resampling("image", n=3, seed=4)
    ev = fk.indices.evaluate(tensor, by="gender", bins=8, resampling=drawn, deals=0)
    score, who = fk.indices.unit_scores(tensor).values.astype(float), tensor.probe_identity.values
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
        node = ev["replicates"].to_dataset().isel(replicate=b)
        found = {name: float(fk.measures.measure(name)(node)) for name in NINE}
        assert found == pytest.approx(nine(pairs, sizes, bins=8), abs=1e-6)


# --- maps ----------------------------------------------------------------------------------------
def test_a_mapped_tensor_computes_nothing_until_asked(scores):
    def refuse(*_args, **_kwargs):
        raise AssertionError("computed")

    with dask.config.set(scheduler=refuse):
        mapped = fk.indices.unit_scores(scores, "cosine")
    np.testing.assert_allclose(mapped.values, (1 + scores.values) / 2, atol=1e-6)
    assert mapped.attrs["self_score"] == 1
    assert scores.attrs["similarity"] == "cosine", "the caller's scores stay as they are"


def test_maps_by_name():
    faces = people("equal", dim=6)
    euclid = fk.score_tensor(faces, similarity="euclidean", chunks=24)
    distance = -euclid.values
    np.testing.assert_allclose(
        fk.indices.unit_scores(euclid, "euclidean"), 1 / (1 + distance), rtol=1e-6
    )
    table = fk.pairs([0.0, -2.0, -1.0], [True, False, False])
    np.testing.assert_allclose(fk.indices.unit_scores(table, "chord"), [1, 0, 0.5])
    np.testing.assert_allclose(fk.indices.unit_scores(table, np.exp), np.exp([0.0, -2.0, -1.0]))


# --- deals and floors ----------------------------------------------------------------------------


def test_a_deal_of_people_is_the_evaluation_of_relabelled_people(scores):
    """Each deal, made by hand: new group labels for the people, and the twin."""
    ev = fk.indices.evaluate(scores, by="group", bins=9, deals=3)
    who = scores.probe_identity.values
    names, first = np.unique(who, return_index=True)
    code = np.unique(scores.probe_group.values[first], return_inverse=True)[1]
    for at, rng in enumerate(generators(3, 0)):
        label = np.array(list("abc"))[deal(code, rng)][np.searchsorted(names, who)]
        again = fk.indices.unit_scores(scores).assign_coords(probe_group=("probe", label))
        node = ev["dealt"].to_dataset().isel(replicate=at)
        found = {name: float(fk.measures.measure(name)(node)) for name in NINE}
        assert found == pytest.approx(from_tensor(again, "group", bins=9), abs=1e-6)


def test_the_floor_of_an_index_is_that_of_the_dealt_groups():
    table = fk.canonical_scores("unfair", sizes=(30, 50), seed=1)
    how = dict(by="group", score_map="identity", bins=7, deals=39)
    found, dealt = (
        fk.fairness_indices(table, **how),
        fk.indices.evaluate(table, **how)["dealt"].to_dataset(),
    )
    for index in ("sfi", "cfi", "dfi"):
        drawn = np.asarray(fk.measures.measure(f"{index}_normal")(dealt))
        one = found.sel(variant="normal")
        assert float(one[f"{index}_floor"]) == pytest.approx(np.median(drawn), rel=1e-12)
        assert np.sum(drawn < float(one[f"{index}_floor_limit"])) in (
            1,
            2,
        )  # of 39 fair ones, one in twenty
        assert float(one[f"{index}_p"]) == pytest.approx(
            (1 + np.sum(drawn <= float(one[index]) + 1e-12)) / 40
        )


def test_floor_calls_the_unfair_unfair_and_needs_deals():
    mix = fk.vmf.mixture(24, 8, kappa=(20, 30), seed=0, groups={"a": {}, "b": {"kappa": (4, 6)}})
    scores = fk.score_tensor(mix.sample(6, seed=1))
    unfair = fk.indices.evaluate(scores, by="group", bins=20, deals=60)
    floor = fk.fair_floor(unfair, "sfi_normal")
    assert set(floor.data_vars) == {"estimate", "median", "limit", "p", "n_nonfinite"}
    assert float(floor.estimate) < float(floor.limit) < float(floor["median"]) < 1
    assert float(floor.p) <= 0.05 and "people" in floor.attrs["size"]
    plain = fk.evaluate(scores, threshold=[0.5], by="group", weighting="pair", histogram=20)
    with pytest.raises(fk.InputError, match="indices.evaluate"):
        fk.fair_floor(plain, "dfi_normal")


# --- intervals -----------------------------------------------------------------------------------


def test_the_summary_repeats_bands_and_floors(scores):
    ev = fk.indices.evaluate(scores, by="group", bins=20, resampling=fk.Resampling("image", n=30))
    found = fk.indices.summary(ev, level=0.9)
    band, floor = (
        fk.band(ev, "cfi_extremal", level=0.9),
        fk.fair_floor(ev, "cfi_extremal", level=0.9),
    )
    row = found.sel(variant="extremal")
    assert [float(row[f"cfi_{end}"]) for end in ("lower", "upper")] == [
        float(band.lower),
        float(band.upper),
    ]
    assert [float(row.cfi_floor), float(row.cfi_p)] == [float(floor["median"]), float(floor.p)]
    assert ev["dealt"].sizes["replicate"] == 30, "as many deals as replicates unless told otherwise"
    np.testing.assert_allclose(found.z_distribution.sum("score_bin"), 1)
    np.testing.assert_allclose(found.z_separation, abs(found.genuine_mean - found.impostor_mean))
    assert found.attrs["target"] == "these 18 identities, new images"


PAIR_NOISE = {"image": 3, "identity": 3, "double-or-nothing": 3, "two-level": 15}


# --- refusals ------------------------------------------------------------------------------------
def small(score, genuine, group="xy"):
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", fk.DataWarning
        )  # a failed comparison is told where the list is made
        return fk.pairs(score, genuine, group=np.resize(list(group), len(score)))


@pytest.mark.parametrize(
    ("table", "options", "words"),
    [
        (small([0.5, 1.5, 0.2, 0.1], [1, 1, 0, 0]), dict(score_map="identity"), "outside"),
        (small([0.5, 1.5, 0.2, 0.1], [1, 1, 0, 0]), {}, "'1.5' to '1.25'"),
        (small([0.5, np.nan, 0.2, 0.1], [1, 1, 0, 0]), {}, r"1 score\(s\) are NaN"),
        (small([0.5, 0.4, 0.2, 0.1], [1, 1, 0, 0], "x"), {}, "two groups"),
        (small([0.5, 0.2, 0.2, 0.1], [1, 0, 0, 0]), {}, r"'y' have no genuine pair"),
        (small([0.5, 0.2, 0.2, 0.1], [1, 1, 1, 0]), {}, r"'x' have no impostor pair"),
        (small([0.5, 0.4, 0.2, 0.1], [1, 1, 0, 0]), dict(score_map="cosinus"), "cosine, angular"),
        (small([0.5, 0.4, 0.2, 0.1], [1, 1, 0, 0]), dict(score_map=np.negative), "decreases"),
        (small([0.5, 0.4, 0.2, 0.1], [1, 1, 0, 0]), dict(bins=1), "bins"),
        (small([0.5, 0.4, 0.2, 0.1], [1, 1, 0, 0]), dict(deals=1), "at least 2"),
        (small([0.5, 0.4, 0.2, 0.1], [1, 1, 0, 0]), dict(by="race"), "race"),
    ],
)
def test_bad_pair_tables_are_refused(table, options, words):
    with pytest.raises(fk.InputError, match=words):
        fk.fairness_indices(table, **({"by": "group"} | options))


def test_bad_tensors_are_refused(scores):
    euclid = fk.score_tensor(people("equal"), similarity="euclidean")
    with pytest.raises(fk.InputError, match="outside \\[0, 1\\]"):
        fk.fairness_indices(euclid, by="gender")
    failed = fk.score_matrix(
        [[0.9, -1, 0.2], [0.4, 0.8, 0.1]],
        list("ab"),
        list("abc"),
        missing=-1,
        attributes={"g": (list("xy"), list("xyx"))},
    )
    with pytest.raises(fk.InputError, match="NaN"):
        fk.fairness_indices(failed, by="g")
    with pytest.raises(fk.InputError, match="'m' have no genuine pair"):
        fk.fairness_indices(
            fk.score_tensor(people([3, 1, 2, 2, 1], groups=("f", "m", "f", "f", "m"))), by="gender"
        )


def test_few_scores_in_a_bin_are_warned_of():
    table = fk.canonical_scores("fair", sizes=(400, 1000))
    with pytest.warns(fk.DataWarning, match=r"10 bins in 'group 1'"):
        fk.fairness_indices(table, by="group", score_map="identity", bins=10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fk.fairness_indices(table, by="group", score_map="identity", bins=8)


# --- thinning ------------------------------------------------------------------------------------
def test_thinning_keeps_whole_people(scores):
    part = fk.indices.thinned(scores, by="group", keep={"a": 0.5}, seed=1)
    assert part.sizes == {"probe": 90, "reference": 90}
    kept, count = np.unique(
        part.probe_identity.values[part.probe_group.values == "a"], return_counts=True
    )
    assert len(kept) == 3 and (count == 6).all()
    less = fk.indices.thinned(scores, by="group", keep={"a": 1 / 3}, seed=1)
    assert set(less.probe.values.tolist()) < set(part.probe.values.tolist())


def test_thinning_refuses_shares_and_groups_that_do_not_exist(scores):
    for keep, words in (({"a": 0}, r"\(0, 1\)"), ({"z": 0.5}, "'a', 'b', 'c'")):
        with pytest.raises(fk.InputError, match=words):
            fk.indices.thinned(scores, by="group", keep=keep)
