"""What the pairs of a list add up to: in the bins of a sweep, in histograms, and for the images that they compare."""

import numpy as np
import pandas as pd

from frkit.engine.pairs import Pairs, common_group, ratio
from frkit.engine.pilot import Ladder
from frkit.engine.protocol import Protocol
from frkit.engine.scan import rounded, slot_sums
from frkit.engine.sweep import Tally

PAIRS_PER_BIN, MOST_BINS = 1024, 1024
CHUNK = 8192  # pairs whose weights are written out at once


def list_ladder(score: np.ndarray) -> Ladder:
    """Equal bins between the lowest and the highest score, all of them kept; one bin where pairs are few."""
    score = score[~np.isnan(score)]
    n_bins = min(len(score) // PAIRS_PER_BIN, MOST_BINS)
    low, high = (float(score.min()), float(score.max())) if n_bins > 1 else (0.0, 1.0)
    return Ladder.even(low, high, max(n_bins, 1), keep=True)


def _counted(scores: np.ndarray, protocol: Protocol) -> tuple:
    """Score, row, column and cell of the impostor pairs that enter rates: not failed, and in a cell."""
    impostor = protocol.listed.impostor
    score, (row, col) = scores[impostor], protocol.listed.places(impostor)
    cell = protocol.cells(row, col)
    counted = (cell >= 0) & ~np.isnan(score)
    return tuple(part[counted] for part in (score, row, col, cell))


def tally_list(scores: np.ndarray, protocol: Protocol, ladder: Ladder) -> Tally:
    """The impostor pairs of a list, added up by bin and cell, and all of them kept; genuine scores as asked for."""
    score, row, col, cell = _counted(scores, protocol)
    slot, n_slots = ladder.bins_of(score) * protocol.n_cells + cell, ladder.n_bins * protocol.n_cells
    count = np.bincount(slot, minlength=n_slots).reshape(ladder.n_bins, protocol.n_cells)
    sums = {"weight": slot_sums(slot, n_slots, row, col, protocol), "count": count}
    return Tally(sums, {"kept": [(row, col, score)], "asked": asked_of_list(scores, protocol)})


def asked_of_list(scores: np.ndarray, protocol: Protocol) -> list[tuple]:
    """The scores of the genuine pairs of a list, with their places, as a sweep lists what it is asked for."""
    return [(np.arange(protocol.n_genuine), scores[protocol.listed.genuine])]


def bin_list(scores: np.ndarray, protocol: Protocol, bins) -> Tally:
    """The sums of the impostor pairs of a list in these bins, as `frkit.engine.distributions.scan` makes them."""
    score, row, col, cell = _counted(scores, protocol)
    middle, bins = bins.middle, bins.of(score)
    binned = slot_sums(bins * protocol.n_cells + cell, len(middle) * protocol.n_cells, row, col, protocol)
    powers = np.zeros((2, protocol.n_cells, protocol.n_columns))
    for begin in range(0, len(score), CHUNK):
        for c in range(protocol.n_cells):
            own = begin + np.flatnonzero(cell[begin : begin + CHUNK] == c)
            weight = protocol.probe.real_weight[row[own]] * protocol.reference.real_weight[col[own]]
            factor = protocol.factors(row[own], col[own])
            for power in (1, 2):
                rest = score[own].astype(float) ** power - middle[bins[own]] ** power
                powers[power - 1, c] += (factor * rest) @ weight.astype(float)
    extremes = [float(score.min(initial=np.inf)), float(score.max(initial=-np.inf))]
    return Tally({"binned": binned, "powers": powers}, {"extremes": extremes})


def of_pairs_alone(
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

    def by_groups(weight: np.ndarray) -> np.ndarray:
        found = np.zeros((n_groups, n_groups))
        np.add.at(found, tuple(np.sort(sides, axis=0)), weight)
        return np.maximum(found, found.T)

    square = by_groups(counted)
    rate = np.nan_to_num(ratio(np.stack([by_groups(accepted) for accepted in exceeds[:, :n]]), square))
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


def add_listed(protocol: Protocol, kept: list, place: list, thresholds: np.ndarray, accepted, every) -> tuple:
    """Add the impostor pairs of a list to their images: all of them, and those above each threshold.

    place: entry of each row, and of each column. accepted: (level, entry, group). every: (entry, group). Returns what
    `frkit.engine.influence_sums._blocks` does, from the pairs one by one, and how many of them typically are of the
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
    both = (np.maximum(part, np.swapaxes(part, -1, -2)) for part in (square, blocks))
    return *both, whole @ whole / (weight @ weight)
