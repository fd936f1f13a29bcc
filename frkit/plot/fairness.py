"""Figures of fairness: disparities with bands, floors and zones, and groups side by side."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.ticker import LogLocator, StrMethodFormatter

from frkit.base import FAR_LEVEL, GROUP, REFERENCE_GROUP, require, require_returned
from frkit.plot.style import (
    BANDS,
    ENDS,
    LEVELS,
    UNRESOLVED,
    caption,
    curve_colours,
    draw_band,
    draw_edge,
    finish,
    finish_levels,
    level_dimension,
    log_floor,
    named_curves,
    new_axes,
    plain,
    print_captions,
    require_dims,
    room,
)

FLOORS = ("frkit.fair_floor(evaluation, measure)", "estimate", "limit", *LEVELS)
ZONES = ("frkit.decision_zones(bands)", "zone", *LEVELS)
GROUPS = ("frkit.band(evaluation, 'far_group')", *ENDS, GROUP, *LEVELS)
FRR_GROUPS = (*GROUPS,)
FAR_ABOVE = 10.0  # times what bands reach: floors up to there have room
CROSSED = ("evaluation['empirical'].far_cross.sel(far_level=...)", GROUP, REFERENCE_GROUP)


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
    A band without an upper end ends in a triangle at the top; a floor that is far above all bands leaves the axes.

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
    >>> ax = fk.plot.fairness(fk.band(ev, "frr_max_min"), floors=fk.fair_floor(ev, "frr_max_min"))
    >>> ax.get_ylabel()
    'largest / smallest group FRR'
    """
    require_returned("bands", bands, *BANDS)
    if floors is not None:
        require_returned("floors", floors, *FLOORS)
    if zones is not None:
        require_returned("zones", zones, *ZONES)
    curves = named_curves("bands", bands)
    limits = {} if floors is None else dict(named_curves("floors", floors, ("estimate", "limit")))
    attrs, along = curves[0][1].attrs, level_dimension(curves[0][1])
    ax, log = new_axes(ax), attrs.get("scale") == "log"
    bottom, top = _extent([curve for _, curve in curves], list(limits.values()), log)
    beyond = (
        FAR_ABOVE * top if log else top + FAR_ABOVE * (top - bottom)
    )  # a line to there leaves the axes
    for (words, curve), colour in zip(curves, curve_colours(words for words, _ in curves)):
        draw_band(ax, curve, (bottom, top), colour, plain(words or "estimate"))
        nothing, zero = (
            curve[along][curve.estimate.isnull()],
            curve[along][(curve.estimate <= 0) & log],
        )
        draw_edge(ax, nothing, bottom, "x", "no value: no errors to compare", color=colour)
        draw_edge(ax, zero, bottom, "v", "estimate 0", color=colour, markerfacecolor="white")
        endless, infinite = (
            curve[along][np.isposinf(curve[name])] for name in ("upper", "estimate")
        )
        draw_edge(ax, endless, top, "^", "no upper end", color=colour)
        draw_edge(
            ax, infinite, top, "^", "estimate is infinite", color=colour, markerfacecolor="white"
        )
        if words in limits:
            named = plain(f"{words}: 95 % of fair floor" if words else "95 % of the fair floor")
            limit = np.minimum(limits[words].limit, beyond)
            ax.plot(curve[along], limit, "--", color=colour, linewidth=1.2, label=named, zorder=4)
    if "fair" in attrs:
        ax.axhline(
            attrs["fair"], color="black", linewidth=0.9, linestyle=":", label="perfectly fair"
        )
    if zones is not None:
        _draw_zones(ax, zones[along].values, zones.zone.values.astype(str))
    ax.set_ylim(bottom, top)  # before the scale: a log axis asks for positive ends
    if log:
        ax.set_yscale("log")
        many = top < 100 * bottom and room(ax)[1] > 20
        ax.yaxis.set_minor_locator(LogLocator(subs=(2, 3, 5) if many else (3,)))
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        ax.yaxis.set_minor_formatter(StrMethodFormatter("{x:g}"))
    captions = [caption(curve.attrs) for _, curve in curves]
    captions += [
        f"floor {floor.attrs['size']}" for floor in limits.values() if "size" in floor.attrs
    ]
    return finish_levels(ax, curves[0][1][along], attrs.get("label", ""), captions)


def _extent(curves: list[xr.Dataset], floors: list[xr.Dataset], log: bool) -> tuple[float, float]:
    """Where ends without a number are cut: a little beyond everything finite (and above 0 on a log axis)."""
    values = np.concatenate(
        [curve[name] for curve in curves for name in ("estimate", "lower", "upper")]
    )
    highest = FAR_ABOVE * np.max(values, initial=0.0, where=np.isfinite(values))
    values = np.concatenate(
        [values, *(floor.limit.values[floor.limit.values < highest] for floor in floors)]
    )
    shown = values[np.isfinite(values) & ((values > 0) | (not log))]
    if shown.size == 0:
        return (0.5, 2.0) if log else (0.0, 1.0)
    low, high = float(shown.min()), float(shown.max())
    if log:
        return max(low, high / 1e4) / 1.3, high * 1.3
    return low - 0.08 * (high - low), high + 0.12 * (high - low)


def _draw_zones(ax: Axes, x: np.ndarray, letters: np.ndarray) -> None:
    """Dashed lines where the zone changes, and the letter of each zone at its foot."""
    change = np.flatnonzero(letters[1:] != letters[:-1]) + 1
    borders = np.sqrt(x[change - 1] * x[change])
    for border in borders:
        ax.axvline(border, color="#666666", linestyle=(0, (5, 4)), linewidth=1)
    middles = np.sqrt(np.r_[x[0], borders] * np.r_[borders, x[-1]])
    style = {
        "transform": ax.get_xaxis_transform(),
        "ha": "center",
        "va": "bottom",
        "weight": "bold",
    }
    for letter, middle in zip(letters[np.r_[0, change]], middles, strict=True):
        ax.text(middle, 0.02, letter, **style)


def group_roc(far: xr.Dataset, frr: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw each group's own ROC curve, and grey lines through the points of one threshold.

    Were the groups alike, all points of a threshold would fall together.

    Parameters
    ----------
    far, frr : bands of "far_group" and "frr_group" of one model, over levels and group (rates in [0, 1]).
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes on log scales; the bands are those of FRR at the thresholds of the levels.

    Raises
    ------
    InputError : bands that do not run over levels and groups only.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(20, 60), seed=0).rotated_copies()
    >>> how = dict(far=[0.05, 0.1], by="group", resampling=fk.Resampling("image", n=50))
    >>> ev = fk.evaluate(fk.score_tensor(mix.sample(per_identity=6)), **how)
    >>> ax = fk.plot.group_roc(fk.band(ev, "far_group"), fk.band(ev, "frr_group"))
    >>> ax.get_xlabel()
    'FAR of the group (share of impostor pairs accepted)'
    """
    require_returned("far", far, *GROUPS)
    require_returned("frr", frr, *FRR_GROUPS)
    along = level_dimension(frr)
    for name, rates in {"far": far, "frr": frr}.items():
        require_dims(name, rates.estimate, (along, GROUP))
        made_of = rates.attrs.get("measure", f"{name}_group")
        require(
            made_of == f"{name}_group",
            f"{name} must be a band of {name}_group, this is one of {made_of}",
        )
    x, y = (rates.estimate.transpose(along, GROUP) for rates in (far, frr))
    same = all(x[dim].equals(y[dim]) for dim in x.dims)
    require(same, "far and frr lie at other levels or groups: take both bands from one evaluation")
    ax, left, floor = new_axes(ax), log_floor(x), log_floor(y)
    at_zero = ((x <= 0) | (y <= 0)).values
    x, y = np.maximum(x, left), np.maximum(y, floor)
    ax.plot(x.values.T, y.values.T, color="#BBBBBB", linewidth=0.8, zorder=1)
    for group, colour in zip(frr[GROUP].values, curve_colours(frr[GROUP].values)):
        place, own = {GROUP: group}, frr.sel({GROUP: group})
        ax.fill_between(
            x.sel(place),
            np.maximum(own.lower, floor),
            own.upper,
            color=colour,
            alpha=0.2,
            linewidth=0,
        )
        ax.plot(x.sel(place), y.sel(place), "o-", color=colour, markersize=3.5, label=plain(group))
    style = {"clip_on": False, "label": "a rate of 0: no place on a log axis", "zorder": 6}
    if at_zero.any():
        ax.plot(
            x.values[at_zero],
            y.values[at_zero],
            "v",
            color=UNRESOLVED,
            markerfacecolor="white",
            **style,
        )
    ax.set_xlim(left=left)
    ax.set_ylim(bottom=floor)
    ax.set(xscale="log", yscale="log")
    labels = far.attrs.get("label", "FAR of the group"), frr.attrs.get("label", "FRR of the group")
    return finish(ax, *labels, ["grey: one threshold for all", caption(frr.attrs)])


def cross_matrix(rates: xr.DataArray, ax: Axes | None = None) -> Axes:
    """Draw the FAR between every two groups as a matrix; the diagonal holds the groups' own FAR.

    Parameters
    ----------
    rates : `far_cross` of an evaluation at one level and model, over group and reference_group, in [0, 1].
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes; colours are on a log scale, each cell holds its FAR; a rate of 0 has the lightest colour.

    Raises
    ------
    InputError : rates over other dimensions.

    References
    ----------
    The cross-demographic matrix of NIST's FRVT part 3 and part 8 (Grother 2022).

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, seed=0, groups={"a": {}, "b": {"cohesion": 9}})
    >>> ev = fk.evaluate(fk.score_tensor(mix.sample(4)), far=[0.1], by="group")
    >>> ax = fk.plot.cross_matrix(ev["empirical"].far_cross.isel(far_level=0))
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['a', 'b']
    """
    require_returned("rates", rates, *CROSSED)
    import seaborn as sns

    require_dims("rates", rates, (GROUP, REFERENCE_GROUP))
    ax, table = new_axes(ax), rates.transpose(GROUP, REFERENCE_GROUP).to_pandas()
    table = table.rename(index=plain, columns=plain)
    positive = table.values[table.values > 0]
    norm = (
        LogNorm(positive.min(), positive.max() * (1 + 1e-9), clip=True) if positive.size else None
    )
    sns.heatmap(
        table,
        annot=True,
        fmt=".2g",
        norm=norm,
        cmap="Blues",
        square=True,
        cbar_kws={"label": "FAR"},
        ax=ax,
    )
    ax.set(xlabel="reference group", ylabel="group")
    ax.tick_params(axis="y", rotation=0)
    level = (
        f", threshold at FAR {float(rates[FAR_LEVEL]):.3g} of all"
        if FAR_LEVEL in rates.coords
        else ""
    )
    print_captions(ax, [f"FAR between groups{level}"])
    return ax
