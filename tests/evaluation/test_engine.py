"""The engine against the slow twin: point, centre and every replicate, over all that can be asked
for."""

import multiprocessing

import numpy as np
import pytest
from engine_cases import (
    FAR,
    THRESHOLD,
    as_twin,
    counts,
    evaluate_and_check,
    looked_up,
    people,
    split_by,
    table,
)
from sklearn.metrics import roc_auc_score
from twin import empirical

import frkit as fk

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
SCHEMES = ["image", "identity", "two-level", "double-or-nothing", "subset"]
# so that no two pairs of groups can be exchanged unseen
THREE = ("f", "m", "x", "unknown", "m", "x", "f", "x")
SHARES = {f"id{index}": 0.5 + 0.25 * index for index in range(9)}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    "weighting", ["identity", "pair", SHARES], ids=["identity", "pair", "shares"]
)
@pytest.mark.parametrize(("sizes", "ties"), [("equal", True), ("unequal", False)])
def test_schemes_and_weightings(sizes, ties, weighting, scheme):
    scores = fk.score_tensor(people(sizes, ties=ties, groups=THREE))
    resampling = fk.Resampling(scheme, n=2, seed=1)
    evaluate_and_check(scores, by="gender", resampling=resampling, weighting=weighting)


@pytest.mark.parametrize("weighting", ["identity", pytest.param("pair", marks=pytest.mark.slow)])
@pytest.mark.parametrize("impostors", ["all", "same-group"])
@pytest.mark.parametrize(
    "levels", [dict(far=FAR), dict(threshold=THRESHOLD)], ids=["far", "threshold"]
)
def test_impostors_and_fixed_thresholds(levels, impostors, weighting):
    scores = fk.score_tensor(people("unequal", ties=True))
    options = dict(by="gender", resampling=fk.Resampling("two-level", n=3), impostors=impostors)
    ev = evaluate_and_check(scores, weighting=weighting, **levels, **options)
    dim = "far_level" if "far" in levels else "threshold_level"
    assert ev["replicates"].sizes[dim] == len(next(iter(levels.values())))
    assert ("far_cross" in ev["empirical"]) == (impostors == "all")


def test_levels_that_equal_a_rate_exactly_in_unequal_weights():
    """Weights of 1/(n_k n_l) round: a level computed from the pairs themselves is met all the
    same."""
    score, faces = table("unequal", decimals=6)
    scores = looked_up(score, faces)
    impostor, _ = empirical(as_twin(scores))
    order = np.argsort(-impostor.score)
    shares = np.cumsum(impostor.weight[order]) / impostor.weight.sum()
    places = np.array([0, 3, 11, 40, 90])
    ev = evaluate_and_check(scores, far=shares[places], resampling=fk.Resampling("image", n=2))
    np.testing.assert_array_equal(ev["empirical"].threshold, impostor.score[order][places + 1])
    np.testing.assert_allclose(ev["empirical"].far, shares[places], rtol=1e-12)


def test_levels_from_below_one_pair_to_nearly_all():
    score, faces = table("unequal", decimals=1)
    scores = looked_up(score, faces)
    ev = evaluate_and_check(
        scores, far=[1e-9, 1e-3, 0.5, 0.97], by="gender", resampling=fk.Resampling("image", n=3)
    )
    twin = as_twin(scores)
    identity = np.array(twin.probe_identity)
    largest = score[identity[:, None] != identity].max()
    assert ev["empirical"].threshold.values[0] == largest and ev["empirical"].far.values[0] == 0


def test_distances_without_groups():
    scores = fk.score_tensor(people("unequal", seed=4), "euclidean")
    ev = evaluate_and_check(scores, bounds=(-10.0, 0.0), resampling=fk.Resampling("image", n=3))
    assert ev["replicates"].frr.dims == ("replicate", "far_level")
    assert "far_group" not in ev["empirical"].data_vars
    assert "replicates" not in evaluate_and_check(scores, bounds=(-10.0, 0.0)).children


@pytest.mark.parametrize(
    "options",
    [
        dict(scheme="identity", strata="gender"),
        dict(scheme="two-level", strata="gender"),
        dict(scheme="subset", subset_size=3),
    ],
)
def test_strata_and_small_subsets(options):
    scores = fk.score_tensor(people("equal", ties=True, groups=("f", "m")))
    evaluate_and_check(scores, by="gender", resampling=fk.Resampling(n=4, **options))


@pytest.mark.parametrize(
    ("scheme", "weighting", "symmetric"),
    [
        ("image", "identity", True),
        ("identity", "pair", False),
        pytest.param("image", "identity", False, marks=pytest.mark.slow),
        pytest.param("identity", "pair", True, marks=pytest.mark.slow),
    ],
)
def test_a_callable_with_its_own_diagonal(scheme, weighting, symmetric):
    score, faces = table("unequal", seed=2, decimals=1)
    if not symmetric:
        score = score + np.triu(np.full_like(score, 0.25), 1)
    scores = looked_up(score, faces, symmetric=symmetric)
    resampling = fk.Resampling(scheme, n=3)
    evaluate_and_check(scores, by="gender", resampling=resampling, weighting=weighting)


@pytest.mark.parametrize(
    ("scheme", "weighting"),
    [
        ("image", "pair"),
        ("identity", "identity"),
        pytest.param("image", "identity", marks=pytest.mark.slow),
        pytest.param("identity", "pair", marks=pytest.mark.slow),
    ],
)
def test_split_people_make_no_pairs_with_themselves(scheme, weighting):
    faces = people([6, 5, 4, 6, 3], ties=True)
    age = np.where(np.arange(24) % 3 == 0, "old", "young")
    split = split_by(fk.faces(faces.embedding.values, faces.identity.values, age=age), "age")
    scores = fk.score_tensor(split)
    assert len(np.unique(scores.probe_person)) == 5 < len(np.unique(scores.probe_identity))
    resampling = fk.Resampling(scheme, n=3)
    evaluate_and_check(scores, by="age", resampling=resampling, weighting=weighting)


def rectangle(seed, missing=-1.0, groups="ffmmmf"):
    """Probes and references of six people, some on one side only, with failed comparisons."""
    rng = np.random.default_rng(seed)
    probe = np.array("a a b b c d d d e".split())
    reference = np.array("a b b c c d e f f a".split())
    score = np.round(rng.random((9, 10)) + 0.6 * (probe[:, None] == reference), 1)
    score[rng.random(score.shape) < 0.1] = missing
    score[:, 4] = missing
    gender = dict(zip("abcdef", groups))
    labels = [np.array([gender[k] for k in side]) for side in (probe, reference)]
    return score, probe, reference, {"gender": labels}


@pytest.mark.parametrize(
    "scheme", ["image", "identity", pytest.param("two-level", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(("weighting", "shared"), [("identity", False), ("pair", True)])
def test_rectangular_matrices_with_failed_comparisons(scheme, weighting, shared):
    """With shared names some probes are references too: those cells are the diagonal."""
    score, probe, reference, attributes = rectangle(5, groups="fxmmxf")
    names = {}
    if shared:
        names = dict(
            probe=[f"{k}{i}" for i, k in enumerate(probe)], reference=[f"r{j}" for j in range(10)]
        )
        names["reference"][0], names["reference"][2], names["reference"][5] = "a0", "b3", "d6"
    scores = fk.score_matrix(score, probe, reference, missing=-1, attributes=attributes, **names)
    resampling = fk.Resampling(scheme, n=3)
    evaluate_and_check(scores, by="gender", resampling=resampling, weighting=weighting)


@pytest.mark.slow
def test_several_models_are_evaluated_as_each_alone():
    first, second = people("unequal", seed=6), people("unequal", seed=6)
    second = second.assign(embedding=second.embedding.roll(feature=1) ** 3)
    both = fk.open_data({"one": first, "other": second})
    options = dict(far=FAR, by="gender", resampling=fk.Resampling("image", n=3))
    together = fk.evaluate(fk.score_tensor(both), **options)
    for name, faces in {"one": first, "other": second}.items():
        alone = fk.evaluate(fk.score_tensor(faces), **options)
        for node in ("empirical", "vstatistic", "replicates"):
            picked = together[node].dataset.sel(model=name, drop=True)
            for variable in alone[node].data_vars:
                np.testing.assert_array_equal(
                    picked[variable], alone[node][variable], err_msg=variable
                )


@pytest.mark.parametrize(("accepts", "rejects"), [(10, 10), (9, 10), (10, 9)])
def test_ten_errors_of_each_kind_resolve_a_level(accepts, rejects):
    genuine = np.arange(80) < 40
    errors = np.where(genuine, np.arange(80) < rejects, np.arange(80) < 40 + accepts)
    pairs = fk.pairs(np.where(errors, ~genuine, genuine), genuine, race=["a"] * 80)
    data = fk.evaluate(pairs, threshold=[0.5], by="race")["empirical"].dataset
    assert (int(data.false_accepts[0]), int(data.false_rejects[0])) == (accepts, rejects)
    for name in ("resolved", "resolved_group"):
        assert bool(data[name].values.all()) == (accepts + rejects == 20), name


@pytest.mark.slow
@pytest.mark.parametrize(
    "levels", [dict(far=FAR), dict(threshold=THRESHOLD)], ids=["far", "threshold"]
)
def test_replicates_without_impostor_or_genuine_pairs_are_nan_and_not_zero(levels):
    """Of three people a replicate may hold one alone, or only those with one image."""
    scores = fk.score_tensor(people([1, 2, 1], seed=2))
    resampling = fk.Resampling("identity", n=120)
    replicates = evaluate_and_check(scores, resampling=resampling, by="gender", **levels)[
        "replicates"
    ]
    twin = as_twin(scores)
    drawn = [counts(twin, resampling, b)[0] for b in range(120)]
    assert any(count["id1"] == 3 for count in drawn), (
        "no replicate has genuine pairs and no impostor pair"
    )
    alone = np.array([max(count.values()) == 3 for count in drawn])
    np.testing.assert_array_equal(np.isnan(replicates.far.values[:, 0]), alone)
    assert 0 < int(np.isnan(replicates.frr.values[:, 0]).sum()) < 120


@pytest.mark.parametrize("bins", [20, 100])
def test_scores_on_and_beside_the_edges_of_bins(bins):
    """As in np.histogram: a bin contains its lower edge, the last one both of its edges."""
    _, faces = table("unequal")
    edges = np.linspace(-1, 1, bins + 1).astype(np.float32)
    beside = [edges, np.nextafter(edges, np.float32(-2)), np.nextafter(edges, np.float32(2))]
    values = np.unique(np.clip(np.concatenate(beside), -1, 1))
    score = np.random.default_rng(7).choice(values, (24, 24))
    scores = looked_up(np.maximum(score, score.T), faces)
    evaluate_and_check(scores, bins=bins, bounds=(-1.0, 1.0))


def test_the_auc_is_exact():
    """Of float32 scores some are equal: such couples count half."""
    faces = fk.vmf.mixture(60, 32, kappa=(10, 30), seed=0).sample(8, seed=1)
    kept = fk.sweep(fk.score_tensor(faces))
    rates = fk.evaluate(kept, far=[0.1], histogram=20, weighting="pair")["empirical"]
    pairs = kept["pairs"]
    sides = pairs.probe_image.values, pairs.reference_image.values
    probe, reference = (faces.identity.values[side] for side in sides)
    exact = roc_auc_score(probe == reference, pairs.score.values)
    assert float(rates.auc) == pytest.approx(exact, abs=1e-12)


# --- what the sweep decides ----------------------------------------------------------------------


def test_the_worst_group_has_the_level():
    """The largest FAR of a group at the threshold is at most the level, and above it at the next
    score."""
    faces = people([4] * 60, dim=8)
    scores = fk.score_tensor(faces)
    strict = fk.evaluate(scores, far=[0.05], far_of="worst group", by="gender")["empirical"]
    worst = float(strict.far_group.max())
    assert worst <= 0.05
    values = np.sort(scores.values[np.triu_indices(len(scores), 1)])
    below = values[values < strict.threshold.item()][-1]
    next_lower = fk.evaluate(scores, threshold=[np.nextafter(below, -np.inf)], by="gender")[
        "empirical"
    ]
    assert float(next_lower.far_group.max()) >= worst


def in_a_child(faces, pipe):
    pipe.send(float(fk.evaluate(fk.score_tensor(faces), far=[0.1])["empirical"].frr.item()))


def test_a_forked_child_evaluates_too():
    faces = people([4] * 30, dim=8)
    expected = float(fk.evaluate(fk.score_tensor(faces), far=[0.1])["empirical"].frr.item())
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=in_a_child, args=(faces, there))
    child.start()
    assert here.poll(60) and here.recv() == expected
    child.join(10)
