"""Figures of fairness: disparities with bands, floors and zones, and their uncertainty."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, StrMethodFormatter

from frkit.base import FAR_LEVEL, require
from frkit.plot.style import (
    COLOURS,
    FAR_WORDS,
    SMALL,
    UNRESOLVED,
    caption,
    level_dimension,
    new_axes,
    one_curves,
    plain,
    print_captions,
)

LEVEL_WORDS = {FAR_LEVEL: FAR_WORDS}
FORM_COLOURS = {
    "max_min": COLOURS[1],
    "max_geomean": COLOURS[0],
    "log_geomean": COLOURS[2],
    "gini": COLOURS[3],
    "max_difference": COLOURS[4],
}


def fairness(
    bands: xr.Dataset | dict[str, xr.Dataset],
    ax: Axes | None = None,
    *,
    floors: xr.Dataset | dict[str, xr.Dataset] | None = None,
    zones: xr.Dataset | None = None,
) -> Axes:
    """Draw a disparity measure against FAR with its bands, what a fair model would print, and the zones.

    The dotted line is the value of a perfectly fair model; the dashed line of a curve's colour is the 95 % point
    of its fair floor: an estimate beneath it is no evidence of unfairness. Levels that are not resolved are grey.
    A band without an upper end ends in a triangle at the top.

    Parameters
    ----------
    bands : what `band` returned of a disparity measure over levels; or several by name (models, or metrics).
    ax : matplotlib Axes; a new figure when left out.
    floors : what `floor` returned, in the same form as bands.
    zones : what `decision_zones` returned for the two models: the zones A, B and C are marked.

    Returns
    -------
    matplotlib Axes: levels on a log axis; a log axis for ratios, else a linear one.

    Raises
    ------
    InputError : no band; a band that does not run over levels.

    References
    ----------
    Conti & Clémençon (2024), Fig. 4 and Figs. 15-22.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(20, 60), seed=0).rotated_copies()
    >>> how = dict(far=[0.05, 0.1], by="group", resampling=fk.Resampling("image", n=50))
    >>> ev = fk.evaluate(fk.score_tensor(mix.sample(per_identity=6)), **how)
    >>> ax = fk.plot.fairness(fk.band(ev, "frr_max_min"), floors=fk.floor(ev, "frr_max_min"))
    >>> ax.get_ylabel()
    'largest / smallest group FRR'
    """
    curves, limits = _curves(bands), dict(_curves(floors)) if floors is not None else {}
    require(len(curves) > 0, "there is no band to draw: the mapping of bands is empty")
    first = curves[0][1]
    along = level_dimension(first.estimate)
    ax, log = new_axes(ax), first.attrs.get("scale") == "log"
    bottom, ceiling = _extent([curve for _, curve in curves], log)
    for place, (words, curve) in enumerate(curves):
        colour = COLOURS[place % len(COLOURS)]
        _draw_band(ax, curve, (bottom, ceiling), colour, plain(words or "estimate"), grey_words=place == 0)
        if words in limits:
            named = plain(f"{words}: 95 % of fair floor" if words else "95 % of the fair floor")
            limit = np.clip(limits[words].limit, bottom, ceiling)
            ax.plot(curve[along], limit, "--", color=colour, linewidth=1.2, label=named, zorder=4)
    if "fair" in first.attrs:
        ax.axhline(first.attrs["fair"], color="black", linewidth=0.9, linestyle=":", label="perfectly fair")
    _draw_zones(ax, zones)
    words = [caption(curve.attrs) for _, curve in curves]
    print_captions(ax, words + [f"floor {floor.attrs['size']}" for floor in limits.values() if "size" in floor.attrs])
    return _finish(ax, along, first.attrs, (bottom, ceiling))


def _curves(results: xr.Dataset | dict[str, xr.Dataset]) -> list[tuple[str, xr.Dataset]]:
    """Single curves with the words of their legend entries."""
    named = results if isinstance(results, dict) else {"": results}
    return [
        (", ".join(part for part in (name, words) if part), curve)
        for name, result in named.items()
        for words, curve in one_curves(result, "estimate")
    ]


def _extent(curves: list[xr.Dataset], log: bool) -> tuple[float, float]:
    """Where ends without a number are cut: a little beyond everything finite (and above 0 on a log axis)."""
    names = [name for name in ("estimate", "lower", "upper") if name in curves[0]]
    values = np.concatenate([curve[name].values.ravel() for curve in curves for name in names])
    shown = values[np.isfinite(values) & ((values > 0) | (not log))]
    if shown.size == 0:
        return (0.5, 2.0) if log else (0.0, 1.0)
    low, high = float(shown.min()), float(shown.max())
    if log:
        return max(low, high / 1e4) / 1.3, high * 1.3
    return low - 0.08 * (high - low), high + 0.12 * (high - low)


def _draw_band(
    ax: Axes, curve: xr.Dataset, extent: tuple[float, float], colour: str, label: str, *, grey_words: bool
) -> None:
    """One curve with its band, grey where not resolved, with triangles where there is no upper end."""
    x = curve[level_dimension(curve.estimate)].values
    lower, upper = (np.clip(curve[name].values, *extent) for name in ("lower", "upper"))
    estimate = np.where(np.isfinite(curve.estimate), curve.estimate, np.nan)
    resolved = curve.resolved.values if "resolved" in curve else np.ones(x.size, bool)
    beside = ~resolved | np.r_[False, ~resolved[:-1]] | np.r_[~resolved[1:], False]
    words = "not resolved: fewer than 10 errors" if grey_words and not resolved.all() else None
    for where, shade, name in ((beside, UNRESOLVED, words), (resolved, colour, label)):
        ax.fill_between(x, lower, upper, where=where, color=shade, alpha=0.22, linewidth=0, zorder=2)
        ax.plot(x, np.where(where, estimate, np.nan), color=shade, linewidth=1.8, label=name, zorder=3)
    style = {"linestyle": "none", "marker": "^", "color": colour, "clip_on": False}
    for ends, face, name in (("upper", colour, "no upper end"), ("estimate", "white", "estimate is infinite")):
        at = x[np.isposinf(curve[ends].values)]
        if at.size:
            top = np.full(at.size, extent[1])
            ax.plot(at, top, **style, markerfacecolor=face, label=name)


def _draw_zones(ax: Axes, zones: xr.Dataset | None) -> None:
    """Dashed lines where the zone changes, and the letter of each zone at the top."""
    if zones is None:
        return
    x, letters = zones[level_dimension(zones.zone)].values, zones.zone.values.astype(str)
    change = np.flatnonzero(letters[1:] != letters[:-1]) + 1
    borders = np.sqrt(x[change - 1] * x[change])
    for border in borders:
        ax.axvline(border, color="#666666", linestyle=(0, (5, 4)), linewidth=1)
    begin, end = np.r_[x[0], borders], np.r_[borders, x[-1]]
    style = {"transform": ax.get_xaxis_transform(), "ha": "center", "va": "bottom", "weight": "bold"}
    for letter, left, right in zip(letters[np.r_[0, change]], begin, end, strict=True):
        ax.text(np.sqrt(left * right), 0.02, letter, **style)


def _finish(ax: Axes, along: str, attrs: dict, extent: tuple[float, float]) -> Axes:
    """Scales, labels, grid and legend."""
    ax.set_xscale("log" if along == FAR_LEVEL else "linear")
    if attrs.get("scale") == "log":
        ax.set_yscale("log")
        ax.yaxis.set_minor_locator(LogLocator(subs=(2, 3, 5) if extent[1] < 100 * extent[0] else (3,)))
        for which in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
            which(StrMethodFormatter("{x:g}"))
    ax.set_ylim(*extent)
    ax.set_xlabel(LEVEL_WORDS.get(along, "score threshold (accept above)"))
    ax.set_ylabel(plain(attrs.get("label", "")))
    ax.grid(True, color="#E5E5E5", linewidth=0.6)
    ax.set_axisbelow(True)
    handles, labels = ax.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    ax.legend(once.values(), once.keys(), fontsize=SMALL, frameon=False)
    return ax


def uncertainties(values: dict[str, xr.DataArray], ax: Axes | None = None) -> Axes:
    """Draw the normalised uncertainty of several metrics: FAR metrics solid, FRR metrics dashed.

    Parameters
    ----------
    values : what `uncertainty` returned (sd / estimate, no unit), of one model each, by the name of the metric.
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes on log scales.

    Raises
    ------
    InputError : no metric, or one that runs over more than the levels.

    References
    ----------
    Conti & Clémençon (2024), Fig. 5 and Figs. 10-14.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(20, 60), seed=0).rotated_copies()
    >>> how = dict(far=[0.05, 0.1], by="group", resampling=fk.Resampling("image", n=50))
    >>> ev = fk.evaluate(fk.score_tensor(mix.sample(per_identity=6)), **how)
    >>> names = ["far_gini", "frr_gini"]
    >>> ax = fk.plot.uncertainties({name: fk.uncertainty(ev, name) for name in names})
    >>> [line.get_linestyle() for line in ax.lines]
    ['-', '--']
    """
    require(len(values) > 0, "there is no metric to draw")
    ax = new_axes(ax)
    for name, value in values.items():
        along = level_dimension(value)
        extra = [str(dim) for dim in value.dims if dim != along]
        require(not extra, f"{name} runs over {', '.join(extra)} too: select one with .sel")
        rate, _, form = name.partition("_")
        style = {"linestyle": "--" if rate == "frr" else "-", "color": FORM_COLOURS.get(form, COLOURS[6])}
        ax.plot(value[along], value, label=plain(name.replace("_", " ").replace(rate, rate.upper(), 1)), **style)
    ax.set_xscale("log" if along == FAR_LEVEL else "linear")
    ax.set_yscale("log")
    ax.set_xlabel(LEVEL_WORDS.get(along, "score threshold (accept above)"))
    ax.set_ylabel("normalised uncertainty (sd / estimate)")
    ax.grid(True, which="major", color="#E5E5E5", linewidth=0.6)
    print_captions(ax, [caption(value.attrs) for value in values.values()])
    ax.legend(fontsize=SMALL, frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.17))
    return ax
