"""Figures of groups side by side: their ROC curves at common thresholds, and FAR between every two of them."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm

from frkit.base import FAR_LEVEL, GROUP, REFERENCE_GROUP, require
from frkit.plot.style import COLOURS, SMALL, caption, level_dimension, new_axes, plain, print_captions


def group_roc(far: xr.Dataset, frr: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw each group's own ROC curve, and grey lines through the points of one threshold.

    Were the groups alike, all points of a threshold would fall together.

    Parameters
    ----------
    far, frr : bands of "far_group" and "frr_group" of one model, over levels and group (rates in [0, 1]).
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes on log scales; the bands are those of FRR at the thresholds of the levels.

    Raises
    ------
    InputError : bands that do not run over levels and groups only.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(20, 60), seed=0).rotated_copies()
    >>> how = dict(far=[0.05, 0.1], by="group", resampling=fk.Resampling("image", n=50))
    >>> ev = fk.evaluate(fk.score_tensor(mix.sample(per_identity=6)), **how)
    >>> ax = fk.plot.group_roc(fk.band(ev, "far_group"), fk.band(ev, "frr_group"))
    >>> ax.get_xlabel()
    'FAR of the group (share of impostor pairs accepted)'
    """
    along = level_dimension(frr.estimate)
    for name, one in (("far", far), ("frr", frr)):
        require(
            set(one.estimate.dims) == {along, GROUP},
            f"{name} must run over {along} and group, got {one.estimate.dims}; select one model with .sel",
        )
    ax = new_axes(ax)
    x, y = (one.estimate.transpose(along, GROUP).where(lambda rate: rate > 0) for one in (far, frr))
    ax.plot(x.values.T, y.values.T, color="#BBBBBB", linewidth=0.8, zorder=1)
    for place, group in enumerate(frr[GROUP].values):
        own, colour = frr.sel({GROUP: group}), COLOURS[place % len(COLOURS)]
        at = x.sel({GROUP: group})
        lower = np.where(own.lower > 0, own.lower, y.min().item() / 3)
        ax.fill_between(at, lower, own.upper, color=colour, alpha=0.2, linewidth=0)
        ax.plot(at, y.sel({GROUP: group}), "o-", color=colour, markersize=3.5, label=plain(group))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(bottom=y.min().item() / 3)
    ax.set_xlabel(plain(far.attrs.get("label", "FAR of the group")))
    ax.set_ylabel(plain(frr.attrs.get("label", "FRR of the group")))
    ax.grid(True, which="major", color="#E5E5E5", linewidth=0.6)
    print_captions(ax, ["grey: one threshold for all", caption(frr.attrs)])
    ax.legend(fontsize=SMALL, frameon=False)
    return ax


def cross_matrix(rates: xr.DataArray, ax: Axes | None = None) -> Axes:
    """Draw the FAR between every two groups as a matrix; the diagonal holds the groups' own FAR.

    Parameters
    ----------
    rates : `far_cross` of an evaluation at one level and model, over group and reference_group, in [0, 1].
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes; colours are on a log scale, each cell holds its FAR.

    Raises
    ------
    InputError : rates over other dimensions.

    References
    ----------
    The cross-demographic matrix of NIST's FRVT part 3 and part 8 (Grother 2022).

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, seed=0, groups={"a": {}, "b": {"cohesion": 9}})
    >>> ev = fk.evaluate(fk.score_tensor(mix.sample(4)), far=[0.1], by="group")
    >>> ax = fk.plot.cross_matrix(ev["empirical"].far_cross.isel(far_level=0))
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['a', 'b']
    """
    require(
        set(rates.dims) == {GROUP, REFERENCE_GROUP},
        f"the matrix runs over group and reference_group, got {rates.dims}; select a level and model with .sel",
    )
    ax = new_axes(ax)
    values = rates.transpose(GROUP, REFERENCE_GROUP).values
    positive = values[values > 0]
    norm = LogNorm(positive.min(), positive.max() * (1 + 1e-9)) if positive.size else None
    ax.imshow(np.where(values > 0, values, np.nan), norm=norm, cmap="Blues", alpha=0.75)
    for (row, column), value in np.ndenumerate(values):
        ax.text(column, row, f"{value:.2g}", ha="center", va="center", fontsize=SMALL)
    names = [plain(name) for name in rates[GROUP].values]
    ax.set_xticks(range(len(names)), names)
    ax.set_yticks(range(len(names)), names)
    level = f", threshold at FAR {float(rates[FAR_LEVEL]):.3g} of all" if FAR_LEVEL in rates.coords else ""
    print_captions(ax, [f"FAR between groups{level}"])
    return ax
