"""What was compared: the weight of all pairs, whatever their scores.

In a complete design it follows from sums over images, without a look at any pair; in a list it is
the sum over its pairs. A *member* is a person in a group (or kind): a person whose images have
several labels is several members.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from frkit.engine.protocol import Protocol

COLUMNS = 32  # whose counts are converted to full precision at once


class Members(NamedTuple):
    """Members of a protocol.

    of_row : (row,) the member of each row. person, label : (member,) codes.
    """

    of_row: np.ndarray
    person: np.ndarray
    label: np.ndarray

    def sums(self, weight):
        """Sums of a weight, (row, column), over the rows of each member: (member, column)."""
        rows = np.arange(len(self.of_row))
        shape = len(self.person), len(rows)
        return sparse.csr_matrix((np.ones(len(rows)), (self.of_row, rows)), shape) @ weight

    def of_one_person(self):
        """All couples of two members of one person, in both orders and with themselves."""
        members = np.arange(len(self.person))
        shape = int(self.person.max()) + 1, len(members)
        in_person = sparse.csr_matrix((np.ones(len(members)), (self.person, members)), shape)
        return (in_person.T @ in_person).nonzero()


def members_of(protocol: Protocol, label) -> Members:
    """The members of a protocol by person and label, a code for each row."""
    n_labels = int(label.max()) + 1
    code = protocol.person.astype(np.int64) * n_labels + label
    members, of_row = np.unique(code, return_inverse=True)
    return Members(of_row.astype(np.int32), *np.divmod(members, n_labels))


def impostor_totals(protocol: Protocol, failed_images, failed_row, failed_col):
    """Weight of all impostor pairs of a complete design, (cell, column), that did not fail.

    All pairs of two kinds weigh the product of both sums over rows. Pairs of a person with itself
    are subtracted, and those that failed. failed_images : (row,) of which all comparisons failed.
    """
    members = members_of(protocol, protocol.kind)
    cells = protocol.cells_of_kinds
    g, h = np.nonzero(cells >= 0)
    first, second = members.of_one_person()
    cell_of_couple = cells[members.label[first], members.label[second]]
    first, second = first[cell_of_couple >= 0], second[cell_of_couple >= 0]
    add_kinds = _adder(cells[g, h], protocol.n_cells)
    add_couples = _adder(cell_of_couple[cell_of_couple >= 0], protocol.n_cells)
    of_kind = _adder(members.label, len(cells))
    scales = [np.where(failed_images, 0, scale) for scale in protocol.scales]
    totals = np.zeros((protocol.n_cells, protocol.n_columns))
    for begin in range(0, protocol.n_columns, COLUMNS):
        columns = slice(begin, begin + COLUMNS)
        counts = protocol.counts[:, columns]
        probe, reference = (members.sums(scale[:, None] * counts) for scale in scales)
        all_pairs = (of_kind @ probe)[g] * (of_kind @ reference)[h]
        of_one_person = probe[first] * reference[second]
        totals[:, columns] = add_kinds @ all_pairs - add_couples @ of_one_person
    if protocol.symmetric:
        totals /= 2
    if len(failed_row) == 0:
        return totals
    cell = cells[protocol.kind[failed_row], protocol.kind[failed_col]]
    counted = cell >= 0
    row, col = failed_row[counted], failed_col[counted]
    add_failed = _adder(cell[counted], protocol.n_cells)
    weight = protocol.impostor_weights(row, col)[:, None]
    lost = np.zeros_like(totals)
    for begin in range(0, protocol.n_columns, COLUMNS):
        columns = slice(begin, begin + COLUMNS)
        counts = protocol.counts[:, columns].astype(float)
        lost[:, columns] = add_failed @ (weight * counts[row] * counts[col])
    left = totals - lost
    return np.where(left > 1e-12 * totals, left, 0)  # where all failed, rounding is left


def _adder(place, n_places):
    """A sparse matrix that adds up values at their places."""
    values = np.arange(len(place))
    return sparse.csr_matrix((np.ones(len(place)), (place, values)), (n_places, len(place)))


# --- by people -----------------------------------------------------------------------------------


class Compared(NamedTuple):
    """What people were compared in: g and h run over groups, and last "in no group".

    weight : (row, group of the partner) of all impostor pairs. square : (g, h) sums over pairs of
    people of the square of their weight. people_pairs, impostor_pairs : (g, h) how many.
    of_couples : a function of the members on both sides: the weight of all their pairs.
    """

    weight: np.ndarray
    square: np.ndarray
    people_pairs: np.ndarray
    impostor_pairs: np.ndarray
    of_couples: Callable[[np.ndarray, np.ndarray], np.ndarray]


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
    of_groups = low % n_groups * n_groups + high % n_groups
    square = np.bincount(of_groups, together**2, n_groups**2)
    people = np.bincount(of_groups, minlength=n_groups**2).astype(float)
    n_pairs = np.bincount(impostors.cell, minlength=protocol.n_cells)
    cells = protocol.cells_of_groups
    pairs = np.where(cells >= 0, n_pairs[cells], 0)
    if n_groups > 1 and cells[-1, -1] >= 0:
        pairs[-1, :-1] = 0  # all pairs with somebody in no group share one cell
        pairs[:-1, -1] = 0

    def of_couples(first, second):
        return together[np.searchsorted(numbers, couples(first, second, n_members))]

    return Compared(
        weight=compared.reshape(-1, n_groups),
        square=both_orders(square.reshape(n_groups, -1)),
        people_pairs=both_orders(people.reshape(n_groups, -1)),
        impostor_pairs=pairs.astype(float),
        of_couples=of_couples,
    )


def _compared_in_complete_design(protocol: Protocol) -> Compared:
    """The same of a complete design, without a look at any pair.

    The weight of the pairs of two people is p_k r_l + p_l r_k, of sums over probes and references.
    """
    n_groups = len(protocol.groups) + 1
    allowed = (protocol.cells_of_kinds >= 0).astype(float)
    n_kinds = len(allowed)
    n_people = int(protocol.person.max()) + 1
    images = protocol.images
    tables = []  # of probes and references: (kind, person), sums of weights and numbers of images
    place = protocol.kind.astype(np.int64) * n_people + protocol.person
    for scale, side in zip(protocol.scales, (images.probe, images.reference)):
        sums = [np.bincount(place, values, n_kinds * n_people) for values in (scale, side)]
        tables.append(np.reshape(sums, (2, n_kinds, n_people)))
    group_of_kind = np.zeros((n_kinds, n_groups))
    group_of_kind[protocol.kind, protocol.group] = 1
    compared = np.zeros((len(protocol.group), n_groups))
    for scale, partners in zip(protocol.scales, tables[::-1]):
        of_partners = partners[0]
        weight = of_partners.sum(1) - of_partners[:, protocol.person].T
        weight *= allowed[protocol.kind] * scale[:, None]
        compared += weight @ group_of_kind
    if protocol.symmetric:
        compared /= 2  # each image is a probe and a reference of the same pairs
    of_kinds = np.einsum("sbkp->bspk", np.stack(tables))
    if protocol.symmetric:
        of_kinds[:, 1] /= 2
    (probe, reference), (n_probe, n_reference) = of_kinds
    as_probe = (n_probe > 0).astype(float)
    as_reference = (n_reference > 0).astype(float)
    as_both = as_probe * as_reference

    def of_groups(first, second):
        return _couples(first, second, allowed, group_of_kind)

    def of_couples(first, second):
        return of_probes[first] * of_references[second] + of_probes[second] * of_references[first]

    of_probes, of_references = ((side @ group_of_kind).ravel() for side in (probe, reference))
    squares = of_groups(probe**2, reference**2)
    return Compared(
        weight=compared,
        square=squares + of_groups(probe * reference, probe * reference),
        people_pairs=of_groups(as_probe, as_reference) - of_groups(as_both, as_both / 2),
        impostor_pairs=of_groups(n_probe, n_reference),
        of_couples=of_couples,
    )


def _couples(first, second, allowed, group_of_kind):
    """Sums of a_k b_l + a_l b_k over couples of people, by groups of k and l: (group, group).

    first, second : a and b, (person, kind). allowed : (kind, kind) which are compared.
    """
    of_all = np.outer(first.sum(0), second.sum(0))
    sums = (of_all - first.T @ second) * allowed  # without k = l
    return both_orders(group_of_kind.T @ sums @ group_of_kind)


def both_orders(sums):
    """Sums over couples (g, h) in either order as a symmetric table, (..., group, group)."""
    within_groups = sums * np.eye(sums.shape[-1])
    return sums + np.swapaxes(sums, -1, -2) - within_groups
