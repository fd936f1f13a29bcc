"""Figures of the fairness indices: score distributions by group, the nine values, and sizes of samples."""

from collections.abc import Mapping

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from frkit.base import GROUP, MODEL, SCORE_BIN, require
from frkit.plot.style import COLOURS, SMALL, caption, new_axes, plain, print_captions

GENUINE, IMPOSTOR, GRID = "#009E73", "#E69F00", "#E5E5E5"
INDICES = {"sfi": COLOURS[0], "cfi": COLOURS[1], "dfi": COLOURS[3]}
VARIANT = "variant"
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
    _require_one(found)
    ax, names, edges = new_axes(ax), found[GROUP].values, _edges(found[SCORE_BIN].values)
    highest = max(float(found[f"{kind}_histogram"].max()) for kind in ("genuine", "impostor"))
    for row, name in enumerate(names):
        own = found.sel({GROUP: name})
        for kind, colour in (("impostor", IMPOSTOR), ("genuine", GENUINE)):
            height = own[f"{kind}_histogram"].values * ROW / highest - row
            label = f"{kind} pairs" if row == 0 else None
            ax.stairs(height, edges, baseline=-row, fill=True, color=colour, alpha=0.45, label=label)
            ax.stairs(height, edges, baseline=-row, color=colour, linewidth=0.8)
    many = (found.genuine_pairs + found.impostor_pairs).values.tolist()
    words = [f"n = {n:,.0f}" if n < 1e6 else f"n = {n:.2e}" for n in many]
    words = [f"{plain(name)}\n{word}" for name, word in zip(names, words, strict=True)]
    ax.set_yticks(-np.arange(len(names)), words, fontsize=SMALL - 1)
    ax.set_ylim(-len(names) + 0.9, 1.35)
    ax.set_xlim(0, 1)
    ax.set_xlabel("score in [0, 1]")
    ax.grid(True, axis="x", color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.legend(fontsize=SMALL, frameon=False, ncols=2, loc="upper left")
    return ax


def fairness_indices(found: xr.Dataset, ax: Axes | None = None, *, printed: Mapping[str, tuple] | None = None) -> Axes:
    """Draw the nine indices with their intervals, their floors, and printed values beside them.

    A cap of the colour of the index is the point that 5 % of the deals of people to random groups fall below; the
    shade from there to 1 is where no unfairness is shown.

    Parameters
    ----------
    found : what `fairness_indices` returned, of one model.
    ax : matplotlib Axes; a new figure when left out.
    printed : mapping of "sfi", "cfi", "dfi" to values for normal, extremal, weighted, drawn as diamonds.

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
    _require_one(found)
    ax, printed = new_axes(ax), printed or {}
    variants = found[VARIANT].values.astype(str)
    for at, (name, colour) in enumerate(INDICES.items()):
        x = at * (len(variants) + 0.6) + np.arange(len(variants))
        _draw_floor(ax, found, name, x, colour, words=at == 0)
        if f"{name}_lower" in found:
            ends = found[f"{name}_lower"].values, found[f"{name}_upper"].values
            ax.vlines(x, *ends, color=colour, linewidth=2.2, alpha=0.7, zorder=3)
        ax.plot(x, found[name], "o", color=colour, markersize=6, label=name.upper(), zorder=4)
        if name in printed:
            label = "printed in the paper" if name == next(iter(printed)) else None
            style = {"color": "black", "markerfacecolor": "none", "markersize": 6, "linestyle": "none"}
            ax.plot(x + 0.22, printed[name], "D", **style, label=label, zorder=5)
    places = [at * (len(variants) + 0.6) + v for at in range(len(INDICES)) for v in range(len(variants))]
    ax.set_xticks(places, list(variants) * len(INDICES), rotation=40, ha="right", fontsize=SMALL)
    ax.axhline(1, color="black", linewidth=0.9, linestyle=":")
    ax.set_ylabel("fairness index (1 is fair)")
    ax.grid(True, axis="y", color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    bottom, top = ax.get_ylim()
    ax.set_ylim(bottom, top + 0.22 * (top - bottom))  # room for the legend
    ax.legend(fontsize=SMALL, frameon=False, loc="upper left", ncols=3)
    if "scheme" in found.attrs:
        print_captions(ax, [caption({**found.attrs, "method": "pivotal"})])
    return ax


def _draw_floor(ax: Axes, found: xr.Dataset, name: str, x: np.ndarray, colour: str, *, words: bool) -> None:
    """The region in which random groups lie."""
    if f"{name}_floor_limit" not in found:
        return
    limit = found[f"{name}_floor_limit"].values
    label = "95 % of random groups" if words else None
    ax.bar(x, 1 - limit, 0.72, bottom=limit, color="#999999", alpha=0.3, linewidth=0, label=label, zorder=1)
    ax.hlines(limit, x - 0.36, x + 0.36, color=colour, linewidth=1.2, zorder=2)


def components(found: xr.Dataset, ax: Axes | None = None, *, of: str = "z_separation") -> Axes:
    """Draw one part of the groups and its mean: the indices are made of the distances from that line.

    Parameters
    ----------
    found : what `fairness_indices` returned, of one model.
    ax : matplotlib Axes; a new figure when left out.
    of : "z_separation" or "z_compactness".

    Returns
    -------
    matplotlib Axes: a bar for each group.

    Raises
    ------
    InputError : several models, or no such part.

    References
    ----------
    Kotwal & Marcel (2022), section 3.2.

    Examples
    --------
    >>> import frkit as fk
    >>> fair = fk.fairness_indices(fk.canonical_scores(), by="group", score_map="identity", bins=20)
    >>> len(fk.plot.components(fair).patches)
    3
    """
    words = {"z_separation": "mean genuine - mean impostor score", "z_compactness": "sd genuine + sd impostor scores"}
    _require_one(found)
    require(of in words, f"of must be one of {', '.join(words)}, got {of!r}")
    ax, z = new_axes(ax), found[of]
    ax.bar(np.arange(z.size), z, 0.6, color=COLOURS[5])
    mean = float(z.mean())
    ax.axhline(mean, color="black", linestyle="--", linewidth=1.1, label="mean of the groups")
    for at, value in enumerate(z.values):
        ax.annotate(
            f"{value - mean:+.4f}", (at, value), (0, 3), textcoords="offset points", ha="center", fontsize=SMALL
        )
    ax.set_xticks(np.arange(z.size), [plain(name) for name in z[GROUP].values], fontsize=SMALL)
    ax.set_ylim(0, 1.3 * float(z.max()))
    ax.set_ylabel(words[of])
    ax.legend(fontsize=SMALL, frameon=False, loc="upper right")
    return ax


def index_by_size(found: xr.Dataset, ax: Axes | None = None, *, index: str = "dfi") -> Axes:
    """Draw one index against the size of the samples, with what random groups of these sizes give.

    Parameters
    ----------
    found : results of `fairness_indices` joined over `size` (any numbers, ascending) with `xarray.concat`.
    ax : matplotlib Axes; a new figure when left out.
    index : "sfi", "cfi" or "dfi".

    Returns
    -------
    matplotlib Axes: sizes on a log axis; solid lines are the data, dashed ones the median of random groups.

    Raises
    ------
    InputError : results without `size`.

    References
    ----------
    Kotwal & Marcel (2022), Table 3, whose "imbalanced fair" column differs from the balanced one by size alone.

    Examples
    --------
    >>> import frkit as fk, xarray as xr
    >>> how = dict(by="group", score_map="identity", bins=2)
    >>> every = [fk.fairness_indices(fk.canonical_scores(sizes=(n, n)), **how) for n in (100, 200)]
    >>> ax = fk.plot.index_by_size(xr.concat(every, xr.DataArray([100, 200], dims="size", name="size")))
    >>> ax.get_ylabel()
    'DFI (1 is fair)'
    """
    require("size" in found.dims, "found must run over 'size': join results with xarray.concat(..., dim='size')")
    ax = new_axes(ax)
    for colour, variant in zip(COLOURS, found[VARIANT].values.astype(str)):
        own = found.sel({VARIANT: variant})
        ax.plot(own["size"], own[index], "o-", color=colour, label=variant, markersize=4)
        if f"{index}_floor" in found:
            ax.plot(own["size"], own[f"{index}_floor"], "--", color=colour, label=f"{variant}, random groups")
    ax.set_xscale("log")
    ax.axhline(1, color="black", linewidth=0.9, linestyle=":")
    ax.set_xlabel("size of the samples")
    ax.set_ylabel(f"{index.upper()} (1 is fair)")
    ax.grid(True, color=GRID, linewidth=0.6)
    ax.legend(fontsize=SMALL, frameon=False, loc="lower right")
    return ax


def _edges(centres: np.ndarray) -> np.ndarray:
    """Edges of equal bins."""
    step = centres[1] - centres[0]
    return np.append(centres - step / 2, centres[-1] + step / 2)


def _require_one(found: xr.Dataset) -> None:
    require(MODEL not in found.dims, "this result holds several models: select one with .sel(model=...)")
