"""Figures of N-Sigma: N over risk bands or as a matrix, EERs of subsets, and dependences."""

import json
from collections.abc import Mapping

import numpy as np
import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.patches import Rectangle

from frkit.base import require, require_returned
from frkit.plot.style import (
    QUIET,
    SMALL,
    add_headroom,
    curve_colours,
    finish,
    new_axes,
    parts_of,
    plain,
    print_captions,
    require_dims,
)

SUBSET = "subset"
FINETUNED = "finetuned"
SIGNIFICANT = 0.05
MADE_BY = "frkit.n_sigma(scores, by=...)"
RISKY = (f"{MADE_BY} or nsigma.with_risk", "n_absolute", "group", "risk_levels")
SUBSETS = (MADE_BY, "eer", "eer_mean", "eer_sd", "group", SUBSET)
ALONG = {"n_subsets": "number K of subsets", "subset_size": "people in a subset"}
LOGARITHMIC = ("p_value", "eer_sd", "tpr_sd")
SLOPES = {"eer_sd": -0.5, "n_absolute": 0.5}  # powers of the size that theory expects
WORDS = {
    "n_absolute": "|N|, in σ of the reference group",
    "n_signed": "N, in σ of the reference group (below 0: worse)",
    "p_value": "p of Welch's test",
    "eer_sd": "σ of the EER over subsets",
    "tpr_sd": "σ of the TPR over subsets",
    "sp": "SP (eq. 3)",
    "eop": "EOP (eq. 4)",
}


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
        What |N| of equal groups reaches by chance, of one or each model, from `nsigma.floor`. It is
        drawn as a dashed line in place of the bands: N below it is not evidence of a difference.
    colours : mapping, optional
        The colour of each group, so that several figures show a group in the same one.

    Returns
    -------
    matplotlib.axes.Axes
        σ on the vertical axis. A group without a bar is its own reference.

    Raises
    ------
    InputError
        A result with further dimensions.

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
    ax = new_axes(ax)
    levels = risk_levels(result)
    table = _table(result.n_absolute)
    table = table.where(np.isfinite(table))
    groups = result["group"].values
    by_place = dict(zip(groups, curve_colours(groups)))
    table.plot.bar(
        ax=ax,
        color=[(colours or by_place)[group] for group in groups],
        width=0.8,
        rot=0,
        edgecolor="white",
        zorder=3,
        legend=False,
    )
    highest = float(table.max(axis=None))
    if floor is None:
        highest = max(highest, max(levels.values()) + 0.6)
        _draw_risks(ax, levels, 1.3 * highest)
        ax.set_xlim(-0.5, 1.24 * len(table) - 0.5)  # room for the names of the levels
    else:
        highest = max(highest, float(floor.max()))
        places = np.arange(len(table))
        style = {"color": "black", "linestyle": "--", "linewidth": 1.2, "zorder": 5}
        label = "equal groups: 95 % are below"
        ax.hlines(np.atleast_1d(floor), places - 0.45, places + 0.45, label=label, **style)
    ax.set_ylim(0, 1.3 * highest)
    captions = [_reference_words(result)]
    finish(ax, "", WORDS["n_absolute"], captions, loc="upper left", ncols=2)
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


def n_matrix(result: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw |N| as a matrix of kinds of models and groups, in shades of risk.

    Parameters
    ----------
    result : xr.Dataset
        `n_absolute` over (finetuned or model, group) with the attribute `risk_levels`, as a study
        returns it.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        A row for each kind of model, a column for each group. A frame marks the group that a model
        was tuned to.

    Raises
    ------
    InputError
        A result with further dimensions.

    References
    ----------
    DeAlcala et al. (2023), Table II.

    Examples
    --------
    >>> import frkit as fk
    >>> import xarray as xr
    >>> coords = {"finetuned": ["all", "a"], "group": ["a", "b"]}
    >>> n = xr.DataArray([[1.3, 0.0], [0.5, 0.8]], coords, name="n_absolute")
    >>> printed = fk.nsigma.with_risk(n.to_dataset())
    >>> [text.get_text() for text in fk.plot.n_matrix(printed).get_yticklabels()]
    ['all', 'a']
    """
    import seaborn as sns

    require_returned("result", result, *RISKY)
    ax = new_axes(ax)
    levels = risk_levels(result)
    table = _table(result.n_absolute)
    # values above the last limit have the last colour, too
    limits = np.array([*levels.values(), max(levels.values()) + 1])
    colours = ListedColormap(_colours(len(levels)))
    norm = BoundaryNorm(limits, len(levels))
    bar = {"spacing": "uniform", "ticks": (limits[1:] + limits[:-1]) / 2}
    sns.heatmap(
        table,
        cmap=colours,
        norm=norm,
        cbar_kws=bar,
        ax=ax,
        annot=True,
        fmt=".2f",
        annot_kws={"color": "#222222"},
    )
    names = [f"{plain(name)}\nfrom {low:g}" for name, low in levels.items()]
    ax.collections[0].colorbar.ax.set_yticklabels(names, fontsize=SMALL)
    for name in set(table.columns) & set(table.index):
        corner = table.columns.get_loc(name) + 0.02, table.index.get_loc(name) + 0.03
        ax.add_patch(Rectangle(corner, 0.96, 0.94, fill=False, edgecolor="#222222", linewidth=1.6))
    rows = "tuned to" if FINETUNED in result.n_absolute.dims else table.index.name
    ax.set(xlabel="group evaluated", ylabel=rows)
    ax.tick_params(axis="y", rotation=0)
    print_captions(ax, ["|N| in σ of the reference group"])
    return ax


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
    require_dims("result", result.eer_mean, ("group",))
    ax = new_axes(ax)
    groups = result["group"].values
    place = np.arange(len(groups))
    table = result.eer.to_series().reset_index()
    # sticks, because the jitter of a strip plot depends on numpy's global seed
    sns.violinplot(
        table,
        ax=ax,
        x="group",
        y="eer",
        hue="group",
        palette=curve_colours(groups),
        inner="stick",
        inner_kws={"linewidth": 0.4, "color": "#8C8C8C", "alpha": 0.4},
        cut=0,
        alpha=0.3,
        width=0.75,
        legend=False,
    )
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
        whole = intervals.sel(group=groups)
        nominal = f"{100 * whole.attrs['level']:.4g} %"
        target = whole.attrs["target"]
        ends = [whole.estimate - whole.lower, whole.upper - whole.estimate]
        ax.errorbar(
            place + 0.12,
            whole.estimate,
            ends,
            fmt="D",
            mfc="white",
            label=plain(f"all people, {nominal} interval about {target}"),
            **style,
        )
    ax.set_xticks(place, [plain(group) for group in groups])
    add_headroom(ax, 0.2)
    size = f"{result.sizes[SUBSET]} subsets, people in each: {result.attrs.get('subset_size', '')}"
    captions = [size, _reference_words(result)]
    return finish(ax, "", "EER (share of pairs)", captions, grid="y", loc="upper left")


def dependence(result: xr.Dataset, variable: str, ax: Axes | None = None) -> Axes:
    """Draw one result of N-Sigma against the number of subsets, or the people in each, by group.

    The dashed line through a group's last point falls as 1/√size for σ, and rises as √size for |N|.

    Parameters
    ----------
    result : xr.Dataset
        What `nsigma.by_subsets` or `nsigma.by_subset_size` returned, of one model.
    variable : {"p_value", "n_absolute", "n_signed", "eer_sd", "tpr_sd", "sp", "eop"}
        What is drawn.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The horizontal axis is logarithmic, and the vertical one for p and σ. A p of 0 is left out.

    Raises
    ------
    InputError
        A variable over neither dimension, or over further ones.

    References
    ----------
    DeAlcala et al. (2023), section IV-C.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(60, 16, kappa=(10, 40), seed=0, groups={"a": {}, "b": {}})
    >>> scores = fk.score_tensor(mix.sample(5))
    >>> result = fk.n_sigma(scores, by="group", subsets=50, fpr=0.1)
    >>> fk.plot.dependence(fk.nsigma.by_subsets(result), "p_value").get_xlabel()
    'number K of subsets'
    """
    along = "n_subsets" if "n_subsets" in result.dims else "subset_size"
    require_dims("result", result[variable], (along, "group"))
    ax = new_axes(ax)
    sizes = result[along].values
    logarithmic = variable in LOGARITHMIC
    for group, colour, line in parts_of(result[variable], "group"):
        shown = line.where(line > 0) if logarithmic else line
        ax.plot(sizes, shown, "o-", color=colour, markersize=4, label=group)
        if along == "subset_size" and variable in SLOPES:
            growth = (sizes / sizes[-1]) ** SLOPES[variable]
            ax.plot(sizes, line[-1].item() * growth, "--", color=colour, linewidth=0.8)
    if variable == "p_value":
        ax.axhline(SIGNIFICANT, color="black", linewidth=0.8, linestyle=":", label="p = .05")
    ax.set(xscale="log", yscale="log" if logarithmic else "linear")
    if not logarithmic:
        add_headroom(ax, 0.3)
    ticks = sizes[:: -max(1, len(sizes) // 5)]  # the last one, of all subsets, has its tick
    ax.set_xticks(ticks, ticks.astype(str))
    ax.set_xticks([], minor=True)
    return finish(
        ax,
        ALONG[along],
        WORDS.get(variable, variable),
        ncols=2,
        loc="best" if logarithmic else "upper left",
    )
