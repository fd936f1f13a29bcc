"""What was compared: the weight of all pairs, whatever their scores.

In a complete design it follows from sums over images, without a look at any pair; in a list it is
the sum over its pairs.
"""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from frkit.engine.protocol import Protocol

FEW_KINDS = 50  # with more kinds, tables of people and kinds are sparse
PAIRS_AT_ONCE = 1_000_000  # of people
ROUNDED = 1e-12  # what is left of a sum from which all was subtracted


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


class Parts(NamedTuple):
    """The pairs of images of two people, in parts: those between two groups are a part.

    number : (part,) the number of the two people times `n_cells`, plus that of the two groups;
    rising. weight : (part,) of all pairs of the part.
    """

    number: np.ndarray
    weight: np.ndarray


class Compared(NamedTuple):
    """What people were compared in: g and h run over groups, and last "in no group".

    weight : (row, group of the partner) of all impostor pairs. impostor_pairs : (g, h) how many.
    square, square_all : (g, h) sums over pairs of people, of the square of the weight of their
    pairs between g and h, and of its product with the weight of all their pairs. people_pairs :
    (g, h) how many pairs of people; people_pairs_all : between any groups. parts : a function of
    the numbers of some pairs of people, rising: the parts of all their pairs (or of more people).
    """

    weight: np.ndarray
    impostor_pairs: np.ndarray
    square: np.ndarray
    square_all: np.ndarray
    people_pairs: np.ndarray
    people_pairs_all: float
    parts: Callable[[np.ndarray], Parts]


def couples(first, second, n):
    """A number for every two of n people (or groups), whatever their order."""
    return np.minimum(first, second).astype(np.int64) * n + np.maximum(first, second)


def what_was_compared(tally) -> Compared:
    """The weight of all comparisons that did not fail, by people."""
    if tally.protocol.listed is not None:
        return _compared_in_list(tally.protocol, tally.impostors)
    return _compared_in_complete_design(tally)


def parts_of_pairs(protocol: Protocol, row, col, weight) -> Parts:
    """The parts to which pairs of images belong; their weight is that of these pairs."""
    person = protocol.person
    couple = couples(person[row], person[col], int(person.max()) + 1)
    return _parts(protocol, couple, protocol.group[row], protocol.group[col], weight)


def numbers_of_parts(protocol: Protocol, couple, group, other):
    """The numbers of parts, of the numbers of two people and of two groups."""
    n_groups = len(protocol.groups) + 1
    return couple * n_groups**2 + couples(group, other, n_groups)


def _parts(protocol: Protocol, couple, group, other, weight) -> Parts:
    number = numbers_of_parts(protocol, couple, group, other)
    number, part = np.unique(number, return_inverse=True)
    return Parts(number, np.bincount(part, weight, len(number)).astype(float))  # none: integers


def _sums_over_people(protocol: Protocol, parts: Parts) -> dict:
    """Sums over pairs of people, by groups, from all their parts."""
    n_groups = len(protocol.groups) + 1
    couple, cell = np.divmod(parts.number, n_groups**2)
    is_compared = parts.weight > 0
    _, couple = np.unique(couple, return_inverse=True)
    weight_of_couple = np.bincount(couple, parts.weight)

    def by_groups(values):
        sums = np.bincount(cell, values, n_groups**2)
        return both_orders(sums.reshape(n_groups, -1))

    return {
        "square": by_groups(parts.weight**2),
        "square_all": by_groups(parts.weight * weight_of_couple[couple]),
        "people_pairs": by_groups(is_compared),
        "people_pairs_all": float(np.count_nonzero(weight_of_couple)),
    }


def _compared_in_list(protocol: Protocol, impostors) -> Compared:
    """What was compared in the pairs of a list."""
    row, col, weight = impostors.row, impostors.col, impostors.weight
    parts = parts_of_pairs(protocol, row, col, weight)
    return Compared(
        weight=_by_row(protocol, row, col, weight),
        impostor_pairs=_number_by_groups(protocol, row, col),
        parts=lambda numbers: parts,
        **_sums_over_people(protocol, parts),
    )


def _number_by_groups(protocol: Protocol, row, col):
    """How many pairs of images two groups have, (group, group)."""
    n_groups = len(protocol.groups) + 1
    cell = couples(protocol.group[row], protocol.group[col], n_groups)
    return both_orders(np.bincount(cell, minlength=n_groups**2).reshape(n_groups, -1) * 1.0)


def _by_row(protocol: Protocol, row, col, weight):
    """Sums of the weight of pairs, (row, group of the partner): a pair is in both of its rows."""
    n_groups = len(protocol.groups) + 1
    n_places = len(protocol.group) * n_groups
    sums = np.zeros(n_places)
    for image, partner in ((row, col), (col, row)):
        place = image.astype(int) * n_groups + protocol.group[partner]
        sums += np.bincount(place, weight, n_places)
    return sums.reshape(-1, n_groups)


def _compared_in_complete_design(tally) -> Compared:
    """The same of a complete design, without a look at pairs of images that did not fail.

    The weight of the pairs of two people is p_k r_l + p_l r_k, of sums over probes and references.
    """
    protocol = tally.protocol
    n_groups = len(protocol.groups) + 1
    allowed = (protocol.cells_of_kinds >= 0).astype(float)
    group_of_kind = np.zeros((len(allowed), n_groups))
    group_of_kind[protocol.kind, protocol.group] = 1
    twice = 2 if protocol.symmetric else 1  # each image is a probe and a reference of its pairs
    scales = [np.where(tally.failed_images, 0.0, scale) for scale in protocol.scales]
    scales[1] /= twice
    failed_row, failed_col = tally.failed_row, tally.failed_col
    failed_weight = protocol.impostor_weights(failed_row, failed_col) * np.ones(len(failed_row))

    def pairs_of_groups(first, second):
        """Sums of a_k b_l + a_l b_k over couples of people, by groups of k and l."""
        sums = _pairs_of_two_people(first, second) * allowed
        return both_orders(group_of_kind.T @ sums @ group_of_kind)

    compared = np.zeros((len(protocol.group), n_groups))
    probe, reference = (_by_person(protocol, scale) for scale in scales)
    for scale, partners in zip(scales, (reference, probe)):
        partners_of_others = partners.sum(0) - partners[protocol.person].toarray()
        partners_of_others *= allowed[protocol.kind] * scale[:, None]
        compared += partners_of_others @ group_of_kind
    left = compared - _by_row(protocol, failed_row, failed_col, failed_weight)
    compared = np.where(left > ROUNDED * compared, left, 0.0)
    n_probe, n_reference = (
        _by_person(protocol, (side & ~tally.failed_images).astype(float))
        for side in (protocol.images.probe, protocol.images.reference)
    )
    n_pairs = pairs_of_groups(n_probe, n_reference / twice)
    n_failed_pairs = _number_by_groups(protocol, failed_row, failed_col)
    failed = parts_of_pairs(protocol, failed_row, failed_col, failed_weight)
    parts = _parts_in_complete_design(protocol, scales[0], scales[1], allowed)

    def parts_left(numbers):
        number, weight = parts(numbers)
        left = weight.copy()
        is_here = np.isin(failed.number, number, assume_unique=True)
        left[np.searchsorted(number, failed.number[is_here])] -= failed.weight[is_here]
        return Parts(number, np.where(left > ROUNDED * weight, left, 0.0))

    if len(failed_row) or labels_vary(protocol):
        sums = _sums_of_all(protocol, parts_left)
    else:
        sums = _sums_of_constant_labels(probe, reference, pairs_of_groups)
    return Compared(
        weight=compared, impostor_pairs=n_pairs - n_failed_pairs, parts=parts_left, **sums
    )


def _sums_of_constant_labels(probe, reference, pairs_of_groups):
    """What `_sums_over_people` returns, where each person has one label: from sums over people."""
    as_probe, as_reference = probe.sign(), reference.sign()
    as_both = as_probe.multiply(as_reference)
    both = probe.multiply(reference)
    square = pairs_of_groups(probe.power(2), reference.power(2)) + pairs_of_groups(both, both)
    people_pairs = pairs_of_groups(as_probe, as_reference) - pairs_of_groups(as_both, as_both / 2)
    return {
        "square": square,
        "square_all": square,
        "people_pairs": people_pairs,
        "people_pairs_all": np.triu(people_pairs).sum(),
    }


def labels_vary(protocol: Protocol):
    """Whether a person has images of several kinds."""
    kinds_of_people = np.unique(np.stack([protocol.person, protocol.kind]), axis=1)
    return kinds_of_people.shape[1] > int(protocol.person.max()) + 1


def _sums_of_all(protocol: Protocol, parts_of):
    """What `_sums_over_people` returns, from a look at every pair of people, some at a time."""
    n_people = int(protocol.person.max()) + 1
    sums: Counter = Counter()
    for begin in range(0, n_people**2, PAIRS_AT_ONCE):
        numbers = np.arange(begin, min(begin + PAIRS_AT_ONCE, n_people**2))
        numbers = numbers[numbers // n_people < numbers % n_people]
        for name, values in _sums_over_people(protocol, parts_of(numbers)).items():
            sums[name] = sums[name] + values
    return sums


def _parts_in_complete_design(protocol: Protocol, probe_scale, reference_scale, allowed):
    """A function of some pairs of people, by number: the parts of all their pairs.

    A member is a person with a kind: two people have a part for each two of their members.
    """
    n_people = int(protocol.person.max()) + 1
    members = protocol.person.astype(np.int64) * len(allowed) + protocol.kind
    members, member = np.unique(members, return_inverse=True)
    person, kind = np.divmod(members, len(allowed))
    group = np.empty(len(members), int)
    group[member] = protocol.group
    probe, reference = (np.bincount(member, scale) for scale in (probe_scale, reference_scale))
    n_members = np.bincount(person)
    first_member = np.cumsum(n_members) - n_members

    def parts(numbers):
        person_a, person_b = np.divmod(numbers, n_people)
        n_parts = n_members[person_a] * n_members[person_b]
        couple = np.repeat(np.arange(len(numbers)), n_parts)
        part_of_couple = np.arange(len(couple)) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
        member_a, member_b = np.divmod(part_of_couple, n_members[person_b][couple])
        a = first_member[person_a][couple] + member_a
        b = first_member[person_b][couple] + member_b
        weight = probe[a] * reference[b] + probe[b] * reference[a]
        weight *= allowed[kind[a], kind[b]]
        return _parts(protocol, numbers[couple], group[a], group[b], weight)

    return parts


def both_orders(sums):
    """Sums over couples (g, h) in either order as a symmetric table, (..., group, group)."""
    within_groups = sums * np.eye(sums.shape[-1])
    return sums + np.swapaxes(sums, -1, -2) - within_groups
