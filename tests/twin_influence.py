"""The readable slow twin of the sums by image, and of the laws that are read from them: loops over pairs and people."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import twin_pairs
from twin import Scores, cells, impostor_share
from twin_rates import UNKNOWN


class Pair(NamedTuple):
    """One pair of images that counts; two of everything. The weight is that of an impostor pair."""

    images: tuple
    people: tuple
    groups: tuple
    genuine: bool
    score: float
    weight: float


@dataclass(frozen=True)
class ImageSums:
    """What one threshold leaves of all pairs, by image name and the partner's group."""

    accepted: np.ndarray
    compared: np.ndarray
    rejected: np.ndarray
    genuine: np.ndarray


def pairs_of_scores(scores: Scores, weighting="identity", impostors="all") -> list[Pair]:
    """The pairs of a matrix; impostors of two groups are left out where only those within groups count."""
    share, found = impostor_share(scores, weighting), []
    for i, j, what in cells(scores):
        people = scores.probe_identity[i], scores.reference_identity[j]
        groups = tuple(scores.group.get(name, UNKNOWN) for name in people)
        within = groups[0] == groups[1] != UNKNOWN
        if what == "genuine" or (what == "impostor" and (impostors == "all" or within)):
            images = scores.probe[i], scores.reference[j]
            found.append(Pair(images, people, groups, what == "genuine", scores.score[i, j], share(*people)))
    return found


def pairs_of_list(pairs, by, weighting) -> list[Pair]:
    """The pairs of a list."""
    rows = twin_pairs.rows_of(pairs, by)
    shares, found = twin_pairs.shares_of(rows, weighting), []
    for row in rows:
        keys = "", "_identity", "_group"
        images, people, groups = (tuple(row[side + key] for side in twin_pairs.SIDES) for key in keys)
        weight = shares[row["place"]]
        if not np.isnan(row["score"]) and not row["itself"]:
            found.append(Pair(images, people, groups, row["genuine"], row["score"], weight))
    return found


def group_codes(groups) -> dict:
    """Group -> place; the last place is "in no group"."""
    return {name: place for place, name in enumerate([*groups, UNKNOWN])}


def image_sums(names: list, pairs: list[Pair], threshold: float, groups) -> ImageSums:
    """Every pair is added to both of its images; names: of all images, in their order."""
    code, at = group_codes(groups), {name: place for place, name in enumerate(names)}
    accepted, compared = np.zeros((2, len(names), len(code)))
    rejected, genuine = np.zeros((2, len(names)))
    for pair in pairs:
        one, other = (at[name] for name in pair.images)
        a, b = (code[name] for name in pair.groups)
        for image, partner in ((one, b), (other, a)):
            if pair.genuine:
                genuine[image] += 1
                rejected[image] += pair.score <= threshold
            else:
                compared[image, partner] += pair.weight
                accepted[image, partner] += pair.weight * (pair.score > threshold)
    return ImageSums(accepted, compared, rejected, genuine)


def squares(pairs: list[Pair], threshold: float, groups, listed=False) -> tuple[np.ndarray, np.ndarray]:
    """Squared weights of impostor pairs, and of pairs of people beyond their mean, by cell of groups.

    In a tensor the second is at least what independent pairs give.
    """
    code = group_codes(groups)
    square, total, found = np.zeros((3, len(code), len(code)))
    people: dict = {}
    for pair in (pair for pair in pairs if not pair.genuine):
        cell = tuple(sorted(code[name] for name in pair.groups))
        accepted = pair.weight * (pair.score > threshold)
        square[cell] += pair.weight**2
        total[cell] += pair.weight
        found[cell] += accepted
        both = people.setdefault((cell, frozenset(pair.people)), [0.0, 0.0])
        both[0] += accepted
        both[1] += pair.weight
    rate = np.divide(found, total, out=np.zeros_like(total), where=total > 0)
    blocks = np.zeros_like(square)
    for (cell, _), (accepted, whole) in people.items():
        blocks[cell] += (accepted - rate[cell] * whole) ** 2
    blocks = blocks if listed else np.maximum(blocks, rate * (1 - rate) * square)
    return tuple(np.maximum(part, part.T) for part in (square, blocks))


# --- laws of a plain tensor without groups, one formula a line (the definitions, not the code) ------------------


def far_variance(score, identity, threshold, target) -> tuple[float, float, float]:
    """FAR at a fixed threshold, its variance and the weight of a clump, before clumps that were not seen are supposed.

    The variance is that of image or person parts, less the pairs' own part, which they hold twice.
    """
    identity = np.unique(identity, return_inverse=True)[1]
    many = np.bincount(identity)
    n_people = len(many)
    weight = (identity[:, None] != identity) / np.outer(many, many)[identity][:, identity]
    weight /= weight.sum() / 2
    accepted = score > threshold
    far = (weight * accepted).sum() / 2
    single = far * (1 - far) * (weight**2).sum() / 2
    between = np.array([[(weight * accepted)[identity == k][:, identity == m].sum() for m in range(n_people)]
                        for k in range(n_people)])  # fmt: skip
    n_pairs = n_people * (n_people - 1) / 2
    rate = between * n_pairs  # of each pair of people
    upper = rate[np.triu_indices(n_people, 1)]
    blocks = max(((upper - far) ** 2).sum() / n_pairs**2, single)
    if target == "new people":
        of_person = rate.sum(1) / (n_people - 1)
        return far, max(4 / n_people * of_person.var(ddof=1) - blocks, blocks), blocks / far
    part = (weight * (accepted - far)).sum(1)
    image_parts = 0.0
    for k, n_k in enumerate(many):
        mine = part[identity == k]
        image_parts += n_k / (n_k - 1) * ((mine - mine.mean()) ** 2).sum() if n_k > 1 else 0.0
    # of a pair's variance F is of its people, A of its images, D its own: three equations, F and A eliminated
    n = 1 / np.mean(1 / many)
    sums = np.array([[1, 1, 1], [0, n, 2], [n**2, n, 1]])
    _, of_images, own = np.linalg.solve(sums, [single, image_parts, blocks])
    own = (image_parts - n * max(of_images, 0)) / 2
    variance = max(image_parts - np.clip(own, 0, single), single)
    return far, variance, variance / far


def with_unseen_clumps(far, variance, clump, known, unseen=3) -> float:
    """The variance with clumps as large as the weighted geometric mean of what is seen here and what is known."""
    if known <= clump:
        return variance
    seen = far / clump  # number of clumps
    larger = np.exp((seen * np.log(clump) + unseen * np.log(known)) / (seen + unseen))
    return variance + (larger - clump) * far


def clump_of_people(far, clump, identity, unseen=3) -> float:
    """The weight of a clump at the EER, where the largest may be unseen too: as heavy as all pairs of two people."""
    many = np.bincount(np.unique(identity, return_inverse=True)[1])
    pairs = np.array([1 / (n * m) for k, n in enumerate(many) for m in many[:k] for _ in range(n * m)])
    two_people = (pairs**2).sum() / pairs.sum() ** 2 * len(many) ** 2 / (1 / many).sum() ** 2
    seen = far / clump
    return max(clump, np.exp((seen * np.log(clump) + unseen * np.log(two_people)) / (seen + unseen)))


def frr_variance_of_people(score, identity, threshold, enough=30, unseen=3) -> float:
    """Variance of FRR over new people: that of a mean of independent shares, of few with whole people of errors."""
    shares = []
    for k in np.unique(identity):
        mine = score[np.ix_(identity == k, identity == k)]
        if len(mine) > 1:
            shares.append((mine[np.triu_indices(len(mine), 1)] <= threshold).mean())
    frr, n = np.mean(shares), len(shares)
    variance = np.var(shares, ddof=1) / n
    clump = (np.square(shares).sum() / n**2 / frr) if frr else 0.0
    few = min(max(2 - 2 * n / enough, 0), 1)
    if not clump:
        return variance
    larger = (1 / n / clump) ** (few * unseen / (frr / clump + unseen))
    return variance + (larger - 1) * clump * frr
