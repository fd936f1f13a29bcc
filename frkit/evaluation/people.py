"""What each image adds to the error rates, under labels: the node `people` of an evaluation."""

import numpy as np
import xarray as xr

from frkit.base import UNKNOWN
from frkit.engine.compared import what_was_compared
from frkit.engine.people import (
    Points,
    data_curve,
    disorder,
    disorder_within_groups,
    errors_at,
    errors_within_groups,
    kinds_of_data,
    sums_of_rows,
)
from frkit.engine.tally import Tally

PARTNERS = ["partner", "partner_b"]  # groups of the other image, and last "in no group"
DIMS = {
    "accepted": ["row", "partner"],
    "rejected": ["row"],
    "rejected_within": ["row"],
    "accepted_square": PARTNERS,
    "accepted_cross": PARTNERS,
}


def people_table(tally: Tally, table: xr.Dataset, auc: bool) -> xr.Dataset:
    """The node `people` of one model.

    Sums over `row` (an image under its labels) at each level; at the EER, with suffix `_eer`, and
    at that of the row's own group, `_eer_group`; likewise of 1 - AUC, `_auc` and `_auc_group`.

    table : from `rates_table`.
    """
    protocol = tally.protocol
    compared = what_was_compared(tally)
    data = table.isel(column=0)
    level = data.threshold.dims[0]
    at_all = np.append(data.threshold.values, data.eer_threshold)  # of levels, and of the EER
    points = errors_at(tally, compared, at_all)
    variables = _variables(Points(*(sums[:-1] for sums in points)), "", [level])
    variables |= {"rate": (level, data.far.values), "threshold": (level, data.threshold.values)}
    variables |= _variables(Points(*(sums[-1] for sums in points)), "_eer", [])
    variables["rate_eer"] = [], data.eer.values
    if tally.n_groups:
        points = errors_within_groups(tally, compared, data.eer_threshold_group.values)
        variables |= _points_of_groups(points, "_eer_group", data.eer_group.values)
    if auc:
        points, rate = disorder(tally, compared)
        variables |= _variables(Points(*(sums[0] for sums in points)), "_auc", [])
        variables["rate_auc"] = [], rate
        if tally.n_groups:
            points, rates = disorder_within_groups(tally, compared)
            variables |= _points_of_groups(points, "_auc_group", rates)
    _, genuine = kinds_of_data(tally)
    n_pairs = [len(genuine.row)]
    in_group = genuine.cell < tally.n_groups
    for name, values in (("genuine", genuine.weight), ("genuine_pairs", genuine.stands_for)):
        for suffix, counted in (("", values), ("_within", values * in_group)):
            [sums] = sums_of_rows(genuine, n_pairs, counted)
            variables[f"{name}{suffix}"] = "row", sums
    curve = data_curve(tally)
    variables |= {
        "compared": (["row", "partner"], compared.weight),
        "compared_square": (PARTNERS, compared.square),
        "people_pairs": (PARTNERS, compared.people_pairs),
        "impostor_pairs": (PARTNERS, compared.impostor_pairs),
        "cells": (PARTNERS, (protocol.cells_of_groups >= 0).astype(int)),
        "person": ("row", protocol.person),
        "image": ("row", protocol.images.image.astype(np.int32)),
        "group_of_row": ("row", protocol.group),
        "curve_threshold": ("place", curve.threshold),
        "curve_far": (["place", *PARTNERS], curve.far),
        "curve_far_all": ("place", curve.far_all),
        "curve_frr": (["place", "group_or_all"], curve.frr),
    }
    coords = {level: table[level].variable}
    coords["partner"] = [*protocol.groups, UNKNOWN]
    if tally.n_groups:
        coords["group"] = protocol.groups
    if protocol.people_are_named:
        coords["identity"] = np.unique(protocol.images.person)
    return xr.Dataset(variables, coords)


def _variables(points: Points, suffix, dims):
    """Sums at some points, or at one of them, as variables."""
    return {f"{name}{suffix}": ([*dims, *DIMS[name]], sums) for name, sums in zip(DIMS, points)}


def _points_of_groups(points: Points, suffix, rates):
    """Sums at the points of groups, each within its own group."""
    dims = ("row", "row", "row", "group", "group")
    variables = {f"{name}{suffix}": (dim, sums) for name, dim, sums in zip(DIMS, dims, points)}
    del variables[f"rejected{suffix}"]  # of a group only pairs within it count
    return variables | {f"rate{suffix}": ("group", rates)}
