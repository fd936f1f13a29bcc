"""What each image adds to the error rates: weights of its accepted pairs, added up while the scores are swept.

Thresholds are not known during the sweep. Bins whose pairs are kept lie near the thresholds; the other bins fall into
gaps between these, and each gap's pairs are added up as one. The kept pairs are added once the thresholds are known.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numba import njit

from frkit.engine.kernels import COMPILE
from frkit.engine.pairs import Pairs
from frkit.engine.protocol import Protocol, Side

MOST_SAMPLED = 400  # people among whom pairs of people are told apart; enough to see how pairs of two people agree
FEW_ACCEPTED = 50  # accepted pairs among them, below which single pairs are taken to be nearly independent
GRAIN = 2.0**28  # scales are multiples of its inverse, so that sums of them are exact in any order


@njit(**COMPILE)
def add_to_images(n, rows, cols, slots, gap_of_slot, groups, scales, sampled, sums) -> None:
    """Add each filed pair of a patch to its two images, and to its two people where they are sampled.

    gap_of_slot: -1 for pairs that are kept one by one. groups, scales, sampled: of rows and of columns.
    sums: by row (gap, row, group of the partner), by column likewise, and by people (gap, person, person).
    """
    by_row, by_col, by_people = sums
    for u in range(n):
        gap = gap_of_slot[np.uintp(slots[u])]
        if gap >= 0:
            g, r, c = np.uintp(gap), np.uintp(rows[u]), np.uintp(cols[u])
            by_row[g, r, np.uintp(groups[1][c])] += scales[1][c]
            by_col[g, c, np.uintp(groups[0][r])] += scales[0][r]
            one, other = sampled[0][r], sampled[1][c]
            if one >= 0 and other >= 0:
                by_people[g, np.uintp(min(one, other)), np.uintp(max(one, other))] += 1


@njit(**COMPILE)
def add_kept_pairs(row, col, score, thresholds, groups, scales, sampled, sums) -> None:
    """As `add_to_images` for pairs one by one: each goes to the highest of the falling thresholds that it exceeds."""
    by_row, by_col, by_people = sums
    for u in range(score.shape[0]):
        place = 0
        while place < thresholds.shape[0] and not score[u] > thresholds[place]:
            place += 1
        if place < thresholds.shape[0]:
            g, r, c = np.uintp(place), np.uintp(row[u]), np.uintp(col[u])
            by_row[g, r, np.uintp(groups[1][c])] += scales[1][c]
            by_col[g, c, np.uintp(groups[0][r])] += scales[0][r]
            one, other = sampled[0][r], sampled[1][c]
            if one >= 0 and other >= 0:
                by_people[g, np.uintp(min(one, other)), np.uintp(max(one, other))] += 1


@dataclass(frozen=True, eq=False)
class Gaps:
    """How a sweep adds pairs to their images: the gap of each bin, from the top down, -1 where pairs are kept."""

    protocol: Protocol
    gap_of_bin: np.ndarray

    @classmethod
    def between(cls, keep: np.ndarray, protocol: Protocol) -> "Gaps":
        """The gaps that the kept bins leave."""
        down = keep[::-1]
        first = ~down & np.append(True, down[:-1])  # bins at which a gap begins
        return cls(protocol, np.where(down, -1, np.cumsum(first) - 1)[::-1].astype(np.int32))

    @property
    def n_gaps(self) -> int:
        """Number of gaps."""
        return int(self.gap_of_bin.max(initial=-1)) + 1

    @cached_property
    def gap_of_slot(self) -> np.ndarray:
        """The same for every (bin, cell)."""
        return np.repeat(self.gap_of_bin, self.protocol.n_cells)

    @cached_property
    def scales(self) -> tuple[np.ndarray, np.ndarray]:
        """Rounded scales of both sides."""
        return tuple(rounded(side) for side in (self.protocol.probe, self.protocol.reference))

    @cached_property
    def sampled(self) -> tuple[np.ndarray, np.ndarray]:
        """Place of each image's person among the sampled people, -1 elsewhere, on both sides."""
        place = sampled_people(self.protocol)
        return tuple(place[side.person] for side in (self.protocol.probe, self.protocol.reference))

    def empty(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sums of nothing, for n gaps or thresholds."""
        n_groups, people = len(self.protocol.cell_of), min(n_people(self.protocol), MOST_SAMPLED)
        sides = (len(side.person) for side in (self.protocol.probe, self.protocol.reference))
        return *(np.zeros((n, images, n_groups)) for images in sides), np.zeros((n, people, people), np.uint32)

    def add_patch(self, n: int, scratch, rows: slice, cols: slice, sums: tuple) -> None:
        """Add the n filed pairs in the scratch space."""
        probe, reference = self.protocol.probe, self.protocol.reference
        add_to_images(
            n, scratch.rows, scratch.cols, scratch.slots, self.gap_of_slot,
            (probe.group[rows], reference.group[cols]),
            (self.scales[0][rows], self.scales[1][cols]),
            (self.sampled[0][rows], self.sampled[1][cols]),
            (sums[0][:, rows], sums[1][:, cols], sums[2]),
        )  # fmt: skip

    def at_thresholds(self, thresholds: np.ndarray, bins: np.ndarray, swept: tuple, kept: list) -> tuple:
        """Sums over all pairs above each threshold; bins: those of the thresholds, all of them kept.

        swept: sums by gap. kept: (rows, columns, scores) of the kept pairs.
        """
        order = np.argsort(-thresholds)
        sums = self.empty(len(thresholds))
        groups = self.protocol.probe.group, self.protocol.reference.group
        for row, col, score in kept:
            add_kept_pairs(row, col, score, thresholds[order], groups, self.scales, self.sampled, sums)
        top = np.array([np.flatnonzero(self.gap_of_bin == gap).max() for gap in range(self.n_gaps)], int)
        for gap, highest in enumerate(top):
            below = np.flatnonzero(bins[order] < highest)  # falling thresholds below this gap
            if below.size:
                for part, of_gap in zip(sums, swept, strict=True):
                    part[below[0]] += of_gap[gap]
        back = np.argsort(order)
        return tuple(np.cumsum(part, axis=0)[back] for part in sums)


def rounded(side: Side) -> np.ndarray:
    """The scale of each image's pairs, rounded so that sums do not depend on their order."""
    return np.round(side.scale / side.scale.max() * GRAIN) / GRAIN


def n_people(protocol: Protocol) -> int:
    """Number of people."""
    return 1 + max(int(side.person.max()) for side in (protocol.probe, protocol.reference))


def sampled_people(protocol: Protocol) -> np.ndarray:
    """(person,) place among the sampled people, or -1; always the same people."""
    n = n_people(protocol)
    chosen = np.sort(np.random.default_rng(0).permutation(n)[:MOST_SAMPLED])
    place = np.full(n, -1, np.int32)
    place[chosen] = np.arange(len(chosen))
    return place


def entries(protocol: Protocol, genuine: Pairs) -> pd.MultiIndex:
    """What is told apart: an image under a label; in a list an image can stand under several."""
    people, parts = protocol.people, []
    for side, images in ((protocol.probe, people.probe), (protocol.reference, people.reference)):
        parts.append(pd.MultiIndex.from_arrays([images, side.group.astype(int)]))
    for images, place in ((people.probe, genuine.row), (people.reference, genuine.col)):
        parts.append(pd.MultiIndex.from_arrays([images[place], genuine.cell]))
    return parts[0].append(parts[1:]).unique().sort_values()


def influence_sums(
    protocol: Protocol, above: tuple, failed: tuple | None, genuine: Pairs, thresholds: np.ndarray, listed: tuple | None
) -> dict[str, np.ndarray]:
    """All that laws of rates are read from, by name; see `frkit.intervals.influence.Sums`.

    above: from `Gaps.at_thresholds`. failed: weight of the failed comparisons of each image on both sides, (image,
    group). genuine: the genuine pairs of the data. listed: score, row and column of a list's impostor pairs.
    """
    index = entries(protocol, genuine)
    people, n_groups = protocol.people, len(protocol.cell_of)
    sides = (protocol.probe, people.probe), (protocol.reference, people.reference)
    place = [index.get_indexer(pd.MultiIndex.from_arrays([images, side.group.astype(int)])) for side, images in sides]
    scales = [rounded(side) for side, _ in sides]
    compared = compared_weights(protocol, scales, failed) if listed is None else _listed_weights(protocol, listed, scales)
    accepted = np.zeros((len(thresholds), len(index), n_groups))
    every = np.zeros((len(index), n_groups))
    for part, whole, at, scale in zip(above[:2], compared, place, scales, strict=True):
        np.add.at(accepted, (slice(None), at), part * scale[:, None])
        np.add.at(every, at, whole * scale[:, None])
    rejected = np.zeros((len(thresholds), len(index)))
    pairs = np.zeros(len(index))
    for images, side in ((people.probe, genuine.row), (people.reference, genuine.col)):
        at = index.get_indexer(pd.MultiIndex.from_arrays([images[side], genuine.cell]))
        pairs += np.bincount(at, minlength=len(index))
        for level, threshold in enumerate(thresholds):
            rejected[level] += np.bincount(at[genuine.score <= threshold], minlength=len(index))
    identity = people.identity_code[index.get_level_values(0)]
    pair_weight = np.zeros(len(protocol.share))
    pair_weight[protocol.reference.identity[genuine.col]] = genuine.factor
    sums = {"accepted": accepted, "compared": every, "rejected": rejected, "genuine": pairs}
    sums |= {"identity": identity, "group": index.get_level_values(1).to_numpy(), "pair_weight": pair_weight}
    sums["image"] = people.names[index.get_level_values(0)]
    squares = _blocks_of_list(protocol, listed, scales, thresholds) if listed else _blocks(protocol, above[2], scales)
    return sums | dict(zip(("square", "blocks"), squares, strict=True))


def compared_weights(protocol: Protocol, scales: list, failed: tuple | None) -> list[np.ndarray]:
    """Scale of all impostors of each image, (image, group), on both sides of a tensor."""
    n, n_groups, sides = n_people(protocol), len(protocol.cell_of), (protocol.probe, protocol.reference)
    found = []
    for mine, other, scale in ((sides[0], sides[1], scales[1]), (sides[1], sides[0], scales[0])):
        by_person = np.zeros((n, n_groups))
        np.add.at(by_person, (other.person, other.group), scale)
        weight = by_person.sum(0) - by_person[mine.person]
        found.append(weight * (protocol.cell_of[mine.group] >= 0))
    if protocol.symmetric:  # the sweep saw each pair once, from one of its sides: both sides together are all
        found = [found[0], np.zeros_like(found[1])]
    return found if failed is None else [part - lost for part, lost in zip(found, failed, strict=True)]


def _listed_weights(protocol: Protocol, listed: tuple, scales: list) -> list[np.ndarray]:
    """The same for the impostor pairs of a list."""
    _, row, col = listed
    shape = len(protocol.cell_of)
    found = [np.zeros((len(side.person), shape)) for side in (protocol.probe, protocol.reference)]
    np.add.at(found[0], (row, protocol.reference.group[col]), scales[1][col])
    np.add.at(found[1], (col, protocol.probe.group[row]), scales[0][row])
    return found


def _blocks(protocol: Protocol, counts: np.ndarray, scales: list) -> tuple[np.ndarray, np.ndarray]:
    """Squared weights of pairs (group, group), and of pairs of people beyond their mean (level, group, group).

    counts: (level, person, person) accepted pairs of sampled people. Their squares stand for those of all people.
    """
    n, n_groups = n_people(protocol), len(protocol.cell_of)
    place = sampled_people(protocol)
    sides = (protocol.probe, scales[0]), (protocol.reference, scales[1])
    once, twice, images = ([np.zeros((n, n_groups)) for _ in sides] for _ in range(3))
    for number, (side, scale) in enumerate(sides):
        for total, power in ((once, scale), (twice, scale**2), (images, np.ones(len(scale)))):
            np.add.at(total[number], (side.person, side.group), power)
    square = _between(twice[0], twice[1], protocol.symmetric)
    whole = _between(once[0] ** 2, once[1] ** 2, protocol.symmetric)  # squared weights of pairs of people
    if not protocol.symmetric:  # whose pairs stand on both sides of the diagonal
        whole += 2 * _between(once[0] * once[1], once[0] * once[1], symmetric=True)
    chosen = np.flatnonzero(place >= 0)
    group = np.stack(images).sum(0)[chosen].argmax(1)
    weight, many = (_of_pairs([part.sum(1)[chosen] for part in parts], protocol.symmetric) for parts in (once, images))
    upper = np.triu(np.ones(weight.shape, bool), 1) & (protocol.cell_of[group][:, group] >= 0)
    onto = np.eye(n_groups)[group]
    blocks = np.zeros((len(counts), n_groups, n_groups))
    for level, found in enumerate(counts.astype(float)):
        share = np.divide(found, many, out=np.zeros(found.shape), where=upper & (many > 0)) * upper
        mass = _folded(onto, upper * weight**2)
        mean = _folded(onto, upper * weight * share) / np.maximum(_folded(onto, upper * weight), 1e-300)
        excess = _folded(onto, upper * (weight * (share - mean[group][:, group])) ** 2)
        single = mean * (1 - mean) * square  # as if pairs of two people were independent
        events = _folded(onto, upper * found)
        trust = events / (events + FEW_ACCEPTED)
        seen = np.divide(excess, mass, out=np.zeros_like(excess), where=mass > 0) * whole
        blocks[level] = single + trust * np.maximum(seen - single, 0)
    return square, blocks


def _of_pairs(sides: list[np.ndarray], symmetric: bool) -> np.ndarray:
    """(person, person) products of what either has on the two sides."""
    product = sides[0][:, None] * sides[1]
    return product if symmetric else product + product.T


def _between(probe: np.ndarray, reference: np.ndarray, symmetric: bool) -> np.ndarray:
    """Sums over pairs of two people, (group, group) without order, of products of (person, group)."""
    total = probe.sum(0)[:, None] * reference.sum(0) - probe.T @ reference
    both = total + total.T if not symmetric else total.copy()
    both[np.diag_indices(len(both))] = np.diag(total) * (0.5 if symmetric else 1.0)
    return both


def _folded(onto: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(person, person) above the diagonal to (group, group) without order."""
    total = onto.T @ values @ onto
    both = total + total.T
    both[np.diag_indices(len(both))] = np.diag(total)
    return both


def _blocks_of_list(protocol: Protocol, listed: tuple, scales: list, thresholds: np.ndarray) -> tuple:
    """As `_blocks`, from the pairs of a list one by one."""
    score, row, col = listed
    n_groups, probe, reference = len(protocol.cell_of), protocol.probe, protocol.reference
    weight = scales[0][row] * scales[1][col]
    people = np.sort([probe.person[row], reference.person[col]], axis=0)
    groups = np.sort([probe.group[row], reference.group[col]], axis=0).astype(int)
    block, first = pd.factorize(pd.MultiIndex.from_arrays([*people, *groups]))
    cell_of_block = np.array([first.get_level_values(2), first.get_level_values(3)])
    square = np.zeros((n_groups, n_groups))
    np.add.at(square, tuple(groups), weight**2)
    blocks = np.zeros((len(thresholds), n_groups, n_groups))
    whole = np.bincount(block, weight)
    total = np.zeros_like(square)
    np.add.at(total, tuple(cell_of_block), whole)
    for level, threshold in enumerate(thresholds):
        found = np.bincount(block, weight * (score > threshold))
        rate = np.zeros_like(square)
        np.add.at(rate, tuple(cell_of_block), found)
        rate = np.divide(rate, total, out=np.zeros_like(rate), where=total > 0)
        np.add.at(blocks[level], tuple(cell_of_block), (found - rate[tuple(cell_of_block)] * whole) ** 2)
    return tuple(np.maximum(part, np.swapaxes(part, -1, -2)) for part in (square, blocks))
