"""Figures of representation bias: estimates with error bars, in sample and held out, beside a truth."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from frkit.base import require
from frkit.plot.style import COLOURS, SMALL, TRUTH, new_axes, plain

IN_SAMPLE = "#8C8C8C"


def check_holds(result, wanted: list[str], source: str) -> None:
    """Refuse a result that lacks what is to be drawn."""
    missing = [name for name in wanted if not isinstance(result, xr.Dataset) or name not in result]
    require(not missing, f"this result holds no {', '.join(missing)}: pass {source}")


def finish_bias(ax: Axes, xlabel: str, ylabel: str) -> Axes:
    """Labels, grid and legend."""
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.grid(True, axis="y", color="#E5E5E5", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.legend(fontsize=SMALL, frameon=False)
    return ax


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
    check_holds(result, ["rlb", "rlb_se"], "what representation_bias returned")
    dims = result.rlb.dims
    require(len(dims) <= 1, f"RLB over one dimension can be drawn, got {dims}; select with .sel(...)")
    ax = new_axes(ax)
    names = result[dims[0]].values.astype(str) if dims else ["all images"]
    place, values = np.arange(len(names)), np.atleast_1d(result.rlb)
    error = 2 * np.atleast_1d(result.rlb_se)
    ax.errorbar(place, values, error, fmt="o", color=COLOURS[0], capsize=4, label="held out, ± 2 standard errors")
    if "rlb_in_sample" in result:
        seen = np.atleast_1d(result.rlb_in_sample)
        ax.plot(place, seen, "o", mfc="none", color=IN_SAMPLE, label="in sample: overfitting")
    if "smallest_detectable" in result:
        least = np.atleast_1d(result.smallest_detectable)
        ax.plot(place, least, "_", color=COLOURS[1], markersize=16, label="smallest that can be detected")
    ax.set_xticks(place, [plain(name) for name in names])
    ax.set_xlim(-0.5, len(names) - 0.5)
    return finish_bias(ax, plain(dims[0]) if dims else "", "RLB (share of the attribute's entropy)")


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
    ax = new_axes(ax)
    for place, (name, one) in enumerate(result.items()):
        check_holds(one, ["in_sample", "held_out"], "what representation.convergence returned")
        colour = COLOURS[place % len(COLOURS)]
        ax.plot(one.step, one.held_out.mean("fold"), color=colour, label=plain(name))
        ax.plot(one.step, one.in_sample.mean("fold"), "--", color=colour, linewidth=1)
    ax.plot([], [], "--", color=IN_SAMPLE, label="dashed: in sample")
    return finish_bias(ax, "training steps", "mutual information (nats)")


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
    check_holds(truth, ["rlb"], "what studies.true_bias returned")
    ax = new_axes(ax)
    ax.plot(truth.distance, truth.rlb, "--", color=TRUTH, label="exact truth")
    for place, one in enumerate(done):
        size, people = 8 if place == len(done) - 1 else 4, one.by == "identity"
        colour = COLOURS[0] if people else COLOURS[1]
        error = 2 * float(one.rlb_se)
        ax.errorbar(one.distance, one.rlb, error, fmt="o", color=colour, capsize=3, markersize=size)
        ax.plot(one.distance, one.rlb_in_sample, "o", mfc="none", color=IN_SAMPLE, markersize=size)
    for by, colour in (("identity", COLOURS[0]), ("image", COLOURS[1])):
        if any(one.by == by for one in done):
            words = "held out ± 2 se" + (", folds of images" if by == "image" else "")
            ax.errorbar([], [], [], fmt="o", color=colour, label=words)
    if done:
        ax.plot([], [], "o", mfc="none", color=IN_SAMPLE, label="in sample")
    return finish_bias(ax, "distance of the classes (standard deviations)", "RLB")


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
    check_holds(one, ["truth", "rlb", "rlb_in_sample", "dataset_bias", "dcor2"], "what studies.trial returned")
    ax = new_axes(ax)
    names = {
        "rlb_in_sample": "RLB,\nin sample",
        "rlb": "RLB,\nheld out",
        "dataset_bias": "dataset\nbias",
        "dcor2": "dcor²",
    }
    colours = [IN_SAMPLE, COLOURS[0], COLOURS[2], COLOURS[4]]
    ax.bar(list(names.values()), [float(one[name]) for name in names], color=colours)
    ax.axhline(float(one.truth), color=TRUTH, linestyle="--", label="exact RLB")
    ax.axhline(0, color=TRUTH, linewidth=0.6)
    return finish_bias(ax, "", "value")
