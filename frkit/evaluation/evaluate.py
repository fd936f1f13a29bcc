"""`evaluate`: from a score tensor to a labelled tree of rates, for the data, their V-statistic and replicates."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import xarray as xr

from frkit.base import (
    GENUINE,
    IDENTITY,
    MODEL,
    PAIR,
    PERSON,
    PROBE,
    REFERENCE,
    real_numbers,
    require,
    require_one_of,
    require_whole,
    warn,
)
from frkit.engine.distributions import score_bounds, tally_distributions
from frkit.engine.plan import Ladder
from frkit.engine.protocol import Protocol, make_protocol
from frkit.engine.rates import plan_rates, tally_rates
from frkit.evaluation.nodes import provenance, tree
from frkit.faces.labels import VARYING_RULES, attributes_of
from frkit.resampling import DIAGONAL_SCHEMES, Resampling
from frkit.scores.tensor import CHUNK

FEW_IMAGES = 5  # images per identity below which the image scheme covers too little
WINDOW = 8  # images at either end and in the middle, whose scores are held against their transpose
MOST_BINS = 100_000  # of a histogram
LONG_SWEEP = 2e9  # scores from which a progress bar is shown unless told otherwise


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
    histogram=None,
    progress: bool | None = None,
    _kept=None,
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
    histogram : int or (int, (float, float)), optional
        A number of bins, or (bins, (low, high)): sweeps once more, over every pair, for `auc`, means, standard
        deviations and histograms. By default the bins reach from -1 to 1 for the cosine, else over all scores.
    progress : bool, optional
        A progress bar; by default for long sweeps only.

    Returns
    -------
    xr.DataTree
        Nodes `empirical`, `vstatistic` (the centre of the replicates, eq. 19) and, with resampling,
        `replicates`. Variables: `threshold`, `far`, `frr` over far_level (or threshold_level); `far_group`,
        `frr_group` over (far_level, group); `far_cross` over (far_level, group, reference_group); `eer`,
        `eer_threshold`, and per group `eer_group`, `eer_threshold_group`. `empirical` also has raw counts
        `false_accepts`, `false_rejects` and `resolved` (both at least 10). The image scheme on a square
        of scores adds `frr_variance` and `far_variance` (at the threshold, over draws of images) to it, and `far_data`
        and `frr_data` (rates of the data at the replicate's threshold) to `replicates`. A histogram adds
        `auc`, from 1,000 bins or more (its attribute `error_bound`: how far from the exact AUC it can be), and for kind
        in genuine, impostor `<kind>_mean`, `<kind>_sd` (ddof 0) and `<kind>_histogram` over score_bin (sum 1), with
        weighting "pair" also `<kind>_pairs` (how many), and `images`; all of them also with `_group`. Further dims:
        `model` in front, then `replicate`. The tree's attribute `provenance` is one JSON text.

    Raises
    ------
    InputError
        For levels outside (0, 1), both far and threshold, unknown options or attributes, infinite scores, scores
        without a genuine or an impostor pair that did not fail, an image that stands twice on a side, a missing
        identity, or a tensor said to be symmetric that differs from its transpose.

    Warns
    -----
    DataWarning
        For groups too small for a rate, FAR levels below the weight of one pair, genuine comparisons of which half
        failed, and the image scheme with few images per identity.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, seed=0).sample(4, seed=1)
    >>> ev = fk.evaluate(fk.score_tensor(faces), far=[0.01, 0.1], resampling=fk.Resampling(n=10))
    >>> dict(ev["replicates"].frr.sizes)
    {'replicate': 10, 'far_level': 2}
    """
    levels = asked_levels(far, threshold)
    bins, bounds = _asked_bins(histogram)
    require_one_of("varying", varying, VARYING_RULES)
    drawn = resampling is None or hasattr(resampling, "weights")
    require(drawn, f"resampling must be made by fk.Resampling(scheme, n=...), got {resampling!r}")
    scores = checked_scores(scores)
    known = _known(scores, levels, (by, varying, weighting, impostors, resampling), _kept)
    protocol, bar = known.protocol, scores.size > LONG_SWEEP if progress is None else progress
    models = _models(scores)
    rates = [tally_rates(model, protocol, *levels, plan, bar) for model, plan in zip(models, known.plans, strict=True)]
    failed = [model.table.attrs["failed"] for model in rates]
    _warn(protocol, resampling, levels[0], max(failed))
    tables = [model.table for model in rates]
    if bins:
        bounds = bounds or score_bounds(scores)
        for place, model in enumerate(models):
            more = tally_distributions(model, protocol, rates[place], bins=bins, bounds=bounds, progress=bar)
            tables[place] = tables[place].merge(more).assign_attrs(more.attrs)
    made = provenance(scores, protocol, resampling, weighting, impostors, by, failed)
    influence = [model.influence for model in rates]
    return tree(tables, influence, scores[MODEL] if MODEL in scores.dims else None, made)


@dataclass(frozen=True, eq=False)
class Evaluator:
    """Evaluations of the same kind, one after the other: `evaluate` with these options, by name.

    `prepared` looks at some scores once and keeps what further evaluations have in common: the plan of the sweep, and
    the draws for these images. That pays for many small data sets. No result depends on it: what a plan does not cover
    is swept again. (Where n_k are unequal, sums are rounded in an order that follows the plan: rates then differ by
    about 1e-15 from those of `evaluate`.) Any number of threads may call it at once.
    """

    options: dict
    kept: "Kept | None" = None

    def prepared(self, scores: xr.DataArray) -> "Evaluator":
        """The same, which keeps labels, draws and plan of these scores for later ones of about the same kind."""
        asked = evaluate.__kwdefaults__ | self.options
        of_people = tuple(asked[name] for name in ("by", "varying", "weighting", "impostors", "resampling"))
        known = _known(checked_scores(scores), asked_levels(asked["far"], asked["threshold"]), of_people)
        return replace(self, kept=known)

    def __call__(self, scores: xr.DataArray, *, seed: int | None = None) -> xr.DataTree:
        """Evaluate scores; `seed` draws other replicates than the options say."""
        options = dict(self.options)
        if seed is not None:
            require(options.get("resampling") is not None, "seed= draws replicates, but resampling is None")
            options["resampling"] = replace(options["resampling"], seed=seed)
        return evaluate(scores, **options, _kept=self.kept)


class Kept(NamedTuple):
    """What evaluations of one kind share: labels of the scores, the codes and draws for them, a plan for each model."""

    labels: dict
    protocol: Protocol
    plans: list[Ladder]


def _known(scores: xr.DataArray, levels: tuple, options: tuple, kept: Kept | None = None) -> Kept:
    """Codes, draws and plans: those that are kept, as far as they fit these scores."""
    by, *_, resampling = options
    names = [IDENTITY, PERSON, *(() if by is None else attributes_of(by))]
    wanted = [PROBE, REFERENCE, GENUINE, *(f"{side}_{name}" for side in (PROBE, REFERENCE) for name in names)]
    labels = {name: scores[name].values for name in wanted if name in scores.coords}
    labels |= {name: scores.attrs.get(name) for name in ("symmetric", "self_score")}
    labels |= {"dims": scores.dims[-2:], "seed": None if resampling is None else resampling.seed}
    models = _models(scores)
    same = kept is not None and labels.keys() == kept.labels.keys()
    same = same and all(np.array_equal(kept.labels[name], value) for name, value in labels.items())
    protocol = kept.protocol if same else make_protocol(models[0], *options)
    if kept is None and protocol.symmetric:
        _check_transpose(scores)
    if kept is not None and len(kept.plans) == len(models):
        return Kept(labels, protocol, kept.plans)
    return Kept(labels, protocol, [plan_rates(model, protocol, *levels) for model in models])


def _check_transpose(scores: xr.DataArray) -> None:
    """A tensor that is swept as a triangle must equal its transpose, as far as a few of its scores tell."""
    n = scores.sizes[PROBE]
    some = np.unique([start + np.arange(min(WINDOW, n)) for start in (0, max(n // 2 - WINDOW, 0), max(n - WINDOW, 0))])
    values = scores.isel({PROBE: some, REFERENCE: some}).transpose(..., PROBE, REFERENCE).values
    slack = 1e-4 * np.fmax.reduce(np.abs(values), axis=None, initial=0)
    require(
        np.allclose(values, np.swapaxes(values, -1, -2), rtol=0, atol=slack, equal_nan=True),
        "these scores depend on which image is the probe, but their attribute `symmetric` says that they do not: say "
        "fk.score_tensor(..., symmetric=False), or scores.assign_attrs(symmetric=0)",
    )


def _models(scores: xr.DataArray) -> list[xr.DataArray]:
    """The scores of each model."""
    return [scores.isel({MODEL: m}) for m in range(scores.sizes[MODEL])] if MODEL in scores.dims else [scores]


def checked_scores(scores) -> xr.DataArray:
    """A tensor over (probe, reference), or the scores of a pair list over (pair)."""
    if isinstance(scores, xr.Dataset) and "score" in scores and GENUINE in scores.coords:
        scores = scores["score"]
    dims = {*scores.dims} - {MODEL} if isinstance(scores, xr.DataArray) else set()
    listed = dims == {PAIR} and GENUINE in scores.coords
    sides = (f"{side}_{IDENTITY}" for side in (PROBE, REFERENCE))
    require(
        listed or dims == {PROBE, REFERENCE} and all(name in scores.coords for name in (PROBE, REFERENCE, *sides)),
        "scores must be a tensor over (probe, reference) that names images and identities, or a list of pairs: make it "
        "with fk.score_tensor, fk.score_matrix, fk.pairs or fk.open_pairs",
    )
    require(scores.dtype.kind in "fiub", f"scores must be real numbers, got {scores.dtype}")
    scores = scores if scores.dtype in (np.float32, np.float64) else scores.astype(float)
    if listed:
        require(not np.isinf(scores.values).any(), "some scores are infinite; mark failed comparisons as NaN")
        return scores
    scores = scores.transpose(..., PROBE, REFERENCE)
    return scores.chunk({PROBE: CHUNK, REFERENCE: CHUNK}) if scores.chunks is None else scores


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
    real_numbers("far levels", [lowest, highest])
    require(0 < lowest < highest < 1, f"far levels need 0 < lowest < highest < 1, got {lowest} and {highest}")
    require_whole("per_decade", per_decade, 1)
    decades = np.log10(highest / lowest)
    levels = np.logspace(np.log10(lowest), np.log10(highest), max(2, round(decades * per_decade) + 1))
    levels = np.array([float(f"{level:.12g}") for level in levels])  # 1e-5 is 1e-5, so that .sel finds it
    levels[[0, -1]] = lowest, highest
    return levels


def asked_levels(far, threshold) -> tuple[np.ndarray, np.ndarray]:
    """Distinct FAR levels or fixed thresholds, ascending: one of the two is empty."""
    require(far is None or threshold is None, "give far= or threshold=, not both")
    if threshold is not None:
        fixed = np.atleast_1d(real_numbers("threshold", threshold).astype(float))
        require(
            fixed.ndim == 1 and fixed.size and np.all(np.isfinite(fixed)),
            f"threshold must be finite numbers, got {threshold!r}",
        )
        return np.empty(0), np.unique(fixed)
    levels = far_levels(1e-5, 1e-1) if far is None else np.atleast_1d(real_numbers("far", far).astype(float))
    inside = levels.ndim == 1 and levels.size and np.all((levels > 0) & (levels < 1))
    require(inside, f"far must lie in (0, 1), got {far!r}")
    return np.unique(levels), np.empty(0)


def _asked_bins(histogram) -> tuple[int, tuple[float, float] | None]:
    """Number of bins, 0 for none, and their range where one is given."""
    if histogram is None:
        return 0, None
    two = isinstance(histogram, (tuple, list)) and len(histogram) == 2
    bins, bounds = histogram if two else (histogram, None)
    ends = real_numbers("histogram", (0, 1) if bounds is None else bounds)
    require(
        isinstance(bins, (int, np.integer))
        and 1 <= bins <= MOST_BINS
        and ends.shape == (2,)
        and ends[0] < ends[1] < np.inf,
        f"histogram must be a number of bins up to {MOST_BINS:,}, or (bins, (low, high)) with low < high; "
        f"got {histogram!r}",
    )
    return int(bins), bounds


def _warn(protocol: Protocol, resampling: Resampling | None, levels: np.ndarray, failed: int) -> None:
    """Say what these data and options cannot tell."""
    if failed >= protocol.n_genuine / 2:
        warn(
            f"{failed} of {protocol.n_genuine} genuine comparisons failed (NaN or marked as missing) and are left out: "
            "the rates are those of the others, which may be the easier ones"
        )
    median = float(np.median(np.bincount(protocol.people.identity_code)))
    n_impostors = len(protocol.probe.person) * len(protocol.reference.person) / 2
    n_impostors = n_impostors if protocol.listed is None else len(protocol.listed.impostor)
    if resampling is not None and resampling.scheme in DIAGONAL_SCHEMES and median < FEW_IMAGES:
        warn(
            f"half of the identities have at most {median:g} images: the {resampling.scheme} scheme covers too little "
            "below 5 images per identity (.59-.89 at nominal .95 with 2-3); read its intervals as too narrow"
        )
    if resampling is not None and resampling.scheme in DIAGONAL_SCHEMES and not protocol.diagonal:
        warn(
            "these scores hold no comparison of an image with itself, so copies of an image make no genuine pairs: "
            f"the {resampling.scheme} scheme is centred on the estimate itself, and identities with one genuine pair "
            "cannot vary; scheme 'identity' says more here"
        )
    smallest = 1 / max(n_impostors, 1)
    low = levels[levels < smallest]
    if low.size:
        warn(
            f"FAR levels {', '.join(f'{a:g}' for a in low)} lie below the weight of one impostor pair (about "
            f"{smallest:.2g}): the threshold there is the largest impostor score, whose bootstrap is not valid"
        )
