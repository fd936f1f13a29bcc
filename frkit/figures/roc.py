"""ROC curves with bands, curves of replicates, and paired differences."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from frkit.base import require, require_one_of
from frkit.figures.marks import (
    checked_axes,
    curve_with_band,
    curves_with_bands,
    reference,
    truth_curve,
)
from frkit.figures.style import (
    DARK,
    DET_TOP,
    NAIVE,
    PALE,
    caption,
    colours_of,
    det_axes,
    finish_levels,
    levels_of,
    log_floor,
    log_floor_of_bands,
    named_curves,
    new_axes,
    plain,
)


def roc(
    bands: xr.Dataset | dict[str, xr.Dataset],
    ax: Axes | None = None,
    *,
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
    require_one_of("scale", scale, ("log", "det"))
    levels, curves = named_curves("bands", bands, "band", "compare")
    first = next(iter(curves.values()))
    advice = "bands contains a difference of fk.compare: plot.difference draws it"
    require(first.attrs["kind"] == "band", advice)
    ax = new_axes(ax)
    truth_curve(ax, truth)
    floor = log_floor_of_bands(curves.values())
    if truth is not None:
        floor = min(floor, log_floor(truth.frr))
    top = np.inf if scale == "log" else DET_TOP
    curves_with_bands(ax, curves, (floor, top), "empirical curve")
    captions = [caption(curve.attrs) for curve in curves.values()]
    finish_levels(ax, levels, first.attrs.get("label", "FRR"), captions, floor)
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
    x = levels_of(replicates)
    ax = checked_axes(ax, "replicates", replicates, "replicate_curves", "estimate", x.dims)
    curves = replicates.replicates.transpose("replicate", x.name).values
    estimate, centre = replicates.estimate, replicates.centre
    floor = log_floor(estimate, centre, curves.max(axis=0), curves.mean(axis=0) / 2)
    lines = [np.column_stack([x, np.maximum(curve, floor)]) for curve in curves]
    ax.add_collection(LineCollection(lines, colors=PALE, linewidths=0.5, zorder=1))
    # in the legend a single thin line would hardly be seen
    label = f"{len(lines)} {replicates.attrs.get('method', 'naive')} bootstrap curves"
    ax.plot([], [], color=PALE, linewidth=3, label=label)
    ax.plot(x, np.maximum(estimate, floor), color=DARK, label="empirical curve", zorder=5)
    label = "V-statistic: centre of the naive replicates"
    ax.plot(x, np.maximum(centre, floor), "-.", color=NAIVE, label=label, zorder=5)
    truth_curve(ax, truth)
    ax.autoscale_view()
    about = caption({**replicates.attrs, "level": None})
    label = replicates.attrs.get("label", "FRR")
    return finish_levels(ax, x, label, [about], floor)


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
    levels, curves = named_curves("comparison", comparison, "compare")
    ax = new_axes(ax)
    attrs = comparison.attrs
    for name, colour in colours_of(curves).items():
        label = plain(name or "paired estimate")
        curve_with_band(ax, curves[name], (-np.inf, np.inf), colour, label)
    reference(ax, attrs["null"], "no difference", ":")
    about = caption(attrs).replace(" band", f" band of the paired {attrs['contrast']}", 1)
    sign = "/" if attrs["contrast"] == "ratio" else "\u2212"
    first, second = (attrs.get(name, name.upper()) for name in "ab")  # several have their names
    ylabel = f"{first} {sign} {second}\n{attrs['label']}"
    return finish_levels(ax, levels, ylabel, [about])
