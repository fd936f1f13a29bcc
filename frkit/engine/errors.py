"""A sweep for the pairs that go wrong: who accepts whom above a threshold, added up by identity or listed."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from frkit.engine.protocol import Protocol
from frkit.engine.sweep import Tally


@dataclass(frozen=True, eq=False)
class ErrorRequest:
    """What the sweep is to bring back.

    thresholds: (level,) ascending or not; n_identities: identity codes. asking: for the scores of genuine pairs.
    wanted: (identity,) of whom accepted pairs are listed, at most `limit` of them, or None to add up instead.
    """

    protocol: Protocol
    thresholds: np.ndarray
    n_identities: int
    asking: bool = False
    wanted: np.ndarray | None = None
    limit: int = 0


def scan(places: list[tuple], request: ErrorRequest, scores: Iterable[np.ndarray]) -> Tally:
    """The errors in some blocks, as `new_tally` says; "asked" are the scores of genuine pairs."""
    protocol, tally = request.protocol, new_tally(request)
    for block, (rows, cols, genuine) in zip(scores, places, strict=True):
        if genuine is not None:
            tally.lists["asked"].append((genuine[0], block[genuine[1], genuine[2]]))
        row, col = np.nonzero(block > np.min(request.thresholds, initial=np.inf))
        score, row, col = block[row, col], row + rows.start, col + cols.start
        keep = protocol.probe.person[row] != protocol.reference.person[col]
        if protocol.symmetric:
            keep &= col > row
        add_errors(row[keep], col[keep], score[keep], request, tally)
    tally.lists["pairs"][:] = [largest(tally, request.limit)]
    return tally


def new_tally(request: ErrorRequest) -> Tally:
    """Nothing yet: "weight" (level, identity) of accepted pairs, half to each side, and listed "pairs"."""
    weight = np.zeros((len(request.thresholds), request.n_identities))
    no_pairs = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32)
    return Tally({"weight": weight}, {"pairs": [no_pairs], "asked": []})


def add_errors(row: np.ndarray, col: np.ndarray, score: np.ndarray, request: ErrorRequest, tally: Tally) -> None:
    """Add the errors among some impostor pairs to a tally, or list those with a wanted identity on either side."""
    protocol = request.protocol
    keep = (score > np.min(request.thresholds, initial=np.inf)) & (protocol.cells(row, col) >= 0)
    row, col, score = row[keep], col[keep], score[keep]
    sides = protocol.probe.identity[row], protocol.reference.identity[col]
    if request.wanted is not None:
        chosen = request.wanted[sides[0]] | request.wanted[sides[1]]
        tally.lists["pairs"].append((row[chosen], col[chosen], score[chosen]))
        return
    half = 0.5 * protocol.factors(row, col)
    for level, threshold in enumerate(request.thresholds):
        above = score > threshold
        for identity in sides:
            weight = np.bincount(identity[above], half[above], minlength=request.n_identities)
            tally.sums["weight"][level] += weight


def largest(tally: Tally, limit: int) -> tuple:
    """Row, column and score of the listed pairs with the largest scores; equal scores in the order of the images."""
    row, col, score = (np.concatenate(part) for part in zip(*tally.lists["pairs"], strict=True))
    first = np.lexsort((col, row, -score))[:limit]
    return row[first], col[first], score[first]
