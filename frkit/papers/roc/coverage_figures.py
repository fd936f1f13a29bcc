"""Figures of coverage: studies, and the intervals of one data set after the other."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from frkit.base import require, require_kind, require_one_of, require_returned
from frkit.figures.marks import reference
from frkit.figures.style import (
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
}
SELECTED_WORDS = {
    "level": "nominal {:g}",
    "scheme": "{} scheme",
    "method": "{}",
    "far_level": "FAR {:.2g}",
}


def coverage(study: xr.Dataset, along: str = "level", ax: Axes | None = None) -> Axes:
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
    require_kind("study", study, "studies.coverage")
    sizes = study.coverage.sizes
    require_one_of("along, a dimension of the study,", along, [*sizes])
    study = study.squeeze([dim for dim in sizes if sizes[dim] == 1 and dim != along])
    others = [dim for dim in study.coverage.dims if dim != along]
    require(
        len(others) <= 1,
        f"study has one line for each value of {others}: select all but one of these dimensions",
    )
    ax = new_axes(ax)
    x = study[along].values
    if along not in ("level", "far_level"):  # at equal steps
        ax.set_xticks(np.arange(x.size), x)
        x = np.arange(x.size)
    for name, colour, line in parts_of(study, *(others or ["line"])):
        _draw_line(ax, x, line, colour, name)
    if along == "level":
        ax.plot([0, 1], [0, 1], "--", color=TRUTH, label="target")
        ax.set(xlim=(0, 1), ylim=(-0.02, 1.02))
    else:
        nominal = float(study.get("level", USUAL))
        reference(ax, nominal, f"nominal {nominal:g}")
        if np.isclose(nominal, USUAL):
            label = f"{GOOD[0]:.2f} to {GOOD[1]:.2f}"
            ax.axhspan(*GOOD, color=COLOURS[6], alpha=0.18, linewidth=0, label=label)
    if along == "far_level":
        ax.set_xscale("log")
        ax.xaxis.set_minor_formatter(NullFormatter())
    words = [
        text.format(study[name].item())
        for name, text in SELECTED_WORDS.items()
        if name in study.coords and study[name].ndim == 0
    ]
    captions = [", ".join(words), study.attrs.get("words", "")]
    return finish(ax, ALONG_WORDS.get(along, along), "estimated coverage", captions)


def _draw_line(ax, x, study, colour, label):
    """Draw one line, with two Monte Carlo standard errors to either side where there are some."""
    values = study.coverage.values
    ax.plot(x, values, "o-", color=colour, markersize=4, label=label)
    if "resolved" in study:
        hollow = study.coverage.where(study.resolved < 0.5)
        ax.plot(x, hollow, "o", color=colour, markersize=4, markerfacecolor="white")
    if "coverage_se" in study:
        noise = 2 * study.coverage_se.values
        ends = np.clip([values - noise, values + noise], 0, 1)
        ax.fill_between(x, *ends, color=colour, alpha=0.1, linewidth=0)


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
    last = hit.sizes[DATA_SET]
    first = max(0, last - SHOWN)
    ends = study[["lower", "upper", "estimate"]] - study.truth
    left, right = float(ends.lower.min()), float(ends.upper.max())
    truths = 1.05 * (right - left) * np.arange(study.sizes["interval"])  # one in each column
    height = np.arange(first, last) + 1
    widths = np.where(height == last, 4.0, 1.6)
    labels = []
    for truth, name in zip(truths, study["interval"].values):
        is_hit = hit.sel(interval=name).values
        shown = ends.sel(interval=name).isel({DATA_SET: slice(first, last)}) + truth
        for words, rows, colour in (("hit", is_hit, DARK), ("miss", ~is_hit, NAIVE)):
            rows = rows[first:]
            span = shown.lower[rows], shown.upper[rows]
            ax.hlines(height[rows], *span, color=colour, linewidth=widths[rows])
            ax.plot([], [], color=colour, label=words)
        ax.plot(shown.estimate, height, ".", color="black", markersize=3)
        ax.axvline(truth, color=TRUTH, linestyle="--")
        labels.append(f"{plain(name)}\n{is_hit.sum()} of {last}".replace(", ", ",\n"))
    ax.set_xticks(truths, labels)
    ax.set(xlim=(left, truths[-1] + right), ylim=(first, first + SHOWN + 1))
    captions = [f"dashed: the true FRR; columns are {right - left:.2g} wide"]
    return finish(ax, "", "data set", captions, grid="y", **BELOW | {"bbox_to_anchor": (0.5, -0.2)})


def hits(study):
    """Whether each interval contains the truth, over (data_set, interval)."""
    require_returned("study", study, *STUDY)
    inside = (study.lower <= study.truth) & (study.truth <= study.upper)
    require_dims("study", inside, (DATA_SET, "interval"))
    return inside


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
    reference(ax, level, f"nominal {level:g}")
    shares = hit.cumsum(DATA_SET) / xr.DataArray(n, dims=DATA_SET)
    for name, colour, share in parts_of(shares.isel({DATA_SET: slice(number)}), "interval"):
        now = share.values[-1]
        ax.plot(n[: share.size], share, color=colour, label=f"{name}: {now:.2f}")
        ax.plot(share.size, now, "o", color=colour)
    ax.set(xlim=(1, n[-1]), ylim=(0, 1.03))
    truth = f"truth: the FRR of {study['people'].item()}"
    return finish(ax, "data sets", "share of hits", [truth], **BELOW)
