"""From scores to the nine indices: against the slow twin, with maps, deals, intervals and refusals."""

import warnings

import dask
import numpy as np
import pytest
import xarray as xr
from engine_cases import people
from twin_indices import from_pairs, from_tensor, nine

import frkit as fk
from frkit.intervals.floors import PeopleDealt, deal, generators

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


# --- the twin ------------------------------------------------------------------------------------------------
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


def test_named_images_of_a_pair_table_are_counted_once():
    image, person = np.array(list("aabbccddeeff")), np.array(list("aabbccddeeff"))
    names = np.char.add(image, np.tile(["1", "2"], 6))
    row, col = np.triu_indices(12, 1)
    group = np.where(person < "d", "x", "y")
    same = group[row] == group[col]
    row, col = row[same], col[same]
    score = np.random.default_rng(0).random(len(row))
    named = dict(
        probe=names[row],
        reference=names[col],
        probe_identity=person[row],
        reference_identity=person[col],
    )
    table = fk.pairs(score, gender=group[row], **named)
    found = fk.fairness_indices(table, by="gender", score_map="identity", bins=5, deals=10)
    assert found.images.values.tolist() == [6, 6]
    assert values(found) == pytest.approx(
        from_pairs(table, "gender", bins=5, sizes={"x": 6, "y": 6}), abs=1e-12
    )


def test_every_replicate_agrees_with_the_twin():
    """The image scheme by hand: pairs of images drawn twice count twice, and copies are genuine pairs of score 1."""
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


def test_models_chunks_and_an_ordinary_evaluation_agree(scores):
    one = values(fk.fairness_indices(scores, by="group", bins=20))
    assert values(fk.fairness_indices(scores.chunk(23), by="group", bins=20)) == pytest.approx(
        one, abs=1e-12
    )
    plain = fk.evaluate(scores, threshold=[0.5], by="group", weighting="pair", histogram=20)
    assert of_node(plain) == pytest.approx(one, abs=1e-6)
    mix = fk.vmf.mixture(12, 8, kappa=(8, 20), seed=0, groups={"a": {}, "b": {"kappa": (6, 10)}})
    both = fk.score_tensor(
        fk.stack_models({"A": mix.sample(6, seed=1), "B": mix.sample(6, seed=2)})
    )
    found = fk.fairness_indices(both, by="group", bins=10, resampling=fk.Resampling("image", n=5))
    alone = fk.fairness_indices(
        both.sel(model="B"), by="group", bins=10, resampling=fk.Resampling("image", n=5)
    )
    for name in ("sfi", "dfi_lower", "cfi_floor_limit", "dfi_p"):
        np.testing.assert_allclose(found[name].sel(model="B"), alone[name], rtol=1e-12)


def test_distributions_alone_need_no_rates_and_no_order_of_the_images(scores):
    """Genuine scores come from a sweep over the blocks that hold them, here a strip of all blocks."""
    order = np.random.default_rng(0).permutation(scores.sizes["probe"])
    mixed = scores.isel(probe=order, reference=order).chunk(23)
    ev = fk.indices.evaluate(mixed, by="group", bins=20)
    assert of_node(ev) == pytest.approx(
        values(fk.fairness_indices(scores, by="group", bins=20)), abs=1e-6
    )
    assert set(ev.children) == {"empirical", "vstatistic"} and not {"far", "frr", "eer"} & set(
        ev["empirical"]
    )
    one_way = scores.isel(probe=order[:60], reference=order[60:])
    plain = fk.evaluate(one_way, threshold=[0.5], by="group", weighting="pair", histogram=20)
    assert values(fk.fairness_indices(one_way, by="group", bins=20)) == pytest.approx(
        of_node(plain), abs=1e-6
    )


def test_strangers_that_are_more_alike_are_told_without_rates():
    table = fk.canonical_scores("fair", sizes=(40, 40))
    with pytest.warns(fk.DataWarning, match="the 1 - AUC is 1.00: strangers score higher"):
        fk.indices.evaluate(
            fk.pairs(1 - table.score.values, table.genuine, group=table.probe_group.values),
            by="group",
            score_map="identity",
            bins=5,
        )


# --- maps ----------------------------------------------------------------------------------------------------
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


def test_a_monotone_map_moves_sfi_but_the_name_is_kept(scores):
    found = fk.fairness_indices(scores, by="group", score_map=lambda s: (1 + s) ** 2 / 4, bins=10)
    assert found.attrs["score_map"] == "<lambda>"
    assert float(found.sfi[0]) != pytest.approx(
        float(fk.fairness_indices(scores, by="group", bins=10).sfi[0]), abs=1e-3
    )


# --- deals and floors ----------------------------------------------------------------------------------------
def dealt_counts(code, names, deals):
    """(deal, group, person): who is in which group, for people with two images each."""
    dealt = np.stack([deal(np.asarray(code), rng) for rng in generators(deals, 0)])
    owner = np.repeat(np.arange(len(names)), 2)
    counts = PeopleDealt(owner, dealt, 0).weights(np.repeat(names, 2)).identity_count.values
    return counts.reshape(deals, -1, len(names))


def test_deals_keep_the_number_of_people():
    names, code = np.array(list("abcdef")), [0, 0, 1, 1, 1, -1]
    counts = dealt_counts(code, names, 20)
    assert (counts.sum(2) == [2, 3]).all()
    assert (counts[..., 5] == 0).all()
    assert (counts[..., :5].sum(1) == 1).all()
    assert len({tuple(one[0]) for one in counts}) > 5
    np.testing.assert_array_equal(dealt_counts(code, names, 4), counts[:4])


def test_deals_stay_within_their_kind():
    code, kind = np.array([0, 0, 1, 1, 1, 0, -1]), np.array([0, 0, 0, 0, 1, 1, 1])
    for rng in generators(10, 0):
        dealt = deal(code, rng, kind)
        assert sorted(dealt[:4]) == [0, 0, 1, 1] and sorted(dealt[4:6]) == [0, 1] and dealt[6] == -1


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


def test_dealt_scores_keep_their_numbers_and_agree_with_the_twin():
    table = fk.canonical_scores("unfair", sizes=(30, 50), seed=1)
    ev = fk.indices.evaluate(table, by="group", score_map="identity", bins=7, deals=4)
    dealt = ev["dealt"].to_dataset()
    assert ev["dealt"].attrs["dealt"] == "scores"
    assert (dealt.genuine_pairs_group == [30, 50]).all() and (
        dealt.impostor_pairs_group == [30, 50]
    ).all()
    for kind, genuine in (("genuine", True), ("impostor", False)):
        total = table.score.values[table.genuine.values == genuine].mean()
        mean = (dealt[f"{kind}_mean_group"] * [30, 50]).sum("group") / 80
        np.testing.assert_allclose(mean, total, rtol=1e-12)
        own = table.score.values[table.genuine.values == genuine]
        shares = (dealt[f"{kind}_histogram_group"] * xr.DataArray([30, 50], dims="group")).sum(
            "group"
        ) / 80
        by_hand = (
            np.histogram(own, 7, (0, 1))[0] / 80
        )  # scores stay where they are, whoever is dealt where
        np.testing.assert_allclose(
            shares.transpose(..., "score_bin"), np.broadcast_to(by_hand, (4, 7)), atol=1e-12
        )
    assert float(dealt.genuine_sd_group.std("replicate").max()) > 0


def test_neither_strangers_of_two_groups_nor_an_image_with_itself_are_dealt():
    """A list of all pairs, each image with itself among them, and the same list without these, and without strangers of
    two groups."""
    row, col = np.triu_indices(60)
    name, who, group = (
        np.arange(60).astype(str),
        np.arange(60) // 3,
        np.where(np.arange(60) // 3 % 2, "a", "b"),
    )
    score, dealt = np.random.default_rng(0).random(len(row)), []
    for keep in (row >= 0, row != col, (row != col) & (group[row] == group[col])):
        i, j = row[keep], col[keep]
        sides = dict(
            probe=name[i], reference=name[j], probe_identity=who[i], reference_identity=who[j]
        )
        table = fk.pairs(score[keep], **sides, group=(group[i], group[j]))
        how = dict(by="group", score_map="identity", bins=5, deals=3)
        dealt.append(fk.indices.evaluate(table, **how)["dealt"].to_dataset())
    for other in dealt[1:]:
        xr.testing.assert_allclose(dealt[0], other)


def test_deals_of_a_pair_table_of_two_models():
    table = fk.canonical_scores("unfair", sizes=(30, 50), seed=1)
    two = fk.pairs(
        {"A": table.score.values, "B": table.score.values**2},
        table.genuine,
        group=table.probe_group.values,
    )
    how = dict(by="group", score_map="identity", bins=7, deals=4)
    both, alone = fk.fairness_indices(two, **how), fk.fairness_indices(table, **how)
    for name in ("sfi", "dfi_floor", "cfi_p"):
        np.testing.assert_allclose(both[name].sel(model="A"), alone[name], rtol=1e-12)


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


def test_deals_that_equal_the_data_reach_them(scores):
    """p = P(floor <= index), ties among them."""
    ev = fk.indices.evaluate(scores, by="group", bins=10, deals=2)
    again = ev["empirical"].to_dataset().expand_dims(replicate=3)
    ev["dealt"] = xr.DataTree(again.assign_attrs(ev["dealt"].attrs))
    assert [float(fk.fair_floor(ev, name).p) for name in NINE] == [1.0] * 9


def test_people_of_a_pair_table_are_dealt_with_all_their_pairs(scores):
    """A person's genuine pairs go together, so the number of genuine pairs in a group is a sum over its people."""
    n = scores.sizes["probe"]
    row, col = np.triu_indices(n, 1)
    group, who = scores.probe_group.values, scores.probe_identity.values
    same = group[row] == group[col]
    row, col = row[same], col[same]
    named = dict(probe=scores.probe.values[row], reference=scores.probe.values[col])
    named |= dict(probe_identity=who[row], reference_identity=who[col])
    table = fk.pairs(scores.values[row, col], group=group[row], **named)
    listed = fk.indices.evaluate(table, by="group", bins=10, deals=5)
    assert of_node(listed) == pytest.approx(
        of_node(fk.indices.evaluate(scores, by="group", bins=10)), abs=1e-6
    )
    assert listed["dealt"].attrs["dealt"] == "people"
    assert (listed["dealt"].genuine_pairs_group == 6 * 15).all()


# --- intervals -----------------------------------------------------------------------------------------------
def test_bands_uncertainty_and_comparison_work_on_all_nine(scores):
    how = dict(by="group", bins=20, resampling=fk.Resampling("image", n=30), deals=20)
    ev = fk.indices.evaluate(scores, **how)
    other = fk.indices.evaluate(scores, score_map=lambda s: (3 + s) / 4, **how)
    for name in NINE:
        band = fk.band(ev, name)
        assert band.attrs["method"] == "pivotal" and band.attrs["fair"] == 1
        assert band.attrs["target"] == "these 18 identities, new images"
        assert float(band.lower) < float(band.upper)
        assert bool(band.includes_fair) == (float(band.upper) >= 1)
        assert float(fk.uncertainty(ev, name)) > 0
        assert float(fk.fair_floor(ev, name).p) <= 1
    for name in NINE[:6]:  # half the scale: half the distance from 1
        gap = fk.compare(ev, other, name)
        assert float(gap.estimate) == pytest.approx(
            -0.5 * (1 - float(fk.band(ev, name).estimate)), abs=1e-6
        )


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


def test_only_the_datas_share_of_the_bias_is_taken_out(scores):
    """With independent pairs resampling repeats the noise of the data; with drawn images it triples that of pairs."""
    ev = fk.indices.evaluate(
        scores, by="group", bins=20, resampling=fk.Resampling("image", n=30), deals=0
    )
    dfi = fk.measures.measure("dfi_normal")
    centre, many = (dfi(ev[node].to_dataset()) for node in ("vstatistic", "replicates"))
    expected = float(many.mean() + (centre - many.mean()) / 3)
    assert float(fk.band(ev, "dfi_normal").centre) == pytest.approx(expected)
    table = fk.canonical_scores("fair", sizes=(60, 60))
    ev = fk.indices.evaluate(
        table, by="group", score_map="identity", resampling=fk.Resampling("pair", n=20), deals=0
    )
    assert float(fk.band(ev, "dfi_normal").centre) == pytest.approx(of_node(ev)["dfi_normal"])


PAIR_NOISE = {"image": 3, "identity": 3, "double-or-nothing": 3, "two-level": 15}


@pytest.mark.parametrize("scheme", PAIR_NOISE)
def test_noise_of_a_pair_in_a_replicate_is_that_of_its_counts(scheme, scores):
    """A pair counts c_k c_l w_i w_j times, each with mean 1 and mean square 2 in large data: variance 2^m - 1."""
    people, images = 200, 60
    names = np.repeat([f"id{k:03d}" for k in range(people)], images)
    drawn = fk.Resampling(scheme, n=100, seed=1).weights(names)
    count = np.repeat(
        drawn.identity_count.values, images, axis=1
    ) * drawn.image_count.values.astype(float)
    squares = (count**2).reshape(100, people, images).sum(2)
    of_two_people = (squares.sum(1) ** 2 - (squares**2).sum(1)) / (
        people * (people - 1) * images**2
    )
    assert of_two_people.mean() - 1 == pytest.approx(PAIR_NOISE[scheme], rel=0.1)
    ev = fk.indices.evaluate(
        scores, by="group", bins=20, resampling=fk.Resampling(scheme, n=20), deals=0
    )
    dfi = fk.measures.measure("dfi_normal")
    centre, many = (dfi(ev[node].to_dataset()) for node in ("vstatistic", "replicates"))
    expected = float(many.mean() + (centre - many.mean()) / PAIR_NOISE[scheme])
    assert float(fk.band(ev, "dfi_normal").centre) == pytest.approx(expected, rel=1e-12)


def test_an_evaluation_with_deals_survives_a_file(scores, tmp_path):
    ev = fk.indices.evaluate(scores, by="group", bins=10, resampling=fk.Resampling("image", n=4))
    ev.to_netcdf(tmp_path / "indices.nc", engine="h5netcdf")
    again = fk.open_evaluation(tmp_path / "indices.nc")
    xr.testing.assert_allclose(fk.indices.summary(again), fk.indices.summary(ev), rtol=1e-12)


# --- refusals ------------------------------------------------------------------------------------------------
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
        (small([0.5, 1.5, 0.2, 0.1], [1, 1, 0, 0]), {}, r"1.5 to 1.25"),
        (small([0.5, np.nan, 0.2, 0.1], [1, 1, 0, 0]), {}, r"1 score\(s\) are NaN"),
        (small([0.5, 0.4, 0.2, 0.1], [1, 1, 0, 0], "x"), {}, "two groups"),
        (small([0.5, 0.2, 0.2, 0.1], [1, 0, 0, 0]), {}, r"'y' have no genuine pair"),
        (small([0.5, 0.2, 0.2, 0.1], [1, 1, 1, 0]), {}, r"'x' have no impostor pair"),
        (small([0.5, 0.4, 0.2, 0.1], [1, 1, 0, 0]), dict(score_map="cosinus"), "cosine, angular"),
        (
            small([0.5, 0.4, 0.2, 0.1], [1, 1, 0, 0]),
            dict(score_map=lambda s: s[:1]),
            "one number for every score",
        ),
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


# --- thinning ------------------------------------------------------------------------------------------------
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
    for keep, words in (({"a": 0}, r"\(0, 1\]"), ({"z": 0.5}, "a, b, c")):
        with pytest.raises(fk.InputError, match=words):
            fk.indices.thinned(scores, by="group", keep=keep)
