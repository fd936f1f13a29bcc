"""`evaluate`: from a score tensor to a labelled tree of rates, for the data, their V-statistic and replicates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

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
from frkit.engine.distributions import genuine_alone, score_bounds, tally_distributions
from frkit.engine.pilot import Ladder
from frkit.engine.protocol import Protocol, make_protocol
from frkit.engine.rates import plan_rates, tally_rates
from frkit.engine.store import Checkpoint
from frkit.engine.sweep import parts_of, swept_with
from frkit.evaluation.nodes import caution, provenance, tree
from frkit.data.labels import VARYING_RULES
from frkit.resampling import Resampling
from frkit.scores.groups import checked_scores, models_of, turned, with_impostors
from frkit.scores.tensor import one_blas_thread

WINDOW = 8  # images at either end and in the middle, whose scores are held against their transpose
MOST_BINS = 100_000  # of a histogram
EVERYTHING, RATES, DISTRIBUTIONS = "everything", "rates", "distributions"  # what evaluations can be wanted for
LONG_SWEEP = 2e9  # scores from which a progress bar is shown unless told otherwise


def evaluate(
    scores: xr.DataArray | xr.Dataset,
    *,
    far: ArrayLike | None = None,
    threshold: ArrayLike | Mapping[str, ArrayLike] | None = None,
    by: str | list[str] | None = None,
    resampling: Resampling | None = None,
    weighting: ArrayLike | Mapping[str, float] | None = None,
    impostors: str | Mapping[str, str] = "all",
    varying: str = "error",
    histogram: int | tuple[int, tuple[float, float]] | None = None,
    progress: bool | None = None,
    checkpoint: str | Path | None = None,
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
    threshold : sequence of float, mapping or xr.DataArray, optional
        Fixed thresholds in place of FAR levels, the same for all models; or a row for each model: a mapping of model to
        thresholds, or a DataArray over `model` and one other dim, such as the `threshold` that
        `threshold_for_all_groups` returns, or one tuned on other data. Levels come back in the order given; the
        coordinate threshold_level holds the thresholds or, of a row for each model, the DataArray's own labels. Of
        scores read with distance=True, thresholds given and returned are distances: accept means distance < threshold.
    by : str or list of str, optional
        Attribute(s) whose groups get rates of their own; a list crosses them ("female & Asian").
    resampling : Resampling, optional
        Without it there are no replicates; `band` and `compare` need none for rates and what is made of them.
    weighting : "identity", "pair", or p_k per identity, optional
        "identity": all identities weigh the same; "pair": all pairs do; a mapping or array (identities
        sorted by name) gives p_k of section 2.1. By default "identity" where all images meet all images (a tensor, a
        matrix), and "pair" for a list, which is no sample of all pairs of two people and is read so by every paper on
        such a list. "identity" of a list: FAR is the mean over the pairs of people that the list names of the share of
        their listed pairs that are accepted, FRR the mean over people with a listed genuine pair. Where comparisons
        failed, two people weigh in FAR by the share of their pairs that is left; a person weighs in FRR as before.
    impostors : {"all", "same-group"} or mapping of attribute to "same" or "other"
        Which impostor pairs enter the global FAR: all, those within groups, or those whose two people have the same
        (other) labels, such as {"gender": "same", "race": "other"}; the others are left out of every rate.
    varying : {"error", "split", "first", "most frequent"}
        For an attribute in `by` that varies within an identity. In a pair list "error" is a warning: each pair
        counts in the group that its own row names.
    histogram : int or (int, (float, float)), optional
        A number of bins, or (bins, (low, high)): sweeps once more, over every pair, for `auc`, means, standard
        deviations and histograms. By default the bins reach from -1 to 1 for the cosine, else over all scores.
    progress : bool, optional
        A progress bar with the time that is left; by default for long sweeps only.
    checkpoint : str or Path, optional
        A folder, new or empty, in which the sweep of a tensor leaves what it has found so far. The same call goes on
        from there after an interruption, with the same bits as if nothing had happened. The folder stays until it is
        deleted; what `histogram` sweeps is not in it.

    Returns
    -------
    xr.DataTree
        Nodes `empirical`, `vstatistic` (the centre of the replicates, eq. 19), `influence` and, with resampling,
        `replicates`. Variables: `threshold`, `far`, `frr` over far_level (or threshold_level); `far_group`,
        `frr_group` over (far_level, group); `far_cross` over (far_level, group, reference_group); `eer`,
        `eer_threshold`, and per group `eer_group`, `eer_threshold_group`. `empirical` also has raw counts
        `false_accepts`, `false_rejects` and `resolved` (both at least 10), the same with `_group`, and
        `false_accepts_cross` and `resolved_cross` between groups. `influence` holds what each image adds to
        the error rates, from which intervals come without replicates. A histogram adds
        `auc`, from 1,000 bins or more (its attribute `error_bound`: how far from the exact AUC it can be), and for kind
        in genuine, impostor `<kind>_mean`, `<kind>_sd` (ddof 0) and `<kind>_histogram` over score_bin (sum 1), with
        weighting "pair" also `<kind>_pairs` (how many), and `images`; all of them also with `_group`. Further dims:
        `model` in front, then `replicate`. The tree's attribute `provenance` is one JSON text.

    Raises
    ------
    InputError
        For levels outside (0, 1), both far and threshold, unknown options or attributes, a checkpoint of another
        evaluation, infinite scores, scores without a genuine or an impostor pair that did not fail, an image that
        stands twice on a side, a missing identity, or a tensor said to be symmetric that differs from its transpose.

    Warns
    -----
    DataWarning
        For groups too small for a rate, FAR levels below the weight of one pair, genuine comparisons of which half
        failed, the image scheme where much of the weight of FRR lies with people of few images, and an EER above one
        half (distances taken for scores).

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, seed=0).sample(4, seed=1)
    >>> ev = fk.evaluate(fk.score_tensor(faces), far=[0.01, 0.1], resampling=fk.Resampling(n=10))
    >>> dict(ev["replicates"].frr.sizes)
    {'replicate': 10, 'far_level': 2}
    """
    return evaluated(**locals())  # every option under its own name


def evaluated(
    scores: xr.DataArray | xr.Dataset, *, wanted: str = EVERYTHING, kept: Kept | None = None, **options
) -> xr.DataTree:
    """`evaluate` with these options: everything, rates without influence, or distributions alone; kept: what `prepared`
    has looked at before."""
    asked = SimpleNamespace(**evaluate.__kwdefaults__ | options)
    by, varying, resampling = asked.by, asked.varying, asked.resampling
    bins, bounds = _asked_bins(asked.histogram)
    require_one_of("varying", varying, VARYING_RULES)
    drawn = resampling is None or hasattr(resampling, "weights")
    require(drawn, f"resampling must be made by fk.Resampling(scheme, n=...), got {resampling!r}")
    scores, which = with_impostors(checked_scores(scores), asked.impostors)
    bar = scores.size > LONG_SWEEP if asked.progress is None else require_flag("progress", asked.progress)
    models, names = models_of(scores), scores[MODEL] if MODEL in scores.dims else None
    levels = Levels(np.empty(0), np.empty((len(models), 0)), None)
    if wanted != DISTRIBUTIONS:
        levels = asked_levels(asked.far, asked.threshold, scores)
    with one_blas_thread():
        known = _known(scores, levels, (by, varying, asked.weighting, which, resampling), kept)
        protocol, each = known.protocol, zip(models, levels.fixed, known.plans, strict=True)
        state = None
        if asked.checkpoint is not None:
            require(protocol.listed is None, "checkpoint is for tensors; a list of pairs is not swept: leave it out")
            state = Checkpoint.of(asked.checkpoint, swept_with(models, protocol, levels, known.plans))
        if wanted == DISTRIBUTIONS:
            rates = [genuine_alone(model, protocol, bar) for model in models]
        else:
            how = bar, state, wanted == EVERYTHING
            rates = [tally_rates(model, protocol, (levels.far, fixed), plan, *how) for model, fixed, plan in each]
    failed, tables = [model.genuine.failed for model in rates], [model.table for model in rates]
    if levels.labels is not None:
        words = {"axis": "distance threshold (accept below)"} if turned(scores) else {}
        labels = xr.Variable(THRESHOLD_LEVEL, levels.labels, words)
        tables = [table.assign_coords({THRESHOLD_LEVEL: labels}) for table in tables]
    if bins:
        if turned(scores) and bounds is not None:
            bounds = -bounds[1], -bounds[0]
        bounds = bounds or score_bounds(scores)
        for place, model in enumerate(models):
            more = tally_distributions(model, protocol, rates[place], bins=bins, bounds=bounds, progress=bar)
            tables[place] = tables[place].merge(more).assign_attrs(more.attrs)
    caution(protocol, resampling, levels.far, tables, names, max(failed))
    made = provenance(scores, protocol, resampling, asked.weighting, asked.impostors, by, failed)
    return tree(tables, [model.influence for model in rates], names, made)


def prepared(scores: xr.DataArray, *, wanted: str = EVERYTHING, **options) -> Callable[..., xr.DataTree]:
    """`evaluate` with these options, for scores of the same kind one after the other; an option given later counts.

    These scores are looked at once, and what further evaluations have in common is kept: the plan of the sweep, and
    the draws for these images. That pays for many small data sets. No rate depends on it: what a plan does not cover
    is swept again. (Where n_k are unequal, sums are rounded in an order that follows the plan: rates then differ by
    about 1e-15 from those of `evaluate`. Slopes of the curve, which intervals without replicates read, are taken
    between the bins of the plan: their ends then differ by about a thousandth of their width.) Any number of threads
    may call it at once.
    """
    asked = evaluate.__kwdefaults__ | options
    scores, asked["impostors"] = with_impostors(checked_scores(scores), asked["impostors"])
    of_people = tuple(asked[name] for name in ("by", "varying", "weighting", "impostors", "resampling"))
    kept = _known(scores, asked_levels(asked["far"], asked["threshold"], scores), of_people)
    return partial(evaluated, wanted=wanted, kept=kept, **options)


class Levels(NamedTuple):
    """FAR levels, (level,), or fixed thresholds, (model, level): one of the two is empty; labels of the latter."""

    far: np.ndarray
    fixed: np.ndarray
    labels: np.ndarray | None


class Kept(NamedTuple):
    """What evaluations of one kind share: labels of the scores, the codes and draws for them, a plan for each model."""

    labels: xr.Dataset
    protocol: Protocol
    plans: list[Ladder | None]


def _known(scores: xr.DataArray, levels: Levels, options: tuple, kept: Kept | None = None) -> Kept:
    """Codes, draws and plans: those that are kept, as far as they fit these scores."""
    *_, resampling = options
    labels, models = scores.coords.to_dataset().drop_vars(MODEL, errors="ignore"), models_of(scores)
    labels.attrs = {name: scores.attrs.get(name) for name in ("symmetric", "self_score")}
    labels.attrs["seed"] = None if resampling is None else resampling.seed
    same = kept is not None and labels.identical(kept.labels)
    protocol = kept.protocol if same else make_protocol(models[0], *options)
    if kept is None and protocol.symmetric:
        _check_transpose(scores)
    if kept is not None and len(kept.plans) == len(models):
        return Kept(labels, protocol, kept.plans)
    each = zip(models, levels.fixed, strict=True)
    asked = levels.far.size or levels.fixed.size
    plans = [plan_rates(model, protocol, levels.far, fixed) if asked else None for model, fixed in each]
    return Kept(labels, protocol, plans)


def _check_transpose(scores: xr.DataArray) -> None:
    """A tensor that is swept as a triangle must equal its transpose, as far as a few of its scores tell."""
    n = scores.sizes[PROBE]
    some = np.unique([start + np.arange(min(WINDOW, n)) for start in (0, max(n // 2 - WINDOW, 0), max(n - WINDOW, 0))])
    values = np.stack([parts_of(model.data, [(some, some)])[0] for model in models_of(scores)])
    slack = 1e-4 * np.fmax.reduce(np.abs(values), axis=None, initial=0)
    require(
        np.allclose(values, np.swapaxes(values, -1, -2), rtol=0, atol=slack, equal_nan=True),
        "these scores depend on which image is the probe, but their attribute `symmetric` says that they do not: say "
        "fk.score_tensor(..., symmetric=False), or scores.assign_attrs(symmetric=0)",
    )


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
    require(0 < lowest < highest < 1, f"far levels need 0 < lowest < highest < 1, got {lowest} and {highest}")
    require(require_whole("per_decade", per_decade, 1) <= 1000, f"per_decade is 1,000 at most, got {per_decade}")
    decades = np.log10(highest / lowest)
    levels = np.logspace(np.log10(lowest), np.log10(highest), max(2, round(decades * per_decade) + 1))
    levels = np.array([float(f"{level:.12g}") for level in levels])  # 1e-5 is 1e-5, so that .sel finds it
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
    levels = far_levels(1e-5, 1e-1) if far is None else np.atleast_1d(real_numbers("far", far).astype(float))
    inside = levels.ndim == 1 and levels.size and np.all((levels > 0) & (levels < 1))
    require(inside, f"far must lie in (0, 1), got {far!r}")
    require(len(np.unique(levels)) == len(levels), f"far names a level twice; each level once: got {far!r}")
    return Levels(levels, np.empty((len(models or [""]), 0)), None)


def _rows_of_models(threshold, models: list[str] | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Thresholds (model, level), and labels of the levels where every model has its own."""
    by_model = isinstance(threshold, Mapping) or isinstance(threshold, xr.DataArray) and MODEL in threshold.dims
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
        rows = [np.atleast_1d(real_numbers("threshold", threshold[name]).astype(float)) for name in models]
        even = all(row.shape == rows[0].shape for row in rows)
        require(even, f"threshold must hold as many values for every model; got {[len(row) for row in rows]}")
        return np.stack(rows), np.arange(len(rows[0]))
    rows = threshold.sel({MODEL: models}).transpose(MODEL, ...)
    require(rows.ndim <= 2, f"threshold must run over {MODEL!r} and one other dim, got {rows.dims}")
    rows = rows if rows.ndim == 2 else rows.expand_dims(THRESHOLD_LEVEL, -1)
    level = rows.dims[1]
    return rows.values.astype(float), rows[level].values if level in rows.coords else np.arange(rows.shape[1])


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
