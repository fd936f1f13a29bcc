"""Explorer of ROC bands: which curves, which interval, which level, which range of FAR."""

import ipywidgets as widgets
import xarray as xr
from matplotlib.axes import Axes

from frkit import plot
from frkit.base import FAR_LEVEL, MODEL, require
from frkit.explore.panel import Panel, far_range, labelled
from frkit.intervals import METHODS, band


def select(
    evaluations: dict[str, xr.DataTree],
    curves: tuple[tuple[str, str], ...],
    method: str,
    level: float,
    far: tuple[float, float],
) -> dict[str, xr.Dataset]:
    """The bands of the chosen curves within a range of FAR, by the words of their legend."""
    wanted = slice(far[0] * (1 - 1e-9), far[1] * (1 + 1e-9))
    found = {}
    for name in dict.fromkeys(name for name, _ in curves):
        bands = band(evaluations[name], "frr", method=method, level=level).sel({FAR_LEVEL: wanted})
        for model in (model for data, model in curves if data == name):
            words = ", ".join(part for part in (name, model) if part)
            found[words or "empirical curve"] = bands.sel({MODEL: model}) if model else bands
    return found


def draw(bands: dict[str, xr.Dataset], ax: Axes) -> Axes:
    """The chosen bands, or words where none is chosen."""
    if not bands:
        ax.text(0.5, 0.5, "choose at least one curve", ha="center", va="center", transform=ax.transAxes)
        return ax
    return plot.roc(bands, ax=ax)


def roc(evaluation: xr.DataTree | dict[str, xr.DataTree]) -> widgets.VBox:
    """Explore ROC curves with their bands: curves, kind of interval, nominal level and range of FAR.

    Parameters
    ----------
    evaluation : what `evaluate(..., resampling=...)` returned, or several of them by name.

    Returns
    -------
    ipywidgets.VBox : controls above a figure that follows them; cautions of the chosen bands beneath it.

    Raises
    ------
    InputError : an evaluation without FAR levels or without replicates.

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
    evaluations = evaluation if isinstance(evaluation, dict) else {"": evaluation}
    choices = _choices(evaluations)
    levels = next(iter(evaluations.values()))["empirical"].coords[FAR_LEVEL].values
    controls = {
        "method": labelled(widgets.Dropdown, "interval", options=_methods(evaluations)),
        "level": labelled(widgets.FloatSlider, "nominal level", value=0.95, min=0.5, max=0.99, step=0.01),
        "far": far_range(levels),
    }
    if len(choices) > 1:
        several = {"options": choices, "value": [value for _, value in choices], "rows": min(8, len(choices))}
        controls["curves"] = labelled(widgets.SelectMultiple, "curves (Ctrl for several)", **several)

    def show(axes: list[Axes], method, level, far, curves=(choices[0][1],)) -> None:
        draw(select(evaluations, curves, method, level, far), axes[0])

    return Panel(controls, show).box()


def _methods(evaluations: dict[str, xr.DataTree]) -> list[str]:
    """The kinds of interval for which every evaluation holds what it takes."""
    nodes = [(one["empirical"], one["replicates"]) for one in evaluations.values() if "replicates" in one]
    lost = set() if all("frr_rescaled" in replicates for _, replicates in nodes) else {"rescaled"}
    lost |= set() if all("frr_variance" in found for found, _ in nodes) else {"corrected"}
    return [method for method in METHODS if method not in lost]


def _choices(evaluations: dict[str, xr.DataTree]) -> list[tuple[str, tuple[str, str]]]:
    """Every curve that the evaluations hold: its words, and its evaluation and model."""
    choices = []
    for name, evaluation in evaluations.items():
        coords = evaluation["empirical"].coords
        require(FAR_LEVEL in coords, "explore.roc needs an evaluation at FAR levels: evaluate(..., far=...)")
        for model in coords[MODEL].values if MODEL in coords else [""]:
            words = ", ".join(part for part in (str(name), str(model)) if part)
            choices.append((words or "empirical curve", (name, str(model))))
    return choices
