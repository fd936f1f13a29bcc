"""All pairs of one model with their weights, the worst errors first: what rates are read from."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from frkit.base import MEMORY_LIMIT, affordable, require
from frkit.engine import kernels
from frkit.engine.compared import impostor_totals
from frkit.engine.protocol import Protocol
from frkit.scores.kept import ModelPairs

LEVELS = 200  # that a table of rates of all columns may have
PLACES = 200  # of the data's own curve
MARKS = 256  # numbers of pairs
MOST_SUMS = 10_000_000  # of all marks
MARKED = 1 / 8  # FAR of the last mark


class Pairs(NamedTuple):
    """Pairs of one kind, the worst errors first: impostors by falling score, genuine by rising.

    So the pairs that err at a threshold are the first ones.

    Attributes
    ----------
    row, col : (pair,) rows of the table of images.
    score : (pair,).
    weight, vstatistic_weight : (pair,) in the data and in the V-statistic; a thinned pair has the
        weight of all pairs that it represents.
    stands_for : (pair,) how many pairs of two images it represents: 0 for an image with itself,
        which only replicates and the V-statistic contain.
    cell : (pair,) of impostors that of the protocol; of genuine pairs the group, and last "in no
        group".
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
    row_counts: np.ndarray
    col_counts: np.ndarray
    partner: np.ndarray

    def select(self, chosen):
        """Some of the pairs, in the same order."""
        counts = {"row_counts", "col_counts"}
        columns = {name: getattr(self, name)[chosen] for name in self._fields if name not in counts}
        return self._replace(**columns)

    def column(self, number):
        """Cells, rows, partners, weights, and the counts of rows and partners in one column."""
        is_last = number in (-1, self.row_counts.shape[1] - 1)
        weight = self.vstatistic_weight if is_last else self.weight
        row_counts = col_counts = np.ascontiguousarray(self.row_counts[:, number])
        if self.col_counts is not self.row_counts:
            col_counts = np.ascontiguousarray(self.col_counts[:, number])
        return self.cell, self.row, self.partner, weight, row_counts, col_counts

    def sums(self, ends, n_cells: int, value=None):
        """Weight (times a value) of the pairs up to each end, from the one before it.

        ends : (part,) numbers of pairs, rising. Returns (part, cell, column).
        """
        n_columns = self.row_counts.shape[1]
        sums = np.zeros((len(ends), n_cells, n_columns))
        begins = np.append(0, ends[:-1]).astype(int)
        weights = self.weight, self.vstatistic_weight
        if value is not None:
            weights = weights[0] * value, weights[1] * value
        kernels.add_sums(
            self.row, self.partner, *weights,
            self.cell, begins, np.asarray(ends), self.row_counts, self.col_counts, sums,
        )  # fmt: skip
        return sums

    def sums_of_column(self, begins, ends, n_cells: int, number: int):
        """Weight of the pairs from each begin up to its end in one column, (part, cell)."""
        cell, row, partner, weight, *counts = self.column(number)
        sums = np.zeros((len(ends), n_cells, 1))
        counts = (counts_of_side[:, None] for counts_of_side in counts)
        kernels.add_sums(row, partner, weight, weight, cell, begins, ends, *counts, sums)
        return sums[..., 0]


@dataclass(eq=False)
class Tally:
    """All pairs of one model with their weights.

    Attributes
    ----------
    totals : (cell, column) weight of all impostor pairs.
    genuine_totals : (group, column) weight of all genuine pairs; the last group is "in no group".
    extremes : lowest and highest score.
    n_failed : genuine comparisons that failed; n_genuine : all of them.
    failed_images : (row,) whether all impostor comparisons of the image failed; failed_row,
        failed_col : the other impostor pairs that failed. None and empty for a list.
    """

    protocol: Protocol
    impostors: Pairs
    genuine: Pairs
    totals: np.ndarray
    genuine_totals: np.ndarray
    extremes: tuple[float, float]
    n_failed: int
    n_genuine: int
    failed_images: np.ndarray | None
    failed_row: np.ndarray
    failed_col: np.ndarray

    @cached_property
    def marks(self):
        """Numbers of impostor pairs with the highest scores, and the weight of these pairs.

        Also the numbers of genuine pairs below the scores of these, and the weight of those:
        (mark,), (mark, cell, column), (mark,), (mark, group, column). With replicates it is much
        quicker to sum all columns at once, and to look for a threshold in each from a mark on.
        Marks end where hardly any threshold lies below.
        """
        score = self.impostors.score
        n_pairs = self.impostors.stands_for.cumsum(dtype=float)
        last = np.searchsorted(n_pairs, MARKED * n_pairs[-1]) + 1
        n_marks = min(MARKS, MOST_SUMS // self.totals.size)
        places = np.linspace(0, last, n_marks, endpoint=False).astype(int)
        above = len(score) - np.searchsorted(score[::-1], score[places[1:]], "right")
        above = np.unique(np.append(0, above))
        below = np.searchsorted(self.genuine.score, score[above[1:] - 1], "left")
        below = np.append(len(self.genuine.score), below)
        accepted = self.impostors.sums(above, self.protocol.n_cells).cumsum(0)
        rejected = self.genuine.sums(below[::-1], self.n_groups + 1).cumsum(0)[::-1]
        return above, accepted, below, rejected

    @property
    def any_impostor_failed(self) -> bool:
        """Whether impostor comparisons failed."""
        return len(self.failed_row) > 0 or bool(np.any(self.failed_images))

    @property
    def n_groups(self) -> int:
        """How many groups have a name."""
        return len(self.protocol.groups)


def tally_pairs(kept: ModelPairs, protocol: Protocol) -> Tally:
    """The pairs of one model under a protocol."""
    _require_memory(len(protocol.groups), protocol.n_cells, protocol.n_columns)
    kept, order = _by_score(kept)
    row, col, is_genuine, is_impostor = kinds_of_pairs(kept, protocol, order)
    n_scored = len(order) - np.count_nonzero(np.isnan(kept.score))  # NaN come last
    failed_impostors = n_scored + np.flatnonzero(is_impostor[n_scored:])
    genuine = _genuine_pairs(kept, protocol, row, col, np.flatnonzero(is_genuine[:n_scored]))
    falling = np.flatnonzero(is_impostor[:n_scored])[::-1]
    impostors = _impostor_pairs(kept, protocol, row[falling], col[falling], falling, order)
    if protocol.listed is None:
        totals = impostor_totals(
            protocol, kept.failed, row[failed_impostors], col[failed_impostors]
        )
    else:
        [totals] = impostors.sums([len(impostors.row)], protocol.n_cells)
    require(
        totals[:, 0].any(),
        "all impostor comparisons failed (NaN or marked as missing): there is nothing to evaluate",
    )
    [genuine_totals] = genuine.sums([len(genuine.row)], len(protocol.groups) + 1)
    return Tally(
        protocol=protocol,
        impostors=impostors,
        genuine=genuine,
        totals=totals,
        genuine_totals=genuine_totals,
        extremes=(kept.lowest, kept.highest),
        n_failed=int(np.count_nonzero(is_genuine[n_scored:])),
        n_genuine=int(np.count_nonzero(is_genuine)),
        failed_images=kept.failed,
        failed_row=row[failed_impostors],
        failed_col=col[failed_impostors],
    )


def _require_memory(n_groups, n_cells, n_columns) -> None:
    """Refuse more groups and replicates than tables in memory can have, with what would fit."""
    n_bytes = 2 * 8 * n_cells * (LEVELS * n_columns + 4 * PLACES)
    n_fit = int(n_groups * min(1, np.sqrt(MEMORY_LIMIT / n_bytes)))
    replicates = f" in {n_columns - 2:,} replicates" if n_columns > 2 else ""
    affordable(
        n_bytes,
        f"rates of {n_groups:,} groups and of all {n_cells:,} pairs of groups{replicates}; up to "
        f"{n_fit:,} groups would fit: merge groups, or take an attribute with fewer labels",
    )


def _by_score(kept: ModelPairs):
    """The pairs by rising score, NaN last, and their places before; a sweep sorts its own."""
    n_scored = len(kept.score) - np.count_nonzero(np.isnan(kept.score))
    score = kept.score[:n_scored]
    if np.all(score[:-1] <= score[1:]):
        return kept, np.arange(len(kept.score))
    order = np.argsort(kept.score)
    columns = {name: getattr(kept, name) for name in ("score", "row", "col", "stands_for")}
    columns = {name: column for name, column in columns.items() if column is not None}
    in_order: dict[str, Any] = {name: column[order] for name, column in columns.items()}
    return kept._replace(**in_order), order


def kinds_of_pairs(kept: ModelPairs, protocol: Protocol, order=slice(None)) -> tuple:
    """Rows and columns of the pairs, which of them are genuine, and which are impostors.

    A pair of an image with itself is neither, nor is one of two parts of a person, nor one that
    `impostors=` leaves out. order : of the pairs of a list.
    """
    listed = protocol.listed
    if listed is None:
        row, col = kept.row, kept.col
        is_genuine = protocol.identity[row] == protocol.identity[col]
        is_impostor = ~is_genuine
        if protocol.images.person is not protocol.images.identity:
            is_impostor = protocol.person[row] != protocol.person[col]
    else:
        row, col, is_genuine, is_impostor = (column[order] for column in listed[:4])
    if np.any(protocol.cells_of_kinds < 0):
        is_impostor = is_impostor & (protocol.cells(row, col) >= 0)
    return row, col, is_genuine, is_impostor


def _impostor_pairs(kept, protocol: Protocol, row, col, falling, order) -> Pairs:
    """The impostor pairs, each with the weight of all pairs that it represents.

    falling : their places by falling score.
    """
    if protocol.listed is None:
        stands_for = kept.stands_for[falling]
        weight = protocol.impostor_weights(row, col) * stands_for
        stands_for = stands_for.astype(np.float32)
    else:
        weight = protocol.listed_weights[order[falling]]
        stands_for = np.ones(len(row), np.float32)
    return Pairs(
        row=row,
        col=col,
        score=kept.score[falling],
        weight=weight,
        vstatistic_weight=weight,
        stands_for=stands_for,
        cell=protocol.cells(row, col),
        row_counts=protocol.counts,
        col_counts=protocol.counts,
        partner=col,
    )


def _genuine_pairs(kept, protocol: Protocol, row, col, pairs) -> Pairs:
    """The genuine pairs, with those of images with themselves where replicates contain copies.

    An identity all of whose comparisons failed has no rate: its images with themselves go, too.
    """
    row, col = row[pairs], col[pairs]
    n_pairs = np.bincount(protocol.identity[row], minlength=len(protocol.share))
    require(
        n_pairs.any(),
        "all genuine comparisons failed (NaN or marked as missing): there is nothing to evaluate",
    )
    score = kept.score[pairs]
    stands_for = np.ones(len(row), np.float32)
    partner = col
    counts = protocol.image_counts
    if protocol.has_copies:
        scored = ~np.isnan(kept.self_score) & (n_pairs[protocol.identity] > 0)
        image = np.flatnonzero(scored).astype(row.dtype)
        row, col = np.append(row, image), np.append(col, image)
        score = np.append(score, kept.self_score[image])
        stands_for = np.append(stands_for, np.zeros(len(image), np.float32))
        # after the rows come the same rows as second images of pairs of copies, w_i - 1, and
        # 1 in the V-statistic; where w_i is 0 the pair has weight 0 in any case
        partner = np.where(stands_for > 0, col, col + len(counts)).astype(col.dtype)
        counts_of_copies = counts - np.uint8(1)
        counts_of_copies[:, -1] = 1
        counts = np.concatenate([counts, counts_of_copies])
    weight = protocol.genuine_weights(row, n_pairs)
    if protocol.symmetric:
        weight = np.where(stands_for > 0, weight, weight / 2)
    group = protocol.group[row]
    genuine = Pairs(
        row=row,
        col=col,
        score=score,
        weight=weight,
        vstatistic_weight=protocol.vstatistic_weights(row, col, weight),
        stands_for=stands_for,
        cell=np.where(group == protocol.group[col], group, len(protocol.groups)),
        row_counts=protocol.counts,
        col_counts=counts,
        partner=partner,
    )
    return genuine.select(np.argsort(score, kind="stable")) if protocol.has_copies else genuine
