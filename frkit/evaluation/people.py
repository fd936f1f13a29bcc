"""What each image adds to the error rates, under labels: the node `people` of an evaluation."""

import hashlib

import numpy as np
import xarray as xr

from frkit.base import UNKNOWN
from frkit.engine.compared import what_was_compared
from frkit.engine.people import (
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
POINTS = {  # dims of the sums at a point, and of those at a point of each group
    "accepted": (["row", "partner"], ["row"]),
    "rejected": (["row"], ["row"]),
    "rejected_within": (["row"], ["row"]),
    "accepted_square": (PARTNERS, ["group"]),
    "accepted_cross": (PARTNERS, ["group"]),
    "accepted_square_all": (PARTNERS, None),
    "accepted_cross_all": (PARTNERS, None),
    "accepted_all_cross": (PARTNERS, None),
}
CURVE = {
    "threshold": ["place"],
    "far": ["place", *PARTNERS],
    "far_all": ["place"],
    "frr": ["place", "group_or_all"],
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
    variables = _named([sums[:-1] for sums in points], "", data.far.values, [level])
    variables["threshold"] = level, data.threshold.values
    variables |= _named([sums[-1] for sums in points], "_eer", data.eer.values)
    if tally.n_groups:
        points = errors_within_groups(tally, compared, data.eer_threshold_group.values)
        eers = data.eer_group.values
        variables |= _named(points, "_eer_group", eers, of_groups=True)
    if auc:
        points, rate = disorder(tally, compared)
        variables |= _named([sums[0] for sums in points], "_auc", rate)
        if tally.n_groups:
            points, rates = disorder_within_groups(tally, compared)
            variables |= _named(points, "_auc_group", rates, of_groups=True)
    _, genuine = kinds_of_data(tally)
    in_group = genuine.cell < tally.n_groups
    for name, values in (("genuine", genuine.weight), ("genuine_pairs", genuine.stands_for)):
        for suffix, counted in (("", values), ("_within", values * in_group)):
            [sums] = sums_of_rows(genuine, [len(genuine.row)], counted)
            variables[f"{name}{suffix}"] = "row", sums
    variables |= {
        "compared": (["row", "partner"], compared.weight),
        "compared_square": (PARTNERS, compared.square),
        "compared_square_all": (PARTNERS, compared.square_all),
        "people_pairs": (PARTNERS, compared.people_pairs),
        "people_pairs_all": ((), compared.people_pairs_all),
        "impostor_pairs": (PARTNERS, compared.impostor_pairs),
        "cells": (PARTNERS, (protocol.cells_of_groups >= 0).astype(int)),
        "person": ("row", protocol.person),
        "image": ("row", _place_by_name(protocol.images)),
        "group_of_row": ("row", protocol.group),
    }
    curve = data_curve(tally)
    variables |= {f"curve_{name}": (dims, curve[name]) for name, dims in CURVE.items()}
    coords = {level: table[level].variable, "partner": [*protocol.groups, UNKNOWN]}
    if tally.n_groups:
        coords["group"] = protocol.groups
    if protocol.people_are_named:
        coords["identity"] = np.unique(protocol.images.person)
    return xr.Dataset(variables, coords)


def _place_by_name(images):
    """The place of each row's image among the names, whatever the order of the images."""
    return np.unique(images.name, return_inverse=True)[1].astype(np.int32)


def fingerprint(score, thresholds):
    """A number that two models share only if they have the same scores in the same order."""
    digest = hashlib.blake2b(np.ascontiguousarray(score), digest_size=8)
    digest.update(np.ascontiguousarray(thresholds))
    return np.frombuffer(digest.digest(), np.int64)[0]


def _named(points, suffix, rate, dims=(), of_groups=False):
    """Sums at one point, or at those along `dims`, or at a point of each group; and the rate there.

    Within groups `rejected_within` are all rejected.
    """
    variables = {
        f"{name}{suffix}": ([*dims, *dims_of_sums[of_groups]], sums)
        for (name, dims_of_sums), sums in zip(POINTS.items(), points)
        if sums is not None
    }
    if of_groups:
        del variables[f"rejected{suffix}"]
    return variables | {f"rate{suffix}": ("group" if of_groups else dims, rate)}
