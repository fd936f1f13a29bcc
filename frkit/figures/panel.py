"""The frame of every explorer: controls beside the figures that follow them, and their cautions."""

import asyncio
import base64
import io
from html import escape
from inspect import signature

import ipywidgets as widgets
import matplotlib as mpl
import numpy as np
from IPython import get_ipython
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from frkit.base import InputError, gathered_notices
from frkit.figures.controls import start_at
from frkit.figures.style import theme

# Margins and the place of titles are fixed: to lay out each picture anew doubles its time.
LOOK = theme() | {"axes.titley": 1.0, "figure.constrained_layout.use": False}
HEIGHT = 3.5  # inches of the axes and what is above them
TOP, RIGHT = 0.65, 0.12  # inches between the axes and the edges of a figure
WAIT = 0.02  # seconds in which further steps may come
# side by side; on a narrow page one below the other
WRAPPED = {"flex_flow": "row wrap", "align_items": "flex-start"}
PICTURE = 26  # em: narrower than that its words are too small


def nothing():
    """What is drawn where the controls alone say what to draw."""


class Panel:
    """Controls, figures and their cautions, tied together.

    Parameters
    ----------
    controls : dict of str to Widget
        The controls, by the name under which functions receive their values.
    draws : functions
        One for each figure. It is called with Axes, what `prepare` returned, and the values of the
        controls that its further arguments name (all where it takes `**`).
    prepare : function, optional
        Makes what is drawn from the controls that its arguments name. It is called again only
        when one of these was moved.
    margins : (float, float)
        Inches left of the axes and below them, for labels and a legend.
    height : float
        Inches of the axes and what is above them.
    **start
        Values with which some of the controls begin.
    """

    def __init__(
        self, controls, *draws, prepare=nothing, margins=(0.85, 0.65), height=HEIGHT, **start
    ):
        self.controls = controls
        self.prepare = prepare
        self.question = None
        self.next_drawing = None
        start_at(controls, start)
        width = 6.6 if len(draws) == 1 else 4.8
        self.pictures = [Picture(draw, width, height, *margins) for draw in draws]
        self.cautions = widgets.HTML()
        self.redraw()
        for control in controls.values():
            control.observe(self.follow, names="value")

    def follow(self, _change):
        """Draw soon: of the steps that come until then only the last one is drawn."""
        # in a notebook or an app events are handled one by one
        if getattr(get_ipython(), "kernel", None) is None:
            self.redraw_or_say_why_not()
        elif self.next_drawing is None:
            loop = asyncio.get_running_loop()
            self.next_drawing = loop.call_later(WAIT, self.redraw_or_say_why_not)

    def redraw_or_say_why_not(self):
        """Draw all figures; an error is shown in their place."""
        self.next_drawing = None
        try:
            self.redraw()
        except InputError as error:
            for picture in self.pictures:
                picture.image.layout.visibility = "hidden"
            self.cautions.value = f'<b role="alert">{escape(str(error))}</b>'

    def redraw(self):
        """Draw all figures, and then change all pictures at once."""
        question = values_for(self.prepare, self.controls)
        if question != self.question:
            with gathered_notices() as self.notices_of_data:
                self.data = self.prepare(**question)
            self.question = question
        with gathered_notices() as notices:
            drawn = [picture.drawn(self.data, self.controls) for picture in self.pictures]
        for picture, page in zip(self.pictures, drawn):
            picture.image.value = page
            picture.image.layout.visibility = "visible"
        sentences = dict.fromkeys(notice.text for notice in [*self.notices_of_data, *notices])
        items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
        self.cautions.value = f"<ul>{items}</ul>" if items else ""

    def box(self, above=()):
        """Return the controls beside the figures, where there is room, except those above them."""
        images = widgets.Box([picture.image for picture in self.pictures], layout=WRAPPED)
        figures = widgets.VBox([widgets.Box(above, layout=WRAPPED), images, self.cautions])
        figures.layout = growing(4, PICTURE * len(self.pictures))
        others = [control for control in self.controls.values() if control not in above]
        if not others:
            return figures
        beside = widgets.Box(others, layout=WRAPPED | growing(1, 23))
        return widgets.Box([beside, figures], layout=WRAPPED)


def growing(share, width):
    """Return a layout of so many em, that takes a share of the room that is left."""
    return {"flex": f"{share} 1 {width}em", "min_width": "0"}


class Picture:
    """One figure of a panel: its Axes, and its image in the page."""

    def __init__(self, draw, width, height, side, foot):
        self.draw = draw
        size = width, height + foot
        inches = (side, foot, width - side - RIGHT, height - TOP)
        with mpl.rc_context(LOOK):
            self.canvas = FigureCanvasAgg(Figure(figsize=size))
            self.ax = self.canvas.figure.add_axes(np.divide(inches, size * 2))
        pixels = self.canvas.figure.bbox.width
        self.image = widgets.HTML(layout=growing(1, PICTURE) | {"max_width": f"{pixels:.0f}px"})

    def drawn(self, data, controls):
        """Draw on cleared Axes; return the picture as HTML, since image widgets have no words."""
        out = io.BytesIO()
        with mpl.rc_context(LOOK):
            self.ax.clear()
            self.draw(self.ax, data, **values_for(self.draw, controls))
            # `savefig` would draw twice, and compress more than a page on the same machine needs
            self.canvas.print_png(out, pil_kwargs={"compress_level": 1})
        labels = self.ax.get_ylabel(), self.ax.get_xlabel()
        words = escape(" over ".join(filter(None, labels)))
        data = base64.b64encode(out.getvalue()).decode()
        return f'<img alt="{words}" style="width: 100%" src="data:image/png;base64,{data}">'


def values_for(function, controls):
    """Return the values of the controls that a function's arguments name; of all for `**`."""
    arguments = signature(function).parameters.values()
    takes_all = any(argument.kind is argument.VAR_KEYWORD for argument in arguments)
    names = {argument.name for argument in arguments}
    return {name: it.value for name, it in controls.items() if takes_all or name in names}


def drawn_by(figure, labels):
    """Return a function for a panel: it selects, except in dimensions that the figure marks."""
    marked = signature(figure).parameters

    def draw(ax, data, **values):
        labels_to_select = {dim: values[dim] for dim in labels if dim not in marked}
        labels_to_mark = {dim: values[dim] for dim in labels if dim in marked}
        figure(data.sel(labels_to_select), ax=ax, **labels_to_mark)

    return draw
