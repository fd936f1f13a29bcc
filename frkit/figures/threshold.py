"""Genuine and impostor scores, the errors that a threshold makes, and its points on ROC curves."""

import math

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from frkit.base import require, require_inside, require_returned
from frkit.figures.marks import histogram
from frkit.figures.style import (
    BELOW,
    COLOURS,
    caption,
    colours_of,
    finish,
    log_floor,
    new_axes,
    plain,
    rows_of_both,
)
from frkit.intervals.rows import ENDS

KINDS = {"genuine": COLOURS[2], "impostor": COLOURS[3]}
HISTOGRAMS = ("evaluate(..., histogram=...)", *(f"{kind}_histogram" for kind in KINDS))
AXIS = {False: "score (more alike to the right)", True: "distance (more alike to the left)"}
LEVEL = "threshold_level"
GAP = 0.3  # of a row: for its name and its rates


def genuine_and_impostor(result: xr.Dataset, ax: Axes) -> Axes:
    """Draw the histograms of genuine and impostor scores, and the threshold between them.

    Parameters
    ----------
    result : xr.Dataset
        `genuine_histogram` and `impostor_histogram` of `evaluate(..., histogram=...)`, of one
        model; `threshold`, with `lower` and `upper` where it has an interval. attrs["distance"]:
        whether smaller scores mean more alike.
    ax : matplotlib.axes.Axes
        Where it is drawn.

    Returns
    -------
    matplotlib.axes.Axes
        Scores on the horizontal axis, shares on the vertical one. The dark areas are the errors.

    Examples
    --------
    >>> import frkit as fk
    >>> from matplotlib.figure import Figure
    >>> scores = fk.score_tensor(fk.vmf.mixture(20, 16, seed=0).sample(per_identity=6))
    >>> rates = fk.evaluate(scores, far=[0.1], histogram=50)["empirical"].to_dataset()
    >>> genuine_and_impostor(rates.isel(far_level=0), Figure().add_subplot()).get_ylabel()
    'share of the scores of each kind'
    """
    shares = _shares_of(result)
    threshold, distance = float(result.threshold), bool(result.attrs.get("distance"))
    draw_errors(ax, shares, threshold, distance, f"threshold {threshold:.3g}")
    if "lower" in result and np.isfinite(result.upper - result.lower):
        ax.axvspan(result.lower.item(), result.upper.item(), color="black", alpha=0.15, linewidth=0)
    ax.set_xlim(*_ends_of(shares))
    ax.set_ylim(bottom=0)
    return finish(ax, AXIS[distance], "share of the scores of each kind", grid="y")


def _shares_of(histograms, suffix=""):
    """Return the histograms of both kinds of scores."""
    kinds = {kind: histograms[f"{kind}_histogram{suffix}"] for kind in KINDS}
    return xr.Dataset(kinds).fillna(0)


def _ends_of(shares):
    """Return the middles of the first and the last bin that contains scores."""
    filled = shares.where(shares > 0).dropna("score_bin", how="all").score_bin.values
    return filled[0], filled[-1]


def draw_errors(ax, shares, threshold, distance, label=None):
    """Draw two histograms, the threshold, and darker the errors on its wrong sides.

    distance : whether small scores are accepted.
    """
    middles = shares.score_bin.values
    half = (middles[1] - middles[0]) / 2
    edges = np.append(middles - half, middles[-1] + half)
    sides = [(edges[0], threshold), (threshold, edges[-1])]
    wrong = dict(zip(KINDS, reversed(sides) if distance else sides))
    areas = {"genuine": "rejected: FRR", "impostor": "accepted: FAR"}
    for kind, colour in KINDS.items():
        heights = shares[kind].values
        histogram(ax, heights, edges, colour, f"{kind} scores", alpha=0.25)
        histogram(ax, heights, np.clip(edges, *wrong[kind]), colour, f"{kind}, {areas[kind]}")
    ax.axvline(threshold, color="black", label=label)


def threshold(
    histograms: xr.Dataset | xr.DataTree,
    far: xr.Dataset,
    frr: xr.Dataset,
    at: float,
    ax: Axes | None = None,
    *,
    log: bool = False,
) -> Axes:
    """Draw genuine and impostor scores, a threshold, and the errors that it makes.

    Genuine scores on the side that is rejected and impostor scores on the other one are dark: these
    areas are FRR and FAR.

    Parameters
    ----------
    histograms : xr.Dataset or xr.DataTree
        The node "empirical" of `evaluate(..., threshold=..., histogram=...)`, of one model.
    far, frr : xr.Dataset
        Bands of "far" and "frr" over thresholds, or of "far_group" and "frr_group": then each group
        has a row.
    at : float
        The threshold; the nearest one of the bands is shown.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    log : bool
        Whether shares are drawn on a log axis, on which a small FAR can be seen.

    Returns
    -------
    matplotlib.axes.Axes
        With both rates and their intervals above each row.

    Raises
    ------
    InputError
        Bands without thresholds, or histograms that are not there.

    Examples
    --------
    >>> import frkit as fk
    >>> scores = fk.score_tensor(fk.vmf.mixture(20, 16, seed=0).sample(per_identity=6))
    >>> ev = fk.evaluate(scores, threshold=[0.4, 0.5], histogram=50)
    >>> bands = fk.band(ev, "far"), fk.band(ev, "frr")
    >>> fk.plot.threshold(ev["empirical"], *bands, at=0.5).get_xlabel()
    'score'
    """
    require_returned("histograms", histograms, *HISTOGRAMS)
    level, rates = rates_at_thresholds(far, frr, at)
    distance = "below" in far[LEVEL].attrs.get("axis", "")
    has_groups = "group" in far.dims
    shares = _shares_of(histograms, "_group" if has_groups else "")
    heights = shares.to_array().values
    ends = (log_floor(heights), 2 * heights.max()) if log else (0, 1.1 * heights.max())
    first, last = _ends_of(shares)
    ax = new_axes(ax)
    all_axes = axes_in_rows(ax, far.sizes["group"]) if has_groups else [ax]
    for row, (group, of_group) in zip(all_axes, rates.loc[level].iterrows()):
        part = shares.sel(group=group) if has_groups else shares
        draw_errors(row, part, level, distance)
        words = [f"{rate.upper()} {rate_in_percent(of_group[rate])}" for rate in ("far", "frr")]
        finish(row, "", "share", ["    ".join(words)])
        row.get_legend().remove()
        row.set(yscale="log" if log else "linear", ylim=ends)
        row.set_xlim(min(first, level), max(last, level))
        row.text(0.01, 0.94, plain(group), va="top", weight="bold", transform=row.transAxes)
        row.tick_params(labelbottom=row is all_axes[-1])
    row.set_xlabel("distance" if distance else "score")
    ax.legend(*row.get_legend_handles_labels(), **BELOW)
    return row


def rates_at_thresholds(far, frr, threshold):
    """The threshold of two bands that is nearest to one, and the rows of both rates."""
    rates = rows_of_both(far, frr)
    require(LEVEL in far.dims, "far must run over thresholds: evaluate(..., threshold=...)")
    require_inside("at", threshold, -np.inf, np.inf)
    return far[LEVEL].sel({LEVEL: threshold}, method="nearest").item(), rates


def axes_in_rows(ax, n_rows):
    """Several axes that share the place of one, the first on top."""
    ax.set_axis_off()
    height = (1 - GAP) / n_rows
    return [ax.inset_axes((0, 1 - (row + 1) / n_rows, 1, height)) for row in range(n_rows)]


def rate_in_percent(rate):
    """A rate with its interval in per cent."""
    estimate, lower, upper = map(share_in_percent, rate[[*ENDS]])
    return f"{estimate} % [{lower}, {upper}]"


def share_in_percent(share):
    """A share in per cent with three digits, four if it is nearly 100; "–" if missing."""
    digits = 4 if share > 0.99 else 3
    return "–" if math.isnan(share) else f"{100 * share:.{digits}g}"


def points_on_roc(far: xr.Dataset, frr: xr.Dataset, at: float, ax: Axes | None = None) -> Axes:
    """Draw ROC curves and the points that one threshold has on them, with both intervals.

    Parameters
    ----------
    far, frr : xr.Dataset
        Bands of "far" and "frr" over thresholds, or of "far_group" and "frr_group".
    at : float
        The threshold; the nearest one of the bands is shown.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        On log scales; a rate of 0 lies at the edge.

    Raises
    ------
    InputError
        Bands without thresholds.

    Examples
    --------
    >>> import frkit as fk
    >>> scores = fk.score_tensor(fk.vmf.mixture(20, 16, seed=0).sample(per_identity=6))
    >>> ev = fk.evaluate(scores, threshold=[0.4, 0.5, 0.6])
    >>> fk.plot.points_on_roc(fk.band(ev, "far"), fk.band(ev, "frr"), at=0.5).get_xscale()
    'log'
    """
    level, rates = rates_at_thresholds(far, frr, at)
    left, bottom = [log_floor(rates[rate].estimate) for rate in ("far", "frr")]
    ax = new_axes(ax)
    for group, colour in colours_of(rates.index.unique("group")).items():
        curve = rates.xs(group, level="group")
        estimates = curve.xs("estimate", axis=1, level=1)
        shown = estimates.where((estimates > 0).all(axis=1))
        ax.plot(shown.far, shown.frr, color=colour, label=plain(group) or "all")
        point = curve.loc[level]
        x, y = point.far.clip(lower=left), point.frr.clip(lower=bottom)
        style = {"color": colour, "linewidth": 2, "clip_on": False, "zorder": 5}
        ax.hlines(y.estimate, x.lower, x.upper, **style)
        ax.vlines(x.estimate, y.lower, y.upper, **style)
        ax.plot(x.estimate, y.estimate, "o", markeredgecolor="black", markersize=8, **style)
    ax.set(xscale="log", yscale="log", xlim=(left, 1.3), ylim=(bottom, 1.3))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_locator(NullLocator())
    about = f"threshold {level:.4g}; {caption(frr.attrs)}"
    return finish(ax, "FAR", "FRR", [about], loc="lower left")
