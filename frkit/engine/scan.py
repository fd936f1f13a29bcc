"""What a sweep for rates does in a block: pairs above the floor are filed by bin and cell, weighed, and kept.

Thresholds are not known during the sweep. Bins whose pairs are kept lie near the thresholds; the other bins fall into
gaps between these, and each gap's pairs are added to their images as one.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from frkit.engine import kernels
from frkit.engine.pilot import Ladder
from frkit.engine.protocol import Protocol
from frkit.engine.sweep import (
    SCRATCH,
    Tally,
    add_sorted,
    codes_of_patch,
    patches,
    refuse_endless,
    slot_sums,
    sort_filed,
)

GRAIN = 2.0**28  # scales are multiples of its inverse, so that sums of them are exact in any order
MOST_SAMPLED = 200  # people among whom pairs of people are told apart; enough to see how pairs of two people agree
ROWS, COLS, PEOPLE = "by_row", "by_col", "by_people"
FAILED_ROWS, FAILED_COLS = "failed_by_row", "failed_by_col"


def sampled_people(protocol: Protocol) -> np.ndarray:
    """(person,) place among the sampled people, or -1; always the same people."""
    n = protocol.n_people
    chosen = np.sort(np.random.default_rng(0).permutation(n)[:MOST_SAMPLED])
    place = np.full(n, -1, np.int32)
    place[chosen] = np.arange(len(chosen))
    return place


def rounded(scale: np.ndarray) -> np.ndarray:
    """Scales of images' pairs, or of pairs, rounded so that sums do not depend on their order."""
    return np.round(scale / scale.max(initial=0.0) * GRAIN) / GRAIN


@dataclass(frozen=True, eq=False)
class Request:
    """What a sweep is to bring back.

    gaps: how pairs are added to their images. asking: whether bins are added up, comparisons that failed are looked
    for, and the scores of `protocol.asked` are wanted; a second, targeted sweep only collects pairs.
    """

    protocol: Protocol
    ladder: Ladder
    gaps: "Gaps"
    asking: bool = True


@dataclass(frozen=True, eq=False)
class Gaps:
    """How a sweep adds pairs to their images.

    of_bin: (bin,) its gap, from the top down; kept bins have the number after the last. top: (gap,) its highest bin.
    groups, scales, sampled: of the images on both sides; sampled is the place of an image's person among the sampled
    people, or -1. n_groups: with "in no group". n_sampled: sampled people. symmetric: both sides are the same images.
    kind: of the sums; counts of whole weights are exact in float32.
    """

    of_bin: np.ndarray
    top: np.ndarray
    groups: tuple[np.ndarray, np.ndarray]
    scales: tuple[np.ndarray, np.ndarray]
    sampled: tuple[np.ndarray, np.ndarray]
    n_groups: int
    n_sampled: int
    symmetric: bool
    kind: type

    @classmethod
    def between(cls, keep: np.ndarray, protocol: Protocol) -> "Gaps":
        """The gaps that the kept bins leave; keep: (bin,)."""
        sides, place = (protocol.probe, protocol.reference), sampled_people(protocol)
        down = keep[::-1]
        begins = ~down & np.append(True, down[:-1])  # from the top, a gap begins at a bin that follows a kept one
        return cls(
            np.where(down, begins.sum(), np.cumsum(begins) - 1)[::-1].astype(np.int32),
            len(keep) - 1 - np.flatnonzero(begins),
            tuple(side.group for side in sides),
            tuple(rounded(side.scale) for side in sides),
            tuple(place[side.person] for side in sides),
            len(protocol.cell_of),
            int(place.max()) + 1,
            protocol.symmetric,
            np.float32 if protocol.whole_run else np.float64,
        )

    def empty(self, n: int, n_rows: int, n_cols: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sums of nothing for n gaps or thresholds: by row, by column, by people."""
        # pairs of a patch have few groups: the sums of its images for one group stand side by side
        images = (np.zeros((n, self.n_groups, side), self.kind).swapaxes(1, 2) for side in (n_rows, n_cols))
        return *images, np.zeros((n, self.n_sampled, self.n_sampled), np.uint32)


class Window:
    """What the pairs of some blocks add to the images of these blocks: a part of the rows, and of the columns.

    sums: by row and by column (gap, image, group of the partner), by people (gap, person, person), with a last gap for
    pairs that are kept; failed: of failed comparisons, by row and by column (image, group), where there are any.
    """

    def __init__(self, gaps: Gaps, rows: slice, cols: slice) -> None:
        self.gaps, self.starts = gaps, (rows.start, cols.start)
        self.sums = gaps.empty(len(gaps.top) + 1, rows.stop - rows.start, cols.stop - cols.start)
        self.failed = None

    def of_patch(self, rows: slice, cols: slice) -> tuple:
        """What the kernel needs to add pairs of a patch: gaps, scales, sampled people, and the sums of its images."""
        sides, gaps = (rows, cols), self.gaps
        codes = (tuple(part[of] for part, of in zip(both, sides, strict=True)) for both in (gaps.scales, gaps.sampled))
        images = (
            part[:, of.start - start : of.stop - start]
            for part, of, start in zip(self.sums, sides, self.starts, strict=False)
        )
        return gaps.of_bin, *codes, (*images, self.sums[2])

    def add_failed(self, row: np.ndarray, col: np.ndarray) -> None:
        """Add failed comparisons to their images."""
        if self.failed is None:
            self.failed = tuple(np.zeros(part.shape[1:]) for part in self.sums[:2])
        sides = [row, col]
        for side, into in enumerate(self.failed):
            other = 1 - side
            place = sides[side] - self.starts[side], self.gaps.groups[other][sides[other]]
            np.add.at(into, place, self.gaps.scales[other][sides[other]])

    def parts(self) -> list[tuple]:
        """The sums as parts of those of all images: (name, number of images, first of these images, sums)."""
        names = [(ROWS, ROWS if self.gaps.symmetric else COLS), (FAILED_ROWS, FAILED_COLS)]
        sums = [tuple(part[:-1] for part in self.sums[:2]), self.failed]
        return [
            (name, len(codes), start, part)
            for both, found in zip(names, sums, strict=True)
            if found is not None
            for name, codes, start, part in zip(both, self.gaps.groups, self.starts, found, strict=True)
        ]


def scan_blocks(places: list[tuple], request: Request, scores: Iterable[np.ndarray]) -> Tally:
    """The tally of some blocks of scores; places: (rows, columns, pairs asked for) of each.

    Sums: "weight" (slot, column) of impostor pairs, "missing" (cell, column) of failed comparisons, "count" (bin, cell)
    of impostor pairs, and those of sampled people. Lists: "kept" (row, column, score), "asked" (places, scores), and
    "images", what these blocks add to images.
    """
    protocol, ladder = request.protocol, request.ladder
    sums, kept, asked = {"count": np.zeros((ladder.n_bins, protocol.n_cells), np.int64)}, [], []
    if request.asking:
        sums["weight"] = np.zeros((sums["count"].size, protocol.n_columns))
        sums["missing"] = np.zeros((protocol.n_cells, protocol.n_columns))
    *both, _ = zip(*places, strict=True)
    reach = (slice(min(part.start for part in side), max(part.stop for part in side)) for side in both)
    own = Window(request.gaps, *reach)
    scores = iter(scores)
    for *sides, wanted in places:
        block = patch = None  # the next block takes the place of this one, which the cache still holds
        block = next(scores)
        if wanted is not None:
            asked.append((wanted[0], block[wanted[1], wanted[2]]))
        with np.errstate(invalid="ignore", over="ignore"):  # one quick look at a block tells that all is well
            failing = request.asking and not np.isfinite((block @ np.ones(block.shape[1], block.dtype)).sum())
        for patch, rows, cols in patches(block, *sides, protocol.symmetric):
            kept.append(_scan_patch(patch, rows, cols, request, sums, own))
            if failing:
                _add_missing(patch, rows, cols, request, sums, own)
    if request.asking and protocol.counts_are_weights:
        sums["weight"] += sums["count"].reshape(-1, 1)
    kept = [tuple(np.concatenate(parts) for parts in zip(*kept, strict=True))] if kept else []
    sums[PEOPLE] = own.sums[2][:-1]
    return Tally(sums, {"kept": kept, "asked": asked, "images": own.parts()})


def _scan_patch(patch: np.ndarray, rows: slice, cols: slice, request: Request, sums: dict, own: Window) -> tuple:
    """Add one patch's pairs to the sums; return the kept ones (rows, columns, scores)."""
    protocol = request.protocol
    filed, n_kept = kernels.scan_patch(
        patch,
        (np.uint32(rows.start), np.uint32(cols.start)),
        codes_of_patch(protocol, rows, cols),
        request.ladder.arrays(patch.dtype),
        own.of_patch(rows, cols),
        sums["count"],
        request.asking and not protocol.counts_are_weights,
        (SCRATCH.above, SCRATCH.rows, SCRATCH.cols, SCRATCH.slots, *SCRATCH.kept, SCRATCH.score),
    )
    # weights are added slot by slot, so that the sums of a slot, one for each replicate, stay in the cache
    if filed:
        add_sorted(protocol, *sort_filed(filed, len(sums["weight"])), sums["weight"], (rows, cols))
    return *(part[:n_kept].copy() for part in SCRATCH.kept), SCRATCH.score[:n_kept].astype(patch.dtype)


def _add_missing(patch: np.ndarray, rows: slice, cols: slice, request: Request, sums: dict, own: Window) -> None:
    """Weight of the impostor comparisons that failed, by cell and by image; infinite scores are refused."""
    protocol = request.protocol
    refuse_endless(patch)
    row, col = np.nonzero(np.isnan(patch))
    row, col = row + rows.start, col + cols.start
    cell, probe, reference = protocol.cells(row, col), protocol.probe, protocol.reference
    other = (probe.person[row] != reference.person[col]) & (cell >= 0)
    if protocol.symmetric:
        other &= col > row
    row, col = row[other], col[other]
    weight = probe.weight[row].astype(float) * reference.weight[col]
    np.add.at(sums["missing"], cell[other], weight * protocol.factors(row, col)[:, None])
    own.add_failed(row, col)


# --- pairs of a list -----------------------------------------------------------------------------------------


def counted_pairs(scores: np.ndarray, protocol: Protocol) -> tuple:
    """Score, row, column and cell of the impostor pairs that enter rates: not failed, and in a cell."""
    impostor = protocol.listed.impostor
    score, (row, col) = scores[impostor], protocol.listed.places(impostor)
    cell = protocol.cells(row, col)
    counted = (cell >= 0) & ~np.isnan(score)
    return tuple(part[counted] for part in (score, row, col, cell))


def tally_list(scores: np.ndarray, protocol: Protocol, ladder: Ladder) -> Tally:
    """The impostor pairs of a list, added up by bin and cell, and all of them kept; genuine scores as asked for."""
    score, row, col, cell = counted_pairs(scores, protocol)
    slot, n_slots = ladder.bins_of(score) * protocol.n_cells + cell, ladder.n_bins * protocol.n_cells
    count = np.bincount(slot, minlength=n_slots).reshape(ladder.n_bins, protocol.n_cells)
    sums = {"weight": slot_sums(slot, n_slots, row, col, protocol), "count": count}
    return Tally(sums, {"kept": [(row, col, score)], "asked": asked_of_list(scores, protocol)})


def asked_of_list(scores: np.ndarray, protocol: Protocol) -> list[tuple]:
    """The scores of the genuine pairs of a list, with their places, as a sweep lists what it is asked for."""
    return [(np.arange(protocol.n_genuine), scores[protocol.listed.genuine])]
