"""Figures of the fairness indices: score distributions by group, and the nine values."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.patches import StepPatch

from frkit.base import GROUP, SCORE_BIN, require_returned
from frkit.plot.style import (
    COLOURS,
    SMALL,
    add_headroom,
    caption,
    finish,
    new_axes,
    plain,
    require_dims,
)

PAIRS = {"genuine pairs": "#009E73", "impostor pairs": "#D55E00"}
INDICES = {"sfi": COLOURS[0], "cfi": COLOURS[1], "dfi": COLOURS[3]}
VARIANT = "variant"
MADE_BY = "frkit.fairness_indices(scores, by=...)"
HISTOGRAMS = (
    "genuine_histogram",
    "impostor_histogram",
    "genuine_pairs",
    "impostor_pairs",
    GROUP,
    SCORE_BIN,
)
ROW = 0.88  # height of the highest histogram, as a share of its row


def score_histograms(found: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw genuine and impostor scores of every group, one row for each.

    Parameters
    ----------
    found : what `fairness_indices` returned, of one model. Histograms are those of each kind alone (sum 1); n counts
        the scores of both kinds.
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes: scores in [0, 1] along, groups upwards, the first on top.

    Raises
    ------
    InputError : several models.

    References
    ----------
    Kotwal & Marcel (2022), Figs. 1 and 3-5.

    Examples
    --------
    >>> import frkit as fk
    >>> fair = fk.fairness_indices(fk.canonical_scores(), by="group", score_map="identity", bins=20)
    >>> [label.get_text() for label in fk.plot.score_histograms(fair).get_yticklabels()][0]
    'group 1\\nn = 2,000'
    """
    require_returned("found", found, MADE_BY, *HISTOGRAMS, GROUP, SCORE_BIN)
    require_dims("found", found.genuine_histogram, (GROUP, SCORE_BIN))
    ax, groups, centres = new_axes(ax), found[GROUP].values, found[SCORE_BIN].values
    shares = {
        words: found[f"{words.split()[0]}_histogram"].transpose(GROUP, SCORE_BIN).values
        for words in PAIRS
    }
    highest, half = (
        max(values.max() for values in shares.values()) / ROW,
        (centres[1] - centres[0]) / 2,
    )
    edges = np.append(centres - half, centres[-1] + half)
    for words, colour in PAIRS.items():
        for foot, heights in enumerate(
            shares[words] / highest, start=1
        ):  # the axis points downwards
            style = {"edges": edges, "baseline": foot, "color": colour}
            # not by `Axes.stairs`, which looks for limits at every corner: they are set below
            ax.add_artist(
                StepPatch(foot - heights, fill=True, alpha=0.45, linewidth=0, label=words, **style)
            )
            ax.add_artist(StepPatch(foot - heights, fill=False, linewidth=0.8, **style))
    many = (found.genuine_pairs + found.impostor_pairs).values.tolist()
    names = [
        f"{plain(name)}\nn = {f'{n:,.0f}' if n < 1e6 else f'{n:.2e}'}"
        for name, n in zip(groups, many)
    ]
    ax.set(xlim=(0, 1), ylim=(len(groups), -0.35))
    ax.set_yticks(np.arange(len(groups)) + 0.6, names, fontsize=SMALL)
    return finish(ax, "score in [0, 1]", "", grid="x", ncols=2, loc="upper left")


def fairness_indices(found: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw the nine indices with their intervals and their floors.

    A cap of the colour of the index is the point that 5 % of the deals of people to random groups fall below; the
    shade from there to 1 is where no unfairness is shown.

    Parameters
    ----------
    found : what `fairness_indices` returned, of one model.
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes: indices along, their values upwards; the dotted line is a perfectly fair system.

    Raises
    ------
    InputError : several models.

    References
    ----------
    Kotwal & Marcel (2022), Tables 1-3.

    Examples
    --------
    >>> import frkit as fk
    >>> fair = fk.fairness_indices(fk.canonical_scores(), by="group", score_map="identity", bins=20)
    >>> fk.plot.fairness_indices(fair).get_ylabel()
    'fairness index (1 is fair)'
    """
    require_returned("found", found, MADE_BY, *INDICES, VARIANT)
    require_dims("found", found.sfi, (VARIANT,))
    ax, variants = new_axes(ax), found[VARIANT].values.astype(str)
    places = np.arange(len(variants)) + (len(variants) + 0.6) * np.arange(len(INDICES))[:, None]
    for x, (name, colour) in zip(places, INDICES.items(), strict=True):
        if f"{name}_floor_limit" in found:
            limit = found[f"{name}_floor_limit"].values
            shade = {
                "color": "#999999",
                "alpha": 0.3,
                "linewidth": 0,
                "label": "95 % of random groups",
            }
            ax.bar(x, 1 - limit, 0.72, bottom=limit, zorder=1, **shade)
            ax.hlines(limit, x - 0.36, x + 0.36, color=colour, linewidth=1.2, zorder=2)
        if f"{name}_lower" in found:
            ends = found[f"{name}_lower"], found[f"{name}_upper"]
            ax.vlines(x, *ends, color=colour, linewidth=2.2, alpha=0.7, zorder=3)
        ax.plot(x, found[name], "o", color=colour, markersize=6, label=name.upper(), zorder=4)
    ax.set_xticks(
        places.ravel(), [*variants] * len(INDICES), rotation=40, ha="right", fontsize=SMALL
    )
    ax.axhline(1, color="black", linewidth=0.9, linestyle=":")
    add_headroom(ax, 0.3)
    captions = [caption({**found.attrs, "method": "pivotal"})] if "scheme" in found.attrs else []
    return finish(
        ax, "", "fairness index (1 is fair)", captions, grid="y", loc="upper left", ncols=2
    )
