"""The fine-tuning study: its gradient, its protocol, and the pattern of the paper."""

import numpy as np
import pytest
from refusals import refused
from scipy import optimize

import frkit as fk
from frkit.papers.nsigma.finetuning import RATE, people_of, train_layer, triplet_loss
from frkit.papers.nsigma.subsets import subset_rates
from frkit.studies import finetuning

HOW = dict(by="group", models=2, subsets=10, fpr=0.1, steps=10, progress=False)


def rows(n, dim, rng):
    x = rng.normal(size=(n, dim))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def faces():
    groups = {"a": {"kappa": (30, 80)}, "b": {"kappa": (25, 60)}}
    mix = fk.vmf.subspace_mixture(
        groups, n_identities=120, dim=32, common=6, own=6, own_share=0.6, seed=0
    )
    return mix.sample(5, seed=1)


@pytest.fixture(scope="module")
def study(faces):
    return finetuning(faces, **HOW)


# --- the loss ------------------------------------------------------------------------------------
def test_the_loss_is_that_of_facenet():
    rng = np.random.default_rng(0)
    triplets, layer = [rows(7, 5, rng) for _ in range(3)], rng.normal(size=(5, 4))
    a, p, n = (x @ layer / np.linalg.norm(x @ layer, axis=1, keepdims=True) for x in triplets)
    each = []
    for i, j, k in zip(a, p, n, strict=True):
        each.append(max(0, np.sum((i - j) ** 2) - np.sum((i - k) ** 2) + 0.4))
    assert triplet_loss(layer, triplets, 0.4)[0] == pytest.approx(np.mean(each), rel=1e-12)


def test_the_gradient_agrees_with_finite_differences():
    rng = np.random.default_rng(1)
    triplets, layer = [rows(9, 6, rng) for _ in range(3)], rng.normal(size=(6, 3))
    loss, gradient = triplet_loss(layer, triplets, 0.5)

    def loss_of_flat(flat):
        return triplet_loss(flat.reshape(layer.shape), triplets, 0.5)[0]

    numeric = optimize.approx_fprime(layer.ravel(), loss_of_flat, 1e-7)
    assert loss > 0 and np.abs(gradient).max() > 0.01
    np.testing.assert_allclose(gradient.ravel(), numeric, atol=1e-6)


def test_training_lowers_the_loss_and_begins_at_the_embedding(faces):
    who = people_of(faces, "group")
    drawn = np.flatnonzero(who.group == "a")
    anchor, positive = who.couples(drawn, np.random.default_rng(1))
    triplets = [who.x[anchor], who.x[positive], who.x[np.roll(anchor, 1)]]
    layer = train_layer(who, drawn, np.random.default_rng(0), 80)
    before, _ = triplet_loss(np.eye(32), triplets, 0.3)
    after, _ = triplet_loss(layer, triplets, 0.3)
    assert after < 0.6 * before
    start = train_layer(who, drawn, np.random.default_rng(0), 1)
    np.testing.assert_allclose(start, np.eye(32), atol=1.01 * RATE)  # one step of Adam


@pytest.mark.slow
def test_nobody_who_trains_is_evaluated(faces, study):
    who = people_of(faces, "group")
    trained, tested = who.halves(np.random.default_rng(np.random.SeedSequence(0).spawn(3)[0]))
    for group, members in trained.items():
        assert set(who.group[members]) == {group}
        assert not set(who.names[members]) & set(tested)
    part = faces.isel(image=np.isin(faces.identity.values, tested))
    untuned = subset_rates(fk.score_tensor(part), by="group", subsets=2, fpr=0.1)
    untuned_in_study = study.eer_all.sel(finetuned="none").isel(batch=0)
    np.testing.assert_allclose(untuned_in_study, untuned.eer_all, atol=1e-9)


@pytest.mark.slow
def test_the_result_has_the_form_of_both_tables_and_repeats(faces, study):
    assert study.finetuned.values.tolist() == ["none", "all", "a", "b"]
    assert dict(study.eer.sizes) == {"finetuned": 4, "batch": 2, "subset": 10, "group": 2}
    np.testing.assert_array_equal(study.eer, finetuning(faces, **HOW).eer)
    n = np.abs(study.n_by_batch).mean("batch").transpose(*study.n_absolute.dims)
    np.testing.assert_array_equal(study.n_absolute, n)
    assert bool((study.eer.isel(batch=0) != study.eer.isel(batch=1)).any())


@pytest.mark.slow
def test_tuning_to_a_group_helps_it_and_hurts_the_other(faces):
    """Against models tuned to the other group, over eight models of each kind."""
    study = finetuning(faces, **{**HOW, "models": 8, "steps": 60})
    mean = study.eer_all.mean("batch")
    for group, other in (("a", "b"), ("b", "a")):
        assert mean.sel(finetuned=group, group=group) < mean.sel(finetuned=other, group=group)
        assert mean.sel(finetuned=other, group=group) > mean.sel(finetuned="none", group=group)
    n = np.abs(study.n_by_batch).mean("batch").sel(group="b")
    assert n.sel(finetuned="b") < n.sel(finetuned="a")


def test_small_data_are_refused(faces):
    names = np.unique(faces.identity.values[faces.group.values == "b"])[:3]
    few = (faces.group.values == "a") | np.isin(faces.identity.values, names)
    with refused("4 people", "b"):
        finetuning(faces.isel(image=few), **HOW)


# --- the mixture of the study --------------------------------------------------------------------
def test_groups_use_the_common_and_their_own_subspace():
    options = dict(n_identities=20, dim=32, common=6, own=6, own_share=0.6)
    mix = fk.vmf.subspace_mixture({"a": {}, "b": {}}, **options)
    squared = mix.mean_directions**2
    a = mix.groups["group"] == "a"
    np.testing.assert_allclose(squared[:, :6].sum(1), 0.4)
    np.testing.assert_allclose(squared[a, 6:12].sum(1), 0.6)
    np.testing.assert_allclose(squared[~a, 12:18].sum(1), 0.6)
    assert not squared[:, 18:].any()
