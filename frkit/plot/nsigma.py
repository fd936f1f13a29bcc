"""Figures of N-Sigma: N over risk bands, N as a matrix, the subsets' EERs, and what p, N and σ depend on."""

import json

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.patches import Rectangle

from frkit.base import GROUP, MODEL, require, require_flag, require_one_of, require_returned
from frkit.plot.style import (
    ENDS,
    SMALL,
    add_headroom,
    curve_colours,
    finish,
    new_axes,
    plain,
    print_captions,
    require_dims,
)

SUBSET = "subset"
RISK_COLOURS = ("#A6D96A", "#FFE680", "#FDAE61", "#E0604F")
LOGARITHMIC = ("p_value", "eer_sd", "tpr_sd")
SIGNIFICANT = 0.05
MADE_BY = "frkit.n_sigma(scores, by=...)"
RISKY = (f"{MADE_BY} or nsigma.with_risk", "n_absolute", GROUP, "risk_levels")
SUBSETS = (MADE_BY, "eer", "eer_mean", "eer_sd", GROUP, SUBSET)
INTERVALS = ("frkit.band(evaluation, 'eer_group')", *ENDS, GROUP, "level", "target")
ALONG = {"n_subsets": "number K of subsets", "subset_size": "people in a subset"}
SWEPT = (
    "nsigma.by_subsets(result) or nsigma.by_subset_size(scores, sizes)",
    GROUP,
    " or ".join(ALONG),
)
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
    require_returned("result", result, *RISKY)
    ax, name = new_axes(ax), "n_signed" if require_flag("signed", signed) else "n_absolute"
    require_returned("result", result, *RISKY, name)
    levels, table = risk_levels(result), _table(result[name])
    table = table.where(np.isfinite(table))
    colours = list(curve_colours(table.columns))
    table.plot.bar(
        ax=ax, width=0.8, rot=0, color=colours, edgecolor="white", zorder=3, legend=False
    )
    top = 1.3 * max(float(table.abs().max(axis=None)), max(levels.values()) + 0.6)
    _draw_bands(ax, levels, top, signed)
    ax.axhline(0, color="black", linewidth=0.8, zorder=4)
    ax.set_xlim(-0.5, len(table) - 0.5 + 0.24 * len(table))  # room for the names of the levels
    finish(
        ax,
        "",
        WORDS[name],
        [_reference_words(result)],
        loc="lower left" if signed else "upper left",
        ncols=2,
    )
    ax.tick_params(axis="x", length=0)
    ax.grid(False)
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
    require_returned("result", result, *RISKY)
    import seaborn as sns

    ax, levels, table = new_axes(ax), risk_levels(result), _table(result.n_absolute)
    limits = np.array(
        [*levels.values(), max(levels.values()) + 1]
    )  # what lies above has the last colour, too
    colours = {
        "cmap": ListedColormap(_colours(len(levels))),
        "norm": BoundaryNorm(limits, len(levels)),
    }
    bar = {"spacing": "uniform", "ticks": (limits[1:] + limits[:-1]) / 2}
    words = {
        "annot": True,
        "fmt": ".2f",
        "annot_kws": {"color": "#222222"},
    }  # white would be hard to read on red
    sns.heatmap(table, alpha=0.75, cbar_kws=bar, ax=ax, **words, **colours)
    names = [f"{plain(name)}\nfrom {low:g}" for name, low in levels.items()]
    ax.collections[0].colorbar.ax.set_yticklabels(names, fontsize=SMALL)
    for name in set(table.columns) & set(table.index):
        corner = table.columns.get_loc(name) + 0.02, table.index.get_loc(name) + 0.03
        ax.add_patch(Rectangle(corner, 0.96, 0.94, fill=False, edgecolor="#222222", linewidth=1.6))
    ax.set(
        xlabel="group evaluated",
        ylabel="tuned to" if "finetuned" in result.n_absolute.dims else table.index.name,
    )
    ax.tick_params(axis="y", rotation=0)
    print_captions(ax, ["|N| in σ of the reference group"])
    return ax


def eer_distributions(
    result: xr.Dataset, ax: Axes | None = None, *, intervals: xr.Dataset | None = None
) -> Axes:
    """Draw the EERs of every group's subsets (a stick each), their mean and σ, and the group's EER with its interval.

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
    require_returned("result", result, *SUBSETS)
    if intervals is not None:
        require_returned("intervals", intervals, *INTERVALS)
    import seaborn as sns

    require_dims("result", result.eer_mean, (GROUP,))
    ax, groups = new_axes(ax), result[GROUP].values
    place, table = np.arange(len(groups)), result.eer.to_series().reset_index()
    kinds = {
        "x": GROUP,
        "y": "eer",
        "hue": GROUP,
        "order": groups,
        "hue_order": groups,
        "legend": False,
        "ax": ax,
    }
    kinds["palette"] = list(curve_colours(groups))
    # a stick for each subset: the jitter of a strip plot would hang on numpy's global seed
    sticks = {
        "linewidth": 0.4,
        "color": "#8C8C8C",
        "alpha": 0.4,
    }  # so that the fill is seen between them
    sns.violinplot(table, inner="stick", inner_kws=sticks, cut=0, alpha=0.3, width=0.75, **kinds)
    style = {"color": "black", "capsize": 3, "markersize": 4, "zorder": 4}
    ax.errorbar(
        place - 0.08,
        result.eer_mean,
        result.eer_sd,
        fmt="o",
        label="mean ± σ of the subsets",
        **style,
    )
    if intervals is not None:
        require_dims("intervals", intervals.estimate, (GROUP,))
        absent = sorted({*groups} - {*intervals[GROUP].values})
        require(not absent, f"intervals has no group {', '.join(map(str, absent))}")
        own = intervals.sel({GROUP: groups})
        label = f"all people, {100 * own.attrs['level']:.4g} % interval about {own.attrs['target']}"
        ends = [own.estimate - own.lower, own.upper - own.estimate]
        ax.errorbar(place + 0.12, own.estimate, ends, fmt="D", mfc="white", label=label, **style)
    ax.set_xticks(place, [plain(group) for group in groups])
    add_headroom(ax, 0.2)
    size = f"{result.sizes[SUBSET]} subsets, people in each: {result.attrs.get('subset_size', '')}"
    return finish(
        ax, "", "EER (share of pairs)", [size, _reference_words(result)], grid="y", loc="upper left"
    )


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
    require_one_of("variable", variable, WORDS)
    require_returned("found", found, *SWEPT, variable)
    along = next((dim for dim in ALONG if dim in found.dims), next(iter(ALONG)))
    require_dims("found", found[variable], (along, GROUP))
    ax, sizes, logarithmic = new_axes(ax), found[along].values, variable in LOGARITHMIC
    for group, colour in zip(found[GROUP].values, curve_colours(found[GROUP].values)):
        line = found[variable].sel({GROUP: group})
        shown = line.where(line > 0) if logarithmic else line
        ax.plot(sizes, shown, "o-", color=colour, markersize=4, label=plain(group))
        if along == "subset_size" and variable in ("eer_sd", "n_absolute"):
            power = -0.5 if variable == "eer_sd" else 0.5
            ax.plot(
                sizes,
                line[-1].item() * (sizes / sizes[-1]) ** power,
                "--",
                color=colour,
                linewidth=0.8,
            )
    if variable == "p_value":
        ax.axhline(SIGNIFICANT, color="black", linewidth=0.8, linestyle=":", label="p = .05")
    ax.set(xscale="log", yscale="log" if logarithmic else "linear")
    if not logarithmic:
        add_headroom(ax, 0.3)
    shown = sizes[:: -max(1, len(sizes) // 5)]  # the last one, of all subsets, has its tick
    ax.set_xticks(shown, shown.astype(str))
    ax.set_xticks([], minor=True)
    place = {"p_value": "lower left", "eer_sd": "best", "tpr_sd": "best"}.get(
        variable, "upper left"
    )
    return finish(ax, ALONG[along], WORDS[variable], ncols=2, loc=place)


def risk_levels(result: xr.Dataset) -> dict[str, float]:
    """Names of the risk levels and where they begin, as the result tells them."""
    return json.loads(result.attrs["risk_levels"])


def _colours(n: int) -> list:
    """Colours of n levels of risk, from the least to the greatest."""
    return (
        list(RISK_COLOURS[:n])
        if n <= len(RISK_COLOURS)
        else list(colormaps["RdYlGn_r"](np.linspace(0.1, 0.9, n)))
    )


def _draw_bands(ax: Axes, levels: dict[str, float], top: float, signed: bool) -> None:
    """Bands of risk behind the bars, with their names at the right edge."""
    style = {
        "ha": "right",
        "va": "center",
        "fontsize": SMALL,
        "transform": ax.get_yaxis_transform(),
    }
    ends = [*list(levels.values())[1:], top]
    for (name, low), high, colour in zip(levels.items(), ends, _colours(len(levels)), strict=True):
        for sign in (1, -1) if signed else (1,):
            ax.axhspan(sign * low, sign * high, color=colour, alpha=0.35, linewidth=0, zorder=0)
        ax.text(
            0.995, (-1 if signed else 1) * (low + high) / 2, plain(name), color="#404040", **style
        )
    ax.set_ylim(-top if signed else 0, top)


def _table(values: xr.DataArray) -> pd.DataFrame:
    """The values with a row for each kind of model and a column for each group."""
    require(
        values.ndim <= 2,
        f"N is drawn over groups and models, got {values.dims}; select the rest with .sel",
    )
    table = (values if values.ndim == 2 else values.expand_dims({MODEL: [""]})).to_pandas()
    table = table if table.columns.name == GROUP else table.T
    return table.rename(index=plain, columns=plain)


def _reference_words(result: xr.Dataset) -> str:
    """Who is the reference."""
    names = np.unique(result.reference_eer.values) if "reference_eer" in result.coords else []
    return f"reference: {', '.join(plain(name) for name in names)}" if len(names) else ""
