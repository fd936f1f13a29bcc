"""People, or scores, permuted between groups at random: how much groups differ by chance.

Each permutation keeps the sizes of the groups. Its groups are columns of counts, as replicates are:
one sweep over the scores tallies many permutations.
"""

from dataclasses import replace

import numpy as np
import xarray as xr

from frkit.base import UNKNOWN
from frkit.engine.protocol import make_protocol
from frkit.engine.tally import NONE, tally_scores
from frkit.evaluation.tables import COLUMN, distribution_table, rates_table
from frkit.scores.groups import labels_of_sides, models_of, people

DEALT = "dealt"  # the node of an evaluation whose people, or scores, were permuted
CELLS = 100_000_000  # counts of images in one sweep


def permute(group, rng, kind=0):
    """Numbers of groups, permuted within each kind; -1 is no group and stays."""
    permuted = group.copy()
    kind = np.where(group < 0, -1, kind)
    for same in np.unique(kind[group >= 0]):
        permuted[kind == same] = rng.permutation(group[kind == same])
    return permuted


def permutations(group, n, seed, kind=0):
    """Permuted numbers of groups, (permutation, person); with a larger n the first ones stay."""
    seeds = np.random.SeedSequence((seed, 1)).spawn(n)
    generators = [np.random.Generator(np.random.SFC64(child)) for child in seeds]
    return np.array([permute(group, rng, kind) for rng in generators], np.int16)


def groups_of_people(who):
    """The number of the person of each image, and of the group of each person; -1 is no group."""
    _, first = np.unique(who.identity, return_index=True)
    name = who.group[first]
    group = np.searchsorted(who.groups, name)
    group[name == UNKNOWN] = -1
    return who.identity_code, group


def distributions_of_permuted(scores, by, varying, n, seed, edges, progress):
    """Moments and histograms of all permutations, over ([model,] replicate, group).

    In a list a pair goes with the person of its probe. Without people each score is permuted alone,
    and every group keeps its numbers of genuine and of impostor scores.
    """
    kind = 0
    if "pair" in scores.dims:
        label, partner = labels_of_sides(scores, by)
        within = (label == partner) & (label != UNKNOWN)
        if "probe" in scores.coords:
            within &= scores["probe"].values != scores["reference"].values
        scores = scores.isel(pair=within)
        groups, group_of_pair = np.unique(label[within], return_inverse=True)
        owner = np.arange(len(group_of_pair))
        if "probe_identity" in scores.coords:
            owner = np.unique(scores["probe_identity"].values, return_inverse=True)[1]
        else:
            kind = scores["genuine"].values.astype(int)
        group = np.zeros(owner.max() + 1, int)
        group[owner] = group_of_pair
        person = np.tile(owner, 2)  # of both sides of each pair
        names = [name for name, column in scores.coords.items() if "pair" in column.dims]
        scores = scores.drop_vars({*names} - {"genuine"})
    else:
        who = people(scores, by, varying)
        scores = who.relabel(scores)
        groups = who.groups
        person, group = groups_of_people(who)
    permuted = permutations(group, n, seed, kind)
    how = {"weighting": "pair", "edges": edges, "progress": progress}
    return evaluate_permuted(scores, person, permuted, groups, **how)


def evaluate_permuted(
    scores, person, permuted, groups, weighting, *, thresholds=None, edges=NONE, progress=False
):
    """Rates at thresholds, or distributions, of permuted groups: ([model,] replicate, group).

    person : the person of each image. permuted : the group of each person, (permutation, person).
    thresholds : (model, level). edges : of the bins of histograms.
    """
    models = models_of(scores)
    if thresholds is None:
        thresholds = [NONE] * len(models)
    protocol = make_protocol(models[0], weighting=weighting)
    first = np.unique(protocol.images.identity, return_index=True)[1]
    step = max(1, CELLS // (len(groups) * len(person)))
    every = []
    for begin in range(0, len(permuted), step):
        group_of_identity = permuted[begin : begin + step, None, person[first]]
        identities = group_of_identity == np.arange(len(groups))[:, None]
        identities = identities.reshape(-1, len(first))
        images = np.ones((len(identities), len(person)), np.uint8)
        columns = replace(protocol, drawn=(images, identities))
        tables = []
        for model, fixed in zip(models, thresholds):
            tally = tally_scores(model, columns, threshold=fixed, edges=edges, progress=progress)
            if len(edges):
                table = distribution_table(tally, edges)
            else:
                table = rates_table(tally, NONE, fixed, "all").drop_vars("threshold_level")
            tables.append(table[[name for name in table if COLUMN in table[name].dims]])
        table = xr.concat(tables, scores["model"]) if "model" in scores.dims else tables[0]
        every.append(table.isel({COLUMN: slice(1, -1)}))  # without the data, the V-statistic
    result = xr.concat(every, COLUMN).coarsen({COLUMN: len(groups)})
    result = result.construct({COLUMN: ("replicate", "group")}).assign_coords(group=groups)
    return result.rename({name: f"{name}_group" for name in result})
