"""Genuine and impostor scores of a system, with its threshold."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from frkit.base import require_returned
from frkit.plot.style import COLOURS, finish, new_axes, require_dims

KINDS = {"genuine": COLOURS[2], "impostor": COLOURS[3]}
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
        Scores on the horizontal axis, shares on the vertical one. The dark areas are the errors.

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
    require_dims("result", result, ("score_bin",), "genuine_histogram")
    ax = new_axes(ax)
    shares = {kind: result[f"{kind}_histogram"] for kind in KINDS}
    threshold, distance = float(result.threshold), bool(result.attrs.get("distance"))
    draw_errors(ax, shares, threshold, distance)
    ax.lines[0].set_label(f"threshold {threshold:.3g}")
    if "lower" in result and np.isfinite(result.upper - result.lower):
        ax.axvspan(float(result.lower), float(result.upper), color="black", alpha=0.15, linewidth=0)
    is_filled = sum(shares.values()) > 0
    ax.set_xlim(result.score_bin[is_filled].min(), result.score_bin[is_filled].max())
    ax.set_ylim(bottom=0)
    return finish(ax, AXIS[distance], "share of the scores of each kind", grid="y")


def draw_errors(ax, shares, threshold, distance):
    """Draw two histograms, the threshold, and darker the errors on its wrong sides.

    distance : whether small scores are accepted.
    """
    edges = edges_of(shares["genuine"].score_bin.values)
    wrong = {"genuine": (edges[0], threshold), "impostor": (threshold, edges[-1])}
    if distance:
        wrong = {"genuine": wrong["impostor"], "impostor": wrong["genuine"]}
    areas = {"genuine": "rejected: FRR", "impostor": "accepted: FAR"}
    for kind, colour in KINDS.items():
        heights = shares[kind].values
        ax.stairs(heights, edges, fill=True, color=colour, alpha=0.25, label=f"{kind} scores")
        errors = np.clip(edges, *wrong[kind])
        ax.stairs(heights, errors, fill=True, color=colour, label=f"{kind}, {areas[kind]}")
    ax.axvline(threshold, color="black", linewidth=1.5)


def edges_of(middles):
    """Edges of bins of one width, by their middles."""
    half = (middles[1] - middles[0]) / 2
    return np.append(middles - half, middles[-1] + half)
