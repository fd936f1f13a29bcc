"""Genuine and impostor scores of a system, with its threshold."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from frkit.base import require_returned
from frkit.plot.indices import KINDS
from frkit.plot.style import finish, new_axes, require_dims

AXIS = {False: "score (more alike to the right)", True: "distance (more alike to the left)"}


def genuine_and_impostor(result: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw the histograms of genuine and impostor scores, and the threshold between them.

    Parameters
    ----------
    result : xr.Dataset
        `genuine` and `impostor`, the share of the scores of each kind in each bin, over `bin`;
        `edge`, the ends of the bins; `threshold`, with `lower` and `upper` where it has an
        interval. attrs["distance"]: whether smaller scores mean more alike.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Scores along, shares upwards.

    Raises
    ------
    InputError
        Several models or levels at once.

    Examples
    --------
    >>> import frkit as fk
    >>> import xarray as xr
    >>> shares = {"genuine": ("bin", [0.1, 0.9]), "impostor": ("bin", [0.8, 0.2])}
    >>> result = xr.Dataset(shares | {"edge": [-1.0, 0.0, 1.0], "threshold": 0.4})
    >>> fk.plot.genuine_and_impostor(result).get_ylabel()
    'share of the scores of each kind'
    """
    require_returned("result", result, "a report", *KINDS, "edge", "threshold")
    require_dims("result", result.genuine, ("bin",))
    ax = new_axes(ax)
    edges = result["edge"].values
    for kind, colour in KINDS.items():
        ax.stairs(
            result[kind].values,
            edges,
            fill=True,
            facecolor=(colour, 0.45),
            edgecolor=colour,
            linewidth=0.8,
            label=f"{kind} pairs",
        )
    threshold = float(result.threshold)
    ax.axvline(threshold, color="black", linewidth=1.2, label=f"threshold {threshold:.3g}")
    if "lower" in result and np.isfinite(result.upper - result.lower):
        ax.axvspan(float(result.lower), float(result.upper), color="black", alpha=0.15, linewidth=0)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(bottom=0)
    label = AXIS[bool(result.attrs.get("distance"))]
    return finish(ax, label, "share of the scores of each kind", grid="y")
