"""Figures of representation bias: estimates with error bars, in sample and held out, beside a truth."""

from itertools import cycle

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from frkit.base import require, require_returned
from frkit.plot.style import COLOURS, TRUTH, UNRESOLVED, finish, new_axes, plain

IN_SAMPLE = {"color": UNRESOLVED, "markerfacecolor": "none"}
COMPARED = {"rlb_in_sample": "RLB,\nin sample", "rlb": "RLB,\nheld out"}
COMPARED |= {"dataset_bias": "dataset\nbias", "dcor2": "dcor²"}

TRIAL = (
    "studies.trial(distance, n_images, n_features)",
    "rlb",
    "rlb_se",
    "rlb_in_sample",
    "by",
    "distance",
)
CURVES = ("representation.convergence(faces, ...)", "in_sample", "held_out", "fold", "step")


def representation_bias(result: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw RLB with two standard errors, beside its in-sample reading and the smallest value that can be seen.

    Parameters
    ----------
    result : what `representation_bias` returned, over one dimension such as model or attribute (or none); or any
        Dataset with `rlb` and `rlb_se`. `rlb_in_sample` and `smallest_detectable` are drawn where present.
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes.

    Raises
    ------
    InputError : no `rlb`, or more than one dimension.

    References
    ----------
    Li & Abd-Almageed (2021), eq. 1.

    Examples
    --------
    >>> result = xr.Dataset({"rlb": ("model", [0.1, 0.3]), "rlb_se": ("model", [0.02, 0.03])}, {"model": ["A", "B"]})
    >>> [text.get_text() for text in representation_bias(result).get_xticklabels()]
    ['A', 'B']
    """
    require_returned(
        "result", result, "frkit.representation_bias(faces, attribute)", "rlb", "rlb_se"
    )
    require(
        result.rlb.ndim <= 1,
        f"RLB over one dimension can be drawn, got {result.rlb.dims}; select with .sel(...)",
    )
    result = result if result.rlb.ndim else result.expand_dims({"": ["all images"]})
    (along,) = result.rlb.dims
    ax, place = new_axes(ax), np.arange(result.rlb.size)
    words = "held out, ± 2 standard errors"
    ax.errorbar(
        place, result.rlb, 2 * result.rlb_se, fmt="o", color=COLOURS[0], capsize=4, label=words
    )
    if "rlb_in_sample" in result:
        ax.plot(place, result.rlb_in_sample, "o", label="in sample: overfitting", **IN_SAMPLE)
    if "smallest_detectable" in result:
        style = {"color": COLOURS[1], "markersize": 16, "label": "smallest that can be detected"}
        ax.plot(place, result.smallest_detectable, "_", **style)
    ax.set_xticks(place, [plain(name) for name in result[along].values])
    ax.set_xlim(-0.5, place.size - 0.5)
    return finish(ax, along, "RLB (share of the attribute's entropy)", grid="y")


def convergence(result: dict[str, xr.Dataset], ax: Axes | None = None) -> Axes:
    """Draw estimates of mutual information while the network trains: in sample dashed, held out solid (Fig. 3a).

    Parameters
    ----------
    result : what `representation.convergence` returned, of one encoder, by the words of its legend entry.
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes: one pair of lines for each entry, means over the folds.

    Raises
    ------
    InputError : an entry without `held_out` and `in_sample`.

    References
    ----------
    Li & Abd-Almageed (2021), Fig. 3a.

    Examples
    --------
    >>> curve = ("fold", "step"), [[0, 0.2]]
    >>> one = xr.Dataset({"in_sample": curve, "held_out": curve}, {"step": [0, 25]})
    >>> len(convergence({"noise": one}).lines)
    3
    """
    require_returned("result", result, *CURVES)
    require(
        not isinstance(result, xr.Dataset),
        "result must name its curves: {'words of the legend': result}",
    )
    ax = new_axes(ax)
    for (name, one), colour in zip(result.items(), cycle(COLOURS)):
        ax.plot(one.step, one.held_out.mean("fold"), color=colour, label=plain(name))
        ax.plot(one.step, one.in_sample.mean("fold"), "--", color=colour, linewidth=1)
    ax.plot([], [], "--", color=UNRESOLVED, label="dashed: in sample")
    return finish(ax, "training steps", "mutual information (nats)", grid="y")


def trials(truth: xr.Dataset, done: list[xr.Dataset], ax: Axes | None = None) -> Axes:
    """Draw estimates beside the truth, against the distance of the classes.

    Parameters
    ----------
    truth : what `studies.true_bias` returned.
    done : what `studies.trial` returned, any number of times; the last one is drawn larger.
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes.

    Raises
    ------
    InputError : other data.

    Examples
    --------
    >>> truth = xr.Dataset({"rlb": ("distance", [0, 0.5])}, {"distance": [0, 2]})
    >>> trials(truth, []).lines[0].get_ydata().tolist()
    [0.0, 0.5]
    """
    require_returned("truth", truth, "studies.true_bias(share)", "rlb", "distance")
    require(isinstance(done, list | tuple), f"done must be a list of what {TRIAL[0]} returned")
    for place, one in enumerate(done):
        require_returned(f"done[{place}]", one, *TRIAL)
    ax = new_axes(ax)
    ax.plot(truth.distance, truth.rlb, "--", color=TRUTH, label="exact truth")
    for place, one in enumerate(done, start=1):
        people, size = one.by == "identity", 8 if place == len(done) else 4
        style = {"color": COLOURS[0] if people else COLOURS[1], "capsize": 3, "markersize": size}
        words = "held out ± 2 se" if people else "held out ± 2 se, folds of images"
        ax.errorbar(one.distance, one.rlb, 2 * float(one.rlb_se), fmt="o", label=words, **style)
        ax.plot(
            one.distance, one.rlb_in_sample, "o", markersize=size, label="in sample", **IN_SAMPLE
        )
    return finish(ax, "distance of the classes (standard deviations)", "RLB", grid="y")


def comparators(one: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw what several measures say of one data set whose truth is known, as bars.

    Parameters
    ----------
    one : what `studies.trial` returned.
    ax : matplotlib Axes; a new figure when left out.

    Returns
    -------
    matplotlib Axes: one bar for each measure, a line at the true RLB.

    Raises
    ------
    InputError : other data.

    Examples
    --------
    >>> import frkit as fk
    >>> found = fk.studies.trial(2.0, 200, 4, hidden=8)
    >>> len(comparators(found).patches)
    4
    """
    require_returned("one", one, *TRIAL, "truth", *COMPARED)
    ax, heights = new_axes(ax), [float(one[name]) for name in COMPARED]
    ax.bar(list(COMPARED.values()), heights, color=[UNRESOLVED, COLOURS[0], COLOURS[2], COLOURS[4]])
    ax.axhline(float(one.truth), color=TRUTH, linestyle="--", label="exact RLB")
    ax.axhline(0, color=TRUTH, linewidth=0.6)
    return finish(ax, "", "value", grid="y")
