"""The frame of every explorer: labelled controls, a figure drawn again as a PNG, cautions, a button for long work."""

import io
import warnings
from collections.abc import Callable
from functools import partial
from html import escape

import ipywidgets as widgets
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from frkit.base import DataWarning
from frkit.intervals.reading import each_time

MARK = {"color": "#F0E442", "linewidth": 6, "alpha": 0.4, "zorder": 0}  # the chosen place in a figure


def labelled(kind: type[widgets.Widget], label: str, **settings) -> widgets.Widget:
    """A control with its words in full before it."""
    return kind(description=label, style={"description_width": "12em"}, layout={"width": "38em"}, **settings)


slider, menu = partial(labelled, widgets.SelectionSlider), partial(labelled, widgets.Dropdown)
number, tick = partial(labelled, widgets.FloatSlider), partial(labelled, widgets.Checkbox)


def several(label: str, options: list, value: list) -> widgets.SelectMultiple:
    """A control that chooses any number of options."""
    words = f"{label} (Ctrl for several)"
    return labelled(widgets.SelectMultiple, words, options=options, value=value, rows=min(8, len(options)))


def far_names(levels: np.ndarray) -> list[tuple[str, float]]:
    """FAR levels as options of a control: what is shown, and the level."""
    return [(f"{level:.1e}", float(level)) for level in levels]


def far_range(levels: np.ndarray) -> widgets.SelectionRangeSlider:
    """A control for a range of FAR levels."""
    whole = {"options": far_names(levels), "index": (0, len(levels) - 1)}
    return labelled(widgets.SelectionRangeSlider, "FAR range", **whole)


def say(ax: Axes, words: str) -> None:
    """Words where there is nothing to draw."""
    ax.text(0.5, 0.5, words, ha="center", va="center", transform=ax.transAxes)


class Panel:
    """Controls, a figure and its cautions, tied together.

    Parameters
    ----------
    controls : the widgets, by the name under which `show` receives their values.
    show : called with the list of axes and the values; it selects and draws.
    columns : number of axes side by side.
    foot : room below the axes in inches, for labels and a legend.
    """

    def __init__(self, controls: dict[str, widgets.Widget], show: Callable, columns: int = 1, foot: float = 0.6):
        self.controls, self.show = controls, show
        width, height = 5.9 * columns, 3.8 + foot
        self.figure = Figure(figsize=(width, height), dpi=90)
        self.canvas = FigureCanvasAgg(self.figure)
        self.axes = list(np.atleast_1d(self.figure.subplots(1, columns)))
        # margins wide enough for every label: to find them anew for each picture would double its time
        ends = {"left": 0.95 / width, "right": 1 - 0.15 / width, "bottom": foot / height, "top": 1 - 0.65 / height}
        self.figure.subplots_adjust(**ends, wspace=0.21)
        self.image = widgets.Image(format="png", layout={"max_width": "100%", "align_self": "flex-start"})
        self.cautions = widgets.HTML()
        for control in controls.values():
            control.observe(self.redraw, names="value")
        self.redraw()

    def redraw(self, _change: object = None) -> None:
        """Draw what the controls say, on the same axes, and show it."""
        for ax in self.axes:
            ax.clear()
        with warnings.catch_warnings(record=True) as caught, each_time():
            warnings.simplefilter("always")
            self.show(self.axes, **{name: control.value for name, control in self.controls.items()})
        messages = dict.fromkeys(str(one.message) for one in caught if one.category is DataWarning)
        items = "".join(f"<li>{escape(message)}</li>" for message in messages)
        self.cautions.value = f"<ul>{items}</ul>" if items else ""
        picture = io.BytesIO()
        self.canvas.print_png(picture)
        self.image.value = picture.getvalue()

    def box(self, words: str = "", compute: Callable | None = None, **asked: widgets.Widget) -> widgets.VBox:
        """Everything in one column: controls, a button where there is something to compute, figure, cautions.

        The button calls `compute` with the values of all controls, and of those `asked` for it alone; its progress
        bars stand beneath it, and it waits until they are done.
        """
        button, progress = widgets.Button(description=words, layout={"width": "22em"}), widgets.Output()

        def run(_button: widgets.Button) -> None:
            button.disabled = True
            try:
                with progress:
                    compute(**{name: control.value for name, control in (self.controls | asked).items()})
                    self.redraw()
            finally:
                button.disabled = False

        button.on_click(run)
        more = [*asked.values(), button, progress] if compute else []
        return widgets.VBox([*self.controls.values(), *more, self.image, self.cautions])
