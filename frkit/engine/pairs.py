"""Weighted pairs in chunks of rising scores, from which sums of weights are read quickly."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import dask
import numpy as np
from dask.system import CPU_COUNT

from frkit.base import affordable, require
from frkit.engine import kernels
from frkit.engine.entries import Protocol
from frkit.engine.sweep import Swept

SUMS = 64_000_000  # bytes that the sums of all chunks may take
FEWEST, MOST = 100, 2048  # chunks
GENUINE_ENDS = 200  # chunks that end at a genuine score
SAMPLED = 200_000  # scores from which the ends of chunks are chosen
ROUNDING = 1e-4  # of the largest score: so far may the score of an image with itself be off


@dataclass(eq=False)
class Pairs:
    """Pairs of one kind in chunks of rising scores, and by cell within a chunk.

    Attributes
    ----------
    row, col : (pair,) entries.
    score : (pair,).
    weight : (pair,) in the data; a thinned pair has the weight of all pairs for which it stands.
    start : (chunk, cell + 1) where the pairs of each cell begin, and where the last one ends. Cells
        of genuine pairs are groups, and last "in no group".
    stands_for : (chunk,) for how many pairs each of its pairs stands: 1 where all were kept.
    row_counts, col_counts : (entry, column) how often an entry counts on either side.
    partner : (pair,) row of `col_counts`; `col` but for genuine pairs.
    in_vstatistic : (pair,) weight in the V-statistic where it is not that of the data.
    copy : (pair,) whether a genuine pair is an image with itself.
    whole_counts : whether all pairs weigh 1 in the data.
    """

    row: np.ndarray
    col: np.ndarray
    score: np.ndarray
    weight: np.ndarray
    start: np.ndarray
    stands_for: np.ndarray
    row_counts: np.ndarray
    col_counts: np.ndarray
    partner: np.ndarray
    in_vstatistic: np.ndarray | None = None
    copy: np.ndarray | None = None
    whole_counts: bool = False

    def numbers(self):
        """Number of pairs, (chunk, cell); a kept pair counts for all for which it stands."""
        return np.diff(self.start) * self.stands_for[:, None]

    def chunks_and_cells(self):
        """The chunk and the cell of each pair."""
        sizes = np.diff(self.start)
        slot = np.repeat(np.arange(sizes.size), sizes.ravel())
        return np.divmod(slot, sizes.shape[1])

    def in_chunk(self, k):
        """The pairs of a chunk as a slice, and the cell of each."""
        start = self.start[k]
        cell = np.repeat(np.arange(len(start) - 1), np.diff(start))
        return slice(start[0], start[-1]), cell

    def weights(self, pairs: slice, columns):
        """Weight of some pairs in some columns, (pair, column).

        In a replicate an identity counts c_k times, and its pair w_i w_j times; the copies of an
        image make w_i (w_i - 1) / 2 pairs with score s_ii. In the V-statistic all count in the
        mean.
        """
        weight = self.row_counts[self.row[pairs]][:, columns].astype(float)
        weight *= self.col_counts[self.partner[pairs]][:, columns]
        weight *= self.weight[pairs, None]
        if self.in_vstatistic is not None:
            last = columns == self.row_counts.shape[1] - 1
            weight[:, last] = self.in_vstatistic[pairs, None]
        return weight

    def sums(self, value=None):
        """Weight of the pairs, times a value of each, (chunk, cell, column)."""
        counts, (n_chunks, n_cells) = self.row_counts, np.diff(self.start).shape
        sums = np.zeros((n_chunks, n_cells, counts.shape[1]))
        # so many products of two counts can be added up in 16 bits
        run = 65_535 // max(int(counts.max()), 1) ** 2
        only_counts = self.whole_counts and value is None
        weight = self.weight if value is None else self.weight * value

        def add(chunks: slice) -> None:
            where = self.start[chunks], self.row, self.partner
            if only_counts:
                kernels.add_counts(*where, counts, run, sums[chunks])
            else:
                kernels.add_weights(*where, weight, counts, self.col_counts, sums[chunks])

        n_threads = dask.config.get("num_workers", None) or CPU_COUNT
        ends = np.linspace(0, n_chunks, 4 * n_threads + 1).astype(int)
        slices = map(slice, ends[:-1], ends[1:])
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(add, slices))
        if only_counts:
            sums *= self.stands_for[:, None, None]
        if self.in_vstatistic is not None:
            weight = self.in_vstatistic if value is None else self.in_vstatistic * value
            running = np.append(0.0, np.cumsum(weight))
            sums[:, :, -1] = np.diff(running[self.start])
        return sums


def file_pairs(swept: Swept, protocol: Protocol, edges, self_score: float | None):
    """Impostor pairs, genuine pairs, and the highest score of each chunk, the last one infinite.

    edges : scores at which a chunk must begin (those of a histogram's bins).
    self_score : of an image with itself where it is known; computed ones differ in the last bits.
    """
    genuine = _genuine_columns(protocol, swept.genuine_scores, self_score)
    upper = _ends_of_chunks(swept, protocol, edges, genuine[2])
    impostors = swept.impostors
    start = _sort(impostors, upper, protocol.kind, protocol.cells_of_kinds, protocol.n_cells)
    row, col, score = impostors[:3]
    lowest = upper.dtype.type(-np.inf)
    lower = np.append(lowest, upper[:-1])
    cuts_above = swept.cuts.astype(upper.dtype) > lower[:, None]
    stands_for = 2.0 ** cuts_above.sum(1)
    if len(impostors) > 3:
        weight = impostors[3]
    else:
        weight = protocol.scale[row] * protocol.scale[col]
    weight = weight * np.repeat(stands_for, np.diff(start).sum(1))
    impostor_pairs = Pairs(
        row, col, score, weight, start, stands_for, protocol.counts, protocol.counts, col,
        whole_counts=protocol.equal_weights,
    )  # fmt: skip

    n_groups = len(protocol.groups)
    cell_of_groups = np.full((n_groups + 1, n_groups + 1), n_groups, np.int32)
    np.fill_diagonal(cell_of_groups, np.arange(n_groups + 1))
    start = _sort(genuine, upper, protocol.group, cell_of_groups, n_groups + 1)
    row, col, score, weight, in_vstatistic, copy = genuine
    image_counts = protocol.image_counts
    partner = col
    if protocol.has_copies:
        # behind the entries stand the same ones as second images of their own copies, w_i - 1;
        # where w_i is 0 the pair has the weight 0 whatever stands there
        partner = col + copy * np.int32(len(image_counts))
        image_counts = np.concatenate([image_counts, image_counts - np.uint8(1)])
    once = np.ones(len(upper))
    genuine_pairs = Pairs(
        row, col, score, weight, start, once, protocol.counts, image_counts, partner,
        in_vstatistic=in_vstatistic, copy=copy,
    )  # fmt: skip
    return impostor_pairs, genuine_pairs, upper


def _genuine_columns(protocol: Protocol, score, self_score):
    """Row, column, score, weights (data, V-statistic) and copy of genuine pairs that did not fail.

    FRR is the mean over identities, weighted by p_k squared (section 2.1), of the share of their
    pairs that are rejected (eq. 3): the pairs of an identity share its weight.
    """
    n = protocol.n_genuine
    identity = protocol.genuine_identity
    copy = np.arange(len(score)) >= n
    largest = np.fmax.reduce(np.abs(score), initial=0)
    if self_score is not None:
        rounded = np.abs(score[n:] - self_score) <= ROUNDING * largest
        if rounded.all():
            score = np.where(copy, score.dtype.type(self_score), score)
    present = ~np.isnan(score)
    n_pairs = np.bincount(identity[present & ~copy], minlength=len(protocol.share))
    require(
        n_pairs.any(),
        "all genuine comparisons failed (NaN or marked as missing): there is nothing to evaluate",
    )
    # an identity of which all comparisons failed has no rate: its images with themselves go, too
    present &= n_pairs[identity] > 0
    row, col, score, copy, identity = (
        column[present]
        for column in (protocol.genuine_row, protocol.genuine_col, score, copy, identity)
    )
    weight = protocol.share[identity] ** 2
    if not protocol.pooled:
        weight = weight / n_pairs[identity]
    if np.ptp(weight) <= 1e-14 * weight[0]:
        weight = np.ones(len(weight))  # rates do not change, and sums are exact
    if protocol.symmetric:
        weight = np.where(copy, weight / 2, weight)
    in_vstatistic = weight
    if protocol.has_copies:
        # E[w_i w_j] and E[w_i (w_i - 1)] are 1 - 1/n within an urn of n images
        _, urn, n_images = np.unique(protocol.images.urn, return_inverse=True, return_counts=True)
        first = urn[protocol.image[row]]
        second = urn[protocol.image[col]]
        one_urn = copy | (first == second)
        mean_count = np.where(one_urn, 1 - 1 / n_images[first], 1.0)
        in_vstatistic = weight * mean_count
    return [row.astype(np.int32), col.astype(np.int32), score, weight, in_vstatistic, copy]


def _ends_of_chunks(swept: Swept, protocol: Protocol, edges, genuine_score):
    """The highest score of each chunk, the last one infinite.

    Chunks contain about equally many impostor pairs. Besides, they end at the cuts of the sweep,
    below the edges of bins, and at some genuine scores, so that none contains many genuine pairs.
    """
    score = swept.impostors[2]
    dtype = score.dtype
    begins = np.asarray(edges, dtype)
    next_score = np.nextafter(begins, dtype.type(np.inf))
    begins = np.where(begins < edges, next_score, begins)
    below_bins = np.nextafter(begins, dtype.type(-np.inf))
    some_genuine = np.sort(genuine_score)[:: max(1, len(genuine_score) // GENUINE_ENDS)]
    bytes_of_chunk = 8 * protocol.n_cells * protocol.n_columns
    affordable(
        FEWEST * bytes_of_chunk,
        f"{protocol.n_columns:,} columns (the data and replicates) of {protocol.n_cells:,} pairs "
        "of groups; take fewer groups or replicates",
    )
    n_chunks = int(np.clip(SUMS // bytes_of_chunk, FEWEST, MOST))
    n_chunks = max(min(n_chunks, len(score)), 1)
    sample = np.sort(score[:: max(1, len(score) // SAMPLED)])
    quantiles = np.linspace(0, len(sample), n_chunks + 1).astype(int)
    even = sample[quantiles[1:-1]]
    cuts = swept.cuts[np.isfinite(swept.cuts)].astype(dtype)
    ends = np.concatenate([even, cuts, below_bins, some_genuine.astype(dtype)])
    return np.append(np.unique(ends), dtype.type(np.inf))


def _sort(columns, upper, kind, cells_of_kinds, n_cells):
    """Sort columns (row, column, score, ...) of pairs by chunk and cell; returns `Pairs.start`."""
    place = np.empty(len(columns[0]), np.int32)
    start = np.zeros(len(upper) * n_cells + 1, np.int64)
    kernels.places(*columns[:3], kind, cells_of_kinds, upper, start, place)
    for number in range(len(columns)):  # one at a time, so that no pair is in memory twice
        column = columns[number]
        columns[number] = np.empty_like(column)
        columns[number][place] = column
    first_slot = n_cells * np.arange(len(upper))
    return start[first_slot[:, None] + np.arange(n_cells + 1)]
