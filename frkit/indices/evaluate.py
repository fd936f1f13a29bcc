"""From scores to tallies of whole distributions by group: maps to [0, 1], one sweep, and groups dealt at random."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import (
    GENUINE,
    GROUP,
    IDENTITY,
    MODEL,
    PAIR,
    PROBE,
    REFERENCE,
    REPLICATE,
    SCORE_BIN,
    UNKNOWN,
    InputError,
    listed,
    require,
    require_whole,
)
from frkit.evaluation.evaluate import DISTRIBUTIONS, evaluated
from frkit.intervals.floors import DEALT, PeopleDealt, deal, generators, grouped_people
from frkit.resampling import Resampling
from frkit.scores.groups import checked_scores, labels_of_sides, people

MISSING = {"genuine": "a person with two images", "impostor": "two people"}
DEAL = "deal"
ROUNDING = 1e-5  # by so much may a mapped score lie outside [0, 1]: that is rounding, and is cut off
FEW = 256  # scores that tell whether a map increases


def evaluate(
    scores: xr.DataArray | xr.Dataset,
    *,
    by: str | list[str],
    score_map: str | Callable = "cosine",
    bins: int = 100,
    resampling: Resampling | None = None,
    deals: int | None = None,
    varying: str = "error",
    progress: bool | None = None,
) -> xr.DataTree:
    """Tally whole score distributions of groups as SFI, CFI and DFI need them, with replicates and deals.

    All pairs weigh the same, impostors are of the same group. `band`, `uncertainty`, `compare` and `floor` take the
    result with any of the measures "sfi_normal", ..., "dfi_weighted", or with those of `measures.sfi` and so on.

    Parameters
    ----------
    scores : score tensor, score matrix or pair table; with a `model` dim every model.
    by : attribute(s) whose groups are compared; people without a label belong to no group.
    score_map : how scores get into [0, 1]; see `indices.unit_scores`.
    bins : equal bins on [0, 1], at least 2.
    resampling : how replicates are drawn; without it there are none.
    deals : how often people (scores, in a pair table: a pair goes with the person of its probe) are dealt to groups
        at random, for the floor; by default as many as replicates.
    varying, progress : as in `evaluate`.

    Returns
    -------
    xr.DataTree as from `evaluate(..., histogram=bins)` without the rates, and with deals the node `dealt`, over
    (replicate, group).

    Raises
    ------
    InputError : scores that are NaN or that the map sends outside [0, 1], fewer than two groups, a group without
        genuine or without impostor pairs.

    Warns
    -----
    DataWarning : as `evaluate`.

    References
    ----------
    Kotwal & Marcel (2022), section 3.

    Examples
    --------
    >>> import frkit as fk
    >>> ev = fk.indices.evaluate(fk.canonical_scores("unfair"), by="group", deals=20)
    >>> bool(fk.floor(ev, "sfi_normal").p < 0.05)
    True
    """
    require_whole("bins", bins, 2)
    deals = (0 if resampling is None else resampling.n) if deals is None else deals
    require_whole("deals", deals, 0)
    require(deals != 1, "deals must be 0 (no floor) or at least 2, got 1")
    mapped = unit_scores(scores, score_map)
    how = dict(weighting="pair", histogram=(bins, (0.0, 1.0)), progress=progress, wanted=DISTRIBUTIONS)
    found = evaluated(mapped, by=by, resampling=resampling, impostors="same-group", varying=varying, **how)
    tallies = found["empirical"].to_dataset()
    names = tallies[GROUP].values
    require(len(names) > 1, f"fairness between groups needs two groups or more, got {listed(names)} only")
    for kind, need in MISSING.items():
        many = tallies[f"{kind}_pairs_group"]
        none = names[(many == 0).any([dim for dim in many.dims if dim != GROUP]).values]
        require(
            len(none) == 0,
            f"group(s) {listed(none)} have no {kind} pair within the group, which takes {need}: merge these groups "
            "with others, or leave them out",
        )
    if deals:
        seed = 0 if resampling is None else resampling.seed
        if PAIR in mapped.dims:
            dealt = deal_pairs(mapped, by, deals, seed, bins, tallies.images_group)
        else:
            dealt = deal_people(mapped, by, varying, deals, seed, **how)
        units = "people" if f"{PROBE}_{IDENTITY}" in mapped.coords else "scores"
        found[DEALT] = xr.DataTree(dealt.assign_attrs(dealt=units, seed=seed))
    return found


# --- maps ----------------------------------------------------------------------------------------------------


def _angular(score: np.ndarray) -> np.ndarray:
    """1 - angle / pi; a number that is no cosine has no angle."""
    with np.errstate(invalid="ignore"):
        return 1 - np.arccos(np.where(np.abs(score) <= 1 + ROUNDING, np.clip(score, -1, 1), np.nan)) / np.pi


# name -> map; Euclidean scores are minus a distance
SCORE_MAPS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "cosine": lambda score: (1 + score) / 2,
    "angular": _angular,
    "identity": lambda score: score,
    "euclidean": lambda score: 1 / (1 - score),
    "chord": lambda score: 1 + score / 2,
}


def map_name(score_map: str | Callable) -> str:
    """What a map is called."""
    return score_map if isinstance(score_map, str) else getattr(score_map, "__name__", "callable")


def _mapped(score: np.ndarray, score_map: str | Callable) -> np.ndarray:
    """Scores in [0, 1]; what a map returns is checked."""
    score = np.asarray(score)
    failed = int(np.isnan(score).sum())
    require(
        failed == 0,
        f"{failed} score(s) are NaN (failed comparisons), which have no place in a distribution: leave those pairs "
        "out, or give them the score that the system acts upon",
    )
    function, name = SCORE_MAPS[score_map] if isinstance(score_map, str) else score_map, map_name(score_map)
    mapped = np.asarray(function(score), score.dtype)
    require(mapped.shape == score.shape, f"score_map {name!r} must return one number for every score")
    # a function of the user's may fall somewhere; the kit's own maps do not
    few = np.sort(score, axis=None)[:: max(1, score.size // FEW)] if callable(score_map) else score[:0]
    rises = len(few) == 0 or np.all(np.diff(np.asarray(function(few), float)) >= -ROUNDING)
    require(rises, f"score_map {name!r} decreases: larger must stay more alike; map distances with 1 - d, say")
    bad = ~((mapped >= -ROUNDING) & (mapped <= 1 + ROUNDING))
    if bad.any():
        first = np.unravel_index(np.argmax(bad), bad.shape)
        raise InputError(
            f"score_map {name!r} sends a score of {score[first]:.6g} to {mapped[first]:.6g}, outside [0, 1]; "
            f"name the map that fits these scores: {', '.join(SCORE_MAPS)}, or a function of an array of scores"
        )
    return np.clip(mapped, 0, 1)


def unit_scores(scores: xr.DataArray | xr.Dataset, score_map: str | Callable = "cosine") -> xr.DataArray:
    """Map scores to [0, 1], as the fairness indices need them; a tensor stays lazy.

    Parameters
    ----------
    scores : score tensor, score matrix or pair table.
    score_map : "cosine" is (1 + s) / 2 and "angular" 1 - arccos(s) / pi, for cosines; "identity" leaves scores as
        they are; "euclidean" is 1 / (1 + distance) and "chord" 1 - distance / 2 (unit vectors), for scores that are
        minus a distance; or an increasing function that takes an array of scores and returns one of the same shape.

    Returns
    -------
    xr.DataArray with the dims and coordinates of the scores, in [0, 1].

    Raises
    ------
    InputError : an unknown map. When a block is computed: NaN scores, or a mapped score outside [0, 1] (by more
        than 1e-5, which is rounding).

    References
    ----------
    Kotwal & Marcel (2022), section 2.2: scores in [0, 1], higher values indicating a better match.

    Examples
    --------
    >>> import frkit as fk
    >>> table = fk.pairs([0.8, -1.0], [True, False])
    >>> fk.indices.unit_scores(table, "cosine").values.tolist()
    [0.9, 0.0]
    """
    scores = checked_scores(scores)
    require(
        callable(score_map) or isinstance(score_map, str) and score_map in SCORE_MAPS,
        f"score_map must be one of {', '.join(SCORE_MAPS)}, or a function of an array of scores; got {score_map!r}",
    )
    apply = partial(_mapped, score_map=score_map)
    similarity = f"{scores.attrs.get('similarity', 'given')}, map {map_name(score_map)}"
    attrs = dict(scores.attrs) | {"similarity": similarity, "distance": 0}  # larger is more alike, after a map too
    if "self_score" in attrs:
        attrs["self_score"] = float(apply(np.array([float(attrs["self_score"])]))[0])
    data = apply(scores.values) if PAIR in scores.dims else scores.data.map_blocks(apply, dtype=scores.dtype)
    return scores.copy(data=data).assign_attrs(attrs)


# --- deals ---------------------------------------------------------------------------------------------------


def deal_people(scores: xr.DataArray, by, varying: str, deals: int, seed: int, **options) -> xr.Dataset:
    """Tallies of all deals of a tensor, from one sweep: the variables of a node over (replicate, group)."""
    who = people(scores, by, varying)
    owner, code = grouped_people(who)
    dealt = np.stack([deal(code, rng) for rng in generators(deals, seed)])
    found = evaluated(who.relabel(scores), resampling=PeopleDealt(owner, dealt, seed), **options)
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
    dims = {name: (MODEL, GROUP) for name in ("pairs", "mean", "sd")} | {"histogram": (MODEL, SCORE_BIN, GROUP)}
    kinds, models = {"genuine": genuine, "impostor": ~genuine}, np.atleast_2d(scores.transpose(..., PAIR).values)

    def tallied(code: np.ndarray) -> xr.Dataset:
        found = {}
        for kind, own in kinds.items():
            each = zip(*(_of_kind(score[own], code[own], len(groups), bins) for score in models), strict=True)
            found |= {f"{kind}_{name}_group": (dims[name], np.array(values)) for name, values in zip(dims, each)}
        return xr.Dataset(found)

    each = [tallied(deal(code_of_unit, rng, kind)[unit]) for rng in generators(deals, seed)]
    tallies = xr.concat(each, REPLICATE).assign_coords({GROUP: groups, SCORE_BIN: (np.arange(bins) + 0.5) / bins})
    tallies = tallies.assign_coords({MODEL: scores[MODEL]}) if MODEL in scores.dims else tallies.isel({MODEL: 0})
    return tallies.assign(images_group=images)


def _of_kind(score: np.ndarray, code: np.ndarray, n_groups: int, bins: int) -> tuple[np.ndarray, ...]:
    """The four tallies of the genuine, or of the impostor, pairs of one model."""
    many = np.bincount(code, minlength=n_groups)
    cell = np.minimum((score * bins).astype(int), bins - 1) * n_groups + code
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, square = (np.bincount(code, score**power, n_groups) / many for power in (1, 2))
        histogram = np.bincount(cell, minlength=bins * n_groups).reshape(bins, n_groups) / many
    return many.astype(float), mean, np.sqrt(np.maximum(square - mean**2, 0)), histogram
