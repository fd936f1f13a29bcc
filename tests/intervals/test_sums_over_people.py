"""What people add to FAR, against lists of people and of pairs of people, one pair at a time.

Labels vary within people, or comparisons failed.
"""

from collections import defaultdict
from itertools import product

import numpy as np
import pytest
from named import named
from paths import REAL_DATA

import frkit as fk
from frkit.base import UNKNOWN
from frkit.intervals.contributions import contributions

pytestmark = pytest.mark.filterwarnings("ignore::frkit.DataWarning")
POSES = ("left", "right", UNKNOWN)


def faces():
    """Nine people, two to five images each, in poses that vary within most of them."""
    people = fk.vmf.mixture(9, 6, kappa=(2, 20), seed=3).sample([2, 3, 4, 5, 3, 4, 5, 2, 3], seed=4)
    pose = np.random.default_rng(5).choice(POSES, people.sizes["image"], p=[0.5, 0.4, 0.1])
    return people.assign_coords(pose=("image", pose))


def matrix(rows=slice(None), cols=slice(None), *, fail=None, symmetric=False):
    """Scores as a matrix; fail : changes a copy of all of them."""
    people = faces()
    who, pose, name = (people[key].values.astype(str) for key in ("identity", "pose", "image"))
    values = fk.score_tensor(people).values.astype(float)
    if not symmetric:
        values += np.random.default_rng(0).normal(0, 0.1, values.shape)
    if fail:
        fail(values)
    return fk.score_matrix(
        values[rows, cols], who[rows], who[cols], probe=name[rows], reference=name[cols],
        missing=[], attributes={"pose": (pose[rows], pose[cols])},
    )  # fmt: skip


def fail_some(values):
    values[np.random.default_rng(1).random(values.shape) < 0.1] = np.nan


def fail_in_both_orders(values):
    fail_some(values)
    values[np.isnan(values.T)] = np.nan


def fail_all_of_an_image(values):
    values[4] = values[:, 4] = np.nan
    values[:3, 9:13] = np.nan  # and all of two people in one order


def fail_a_row(values):
    values[7] = np.nan


def fail_a_row_and_a_column(values):
    values[7] = values[:, 20] = np.nan


def listed():
    people = faces()
    who, pose, name = (people[key].values.astype(str) for key in ("identity", "pose", "image"))
    i, j = np.triu_indices(len(who), 1)
    i, j = np.stack([i, j])[:, np.random.default_rng(1).random(len(i)) < 0.6]
    values = fk.score_tensor(people).values[i, j].astype(float)
    values[7] = np.nan
    return fk.pairs(
        values, probe=name[i], reference=name[j],
        probe_identity=who[i], reference_identity=who[j], pose=(pose[i], pose[j]),
    )  # fmt: skip


PROBES, REFERENCES = slice(None, 22), slice(9, None)
SCORES = {
    "tensor": lambda: fk.score_tensor(faces()),
    "asymmetric": matrix,
    "rectangular": lambda: matrix(PROBES, REFERENCES),
    "list": listed,
    "failed": lambda: matrix(fail=fail_some),
    "failed, symmetric": lambda: matrix(fail=fail_in_both_orders, symmetric=True),
    "failed image": lambda: matrix(fail=fail_all_of_an_image),
    "failed row": lambda: matrix(fail=fail_a_row),
    "failed row, rectangular": lambda: matrix(PROBES, REFERENCES, fail=fail_a_row),
    "failed row and column": lambda: matrix(PROBES, REFERENCES, fail=fail_a_row_and_a_column),
}


# --- the twin -------------------------------------------------------------------------------------


def impostors_of(scores, weighting, varying, same_pose=False):
    """Impostor pairs of images: (two people, two poses, score, weight)."""
    labels = ("", "_identity", "_pose")
    scores = named(scores)
    sides = [
        list(zip(*(scores[f"{side}{label}"].values for label in labels)))
        for side in ("probe", "reference")
    ]
    if "pair" in scores.dims:
        pairs = list(zip(scores.score.values, *sides))
    else:
        pairs = list(zip(scores.values.ravel(), *zip(*product(*sides))))

    def part(person, pose):
        return (person, pose) if varying == "split" else person

    n_images = [defaultdict(int), defaultdict(int)]
    for side, images in zip(n_images, sides):
        for _, person, pose in images:
            side[part(person, pose)] += 1
    n_pairs = defaultdict(int)  # of a list: pairs of two people share what these two weigh
    for _, (_, person, pose), (_, other, pose_of_other) in pairs:
        n_pairs[frozenset((part(person, pose), part(other, pose_of_other)))] += 1
    impostors = []
    for score, (probe, person, pose), (reference, other, pose_of_other) in pairs:
        twice = scores.attrs.get("symmetric") and probe < reference
        is_left_out = same_pose and (pose != pose_of_other or pose == UNKNOWN)
        if person == other or twice or np.isnan(score) or is_left_out:
            continue
        weight = 1.0
        if weighting == "identity":
            first, second = part(person, pose), part(other, pose_of_other)
            weight = 1 / n_images[0][first] / n_images[1][second]
            if "pair" in scores.dims:
                weight = 1 / n_pairs[frozenset((first, second))]
        people, poses = tuple(sorted((person, other))), tuple(sorted((pose, pose_of_other)))
        impostors.append((people, poses, score, weight))
    return impostors


def excess_of_couples(impostors, threshold):
    """Of each pair of people m (a - FAR); and FAR."""
    accepted, compared = defaultdict(float), defaultdict(float)
    for people, _, score, weight in impostors:
        accepted[people] += weight * (score > threshold)
        compared[people] += weight
    total = sum(compared.values())
    rate = sum(accepted.values()) / total
    return {who: (accepted[who] - rate * compared[who]) / total for who in compared}, rate


def added_by_people(excess):
    added = defaultdict(float)
    for who, value in excess.items():
        for person in who:
            added[person] += value
    k = len(added)
    return {person: value * np.sqrt(k / (k - 1)) for person, value in added.items()}


def check(contribution, impostors, threshold):
    """One rate at one threshold: the rate, what people add, the noise of pairs, and numbers."""
    excess, rate = excess_of_couples(impostors, threshold)
    added = added_by_people(excess)
    assert contribution.rate.item() == pytest.approx(rate, rel=1e-5)
    if "influence" in contribution:  # pairs of two groups have numbers alone
        expected = [added.get(name, 0.0) for name in contribution.identity.values]
        np.testing.assert_allclose(contribution.influence, expected, atol=1e-6)
    squares = sum(value**2 for value in added.values())
    noise = sum(value**2 for value in excess.values())
    assert contribution.noise.item() == pytest.approx(noise, rel=1e-5)
    variance = max(squares - noise, noise)
    assert contribution.variance.item() == pytest.approx(variance, rel=1e-4, abs=1e-9)
    assert contribution.units.item() == len(excess)
    assert contribution.people.item() == len(added)
    assert contribution.comparisons.item() == len(impostors)


@pytest.mark.slow
@pytest.mark.parametrize("weighting", ["identity", "pair"])
@pytest.mark.parametrize("varying", ["keep", "split"])
@pytest.mark.parametrize("kind", SCORES)
def test_what_people_add_equals_the_enumeration(kind, varying, weighting):
    scores = SCORES[kind]()
    options = {"by": "pose", "varying": varying, "weighting": weighting}
    tree = fk.evaluate(scores, threshold=[0.3], **options)
    impostors = impostors_of(scores, weighting, varying)
    of_all = contributions(tree, "far", "new people").isel(threshold_level=0)
    check(of_all, impostors, 0.3)
    assert of_all.rate.item() == pytest.approx(tree["empirical"].far.item(), rel=1e-6)
    for name in ("far_group", "far_cross"):
        added = contributions(tree, name, "new people").isel(threshold_level=0)
        for g, h in product(POSES[:2], repeat=2):
            at = {"group": g} if name == "far_group" else {"group": g, "reference_group": h}
            if name == "far_group" and g != h:
                continue
            within = [pair for pair in impostors if pair[1] == tuple(sorted((g, h)))]
            check(added.sel(at), within, 0.3)


@pytest.mark.slow
@pytest.mark.parametrize("varying", ["keep", "split"])
@pytest.mark.parametrize("kind", [kind for kind in SCORES if kind != "list"])
def test_what_people_add_to_frr_equals_the_enumeration(kind, varying):
    """A mean over people (or parts of them) of their pairs that did not fail."""
    scores = SCORES[kind]()
    tree = fk.evaluate(scores, threshold=[0.3], by="pose", varying=varying)
    names, who, pose = (
        [scores[f"{side}{label}"].values for side in ("probe", "reference")]
        for label in ("", "_identity", "_pose")
    )
    rejected = defaultdict(list)
    for (i, first), (j, second) in product(enumerate(names[0]), enumerate(names[1])):
        twice = scores.attrs.get("symmetric") and first < second
        is_split = varying == "split" and pose[0][i] != pose[1][j]
        is_same = who[0][i] == who[1][j] and first != second
        if is_same and not (twice or is_split or np.isnan(scores.values[i, j])):
            part = pose[0][i] if varying == "split" else ""
            rejected[who[0][i], part].append(scores.values[i, j] <= 0.3)
    rate = np.mean([np.mean(pairs) for pairs in rejected.values()])
    excess = defaultdict(float)
    for (person, _), pairs in rejected.items():
        excess[person] += (np.mean(pairs) - rate) / len(rejected)
    added = contributions(tree, "frr", "new people").isel(threshold_level=0)
    assert tree["empirical"].frr.item() == pytest.approx(rate, rel=1e-6)
    assert added.rate.item() == pytest.approx(rate, rel=1e-6)
    factor = np.sqrt(len(excess) / (len(excess) - 1))
    expected = [factor * excess.get(name, 0.0) for name in added.identity.values]
    np.testing.assert_allclose(added.influence, expected, atol=1e-6)
    assert added.units.item() == len(excess)


@pytest.mark.parametrize("kind", ["tensor", "failed", "failed, symmetric", "failed image"])
def test_people_without_varying_labels_are_the_same(kind):
    """The sums without a look at pairs of people, from which failed comparisons are taken."""
    scores = SCORES[kind]()
    tree = fk.evaluate(scores, threshold=[0.3])
    impostors = impostors_of(scores, "identity", "keep")
    check(contributions(tree, "far", "new people").isel(threshold_level=0), impostors, 0.3)


def test_impostors_of_one_pose_that_varies():
    scores = fk.score_tensor(faces())
    options = {"by": "pose", "varying": "keep", "impostors": "same-group"}
    tree = fk.evaluate(scores, threshold=[0.3], **options)
    impostors = impostors_of(scores, "identity", "keep", same_pose=True)
    check(contributions(tree, "far", "new people").isel(threshold_level=0), impostors, 0.3)


@pytest.mark.parametrize("kind", ["tensor", "rectangular", "failed", "list"])
def test_the_error_of_the_threshold_has_the_noise_of_pairs_of_people(kind):
    """Of m (a - FAR) of two groups less c times that of all pairs, c from what people add."""
    scores = SCORES[kind]()
    tree = fk.evaluate(scores, far=[0.2], by="pose", varying="keep", weighting="pair")
    threshold = tree["empirical"].threshold.item()
    impostors = impostors_of(scores, "pair", "keep")
    excess_of_all, _ = excess_of_couples(impostors, threshold)
    for g, h in product(POSES[:2], repeat=2):
        within = [pair for pair in impostors if pair[1] == tuple(sorted((g, h)))]
        excess, _ = excess_of_couples(within, threshold)
        moved = contributions(tree, "far_cross", "new people").isel(far_level=0)
        moved = moved.sel(group=g, reference_group=h)
        change = moved.change.item()
        noise = sum(
            (excess.get(who, 0.0) - change * value) ** 2 for who, value in excess_of_all.items()
        )
        assert change > 0.1
        assert moved.noise.item() == pytest.approx(noise, rel=1e-4)


BSSR1 = REAL_DATA / "bssr1_face_c.csv.gz"


@pytest.mark.slow
@pytest.mark.skipif(not BSSR1.exists(), reason="needs the scores of NIST BSSR1")
def test_what_people_add_to_the_far_of_bssr1_sums_to_it():
    """A row of it failed."""
    scores = fk.open_data(BSSR1, kind="matrix", missing=-1, same_images=False)
    tree = fk.evaluate(scores, far=[0.001, 0.1])
    added = contributions(tree, "far", "new people")
    np.testing.assert_allclose(added.rate, tree["empirical"].far, rtol=1e-6)
