"""Figures of coverage studies: against the nominal level, along FAR or another quantity, and the laws of the error."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, NullFormatter

from frkit.base import FAR_LEVEL, require, require_one_of, require_returned
from frkit.plot.style import (
    COLOURS,
    FAR_WORDS,
    NAIVE,
    TRUTH,
    UNRESOLVED,
    at_far,
    finish,
    new_axes,
    plain,
)

METHOD_COLOURS = {
    "recentered": COLOURS[0],
    "naive": NAIVE,
    "gaussian": COLOURS[2],
    "effective": COLOURS[3],
}
METHOD_COLOURS |= {"pivotal": COLOURS[5]}
GOOD = (0.92, 0.98)  # around the usual nominal level of .95
USUAL = 0.95
ALONG_WORDS = {
    FAR_LEVEL: FAR_WORDS,
    "per_identity": "images per identity",
    "dim": "dimension of the embeddings",
}
ALONG_WORDS |= {"n_identities": "identities"}
KEPT_WORDS = {
    "level": "nominal {:g}",
    "scheme": "{} scheme",
    "method": "{}",
    FAR_LEVEL: "FAR {:.2g}",
}
MADE_BY = "studies.coverage(mixture)"
STUDY = (MADE_BY, "coverage", "method", "level", FAR_LEVEL)
DISTANCES = ("kolmogorov", "kolmogorov_chance", "wasserstein", "wasserstein_chance")
LAWS = (MADE_BY, "law", "probability", "errors", FAR_LEVEL, *DISTANCES)
PRINTED = ("xr.DataArray(coverages, {'method': ..., 'level': ...})", "method", "level")
ERROR_WORDS = {
    "bootstrap": r"bootstrap: $\theta^* - \tilde\theta$",
    "actual": r"actual: $\hat\theta - \theta$",
}


def coverage(
    study: xr.Dataset, far: float, ax: Axes | None = None, *, printed: xr.DataArray | None = None
) -> Axes:
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
    require_returned("study", study, *STUDY)
    if printed is not None:
        require_returned("printed", printed, *PRINTED)
    study, words = _at_level(study, far)
    ax = new_axes(ax)
    ax.plot([0, 1], [0, 1], "--", color=TRUTH, linewidth=1, label="target")
    for method, colour in _colours(study["method"]).items():
        own = study.sel({"method": method})
        _draw_line(ax, study.level, own, colour, plain(method), marker="o", markersize=3)
        if printed is not None and method in printed["method"]:
            style = {
                "color": colour,
                "markerfacecolor": "none",
                "label": plain(f"{method}, printed"),
            }
            ax.plot(printed.level, printed.sel({"method": method}), "D", **style)
    ax.set(xlim=(0, 1), ylim=(-0.02, 1.02))
    return finish(
        ax, "nominal coverage", "estimated coverage", [words, study.attrs.get("words", "")]
    )


def coverage_along(study: xr.Dataset, along: str = FAR_LEVEL, ax: Axes | None = None) -> Axes:
    """Draw the coverage at one nominal level along FAR or another quantity; at .95 with .92 to .98 shaded.

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
    require_returned("study", study, MADE_BY, "coverage")
    dims = [dim for dim in study.coverage.dims if dim in study.coords]
    require_one_of("along, a dimension of the study,", along, dims)
    others = [dim for dim in study.coverage.dims if dim != along]
    require(
        len(others) <= 1,
        f"study has one line for each value of {others}: select all but one of these dimensions",
    )
    ax, at, nominal = new_axes(ax), study[along].values, float(study.get("level", USUAL))
    if np.isclose(nominal, USUAL):
        ax.axhspan(
            *GOOD, color="#56B4E9", alpha=0.18, linewidth=0, label=f"{GOOD[0]:.2f} to {GOOD[1]:.2f}"
        )
    ax.axhline(nominal, color=TRUTH, linestyle="--", linewidth=1)
    if along == FAR_LEVEL:
        ax.set_xscale("log")
        ax.xaxis.set_minor_formatter(NullFormatter())
    else:
        at = np.arange(len(at))  # anything else stands at equal steps
        ax.set_xticks(at, study[along].values.astype(str))
    lines = _colours(study[others[0]]) if others else {None: COLOURS[0]}
    for place, (name, colour) in enumerate(lines.items()):
        own = study if name is None else study.isel({others[0]: place})
        _draw_line(ax, at, own, colour, name and plain(name))
        solid = own.resolved.values >= 0.5 if "resolved" in own else np.ones(len(at), bool)
        for kept, face in ((solid, colour), (~solid, "white"))[: 1 if solid.all() else 2]:
            ax.plot(
                at[kept],
                own.coverage[kept],
                "o",
                color=colour,
                markerfacecolor=face,
                markersize=4,
                zorder=3,
            )
    single = [name for name in KEPT_WORDS if name in study.coords and study[name].ndim == 0]
    words = ", ".join(KEPT_WORDS[name].format(study[name].item()) for name in single)
    return finish(
        ax,
        ALONG_WORDS.get(along, along),
        "estimated coverage",
        [words, study.attrs.get("words", "")],
    )


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
    require_returned("study", study, *LAWS)
    study, words = _at_level(study, far)
    ax = new_axes(ax)
    for (errors, label), colour in zip(ERROR_WORDS.items(), (COLOURS[0], TRUTH), strict=True):
        ax.step(
            study.law.sel(errors=errors),
            study.probability,
            color=colour,
            linewidth=1.6,
            label=label,
        )
    ax.axvline(0, color=UNRESOLVED, linewidth=0.8)
    ax.set_ylim(0, 1)
    ax.xaxis.set_major_locator(MaxNLocator(5))
    ax.ticklabel_format(axis="x", scilimits=(-2, 2))
    distances = [
        f"{name.title()} distance {float(study[name]):.2g} (chance: up to {float(study[f'{name}_chance']):.2g})"
        for name in ("kolmogorov", "wasserstein")
    ]
    return finish(
        ax,
        "error of the FRR",
        "probability of a smaller error",
        [words, *distances],
        loc="lower right",
    )


def _at_level(study: xr.Dataset, far: float) -> tuple[xr.Dataset, str]:
    """The study of one scheme at the nearest FAR level, and both in words."""
    one = study.squeeze("scheme") if study.sizes.get("scheme") == 1 else study
    require("scheme" not in one.dims, "this shows one scheme: select it with study.sel(scheme=...)")
    one = at_far(one, far)
    return (
        one,
        f"FRR at FAR {float(one[FAR_LEVEL]):.2g}, {one.get('scheme', xr.DataArray('image')).item()} scheme",
    )


def _colours(lines: xr.DataArray) -> dict[str, str]:
    """A colour for each line; a method keeps its own in every figure."""
    kept = METHOD_COLOURS if lines.name == "method" else {}
    names = lines.values.astype(str)
    return {name: kept.get(name, COLOURS[place % len(COLOURS)]) for place, name in enumerate(names)}


def _draw_line(
    ax: Axes, at: np.ndarray, study: xr.Dataset, colour: str, label: str | None, **style
) -> None:
    """One line, with two Monte Carlo standard errors shaded to either side where the study has them."""
    coverage = study.coverage.values
    ax.plot(at, coverage, color=colour, linewidth=1.3, label=label, **style)
    if "coverage_se" in study:
        ends = (np.clip(coverage + sign * 2 * study.coverage_se.values, 0, 1) for sign in (-1, 1))
        ax.fill_between(at, *ends, color=colour, alpha=0.1, linewidth=0)
