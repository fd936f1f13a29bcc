"""Figures of coverage studies: by nominal level, along FAR or other things, and error laws."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from frkit.base import require, require_one_of, require_returned
from frkit.plot.style import (
    COLOURS,
    LEVEL_WORDS,
    TRUTH,
    UNRESOLVED,
    at_far,
    finish,
    new_axes,
    parts_of,
)

GOOD = (0.92, 0.98)  # around the usual nominal level of .95
USUAL = 0.95
ALONG_WORDS = {
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
STUDY = ("studies.coverage(mixture)", "coverage", "method", "level", "far_level")
ERROR_WORDS = {
    "naive": r"naive: $\theta^* - \hat\theta$",
    "recentered": r"recentered: $\theta^* - \tilde\theta$",
    "actual": r"actual: $\hat\theta - \theta$",
}


def coverage(
    study: xr.Dataset,
    far: float,
    ax: Axes | None = None,
    *,
    printed: xr.DataArray | None = None,
) -> Axes:
    """Draw the estimated coverage of every method against the nominal one, at one FAR level.

    Parameters
    ----------
    study : xr.Dataset
        What `studies.coverage` returned, of one scheme.
    far : float
        One of its FAR levels; the nearest one is shown.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    printed : xr.DataArray, optional
        Published coverages over method and level, drawn as hollow markers.

    Returns
    -------
    matplotlib.axes.Axes
        A dashed diagonal (the target) and a line for each method, with two Monte Carlo standard
        errors shaded to either side.

    Raises
    ------
    InputError
        Several schemes at once, or no coverage in the study.

    References
    ----------
    Conti & Clémençon (2024), Figs. 6 and 9.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> options = dict(far=[0.1, 0.2], replicates=20, progress=False)
    >>> study = fk.studies.coverage(mix, n_datasets=4, **options)
    >>> fk.plot.coverage(study, far=0.1).get_xlabel()
    'nominal coverage'
    """
    require_returned("study", study, *STUDY)
    study, level = _at_level(study, far)
    ax = new_axes(ax)
    ax.plot([0, 1], [0, 1], "--", color=TRUTH, linewidth=1, label="target")
    for method, colour, line in parts_of(study, "method"):
        _draw_line(ax, study.level, line, colour, method, marker="o", markersize=3)
        if printed is not None and method in printed["method"]:
            shown = printed.sel({"method": method})
            hollow = {"color": colour, "markerfacecolor": "none"}
            ax.plot(printed.level, shown, "D", label=f"{method}, printed", **hollow)
    ax.set(xlim=(0, 1), ylim=(-0.02, 1.02))
    captions = [level, study.attrs.get("words", "")]
    return finish(ax, "nominal coverage", "estimated coverage", captions)


def coverage_along(study: xr.Dataset, along: str = "far_level", ax: Axes | None = None) -> Axes:
    """Draw the coverage at one nominal level along FAR or another quantity.

    Parameters
    ----------
    study : xr.Dataset
        `coverage` over `along` and, for several lines, method or scheme. Select all else, the
        nominal level too. Where `resolved` is there, points of levels that fewer than half of the
        data sets resolve are hollow.
    along : str
        Name of the horizontal dimension: far_level, per_identity, dim, ...
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        A line for each method or scheme, with two Monte Carlo standard errors shaded where the
        study has them. At nominal .95 the range from .92 to .98 is shaded.

    Raises
    ------
    InputError
        `along` is not a dimension, or more than one other dimension is left.

    References
    ----------
    Conti & Clémençon (2024), appendix B.1.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> options = dict(far=[0.1, 0.2], replicates=20, progress=False)
    >>> study = fk.studies.coverage(mix, n_datasets=4, **options)
    >>> ax = fk.plot.coverage_along(study.sel(level=0.95).isel(scheme=0))
    >>> ax.get_xscale()
    'log'
    """
    dims = [dim for dim in study.coverage.dims if dim in study.coords]
    require_one_of("along, a dimension of the study,", along, dims)
    others = [dim for dim in study.coverage.dims if dim != along]
    require(
        len(others) <= 1,
        f"study has one line for each value of {others}: select all but one of these dimensions",
    )
    ax = new_axes(ax)
    x = study[along].values
    selected = {name: coord.item() for name, coord in study.coords.items() if coord.ndim == 0}
    nominal = selected.get("level", USUAL)
    if np.isclose(nominal, USUAL):
        good = f"{GOOD[0]:.2f} to {GOOD[1]:.2f}"
        ax.axhspan(*GOOD, color=COLOURS[6], alpha=0.18, linewidth=0, label=good)
    ax.axhline(nominal, color=TRUTH, linestyle="--", linewidth=1)
    if along == "far_level":
        ax.set_xscale("log")
        ax.xaxis.set_minor_formatter(NullFormatter())
    else:
        x = np.arange(x.size)  # other quantities are drawn at equal steps
        ax.set_xticks(x, study[along].values.astype(str))
    for name, colour, line in parts_of(study, *(others or ["line"])):
        _draw_line(ax, x, line, colour, name)
        resolved = np.broadcast_to(line.get("resolved", 1.0), x.shape) >= 0.5
        inside = np.where(resolved, colour, "white")
        ax.scatter(x, line.coverage, 16, facecolors=inside, edgecolors=colour, zorder=3)
    settings = [
        text.format(selected[name]) for name, text in SELECTED_WORDS.items() if name in selected
    ]
    captions = [", ".join(settings), study.attrs.get("words", "")]
    return finish(ax, ALONG_WORDS.get(along, along), "estimated coverage", captions)


def error_laws(laws: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw the laws of both bootstraps of one data set and the law of the actual error.

    Parameters
    ----------
    laws : xr.Dataset
        What `data/make_bootstrap_laws.py` makes, of one number of images per identity.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Three distribution functions.

    Raises
    ------
    InputError
        Several numbers of images at once.

    References
    ----------
    Conti & Clémençon (2024), Theorems 2 and 3.

    Examples
    --------
    >>> import frkit as fk, xarray as xr
    >>> laws = xr.load_dataset(fk.demo_file("bootstrap_laws.nc"), engine="h5netcdf")
    >>> len(fk.plot.error_laws(laws.sel(per_identity=10)).lines)
    4
    """
    has_one_size = laws.law.ndim == 2
    require(
        has_one_size,
        "this figure shows one number of images: select it with .sel(per_identity=...)",
    )
    ax = new_axes(ax)
    for (errors, label), colour in zip(ERROR_WORDS.items(), (COLOURS[1], COLOURS[0], TRUTH)):
        quantiles = laws.law.sel(law_of=errors)
        ax.step(quantiles, laws.probability, color=colour, linewidth=1.6, label=label)
    ax.axvline(0, color=UNRESOLVED, linewidth=0.8)
    ax.set_ylim(0, 1)
    ax.locator_params(axis="x", nbins=5)
    caption = f"{laws.per_identity.item()} images per identity, FAR {laws.attrs['far']:g}"
    return finish(ax, "error of the FRR", "probability of a smaller error", [caption])


def _at_level(study, far):
    """Return the study of one scheme at the nearest FAR level, and both in words."""
    if study.sizes.get("scheme") == 1:
        study = study.squeeze("scheme")
    require(
        "scheme" not in study.dims,
        "this figure shows one scheme: select it with study.sel(scheme=...)",
    )
    study = at_far(study, far)
    return study, f"FRR at FAR {float(study['far_level']):.2g}, {study.scheme.item()} scheme"


def _draw_line(ax, x, study, colour, label, **style):
    """Draw one line, with two Monte Carlo standard errors to either side where there are some."""
    values = study.coverage.values
    ax.plot(x, values, color=colour, linewidth=1.3, label=label, **style)
    if "coverage_se" in study:
        noise = 2 * study.coverage_se.values
        lower, upper = np.clip([values - noise, values + noise], 0, 1)
        ax.fill_between(x, lower, upper, color=colour, alpha=0.1, linewidth=0)
