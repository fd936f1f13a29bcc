"""`evaluate`: from a score tensor to a labelled tree of rates, for the data, their V-statistic and replicates."""

import json
from pathlib import Path

import numpy as np
import xarray as xr

from frkit import nodes
from frkit.base import GENUINE, PAIR
from frkit.cohort import Cohort, cohort
from frkit.distributions import score_bounds, tally_distributions
from frkit.faces import MODEL, PROBE, REFERENCE, InputError, require, warn
from frkit.pair_cohort import pair_cohort
from frkit.provenance import provenance
from frkit.resampling import DIAGONAL_SCHEMES, Resampling
from frkit.tallies import Rates, tally_rates

FEW_IMAGES = 5  # images per identity below which the image scheme covers too little
LONG_SWEEP = 2e9  # scores from which a progress bar is shown unless told otherwise


def far_levels(lowest: float, highest: float, *, per_decade: int = 4) -> np.ndarray:
    """FAR levels at equal steps of the logarithm, both ends included.

    Parameters
    ----------
    lowest, highest : float
        In (0, 1).
    per_decade : int
        Levels in a factor of ten, at least 1.

    Returns
    -------
    np.ndarray
        (far_level,), ascending.

    Raises
    ------
    InputError
        Unless 0 < lowest < highest < 1.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.far_levels(1e-3, 1e-1, per_decade=1).round(6).tolist()
    [0.001, 0.01, 0.1]
    """
    require(0 < lowest < highest < 1, f"far levels need 0 < lowest < highest < 1, got {lowest} and {highest}")
    require(per_decade >= 1, f"per_decade must be at least 1, got {per_decade}")
    decades = np.log10(highest / lowest)
    levels = np.logspace(np.log10(lowest), np.log10(highest), max(2, round(decades * per_decade) + 1))
    levels[[0, -1]] = lowest, highest
    return levels


def evaluate(
    scores: xr.DataArray,
    *,
    far=None,
    threshold=None,
    by: str | list[str] | None = None,
    resampling: Resampling | None = None,
    weighting="identity",
    impostors: str = "all",
    varying: str = "error",
    mode: str = "tail",
    bins: int = 100,
    bounds: tuple[float, float] | None = None,
    progress: bool | None = None,
) -> xr.DataTree:
    """FAR, FRR and EER of a matching system, with replicates, from one sweep over its scores.

    Accept means score > threshold. FAR is the mean over pairs of identities of the share of their image
    pairs that are accepted (Conti & Clémençon 2024, eq. 2), FRR the mean over identities of the share of
    their genuine pairs that are rejected (eq. 3); ISO/IEC 19795-1 calls them FMR and FNMR.

    Parameters
    ----------
    scores : xr.DataArray or xr.Dataset
        From `score_tensor`, `score_matrix` or `open_scores`, or a list of pairs from `pairs` or `open_pairs`; with
        a `model` dim every model is evaluated on the same replicates.
    far : sequence of float in (0, 1), optional
        FAR levels; the threshold at each is the smallest observed impostor score that keeps to it (D.1).
        Default: 1e-5 to 0.1, four a decade, unless `threshold` is given.
    threshold : sequence of float, optional
        Fixed thresholds in place of FAR levels.
    by : str or list of str, optional
        Attribute(s) whose groups get rates of their own; a list crosses them ("female & Asian").
    resampling : Resampling, optional
        Without it there are no replicates.
    weighting : "identity", "pair", or p_k per identity
        "identity": all identities weigh the same; "pair": all pairs do; a mapping or array (identities
        sorted by name) gives p_k of section 2.1. In a pair list n_k counts the images of an identity that the list
        names (on each side apart, where no image stands on both); without image names it is "pair" in any case.
    impostors : {"all", "same-group"}
        Which impostor pairs enter the global FAR.
    varying : {"error", "split", "first", "most frequent"}
        For an attribute in `by` that varies within an identity. In a pair list "error" is a warning: each pair
        counts in the group that its own row names.
    mode : {"tail", "all"}
        "all" sweeps once more, over every pair, for `auc`, means, standard deviations and histograms.
    bins, bounds : int, (float, float)
        Histogram bins and their range, for mode "all"; by default -1 to 1 for the cosine, else all scores.
    progress : bool, optional
        A progress bar; by default for long sweeps only.

    Returns
    -------
    xr.DataTree
        Nodes `empirical`, `vstatistic` (the centre of the replicates, eq. 19) and, with resampling,
        `replicates`. Variables: `threshold`, `far`, `frr` over far_level (or threshold_level); `far_group`,
        `frr_group` over (far_level, group); `far_cross` over (far_level, group, reference_group); `eer`,
        `eer_threshold`, and per group `eer_group`, `eer_threshold_group`. `empirical` also has raw counts
        `false_accepts`, `false_rejects` and `resolved` (both at least 10). Mode "all" adds `auc`, and for kind in
        genuine, impostor `<kind>_mean`, `<kind>_sd` (ddof 0) and `<kind>_histogram` over score_bin (sum 1), with
        weighting "pair" also `<kind>_pairs` (how many), and `images`; all of them also with `_group`. Further dims:
        `model` in front, then `replicate`. The tree's attribute `provenance` is one JSON text.

    Raises
    ------
    InputError
        For levels outside (0, 1), both far and threshold, unknown options or attributes, or scores without a
        genuine or an impostor pair.

    Warns
    -----
    DataWarning
        For groups too small for a rate, FAR levels below the weight of one pair, and the image scheme with few
        images per identity.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, seed=0).sample(4, seed=1)
    >>> ev = fk.evaluate(fk.score_tensor(faces), far=[0.01, 0.1], resampling=fk.Resampling(n=10))
    >>> dict(ev["replicates"].frr.sizes)
    {'replicate': 10, 'far_level': 2}
    """
    levels, fixed = _levels(far, threshold)
    require(mode in ("tail", "all"), f"mode must be 'tail' or 'all', got {mode!r}")
    scores = checked_scores(scores)
    _check_attributes(scores, by)
    one = scores.isel({MODEL: 0}) if MODEL in scores.dims else scores
    gather = pair_cohort if PAIR in scores.dims else cohort
    who = gather(one, by, varying, weighting, impostors, resampling)
    _check_impostors(who)
    bar = scores.size > LONG_SWEEP if progress is None else progress
    models = [scores.isel({MODEL: m}) for m in range(scores.sizes[MODEL])] if MODEL in scores.dims else [scores]
    results = [tally_rates(model, who, levels, fixed, progress=bar) for model in models]
    _warn(who, resampling, levels, results)
    trees = [nodes.of_rates(rates, who, levels, fixed, impostors) for rates in results]
    if mode == "all":
        bounds = bounds or score_bounds(scores)  # the same bins for every model
        for tree, model, rates in zip(trees, models, results, strict=True):
            found = tally_distributions(model, who, rates, bins=bins, bounds=bounds, progress=bar)
            nodes.add_distributions(tree, found, len(who.groups))
    names = scores[MODEL] if MODEL in scores.dims else None
    stacked = {key: _stacked([tree[key] for tree in trees], names) for key in trees[0]}
    if resampling is None:
        stacked.pop("replicates")
    for message in nodes.small_groups(stacked["empirical"]):
        warn(message)
    tree = xr.DataTree.from_dict(stacked)
    tree.attrs["provenance"] = json.dumps(provenance(scores, who, resampling, weighting, impostors, by, results))
    return tree


def checked_scores(scores) -> xr.DataArray:
    """A tensor over (probe, reference), or the scores of a pair list over (pair)."""
    if isinstance(scores, xr.Dataset) and "score" in scores and GENUINE in scores.coords:
        scores = scores["score"]
    dims = set(scores.dims) if isinstance(scores, xr.DataArray) else set()
    listed = PAIR in dims and GENUINE in scores.coords
    require(
        {PROBE, REFERENCE} <= dims or listed,
        "scores must be a tensor over (probe, reference) or a list of pairs: make it with fk.score_tensor, "
        "fk.score_matrix, fk.pairs or fk.open_pairs",
    )
    return scores


def _levels(far, threshold) -> tuple[np.ndarray | None, np.ndarray | None]:
    require(far is None or threshold is None, "give far= or threshold=, not both")
    if threshold is not None:
        fixed = np.atleast_1d(np.asarray(threshold, float))
        require(
            fixed.ndim == 1 and fixed.size and np.all(np.isfinite(fixed)),
            f"threshold must be finite numbers, got {threshold!r}",
        )
        return None, np.unique(fixed)
    levels = far_levels(1e-5, 1e-1) if far is None else np.atleast_1d(np.asarray(far, float))
    inside = levels.ndim == 1 and levels.size and np.all((levels > 0) & (levels < 1))
    require(inside, f"far must lie in (0, 1), got {far!r}")
    return np.unique(levels), None


def _check_attributes(scores: xr.DataArray, by) -> None:
    names = [] if by is None else [by] if isinstance(by, str) else list(by)
    known = sorted(str(c).removeprefix(f"{PROBE}_") for c in scores.coords if str(c).startswith(f"{PROBE}_"))
    for name in names:
        require(
            f"{PROBE}_{name}" in scores.coords,
            f"by={name!r} is no attribute of these scores; known: {', '.join(known)}",
        )


def _check_impostors(who: Cohort) -> None:
    if who.listed is not None:
        return
    people = np.unique(np.concatenate([who.design.probe.person, who.design.reference.person]))
    require(len(people) > 1, "there is no impostor pair: all images are of one person; at least two are needed")


def _warn(who: Cohort, resampling: Resampling | None, levels, results: list[Rates]) -> None:
    median = float(np.median(np.bincount(who.identity)))
    n_impostors = len(who.design.probe.person) * len(who.design.reference.person) / 2
    n_impostors = n_impostors if who.listed is None else len(who.listed.impostor)
    if resampling is not None and resampling.scheme in DIAGONAL_SCHEMES and median < FEW_IMAGES:
        warn(
            f"half of the identities have at most {median:g} images: the {resampling.scheme} scheme covers too little "
            "below 5 images per identity (.59-.89 at nominal .95 with 2-3); read its intervals as too narrow"
        )
    if resampling is not None and resampling.scheme in DIAGONAL_SCHEMES and not who.diagonal:
        warn(
            "these scores hold no comparison of an image with itself, so copies of an image make no genuine pairs: "
            f"the {resampling.scheme} scheme is centred on the estimate itself, and identities with one genuine pair "
            "cannot vary; scheme 'identity' says more here"
        )
    if levels is not None:
        smallest = 1 / max(n_impostors, 1)
        low = levels[levels < smallest]
        if low.size:
            warn(
                f"FAR levels {', '.join(f'{a:g}' for a in low)} lie below the weight of one impostor pair (about "
                f"{smallest:.2g}): the threshold there is the largest impostor score, whose bootstrap is not valid"
            )


def _stacked(parts: list[xr.Dataset], names: xr.DataArray | None) -> xr.Dataset:
    return parts[0] if names is None else xr.concat(parts, dim=names.rename(MODEL).variable.to_index_variable())


def open_evaluation(path: str | Path) -> xr.DataTree:
    """Read an evaluation that was stored with `ev.to_netcdf(path)`; the whole file is read at once.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    xr.DataTree
        As from `evaluate`.

    Raises
    ------
    InputError
        Where the file is absent or holds no evaluation.

    Examples
    --------
    >>> import frkit as fk
    >>> ev = fk.open_evaluation("data/demo_evaluation.nc")  # doctest: +SKIP
    """
    path = Path(path)
    require(path.is_file(), f"there is no file {path}; write one with ev.to_netcdf(path)")
    try:
        with xr.open_datatree(path, engine="h5netcdf") as tree:
            loaded = tree.load()
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} cannot be read as an evaluation ({error}); write one with ev.to_netcdf(path)"
        ) from error
    require("empirical" in loaded, f"{path} holds no node 'empirical': it is not an evaluation")
    return loaded
