"""The plan of a sweep: a score floor, bins that are narrow near each level, and which bins' pairs to keep.

A plan is a guess from a pilot of the scores. A wrong guess costs time (a second sweep), never correctness.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product

import numpy as np
import xarray as xr

from frkit.engine.protocol import Protocol
from frkit.engine.sweep import bounds, parts_of, refuse_endless

CELLS = 1 << 15  # fine score cells; a bin is a run of them
EVEN_BINS = 2048  # of a plan that knows nothing
TAIL_PAIRS = 8_000  # about so many of the highest impostor pairs are kept whatever the levels
TOP_PAIRS = 200  # and so many of them stand in the last bin
KEPT_LIMIT = 300_000_000  # pairs that may be kept, or fetched by a second sweep, in a file of at most 3.6 GB
FEW_PAIRS = 15_000_000  # pairs that are all kept where the pilot tells nothing
BINS_PER_ZONE = 12
WIDEST = 0.1  # width of a zone's bin in the logarithm of FAR, at most
COARSE_STEP = 1.4  # ratio of FARs across a bin between two zones
SAFETY = 4.5  # half-width of a zone, in estimated standard deviations of a replicate's FAR: thousands of thresholds

PILOT_PAIRS = 300_000  # pairs in the pilot, at least
PILOT_SHARE = 300  # and one in so many of all pairs
PILOT_SIDE = 512  # images along each side of its blocks
PILOT_BLOCKS, MOST_PILOT_BLOCKS = 24, 400  # of the tensor, or one in fifty: few blocks hold few people
MOST_PILOT_PAIRS = 6_300_000
PILOT_REPLICATES = 24
ERROR_SAFETY, MANY_GENUINE = 8, 100_000  # half-width of a crossing's zone in 1 / sqrt(errors), doubled for many pairs
DIAGONAL_BLOCKS, MANY_BLOCKS = 8, 64  # whole blocks with genuine pairs that the pilot looks at: a quarter; all of many
TAIL_SHARE = 0.4  # of the pilot's scores that are sorted, unless something lies below them
FETCHED_LIMIT = 5_000_000  # pairs that may be kept, or fetched, whatever the number of all
FINER_SUMS = 2_000_000  # sums (bin, cell, column) that finer bins may take: 16 MB in each partial tally
BLURRED = 16  # columns of a pilot's weights that tell its own error


@dataclass(frozen=True, eq=False)
class Ladder:
    """Score bins: `bin_of_cell[(score - low) * scale]`; pairs of bins marked `keep` are kept one by one."""

    low: float
    floor: float
    scale: float
    bin_of_cell: np.ndarray
    keep: np.ndarray

    @classmethod
    def even(cls, low: float, high: float, n_bins: int, keep: bool) -> "Ladder":
        """Equal bins over all scores."""
        scale = min(CELLS / max(high - low, np.finfo(np.float32).tiny), 1e30)
        bin_of_cell = (np.arange(CELLS + 1) * n_bins // (CELLS + 1)).astype(np.int16)
        return cls(low, -np.inf, scale, bin_of_cell, np.full(n_bins, keep))

    @property
    def n_bins(self) -> int:
        """Number of bins; the last is open to the top."""
        return len(self.keep)

    def arrays(self, dtype: np.dtype) -> tuple:
        """The ladder as the kernels take it, in the scores' own precision."""
        as_score = np.dtype(dtype).type
        return as_score(self.low), as_score(self.floor), as_score(self.scale), self.bin_of_cell, self.keep

    def bins_of(self, scores: np.ndarray) -> np.ndarray:
        """The bin of each of some scores, in their own precision, as `kernels.bin_index` sees it."""
        low, _, scale, bin_of_cell, _ = self.arrays(scores.dtype)
        cell = np.clip((scores - low) * scale, 0, len(bin_of_cell) - 1)
        return bin_of_cell[cell.astype(np.intp)].astype(np.int32)

    def keeping(self, bins: np.ndarray) -> "Ladder":
        """The same bins, of which only these are kept."""
        return replace(self, keep=np.isin(np.arange(self.n_bins), bins))

    def finer(self, bins: np.ndarray, counts: np.ndarray, n_sums: int, n_pairs: int) -> "Ladder | None":
        """Narrower bins in place of these, where too many pairs would have to be fetched; otherwise None.

        They hold about equally many pairs; elsewhere bins are as few as possible, and none is kept. counts: (bin,)
        pairs, which within a bin are taken to be spread evenly. n_sums: sums in each bin. n_pairs: pairs in all.
        """
        n_bins = min(FINER_SUMS // n_sums, CELLS // 2)
        if self.keep[bins].all() or counts[bins].sum() <= most_kept(n_pairs) or n_bins <= len(bins):
            return None
        wanted = self.keeping(bins).keep
        first, last = np.flatnonzero(wanted[self.bin_of_cell])[[0, -1]]
        # one more cell at either end, so that what lies beyond has bins of its own
        n_old = last + 3 - first
        cell = first - 1 + np.arange(CELLS + 1) * n_old // (CELLS + 1)
        old = self.bin_of_cell[np.clip(cell, first, last)]
        inside = wanted[old] & (cell >= first) & (cell <= last)
        pairs = np.where(inside, (counts / np.bincount(old, minlength=self.n_bins).clip(1))[old], 0.0)
        place = np.floor(np.cumsum(pairs) / pairs.sum() * (n_bins - 1))
        new = (np.diff(place) > 0) | (np.diff(inside.astype(int)) != 0)
        bin_of_cell = np.append(0, np.cumsum(new)).astype(np.int16)
        low, scale = self.low + (first - 1) / self.scale, self.scale * CELLS / n_old
        return Ladder(low, -np.inf, scale, bin_of_cell, np.zeros(bin_of_cell[-1] + 1, bool))


@dataclass(frozen=True, eq=False)
class Pilot:
    """A sample of the scores.

    patches: each some scores (row, col), NaN where there is no impostor pair, and weights (image, column) of its rows
    and of its columns: the data, then BLURRED columns in which images count at random, then some replicates.
    genuine: (3, pair) score, weight in the FRR, and group. n_groups: groups. share: of the scores that are sorted.
    """

    patches: list[tuple[np.ndarray, np.ndarray, np.ndarray]]
    genuine: np.ndarray
    n_groups: int
    share: float = TAIL_SHARE

    @cached_property
    def tail(self) -> tuple[np.ndarray, np.ndarray]:
        """Impostor scores from the highest down, and the FAR just below each."""
        counted = [~np.isnan(scores) for scores, _, _ in self.patches]
        scores = np.concatenate([patch[0][at] for patch, at in zip(self.patches, counted, strict=True)])
        pairs = [(rows[:, :1] * cols[:, :1].T)[at] for (_, rows, cols), at in zip(self.patches, counted, strict=True)]
        weight = np.concatenate(pairs)
        total = max(weight.sum(dtype=np.float64), np.finfo(float).tiny)
        n_tail = int(len(scores) * self.share)
        if n_tail > 1000:
            high = scores >= np.partition(scores, len(scores) - n_tail)[len(scores) - n_tail]
            scores, weight = scores[high], weight[high]
        order = np.argsort(-scores)
        return scores[order], np.cumsum(weight[order], dtype=np.float64) / total

    def score_at(self, far: float) -> float:
        """The score at which FAR reaches a level."""
        scores, rate = self.tail
        return float(scores[min(np.searchsorted(rate, far), len(scores) - 1)])

    def far_at(self, thresholds: np.ndarray) -> np.ndarray:
        """FAR at thresholds."""
        scores, rate = self.tail
        above = np.searchsorted(-scores, -thresholds, side="left")
        return np.where(above > 0, rate[np.maximum(above - 1, 0)], 0.0)

    def weight_above(self, threshold: float) -> np.ndarray:
        """Weight of the impostor pairs above a threshold in every column."""
        of_patches = [
            np.einsum("rb,rb->b", row_weight, (scores > threshold).astype(np.float32) @ col_weight)
            for scores, row_weight, col_weight in self.patches
        ]
        return np.sum(of_patches, axis=0)

    def spread(self, threshold: float) -> float:
        """Relative standard deviation of the replicates' FAR at a threshold, as far as the pilot can tell."""
        rate = self.weight_above(threshold) / np.maximum(self.weight_above(-np.inf), np.finfo(np.float32).tiny)
        if rate[0] == 0:
            return 1.0
        own = rate[1 : BLURRED + 1].std() / np.sqrt(2)  # the pilot's error: blurred weights overstate it by 1 to 1.7
        return float(np.hypot(own, rate[BLURRED + 1 :].std() if len(rate) > BLURRED + 1 else 0.0) / rate[0])


def make_plan(pilot: Pilot, n_pairs: int, far: np.ndarray, thresholds: np.ndarray) -> Ladder:
    """A ladder for FAR levels or fixed thresholds, and for equal error rates; n_pairs: pairs in all."""
    scores, _ = pilot.tail
    if len(scores) < 100:
        return even_plan(pilot, n_pairs)
    tail, top = (min(pairs / n_pairs, 0.5) for pairs in (TAIL_PAIRS, TOP_PAIRS))
    zones = [zone for zone in _level_zones(pilot, far, tail) + _crossing_zones(pilot) if zone[1] > tail]
    lowest = max([tail, *(high for _, high in zones)])
    # a zone reaches below the part of the pilot's scores that was sorted: sort them all
    if lowest > pilot.share < 1:
        return make_plan(replace(pilot, share=1.0), n_pairs, far, thresholds)
    # to leave out a twentieth of the pairs is not worth the risk that a level lies below the floor
    everything = lowest >= 0.95
    low = min([float(scores[-1]) if everything else pilot.score_at(lowest), *thresholds.tolist()])
    high = max([pilot.score_at(top), *thresholds.tolist()])
    if not high > low:
        return even_plan(pilot, n_pairs)
    # a margin, lest rounding puts a fixed threshold outside
    low, high = low - 1e-3 * (high - low), high + 1e-3 * (high - low)
    scale = CELLS / (high - low)
    far_at_cell = pilot.far_at(low + np.arange(CELLS + 1) / scale)
    alone = np.clip(((thresholds - low) * scale).astype(int), 0, CELLS)
    alone = alone[far_at_cell[alone] > top]  # the last bin stays whole: the curve is read inside it
    label, wanted = _label_cells(far_at_cell, zones, tail, top, alone)
    new = np.append(True, label[1:] != label[:-1])
    pairs = -np.diff(np.append(far_at_cell[new], 0.0)) * n_pairs
    keep = _affordable(wanted[new], pairs, most_kept(n_pairs))
    bin_of_cell = (np.cumsum(new) - 1).astype(np.int16)
    return Ladder(low, -np.inf if everything else low, scale, bin_of_cell, keep)


def even_plan(pilot: Pilot, n_pairs: float = np.inf) -> Ladder:
    """A plan that knows nothing, when the pilot tells nothing or has misled it: equal bins over all scores, none kept;
    of few pairs one bin, which is."""
    if n_pairs <= FEW_PAIRS:
        return Ladder.even(0.0, 1.0, 1, keep=True)
    scores = np.concatenate([scores[~np.isnan(scores)] for scores, _, _ in pilot.patches])
    low, high = (float(scores.min()), float(scores.max())) if len(scores) else (0.0, 1.0)
    return Ladder.even(low, high, EVEN_BINS, keep=False)


def most_kept(n_pairs: int) -> int:
    """How many pairs it is cheaper to keep, or to fetch in a second sweep, than to sweep n_pairs once more."""
    return int(np.clip(n_pairs // 10, FETCHED_LIMIT, KEPT_LIMIT))


def _level_zones(pilot: Pilot, far: np.ndarray, tail: float) -> list[tuple[float, float]]:
    """(low FAR, high FAR) around every level that is not in the tail anyway."""
    levels = far[far > tail / 2]
    if not levels.size:
        return []
    anchors = np.unique(np.array([levels.min(), np.sqrt(levels.min() * levels.max()), levels.max()]))
    spread = [pilot.spread(pilot.score_at(anchor)) for anchor in anchors]
    half = 1 + np.clip(SAFETY * np.interp(np.log(levels), np.log(anchors), spread), 0.01, 3.0)
    return list(zip(levels / half, levels * half, strict=True))


def _crossing_zones(pilot: Pilot) -> list[tuple[float, float]]:
    """FAR ranges in which FAR and FRR of each group, and of all, should cross."""
    # few people make most errors, so that replicates scatter more than many errors of all pairs let expect
    zones, safety = [], ERROR_SAFETY * (2 if pilot.genuine.shape[1] > MANY_GENUINE else 1)
    for g in range(pilot.n_groups + 1):
        score, weight, _ = pilot.genuine[:, (pilot.genuine[2] == g) | (g == pilot.n_groups)]
        if len(score) < 20:
            continue
        order = np.argsort(score)
        score, weight = score[order], weight[order]
        far = pilot.far_at(score)
        at = float(far[np.argmax(np.cumsum(weight) / weight.sum() >= far)])
        as_many = weight.sum() ** 2 / (weight**2).sum()  # pairs of equal weight that would tell as much
        # the relative deviation of a rate with e errors is about 1 / sqrt(e)
        half = 1 + np.clip(safety / np.sqrt(max(as_many * at, 1e-9)), 0.15, 3.0)
        zones.append((at / half, min(at * half, 1.0)))
    return zones


def _label_cells(far: np.ndarray, zones: list, tail: float, top: float, alone: np.ndarray) -> tuple:
    """A label for every cell (a change of label starts a bin), and whether its pairs are kept.

    alone: cells that get a bin of their own, kept; the cells on either side fall into different bins.
    """
    logs = -np.log(np.maximum(far, 1e-12))
    label = np.floor(logs / np.log(COARSE_STEP)).astype(np.int64)
    wanted = far <= tail
    for number, (low, high) in enumerate(sorted(zones, key=lambda zone: -zone[1]), start=1):
        inside = (far >= low) & (far <= high)
        # later zones, which are stricter, take over what they share with wider ones; their labels are a million apart
        width = np.log(high / low)
        step = width / max(BINS_PER_ZONE, np.ceil(width / WIDEST))
        label[inside] = number * 1_000_000 + np.floor(logs[inside] / step).astype(np.int64)
        wanted |= inside
    label[far <= top] = -1
    label[np.unique(alone)] = -2 - np.arange(len(np.unique(alone)))
    wanted[alone] = True
    return label, wanted


def _affordable(keep: np.ndarray, pairs: np.ndarray, limit: int) -> np.ndarray:
    """Fewer bins to keep where their pairs (expected, by bin) would be too many: the fullest are given up."""
    pairs = np.where(keep, pairs, 0.0)
    order = np.argsort(pairs)
    within = np.zeros_like(keep)
    within[order] = np.cumsum(pairs[order]) <= limit
    within[-1] = True
    return keep & within


# --- the pilot -------------------------------------------------------------------------------------------


def take_pilot(scores: xr.DataArray, protocol: Protocol) -> Pilot:
    """A sample of the scores from some of the blocks, and genuine scores from blocks on the diagonal.

    These blocks are the same however the tensor is chunked: slopes are read from the bins, and may not depend on it.
    """
    array, n_pairs = scores.data, max(protocol.n_pairs, 1)
    edges = [np.append(np.arange(0, size, PILOT_SIDE), size) for size in array.shape]
    shape = tuple(len(along) - 1 for along in edges)
    n_blocks = np.prod(shape) / (1 + protocol.symmetric)
    n_taken = int(np.clip(n_blocks // 50, PILOT_BLOCKS, MOST_PILOT_BLOCKS))
    share = min(max(PILOT_PAIRS, protocol.n_pairs // PILOT_SHARE), MOST_PILOT_PAIRS) / n_pairs
    step = max(1, int(np.sqrt(min(1.0, n_taken / n_blocks) / share)))
    rng = np.random.default_rng(0)  # a guess of where to look closely; no rate depends on it
    every = np.argwhere(np.triu(np.ones(shape, bool), 0 if protocol.symmetric else -shape[0]))
    some = every[rng.permutation(len(every))[:n_taken]]
    patches = [_patch(*block, protocol, rng) for block in _sampled(array, edges, step, some)]
    n = min(shape)  # where images stand by identity, blocks along the diagonal hold the genuine pairs
    n_genuine = n if n > MANY_BLOCKS else min(n, max(n // 4, DIAGONAL_BLOCKS))
    diagonal = np.unique(np.linspace(0, n - 1, n_genuine).round()).astype(int)
    of_person = np.bincount(protocol.owner[: protocol.n_genuine], minlength=len(protocol.share))
    per_pair = protocol.share**2 / (1 if protocol.pooled else np.maximum(of_person, 1))
    on_diagonal = _sampled(array, edges, 1, np.stack([diagonal, diagonal], 1))
    genuine = [_genuine(*block, protocol, per_pair) for block in on_diagonal]
    return Pilot(patches, np.concatenate(genuine, axis=1), len(protocol.groups))


def _sampled(array, edges: list, step: int, wanted: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Some blocks, (block, axis), with every so many-th row and column: (scores, rows, columns)."""
    blocks = [
        [
            np.arange(side[k] + (start - side[k]) % step, side[k + 1], step)
            for side, k, start in zip(edges, block, (0, step // 2), strict=True)
        ]
        for block in wanted
    ]
    # no call of a similarity is larger than a chunk: a block is computed by pieces
    pieces = [[_pieces(*axis, step) for axis in zip(block, bounds(array), strict=True)] for block in blocks]
    values = iter(parts_of(array, [part for rows, cols in pieces for part in product(rows, cols)]))
    for block, (rows, cols) in zip(blocks, pieces, strict=True):
        yield np.block([list(islice(values, len(cols))) for _ in rows]), *block


def _pieces(along: np.ndarray, ends: np.ndarray, step: int) -> list[slice]:
    """Evenly spaced places along an axis, as slices of which none passes the end of a chunk."""
    parts = np.split(along, np.searchsorted(along, ends[1:-1]))
    return [slice(int(part[0]), int(part[-1]) + 1, step) for part in parts if len(part)] or [slice(0, 0)]


def _patch(values: np.ndarray, rows: np.ndarray, cols: np.ndarray, protocol: Protocol, rng) -> tuple:
    """Impostor scores of one block of the pilot, with their images' weights."""
    refuse_endless(values)
    probe, reference = protocol.probe, protocol.reference
    impostor = probe.person[rows][:, None] != reference.person[cols]
    impostor &= protocol.cell_of[probe.group[rows][:, None], reference.group[cols]] >= 0
    n_replicates = PILOT_REPLICATES if np.any(protocol.identity_count != 1) else 0  # images alone: blurring says enough
    weights = []
    for side, at in ((probe, rows), (reference, cols)):
        weight = side.weight[at, : 1 + n_replicates] * side.scale[at, None]
        blurred = weight[:, :1] * rng.poisson(1.0, (len(at), BLURRED))
        weights.append(np.concatenate([weight[:, :1], blurred, weight[:, 1:]], 1).astype(np.float32))
    return np.where(impostor, values, np.float32(np.nan)), *weights


def _genuine(values: np.ndarray, rows: np.ndarray, cols: np.ndarray, protocol: Protocol, per_pair) -> np.ndarray:
    """Genuine pairs of one block of the pilot: score, weight in the FRR (per_pair, by identity), group."""
    identity = protocol.probe.identity
    r, c = np.nonzero(identity[rows][:, None] == protocol.reference.identity[cols])
    present = ~np.isnan(values[r, c]) & (protocol.people.probe[rows[r]] != protocol.people.reference[cols[c]])
    r, c = r[present], c[present]
    return np.stack([values[r, c], per_pair[identity[rows[r]]], protocol.probe.group[rows[r]]])
