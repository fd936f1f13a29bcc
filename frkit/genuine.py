"""Genuine pairs with their weights in every replicate, and in the V-statistic."""

import numpy as np

from frkit.cohort import Cohort, People, same_image, urns
from frkit.sweep.resolve import Genuine


def genuine_tally(who: Cohort, score: np.ndarray, self_score: float | None, centre: bool = False) -> Genuine:
    """Weighted genuine pairs, sorted by score; `centre` gives the weights of the V-statistic (eq. 19) instead.

    score: of the pairs in `who.asked`, NaN where the comparison failed.
    """
    n, symmetric = who.n_genuine, who.design.symmetric
    row, col, identity = (part[:n] for part in (who.asked.row, who.asked.col, who.asked.identity))
    here = ~np.isnan(score[:n])
    present = np.bincount(identity[here], minlength=len(who.share))
    mass = who.share**2 * (present if who.pooled else 1.0)
    per_pair = _up_to_a_factor(np.divide(mass, present, out=np.zeros(len(present)), where=present > 0))
    parts = [(score[:n][here], row[here], col[here], identity[here], per_pair[identity[here]])]
    if who.diagonal:
        itself, own = same_image(who.people, symmetric), who.design.probe.identity
        same = score[n:] if self_score is None else np.full(len(itself[0]), self_score)
        keep = (present[own[itself[0]]] > 0) & ~np.isnan(same)
        kin = own[itself[0]][keep]
        half = 0.5 if symmetric else 1.0
        if centre:
            _, many = _urn_sizes(who.people)
            kept = _mean_count(who.people, row[here], col[here])
            again = 1 - 1 / many[who.people.probe[itself[0][keep]]]  # E[w_i (w_i - 1)]
            factor = _up_to_a_factor(np.concatenate([per_pair[identity[here]] * kept, per_pair[kin] * again]))
            parts[0] = (*parts[0][:4], factor[: len(kept)])
            parts.append((same[keep], itself[0][keep], itself[1][keep], kin, half * factor[len(kept) :]))
        else:
            parts.append((same[keep], np.full(len(kin), -1), itself[1][keep], kin, half * per_pair[kin]))
    return _sorted_genuine(who, parts, centre, not here.all())


def rescaled_tally(who: Cohort, genuine: Genuine) -> Genuine:
    """The same pairs without copies of an image, each divided by its mean count over resamples, 1 - 1/n_k.

    The totals are those of the identities as drawn: at any threshold the mean over all draws of images is the FRR
    of the data.
    """
    own = genuine.pairs[1] >= 0
    score, row, col, identity, group, factor = (part[own] for part in genuine.pairs)
    totals = _whole_totals((score, row, col, identity, group, factor), genuine.identity_count, len(who.groups) + 1)
    weight = factor / _mean_count(who.people, row, col)
    even = _up_to_a_factor(weight)
    if len(weight):
        totals = totals * (even[0] / weight[0])
    return Genuine((score, row, col, identity, group, even), genuine.image_weight, genuine.identity_count, totals)


def _mean_count(who: People, row: np.ndarray, col: np.ndarray) -> np.ndarray:
    """E[w_i w_j] of two different images: 1 - 1/n where both are drawn from one urn of n."""
    code, many = _urn_sizes(who)
    mine, theirs = who.probe[row], who.reference[col]
    return np.where(code[mine] == code[theirs], 1 - 1 / many[mine], 1.0)


def _up_to_a_factor(weight: np.ndarray) -> np.ndarray:
    """Ones where all weights above zero are equal: rates do not change, and sums become exact."""
    positive = weight[weight > 0]
    same = len(positive) > 0 and np.all(np.abs(positive - positive[0]) <= 1e-14 * positive[0])
    return (weight > 0).astype(float) if same else weight


def _urn_sizes(who: People) -> tuple[np.ndarray, np.ndarray]:
    """Of each image: its urn, and how many images that holds."""
    code = np.unique(urns(who), return_inverse=True)[1]
    return code, np.bincount(code)[code].astype(float)


def _sorted_genuine(who: Cohort, parts: list, centre: bool, lost: bool) -> Genuine:
    score, row, col, identity, factor = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.argsort(score)
    group = _genuine_group(who, row, col)
    pairs = tuple(np.ascontiguousarray(part[order]) for part in (score, row, col, identity, group, factor))
    columns = slice(0, 1) if centre else slice(None)
    weight = tuple(
        np.ascontiguousarray(
            who.image_count[columns][:, images].astype(np.uint8 if who.image_count.max() < 256 else np.uint16)
        )
        for images in (who.people.probe, who.people.reference)
    )
    identity_count = who.identity_count[columns].astype(float)
    whole = who.design.symmetric and not centre and len(np.unique(identity)) > 0 and not lost
    columns = range(len(weight[0]))
    n_groups = len(who.groups) + 1
    totals = (
        _whole_totals(pairs, identity_count, n_groups)
        if whole
        else np.stack([_genuine_total(pairs, weight, identity_count, c, n_groups) for c in columns], 1)
    )
    return Genuine(pairs, weight, identity_count, totals)


def _genuine_group(who: Cohort, row: np.ndarray, col: np.ndarray) -> np.ndarray:
    """The group of both sides; none where they differ. A row of -1 stands for the column's own copies."""
    theirs = who.design.reference.group[col].astype(np.int64)
    mine = np.where(row < 0, theirs, who.design.probe.group[row])
    return np.where(mine == theirs, theirs, len(who.groups))


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
