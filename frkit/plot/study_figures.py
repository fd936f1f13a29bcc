"""Figures of the studies: convergence of the ROC, bias of the bootstrap, plans."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

from frkit.base import require, require_inside, require_range, require_returned
from frkit.plot.style import (
    BELOW,
    COLOURS,
    DARK,
    ENDS,
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

GROWTH = ("studies.consistency(data)", "frr", "truth", "n_images", "size", "seed", "far_level")
BIAS = ("studies.bootstrap_bias(mixture)", *ENDS, "centre", "per_identity", "interval", "far_level")


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
    ax = new_axes(ax)
    n = result.n_images.values
    for model, colour, part in parts_of(result, "model"):
        label = f"{model}: root mean square" if model else "root mean square"
        ax.plot(n, part.typical, color=colour, linewidth=2, label=label)
        ax.plot(n, part.reference, "--", color=colour, linewidth=1)
        distances = part.distance.transpose("size", "seed")
        ax.plot(n, distances, "o", color=colour, alpha=0.35, markersize=4)
    # the entries of the legend have the colour of no model
    ax.plot([], [], "--", color=UNRESOLVED, linewidth=1, label=result.attrs["slope"])
    ax.plot([], [], "o", color=UNRESOLVED, markersize=4, label="one dot a seed")
    ax.set(xscale="log", yscale="log")
    ax.set_xticks(n, [f"{number:,}" for number in n])
    ax.xaxis.set_minor_formatter(NullFormatter())
    log_ticks(ax.yaxis)
    ylabel = "sup distance of the ROC (FRR)"
    captions = [result.attrs["words"]]
    return finish(ax, "images n", ylabel, captions, loc="lower left")


def growth(
    result: xr.Dataset,
    size: float,
    ax: Axes | None = None,
    *,
    far: tuple[float, float] | None = None,
) -> Axes:
    """Draw the empirical ROC curves of all seeds at one size, and the curve that they approach.

    Parameters
    ----------
    result : xr.Dataset
        What `studies.consistency` returned, of one model.
    size : float
        One of its sizes.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.
    far : (float, float), optional
        Range of FAR to shade.

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
    require_returned("result", result, *GROWTH)
    sizes = result["size"].values.tolist()
    is_size = np.isscalar(size) and size in sizes
    require(is_size, f"size must be one of {', '.join(map(str, sizes))}, got {size!r}")
    ax = new_axes(ax)
    part = result.sel(size=size)
    floor = log_floor(part.frr, part.truth)
    curves = np.maximum(part.frr, floor).transpose("far_level", "seed")
    label = f"empirical, {int(part.n_images):,} images, one curve a seed"
    ax.plot(part.far_level, curves, color=COLOURS[0], alpha=0.55, linewidth=1.1, label=label)
    exact = result.attrs["exact"]
    label = TRUTH_WORDS if exact else f"full set, {result.attrs['n_full']:,} images"
    truth = np.maximum(part.truth, floor)
    ax.plot(part.far_level, truth, "--", color=TRUTH, linewidth=1.6, label=label)
    if far is not None:
        ax.axvspan(*require_range("far", far), color="#F0E442", alpha=0.15, linewidth=0, zorder=0)
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
    require_returned("study", study, *BIAS)
    require_inside("far", far, 0, 1)
    ax = new_axes(ax)
    part = study.sel(far_level=far, method="nearest")
    place = np.arange(part.sizes["per_identity"])
    for shift, (method, colour, ends) in zip((-0.12, 0.12), parts_of(part, "interval")):
        style = {"color": colour, "linewidth": 4, "label": f"{method} interval"}
        ax.vlines(place + shift, ends.lower, ends.upper, **style)
    ax.plot(place, part.estimate, "o", color=DARK, label="empirical FRR", markersize=5, zorder=4)
    ax.plot(place, part.centre, "_", color=NAIVE, label="V-statistic", markersize=14, zorder=4)
    ax.axhline(float(part.truth), label=TRUTH_WORDS, color=TRUTH, linestyle="--", linewidth=1.2)
    ax.set_xticks(place, part.per_identity.values.astype(str))
    ax.set_ylim(bottom=min(0.0, float(part.lower.min())))
    ylabel = f"FRR at FAR {float(part['far_level']):.2g} (share of genuine pairs)"
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
    require_returned("plan", plan, "fk.studies.sample_size", "curve_value", "goal_value")
    ax = new_axes(ax)
    style = {"color": COLOURS[0], "markersize": 8, "zorder": 4}
    ax.plot(plan.curve_identities, plan.curve_value, label="with as many images each", **style)
    now, planned = (plan.n_identities_now, plan.value_now), (plan.n_identities, plan.predicted)
    ax.plot(*now, "o", markerfacecolor="white", label="the data given", **style)
    ax.plot(*planned, "D", label="the plan", **style)
    goal = float(plan.goal_value)
    ax.axhline(goal, color="#555555", linestyle="--", linewidth=1, label=f"goal: {goal:.3g}")
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    ax.xaxis.set_major_formatter("{x:,g}")
    ax.xaxis.set_minor_locator(NullLocator())
    attrs = plan.attrs
    about = f"FAR {attrs['far']:g}, FRR {float(plan.frr):.3g}; about {attrs['target']}"
    ylabel = attrs["value"].replace(", ", ",\n")
    return finish(ax, "people", ylabel, [about], **BELOW)
