"""Which impostor pairs are kept: all above a score, and of the others a part that halves.

Every place (a probe with a reference) has a level, drawn once: level k with probability
2 ** -(k + 1). A pair of level k or a higher one is kept where its score exceeds cut k. Cut 0 is the
n-th largest score of all, n as deep as exact rates are needed; cut k > 0 the PRECISE / 2-th largest
score among pairs of level k and higher ones. So all pairs above cut 0 are kept, and below it about
PRECISE / 2 pairs represent each halving of the rank. What is kept depends on scores and places
alone: no chunk, thread, worker or order of blocks changes it.
"""

from functools import cache

import numpy as np

from frkit.scores import kernels

PRECISE = 600_000  # impostor pairs that are kept whatever is asked
PRECISE_IN_GROUP = 30_000  # of them within a small group
WHOLE = 2_000_000  # up to so many impostor pairs are all kept
MOST_EXACT = 20_000_000  # up to so many pairs above a threshold are all kept
N_LEVELS = 20
PATTERN = 1 << (N_LEVELS - 1)  # places after which levels repeat
BINS = 1 << 13  # of the counts of scores while blocks are scanned
TINY = 1e-300  # a spread where all scores are 0
GROWTH = 1.3  # of the number of pairs after which floors rise again
SLACK = 100_000  # pairs beyond that


@cache
def pattern_of_levels():
    """The pattern of levels in random order: exactly one in 2 ** k has level k or a higher one."""
    numbers = np.random.default_rng(1).permutation(PATTERN) + 1
    lowest_bit = numbers & -numbers
    return np.log2(lowest_bit).astype(np.uint8)


class Selection:
    """The pairs of one population that are kept so far: of all, or within a small group.

    `floors` are scores that pairs must exceed to be kept in the end: as long as blocks are scanned
    they rise towards the cuts, and never above them.

    n_exact : how many of the highest pairs are all kept. precise : how many represent the others.
    thresholds : above which all pairs are kept, as long as these are MOST_EXACT at most.
    """

    def __init__(self, n_exact, precise, thresholds=()) -> None:
        self.enough = np.full(N_LEVELS, precise // 2)
        self.enough[0] = max(n_exact, precise)
        self.enough[-1] = np.iinfo(int).max  # pairs of the highest level are all kept
        self.floors = np.full(N_LEVELS, -np.inf)
        self.n_above = dict.fromkeys(thresholds, 0)
        self.batches: list[list[np.ndarray]] = []
        self.n = 0
        self.n_at_next_rise = 0.0
        self.counts = np.zeros((N_LEVELS, BINS), np.int64)
        self.low = self.bins_per_score = np.nan

    def add(self, columns) -> None:
        """Add the pairs (row, column, score, level) of some blocks and let the floors rise."""
        score, level = columns[2:]
        if len(score) == 0:
            return
        self.batches.append(list(columns))
        self.n += len(score)
        for threshold in self.n_above:
            self.n_above[threshold] += int(np.count_nonzero(score > threshold))
        if np.isnan(self.low):  # bins wide enough for more than the first scores show
            low = float(score.min())
            high = float(score.max())
            rounding = 8 * np.finfo(score.dtype).eps * max(abs(low), abs(high))
            spread = max(high - low, rounding, TINY)
            self.low = low - spread / 2
            self.bins_per_score = BINS / (2 * spread)
        kernels.count(score, level, self.low, self.bins_per_score, self.counts)
        if self.n >= self.n_at_next_rise:
            self._rise(score.dtype)
            self._drop()
            self.n_at_next_rise = GROWTH * self.n + SLACK

    def _rise(self, dtype) -> None:
        """Let the floors rise to scores that enough pairs of their level exceed already."""
        # pairs of this level and higher ones, in this bin and higher ones
        above = self.counts[::-1, ::-1].cumsum(0).cumsum(1)[::-1, ::-1]
        edges = (above > self.enough[:, None]).sum(1) - 1
        bounds = np.where(edges > 0, self.low + edges / self.bins_per_score, -np.inf)
        self.floors = np.maximum(self.floors, self._falling(bounds, dtype))

    def _falling(self, bounds, dtype):
        """Bounds of all levels as scores that fall, none above a threshold."""
        kept_thresholds = [t for t, n_above in self.n_above.items() if n_above <= MOST_EXACT]
        bounds = np.minimum.accumulate(np.append(min(kept_thresholds, default=np.inf), bounds))[1:]
        rounded = bounds.astype(dtype)
        above = rounded > bounds
        rounded[above] = np.nextafter(rounded[above], dtype.type(-np.inf))
        return rounded

    def _drop(self) -> None:
        """Drop the pairs that do not exceed the floor of their level."""
        for number, columns in enumerate(self.batches):
            exceeds = np.flatnonzero(columns[2] > self.floors.astype(columns[2].dtype)[columns[3]])
            self.batches[number] = [column[exceeds] for column in columns]
        self.n = sum(len(columns[0]) for columns in self.batches)

    def finish(self):
        """Rows, columns and scores of the pairs that are kept, and the cuts, which fall."""
        if not self.batches:
            none = np.empty(0, np.int32)
            return [none, none, none.astype(np.float32)], np.full(N_LEVELS, -np.inf)
        self._drop()
        columns = []
        for _ in range(4):  # one column at a time, so that no pair is in memory twice
            columns.append(np.concatenate([batch.pop(0) for batch in self.batches]))
        score, level = columns[2:]
        cuts = self.floors.astype(score.dtype)
        level_scores = score
        for k, n_enough in enumerate(self.enough):
            if len(level_scores) < n_enough and not np.isfinite(cuts[k]):
                break  # there are still fewer pairs of higher levels
            level_scores = level_scores[level >= k]
            level = level[level >= k]
            n_missing = n_enough - len(level_scores)
            if n_missing < 0 or n_missing == 0 and np.isfinite(cuts[k]):
                cut = np.partition(level_scores, -n_enough)[-n_enough]
                cuts[k] = max(cuts[k], cut)
        self.floors = cuts = self._falling(cuts.astype(float), score.dtype)
        exceeds = np.flatnonzero(score > cuts[columns[3]])
        return [column[exceeds] for column in columns[:3]], cuts


def stands_for(score, cuts):
    """How many pairs each kept one represents: 2 to the number of cuts that it does not exceed."""
    n_cuts = np.zeros(len(score), np.int32)
    thinned = np.flatnonzero(score <= cuts[0])
    n_cuts[thinned] = len(cuts) - np.searchsorted(cuts[::-1], score[thinned], side="left")
    return 1 << n_cuts
