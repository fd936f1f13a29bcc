"""Figures of N-Sigma: N over risk bands, and EERs of subsets."""

from collections.abc import Mapping

import numpy as np
import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes

from frkit.base import require, require_kind
from frkit.figures.marks import checked_axes, edge_marks
from frkit.figures.marks import intervals as draw_intervals
from frkit.figures.style import (
    QUIET,
    UNRESOLVED,
    add_headroom,
    caption,
    colours_of,
    finish,
    new_axes,
    plain,
    points_of,
    require_dims,
)
from frkit.intervals.rows import rows_of
from frkit.papers.nsigma import RISK_LEVELS

SUBSET = "subset"
N_WORDS = "|N|, in σ of the reference group"


def n_sigma(
    result: xr.Dataset,
    ax: Axes | None = None,
    *,
    floor: xr.DataArray | None = None,
    colours: Mapping[str, str] | None = None,
) -> Axes:
    """Draw N of every group as bars over grey bands of risk, or with what equal groups show.

    Parameters
    ----------
    result : xr.Dataset
        What `n_sigma` returned, or a study: `n_absolute` over group, and models or kinds of models.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    floor : xr.DataArray, optional
        What |N| of equal groups reaches by chance, of one or each model: the largest |N| of
        `nsigma.floor` and its `.quantile(0.95, "permutation")`. It is drawn as a dashed line in
        place of the bands: N below it is no sign of a difference.
    colours : mapping, optional
        The colour of each group, so that several figures show a group in the same one.

    Returns
    -------
    matplotlib.axes.Axes
        σ on the vertical axis. A group without a bar is its own reference.

    Raises
    ------
    InputError
        A result with further dimensions, or a floor that is no quantile.

    References
    ----------
    DeAlcala et al. (2023), Fig. 1.

    Examples
    --------
    >>> import frkit as fk
    >>> groups = {"easy": {"kappa": 60}, "hard": {"kappa": 20}}
    >>> scores = fk.score_tensor(fk.vmf.mixture(60, 16, seed=0, groups=groups).sample(5))
    >>> result = fk.n_sigma(scores, by="group", subsets=50, fpr=0.1)
    >>> fk.plot.n_sigma(result).get_ylabel()
    '|N|, in σ of the reference group'
    """
    require_kind("result", result, "n_sigma")
    values = result.n_absolute
    if values.ndim == 1:
        values = values.expand_dims(model=[""])
    require(values.ndim == 2, f"N is drawn over groups and models, got {values.dims}; use .sel")
    table = values.where(np.isfinite).transpose(..., "group").to_pandas()
    groups = result["group"].values
    colours = colours or colours_of(groups)
    ax = new_axes(ax)
    bars = table.rename(index=plain, columns=plain).plot.bar
    style = {"width": 0.8, "edgecolor": "white", "zorder": 3, "rot": 0, "legend": False}
    bars(ax=ax, color=[colours[group] for group in groups], **style)
    highest = float(table.max(axis=None))
    if floor is None:
        _draw_risks(ax, highest)
        ax.set_xlim(-0.5, 1.24 * len(table) - 0.5)  # room for the names of the levels
    else:
        _draw_floor(ax, floor, len(table), highest)
    finish(ax, "", N_WORDS, [_reference_words(result)], loc="upper left", ncols=2)
    ax.tick_params(axis="x", length=0)
    ax.grid(False)
    return ax


def _draw_risks(ax, highest):
    """Draw bands of risk behind the bars, with their names at the right edge."""
    starts = [*RISK_LEVELS.values()]
    top = 1.3 * max(highest, starts[-1] + 0.6)
    ends = [*starts[1:], top]
    shades = colormaps["Greys"](np.linspace(0.08, 0.4, len(starts)))
    style = {"ha": "right", "va": "center", "fontsize": points_of(), "color": QUIET}
    for name, low, high, shade in zip(RISK_LEVELS, starts, ends, shades):
        ax.axhspan(low, high, color=shade, alpha=0.6, linewidth=0, zorder=0)
        middle = (low + high) / 2
        ax.text(0.995, middle, plain(name), transform=ax.get_yaxis_transform(), **style)
    ax.set_ylim(0, top)


def _draw_floor(ax, floor, n_models, highest):
    """Draw what equal groups show as a dashed line for each model."""
    require(
        "quantile" in floor.coords,
        'floor is no quantile: give N.quantile(0.95, "permutation") of nsigma.floor',
    )
    limits = np.broadcast_to(floor, n_models)
    is_finite = np.isfinite(limits)
    top = 1.3 * np.max(limits, initial=highest, where=is_finite)
    x = np.arange(n_models)
    label = f"equal groups: {100 * float(floor['quantile']):g} % are below"
    style = {"color": "black", "linestyle": "--", "linewidth": 1.2, "zorder": 5}
    ax.hlines(limits, x - 0.45, x + 0.45, label=label, **style)
    edge_marks(ax, x[~is_finite], top, "^", "equal groups: no limit", "black")
    ax.set_ylim(0, top)


def _reference_words(result):
    """Name the reference group."""
    names = np.unique(result.coords.get("reference_eer", []))
    return f"reference: {', '.join(map(str, names))}" if names.size else ""


def eer_distributions(
    result: xr.Dataset, ax: Axes | None = None, *, intervals: xr.Dataset | None = None
) -> Axes:
    """Draw the EERs of every group's subsets (one stick each), their mean and σ, and intervals.

    Parameters
    ----------
    result : xr.Dataset
        What `n_sigma` returned, of one model.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    intervals : xr.Dataset, optional
        What `band` returned of "eer_group", of the same scores.

    Returns
    -------
    matplotlib.axes.Axes
        EER on the vertical axis, a share of pairs.

    Raises
    ------
    InputError
        Several models in the result.

    References
    ----------
    DeAlcala et al. (2023), section V-B.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(60, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> scores = fk.score_tensor(mix.sample(5))
    >>> result = fk.n_sigma(scores, by="group", subsets=50, fpr=0.1)
    >>> fk.plot.eer_distributions(result).get_ylabel()
    'EER (share of pairs)'
    """
    import seaborn as sns

    ax = checked_axes(ax, "result", result, "n_sigma", "eer_mean", ("group",))
    groups = result["group"].values
    x = np.arange(len(groups))
    table = result.eer.to_series().reset_index()
    # sticks, because the jitter of a strip plot depends on numpy's global seed
    sticks = {"inner": "stick", "inner_kws": {"linewidth": 0.4, "color": "#8C8C8C", "alpha": 0.4}}
    columns = {"x": "group", "y": "eer", "hue": "group", "palette": [*colours_of(groups).values()]}
    sns.violinplot(table, ax=ax, cut=0, alpha=0.3, width=0.75, legend=False, **columns, **sticks)
    mean, sd = result.eer_mean, result.eer_sd
    label = "mean ± σ of the subsets"
    draw_intervals(ax, x - 0.08, mean - sd, mean + sd, "black", label, mean)
    if intervals is not None:
        require_kind("intervals", intervals, "band")
        require_dims("intervals", intervals.estimate, ("group",))
        rows = rows_of(intervals).set_index("group").loc[groups]
        label = plain(f"all people: {caption(intervals.attrs)}".replace("\n", " "))
        x_of_all = x + 0.12
        draw_intervals(ax, x_of_all, rows.lower, rows.upper, UNRESOLVED, label, rows.estimate, "D")
    ax.set_xticks(x, map(plain, groups))
    add_headroom(ax, 0.2)
    people = result.coords.get("subset_size", result.attrs.get("subset_size", ""))
    size = f"{result.sizes[SUBSET]} subsets, people in each: {np.array(people)}"
    captions = [size, _reference_words(result)]
    return finish(ax, "", "EER (share of pairs)", captions, grid="y", loc="upper left")
