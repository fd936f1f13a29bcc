"""All pairs of one model with their weights, by rising score: what every rate is read from."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import dask
import numpy as np
from dask.system import CPU_COUNT

from frkit.base import MEMORY_LIMIT, affordable, remembered, require
from frkit.engine import kernels
from frkit.engine.compared import impostor_totals
from frkit.engine.protocol import Protocol
from frkit.scores.kept import ModelPairs

WORST_GROUP = "worst group"  # whose FAR the levels may refer to
SUMS = 64_000_000  # bytes that the sums of all chunks may take
FEWEST, MOST = 100, 2048  # chunks
PLACES = 200  # of the data's own curve
GENUINE_ENDS = 200  # chunks that end at a genuine score
NONE = np.empty(0)


class Pairs(NamedTuple):
    """Pairs of one kind by rising score, in chunks; a tuple, so that compiled loops take it.

    Attributes
    ----------
    row, col : (pair,) rows of the table of images.
    score : (pair,).
    weight, vstatistic_weight : (pair,) in the data and in the V-statistic; a thinned pair has the
        weight of all pairs for which it stands.
    stands_for : (pair,) for how many pairs of two images it stands: 0 for an image with itself,
        which only replicates and the V-statistic contain.
    cell : (pair,) of impostors that of the protocol; of genuine pairs the group, and last "in no
        group".
    start : (chunk + 1) where the pairs of each chunk begin.
    row_counts, col_counts : (row, column) how often a row counts on either side.
    partner : (pair,) row of `col_counts`; `col` but for pairs of an image with itself.
    """

    row: np.ndarray
    col: np.ndarray
    score: np.ndarray
    weight: np.ndarray
    vstatistic_weight: np.ndarray
    stands_for: np.ndarray
    cell: np.ndarray
    start: np.ndarray
    row_counts: np.ndarray
    col_counts: np.ndarray
    partner: np.ndarray


@dataclass(eq=False)
class Tally:
    """All pairs of one model with their weights.

    Attributes
    ----------
    totals : (cell, column) weight of all impostor pairs.
    genuine_totals : (group, column) weight of all genuine pairs; the last group is "in no group".
    upper : (chunk,) the highest score that belongs to each chunk; the last is infinite.
    impostor_sums, genuine_sums : (chunk, cell or group, column) weight in each chunk.
    accepted : (chunk + 1, cell, column) impostor weight in this and higher chunks.
    rejected : (chunk + 1, group, column) genuine weight in lower chunks.
    extremes : lowest and highest score.
    n_failed : genuine comparisons that failed; n_genuine : all of them.
    any_impostor_failed : whether impostor comparisons failed.
    """

    protocol: Protocol
    impostors: Pairs
    genuine: Pairs
    totals: np.ndarray
    upper: np.ndarray
    extremes: tuple[float, float]
    n_failed: int
    n_genuine: int
    any_impostor_failed: bool

    def __post_init__(self) -> None:
        self.n_groups = len(self.protocol.groups)
        self.impostor_sums = sums_of(self.impostors, self.protocol.n_cells)
        self.genuine_sums = sums_of(self.genuine, self.n_groups + 1)
        n = len(self.upper) + 1
        self.accepted = np.zeros((n, *self.impostor_sums.shape[1:]))
        np.cumsum(self.impostor_sums[::-1], axis=0, out=self.accepted[-2::-1])
        self.rejected = np.zeros((n, *self.genuine_sums.shape[1:]))
        np.cumsum(self.genuine_sums, axis=0, out=self.rejected[1:])
        self.genuine_totals = self.rejected[-1]
        if self.protocol.listed is not None:
            self.totals = self.accepted[0]
        require(
            self.totals[:, 0].any(),
            "all impostor comparisons failed (NaN or marked as missing): there is nothing to "
            "evaluate",
        )


def tally_pairs(kept: ModelPairs, protocol: Protocol, edges=NONE) -> Tally:
    """The pairs of one model under a protocol. edges : of a histogram's bins."""
    return Tally(protocol=protocol, **_by_score(kept, protocol, edges))


def _by_score(kept: ModelPairs, protocol: Protocol, edges) -> dict:
    """The fields of a tally: both kinds of pairs by rising score, and what failed."""
    row, col, is_genuine, is_impostor = kinds_of_pairs(kept, protocol)
    by_score = _order_of_scores(kept.score)
    n_scored = len(by_score) - np.count_nonzero(np.isnan(kept.score))  # NaN come last
    scored, failed = np.split(by_score, [n_scored])
    failed_impostors = failed[is_impostor[failed]]
    genuine = scored[is_genuine[scored]]
    impostors = scored[is_impostor[scored]]
    cell = _cells_of_pairs(protocol, row[impostors], col[impostors])
    if np.any(protocol.cells_of_kinds < 0):
        impostors = impostors[cell >= 0]
        cell = cell[cell >= 0]
    upper = _ends_of_chunks(kept.score[impostors], kept.score[genuine], protocol, edges)
    totals = NONE
    if protocol.listed is None:
        totals = impostor_totals(
            protocol, kept.failed, row[failed_impostors], col[failed_impostors]
        )
    return {
        "impostors": _impostor_pairs(
            kept, protocol, row[impostors], col[impostors], impostors, cell, upper
        ),
        "genuine": _genuine_pairs(kept, protocol, row[genuine], col[genuine], genuine, upper),
        "totals": totals,
        "upper": upper,
        "extremes": (kept.lowest, kept.highest),
        "n_failed": int(np.count_nonzero(is_genuine[failed])),
        "n_genuine": int(np.count_nonzero(is_genuine)),
        "any_impostor_failed": len(failed_impostors) > 0 or bool(np.any(kept.failed)),
    }


def _order_of_scores(score):
    """Places by rising score, NaN last, remembered as long as the scores are in memory.

    Several models of a list are views of one array. Scores that were changed are sorted anew.
    """
    owner = score
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    orders = remembered(owner, "order of scores", dict)
    view = score.ctypes.data, score.dtype, score.shape, score.strides
    if view in orders:
        order = orders[view].astype(np.intp)
        rising = score[order]
        if np.all((rising[:-1] <= rising[1:]) | np.isnan(rising[1:])):
            return order
    order = np.argsort(score)
    orders[view] = order.astype(np.int32 if len(order) < 2**31 else np.int64)
    return order


def kinds_of_pairs(kept: ModelPairs, protocol: Protocol) -> tuple:
    """Rows and columns of the pairs, which of them are genuine, and which are impostors.

    A pair of an image with itself is neither, nor is one of two parts of a person.
    """
    listed = protocol.listed
    if listed is None:
        row, col = kept.row, kept.col
        is_impostor = protocol.person[row] != protocol.person[col]
        is_genuine = ~is_impostor
        if protocol.images.person is not protocol.images.identity:
            is_genuine = protocol.identity[row] == protocol.identity[col]
        return row, col, is_genuine, is_impostor
    is_genuine, is_impostor = np.zeros((2, len(listed.row)), bool)
    is_genuine[listed.genuine] = True
    is_impostor[listed.impostor] = True
    return listed.row, listed.col, is_genuine, is_impostor


def _ends_of_chunks(impostor_score, genuine_score, protocol: Protocol, edges):
    """The highest score of each chunk, the last one infinite.

    Chunks contain about equally many impostor pairs. Besides, they end below the edges of bins,
    and at some genuine scores, so that none contains many genuine pairs.
    """
    dtype = impostor_score.dtype
    begins = np.asarray(edges, dtype)
    next_score = np.nextafter(begins, dtype.type(np.inf))
    begins = np.where(begins < edges, next_score, begins)
    below_bins = np.nextafter(begins, dtype.type(-np.inf))
    some_genuine = genuine_score[:: max(1, len(genuine_score) // GENUINE_ENDS)]
    bytes_of_chunk = 8 * protocol.n_cells * protocol.n_columns
    _require_memory(len(protocol.groups), protocol.n_cells, protocol.n_columns)
    n_chunks = int(np.clip(SUMS // bytes_of_chunk, FEWEST, MOST))
    n_chunks = max(min(n_chunks, len(impostor_score)), 1)
    quantiles = np.linspace(0, len(impostor_score), n_chunks + 1).astype(int)
    even = impostor_score[quantiles[1:-1]]
    ends = np.concatenate([even, below_bins, some_genuine.astype(dtype)])
    return np.append(np.unique(ends), dtype.type(np.inf))


def _require_memory(n_groups, n_cells, n_columns) -> None:
    """Refuse more groups and replicates than tables in memory can have, with what would fit."""
    n_bytes = 2 * 8 * n_cells * (2 * FEWEST * n_columns + 4 * PLACES)
    n_fit = int(n_groups * min(1, np.sqrt(MEMORY_LIMIT / n_bytes)))
    replicates = f" in {n_columns - 2:,} replicates" if n_columns > 2 else ""
    affordable(
        n_bytes,
        f"rates of {n_groups:,} groups and of all {n_cells:,} pairs of groups{replicates}; up to "
        f"{n_fit:,} groups would fit: merge groups, or take an attribute with fewer labels",
    )


def _cells_of_pairs(protocol: Protocol, row, col):
    """The cell of each pair, -1 where it is left out."""
    kind = protocol.kind
    return protocol.cells_of_kinds.take(kind[row] * len(protocol.cells_of_kinds) + kind[col])


def _impostor_pairs(kept, protocol: Protocol, row, col, pairs, cell, upper) -> Pairs:
    """The impostor pairs, whose weight is that of all pairs for which they stand."""
    score = kept.score[pairs]
    weight = protocol.impostor_weights(row, col, pairs)
    stands_for = np.ones(len(pairs), np.float32)
    if kept.stands_for is not None:
        stands_for = kept.stands_for[pairs].astype(np.float32)
        weight = weight * stands_for
    return Pairs(
        row=row,
        col=col,
        score=score,
        weight=weight,
        vstatistic_weight=weight,
        stands_for=stands_for,
        cell=cell,
        start=np.append(0, np.searchsorted(score, upper, side="right")),
        row_counts=protocol.counts,
        col_counts=protocol.counts,
        partner=col,
    )


def _genuine_pairs(kept, protocol: Protocol, row, col, pairs, upper) -> Pairs:
    """The genuine pairs, with those of images with themselves where replicates contain copies.

    An identity of which all comparisons failed has no rate: its images with themselves go, too.
    """
    n_pairs = np.bincount(protocol.identity[row], minlength=len(protocol.share))
    require(
        n_pairs.any(),
        "all genuine comparisons failed (NaN or marked as missing): there is nothing to evaluate",
    )
    score = kept.score[pairs]
    n_two_images = len(row)
    if protocol.has_copies:
        scored = ~np.isnan(kept.self_score) & (n_pairs[protocol.identity] > 0)
        image = np.flatnonzero(scored).astype(row.dtype)
        row, col = np.append(row, image), np.append(col, image)
        score = np.append(score, kept.self_score[image])
    is_copy = np.arange(len(row)) >= n_two_images
    weight = protocol.genuine_weights(row, n_pairs)
    if protocol.symmetric:
        weight = np.where(is_copy, weight / 2, weight)
    vstatistic_weight = protocol.vstatistic_weights(row, col, weight)
    group = protocol.group[row]
    group = np.where(group == protocol.group[col], group, len(protocol.groups))
    counts = protocol.image_counts
    partner = col
    if protocol.has_copies:
        # behind the rows stand the same ones as second images of their own copies, w_i - 1;
        # where w_i is 0 the pair has the weight 0 whatever stands there
        partner = col + is_copy * np.int32(len(counts))
        counts = np.concatenate([counts, counts - np.uint8(1)])
    order = np.argsort(score, kind="stable")
    return Pairs(
        row=row[order],
        col=col[order],
        score=score[order],
        weight=weight[order],
        vstatistic_weight=vstatistic_weight[order],
        stands_for=(~is_copy[order]).astype(np.float32),
        cell=group[order],
        start=np.append(0, np.searchsorted(score[order], upper, side="right")),
        row_counts=protocol.counts,
        col_counts=counts,
        partner=partner[order],
    )


def sums_of(pairs: Pairs, n_cells: int, value=None):
    """Weight of the pairs, times a value of each, (chunk, cell, column)."""
    if value is not None:
        pairs = pairs._replace(
            weight=pairs.weight * value, vstatistic_weight=pairs.vstatistic_weight * value
        )
    n_chunks = len(pairs.start) - 1
    sums = np.zeros((n_chunks, n_cells, pairs.row_counts.shape[1]))
    others = np.flatnonzero(pairs.weight != 1)
    only_counts = np.diff(np.searchsorted(others, pairs.start)) == 0
    largest = int(pairs.row_counts.max()) * int(pairs.col_counts.max())
    run = 65_535 // max(largest, 1)  # so many products of two counts can be added up in 16 bits

    def add(first: int, last: int) -> None:
        kernels.add_sums(pairs, only_counts, run, first, sums[first:last])

    n_threads = dask.config.get("num_workers", None) or CPU_COUNT
    ends = np.linspace(0, n_chunks, 4 * n_threads + 1).astype(int)
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(add, ends[:-1], ends[1:]))
    if pairs.vstatistic_weight is not pairs.weight:
        chunk = np.repeat(np.arange(n_chunks), np.diff(pairs.start))
        place = chunk * n_cells + pairs.cell
        in_vstatistic = np.bincount(place, pairs.vstatistic_weight, n_chunks * n_cells)
        sums[:, :, -1] = in_vstatistic.reshape(n_chunks, n_cells)
    return sums
