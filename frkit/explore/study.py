"""An explorer of any computed result: a control for each dimension that its figures do not show."""

from inspect import signature

import ipywidgets as widgets
import xarray as xr

from frkit import plot, studies
from frkit.base import require, require_kind
from frkit.explore.controls import labelled_control, menu
from frkit.explore.panel import Panel
from frkit.intervals import decision_zones

# the chosen place in a figure
MARK = {"color": "#F0E442", "linewidth": 6, "alpha": 0.4, "zorder": 0}
WORDS = {
    "far_level": "FAR level",
    "level": "nominal coverage",
    "people": "whose FRR is the truth",
    "per_identity": "images per identity",
    "size": "size of the parts",
    "subset_size": "people in a subset",
}


def study(results: xr.Dataset | dict[str, xr.Dataset], **start) -> widgets.Box:
    """Explore a computed result: choose a label of each dimension, and its figures follow.

    Dimensions that the figures show have no control. Nothing is computed anew, so whatever the
    controls shall offer is computed before.

    Parameters
    ----------
    results : xr.Dataset or dict of str to xr.Dataset
        What `studies.consistency`, `studies.bootstrap_bias`, `studies.coverage`, `n_sigma`,
        `fairness_indices`, `representation_bias` or `band` returned; or
        several of one kind by name, among which a menu chooses.
    **start
        Values to begin with, by dimension; and `result`, the name of one of several.

    Returns
    -------
    ipywidgets.Box
        Controls beside the figures that follow them; cautions beneath.

    Raises
    ------
    InputError
        For anything else, or results that differ in the labels of a control.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> result = fk.studies.bootstrap_bias(mix, per_identity=(5, 10), far=[0.1, 0.2], n=20)
    >>> controls, figures = fk.explore.study(result).children
    >>> [control.description for control in controls.children]
    ['images per identity', 'FAR level']
    """
    require_kind("results", results, *FIGURES)
    several = results if isinstance(results, dict) else {"": results}
    first, *others = map(figures_and_labels, several.values())
    is_alike = others.count(first) == len(others)
    require(is_alike, "results must be of one kind, with the same labels to choose from")
    figures, labels = first
    controls = {"result": menu("result", options=list(several))} if len(several) > 1 else {}
    controls |= {dim: control_of(dim, options) for dim, options in labels.items()}

    def result_by_name(result=""):
        return several[result]

    draws = [drawn_by(figure, labels) for figure in figures]
    return Panel(controls, *draws, prepare=result_by_name, margins=(1.0, 1.35), **start).box()


def control_of(dim, labels):
    """Return a menu of names, or a slider of numbers."""
    words = WORDS.get(dim, dim)
    if isinstance(labels[0], str):
        return menu(words, options=labels)
    options = [(f"{label:.4g}", label) for label in labels]
    settings = {"options": options, "index": len(labels) // 2}
    return labelled_control(widgets.SelectionSlider, words, **settings)


def drawn_by(figure, labels):
    """Return a function for a panel: it selects, except in dimensions that the figure marks."""
    marked = signature(figure).parameters

    def draw(ax, data, **values):
        labels_to_select = {dim: values[dim] for dim in labels if dim not in marked}
        labels_to_mark = {dim: values[dim] for dim in labels if dim in marked}
        figure(data.sel(labels_to_select), ax=ax, **labels_to_mark)

    return draw


def distances(result, ax, size):
    """Draw the largest distances of the curves at all sizes."""
    plot.consistency(studies.sup_distance(result), ax)
    ax.axvline(int(result.n_images.sel(size=size)), **MARK)


def replicate_curves(result, ax, far_level):
    """Draw the replicate curves of one number of images per identity."""
    curves = result.assign_attrs(kind="replicate_curves")
    plot.replicate_curves(curves, ax, truth=xr.Dataset({"frr": result.truth}))
    ax.axvline(far_level, **MARK)


def bootstrap_bias(result, ax, per_identity, far_level):
    """Draw the intervals of all numbers of images per identity."""
    plot.bootstrap_bias(result, far_level, ax)
    ax.axvline(result.indexes["per_identity"].get_loc(per_identity), **MARK)


def coverage_of_levels(result, ax, level):
    """Draw coverage over nominal levels."""
    plot.coverage(result, "level", ax)
    ax.axvline(level, **MARK)


def coverage_along_far(result, ax, far_level):
    """Draw coverage over FAR levels."""
    plot.coverage(result, "far_level", ax)
    ax.axvline(far_level, **MARK)


def rates(result, ax):
    """Draw ROC curves; or a disparity of groups, with the zones of two models."""
    if "fair" not in result.attrs:
        plot.roc(result, ax)
        return
    zones = decision_zones(result) if result.sizes.get("model") == 2 else None
    plot.fairness(result, ax, zones=zones)


FIGURES = {  # kind of a result -> its figures, and dimensions without a control
    "studies.consistency": ([plot.growth, distances], ["far_level", "seed"]),
    "studies.bootstrap_bias": ([replicate_curves, bootstrap_bias], ["replicate", "interval"]),
    "studies.coverage": ([coverage_of_levels, coverage_along_far], ["method"]),
    "n_sigma": ([plot.n_sigma, plot.eer_distributions], ["group", "batch", "subset"]),
    "fairness_indices": (
        [plot.score_histograms, plot.fairness_indices],
        ["group", "score_bin", "variant"],
    ),
    "representation_bias": ([plot.representation_bias], ["case", "seed"]),
    "band": ([rates], ["far_level", "group", "model"]),
}


def figures_and_labels(result):
    """Return the figures of a result, and the labels of each dimension that has a control."""
    figures, shown = FIGURES[result.attrs["kind"]]
    dims = [dim for dim in result.dims if dim not in shown and dim in result.coords]
    return figures, {dim: result[dim].values.tolist() for dim in dims}
