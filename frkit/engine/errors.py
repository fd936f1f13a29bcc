"""A sweep for the pairs that go wrong: who accepts whom above a threshold, added up by identity or listed."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from frkit.engine.protocol import Protocol


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


@dataclass(frozen=True, eq=False)
class Errors:
    """Additive: weight (level, identity) of accepted pairs, half to each side; listed pairs; genuine scores."""

    weight: np.ndarray
    pairs: tuple
    genuine: list


def scan(places: list[tuple], request: ErrorRequest, scores: Iterable[np.ndarray]) -> Errors:
    """The errors in some blocks."""
    weight = np.zeros((len(request.thresholds), request.n_identities))
    lists, found = [_no_pairs()], []
    for block, (row0, col0, genuine) in zip(scores, places, strict=True):
        if genuine is not None:
            found.append((genuine[0], block[genuine[1], genuine[2]]))
        row, col, score = accepted(block, row0, col0, request)
        if request.wanted is None:
            _add(row, col, score, request, weight)
        else:
            lists.append(_chosen(row, col, score, request))
    return Errors(weight, _largest(lists, request.limit), found)


def accepted(block: np.ndarray, row0: int, col0: int, request: ErrorRequest) -> tuple:
    """Row, column and score of the impostor pairs above the lowest threshold."""
    protocol = request.protocol
    row, col = np.nonzero(block > np.min(request.thresholds, initial=np.inf))
    score = block[row, col]
    row, col = row + row0, col + col0
    keep = protocol.probe.person[row] != protocol.reference.person[col]
    if protocol.symmetric:
        keep &= col > row
    return _counted((row[keep], col[keep], score[keep]), protocol)


def of_list(row: np.ndarray, col: np.ndarray, score: np.ndarray, request: ErrorRequest) -> Errors:
    """The errors among listed impostor pairs: positions on both sides of the protocol, and scores."""
    above = score > np.min(request.thresholds, initial=np.inf)
    pairs = _counted((row[above], col[above], score[above]), request.protocol)
    weight = np.zeros((len(request.thresholds), request.n_identities))
    if request.wanted is None:
        _add(*pairs, request, weight)
        return Errors(weight, _no_pairs(), [])
    return Errors(weight, _largest([_chosen(*pairs, request)], request.limit), [])


def _counted(pairs: tuple, protocol: Protocol) -> tuple:
    """The pairs whose cell of groups enters the FAR."""
    row, col, score = pairs
    keep = protocol.cells(row, col) >= 0
    return row[keep], col[keep], score[keep]


def _add(row, col, score, request: ErrorRequest, weight: np.ndarray) -> None:
    """Half of each accepted pair's weight to the identity on either side."""
    protocol = request.protocol
    sides = (protocol.probe, row), (protocol.reference, col)
    pair = 0.5 * protocol.factors(row, col)
    for level, threshold in enumerate(request.thresholds):
        above = score > threshold
        for side, at in sides:
            weight[level] += np.bincount(side.identity[at[above]], pair[above], minlength=request.n_identities)


def _chosen(row, col, score, request: ErrorRequest) -> tuple:
    """The pairs with a wanted identity on either side."""
    protocol, wanted = request.protocol, request.wanted
    keep = wanted[protocol.probe.identity[row]] | wanted[protocol.reference.identity[col]]
    return row[keep], col[keep], score[keep]


def _no_pairs() -> tuple:
    return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32)


def _largest(lists: list[tuple], limit: int) -> tuple:
    """The pairs with the largest scores of several lists; equal scores in the order of the images."""
    row, col, score = (np.concatenate(part) for part in zip(*lists, strict=True))
    first = np.lexsort((col, row, -score))[:limit]
    return row[first], col[first], score[first]


def add(request_limit: int) -> "Errors":
    """Make the sum of several parts, which keeps the longest list within the limit."""

    def total(*parts: Errors) -> Errors:
        return Errors(
            np.add.reduce([part.weight for part in parts]),
            _largest([part.pairs for part in parts], request_limit),
            [one for part in parts for one in part.genuine],
        )

    return total
