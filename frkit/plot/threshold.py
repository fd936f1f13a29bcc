"""Genuine and impostor scores, the errors that a threshold makes, and its points on ROC curves."""

import math

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from frkit.base import require_inside, require_returned
from frkit.plot.style import (
    BANDS,
    BELOW,
    COLOURS,
    DARK,
    SMALL,
    THEME,
    caption,
    finish,
    log_floor,
    new_axes,
    parts_of,
    plain,
    require_dims,
)

KINDS = {"genuine": COLOURS[2], "impostor": COLOURS[3]}
HISTOGRAMS = ("evaluate(..., histogram=...)", *(f"{kind}_histogram" for kind in KINDS))
AXIS = {False: "score (more alike to the right)", True: "distance (more alike to the left)"}
LEVEL = "threshold_level"
GAP = 0.3  # of a row: for its name and its rates


def genuine_and_impostor(result: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw the histograms of genuine and impostor scores, and the threshold between them.

    Parameters
    ----------
    result : xr.Dataset
        `genuine_histogram` and `impostor_histogram` of `evaluate(..., histogram=...)`, of one
        model; `threshold`, with `lower` and `upper` where it has an interval. attrs["distance"]:
        whether smaller scores mean more alike.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Scores on the horizontal axis, shares on the vertical one. The dark areas are the errors.

    Raises
    ------
    InputError
        Several models or levels at once.

    Examples
    --------
    >>> import frkit as fk
    >>> scores = fk.score_tensor(fk.vmf.mixture(20, 16, seed=0).sample(per_identity=6))
    >>> rates = fk.evaluate(scores, far=[0.1], histogram=50)["empirical"].to_dataset()
    >>> fk.plot.genuine_and_impostor(rates.isel(far_level=0)).get_ylabel()
    'share of the scores of each kind'
    """
    require_returned("result", result, *HISTOGRAMS, "threshold")
    require_dims("result", result, ("score_bin",), "genuine_histogram")
    ax = new_axes(ax)
    shares = {kind: result[f"{kind}_histogram"] for kind in KINDS}
    threshold, distance = float(result.threshold), bool(result.attrs.get("distance"))
    draw_errors(ax, shares, threshold, distance)
    ax.lines[0].set_label(f"threshold {threshold:.3g}")
    if "lower" in result and np.isfinite(result.upper - result.lower):
        ax.axvspan(float(result.lower), float(result.upper), color="black", alpha=0.15, linewidth=0)
    is_filled = sum(shares.values()) > 0
    ax.set_xlim(result.score_bin[is_filled].min(), result.score_bin[is_filled].max())
    ax.set_ylim(bottom=0)
    return finish(ax, AXIS[distance], "share of the scores of each kind", grid="y")


def draw_errors(ax, shares, threshold, distance):
    """Draw two histograms, the threshold, and darker the errors on its wrong sides.

    distance : whether small scores are accepted.
    """
    edges = edges_of(shares["genuine"].score_bin.values)
    wrong = {"genuine": (edges[0], threshold), "impostor": (threshold, edges[-1])}
    if distance:
        wrong = {"genuine": wrong["impostor"], "impostor": wrong["genuine"]}
    areas = {"genuine": "rejected: FRR", "impostor": "accepted: FAR"}
    for kind, colour in KINDS.items():
        heights = shares[kind].values
        ax.stairs(heights, edges, fill=True, color=colour, alpha=0.25, label=f"{kind} scores")
        errors = np.clip(edges, *wrong[kind])
        ax.stairs(heights, errors, fill=True, color=colour, label=f"{kind}, {areas[kind]}")
    ax.axvline(threshold, color="black", linewidth=1.5)


def edges_of(middles):
    """Edges of bins of one width, by their middles."""
    half = (middles[1] - middles[0]) / 2
    return np.append(middles - half, middles[-1] + half)


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
    far, frr = (at_threshold(name, rates, at) for name, rates in (("far", far), ("frr", frr)))
    ax = new_axes(ax)
    groups = far["group"].values if "group" in far.dims else [None]
    suffix = "" if groups[0] is None else "_group"
    shares = {kind: histograms[f"{kind}_histogram{suffix}"].fillna(0) for kind in KINDS}
    rows = rows_of(ax, len(groups))
    for row, group in zip(rows, groups):
        chosen = {} if group is None else {"group": group}
        shares_of_row = {kind: share.sel(chosen) for kind, share in shares.items()}
        draw_errors(row, shares_of_row, far[LEVEL].item(), accepts_below(far[LEVEL]))
        title = f"FAR {rate_in_percent(far.sel(chosen))}    FRR {rate_in_percent(frr.sel(chosen))}"
        row.set_title(title, loc="left", fontsize=SMALL, color=DARK)
        name = "" if group is None else plain(group)
        row.text(0.01, 0.94, name, va="top", weight="bold", transform=row.transAxes)
    _same_scales(rows, shares, float(far[LEVEL]), log)
    rows[-1].set_xlabel("distance" if accepts_below(far[LEVEL]) else "score")
    ax.legend(*rows[-1].get_legend_handles_labels(), fontsize=SMALL, **BELOW)
    return rows[-1]


def at_threshold(name, rates, threshold):
    """The band at the threshold that is nearest to one."""
    require_returned(name, rates, *BANDS[:-1], LEVEL)
    require_inside("at", threshold, -np.inf, np.inf)
    return rates.sel({LEVEL: threshold}, method="nearest")


def accepts_below(levels):
    """Whether thresholds are distances, so that small ones are accepted."""
    return "below" in levels.attrs.get("axis", "")


def rows_of(ax, n_rows):
    """The axes, or several that share their place, the first on top."""
    if n_rows == 1:
        return [ax]
    ax.set_axis_off()
    height = 1 / (n_rows - GAP)  # of a row and the gap above it; that of the first is outside
    feet = 1 - height * (np.arange(1, n_rows + 1) - GAP)
    return [ax.inset_axes((0, foot, 1, height * (1 - GAP))) for foot in feet]


def _same_scales(rows, shares, threshold, log):
    """Give all rows the same ends of the axes, and only the last one an axis of scores."""
    both = xr.concat(shares.values(), "kind").transpose("score_bin", ...)
    heights = both.values.reshape(both.sizes["score_bin"], -1)
    filled = both.score_bin.values[heights.max(axis=1) > 0]
    top = heights.max()
    for row in rows:
        row.set_yscale("log" if log else "linear")
        row.set(ylim=(log_floor(heights), 2 * top) if log else (0, 1.1 * top), ylabel="share")
        row.set_axisbelow(True)
        row.set_xlim(min(filled[0], threshold), max(filled[-1], threshold))
        row.grid(True, color=THEME["grid.color"], linewidth=THEME["grid.linewidth"])
        row.tick_params(labelbottom=row is rows[-1])


def rate_in_percent(rate):
    """A rate with its interval in per cent."""
    numbers = [share_in_percent(rate[name].item()) for name in ("estimate", "lower", "upper")]
    return "{} % [{}, {}]".format(*numbers)


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
    points = [at_threshold(name, rates, at) for name, rates in (("far", far), ("frr", frr))]
    floors = [log_floor(rates.estimate) for rates in (far, frr)]
    ax = new_axes(ax)
    for group, colour, far_of_group in parts_of(far, "group"):
        chosen = {"group": far_of_group["group"]} if group else {}
        x, y = far_of_group.estimate, frr.sel(chosen).estimate
        shown = (x > 0) & (y > 0)
        ax.plot(x.where(shown), y.where(shown), color=colour, label=group or "all")
        (x, x_reach), (y, y_reach) = [
            _place_and_reach(point.sel(chosen), floor) for point, floor in zip(points, floors)
        ]
        dot = {"color": colour, "markeredgecolor": "black", "markersize": 8, "elinewidth": 2}
        ax.errorbar(x, y, y_reach, x_reach, "o", zorder=5, clip_on=False, **dot)
    ax.set(xscale="log", yscale="log", xlim=(floors[0], 1.3), ylim=(floors[1], 1.3))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_locator(NullLocator())
    about = f"threshold {points[0][LEVEL].item():.4g}; {caption(frr.attrs)}"
    return finish(ax, "FAR", "FRR", [about], loc="lower left")


def _place_and_reach(point, floor):
    """An estimate, and how far its interval reaches down and up, cut at the foot of the axes."""
    lower, place, upper = (max(point[end].item(), floor) for end in ("lower", "estimate", "upper"))
    return place, [[place - lower], [upper - place]]
