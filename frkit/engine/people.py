"""What each entry adds to the data's error rates: the sums that intervals are made of.

An entry is an image under a group label. A point is a threshold, or, for the AUC, every pair. A
member is a person in a group: a person whose images have several labels is several members. The
group of member m is m modulo the number of groups, the last of which means "in no group".
"""

from collections.abc import Callable

import numpy as np
import xarray as xr

from frkit.engine import kernels
from frkit.engine.pairs import Pairs
from frkit.engine.rates import false_acceptance, false_rejection, ratio, thresholds_at
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


def people_sums(tally: Tally, thresholds, rates, auc: bool) -> xr.Dataset:
    """The node `people` of an evaluation.

    thresholds, rates : (point,) of the levels, and of the EER of each group and of all.
    auc : whether points of 1 - AUC of each group and of all follow.
    """
    protocol = tally.protocol
    genuine = tally.genuine
    member = protocol.person * (tally.n_groups + 1) + protocol.group
    compare = _compared_in_tensor if protocol.listed is None else _compared_in_list
    values, *compared = compare(tally, member)
    every_pair = np.ones(tally.impostor_sums.shape[:2])
    accepted = [_accepted_sums(tally, member, *compared, thresholds, every_pair)]
    rejected = [errors_of_entries(genuine, thresholds, np.less_equal)]
    for curve in range(tally.n_groups + 1) if auc else ():
        share_below, lost, rate = _auc_point(tally, curve)
        everything = np.array([-np.inf])
        accepted.append(_accepted_sums(tally, member, *compared, everything, share_below))
        rejected.append(of_entries(genuine, lost)[None])
        rates, thresholds = np.append(rates, rate), np.append(thresholds, np.nan)
    accepted, square, cross = (np.concatenate(points) for points in zip(*accepted))
    two_images = (~genuine.copy).astype(float)
    values |= {
        "accepted": accepted,
        "rejected": np.concatenate(rejected).astype(np.float32),
        "genuine": of_entries(genuine, genuine.weight * two_images),
        "genuine_pairs": of_entries(genuine, two_images),
        "person": protocol.person,
        "image": protocol.image,
        "group": protocol.group,
        "accepted_square": square,
        "accepted_cross": cross,
        "cells": (protocol.cells_of_groups >= 0).astype(int),
        "rate": rates,
        "threshold": thresholds,
        **_curve(tally),
    }
    return xr.Dataset({name: (dims, values[name]) for name, dims in DIMS.items()})


def errors_of_entries(pairs: Pairs, thresholds, errs: Callable):
    """Weight of the pairs of each entry that err, (threshold, entry).

    errs : of scores and a threshold.
    """
    weight = pairs.weight
    errors = []
    if pairs.copy is not None:
        weight = np.where(pairs.copy, 0.0, weight)
    for threshold in thresholds:
        wrong = np.flatnonzero(errs(pairs.score, threshold))
        errors.append(of_entries(pairs, weight, wrong))
    return np.array(errors)


def of_entries(pairs: Pairs, weight, some=slice(None)):
    """Sums of a weight of some pairs over those of each entry."""
    n_entries, weight = len(pairs.row_counts), weight[some]
    first = np.bincount(pairs.row[some], weight, n_entries)
    return first + np.bincount(pairs.col[some], weight, n_entries)


def _accepted_sums(tally: Tally, member, compared, of_pair, thresholds, value):
    """Accepted weight of each entry by group of the partner, and sums over pairs of people.

    Returns (point, entry, group), and squares and products with the compared weight, both
    (point, group, group). The pairs between two neighbouring thresholds are added under the lower
    one, from the highest threshold down.

    member, compared, of_pair, value : as in `kernels.add_people`.
    """
    impostors = tally.impostors
    n_groups = tally.n_groups + 1
    chunk = np.searchsorted(tally.upper, thresholds)
    has_threshold = ~np.isnan(thresholds)
    n_pairs = len(impostors.score)
    if has_threshold.any():
        n_pairs -= impostors.start[chunk[has_threshold].min(), 0]
    n_members = len(np.unique(member))
    most = min(n_pairs, n_members * (n_members + 1) // 2)
    size = 2 ** int(1.4 * most + 2).bit_length()  # of a hash table with free places
    key = np.zeros(size, np.uint64)
    together = np.zeros(size)
    running = np.zeros((len(member), n_groups))
    sums = np.zeros((2, n_groups, n_groups))
    # in float32, because this is the largest table
    accepted = np.zeros((len(thresholds), *running.shape), np.float32)
    of_groups = np.zeros((2, len(thresholds), n_groups, n_groups))
    upper = np.inf
    last = len(tally.upper)
    for point in np.argsort(-thresholds):
        if has_threshold[point]:
            chunks = slice(chunk[point], last)
            kernels.add_people(
                impostors.start[chunks], thresholds[point], upper, value[chunks],
                impostors.stands_for[chunks], impostors.row, impostors.col, impostors.score,
                impostors.weight, member, compared, of_pair, key, together, running, sums,
            )  # fmt: skip
            upper = thresholds[point]
            last = min(chunk[point] + 1, len(tally.upper))
        accepted[point] = running
        of_groups[:, point] = sums
    return accepted, *_both_orders(of_groups)


def _both_orders(sums):
    """Sums over couples (g, h) in either order as a symmetric table, (..., group, group)."""
    within_groups = sums * np.eye(sums.shape[-1])
    return sums + np.swapaxes(sums, -1, -2) - within_groups


def _compared_in_list(tally: Tally, member):
    """Weight of all impostor pairs: by entry and partner's group; squares; numbers of pairs.

    Also `compared` and `of_pair` of `kernels.add_people`.
    """
    protocol = tally.protocol
    impostors = tally.impostors
    n_groups = tally.n_groups + 1
    weight = impostors.weight
    compared = np.zeros(len(member) * n_groups)
    for entry, partner in ((impostors.row, impostors.col), (impostors.col, impostors.row)):
        place = entry.astype(int) * n_groups + protocol.group[partner]
        compared += np.bincount(place, weight, len(compared))
    members = member[impostors.row], member[impostors.col]
    low, high = np.sort(members, axis=0)
    n_members = int(member.max()) + 1
    couples, couple = np.unique(low * n_members + high, return_inverse=True)
    together = np.bincount(couple, weight)
    low, high = np.divmod(couples, n_members)
    of_groups = low % n_groups * n_groups + high % n_groups
    square = np.bincount(of_groups, together**2, n_groups**2)
    people = np.bincount(of_groups, minlength=n_groups**2).astype(float)
    numbers = impostors.numbers().sum(0)
    cells = protocol.cells_of_groups
    pairs = np.where(cells >= 0, numbers[cells], 0)
    if n_groups > 1 and cells[-1, -1] >= 0:
        pairs[-1, :-1] = 0  # all pairs with somebody in no group share one cell
        pairs[:-1, -1] = 0
    values = {
        "compared": compared.reshape(-1, n_groups),
        "compared_square": _both_orders(square.reshape(n_groups, -1)),
        "people_pairs": _both_orders(people.reshape(n_groups, -1)),
        "impostor_pairs": pairs,
    }
    return values, np.zeros((2, n_members)), together[couple]


def _compared_in_tensor(tally: Tally, member):
    """The same of a tensor, without a look at any pair."""
    protocol = tally.protocol
    sides = (tally.protocol.rows, tally.protocol.cols)
    allowed = protocol.cells_of_kinds >= 0
    group_of_kind = np.zeros((len(allowed), tally.n_groups + 1))
    group_of_kind[protocol.kind, protocol.group] = 1
    both = np.column_stack([protocol.scale, np.ones(len(member))])  # weights, and numbers
    tables = [protocol.by_person(side, both) for side in sides]  # (kind, person, both)
    compared = np.zeros((len(member), tally.n_groups + 1))
    for entries, partners in zip(sides, tables[::-1]):
        of_partners = partners[:, :, 0]
        weight = of_partners.sum(1) - of_partners[:, protocol.person[entries]].T
        weight *= allowed[protocol.kind[entries]] * protocol.scale[entries, None]
        compared[entries] = weight @ group_of_kind

    # the weight of the pairs of two people is p_k r_l + p_l r_k, of sums over probes and references
    of_groups = np.einsum("skpb,kg->bspg", tables, group_of_kind)
    if protocol.symmetric:
        of_groups[:, 1] /= 2
    (probe, reference), (n_probe, n_reference) = of_groups
    as_probe = (n_probe > 0).astype(float)
    as_reference = (n_reference > 0).astype(float)
    as_both = as_probe * as_reference
    squares = _couples(probe**2, reference**2)
    values = {
        "compared": compared,
        "compared_square": squares + _couples(probe * reference, probe * reference),
        "people_pairs": _couples(as_probe, as_reference) - _couples(as_both, as_both / 2),
        "impostor_pairs": _couples(n_probe, n_reference),
    }
    of_members = np.stack([probe.ravel(), reference.ravel()])
    return values, of_members, np.empty(0)


def _couples(first, second):
    """Sums of a_k b_l + a_l b_k over couples of people, by groups of k and l: (group, group).

    first, second : a and b, (person, group).
    """
    of_all = np.outer(first.sum(0), second.sum(0))
    sums = of_all - first.T @ second  # without k = l
    return _both_orders(sums)


def _auc_point(tally: Tally, curve):
    """What pairs add to 1 - AUC of one curve, and 1 - AUC.

    An impostor pair counts the share of genuine weight below it, (chunk, cell), a genuine pair the
    share of impostor weight above it, (pair,), half within one chunk.
    """
    genuine = tally.genuine
    n_groups = tally.n_groups
    cells = slice(curve, curve + 1) if curve < n_groups else slice(None)
    lower = tally.rejected[:, cells, 0].sum(1)  # (chunk + 1,) genuine weight
    higher = tally.accepted[:, cells, 0].sum(1)
    below = (lower[:-1] + lower[1:]) / 2
    below = ratio(below, lower[-1])
    above = (higher[:-1] + higher[1:]) / 2
    above = ratio(above, higher[0])
    share_below = np.zeros(tally.impostor_sums.shape[:2])
    share_below[:, cells] = below[:, None]
    chunk, cell = genuine.chunks_and_cells()
    counts = ~genuine.copy & ((cell == curve) | (curve == n_groups))
    weight = np.where(counts, genuine.weight, 0)
    lost = np.where(counts, above[chunk] * genuine.weight, 0)
    return share_below, lost, float(ratio(lost.sum(), weight.sum()))


def _curve(tally: Tally):
    """The data's own curve from the highest threshold down: FAR by pair of groups, and FRR."""
    smallest = 1 / max(float(tally.impostors.numbers().sum()), 2)
    far = np.geomspace(smallest, 0.999, PLACES)
    thresholds = np.unique(thresholds_at(tally, far, tally.n_groups, 1))[::-1]
    far_of_cells, far = false_acceptance(tally, thresholds[None])
    frr_of_groups, frr = false_rejection(tally, thresholds[None])
    cells = tally.protocol.cells_of_groups
    far_of_groups = np.nan_to_num(far_of_cells[0][:, cells])
    of_groups = frr_of_groups[0][:, :-1]
    frr_of_curves = np.column_stack([of_groups, frr[0]])
    return {
        "curve_threshold": thresholds,
        "curve_far": np.where(cells >= 0, far_of_groups, 0.0),
        "curve_far_all": far[0],
        "curve_frr": np.nan_to_num(frr_of_curves),
    }
