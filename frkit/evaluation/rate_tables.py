"""The rates of all populations of a model, by name: in the data, the V-statistic, replicates."""

import numpy as np
import xarray as xr

from frkit.base import require
from frkit.evaluation.error_rates import (
    auc,
    eer,
    error_counts,
    far,
    frr,
    moments_and_histogram,
    ratio,
    thinning_error,
    thresholds,
)
from frkit.evaluation.populations import ALL

TWO_GROUPS = ["group", "reference_group"]
RESOLVED = 10  # errors of either kind that a level needs before its interval means something


def groups_of(populations):
    """The keys of the populations within a group."""
    return [key for key in populations if key is not ALL and key[0] == key[1]]


def thresholds_at(populations, weights, levels, far_of):
    """The thresholds of every population at FAR levels.

    Of the whole; of the group with the highest (far_of="worst group"); of each group by itself
    ("own group").
    """
    groups = groups_of(populations)
    whole = ALL if far_of != "worst group" else None
    by_key = {
        key: thresholds(populations[key], weights[key], levels)
        for key in ([ALL] if far_of == "all" else [ALL, *groups])
    }
    of_all = by_key[whole]
    if far_of == "worst group":  # a group without impostor pairs is ignored
        of_all = np.fmax.reduce([by_key[key] for key in groups])
    at = dict.fromkeys(populations, of_all)
    return at | {key: by_key[key] for key in groups} if far_of == "own group" else at


def rates_of(populations, weights, at, level, far_of):
    """Rates of all populations as variables, dims and values; at : thresholds by population."""
    groups = groups_of(populations)
    fars = {key: far(populations[key], weights[key], at[key]) for key in populations}
    frrs = {key: frr(populations[key], weights[key], at[key]) for key in [ALL, *groups]}
    eers = {key: eer(populations[key], weights[key]) for key in [ALL, *groups]}
    variables = {
        "far": ([level], fars[ALL]),
        "frr": ([level], frrs[ALL]),
        "threshold": ([level], at[ALL]),
        "eer": ([], eers[ALL][0]),
        "eer_threshold": ([], eers[ALL][1]),
    }
    if not groups:
        return variables
    variables["far_group"] = [level, "group"], _columns(fars, groups)
    variables["frr_group"] = [level, "group"], _columns(frrs, groups)
    variables["eer_group"] = ["group"], np.array([eers[key][0] for key in groups])
    variables["eer_threshold_group"] = ["group"], np.array([eers[key][1] for key in groups])
    if far_of == "own group":
        variables["threshold_group"] = [level, "group"], _columns(at, groups)
    if len(populations) > 1 + len(groups):
        variables["far_cross"] = [level, *TWO_GROUPS], _crossed(fars, len(groups))
    return variables


def counts_of_errors(populations, at, level):
    """Numbers of errors of the data as variables, and where they are enough."""
    groups = groups_of(populations)
    counts = {key: error_counts(populations[key], at[key]) for key in populations}
    accepts = {key: numbers[0] for key, numbers in counts.items()}
    rejects = {key: numbers[1] for key, numbers in counts.items()}
    variables: dict = {}
    of_kinds = {"false_accepts": accepts, "false_rejects": rejects}
    of_kinds["resolved"] = {
        key: (accepts[key] >= RESOLVED) & (rejects[key] >= RESOLVED) for key in [ALL, *groups]
    }
    if np.any(populations[ALL].impostors.number > 1):
        of_kinds["thinned"] = {
            key: thinning_error(populations[key], at[key]) for key in [ALL, *groups]
        }
    for name, values in of_kinds.items():
        variables[name] = [level], values[ALL]
        if groups:
            variables[f"{name}_group"] = [level, "group"], _columns(values, groups)
    if len(populations) > 1 + len(groups):
        crossed = _crossed(accepts, len(groups))
        variables["false_accepts_cross"] = [level, *TWO_GROUPS], crossed
    return variables


def _columns(values, keys):
    """Values of groups, (level, group)."""
    return np.stack([values[key] for key in keys], -1)


def _crossed(values, n_groups):
    """Values of pairs of groups in both orders, (level, group, reference group)."""
    groups = range(n_groups)
    table = [[values[min(g, h), max(g, h)] for h in groups] for g in groups]
    return np.moveaxis(np.array(table), -1, 0)


def distributions_of(populations, weights, edges, image_counts=None):
    """Weight, mean, sd and histogram of both kinds of scores of all and of groups, as variables.

    image_counts : (row,) how often each row counts.
    """
    keys = [ALL, *groups_of(populations)]
    design = populations[ALL].design
    variables: dict = {}
    totals = {}
    for kind in ("genuine", "impostor"):
        summaries = [
            moments_and_histogram(populations[key], weights[key], kind, edges) for key in keys
        ]
        total, mean, sd, histogram = map(np.array, zip(*summaries))
        totals[kind] = total
        variables |= _of_all_and_groups(f"{kind}_mean", mean)
        variables |= _of_all_and_groups(f"{kind}_sd", sd)
        variables |= _of_all_and_groups(f"{kind}_histogram", histogram, ["score_bin"])
    if design.pooled:
        for kind, total in totals.items():
            variables |= _of_all_and_groups(f"{kind}_pairs", total)
    images = totals["genuine"] + totals["impostor"]
    if design.images_are_named:  # otherwise entries are pairs
        counts = np.ones(len(design.images.image)) if image_counts is None else image_counts
        first = design.images.first_row
        stratum = design.images.stratum[first]
        in_group = [np.ones(len(first), bool)] + [stratum == name for name in design.images.groups]
        images = np.array([counts[first][is_member].sum() for is_member in in_group], float)
    return variables | _of_all_and_groups("images", images)


def _of_all_and_groups(name, values, dims=()):
    """A variable of all, and of groups; values : of all and of each group."""
    variables = {name: ([*dims], values[0])}
    if len(values) > 1:
        of_groups = np.moveaxis(values[1:], 0, -1)
        variables[f"{name}_group"] = [*dims, "group"], of_groups
    return variables


def areas_of(populations, weights):
    """AUC of all and of groups, as variables."""
    keys = [ALL, *groups_of(populations)]
    areas = np.array([auc(populations[key], weights[key]) for key in keys])
    return _of_all_and_groups("auc", areas)


def check_bounds(edges, lowest, highest):
    """Refuse scores outside the bins of a histogram, if one is asked for."""
    if not len(edges):
        return
    low, high = edges[0], edges[-1]
    slack = 1e-5 * (high - low)
    require(
        lowest >= low - slack and highest <= high + slack,
        f"scores reach from {lowest:.6g} to {highest:.6g}, outside the histogram's bounds "
        f"({low:.6g}, {high:.6g}); give wider ones with histogram=(bins, (low, high))",
    )


def stacked(variables_of_replicates):
    """The variables of all replicates, over `replicate` first."""
    every = list(variables_of_replicates)
    return {
        name: (["replicate", *dims], np.array([each[name][1] for each in every]))
        for name, (dims, _) in every[0].items()
    }


def rescaled_pairs(variables, of_data):
    """The numbers of pairs of the V-statistic, which has as many genuine pairs as the data."""
    if "genuine_pairs" not in variables:
        return variables
    scale = ratio(of_data["genuine_pairs"][1], variables["genuine_pairs"][1])
    pairs = {
        name: (dims, values * scale)
        for name, (dims, values) in variables.items()
        if name.startswith("genuine_pairs")
    }
    return variables | pairs


def of_models(tables, kept):
    """The tables of all models as one, over `model` where models have names."""
    if "model" not in kept.dims:
        return tables[0]
    return xr.concat(tables, kept["model"].variable.to_index_variable())
