"""People, or scores, permuted between groups at random: how much groups differ by chance.

Each permutation keeps the sizes of the groups.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import (
    GENUINE,
    GROUP,
    IDENTITY,
    IMAGE,
    PAIR,
    PROBE,
    REFERENCE,
    REPLICATE,
    SCORE_BIN,
    UNKNOWN,
)
from frkit.evaluation.evaluate import evaluate_parts
from frkit.scores.groups import labels_of_sides, people

DEALT = "dealt"  # the node of an evaluation whose people, or scores, were permuted
TALLIES = {  # of the pairs of a group -> dims
    "pairs": [GROUP],
    "mean": [GROUP],
    "sd": [GROUP],
    "histogram": [SCORE_BIN, GROUP],
}


def generators(n, seed):
    """One generator for each permutation: with more of them the first ones stay the same."""
    seeds = np.random.SeedSequence((seed, 1)).spawn(n)
    return [np.random.Generator(np.random.SFC64(child)) for child in seeds]


def permute(group, rng, kind=0):
    """Numbers of groups, permuted within each kind; -1 is no group and stays."""
    permuted = group.copy()
    kind = np.where(group < 0, -1, kind)
    for same in np.unique(kind[group >= 0]):
        permuted[kind == same] = rng.permutation(group[kind == same])
    return permuted


# --- tensors -------------------------------------------------------------------------------------


def permute_people(scores, by, varying, n, seed, **options):
    """Tallies of all permutations of a tensor, from one sweep, over (replicate, group)."""
    who = people(scores, by, varying)
    person, group = groups_of_people(who)
    permuted = np.stack([permute(group, rng) for rng in generators(n, seed)])
    tallies = evaluate_permuted(who.relabel(scores), person, permuted, who.groups, **options)
    of_scores = ("genuine", "impostor", "images")
    names = {name: f"{name}_group" for name in tallies if name.startswith(of_scores)}
    return tallies[[*names]].rename(names)


def groups_of_people(who):
    """The number of the person of each image, and of the group of each person; -1 is no group."""
    _, first = np.unique(who.identity, return_index=True)
    name = who.group[first]
    group = np.searchsorted(who.groups, name)
    group[name == UNKNOWN] = -1
    return who.identity_code, group


def evaluate_permuted(scores, person, permuted, groups, **options):
    """Rates and tallies of permuted groups, over (replicate, group).

    person : the person of each image. permuted : the group of each person, (permutation, person).
    """
    draws = PermutedGroups(person, permuted)
    node = evaluate_parts(scores, resampling=draws, **options)["replicates"].to_dataset()
    numbers = range(len(permuted))
    columns = pd.MultiIndex.from_product([numbers, groups], names=["permutation", GROUP])
    index = xr.Coordinates.from_pandas_multiindex(columns, REPLICATE)
    return node.assign_coords(index).unstack(REPLICATE).rename(permutation=REPLICATE)


@dataclass(frozen=True, eq=False)
class PermutedGroups:
    """Permutations as a resampling scheme: replicate i K + g is group g of K in permutation i.

    person : the person of each image, (image,). permuted : the group of each person,
    (permutation, person).
    """

    person: np.ndarray
    permuted: np.ndarray
    seed = 0
    scheme = "permutation"
    strata = None

    @property
    def n(self):
        """Replicates."""
        return len(self.permuted) * (int(self.permuted.max()) + 1)

    def target(self, _n_identities):
        """What these replicates are about, in words."""
        return "people assigned to groups at random"

    def weights(self, identity, image=None, strata=None, person=None):
        """Counts of every replicate, as `Resampling.weights` gives them, for the same images."""
        names, first = np.unique(identity, return_index=True)
        n_groups = self.n // len(self.permuted)
        # over (permutation, group, identity)
        group_of_identity = self.permuted[:, None, self.person[first]]
        counts = group_of_identity == np.arange(n_groups)[:, None]
        counts = counts.reshape(self.n, -1).astype(np.uint16)
        images = np.ones((self.n, len(identity)), np.uint16)
        variables = {
            "identity_count": ((REPLICATE, IDENTITY), counts),
            "image_count": ((REPLICATE, IMAGE), images),
        }
        return xr.Dataset(variables, coords={IDENTITY: names})


# --- lists of pairs ------------------------------------------------------------------------------


def permute_pairs(scores, by, n, seed, bins, images):
    """Tallies of all permutations of a list: a pair goes with the person of its probe.

    Without people each score is permuted alone, and every group keeps its numbers of genuine and of
    impostor scores. images : of each group, which stay.
    """
    label, partner = labels_of_sides(scores, by)
    within = (label == partner) & (label != UNKNOWN)
    if PROBE in scores.coords:
        within &= scores[PROBE].values != scores[REFERENCE].values
    scores = scores.isel({PAIR: within})
    genuine = scores[GENUINE].values.astype(bool)
    groups, group = np.unique(label[within], return_inverse=True)
    person = f"{PROBE}_{IDENTITY}"
    unit = np.arange(len(group))
    kind = genuine.astype(int)
    if person in scores.coords:
        _, unit = np.unique(scores[person].values, return_inverse=True)
        kind = 0
    group_of_unit = np.zeros(unit.max() + 1, int)
    group_of_unit[unit] = group
    of_pairs = [name for name, labels in scores.coords.items() if PAIR in labels.dims]
    values = scores.drop_vars(of_pairs)
    every = []
    for rng in generators(n, seed):
        permuted = xr.DataArray(permute(group_of_unit, rng, kind)[unit], dims=PAIR)
        tallies = {}
        for name, some in (("genuine", genuine), ("impostor", ~genuine)):
            results = xr.apply_ufunc(
                _tallies,
                values.isel({PAIR: some}),
                permuted.isel({PAIR: some}),
                kwargs={"n_groups": len(groups), "bins": bins},
                input_core_dims=[[PAIR], [PAIR]],
                output_core_dims=list(TALLIES.values()),
                vectorize=True,
            )
            for tally, result in zip(TALLIES, results):
                tallies[f"{name}_{tally}_group"] = result
        every.append(xr.Dataset(tallies))
    middles = (np.arange(bins) + 0.5) / bins
    result = xr.concat(every, REPLICATE).assign_coords({GROUP: groups, SCORE_BIN: middles})
    return result.assign(images_group=images)


def _tallies(score, group, n_groups, bins):
    """Pairs, mean, standard deviation and histogram of the scores of each group."""
    pairs = np.bincount(group, minlength=n_groups)
    score_bin = np.minimum((score * bins).astype(int), bins - 1)
    cell = score_bin * n_groups + group
    histogram = np.bincount(cell, minlength=bins * n_groups).reshape(bins, n_groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(group, score, n_groups) / pairs
        square = np.bincount(group, score**2, n_groups) / pairs
        sd = np.sqrt(np.maximum(square - mean**2, 0))
        return pairs.astype(float), mean, sd, histogram / pairs
