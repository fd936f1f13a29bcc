"""What people add to the error rates: the node `people` against plain loops over all pairs."""

from collections import defaultdict
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

import frkit as fk

THRESHOLDS = [-0.2, 0.1, 0.5]
GROUPS = ["a", "b"]


def unequal_faces():
    """Eleven people of two groups with one to four images."""
    faces = fk.vmf.mixture(11, 8, kappa=(5, 20), seed=4).sample(4, seed=5)
    person = np.unique(faces.identity.values, return_inverse=True)[1]
    kept = np.flatnonzero(np.arange(len(person)) % 4 <= person % 4)
    groups = np.array(GROUPS)[person % 2]
    return fk.faces(faces.embedding.values, faces.identity.values, group=groups).isel(image=kept)


def rectangular(rows=slice(None), cols=slice(None)):
    """An asymmetric matcher on one set of images, or other images as references; with failures."""
    faces = unequal_faces()
    values = fk.score_tensor(faces).values.astype(float)
    values += np.random.default_rng(0).normal(0, 0.1, values.shape)
    values[2, 5:8] = np.nan
    who, group, names = (faces[name].values.astype(str) for name in ("identity", "group", "image"))
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
    who, group, names = (faces[name].values.astype(str) for name in ("identity", "group", "image"))
    return fk.pairs(
        values, probe=names[i], reference=names[j],
        probe_identity=who[i], reference_identity=who[j],
        group=(group[i], group[j]),
    )  # fmt: skip


def pairs_of(scores):
    """Every pair once: score, and of both sides place, identity and group."""
    sides = []
    for side in ("probe", "reference"):
        columns = [scores[f"{side}{label}"].values for label in ("", "_identity", "_group")]
        sides.append(list(zip(*columns)))
    if "pair" in scores.dims:
        yield from zip(scores.score.values, *sides)
        return
    symmetric = bool(scores.attrs["symmetric"])
    for (i, probe), (j, reference) in product(enumerate(sides[0]), enumerate(sides[1])):
        if symmetric and i < j or not symmetric and probe[0] != reference[0]:
            yield float(scores.values[i, j]), probe, reference


def twin(scores, threshold):
    """Sums over pairs, by person and by two people, with the weights 1 / (n_k n_l) of a tensor."""
    impostors, genuine = defaultdict(list), defaultdict(list)
    count = [defaultdict(set), defaultdict(set)]
    for side, name in enumerate(("probe", "reference")):
        for image, who in zip(scores[name].values, scores[f"{name}_identity"].values, strict=True):
            count[side][who].add(image)
    group_of = {}
    for score, (_, one, group), (_, other, partner) in pairs_of(scores):
        group_of |= {one: group, other: partner}
        weight = 1.0 if "pair" in scores.dims else 1 / len(count[0][one]) / len(count[1][other])
        if not np.isnan(score):
            (genuine if one == other else impostors)[tuple(sorted((one, other)))].append(
                (score, weight)
            )
    accepted = {two: sum(w for s, w in found if s > threshold) for two, found in impostors.items()}
    compared = {two: sum(w for _, w in found) for two, found in impostors.items()}
    many = {two: len(found) for two, found in impostors.items()}
    rejected = {k: np.mean([s <= threshold for s, _ in found]) for (k, _), found in genuine.items()}
    return group_of, accepted, compared, many, rejected


SCORES = {
    "tensor": lambda: fk.score_tensor(unequal_faces()),
    "rectangular": lambda: rectangular(slice(0, None, 2), slice(1, None, 2)),
    "asymmetric": rectangular,
    "list": listed,
}


@pytest.mark.filterwarnings("ignore::frkit.DataWarning")
@pytest.mark.parametrize("kind", SCORES)
def test_the_node_equals_plain_loops(kind):
    scores = SCORES[kind]()
    tree = fk.evaluate(scores, threshold=THRESHOLDS, by="group")
    node = tree["people"].to_dataset()
    names = np.unique(
        np.append(scores["probe_identity"].values, scores["reference_identity"].values)
    )
    scale = None
    for number, threshold in enumerate(THRESHOLDS):
        group_of, accepted, compared, many, rejected = twin(scores, threshold)
        by_pair_of_groups = defaultdict(float)
        for two, weight in accepted.items():
            cell = tuple(sorted(group_of[k] for k in two))
            by_pair_of_groups["square", cell] += weight**2
            by_pair_of_groups["cross", cell] += weight * compared[two]
            by_pair_of_groups["compared", cell] += compared[two] ** 2
            by_pair_of_groups["pairs", cell] += many[two]
            by_pair_of_groups["people", cell] += 1
        complete = kind in ("tensor", "list")  # sums over whole tensors count failed ones, too
        if scale is None:  # rates do not depend on a common factor of all weights
            scale = float(node.accepted[number].sum()) / 2 / sum(accepted.values())
        for g, h in combinations([*range(2), *range(2)], 2):
            cell = tuple(sorted((GROUPS[g], GROUPS[h])))
            found = {"square": node.accepted_square[number, g, h] / scale**2}
            if complete:
                found["cross"] = node.accepted_cross[number, g, h] / scale**2
                found["compared"] = node.compared_square[g, h] / scale**2
                found["pairs"] = node.impostor_pairs[g, h]
                found["people"] = node.people_pairs[g, h]
            for name, value in found.items():
                assert float(value) == pytest.approx(by_pair_of_groups[name, cell], rel=1e-6), name
        for code, name in enumerate(names):
            own = node.isel(entry=node.person.values == code)
            mine = sum(weight for two, weight in accepted.items() if name in two)
            assert float(own.accepted[number].sum()) / scale == pytest.approx(mine, rel=1e-6)
            if name in rejected and "pair" not in scores.dims:
                rate = float(own.rejected[number].sum() / own.genuine.sum())
                assert rate == pytest.approx(rejected[name])


@pytest.mark.slow
def test_leaving_people_out_gives_the_same_standard_errors():
    """The jackknife over people, which shares no formula with the sums of the node."""
    faces = fk.vmf.mixture(60, 16, kappa=(5, 30), seed=1).sample(12, seed=2)
    names = np.unique(faces.identity.values)

    def of(some):
        scores = fk.score_tensor(faces.isel(image=some))
        return fk.evaluate(scores, far=[0.05], histogram=200)

    whole = of(slice(None))
    rests = [of(faces.identity.values != name)["empirical"] for name in names]
    for rate in ("frr", "eer", "auc"):
        moved = np.array([rest[rate].item() for rest in rests]) - whole["empirical"][rate].item()
        jackknife = np.sqrt(np.sum(moved**2) * (len(names) - 1) / len(names))
        # of a function: without unseen people
        band = fk.band(whole, lambda data, rate=rate: data[rate] + 0)
        standard_error = (band.upper - band.lower).item() / 2 / stats.t.ppf(0.975, len(names) - 1)
        assert standard_error == pytest.approx(jackknife, rel=0.12), rate
