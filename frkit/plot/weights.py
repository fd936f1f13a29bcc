"""Figures of the weights that groups of unequal size get in the fairness indices."""

from collections.abc import Mapping

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from frkit.base import GROUP, require
from frkit.plot.style import COLOURS, SMALL, new_axes, plain

GRID = "#E5E5E5"
BAR = 0.8  # width of a group of bars, as a share of its place


def weight_curves(curves: xr.DataArray, ax: Axes | None = None) -> Axes:
    """Draw weights, not yet divided by their sum, against the share of a group.

    Parameters
    ----------
    curves : over (n_groups, share), from `measures.unnormalised_weight`.
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes: a line for each number of groups; a dot marks equal shares.

    Raises
    ------
    InputError : other dimensions.

    References
    ----------
    Kotwal & Marcel (2022), Fig. 2.

    Examples
    --------
    >>> import numpy as np, xarray as xr, frkit as fk
    >>> share = np.linspace(0, 1, 11)
    >>> values = [fk.measures.unnormalised_weight(share, n) for n in (2, 3)]
    >>> curves = xr.DataArray(values, {"n_groups": [2, 3], "share": share}, ("n_groups", "share"))
    >>> [line.get_label() for line in fk.plot.weight_curves(curves).lines[::2]]
    ['K = 2', 'K = 3']
    """
    require(set(curves.dims) == {"n_groups", "share"}, f"curves must run over n_groups and share, got {curves.dims}")
    ax = new_axes(ax)
    for colour, n in zip(COLOURS, curves.n_groups.values):
        own = curves.sel(n_groups=n)
        ax.plot(own.share, own, color=colour, label=f"K = {n}")
        equal = own.interp(share=1 / n)
        ax.plot([float(equal.share)], [float(equal)], "o", color=colour, markersize=5)
    ax.set_xlabel("share of the group, N_i / N (dot: equal shares)")
    ax.set_ylabel("weight before division by the sum")
    ax.grid(True, color=GRID, linewidth=0.6)
    ax.legend(fontsize=SMALL, frameon=False)
    return ax


def group_weights(rules: Mapping[str, xr.DataArray], ax: Axes | None = None) -> Axes:
    """Draw the groups' weights under several rules side by side.

    Parameters
    ----------
    rules : mapping of words to weights over `group`, each with sum 1.
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes: bars, grouped by group.

    Raises
    ------
    InputError : no rule.

    References
    ----------
    Kotwal & Marcel (2022), section 3.1.

    Examples
    --------
    >>> import frkit as fk
    >>> fk.plot.group_weights({"paper": fk.measures.fusion_weights({"a": 100, "b": 900})}).get_ylabel()
    'weight of the group (sum 1)'
    """
    require(len(rules) > 0, "there is no rule to draw")
    ax, width = new_axes(ax), BAR / len(rules)
    names = next(iter(rules.values()))[GROUP].values
    for at, (words, weights) in enumerate(rules.items()):
        x = np.arange(len(names)) - BAR / 2 + (at + 0.5) * width
        ax.bar(x, weights.sel({GROUP: names}), width, color=COLOURS[at % len(COLOURS)], label=plain(words))
    ax.set_xticks(np.arange(len(names)), [plain(name) for name in names], fontsize=SMALL)
    ax.set_ylabel("weight of the group (sum 1)")
    ax.grid(True, axis="y", color=GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.legend(fontsize=SMALL, frameon=False)
    return ax
