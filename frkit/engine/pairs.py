"""Scored pairs, sorted: genuine pairs with their weights in every replicate and in the V-statistic."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from frkit.engine.protocol import WHOLE_LIMIT, Protocol

ROUNDING = 1e-4  # of the largest score: so far may the score of an image with itself be from the exact one


class Pairs(NamedTuple):
    """Pairs sorted by score, as the compiled walks take them; weights of the two images are multiplied by the factor.

    cell: of impostor pairs the cell, of genuine pairs the group, the last one being "no group". A row of -1 marks
    copies of the one image `col`.
    """

    score: np.ndarray
    row: np.ndarray
    col: np.ndarray
    cell: np.ndarray
    factor: np.ndarray

    def take(self, places) -> "Pairs":
        """Some of the pairs: a slice, a mask, or an order."""
        return Pairs(*(np.ascontiguousarray(part[places]) for part in self))


@dataclass(frozen=True, eq=False)
class Genuine:
    """Genuine pairs from the lowest score up, with their weights.

    image_weight: (column, image) of both sides, within the identity; identity_count: (column, identity), and identity:
    that of each image of the second side. totals: (group, column) weight of all genuine pairs.
    """

    pairs: Pairs
    image_weight: tuple[np.ndarray, np.ndarray]
    identity_count: np.ndarray
    identity: np.ndarray
    totals: np.ndarray

    def column(self, column: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Counts of one column: images on either side, and the identity of each image on the second side."""
        row_weight, col_weight = self.image_weight
        return row_weight[column], col_weight[column], self.identity_count[column][self.identity]

    def weights(self, column: int) -> np.ndarray:
        """Weight of every pair in one column; an image's copies make w (w - 1) ordered pairs."""
        row_weight, col_weight, identity_count = self.column(column)
        _, row, col, _, factor = self.pairs
        weight = col_weight[col].astype(float)
        weight *= np.where(row < 0, weight - 1, row_weight[row])
        return factor * weight * identity_count[col]


class Weighted(NamedTuple):
    """The same genuine pairs with their weights in the data and every replicate, and in the V-statistic (eq. 19)."""

    data: Genuine
    centre: Genuine


def weigh_genuine(protocol: Protocol, score: np.ndarray, self_score: float | None = None) -> Weighted:
    """Weighted genuine pairs from the scores of the pairs that were asked for, NaN where the comparison failed.

    self_score: of an image with itself, where that is known; it does not hold of scores that were changed since.
    """
    n, (row, col) = protocol.n_genuine, protocol.asked
    largest = np.fmax.reduce(np.abs(score), initial=0)
    if self_score is not None and np.all(np.abs(score[n:] - self_score) <= ROUNDING * largest):
        score = np.append(score[:n], np.full(len(row) - n, self_score, score.dtype))
    identity, copy, here = protocol.owner, np.arange(len(row)) >= n, ~np.isnan(score)
    complete = protocol.symmetric and bool(here[:n].all())
    present = np.bincount(identity[:n][here[:n]], minlength=len(protocol.share))
    here &= ~copy | (present[identity] > 0)
    score, row, col, identity, copy = (part[here] for part in (score, row, col, identity, copy))
    mass = protocol.share**2 * (present if protocol.pooled else 1.0)
    per_pair = _up_to_a_factor(np.divide(mass, present, out=np.zeros(len(present)), where=present > 0))[identity]
    mean, share = _mean_count(protocol, row, col, copy), np.where(copy & protocol.symmetric, 0.5, 1.0)
    order = np.argsort(score)
    plain = Pairs(score, row, col, common_group(protocol, row, col), _up_to_a_factor(per_pair * mean) * share)
    drawn = plain._replace(row=np.where(copy, np.int32(-1), row), factor=per_pair * share)
    data = _weighted(protocol, drawn.take(order), slice(None), complete)
    centre = _weighted(protocol, plain.take(order), slice(0, 1), False)
    return Weighted(data, centre)


def common_group(protocol: Protocol, row: np.ndarray, col: np.ndarray) -> np.ndarray:
    """The group of both sides; none where they differ."""
    mine, theirs = protocol.probe.group[row], protocol.reference.group[col]
    return np.where(mine == theirs, theirs, len(protocol.groups)).astype(np.int64)


def curves(weight: np.ndarray, n_groups: int, axis: int = 0) -> np.ndarray:
    """Weights of cells (or of groups) along an axis as those of curves: each group's own, and last all together.

    The first cells are those of pairs within each group.
    """
    return np.concatenate([np.take(weight, range(n_groups), axis), weight.sum(axis, keepdims=True)], axis)


def _mean_count(protocol: Protocol, row: np.ndarray, col: np.ndarray, copy: np.ndarray) -> np.ndarray:
    """E[w_i w_j] over the draws of images: 1 - 1/n where both come from one urn of n, and E[w_i (w_i - 1)] as well."""
    if not protocol.diagonal:
        return np.ones(len(row))
    urn = np.unique(protocol.people.urn, return_inverse=True)[1]
    mine, theirs = urn[protocol.people.probe[row]], urn[protocol.people.reference[col]]
    return np.where(copy | (mine == theirs), 1 - 1 / np.bincount(urn)[mine].astype(float), 1.0)


def _up_to_a_factor(weight: np.ndarray) -> np.ndarray:
    """Ones where all weights above zero are equal: rates do not change, and sums become exact."""
    positive = weight[weight > 0]
    same = len(positive) > 0 and np.all(np.abs(positive - positive[0]) <= 1e-14 * positive[0])
    return (weight > 0).astype(float) if same else weight


def _weighted(protocol: Protocol, pairs: Pairs, columns: slice, complete: bool) -> Genuine:
    """The pairs with the weights of some columns; complete: every pair of a symmetric tensor is present."""
    sides = protocol.people.probe, protocol.people.reference
    count = protocol.image_count[columns]
    count = count.astype(np.uint8 if protocol.image_count.max() <= WHOLE_LIMIT else np.uint16)
    weight = tuple(np.ascontiguousarray(count[:, images]) for images in sides)
    identity_count = protocol.identity_count[columns].astype(float)
    n_groups = len(protocol.groups) + 1
    genuine = Genuine(pairs, weight, identity_count, protocol.reference.identity, np.empty(0))
    if complete:
        return replace(genuine, totals=_whole_totals(genuine, n_groups))
    every = range(len(identity_count))
    totals = [np.bincount(pairs.cell, genuine.weights(column), minlength=n_groups) for column in every]
    return replace(genuine, totals=np.stack(totals, 1))


def _whole_totals(genuine: Genuine, n_groups: int) -> np.ndarray:
    """Weight of all genuine pairs, (group, column), where every pair is present: resampling the images of an
    identity only moves its weight about."""
    _, row, col, group, factor = genuine.pairs.take(genuine.pairs.row >= 0)
    n = genuine.identity_count.shape[1]
    mass = np.bincount(group * n + genuine.identity[col], factor, minlength=n_groups * n)
    return mass.reshape(n_groups, n) @ genuine.identity_count.T
