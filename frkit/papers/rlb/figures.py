"""Figures of representation bias: estimates with intervals, in sample and held out."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from frkit.base import require, require_returned
from frkit.figures.marks import intervals
from frkit.figures.style import COLOURS, UNRESOLVED, finish, new_axes, plain


def representation_bias(result: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw RLB with two standard errors, its in-sample value and the smallest detectable value.

    Parameters
    ----------
    result : xr.Dataset
        What `representation_bias` returned, over one dimension such as model or attribute (or
        none); or any Dataset with `rlb` and `rlb_se`. `rlb_in_sample` and `smallest_detectable` are
        drawn where present.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Labels along, RLB upwards.

    Raises
    ------
    InputError
        More than one dimension.

    References
    ----------
    Li & Abd-Almageed (2021), eq. 1.

    Examples
    --------
    >>> import frkit as fk
    >>> import xarray as xr
    >>> rlb, se = ("model", [0.1, 0.3]), ("model", [0.02, 0.03])
    >>> result = xr.Dataset({"rlb": rlb, "rlb_se": se}, {"model": ["A", "B"]})
    >>> [text.get_text() for text in fk.plot.representation_bias(result).get_xticklabels()]
    ['A', 'B']
    """
    require_returned("result", result, "fk.representation_bias", "rlb")
    require(
        result.rlb.ndim <= 1,
        f"RLB over one dimension can be drawn, got {result.rlb.dims}; select with .sel(...)",
    )
    if result.rlb.ndim == 0:
        result = result.expand_dims({"": ["all images"]})
    (along,) = result.rlb.dims
    ax = new_axes(ax)
    x = np.arange(result.rlb.size)
    rlb, reach = result.rlb, 2 * result.rlb_se
    label = "held out, ± 2 standard errors"
    intervals(ax, x, rlb - reach, rlb + reach, COLOURS[0], label, rlb)
    if "rlb_in_sample" in result:
        values, label = result.rlb_in_sample, "in sample"
        ax.plot(x, values, "o", color=UNRESOLVED, markerfacecolor="none", label=label)
    if "smallest_detectable" in result:
        values, label = result.smallest_detectable, "smallest that can be detected"
        ax.plot(x, values, "_", color=COLOURS[3], markersize=16, label=label)
    ax.set_xticks(x, map(plain, result[along].values))
    ax.set_xlim(-0.5, x.size - 0.5)
    return finish(ax, along, "RLB (share of the attribute's entropy)", grid="y")
