"""What each entry adds to the data's error rates: the sums that intervals are made of.

An entry is an image under a group label. A point is a threshold, or, for the AUC, every pair. A
member is a person in a group: a person whose images have several labels is several members.
"""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from frkit.engine import kernels
from frkit.engine.pairs import PIECE
from frkit.engine.rates import curves, false_acceptance, false_rejection, ratio, thresholds_at
from frkit.engine.tally import Tally

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

    thresholds, rates : (point,) of the levels, and of the EER of each group and of all.
    auc : whether points of 1 - AUC of each group and of all follow.
    """
    protocol, genuine = tally.protocol, tally.genuine
    members = members_of(tally)
    # in float32, because this is the largest table
    accepted, square, cross = accepted_sums(tally, members, thresholds, np.float32)
    rejected = rejected_sums(tally, thresholds)
    if auc:
        points = [_auc_point(tally, members, curve) for curve in range(tally.n_groups + 1)]
        of_auc = [np.stack(column) for column in zip(*points)]
        accepted = np.concatenate([accepted, of_auc[0]])
        square = np.concatenate([square, of_auc[1]])
        cross = np.concatenate([cross, of_auc[2]])
        rejected = np.concatenate([rejected, of_auc[3]])
        rates = np.append(rates, of_auc[4])
        thresholds = np.append(thresholds, np.full(len(points), np.nan))
    compare = _compared_in_list if protocol.listed is not None else _compared_in_tensor
    two_images = (~genuine.copy).astype(float)
    values = {
        "accepted": accepted,
        "rejected": rejected.astype(np.float32),
        "genuine": _of_entries(tally, genuine.factor * two_images),
        "genuine_pairs": _of_entries(tally, two_images),
        "person": protocol.person,
        "image": protocol.image,
        "group": protocol.group,
        "accepted_square": square,
        "accepted_cross": cross,
        "cells": (protocol.cells_of_groups >= 0).astype(int),
        "rate": rates,
        "threshold": thresholds,
        **compare(tally, members),
        **_curve(tally),
    }
    return xr.Dataset({name: (dims, values[name]) for name, dims in DIMS.items()})


def errors_of_entries(tally: Tally, thresholds: np.ndarray) -> tuple:
    """Accepted and rejected weight of each entry, (threshold, entry), and its genuine weight."""
    accepted = accepted_sums(tally, members_of(tally), thresholds)[0].sum(2)
    genuine = _of_entries(tally, np.where(tally.genuine.copy, 0, tally.genuine.factor))
    return accepted, rejected_sums(tally, thresholds), genuine


def _of_entries(tally: Tally, weight: np.ndarray) -> np.ndarray:
    """Sums of a weight of the genuine pairs over those of each entry."""
    n_entries, genuine = len(tally.protocol.person), tally.genuine
    first = np.bincount(genuine.row, weight, n_entries)
    return first + np.bincount(genuine.col, weight, n_entries)


# --- impostors -----------------------------------------------------------------------------------


@dataclass(eq=False)
class Members:
    """The members, and the weight of all pairs of two of them.

    Attributes
    ----------
    of_entry : (entry,) its member.
    group : (member,).
    probe, reference : (member,) sums over the entries of a tensor's rows and columns: two members
        k, l have the weight probe_k reference_l + probe_l reference_k. (A symmetric tensor has half
        of each sum as reference.)
    of_pair : (pair,) that weight for the two members of each impostor pair of a list.
    couples : of a list, the members of every couple that was compared, and its weight.
    """

    of_entry: np.ndarray
    group: np.ndarray
    probe: np.ndarray | None = None
    reference: np.ndarray | None = None
    of_pair: np.ndarray | None = None
    couples: tuple | None = None


def members_of(tally: Tally) -> Members:
    """The members of a protocol."""
    protocol, impostors = tally.protocol, tally.impostors
    n_groups = len(protocol.groups) + 1
    codes, of_entry = np.unique(protocol.person * n_groups + protocol.group, return_inverse=True)
    n_members, group = len(codes), codes % n_groups
    if protocol.listed is None:
        rows, cols = protocol.rows, protocol.cols
        probe = np.bincount(of_entry[rows], protocol.scale[rows], n_members)
        reference = np.bincount(of_entry[cols], protocol.scale[cols], n_members)
        if protocol.symmetric:
            reference = reference / 2
        return Members(of_entry, group, probe, reference)
    one, other = of_entry[impostors.row], of_entry[impostors.col]
    low, high = np.minimum(one, other), np.maximum(one, other)
    couple, place = np.unique(low * n_members + high, return_inverse=True)
    weight = np.bincount(place, impostors.data_weights(slice(None)))
    couples = couple // n_members, couple % n_members, weight
    return Members(of_entry, group, of_pair=weight[place], couples=couples)


def accepted_sums(tally: Tally, members: Members, thresholds: np.ndarray, dtype=float) -> tuple:
    """Accepted weight of each entry by group of the partner, and sums over pairs of people.

    Returns (point, entry, group), and squares and products with the compared weight, both
    (point, group, group). The pairs between two neighbouring thresholds are added under the lower
    one, from the highest threshold down.
    """
    n_points, n_groups = len(thresholds), len(tally.protocol.groups) + 1
    accepted = np.zeros((n_points, len(tally.protocol.person), n_groups), dtype)
    of_groups = np.zeros((2, n_points, n_groups, n_groups))
    chunk = np.searchsorted(tally.upper, thresholds)
    start = tally.impostors.start[:: tally.impostors.n_cells]
    known = ~np.isnan(thresholds)
    lowest = chunk[known].min(initial=len(tally.upper))
    sums = RunningSums(tally, members, int(start[-1] - start[lowest]))
    upper, last = np.inf, len(tally.upper)
    for point in np.argsort(-thresholds):
        if known[point]:
            lower = thresholds[point]
            for begin in range(start[chunk[point]], start[last], PIECE):
                pairs = np.arange(begin, min(begin + PIECE, start[last]))
                score = tally.impostors.score[pairs[0] : pairs[-1] + 1]
                sums.add(pairs[(score > lower) & (score <= upper)])
            upper, last = lower, min(chunk[point] + 1, len(tally.upper))
        accepted[point] = sums.accepted
        of_groups[:, point] = sums.sums
    return accepted, *_both_orders(of_groups)


class RunningSums:
    """Running sums over impostor pairs: by entry and partner's group, and by pair of people.

    n_pairs : how many will be added at most.
    """

    def __init__(self, tally: Tally, members: Members, n_pairs: int) -> None:
        self.tally, self.members = tally, members
        n_groups, n_members = len(tally.protocol.groups) + 1, len(members.group)
        self.accepted = np.zeros((len(tally.protocol.person), n_groups))
        self.sums = np.zeros((2, n_groups, n_groups))
        most = min(n_pairs, n_members * (n_members + 1) // 2)
        size = 2 ** int(1.4 * most + 2).bit_length()  # of a hash table with free places
        self.key, self.together = np.zeros(size, np.uint64), np.zeros(size)

    def add(self, pairs: np.ndarray, value: np.ndarray | float = 1.0) -> None:
        """Add some pairs, each with its weight, times a value."""
        impostors, members = self.tally.impostors, self.members
        row, col = impostors.row[pairs], impostors.col[pairs]
        chunk = np.searchsorted(impostors.start, pairs, "right") - 1
        copies = impostors.stands_for[chunk // impostors.n_cells]
        weight = impostors.data_weights(pairs) * copies * value
        if members.of_pair is not None:
            compared = members.of_pair[pairs]
        else:
            one, other = members.of_entry[row], members.of_entry[col]
            probe, reference = members.probe, members.reference
            compared = probe[one] * reference[other] + probe[other] * reference[one]
        kernels.add_people(
            row, col, weight, compared, copies, members.of_entry, members.group,
            self.key, self.together, self.accepted, self.sums,
        )  # fmt: skip


def _both_orders(sums: np.ndarray) -> np.ndarray:
    """Sums over couples (g, h) in either order as a symmetric table, (..., group, group)."""
    return sums + np.swapaxes(sums, -1, -2) - sums * np.eye(sums.shape[-1])


def _compared_in_list(tally: Tally, members: Members) -> dict[str, np.ndarray]:
    """Weight of all impostor pairs: by entry and partner's group; squares; numbers of pairs."""
    protocol, impostors = tally.protocol, tally.impostors
    n_entries, n_groups = len(protocol.person), len(protocol.groups) + 1
    weight, compared = impostors.data_weights(slice(None)), 0
    for entry, partner in ((impostors.row, impostors.col), (impostors.col, impostors.row)):
        place = entry.astype(int) * n_groups + protocol.group[partner]
        compared = compared + np.bincount(place, weight, n_entries * n_groups)
    one, other, weight = members.couples
    couple = members.group[one] * n_groups + members.group[other]
    square = np.bincount(couple, weight**2, n_groups**2).reshape(n_groups, -1)
    people = np.bincount(couple, minlength=n_groups**2).reshape(n_groups, -1).astype(float)
    numbers = impostors.numbers().sum(0)
    pairs = np.where(protocol.cells_of_groups >= 0, numbers[protocol.cells_of_groups], 0)
    if n_groups > 1 and protocol.cells_of_groups[-1, -1] >= 0:
        pairs[-1, :-1] = pairs[:-1, -1] = 0  # all pairs with somebody in no group share one cell
    return {
        "compared": compared.reshape(n_entries, n_groups),
        "compared_square": _both_orders(square),
        "people_pairs": _both_orders(people),
        "impostor_pairs": pairs,
    }


def _compared_in_tensor(tally: Tally, members: Members) -> dict[str, np.ndarray]:
    """The same of a tensor, without a look at any pair."""
    protocol = tally.protocol
    rows, cols = protocol.rows, protocol.cols
    n_kinds, n_people = len(protocol.cells_of_kinds), int(protocol.person.max()) + 1
    group_of_kind = np.zeros(n_kinds, int)
    group_of_kind[protocol.kind] = protocol.group
    compared = np.zeros((len(protocol.person), len(protocol.groups) + 1))
    for entries, partners in [(rows, cols)] if protocol.symmetric else [(rows, cols), (cols, rows)]:
        by_person = np.zeros((n_people, n_kinds))
        place = protocol.person[partners], protocol.kind[partners]
        np.add.at(by_person, place, protocol.scale[partners])
        weight = by_person.sum(0) - by_person[protocol.person[entries]]
        weight *= protocol.cells_of_kinds[protocol.kind[entries]] >= 0
        weight *= protocol.scale[entries, None]
        np.add.at(compared[entries].T, group_of_kind, weight.T)

    # the weight of the pairs of two people is p_k r_l + p_l r_k, of sums over probes and references
    probe, reference = (np.zeros((n_people, len(protocol.groups) + 1)) for _ in range(2))
    n_probe, n_reference = np.zeros_like(probe), np.zeros_like(probe)
    np.add.at(probe, (protocol.person[rows], protocol.group[rows]), protocol.scale[rows])
    np.add.at(reference, (protocol.person[cols], protocol.group[cols]), protocol.scale[cols])
    np.add.at(n_probe, (protocol.person[rows], protocol.group[rows]), 1)
    np.add.at(n_reference, (protocol.person[cols], protocol.group[cols]), 1)
    if protocol.symmetric:
        reference, n_reference = reference / 2, n_reference / 2
    there = (n_probe + n_reference > 0).astype(float)
    squares = _couples(probe**2, reference**2)
    return {
        "compared": compared,
        "compared_square": squares + _couples(probe * reference, probe * reference),
        "people_pairs": _couples(there, there / 2),
        "impostor_pairs": _couples(n_probe, n_reference),
    }


def _couples(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Sums of a_k b_l + a_l b_k over couples of people, by groups of k and l: (group, group).

    first, second : a and b, (person, group).
    """
    sums = np.outer(first.sum(0), second.sum(0)) - first.T @ second  # without k = l
    both = sums + sums.T
    np.fill_diagonal(both, np.diag(sums))  # within a group (k, l) and (l, k) are one couple
    return both


# --- genuine pairs -------------------------------------------------------------------------------


def rejected_sums(tally: Tally, thresholds: np.ndarray) -> np.ndarray:
    """Weight of the rejected genuine pairs of each entry, (point, entry)."""
    genuine, n_points, n_entries = tally.genuine, len(thresholds), len(tally.protocol.person)
    weight = np.where(genuine.copy, 0.0, genuine.factor)
    rising = np.argsort(thresholds)
    # each pair under the lowest threshold that rejects it, then a running sum
    first = np.searchsorted(thresholds[rising], genuine.score)
    sums = np.zeros((n_points + 1) * n_entries)
    for side in (genuine.row, genuine.col):
        sums += np.bincount(first * n_entries + side, weight, len(sums))
    rejected = np.empty((n_points, n_entries))
    rejected[rising] = np.cumsum(sums.reshape(n_points + 1, -1)[:-1], axis=0)
    rejected[np.isnan(thresholds)] = 0
    return rejected


# --- AUC and the curve ---------------------------------------------------------------------------


def _auc_point(tally: Tally, members: Members, curve: int) -> tuple:
    """What entries add to 1 - AUC of one curve: accepted, square, cross, rejected, and 1 - AUC.

    An impostor pair counts the share of genuine weight below it, a genuine pair the share of
    impostor weight above it, half within one chunk.
    """
    impostors, genuine, n_groups = tally.impostors, tally.genuine, tally.n_groups
    lower = curves(tally.rejected[:, :, :1], n_groups, 1)[:, curve, 0]
    below = ratio((lower[:-1] + lower[1:]) / 2, lower[-1])  # (chunk,)
    higher = curves(tally.accepted[:, :, :1], n_groups, 1)[:, curve, 0]
    above = ratio((higher[:-1] + higher[1:]) / 2, higher[0])
    sums = RunningSums(tally, members, len(impostors.row))
    for begin in range(0, len(impostors.row), PIECE):
        pairs = np.arange(begin, min(begin + PIECE, len(impostors.row)))
        slot = np.searchsorted(impostors.start, pairs, "right") - 1
        if curve < n_groups:
            in_group = slot % impostors.n_cells == curve
            pairs, slot = pairs[in_group], slot[in_group]
        sums.add(pairs, below[slot // impostors.n_cells])
    slot = genuine.slots()
    counts = ~genuine.copy & ((slot % genuine.n_cells == curve) | (curve == n_groups))
    weight = np.where(counts, genuine.factor, 0)
    lost = np.where(counts, above[slot // genuine.n_cells] * genuine.factor, 0)
    total = float(ratio(lost.sum(), weight.sum()))
    square, cross = _both_orders(sums.sums)
    return sums.accepted.astype(np.float32), square, cross, _of_entries(tally, lost), total


def _curve(tally: Tally) -> dict[str, np.ndarray]:
    """The data's own curve from the highest threshold down: FAR by pair of groups, and FRR."""
    smallest = 1 / max(float(tally.impostors.numbers().sum()), 2)
    far = np.geomspace(smallest, 0.999, PLACES)
    thresholds = np.unique(thresholds_at(tally, far, tally.n_groups, 1))[::-1]
    far_of_cells, far = false_acceptance(tally, thresholds[None])
    frr_of_groups, frr = false_rejection(tally, thresholds[None])
    cells = tally.protocol.cells_of_groups
    far_of_groups = np.nan_to_num(far_of_cells[0][:, cells])
    frr_of_curves = np.column_stack([frr_of_groups[0][:, :-1], frr[0]])
    return {
        "curve_threshold": thresholds,
        "curve_far": np.where(cells >= 0, far_of_groups, 0.0),
        "curve_far_all": far[0],
        "curve_frr": np.nan_to_num(frr_of_curves),
    }
