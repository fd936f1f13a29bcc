"""The fine-tuning study: its gradient, its protocol, and the pattern of the paper."""

from importlib import import_module

import numpy as np
import pytest
from scipy import optimize

import frkit as fk
from frkit.studies import Training, finetuning
from frkit.studies.finetuning import (
    People,
    _hardest,
    people_of,
    train_layer,
    triplet_loss,
    unit_rows,
)

QUICK = Training(steps=10)
HOW = dict(by="group", models=2, subsets=10, fpr=0.1, training=QUICK, progress=False)


def rows(n, dim, rng):
    x = rng.normal(size=(n, dim))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def population():
    groups = {"a": {"kappa": (30, 80)}, "b": {"kappa": (25, 60)}}
    return fk.vmf.subspace_mixture(
        groups, n_identities=120, dim=32, common=6, own=6, own_share=0.6, seed=0
    )


@pytest.fixture(scope="module")
def faces(population):
    return population.sample(5, seed=1)


# --- the loss -----------------------------------------------------------------------------------------------


def test_the_loss_is_that_of_facenet():
    rng = np.random.default_rng(0)
    triplets, layer = [rows(7, 5, rng) for _ in range(3)], rng.normal(size=(5, 4))
    a, p, n = (x @ layer / np.linalg.norm(x @ layer, axis=1, keepdims=True) for x in triplets)
    each = [
        max(0, np.sum((i - j) ** 2) - np.sum((i - k) ** 2) + 0.4)
        for i, j, k in zip(a, p, n, strict=True)
    ]
    assert triplet_loss(layer, triplets, 0.4)[0] == pytest.approx(np.mean(each), rel=1e-12)


@pytest.mark.parametrize("width", [3, 6])
def test_the_gradient_agrees_with_finite_differences(width):
    rng = np.random.default_rng(1)
    triplets, layer = [rows(9, 6, rng) for _ in range(3)], rng.normal(size=(6, width))
    loss, gradient = triplet_loss(layer, triplets, 0.5)
    numeric = optimize.approx_fprime(
        layer.ravel(), lambda flat: triplet_loss(flat.reshape(layer.shape), triplets, 0.5)[0], 1e-7
    )
    assert loss > 0 and np.abs(gradient).max() > 0.01
    np.testing.assert_allclose(gradient.ravel(), numeric, atol=1e-6)


def test_the_hardest_negative_is_another_person_of_the_batch():
    rng = np.random.default_rng(2)
    anchor, positive, owner = rows(6, 4, rng), rows(6, 4, rng), np.array([0, 0, 1, 2, 2, 3])
    _, _, negative = _hardest(anchor, positive, np.eye(4), owner)
    for k in range(6):
        others = [j for j in range(6) if owner[j] != owner[k]]
        best = max(others, key=lambda j: anchor[k] @ positive[j])
        np.testing.assert_array_equal(negative[k], positive[best])


def test_a_couple_is_two_images_of_one_person():
    people = People(None, None, np.array([0, 2, 7]), np.array([2, 5, 3]), None)
    which = np.repeat([0, 1, 2], 500)
    one, other = people.couples(which, np.random.default_rng(0))
    for found in (one, other):
        assert np.all(
            (found >= people.first[which]) & (found < people.first[which] + people.count[which])
        )
    assert np.all(one != other)
    assert len(set(zip(one[which == 1], other[which == 1], strict=True))) == 20


def test_training_lowers_the_loss_and_begins_at_the_embedding(faces):
    who = people_of(faces, "group")
    drawn = np.flatnonzero(who.group == "a")
    how = Training(steps=80, rate=0.003)
    layer, losses = train_layer(who, drawn, np.random.default_rng(0), how)
    assert losses[-20:].mean() < 0.6 * losses[:5].mean()
    start, _ = train_layer(who, drawn, np.random.default_rng(0), Training(steps=1, rate=1e-12))
    np.testing.assert_allclose(unit_rows(who.x @ start), who.x, atol=1e-9)
    assert layer.shape == (32, 32)


# --- the protocol -------------------------------------------------------------------------------------------


def test_nobody_is_trained_on_and_evaluated(faces):
    who = people_of(faces, "group")
    train, tested = who.halves(np.random.default_rng(0))
    trained = who.names[np.concatenate(list(train.values()))]
    assert not set(trained) & set(tested)
    assert sorted([*trained, *tested]) == np.unique(faces.identity).tolist()
    assert {group: len(members) for group, members in train.items()} == {"a": 30, "b": 30}
    assert all(set(who.group[members]) == {group} for group, members in train.items())


def test_each_kind_is_trained_on_its_own_people_only(faces, monkeypatch):
    """Three of four of the training half, drawn with replacement, in the order all, a, b; fresh for each batch."""
    drawn = []

    def spy(people, who, rng, how):
        drawn.append(who)
        return train_layer(people, who, rng, how)

    monkeypatch.setattr(import_module("frkit.studies.finetuning"), "train_layer", spy)
    finetuning(faces, **HOW)
    who = people_of(faces, "group")
    _, tested = who.halves(np.random.default_rng(np.random.SeedSequence(0).spawn(3)[0]))
    assert [set(who.group[one]) for one in drawn] == 2 * [{"a", "b"}, {"a"}, {"b"}]
    assert [len(one) for one in drawn] == 2 * [45, 22, 22]
    assert not set(who.names[np.concatenate(drawn)]) & set(tested)
    assert len(set(drawn[0].tolist())) < 45
    assert sorted(drawn[1].tolist()) != sorted(drawn[4].tolist())


def test_people_are_found_in_any_order_of_images(faces):
    turned = faces.isel(image=np.random.default_rng(0).permutation(faces.sizes["image"]))
    who = people_of(turned, "group")
    for k in (0, 17):
        mine = who.x[who.first[k] : who.first[k] + who.count[k]]
        expected = faces.embedding.values[faces.identity.values == who.names[k]]
        np.testing.assert_allclose(np.sort(mine, 0), np.sort(expected, 0), atol=1e-6)


def test_the_result_has_the_form_of_both_tables_and_repeats(faces):
    found, again = finetuning(faces, **HOW), finetuning(faces, **HOW)
    assert found.finetuned.values.tolist() == ["none", "all", "a", "b"]
    assert dict(found.eer.sizes) == {"finetuned": 4, "batch": 2, "subset": 10, "group": 2}
    assert dict(found.loss.sizes) == {"batch": 2, "trained": 3, "step": 10}
    assert found.n_people.values.tolist() == [30, 30]
    np.testing.assert_array_equal(found.eer, again.eer)
    np.testing.assert_array_equal(
        found.n_absolute, np.abs(found.n_by_batch).mean("batch").transpose(*found.n_absolute.dims)
    )
    np.testing.assert_array_equal(
        found.eer_all.sel(finetuned="none").isel(batch=0),
        found.eer_all.sel(finetuned="none").isel(batch=1),
    )
    assert bool((found.eer.isel(batch=0) != found.eer.isel(batch=1)).any())
    other = finetuning(faces, **{**HOW, "seed": 1})
    assert bool((found.eer_mean != other.eer_mean).any())


def test_untuned_rates_are_those_of_n_sigma(faces):
    found = finetuning(faces, **HOW)
    who = people_of(faces, "group")
    halves = np.random.SeedSequence(0).spawn(3)[0]
    _, tested = who.halves(np.random.default_rng(halves))
    part = faces.isel(image=np.isin(faces.identity.values, tested))
    plain = fk.nsigma.subset_rates(fk.score_tensor(part), by="group", subsets=2, fpr=0.1)
    np.testing.assert_allclose(
        found.eer_all.sel(finetuned="none").isel(batch=0), plain.eer_all, atol=1e-9
    )


def test_tuning_to_a_group_helps_it_and_hurts_the_other(faces):
    """Against models tuned to the other group, over eight models of each kind."""
    found = finetuning(faces, **{**HOW, "models": 8, "training": Training()})
    mean = found.eer_all.mean("batch")
    for group, other in (("a", "b"), ("b", "a")):
        assert mean.sel(finetuned=group, group=group) < mean.sel(finetuned=other, group=group)
        assert mean.sel(finetuned=other, group=group) > mean.sel(finetuned="none", group=group)
    n = np.abs(found.n_by_batch).mean("batch").sel(group="b")
    assert n.sel(finetuned="b") < n.sel(finetuned="a")


# --- the mixture --------------------------------------------------------------------------------------------


def test_groups_use_the_common_and_their_own_subspace(population):
    squared = population.mean_directions**2
    a = population.groups["group"] == "a"
    np.testing.assert_allclose(squared[:, :6].sum(1), 0.4)
    np.testing.assert_allclose(squared[a, 6:12].sum(1), 0.6)
    np.testing.assert_allclose(squared[~a, 12:18].sum(1), 0.6)
    assert not squared[:, 18:].any()


def test_the_study_agrees_with_the_exact_truth(population):
    exact = population.population_summary(by="group").eer_group
    faces = population.sample(40, seed=3)
    found = fk.evaluate(fk.score_tensor(faces), far=[0.1], by="group", weighting="pair")[
        "empirical"
    ].eer_group
    np.testing.assert_allclose(found, exact, rtol=0.1)


# --- refusals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "race"}, "by='race' is no attribute"),
        ({"models": 0}, "models must be a whole number of at least 1"),
        ({"subset_size": 100}, "the people of the smallest group"),
        ({"reference": "c"}, "reference='c' is no group"),
    ],
)
def test_bad_options_are_refused(faces, options, message):
    with pytest.raises(fk.InputError, match=message):
        finetuning(faces, **{**HOW, "models": 1, **options})


def test_small_data_are_refused(faces):
    names = np.unique(faces.identity.values[faces.group.values == "b"])[:3]
    few = (faces.group.values == "a") | np.isin(faces.identity.values, names)
    with pytest.raises(
        fk.InputError, match="4 people with two images in every group; 'b' has fewer"
    ):
        finetuning(faces.isel(image=few), **HOW)
    with pytest.raises(fk.InputError, match="has only 'a'"):
        finetuning(faces.isel(image=faces.group.values == "a"), **HOW)
    with pytest.raises(fk.InputError, match="one model"):
        finetuning(fk.stack_models({"x": faces}), **HOW)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps must be a whole number of at least 1"),
        ({"people": 1}, "people must be"),
        ({"margin": 4}, r"margin must lie in \(0, 4\)"),
        ({"rate": 0}, r"rate must lie in \(0, inf\)"),
    ],
)
def test_bad_training_is_refused(options, message):
    with pytest.raises(fk.InputError, match=message):
        Training(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": 10}, "more than dim=10"),
        ({"own": 0}, "at least 1"),
        ({"own_share": 2}, r"own_share must lie in \[0, 1\]"),
        ({"groups": {"a": {"cohesion": 1}, "b": {}}}, "unknown options"),
    ],
)
def test_impossible_subspaces_are_refused(options, message):
    with pytest.raises(fk.InputError, match=message):
        fk.vmf.subspace_mixture(**{"groups": {"a": {}, "b": {}}, "n_identities": 20, **options})
