"""Effective numbers of comparisons, against plain loops over all pairs and people left out."""

from collections import defaultdict
from itertools import product

import numpy as np
import pytest
from named import named
from scipy import stats

import frkit as fk
from frkit.intervals.contributions import contributions

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
THRESHOLDS = [-0.2, 0.1, 0.5]


def unequal_faces():
    """Eleven people of two groups with one to four images."""
    faces = fk.vmf.mixture(11, 8, kappa=(5, 20), seed=4).sample(4, seed=5)
    person = np.unique(faces.identity.values, return_inverse=True)[1]
    kept = np.flatnonzero(np.arange(len(person)) % 4 <= person % 4)
    groups = np.array(["a", "b"])[person % 2]
    return fk.faces(faces.embedding.values, faces.identity.values, group=groups).isel(image=kept)


def labels_of(faces):
    return (faces[name].values.astype(str) for name in ("identity", "group", "image"))


def rectangular(rows=slice(None), cols=slice(None)):
    """An asymmetric matcher on one set of images, or other images as references."""
    faces = unequal_faces()
    values = fk.score_tensor(faces).values.astype(float)
    values += np.random.default_rng(0).normal(0, 0.1, values.shape)
    who, group, names = labels_of(faces)
    return fk.score_matrix(
        values[rows, cols], who[rows], who[cols],
        probe=names[rows], reference=names[cols], attributes={"group": (group[rows], group[cols])},
    )  # fmt: skip


def listed():
    """A list of some of the pairs, one of them a failed comparison."""
    faces = unequal_faces()
    i, j = np.triu_indices(faces.sizes["image"], 1)
    i, j = np.stack([i, j])[:, np.random.default_rng(1).random(len(i)) < 0.6]
    values = fk.score_tensor(faces).values[i, j].astype(float)
    values[7] = np.nan
    who, group, names = labels_of(faces)
    return fk.pairs(
        values, probe=names[i], reference=names[j],
        probe_identity=who[i], reference_identity=who[j],
        group=(group[i], group[j]),
    )  # fmt: skip


SCORES = {
    "tensor": lambda: fk.score_tensor(unequal_faces()),
    "rectangular": lambda: rectangular(slice(None), slice(0, -2)),
    "people on one side": lambda: rectangular(slice(None, -8), slice(6, None)),
    "asymmetric": rectangular,
    "list": listed,
}


# --- the twin: one pair at a time -----------------------------------------------------------------


def couples_of(scores):
    """Scores of each two people (or of one), and the weight of each pair of their images."""
    scores = named(scores)
    sides = []
    for side in ("probe", "reference"):
        columns = [scores[f"{side}{label}"].values for label in ("", "_identity")]
        sides.append(list(zip(*columns)))
    couples, weight = defaultdict(list), defaultdict(lambda: 1.0)
    if "pair" in scores.dims:
        pairs = zip(scores.score.values, *sides)
    else:
        pairs = zip(scores.values.ravel(), *zip(*product(*sides)))
        images = [[person for _, person in side] for side in sides]
    for score, (probe, person), (reference, other) in pairs:
        twice = scores.attrs.get("symmetric") and probe < reference
        if probe == reference or twice or np.isnan(score):
            continue
        if "pair" not in scores.dims:
            weight = {(person, other): 1 / images[0].count(person) / images[1].count(other)}
        couples[tuple(sorted((person, other)))].append((score, weight[person, other]))
    return couples


def twin(couples, errs):
    """Effective number n = p (1 - p) / v of a rate, at most one for each comparison; and v.

    couples : of two people, or of one, with their scores and weights.
    """
    error = {who: sum(w for s, w in pairs if errs(s)) for who, pairs in couples.items()}
    weight = {who: sum(w for _, w in pairs) for who, pairs in couples.items()}
    total = sum(weight.values())
    rate = sum(error.values()) / total
    excess = {who: (error[who] - rate * weight[who]) / total for who in couples}
    added = defaultdict(float)
    for who, value in excess.items():
        for person in {*who}:
            added[person] += value
    k = len(added)
    noise = sum(value**2 for who, value in excess.items() if who[0] != who[1])
    variance = sum(value**2 for value in added.values()) * k / (k - 1) - noise
    variance = max(variance, noise)
    comparisons = sum(len(pairs) for pairs in couples.values())
    n = min(rate * (1 - rate) / variance, comparisons) if variance > 0 else comparisons
    errors = np.array(list(error.values()))
    seen = errors.sum() ** 2 / (errors**2).sum() if errors.any() else 0.0
    if len(errors) < n:
        n *= (len(errors) / n) ** (2 / (seen + 2))
    return n * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, k - 1)) ** 2, variance


@pytest.mark.parametrize("kind", SCORES)
def test_effective_numbers_equal_the_twin(kind):
    scores = SCORES[kind]()
    tree = fk.evaluate(scores, threshold=THRESHOLDS, by="group")
    band = fk.band(tree, "far")
    far, frr, cross = (fk.band(tree, name).n_effective for name in ("far", "frr", "far_cross"))
    of_group = contributions(tree, "far_group", "new people").variance
    faces = unequal_faces()
    group_of = dict(zip(faces.identity.values.astype(str), faces.group.values.astype(str)))
    couples = couples_of(scores)
    impostors = {who: pairs for who, pairs in couples.items() if who[0] != who[1]}
    genuine = {who: pairs for who, pairs in couples.items() if who[0] == who[1]}
    if kind != "list":  # people weigh the same
        for who, pairs in genuine.items():
            genuine[who] = [(score, 1 / len(pairs)) for score, _ in pairs]
    for level, threshold in enumerate(THRESHOLDS):
        number, _ = twin(impostors, lambda score, t=threshold: score > t)
        assert float(far[level]) == pytest.approx(number, rel=1e-5)
        rate = band.estimate.values[level]
        ends = stats.beta.ppf([0.025, 0.975], number * rate + 0.5, number * (1 - rate) + 0.5)
        np.testing.assert_allclose([band.lower[level], band.upper[level]], ends, rtol=1e-4)
        number, _ = twin(genuine, lambda score, t=threshold: score <= t)
        assert float(frr[level]) == pytest.approx(number, rel=1e-5)
        for g, h in product("ab", repeat=2):
            cell = {}
            for who, pairs in impostors.items():
                if sorted(group_of[person] for person in who) == sorted((g, h)):
                    cell[who] = pairs
            number, variance = twin(cell, lambda score, t=threshold: score > t)
            if g == h:  # whose number comes from the people of all groups, too
                assert of_group[level].sel(group=g).item() == pytest.approx(variance, rel=1e-5)
                continue
            value = cross[level].sel(group=g, reference_group=h)
            assert float(value) == pytest.approx(number, rel=1e-5)


@pytest.mark.slow
def test_leaving_people_out_gives_the_same_standard_errors():
    """The jackknife over people, which shares no formula with the sums of an evaluation."""
    faces = fk.vmf.mixture(40, 16, kappa=(5, 30), seed=1).sample(8, seed=2)
    names = np.unique(faces.identity.values)

    def rates_of(subset):
        scores = fk.score_tensor(faces.isel(image=subset))
        return fk.evaluate(scores, far=[0.05], histogram=200)

    whole = rates_of(slice(None))
    rests = [rates_of(faces.identity.values != name)["empirical"] for name in names]
    for rate in ("frr", "eer", "auc"):
        moved = np.array([rest[rate].item() for rest in rests]) - whole["empirical"][rate].item()
        jackknife = np.sqrt(np.sum(moved**2) * (len(names) - 1) / len(names))
        # of a function: without unseen people
        band = fk.band(whole, lambda data, rate=rate: data[rate] + 0)
        standard_error = (band.upper - band.lower).item() / 2 / stats.t.ppf(0.975, len(names) - 1)
        assert standard_error == pytest.approx(jackknife, rel=0.12), rate


def test_a_genuine_pair_of_two_labels_counts_in_no_group():
    """As in the rates themselves: what people add to a group's rate has the rate as its mean."""
    rng = np.random.default_rng(0)
    probe, reference = rng.integers(0, 20, (2, 900))
    reference[:400] = probe[:400]
    score = rng.normal(size=900) + 2 * (probe == reference)
    ages = rng.choice(["old", "young"], (2, 900))
    names = [np.char.add("p", side.astype(str)) for side in (probe, reference)]
    listed = fk.pairs(score, probe_identity=names[0], reference_identity=names[1], age=tuple(ages))
    ev = fk.evaluate(listed, threshold=[0.5, 1.5], by="age")
    for name in ("frr_group", "far_group", "far_cross"):
        added = contributions(ev, name, "new people")
        np.testing.assert_allclose(added.rate, ev["empirical"][name], rtol=1e-6)
