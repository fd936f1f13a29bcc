"""The frame of every explorer: labelled controls, figures that follow them, and their cautions."""

import io
from functools import lru_cache, partial
from html import escape
from inspect import signature

import ipywidgets as widgets
import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from frkit.base import InputError, gathered_notices, warn
from frkit.explore.controls import chosen_values, start_at
from frkit.explore.work import Work
from frkit.plot.style import THEME

# Margins and the place of titles are fixed: to lay out each picture anew doubles its time.
LOOK = THEME | {"axes.titley": 1.0, "figure.constrained_layout.use": False}
MOST_REMEMBERED = 64  # results of each function, so that memory stays bounded
HEIGHT = 3.5  # inches of the axes and what is above them
TOP, RIGHT = 0.65, 0.12  # inches between the axes and the edges of a figure
# the chosen place in a figure
MARK = {"color": "#F0E442", "linewidth": 6, "alpha": 0.4, "zorder": 0}


class Panel:
    """Controls, figures side by side and their cautions, tied together.

    Parameters
    ----------
    controls : dict of str to Widget
        The controls, by the name under which a figure's function receives their values.
    draws : functions
        One for each figure. It is called with Axes and with the values of the controls that its
        arguments name (all controls where it takes `**`), and again when one of them was moved.
    margins : (float, float)
        Inches left of the axes and below them, for labels and a legend.
    height : float
        Inches of the axes and what is above them.
    **start
        Values with which some of the controls begin.
    """

    def __init__(self, controls, *draws, margins=(0.85, 0.65), height=HEIGHT, **start):
        self.controls = controls
        start_at(controls, start)
        width = 6.6 if len(draws) == 1 else 4.8
        self.pictures = [Picture(draw, controls, width, height, *margins) for draw in draws]
        self.cautions = widgets.HTML()
        for control in controls.values():
            control.observe(self.follow, names="value")
        self.redraw()

    def redraw(self):
        """Draw all figures."""
        for picture in self.pictures:
            picture.redraw()
        self.caution()

    def follow(self, change):
        """Draw the figures of the control that was moved; an error is shown among the cautions."""
        for picture in self.pictures:
            if change["owner"] in picture.controls.values():
                try:
                    picture.redraw()
                except InputError as error:
                    picture.fail(str(error))
        self.caution()

    def caution(self):
        """Show the warnings of all figures, each sentence once."""
        sentences = [sentence for picture in self.pictures for sentence in picture.cautions]
        items = "".join(f"<li>{sentence}</li>" for sentence in dict.fromkeys(sentences))
        self.cautions.value = f"<ul>{items}</ul>" if items else ""

    def box(self, label="", compute=None, steps=(), **asked):
        """Return all in one column, with a button if there is something to compute.

        The button calls `compute` with the values of all controls, of those that are `asked` for
        it alone, and with `progress`, the function that `Work` gives it. steps : buttons that move
        the first control, shown next to it.
        """
        row = side_by_side(picture.image for picture in self.pictures)
        controls = self.controls | asked
        if compute is None:
            first, *others = controls.values()
            columns = side_by_side([first, *steps, *others])
            return widgets.VBox([columns, row, self.cautions])

        def run(progress):
            compute(**chosen_values(controls), progress=progress)
            self.redraw()

        work = self.work = Work(label, run, controls.values())
        sizes = "the figure is not of these sizes: press the button"
        for control in asked.values():
            control.observe(lambda _change: work.say(sizes), names="value")
        columns = side_by_side(controls.values())
        children = [columns, work.buttons, work.words, row, self.cautions]
        return widgets.VBox(children, layout={"overflow": "auto hidden"})


def side_by_side(children):
    """Put widgets in a row; on a narrow page one below the other."""
    return widgets.Box([*children], layout={"flex_flow": "row wrap", "align_items": "flex-start"})


class Picture:
    """One figure of a panel: its Axes, the controls that it follows, its image and cautions."""

    def __init__(self, draw, controls, width, height, side, foot):
        arguments = signature(draw).parameters
        if any(argument.kind is argument.VAR_KEYWORD for argument in arguments.values()):
            arguments = controls  # it follows all of them
        self.draw = draw
        self.controls = {name: control for name, control in controls.items() if name in arguments}
        size = width, height + foot
        inches = (side, foot, width - side - RIGHT, height - TOP)
        with mpl.rc_context(LOOK):
            self.canvas = FigureCanvasAgg(Figure(figsize=size))
            self.ax = self.canvas.figure.add_axes(np.divide(inches, size * 2))
        pixels = self.canvas.figure.bbox.width
        self.image = widgets.Image(
            layout={"flex": "1 1 26em", "min_width": "0", "max_width": f"{pixels:.0f}px"}
        )
        self.cautions = []

    def redraw(self):
        """Draw with the values of the controls, and keep the warnings."""
        draw = partial(self.draw, **chosen_values(self.controls))
        with gathered_notices() as notices:
            self.show(draw)
        self.cautions = [escape(notice.text) for notice in notices]

    def fail(self, message):
        """Show that there is no figure, and why."""
        self.show(partial(write_on, sentence="no figure for this position: see below"))
        self.cautions = [f'<b role="alert">{escape(message)}</b>']

    def show(self, draw):
        """Draw on cleared Axes and put the picture into the page."""
        out = io.BytesIO()
        with mpl.rc_context(LOOK):
            self.ax.clear()
            draw(self.ax)
            # `savefig` would draw twice, and compress more than a page on the same machine needs
            self.canvas.print_png(out, pil_kwargs={"compress_level": 1})
        self.image.value = out.getvalue()


def write_on(ax, sentence):
    """Write a sentence where there is nothing to draw."""
    ax.text(0.5, 0.5, sentence, ha="center", va="center", transform=ax.transAxes)


def cached(compute):
    """Return a function with a cache whose results repeat their notices."""

    @lru_cache(MOST_REMEMBERED)
    def compute_once(*args, **options):
        with gathered_notices() as notices:
            return compute(*args, **options), notices

    def result_and_notices(*args, **options):
        result, notices = compute_once(*args, **options)
        for notice in notices:
            warn(notice.text, notice.code)
        return result

    return result_and_notices
