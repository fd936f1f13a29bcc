"""`fairness_indices`: SFI, CFI and DFI with their parts, intervals and floors, from tallies of whole distributions."""

from __future__ import annotations

import json
from collections.abc import Callable

import xarray as xr

from frkit.base import GROUP, SCORE_BIN, listed, require_flag, require_inside, warn
from frkit.indices.evaluate import MISSING, evaluate, map_name
from frkit.intervals import band, floor
from frkit.intervals.floors import DEALT
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

PER_BIN = 100  # scores that a group needs for each bin, or sample size decides about DFI


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
    evaluation = evaluate(scores, by=by, score_map=score_map, bins=bins, resampling=resampling, **options)
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
        parts |= {f"{kind}_{name}": tallies[f"{kind}_{name}_group"] for name in ("mean", "sd", "histogram", "pairs")}
    dims = [dim for dim in tallies.genuine_pairs_group.dims if dim != GROUP]
    many = (tallies.genuine_pairs_group + tallies.impostor_pairs_group).min(dims)
    few = tallies[GROUP].values[(many < PER_BIN * tallies.sizes[SCORE_BIN]).values]  # sample size decides their DFI
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
    attrs = {name: known[name] for name in ("scheme", "target", "n", "similarity") if known.get(name) is not None}
    attrs |= {"by": json.dumps(known["by"]), "bins": tallies.sizes[SCORE_BIN], "balance": int(balance), "c": c}
    return found.assign_attrs(attrs | {"level": level})


def _with_ends(evaluation: xr.DataTree, every: list[Measure], name: str, level: float) -> xr.Dataset:
    """One index over its variants, with interval and floor where the evaluation holds what they need."""
    rows = []
    for measure in every:
        row = {name: measure(evaluation["empirical"].to_dataset())}
        if "replicates" in evaluation.children:
            ends = band(evaluation, measure, level=level)
            row |= {f"{name}_{end}": ends[end] for end in ("lower", "upper", "includes_fair")}
        if DEALT in evaluation.children:
            fair = floor(evaluation, measure, level=level)
            row |= {f"{name}_floor": fair["median"], f"{name}_floor_limit": fair.limit, f"{name}_p": fair.p}
        rows.append(xr.Dataset(row))
    return xr.concat(rows, xr.DataArray(list(VARIANTS), dims="variant", name="variant"))
