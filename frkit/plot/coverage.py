"""Figures of coverage studies: against the nominal level, along FAR or another quantity, and the laws of the error."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, NullFormatter

from frkit.base import FAR_LEVEL, require
from frkit.plot.style import COLOURS, FAR_WORDS, NAIVE, SMALL, TRUTH, new_axes, plain, print_captions

METHOD_COLOURS = {"recentered": COLOURS[0], "naive": NAIVE, "gaussian": COLOURS[2], "corrected": COLOURS[3]}
METHOD_COLOURS |= {"rescaled": COLOURS[4], "pivotal": COLOURS[5], "auto": COLOURS[6]}
GOOD = (0.92, 0.98)  # around the usual nominal level of .95
USUAL = 0.95
ALONG_WORDS = {
    FAR_LEVEL: FAR_WORDS,
    "per_identity": "images per identity",
    "dim": "dimension of the embeddings",
    "n_identities": "identities",
}
KEPT_WORDS = {"level": "nominal {:g}", "scheme": "{} scheme", "method": "{}", FAR_LEVEL: "FAR {:.2g}"}
ERROR_WORDS = {"bootstrap": "bootstrap: θ* − θ~", "actual": "actual: θ^ − θ"}


def coverage(study: xr.Dataset, far: float, ax: Axes | None = None, *, printed: xr.DataArray | None = None) -> Axes:
    """Draw the estimated coverage of every method against the nominal one, at one FAR level.

    Parameters
    ----------
    study : what `studies.coverage` returned, of one scheme.
    far : one of its FAR levels, in (0, 1); the nearest one is shown.
    ax : matplotlib Axes; a new figure when left out.
    printed : published coverages over method and level, drawn as hollow markers.

    Returns
    -------
    matplotlib Axes: a dashed diagonal (the target), a line for each method, two Monte Carlo standard
    errors shaded to either side.

    Raises
    ------
    InputError : several schemes at once, or no coverage in the study.

    References
    ----------
    Conti & Clémençon (2024), Figs. 6 and 9.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> study = fk.studies.coverage(mix, n_datasets=4, far=[0.1, 0.2], replicates=20, progress=False)
    >>> fk.plot.coverage(study, far=0.1).get_xlabel()
    'nominal coverage'
    """
    one, name = _of_one_scheme(study)
    one = one.sel({FAR_LEVEL: far}, method="nearest")
    ax = new_axes(ax)
    ax.plot([0, 1], [0, 1], "--", color=TRUTH, linewidth=1, label="target")
    for method, colour in _colours(one).items():
        line = one.sel({"method": method})
        ax.plot(line.level, line.coverage, "-o", color=colour, markersize=3, linewidth=1.3, label=plain(method))
        _shade(ax, line.level, line, colour)
        if printed is not None and method in printed["method"]:
            values = printed.sel({"method": method})
            style = dict(markerfacecolor="none", markersize=6, label=plain(f"{method}, printed"))
            ax.plot(values.level, values, "D", color=colour, **style)
    ax.set(xlabel="nominal coverage", ylabel="estimated coverage", xlim=(0, 1), ylim=(-0.02, 1.02))
    return _finished(ax, [f"FRR at FAR {float(one[FAR_LEVEL]):.2g}, {name} scheme", study.attrs.get("words", "")])


def coverage_along(study: xr.Dataset, along: str = FAR_LEVEL, ax: Axes | None = None) -> Axes:
    """Draw the coverage at one nominal level along FAR or another quantity, with .92 to .98 shaded.

    Parameters
    ----------
    study : `coverage` over `along` and, for several lines, method or scheme; select everything else, the
        nominal level too. Where `resolved` is there, points of levels that fewer than half of the data sets
        resolve are hollow.
    along : name of the dimension across: far_level, per_identity, dim, ...
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes: a line for each method or scheme, with two Monte Carlo standard errors shaded where the
    study has them.

    Raises
    ------
    InputError : `along` is no dimension, or more than one other dimension is left.

    References
    ----------
    Conti & Clémençon (2024), appendix B.1.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> study = fk.studies.coverage(mix, n_datasets=4, far=[0.1, 0.2], replicates=20, progress=False)
    >>> ax = fk.plot.coverage_along(study.sel(level=0.95).isel(scheme=0))
    >>> ax.get_xscale()
    'log'
    """
    require("coverage" in study, "this result holds no coverage: pass what studies.coverage returned")
    require(along in study.coverage.dims, f"no dimension {along!r} to draw along; there are {study.coverage.dims}")
    others = [dim for dim in study.coverage.dims if dim != along]
    require(len(others) <= 1, f"one line for each value of {others}: select all but one of these dimensions")
    ax = new_axes(ax)
    ax.axhspan(*GOOD, color="#56B4E9", alpha=0.18, linewidth=0, label=f"{GOOD[0]:.2f} to {GOOD[1]:.2f}")
    ax.axhline(float(study.level) if "level" in study.coords else USUAL, color=TRUTH, linestyle="--", linewidth=1)
    at = _places(ax, study[along])
    lines = _colours(study, others[0]) if others else {None: COLOURS[0]}
    for name, colour in lines.items():
        one = study if name is None else study.sel({others[0]: name})
        _draw_along(ax, at, one, colour, name)
    ax.set(xlabel=ALONG_WORDS.get(along, along), ylabel="estimated coverage")
    chosen = {name: study[name].item() for name in ("level", "scheme", "method", FAR_LEVEL) if _is_one(study, name)}
    fixed = [KEPT_WORDS[name].format(value) for name, value in chosen.items()]
    return _finished(ax, [", ".join(fixed), study.attrs.get("words", "")])


def _is_one(study: xr.Dataset, name: str) -> bool:
    return name in study.coords and study[name].ndim == 0


def error_laws(study: xr.Dataset, far: float, ax: Axes | None = None) -> Axes:
    """Draw the law that the bootstrap gives for the error of the FRR over the law that the error has.

    Parameters
    ----------
    study : what `studies.coverage` returned, of one scheme.
    far : one of its FAR levels, in (0, 1); the nearest one is shown.
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes: two distribution functions, with their distances in words above.

    Raises
    ------
    InputError : several schemes at once, or no laws in the study.

    References
    ----------
    Conti & Clémençon (2024), Theorems 2 and 3.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> study = fk.studies.coverage(mix, n_datasets=4, far=[0.1, 0.2], replicates=20, progress=False)
    >>> len(fk.plot.error_laws(study, far=0.1).lines)
    3
    """
    require("law" in study, "this result holds no laws: pass what studies.coverage returned")
    one, name = _of_one_scheme(study)
    one = one.sel({FAR_LEVEL: far}, method="nearest")
    ax = new_axes(ax)
    for (errors, words), colour in zip(ERROR_WORDS.items(), (COLOURS[0], TRUTH), strict=True):
        ax.step(one.law.sel(errors=errors), one.probability, color=colour, linewidth=1.6, label=words)
    ax.axvline(0, color="#8C8C8C", linewidth=0.8)
    ax.set(xlabel="error of the FRR", ylabel="probability of a smaller error", ylim=(0, 1))
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.ticklabel_format(axis="x", scilimits=(-2, 2))
    distances = [
        f"{words} distance {float(one[key]):.2g} (chance gives up to {float(one[f'{key}_chance']):.2g})"
        for key, words in (("kolmogorov", "Kolmogorov"), ("wasserstein", "Wasserstein"))
    ]
    return _finished(ax, [f"FRR at FAR {float(one[FAR_LEVEL]):.2g}, {name} scheme", *distances], "lower right")


def _of_one_scheme(study: xr.Dataset) -> tuple[xr.Dataset, str]:
    """A study without its scheme dimension, and the scheme's name."""
    require("coverage" in study, "this result holds no coverage: pass what studies.coverage returned")
    one = study.squeeze("scheme") if study.sizes.get("scheme") == 1 else study
    require("scheme" not in one.dims, "this shows one scheme: select it with study.sel(scheme=...)")
    return one, str(one["scheme"].item()) if "scheme" in one.coords else "image"


def _colours(study: xr.Dataset, lines: str = "method") -> dict[str, str]:
    """A colour for each line; a method keeps its own in every figure."""
    names = [str(name) for name in study[lines].values]
    kept = METHOD_COLOURS if lines == "method" else {}
    return {name: kept.get(name, COLOURS[place % len(COLOURS)]) for place, name in enumerate(names)}


def _places(ax: Axes, values: xr.DataArray) -> np.ndarray:
    """Where the values stand across: FAR on a log axis, anything else at equal steps."""
    if values.name == FAR_LEVEL:
        ax.set_xscale("log")
        return values.values
    at = np.arange(values.size)
    ax.set_xticks(at, [str(value) for value in values.values])
    return at


def _draw_along(ax: Axes, at: np.ndarray, one: xr.Dataset, colour: str, name: str | None) -> None:
    """One line, shaded where standard errors are known, with hollow points where few errors are seen."""
    ax.plot(at, one.coverage, color=colour, linewidth=1.3, label=name and plain(name))
    if "coverage_se" in one:
        _shade(ax, at, one, colour)
    solid = one.resolved.values >= 0.5 if "resolved" in one else np.ones(at.size, bool)
    for kept, face in ((solid, colour), (~solid, "white")):
        ax.plot(at[kept], one.coverage.values[kept], "o", color=colour, markerfacecolor=face, markersize=4, zorder=3)


def _shade(ax: Axes, at, one: xr.Dataset, colour: str) -> None:
    """Two Monte Carlo standard errors to either side."""
    ends = (np.clip(one.coverage + sign * 2 * one.coverage_se, 0, 1) for sign in (-1, 1))
    ax.fill_between(at, *ends, color=colour, alpha=0.1, linewidth=0)


def _finished(ax: Axes, captions: list[str], legend: str = "best") -> Axes:
    """Grid, caption and legend."""
    if ax.get_xscale() == "log":
        ax.xaxis.set_minor_formatter(NullFormatter())
    ax.grid(True, which="major", color="#E5E5E5", linewidth=0.6)
    ax.set_axisbelow(True)
    print_captions(ax, captions)
    ax.legend(fontsize=SMALL, frameon=False, loc=legend)
    return ax
