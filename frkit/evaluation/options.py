"""The options of `evaluate`: checked once, and as arrays."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from frkit.base import (
    checked_far,
    listed,
    real_numbers,
    require,
    require_inside,
    require_one_of,
    require_whole,
    warn,
)
from frkit.data.labels import VARYING_RULES, model_names
from frkit.resampling import DIAGONAL_SCHEMES
from frkit.scores.groups import ends_of_scores, turned
from frkit.scores.kept import REJECTED, has_names

MOST_BINS = 100_000  # of a histogram
TOO_NARROW = "its intervals are too narrow, because pairs share images and people"


def check_options(
    scores,
    far_of="all",
    by=None,
    resampling=None,
    weighting=None,
    impostors="all",
    varying="error",
):
    """Refuse options of `evaluate` that are unknown, or that do not fit together."""
    require_one_of("varying", varying, VARYING_RULES)
    require_one_of("far_of", far_of, ("all", "worst group", "own group"))
    require(
        far_of == "all" or by is not None,
        f"far_of={far_of!r} needs groups: name an attribute with by=",
    )
    require_one_of("impostors", impostors, ("all", "same-group"))
    require(
        impostors == "all" or by is not None,
        "impostors='same-group' needs groups: name an attribute with by=",
    )
    identified = has_names(scores)
    require(
        identified or weighting is None or isinstance(weighting, str) and weighting == "pair",
        "these pairs carry no identities, so that all pairs weigh the same; another weighting "
        "needs identities of both sides",
    )
    if resampling is not None:
        _check_scheme(scores, resampling, identified)


def _check_scheme(scores, resampling, identified):
    """Refuse a scheme for which the scores lack names; warn of the bootstrap over pairs."""
    require(
        hasattr(resampling, "weights"),
        f"resampling must be made by fk.Resampling(scheme, n=...), got {resampling!r}",
    )
    scheme = resampling.scheme
    require(
        scheme != "pair" or not identified,
        "scheme 'pair' is for lists of pairs without identities; draw people with "
        "Resampling('identity')",
    )
    require(
        scheme == "pair" or identified,
        "these pairs carry no identities, so nobody can be drawn: intervals of rates need no "
        "replicates, and fairness indices draw pairs, Resampling('pair'); got scheme "
        f"{scheme!r}. Give probe_identity= and reference_identity= to draw people",
    )
    require(
        scheme not in DIAGONAL_SCHEMES or has_names(scores, "image"),
        f"these pairs carry no image names, so scheme {scheme!r} cannot draw images; give probe= "
        "and reference=, or draw people with Resampling('identity')",
    )
    if scheme == "pair":
        warn(f"the pair bootstrap draws pairs as if each were new: {TOO_NARROW}")


def asked_levels(far, threshold, scores):
    """FAR levels or fixed thresholds for the models of these scores, in the order given.

    Returns FAR levels, (level,), thresholds, (model, level), one of them empty, and the labels
    of thresholds or None.
    """
    require(far is None or threshold is None, "give far= or threshold=, not both")
    models = scores["model"].values.tolist() if "model" in scores.dims else [None]
    if threshold is None:
        levels = far_levels(1e-5, 1e-1) if far is None else checked_far(far)
        return levels, np.empty((len(models), 0)), None

    if isinstance(threshold, Mapping):
        require(len(threshold) > 0, "threshold is empty: give thresholds for each model")
        rows = real_numbers("threshold", list(threshold.values()))
        rows = rows.reshape(len(rows), -1)
        threshold = xr.DataArray(rows, {"model": list(threshold)}, ("model", "threshold_level"))
    if isinstance(threshold, xr.DataArray) and "model" in threshold.dims:
        names = model_names(threshold["model"].values, threshold.sizes["model"])
        threshold = threshold.assign_coords(model=names)
        require(
            set(models) <= set(names),
            f"threshold has rows for the models {listed(names)}, but the scores are of "
            f"{listed(['one model'] if models == [None] else models)}; give one row for each, or "
            "thresholds for all",
        )
        threshold = threshold.sel(model=models).transpose("model", ...)
        if threshold.ndim == 1:
            threshold = threshold.expand_dims("threshold_level", axis=1)
        rows = threshold.values.astype(float)
        labels = threshold[threshold.dims[-1]].values
    else:
        labels = np.atleast_1d(real_numbers("threshold", threshold).astype(float))
        rows = np.stack([labels] * len(models))
    require(
        rows.ndim == 2 and rows.size > 0 and np.all(np.isfinite(rows)),
        "threshold must be finite numbers over one dim, as many for every model; got "
        f"{threshold!r}",
    )
    levels_by_name = {}
    if turned(scores):
        rows, levels_by_name = 0.0 - rows, {"axis": "distance threshold (accept below)"}
    require(
        rows.min() >= scores.attrs.get(REJECTED, -np.inf),
        "at a threshold beyond all scores that were compared, failed comparisons would be "
        "accepted, but the option failed rejects them: leave such a threshold out",
    )
    return np.empty(0), rows, xr.Variable("threshold_level", labels, levels_by_name)


def refuse_minus(thresholds, kept):
    """Refuse negative thresholds of distances that are all positive.

    thresholds : (model, level), of distances with their sign changed
    """
    if turned(kept):
        nearest, _ = ends_of_scores(kept)
        require(
            -thresholds.max(initial=-np.inf) >= min(nearest, 0),
            f"a threshold is below 0, but these are distances, from {nearest:g} on: give it "
            "without the minus",
        )


def far_levels(lowest: float, highest: float, *, per_decade: int = 4) -> np.ndarray:
    """FAR levels at equal steps of the logarithm, both ends included.

    Parameters
    ----------
    lowest, highest : float
        In (0, 1).
    per_decade : int
        Levels per factor of ten, at least 1.

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
    >>> fk.far_levels(1e-5, 1e-1, per_decade=1).tolist()
    [1e-05, 0.0001, 0.001, 0.01, 0.1]
    """
    require_inside("lowest", lowest, 0, 1)
    require_inside("highest", highest, 0, 1)
    require(
        0 < lowest < highest < 1,
        f"far levels need 0 < lowest < highest < 1, got {lowest} and {highest}",
    )
    steps = round(np.log10(highest / lowest) * require_whole("per_decade", per_decade, 1))
    levels = np.geomspace(lowest, highest, max(2, steps + 1))
    # 1e-5 is 1e-5, so that .sel finds it
    levels = np.array([float(f"{level:.12g}") for level in levels])
    levels[[0, -1]] = lowest, highest
    return levels


def histogram_edges(histogram, kept):
    """Edges of the bins of a histogram of kept pairs; none where none is asked for."""
    low, high = -1.0, 1.0
    match histogram:
        case None:
            return np.empty(0)
        case (bins, (low, high)):
            low, high = real_numbers("histogram", (low, high))
        case bins if kept.attrs.get("similarity") != "cosine":
            low, high = ends_of_scores(kept)
            if low == high:
                low, high = low - 0.5, high + 0.5
    is_whole = isinstance(bins, (int, np.integer)) and not isinstance(bins, bool)
    require(
        is_whole and 1 <= bins <= MOST_BINS and low < high < np.inf,
        f"histogram must be a number of bins up to {MOST_BINS:,}, or (bins, (low, high)) with low "
        f"< high; got {histogram!r}",
    )
    if turned(kept):
        low, high = -high, -low
    return np.linspace(low, high, bins + 1)
