"""The rates of the populations of a model, by name, and their arrays over levels and groups."""

import numpy as np
import xarray as xr

from frkit.base import require
from frkit.evaluation.error_rates import (
    eer,
    error_counts,
    far,
    frr,
    moments_and_histogram,
    thinning_error,
    thresholds,
)
from frkit.evaluation.populations import ALL

TWO_GROUPS = ["group", "reference_group"]
RESOLVED = 10  # errors of either kind that a level needs before its interval means something


def groups_of(populations):
    """The keys of the populations within a group."""
    return [key for key in populations if key is not ALL and key[0] == key[1]]


def gathered(values):
    """Variables of the whole, of groups (`_group`) and of pairs of groups (`_cross`), by name.

    values : by population, dims and array of each variable. Groups follow the first dim.
    """
    groups = groups_of(values)
    variables = dict(values[ALL])
    for name, (dims, _) in values.get((0, 0), {}).items():
        arrays = [values[key][name][1] for key in groups]
        stacked_dims = [*dims[:1], "group", *dims[1:]]
        variables[f"{name}_group"] = stacked_dims, np.stack(arrays, min(len(dims), 1))
    numbers = range(len(groups))
    for name, (dims, _) in values.get((0, 1), {}).items():
        table = [[values[min(g, h), max(g, h)][name][1] for h in numbers] for g in numbers]
        groups_last = np.moveaxis(np.array(table), (0, 1), (-2, -1))
        variables[f"{name}_cross"] = [*dims, *TWO_GROUPS], groups_last
    return variables


def thresholds_at(populations, weights, levels, far_of):
    """The thresholds of every population at FAR levels.

    Of the whole; of the group with the highest (far_of="worst group"); of each group by itself
    ("own group").
    """
    groups = groups_of(populations)
    by_key = {
        key: thresholds(populations[key], weights[key], levels)
        for key in ([ALL] if far_of == "all" else [ALL, *groups])
    }
    of_all = by_key[ALL]
    if far_of == "worst group":  # a group without impostor pairs is ignored
        of_all = np.fmax.reduce([by_key[key] for key in groups])
    at = dict.fromkeys(populations, of_all)
    return at | {key: by_key[key] for key in groups} if far_of == "own group" else at


def rates_of(populations, weights, at, level, far_of):
    """Rates by population and name, dims and array; at : thresholds by population."""
    values = {
        key: {"far": ([level], far(population, weights[key], at[key]))}
        for key, population in populations.items()
    }
    for key in [ALL, *groups_of(populations)]:
        rate, eer_threshold = eer(populations[key], weights[key])
        values[key] |= {
            "frr": ([level], frr(populations[key], weights[key], at[key])),
            "eer": ([], rate),
            "eer_threshold": ([], eer_threshold),
        }
        if key is ALL or far_of == "own group":
            values[key]["threshold"] = [level], at[key]
    return values


def lowest_threshold(values):
    """The lowest threshold of all populations, at levels or at the EER."""
    thresholds_of_populations = [
        np.ravel(array)
        for variables in values.values()
        for name, (_, array) in variables.items()
        if "threshold" in name
    ]
    return np.nanmin(np.concatenate(thresholds_of_populations))


def counts_of_errors(populations, at, level):
    """Numbers of errors of the data by population and name, and where they are enough."""
    is_thinned = np.any(populations[ALL].impostors.number > 1)
    groups = groups_of(populations)
    values = {}
    for key, population in populations.items():
        accepts, rejects = error_counts(population, at[key])
        values[key] = {"false_accepts": ([level], accepts)}
        if key is not ALL and key not in groups:
            continue
        values[key]["false_rejects"] = [level], rejects
        values[key]["resolved"] = [level], (accepts >= RESOLVED) & (rejects >= RESOLVED)
        if is_thinned:
            values[key]["thinned"] = [level], thinning_error(population, at[key])
    return values


def distributions_of(key, population, weights, edges, image_counts=None):
    """Weight, mean, sd and histogram of both kinds of scores of a population, by name.

    image_counts : (row,) how often each row counts.
    """
    design = population.design
    variables: dict = {}
    total_of_both = 0.0
    for kind in ("genuine", "impostor"):
        total, mean, sd, histogram = moments_and_histogram(population, weights, kind, edges)
        variables[f"{kind}_mean"] = [], mean
        variables[f"{kind}_sd"] = [], sd
        variables[f"{kind}_histogram"] = ["score_bin"], histogram
        if design.pooled:
            variables[f"{kind}_pairs"] = [], total
        total_of_both += total
    variables["images"] = [], total_of_both  # entries are pairs where images have no names
    if design.images_are_named:
        first = design.images.first_row
        counts = np.ones(len(first)) if image_counts is None else image_counts[first]
        if key is not ALL:
            counts = counts[design.images.stratum[first] == design.images.groups[key[0]]]
        variables["images"] = [], float(counts.sum())
    return variables


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


def of_models(tables, kept):
    """The tables of all models as one, over `model` where models have names."""
    if "model" not in kept.dims:
        return tables[0]
    return xr.concat(tables, kept["model"].variable.to_index_variable())
