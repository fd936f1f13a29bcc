"""What each entry adds to the data's error rates: the sums that intervals are made of.

An entry is an image under a group label. A point is a threshold (or, for the AUC, every pair).
"""

from dataclasses import dataclass

import numpy as np
import xarray as xr
from scipy import sparse

from frkit.engine import kernels
from frkit.engine.pairs import GenuinePairs, ImpostorPairs
from frkit.engine.protocol import Protocol
from frkit.engine.rates import Tally, curves, errors_at, ratio, thresholds_at

PLACES = 200  # of the data's own curve
DIMS = {
    "accepted": ("point", "entry", "partner"),
    "compared": ("entry", "partner"),
    "rejected": ("point", "entry"),
    "genuine": ("entry",),
    "genuine_pairs": ("entry",),
    "person": ("entry",),
    "image": ("entry",),
    "group": ("entry",),
    "accepted_square": ("point", "partner", "partner_b"),
    "accepted_cross": ("point", "partner", "partner_b"),
    "compared_square": ("partner", "partner_b"),
    "people_pairs": ("partner", "partner_b"),
    "impostor_pairs": ("partner", "partner_b"),
    "cells": ("partner", "partner_b"),
    "rate": ("point",),
    "threshold": ("point",),
    "curve_threshold": ("place",),
    "curve_far": ("place", "partner", "partner_b"),
    "curve_far_all": ("place",),
    "curve_frr": ("place", "group_or_all"),
}


def people_sums(tally: Tally, thresholds: np.ndarray, rates: np.ndarray, auc: bool) -> xr.Dataset:
    """The node `people` of an evaluation.

    thresholds, rates: (point,) of the levels, and of the EER of each group and of all.
    auc: whether points of the AUC of each group and of all follow.
    """
    protocol, impostors = tally.impostors.protocol, tally.impostors
    members = _weights_of_people(protocol, impostors)
    # in float32, because this is the largest table
    accepted, square, cross = _accepted(impostors, members, thresholds, np.float32)
    rejected = _rejected(tally.genuine, thresholds)
    if auc:
        parts = [_of_auc(tally, curve) for curve in range(tally.n_groups + 1)]
        more = [np.stack(column) for column in zip(*parts, strict=True)]
        together = zip((accepted, square, cross, rejected, rates), more, strict=True)
        accepted, square, cross, rejected, rates = (np.concatenate(both) for both in together)
        thresholds = np.append(thresholds, np.full(len(parts), np.nan))
    compared, compared_square, people_pairs, impostor_pairs = _compared(tally)
    values = {
        "accepted": accepted,
        "compared": compared,
        "rejected": rejected.astype(np.float32),
        **_genuine(tally.genuine),
        "person": protocol.person,
        "image": protocol.image,
        "group": protocol.group,
        "accepted_square": square,
        "accepted_cross": cross,
        "compared_square": compared_square,
        "people_pairs": people_pairs,
        "impostor_pairs": impostor_pairs,
        "cells": (protocol.cells_of_groups >= 0).astype(int),
        "rate": rates,
        "threshold": thresholds,
        **_curve(tally),
    }
    return xr.Dataset({name: (DIMS[name], value) for name, value in values.items()})


def errors_of_entries(tally: Tally, thresholds: np.ndarray) -> tuple:
    """Accepted and rejected weight of each entry, (threshold, entry), and genuine weight."""
    impostors = tally.impostors
    members = _weights_of_people(impostors.protocol, impostors)
    accepted = _accepted(impostors, members, thresholds)[0]
    genuine = _genuine(tally.genuine)["genuine"]
    return accepted.sum(2), _rejected(tally.genuine, thresholds), genuine


# --- impostors -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Members:
    """A member is a person in a group. entry : (entry,) its member; person, group : (member,).

    compared : weights of the members' entries on either side of a tensor, (side, member), whose
    products are the weight of all pairs of two members; None for a list.
    listed : (member, member) that weight for a list, the lower member first.
    """

    entry: np.ndarray
    person: np.ndarray
    group: np.ndarray
    compared: np.ndarray | None
    listed: sparse.csr_array | None

    def weight(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Weight of all pairs of two members, for some couples of members."""
        if self.listed is not None:
            return np.asarray(self.listed[one, other]).ravel()
        probe, reference = self.compared
        weight = probe[one] * reference[other]
        return weight if probe is reference else weight + probe[other] * reference[one]


def _weights_of_people(protocol: Protocol, impostors: ImpostorPairs) -> _Members:
    """The members, and how much the pairs of two of them weigh."""
    n_groups = len(protocol.groups) + 1
    codes, entry = np.unique(protocol.person * n_groups + protocol.group, return_inverse=True)
    person, group = codes // n_groups, codes % n_groups
    if protocol.pairs is None:
        sides = [slice(0, protocol.n_probes), slice(protocol.offset, None)]
        if protocol.symmetric:
            sides = sides[:1]
        sums = [np.bincount(entry[s], protocol.scale[s], len(codes)) for s in sides]
        return _Members(entry, person, group, (sums[0], sums[-1]), None)
    pairs = slice(0, len(impostors.row))
    row, col = _sorted(entry[impostors.row], entry[impostors.col])
    shape = len(codes), len(codes)
    weight = sparse.coo_array((impostors.factor(pairs), (row, col)), shape=shape).tocsr()
    return _Members(entry, person, group, None, weight)


def _sorted(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.minimum(one, other), np.maximum(one, other)


def _accepted(
    impostors: ImpostorPairs, members: _Members, thresholds: np.ndarray, dtype=np.float64
) -> tuple:
    """Accepted weight of each entry by group of the partner, and sums over pairs of people.

    The pairs between two neighbouring thresholds are added under the lower one, from the highest
    threshold down.
    """
    lowest = impostors.chunk_of(np.fmin.reduce(thresholds, initial=np.inf))
    above = impostors.of_chunks(int(lowest), impostors.n_chunks)
    sums = _Sums(impostors, members, above.stop - above.start)
    order = np.argsort(-thresholds)
    n_groups = len(impostors.protocol.groups) + 1
    n_points, n_entries = len(thresholds), len(impostors.protocol.person)
    accepted = np.zeros((n_points, n_entries, n_groups), dtype)
    square, cross = np.zeros((2, n_points, n_groups, n_groups))
    upper = np.inf
    for point in order:
        lower = thresholds[point]
        if not np.isnan(lower):
            sums.add_between(lower, upper)
            upper = lower
        accepted[point] = sums.accepted
        square[point], cross[point] = sums.squares()
    return accepted, square, cross


class _Sums:
    """Running sums over impostor pairs: by entry and partner's group, and by pair of people.

    n_pairs: how many will be added at most.
    """

    def __init__(self, impostors: ImpostorPairs, members: _Members, n_pairs: int) -> None:
        self.impostors, self.members = impostors, members
        n_groups = len(impostors.protocol.groups) + 1
        n_entries, n_members = len(impostors.protocol.person), len(members.person)
        self.accepted = np.zeros((n_entries, n_groups))
        self.cross = np.zeros((n_groups, n_groups))
        self.square = np.zeros((n_groups, n_groups))
        most = min(n_pairs, n_members * (n_members + 1) // 2)
        size = 2 ** int(1.4 * most + 2).bit_length()
        self.key, self.together = np.zeros(size, np.uint64), np.zeros(size)

    def add_between(self, lower: float, upper: float) -> None:
        """Add the pairs whose score exceeds the lower threshold and not the upper one."""
        first, last = self.impostors.chunk_of(np.array([lower, upper]))
        for part, chunk in self.impostors.pieces(int(first), int(last) + 1):
            score = self.impostors.score[part]
            inside = np.flatnonzero((score > lower) & (score <= upper))
            self.add(part.start + inside, chunk[inside])

    def add(self, pairs, chunk: np.ndarray, value: np.ndarray | None = None) -> None:
        """Add some pairs of some chunks, each with its weight, times a value."""
        impostors, members = self.impostors, self.members
        row, col = impostors.row[pairs], impostors.col[pairs]
        stands_for = impostors.stands_for[chunk]
        weight = impostors.factor(pairs) * stands_for
        if value is not None:
            weight = weight * value
        # a pair that stands for others has the square of their weights, which they do not have
        excess = weight**2 * (1 - 1 / stands_for)
        kernels.add_people(
            row, col, weight, excess, members.entry, members.group,
            self.key, self.together, self.accepted, self.square,
        )  # fmt: skip
        one, other = _sorted(members.entry[row], members.entry[col])
        n_groups = len(self.cross)
        cell = members.group[one] * n_groups + members.group[other]
        compared = weight * members.weight(one, other)
        self.cross += np.bincount(cell, compared, n_groups**2).reshape(n_groups, n_groups)

    def squares(self) -> tuple[np.ndarray, np.ndarray]:
        """Sums over pairs of people, (group, group): accepted weight squared, and times all."""
        return _both_orders(np.maximum(self.square, 0)), _both_orders(self.cross)


def _both_orders(sums: np.ndarray) -> np.ndarray:
    """Sums over couples (g, h) in either order as a symmetric table."""
    return sums + sums.T - np.diag(np.diag(sums))


def _compared(tally: Tally) -> tuple:
    """Weight of all impostor pairs: by entry and partner's group; squares; numbers of pairs."""
    impostors = tally.impostors
    protocol = impostors.protocol
    members = _weights_of_people(protocol, impostors)
    if protocol.pairs is not None:
        sums = _Sums(impostors, members, len(impostors.row))
        for part, chunk in impostors.pieces(0, impostors.n_chunks):
            sums.add(part, chunk)
        square = sums.squares()[0]
        couples = (members.listed > 0).astype(float)
        in_group = np.eye(len(sums.cross))[members.group]
        people_pairs = _both_orders(in_group.T @ (couples @ in_group))
        counts = impostors.counts().sum(0)
        return sums.accepted, square, people_pairs, _by_groups(protocol, counts)
    sides = [slice(0, protocol.n_probes), slice(protocol.offset, None)]
    compared = np.zeros((len(protocol.person), len(protocol.groups) + 1))
    n_kinds, n_people = len(protocol.cell_of), int(protocol.person.max()) + 1
    group_of_kind = np.zeros(n_kinds, int)
    group_of_kind[protocol.kind] = protocol.group
    others = [(0, 1)] if protocol.symmetric else [(0, 1), (1, 0)]
    for mine, other in others:
        side = sides[other]
        by_person = np.zeros((n_people, n_kinds))
        np.add.at(by_person, (protocol.person[side], protocol.kind[side]), protocol.scale[side])
        rows = sides[mine]
        weight = by_person.sum(0) - by_person[protocol.person[rows]]
        weight = weight * (protocol.cell_of[protocol.kind[rows]] >= 0)
        for kind, group in enumerate(group_of_kind):
            compared[rows, group] += weight[:, kind] * protocol.scale[rows]
    ones = np.ones(len(protocol.person))
    squares = _pairs_of_people(protocol, members, protocol.scale, 2)
    couples = _pairs_of_people(protocol, members, ones, 0)
    many = _pairs_of_people(protocol, members, ones, 1)
    return compared, squares, couples, many


def _by_groups(protocol: Protocol, counts: np.ndarray) -> np.ndarray:
    """Numbers of pairs by cell as a table (group, group), where kinds are groups."""
    known = protocol.cells_of_groups >= 0
    table = np.where(known, counts[np.maximum(protocol.cells_of_groups, 0)], 0)
    outside = len(table) - 1  # all pairs with somebody in no group share one cell
    if outside and known[-1, -1]:
        table[outside, :outside] = table[:outside, outside] = 0
    return table


def _pairs_of_people(protocol: Protocol, members: _Members, scale, power: int) -> np.ndarray:
    """Sums over pairs of two people of the weight of their pairs to a power, (group, group).

    In a tensor that weight is p_k r_l + p_l r_k, of sums over probes and references.
    """
    sides = [slice(0, protocol.n_probes), slice(protocol.offset, None)]
    n_groups, n_people = len(protocol.groups) + 1, int(members.person.max()) + 1
    sums = np.zeros((2, n_people, n_groups))
    for number, side in enumerate(sides):
        np.add.at(sums[number], (protocol.person[side], protocol.group[side]), scale[side])
    probe, reference = sums
    if power == 0:
        probe, reference = (
            (probe + reference > 0).astype(float),
            (probe + reference > 0).astype(float),
        )
    if protocol.symmetric or power == 0:
        return _between(probe ** max(power, 1), probe ** max(power, 1), True)
    if power == 1:
        return _between(probe, reference, False)
    squares = _between(probe**2, reference**2, False)
    return squares + 2 * _between(probe * reference, probe * reference, True)


def _between(probe: np.ndarray, reference: np.ndarray, once: bool) -> np.ndarray:
    """Sums over pairs of two people of products, (group, group) without order.

    once: both arrays are one, and (k, l) and (l, k) the same pair.
    """
    total = np.outer(probe.sum(0), reference.sum(0)) - probe.T @ reference
    if once:
        np.fill_diagonal(total, np.diag(total) / 2)
        return total
    both = total + total.T
    np.fill_diagonal(both, np.diag(total))
    return both


# --- genuine pairs -------------------------------------------------------------------------------


def _genuine(genuine: GenuinePairs) -> dict[str, np.ndarray]:
    """Weight and number of the genuine pairs of each entry."""
    n_entries, own = len(genuine.protocol.person), np.flatnonzero(~genuine.copy)
    weight, one = genuine.factor[own], np.ones(len(own))
    both = genuine.row[own], genuine.col[own]
    return {
        "genuine": sum(np.bincount(side, weight, n_entries) for side in both),
        "genuine_pairs": sum(np.bincount(side, one, n_entries) for side in both),
    }


def _rejected(genuine: GenuinePairs, thresholds: np.ndarray) -> np.ndarray:
    """Weight of the rejected genuine pairs of each entry, (point, entry)."""
    n_entries, n_points = len(genuine.protocol.person), len(thresholds)
    own = np.flatnonzero(~genuine.copy)
    rising = np.argsort(thresholds)
    # each pair under the lowest threshold that rejects it, then a running sum
    first = np.searchsorted(thresholds[rising], genuine.score[own], side="left")
    sums = np.zeros(((n_points + 1) * n_entries,))
    for side in (genuine.row, genuine.col):
        sums += np.bincount(first * n_entries + side[own], genuine.factor[own], len(sums))
    running = np.cumsum(sums.reshape(n_points + 1, n_entries)[:-1], axis=0)
    out = np.empty_like(running)
    out[rising] = running
    out[np.isnan(thresholds)] = 0
    return out


# --- AUC and the curve ---------------------------------------------------------------------------


def _of_auc(tally: Tally, curve: int) -> tuple:
    """What entries add to 1 - AUC of one curve: accepted, square, cross, rejected, and 1 - AUC.

    An impostor pair counts the share of genuine weight below it, a genuine pair the share of
    impostor weight above it, half within one chunk.
    """
    impostors, genuine = tally.impostors, tally.genuine
    lower = curves(tally.rejected[:, :, :1], tally.n_groups, 1)[:, curve, 0]
    below = ratio((lower[:-1] + lower[1:]) / 2, lower[-1])  # (chunk,)
    higher = curves(tally.above[:, :, :1], tally.n_groups, 1)[:, curve, 0]
    above = ratio((higher[:-1] + higher[1:]) / 2, higher[0])
    members = _weights_of_people(impostors.protocol, impostors)
    sums = _Sums(impostors, members, len(impostors.row))
    for part, chunk in impostors.pieces(0, impostors.n_chunks):
        pairs = np.arange(part.start, part.stop)
        if curve < tally.n_groups:
            own = impostors.protocol.cells(impostors.row[part], impostors.col[part]) == curve
            pairs, chunk = pairs[own], chunk[own]
        sums.add(pairs, chunk, below[chunk])
    own = ~genuine.copy & ((genuine.group == curve) | (curve == tally.n_groups))
    share = above[impostors.chunk_of(genuine.score[own])] * genuine.factor[own]
    n_entries = len(impostors.protocol.person)
    rejected = sum(np.bincount(side[own], share, n_entries) for side in (genuine.row, genuine.col))
    total = ratio(share.sum(), genuine.factor[own].sum())
    return sums.accepted.astype(np.float32), *sums.squares(), rejected, float(total)


def _curve(tally: Tally) -> dict[str, np.ndarray]:
    """The data's own curve from the highest threshold down: FAR by pair of groups, and FRR."""
    totals = tally.totals[:, 0]
    smallest = 1 / max(float(tally.impostors.counts().sum()), 2)
    far = np.geomspace(smallest, 0.999, PLACES)
    thresholds = np.unique(thresholds_at(tally, far, tally.n_groups, 1)[0])[::-1]
    accepted, rejected = (errors[0] for errors in errors_at(tally, thresholds[None]))
    by_cell = np.nan_to_num(ratio(accepted, totals))
    cells = tally.impostors.protocol.cells_of_groups
    lost = curves(rejected, tally.n_groups, 1)
    whole = curves(tally.genuine_totals[:, 0], tally.n_groups, 0)
    return {
        "curve_threshold": thresholds,
        "curve_far": np.where(cells >= 0, by_cell[:, np.maximum(cells, 0)], 0.0),
        "curve_far_all": accepted.sum(1) / totals.sum(),
        "curve_frr": np.nan_to_num(ratio(lost, whole)),
    }
