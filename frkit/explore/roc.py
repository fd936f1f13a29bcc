"""The explorer of ROC curves and their bands."""

from collections.abc import Callable, Iterable
from functools import partial

import ipywidgets as widgets
import xarray as xr
from matplotlib.axes import Axes

from frkit import plot
from frkit.base import FAR_LEVEL, MODEL, require, require_returned
from frkit.explore.panel import Panel, far_range, menu, number, remembered, say, several
from frkit.intervals import band

LEVEL = {"value": 0.95, "min": 0.5, "max": 0.99, "step": 0.01}
OF_REPLICATES = ("recentered", "naive", "gaussian", "pivotal")
TREE = ("frkit.evaluate(scores, far=...)", "empirical", "provenance")


def within(far: tuple[float, float]) -> dict[str, slice]:
    """What selects a range of FAR levels, both ends with it."""
    return {FAR_LEVEL: slice(far[0] * (1 - 1e-9), far[1] * (1 + 1e-9))}


def roc(evaluation: xr.DataTree | dict[str, xr.DataTree], **start) -> widgets.VBox:
    """Explore ROC curves with their bands: curves, kind of interval, nominal level and range of FAR.

    Parameters
    ----------
    evaluation : what `evaluate` returned, or several of them by name; with replicates in all of them more methods can
        be chosen.
    start : values to begin with: method, level, far (two levels), curves.

    Returns
    -------
    ipywidgets.VBox : controls above a figure that follows them; cautions of the chosen bands beneath it.

    Raises
    ------
    InputError : an evaluation without FAR levels, or nothing to make intervals of.

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
    choices = {}
    for name, one in evaluations.items():
        coords = one["empirical"].coords
        require(
            FAR_LEVEL in coords, "this evaluation has no FAR levels: call evaluate(..., far=...)"
        )
        for model in coords[MODEL].values.tolist() if MODEL in coords else [""]:
            choices[", ".join(part for part in (name, model) if part) or "empirical curve"] = (
                name,
                model,
            )
    without = all("people" in one.children for one in evaluations.values())
    resampled = all("replicates" in one.children for one in evaluations.values())
    methods = ("effective",) * without + OF_REPLICATES * resampled
    require(
        len(methods) > 0, "this evaluation has no replicates: call evaluate(..., resampling=...)"
    )
    controls = {
        "method": menu("interval", options=methods),
        "level": number("nominal level", **LEVEL),
        "far": far_range(next(iter(evaluations.values()))["empirical"].coords[FAR_LEVEL].values),
        "curves": several("curves", list(choices.items()), list(choices.values())),
    }

    @remembered
    def made(name, method, level) -> xr.Dataset:
        return band(evaluations[name], "frr", method=method, level=level)

    def show(ax: Axes, method, level, far, curves) -> None:
        bands = chosen_bands(partial(made, method=method, level=level), curves, far)
        if not bands:
            return say(ax, "choose at least one curve")
        plot.roc(bands, ax)

    return Panel(controls, show, start=start).box()


def chosen_bands(
    made: Callable[[str], xr.Dataset], curves: Iterable, far: tuple
) -> dict[str, xr.Dataset]:
    """The bands of some curves, each given by its evaluation's name and model, within a range of FAR, by evaluation."""
    found = {}
    for name in dict.fromkeys(name for name, _ in curves):
        models = {MODEL: [model for data, model in curves if data == name and model]}
        bands = made(name).sel(within(far))
        found[name] = bands.sel(models) if MODEL in bands.dims else bands
    return found
