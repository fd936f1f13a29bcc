"""Figures of fairness: disparities with bands, floors and zones, and groups side by side."""

from collections.abc import Mapping

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm

from frkit.base import require, require_kind
from frkit.figures.marks import curves_with_bands, edge_marks, reference
from frkit.figures.style import (
    UNRESOLVED,
    caption,
    colours_of,
    finish,
    finish_levels,
    levels_of,
    log_floor,
    log_floor_of_bands,
    log_ticks,
    named_curves,
    new_axes,
    plain,
    print_captions,
    require_dims,
    rows_of_both,
    tick_above,
)
from frkit.intervals.rows import ENDS, LIMIT

MOST_BANDS = 4  # of groups
FAR_ABOVE = 10.0  # times what bands reach: a floor beyond that leaves the axes


def fairness(
    bands: xr.Dataset | dict[str, xr.Dataset],
    ax: Axes | None = None,
    *,
    floors: xr.Dataset | dict[str, xr.Dataset] | None = None,
    zones: xr.Dataset | None = None,
) -> Axes:
    """Draw a disparity measure with its bands, the floor of a fair model, and decision zones.

    The dotted line is the value of a perfectly fair model. The dashed line of a curve's colour is
    the limit of its fair floor, by default the 95 % point: an estimate beneath it is no evidence of
    unfairness. Levels
    that are not resolved are dotted, on grey. A band without an upper end ends in a triangle at
    the top.

    Parameters
    ----------
    bands : xr.Dataset or dict of str to xr.Dataset
        What `band` returned of a disparity measure over levels; or several of them by name.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    floors : xr.Dataset or dict of str to xr.Dataset, optional
        What `fair_floor` returned, in the same form as bands.
    zones : xr.Dataset, optional
        What `decision_zones` returned for two models: the zones A, B and C are marked.

    Returns
    -------
    matplotlib.axes.Axes
        Levels on a log axis; the measure on a log axis for ratios, else on a linear one.

    Raises
    ------
    InputError
        No band, or a band that does not run over levels.

    References
    ----------
    Conti & Clémençon (2024), Fig. 4 and Figs. 15-22.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(20, 60), seed=0).rotated_copies()
    >>> options = dict(far=[0.05, 0.1], by="group", resampling=fk.Resampling("image", n=50))
    >>> ev = fk.evaluate(fk.score_tensor(mix.sample(per_identity=6)), **options)
    >>> floor = fk.fair_floor(ev, "frr_max_min")
    >>> ax = fk.plot.fairness(fk.band(ev, "frr_max_min"), floors=floor)
    >>> ax.get_ylabel()
    'ratio of highest to lowest FRR'
    """
    levels, curves = named_curves("bands", bands, "band")
    limits = {} if floors is None else named_curves("floors", floors, "fair_floor")[1]
    require(limits.keys() <= curves.keys(), "floors must have the names and models of the bands")
    ax = new_axes(ax)
    first = next(iter(curves.values()))
    log = first.attrs.get("scale") == "log"
    bottom, top = _extent(curves.values(), limits.values(), log)
    curves_with_bands(ax, curves, (bottom, top), "estimate", log)
    colours = colours_of(curves)
    for name, floor in limits.items():
        nominal = f"{100 * floor.attrs['level']:g} % point of the fair floor"
        label = plain(f"{name}: {nominal}" if name else nominal)
        # a line that ends at infinity would not be drawn: it leaves the axes instead
        limit = floor[LIMIT].clip(upper=FAR_ABOVE * top)
        ax.plot(floor.index, limit, "--", label=label, color=colours[name], zorder=4)
    if "fair" in first.attrs:
        reference(ax, first.attrs["fair"], "perfectly fair", ":")
    if zones is not None:
        require_kind("zones", zones, "decision_zones")
        require_dims("zones", zones.zone, (levels.name,))
        _draw_zones(ax, zones[levels.name].values, zones.zone.values)
    ax.set_ylim(bottom, top)  # before the scale: a log axis asks for positive ends
    if log:
        ax.set_yscale("log")
        log_ticks(ax.yaxis)
    captions = [caption(curve.attrs) for curve in curves.values()]
    return finish_levels(ax, levels, first.attrs.get("label", ""), captions)


def _extent(curves, floors, log):
    """Return the ends of the vertical axis: a little beyond all that can be drawn."""
    values = np.concatenate([curve[name] for curve in curves for name in ENDS])
    highest = np.max(values, initial=0.0, where=np.isfinite(values))
    limits = [floor[LIMIT].where(floor[LIMIT] < FAR_ABOVE * highest) for floor in floors]
    fair = [curve.attrs.get("fair", np.nan) for curve in curves]
    shown = np.concatenate([values, *limits, fair])
    shown = shown[np.isfinite(shown) & ((shown > 0) | (not log))]
    low, high = (shown.min(), shown.max()) if shown.size else (0.5, 2.0)
    if log:
        return max(low, high / 1e4) / 1.3, tick_above(high * 1.05)
    return low - 0.08 * (high - low), high + 0.12 * (high - low)


def _draw_zones(ax, x, letters):
    """Draw dashed lines where the zone changes, and the letter of each zone at its foot."""
    change = np.flatnonzero(letters[1:] != letters[:-1]) + 1
    borders = np.sqrt(x[change - 1] * x[change])
    ends = np.array([x[0], *borders, x[-1]])
    foot = ax.get_xaxis_transform()
    ax.vlines(borders, 0, 1, transform=foot, color=UNRESOLVED, linestyle="--", linewidth=1)
    for letter, middle in zip(letters[[0, *change]], np.sqrt(ends[1:] * ends[:-1])):
        ax.text(middle, 0.02, letter, transform=foot, weight="bold", ha="center")


def group_roc(
    far: xr.Dataset,
    frr: xr.Dataset,
    ax: Axes | None = None,
    *,
    colours: Mapping[str, str] | None = None,
) -> Axes:
    """Draw each group's own ROC curve, and grey lines through the points of one threshold.

    If the groups were alike, all points of a threshold would coincide.

    Parameters
    ----------
    far, frr : xr.Dataset
        Bands of "far_group" and "frr_group" of one model, over levels and group.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    colours : mapping, optional
        The colour of each group, so that several figures show a group in the same one.

    Returns
    -------
    matplotlib.axes.Axes
        On log scales; the bands are those of FRR at the thresholds of the levels. More than four
        groups have no bands, which would hide each other.

    Raises
    ------
    InputError
        Bands that do not run over levels and groups only, or of other rates.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(20, 60), seed=0).rotated_copies()
    >>> options = dict(far=[0.05, 0.1], by="group", resampling=fk.Resampling("image", n=50))
    >>> ev = fk.evaluate(fk.score_tensor(mix.sample(per_identity=6)), **options)
    >>> ax = fk.plot.group_roc(fk.band(ev, "far_group"), fk.band(ev, "frr_group"))
    >>> ax.get_xlabel()
    'FAR of the group (mean over people)'
    """
    rates = rows_of_both(far, frr)
    measures = [far.attrs["measure"], frr.attrs["measure"]]
    needed = ["far_group", "frr_group"]
    require(measures == needed, f"far and frr must be bands of {needed}, got {measures}")
    require_dims("far", far.estimate, (levels_of(far).name, "group"))
    left, floor = log_floor(rates.far.estimate), log_floor_of_bands([rates.frr])
    x, ends = rates.far.estimate.clip(lower=left), rates.frr.clip(lower=floor)
    ax = new_axes(ax)
    of_thresholds = [values.unstack(0, sort=False) for values in (x, ends.estimate)]
    ax.plot(*of_thresholds, color="#BBBBBB", linewidth=0.8, zorder=1)
    groups = far["group"].values
    colours = colours or colours_of(groups)
    has_bands = len(groups) <= MOST_BANDS
    for group, curve in ends.groupby("group", sort=False):
        along = x[curve.index]
        colour = colours[group]
        if has_bands:
            ax.fill_between(along, curve.lower, curve.upper, color=colour, alpha=0.2, linewidth=0)
        ax.plot(along, curve.estimate, "o-", color=colour, markersize=3.5, label=plain(group))
    at_zero = (rates.far.estimate <= 0) | (rates.frr.estimate <= 0)
    label = "a rate of 0: no place on a log axis"
    edge_marks(ax, x[at_zero], ends.estimate[at_zero], "v", label, UNRESOLVED, "white")
    ax.set(xscale="log", yscale="log")
    ax.set_xlim(left=left)
    ax.set_ylim(bottom=floor)
    log_ticks(ax.xaxis, most=10)
    log_ticks(ax.yaxis)
    captions = ["grey: one threshold for all", caption(frr.attrs) if has_bands else ""]
    return finish(ax, far.attrs["label"], frr.attrs["label"], captions)


def cross_matrix(rates: xr.DataArray, ax: Axes | None = None) -> Axes:
    """Draw the FAR between every two groups as a matrix; the diagonal is the groups' own FAR.

    Parameters
    ----------
    rates : xr.DataArray
        `far_cross` of an evaluation at one level and model, over group and reference_group.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Colours are on a log scale, each cell contains its FAR; 0 has the lightest colour.

    Raises
    ------
    InputError
        Rates over other dimensions.

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
    import seaborn as sns

    require_dims("rates", rates, ("group", "reference_group"))
    ax = new_axes(ax)
    table = rates.transpose("group", "reference_group").to_pandas()
    table = table.rename(index=plain, columns=plain)
    style = {"cmap": "Blues", "square": True, "cbar": False, "annot": True, "fmt": ".2g"}
    sns.heatmap(table, ax=ax, norm=LogNorm(clip=True) if table.values.any() else None, **style)
    ax.set(xlabel="reference group", ylabel="group")
    ax.tick_params(axis="y", rotation=0)
    words = "FAR between groups"
    if "far_level" in rates.coords:
        words += f", threshold at FAR {float(rates['far_level']):.3g} of all"
    print_captions(ax, [words])
    return ax
