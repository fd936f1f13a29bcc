"""Genuine and impostor scores of a system, with its threshold."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from frkit.base import require_returned
from frkit.plot.indices import KINDS
from frkit.plot.style import finish, new_axes, require_dims

HISTOGRAMS = ("evaluate(..., histogram=...)", *(f"{kind}_histogram" for kind in KINDS))
AXIS = {False: "score (more alike to the right)", True: "distance (more alike to the left)"}


def genuine_and_impostor(result: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw the histograms of genuine and impostor scores, and the threshold between them.

    Parameters
    ----------
    result : xr.Dataset
        `genuine_histogram` and `impostor_histogram` of `evaluate(..., histogram=...)`, of one
        model; `threshold`, with `lower` and `upper` where it has an interval. attrs["distance"]:
        whether smaller scores mean more alike.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Scores on the horizontal axis, shares on the vertical one.

    Raises
    ------
    InputError
        Several models or levels at once.

    Examples
    --------
    >>> import frkit as fk
    >>> scores = fk.score_tensor(fk.vmf.mixture(20, 16, seed=0).sample(per_identity=6))
    >>> rates = fk.evaluate(scores, far=[0.1], histogram=50)["empirical"].to_dataset()
    >>> fk.plot.genuine_and_impostor(rates.isel(far_level=0)).get_ylabel()
    'share of the scores of each kind'
    """
    require_returned("result", result, *HISTOGRAMS, "threshold")
    require_dims("result", result.genuine_histogram, ("score_bin",))
    ax = new_axes(ax)
    edges = edges_of(result["score_bin"].values)
    for kind, colour in KINDS.items():
        ax.stairs(
            result[f"{kind}_histogram"].values,
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
    is_filled = (result.genuine_histogram + result.impostor_histogram).values > 0
    ax.set_xlim(edges[:-1][is_filled].min(), edges[1:][is_filled].max())
    ax.set_ylim(bottom=0)
    label = AXIS[bool(result.attrs.get("distance"))]
    return finish(ax, label, "share of the scores of each kind", grid="y")


def edges_of(middles):
    """Edges of bins of one width, by their middles."""
    half = (middles[1] - middles[0]) / 2
    return np.append(middles - half, middles[-1] + half)
