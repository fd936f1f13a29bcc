"""Figures of coverage: studies, and the intervals of one data set after the other."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from frkit.base import require, require_one_of, require_returned
from frkit.plot.style import (
    BELOW,
    COLOURS,
    DARK,
    LEVEL_WORDS,
    NAIVE,
    TRUTH,
    finish,
    new_axes,
    parts_of,
    plain,
    require_dims,
    require_number_shown,
)

GOOD = (0.92, 0.98)  # around the usual nominal level of .95
USUAL = 0.95
DATA_SET = "data_set"
SHOWN = 40  # data sets at a time
MAKER = "data/make_one_by_one_intervals.py"
STUDY = (MAKER, "lower", "upper", "estimate", "truth", DATA_SET, "interval")
ALONG_WORDS = {
    "level": "nominal coverage",
    "far_level": LEVEL_WORDS["far_level"],
    "per_identity": "images per identity",
    "dim": "dimension of the embeddings",
    "n_identities": "identities",
}
SELECTED_WORDS = {
    "level": "nominal {:g}",
    "scheme": "{} scheme",
    "method": "{}",
    "far_level": "FAR {:.2g}",
}


def coverage(
    study: xr.Dataset,
    along: str = "level",
    ax: Axes | None = None,
    *,
    printed: xr.DataArray | None = None,
) -> Axes:
    """Draw the estimated coverage along the nominal level, FAR or another quantity.

    Parameters
    ----------
    study : xr.Dataset
        `coverage` over `along` and, for several lines, method or scheme, as `studies.coverage`
        returns it. Select all else. Where `resolved` is there, points of levels that fewer than
        half of the data sets resolve are hollow.
    along : str
        Name of the horizontal dimension: level, far_level, per_identity, dim, ...
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    printed : xr.DataArray, optional
        Published coverages over method and level, drawn as hollow diamonds where `along` is level.

    Returns
    -------
    matplotlib.axes.Axes
        A line for each method or scheme, with two Monte Carlo standard errors shaded where the
        study has them, and the target dashed. At nominal .95 the range from .92 to .98 is shaded.

    Raises
    ------
    InputError
        `along` is not a dimension, or more than one other dimension is left.

    References
    ----------
    Conti & Clémençon (2024), appendix B.1, Figs. 6 and 9.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> options = dict(far=[0.1, 0.2], replicates=20, progress=False)
    >>> study = fk.studies.coverage(mix, n_datasets=4, **options)
    >>> fk.plot.coverage(study.sel(far_level=0.1)).get_xlabel()
    'nominal coverage'
    """
    require_returned("study", study, "fk.studies.coverage", "coverage")
    dims = [dim for dim in study.coverage.dims if dim in study.coords]
    require_one_of("along, a dimension of the study,", along, dims)
    study = study.squeeze([dim for dim in dims if study.sizes[dim] == 1 and dim != along])
    others = [dim for dim in study.coverage.dims if dim != along]
    require(
        len(others) <= 1,
        f"study has one line for each value of {others}: select all but one of these dimensions",
    )
    ax = new_axes(ax)
    x = _places(ax, study[along])
    _draw_target(ax, float(study.get("level", USUAL)) if along != "level" else None)
    for name, colour, line in parts_of(study, *(others or ["line"])):
        _draw_line(ax, x, line, colour, name)
        if printed is not None and along == "level" and name in printed["method"]:
            shown = printed.sel({"method": name})
            hollow = {"color": colour, "markerfacecolor": "none"}
            ax.plot(printed.level, shown, "D", label=f"{name}, printed", **hollow)
    settings = [
        text.format(study[name].item())
        for name, text in SELECTED_WORDS.items()
        if name in study.coords and study[name].ndim == 0
    ]
    captions = [", ".join(settings), study.attrs.get("words", "")]
    return finish(ax, ALONG_WORDS.get(along, along), "estimated coverage", captions)


def _places(ax, labels):
    """Prepare the horizontal axis; return where the values of its dimension stand."""
    if labels.name == "far_level":
        ax.set_xscale("log")
        ax.xaxis.set_minor_formatter(NullFormatter())
    elif labels.name == "level":
        ax.set_xlim(0, 1)
    else:  # at equal steps
        ax.set_xticks(np.arange(labels.size), labels.values.astype(str))
        return np.arange(labels.size)
    return labels.values


def _draw_target(ax, nominal):
    """Draw the line of the nominal level; without one the diagonal of all levels."""
    style = {"color": TRUTH, "linestyle": "--", "linewidth": 1}
    if nominal is None:
        ax.plot([0, 1], [0, 1], label="target", **style)
        ax.set_ylim(-0.02, 1.02)
        return
    ax.axhline(nominal, **style)
    if np.isclose(nominal, USUAL):
        good = f"{GOOD[0]:.2f} to {GOOD[1]:.2f}"
        ax.axhspan(*GOOD, color=COLOURS[6], alpha=0.18, linewidth=0, label=good)


def _draw_line(ax, x, study, colour, label):
    """Draw one line, with two Monte Carlo standard errors to either side where there are some."""
    values = study.coverage.values
    ax.plot(x, values, color=colour, linewidth=1.3, label=label)
    resolved = np.broadcast_to(study.get("resolved", 1.0), x.shape) >= 0.5
    inside = np.where(resolved, colour, "white")
    ax.scatter(x, values, 16, facecolors=inside, edgecolors=colour, zorder=3)
    if "coverage_se" in study:
        noise = 2 * study.coverage_se.values
        lower, upper = np.clip([values - noise, values + noise], 0, 1)
        ax.fill_between(x, lower, upper, color=colour, alpha=0.1, linewidth=0)


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
    require_number_shown(number)
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
    require_number_shown(number)
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
