"""Figures of intervals of one data set after the other: a stack, and the share of hits."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from frkit.base import require_returned
from frkit.plot.style import (
    BELOW,
    DARK,
    NAIVE,
    TRUTH,
    finish,
    new_axes,
    parts_of,
    plain,
    require_dims,
)

DATA_SET = "data_set"
SHOWN = 40  # data sets at a time
MAKER = "data/make_one_by_one_intervals.py"
STUDY = (MAKER, "lower", "upper", "estimate", "truth", DATA_SET, "interval")


def interval_stack(study: xr.Dataset, number: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw the intervals of the first data sets, by method: those that miss the truth are orange.

    Parameters
    ----------
    study : xr.Dataset
        What `data/make_one_by_one_intervals.py` makes, at one FAR level and nominal level, for one
        truth.
    number : int, optional
        Number of data sets, of which the last 40 are shown; by default all.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Intervals along, a column for each method, with its number of hits beneath it.

    Raises
    ------
    InputError
        For several levels or truths.

    References
    ----------
    Conti & Clémençon (2024), appendix B.1.

    Examples
    --------
    >>> import frkit as fk, xarray as xr
    >>> study = xr.load_dataset(fk.demo_file("one_by_one_intervals.nc"), engine="h5netcdf")
    >>> study = study.isel(far_level=0)
    >>> ax = fk.plot.interval_stack(study.sel(people="new people", level=0.95))
    >>> ax.get_xticklabels()[0].get_text()[:5]
    'naive'
    """
    hit = hits(study).isel({DATA_SET: slice(number)})
    ax = new_axes(ax)
    ends = study[["lower", "upper", "estimate"]] - study.truth
    left, right = float(ends.lower.min()), float(ends.upper.max())
    last = hit.sizes[DATA_SET]
    first = max(0, last - SHOWN)
    labels = []
    places = 1.05 * (right - left) * np.arange(study.sizes["interval"])  # of the truth
    for place, name in zip(places, study["interval"].values):
        ends_of_method = ends.sel(interval=name).isel({DATA_SET: slice(first, last)}) + place
        hit_of_method = hit.sel(interval=name).values
        _draw_stack(ax, ends_of_method, hit_of_method[first:], first)
        ax.axvline(place, color=TRUTH, linestyle="--", linewidth=1)
        labels.append(f"{plain(name)}\n{hit_of_method.sum()} of {last}".replace(", ", ",\n"))
    ax.set_xticks(places, labels)
    ax.set(xlim=(left, places[-1] + right), ylim=(first, first + SHOWN + 1))
    captions = [f"dashed: the true FRR; columns are {right - left:.2g} wide"]
    return finish(ax, "", "data set", captions, grid="y", **BELOW | {"bbox_to_anchor": (0.5, -0.2)})


def hits(study):
    """Whether each interval contains the truth, over (data_set, interval)."""
    require_returned("study", study, *STUDY)
    inside = (study.lower <= study.truth) & (study.truth <= study.upper)
    require_dims("study", inside, (DATA_SET, "interval"))
    return inside.transpose(DATA_SET, "interval")


def _draw_stack(ax, ends, hit, first):
    """A line for each interval, the last one thick, and its estimate."""
    height = first + np.arange(1, len(hit) + 1)
    widths = np.where(height == height[-1], 4.0, 1.6)
    for is_hit, colour, label in ((True, DARK, "hit"), (False, NAIVE, "miss")):
        drawn = hit == is_hit
        ax.hlines(
            height[drawn],
            ends.lower.values[drawn],
            ends.upper.values[drawn],
            color=colour,
            linewidth=widths[drawn],
        )
        ax.plot([], [], color=colour, linewidth=3, label=label)
    ax.plot(ends.estimate, height, ".", color="black", markersize=3)


def running_hits(study: xr.Dataset, number: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw the share of intervals that contain the truth as data sets come in, by method.

    Parameters
    ----------
    study, number, ax
        As in `interval_stack`.

    Returns
    -------
    matplotlib.axes.Axes
        A line for each method. Dashed: the nominal level, with two standard errors of a share of so
        many data sets shaded.

    Raises
    ------
    InputError
        For several levels or truths.

    Examples
    --------
    >>> import frkit as fk, xarray as xr
    >>> study = xr.load_dataset(fk.demo_file("one_by_one_intervals.nc"), engine="h5netcdf")
    >>> study = study.isel(far_level=0)
    >>> ax = fk.plot.running_hits(study.sel(people="new people", level=0.95))
    >>> ax.get_xlabel()
    'data sets'
    """
    hit = hits(study)
    ax = new_axes(ax)
    n = np.arange(1, hit.sizes[DATA_SET] + 1)
    level = study["level"].item()
    noise = 2 * np.sqrt(level * (1 - level) / n)
    ax.fill_between(n, level - noise, np.minimum(level + noise, 1), color="#DDDDDD", linewidth=0)
    ax.axhline(level, color=TRUTH, linestyle="--", linewidth=1, label=f"nominal {level:g}")
    shares = (hit.cumsum(DATA_SET) / xr.DataArray(n, dims=DATA_SET)).isel({DATA_SET: slice(number)})
    for name, colour, share in parts_of(shares, "interval"):
        last = len(share)
        label = f"{name}: {share.values[-1]:.2f}"
        ax.plot(n[:last], share, color=colour, linewidth=1.8, label=label)
        ax.plot(last, share.values[-1], "o", color=colour)
    ax.set(xlim=(1, n[-1]), ylim=(0, 1.03))
    truth = f"truth: the FRR of {study['people'].item()}"
    return finish(ax, "data sets", "share of hits", [truth], **BELOW)
