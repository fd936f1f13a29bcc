"""Genuine pairs with their weights in every replicate, in the V-statistic, and without copies of an image."""

from typing import NamedTuple

import numpy as np

from frkit.engine.cohort import Cohort
from frkit.engine.resolve import Genuine
from frkit.scores.groups import same_image


class Tallies(NamedTuple):
    """The same genuine pairs, sorted by score, with three kinds of weights.

    data: in the data and every replicate. centre: in the V-statistic (eq. 19). rescaled: in every replicate, without
    copies of an image, each pair divided by its mean count over resamples, 1 - 1/n_k, while the totals are those of
    the identities as drawn, so that at any threshold the mean over all draws of images is the FRR of the data; None
    where replicates hold no copies.
    """

    data: Genuine
    centre: Genuine
    rescaled: Genuine | None


def genuine_tallies(who: Cohort, score: np.ndarray, self_score: float | None) -> Tallies:
    """Weighted genuine pairs from the scores of the pairs in `who.asked`, NaN where the comparison failed."""
    n = who.n_genuine
    here = ~np.isnan(score[:n])
    row, col, identity = (part[:n][here] for part in (who.asked.row, who.asked.col, who.asked.identity))
    present = np.bincount(identity, minlength=len(who.share))
    mass = who.share**2 * (present if who.pooled else 1.0)
    per_pair = _up_to_a_factor(np.divide(mass, present, out=np.zeros(len(present)), where=present > 0))
    own = _own_pairs(who, score, self_score, present)
    value, row, col, identity = (
        np.concatenate(p) for p in zip((score[:n][here], row, col, identity), own, strict=True)
    )
    copy = np.arange(len(value)) >= len(value) - len(own[0])
    share = np.where(copy & who.design.symmetric, 0.5, 1.0)
    plain, mean = per_pair[identity], _mean_count(who, row, col, copy)
    order, group = np.argsort(value), _genuine_group(who, row, col)

    def sorted_pairs(row: np.ndarray, factor: np.ndarray) -> tuple:
        parts = (value, row, col, identity, group, factor)
        return tuple(np.ascontiguousarray(part[order]) for part in parts)

    drawn = sorted_pairs(np.where(copy, -1, row), plain * share)
    complete = who.design.symmetric and len(value) > 0 and bool(here.all())
    centre = _weighted(who, sorted_pairs(row, _up_to_a_factor(plain * mean) * share), slice(0, 1), complete=False)
    data = _weighted(who, drawn, slice(None), complete)
    return Tallies(data, centre, _rescaled(who, data, mean[order]) if who.diagonal else None)


def _own_pairs(who: Cohort, score: np.ndarray, self_score: float | None, present: np.ndarray) -> tuple:
    """Score, row, column and identity of images with themselves, where replicates hold copies of images."""
    if not who.diagonal:
        return tuple(np.empty(0, kind) for kind in (score.dtype, np.int32, np.int32, np.int32))
    row, col = same_image(who.people, who.design.symmetric)
    same = score[who.n_genuine :] if self_score is None else np.full(len(row), self_score, score.dtype)
    identity = who.design.probe.identity[row]
    keep = (present[identity] > 0) & ~np.isnan(same)
    return same[keep], row[keep], col[keep], identity[keep]


def _mean_count(who: Cohort, row: np.ndarray, col: np.ndarray, copy: np.ndarray) -> np.ndarray:
    """E[w_i w_j] over the draws of images: 1 - 1/n where both come from one urn of n, and E[w_i (w_i - 1)] as well."""
    if not who.diagonal:
        return np.ones(len(row))
    urn, many = who.urn_sizes
    mine, theirs = who.people.probe[row], who.people.reference[col]
    return np.where(copy | (urn[mine] == urn[theirs]), 1 - 1 / many[mine], 1.0)


def _up_to_a_factor(weight: np.ndarray) -> np.ndarray:
    """Ones where all weights above zero are equal: rates do not change, and sums become exact."""
    positive = weight[weight > 0]
    same = len(positive) > 0 and np.all(np.abs(positive - positive[0]) <= 1e-14 * positive[0])
    return (weight > 0).astype(float) if same else weight


def _weighted(who: Cohort, pairs: tuple, columns: slice, complete: bool) -> Genuine:
    """The pairs with the weights of some columns; complete: every pair of a symmetric tensor is present."""
    weight = tuple(side[columns] for side in who.genuine_weight)
    identity_count = who.identity_count[columns].astype(float)
    n_groups = len(who.groups) + 1
    if complete:
        return Genuine(pairs, weight, identity_count, _whole_totals(pairs, identity_count, n_groups))
    of_column = [_genuine_total(pairs, weight, identity_count, c, n_groups) for c in range(len(identity_count))]
    return Genuine(pairs, weight, identity_count, np.stack(of_column, 1))


def _rescaled(who: Cohort, data: Genuine, mean: np.ndarray) -> Genuine:
    """The pairs without copies, over their mean count; the totals know nothing of the draws of images."""
    *pairs, factor = data.pairs
    weight = np.where(pairs[1] >= 0, factor / np.maximum(mean, np.finfo(float).tiny), 0.0)
    even = _up_to_a_factor(weight)
    common = even.max(initial=0) / max(weight.max(initial=0), np.finfo(float).tiny)
    totals = _whole_totals(data.pairs, data.identity_count, len(who.groups) + 1) * common
    return Genuine((*pairs, even), data.image_weight, data.identity_count, totals)


def _genuine_group(who: Cohort, row: np.ndarray, col: np.ndarray) -> np.ndarray:
    """The group of both sides; none where they differ."""
    mine, theirs = who.design.probe.group[row], who.design.reference.group[col]
    return np.where(mine == theirs, theirs, len(who.groups)).astype(np.int64)


def _whole_totals(pairs: tuple, identity_count: np.ndarray, n_groups: int) -> np.ndarray:
    """Weight of all genuine pairs, (group, column), where every pair is present: resampling the images of an
    identity only moves its weight about."""
    _, row, _, identity, group, factor = pairs
    own = row >= 0
    n = identity_count.shape[1]
    mass = np.bincount(group[own] * n + identity[own], factor[own], minlength=n_groups * n)
    return mass.reshape(n_groups, n) @ identity_count.T


def _genuine_total(pairs: tuple, weight: tuple, identity_count: np.ndarray, column: int, n_groups: int) -> np.ndarray:
    """Weight of all genuine pairs of one column, by group."""
    _, row, col, identity, group, factor = pairs
    w = weight[1][column][col].astype(float)
    w *= np.where(row < 0, w - 1, weight[0][column][row])
    return np.bincount(group, factor * w * identity_count[column][identity], minlength=n_groups)
