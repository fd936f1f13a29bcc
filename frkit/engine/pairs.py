"""A weighted list of impostor pairs, filed by score, and the genuine pairs with their weights."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import dask
import numpy as np
from dask.base import get_scheduler
from dask.local import get_sync
from dask.system import CPU_COUNT

from frkit.base import affordable, require
from frkit.engine import kernels
from frkit.engine.protocol import Protocol
from frkit.engine.sweep import Swept

SUMS = 64_000_000  # bytes that the sums of all chunks may take
FEWEST, MOST = 100, 2048  # chunks
GENUINE_ENDS = 200  # chunks that end at a genuine score
SAMPLED = 200_000  # scores from which the ends of chunks are chosen
PIECE = 250_000  # pairs that are handled at once
ROUNDING = 1e-4  # of the largest score: so far may the score of an image with itself be off


def each(work, n: int) -> list:
    """The work for 0 .. n - 1 on the threads of the active scheduler."""
    n_threads = dask.config.get("num_workers", None) or CPU_COUNT
    if get_scheduler() is get_sync or n_threads == 1:
        return [work(k) for k in range(n)]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, range(n)))


@dataclass(frozen=True, eq=False)
class ImpostorPairs:
    """Impostor pairs in chunks of rising scores, and by cell within a chunk.

    Attributes
    ----------
    row, col : (pair,) entries. score : (pair,).
    upper : (chunk,) the highest score that belongs to each chunk; the last is infinite.
    start : (chunk * cell + 1,) where the pairs of each chunk and cell begin.
    stands_for : (chunk,) how many pairs each of its pairs stands for: 1 where all were kept.
    listed_factor : (pair,) weights that a list gives its pairs, or None.
    """

    protocol: Protocol
    row: np.ndarray
    col: np.ndarray
    score: np.ndarray
    upper: np.ndarray
    start: np.ndarray
    stands_for: np.ndarray
    listed_factor: np.ndarray | None = None

    @property
    def n_chunks(self) -> int:
        """Number of chunks."""
        return len(self.upper)

    def of_chunks(self, first: int, last: int) -> slice:
        """The pairs of the chunks from `first` up to, without, `last`."""
        n_cells = self.protocol.n_cells
        return slice(int(self.start[first * n_cells]), int(self.start[last * n_cells]))

    def pieces(self, first: int, last: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Some pairs at a time of the chunks from `first` up to, without, `last`.

        With the chunk of each.
        """
        ends = self.start[:: self.protocol.n_cells]
        while first < last:
            end = np.searchsorted(ends[: last + 1], ends[first] + PIECE, "right") - 1
            end = max(int(end), first + 1)
            chunk = np.repeat(np.arange(first, end), np.diff(ends[first : end + 1]))
            yield self.of_chunks(first, end), chunk
            first = end

    def chunk_of(self, score) -> np.ndarray:
        """The chunk to which scores belong."""
        return np.searchsorted(self.upper, score, side="left")

    def counts(self) -> np.ndarray:
        """Number of pairs, (chunk, cell); a kept pair counts for all that it stands for."""
        many = np.diff(self.start).reshape(self.n_chunks, -1)
        return many * self.stands_for[:, None]

    def factor(self, part: slice) -> np.ndarray:
        """Weight in the data of some pairs, without what they stand for."""
        if self.listed_factor is not None:
            return self.listed_factor[part]
        if self.protocol.equal_scale:
            return np.ones(len(self.row[part]))
        return self.protocol.scale[self.row[part]] * self.protocol.scale[self.col[part]]

    def sums(self, value: np.ndarray | None = None) -> np.ndarray:
        """Weight of the pairs, times a value of each, (chunk, cell, column)."""
        n_cells, counts = self.protocol.n_cells, self.protocol.weight
        sums = np.zeros((len(self.start) - 1, counts.shape[1]))
        plain = value is None and self.protocol.equal_scale
        if plain and counts.shape[1] == 2:  # the data alone, in which each pair counts once
            sums += np.diff(self.start)[:, None]
        else:
            run = 65_535 // max(int(counts.max()), 1) ** 2
            ends = self.start[::n_cells]
            pieces = np.searchsorted(ends, np.arange(0, ends[-1], PIECE))
            pieces = np.unique(np.append(pieces, self.n_chunks)) * n_cells

            def add(number: int) -> None:
                slots = slice(int(pieces[number]), int(pieces[number + 1]))
                start = self.start[slots.start : slots.stop + 1]
                part = slice(int(start[0]), int(start[-1]))
                pairs = start - start[0], self.row[part], self.col[part]
                if plain:
                    kernels.add_counts(*pairs, counts, run, sums[slots])
                else:
                    factor = self.factor(part) * (1.0 if value is None else value[part])
                    kernels.add_weights(*pairs, factor, counts, counts, sums[slots])

            each(add, len(pieces) - 1)
        sums = sums.reshape(self.n_chunks, n_cells, -1)
        return sums * self.stands_for[:, None, None] if np.any(self.stands_for > 1) else sums


def file_pairs(
    swept: Swept, protocol: Protocol, edges: np.ndarray, genuine: "GenuinePairs"
) -> ImpostorPairs:
    """Impostor pairs in chunks that end at the cuts of the sweep and at further scores.

    edges: scores at which a chunk must begin (those of a histogram's bins). genuine: of which no
    chunk shall contain many.
    """
    row, col, score = swept.pairs
    dtype = score.dtype
    cuts = np.unique(swept.cuts[np.isfinite(swept.cuts)]).astype(dtype)
    begins = np.asarray(edges, dtype)
    begins = np.where(begins < edges, np.nextafter(begins, dtype.type(np.inf)), begins)
    below = np.nextafter(begins, dtype.type(-np.inf))
    some_genuine = np.sort(genuine.score)[:: max(1, len(genuine.score) // GENUINE_ENDS)]
    fixed = np.concatenate([cuts, below, some_genuine.astype(dtype)])
    upper = _ends_of_chunks(score, protocol, fixed)
    place = np.empty(len(score), np.int32)
    cells = protocol.kind, protocol.cell_of, protocol.n_cells
    kernels.slots(row, col, score, *cells, upper, *_guesses(upper), place)
    many = np.bincount(place, minlength=len(upper) * protocol.n_cells)
    start = np.append(0, np.cumsum(many)).astype(np.int64)
    kernels.places(place, start[:-1].copy())
    del row, col, score
    filed = []
    while swept.pairs:  # one column at a time, so that no pair is in memory twice
        column = swept.pairs.pop(0)
        filed.append(np.empty_like(column))
        filed[-1][place] = column
    lower = np.append(dtype.type(-np.inf), upper[:-1])
    level = (swept.cuts.astype(dtype)[None] > lower[:, None]).sum(1)
    return ImpostorPairs(protocol, *filed, upper, start, 2.0**level)


def list_pairs(
    score: np.ndarray, protocol: Protocol, edges: np.ndarray, genuine: "GenuinePairs"
) -> ImpostorPairs:
    """The impostor pairs of a list, filed in the same way; failed comparisons are left out."""
    listed = protocol.pairs
    value = score[listed.impostor]
    here = ~np.isnan(value) & (protocol.cells(listed.row, listed.col) >= 0)
    row, col, value = listed.row[here], listed.col[here], value[here]
    swept = Swept([row, col, value], np.array([-np.inf]), (), np.empty(0), ())
    filed = file_pairs(swept, protocol, edges, genuine)
    if listed.factor is None:
        return filed
    chunk = filed.chunk_of(value)
    slot = chunk * protocol.n_cells + protocol.cells(row, col)
    factor = listed.factor[here][np.argsort(slot, kind="stable")]
    return ImpostorPairs(
        protocol, filed.row, filed.col, filed.score, filed.upper, filed.start,
        filed.stands_for, factor,
    )  # fmt: skip


def _ends_of_chunks(score: np.ndarray, protocol: Protocol, fixed: np.ndarray) -> np.ndarray:
    """Ends of chunks with about equally many pairs, and those that are given."""
    bytes_of_chunk = 8 * protocol.n_cells * protocol.n_columns
    affordable(
        FEWEST * bytes_of_chunk,
        f"{protocol.n_columns:,} columns (the data and replicates) of {protocol.n_cells:,} pairs "
        "of groups; take fewer groups or replicates",
    )
    n_chunks = int(np.clip(SUMS // bytes_of_chunk, FEWEST, MOST))
    n_chunks = max(min(n_chunks, len(score)), 1)
    sample = np.sort(score[:: max(1, len(score) // SAMPLED)])
    ends = sample[np.linspace(0, len(sample), n_chunks + 1).astype(int)[1:-1]]
    ends = np.unique(np.append(ends, fixed)).astype(fixed.dtype)
    return np.append(ends, fixed.dtype.type(np.inf))


def _guesses(upper: np.ndarray) -> tuple[np.ndarray, float, float]:
    """A chunk near each of many even bins of scores, and these bins."""
    ends = upper[:-1].astype(float)
    low, high = (ends[0], ends[-1]) if len(ends) else (0.0, 1.0)
    n_bins = 1 << 16
    scale = n_bins / max(high - low, 1e-30)
    bins = low + (np.arange(n_bins) + 0.5) / scale
    return np.searchsorted(ends, bins).astype(np.int32), low, scale


# --- genuine pairs -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class GenuinePairs:
    """Genuine pairs by group (of both sides), and within a group by rising score.

    Attributes
    ----------
    row, col : (pair,) entries. score, group : (pair,); the last group is "in no group".
    factor : (pair,) weight in the data. copy : whether the pair is an image with itself.
    mean_count : (pair,) mean of the product of both counts when images are drawn.
    start : (group + 1,) where each group begins. n_failed : comparisons that failed.
    """

    protocol: Protocol
    row: np.ndarray
    col: np.ndarray
    score: np.ndarray
    group: np.ndarray
    factor: np.ndarray
    copy: np.ndarray
    mean_count: np.ndarray
    start: np.ndarray
    n_failed: int

    @property
    def n_groups(self) -> int:
        """Groups, and "in no group"."""
        return len(self.start) - 1

    @cached_property
    def partner_count(self) -> np.ndarray:
        """How often each entry is the second image of a pair, (entry, column).

        Behind the entries stand the same ones as second images of their own copies, w_i - 1.
        Where w_i is 0 the pair has the weight 0 whatever stands there.
        """
        counts = self.protocol.image_count
        return np.concatenate([counts, counts - np.uint8(1)]) if self.copy.any() else counts

    @cached_property
    def partner(self) -> np.ndarray:
        """(pair,) the row of `partner_count` of each pair."""
        return self.col + self.copy * np.int32(len(self.protocol.image_count))

    def weights(self, columns: np.ndarray, pairs) -> np.ndarray:
        """Weight of some pairs in some columns, (pair, column).

        In a replicate an identity counts c_k times, and its pair w_i w_j; the copies of an image
        make w_i (w_i - 1) / 2 pairs with score s_ii. In the V-statistic all count in the mean.
        """
        weight = self.protocol.weight[self.row[pairs]][:, columns].astype(float)
        weight *= self.partner_count[self.partner[pairs]][:, columns]
        weight *= self.factor[pairs][:, None]
        in_the_mean = self.factor[pairs] * self.mean_count[pairs]
        weight[:, columns == self.protocol.n_columns - 1] = in_the_mean[:, None]
        return weight

    def sums(self, ends: np.ndarray, side: str, value: np.ndarray | None = None) -> np.ndarray:
        """Weight of pairs, times a value of each, by interval of scores: (interval, group, column).

        ends: (interval,) where each ends; side: "right" where the ends belong to it, or "left".
        """
        ends_in_group = [
            first + np.searchsorted(self.score[first:last], ends, side)
            for first, last in pairwise(self.start)
        ]
        start = np.append(0, np.concatenate(ends_in_group))
        factor = self.factor if value is None else self.factor * value
        counts = self.protocol.weight
        sums = np.zeros((len(start) - 1, counts.shape[1]))
        pairs = start, self.row, self.partner, factor
        kernels.add_weights(*pairs, counts, self.partner_count, sums)
        running = np.append(0.0, np.cumsum(factor * self.mean_count))
        sums[:, -1] = np.diff(running[start])
        return np.moveaxis(sums.reshape(self.n_groups, len(ends), -1), 0, 1)


def genuine_pairs(protocol: Protocol, score: np.ndarray, self_score: float | None) -> GenuinePairs:
    """Genuine pairs from the scores of the protocol's pairs, NaN where the comparison failed.

    self_score: of an image with itself, where it is known; computed ones differ in the last bits.
    """
    n, (row, col) = protocol.n_genuine, protocol.genuine
    largest = np.fmax.reduce(np.abs(score), initial=0)
    if self_score is not None and np.all(np.abs(score[n:] - self_score) <= ROUNDING * largest):
        score = np.append(score[:n], np.full(len(row) - n, self_score, score.dtype))
    copy = np.arange(len(row)) >= n
    here = ~np.isnan(score)
    n_failed = n - int(here[:n].sum())
    require(
        n_failed < n,
        "all genuine comparisons failed (NaN or marked as missing): there is nothing to evaluate",
    )
    present = np.bincount(protocol.owner[:n][here[:n]], minlength=len(protocol.share))
    # an identity of which all comparisons failed has no rate: its images with themselves go, too
    here &= ~copy | (present[protocol.owner] > 0)
    # FRR weighs an identity by p_k squared (section 2.1), which its pairs share; or all alike
    mass = protocol.share**2 * (present if protocol.pooled else 1.0)
    per_pair = np.divide(mass, present, out=np.zeros(len(present)), where=present > 0)
    factor = per_pair[protocol.owner]
    if np.ptp(factor[here]) <= 1e-14 * factor[here][0]:
        factor = np.ones(len(factor))  # rates do not change, and sums are exact
    factor = factor * np.where(copy & protocol.symmetric, 0.5, 1.0)
    group = common_group(protocol, row, col)
    order = np.flatnonzero(here)
    order = order[np.lexsort((score[order], group[order]))]
    group = group[order]
    start = np.searchsorted(group, np.arange(len(protocol.groups) + 2))
    return GenuinePairs(
        protocol, row[order].astype(np.int32), col[order].astype(np.int32), score[order], group,
        factor[order], copy[order],
        _mean_count(protocol, row, col, copy)[order], start, n_failed,
    )  # fmt: skip


def common_group(protocol: Protocol, row: np.ndarray, col: np.ndarray) -> np.ndarray:
    """The group of both sides; none where they differ."""
    probe, reference = protocol.group[row], protocol.group[col]
    return np.where(probe == reference, probe, len(protocol.groups))


def _mean_count(protocol: Protocol, row, col, copy: np.ndarray) -> np.ndarray:
    """E[w_i w_j] over draws of images, and E[w_i (w_i - 1)]: 1 - 1/n within an urn of n images."""
    if not protocol.diagonal:
        return np.ones(len(row))
    urn = np.unique(protocol.images.urn, return_inverse=True)[1]
    probe, reference = urn[protocol.image[row]], urn[protocol.image[col]]
    n_images = np.bincount(urn)[probe]
    return np.where(copy | (probe == reference), 1 - 1 / n_images, 1.0)
