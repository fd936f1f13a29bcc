"""Figures of N-Sigma: N over risk bands, and EERs of subsets."""

import json
from collections.abc import Mapping

import numpy as np
import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes

from frkit.base import require, require_returned
from frkit.plot.style import (
    ENDS,
    QUIET,
    SMALL,
    add_headroom,
    caption,
    colours_of_groups,
    curve_colours,
    draw_edge,
    finish,
    new_axes,
    plain,
    require_dims,
)

SUBSET = "subset"
MADE_BY = "frkit.n_sigma(scores, by=...)"
RISKY = (f"{MADE_BY} or nsigma.with_risk", "n_absolute", "group", "risk_levels")
SUBSETS = (MADE_BY, "eer", "eer_mean", "eer_sd", "group", SUBSET)
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
    require_returned("result", result, *RISKY)
    has_share = floor is None or "quantile" in floor.coords
    require(has_share, 'floor is no quantile: give N.quantile(0.95, "permutation") of nsigma.floor')
    ax = new_axes(ax)
    levels = risk_levels(result)
    table = _table(result.n_absolute)
    table = table.where(np.isfinite(table))
    groups = result["group"].values
    colours = colours_of_groups(groups, colours)
    style = {"width": 0.8, "edgecolor": "white", "zorder": 3, "rot": 0, "legend": False}
    table.plot.bar(ax=ax, color=[colours[group] for group in groups], **style)
    highest = float(table.max(axis=None))
    if floor is None:
        highest = max(highest, max(levels.values()) + 0.6)
        _draw_risks(ax, levels, 1.3 * highest)
        ax.set_xlim(-0.5, 1.24 * len(table) - 0.5)  # room for the names of the levels
    else:
        limits = np.broadcast_to(floor, len(table))
        is_finite = np.isfinite(limits)
        highest = np.max(limits, initial=highest, where=is_finite)
        places = np.arange(len(table))
        style = {"color": "black", "linestyle": "--", "linewidth": 1.2, "zorder": 5}
        label = f"equal groups: {100 * float(floor['quantile']):g} % are below"
        ax.hlines(limits, places - 0.45, places + 0.45, label=label, **style)
        label = "equal groups: no limit"
        draw_edge(ax, places[~is_finite], 1.3 * highest, "^", label, "black")
    ax.set_ylim(0, 1.3 * highest)
    captions = [_reference_words(result)]
    finish(ax, "", N_WORDS, captions, loc="upper left", ncols=2)
    ax.tick_params(axis="x", length=0)
    ax.grid(False)
    return ax


def _draw_risks(ax, levels, top):
    """Draw bands of risk behind the bars, with their names at the right edge."""
    starts = list(levels.values())
    style = {"ha": "right", "va": "center", "fontsize": SMALL, "color": QUIET}
    for name, low, high, colour in zip(levels, starts, [*starts[1:], top], _colours(len(levels))):
        ax.axhspan(low, high, color=colour, alpha=0.6, linewidth=0, zorder=0)
        place = 0.995, (low + high) / 2
        ax.text(*place, plain(name), transform=ax.get_yaxis_transform(), **style)


def _table(values):
    """Return the values with a row for each kind of model and a column for each group."""
    require(
        values.ndim <= 2,
        f"N is drawn over groups and models, got {values.dims}; select the rest with .sel",
    )
    if values.ndim == 1:
        values = values.expand_dims(model=[""])
    return values.transpose(..., "group").to_pandas().rename(index=plain, columns=plain)


def risk_levels(result):
    """Return the names of the risk levels and where they begin."""
    return json.loads(result.attrs["risk_levels"])


def _colours(n):
    """Return shades of grey for n levels of risk, from the least to the greatest."""
    return list(colormaps["Greys"](np.linspace(0.08, 0.4, n)))


def _reference_words(result):
    """Name the reference group."""
    if "reference_eer" not in result.coords:
        return ""
    names = np.unique(result.reference_eer.values)
    return f"reference: {', '.join(map(str, names))}"


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

    require_returned("result", result, *SUBSETS)
    require_dims("result", result, ("group",), "eer_mean")
    ax = new_axes(ax)
    groups = result["group"].values
    place = np.arange(len(groups))
    table = result.eer.to_series().reset_index()
    # sticks, because the jitter of a strip plot depends on numpy's global seed
    sticks = {"inner": "stick", "inner_kws": {"linewidth": 0.4, "color": "#8C8C8C", "alpha": 0.4}}
    columns = {"x": "group", "y": "eer", "hue": "group", "palette": curve_colours(groups)}
    sns.violinplot(table, ax=ax, cut=0, alpha=0.3, width=0.75, legend=False, **columns, **sticks)
    style = {"color": "black", "capsize": 3, "markersize": 4, "zorder": 4}
    label = "mean ± σ of the subsets"
    ax.errorbar(place - 0.08, result.eer_mean, result.eer_sd, fmt="o", label=label, **style)
    if intervals is not None:
        require_returned("intervals", intervals, 'fk.band(evaluation, "eer_group")', *ENDS, "group")
        whole = intervals.sel(group=groups)
        label = plain(f"all people: {caption(whole.attrs)}".replace("\n", " "))
        ends = [whole.estimate - whole.lower, whole.upper - whole.estimate]
        style |= {"fmt": "D", "mfc": "white", "label": label}
        ax.errorbar(place + 0.12, whole.estimate, ends, **style)
    ax.set_xticks(place, [plain(group) for group in groups])
    add_headroom(ax, 0.2)
    size = f"{result.sizes[SUBSET]} subsets, people in each: {result.attrs.get('subset_size', '')}"
    captions = [size, _reference_words(result)]
    return finish(ax, "", "EER (share of pairs)", captions, grid="y", loc="upper left")
