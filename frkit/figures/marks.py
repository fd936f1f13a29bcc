"""The marks that figures are made of: bands of curves, intervals, reference lines, histograms."""

import numpy as np
import pandas as pd

from frkit.base import require_kind, require_returned
from frkit.figures.style import (
    AT_EDGES,
    FEW_ERRORS,
    TRUTH,
    TRUTH_WORDS,
    UNRESOLVED,
    colours_of,
    levels_of,
    new_axes,
    plain,
    require_dims,
)
from frkit.intervals.rows import ENDS


def checked_axes(ax, name, result, kind, variable, dims):
    """Check that a figure can show a variable of a result, and return axes to draw it on."""
    require_kind(name, result, kind)
    require_dims(name, result[variable], dims)
    return new_axes(ax)


def intervals(ax, x, lower, upper, colour, label=None, estimate=None, marker="o"):
    """Draw vertical intervals, with a mark at each estimate."""
    ax.vlines(x, lower, upper, color=colour, linewidth=3, alpha=0.6, label=label)
    if estimate is not None:
        ax.plot(x, estimate, marker, color=colour)


def reference(ax, value, label, line="--"):
    """Draw a black horizontal line at a true, fair or nominal value."""
    ax.axhline(value, label=label, color=TRUTH, linestyle=line, linewidth=1.2)


def histogram(ax, heights, edges, colour, label=None, alpha=None, foot=0):
    """Draw bars that touch, upwards from a foot, as one area."""
    ax.stairs(
        foot + heights, edges, baseline=foot, fill=True, color=colour, alpha=alpha, label=label
    )


def truth_curve(ax, truth):
    """Draw the exact curve of a population, if there is one, dashed and black."""
    if truth is not None:
        require_returned("truth", truth, "mixture.population_roc(far)", "frr")
        ax.plot(levels_of(truth.frr), truth.frr, "--", label=TRUTH_WORDS, color=TRUTH, zorder=4)


def curves_with_bands(ax, curves, extent, unnamed, log=True):
    """Draw named curves with their bands, and mark at the edges what lies outside the extent."""
    for name, colour in colours_of(curves).items():
        curve_with_band(ax, curves[name], extent, colour, plain(name or unnamed))
        mark_edges(ax, curves[name], extent, colour, log)


def curve_with_band(ax, curve, extent, colour, label):
    """Draw one curve with its band, cut at the extent: dotted and grey where not resolved."""
    x = curve.index
    ends = curve[[*ENDS]].clip(*extent)
    estimate = ends.estimate.mask(np.isinf(curve.estimate))
    resolved = curve.get("resolved", pd.Series(True, x))
    if x.size == 1:  # one level has no line, and its band no area
        shade, words = (colour, label) if resolved.all() else (UNRESOLVED, FEW_ERRORS)
        intervals(ax, x, ends.lower, ends.upper, shade, words, estimate)
        return
    # the dotted line reaches the first resolved level to either side, so that no gap is left
    dotted = np.convolve(~resolved, np.ones(3))[1:-1] > 0
    band = {"y1": ends.lower, "y2": ends.upper, "alpha": 0.22, "linewidth": 0}
    ax.plot(x, estimate.where(resolved), color=colour, label=label, zorder=3)
    ax.fill_between(x, where=resolved, color=colour, **band)
    if dotted.any():
        ax.plot(x, estimate.where(dotted), ":", color=colour, zorder=3)
        ax.fill_between(x, where=dotted, color=UNRESOLVED, label=FEW_ERRORS, **band)


def edge_marks(ax, x, height, marker, label, colour, fill=None):
    """Draw marks at the edge of the axes for what has no place inside."""
    if x.size:
        height = np.broadcast_to(height, x.shape)
        style = {"color": colour, "markerfacecolor": fill or colour, "clip_on": False}
        ax.plot(x, height, marker, label=label, zorder=6, **style)


def mark_edges(ax, curve, extent, colour, log):
    """Mark at the ends of the vertical axis what has no place on it: no value, 0, and infinity."""
    bottom, top = extent
    estimate = curve.estimate
    is_zero = log & (estimate <= 0)
    reaches_zero = log & (curve.lower <= 0) & ~is_zero
    marks = [
        (estimate.isna(), bottom, "x", None),
        (is_zero, bottom, "v", "white"),
        (reaches_zero, bottom, "v", None),
        (np.isposinf(curve.upper), top, "^", None),
        (np.isposinf(estimate), top, "^", "white"),
    ]
    for label, (where, height, marker, fill) in zip(AT_EDGES, marks):
        edge_marks(ax, curve.index[where], height, marker, label, colour, fill)
