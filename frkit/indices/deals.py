"""The shuffle baseline: people, or scores, dealt to groups of the same sizes at random."""

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
    MODEL,
    PAIR,
    PERSON,
    PROBE,
    REFERENCE,
    REPLICATE,
    SCORE_BIN,
    require,
)
from frkit.evaluation.evaluate import evaluate
from frkit.scores.groups import People, labels_of_sides, people

DEAL = "deal"
LONE = "\x1f"  # stands in the name of what an image is drawn from, behind the identity


def generators(deals: int, seed: int) -> list[np.random.Generator]:
    """One generator for each deal: the first of many deals are the deals of few."""
    return [np.random.Generator(np.random.SFC64(one)) for one in np.random.SeedSequence((seed, 1)).spawn(deals)]


@dataclass(frozen=True, eq=False)
class PeopleDealt:
    """Deals in the form of a resampling scheme: replicate d K + g holds the people of group g in deal d, once.

    names, code: (identity,) sorted names, and the group of each, -1 for people in no group, who stay out.
    """

    names: np.ndarray
    code: np.ndarray
    deals: int
    seed: int
    scheme: ClassVar[str] = "deal"
    strata: ClassVar[None] = None

    @property
    def n(self) -> int:
        """Replicates."""
        return self.deals * (int(self.code.max()) + 1)

    def target(self, _n_identities: int) -> str:
        """What these replicates are about, in words."""
        return "groups dealt at random"

    def weights(self, identity, image=None, strata=None, person=None) -> xr.Dataset:
        """Counts of every replicate, as `Resampling.weights` gives them."""
        units = np.unique(identity)
        owner = np.searchsorted(self.names, [unit.split(LONE)[0] for unit in units.tolist()])
        known = np.flatnonzero(self.code >= 0)
        count = np.zeros((self.deals, int(self.code.max()) + 1, len(units)), np.uint16)
        for deal, rng in enumerate(generators(self.deals, self.seed)):
            dealt = np.full(len(self.code), -1)
            dealt[known] = rng.permutation(self.code[known])
            count[deal] = dealt[owner] == np.arange(count.shape[1])[:, None]
        counts = count.reshape(self.n, len(units))
        images = np.ones((self.n, len(identity)), np.uint16)
        dims = {"identity_count": ((REPLICATE, IDENTITY), counts), "image_count": ((REPLICATE, IMAGE), images)}
        return xr.Dataset(dims, coords={IDENTITY: units})


def deal_people(scores: xr.DataArray, by, varying: str, deals: int, seed: int, **options) -> xr.Dataset:
    """Tallies of all deals of a tensor, from one sweep: the variables of a node over (replicate, group)."""
    one = scores.isel({MODEL: 0}) if MODEL in scores.dims else scores
    who = people(one, by, varying)
    names, first = np.unique(who.identity, return_index=True)
    code = {name: number for number, name in enumerate(who.groups.tolist())}
    of_name = np.array([code.get(group, -1) for group in who.group[first].tolist()])
    scheme = PeopleDealt(names, of_name, deals, seed)
    found = evaluate(_renamed(scores, who), resampling=scheme, **options)["replicates"].to_dataset()
    wanted = [name for name in found if name.split("_")[0] in ("genuine", "impostor", "images")]
    pairs = pd.MultiIndex.from_product([range(deals), who.groups], names=[DEAL, GROUP])
    found = found[wanted].assign_coords(xr.Coordinates.from_pandas_multiindex(pairs, REPLICATE)).unstack(REPLICATE)
    return found.rename({DEAL: REPLICATE} | {name: f"{name}_group" for name in wanted})


def _renamed(scores: xr.DataArray, who: People) -> xr.DataArray:
    """The tensor with the identities that the rule for varying attributes leaves, without groups."""
    coords = {}
    for side, at in ((PROBE, who.probe), (REFERENCE, who.reference)):
        coords |= {f"{side}_{IDENTITY}": (side, who.identity[at]), f"{side}_{PERSON}": (side, who.person[at])}
    return scores.assign_coords(coords)


def deal_scores(scores: xr.DataArray, by, deals: int, seed: int, bins: int, images: xr.DataArray) -> xr.Dataset:
    """Tallies of all deals of a pair list: a pair goes with the person of its probe, or, without people, alone.

    Without people every group keeps its numbers of genuine and of impostor scores. images: of each group, which stay.
    """
    score, genuine, group, unit = _listed(scores, by)
    groups, code = np.unique(group, return_inverse=True)
    code_of_unit = np.zeros(unit.max() + 1, int)
    code_of_unit[unit] = code
    kind_of_unit = np.zeros(len(code_of_unit), int)
    if f"{PROBE}_{IDENTITY}" not in scores.coords:
        kind_of_unit[unit] = genuine
    stacked = [_dealt(rng, code_of_unit, kind_of_unit) for rng in generators(deals, seed)]
    parts = [_tallies(score, genuine, dealt[unit], len(groups), bins) for dealt in stacked]
    found = xr.concat(parts, REPLICATE)
    centres = (np.arange(bins) + 0.5) / bins
    return found.assign_coords({GROUP: groups, SCORE_BIN: centres}).assign(images_group=images)


def _listed(scores: xr.DataArray, by) -> tuple:
    """Scores ([model,] pair), kinds, group labels and units of the pairs within groups, as rates count them."""
    labels = labels_of_sides(scores, by)
    keep = (labels[0] == labels[1]) & (labels[0] != "unknown")
    if PROBE in scores.coords:
        keep &= scores[PROBE].values != scores[REFERENCE].values
    owner = f"{PROBE}_{IDENTITY}"
    unit = scores[owner].values[keep] if owner in scores.coords else np.arange(keep.sum())
    unit = np.unique(unit, return_inverse=True)[1]
    return scores.isel({PAIR: keep}), scores[GENUINE].values[keep].astype(bool), labels[0][keep], unit


def _dealt(rng: np.random.Generator, code: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """Codes of groups, dealt anew within each kind."""
    dealt = np.empty_like(code)
    for one in np.unique(kind):
        dealt[kind == one] = rng.permutation(code[kind == one])
    return dealt


def _tallies(score: xr.DataArray, genuine: np.ndarray, code: np.ndarray, n_groups: int, bins: int) -> xr.Dataset:
    """Moments, histograms and numbers of pairs of every group; scores in [0, 1]."""
    values = np.atleast_2d(score.values)
    lead = (MODEL,) if MODEL in score.dims else ()
    out = {}
    for kind, here in (("genuine", genuine), ("impostor", ~genuine)):
        own, place = values[:, here], code[here]
        at = np.minimum((own * bins).astype(int), bins - 1)
        many = np.bincount(place, minlength=n_groups)
        with np.errstate(invalid="ignore", divide="ignore"):
            powers = [np.stack([np.bincount(place, one**p, n_groups) for one in own]) / many for p in (1, 2)]
            counts = np.stack([np.bincount(one * n_groups + place, minlength=bins * n_groups) for one in at])
            shares = counts.reshape(len(own), bins, n_groups) / many
        spread = np.sqrt(np.maximum(powers[1] - powers[0] ** 2, 0))
        out[f"{kind}_pairs_group"] = (GROUP, many.astype(float))
        for name, dims, found in (("mean", (), powers[0]), ("sd", (), spread), ("histogram", (SCORE_BIN,), shares)):
            out[f"{kind}_{name}_group"] = ((*lead, *dims, GROUP), found if lead else found[0])
    return xr.Dataset(out)


def check_deals(deals: int) -> None:
    """A number of deals, none or two at least."""
    whole = isinstance(deals, (int, np.integer)) and (deals == 0 or deals >= 2)
    require(whole, f"deals must be 0 (no floor) or at least 2, got {deals!r}")
