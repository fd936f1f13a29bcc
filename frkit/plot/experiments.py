"""Figures of the studies: convergence of the empirical ROC, and the bias of the naive bootstrap."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter, ScalarFormatter

from frkit.base import FAR_LEVEL, MODEL, require
from frkit.plot.style import COLOURS, NAIVE, SMALL, TRUTH, finish_rates, log_floor, new_axes, plain, print_captions


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
    require("distance" in result, "this result holds no distances: pass what studies.sup_distance returned")
    ax = new_axes(ax)
    models = [str(model) for model in result[MODEL].values] if MODEL in result.dims else [None]
    for place, model in enumerate(models):
        one = result if model is None else result.sel({MODEL: model})
        _draw_distances(ax, one, COLOURS[place % len(COLOURS)], model, describe=place == 0)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(result.n_images.values, [f"{n:,}" for n in result.n_images.values])
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("images n")
    ax.set_ylabel("sup distance of the ROC (FRR)")
    ax.grid(True, which="major", color="#E5E5E5", linewidth=0.6)
    print_captions(ax, [result.attrs["words"]])
    ax.legend(fontsize=SMALL, frameon=False, loc="lower left")
    return ax


def _draw_distances(ax: Axes, result: xr.Dataset, colour: str, model: str | None, *, describe: bool) -> None:
    """Dots for the seeds, a line for the typical distance, a dashed one for the expected slope."""
    n = result.n_images.values
    typical = "root mean square" if model is None else plain(f"{model}: root mean square")
    ax.plot(n, result.typical, color=colour, linewidth=2, label=typical)
    slope = result.attrs["slope"] if describe else None
    ax.plot(n, result.reference, "--", color=colour, linewidth=1, label=slope)
    for place, seed in enumerate(result.seed.values):
        name = "one dot a seed" if place == 0 and describe else None
        ax.plot(n, result.distance.sel(seed=seed), "o", color=colour, alpha=0.35, markersize=4, label=name)


def growth(result: xr.Dataset, size: float, ax: Axes | None = None, *, far: tuple[float, float] | None = None) -> Axes:
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
    require(MODEL not in result.dims, "growth shows one model: select it with .sel(model=...)")
    require(size in result["size"], f"no size {size} in this study; it has {result['size'].values.tolist()}")
    ax = new_axes(ax)
    one = result.sel(size=size)
    floor = log_floor([one.frr.values, one.truth.values])
    for place, seed in enumerate(one.seed.values):
        name = f"empirical, {int(one.n_images):,} images, one curve a seed" if place == 0 else None
        curve = np.maximum(one.frr.sel(seed=seed), floor)
        ax.plot(one.far_level, curve, color=COLOURS[0], alpha=0.55, linewidth=1.1, label=name)
    goal = "exact truth of the mixture" if result.attrs["exact"] else f"full set, {result.attrs['n_full']:,} images"
    ax.plot(one.far_level, np.maximum(one.truth, floor), "--", color=TRUTH, linewidth=1.6, label=goal)
    if far is not None:
        ax.axvspan(*far, color="#F0E442", alpha=0.15, linewidth=0, zorder=0)
    return finish_rates(ax, FAR_LEVEL, "FRR (share of genuine pairs rejected)", floor)


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
    require("lower" in study, "this study holds no intervals: pass what studies.bootstrap_bias returned")
    ax = new_axes(ax)
    one = study.sel(far_level=far, method="nearest")
    place = np.arange(one.sizes["per_identity"])
    for shift, method, colour in ((-0.12, "naive", NAIVE), (0.12, "recentered", COLOURS[0])):
        ends = one.sel(interval=method)
        ax.vlines(place + shift, ends.lower, ends.upper, color=colour, linewidth=4, label=f"{method} interval")
    ax.plot(place, one.estimate, "o", color="#08306B", markersize=5, label="empirical FRR", zorder=4)
    ax.plot(place, one.centre, "_", color=NAIVE, markersize=14, label="V-statistic", zorder=4)
    if "truth" in one:
        ax.axhline(float(one.truth), color=TRUTH, linestyle="--", linewidth=1.2, label="exact truth of the mixture")
    ax.set_xticks(place, [str(number) for number in one.per_identity.values])
    ax.yaxis.set_major_formatter(ScalarFormatter())
    ax.set_ylim(bottom=min(0.0, float(one.lower.min())))
    ax.set_xlabel("images per identity")
    ax.set_ylabel(f"FRR at FAR {float(one.far_level):.2g} (share of genuine pairs)")
    ax.grid(True, axis="y", color="#E5E5E5", linewidth=0.6)
    print_captions(ax, [study.attrs["words"]])
    ax.legend(fontsize=SMALL, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    return ax
