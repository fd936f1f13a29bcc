"""`evaluate`: from scores to a labelled tree of rates: the data, their V-statistic, replicates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import dask
import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import (
    MODEL,
    PROBE,
    THRESHOLD_LEVEL,
    listed,
    real_numbers,
    require,
    require_flag,
    require_inside,
    require_one_of,
    require_whole,
)
from frkit.data.labels import VARYING_RULES
from frkit.engine.people import people_sums
from frkit.engine.protocol import make_protocol
from frkit.engine.rates import WORST_GROUP, needs_of, tally_pairs
from frkit.engine.sweep import threads
from frkit.evaluation.nodes import caution, provenance, tree
from frkit.evaluation.tables import distribution_table, rates_table, thinned
from frkit.resampling import Resampling
from frkit.scores.groups import checked_scores, models_of, turned

WINDOW = 8  # images at either end and in the middle, whose scores are held against their transpose
MOST_BINS = 100_000  # of a histogram
LONG_SWEEP = 2e9  # scores from which a progress bar is shown unless told otherwise
FAR_OF = ("all", WORST_GROUP)


def evaluate(
    scores: xr.DataArray | xr.Dataset,
    *,
    far: ArrayLike | None = None,
    threshold: ArrayLike | Mapping[str, ArrayLike] | None = None,
    far_of: str = "all",
    by: str | list[str] | None = None,
    resampling: Resampling | None = None,
    weighting: ArrayLike | Mapping[str, float] | None = None,
    impostors: str | Mapping[str, str] = "all",
    varying: str = "error",
    histogram: int | tuple[int, tuple[float, float]] | None = None,
    progress: bool | None = None,
) -> xr.DataTree:
    """FAR, FRR and EER of a matching system, with replicates, from one sweep over its scores.

    Accept means score > threshold. FAR is the mean over pairs of identities of the share of their
    image pairs that are accepted (Conti & Clémençon 2024, eq. 2), FRR the mean over identities of
    the share of their genuine pairs that are rejected (eq. 3); ISO/IEC 19795-1 calls them FMR and
    FNMR.

    Every evaluation is a weighted list of pairs. All genuine pairs are in it, and all impostor
    pairs above the lowest threshold that was asked for (as far as these are 20 million at most),
    and at least the highest million. Of the others one in two, in four, in eight ... is kept, with
    weight 2, 4, 8 ... A rate that is read there (a high FAR level or an EER of many images, an AUC,
    a histogram) has a relative standard error of about 0.1 %, a small part of its sampling error.
    The attribute `thinned` of the result says from which FAR on. All numbers of lists, and of
    tensors with up to a million impostor pairs, are exact.

    Parameters
    ----------
    scores : xr.DataArray or xr.Dataset
        From `score_tensor`, `score_matrix` or `open_scores`, or a list of pairs from `pairs` or
        `open_pairs`; with a `model` dim every model is evaluated on the same replicates.
    far : sequence of float in (0, 1), optional
        FAR levels; the threshold at each is the smallest observed impostor score that keeps to it
        (D.1). Default: 1e-5 to 0.1, four a decade, unless `threshold` is given.
    threshold : sequence of float, mapping or xr.DataArray, optional
        Fixed thresholds in place of FAR levels, the same for all models; or a row for each model: a
        mapping of model to thresholds, or a DataArray over `model` and one other dim, such as one
        tuned on other data. Levels come back in the order given; the coordinate threshold_level
        contains the thresholds or, of a row for each model, the DataArray's own labels. Of scores
        read with distance=True, thresholds given and returned are distances: accept means
        distance < threshold.
    far_of : {"all", "worst group"}
        Whose FAR the levels refer to. "worst group": the threshold is the smallest at which the FAR
        of every group keeps to the level (Remark 2 of Conti & Clémençon), found anew in every
        replicate. A group without impostor pairs has no say. With it the measures of Conti et al.
        (2022) are two lines: BFAR is `far_max_min` and BFRR `frr_max_min` of this evaluation.
    by : str or list of str, optional
        Attribute(s) whose groups get rates of their own; a list crosses them ("female & Asian").
    resampling : Resampling, optional
        Without it there are no replicates; `band` and `compare` need none for rates and what is
        made of them.
    weighting : "identity", "pair", or p_k per identity, optional
        "identity": all identities weigh the same; "pair": all pairs do; a mapping or array
        (identities sorted by name) gives p_k of section 2.1. By default "identity" where all images
        meet all images (a tensor, a matrix), and "pair" for a list, which is no sample of all pairs
        of two people. "identity" of a list: FAR is the mean over the pairs of people that the list
        names of the share of their listed pairs that are accepted, FRR the mean over people with a
        listed genuine pair. Where comparisons failed, two people weigh in FAR by the share of their
        pairs that is left; a person weighs in FRR as before.
    impostors : {"all", "same-group"} or mapping of attribute to "same" or "other"
        Which impostor pairs enter the global FAR: all, those within groups, or those whose two
        people have the same (other) labels, such as {"gender": "same", "race": "other"}; the others
        are left out of every rate.
    varying : {"error", "split", "first", "most frequent"}
        For an attribute in `by` that varies within an identity. In a pair list "error" is a
        warning: each pair counts in the group that its own row names.
    histogram : int or (int, (float, float)), optional
        A number of bins, or (bins, (low, high)), for `auc`, means, standard deviations and
        histograms. By default the bins reach from -1 to 1 for the cosine, else over all scores,
        which are read once more for that.
    progress : bool, optional
        A progress bar with the time that is left; by default for long sweeps only.

    Returns
    -------
    xr.DataTree
        Nodes `empirical`, `vstatistic` (the centre of the replicates, eq. 19), `people` and, with
        resampling, `replicates`. Variables: `threshold`, `far`, `frr` over far_level (or
        threshold_level); `far_group`, `frr_group` over (far_level, group); `far_cross` over
        (far_level, group, reference_group); `eer`, `eer_threshold`, and per group `eer_group`,
        `eer_threshold_group`. `empirical` also has raw counts `false_accepts`, `false_rejects` and
        `resolved` (both at least 10), the same with `_group`, and `false_accepts_cross` and
        `resolved_cross` between groups. `people` contains what each image adds to the error rates,
        from which intervals come without replicates. A histogram adds `auc` (its attribute
        `error_bound`: how far from the exact AUC of the pairs it can be), and for kind in genuine,
        impostor `<kind>_mean`, `<kind>_sd` (ddof 0) and `<kind>_histogram` over score_bin (sum 1),
        with weighting "pair" also `<kind>_pairs` (how many), and `images`; all of them also with
        `_group`. Further dims: `model` in front, then `replicate`. The tree's attribute
        `provenance` is one JSON text; `thinned`, where pairs were thinned, another: for each model
        from which FAR on, and the largest relative standard error.

    Raises
    ------
    InputError
        For levels outside (0, 1), both far and threshold, unknown options or attributes, infinite
        scores, scores without a genuine or an impostor pair that did not fail, an image that stands
        twice on a side, a missing identity, or a tensor said to be symmetric that differs from its
        transpose.

    Warns
    -----
    DataWarning
        For groups too small for a rate, FAR levels below the weight of one pair, genuine
        comparisons of which half failed, the image scheme where much of the weight of FRR lies with
        people of few images, and an EER above one half (distances taken for scores).

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, seed=0).sample(4, seed=1)
    >>> scores = fk.score_tensor(faces)
    >>> ev = fk.evaluate(scores, far=[0.01, 0.1], resampling=fk.Resampling(n=10))
    >>> dict(ev["replicates"].frr.sizes)
    {'replicate': 10, 'far_level': 2}
    """
    return evaluate_parts(
        scores,
        far=far,
        threshold=threshold,
        far_of=far_of,
        by=by,
        resampling=resampling,
        weighting=weighting,
        impostors=impostors,
        varying=varying,
        histogram=histogram,
        progress=progress,
    )


@threads()
def evaluate_parts(
    scores: xr.DataArray | xr.Dataset,
    *,
    far=None,
    threshold=None,
    far_of: str = "all",
    by=None,
    resampling: Resampling | None = None,
    weighting=None,
    impostors="all",
    varying: str = "error",
    histogram=None,
    progress: bool | None = None,
    rates: bool = True,
    people: bool = True,
) -> xr.DataTree:
    """`evaluate`, of which error rates, or what people add to them, can be left out."""
    require_one_of("varying", varying, VARYING_RULES)
    require_one_of("far_of", far_of, FAR_OF)
    drawn = resampling is None or hasattr(resampling, "weights")
    require(drawn, f"resampling must be made by fk.Resampling(scheme, n=...), got {resampling!r}")
    scores = checked_scores(scores)
    models = models_of(scores)
    names = scores[MODEL] if MODEL in scores.dims else None
    levels = asked_levels(far, threshold, scores)
    if not rates:
        levels = levels._replace(far=levels.far[:0])
    bar = scores.size > LONG_SWEEP if progress is None else require_flag("progress", progress)
    edges = _edges(histogram, scores)
    protocol = make_protocol(
        scores.isel({MODEL: 0}, drop=True) if names is not None else scores,
        by=by,
        varying=varying,
        weighting=weighting,
        impostors=impostors,
        resampling=resampling,
    )
    require(
        far_of == "all" or len(protocol.groups) > 0,
        f"far_of={far_of!r} needs groups: name an attribute with by=",
    )
    if protocol.symmetric:
        _check_transpose(models)
    tables, sums, failed, thin, complete = [], [], [], [], protocol.symmetric
    for model, fixed in zip(models, levels.fixed, strict=True):
        needs = needs_of(protocol, levels.far, fixed, far_of)
        tally = tally_pairs(model, protocol, needs, edges, bar)
        table = rates_table(tally, levels.far, fixed, far_of) if rates else xr.Dataset()
        if len(edges):
            _check_bounds(tally.extremes, edges)
            more = distribution_table(tally, edges)
            table = table.merge(more).assign_attrs(more.attrs)
        if people and rates and _people_are_known(protocol):
            sums.append(people_sums(tally, *_points(table), auc=len(edges) > 0))
        if levels.labels is not None and rates:
            table = table.assign_coords(_threshold_labels(levels.labels, scores))
        tables.append(table)
        failed.append(tally.genuine.n_failed)
        complete &= failed[-1] == 0 and np.array_equal(tally.totals, protocol.impostor_totals)
        thin.append(thinned(tally))
    caution(protocol, resampling, levels.far, tables, names, max(failed))
    facts = provenance(scores, protocol, resampling, weighting, impostors, by, failed)
    facts |= {"far_of": far_of, "thinned": thin, "complete": bool(complete)}
    return tree(tables, sums, names, facts)


def _people_are_known(protocol) -> bool:
    """Not where the pairs of known people are drawn one by one, as if they were nobody's."""
    return protocol.pairs is None or not (protocol.pairs.alone and protocol.pairs.identified)


def _points(table: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Thresholds of the data's levels and EERs, and FAR or EER there."""
    data = table.isel(column=0)
    places, rates = [data.threshold.values], [data.far.values]
    if "eer_group" in data:
        places.append(data.eer_threshold_group.values)
        rates.append(data.eer_group.values)
    places.append(data.eer_threshold.values[None])
    rates.append(data.eer.values[None])
    return np.concatenate(places), np.concatenate(rates)


def _threshold_labels(labels: np.ndarray, scores: xr.DataArray) -> dict:
    """The coordinate of fixed thresholds, in the user's own sign."""
    words = {"axis": "distance threshold (accept below)"} if turned(scores) else {}
    return {THRESHOLD_LEVEL: xr.Variable(THRESHOLD_LEVEL, labels, words)}


class Levels(NamedTuple):
    """FAR levels, (level,), or fixed thresholds, (model, level): one is empty; their labels."""

    far: np.ndarray
    fixed: np.ndarray
    labels: np.ndarray | None


def _check_transpose(models: list[xr.DataArray]) -> None:
    """A tensor of which only a triangle is read must equal its transpose, where it is looked at."""
    n = models[0].sizes[PROBE]
    begins = (0, max(n // 2 - WINDOW, 0), max(n - WINDOW, 0))
    some = np.unique([begin + np.arange(min(WINDOW, n)) for begin in begins])
    for model in models:
        values = model.data[some][:, some].compute()
        slack = 1e-4 * np.fmax.reduce(np.abs(values), axis=None, initial=0)
        require(
            np.allclose(values, values.T, rtol=0, atol=slack, equal_nan=True),
            "these scores depend on which image is the probe, but their attribute `symmetric` says "
            "that they do not: say fk.score_tensor(..., symmetric=False), or "
            "scores.assign_attrs(symmetric=0)",
        )


def _edges(histogram, scores: xr.DataArray) -> np.ndarray:
    """Edges of the bins of a histogram; none where none is asked for."""
    bins, bounds = _asked_bins(histogram)
    if bins == 0:
        return np.empty(0)
    if bounds is None:
        bounds = _bounds_of(scores)
    elif turned(scores):
        bounds = -bounds[1], -bounds[0]
    return np.linspace(*bounds, bins + 1)


def _check_bounds(extremes: tuple[float, float], edges: np.ndarray) -> None:
    """Refuse a histogram that leaves scores out."""
    (lowest, highest), low, high = extremes, edges[0], edges[-1]
    slack = 1e-5 * (high - low)
    require(
        lowest >= low - slack and highest <= high + slack,
        f"scores reach from {lowest:.6g} to {highest:.6g}, outside the histogram's bounds "
        f"({low:.6g}, {high:.6g}); give wider ones with histogram=(bins, (low, high))",
    )


def _bounds_of(scores: xr.DataArray) -> tuple[float, float]:
    """Where scores can lie: from -1 to 1 for the cosine; else one look at all of them."""
    if scores.attrs.get("similarity") == "cosine":
        return -1.0, 1.0
    with threads():
        low, high = (float(value) for value in dask.compute(scores.min(), scores.max()))
    return (low, high) if high > low else (low - 0.5, low + 0.5)


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
    >>> fk.far_levels(1e-5, 1e-1, per_decade=1).tolist()
    [1e-05, 0.0001, 0.001, 0.01, 0.1]
    """
    require_inside("lowest", lowest, 0, 1)
    require_inside("highest", highest, 0, 1)
    require(
        0 < lowest < highest < 1,
        f"far levels need 0 < lowest < highest < 1, got {lowest} and {highest}",
    )
    require(
        require_whole("per_decade", per_decade, 1) <= 1000,
        f"per_decade is 1,000 at most, got {per_decade}",
    )
    decades = np.log10(highest / lowest)
    levels = np.logspace(
        np.log10(lowest), np.log10(highest), max(2, round(decades * per_decade) + 1)
    )
    levels = np.array(
        [float(f"{level:.12g}") for level in levels]
    )  # 1e-5 is 1e-5, so that .sel finds it
    levels[[0, -1]] = lowest, highest
    return levels


def asked_levels(far, threshold, scores: xr.DataArray) -> Levels:
    """FAR levels or fixed thresholds for the models of these scores, in the order given."""
    require(far is None or threshold is None, "give far= or threshold=, not both")
    models = scores[MODEL].values.tolist() if MODEL in scores.dims else None
    if threshold is not None:
        fixed, labels = _rows_of_models(threshold, models)
        require(
            fixed.ndim == 2 and fixed.size > 0 and bool(np.all(np.isfinite(fixed))),
            f"threshold must be finite numbers, as many for every model; got {threshold!r}",
        )
        if turned(scores):
            labels, fixed = fixed[0] if labels is None else labels, 0.0 - fixed
        return Levels(np.empty(0), fixed, labels)
    levels = (
        far_levels(1e-5, 1e-1)
        if far is None
        else np.atleast_1d(real_numbers("far", far).astype(float))
    )
    inside = levels.ndim == 1 and levels.size and np.all((levels > 0) & (levels < 1))
    require(inside, f"far must lie in (0, 1), got {far!r}")
    require(
        len(np.unique(levels)) == len(levels),
        f"far names a level twice; each level once: got {far!r}",
    )
    return Levels(levels, np.empty((len(models or [""]), 0)), None)


def _rows_of_models(threshold, models: list[str] | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Thresholds (model, level), and labels of the levels where every model has its own."""
    by_model = (
        isinstance(threshold, Mapping)
        or isinstance(threshold, xr.DataArray)
        and MODEL in threshold.dims
    )
    if not by_model:
        row = np.atleast_1d(real_numbers("threshold", threshold).astype(float))
        return np.stack([row] * len(models or [""])), None
    known = list(threshold) if isinstance(threshold, Mapping) else threshold[MODEL].values.tolist()
    require(
        models is not None and set(models) <= set(known),
        f"threshold has rows for the models {listed(known)}, but the scores are of {listed(models or ['one model'])}; "
        "give one row for each, or thresholds for all",
    )
    if isinstance(threshold, Mapping):
        rows = [
            np.atleast_1d(real_numbers("threshold", threshold[name]).astype(float))
            for name in models
        ]
        even = all(row.shape == rows[0].shape for row in rows)
        require(
            even,
            f"threshold must hold as many values for every model; got {[len(row) for row in rows]}",
        )
        return np.stack(rows), np.arange(len(rows[0]))
    rows = threshold.sel({MODEL: models}).transpose(MODEL, ...)
    require(rows.ndim <= 2, f"threshold must run over {MODEL!r} and one other dim, got {rows.dims}")
    rows = rows if rows.ndim == 2 else rows.expand_dims(THRESHOLD_LEVEL, -1)
    level = rows.dims[1]
    return rows.values.astype(float), rows[level].values if level in rows.coords else np.arange(
        rows.shape[1]
    )


def _asked_bins(histogram) -> tuple[int, tuple[float, float] | None]:
    """Number of bins, 0 for none, and their range where one is given."""
    if histogram is None:
        return 0, None
    two = isinstance(histogram, (tuple, list)) and len(histogram) == 2
    bins, bounds = histogram if two else (histogram, None)
    ends = real_numbers("histogram", (0, 1) if bounds is None else bounds)
    some = isinstance(bins, (int, np.integer)) and 1 <= bins <= MOST_BINS
    require(
        some and ends.shape == (2,) and ends[0] < ends[1] < np.inf,
        f"histogram must be a number of bins up to {MOST_BINS:,}, or (bins, (low, high)) with low < high; "
        f"got {histogram!r}",
    )
    return int(bins), bounds
