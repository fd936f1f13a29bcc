"""ROC curves with bands, the fan of replicates, and paired differences."""

import numpy as np
import xarray as xr
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from frkit.base import FAR_LEVEL, GROUP, MODEL, REPLICATE, require, require_one_of, require_returned
from frkit.plot.style import (
    BANDS,
    DARK,
    DET_TOP,
    ENDS,
    FAN,
    LEVELS,
    NAIVE,
    TRUE_CURVE,
    caption,
    curve_colours,
    det_axes,
    draw_band,
    draw_edge,
    draw_truth,
    finish_levels,
    headline,
    level_dimension,
    log_floor,
    named_curves,
    new_axes,
    plain,
    require_dims,
    worth,
)

CURVES = ("evaluate(...)['empirical']", "frr", *LEVELS)
FAN_OF = ("frkit.fan(evaluation)", "estimate", "replicates", "centre", *LEVELS, REPLICATE)
BANDS_OF_MODELS = (*BANDS, GROUP, MODEL)
PAIRED = ("null", "contrast", "a", "b", "label")
COMPARED = ("frkit.compare(first, second, measure)", *ENDS, *LEVELS, *PAIRED)


def roc(
    bands: xr.Dataset | dict[str, xr.Dataset],
    ax: Axes | None = None,
    *,
    curves: dict[str, xr.Dataset] | None = None,
    truth: xr.Dataset | None = None,
    scale: str = "log",
    n_effective: bool = False,
) -> Axes:
    """Draw ROC curves with their bands on log or DET axes, one colour for each band, model and group.

    Levels that are not resolved are grey. A zero has no place on a log axis: an estimate of 0 is a hollow
    triangle at the foot of the axes, an end of a band at or below 0 a small filled one.

    Parameters
    ----------
    bands : what `band` returned, over far_level (FAR, in (0, 1)); or several of them by name.
    ax : matplotlib Axes; a new figure when left out.
    curves : empirical nodes of further evaluations by name, drawn dashed and without a band; their colours
        begin anew, so that the models of a second data set have the colours they have in the first.
    truth : what `Mixture.population_roc` returned, drawn dashed and black.
    scale : "log", or "det": both rates on a probit scale, on which normal scores make a straight line (Martin et al.
        1997); it takes a band over FAR levels.

    n_effective : whether to write how many independent comparisons the bands are worth.

    Returns
    -------
    matplotlib Axes, with the level, scheme and target of the bands in words above it.

    Raises
    ------
    InputError : a band that does not run over FAR levels or thresholds, an unknown scale.

    References
    ----------
    Conti & Clémençon (2024), Figs. 1 and 3. Martin et al. (1997), The DET curve in assessment of detection task
    performance.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> how = dict(far=[0.05, 0.1, 0.2], resampling=fk.Resampling("image", n=50))
    >>> ax = fk.plot.roc(fk.band(fk.evaluate(fk.score_tensor(faces), **how), "frr"))
    >>> ax.get_xscale()
    'log'
    """
    require_returned("bands", bands, *BANDS)
    if curves is not None:
        require_returned("curves", curves, *CURVES)
    if truth is not None:
        require_returned("truth", truth, *TRUE_CURVE)
    require_one_of("scale", scale, ("log", "det"))
    solid = named_curves("bands", bands)
    dashed = [] if curves is None else named_curves("curves", curves, ("frr",))
    shown = [curve[name] for _, curve in solid for name in ("estimate", "upper")]
    shown += [curve.frr for _, curve in dashed] + ([] if truth is None else [truth.frr])
    ax, floor, along = new_axes(ax), log_floor(*shown), level_dimension(solid[0][1])
    require(
        all(along in curve.dims for _, curve in dashed),
        f"curves must run over {along}, as bands do",
    )
    require(
        scale == "log" or along == FAR_LEVEL,
        "scale='det' takes a band over FAR levels, not over thresholds",
    )
    top = np.inf if scale == "log" else DET_TOP
    colours = list(curve_colours(words for words, _ in solid))
    for (words, curve), colour in zip(solid, colours, strict=True):
        draw_band(ax, curve, (floor, top), colour, plain(words or "empirical curve"))
    for (words, curve), colour in zip(dashed, curve_colours(words for words, _ in dashed)):
        style = {"color": colour, "label": plain(words), "linewidth": 1.4}
        ax.plot(curve[along], np.maximum(curve.frr, floor), "--", **style)
    for (_, curve), colour in zip(solid, colours, strict=True):
        zero, positive = curve[along][curve.estimate <= 0], curve.estimate > 0
        none = "estimate 0: no place on a log axis"
        draw_edge(ax, zero, floor, "v", none, color=colour, markersize=8, markerfacecolor="white")
        reaching = curve[along][positive & (curve.lower <= 0)]
        draw_edge(ax, reaching, floor, "v", "band reaches 0 or below", color=colour, markersize=4)
    draw_truth(ax, truth)
    captions = [caption(curve.attrs) + (worth(curve) if n_effective else "") for _, curve in solid]
    finish_levels(ax, solid[0][1][along], solid[0][1].attrs.get("label", "FRR"), captions, floor)
    return ax if scale == "log" else det_axes(ax)


def roc_by_model(bands: xr.Dataset, *, scale: str = "log") -> np.ndarray:
    """Draw small multiples: for each model one axes with the curves of its groups, on the same scales.

    Parameters
    ----------
    bands : what `band` returned of "frr_group" (or another rate of groups), over model, group and levels.
    scale : "log" or "det", as in `roc`.

    Returns
    -------
    array of matplotlib Axes, one for each model, of a new figure with one legend.

    Raises
    ------
    InputError : a band without models or without groups, and as `roc`.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).rotated_copies()
    >>> faces = mix.sample(per_identity=6)
    >>> scores = fk.score_tensor(fk.stack_models({"A": faces, "B": faces}))
    >>> axes = fk.plot.roc_by_model(fk.band(fk.evaluate(scores, far=[0.05, 0.1, 0.2], by="group"), "frr_group"))
    >>> [ax.get_title(loc="right") for ax in axes]
    ['A', 'B']
    """
    require_returned("bands", bands, *BANDS_OF_MODELS)
    names = bands[MODEL].values
    size = (min(4.2 * len(names), 13.0), 4.2)
    how = dict(sharex=True, sharey=True, squeeze=False, layout="constrained")
    figure, axes = plt.subplots(1, len(names), figsize=size, **how)
    for ax, name in zip(axes[0], names):
        roc(bands.sel({MODEL: name}, drop=True), ax, scale=scale).set_title(
            plain(name), loc="right"
        )
    for ax in axes[0, 1:]:
        ax.set_ylabel("")
        ax.set_title("", loc="left")
    shown = bands.estimate, bands.upper
    axes[0, 0].set_ylim(
        log_floor(*shown), min(1.3 * float(max(part.max() for part in shown)), DET_TOP)
    )
    headline(figure, "", one_legend=True)
    return axes[0]


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
    require_returned("replicates", replicates, *FAN_OF)
    if truth is not None:
        require_returned("truth", truth, *TRUE_CURVE)
    along = level_dimension(replicates)
    require_dims("replicates", replicates.estimate, (along,))
    ax, attrs = new_axes(ax), replicates.attrs
    x, curves = replicates[along].values, replicates.replicates.transpose(REPLICATE, along).values
    floor = log_floor(
        replicates.estimate, replicates.centre, curves.max(axis=0), curves.mean(axis=0) / 2
    )
    lines = [np.column_stack([x, np.maximum(curve, floor)]) for curve in curves]
    ax.add_collection(LineCollection(lines, colors=FAN, linewidths=0.5, zorder=1))
    # in the legend a single thin line would hardly be seen
    ax.plot(
        [],
        [],
        color=FAN,
        linewidth=3,
        label=f"{len(lines)} {attrs.get('method', 'naive')} bootstrap curves",
    )
    empirical, centre = np.maximum(replicates.estimate, floor), np.maximum(replicates.centre, floor)
    ax.plot(x, empirical, color=DARK, linewidth=2, label="empirical curve", zorder=5)
    words = "V-statistic: centre of the naive fan"
    ax.plot(x, centre, "-.", color=NAIVE, linewidth=1.6, label=words, zorder=5)
    draw_truth(ax, truth)
    ax.autoscale_view()
    return finish_levels(
        ax, replicates[along], attrs.get("label", "FRR"), [caption({**attrs, "level": None})], floor
    )


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
    require_returned("comparison", comparison, *COMPARED)
    ax, attrs = new_axes(ax), comparison.attrs
    curves = named_curves("comparison", comparison)
    for (words, curve), colour in zip(curves, curve_colours(words for words, _ in curves)):
        draw_band(ax, curve, (-np.inf, np.inf), colour, plain(words or "paired estimate"))
    ax.axhline(attrs["null"], color="black", linewidth=0.9, linestyle=":", label="no difference")
    sign = "/" if attrs["contrast"] == "ratio" else "\u2212"
    words = (
        caption(attrs)
        .replace(" band, ", " band\n")
        .replace(" band", f" band of the paired {attrs['contrast']}", 1)
    )
    ylabel = f"{attrs['a']} {sign} {attrs['b']}\n{attrs['label']}"
    return finish_levels(ax, comparison[level_dimension(comparison)], ylabel, [words])
