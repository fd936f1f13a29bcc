"""The rates of one model as a table: names and dims for what the engine computed."""

import numpy as np
import xarray as xr

from frkit.base import FAR_LEVEL, GROUP, REFERENCE_GROUP, SCORE_BIN, THRESHOLD_LEVEL
from frkit.engine.distributions import genuine_distribution, impostor_distribution
from frkit.engine.rates import (
    WORST_GROUP,
    Tally,
    accepted_counts,
    auc,
    equal_error_rates,
    errors_at,
    ratio,
    thresholds_at,
)

COLUMN = "column"  # the data, replicates, and last the V-statistic
RESOLVED = 10  # errors of either kind that a level needs before its interval means something


def rates_table(tally: Tally, far: np.ndarray, fixed: np.ndarray, far_of: str) -> xr.Dataset:
    """FAR, FRR and EER of every column, and raw counts of the data's errors.

    far, fixed: FAR levels and thresholds, (level,), one of them empty.
    """
    protocol, n_groups = tally.impostors.protocol, tally.n_groups
    thresholds = _thresholds(tally, far, fixed, far_of)
    accepted, rejected = errors_at(tally, thresholds)
    # thinned pairs stand for others: their sum may exceed that of all pairs by rounding of counts
    far_cell = np.minimum(ratio(accepted, tally.totals.T[:, None]), 1.0)
    far_all = np.minimum(ratio(accepted.sum(2), tally.totals.sum(0)[:, None]), 1.0)
    genuine_totals = tally.genuine_totals.T[:, None]
    frr_all = ratio(rejected.sum(2), genuine_totals.sum(2))
    eer, eer_threshold = equal_error_rates(tally)
    level = THRESHOLD_LEVEL if fixed.size else FAR_LEVEL
    line, by_group = (COLUMN, level), (COLUMN, level, GROUP)
    table = {
        "threshold": (line, thresholds),
        "far": (line, far_all),
        "frr": (line, frr_all),
        "far_group": (by_group, far_cell[..., :n_groups]),
        "frr_group": (by_group, ratio(rejected, genuine_totals)[..., :n_groups]),
        **by_curve("eer", (COLUMN,), eer),
        **by_curve("eer_threshold", (COLUMN,), eer_threshold),
        **_counts(tally, level, thresholds[0]),
    }
    coords = {level: fixed if fixed.size else far, GROUP: protocol.groups}
    cells = _cross_cells(tally)
    if cells is not None:
        table["far_cross"] = (*by_group, REFERENCE_GROUP), far_cell[..., cells]
        coords[REFERENCE_GROUP] = protocol.groups
    return _without_groups(xr.Dataset(table, coords))


def _thresholds(tally: Tally, far: np.ndarray, fixed: np.ndarray, far_of: str) -> np.ndarray:
    """Threshold of every column and level."""
    if fixed.size:
        return np.tile(fixed, (tally.totals.shape[1], 1))
    if far_of != WORST_GROUP:
        return thresholds_at(tally, far, tally.n_groups)
    every = [thresholds_at(tally, far, group) for group in range(tally.n_groups)]
    return np.fmax.reduce(every)  # a group without impostor pairs has no say


def _cross_cells(tally: Tally) -> np.ndarray | None:
    """The cell of every pair of groups, where pairs between all groups enter rates."""
    cells = tally.impostors.protocol.cells_of_groups
    return None if np.any(cells < 0) else cells[:-1, :-1]


def _counts(tally: Tally, level: str, thresholds: np.ndarray) -> dict:
    """Pairs that go wrong at the data's own thresholds, each counted once."""
    n_groups, genuine = tally.n_groups, tally.genuine
    accepts = np.round(accepted_counts(tally, thresholds)).astype(int)
    own = ~genuine.copy
    below = genuine.score[own] <= thresholds[:, None]
    rejects = np.stack(
        [np.bincount(genuine.group[own][row], minlength=n_groups + 1) for row in below]
    )
    by_group = level, GROUP
    table = {}
    for name, counts in (("false_accepts", accepts), ("false_rejects", rejects)):
        table[name] = level, counts.sum(1)
        table[f"{name}_group"] = by_group, counts[:, :n_groups]
    enough = [counts >= RESOLVED for counts in (accepts[:, :n_groups], rejects[:, :n_groups])]
    both = (accepts.sum(1) >= RESOLVED) & (rejects.sum(1) >= RESOLVED)
    table["resolved"] = level, both
    table["resolved_group"] = by_group, enough[0] & enough[1]
    cells = _cross_cells(tally)
    if cells is not None:
        cross = accepts[:, cells]
        table["false_accepts_cross"] = (*by_group, REFERENCE_GROUP), cross
        table["resolved_cross"] = (*by_group, REFERENCE_GROUP), cross >= RESOLVED
    return table


def distribution_table(tally: Tally, edges: np.ndarray) -> xr.Dataset:
    """AUC, mean, standard deviation and histogram of both kinds of scores, of every column."""
    protocol = tally.impostors.protocol
    values, error = auc(tally)
    table = by_curve("auc", (COLUMN,), values)
    pairs = {}
    for kind, summary in (
        ("genuine", genuine_distribution(tally, edges)),
        ("impostor", impostor_distribution(tally, edges)),
    ):
        table |= by_curve(f"{kind}_mean", (COLUMN,), summary["mean"])
        table |= by_curve(f"{kind}_sd", (COLUMN,), summary["sd"])
        table |= by_curve(f"{kind}_histogram", (COLUMN, SCORE_BIN), summary["histogram"])
        pairs[kind] = summary["total"]
    total = pairs["genuine"]
    # in all, the V-statistic has as many genuine pairs as the data
    total[-1] *= ratio(total[0, -1], total[-1, -1])
    if protocol.pooled:
        for kind, many in pairs.items():
            table |= by_curve(f"{kind}_pairs", (COLUMN,), many)
    table |= by_curve("images", (COLUMN,), _images(tally, pairs))
    coords = {SCORE_BIN: (edges[1:] + edges[:-1]) / 2, GROUP: protocol.groups}
    return _without_groups(xr.Dataset(table, coords, {"auc_error": error}))


def _images(tally: Tally, pairs: dict[str, np.ndarray]) -> np.ndarray:
    """Images of each group, and of all, (column, curve); pairs, where a list names no images."""
    protocol = tally.impostors.protocol
    if protocol.pairs is not None and "n_images" in protocol.pairs.facts:
        return pairs["impostor"] + pairs["genuine"]
    first = np.unique(protocol.image, return_index=True)[1]
    group = protocol.images.group[protocol.image[first]]
    in_group = [group == name for name in protocol.groups] + [np.ones(len(first), bool)]
    return protocol.weight[first].T.astype(float) @ np.array(in_group, float).T


def by_curve(name: str, dims: tuple, values: np.ndarray) -> dict:
    """Values (..., curve) as two variables: that of all pairs, and those of the groups."""
    groups = (*dims, GROUP), values[..., :-1]
    return {name: (dims, values[..., -1]), f"{name}_group": groups}


def _without_groups(table: xr.Dataset) -> xr.Dataset:
    """The table, without the variables of groups where there is none."""
    if table.sizes[GROUP]:
        return table
    return table.drop_dims([GROUP, REFERENCE_GROUP], errors="ignore")


def thinned(tally: Tally) -> dict | None:
    """From which FAR on rates are read from thinned pairs, and their relative standard error."""
    impostors = tally.impostors
    thin = np.flatnonzero(impostors.stands_for > 1)
    if len(thin) == 0:
        return None
    first = int(thin.max())  # the highest chunk of thinned pairs
    far = tally.above[first + 1, :, 0].sum() / tally.totals[:, 0].sum()
    counts = impostors.counts().sum(1)
    noise = np.cumsum((counts * (impostors.stands_for - 1))[::-1])
    above = np.cumsum(counts[::-1])
    return {
        "from_far": float(far),
        "standard_error": float((np.sqrt(noise) / np.maximum(above, 1)).max()),
    }
