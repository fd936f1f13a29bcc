"""The plan of a sweep: a score floor, bins that are narrow near each level, and which bins' pairs to keep.

A plan is a guess from a pilot of the scores. A wrong guess costs time (a second sweep), never correctness.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

CELLS = 1 << 15  # fine score cells; a bin is a run of them
TAIL_PAIRS = 8_000  # about so many of the highest impostor pairs are kept whatever the levels
TOP_PAIRS = 200  # and so many of them stand in the last bin
KEPT_LIMIT = 15_000_000  # pairs that may be kept at once; what is missing is fetched by a second sweep
TAIL_SHARE = 0.4  # of the pilot's scores that are sorted
BLURRED = 16  # columns of a pilot's weights that tell its own error
BINS_PER_ZONE = 12
WIDEST = 0.1  # width of a zone's bin in the logarithm of FAR, at most
COARSE_STEP = 1.4  # ratio of FARs across a bin between two zones
SAFETY = 4.5  # half-width of a zone, in estimated standard deviations of a replicate's FAR: thousands of thresholds


@dataclass(frozen=True, eq=False)
class Ladder:
    """Score bins: `bin_of_cell[(score - low) * scale]`; pairs of bins marked `keep` are kept one by one."""

    low: float
    floor: float
    scale: float
    bin_of_cell: np.ndarray
    keep: np.ndarray

    @property
    def n_bins(self) -> int:
        """Number of bins; the last is open to the top."""
        return len(self.keep)

    def arrays(self, dtype: np.dtype) -> tuple:
        """The ladder as the kernels take it, in the scores' own precision."""
        as_score = np.dtype(dtype).type
        return as_score(self.low), as_score(self.floor), as_score(self.scale), self.bin_of_cell, self.keep

    def keeping(self, bins: np.ndarray) -> "Ladder":
        """The same bins, of which only these are kept."""
        keep = np.zeros(self.n_bins, bool)
        keep[bins] = True
        return replace(self, keep=keep)


@dataclass(frozen=True, eq=False)
class Patch:
    """Some scores, (row, col), NaN where there is no impostor pair, and the weights (image, column) of its images.

    Column 0 is the data; then come BLURRED columns in which images count at random, and some replicates.
    """

    scores: np.ndarray
    row_weight: np.ndarray
    col_weight: np.ndarray

    def weight(self, counted: np.ndarray) -> np.ndarray:
        """Weight of the counted pairs in every column."""
        return np.einsum("rb,rb->b", self.row_weight, counted.astype(np.float32) @ self.col_weight)


@dataclass(frozen=True, eq=False)
class Pilot:
    """A sample of the scores, as patches."""

    patches: list[Patch]

    @cached_property
    def tail(self) -> tuple[np.ndarray, np.ndarray]:
        """Impostor scores from the highest down, and the FAR just below each."""
        own = [~np.isnan(patch.scores) for patch in self.patches]
        scores = np.concatenate([patch.scores[at] for patch, at in zip(self.patches, own, strict=True)])
        weight = np.concatenate(
            [(p.row_weight[:, :1] * p.col_weight[:, :1].T)[at] for p, at in zip(self.patches, own, strict=True)]
        )
        total = max(weight.sum(dtype=np.float64), np.finfo(float).tiny)
        n_tail = int(len(scores) * TAIL_SHARE)
        if n_tail > 1000:
            high = scores >= np.partition(scores, len(scores) - n_tail)[len(scores) - n_tail]
            scores, weight = scores[high], weight[high]
        order = np.argsort(-scores)
        return scores[order], np.cumsum(weight[order], dtype=np.float64) / total

    @cached_property
    def _totals(self) -> np.ndarray:
        return np.sum([patch.weight(~np.isnan(patch.scores)) for patch in self.patches], axis=0)

    def spread(self, threshold: float) -> float:
        """Relative standard deviation of the replicates' FAR at a threshold, as far as the pilot can tell."""
        sums = np.sum([patch.weight(patch.scores > threshold) for patch in self.patches], axis=0)
        rate = sums / np.maximum(self._totals, np.finfo(np.float32).tiny)
        if rate[0] == 0:
            return 1.0
        own = rate[1 : BLURRED + 1].std() / np.sqrt(2)  # the pilot's error: blurred weights overstate it by 1 to 1.7
        return float(np.hypot(own, rate[BLURRED + 1 :].std() if len(rate) > BLURRED + 1 else 0.0) / rate[0])


def make_plan(pilot: Pilot, n_pairs: int, far: np.ndarray, thresholds: np.ndarray, zones=()) -> Ladder:
    """A ladder for FAR levels, fixed thresholds and further zones (low FAR, high FAR).

    n_pairs: pairs in all.
    """
    scores, rate = pilot.tail
    if len(scores) < 100:
        return keep_all() if n_pairs <= KEPT_LIMIT else even_ladder(pilot)
    tail, top = (min(pairs / n_pairs, 0.5) for pairs in (TAIL_PAIRS, TOP_PAIRS))
    zones = [z for z in [*_level_zones(pilot, scores, rate, far, tail), *zones] if z[1] > tail]
    lowest = max([tail, *(high for _, high in zones)])
    low = _score_at(scores, rate, lowest) if lowest < 0.95 else float(scores[-1])
    if thresholds.size:
        low = min(low, float(thresholds.min()))
    high = max(_score_at(scores, rate, top), float(thresholds.max()) if thresholds.size else -np.inf)
    if not high > low:
        return keep_all() if n_pairs <= KEPT_LIMIT else even_ladder(pilot)
    low, high = low - 1e-3 * (high - low), high + 1e-3 * (high - low)
    scale = CELLS / (high - low)
    edges = low + np.arange(CELLS + 1) / scale
    at_edge = _far_at(scores, rate, edges)
    label, wanted = _labels(at_edge, zones, tail, top)
    isolated = np.clip(((thresholds - low) * scale).astype(int), 0, CELLS)
    _isolate(label, wanted, isolated)
    new = np.concatenate([[True], label[1:] != label[:-1]])
    bin_of_cell = (np.cumsum(new) - 1).astype(np.int16)
    keep = _affordable(wanted[new], -np.diff(np.append(at_edge[new], 0.0)) * n_pairs)
    floor = -np.inf if lowest >= 0.95 else low
    return Ladder(low, floor, scale, bin_of_cell, keep)


def keep_all() -> Ladder:
    """For few pairs: one bin, all of it kept."""
    return Ladder(0.0, -np.inf, 1.0, np.zeros(2, np.int16), np.ones(1, bool))


def even_ladder(pilot: Pilot, n_bins: int = 2048) -> Ladder:
    """Equal bins over all scores, none kept: where every level lies, when the pilot has misled the plan."""
    scores, _ = pilot.tail
    low, high = (float(scores[-1]), float(scores[0])) if len(scores) else (0.0, 1.0)
    scale = CELLS / max(high - low, np.finfo(np.float32).tiny)
    bin_of_cell = (np.arange(CELLS + 1) * n_bins // (CELLS + 1)).astype(np.int16)
    return Ladder(low, -np.inf, min(scale, 1e30), bin_of_cell, np.zeros(n_bins, bool))


def crossing_zones(pilot: Pilot, genuine: list[np.ndarray]) -> list[tuple[float, float]]:
    """FAR ranges in which FAR and FRR of each set of genuine scores, (score and weight, pair), should cross."""
    scores, rate = pilot.tail
    zones = []
    for pairs in genuine:
        if pairs.shape[1] < 20 or not len(scores):
            continue
        ascending, weight = pairs[:, np.argsort(pairs[0])]
        frr = np.cumsum(weight) / weight.sum()
        far = _far_at(scores, rate, ascending)
        at = float(far[np.argmax(frr >= far)])
        as_many = weight.sum() ** 2 / (weight**2).sum()  # pairs of equal weight that would tell as much
        half = 1 + np.clip(8 / np.sqrt(max(as_many * at, 1e-9)), 0.15, 3.0)
        zones.append((at / half, min(at * half, 1.0)))
    return zones


def _level_zones(pilot, scores, rate, far, top) -> list[tuple[float, float]]:
    """(low FAR, high FAR) around every level that is not in the top bin anyway."""
    levels = far[far > top / 2]
    if not levels.size:
        return []
    anchors = np.unique(np.array([levels.min(), np.sqrt(levels.min() * levels.max()), levels.max()]))
    spread = [pilot.spread(_score_at(scores, rate, a)) for a in anchors]
    half = 1 + np.clip(SAFETY * np.interp(np.log(levels), np.log(anchors), spread), 0.01, 3.0)
    return list(zip(levels / half, levels * half, strict=True))


def _score_at(scores: np.ndarray, rate: np.ndarray, far: float) -> float:
    return float(scores[min(np.searchsorted(rate, far), len(scores) - 1)])


def _far_at(scores: np.ndarray, rate: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Pilot FAR at thresholds."""
    above = np.searchsorted(-scores, -edges, side="left")
    return np.where(above > 0, rate[np.maximum(above - 1, 0)], 0.0)


def _affordable(keep: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Fewer bins to keep where their pairs (expected, by bin) would be too many: the fullest are given up."""
    order = np.argsort(np.where(keep, pairs, 0.0))
    within = np.cumsum(np.where(keep, pairs, 0.0)[order]) <= KEPT_LIMIT
    kept = np.zeros_like(keep)
    kept[order[within]] = True
    kept &= keep
    kept[-1] = keep[-1]
    return kept


def _labels(far: np.ndarray, zones: list, tail: float, top: float) -> tuple[np.ndarray, np.ndarray]:
    """A label for every cell (a change of label starts a bin), and whether its pairs are kept."""
    logs = -np.log(np.maximum(far, 1e-12))
    label = np.floor(logs / np.log(COARSE_STEP)).astype(np.int64)
    wanted = np.zeros(len(far), bool)
    for z, (low, high) in enumerate(sorted(zones, key=lambda zone: -zone[1])):
        inside = (far >= low) & (far <= high)
        width = np.log(high / low)
        step = width / max(BINS_PER_ZONE, np.ceil(width / WIDEST))
        label[inside] = (z + 1) * 1_000_000 + np.floor(logs[inside] / step).astype(np.int64)
        wanted |= inside
    wanted[far <= tail] = True
    label[far <= top] = -1
    return label, wanted


def _isolate(label: np.ndarray, wanted: np.ndarray, cells: np.ndarray) -> None:
    """Give each of these cells a bin of its own, kept; the cells on either side fall into different bins."""
    for offset, cell in enumerate(np.unique(cells)):
        label[cell] = -2 - offset
        wanted[cell] = True
