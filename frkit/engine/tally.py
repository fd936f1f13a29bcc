"""All pairs of one model with their weights: what every rate is read from."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import xarray as xr

from frkit.base import require
from frkit.engine import kernels
from frkit.engine.entries import Protocol
from frkit.engine.pairs import Pairs, file_pairs
from frkit.engine.sweep import Swept, sweep

WORST_GROUP = "worst group"  # whose FAR the levels may refer to
NONE = np.empty(0)


@dataclass(eq=False)
class Tally:
    """All pairs of one model with their weights: what every rate is read from.

    Attributes
    ----------
    totals : (cell, column) weight of all impostor pairs.
    genuine_totals : (group, column) weight of all genuine pairs; the last group is "in no group".
    upper : (chunk,) the highest score that belongs to each chunk; the last is infinite.
    impostor_sums, genuine_sums : (chunk, cell or group, column) weight in each chunk.
    accepted : (chunk + 1, cell, column) impostor weight in this and higher chunks.
    rejected : (chunk + 1, group, column) genuine weight in lower chunks.
    extremes : lowest and highest score.
    n_failed : genuine comparisons that failed.
    """

    protocol: Protocol
    impostors: Pairs
    genuine: Pairs
    totals: np.ndarray
    upper: np.ndarray
    impostor_sums: np.ndarray
    extremes: tuple[float, float]
    n_failed: int

    def __post_init__(self) -> None:
        self.n_groups = len(self.protocol.groups)
        self.genuine_sums = self.genuine.sums()
        n = len(self.upper) + 1
        self.accepted = np.zeros((n, *self.impostor_sums.shape[1:]))
        falling = self.impostor_sums[::-1]
        np.cumsum(falling, axis=0, out=self.accepted[-2::-1])
        self.rejected = np.zeros((n, *self.genuine_sums.shape[1:]))
        np.cumsum(self.genuine_sums, axis=0, out=self.rejected[1:])
        self.genuine_totals = self.rejected[-1]


def tally_scores(
    scores: xr.DataArray,
    protocol: Protocol,
    *,
    far=NONE,
    threshold=NONE,
    far_of: str = "all",
    edges=NONE,
    progress: bool | Callable[[float], None] = False,
) -> Tally:
    """The pairs of one model: a tensor is swept, a list is taken as it is.

    far, threshold : (level,) where rates will be exact. far_of : whose FAR, as in `evaluate`.
    edges : of a histogram's bins.
    """
    if protocol.listed is not None:
        swept = _listed(scores.values, protocol)
        self_score = None
    else:
        totals = protocol.impostor_totals[:, 0]
        weight = totals.sum(keepdims=True)
        if far_of == WORST_GROUP:
            weight = totals[: len(protocol.groups)]
        swept = sweep(scores, protocol, weight[:, None] * far, threshold, progress)
        self_score = scores.attrs.get("self_score")
    impostors, genuine, upper = file_pairs(swept, protocol, edges, self_score)
    impostor_sums = impostors.sums()
    totals = impostor_sums.sum(0)
    if protocol.listed is None:
        totals = protocol.impostor_totals
        if len(swept.failed[0]):
            totals = _without_failed(protocol, *swept.failed)
    require(
        totals[:, 0].any(),
        "all impostor comparisons failed (NaN or marked as missing): there is nothing to evaluate",
    )
    n_failed = int(np.isnan(swept.genuine_scores[: protocol.n_genuine]).sum())
    return Tally(
        protocol, impostors, genuine, totals, upper, impostor_sums, swept.extremes, n_failed
    )


def _listed(scores, protocol: Protocol):
    """The pairs of a list in the form that a sweep gives; failed comparisons are left out."""
    listed = protocol.listed
    score = scores[listed.impostor]
    cell = protocol.cells_of_kinds[protocol.kind[listed.row], protocol.kind[listed.col]]
    present = ~np.isnan(score) & (cell >= 0)
    columns = [listed.row, listed.col, score]
    if listed.factor is not None:
        columns.append(listed.factor)
    return Swept(
        impostors=[column[present] for column in columns],
        cuts=np.array([-np.inf]),
        failed=[],
        genuine_scores=scores[listed.genuine],
        extremes=(float(np.nanmin(scores)), float(np.nanmax(scores))),
    )


def _without_failed(protocol: Protocol, row, col):
    """Weight of the impostor pairs of a tensor that did not fail, (cell, column).

    row, col : entries of those that failed.
    """
    cell = protocol.cells_of_kinds[protocol.kind[row], protocol.kind[col]]
    order = np.argsort(cell, kind="stable")
    row, col = row[order], col[order]
    start = np.searchsorted(cell[order], [np.arange(protocol.n_cells + 1)])
    weight = protocol.scale[row] * protocol.scale[col]
    lost = np.zeros((1, protocol.n_cells, protocol.n_columns))
    kernels.add_weights(start, row, col, weight, protocol.counts, protocol.counts, lost)
    totals = protocol.impostor_totals - lost[0]
    # where all comparisons failed, rounding is left
    return np.where(totals > 1e-12 * protocol.impostor_totals, totals, 0)
