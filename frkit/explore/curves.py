"""The explorer of ROC curves and their bands."""

import ipywidgets as widgets
import xarray as xr

from frkit import plot
from frkit.base import require, require_returned
from frkit.explore.controls import far_range, menu, number, several
from frkit.explore.panel import Panel, remembered, say
from frkit.intervals import band

LEVEL = {"value": 0.95, "min": 0.5, "max": 0.99, "step": 0.01}
OF_REPLICATES = ("recentered", "naive", "gaussian", "pivotal")
TREE = ("frkit.evaluate(scores, far=...)", "empirical", "provenance")


def within(far):
    """Select a range of FAR levels, both ends included."""
    return {"far_level": slice(*far)}


def roc(evaluation: xr.DataTree | dict[str, xr.DataTree], **start) -> widgets.VBox:
    """Explore ROC curves with their bands: curves, method, nominal level and range of FAR.

    Parameters
    ----------
    evaluation : xr.DataTree or dict of str to xr.DataTree
        What `evaluate` returned, or several of them by name. Where all have replicates, more
        methods can be chosen.
    **start
        Values to begin with: method, level, far (two levels), curves.

    Returns
    -------
    ipywidgets.VBox
        Controls above a figure that follows them; cautions of the chosen bands beneath it.

    Raises
    ------
    InputError
        For an evaluation without FAR levels, or without anything to make intervals of.

    References
    ----------
    Conti & Clémençon (2024), Figs. 1 and 3.

    Examples
    --------
    >>> import frkit as fk
    >>> faces = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0).sample(per_identity=6)
    >>> how = dict(far=[0.05, 0.1, 0.2], resampling=fk.Resampling("image", n=50))
    >>> box = fk.explore.roc(fk.evaluate(fk.score_tensor(faces), **how))
    >>> [child.description for child in box.children[:2]]
    ['interval', 'nominal level']
    """
    require_returned("evaluation", evaluation, *TREE)
    evaluations = {"": evaluation} if isinstance(evaluation, xr.DataTree) else evaluation
    curves = {}  # words -> evaluation and model
    for name, tree in evaluations.items():
        coords = tree["empirical"].coords
        words = "this evaluation has no FAR levels: call evaluate(..., far=...)"
        require("far_level" in coords, words)
        for model in coords["model"].values.tolist() if "model" in coords else [""]:
            words = ", ".join(filter(None, (name, model)))
            curves[words or "empirical curve"] = name, model
    methods = interval_methods(evaluations.values())
    require(methods, "this evaluation has no replicates: call evaluate(..., resampling=...)")
    controls = {
        "method": menu("interval", options=methods),
        "level": number("nominal level", **LEVEL),
        "far": far_range(coords["far_level"].values),
        "curves": several("curves", list(curves.items()), list(curves.values())),
    }

    @remembered
    def band_of(name, method, level):
        return band(evaluations[name], "frr", method=method, level=level)

    def draw(ax, method, level, far, curves):
        bands = {}
        for name in dict.fromkeys(name for name, _ in curves):
            curve = band_of(name, method, level).sel(within(far))
            if "model" in curve.dims:
                models = [model for place, model in curves if place == name]
                curve = curve.sel(model=models)
            bands[name] = curve
        if bands:
            plot.roc(bands, ax)
        else:
            say(ax, "choose at least one curve")

    return Panel(controls, draw, **start).box()


def interval_methods(trees):
    """The methods of `band` that all of these evaluations allow."""
    methods = []
    if all("people" in tree.children for tree in trees):
        methods.append("effective")
    if all("replicates" in tree.children for tree in trees):
        methods += OF_REPLICATES
    return methods
