"""Labels of groups, permuted over people or scores: what an index shows by chance."""

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import UNKNOWN
from frkit.evaluation.design import make_design
from frkit.evaluation.error_rates import weights_of_data
from frkit.evaluation.populations import ALL, populations_of_groups, whole_population
from frkit.evaluation.rate_tables import distributions_of, gathered, of_models, stacked
from frkit.scores.blocks import threads
from frkit.scores.groups import group_codes, groups_among, labels_of_images
from frkit.scores.images import Images, images_of
from frkit.scores.kept import (
    IMAGES,
    PAIRS,
    has_names,
    is_list,
    kept_list,
    pairs_of_models,
    rows_of_sides,
    with_labels,
)


def permute(group, rng, kind=0):
    """Numbers of groups, permuted within each kind; -1 means none and stays."""
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


def groups_of_people(images: Images):
    """The number of the person of each row, and of the group of each person; -1 means none."""
    _, first = np.unique(images.identity_code, return_index=True)
    group = pd.Index(images.groups).get_indexer(images.stratum[first])
    return images.identity_code, group


@threads()
def distributions_of_permuted(kept, by, varying, n, seed, edges):
    """Moments and histograms of all permutations, over ([model,] replicate, group).

    In a list a pair goes with the person of its probe. Without people each score is permuted
    separately, and every group keeps its numbers of genuine and of impostor scores.
    """
    kind = 0
    if is_list(kept):
        images = kept[IMAGES].dataset
        probe, reference = rows_of_sides(kept)
        label = labels_of_images(images, by)
        within = (label[probe] == label[reference]) & (label[probe] != UNKNOWN)
        if has_names(kept, "image"):
            within &= images["image"].values[probe] != images["image"].values[reference]
        pairs = kept[PAIRS].to_dataset().isel(pair=within)
        probe = probe[within]
        groups = groups_among(label[probe], by)
        group_of_pair = group_codes(label[probe], groups)
        owner = np.arange(len(probe))
        if has_names(kept):
            owner = np.unique(images["identity"].values[probe], return_inverse=True)[1]
        else:
            kind = pairs["genuine"].values.astype(int)
        group = np.zeros(owner.max() + 1, int)
        group[owner] = group_of_pair
        person = np.tile(owner, 2)  # of both sides of each pair
        kept = kept_list(pairs.assign_attrs(kept.attrs))
    else:
        images = images_of(kept, by, varying)
        kept = with_labels(kept, identity=images.identity, person=images.person)
        groups = images.groups
        person, group = groups_of_people(images)
    permuted = permutations(group, n, seed, kind)
    return _evaluate_permutations(kept, person, permuted, groups, edges)


def _evaluate_permutations(kept, person, permuted, groups, edges):
    """Distributions of permuted groups, over ([model,] replicate, group).

    person : the person of each row. permuted : the group of each person, (permutation, person), or
    -1. edges : of the bins of histograms.
    """
    design = make_design(kept, weighting="pair")
    tables = []
    for pairs in pairs_of_models(kept):
        whole = whole_population(design, pairs)
        replicates = []
        for group_of_person in permuted:
            group = group_of_person[person]
            group[group < 0] = len(groups)
            values: dict = {ALL: {}}
            for key, part in populations_of_groups(whole, group, len(groups)).items():
                weights = weights_of_data(part)
                values[key] = distributions_of(ALL, part, weights, edges, group == key[0])
            replicates.append(gathered(values))
        tables.append(xr.Dataset(stacked(replicates)))
    middles = (edges[1:] + edges[:-1]) / 2
    return of_models(tables, kept).assign_coords(score_bin=middles, group=groups)
