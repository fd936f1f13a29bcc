"""Score distributions of groups dealt at random: the tallies of which SFI, CFI and DFI have their floors."""

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import GENUINE, GROUP, IDENTITY, MODEL, PAIR, PERSON, PROBE, REFERENCE, REPLICATE, SCORE_BIN, UNKNOWN
from frkit.evaluation.evaluate import evaluate
from frkit.intervals.floors import PeopleDealt, deal, generators, grouped_people
from frkit.scores.groups import labels_of_sides, people

DEAL = "deal"


def deal_people(scores: xr.DataArray, by, varying: str, deals: int, seed: int, **options) -> xr.Dataset:
    """Tallies of all deals of a tensor, from one sweep: the variables of a node over (replicate, group)."""
    who = people(scores.isel({MODEL: 0}) if MODEL in scores.dims else scores, by, varying)
    owner, code = grouped_people(who)
    dealt = np.stack([deal(code, rng) for rng in generators(deals, seed)])
    coords = {}  # the identities that the rule for varying attributes leaves, without groups
    for side, at in ((PROBE, who.probe), (REFERENCE, who.reference)):
        coords |= {f"{side}_{IDENTITY}": (side, who.identity[at]), f"{side}_{PERSON}": (side, who.person[at])}
    found = evaluate(scores.assign_coords(coords), resampling=PeopleDealt(owner, dealt, seed), **options)
    nodes = found["replicates"].to_dataset()
    tallies = nodes[[name for name in nodes if name.split("_")[0] in ("genuine", "impostor", "images")]]
    pairs = pd.MultiIndex.from_product([range(deals), who.groups], names=[DEAL, GROUP])
    by_group = tallies.assign_coords(xr.Coordinates.from_pandas_multiindex(pairs, REPLICATE)).unstack(REPLICATE)
    return by_group.rename({DEAL: REPLICATE} | {name: f"{name}_group" for name in tallies})


def deal_pairs(scores: xr.DataArray, by, deals: int, seed: int, bins: int, images: xr.DataArray) -> xr.Dataset:
    """Tallies of all deals of a pair list: a pair goes with the person of its probe, or, without people, alone.

    Without people every group keeps its numbers of genuine and of impostor scores. images: of each group, which stay.
    """
    labels = labels_of_sides(scores, by)
    keep = (labels[0] == labels[1]) & (labels[0] != UNKNOWN)
    if PROBE in scores.coords:
        keep &= scores[PROBE].values != scores[REFERENCE].values
    scores = scores.isel({PAIR: keep})
    groups, code = np.unique(labels[0][keep], return_inverse=True)
    genuine, owner = scores[GENUINE].values.astype(bool), f"{PROBE}_{IDENTITY}"
    if owner in scores.coords:
        unit, kind = np.unique(scores[owner].values, return_inverse=True)[1], 0
    else:
        unit, kind = np.arange(len(code)), genuine.astype(int)
    code_of_unit = np.zeros(unit.max() + 1, int)
    code_of_unit[unit] = code
    dealt = (deal(code_of_unit, rng, kind)[unit] for rng in generators(deals, seed))
    tallies = xr.concat([_tallies(scores, genuine, code, len(groups), bins) for code in dealt], REPLICATE)
    centres = (np.arange(bins) + 0.5) / bins
    return tallies.assign_coords({GROUP: groups, SCORE_BIN: centres}).assign(images_group=images)


def _tallies(scores: xr.DataArray, genuine: np.ndarray, code: np.ndarray, n_groups: int, bins: int) -> xr.Dataset:
    """Numbers of pairs, moments and histograms of every group; scores in [0, 1]."""
    tallies, dims = {}, [[GROUP], [GROUP], [GROUP], [SCORE_BIN, GROUP]]
    for kind, here in (("genuine", genuine), ("impostor", ~genuine)):
        options = {"code": code[here], "n_groups": n_groups, "bins": bins}
        found = xr.apply_ufunc(
            _of_kind,
            scores.isel({PAIR: here}).variable,
            kwargs=options,
            input_core_dims=[[PAIR]],
            output_core_dims=dims,
            vectorize=True,
            keep_attrs=False,
        )
        names = (f"{kind}_{name}_group" for name in ("pairs", "mean", "sd", "histogram"))
        tallies |= zip(names, found, strict=True)
    return xr.Dataset(tallies)


def _of_kind(score: np.ndarray, code: np.ndarray, n_groups: int, bins: int) -> tuple[np.ndarray, ...]:
    """The four tallies of the genuine, or of the impostor, pairs of one model."""
    many = np.bincount(code, minlength=n_groups)
    cell = np.minimum((score * bins).astype(int), bins - 1) * n_groups + code
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, square = (np.bincount(code, score**power, n_groups) / many for power in (1, 2))
        histogram = np.bincount(cell, minlength=bins * n_groups).reshape(bins, n_groups) / many
    return many.astype(float), mean, np.sqrt(np.maximum(square - mean**2, 0)), histogram
