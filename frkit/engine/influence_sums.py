"""What each image adds to the error rates: weights of its accepted pairs.

The sweep adds up the pairs between thresholds (`frkit.engine.scan.Gaps`); the kept pairs are added here, when the
thresholds are known.
"""

import numpy as np
import pandas as pd

from frkit.engine.kernels import add_above
from frkit.engine.pairs import Genuine, Pairs, common_group, ratio
from frkit.engine.pilot import Ladder
from frkit.engine.protocol import Protocol
from frkit.engine.scan import COLS, FAILED_COLS, FAILED_ROWS, PEOPLE, ROWS, Gaps, rounded, sampled_people
from frkit.engine.sweep import each

FEW_SUMS = 5_000_000  # up to here both halves of the kept pairs are added up side by side
FEW_ACCEPTED = 50  # accepted pairs among them, below which single pairs are taken to be nearly independent
INFLUENCE_DIMS = {
    "accepted": ("point", "entry", "partner"),
    "compared": ("entry", "partner"),
    "rejected": ("point", "entry"),
    "genuine": ("entry",),
    "identity": ("entry",),
    "group": ("entry",),
    "pair_weight": ("person",),
    "square": ("partner", "partner_b"),
    "blocks": ("point", "partner", "partner_b"),
    "cells": ("partner", "partner_b"),
    "curve_threshold": ("place",),
    "curve_far": ("place", "far_of"),
    "curve_frr": ("place", "frr_of"),
}


def _above_thresholds(
    gaps: Gaps, thresholds: np.ndarray, ladder: Ladder, swept: dict, kept: list, kind: np.dtype
) -> dict[str, np.ndarray]:
    """Sums over all pairs above each threshold, whose bins are kept.

    swept: sums by gap. kept: (rows, columns, scores) of the kept pairs. kind: of scores.
    """
    # a pair is added once, under the highest threshold that it exceeds; the running sum adds it under all lower ones
    order = np.argsort(-thresholds)
    bins = np.where(np.isinf(thresholds), ladder.n_bins, ladder.bins_of(thresholds.astype(kind)))[order]
    below = np.searchsorted(bins[::-1], np.arange(ladder.n_bins))
    n_parts = 2 if len(order) * len(gaps.groups[0]) * gaps.n_groups < FEW_SUMS else 1

    def added(number: int) -> dict[str, np.ndarray]:
        by_row, by_col, by_people = gaps.empty(len(order), *map(len, gaps.groups))
        by_col = by_row if gaps.symmetric else by_col  # one sum holds what rows and columns add to the same images
        images = gaps.scales, gaps.sampled, (by_row, by_col, by_people)
        for pairs in kept[number::n_parts]:
            add_above(tuple(pairs), ladder.arrays(kind), thresholds[order[::-1]], below, images, gaps.groups)
        return {ROWS: by_row, COLS: by_col, PEOPLE: by_people}

    back, (found, *more) = np.argsort(order), each(added, n_parts)
    for name in swept.keys() & found.keys():  # exact in any order: see `frkit.engine.scan.rounded`
        for part in more:
            found[name] += part[name]
        for gap, highest in enumerate(gaps.top):
            lower = np.flatnonzero(bins < highest)[:1]  # the first of the falling thresholds below the gap
            found[name][lower] += swept[name][gap]
        found[name] = np.cumsum(found[name], axis=0, out=found[name])[back]
    return {name: found[name] for name in swept.keys() & found.keys()}


def influence_sums(
    protocol: Protocol,
    ladder: Ladder,
    swept: dict[str, np.ndarray],
    kept: list,
    genuine: Genuine,
    thresholds: np.ndarray,
) -> dict[str, np.ndarray]:
    """All that laws of rates are read from, by name; see `frkit.intervals.influence.Sums`.

    An entry is an image under a label: in a list an image can stand under several. swept: sums by gap, and those of the
    failed comparisons. kept: (row, column, score) of impostor pairs, all of those in bins that the ladder keeps among
    them. thresholds: (point,) where the sums are wanted; their bins are kept.
    """
    people, n_groups = protocol.people, len(protocol.cell_of)
    thresholds = np.where(np.isnan(thresholds), np.inf, thresholds)
    if protocol.listed is not None and protocol.listed.one_by_one:
        return _of_pairs_alone(protocol, kept[0], genuine.pairs, thresholds)
    pairs = genuine.pairs.take(genuine.pairs.row >= 0)
    row, col = (part[: protocol.n_genuine] for part in protocol.asked)
    asked_group = common_group(protocol, row, col)
    # an image and its group as one number; in a list an image can stand under several groups
    on_sides = [people.probe * n_groups + protocol.probe.group, people.reference * n_groups + protocol.reference.group]
    asked = [people.probe[row] * n_groups + asked_group, people.reference[col] * n_groups + asked_group]
    stands = np.zeros(len(people.names) * n_groups, bool)
    for codes in on_sides + asked:
        stands[codes] = True
    entries, place_of = np.flatnonzero(stands), np.cumsum(stands) - 1
    accepted = np.zeros((len(thresholds), len(entries), n_groups), np.float32)
    every = np.zeros((len(entries), n_groups))
    where = [place_of[codes] for codes in on_sides]  # distinct on each side
    if protocol.listed is None:
        gaps, kind = Gaps.between(ladder.keep, protocol), genuine.pairs.score.dtype
        above = _above_thresholds(gaps, thresholds, ladder, swept, kept, kind)
        scales = [rounded(side.scale) for side in (protocol.probe, protocol.reference)]
        compared = _compared_weights(protocol, scales, swept)
        for name, whole, place, scale in zip((ROWS, COLS), compared, where, scales, strict=True):
            place = slice(None) if np.array_equal(place, np.arange(len(entries))) else place
            every[place] += whole * scale[:, None]
            if name in above:
                accepted[:, place] += above[name] if protocol.whole_run else above[name] * scale[:, None]
        (square, blocks), of_two = _blocks(protocol, above[PEOPLE], scales), 0.0
    else:
        square, blocks, of_two = _add_listed(protocol, kept, where, thresholds, accepted, every)
    group = pairs.cell  # of both sides
    places = [place_of[people.probe[pairs.row] * n_groups + group]]
    places += [place_of[people.reference[pairs.col] * n_groups + group]]
    # as above, each pair once: at the lowest threshold that rejects it, then a running sum
    rising = np.argsort(thresholds)
    first = np.searchsorted(thresholds[rising], pairs.score, side="left")  # the lowest threshold that rejects the pair
    shape = len(thresholds) + 1, len(entries)
    rejected = sum(np.bincount(first * shape[1] + at, minlength=shape[0] * shape[1]) for at in places).reshape(shape)
    pair_weight = np.zeros(len(protocol.share))
    pair_weight[protocol.reference.identity[pairs.col]] = pairs.factor
    return {
        "accepted": accepted,
        "compared": every,
        "rejected": np.cumsum(rejected, axis=0)[:-1][np.argsort(rising)].astype(np.float32),
        "genuine": np.bincount(np.concatenate(places), minlength=len(entries)),
        "identity": people.identity_code[entries // n_groups],
        "group": entries % n_groups,
        "pair_weight": pair_weight,
        "square": square,
        "blocks": blocks,
        "cells": protocol.cell_of,
        "listed": of_two,
    }


def _compared_weights(protocol: Protocol, scales: list, swept: dict) -> list[np.ndarray]:
    """Scale of all impostors of each image, (image, group), on both sides of a tensor, but for failed comparisons."""
    n, n_groups, sides = protocol.n_people, len(protocol.cell_of), (protocol.probe, protocol.reference)
    found = []
    for mine, other, scale in ((sides[0], sides[1], scales[1]), (sides[1], sides[0], scales[0])):
        by_person = np.zeros((n, n_groups))
        np.add.at(by_person, (other.person, other.group), scale)
        weight = by_person.sum(0) - by_person[mine.person]
        found.append(weight * (protocol.cell_of[mine.group] >= 0))
    if protocol.symmetric:  # the sweep saw each pair once, from one of its sides: both sides together are all
        found = [found[0], np.zeros_like(found[1])]
    return [part - swept.get(name, 0) for part, name in zip(found, (FAILED_ROWS, FAILED_COLS), strict=True)]


def _blocks(protocol: Protocol, counts: np.ndarray, scales: list) -> tuple[np.ndarray, np.ndarray]:
    """Squared weights of pairs (group, group), and of pairs of people beyond their mean (level, group, group).

    counts: (level, person, person) accepted pairs of sampled people. Their squares stand for those of all people.
    """
    n, n_groups = protocol.n_people, len(protocol.cell_of)
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
    # pairs of two sampled people, sorted by the groups of both, so that sums over groups are sums over neighbours
    chosen = np.flatnonzero(place >= 0)
    group = np.stack(images).sum(0)[chosen].argmax(1)
    one, other = np.triu_indices(len(chosen), 1)
    groups = np.sort([group[one], group[other]], axis=0)
    cell = np.where(protocol.cell_of[group[one], group[other]] >= 0, groups[0] * n_groups + groups[1], -1)
    order = np.argsort(cell, kind="stable")[np.count_nonzero(cell < 0) :]
    cells, first, n_pairs = np.unique(cell[order], return_index=True, return_counts=True)
    one, other = one[order], other[order]
    weight, many = (
        product[one, other] if protocol.symmetric else product[one, other] + product[other, one]
        for product in (np.multiply.outer(*(part.sum(1)[chosen] for part in parts)) for parts in (once, images))
    )

    def added(values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(values, first, axis=-1) if len(first) else np.zeros((*values.shape[:-1], 0))

    # how far the shares of accepted pairs vary between pairs of people, beside what independent pairs would vary
    found = counts[:, one, other].astype(float)
    weighted = weight * np.divide(found, many, out=np.zeros(found.shape), where=many > 0)
    mean = added(weighted) / np.maximum(added(weight), 1e-300)
    excess = added((weighted - weight * np.repeat(mean, n_pairs, axis=-1)) ** 2)
    mass, events = added(weight**2), added(found)
    trust = 1.0 if len(chosen) == n else events / (events + FEW_ACCEPTED)  # all people: nothing is guessed
    seen = np.divide(excess, mass, out=np.zeros_like(excess), where=mass > 0) * whole.ravel()[cells]
    single = mean * (1 - mean) * square.ravel()[cells]  # as if pairs of two people were independent
    blocks = np.zeros((len(counts), n_groups, n_groups))
    for g, h in ((cells // n_groups, cells % n_groups), (cells % n_groups, cells // n_groups)):
        blocks[:, g, h] = single + trust * np.maximum(seen - single, 0)
    return square, blocks


def _between(probe: np.ndarray, reference: np.ndarray, symmetric: bool) -> np.ndarray:
    """Sums over pairs of two people, (group, group) without order, of products of (person, group)."""
    total = probe.sum(0)[:, None] * reference.sum(0) - probe.T @ reference
    both = total + total.T if not symmetric else total.copy()
    both[np.diag_indices(len(both))] = np.diag(total) * (0.5 if symmetric else 1.0)
    return both


# --- pairs of a list -----------------------------------------------------------------------------------------


def _of_pairs_alone(
    protocol: Protocol, impostor: tuple, genuine: Pairs, thresholds: np.ndarray
) -> dict[str, np.ndarray]:
    """What `influence_sums` returns where nothing is known of the people: each genuine pair is a person of its own with
    two images, each impostor pair one of two people that stand in no other pair.

    Pairs stand in the order of the list, those that failed without weight, so that entries of several models meet.
    """
    listed, n_groups = protocol.listed, len(protocol.cell_of)
    n, m = len(listed.impostor), len(listed.genuine)
    row, col = listed.places(listed.impostor)
    sides = protocol.probe.group[row].astype(int), protocol.reference.group[col].astype(int)
    score, genuine_score = np.full(n, np.nan), np.full(m, np.nan)
    score[np.searchsorted(listed.impostor, impostor[0])] = impostor[2]
    genuine_score[np.searchsorted(listed.genuine, genuine.row)] = genuine.score
    counted = ~np.isnan(score)
    compared = np.zeros((2 * (n + m), n_groups))
    compared[np.arange(2 * n), np.concatenate(sides[::-1])] = np.tile(counted, 2)
    exceeds = np.tile(score > thresholds[:, None], 2)
    rejected = np.tile(genuine_score <= thresholds[:, None], 2)
    groups = np.sort(sides, axis=0)
    square = _by_groups(groups, counted, n_groups)
    accepted = np.stack([_by_groups(groups, above, n_groups) for above in exceeds[:, :n]])
    rate = np.nan_to_num(ratio(accepted, square))
    persons = np.arange(2 * n + m)
    group = common_group(protocol, *listed.places(listed.genuine))
    return {
        "accepted": (np.pad(exceeds, ((0, 0), (0, 2 * m)))[:, :, None] * compared).astype(np.float32),
        "compared": compared,
        "rejected": np.pad(rejected, ((0, 0), (2 * n, 0))).astype(np.float32),
        "genuine": np.append(np.zeros(2 * n, int), np.tile(~np.isnan(genuine_score), 2)),
        "identity": np.append(persons, persons[2 * n :]),
        "group": np.concatenate([*sides, group, group]),
        "pair_weight": np.ones(len(persons)),
        "square": square,
        "blocks": square * rate * (1 - rate),
        "cells": protocol.cell_of,
        "listed": 1.0,
    }


def _add_listed(protocol: Protocol, kept: list, place: list, thresholds: np.ndarray, accepted, every) -> tuple:
    """Add the impostor pairs of a list to their images: all of them, and those above each threshold.

    place: entry of each row, and of each column. accepted: (level, entry, group). every: (entry, group). Returns what
    `_blocks` does, from the pairs one by one, and how many of them typically are of the
    same two people.
    """
    ((row, col, score),) = kept
    weight = rounded(protocol.factors(row, col))
    order = np.argsort(-thresholds)
    first = np.searchsorted(-thresholds[order], -score, side="right")  # of the falling thresholds that it exceeds
    right = first < len(thresholds)
    into = np.zeros(accepted.shape)
    sides = (place[0][row], protocol.reference.group[col]), (place[1][col], protocol.probe.group[row])
    for entry, other in sides:
        np.add.at(every, (entry, other), weight)
        np.add.at(into, (first[right], entry[right], other[right]), weight[right])
    accepted[order] = np.cumsum(into, axis=0)
    n_groups, probe, reference = len(protocol.cell_of), protocol.probe, protocol.reference
    people = np.sort([probe.person[row], reference.person[col]], axis=0)
    groups = np.sort([probe.group[row], reference.group[col]], axis=0).astype(int)
    block, first = pd.factorize(pd.MultiIndex.from_arrays([*people, *groups]))
    whole, blocks = np.bincount(block, weight), []
    of_block = tuple(first.get_level_values(level) for level in (2, 3))  # groups of the two people
    total = _by_groups(of_block, whole, n_groups)
    for threshold in thresholds:
        found = np.bincount(block, weight * (score > threshold))
        rate = np.nan_to_num(ratio(_by_groups(of_block, found, n_groups), total))
        blocks.append(_by_groups(of_block, (found - rate[of_block] * whole) ** 2, n_groups))
    return _by_groups(groups, weight**2, n_groups), np.stack(blocks), whole @ whole / (weight @ weight)


def _by_groups(groups, weight: np.ndarray, n_groups: int) -> np.ndarray:
    """Weights added up by the groups of two sides, the lower one first: (group, group) without order."""
    found = np.zeros((n_groups, n_groups))
    np.add.at(found, tuple(groups), weight)
    return np.maximum(found, found.T)
