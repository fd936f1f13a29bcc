"""The frame of every explorer: labelled controls, a figure drawn again as a PNG, the cautions beneath it."""

import io
import warnings
from collections.abc import Callable
from html import escape

import ipywidgets as widgets
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from frkit.base import DataWarning

WIDE = {"description_width": "12em"}
LAYOUT = {"width": "38em"}


def far_names(levels: np.ndarray) -> list[tuple[str, float]]:
    """FAR levels as options of a control: what is shown, and the level."""
    return [(f"{level:.1e}", float(level)) for level in levels]


def far_range(levels: np.ndarray) -> widgets.SelectionRangeSlider:
    """A control for a range of FAR levels."""
    options = far_names(levels)
    whole = (0, len(options) - 1)
    return labelled(widgets.SelectionRangeSlider, "FAR range", options=options, index=whole)


def labelled(kind: type[widgets.Widget], label: str, **settings) -> widgets.Widget:
    """A control with its words in full before it."""
    return kind(description=label, style=WIDE, layout=LAYOUT, **settings)


class Panel:
    """Controls, a figure and its cautions, tied together.

    Parameters
    ----------
    controls : the widgets, by the name under which `show` receives their values.
    show : called with the list of axes and the values; it selects and draws.
    columns : number of axes side by side.
    foot : room below the axes in inches, for labels and a legend.
    """

    def __init__(
        self,
        controls: dict[str, widgets.Widget],
        show: Callable[..., None],
        columns: int = 1,
        foot: float = 0.6,
    ):
        self.controls, self.show = controls, show
        self.figure = Figure(figsize=(5.9 * columns, 3.8 + foot), dpi=90)
        self.canvas = FigureCanvasAgg(self.figure)
        self.axes = list(np.atleast_1d(self.figure.subplots(1, columns)))
        self._set_margins(columns, foot)
        self.image = widgets.Image(format="png", layout={"max_width": "100%", "align_self": "flex-start"})
        self.cautions = widgets.HTML()
        for control in controls.values():
            control.observe(self.redraw, names="value")
        self.redraw()

    def _set_margins(self, columns: int, foot: float) -> None:
        """Margins wide enough for every label: to find them anew for each picture would double its time."""
        width, height = self.figure.get_size_inches()
        left, right, top, gap = 0.95, 0.15, 0.65, 1.0
        each = (width - left - right - gap * (columns - 1)) / columns
        self.figure.subplots_adjust(
            left=left / width,
            right=1 - right / width,
            top=1 - top / height,
            bottom=foot / height,
            wspace=gap / each,
        )

    def redraw(self, _change: object = None) -> None:
        """Draw what the controls say, on the same axes, and show it."""
        for ax in self.axes:
            ax.clear()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.show(self.axes, **{name: control.value for name, control in self.controls.items()})
        messages = dict.fromkeys(str(one.message) for one in caught if one.category is DataWarning)
        items = "".join(f"<li>{escape(message)}</li>" for message in messages)
        self.cautions.value = f"<ul>{items}</ul>" if items else ""
        self.image.value = self._png()

    def _png(self) -> bytes:
        """The figure as the bytes of a PNG."""
        buffer = io.BytesIO()
        self.canvas.print_png(buffer)
        return buffer.getvalue()

    def box(self, *more: widgets.Widget) -> widgets.VBox:
        """Everything in one column: controls, further widgets, figure, cautions."""
        return widgets.VBox([*self.controls.values(), *more, self.image, self.cautions])
