"""ROC curves with bands, the fan of replicates, and paired differences."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from frkit.base import FAR_LEVEL, REPLICATE, require
from frkit.plot.style import (
    COLOURS,
    FAN,
    FAR_WORDS,
    NAIVE,
    SMALL,
    UNRESOLVED,
    caption,
    draw_truth,
    finish_rates,
    level_dimension,
    log_floor,
    new_axes,
    one_curves,
    plain,
    print_captions,
)

GREY_WORDS = "not resolved: fewer than 10 errors"


def roc(
    bands: xr.Dataset | dict[str, xr.Dataset],
    ax: Axes | None = None,
    *,
    curves: dict[str, xr.Dataset] | None = None,
    truth: xr.Dataset | None = None,
) -> Axes:
    """Draw ROC curves with their bands on log axes, one colour for each band, model and group.

    Levels that are not resolved are grey. A zero has no place on a log axis: an estimate of 0 is a hollow
    triangle at the foot of the axes, an end of a band at or below 0 a small filled one.

    Parameters
    ----------
    bands : what `band` returned, over far_level (FAR, in (0, 1)); or several of them by name.
    ax : matplotlib Axes; a new figure when left out.
    curves : empirical nodes of further evaluations by name, drawn dashed and without a band; their colours
        begin anew, so that the models of a second data set have the colours they have in the first.
    truth : what `Mixture.population_roc` returned, drawn dashed and black.

    Returns
    -------
    matplotlib Axes, with the level, scheme and target of the bands in words above it.

    Raises
    ------
    InputError : a band that does not run over FAR levels or thresholds.

    References
    ----------
    Conti & Clémençon (2024), Figs. 1 and 3.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> how = dict(far=[0.05, 0.1, 0.2], resampling=fk.Resampling("image", n=50))
    >>> ax = fk.plot.roc(fk.band(fk.evaluate(fk.score_tensor(faces), **how), "frr"))
    >>> ax.get_xscale()
    'log'
    """
    named = bands if isinstance(bands, dict) else {"": bands}
    require(len(named) > 0, "there is no band to draw: the mapping of bands is empty")
    solid = _named_curves(named, "estimate")
    dashed = _named_curves({name: _dataset(node) for name, node in (curves or {}).items()}, "frr")
    first = next(iter(named.values()))
    shown = [curve[name].values for _, curve in solid for name in ("estimate", "upper")]
    shown += [curve.frr.values for _, curve in dashed] + ([] if truth is None else [truth.frr.values])
    ax, floor = new_axes(ax), log_floor(shown)
    for place, (words, curve) in enumerate(solid):
        label = plain(words or "empirical curve")
        _draw_band(ax, curve, floor, COLOURS[place % len(COLOURS)], label, first_grey=place == 0)
    for place, (words, curve) in enumerate(dashed):
        style = {"color": COLOURS[place % len(COLOURS)], "label": plain(words), "linewidth": 1.4}
        ax.plot(curve[level_dimension(curve.frr)], np.maximum(curve.frr, floor), "--", **style)
    _draw_zero_words(ax, [curve for _, curve in solid])
    draw_truth(ax, truth)
    print_captions(ax, [caption(result.attrs) for result in named.values()])
    return finish_rates(ax, level_dimension(first.estimate), first.attrs.get("label", "FRR"), floor)


def _dataset(node: xr.DataTree | xr.Dataset) -> xr.Dataset:
    """A node of an evaluation as a Dataset."""
    return node.to_dataset() if isinstance(node, xr.DataTree) else node


def _named_curves(results: dict[str, xr.Dataset], variable: str) -> list[tuple[str, xr.Dataset]]:
    """All single curves of several results, each with the words of its legend entry."""
    return [
        (", ".join(part for part in (name, words) if part), curve)
        for name, result in results.items()
        for words, curve in one_curves(result, variable)
    ]


def fan(replicates: xr.Dataset, ax: Axes | None = None, *, truth: xr.Dataset | None = None) -> Axes:
    """Draw every replicate curve in light blue, with the empirical curve and the V-statistic they surround.

    Parameters
    ----------
    replicates : what `frkit.fan` collected from an evaluation, naive or recentered, of one model.
    ax : matplotlib Axes; a new figure when left out.
    truth : what `Mixture.population_roc` returned, drawn dashed.

    Returns
    -------
    matplotlib Axes on log scales; replicates at 0 run along the foot of the axes.

    Raises
    ------
    InputError : an evaluation itself, or several models or groups at once.

    References
    ----------
    Conti & Clémençon (2024), Fig. 2.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> how = dict(far=[0.05, 0.1, 0.2], resampling=fk.Resampling("image", n=50))
    >>> ax = fk.plot.fan(fk.fan(fk.evaluate(fk.score_tensor(faces), **how)))
    >>> len(ax.collections[0].get_segments())
    50
    """
    require(isinstance(replicates, xr.Dataset), "plot.fan draws what frkit.fan(evaluation) collected: pass that")
    along = level_dimension(replicates.estimate)
    extra = [dim for dim in replicates.estimate.dims if dim != along]
    require(not extra, f"a fan shows one curve; select one along {', '.join(map(str, extra))} with .sel")
    ax = new_axes(ax)
    x, curves = replicates[along].values, replicates.replicates.transpose(REPLICATE, along).values
    floor = log_floor(
        [replicates.estimate.values, replicates.centre.values, curves.max(axis=0), curves.mean(axis=0) / 2]
    )
    lines = [np.column_stack([x, np.maximum(curve, floor)]) for curve in curves]
    method = replicates.attrs.get("method", "naive")
    label = f"{len(lines)} {method} bootstrap curves"
    bundle = LineCollection(lines, colors=FAN, linewidths=0.5, label=label, zorder=1)
    ax.add_collection(bundle)
    ax.plot(
        x,
        np.maximum(replicates.estimate, floor),
        color="#08306B",
        linewidth=2,
        label="empirical curve",
        zorder=5,
    )
    centre = "V-statistic: centre of the naive fan"
    ax.plot(x, np.maximum(replicates.centre, floor), "-.", color=NAIVE, linewidth=1.6, label=centre, zorder=5)
    draw_truth(ax, truth)
    print_captions(ax, [caption({**replicates.attrs, "level": None})])
    ax.autoscale_view()
    return finish_rates(ax, along, replicates.attrs.get("label", "FRR"), floor)


def difference(comparison: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw a paired difference (or ratio) with its band and the line of no difference.

    Parameters
    ----------
    comparison : what `compare` returned, over far_level (FAR, in (0, 1)).
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes: FAR on a log axis, the difference on a linear one.

    Raises
    ------
    InputError : a comparison that does not run over FAR levels or thresholds.

    References
    ----------
    Conti & Clémençon (2024), section 4 and Fig. 1.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> how = dict(far=[0.05, 0.1, 0.2], resampling=fk.Resampling("image", n=50))
    >>> ev = fk.evaluate(fk.score_tensor(faces), **how)
    >>> ax = fk.plot.difference(fk.compare(ev, ev, "frr"))
    >>> ax.get_yscale()
    'linear'
    """
    along = level_dimension(comparison.estimate)
    ax = new_axes(ax)
    for place, (words, curve) in enumerate(one_curves(comparison, "estimate")):
        colour = COLOURS[place % len(COLOURS)]
        _draw_band(ax, curve, None, colour, plain(words or "paired estimate"), first_grey=place == 0)
    attrs = comparison.attrs
    sign = "/" if attrs["contrast"] == "ratio" else "\u2212"
    ax.axhline(attrs["null"], color="black", linewidth=0.9, linestyle=":", label="no difference")
    ax.set_xscale("log" if along == FAR_LEVEL else "linear")
    ax.set_xlabel(FAR_WORDS if along == FAR_LEVEL else "score threshold (accept above)")
    ax.set_ylabel(plain(f"{attrs['a']} {sign} {attrs['b']}\n{attrs['label']}"))
    ax.grid(True, color="#E5E5E5", linewidth=0.6)
    print_captions(ax, [caption(attrs).replace(" band, ", f" band of the paired {attrs['contrast']}\n")])
    ax.legend(fontsize=SMALL, frameon=False)
    return ax


def _draw_band(ax: Axes, curve: xr.Dataset, floor: float | None, colour: str, label: str, *, first_grey: bool) -> None:
    """One curve with its band: coloured where resolved, grey elsewhere, with marks for zeros."""
    x = curve[level_dimension(curve.estimate)].values
    estimate, lower, upper = (curve[name].values for name in ("estimate", "lower", "upper"))
    if floor is not None:
        _draw_zeros(ax, x, estimate, lower, floor, colour)
        estimate, lower, upper = (np.maximum(values, floor) for values in (estimate, lower, upper))
    resolved = curve.resolved.values if "resolved" in curve else np.ones(x.size, bool)
    beside = ~resolved | np.r_[False, ~resolved[:-1]] | np.r_[~resolved[1:], False]
    for where, shade, name in (
        (beside, UNRESOLVED, GREY_WORDS if first_grey and not resolved.all() else None),
        (resolved, colour, label),
    ):
        ax.fill_between(x, lower, upper, where=where, color=shade, alpha=0.22, linewidth=0, zorder=2)
        ax.plot(x, np.where(where, estimate, np.nan), color=shade, linewidth=1.8, label=name, zorder=3)


def _draw_zeros(ax: Axes, x: np.ndarray, estimate: np.ndarray, lower: np.ndarray, floor: float, colour: str) -> None:
    """Triangles at the foot of a log axis: hollow for an estimate of 0, small for an end at or below 0."""
    style = {"linestyle": "none", "marker": "v", "color": colour, "clip_on": False, "zorder": 6}
    gone, ends = x[estimate <= 0], x[(lower <= 0) & (estimate > 0)]
    if gone.size:
        ax.plot(gone, np.full(gone.size, floor), markersize=8, markerfacecolor="white", **style)
    if ends.size:
        ax.plot(ends, np.full(ends.size, floor), markersize=4, **style)


def _draw_zero_words(ax: Axes, curves: list[xr.Dataset]) -> None:
    """Legend entries for the triangles that are there."""
    style = {"linestyle": "none", "marker": "v", "color": "#444444"}
    if any(bool((curve.estimate <= 0).any()) for curve in curves):
        ax.plot([], [], markersize=8, markerfacecolor="white", label="estimate 0: no place on a log axis", **style)
    if any(bool(((curve.lower <= 0) & (curve.estimate > 0)).any()) for curve in curves):
        ax.plot([], [], markersize=4, label="band reaches 0 or below", **style)
