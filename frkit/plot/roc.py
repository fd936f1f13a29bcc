"""ROC curves with bands, curves of replicates, and paired differences."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from frkit.base import require_one_of, require_returned
from frkit.plot.style import (
    BANDS,
    DARK,
    DET_TOP,
    ENDS,
    LEVELS,
    NAIVE,
    PALE,
    TRUTH_OF,
    caption,
    curve_colours,
    det_axes,
    draw_band,
    draw_truth,
    finish_levels,
    level_dimension,
    log_floor,
    log_floor_of_bands,
    mark_edges,
    named_curves,
    new_axes,
    plain,
    require_dims,
)

CURVES_OF = (
    "frkit.replicate_curves(evaluation)",
    "estimate",
    "replicates",
    "centre",
    *LEVELS,
    "replicate",
)
COMPARED = ("frkit.compare(first, second, measure)", *ENDS, *LEVELS, "contrast")


def roc(
    bands: xr.Dataset | dict[str, xr.Dataset],
    ax: Axes | None = None,
    *,
    curves: dict[str, xr.Dataset] | None = None,
    truth: xr.Dataset | None = None,
    scale: str = "log",
) -> Axes:
    """Draw ROC curves with their bands, one colour for each band, model and group.

    Levels that are not resolved are dotted, on grey. A zero has no place on a log axis: an estimate
    of 0 is a hollow triangle at the foot of the axes, an end of a band at or below 0 a filled one.

    Parameters
    ----------
    bands : xr.Dataset or dict of str to xr.Dataset
        What `band` returned, over far_level; or several of them by name.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    curves : dict of str to xr.Dataset, optional
        Empirical nodes of further evaluations by name, drawn dashed and without a band. Their
        colours begin anew: the models of a second data set have the colours of the first.
    truth : xr.Dataset, optional
        What `Mixture.population_roc` returned, drawn dashed and black.
    scale : {"log", "det"}
        "det": both rates on a probit scale, on which normal scores make a straight line.

    Returns
    -------
    matplotlib.axes.Axes
        With the level, scheme and target of the bands above it.

    Raises
    ------
    InputError
        A band that does not run over FAR levels or thresholds, or an unknown scale.

    References
    ----------
    Conti & Clémençon (2024), Figs. 1 and 3. Martin et al. (1997), The DET curve in assessment of
    detection task performance.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> options = dict(far=[0.05, 0.1, 0.2], resampling=fk.Resampling("image", n=50))
    >>> ax = fk.plot.roc(fk.band(fk.evaluate(fk.score_tensor(faces), **options), "frr"))
    >>> ax.get_xscale()
    'log'
    """
    require_returned("bands", bands, *BANDS)
    require_one_of("scale", scale, ("log", "det"))
    solid = named_curves("bands", bands)
    dashed = {} if curves is None else named_curves("curves", curves, "frr")
    first = next(iter(solid.values()))
    along = level_dimension(first.estimate)
    shown = [curve[name] for curve in solid.values() for name in ("estimate", "upper")]
    shown += [curve.frr for curve in dashed.values()]
    if truth is not None:
        require_returned("truth", truth, *TRUTH_OF)
        shown.append(truth.frr)
    ax = new_axes(ax)
    floor = min(log_floor(*shown), log_floor_of_bands(solid.values()))
    top = np.inf if scale == "log" else DET_TOP
    for (name, curve), colour in zip(solid.items(), curve_colours(solid)):
        draw_band(ax, curve, (floor, top), colour, plain(name or "empirical curve"))
        mark_edges(ax, curve, (floor, top), colour)
    for (name, curve), colour in zip(dashed.items(), curve_colours(dashed)):
        frr = np.maximum(curve.frr, floor)
        ax.plot(curve[along], frr, "--", color=colour, label=plain(name), linewidth=1.4)
    draw_truth(ax, truth)
    captions = [caption(curve.attrs) for curve in solid.values()]
    finish_levels(ax, first[along], first.attrs.get("label", "FRR"), captions, floor)
    if scale == "det":
        det_axes(ax)
    return ax


def replicate_curves(
    replicates: xr.Dataset, ax: Axes | None = None, *, truth: xr.Dataset | None = None
) -> Axes:
    """Draw all replicate curves, the empirical curve, and the V-statistic that they surround.

    Parameters
    ----------
    replicates : xr.Dataset
        What `frkit.replicate_curves` returned, naive or recentered, of one model.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    truth : xr.Dataset, optional
        What `Mixture.population_roc` returned, drawn dashed.

    Returns
    -------
    matplotlib.axes.Axes
        On log scales; replicates at 0 run along the foot of the axes.

    Raises
    ------
    InputError
        An evaluation itself, or several models or groups at once.

    References
    ----------
    Conti & Clémençon (2024), Fig. 2.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> options = dict(far=[0.05, 0.1, 0.2], resampling=fk.Resampling("image", n=50))
    >>> evaluation = fk.evaluate(fk.score_tensor(faces), **options)
    >>> ax = fk.plot.replicate_curves(fk.replicate_curves(evaluation))
    >>> len(ax.collections[0].get_segments())
    50
    """
    require_returned("replicates", replicates, *CURVES_OF)
    along = level_dimension(replicates)
    require_dims("replicates", replicates, (along,), "estimate")
    ax = new_axes(ax)
    x = replicates[along].values
    curves = replicates.replicates.transpose("replicate", along).values
    estimate = replicates.estimate
    centre = replicates.centre
    floor = log_floor(estimate, centre, curves.max(axis=0), curves.mean(axis=0) / 2)
    lines = [np.column_stack([x, np.maximum(curve, floor)]) for curve in curves]
    ax.add_collection(LineCollection(lines, colors=PALE, linewidths=0.5, zorder=1))
    # in the legend a single thin line would hardly be seen
    ax.plot(
        [],
        [],
        color=PALE,
        linewidth=3,
        label=f"{len(lines)} {replicates.attrs.get('method', 'naive')} bootstrap curves",
    )
    ax.plot(
        x, np.maximum(estimate, floor), label="empirical curve", zorder=5, color=DARK, linewidth=2
    )
    ax.plot(
        x,
        np.maximum(centre, floor),
        "-.",
        label="V-statistic: centre of the naive replicates",
        zorder=5,
        color=NAIVE,
        linewidth=1.6,
    )
    draw_truth(ax, truth)
    ax.autoscale_view()
    about = caption({**replicates.attrs, "level": None})
    label = replicates.attrs.get("label", "FRR")
    return finish_levels(ax, replicates[along], label, [about], floor)


def difference(comparison: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw a paired difference (or ratio) with its band and the line of no difference.

    Parameters
    ----------
    comparison : xr.Dataset
        What `compare` returned, over far_level.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        FAR on a log axis, the difference on a linear one.

    Raises
    ------
    InputError
        A comparison that does not run over FAR levels or thresholds.

    References
    ----------
    Conti & Clémençon (2024), section 4 and Fig. 1.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> options = dict(far=[0.05, 0.1, 0.2], resampling=fk.Resampling("image", n=50))
    >>> ev = fk.evaluate(fk.score_tensor(faces), **options)
    >>> ax = fk.plot.difference(fk.compare(ev, ev, "frr"))
    >>> ax.get_yscale()
    'linear'
    """
    require_returned("comparison", comparison, *COMPARED)
    ax = new_axes(ax)
    attrs = comparison.attrs
    curves = named_curves("comparison", comparison)
    for (name, curve), colour in zip(curves.items(), curve_colours(curves)):
        draw_band(ax, curve, (-np.inf, np.inf), colour, plain(name or "paired estimate"))
    ax.axhline(attrs["null"], label="no difference", color="black", linewidth=0.9, linestyle=":")
    about = caption(attrs).replace(" band", f" band of the paired {attrs['contrast']}", 1)
    sign = "/" if attrs["contrast"] == "ratio" else "\u2212"
    contrast = f"{attrs['a']} {sign} {attrs['b']}"
    ylabel = f"{contrast}\n{attrs['label']}"
    levels = comparison[level_dimension(comparison)]
    return finish_levels(ax, levels, ylabel, [about])
