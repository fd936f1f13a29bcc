"""The readable slow twin of the engine: every rate written as its definition reads.

A `Scores` contains a whole score matrix with its labels. Three functions list its pairs with their
weights: `empirical` (eq. 2-3 of Conti & Clémençon 2024), `vstatistic` (eq. 19) and `weighted` (a
resample as counts). `resample` is the literal Algorithm 1: it writes down the drawn images,
repeated where they were drawn repeatedly, as a new `Scores`; `empirical` of it must agree with
`weighted`. `twin_rates.summary` turns the pairs into thresholds, rates, EER and AUC. Nothing here
is fast and nothing is shared with the engine.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement, product

import numpy as np
from twin_rates import UNKNOWN, PairList


@dataclass(frozen=True)
class Scores:
    """A whole score matrix: rows are probes, columns references, NaN is a missing comparison.

    A symmetric matrix counts each pair of images once; another one counts every ordered pair that
    is given. The cell of a probe and a reference of one name, so the diagonal of a symmetric
    matrix, is the self-score.
    """

    score: np.ndarray
    probe: list
    reference: list
    probe_identity: list
    reference_identity: list
    symmetric: bool
    # identity -> person, where a person has several identities
    person: dict = field(default_factory=dict)
    group: dict = field(default_factory=dict)  # identity -> group


def symmetric_scores(score, identity, *, image=None, person=None, group=None) -> Scores:
    """A symmetric matrix of all images against all images; person and group are one label per
    image."""
    identity = [str(k) for k in identity]
    image = [str(i) for i in (range(len(identity)) if image is None else image)]
    return Scores(
        np.asarray(score, float), image, image, identity, identity, True,
        person={} if person is None else dict(zip(identity, map(str, person), strict=True)),
        group={} if group is None else dict(zip(identity, map(str, group), strict=True)),
    )  # fmt: skip


def ordered_scores(
    score, probe_identity, reference_identity, *, probe=None, reference=None, group=None
) -> Scores:
    """A rectangular or asymmetric matrix; without names no probe is a reference; group maps
    identities."""
    probe = [f"p{i}" for i in range(len(probe_identity))] if probe is None else list(probe)
    reference = (
        [f"r{j}" for j in range(len(reference_identity))] if reference is None else list(reference)
    )
    identities = [str(k) for k in probe_identity], [str(k) for k in reference_identity]
    return Scores(np.asarray(score, float), probe, reference, *identities, False, group=group or {})


# --- which pairs there are -----------------------------------------------------------------------


def kind(scores, i, j) -> str | None:
    """What the cell (i, j) is: "self", "genuine", "impostor" or None where it counts nowhere."""
    if np.isnan(scores.score[i, j]):
        return None
    if scores.probe[i] == scores.reference[j]:
        return "self"
    k, m = scores.probe_identity[i], scores.reference_identity[j]
    if k == m:
        return "genuine"
    return None if scores.person.get(k, k) == scores.person.get(m, m) else "impostor"


def cells(scores) -> list:
    """The cells that are pairs, as (i, j, kind); a symmetric matrix gives i <= j only."""
    rows, columns = scores.score.shape
    start = range(rows) if scores.symmetric else [0] * rows
    pairs = [(i, j, kind(scores, i, j)) for i in range(rows) for j in range(start[i], columns)]
    return [cell for cell in pairs if cell[2] is not None]


def genuine_pairs(scores) -> Counter:
    """The number of genuine pairs of each identity, an image with itself not counted."""
    return Counter(
        scores.probe_identity[i]
        for i, _, kind_of_pair in cells(scores)
        if kind_of_pair == "genuine"
    )


def impostor_share(scores, weighting):
    """Function (k, l) -> weight of one impostor pair of these identities."""
    if isinstance(weighting, str) and weighting == "pair":
        return lambda k, m: 1.0
    p = Counter() if isinstance(weighting, str) else weighting
    probes, references = Counter(scores.probe_identity), Counter(scores.reference_identity)
    return lambda k, m: p.get(k, 1.0) * p.get(m, 1.0) / (probes[k] * references[m])


def genuine_share(scores, weighting):
    """Function k -> weight of one genuine pair of this identity."""
    if isinstance(weighting, str) and weighting == "pair":
        return lambda k: 1.0
    p = Counter() if isinstance(weighting, str) else weighting
    pairs = genuine_pairs(scores)
    return lambda k: p.get(k, 1.0) ** 2 / pairs[k]


# --- pairs with their weights --------------------------------------------------------------------


def pair_list(scores, rows) -> PairList:
    """Collect (i, j, weight) in a PairList."""
    left = [scores.group.get(scores.probe_identity[i], UNKNOWN) for i, _, _ in rows]
    right = [scores.group.get(scores.reference_identity[j], UNKNOWN) for _, j, _ in rows]
    score = np.array([scores.score[i, j] for i, j, _ in rows], float)
    weight = np.array([weight for *_, weight in rows], float)
    return PairList(score, weight, np.array(left, object), np.array(right, object))


def weighted(
    scores, identity_count, image_count, weighting="identity"
) -> tuple[PairList, PairList]:
    """Impostor and genuine pairs of a resample given as counts: c_k by identity and w_i by image
    name."""
    c, w = identity_count, image_count
    impostor_weight = impostor_share(scores, weighting)
    genuine_weight = genuine_share(scores, weighting)
    has_pair = genuine_pairs(scores)
    impostor, genuine = [], []
    for i, j, kind_of_pair in cells(scores):
        k, m = scores.probe_identity[i], scores.reference_identity[j]
        w_i, w_j = w[scores.probe[i]], w[scores.reference[j]]
        if kind_of_pair == "impostor":
            impostor.append((i, j, c[k] * c[m] * w_i * w_j * impostor_weight(k, m)))
        elif kind_of_pair == "genuine":
            genuine.append((i, j, c[k] * w_i * w_j * genuine_weight(k)))
        elif has_pair[k]:
            copies = w_i * (w_i - 1) / 2 if scores.symmetric else w_i * (w_i - 1)
            genuine.append((i, j, c[k] * copies * genuine_weight(k)))
    return pair_list(scores, impostor), pair_list(scores, genuine)


def empirical(scores, weighting="identity") -> tuple[PairList, PairList]:
    """Impostor and genuine pairs of the data as they are (eq. 2-3): all count once."""
    identities = scores.probe_identity + scores.reference_identity
    images = scores.probe + scores.reference
    return weighted(scores, dict.fromkeys(identities, 1), dict.fromkeys(images, 1), weighting)


def urns(scores) -> dict:
    """What each image is drawn from, by name: the images of its identity on the same
    sides."""
    identity = dict(
        zip(scores.probe + scores.reference, scores.probe_identity + scores.reference_identity)
    )
    probes, references = set(scores.probe), set(scores.reference)

    def sides(name):
        return "both" if name in probes & references else "probe" if name in probes else "reference"

    return {name: (k, sides(name)) for name, k in identity.items()}


def vstatistic(scores, weighting="identity") -> tuple[PairList, PairList]:
    """Impostor and genuine pairs of the V-statistic (eq. 19), each with its mean weight over all
    resamples.

    In an urn of n images, n drawn with replacement, E[w_i w_j] = E[w_i (w_i - 1)] = 1 - 1/n: an
    identity of n images weighs its n² cells evenly, and one image has none. Two urns are drawn
    apart: E[w_i w_j] = 1.
    """
    impostor, _ = empirical(scores, weighting)
    share, pairs, urn = genuine_share(scores, weighting), genuine_pairs(scores), urns(scores)
    size = Counter(urn.values())
    genuine = []
    for i, j, kind_of_pair in cells(scores):
        k = scores.probe_identity[i]
        if kind_of_pair == "impostor" or not pairs[k]:
            continue
        mine, other = urn[scores.probe[i]], urn[scores.reference[j]]
        mean = 1 - 1 / size[mine] if mine == other else 1.0
        half = 0.5 if kind_of_pair == "self" and scores.symmetric else 1.0
        genuine.append((i, j, share(k) * mean * half))
    return impostor, pair_list(scores, genuine)


def resample(scores, identity_count, image_count) -> Scores:
    """Literal Algorithm 1: the images as drawn, a repeated draw as a new image with the same
    scores.

    A second copy of an identity is a new identity of the same person, so that the two make no
    pairs; two draws of one image in one copy are two images whose score is the image's score with
    itself.
    """

    def draw(names, identities):
        return [
            (index, f"{name}#{copy}#{again}", f"{k}#{copy}")
            for index, (name, k) in enumerate(zip(names, identities, strict=True))
            for copy in range(identity_count[k])
            for again in range(image_count[name])
        ]

    rows = draw(scores.probe, scores.probe_identity)
    columns = draw(scores.reference, scores.reference_identity)
    origin = {new: new.rsplit("#", 1)[0] for *_, new in rows + columns}
    return replace(
        scores,
        score=scores.score[np.ix_([index for index, *_ in rows], [index for index, *_ in columns])],
        probe=[name for _, name, _ in rows],
        reference=[name for _, name, _ in columns],
        probe_identity=[k for *_, k in rows],
        reference_identity=[k for *_, k in columns],
        person={new: scores.person.get(k, k) for new, k in origin.items()},
        group={new: scores.group[k] for new, k in origin.items() if k in scores.group},
    )


def every_image_resample(scores):
    """All equally likely draws of the image scheme, as (image counts, probability)."""
    images = {}
    for name, urn in urns(scores).items():
        images.setdefault(urn, []).append(name)

    def outcomes(names):
        drawn = Counter()
        for draw in product(names, repeat=len(names)):
            drawn[tuple(sorted(draw))] += 1 / len(names) ** len(names)
        return [
            (draw, drawn[draw]) for draw in combinations_with_replacement(sorted(names), len(names))
        ]

    for choice in product(*(outcomes(names) for names in images.values())):
        counts = Counter(name for draw, _ in choice for name in draw)
        yield counts, float(np.prod([probability for _, probability in choice]))
