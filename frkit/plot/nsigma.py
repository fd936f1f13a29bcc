"""Figures of N-Sigma: N over risk bands, N as a matrix, the subsets' EERs, and what p, N and σ depend on."""

import json

import numpy as np
import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes

from frkit.base import GROUP, require
from frkit.plot.style import COLOURS, SMALL, new_axes, plain, print_captions

SUBSET = "subset"
RISK_COLOURS = ("#A6D96A", "#FFE680", "#FDAE61", "#E0604F")
LOGARITHMIC = ("p_value", "eer_sd", "tpr_sd")
SIGNIFICANT = 0.05
ALONG = {"n_subsets": "number K of subsets", "subset_size": "people in a subset"}
WORDS = {
    "n_absolute": "|N|, in σ of the reference group",
    "n_signed": "N, in σ of the reference group (below 0: worse)",
    "p_value": "p of Welch's test",
    "eer_sd": "σ of the EER over subsets",
    "tpr_sd": "σ of the TPR over subsets",
    "sp": "SP (eq. 3)",
    "eop": "EOP (eq. 4)",
}


def n_sigma(result: xr.Dataset, ax: Axes | None = None, *, signed: bool = False) -> Axes:
    """Draw N of every group as bars over coloured bands of risk, for one model or for several side by side.

    Parameters
    ----------
    result : what `n_sigma` returned, or a study: `n_absolute`, `n_signed` over group, and models or kinds of models.
    ax : matplotlib Axes; a new figure when left out.
    signed : draw N with its sign: below 0 the group is worse than the reference; bands lie on both sides.

    Returns
    -------
    matplotlib Axes; σ on the vertical axis. A group without a bar is its own reference.

    Raises
    ------
    InputError : a result with further dimensions.

    References
    ----------
    DeAlcala et al. (2023), Fig. 1.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(60, 16, seed=0, groups={"easy": {"kappa": 60}, "hard": {"kappa": 20}})
    >>> found = fk.n_sigma(fk.score_tensor(mix.sample(5)), by="group", subsets=50, fpr=0.1)
    >>> fk.plot.n_sigma(found).get_ylabel()
    '|N|, in σ of the reference group'
    """
    ax, name = new_axes(ax), "n_signed" if signed else "n_absolute"
    values, rows = _rows(result[name])
    height = values.where(np.isfinite(values))
    groups, width = [plain(group) for group in result[GROUP].values], 0.8 / result.sizes[GROUP]
    for place, group in enumerate(groups):
        at = np.arange(len(rows)) + (place - (len(groups) - 1) / 2) * width
        ax.bar(
            at, height.isel({GROUP: place}), 0.92 * width, color=COLOURS[place % len(COLOURS)], label=group, zorder=3
        )
    top = 1.3 * max(float(abs(height).max()), max(risk_levels(result).values()) + 0.6)
    _draw_bands(ax, risk_levels(result), top, signed)
    ax.axhline(0, color="black", linewidth=0.8, zorder=4)
    ax.set_xticks(range(len(rows)) if rows != [""] else [], rows if rows != [""] else [])
    ax.set_xlim(-0.5, len(rows) - 0.5 + 0.24 * len(rows))  # room for the names of the levels
    ax.set_ylabel(WORDS[name])
    ax.legend(fontsize=SMALL, loc="lower left" if signed else "upper left", framealpha=0.85, ncols=2)
    print_captions(ax, [_reference_words(result)])
    return ax


def n_matrix(result: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw |N| as a matrix, a row for each kind of model and a column for each group, in the colours of risk.

    Parameters
    ----------
    result : `n_absolute` over (finetuned or model, group) with the attribute `risk_levels`, as a study returns it.
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes; a frame marks the group that a model was tuned to.

    Raises
    ------
    InputError : a result with further dimensions.

    References
    ----------
    DeAlcala et al. (2023), Table II.

    Examples
    --------
    >>> import frkit as fk, xarray as xr
    >>> n = xr.DataArray([[1.3, 0.0], [0.5, 0.8]], {"finetuned": ["all", "a"], "group": ["a", "b"]})
    >>> printed = fk.nsigma.with_risk(n.to_dataset(name="n_absolute"))
    >>> [text.get_text() for text in fk.plot.n_matrix(printed).get_yticklabels()]
    ['all', 'a']
    """
    ax, levels = new_axes(ax), risk_levels(result)
    values, rows = _rows(result.n_absolute)
    groups = [plain(group) for group in result[GROUP].values]
    colours = _colours(len(levels))
    for row, column in np.ndindex(values.shape):
        value = values.values[row, column]
        level = np.searchsorted(list(levels.values()), value, side="right") - 1
        ax.barh(row, 1, left=column - 0.5, height=1, color="white" if np.isnan(value) else colours[level], alpha=0.75)
        own = rows[row] == groups[column]
        ax.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=SMALL, weight="bold" if own else None)
        if own:
            frame = {"edgecolor": "black", "facecolor": "none", "linewidth": 1.4}
            ax.barh(row, 0.96, left=column - 0.48, height=0.94, **frame)
    ax.set(xlim=(-0.5, len(groups) - 0.5), ylim=(len(rows) - 0.5, -0.5), xlabel="group evaluated")
    ax.set_xticks(range(len(groups)), groups)
    ax.set_yticks(range(len(rows)), rows)
    ax.set_ylabel("tuned to" if values.dims[0] == "finetuned" else plain(values.dims[0]))
    print_captions(ax, ["|N| in σ of the reference group", _level_words(levels)])
    return ax


def eer_distributions(result: xr.Dataset, ax: Axes | None = None, *, intervals: xr.Dataset | None = None) -> Axes:
    """Draw the EERs of every group's subsets, their mean and σ, and the group's EER with its interval.

    Parameters
    ----------
    result : what `n_sigma` returned, of one model.
    ax : matplotlib Axes; a new figure when left out.
    intervals : what `band` returned of "eer_group", of the same scores.

    Returns
    -------
    matplotlib Axes; EER on the vertical axis, a share of pairs.

    Raises
    ------
    InputError : several models in the result.

    References
    ----------
    DeAlcala et al. (2023), section V-B.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(60, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> found = fk.n_sigma(fk.score_tensor(mix.sample(5)), by="group", subsets=50, fpr=0.1)
    >>> fk.plot.eer_distributions(found).get_ylabel()
    'EER (share of pairs)'
    """
    _require_one(result.eer_mean)
    ax, groups = new_axes(ax), result[GROUP].values
    for place, group in enumerate(groups):
        colour = COLOURS[place % len(COLOURS)]
        one = result.sel({GROUP: group})
        body = ax.violinplot(one.eer.values.ravel(), [place], widths=0.75, showextrema=False)["bodies"][0]
        body.set(facecolor=colour, alpha=0.3, edgecolor=colour)
        words = {"label": "mean ± σ of the subsets"} if place == 0 else {}
        ax.errorbar(place - 0.08, one.eer_mean, one.eer_sd, fmt="o", color=colour, capsize=3, **words)
        if intervals is not None:
            _draw_interval(ax, place + 0.12, intervals.sel({GROUP: group}), place == 0)
    ax.set_xticks(range(len(groups)), [plain(group) for group in groups])
    ax.set_xlim(-0.6, len(groups) - 0.4)
    ax.set_ylabel("EER (share of pairs)")
    ax.grid(True, axis="y", color="#E5E5E5", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.legend(fontsize=SMALL, frameon=False)
    size = f"{result.sizes[SUBSET]} subsets, people in each: {result.attrs.get('subset_size', '')}"
    print_captions(ax, [size, _reference_words(result)])
    return ax


def dependence(found: xr.Dataset, variable: str, ax: Axes | None = None) -> Axes:
    """Draw one result of N-Sigma against the number of subsets, or the people in each: one line for every group.

    The dashed line of a group's σ falls as 1/√size, and of |N| rises as √size, through the group's last point.

    Parameters
    ----------
    found : what `nsigma.by_subsets` or `nsigma.by_subset_size` returned, of one model.
    variable : "p_value", "n_absolute", "n_signed", "eer_sd", "tpr_sd", "sp" or "eop".
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes; the horizontal axis is logarithmic, and the vertical one for p and σ. A p of 0 is left out.

    Raises
    ------
    InputError : another variable; a result over neither dimension, or with further ones.

    References
    ----------
    DeAlcala et al. (2023), section IV-C.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(60, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> found = fk.n_sigma(fk.score_tensor(mix.sample(5)), by="group", subsets=50, fpr=0.1)
    >>> fk.plot.dependence(fk.nsigma.by_subsets(found), "p_value").get_xlabel()
    'number K of subsets'
    """
    require(variable in WORDS, f"variable must be one of {', '.join(WORDS)}, got {variable!r}")
    values = found[variable]
    along = next((dim for dim in ALONG if dim in values.dims), None)
    require(along is not None, "there is nothing to draw along: use nsigma.by_subsets or nsigma.by_subset_size")
    _require_one(values.isel({along: 0}))
    ax = new_axes(ax)
    for place, group in enumerate(found[GROUP].values):
        line, colour = values.sel({GROUP: group}), COLOURS[place % len(COLOURS)]
        shown = line.where(line > 0) if variable in LOGARITHMIC else line
        ax.plot(found[along], shown, "o-", color=colour, markersize=4, label=plain(group))
        if along == "subset_size" and variable in ("eer_sd", "n_absolute"):
            power = -0.5 if variable == "eer_sd" else 0.5
            trend = line[-1].item() * (found[along] / found[along][-1]) ** power
            ax.plot(found[along], trend, "--", color=colour, linewidth=0.8)
    if variable == "p_value":
        ax.axhline(SIGNIFICANT, color="black", linewidth=0.8, linestyle=":", label="p = .05")
    ax.set_yscale("log" if variable in LOGARITHMIC else "linear")
    if variable not in LOGARITHMIC:
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + 0.3 * (high - low))  # room for the legend
    _sizes_below(ax, found[along].values)
    ax.set(xlabel=ALONG[along], ylabel=WORDS[variable])
    ax.grid(True, which="major", color="#E5E5E5", linewidth=0.6)
    place = {"p_value": "lower left", "eer_sd": "best", "tpr_sd": "best"}.get(variable, "upper left")
    ax.legend(fontsize=SMALL, frameon=False, ncols=2, loc=place)
    return ax


def _sizes_below(ax: Axes, sizes: np.ndarray) -> None:
    """A logarithmic axis with some of the sizes themselves as ticks."""
    ax.set_xscale("log")
    shown = sizes[:: max(1, len(sizes) // 5)]
    ax.set_xticks(shown, [str(size) for size in shown])
    ax.set_xticks([], minor=True)


def risk_levels(result: xr.Dataset) -> dict[str, float]:
    """Names of the risk levels and where they begin, as the result tells them."""
    require("risk_levels" in result.attrs, "this result has no risk levels: make it with n_sigma or nsigma.with_risk")
    return json.loads(result.attrs["risk_levels"])


def _colours(n: int) -> list:
    """Colours of n levels of risk, from the least to the greatest."""
    return list(RISK_COLOURS[:n]) if n <= len(RISK_COLOURS) else list(colormaps["RdYlGn_r"](np.linspace(0.1, 0.9, n)))


def _draw_bands(ax: Axes, levels: dict[str, float], top: float, signed: bool) -> None:
    """Bands of risk behind the bars, with their names at the right edge."""
    ends = [*list(levels.values())[1:], top]
    for (name, low), high, colour in zip(levels.items(), ends, _colours(len(levels)), strict=True):
        for sign in (1, -1) if signed else (1,):
            ax.axhspan(sign * low, sign * min(high, top), color=colour, alpha=0.35, linewidth=0, zorder=0)
        side = -1 if signed else 1
        at = {
            "ha": "right",
            "va": "center",
            "fontsize": SMALL,
            "color": "#404040",
            "transform": ax.get_yaxis_transform(),
        }
        ax.text(0.995, side * (low + high) / 2, plain(name), **at)
    ax.set_ylim(-top if signed else 0, top)


def _draw_interval(ax: Axes, at: float, one: xr.Dataset, first: bool) -> None:
    """The EER of all people of a group with its interval."""
    ends = [[one.estimate - one.lower], [one.upper - one.estimate]]
    label = f"all people, {100 * one.attrs['level']:.4g} % interval about {one.attrs['target']}" if first else None
    ax.errorbar(at, one.estimate, ends, fmt="D", color="black", markersize=4, capsize=3, linewidth=1, label=label)


def _rows(values: xr.DataArray) -> tuple[xr.DataArray, list[str]]:
    """The values over (kind, group), and the names of the kinds; one empty name where there is one."""
    others = [dim for dim in values.dims if dim != GROUP]
    require(len(others) <= 1, f"N is drawn over groups and models, got {values.dims}; select the rest with .sel")
    if not others:
        return values.expand_dims("model"), [""]
    return values.transpose(others[0], GROUP), [plain(name) for name in values[others[0]].values]


def _require_one(values: xr.DataArray) -> None:
    others = [dim for dim in values.dims if dim != GROUP]
    require(not others, f"this figure shows one model, got dimensions {others}; select one with .sel")


def _reference_words(result: xr.Dataset) -> str:
    """Who is the reference."""
    names = np.unique(result.reference_eer.values) if "reference_eer" in result.coords else []
    return f"reference: {', '.join(plain(name) for name in names)}" if len(names) else ""


def _level_words(levels: dict[str, float]) -> str:
    return ", ".join(f"{plain(name)} from {low:g}" for name, low in levels.items())
