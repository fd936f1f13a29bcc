"""Weighted pairs in chunks of rising scores, from which sums of weights are read quickly."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import dask
import numpy as np
from dask.base import get_scheduler
from dask.local import get_sync
from dask.system import CPU_COUNT

from frkit.base import affordable, require
from frkit.engine import kernels
from frkit.engine.entries import Protocol
from frkit.engine.sweep import Swept

SUMS = 64_000_000  # bytes that the sums of all chunks may take
FEWEST, MOST = 100, 2048  # chunks
GENUINE_ENDS = 200  # chunks that end at a genuine score
SAMPLED = 200_000  # scores from which the ends of chunks are chosen
GUESSES = 1 << 16  # even bins of scores, for each of which a chunk nearby is known
PIECE = 250_000  # pairs that are handled at once
ROUNDING = 1e-4  # of the largest score: so far may the score of an image with itself be off


@dataclass(eq=False)
class Pairs:
    """Pairs of one kind in chunks of rising scores, and by cell within a chunk.

    Attributes
    ----------
    row, col : (pair,) entries.
    score : (pair,).
    start : (chunk * cell + 1,) where the pairs of each chunk and cell begin.
    n_cells : cells of impostor pairs; for genuine pairs groups, and last "in no group".
    stands_for : (chunk,) for how many pairs each of its pairs stands: 1 where all were kept.
    row_counts, col_counts : (entry, column) how often an entry counts on either side.
    scale : (entry,) whose products are the weights of pairs in the data, unless `factor` is given.
    factor : (pair,) weights in the data.
    partner : (pair,) row of `col_counts`; `col` but for genuine pairs.
    in_vstatistic : (pair,) weight in the V-statistic where it is not that of the data.
    copy : (pair,) whether a genuine pair is an image with itself.
    whole_counts : whether all pairs weigh 1 in the data.
    """

    row: np.ndarray
    col: np.ndarray
    score: np.ndarray
    start: np.ndarray
    n_cells: int
    stands_for: np.ndarray
    row_counts: np.ndarray
    col_counts: np.ndarray
    scale: np.ndarray
    factor: np.ndarray | None = None
    partner: np.ndarray | None = None
    in_vstatistic: np.ndarray | None = None
    copy: np.ndarray | None = None
    whole_counts: bool = False

    def of_chunk(self, k: int) -> slice:
        """The pairs of a chunk."""
        return slice(int(self.start[k * self.n_cells]), int(self.start[(k + 1) * self.n_cells]))

    def cells_in_chunk(self, k: int) -> np.ndarray:
        """(cell + 1,) where the pairs of each cell begin among those of a chunk."""
        start = self.start[k * self.n_cells : (k + 1) * self.n_cells + 1]
        return start - start[0]

    def slots(self) -> np.ndarray:
        """(pair,) n_cells times the chunk of each pair, and its cell."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def numbers(self) -> np.ndarray:
        """Number of pairs, (chunk, cell); a kept pair counts for all for which it stands."""
        return np.diff(self.start).reshape(-1, self.n_cells) * self.stands_for[:, None]

    def data_weights(self, pairs) -> np.ndarray:
        """Weight of some pairs in the data, without the others for which they stand."""
        if self.factor is not None:
            return self.factor[pairs]
        return self.scale[self.row[pairs]] * self.scale[self.col[pairs]]

    def weights(self, k: int, columns: np.ndarray) -> np.ndarray:
        """Weight of the pairs of chunk k in some columns, (pair, column).

        In a replicate an identity counts c_k times, and its pair w_i w_j times; the copies of an
        image make w_i (w_i - 1) / 2 pairs with score s_ii. In the V-statistic all count in the
        mean.
        """
        pairs = self.of_chunk(k)
        partner = self.col if self.partner is None else self.partner
        weight = self.row_counts[self.row[pairs]][:, columns].astype(float)
        weight *= self.col_counts[partner[pairs]][:, columns]
        weight *= (self.data_weights(pairs) * self.stands_for[k])[:, None]
        if self.in_vstatistic is not None:
            last = columns == self.row_counts.shape[1] - 1
            weight[:, last] = self.in_vstatistic[pairs, None]
        return weight

    def sums(self, value: np.ndarray | None = None) -> np.ndarray:
        """Weight of the pairs, times a value of each, (chunk, cell, column)."""
        counts, n_slots = self.row_counts, len(self.start) - 1
        sums = np.zeros((n_slots, counts.shape[1]))
        whole_counts = self.whole_counts and value is None
        # so many products of two counts can be added up in 16 bits
        run = 65_535 // max(int(counts.max()), 1) ** 2
        ends = self.start[:: self.n_cells]
        pieces = np.searchsorted(ends, np.arange(0, ends[-1], PIECE))
        pieces = np.unique(np.append(pieces, len(ends) - 1)) * self.n_cells

        def add(number: int) -> None:
            slots = slice(pieces[number], pieces[number + 1])
            start = self.start[slots.start : slots.stop + 1]
            pairs = slice(start[0], start[-1])
            partner = self.col if self.partner is None else self.partner
            where = start - start[0], self.row[pairs], partner[pairs]
            if whole_counts:
                kernels.add_counts(*where, counts, run, sums[slots])
                return
            factor = self.data_weights(pairs)
            if value is not None:
                factor = factor * value[pairs]
            kernels.add_weights(*where, factor, counts, self.col_counts, sums[slots])

        if whole_counts and counts.shape[1] == 2:  # no replicates: each pair counts once
            sums += np.diff(self.start)[:, None]
        else:
            n_threads = dask.config.get("num_workers", None) or CPU_COUNT
            with ThreadPoolExecutor(1 if get_scheduler() is get_sync else n_threads) as pool:
                list(pool.map(add, range(len(pieces) - 1)))
        if self.in_vstatistic is not None:
            weight = self.in_vstatistic if value is None else self.in_vstatistic * value
            running = np.append(0.0, np.cumsum(weight))
            sums[:, -1] = np.diff(running[self.start])
        sums = sums.reshape(-1, self.n_cells, counts.shape[1])
        return sums * self.stands_for[:, None, None] if np.any(self.stands_for > 1) else sums


def file_pairs(
    swept: Swept, protocol: Protocol, edges: np.ndarray, self_score: float | None
) -> tuple[Pairs, Pairs, np.ndarray]:
    """Impostor pairs, genuine pairs, and the highest score of each chunk, the last one infinite.

    edges : scores at which a chunk must begin (those of a histogram's bins).
    self_score : of an image with itself where it is known; computed ones differ in the last bits.
    """
    genuine = _genuine_columns(protocol, swept.genuine_scores, self_score)
    upper = _ends_of_chunks(swept, protocol, edges, genuine[2])
    columns, start = _filed(
        swept.impostors, upper, protocol.kind, protocol.cells_of_kinds, protocol.n_cells
    )
    lower = np.append(upper.dtype.type(-np.inf), upper[:-1])
    level = (swept.cuts.astype(upper.dtype) > lower[:, None]).sum(1)
    counts, scale = protocol.counts, protocol.scale
    impostors = Pairs(
        *columns[:3], start, protocol.n_cells, 2.0**level, counts, counts, scale,
        factor=columns[3] if len(columns) > 3 else None,
        whole_counts=protocol.equal_weights,
    )  # fmt: skip

    n_groups = len(protocol.groups)
    cell_of_groups = np.full((n_groups + 1, n_groups + 1), n_groups, np.int32)
    np.fill_diagonal(cell_of_groups, np.arange(n_groups + 1))
    columns, start = _filed(genuine, upper, protocol.group, cell_of_groups, n_groups + 1)
    row, col, score, factor, mean_count, copy = columns
    image_counts, partner = protocol.image_counts, col
    if protocol.has_copies:
        # behind the entries stand the same ones as second images of their own copies, w_i - 1;
        # where w_i is 0 the pair has the weight 0 whatever stands there
        partner = col + copy * np.int32(len(image_counts))
        image_counts = np.concatenate([image_counts, image_counts - np.uint8(1)])
    genuine = Pairs(
        row, col, score, start, n_groups + 1, np.ones(len(upper)), counts, image_counts, scale,
        factor=factor, partner=partner, in_vstatistic=factor * mean_count, copy=copy,
    )  # fmt: skip
    return impostors, genuine, upper


def _genuine_columns(protocol: Protocol, score: np.ndarray, self_score: float | None) -> list:
    """Row, column, score, weight, mean count and copy of the genuine pairs that did not fail.

    FRR is the mean over identities, weighted by p_k squared (section 2.1), of the share of their
    pairs that are rejected (eq. 3): the pairs of an identity share its weight.
    """
    n, row, col = protocol.n_genuine, protocol.genuine_row, protocol.genuine_col
    identity, copy = protocol.genuine_identity, np.arange(len(row)) >= n
    largest = np.fmax.reduce(np.abs(score), initial=0)
    if self_score is not None and np.all(np.abs(score[n:] - self_score) <= ROUNDING * largest):
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
        column[present] for column in (row, col, score, copy, identity)
    )
    factor = protocol.share[identity] ** 2
    if not protocol.pooled:
        factor = factor / n_pairs[identity]
    if np.ptp(factor) <= 1e-14 * factor[0]:
        factor = np.ones(len(factor))  # rates do not change, and sums are exact
    if protocol.symmetric:
        factor = np.where(copy, factor / 2, factor)
    mean_count = np.ones(len(row))
    if protocol.has_copies:
        # E[w_i w_j] and E[w_i (w_i - 1)] are 1 - 1/n within an urn of n images
        urn = np.unique(protocol.images.urn, return_inverse=True)[1][protocol.image]
        n_images = np.bincount(np.unique(protocol.images.urn, return_inverse=True)[1])[urn[row]]
        mean_count = np.where(copy | (urn[row] == urn[col]), 1 - 1 / n_images, 1.0)
    return [row.astype(np.int32), col.astype(np.int32), score, factor, mean_count, copy]


def _ends_of_chunks(swept: Swept, protocol: Protocol, edges, genuine_score) -> np.ndarray:
    """The highest score of each chunk.

    Chunks contain about equally many impostor pairs. Besides, they end at the cuts of the sweep,
    below the edges of bins, and at some genuine scores, so that none contains many genuine pairs.
    """
    score = swept.impostors[2]
    dtype = score.dtype
    cuts = np.unique(swept.cuts[np.isfinite(swept.cuts)]).astype(dtype)
    begins = np.asarray(edges, dtype)
    begins = np.where(begins < edges, np.nextafter(begins, dtype.type(np.inf)), begins)
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
    even = sample[np.linspace(0, len(sample), n_chunks + 1).astype(int)[1:-1]]
    ends = np.concatenate([even, cuts, below_bins, some_genuine.astype(dtype)])
    return np.append(np.unique(ends), dtype.type(np.inf))


def _filed(columns: list, upper, kind, cells_of_kinds, n_cells: int) -> tuple[list, np.ndarray]:
    """Columns (row, column, score, ...) of pairs sorted by chunk and cell, and `Pairs.start`."""
    row, col, score = columns[:3]
    ends = upper[:-1].astype(float)
    low, high = (ends[0], ends[-1]) if len(ends) else (0.0, 1.0)
    bins_per_score = GUESSES / max(high - low, 1e-30)
    middles = low + (np.arange(GUESSES) + 0.5) / bins_per_score
    guess = np.searchsorted(ends, middles).astype(np.int32)
    place = np.empty(len(score), np.int32)
    start = np.zeros(len(upper) * n_cells + 1, np.int64)
    kernels.places(
        row, col, score, kind, cells_of_kinds, upper, guess, low, bins_per_score, start, place
    )
    del row, col, score
    filed = []
    while columns:  # one column at a time, so that no pair is in memory twice
        column = columns.pop(0)
        filed.append(np.empty_like(column))
        filed[-1][place] = column
    return filed, start
