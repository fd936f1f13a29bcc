"""The figure of coverage studies: along the nominal level, FAR or other quantities."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from frkit.base import require, require_one_of, require_returned
from frkit.plot.style import (
    COLOURS,
    LEVEL_WORDS,
    TRUTH,
    finish,
    new_axes,
    parts_of,
)

GOOD = (0.92, 0.98)  # around the usual nominal level of .95
USUAL = 0.95
ALONG_WORDS = {
    "level": "nominal coverage",
    "far_level": LEVEL_WORDS["far_level"],
    "per_identity": "images per identity",
    "dim": "dimension of the embeddings",
    "n_identities": "identities",
}
SELECTED_WORDS = {
    "level": "nominal {:g}",
    "scheme": "{} scheme",
    "method": "{}",
    "far_level": "FAR {:.2g}",
}


def coverage(
    study: xr.Dataset,
    along: str = "level",
    ax: Axes | None = None,
    *,
    printed: xr.DataArray | None = None,
) -> Axes:
    """Draw the estimated coverage along the nominal level, FAR or another quantity.

    Parameters
    ----------
    study : xr.Dataset
        `coverage` over `along` and, for several lines, method or scheme, as `studies.coverage`
        returns it. Select all else. Where `resolved` is there, points of levels that fewer than
        half of the data sets resolve are hollow.
    along : str
        Name of the horizontal dimension: level, far_level, per_identity, dim, ...
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    printed : xr.DataArray, optional
        Published coverages over method and level, drawn as hollow diamonds where `along` is level.

    Returns
    -------
    matplotlib.axes.Axes
        A line for each method or scheme, with two Monte Carlo standard errors shaded where the
        study has them, and the target dashed. At nominal .95 the range from .92 to .98 is shaded.

    Raises
    ------
    InputError
        `along` is not a dimension, or more than one other dimension is left.

    References
    ----------
    Conti & Clémençon (2024), appendix B.1, Figs. 6 and 9.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> options = dict(far=[0.1, 0.2], replicates=20, progress=False)
    >>> study = fk.studies.coverage(mix, n_datasets=4, **options)
    >>> fk.plot.coverage(study.sel(far_level=0.1)).get_xlabel()
    'nominal coverage'
    """
    require_returned("study", study, "fk.studies.coverage", "coverage")
    dims = [dim for dim in study.coverage.dims if dim in study.coords]
    require_one_of("along, a dimension of the study,", along, dims)
    study = study.squeeze([dim for dim in dims if study.sizes[dim] == 1 and dim != along])
    others = [dim for dim in study.coverage.dims if dim != along]
    require(
        len(others) <= 1,
        f"study has one line for each value of {others}: select all but one of these dimensions",
    )
    ax = new_axes(ax)
    x = _places(ax, study[along])
    _draw_target(ax, float(study.get("level", USUAL)) if along != "level" else None)
    for name, colour, line in parts_of(study, *(others or ["line"])):
        _draw_line(ax, x, line, colour, name)
        if printed is not None and along == "level" and name in printed["method"]:
            shown = printed.sel({"method": name})
            hollow = {"color": colour, "markerfacecolor": "none"}
            ax.plot(printed.level, shown, "D", label=f"{name}, printed", **hollow)
    settings = [
        text.format(study[name].item())
        for name, text in SELECTED_WORDS.items()
        if name in study.coords and study[name].ndim == 0
    ]
    captions = [", ".join(settings), study.attrs.get("words", "")]
    return finish(ax, ALONG_WORDS.get(along, along), "estimated coverage", captions)


def _places(ax, labels):
    """Prepare the horizontal axis; return where the values of its dimension stand."""
    if labels.name == "far_level":
        ax.set_xscale("log")
        ax.xaxis.set_minor_formatter(NullFormatter())
    elif labels.name == "level":
        ax.set_xlim(0, 1)
    else:  # at equal steps
        ax.set_xticks(np.arange(labels.size), labels.values.astype(str))
        return np.arange(labels.size)
    return labels.values


def _draw_target(ax, nominal):
    """Draw the line of the nominal level; without one the diagonal of all levels."""
    style = {"color": TRUTH, "linestyle": "--", "linewidth": 1}
    if nominal is None:
        ax.plot([0, 1], [0, 1], label="target", **style)
        ax.set_ylim(-0.02, 1.02)
        return
    ax.axhline(nominal, **style)
    if np.isclose(nominal, USUAL):
        good = f"{GOOD[0]:.2f} to {GOOD[1]:.2f}"
        ax.axhspan(*GOOD, color=COLOURS[6], alpha=0.18, linewidth=0, label=good)


def _draw_line(ax, x, study, colour, label):
    """Draw one line, with two Monte Carlo standard errors to either side where there are some."""
    values = study.coverage.values
    ax.plot(x, values, color=colour, linewidth=1.3, label=label)
    resolved = np.broadcast_to(study.get("resolved", 1.0), x.shape) >= 0.5
    inside = np.where(resolved, colour, "white")
    ax.scatter(x, values, 16, facecolors=inside, edgecolors=colour, zorder=3)
    if "coverage_se" in study:
        noise = 2 * study.coverage_se.values
        lower, upper = np.clip([values - noise, values + noise], 0, 1)
        ax.fill_between(x, lower, upper, color=colour, alpha=0.1, linewidth=0)
