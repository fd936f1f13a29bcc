"""Who drives the number, and thresholds for every group, against loops over a whole matrix."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from engine_cases import people
from refusals import noticed, refused
from scipy import stats

import frkit as fk
from frkit.evaluation.errors_by_person import p_people_differ

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
    scores = fk.score_tensor(people(sizes, ties=True)).chunk(probe=chunks, reference=chunks)
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
    scores = fk.score_tensor(people("unequal"))
    who = fk.errors_by_person(scores, far=FAR, by="gender")
    ev = fk.evaluate(scores, far=FAR)["empirical"]
    for name in ("threshold", "far", "frr"):
        np.testing.assert_allclose(who[name], ev[name], rtol=1e-12)
    assert who.group.sel(identity="id1").item() == "m"
    assert who.images.values.tolist() == [1, 2, 3, 5, 4, 1, 6, 2]
    assert np.isnan(who.frr_identity.sel(identity="id0")).all()


def test_the_largest_errors_are_listed_with_their_names():
    scores = fk.score_tensor(people("unequal", ties=True))
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
    both = fk.open_data({"A": first, "B": other})
    scores = fk.score_tensor(both)
    who = fk.errors_by_person(scores, far=FAR)
    alone = fk.errors_by_person(fk.score_tensor(other), far=FAR)
    np.testing.assert_allclose(who.far_share.sel(model="B"), alone.far_share)
    with refused(".sel(model=...)"):
        fk.worst_pairs(scores, who.isel(model=0, far_level=0))
    with refused("far_level"):
        fk.worst_pairs(scores.isel(model=0), who.isel(model=0))


def test_a_list_of_all_pairs_says_the_same_as_the_tensor():
    scores = fk.score_tensor(people("equal", ties=True))
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
    with refused("identities"):
        fk.errors_by_person(listed, far=[0.5])


# --- whether people differ ------------------------------------------------------------------------


def p_by_enumeration(scores, threshold):
    """The test over people, from every couple of pairs without a common image."""
    rejected = {}
    for kind, a, b, person, _, score in pairs_of(scores):
        if kind == "genuine":
            rejected.setdefault(person, {})[a, b] = score <= threshold
    rejected = {who: own for who, own in rejected.items() if len({*sum(own, ())}) >= 4}
    rates = {who: np.mean([*own.values()]) for who, own in rejected.items()}
    p0 = np.mean([*rates.values()])
    h = []
    for who, own in rejected.items():
        apart = [own[p] * own[q] for p, q in combinations(own, 2) if not {*p} & {*q}]
        h.append(np.mean(apart) - 2 * p0 * rates[who] + p0**2)
    return stats.ttest_1samp(h, 0, alternative="greater").pvalue


def faces_of_unequal_people():
    """Fourteen people with four to six images, and two with three."""
    mixture = fk.vmf.mixture(16, 8, kappa=(3, 30), seed=0)
    return mixture.sample([4, 5, 6, 4, 5, 6, 4, 3, 5, 6, 4, 5, 6, 4, 3, 4], seed=1)


def as_matrix(scores, change=None):
    """The same scores as a matrix of files; change : of a copy of the array."""
    values = scores.values.astype(float)
    if change:
        change(values)
    who, names = scores.probe_identity.values, scores.probe.values
    return fk.score_matrix(values, who, who, probe=names, reference=names, missing=[])


def test_the_test_of_people_equals_the_enumeration():
    scores = fk.score_tensor(faces_of_unequal_people())
    matrix = as_matrix(scores)
    for given in (scores, matrix):
        who = fk.errors_by_person(given, threshold=[0.5, 0.8])
        expected = [p_by_enumeration(given, threshold) for threshold in (0.5, 0.8)]
        np.testing.assert_allclose(who.p_people_differ, expected, rtol=1e-9)
    assert 1e-6 < expected[0] < 0.99


def test_a_person_with_a_failed_or_a_missing_pair_is_not_tested():
    scores = fk.score_tensor(faces_of_unequal_people())

    def fail(values):
        values[0, 1] = values[1, 0] = np.nan

    with noticed("1 genuine and 0 impostor"):
        matrix = as_matrix(scores, fail)
    who = fk.errors_by_person(matrix, threshold=[0.5])
    rest = scores.isel(probe=slice(4, None), reference=slice(4, None))
    expected = p_by_enumeration(rest, 0.5)
    np.testing.assert_allclose(who.p_people_differ, [expected], rtol=1e-9)
    pairs = pairs_of(scores)[1:]  # without the first pair of the first person
    pairs += [pairs[0]]  # as many as all, but one of them twice, which counts once
    columns = [np.array(column) for column in zip(*pairs)]
    sides = ("probe", "reference", "probe_identity", "reference_identity")
    with noticed("1 pairs"):
        listed = fk.pairs(columns[5], columns[0] == "genuine", **dict(zip(sides, columns[1:5])))
    who = fk.errors_by_person(listed, threshold=[0.5])
    np.testing.assert_allclose(who.p_people_differ, [expected], rtol=1e-9)


def test_without_ten_people_or_thirty_errors_or_symmetry_there_is_no_test():
    faces = fk.vmf.mixture(12, 8, kappa=(3, 30), seed=0).sample(4, seed=1)
    scores = fk.score_tensor(faces)
    errors = fk.errors_by_person(scores, threshold=[-0.5, 0.9]).false_rejects_identity.sum(
        "identity"
    )
    assert errors[0] < 30 <= errors[1]
    for given, is_tested in (
        (scores, [False, True]),
        (fk.score_tensor(faces.isel(image=slice(0, 36))), [False, False]),
        (as_matrix(scores, lambda values: values.__iadd__(np.tri(48) * 1e-3)), [False, False]),
        (fk.score_tensor(faces.isel(image=np.arange(48) % 4 < 3)), [False, False]),
    ):
        p = fk.errors_by_person(given, threshold=[-0.5, 0.9]).p_people_differ
        assert np.isfinite(p).values.tolist() == is_tested
    age = np.tile(["young", "young", "old", "old"], 12)
    split = fk.score_tensor(faces.assign_coords(age=("image", age)))
    who = fk.errors_by_person(split, threshold=[0.9], by="age", varying="split")
    assert np.isnan(who.p_people_differ).all()


def risks(rng, n_people, n_images, quality, spread):
    """Whether pairs are rejected, (person, image, image); log odds are sums over images."""
    ease = rng.normal(size=(n_people, n_images)) * quality
    of_person = np.zeros(n_people)
    if spread:
        of_person = np.log(rng.gamma(spread, 1 / spread, n_people))
    log_odds = -3 + ease[:, :, None] + ease[:, None] + of_person[:, None, None]
    rejected = np.triu(rng.uniform(size=log_odds.shape) < 1 / (1 + np.exp(-log_odds)), 1)
    return rejected + rejected.transpose(0, 2, 1)


def share_of_small_p(n_people, n_images, quality, spread=None, n_sets=400):
    rng = np.random.default_rng([n_people, int(10 * quality)])
    person = np.repeat(np.arange(n_people), n_images)
    p = []
    for _ in range(n_sets):
        rejected = risks(rng, n_people, n_images, quality, spread)
        p.append(p_people_differ(rejected.sum(2).ravel(), person))
    return np.mean(np.array(p) <= 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("n_people", "n_images"), [(60, 6), (40, 10)])
@pytest.mark.parametrize("quality", [0, 0.4, 0.8])
def test_images_of_different_quality_are_not_taken_for_people(n_people, n_images, quality):
    assert share_of_small_p(n_people, n_images, quality) <= 0.07


@pytest.mark.slow
def test_people_who_differ_are_detected_where_errors_are_many():
    """Odds with a gamma law of shape 1: seen in .28 of data sets of 60 x 6, in .82 of 40 x 10."""
    assert 0.2 < share_of_small_p(60, 6, 0.4, spread=1) < 0.4
    assert share_of_small_p(40, 10, 0.4, spread=1) > 0.7
