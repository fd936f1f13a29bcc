"""Pair lists against their slow twin, against the same scores as a matrix, and what is refused or said aloud."""

import json

import numpy as np
import pytest
import twin_pairs
import xarray as xr
from engine_cases import FAR, check_node, people, table
from test_engine import rectangle
from twin_rates import summary

import frkit as fk

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
NAMED = ["image", "identity", "two-level", "double-or-nothing", "subset"]
SHARES = {f"id{index}": 0.5 + 0.25 * index for index in range(12)}


def a_list(
    n=220, *, seed=0, decimals=1, apart=False, names=True, identities=True, failed=0.05, models=None
):
    """A random list: some pairs twice, some failed, one image with itself, labels of both sides that may differ."""
    rng = np.random.default_rng(seed)
    who = np.char.add("id", rng.integers(0, 12, (2, n)).astype(str))
    who[1] = np.where(rng.random(n) < 0.4, who[0], who[1])
    image = np.char.add(np.char.add(who, "/"), rng.integers(0, 4, (2, n)).astype(str))
    if apart:
        image = np.stack([np.char.add("p ", image[0]), np.char.add("r ", image[1])])
    genuine = who[0] == who[1]
    score = np.round(rng.normal(size=(models or 1, n)) + 1.5 * genuine, decimals)
    score[rng.random(score.shape) < failed] = np.nan
    gender = {
        f"id{k}": label for k, label in enumerate("f m x unknown m x f f m unknown x m".split())
    }
    labels = tuple(np.array([gender[k] for k in side]) for side in who)
    given = dict(probe=image[0], reference=image[1]) if names else {}
    given |= dict(probe_identity=who[0], reference_identity=who[1]) if identities else {}
    model = None if models is None else [f"model {m}" for m in range(models)]
    return fk.pairs(score if models else score[0], genuine, model=model, gender=labels, **given)


def check(
    pairs, *, by="gender", weighting=None, resampling=None, impostors="all", model=None, **levels
):
    """Every node and replicate of an evaluation against the twin."""
    levels = levels or {"far": FAR}
    ev = fk.evaluate(
        pairs,
        by=by,
        weighting=weighting,
        resampling=resampling,
        impostors=impostors,
        histogram=100,
        **levels,
    )
    rows = twin_pairs.rows_of(pairs, by, model)
    groups = (
        sorted({row[f"{side}_group"] for row in rows for side in twin_pairs.SIDES} - {"unknown"})
        if by
        else None
    )
    options = dict(groups=groups, impostors=impostors) | levels
    one_by_one = "probe_identity" not in pairs.coords or (
        resampling is not None and resampling.scheme == "pair"
    )
    weighting = "pair" if weighting is None else weighting
    plain = twin_pairs.weighted(rows, weighting=weighting)  # no scheme changes it
    nodes = {
        name: ev[name].dataset if model is None else ev[name].dataset.sel(model=model)
        for name in ev.children
    }
    for name in (
        "empirical",
        "vstatistic",
    ):  # no pair of an image with itself: the centre is the estimate
        check_node(nodes[name], summary(plain, **options), name)
    for b in range(0 if resampling is None else resampling.n):
        if one_by_one:
            resample = twin_pairs.weighted_one_by_one(rows, resampling, b, weighting)
        else:
            stratum = {
                row[f"{side}_identity"]: row[f"{side}_group"]
                for row in rows
                for side in twin_pairs.SIDES
            }
            counts = twin_pairs.drawn(rows, resampling, b, stratum if resampling.strata else None)
            resample = twin_pairs.weighted(rows, *counts, weighting)
        check_node(
            nodes["replicates"].isel(replicate=b), summary(resample, **options), f"replicate {b}"
        )
    return ev


CASES = [(scheme, weighting) for scheme in NAMED for weighting in ("identity", "pair", SHARES)]
CASES += [("pair", "identity"), ("pair", "pair"), ("pair", SHARES)]


@pytest.mark.parametrize(
    ("scheme", "weighting"), CASES, ids=lambda case: case if isinstance(case, str) else "shares"
)
@pytest.mark.parametrize("apart", [False, True], ids=["one set", "two sets"])
def test_schemes_and_weightings(scheme, weighting, apart):
    ev = check(
        a_list(apart=apart), weighting=weighting, resampling=fk.Resampling(scheme, n=4, seed=1)
    )
    assert {"far_cross", "frr_group", "eer_group", "auc_group"} <= set(ev["replicates"].data_vars)


@pytest.mark.parametrize("impostors", ["all", "same-group"])
@pytest.mark.parametrize(
    "levels", [dict(far=FAR), dict(threshold=(-0.5, 0.3, 1.2))], ids=["far", "threshold"]
)
def test_impostors_and_fixed_thresholds(impostors, levels):
    check(a_list(seed=3), impostors=impostors, resampling=fk.Resampling("two-level", n=3), **levels)


def test_many_pairs_fall_into_many_bins():
    pairs = a_list(6000, seed=4, decimals=6)
    check(pairs, far=[1e-3, 0.01, 0.2], resampling=fk.Resampling("identity", n=2))


@pytest.mark.parametrize("scheme", ["identity", "two-level", "subset"])
def test_strata(scheme):
    check(a_list(seed=5), resampling=fk.Resampling(scheme, n=3, strata="gender"))


@pytest.mark.parametrize("scheme", ["identity", "double-or-nothing", "subset"])
@pytest.mark.parametrize("weighting", [None, "identity"])
def test_identities_without_image_names_draw_people(scheme, weighting):
    ev = check(a_list(names=False), resampling=fk.Resampling(scheme, n=3), weighting=weighting)
    assert json.loads(ev.attrs["provenance"])["weighting"] == (weighting or "pair")


def test_pairs_without_names_are_drawn_one_by_one():
    ev = check(a_list(names=False, identities=False), resampling=fk.Resampling("pair", n=4))
    known = json.loads(ev.attrs["provenance"])
    assert known["weighting"] == "pair" and "too narrow" in known["target"]
    check(a_list(names=False, identities=False), by=None)


def test_several_models_fail_at_different_pairs():
    pairs = a_list(models=3, failed=0.2)
    for model in pairs.model.values.tolist():
        ev = check(pairs, model=model, resampling=fk.Resampling("identity", n=3))
    assert ev["replicates"].frr.dims == ("model", "replicate", "far_level")


# --- the same scores as a matrix -------------------------------------------------------------------------


def assert_same(one, other, nodes=("empirical", "replicates")):
    """Two evaluations agree in all that they share."""
    for node in nodes:
        assert {"far_cross", "frr_group", "eer"} <= set(one[node].data_vars) & set(
            other[node].data_vars
        )
        for name in set(one[node].data_vars) & set(other[node].data_vars):
            atol = 1e-7 if "_sd" in name else 1e-12  # a square root of rounding
            np.testing.assert_allclose(
                one[node][name], other[node][name], rtol=1e-12, atol=atol, err_msg=name
            )


def listed(scores, upper):
    """The cells of a matrix as a list."""
    matrix = np.array(scores.values, float)
    i, j = np.nonzero(np.triu(np.ones(matrix.shape), 1) if upper else np.ones(matrix.shape))
    sides = dict(probe=scores.probe.values[i], reference=scores.reference.values[j])
    sides |= dict(
        probe_identity=scores.probe_identity.values[i],
        reference_identity=scores.reference_identity.values[j],
    )
    gender = scores.probe_gender.values[i], scores.reference_gender.values[j]
    return fk.pairs(matrix[i, j], gender=gender, **sides)


@pytest.mark.parametrize("weighting", ["identity", "pair"])
@pytest.mark.parametrize("scheme", ["identity", "double-or-nothing", "subset"])
def test_the_upper_triangle_of_a_symmetric_matrix(scheme, weighting):
    scores = fk.score_tensor(people("unequal", ties=True), chunks=8)
    options = dict(far=FAR, by="gender", weighting=weighting, resampling=fk.Resampling(scheme, n=4))
    assert_same(fk.evaluate(listed(scores, True), **options), fk.evaluate(scores, **options))


@pytest.mark.parametrize("scheme", NAMED)
def test_a_rectangular_matrix_with_failed_comparisons(scheme):
    score, probe, reference, attributes = rectangle(5)
    scores = fk.score_matrix(score, probe, reference, missing=-1, attributes=attributes, chunks=4)
    options = dict(far=FAR, by="gender", weighting="pair", resampling=fk.Resampling(scheme, n=4))
    options |= dict(histogram=(10, (0, 2)))
    one, other = fk.evaluate(listed(scores, False), **options), fk.evaluate(scores, **options)
    assert {"auc_group", "impostor_histogram_group", "genuine_sd"} <= set(
        one["replicates"].data_vars
    )
    assert_same(one, other)


def test_the_order_of_the_pairs_does_not_matter():
    pairs = a_list(seed=8)
    shuffled = pairs.isel(pair=np.random.default_rng(0).permutation(pairs.sizes["pair"]))
    options = dict(far=FAR, by="gender", resampling=fk.Resampling("two-level", n=4))
    assert_same(fk.evaluate(pairs, **options), fk.evaluate(shuffled, **options))


# --- what is said aloud and what is refused --------------------------------------------------------------


@pytest.mark.parametrize("scheme", NAMED)
def test_without_names_only_the_pair_bootstrap_is_possible_and_too_narrow(scheme):
    pairs = a_list(names=False, identities=False)
    with pytest.raises(
        fk.InputError, match="only the pair bootstrap is possible, Resampling.'pair'.*too narrow"
    ):
        fk.evaluate(pairs, far=FAR, resampling=fk.Resampling(scheme, n=2))


def test_the_pair_bootstrap_warns_that_it_is_too_narrow():
    with pytest.warns(fk.DataWarning, match="too narrow, because pairs share images and people"):
        fk.evaluate(a_list(), far=FAR, resampling=fk.Resampling("pair", n=2))


def test_the_pair_bootstrap_is_too_narrow():
    """Pairs of one person share what makes the person easy or hard: whole people vary more than pairs do."""
    rng = np.random.default_rng(0)
    people = np.char.add("id", np.repeat(np.arange(40), 30).astype(str))
    image = np.char.add(np.char.add(people, "/"), np.tile(np.arange(30), 40).astype(str))
    other = np.roll(people, 30)
    score = np.repeat(rng.normal(size=40), 30) + 0.3 * rng.normal(size=1200)
    genuine = dict(
        probe=image,
        reference=np.char.add(image, "'"),
        probe_identity=people,
        reference_identity=people,
    )
    impostor = dict(
        probe=image, reference=np.roll(image, 30), probe_identity=people, reference_identity=other
    )
    sides = {name: np.concatenate([genuine[name], impostor[name]]) for name in genuine}
    pairs = fk.pairs(np.concatenate([score, score - 1]), np.repeat([True, False], 1200), **sides)
    widths = {}
    for scheme in ("identity", "pair"):
        found = fk.evaluate(pairs, threshold=[0.0], resampling=fk.Resampling(scheme, n=100))
        band = fk.band(found, "frr", method="recentered")
        widths[scheme] = float((band.upper - band.lower)[0])
    assert widths["pair"] < 0.75 * widths["identity"]


@pytest.mark.parametrize("scheme", ["image", "two-level"])
def test_images_without_names_cannot_be_drawn(scheme):
    with pytest.raises(fk.InputError, match="carry no image names.*Resampling.'identity'"):
        fk.evaluate(a_list(names=False), far=FAR, resampling=fk.Resampling(scheme, n=2))


def test_a_tensor_has_no_pair_bootstrap():
    with pytest.raises(fk.InputError, match="'pair' is for lists of pairs"):
        fk.evaluate(fk.score_tensor(people()), far=FAR, resampling=fk.Resampling("pair", n=2))


def test_shares_of_people_need_people():
    for weighting in ("identity", SHARES):
        with pytest.raises(fk.InputError, match="carry no identities.*weighting='pair'"):
            fk.evaluate(a_list(identities=False, names=False), far=FAR, weighting=weighting)


def test_a_list_pools_its_pairs_unless_people_are_asked_for():
    who = [list("aaabb"), list("aaabb")], [list("aaab"), list("bbcc")]
    probes, references = (np.concatenate(side) for side in zip(*who, strict=True))
    scores = [0.1, 0.9, 0.9, 0.1, 0.1] + [0.8, 0.2, 0.8, 0.8]
    names = {"probe": [f"p{k}" for k in range(9)], "reference": [f"r{k}" for k in range(9)]}
    pairs = fk.pairs(scores, probe_identity=probes, reference_identity=references, **names)
    rates = {}
    for weighting in (None, "pair", "identity"):
        ev = fk.evaluate(pairs, threshold=[0.5], weighting=weighting)
        rates[weighting] = (ev["empirical"].far.item(), ev["empirical"].frr.item())
        assert fk.band(ev, "frr").attrs["weighting"] == (weighting or "pair")
    assert rates[None] == rates["pair"] == (3 / 4, 3 / 5)
    # FAR: a and b 1/2, a and c 1, b and c 1; FRR: a 1/3, b 1
    np.testing.assert_allclose(rates["identity"], [(1 / 2 + 1 + 1) / 3, (1 / 3 + 1) / 2])


WAYS = [{}, {"weighting": "identity"}, {"varying": "first"}, {"varying": "split"}]


@pytest.mark.parametrize("options", WAYS, ids=str)
def test_no_scheme_changes_an_estimate(options):
    rng, n = np.random.default_rng(0), 300
    who = rng.integers(0, 10, (2, n))
    race = rng.choice(["x", "y"], (2, n))
    sides = dict(probe_identity=who[0].astype(str), reference_identity=who[1].astype(str))
    images = {side: [f"{side} {place}" for place in range(n)] for side in ("probe", "reference")}
    pairs = fk.pairs(rng.normal(size=n), race=tuple(race), **sides, **images)
    options = dict(far=[0.1, 0.3], by="race", histogram=20) | options
    found = [fk.evaluate(pairs, **options)["empirical"].dataset]
    for scheme in ("pair", "identity", "image"):
        found.append(
            fk.evaluate(pairs, resampling=fk.Resampling(scheme, n=3), **options)[
                "empirical"
            ].dataset
        )
        for name in set(found[0].data_vars) & set(found[-1].data_vars) - {"images", "images_group"}:
            np.testing.assert_allclose(found[-1][name], found[0][name], rtol=1e-12, err_msg=name)


def test_lists_without_one_kind_of_pair_are_refused():
    with pytest.raises(fk.InputError, match="no genuine pair"):
        fk.evaluate(fk.pairs([0.1, 0.2], [0, 0]), far=[0.1])
    with pytest.raises(fk.InputError, match="no impostor pair"):
        fk.evaluate(fk.pairs([0.1, 0.2], [1, 1]), far=[0.1])


def test_an_unknown_attribute_and_no_list_at_all():
    with pytest.raises(fk.InputError, match="by='race' is no attribute.*gender"):
        fk.evaluate(a_list(), far=FAR, by="race")
    with pytest.raises(fk.InputError, match="fk.pairs"):
        fk.evaluate(a_list().drop_vars("genuine"), far=FAR)


def test_an_image_with_itself_is_left_out_and_counted():
    pairs = fk.pairs([0.9, 0.8, 0.1, 0.2], probe=list("abcc"), reference=list("abxy"), probe_identity=list("kkmm"),
                     reference_identity=list("kkkk"))  # fmt: skip
    more = fk.pairs(
        [0.7], probe=["a"], reference=["b"], probe_identity=["k"], reference_identity=["k"]
    )
    both = fk.pairs(
        np.append(pairs.score, more.score),
        **{name: np.append(pairs[name], more[name]) for name in pairs.coords if name != "genuine"},
    )
    with pytest.warns(fk.DataWarning, match="2 pair.s. compare an image with itself"):
        ev = fk.evaluate(both, threshold=[0.75], weighting="pair")
    assert ev["empirical"].frr.values.tolist() == [1.0]
    assert json.loads(ev.attrs["provenance"])["n_pairs_of_an_image_with_itself"] == 2


VARYING = dict(
    score=[0.9, 0.2, 0.4, 0.8, 0.3],
    probe=list("aacce"),
    reference=list("bcedb"),
    probe_identity=list("kkmmn"),
    reference_identity=list("kmnmk"),
    race=["x", "x", "y", None, "y"],
)


def test_labels_that_vary_within_a_person_count_as_each_row_says():
    pairs = fk.pairs(**VARYING)
    with pytest.warns(
        fk.DataWarning, match="'race' varies within 2 of 3 people .'k', 'm'.*'most frequent'"
    ):
        ev = fk.evaluate(pairs, threshold=[0.25], by="race")
    assert ev["empirical"].far_group.sel(group="y").values.tolist() == [1.0]
    assert json.loads(ev.attrs["provenance"])["n_pairs_without_label"] == 1
    first = fk.evaluate(pairs, threshold=[0.25], by="race", varying="first", weighting="pair")[
        "empirical"
    ]
    assert first.far_cross.sel(group="x", reference_group="y").values.tolist() == [0.5]
    assert first.frr_group.sel(group="y").values.tolist() == [0.0], (
        "the label of the first row fills the gap"
    )


def test_strata_must_belong_to_people():
    with pytest.raises(
        fk.InputError, match="strata must be a property of the person, but 'race' varies"
    ):
        fk.evaluate(
            fk.pairs(**VARYING),
            far=[0.1],
            by="race",
            resampling=fk.Resampling("identity", n=2, strata="race"),
        )


def test_a_group_is_named_only_where_both_sides_agree():
    pairs = fk.pairs(
        [0.9, 0.1, 0.3, 0.5, 0.7], [1, 1, 0, 0, 0], race=["a", "a x b", "a x b", "b x a", "b"]
    )
    data = fk.evaluate(pairs, threshold=[0.4], by="race")["empirical"].dataset.isel(
        threshold_level=0
    )
    assert (
        float(data.frr) == 0.5
        and data.frr_group.sel(group="a") == 0
        and np.isnan(data.frr_group.sel(group="b"))
    )
    assert data.far_cross.sel(group="a", reference_group="b") == 0.5
    assert data.far_group.sel(group="b") == 1 and np.isnan(data.far_group.sel(group="a"))


def test_bands_floors_and_comparisons_take_lists():
    one, other = a_list(600, seed=9), a_list(600, seed=9)
    other["score"] = other.score + 0.3 * other.genuine
    options = dict(far=[0.1], by="gender", resampling=fk.Resampling("identity", n=30))
    evaluations = [fk.evaluate(pairs, **options) for pairs in (one, other)]
    band = fk.band(evaluations[0], "frr_group")
    assert (band.lower <= band.estimate).all() and band.attrs["target"] == "new people"
    assert (fk.compare(*evaluations, "frr").estimate > 0).all()
    with pytest.raises(fk.InputError):
        fk.compare(evaluations[0], fk.evaluate(a_list(500, seed=9), **options), "frr")


def test_intervals_of_pairs_without_names():
    one, other = (a_list(600, seed=seed, names=False, identities=False) for seed in (9, 9))
    other["score"] = other.score - other.genuine
    evaluations = [
        fk.evaluate(pairs, far=[0.1], resampling=fk.Resampling("pair", n=30))
        for pairs in (one, other)
    ]
    assert "too narrow" in fk.band(evaluations[0], "frr").attrs["target"]
    assert (fk.compare(*evaluations, "frr").upper < 0).all()


def test_lists_are_stored_and_read_again(tmp_path):
    pairs = a_list(models=2)
    pairs.to_netcdf(tmp_path / "pairs.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "pairs.nc", engine="h5netcdf") as again:
        ev = [fk.evaluate(one, far=FAR, by="gender") for one in (pairs, again.load())]
    np.testing.assert_array_equal(ev[0]["empirical"].far_cross, ev[1]["empirical"].far_cross)


def test_the_diagonal_that_a_list_lacks_is_said_aloud():
    with pytest.warns(fk.DataWarning, match="hold no comparison of an image with itself"):
        fk.evaluate(a_list(), far=FAR, resampling=fk.Resampling("image", n=2))


def test_a_table_is_no_list():
    score, _ = table()
    with pytest.raises(fk.InputError, match="score must have shape"):
        fk.pairs(score, np.ones(len(score)))


def anonymous(seed: int = 0, n: int = 2000):
    """Which pairs are genuine, and their scores by two models that have nothing to do with one another."""
    rng, genuine = np.random.default_rng(seed), np.arange(n) % 2 == 0
    return genuine, {name: rng.normal(2.0 * genuine) for name in "AB"}


def test_models_of_a_list_without_identities_are_compared_pair_by_pair():
    genuine, scores = anonymous()
    ev = fk.evaluate(fk.pairs(scores, genuine), threshold=[1.7])
    found = fk.compare(ev.sel(model="A"), ev.sel(model="B"), "frr")
    rates = np.array([np.mean(scores[name][genuine] <= 1.7) for name in "AB"])
    apart = np.subtract(*((scores[name][genuine] <= 1.7).astype(float) for name in "AB"))
    assert found.estimate.item() == pytest.approx(rates[0] - rates[1])
    half = 1.96 * apart.std() / np.sqrt(genuine.sum())
    assert (found.upper - found.lower).item() / 2 == pytest.approx(half, rel=0.05)


def test_models_of_a_list_without_identities_may_fail_in_different_pairs():
    genuine, scores = anonymous(1)
    scores["A"][[3, 8, 9]], scores["B"][[2, 40]] = np.nan, np.nan
    with pytest.warns(fk.DataWarning, match="3 genuine and 2 impostor comparisons failed"):
        both = fk.evaluate(fk.pairs(scores, genuine), far=[0.1])
    for name in "AB":
        with pytest.warns(fk.DataWarning, match="failed"):
            alone = fk.evaluate(fk.pairs(scores[name], genuine), far=[0.1])
        for rate in ("frr", "eer"):
            xr.testing.assert_allclose(
                fk.band(both, rate).sel(model=name, drop=True), fk.band(alone, rate)
            )
    known = ~np.isnan(scores["A"])
    left = fk.evaluate(fk.pairs(scores["A"][known], genuine[known]), far=[0.1])
    xr.testing.assert_allclose(
        fk.band(both, "frr").sel(model="A", drop=True), fk.band(left, "frr"), rtol=1e-9
    )
