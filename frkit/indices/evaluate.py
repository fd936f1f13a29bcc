"""`fairness_indices`: maps of scores to [0, 1], one sweep for whole distributions by group, and SFI, CFI and DFI with
their parts, intervals and floors. Formulas: `frkit.measures.sfi_cfi_dfi`; groups dealt at random: `intervals.floors`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import numpy as np
import xarray as xr

from frkit.base import (
    GROUP,
    IDENTITY,
    PAIR,
    PROBE,
    SCORE_BIN,
    InputError,
    listed,
    require,
    require_flag,
    require_inside,
    require_whole,
    warn,
)
from frkit.evaluation.evaluate import evaluate_parts
from frkit.intervals import band, fair_floor
from frkit.intervals.floors import DEALT, deal_pairs, deal_people
from frkit.intervals.reading import provenance
from frkit.measures.registry import Measure
from frkit.measures.sfi_cfi_dfi import (
    VARIANTS,
    Sizes,
    cfi,
    compactness,
    dfi,
    distribution,
    group_weights,
    separation,
    sfi,
)
from frkit.resampling import Resampling
from frkit.scores.groups import checked_scores

MISSING = {"genuine": "a person with two images", "impostor": "two people"}
ROUNDING = (
    1e-5  # by so much may a mapped score lie outside [0, 1]: that is rounding, and is cut off
)
PER_BIN = 100  # scores that a group needs for each bin, or sample size decides about DFI
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
    >>> bool(fk.fair_floor(ev, "sfi_normal").p < 0.05)
    True
    """
    require_whole("bins", bins, 2)
    deals = (0 if resampling is None else resampling.n) if deals is None else deals
    require_whole("deals", deals, 0)
    require(deals != 1, "deals must be 0 (no floor) or at least 2, got 1")
    mapped = unit_scores(scores, score_map)
    how = dict(weighting="pair", histogram=(bins, (0.0, 1.0)), progress=progress, rates=False)
    found = evaluate_parts(
        mapped, by=by, resampling=resampling, impostors="same-group", varying=varying, **how
    )
    tallies = found["empirical"].to_dataset()
    names = tallies[GROUP].values
    require(
        len(names) > 1,
        f"fairness between groups needs two groups or more, got {listed(names)} only",
    )
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
        return (
            1
            - np.arccos(np.where(np.abs(score) <= 1 + ROUNDING, np.clip(score, -1, 1), np.nan))
            / np.pi
        )


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
    function, name = (
        SCORE_MAPS[score_map] if isinstance(score_map, str) else score_map,
        map_name(score_map),
    )
    mapped = np.asarray(function(score), score.dtype)
    require(
        mapped.shape == score.shape, f"score_map {name!r} must return one number for every score"
    )
    # a function of the user's may fall somewhere; the kit's own maps do not
    few = (
        np.sort(score, axis=None)[:: max(1, score.size // FEW)]
        if callable(score_map)
        else score[:0]
    )
    rises = len(few) == 0 or np.all(np.diff(np.asarray(function(few), float)) >= -ROUNDING)
    require(
        rises,
        f"score_map {name!r} decreases: larger must stay more alike; map distances with 1 - d, say",
    )
    bad = ~((mapped >= -ROUNDING) & (mapped <= 1 + ROUNDING))
    if bad.any():
        first = np.unravel_index(np.argmax(bad), bad.shape)
        raise InputError(
            f"score_map {name!r} sends a score of {score[first]:.6g} to {mapped[first]:.6g}, outside [0, 1]; "
            f"name the map that fits these scores: {', '.join(SCORE_MAPS)}, or a function of an array of scores"
        )
    return np.clip(mapped, 0, 1)


def unit_scores(
    scores: xr.DataArray | xr.Dataset, score_map: str | Callable = "cosine"
) -> xr.DataArray:
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
    attrs = dict(scores.attrs) | {
        "similarity": similarity,
        "distance": 0,
    }  # larger is more alike, after a map too
    if "self_score" in attrs:
        attrs["self_score"] = float(apply(np.array([float(attrs["self_score"])]))[0])
    data = (
        apply(scores.values)
        if PAIR in scores.dims
        else scores.data.map_blocks(apply, dtype=scores.dtype)
    )
    return scores.copy(data=data).assign_attrs(attrs)


# --- indices -------------------------------------------------------------------------------------------------


def fairness_indices(
    scores: xr.DataArray | xr.Dataset,
    *,
    by: str | list[str],
    score_map: str | Callable = "cosine",
    bins: int = 100,
    group_sizes: Sizes | None = None,
    balance: bool = False,
    c: float = 1.0,
    resampling: Resampling | None = None,
    level: float = 0.95,
    **options,
) -> xr.Dataset:
    """Separation, compactness and distribution fairness index of a matching system, and how sure they are.

    Each compares one property of the groups' score distributions: the distance of their means (SFI), their
    spread (CFI), their whole shape (DFI). 1 is fair. They do not speak of errors at a threshold.

    Parameters
    ----------
    scores : score tensor, score matrix or pair table; with a `model` dim every model.
    by : attribute(s) whose groups are compared.
    score_map : how scores get into [0, 1]: "cosine", (1 + s) / 2, "identity", "euclidean", "chord" or a function of
        an array; see `indices.unit_scores`.
    bins : equal bins on [0, 1], at least 2.
    group_sizes : sizes for the weights, by group or in the groups' order; by default the images of each group (its
        pairs, where a pair table names no images).
    balance : give genuine and impostor scores half of the mass of DFI's histograms each; else every pair weighs the
        same, and of a whole tensor nearly all are impostor pairs.
    c : the constant of the weights, eq. 1.
    resampling : how replicates are drawn; with it come intervals and floors.
    level : nominal coverage of the intervals and place of the floor's limit, in (0, 1).
    **options : `deals`, `varying`, `progress` of `indices.evaluate`.

    Returns
    -------
    xr.Dataset
        What `indices.summary` returns: `sfi`, `cfi`, `dfi` over `variant`, with `_lower`, `_upper`, `_floor` and
        further ends where there are replicates and deals; the groups' parts and weights beside them.

    Raises
    ------
    InputError : as `indices.evaluate`; sizes that do not fit the groups.

    Warns
    -----
    DataWarning : fewer than 100 scores for each bin in a group, which makes DFI look less fair.

    References
    ----------
    Kotwal & Marcel (2022), eq. 1-12.

    Examples
    --------
    >>> import warnings, frkit as fk
    >>> with warnings.catch_warnings(action="ignore"):
    ...     found = fk.fairness_indices(fk.canonical_scores("highly unfair"), by="group", score_map="identity")
    >>> bool(found.sfi.sel(variant="extremal") < found.sfi.sel(variant="normal") < 0.7)
    True
    """
    evaluation = evaluate(
        scores, by=by, score_map=score_map, bins=bins, resampling=resampling, **options
    )
    found = summary(evaluation, group_sizes=group_sizes, balance=balance, c=c, level=level)
    return found.assign_attrs(score_map=map_name(score_map))


def summary(
    evaluation: xr.DataTree,
    *,
    group_sizes: Sizes | None = None,
    balance: bool = False,
    c: float = 1.0,
    level: float = 0.95,
) -> xr.Dataset:
    """Read all nine indices and what they are made of from an evaluation: no score is touched again.

    Parameters
    ----------
    evaluation : what `indices.evaluate` returned.
    group_sizes, balance, c, level : as in `fairness_indices`.

    Returns
    -------
    xr.Dataset
        `sfi`, `cfi`, `dfi` over `variant` (normal, extremal, weighted). With replicates also `<index>_lower`,
        `<index>_upper` and `<index>_includes_fair`. With deals also `<index>_floor` (median) and
        `<index>_floor_limit` of what these people would print in groups at random, and `<index>_p`, the share of
        deals that are no fairer than the data. Over group: `z_separation`, `z_compactness`, `weights`, `images`,
        and for both kinds `<kind>_pairs`, `<kind>_mean`, `<kind>_sd`; over (score_bin, group) `z_distribution` and
        `<kind>_histogram`, sum 1. In front `model`, where there are several.

    Raises
    ------
    InputError : no evaluation of whole distributions by group; sizes that do not fit the groups.

    Warns
    -----
    DataWarning : as `fairness_indices`.

    References
    ----------
    Kotwal & Marcel (2022), eq. 1-12.

    Examples
    --------
    >>> import frkit as fk
    >>> ev = fk.indices.evaluate(fk.canonical_scores("fair"), by="group", score_map="identity", bins=10)
    >>> fk.indices.summary(ev).sfi.dims
    ('variant',)
    """
    require_inside("level", level, 0, 1)
    require_flag("balance", balance)
    tallies = evaluation["empirical"].to_dataset()
    options = {"group_sizes": group_sizes, "c": c}
    parts = {"z_separation": separation(tallies), "z_compactness": compactness(tallies)}
    parts["z_distribution"] = distribution(tallies, balance=balance)
    parts |= {"weights": group_weights(tallies, **options), "images": tallies.images_group}
    for kind in MISSING:
        parts |= {
            f"{kind}_{name}": tallies[f"{kind}_{name}_group"]
            for name in ("mean", "sd", "histogram", "pairs")
        }
    dims = [dim for dim in tallies.genuine_pairs_group.dims if dim != GROUP]
    many = (tallies.genuine_pairs_group + tallies.impostor_pairs_group).min(dims)
    few = tallies[GROUP].values[
        (many < PER_BIN * tallies.sizes[SCORE_BIN]).values
    ]  # sample size decides their DFI
    if len(few):
        warn(
            f"fewer than {PER_BIN} scores for each of {tallies.sizes[SCORE_BIN]} bins in {listed(few)}: DFI is then "
            "lower than it should be, also for a fair system; read it beside its floor, or take fewer bins"
        )
    found = xr.Dataset(parts)
    for make, more in ((sfi, {}), (cfi, {}), (dfi, {"balance": balance})):
        every = [make(variant, **options, **more) for variant in VARIANTS]
        found = found.merge(_with_ends(evaluation, every, make.__name__, level))
    known = provenance(evaluation)
    attrs = {
        name: known[name]
        for name in ("scheme", "target", "n", "similarity")
        if known.get(name) is not None
    }
    attrs |= {
        "by": json.dumps(known["by"]),
        "bins": tallies.sizes[SCORE_BIN],
        "balance": int(balance),
        "c": c,
    }
    return found.assign_attrs(attrs | {"level": level})


def _with_ends(
    evaluation: xr.DataTree, every: list[Measure], name: str, level: float
) -> xr.Dataset:
    """One index over its variants, with interval and floor where the evaluation holds what they need."""
    rows = []
    for measure in every:
        row = {name: measure(evaluation["empirical"].to_dataset())}
        if "replicates" in evaluation.children:
            ends = band(evaluation, measure, level=level)
            row |= {f"{name}_{end}": ends[end] for end in ("lower", "upper", "includes_fair")}
        if DEALT in evaluation.children:
            fair = fair_floor(evaluation, measure, level=level)
            row |= {
                f"{name}_floor": fair["median"],
                f"{name}_floor_limit": fair.limit,
                f"{name}_p": fair.p,
            }
        rows.append(xr.Dataset(row))
    return xr.concat(rows, xr.DataArray(list(VARIANTS), dims="variant", name="variant"))
