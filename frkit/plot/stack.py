"""Figures of intervals of one data set after the other: a stack, and the share of hits."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from frkit.base import require_returned
from frkit.plot.style import (
    BELOW,
    DARK,
    NAIVE,
    SMALL,
    TRUTH,
    curve_colours,
    finish,
    new_axes,
    plain,
    require_dims,
)

DATA_SET = "data_set"
SHOWN = 40  # data sets at a time
STUDY = ("studies.intervals(law)", "lower", "upper", "estimate", "truth", DATA_SET, "interval")


def interval_stack(study: xr.Dataset, number: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw the intervals of the first data sets, by method: those that miss the truth are orange.

    Parameters
    ----------
    study : xr.Dataset
        What `studies.intervals` returned, at one FAR level and nominal level, for one truth.
    number : int, optional
        So many data sets; the last 40 of them are shown. By default all.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Intervals minus the truth along; a column for each method, with the number of hits.

    Raises
    ------
    InputError
        For several levels or truths.

    References
    ----------
    Conti & Clémençon (2024), appendix B.1.

    Examples
    --------
    >>> import frkit as fk
    >>> law = fk.vmf.IdentityLaw(16, kappa=(10, 40))
    >>> how = dict(far=[0.1], n_datasets=3, replicates=20, progress=False)
    >>> study = fk.studies.intervals(law, 20, **how).isel(far_level=0)
    >>> ax = fk.plot.interval_stack(study.sel(people="new people", level=0.95))
    >>> len(ax.child_axes)
    4
    """
    hit = hits(study).isel({DATA_SET: slice(number)})
    ax = new_axes(ax)
    ax.set_axis_off()
    width = 1 / study.sizes["interval"]
    ends = study[["lower", "upper", "estimate"]] - study.truth
    far_ends = float(ends.lower.min()), float(ends.upper.max())
    last = hit.sizes[DATA_SET]
    first = max(0, last - SHOWN)
    for column, name in enumerate(study["interval"].values):
        place = ax.inset_axes((column * width, 0, 0.92 * width, 1))
        of_method = ends.sel(interval=name).isel({DATA_SET: slice(first, last)})
        hit_of_method = hit.sel(interval=name)
        _draw_stack(place, of_method, hit_of_method.values[first:], first)
        words = f"{plain(name)}".replace(", ", ",\n")
        share = f"{int(hit_of_method.sum())} of {last}"
        place.set_title(f"{words}\n{share}", fontsize=SMALL, loc="left")
        place.set(xlim=far_ends, ylim=(first, first + SHOWN + 1))
        place.tick_params(labelleft=column == 0)
    first_column = ax.child_axes[0]
    first_column.set_ylabel("data set")
    handles, labels = first_column.get_legend_handles_labels()
    ax.legend(handles, labels, title="ends of the interval − true FRR", fontsize=SMALL, **BELOW)
    return ax


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
    for is_hit, colour, words in ((True, DARK, "hit"), (False, NAIVE, "miss")):
        drawn = hit == is_hit
        ax.hlines(
            height[drawn],
            ends.lower.values[drawn],
            ends.upper.values[drawn],
            color=colour,
            linewidth=widths[drawn],
        )
        ax.plot([], [], color=colour, linewidth=3, label=words)
    ax.plot(ends.estimate, height, ".", color="black", markersize=3)
    ax.axvline(0, color=TRUTH, linestyle="--", linewidth=1)
    ax.grid(False)
    ax.locator_params(axis="x", nbins=3)
    ax.xaxis.set_major_formatter("{x:g}")


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
    >>> import frkit as fk
    >>> law = fk.vmf.IdentityLaw(16, kappa=(10, 40))
    >>> how = dict(far=[0.1], n_datasets=3, replicates=20, progress=False)
    >>> study = fk.studies.intervals(law, 20, **how).isel(far_level=0)
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
    names = study["interval"].values
    shares = (hit.cumsum(DATA_SET) / xr.DataArray(n, dims=DATA_SET)).isel({DATA_SET: slice(number)})
    for name, colour in zip(names, curve_colours(names)):
        share = shares.sel(interval=name).values
        label = f"{plain(name)}: {share[-1]:.2f}"
        ax.plot(n[: len(share)], share, color=colour, linewidth=1.8, label=label)
        ax.plot(n[len(share) - 1], share[-1], "o", color=colour)
    ax.set(xlim=(1, n[-1]), ylim=(0, 1.03))
    truth = f"truth: the FRR of {study['people'].item()}"
    return finish(ax, "data sets", "share of hits", [truth], **BELOW)
