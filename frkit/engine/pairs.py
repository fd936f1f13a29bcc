"""Scored pairs, sorted: genuine pairs with their weights, in the data, in replicates and in the V-statistic (eq. 19);
the kept impostor pairs with what lies above them; and how weights become the columns of a table.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import xarray as xr

from frkit.base import GROUP, REFERENCE_GROUP
from frkit.engine import kernels
from frkit.engine.pilot import Ladder
from frkit.engine.protocol import Protocol
from frkit.engine.sweep import each, slot_sums

RUN, LONGEST = 512, 2048  # kept pairs whose weights are added up for all columns at once: per cell, and at most
PIECE = 1 << 18  # pairs whose weights one thread adds up at a time
PORTION = 4_000_000  # kept pairs that are sorted and walked at once, 24 bytes each
COLUMN = "column"  # the data, replicates, and last the V-statistic
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
    """Genuine pairs from the lowest score up, with their weights in the data, in replicates, and in the V-statistic.

    pairs: as replicates weigh them; centre: as the V-statistic does, with the counts of the data. image_weight:
    (column, image) of both sides, within the identity; identity_count: (column, identity), and identity: that of each
    image of the second side. totals: (group, column) weight of all genuine pairs, last that of the V-statistic. failed:
    how many comparisons did.
    """

    pairs: Pairs
    centre: Pairs
    image_weight: tuple[np.ndarray, np.ndarray]
    identity_count: np.ndarray
    identity: np.ndarray
    failed: int
    totals: np.ndarray

    @property
    def n_columns(self) -> int:
        """The data, replicates, and the V-statistic."""
        return len(self.identity_count) + 1

    def column(self, column: int) -> tuple[tuple, Pairs]:
        """Counts of one column: images on either side, identities, and whose images stand on the second side; pairs."""
        pairs, counts = (self.pairs, column) if column < len(self.identity_count) else (self.centre, 0)
        return (*(part[counts] for part in self.image_weight), self.identity_count[counts], self.identity), pairs

    def at_places(self, column: int, place: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Add the weight of the pairs in one column to their places, (place, group); place: (pair,), ascending."""
        kernels.binned_genuine(place, *self.column(column), weight, np.empty((0, 0)))
        return weight


def weigh_genuine(protocol: Protocol, score: np.ndarray, self_score: float | None = None) -> Genuine:
    """Weighted genuine pairs from the scores of the pairs that were asked for, NaN where the comparison failed.

    self_score: of an image with itself, where that is known; it does not hold of scores that were changed since.
    """
    n, (row, col) = protocol.n_genuine, protocol.asked
    largest = np.fmax.reduce(np.abs(score), initial=0)
    # the exact self-score in place of computed ones, whose last bits differ between images; not of scores changed since
    if self_score is not None and np.all(np.abs(score[n:] - self_score) <= ROUNDING * largest):
        score = np.append(score[:n], np.full(len(row) - n, self_score, score.dtype))
    identity, copy, here = protocol.owner, np.arange(len(row)) >= n, ~np.isnan(score)
    failed = n - int(here[:n].sum())
    complete = protocol.symmetric and failed == 0
    present = np.bincount(identity[:n][here[:n]], minlength=len(protocol.share))
    # an identity of which every comparison failed has no rate, so its images with themselves count nothing
    here &= ~copy | (present[identity] > 0)
    score, row, col, identity, copy = (part[here] for part in (score, row, col, identity, copy))
    # FRR weighs an identity by p_k squared (section 2.1), which its pairs share; pooled, each pair has as much
    mass = protocol.share**2 * (present if protocol.pooled else 1.0)
    per_pair = _up_to_a_factor(np.divide(mass, present, out=np.zeros(len(present)), where=present > 0))[identity]
    mean, share = _mean_count(protocol, row, col, copy), np.where(copy & protocol.symmetric, 0.5, 1.0)
    order, group = np.argsort(score), common_group(protocol, row, col)
    plain = Pairs(score, row, col, group, _up_to_a_factor(per_pair * mean) * share).take(order)
    drawn = plain._replace(row=np.where(copy, np.int32(-1), row)[order], factor=(per_pair * share)[order])
    sides = (protocol.people.probe, protocol.people.reference)[: 1 if protocol.symmetric else 2]
    weight = [np.ascontiguousarray(protocol.image_count[:, images]) for images in sides]
    count, identity = protocol.identity_count.astype(float), protocol.reference.identity
    genuine = Genuine(drawn, plain, (weight[0], weight[-1]), count, identity, failed, np.empty(0))
    n_groups, totals = len(protocol.groups) + 1, []
    if complete:  # resampling the images of an identity only moves its weight about
        _, row, col, group, factor = drawn.take(drawn.row >= 0)
        shape = n_groups, count.shape[1]
        mass = np.bincount(group * shape[1] + identity[col], factor, minlength=shape[0] * shape[1])
        totals = [*(mass.reshape(shape) @ count.T).T]
    for column in range(len(totals), genuine.n_columns):
        totals.append(genuine.at_places(column, np.zeros(len(score), int), np.zeros((1, n_groups)))[0])
    return replace(genuine, totals=np.stack(totals, 1))


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


@dataclass(frozen=True, eq=False)
class Crossings:
    """Where FAR and FRR cross: bins (column, curve), -1 below the floor, -2 where a rate has no pairs.

    A curve is a group, and last all pairs together. accepted, rejected: (column, curve) impostor weight above
    and genuine weight below the lower end of the bin: weights, which are whole numbers where all n_k are equal,
    so that the rates do not depend on where the bins happen to lie.
    """

    bins: np.ndarray
    accepted: np.ndarray
    rejected: np.ndarray
    genuine_bins: np.ndarray


# --- impostor pairs -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Impostors:
    """The kept impostor pairs from the highest score down, cut into runs, and the weight above each run.

    first, last: (run,) where each run stands. bin: (run,) its bin.
    above: (run, cell, column) impostor weight strictly above the run. totals: (cell, column).
    weight: (column, image) of both sides.
    """

    pairs: Pairs
    first: np.ndarray
    last: np.ndarray
    bin: np.ndarray
    above: np.ndarray
    totals: np.ndarray
    weight: tuple

    def column(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """Counts of one column, of the images on either side; the V-statistic's are those of the data."""
        return tuple(weight[column % len(weight)] for weight in self.weight)


def portions(found, ladder: Ladder, protocol: Protocol, bins: np.ndarray) -> Iterator[Impostors]:
    """The kept pairs of these bins, some bins at a time: memory holds a few million pairs, however many there are."""
    bins = np.sort(bins)[::-1]
    number = np.cumsum(found.counts[bins].sum(1)) // PORTION
    for some in np.split(bins, np.flatnonzero(np.diff(number)) + 1):
        yield cut_pairs(found, ladder, protocol, some)


def cut_pairs(found, ladder: Ladder, protocol: Protocol, wanted: np.ndarray) -> Impostors:
    """Sort the kept pairs of these bins, cut each bin into runs, and add up what lies above each run.

    found: what the sweep brought, `frkit.engine.rates._Found`. wanted: bins, from the highest down.
    """
    # where the pairs of each bin begin and end
    end = np.cumsum(found.counts.sum(1)[wanted])
    begin = np.append(0, end[:-1])
    n_pairs = int(end[-1])
    pairs = _sorted_kept(found, ladder, protocol, wanted, (begin, end))
    score = pairs.score
    run = min(RUN * protocol.n_cells, LONGEST)
    n_runs = np.maximum(1, -(-(end - begin) // run))
    of_run = np.repeat(np.arange(len(wanted)), n_runs)
    step = np.arange(len(of_run)) - np.repeat(np.cumsum(n_runs) - n_runs, n_runs)
    first = begin[of_run] + run * step
    if n_pairs:
        # equal scores stay in one run, because a threshold takes all of them or none
        tied = n_pairs - np.searchsorted(score[::-1], score[np.minimum(first, n_pairs - 1)], side="right")
        first = np.where(step > 0, np.maximum(tied, begin[of_run]), first)
    last = np.where(np.append(step[1:], 0) > 0, np.append(first[1:], 0), end[of_run])
    above = _weight_above(pairs, last - first, wanted[of_run], found.sums, protocol)
    weight = protocol.probe.by_column, protocol.reference.by_column
    return Impostors(pairs, first, last, wanted[of_run], above, found.totals, weight)


def _sorted_kept(found, ladder: Ladder, protocol: Protocol, bins: np.ndarray, places: tuple) -> Pairs:
    """The kept pairs of these bins, highest score first; places: where those of each bin begin, and end."""
    (begin, end), kind = places, found.genuine.pairs.score.dtype
    pairs = Pairs(*(np.empty(end[-1], part) for part in (kind, np.int32, np.int32, np.int32, float)))
    score, row, col, cell, factor = pairs
    # each bin has its place already, so that parts can be filed in any order
    following = np.full(ladder.n_bins, -1)
    following[bins] = begin
    for part in found.kept:
        kernels.pick_pairs(tuple(part), ladder.arrays(kind), following, (row, col, score))

    def sort(number: int) -> None:
        own = slice(begin[number], end[number])
        order = np.argsort(-score[own])
        for part in (row, col, score):
            part[own] = part[own][order]
        cell[own], factor[own] = protocol.cells(row[own], col[own]), protocol.factors(row[own], col[own])

    each(sort, len(bins))
    return pairs


def _weight_above(pairs: Pairs, lengths, bins, sums: np.ndarray, protocol: Protocol) -> np.ndarray:
    """Weight above each run, (run, cell, column), from that of the bins, as swept, and of the runs within a bin.

    lengths, bins: of the runs, from the highest down; together they hold all pairs. sums: (bin, cell, column).
    """
    weight, ends = np.empty((len(lengths), *sums.shape[1:])), np.cumsum(lengths)
    cuts = np.unique(np.append(np.searchsorted(ends, np.arange(0, ends[-1], PIECE)), len(lengths)))

    def add(piece: int) -> None:
        runs = slice(*cuts[piece : piece + 2])
        own = slice(ends[runs.start] - lengths[runs.start], ends[runs.stop - 1])
        slot = np.repeat(np.arange(runs.stop - runs.start), lengths[runs]) * protocol.n_cells + pairs.cell[own]
        n_slots = (runs.stop - runs.start) * protocol.n_cells
        weight[runs] = slot_sums(slot, n_slots, pairs.row[own], pairs.col[own], protocol).reshape(weight[runs].shape)

    each(add, len(cuts) - 1)
    above_bin, added = np.zeros(sums.shape[1:]), len(sums)
    for run, b in enumerate(bins):
        if run == 0 or b < bins[run - 1]:
            # begin anew with every bin: what the sweep added up does not depend on how the bins above were cut
            while added > b + 1:
                added -= 1
                above_bin += sums[added]
            above = above_bin.copy()
        weight[run], above = above, above + weight[run]
    return weight


# --- tables of columns ---------------------------------------------------------------------------------------


def ratio(weight: np.ndarray, total: np.ndarray) -> np.ndarray:
    """weight / total, NaN where there is nothing to divide by."""
    weight, total = np.broadcast_arrays(weight, total)
    return np.divide(weight, total, out=np.full(weight.shape, np.nan), where=total > 0)


def with_centre(values: np.ndarray, axis: int = 0) -> np.ndarray:
    """Values of columns, along an axis, with a last column for the V-statistic, where that is the data's own."""
    return np.concatenate([values, np.take(values, [0], axis)], axis)


def by_curve(name: str, dims: tuple, values: np.ndarray) -> dict:
    """Values (..., curve) as two variables: that of all pairs, and those of the groups."""
    return {name: (dims, values[..., -1]), f"{name}_group": ((*dims, GROUP), values[..., :-1])}


def labelled(table: dict, coords: dict, **attrs) -> xr.Dataset:
    """The variables of a table; without groups, none of groups."""
    whole = xr.Dataset(table, coords, attrs)
    return whole if len(coords[GROUP]) else whole.drop_dims([GROUP, REFERENCE_GROUP], errors="ignore")
