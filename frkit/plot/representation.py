"""Figures of representation bias: estimates with intervals, in sample and held out."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from frkit.base import require, require_returned, require_sequence
from frkit.plot.style import (
    COLOURS,
    TRUTH,
    UNRESOLVED,
    finish,
    new_axes,
    plain,
)

IN_SAMPLE = {"color": UNRESOLVED, "markerfacecolor": "none"}


def representation_bias(result: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw RLB with two standard errors, its in-sample value and the smallest detectable value.

    Parameters
    ----------
    result : xr.Dataset
        What `representation_bias` returned, over one dimension such as model or attribute (or
        none); or any Dataset with `rlb` and `rlb_se`. `rlb_in_sample` and `smallest_detectable` are
        drawn where present.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Labels along, RLB upwards.

    Raises
    ------
    InputError
        More than one dimension.

    References
    ----------
    Li & Abd-Almageed (2021), eq. 1.

    Examples
    --------
    >>> import frkit as fk
    >>> import xarray as xr
    >>> rlb, se = ("model", [0.1, 0.3]), ("model", [0.02, 0.03])
    >>> result = xr.Dataset({"rlb": rlb, "rlb_se": se}, {"model": ["A", "B"]})
    >>> [text.get_text() for text in fk.plot.representation_bias(result).get_xticklabels()]
    ['A', 'B']
    """
    require_returned("result", result, "fk.representation_bias", "rlb")
    require(
        result.rlb.ndim <= 1,
        f"RLB over one dimension can be drawn, got {result.rlb.dims}; select with .sel(...)",
    )
    if result.rlb.ndim == 0:
        result = result.expand_dims({"": ["all images"]})
    (along,) = result.rlb.dims
    ax = new_axes(ax)
    place = np.arange(result.rlb.size)
    _draw_estimates(ax, place, result, "held out, ± 2 standard errors", COLOURS[0])
    if "smallest_detectable" in result:
        label = "smallest that can be detected"
        least = result.smallest_detectable
        ax.plot(place, least, "_", label=label, color=COLOURS[3], markersize=16)
    ax.set_xticks(place, [plain(name) for name in result[along].values])
    ax.set_xlim(-0.5, place.size - 0.5)
    return finish(ax, along, "RLB (share of the attribute's entropy)", grid="y")


def _draw_estimates(ax, x, result, label, colour, size=6):
    """Draw RLB with two standard errors and, as hollow circles, its in-sample value."""
    style = {"fmt": "o", "color": colour, "capsize": 4, "markersize": size}
    ax.errorbar(x, result.rlb, 2 * result.rlb_se, label=label, **style)
    if "rlb_in_sample" in result:
        label = "in sample"
        ax.plot(x, result.rlb_in_sample, "o", label=label, markersize=size, **IN_SAMPLE)


def trials(truth: xr.Dataset, done: list[xr.Dataset], ax: Axes | None = None) -> Axes:
    """Draw estimates and the exact truth against the distance of the classes.

    Parameters
    ----------
    truth : xr.Dataset
        What `studies.true_bias` returned.
    done : list of xr.Dataset
        What `studies.trial` returned, any number of times; the last one is drawn larger.
    ax : matplotlib.axes.Axes, optional
        A new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        Distances along, RLB and the dataset bias of a linear probe upwards.

    Raises
    ------
    InputError
        For anything else.

    Examples
    --------
    >>> import frkit as fk
    >>> import xarray as xr
    >>> truth = xr.Dataset({"rlb": ("distance", [0, 0.5])}, {"distance": [0, 2]})
    >>> fk.plot.trials(truth, []).lines[0].get_ydata().tolist()
    [0.0, 0.5]
    """
    require_returned("truth", truth, "studies.true_bias", "rlb", "distance")
    for trial in require_sequence("done", done, "a list of what studies.trial returned"):
        require_returned("done", trial, "studies.trial", "rlb", "rlb_se", "dataset_bias", "by")
    ax = new_axes(ax)
    ax.plot(truth.distance, truth.rlb, "--", color=TRUTH, label="exact truth")
    styles = {
        "identity": ("held out ± 2 se", COLOURS[0]),
        "image": ("held out ± 2 se, folds of images", COLOURS[1]),
    }
    for place, trial in enumerate(done):
        size = 8 if place == len(done) - 1 else 4
        _draw_estimates(ax, trial.distance, trial, *styles[trial.by.item()], size)
        bias, colour = trial.dataset_bias, COLOURS[2]
        ax.plot(trial.distance, bias, "s", color=colour, markersize=size + 2, label="linear probe")
    xlabel = "distance of the classes (standard deviations)"
    return finish(ax, xlabel, "share of the entropy", grid="y")
