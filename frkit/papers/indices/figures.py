"""Figures of the fairness indices: score distributions by group, and the nine values."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from frkit.figures.marks import checked_axes, histogram, intervals, reference
from frkit.figures.style import BELOW, COLOURS, caption, finish, plain
from frkit.figures.threshold import KINDS
from frkit.intervals.rows import LIMIT, rows_of

INDICES = {"sfi": COLOURS[0], "cfi": COLOURS[1], "dfi": COLOURS[4]}
VARIANT = "variant"
KIND = "fairness_indices"
ROW = 0.88  # height of the highest histogram, as a share of its row


def score_histograms(result: xr.Dataset, ax: Axes | None = None) -> Axes:
    r"""Draw genuine and impostor scores of every group, one row for each.

    Parameters
    ----------
    result : xr.Dataset
        What `fairness_indices` returned, of one model. Histograms are those of each kind alone (sum
        1); n counts the scores of both kinds.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Scores in [0, 1] along, groups upwards, the first on top.

    Raises
    ------
    InputError
        Several models.

    References
    ----------
    Kotwal & Marcel (2022), Figs. 1 and 3-5.

    Examples
    --------
    >>> import frkit as fk
    >>> scores = fk.canonical_scores()
    >>> fair = fk.fairness_indices(scores, by="group", score_map="identity", bins=20)
    >>> [label.get_text() for label in fk.plot.score_histograms(fair).get_yticklabels()][0]
    'group 1\nn = 2,000'
    """
    dims = ("group", "score_bin")
    ax = checked_axes(ax, "result", result, KIND, "genuine_histogram", dims)
    groups = result["group"].values
    edges = np.linspace(0, 1, result.sizes["score_bin"] + 1)
    shares = xr.concat([result[f"{kind}_histogram"] for kind in KINDS], "kind")
    heights = shares.transpose("kind", "group", "score_bin").values * ROW / shares.values.max()
    for (kind, colour), heights_of_kind in zip(KINDS.items(), heights):
        for foot, row in enumerate(heights_of_kind, start=1):  # the axis points down
            histogram(ax, -row, edges, colour, f"{kind} pairs", alpha=0.45, foot=foot)
    n_scores = (result.genuine_pairs + result.impostor_pairs).values
    names = [f"{plain(group)}\nn = {n:,.0f}" for group, n in zip(groups, n_scores)]
    ax.set(xlim=(0, 1), ylim=(len(groups), -0.35))
    ax.set_yticks(np.arange(len(groups)) + 0.6, names)
    return finish(ax, "score in [0, 1]", "", grid="x", ncols=2, loc="upper left")


def fairness_indices(result: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw the nine indices with their intervals and their floors.

    A cap of the colour of the index is the point that 5 % of the permutations of people's labels
    fall below. The shade from there to 1 is where no unfairness is shown.

    Parameters
    ----------
    result : xr.Dataset
        What `fairness_indices` returned, of one model.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Indices along, their values upwards; the dotted line is a perfectly fair system.

    Raises
    ------
    InputError
        Several models.

    References
    ----------
    Kotwal & Marcel (2022), Tables 1-3.

    Examples
    --------
    >>> import frkit as fk
    >>> scores = fk.canonical_scores()
    >>> fair = fk.fairness_indices(scores, by="group", score_map="identity", bins=20)
    >>> fk.plot.fairness_indices(fair).get_ylabel()
    'fairness index (1 is fair)'
    """
    ax = checked_axes(ax, "result", result, KIND, "sfi", (VARIANT,))
    variants = result[VARIANT].values.tolist()
    rows = rows_of(result).assign(index=np.repeat([*INDICES], len(variants)))
    place = np.arange(len(rows))
    rows["x"] = place + 0.6 * (place // len(variants))  # a gap between indices
    if LIMIT in rows:
        label = f"{100 * result.attrs['level']:g} % of random groups"
        ax.bar(
            rows.x,
            1 - rows[LIMIT],
            width=0.72,
            bottom=rows[LIMIT],
            color="#999999",
            alpha=0.3,
            linewidth=0,
            label=label,
        )
    for name, index in rows.groupby("index", sort=False):
        colour = INDICES[name]
        if LIMIT in rows:
            ax.hlines(index[LIMIT], index.x - 0.36, index.x + 0.36, color=colour)
        if "lower" in rows:
            intervals(ax, index.x, index.lower, index.upper, colour)
        ax.plot(index.x, index.estimate, "o", color=colour, label=name.upper())
    ax.set_xticks(rows.x, variants * len(INDICES), rotation=40, ha="right")
    reference(ax, 1, None, ":")
    has_intervals = "lower" in rows and bool(np.isfinite(rows.lower).any())
    captions = [caption({**result.attrs, "method": "pivotal"})] if has_intervals else []
    legend = BELOW | {"bbox_to_anchor": (0.5, -0.24)}  # beneath names that stand aslant
    return finish(ax, "", "fairness index (1 is fair)", captions, grid="y", **legend)
