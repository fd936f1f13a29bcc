"""Figures of the studies: convergence of the empirical ROC, the bias of the naive bootstrap, the plan of a study."""

from numbers import Real

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator, StrMethodFormatter

from frkit.base import FAR_LEVEL, MODEL, real_numbers, require, require_returned
from frkit.plot.style import (
    BELOW,
    COLOURS,
    DARK,
    ENDS,
    NAIVE,
    TRUTH,
    TRUTH_WORDS,
    UNRESOLVED,
    at_far,
    curve_colours,
    finish,
    finish_levels,
    log_floor,
    new_axes,
    plain,
)

DISTANCES = ("distance", "typical", "reference", "n_images", "size")
SUP_DISTANCE = (
    "studies.sup_distance(studies.consistency(...))",
    *DISTANCES,
    "seed",
    "size",
    "slope",
    "words",
)
CURVES = ("frr", "truth", "n_images", "size", FAR_LEVEL)
GROWTH = ("studies.consistency(data)", *CURVES, "seed", "size", FAR_LEVEL, "exact", "n_full")
AT_SIZES = ("per_identity", "interval", FAR_LEVEL)
BIAS = ("studies.bootstrap_bias(mixture)", *ENDS, "centre", *AT_SIZES, "words")
PLANNED = ("curve_value", "curve_identities", "predicted", "n_identities", "value_now")
TOLD = ("line", "far", "frr", "target", "value")
PLAN = ("studies.sample_size(data, goal, far=...)", *PLANNED, "curve", *TOLD)


def consistency(result: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw the sup distance of the empirical ROC against the number of images, with the expected slope.

    Parameters
    ----------
    result : what `studies.sup_distance` returned: `distance` over seed, size (and model), `typical`,
        `reference` and `n_images` over size.
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes on log scales: one dot for each seed, a line through the typical distances, and the slope.

    Raises
    ------
    InputError : the result holds no `distance`.

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
    require_returned("result", result, *SUP_DISTANCE)
    ax, n = new_axes(ax), result.n_images.values
    result = result if MODEL in result.dims else result.expand_dims({MODEL: [""]})
    for model, colour in zip(result[MODEL].values, curve_colours(result[MODEL].values)):
        one = result.sel({MODEL: model})
        words = plain(f"{model}: root mean square" if model else "root mean square")
        ax.plot(n, one.typical, color=colour, linewidth=2, label=words)
        ax.plot(n, one.reference, "--", color=colour, linewidth=1, label=result.attrs["slope"])
        dots = {"color": colour, "alpha": 0.35, "markersize": 4, "label": "one dot a seed"}
        ax.plot(n, one.distance.transpose("size", "seed"), "o", **dots)
    if result.sizes[MODEL] > 1:  # the legend's lines and dots have the colour of none
        ax.plot([], [], "--", color=UNRESOLVED, linewidth=1, label=result.attrs["slope"])
        ax.plot([], [], "o", color=UNRESOLVED, markersize=4, label="one dot a seed")
    ax.set(xscale="log", yscale="log")
    ax.set_xticks(n, [f"{number:,}" for number in n])
    ax.xaxis.set_minor_formatter(NullFormatter())
    return finish(
        ax, "images n", "sup distance of the ROC (FRR)", [result.attrs["words"]], loc="lower left"
    )


def growth(
    result: xr.Dataset,
    size: float,
    ax: Axes | None = None,
    *,
    far: tuple[float, float] | None = None,
) -> Axes:
    """Draw the empirical ROC curves of all seeds at one size, beside the curve they tend to.

    Parameters
    ----------
    result : what `studies.consistency` returned, of one model.
    size : one of its sizes.
    ax : matplotlib Axes; a new figure when left out.
    far : range of FAR to shade, lowest and highest level, in (0, 1).

    Returns
    -------
    matplotlib Axes on log scales.

    Raises
    ------
    InputError : several models at once, or a size that is not there.

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
    require(MODEL not in result.dims, "growth shows one model: select it with .sel(model=...)")
    sizes = result["size"].values.tolist()
    require(
        isinstance(size, Real) and size in sizes, f"no size {size} in this study; it has {sizes}"
    )
    ax, one = new_axes(ax), result.sel(size=size)
    floor = log_floor(one.frr, one.truth)
    curves, truth = (np.maximum(one[name], floor) for name in ("frr", "truth"))
    style = {"color": COLOURS[0], "alpha": 0.55, "linewidth": 1.1}
    words = f"empirical, {int(one.n_images):,} images, one curve a seed"
    ax.plot(one.far_level, curves.transpose(FAR_LEVEL, "seed"), label=words, **style)
    goal = TRUTH_WORDS if result.attrs["exact"] else f"full set, {result.attrs['n_full']:,} images"
    ax.plot(one.far_level, truth, "--", color=TRUTH, linewidth=1.6, label=goal)
    if far is not None:
        ends = real_numbers("far", far)
        require(
            ends.shape == (2,) and 0 < ends[0] < ends[1],
            f"far must be a lowest and a highest level, got {far!r}",
        )
        ax.axvspan(*ends, color="#F0E442", alpha=0.15, linewidth=0, zorder=0)
    return finish_levels(ax, one[FAR_LEVEL], "FRR (share of genuine pairs rejected)", [], floor)


def bootstrap_bias(study: xr.Dataset, far: float, ax: Axes | None = None) -> Axes:
    """Draw, at one FAR level, the naive and the recentered interval for each number of images per identity.

    Parameters
    ----------
    study : what `studies.bootstrap_bias` returned.
    far : one of its FAR levels, in (0, 1); the nearest one is shown.
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes: images per identity across, FRR upwards, with the estimate and the exact truth.

    Raises
    ------
    InputError : the study holds no intervals.

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
    ax, one = new_axes(ax), at_far(study, far)
    place = np.arange(one.sizes["per_identity"])
    for shift, method, colour in ((-0.12, "naive", NAIVE), (0.12, "recentered", COLOURS[0])):
        ends = one.sel(interval=method)
        ax.vlines(
            place + shift,
            ends.lower,
            ends.upper,
            color=colour,
            linewidth=4,
            label=f"{method} interval",
        )
    ax.plot(place, one.estimate, "o", color=DARK, markersize=5, label="empirical FRR", zorder=4)
    ax.plot(place, one.centre, "_", color=NAIVE, markersize=14, label="V-statistic", zorder=4)
    if "truth" in one:
        ax.axhline(float(one.truth), color=TRUTH, linestyle="--", linewidth=1.2, label=TRUTH_WORDS)
    ax.set_xticks(place, one.per_identity.values.astype(str))
    ax.set_ylim(bottom=min(0.0, float(one.lower.min())))
    ylabel = f"FRR at FAR {float(one[FAR_LEVEL]):.2g} (share of genuine pairs)"
    return finish(ax, "images per identity", ylabel, [study.attrs["words"]], grid="y", **BELOW)


def sample_size(plan: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw half-width or power against the number of people.

    Parameters
    ----------
    plan : what `studies.sample_size` returned.
    ax : Axes to draw on; a new one when left out.

    Returns
    -------
    Axes with the curve, the data that were given (circle), the number of people that the plan names
    (diamond), the goal (dashed) and, where the plan contains it, a simulation with that number (star).

    Raises
    ------
    InputError : the Dataset is no plan.

    Examples
    --------
    >>> import frkit as fk
    >>> pilot = fk.vmf.IdentityLaw(16, kappa=(20, 80)).draw(60).sample(5)
    >>> ax = fk.plot.sample_size(fk.studies.sample_size(pilot, "half_width", 0.02, far=0.05))
    >>> ax.get_xlabel()
    'people'
    """
    require_returned("plan", plan, *PLAN)
    ax, given = new_axes(ax), plan.attrs
    colour = COLOURS[0]
    ax.plot(plan.curve_identities, plan.curve_value, color=colour, label="with as many images each")
    circle = {"marker": "o", "linestyle": "none", "color": colour, "markerfacecolor": "white"}
    ax.plot(plan.n_identities_now, plan.value_now, **circle, label="the data given")
    if np.isfinite(plan.n_identities):
        diamond = {"marker": "D", "linestyle": "none", "color": colour, "markersize": 8}
        ax.plot(plan.n_identities, plan.predicted, **diamond, zorder=4, label="the plan")
    ax.axhline(
        given["line"],
        color="#555555",
        linestyle="--",
        linewidth=1,
        label=f"goal: {given['line']:.3g}",
    )
    if "confirmed" in plan:
        style = {
            "color": "black",
            "markersize": 11,
            "capsize": 3,
            "label": "simulated with so many people",
        }
        ax.errorbar(
            plan.n_identities, plan.confirmed, 2 * plan.confirmed_se, fmt="*", zorder=5, **style
        )
    ax.set_xscale("log")
    ax.xaxis.set(
        major_locator=LogLocator(subs=(1, 2, 5)), major_formatter=StrMethodFormatter("{x:,g}")
    )
    ax.xaxis.set_minor_locator(
        NullLocator()
    )  # ticks of one kind, so that all their words stand on one line
    words = f"FAR {given['far']:g}, FRR {given['frr']:.3g}; about {given['target']}"
    return finish(ax, "people", given["value"].replace(", ", ",\n"), [words], **BELOW)
