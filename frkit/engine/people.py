"""What each image adds to the data's error rates: the sums that intervals are made of.

A row is an image under its labels. A point is a threshold, or, for the AUC, every pair. A member is
a person in a group: a person whose images have several labels is several members. The group of
member m is m modulo the number of groups, the last of which means "in no group".
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from frkit.engine import kernels
from frkit.engine.compared import (
    Compared,
    both_orders,
    compared_in_complete_design,
    compared_in_list,
)
from frkit.engine.rates import (
    false_acceptance,
    false_rejection,
    ratio,
    thresholds_at,
)
from frkit.engine.tally import PLACES, Pairs, Tally


class Points(NamedTuple):
    """Sums at some points: thresholds, or for 1 - AUC all pairs.

    accepted : (point, row, group of the partner) impostor weight. rejected, rejected_within :
    (point, row) genuine weight, of all pairs, and of those whose two images are in one group.
    square, cross : (point, group, group) over pairs of people, of the squares of what two have
    accepted together and of its products with the weight of all their pairs.
    """

    accepted: np.ndarray
    rejected: np.ndarray
    rejected_within: np.ndarray
    square: np.ndarray
    cross: np.ndarray


def what_was_compared(tally: Tally) -> Compared:
    """The weight of all comparisons by people."""
    protocol = tally.protocol
    member = _members(tally)
    if protocol.listed is not None:
        return compared_in_list(protocol, member, tally.impostors)
    return compared_in_complete_design(protocol, member)


def errors_at(tally: Tally, compared: Compared, thresholds) -> Points:
    """What each row adds to FAR and FRR at thresholds."""
    rejected = [_rejected(tally, threshold) for threshold in thresholds]
    within = [_rejected(tally, threshold, within=True) for threshold in thresholds]
    steps = _from_the_top(tally, compared, thresholds, tally.impostors.weight)
    return _points(tally, len(thresholds), steps, rejected, within)


def errors_within_groups(tally: Tally, compared: Compared, thresholds) -> Points:
    """The same where each group has a threshold: what each row adds to the rates of its group.

    accepted, rejected_within : (row,), 0 without a group. square, cross : (group,).
    """
    rejected = [_rejected(tally, threshold, within=True) for threshold in thresholds]
    steps = _from_the_top(tally, compared, thresholds, tally.impostors.weight)
    return _points_of_groups(tally, steps, rejected)


def _rejected(tally, threshold, within=False):
    """Genuine weight of each row that a threshold rejects; within : of pairs in one group."""
    weight = tally.genuine.weight
    if within:
        weight = weight * (tally.genuine.cell < tally.n_groups)
    return of_rows(tally.genuine, weight, np.less_equal, threshold)


def disorder(tally: Tally, compared: Compared) -> tuple[Points, float]:
    """What each row adds to 1 - AUC, as a single point, and 1 - AUC."""
    lost_far, lost_frr, rate = _lost(tally, tally.n_groups)
    steps = _from_the_top(tally, compared, np.array([-np.inf]), lost_far)
    lost = [of_rows(tally.genuine, lost_frr)]
    return _points(tally, 1, steps, lost, lost), rate


def disorder_within_groups(tally: Tally, compared: Compared) -> tuple[Points, np.ndarray]:
    """The same of the groups, shaped as by `errors_within_groups`; 1 - AUC of each."""
    rates = []
    rejected = []
    steps = []
    for group in range(tally.n_groups):
        lost_far, lost_frr, rate = _lost(tally, group)
        rates.append(rate)
        rejected.append(of_rows(tally.genuine, lost_frr))
        one_step = _from_the_top(tally, compared, np.array([-np.inf]), lost_far)
        steps += [(group, *sums) for _, *sums in one_step]
    return _points_of_groups(tally, steps, rejected), np.array(rates)


def _lost(tally: Tally, curve: int):
    """What each impostor pair and each genuine pair adds to 1 - AUC of one curve, and 1 - AUC.

    An impostor pair counts the share of genuine weight below it, a genuine pair the share of
    impostor weight above it, half within one chunk.
    """
    genuine, impostors = tally.genuine, tally.impostors
    cells = slice(curve, curve + 1) if curve < tally.n_groups else slice(None)
    lower = tally.rejected[:, cells, 0].sum(1)  # (chunk + 1,) genuine weight
    higher = tally.accepted[:, cells, 0].sum(1)
    below = ratio((lower[:-1] + lower[1:]) / 2, lower[-1])
    above = ratio((higher[:-1] + higher[1:]) / 2, higher[0])
    n_chunks = np.arange(len(below))
    chunk_of_impostor = np.repeat(n_chunks, np.diff(impostors.start))
    chunk_of_genuine = np.repeat(n_chunks, np.diff(genuine.start))
    everywhere = curve == tally.n_groups
    counts = (impostors.cell == curve) | everywhere
    lost_far = np.where(counts, below[chunk_of_impostor] * impostors.weight, 0)
    counts = (genuine.stands_for > 0) & ((genuine.cell == curve) | everywhere)
    weight = np.where(counts, genuine.weight, 0)
    lost_frr = np.where(counts, above[chunk_of_genuine] * genuine.weight, 0)
    return lost_far, lost_frr, float(ratio(lost_frr.sum(), weight.sum()))


def of_rows(pairs: Pairs, weight, errs=None, threshold=None):
    """Sums over the pairs of each row, of all pairs of two images or of those that err."""
    counts = pairs.stands_for > 0
    if errs is not None:
        counts &= errs(pairs.score, threshold)
    some = np.flatnonzero(counts)
    n_rows = len(pairs.row_counts)
    first = np.bincount(pairs.row[some], weight[some], n_rows)
    return first + np.bincount(pairs.col[some], weight[some], n_rows)


def _members(tally: Tally):
    """The member of each row."""
    protocol = tally.protocol
    return protocol.person.astype(np.int64) * (tally.n_groups + 1) + protocol.group


def _from_the_top(tally: Tally, compared: Compared, thresholds, weight) -> Iterator[tuple]:
    """Sums at each threshold, from the highest one down: yields the point and what lies above it.

    The accepted weight of each row by group of the partner, (row, group), and sums over pairs of
    people, (2, group, group). Both change with the next step. weight : (pair,) of impostors.
    """
    impostors = tally.impostors
    member = _members(tally)
    n_groups = tally.n_groups + 1
    n_pairs = len(impostors.score)
    first = np.searchsorted(impostors.score, thresholds, side="right")
    first[np.isnan(thresholds)] = n_pairs
    n_members = len(np.unique(member))
    most = min(n_pairs - first.min(initial=n_pairs), n_members * (n_members + 1) // 2)
    size = 2 ** int(1.4 * most + 2).bit_length()  # of a hash table with free places
    together = np.zeros((size, 2))
    accepted = np.zeros((len(member), n_groups))
    sums = np.zeros((2, n_groups, n_groups))
    last = n_pairs
    for point in np.argsort(-first, kind="stable"):
        kernels.add_people(
            impostors, weight, first[point], last, member, tally.protocol.group,
            compared.of_sides, compared.of_pair, together, accepted, sums,
        )  # fmt: skip
        last = first[point]
        yield point, accepted, sums


def _points(tally: Tally, n_points, steps, rejected, rejected_within) -> Points:
    """Sums of steps from `_from_the_top`. rejected, rejected_within : of each point."""
    n_rows = len(tally.protocol.group)
    n_groups = tally.n_groups + 1
    # in float32, because this is the largest table
    accepted = np.zeros((n_points, n_rows, n_groups), np.float32)
    of_groups = np.zeros((2, n_points, n_groups, n_groups))
    for point, of_row, sums in steps:
        accepted[point] = of_row
        of_groups[:, point] = sums
    of_genuine = np.array([rejected, rejected_within], np.float32).reshape(2, n_points, n_rows)
    return Points(accepted, *of_genuine, *both_orders(of_groups))


def _points_of_groups(tally: Tally, steps, rejected) -> Points:
    """Sums of one step for each group, which concern pairs within this group."""
    group = tally.protocol.group
    accepted, of_rejected = np.zeros((2, len(group)), np.float32)
    of_groups = np.zeros((2, tally.n_groups))
    for g, of_row, sums in steps:
        rows = group == g
        accepted[rows] = of_row[rows, g]
        of_rejected[rows] = rejected[g][rows]
        of_groups[:, g] = sums[:, g, g]
    return Points(accepted, of_rejected, of_rejected, *of_groups)


class Curve(NamedTuple):
    """The data's own curve from the highest threshold down.

    threshold, far_all : (place,). far : (place, group, group). frr : (place, group or all).
    """

    threshold: np.ndarray
    far: np.ndarray
    far_all: np.ndarray
    frr: np.ndarray


def data_curve(tally: Tally) -> Curve:
    """FAR by pair of groups, and FRR, at PLACES levels of the FAR."""
    n_pairs = float(tally.impostors.stands_for.sum(dtype=float))
    far = np.geomspace(1 / max(n_pairs, 2), 0.999, PLACES)
    thresholds = np.unique(thresholds_at(tally, far, tally.n_groups, 1))[::-1]
    far_of_cells, far_all = false_acceptance(tally, thresholds[None])
    frr_of_groups, frr = false_rejection(tally, thresholds[None])
    cells = tally.protocol.cells_of_groups
    far_of_groups = np.nan_to_num(far_of_cells[0][:, cells])
    frr_of_curves = np.column_stack([frr_of_groups[0][:, :-1], frr[0]])
    return Curve(
        threshold=thresholds,
        far=np.where(cells >= 0, far_of_groups, 0.0),
        far_all=far_all[0],
        frr=np.nan_to_num(frr_of_curves),
    )
