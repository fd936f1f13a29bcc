"""Explorer of Proposition 1: curves at one size beside their goal, and the distance as images are added."""

import ipywidgets as widgets
import xarray as xr
from matplotlib.axes import Axes

from frkit import plot
from frkit.base import FAR_LEVEL, MODEL
from frkit.explore.panel import Panel, far_range, labelled
from frkit.studies import sup_distance


def select(result: xr.Dataset, far: tuple[float, float], model: str | None) -> tuple[xr.Dataset, xr.Dataset]:
    """The curves of one model, and their distances within a range of FAR."""
    one = result if model is None else result.sel({MODEL: model})
    return one, sup_distance(one, far)


def draw(
    curves: xr.Dataset, distances: xr.Dataset, size: float, far: tuple[float, float], axes: list[Axes]
) -> list[Axes]:
    """Curves at one size on the left, distances at all sizes on the right with that size marked."""
    plot.growth(curves, size, axes[0], far=far)
    plot.consistency(distances, axes[1])
    axes[1].axvline(int(curves.n_images.sel(size=size)), color="#F0E442", linewidth=6, alpha=0.4, zorder=0)
    return axes


def consistency(result: xr.Dataset) -> widgets.VBox:
    """Explore how the empirical ROC comes closer to its goal: size, range of FAR and model.

    Parameters
    ----------
    result : what `studies.consistency` returned.

    Returns
    -------
    ipywidgets.VBox : controls above two figures that follow them.

    Raises
    ------
    InputError : the result holds no FAR level.

    References
    ----------
    Conti & Clémençon (2024), Proposition 1.

    Examples
    --------
    >>> import frkit as fk
    >>> mix = fk.vmf.mixture(20, 16, kappa=(10, 40), seed=0)
    >>> result = fk.studies.consistency(mix, sizes=(4, 8), far=[0.1, 0.2], seeds=2)
    >>> [child.description for child in fk.explore.consistency(result).children[:2]]
    ['images per identity', 'FAR range']
    """
    label = "images per identity" if result.attrs["exact"] else "share of the images"
    sizes = [(f"{size:g}", size) for size in result["size"].values.tolist()]
    controls = {
        "size": labelled(widgets.SelectionSlider, label, options=sizes),
        "far": far_range(result[FAR_LEVEL].values),
    }
    if MODEL in result.dims:
        models = [str(model) for model in result[MODEL].values]
        controls["model"] = labelled(widgets.Dropdown, "model", options=models)

    def show(axes: list[Axes], size, far, model=None) -> None:
        draw(*select(result, far, model), size, far, axes)

    return Panel(controls, show, columns=2).box()
