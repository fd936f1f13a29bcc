"""The rates of one model as a table: names and dims for what the engine computed."""

import numpy as np
import xarray as xr

from frkit.base import require
from frkit.engine.rates import (
    auc,
    curves,
    equal_error_rates,
    error_counts,
    false_acceptance,
    false_rejection,
    moments_and_histogram,
    ratio,
    thinning_errors,
    thresholds_at,
)

COLUMN = "column"  # the data, replicates, and last the V-statistic
RESOLVED = 10  # errors of either kind that a level needs before its interval means something


def rates_table(tally, far, fixed, far_of):
    """FAR, FRR and EER of every column, and raw counts of the data's errors.

    far, fixed : FAR levels and thresholds, (level,), one of them empty.
    """
    n_groups = tally.n_groups
    n_columns = tally.protocol.n_columns
    if fixed.size:
        thresholds = np.tile(fixed, (n_columns, 1))
    elif far_of == "worst group":
        by_group = [thresholds_at(tally, far, group) for group in range(n_groups)]
        thresholds = np.fmax.reduce(by_group)  # a group without impostor pairs is ignored
    else:
        thresholds = thresholds_at(tally, far, n_groups)
    far_of_cells, far_of_all = false_acceptance(tally, thresholds)
    frr_of_groups, frr_of_all = false_rejection(tally, thresholds)
    accepts_of_cells, rejects_of_groups = error_counts(tally, thresholds[0])
    accepts = curves(accepts_of_cells, n_groups, 1)
    rejects = curves(rejects_of_groups, n_groups, 1)
    eer, eer_threshold = equal_error_rates(tally)

    level, levels = ("threshold_level", fixed) if fixed.size else ("far_level", far)
    rates = [COLUMN, level]
    counts = [level]
    curve_variables = {
        "far": (rates, _by_curve(far_of_cells, far_of_all, n_groups)),
        "frr": (rates, _by_curve(frr_of_groups, frr_of_all, n_groups)),
        "eer": ([COLUMN], eer),
        "eer_threshold": ([COLUMN], eer_threshold),
        "false_accepts": (counts, accepts),
        "false_rejects": (counts, rejects),
        "resolved": (counts, (accepts >= RESOLVED) & (rejects >= RESOLVED)),
    }
    if np.any(tally.impostors.stands_for > 1):
        thinned = thinning_errors(tally, thresholds[0])
        curve_variables["thinned"] = counts, _by_curve(*thinned, n_groups)
    table = _table(tally, curve_variables, {level: levels})
    table["threshold"] = rates, thresholds
    cells = tally.protocol.cells_of_groups[:-1, :-1]
    if n_groups == 0 or np.any(tally.protocol.cells_of_groups < 0):
        return table  # pairs between groups enter no rate
    two_groups = ["group", "reference_group"]
    table = table.assign_coords(reference_group=tally.protocol.groups)
    table["far_cross"] = rates + two_groups, far_of_cells[..., cells]
    table["false_accepts_cross"] = counts + two_groups, accepts_of_cells[:, cells]
    return table


def of_models(tables, kept):
    """The tables of all models as one, over `model` where models have names."""
    if "model" not in kept.dims:
        return tables[0]
    return xr.concat(tables, kept["model"].variable.to_index_variable())


def _by_curve(cells, whole, n_groups):
    """Values of groups, which are the first cells, and last those of all: (..., curve)."""
    return np.append(cells[..., :n_groups], whole[..., None], axis=-1)


def _table(tally, curve_variables, coords):
    """A table of variables of groups, and of all.

    curve_variables : dims and values (..., curve).
    """
    variables = {}
    for name, (dims, values) in curve_variables.items():
        variables[name] = dims, values[..., -1]
        if tally.n_groups:
            variables[f"{name}_group"] = [*dims, "group"], values[..., :-1]
    if tally.n_groups:
        coords = {**coords, "group": tally.protocol.groups}
    return xr.Dataset(variables, coords)


def distribution_table(tally, edges, with_auc=True):
    """AUC, mean, standard deviation and histogram of both kinds of scores, of every column."""
    lowest, highest = tally.extremes
    low = edges[0]
    high = edges[-1]
    slack = 1e-5 * (high - low)
    require(
        lowest >= low - slack and highest <= high + slack,
        f"scores reach from {lowest:.6g} to {highest:.6g}, outside the histogram's bounds "
        f"({low:.6g}, {high:.6g}); give wider ones with histogram=(bins, (low, high))",
    )
    protocol = tally.protocol
    curve_variables = {"auc": ([], auc(tally))} if with_auc else {}
    totals = []
    for kind in ("genuine", "impostor"):
        summary = moments_and_histogram(tally, kind, edges)
        totals.append(summary.pop("total"))
        for name, values in summary.items():
            dims = [COLUMN, "score_bin"] if name == "histogram" else [COLUMN]
            curve_variables[f"{kind}_{name}"] = dims, values
    genuine, impostor = totals
    # in all, the V-statistic has as many genuine pairs as the data
    genuine[-1] *= ratio(genuine[0, -1], genuine[-1, -1])
    if protocol.pooled:
        curve_variables["genuine_pairs"] = [COLUMN], genuine
        curve_variables["impostor_pairs"] = [COLUMN], impostor
    images = genuine + impostor
    if protocol.images_are_named:  # otherwise entries are pairs
        first = protocol.images.first_row
        group = protocol.images.stratum[first]
        in_curve = [group == name for name in protocol.groups] + [np.ones(len(first), bool)]
        images = protocol.counts[first].T.astype(float) @ np.array(in_curve, float).T
    curve_variables["images"] = [COLUMN], images
    middles = (edges[1:] + edges[:-1]) / 2
    return _table(tally, curve_variables, {"score_bin": middles})
