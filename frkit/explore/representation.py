"""Explorer of representation bias: classes of known distance, what estimators say of them, and what misleads."""

import ipywidgets as widgets
from matplotlib.axes import Axes

from frkit import plot, studies
from frkit.explore.panel import Panel, labelled

WAITING = "not estimated yet: press the button"
SPLITS = {"people: no one in two folds": "identity", "images: a person may be in several": "image"}


def draw(truth, done: list, axes: list[Axes], distance: float) -> list[Axes]:
    """Estimates beside the exact curve on the left, all measures of the last data set on the right."""
    plot.trials(truth, done, axes[0])
    axes[0].axvline(distance, color="#F0E442", linewidth=6, alpha=0.4, zorder=0)
    if done:
        plot.comparators(done[-1], axes[1])
    else:
        axes[1].text(0.5, 0.5, WAITING, ha="center", va="center", transform=axes[1].transAxes)
    return axes


def representation_bias(per_identity: int = 10) -> widgets.VBox:
    """Explore estimates of representation bias where the truth is known.

    Two Gaussian classes of people lie a chosen distance apart. The exact curve follows the class balance; a button
    draws people and estimates RLB, held out and in sample, with the comparators beside it, and shows its progress.

    Parameters
    ----------
    per_identity : images of each person, 1 or more; half of their noise is common to them.

    Returns
    -------
    ipywidgets.VBox : controls above two figures that follow them. Estimates stay until the class balance changes.

    References
    ----------
    Li & Abd-Almageed (2021), eq. 1 and Section IV-B.

    Examples
    --------
    >>> import frkit as fk
    >>> [child.description for child in fk.explore.representation_bias().children[:2]]
    ['attribute strength', 'share of class 1']
    """
    done: dict[float, list] = {}
    controls = {
        "distance": labelled(widgets.FloatSlider, "attribute strength", value=2, min=0, max=6, step=0.5),
        "share": labelled(widgets.SelectionSlider, "share of class 1", options=[0.1, 0.25, 0.5, 0.75, 0.9], value=0.5),
        "n_images": labelled(widgets.SelectionSlider, "images n", options=[300, 1000, 3000], value=1000),
        "n_features": labelled(widgets.SelectionSlider, "dimension", options=[8, 64, 256], value=64),
        "by": labelled(widgets.Dropdown, "folds of", options=SPLITS),
        "hidden": labelled(widgets.SelectionSlider, "network width", options=[8, 64, 200], value=64),
    }

    def show(axes: list[Axes], distance, share, **_sizes) -> None:
        draw(studies.true_bias(share), done.get(share, []), axes, distance)

    panel = Panel(controls, show, columns=2)
    return panel.box(*_button(panel, done, per_identity))


def _button(panel: Panel, done: dict[float, list], per_identity: int) -> tuple[widgets.Widget, widgets.Widget]:
    """A button that draws the next data set and estimates, and its progress."""
    button = widgets.Button(description="Draw people and estimate", layout={"width": "22em"})
    progress = widgets.Output()

    def run(_button: widgets.Button) -> None:
        chosen = {name: control.value for name, control in panel.controls.items()}
        share = chosen.pop("share")
        law, before = {"shares": (share, 1 - share), "per_identity": per_identity}, done.setdefault(share, [])
        button.disabled = True
        try:
            with progress:
                before.append(studies.trial(**chosen, **law, seed=len(before), progress=True))
                panel.redraw()
        finally:
            button.disabled = False

    button.on_click(run)
    return button, progress
