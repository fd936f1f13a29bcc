"""Comparators of representation bias: each against its definition, and known truths."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import frkit as fk
from frkit.papers.rlb.problem import stratified
from frkit.representation import distance_correlation, probe, shifted_classes


def labelled(n=40, d=3, classes=2, per_person=2, shift=1.0, seed=0):
    """Faces with an attribute that is constant within people."""
    rng = np.random.default_rng(seed)
    people = n // per_person
    z = rng.permutation(np.arange(people) % classes)
    who = np.repeat(np.arange(people), per_person)
    x = rng.standard_normal((n, d)) + shift * z[who][:, None]
    return fk.faces(x, who, group=[f"class {k}" for k in z[who]])


# --- distance correlation
def distances(x):
    return np.array([[np.linalg.norm(a - b) for b in x] for a in x])


def u_centred(a):
    """Székely & Rizzo (2014), eq. 2.1: zero on the diagonal."""
    n = len(a)
    rows, total = a.sum(1), a.sum()
    out = a - rows[:, None] / (n - 2) - rows[None] / (n - 2) + total / ((n - 1) * (n - 2))
    np.fill_diagonal(out, 0)
    return out


def twin(x, z):
    """The squared distance correlation by its definition, with whole matrices."""
    a, b = u_centred(distances(x)), u_centred((z[:, None] != z[None]).astype(float))
    return (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())


@pytest.mark.parametrize("classes", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_distance_correlation_and_its_permutations_are_the_definition(classes):
    """Permutations assign labels to whole people."""
    faces = labelled(n=45, classes=classes, per_person=3)
    x, z = faces.embedding.values.astype(float), faces.group.values
    result = distance_correlation(faces, "group", permutations=50, seed=4)
    np.testing.assert_allclose(result.dcor2, twin(x, z), rtol=1e-12)
    _, first, person = np.unique(faces.identity, return_index=True, return_inverse=True)
    rng = np.random.default_rng(np.random.SeedSequence(4))
    orders = rng.permuted(np.tile(z[first], (50, 1)), axis=1)
    null = np.array([twin(x, order[person]) for order in orders])
    np.testing.assert_allclose(result.null_mean, null.mean(), rtol=1e-9)
    np.testing.assert_allclose(result.null_95, np.quantile(null, 0.95), rtol=1e-9)
    assert result.p_value == (1 + (null >= float(result.dcor2)).sum()) / 51


@pytest.mark.slow
def test_distance_correlation_of_independent_data_is_0_on_average():
    """The uncorrected V-statistic would be .066 for 200 images of 512 features."""
    runs = []
    for seed in range(12):
        faces = shifted_classes(200, 512, distance=0, seed=seed)
        runs.append(distance_correlation(faces, "group", permutations=0))
    assert abs(np.mean([run.dcor2 for run in runs])) < 0.004


# --- probes
def test_a_probe_is_read_on_people_it_has_not_seen():
    """Images lie around places of people: only who knows the people can name the class."""
    rng = np.random.default_rng(0)
    who = np.arange(400) // 10
    embedding = rng.standard_normal((40, 64))[who] + 0.1 * rng.standard_normal((400, 64))
    faces = fk.faces(embedding, who, group=rng.integers(2, size=40)[who].astype(str))
    result = probe(faces, "group")
    assert result.accuracy < 0.75 < 0.95 < result.accuracy_in_sample
    assert result.dataset_bias < 2 * result.dataset_bias_se


def test_a_probe_is_a_logistic_predictor_of_the_other_folds():
    faces = labelled(n=60, shift=0.5)
    x = faces.embedding.values.astype(float)
    z = np.unique(faces.group.values, return_inverse=True)[1]
    person = np.unique(faces.identity.values, return_inverse=True)[1]
    loss = np.empty(60)
    for train, test in stratified(z, person, 5, 0):
        assert not set(person[train]) & set(person[test])
        fit = make_pipeline(StandardScaler(), LogisticRegression(C=0.1)).fit(x[train], z[train])
        loss[test] = -np.log(fit.predict_proba(x[test])[np.arange(len(test)), z[test]])
    result = probe(faces, "group")
    assert float(result.loss) == pytest.approx(loss.mean(), rel=1e-6)
    assert float(result.dataset_bias) == pytest.approx(1 - loss.mean() / np.log(2), rel=1e-6)
    person_sums = np.bincount(person, loss - loss.mean())
    se = np.std(person_sums, ddof=1) * np.sqrt(person_sums.size) / 60
    assert float(result.loss_se) == pytest.approx(se, rel=1e-6)
    assert float(result.dataset_bias_se) == pytest.approx(se / np.log(2), rel=1e-6)


@pytest.mark.slow
def test_a_line_does_not_see_a_class_on_both_sides():
    faces = shifted_classes(1000, 2, distance=4, shares=(0.5, 0.5), both_sides=True)
    assert probe(faces, "group").dataset_bias < 0.05
