"""What was compared: the weight of all pairs, whatever their scores.

In a complete design it follows from sums over images, without a look at any pair; in a list it is
the sum over its pairs.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from frkit.engine.protocol import Protocol

FEW_KINDS = 50  # with more kinds, tables of people and kinds are sparse


def impostor_totals(protocol: Protocol, failed_images, failed_row, failed_col):
    """Weight of all impostor pairs of a complete design, (cell, column), that did not fail.

    failed_images : (row,) whether all comparisons of the image failed.
    """
    kinds = protocol.cells_of_kinds
    failed_cell = protocol.cells(failed_row, failed_col)
    counted = failed_cell >= 0
    failed_cell, row, col = failed_cell[counted], failed_row[counted], failed_col[counted]
    failed_weight = protocol.impostor_weights(row, col)
    scales = [np.where(failed_images, 0, scale) for scale in protocol.scales]
    twice = 2 if protocol.symmetric else 1  # each pair, in either order
    totals = np.zeros((protocol.n_cells, protocol.n_columns))
    n_people = int(protocol.person.max()) + 1
    place = protocol.person.astype(np.int64) * len(kinds) + protocol.kind

    def table(weight):
        """Sums of a weight of rows, (person, kind); most are empty where there are many kinds."""
        if len(kinds) > FEW_KINDS:
            return _by_person(protocol, weight)
        return np.bincount(place, weight, n_people * len(kinds)).reshape(-1, len(kinds))

    for column, counts in enumerate(np.ascontiguousarray(protocol.counts.T)):
        probe, reference = (table(scale * counts) for scale in scales)
        pairs = _pairs_of_two_people(probe, reference)
        totals_of_cells = (
            np.bincount(kinds[kinds >= 0], pairs[kinds >= 0], protocol.n_cells) / twice
        )
        lost = failed_weight * counts[row] * counts[col]
        left = totals_of_cells - np.bincount(failed_cell, lost, protocol.n_cells)
        # where all failed, rounding is left
        totals[:, column] = np.where(left > 1e-12 * totals_of_cells, left, 0)
    return totals


def _by_person(protocol: Protocol, weight):
    """Sums of a weight of rows, (person, kind)."""
    shape = int(protocol.person.max()) + 1, len(protocol.cells_of_kinds)
    return sparse.csr_array((weight, (protocol.person, protocol.kind)), shape)


def _pairs_of_two_people(probe, reference):
    """Sums over ordered pairs of two people of the products of two tables: (kind, kind)."""
    pairs_of_one_person = probe.T @ reference
    if sparse.issparse(pairs_of_one_person):
        pairs_of_one_person = pairs_of_one_person.toarray()
    return np.outer(probe.sum(0), reference.sum(0)) - pairs_of_one_person


# --- by people -----------------------------------------------------------------------------------


class Compared(NamedTuple):
    """What people were compared in: g and h run over groups, and last "in no group".

    weight : (row, group of the partner) of all impostor pairs. square : (g, h) sums over pairs of
    people of the square of their weight. people_pairs, impostor_pairs : (g, h) how many.
    weight_of_pairs : a function of the members on both sides: the weight of all their pairs.
    """

    weight: np.ndarray
    square: np.ndarray
    people_pairs: np.ndarray
    impostor_pairs: np.ndarray
    weight_of_pairs: Callable[[np.ndarray, np.ndarray], np.ndarray]


def members_of_rows(protocol: Protocol):
    """(row,) the person in a group: its group is the remainder by the number of groups."""
    return protocol.person.astype(np.int64) * (len(protocol.groups) + 1) + protocol.group


def couples(first, second, n_members):
    """A number for every two members, whatever their order."""
    return np.minimum(first, second) * n_members + np.maximum(first, second)


def what_was_compared(tally) -> Compared:
    """The weight of all comparisons by people."""
    if tally.protocol.listed is not None:
        return _compared_in_list(tally.protocol, tally.impostors)
    return _compared_in_complete_design(tally.protocol)


def _compared_in_list(protocol: Protocol, impostors) -> Compared:
    """What was compared in the pairs of a list."""
    n_groups = len(protocol.groups) + 1
    row, col, weight = impostors.row, impostors.col, impostors.weight
    n_places = len(protocol.group) * n_groups
    compared = np.zeros(n_places)
    for image, partner in ((row, col), (col, row)):
        place = image.astype(int) * n_groups + protocol.group[partner]
        compared += np.bincount(place, weight, n_places)
    member = members_of_rows(protocol)
    n_members = int(member.max()) + 1
    numbers, couple = np.unique(couples(member[row], member[col], n_members), return_inverse=True)
    together = np.bincount(couple, weight)
    low, high = np.divmod(numbers, n_members)
    cell_of_groups = low % n_groups * n_groups + high % n_groups
    square = np.bincount(cell_of_groups, together**2, n_groups**2)
    people = np.bincount(cell_of_groups, minlength=n_groups**2).astype(float)
    n_pairs = np.bincount(impostors.cell, minlength=protocol.n_cells)
    cells = protocol.cells_of_groups
    pairs = np.where(cells >= 0, n_pairs[cells], 0)
    if n_groups > 1 and cells[-1, -1] >= 0:
        pairs[-1, :-1] = 0  # all pairs with somebody in no group share one cell
        pairs[:-1, -1] = 0

    def weight_of_pairs(first, second):
        return together[np.searchsorted(numbers, couples(first, second, n_members))]

    return Compared(
        weight=compared.reshape(-1, n_groups),
        square=both_orders(square.reshape(n_groups, -1)),
        people_pairs=both_orders(people.reshape(n_groups, -1)),
        impostor_pairs=pairs.astype(float),
        weight_of_pairs=weight_of_pairs,
    )


def _compared_in_complete_design(protocol: Protocol) -> Compared:
    """The same of a complete design, without a look at any pair.

    The weight of the pairs of two people is p_k r_l + p_l r_k, of sums over probes and references.
    """
    n_groups = len(protocol.groups) + 1
    allowed = (protocol.cells_of_kinds >= 0).astype(float)
    group_of_kind = np.zeros((len(allowed), n_groups))
    group_of_kind[protocol.kind, protocol.group] = 1
    twice = 2 if protocol.symmetric else 1  # each image is a probe and a reference of its pairs

    def pairs_of_groups(first, second):
        """Sums of a_k b_l + a_l b_k over couples of people, by groups of k and l."""
        sums = _pairs_of_two_people(first, second) * allowed
        return both_orders(group_of_kind.T @ sums @ group_of_kind)

    compared = np.zeros((len(protocol.group), n_groups))
    tables = [_by_person(protocol, scale) for scale in protocol.scales]
    for scale, partners in zip(protocol.scales, tables[::-1]):
        partners_of_others = partners.sum(0) - partners[protocol.person].toarray()
        partners_of_others *= allowed[protocol.kind] * scale[:, None] / twice
        compared += partners_of_others @ group_of_kind
    probe, reference = tables[0], tables[1] / twice
    sides = protocol.images.probe, protocol.images.reference
    n_probe, n_reference = (_by_person(protocol, side.astype(float)) for side in sides)
    as_probe, as_reference = n_probe.sign(), n_reference.sign()
    as_both = as_probe.multiply(as_reference)
    both = probe.multiply(reference)
    pairs_of_probes, pairs_of_references = (
        (side @ group_of_kind).ravel() for side in (probe, reference)
    )

    def weight_of_pairs(first, second):
        return (
            pairs_of_probes[first] * pairs_of_references[second]
            + pairs_of_probes[second] * pairs_of_references[first]
        )

    return Compared(
        weight=compared,
        square=pairs_of_groups(probe.power(2), reference.power(2)) + pairs_of_groups(both, both),
        people_pairs=pairs_of_groups(as_probe, as_reference)
        - pairs_of_groups(as_both, as_both / 2),
        impostor_pairs=pairs_of_groups(n_probe, n_reference / twice),
        weight_of_pairs=weight_of_pairs,
    )


def both_orders(sums):
    """Sums over couples (g, h) in either order as a symmetric table, (..., group, group)."""
    within_groups = sums * np.eye(sums.shape[-1])
    return sums + np.swapaxes(sums, -1, -2) - within_groups
