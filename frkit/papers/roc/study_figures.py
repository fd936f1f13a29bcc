"""Figures of the studies: convergence of the ROC, bias of the bootstrap, plans."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

from frkit.base import require, require_inside, require_kind
from frkit.figures.marks import checked_axes, intervals, reference
from frkit.figures.style import (
    BELOW,
    COLOURS,
    DARK,
    NAIVE,
    TRUTH,
    TRUTH_WORDS,
    UNRESOLVED,
    finish,
    finish_levels,
    log_floor,
    log_ticks,
    new_axes,
    parts_of,
)


def consistency(result: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw the sup distance of the empirical ROC against the number of images.

    Parameters
    ----------
    result : xr.Dataset
        What `studies.sup_distance` returned.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        On log scales: one dot for each seed, a line through the typical distances, and the expected
        slope.

    References
    ----------
    Conti & Clémençon (2024), Proposition 1, and the end of D.2 for the rate.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> result = fk.studies.consistency(mix, sizes=(4, 8), far=[0.1, 0.2], seeds=2)
    >>> ax = fk.plot.consistency(fk.studies.sup_distance(result))
    >>> ax.get_yscale()
    'log'
    """
    require_kind("result", result, "studies.sup_distance")
    ax = new_axes(ax)
    n = result.n_images.values
    for model, colour, part in parts_of(result, "model"):
        label = f"{model}: root mean square" if model else "root mean square"
        ax.plot(n, part.typical, color=colour, label=label)
        ax.plot(n, part.reference, "--", color=colour)
        ax.plot(n, part.distance.transpose("size", "seed"), "o", color=colour, alpha=0.35)
    # the entries of the legend have the colour of no model
    ax.plot([], [], "--", color=UNRESOLVED, label=result.attrs["slope"])
    ax.plot([], [], "o", color=UNRESOLVED, label="one dot a seed")
    ax.set(xscale="log", yscale="log")
    ax.set_xticks(n, [f"{number:,}" for number in n])
    ax.xaxis.set_minor_formatter(NullFormatter())
    log_ticks(ax.yaxis)
    ylabel = "sup distance of the ROC (FRR)"
    return finish(ax, "images n", ylabel, [result.attrs["words"]], loc="lower left")


def growth(result: xr.Dataset, size: float, ax: Axes | None = None) -> Axes:
    """Draw the empirical ROC curves of all seeds at one size, and the curve that they approach.

    Parameters
    ----------
    result : xr.Dataset
        What `studies.consistency` returned, of one model.
    size : float
        One of its sizes.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        On log scales.

    Raises
    ------
    InputError
        The result contains no curves.

    References
    ----------
    Conti & Clémençon (2024), Proposition 1.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> result = fk.studies.consistency(mix, sizes=(4, 8), far=[0.1, 0.2], seeds=2)
    >>> len(fk.plot.growth(result, size=4).lines)
    3
    """
    dims = ("far_level", "size", "seed")
    ax = checked_axes(ax, "result", result, "studies.consistency", "frr", dims)
    sizes = result["size"].values.tolist()
    require(size in sizes, f"size must be one of {', '.join(map(str, sizes))}, got {size!r}")
    part = result.sel(size=size)
    floor = log_floor(part.frr, part.truth)
    curves = part[["frr", "truth"]].clip(min=floor).transpose("far_level", ...)
    label = f"empirical, {int(part.n_images):,} images, one curve a seed"
    ax.plot(part.far_level, curves.frr, color=COLOURS[0], alpha=0.55, label=label)
    label = TRUTH_WORDS if result.attrs["exact"] else f"full set, {result.attrs['n_full']:,} images"
    ax.plot(part.far_level, curves.truth, "--", color=TRUTH, label=label)
    return finish_levels(ax, part["far_level"], "FRR (false rejection rate)", [], floor)


def bootstrap_bias(study: xr.Dataset, far: float, ax: Axes | None = None) -> Axes:
    """Draw the naive and the recentered interval for each number of images per identity.

    Parameters
    ----------
    study : xr.Dataset
        What `studies.bootstrap_bias` returned.
    far : float
        One of its FAR levels; the nearest one is shown.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Images per identity along, FRR upwards, with the estimate and the exact truth.

    Raises
    ------
    InputError
        The study contains no intervals.

    References
    ----------
    Conti & Clémençon (2024), Figs. 2 and 3 and eq. 10.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> study = fk.studies.bootstrap_bias(mix, per_identity=(5, 10), far=[0.1, 0.2], n=20)
    >>> ax = fk.plot.bootstrap_bias(study, far=0.1)
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['5', '10']
    """
    require_inside("far", far, 0, 1)
    dims = ("far_level", "per_identity")
    ax = checked_axes(ax, "study", study, "studies.bootstrap_bias", "estimate", dims)
    part = study.sel(far_level=far, method="nearest")
    x = np.arange(part.sizes["per_identity"])
    for shift, (method, colour, ends) in zip((-0.12, 0.12), parts_of(part, "interval")):
        intervals(ax, x + shift, ends.lower, ends.upper, colour, f"{method} interval")
    ax.plot(x, part.estimate, "o", color=DARK, label="empirical FRR")
    ax.plot(x, part.centre, "_", color=NAIVE, label="V-statistic", markersize=14)
    reference(ax, float(part.truth), TRUTH_WORDS)
    ax.set_xticks(x, part.per_identity.values)
    ax.set_ylim(bottom=min(0.0, float(part.lower.min())))
    ylabel = f"FRR at FAR {part['far_level'].item():.2g} (share of genuine pairs)"
    captions = [study.attrs["words"]]
    return finish(ax, "images per identity", ylabel, captions, grid="y", **BELOW)


def sample_size(plan: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw half-width or power against the number of people.

    Parameters
    ----------
    plan : xr.Dataset
        What `studies.sample_size` returned.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The curve, the data that were given (circle), the number of people that the plan names
        (diamond), and the goal (dashed).

    Examples
    --------
    >>> import frkit as fk
    >>> pilot = fk.vmf.IdentityLaw(16, kappa=(20, 80)).draw(60).sample(5)
    >>> ax = fk.plot.sample_size(
    ...     fk.studies.sample_size(pilot, "relative_half_width", 0.2, far=0.05)
    ... )
    >>> ax.get_xlabel()
    'people'
    """
    require_kind("plan", plan, "studies.sample_size")
    ax = new_axes(ax)
    style = {"color": COLOURS[0], "markersize": 8}
    ax.plot(plan.curve_identities, plan.curve_value, label="with as many images each", **style)
    style["markeredgecolor"] = "white"
    ax.plot(plan.n_identities_now, plan.value_now, "o", label="the data given", **style)
    ax.plot(plan.n_identities, plan.predicted, "D", label="the plan", **style)
    goal = float(plan.goal_value)
    reference(ax, goal, f"goal: {goal:.3g}")
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    ax.xaxis.set_major_formatter("{x:,g}")
    ax.xaxis.set_minor_locator(NullLocator())
    about = f"FAR {plan.attrs['far']:g}, FRR {float(plan.frr):.3g}; about {plan.attrs['target']}"
    ylabel = plan.attrs["value"].replace(", ", ",\n")
    return finish(ax, "people", ylabel, [about], **BELOW)
