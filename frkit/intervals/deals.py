"""People, or scores, dealt to groups of the same sizes at random: how groups differ by chance."""

from dataclasses import dataclass
from typing import ClassVar

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
from frkit.scores.groups import People, labels_of_sides, people

DEALT = "dealt"  # the node of an evaluation whose people, or scores, were dealt to groups
TALLIES = {  # of the pairs of a group -> dims
    "pairs": [GROUP],
    "mean": [GROUP],
    "sd": [GROUP],
    "histogram": [SCORE_BIN, GROUP],
}


def deal_people(
    scores: xr.DataArray, by, varying: str, deals: int, seed: int, **options
) -> xr.Dataset:
    """Tallies of all deals of a tensor, from one sweep: variables over (replicate, group)."""
    who = people(scores, by, varying)
    owner, code = grouped_people(who)
    dealt = np.stack([deal(code, rng) for rng in generators(deals, seed)])
    tallies = evaluate_deals(who.relabel(scores), owner, dealt, who.groups, **options)
    of_scores = ("genuine", "impostor", "images")
    names = {name: f"{name}_group" for name in tallies if name.startswith(of_scores)}
    return tallies[[*names]].rename(names)


def evaluate_deals(scores, owner, dealt, groups, **options):
    """Rates and tallies of dealt groups, over (replicate, group).

    owner: the person of each image. dealt: the group of each person in each deal, (deal, person).
    """
    draws = PeopleDealt(owner, dealt)
    node = evaluate_parts(scores, resampling=draws, **options)["replicates"].to_dataset()
    columns = pd.MultiIndex.from_product([range(len(dealt)), groups], names=["deal", GROUP])
    index = xr.Coordinates.from_pandas_multiindex(columns, REPLICATE)
    return node.assign_coords(index).unstack(REPLICATE).rename(deal=REPLICATE)


def deal_pairs(
    scores: xr.DataArray, by, deals: int, seed: int, bins: int, images: xr.DataArray
) -> xr.Dataset:
    """Tallies of all deals of a list: a pair goes with the person of its probe.

    Without people each score is dealt alone, and every group keeps its numbers of genuine and of
    impostor scores. images: of each group, which stay.
    """
    label, partner = labels_of_sides(scores, by)
    within = (label == partner) & (label != UNKNOWN)
    if PROBE in scores.coords:
        within &= scores[PROBE].values != scores[REFERENCE].values
    scores = scores.isel({PAIR: within})
    genuine, owner = scores[GENUINE].values.astype(bool), f"{PROBE}_{IDENTITY}"
    groups, code = np.unique(label[within], return_inverse=True)
    unit, kind = np.arange(len(code)), genuine.astype(int)
    if owner in scores.coords:
        unit, kind = np.unique(scores[owner].values, return_inverse=True)[1], 0
    code_of_unit = np.zeros(unit.max() + 1, int)
    code_of_unit[unit] = code
    scores = scores.drop_vars([name for name in scores.coords if PAIR in scores[name].dims])
    all_tallies = []
    for rng in generators(deals, seed):
        dealt = xr.DataArray(deal(code_of_unit, rng, kind)[unit], dims=PAIR)
        tallies = {}
        for name, pairs in (("genuine", genuine), ("impostor", ~genuine)):
            values = xr.apply_ufunc(
                _tallies,
                scores.isel({PAIR: pairs}),
                dealt.isel({PAIR: pairs}),
                kwargs={"n_groups": len(groups), "bins": bins},
                input_core_dims=[[PAIR], [PAIR]],
                output_core_dims=list(TALLIES.values()),
                vectorize=True,
            )
            tallies |= {f"{name}_{tally}_group": each for tally, each in zip(TALLIES, values)}
        all_tallies.append(xr.Dataset(tallies))
    middles = (np.arange(bins) + 0.5) / bins
    result = xr.concat(all_tallies, REPLICATE).assign_coords({GROUP: groups, SCORE_BIN: middles})
    return result.assign(images_group=images)


def _tallies(score, code, n_groups, bins):
    """Pairs, mean, standard deviation and histogram of the scores of each group."""
    pairs = np.bincount(code, minlength=n_groups)
    cell = np.minimum((score * bins).astype(int), bins - 1) * n_groups + code
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(code, score, n_groups) / pairs
        square = np.bincount(code, score**2, n_groups) / pairs
        histogram = np.bincount(cell, minlength=bins * n_groups).reshape(bins, n_groups) / pairs
    return pairs.astype(float), mean, np.sqrt(np.maximum(square - mean**2, 0)), histogram


# --- one deal ------------------------------------------------------------------------------------


def grouped_people(who: People) -> tuple[np.ndarray, np.ndarray]:
    """The number of the person of each image, and the group of each person; -1 is no group."""
    group = who.group[np.unique(who.identity, return_index=True)[1]]
    return who.identity_code, np.where(group == UNKNOWN, -1, np.searchsorted(who.groups, group))


def generators(deals: int, seed: int) -> list[np.random.Generator]:
    """One generator for each deal: the first of many deals are the deals of few."""
    seeds = np.random.SeedSequence((seed, 1)).spawn(deals)
    return [np.random.Generator(np.random.SFC64(child)) for child in seeds]


def deal(code: np.ndarray, rng: np.random.Generator, kind: np.ndarray | int = 0) -> np.ndarray:
    """Codes of groups, dealt anew within each kind; who is in no group (-1) stays there."""
    dealt, kind = code.copy(), np.where(code < 0, -1, kind)
    for same in np.unique(kind[code >= 0]):
        dealt[kind == same] = rng.permutation(code[kind == same])
    return dealt


@dataclass(frozen=True, eq=False)
class PeopleDealt:
    """Deals in the form of a resampling scheme: replicate d K + g is group g of K in deal d.

    owner : the person of each image, (image,). dealt : the group of each person in each deal,
    (deal, person).
    """

    owner: np.ndarray
    dealt: np.ndarray
    seed: ClassVar[int] = 0
    scheme: ClassVar[str] = "deal"
    strata: ClassVar[None] = None

    @property
    def n(self):
        """Replicates."""
        return len(self.dealt) * (int(self.dealt.max()) + 1)

    def target(self, _n_identities):
        """What these replicates are about, in words."""
        return "groups dealt at random"

    def weights(self, identity, image=None, strata=None, person=None):
        """Counts of every replicate, as `Resampling.weights` gives them, for the same images."""
        names, first = np.unique(identity, return_index=True)
        group = self.dealt[:, None, self.owner[first]]  # (deal, group, identity)
        inside = group == np.arange(self.n // len(self.dealt))[:, None]
        counts = inside.reshape(self.n, len(names)).astype(np.uint16)
        images = np.ones((self.n, len(identity)), np.uint16)
        variables = {
            "identity_count": ((REPLICATE, IDENTITY), counts),
            "image_count": ((REPLICATE, IMAGE), images),
        }
        return xr.Dataset(variables, coords={IDENTITY: names})
