"""Who drives the number, and thresholds for every group, against loops over a whole matrix."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from engine_cases import people

import frkit as fk

FAR = [0.05, 0.3]
pytestmark = pytest.mark.filterwarnings("ignore:FAR levels:frkit.DataWarning")


def pairs_of(scores):
    """Every pair (kind, probe name, reference name, identities, score), each once."""
    matrix, ids, names = scores.values, scores.probe_identity.values, scores.probe.values
    pairs = []
    for i, j in combinations(range(len(ids)), 2):
        kind = "genuine" if ids[i] == ids[j] else "impostor"
        pairs.append((kind, names[i], names[j], ids[i], ids[j], matrix[i, j]))
    return pairs


def shares_by_hand(scores, threshold):
    """Shares of FRR and FAR, one pair at a time."""
    images = Counter(scores.probe_identity.values.tolist())
    lost, let_in = Counter(), Counter()
    for kind, _, _, k, m, score in pairs_of(scores):
        if kind == "genuine" and score <= threshold:
            lost[k] += 2 / (images[k] * (images[k] - 1))
        if kind == "impostor" and score > threshold:
            for person in (k, m):
                let_in[person] += 0.5 / (images[k] * images[m])
    return [{k: part[k] / sum(part.values()) for k in images} for part in (lost, let_in)]


@pytest.mark.parametrize("chunks", [5, 100])
@pytest.mark.parametrize("sizes", ["equal", "unequal"])
def test_shares_equal_the_loop(sizes, chunks):
    scores = fk.score_tensor(people(sizes, ties=True), chunks=chunks)
    who = fk.errors_by_person(scores, far=FAR)
    for level in range(2):
        at_level = who.isel(far_level=level)
        frr_shares, far_shares = shares_by_hand(scores, float(at_level.threshold))
        names = at_level.identity.values
        np.testing.assert_allclose(at_level.frr_share, [frr_shares[k] for k in names], rtol=1e-12)
        np.testing.assert_allclose(at_level.far_share, [far_shares[k] for k in names], rtol=1e-12)
        effective = 1 / sum(share**2 for share in frr_shares.values())
        np.testing.assert_allclose(at_level.frr_effective, effective)


def test_thresholds_and_rates_are_those_of_evaluate():
    scores = fk.score_tensor(people("unequal"), chunks=8)
    who = fk.errors_by_person(scores, far=FAR, by="gender")
    ev = fk.evaluate(scores, far=FAR)["empirical"]
    for name in ("threshold", "far", "frr"):
        np.testing.assert_allclose(who[name], ev[name], rtol=1e-12)
    assert who.group.sel(identity="id1").item() == "m"
    assert who.images.values.tolist() == [1, 2, 3, 5, 4, 1, 6, 2]
    assert np.isnan(who.frr_identity.sel(identity="id0")).all()


def test_the_largest_errors_are_listed_with_their_names():
    scores = fk.score_tensor(people("unequal", ties=True), chunks=7)
    who = fk.errors_by_person(scores, far=[0.1]).isel(far_level=0)
    for kind, share in (("genuine", who.frr_share), ("impostor", who.far_share)):
        worst = share.sortby(-share).identity.values[:2].tolist()
        listed = fk.worst_pairs(scores, who, kind=kind, identities=2, pairs=1000)
        expected = []
        for kind_of_pair, a, b, k, m, score in pairs_of(scores):
            wrong = (score > who.threshold) == (kind == "impostor")
            if kind_of_pair == kind and {k, m} & set(worst) and wrong:
                expected.append((a, b))
        names = zip(listed.probe.values.tolist(), listed.reference.values.tolist())
        assert sorted(names) == sorted(expected) != []
        step = np.diff(listed.score.values)
        assert np.all(step >= 0) if kind == "genuine" else np.all(step <= 0)


def test_models_stay_apart_and_are_selected_for_a_list():
    first = people(seed=1)
    noise = np.random.default_rng(0).normal(size=first.embedding.shape).astype(np.float32)
    other = first.assign(embedding=first.embedding + 0.5 * noise)
    both = fk.stack_models({"A": first, "B": other})
    scores = fk.score_tensor(both, chunks=9)
    who = fk.errors_by_person(scores, far=FAR)
    alone = fk.errors_by_person(fk.score_tensor(other, chunks=9), far=FAR)
    np.testing.assert_allclose(who.far_share.sel(model="B"), alone.far_share)
    with pytest.raises(fk.InputError, match="several models"):
        fk.worst_pairs(scores, who.isel(model=0, far_level=0))
    with pytest.raises(fk.InputError, match="far_level"):
        fk.worst_pairs(scores.isel(model=0), who.isel(model=0))


def test_a_list_of_all_pairs_says_the_same_as_the_tensor():
    scores = fk.score_tensor(people("equal", ties=True), chunks=7)
    every = pairs_of(scores)
    columns = [np.array(column) for column in zip(*every, strict=True)]
    sides = ("probe", "reference", "probe_identity", "reference_identity")
    listed = fk.pairs(columns[5], columns[0] == "genuine", **dict(zip(sides, columns[1:5])))
    whole, from_list = (
        fk.errors_by_person(given, far=[0.1]).isel(far_level=0) for given in (scores, listed)
    )
    for name in ("frr_share", "far_share", "frr_effective", "far_effective"):
        np.testing.assert_allclose(from_list[name], whole[name], rtol=1e-9)
    for kind in ("genuine", "impostor"):
        given = fk.worst_pairs(scores, whole, kind=kind, identities=2)
        other = fk.worst_pairs(listed, from_list, kind=kind, identities=2)
        np.testing.assert_allclose(given.score, other.score, rtol=1e-6)
        assert set(given.probe.values) == set(other.probe.values) != set()


def test_a_list_without_identities_names_nobody():
    listed = fk.pairs([0.1, 0.9, 0.4], [True, True, False])
    with pytest.raises(fk.InputError, match="no identities"):
        fk.errors_by_person(listed, far=[0.5])
