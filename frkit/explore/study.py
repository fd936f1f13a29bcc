"""An explorer of any computed result: a control for each dimension that its figures do not show."""

import ipywidgets as widgets
import xarray as xr

from frkit import plot
from frkit.base import require, require_kind
from frkit.figures.controls import control_of, menu
from frkit.figures.panel import Panel, drawn_by
from frkit.intervals import decision_zones
from frkit.papers.roc.explorer import STUDIES


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
    controls = {"result": menu("result", options=[*several])} if len(several) > 1 else {}
    controls |= {dim: control_of(dim, options) for dim, options in labels.items()}

    def result_by_name(result=""):
        return several[result]

    draws = [drawn_by(figure, labels) for figure in figures]
    return Panel(controls, *draws, prepare=result_by_name, margins=(1.0, 1.35), **start).box()


def rates(result, ax):
    """Draw ROC curves; or a disparity of groups, with the zones of two models."""
    if "fair" not in result.attrs:
        plot.roc(result, ax)
        return
    zones = decision_zones(result) if result.sizes.get("model") == 2 else None
    plot.fairness(result, ax, zones=zones)


FIGURES = STUDIES | {  # kind of a result -> its figures, and dimensions without a control
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
