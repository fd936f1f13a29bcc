"""The frame of every explorer: labelled controls, a figure drawn again as PNGs, cautions, a button for long work."""

import ctypes
import time
import warnings
from collections.abc import Callable, Mapping
from contextvars import copy_context
from functools import cache, partial
from html import escape
from inspect import signature
from math import isnan
from threading import Thread

import ipywidgets as widgets
import matplotlib as mpl
import numpy as np
from IPython import get_ipython
from matplotlib.axes import Axes
from traitlets import TraitError

from frkit.base import DataWarning, InputError, require
from frkit.explore.canvas import LOOK, Canvas
from frkit.intervals.reading import each_time

# A slider of ipywidgets has no name in the page: its label and its readout stand beside it.
NAMES = """<script>(() => {
    const tell = () => document.querySelectorAll('.widget-slider').forEach(box => {
        const label = box.querySelector('.widget-label'), shown = box.querySelector('.widget-readout');
        const handles = box.querySelectorAll('[role=slider]');
        handles.forEach((handle, at) => {
            const end = handles.length > 1 ? [', lowest', ', highest'][at] : '';
            if (label) handle.setAttribute('aria-label', label.textContent + end);
            if (shown) handle.setAttribute('aria-valuetext', shown.textContent);
        });
    });
    for (const wait of [100, 1000, 3000]) setTimeout(tell, wait);
    document.addEventListener('keyup', tell);
    document.addEventListener('focusin', tell);
})()</script>"""
MARK = {
    "color": "#F0E442",
    "linewidth": 6,
    "alpha": 0.4,
    "zorder": 0,
}  # the chosen place in a figure


def labelled(kind: type[widgets.Widget], label: str, **settings) -> widgets.Widget:
    """A control with its words in full before it."""
    return kind(
        description=label,
        style={"description_width": "13.5em"},
        layout={"width": "39.5em"},
        **settings,
    )


slider, menu = partial(labelled, widgets.SelectionSlider), partial(labelled, widgets.Dropdown)
number, tick = partial(labelled, widgets.FloatSlider), partial(labelled, widgets.Checkbox)


def several(label: str, options: list, value: list) -> widgets.SelectMultiple:
    """A control that chooses any number of options."""
    words = f"{label} (Ctrl for several)"
    return labelled(
        widgets.SelectMultiple, words, options=options, value=value, rows=min(8, len(options))
    )


def far_names(levels: np.ndarray) -> list[tuple[str, float]]:
    """FAR levels as options of a control: what is shown, and the level."""
    return [(f"{level:.1e}", float(level)) for level in levels]


def far_range(levels: np.ndarray) -> widgets.SelectionRangeSlider:
    """A control for a range of FAR levels."""
    whole = {"options": far_names(levels), "index": (0, len(levels) - 1)}
    return labelled(widgets.SelectionRangeSlider, "FAR range", **whole)


def _nearest(offered: list, wanted: object) -> object:
    """The number offered that is nearest to the one wanted; anything else as it is."""
    numbers = [
        value for value in offered if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    if not numbers or not isinstance(wanted, int | float):
        return wanted
    return min(numbers, key=lambda value: abs(value - wanted))


def start_at(controls: Mapping[str, widgets.Widget], start: Mapping[str, object]) -> None:
    """Set controls to the values with which an explorer begins; a number takes the nearest one that is offered."""
    for name, wanted in start.items():
        require(
            name in controls, f"no control {name!r} to start with; there are {', '.join(controls)}"
        )
        control = controls[name]
        offered = [
            option[1] if isinstance(option, tuple) else option
            for option in getattr(control, "options", ())
        ]
        nothing = wanted is None or isinstance(wanted, float) and isnan(wanted)
        require(not nothing, f"{name!r} cannot start with {wanted!r}: choose from {offered}")
        try:
            if isinstance(control, widgets.SelectionRangeSlider):
                control.value = tuple(_nearest(offered, end) for end in wanted)
            else:
                control.value = _nearest(offered, wanted)
        except (TraitError, TypeError, ValueError) as error:
            raise InputError(
                f"{name!r} cannot start with {wanted!r}: choose from {offered}"
            ) from error


def remembered(compute: Callable) -> Callable:
    """The function with its results kept; what it warned of is said again with each of them."""

    @cache
    def kept(*place, **settings) -> tuple:
        with warnings.catch_warnings(record=True) as caught, each_time():
            warnings.simplefilter("always")
            return compute(*place, **settings), [one.message for one in caught]

    def again(*place, **settings):
        result, messages = kept(*place, **settings)
        for message in messages:
            warnings.warn(message, stacklevel=2)
        return result

    return again


def _differ(now: object, before: object) -> bool:
    """Whether a control was moved; a page may send the same number back with another last digit."""
    return now != before if isinstance(now, str) else not np.allclose(now, before)


def say(ax: Axes, words: str) -> None:
    """Words where there is nothing to draw."""
    ax.text(0.5, 0.5, words, ha="center", va="center", transform=ax.transAxes)


class Stopped(Exception):
    """The button that stops was pressed."""


def end(work: Thread) -> None:
    """Make a thread raise Stopped at its next line of Python; what it waits for comes to its end first."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(work.ident), ctypes.py_object(Stopped)
    )


def column(*children: widgets.Widget) -> widgets.VBox:
    """One under the other; and a script that tells screen readers the words before each slider, and what it shows."""
    script = {"output_type": "display_data", "data": {"text/html": NAMES}, "metadata": {}}
    return widgets.VBox(
        [*children, widgets.Output(outputs=(script,))], layout={"overflow": "auto hidden"}
    )


class Panel:
    """Controls, figures side by side and their cautions, tied together.

    Parameters
    ----------
    controls : the widgets, by the name under which a figure's function receives their values.
    shows : a function for each figure, called with Axes and the values of the controls that its arguments name (`**`
        takes those that no figure names); it selects and draws, and is called again when one of them was moved.
    room : left of the axes and below them in inches, for labels and a legend.
    start : values with which some of the controls begin, by name.
    """

    def __init__(
        self,
        controls: dict,
        *shows: Callable,
        room: tuple[float, float] = (0.85, 0.65),
        start: Mapping | None = None,
    ):
        self.controls, self.shows = controls, shows
        start_at(controls, start or {})
        with mpl.rc_context(LOOK):
            self.canvases = [Canvas((6.6, 4.8)[len(shows) - 1], *room) for _ in shows]
        size = {
            "flex": "1 1 26em",
            "min_width": "0",
            "max_width": f"{self.canvases[0].figure.bbox.width:.0f}px",
        }
        wrapped = {
            "flex_flow": "row wrap",
            "align_items": "flex-start",
        }  # one below the other on a narrow page
        self.pictures = widgets.Box([widgets.Image(layout=size) for _ in shows], layout=wrapped)
        self.cautions, self.stale = widgets.HTML(), widgets.HTML()
        for control in controls.values():
            control.observe(self.redraw, names="value")
        self.redraw()

    def redraw(self, change: object = None) -> None:
        """Draw the figures whose controls were moved, or all; an error stands where cautions stand."""
        named = [signature(show).parameters for show in self.shows]
        for show, own, canvas, image in zip(
            self.shows, named, self.canvases, self.pictures.children, strict=True
        ):
            rest = any(one.kind is one.VAR_KEYWORD for one in own.values())
            asked = [
                name
                for name in self.controls
                if name in own or rest and not any(name in one for one in named)
            ]
            values = {name: self.controls[name].value for name in asked}
            if change is not None and values == canvas.values:
                continue
            canvas.ax.clear()
            canvas.values, canvas.failed = values, ""
            with warnings.catch_warnings(record=True) as caught, each_time(), mpl.rc_context(LOOK):
                warnings.simplefilter("always")
                try:
                    show(canvas.ax, **values)
                except InputError as error:
                    if change is None:
                        raise  # nothing has been moved: the caller is told
                    canvas.failed = f'<p role="alert"><b>{escape(str(error))}</b></p>'
                    say(canvas.ax, "no figure for this position: see below")
                image.value = canvas.png()
            canvas.cautions = [
                f"<li>{escape(str(one.message))}</li>"
                for one in caught
                if one.category is DataWarning
            ]
        failed = "".join(dict.fromkeys(canvas.failed for canvas in self.canvases))
        items = "".join(dict.fromkeys(item for canvas in self.canvases for item in canvas.cautions))
        self.cautions.value = failed + (items and f"<ul>{items}</ul>")

    def box(
        self,
        words: str = "",
        compute: Callable | None = None,
        seconds: Callable | None = None,
        **asked: widgets.Widget,
    ) -> widgets.VBox:
        """Everything in one column: controls, a button where there is something to compute, figure, cautions.

        The button calls `compute` with the values of all controls, and of those `asked` for it alone. `seconds`
        guesses from the same values how long that takes; the guess is put right by what the last run took.
        """
        controls = [*self.controls.values(), *asked.values()]
        if compute is None:
            return column(*controls, self.pictures, self.cautions)
        work = self.work = LongWork(self, words, compute, seconds, asked)
        row = widgets.HBox([work.button, work.stop, work.bar])
        return column(*controls, row, self.stale, work.errors, self.pictures, self.cautions)


class LongWork:
    """A button that computes beside the notebook, another one that stops it, and a bar that tells the time."""

    def __init__(self, panel: Panel, words: str, compute: Callable, seconds: Callable, asked: dict):
        self.panel, self.compute, self.seconds, self.asked = panel, compute, seconds, asked
        self.button, self.stop = (widgets.Button(description=name) for name in (words, "Stop"))
        self.button.layout.width, self.stop.disabled, self.stop.layout.width = "26em", True, "6em"
        self.bar, self.errors = (
            widgets.FloatProgress(max=1, layout={"visibility": "hidden"}),
            widgets.Output(),
        )
        self.pace = 1.0  # what the last run took, over the guess for it
        self.studied = {
            name: control.value for name, control in asked.items()
        }  # what the figure shows
        self.button.on_click(self.begin)
        self.stop.on_click(lambda _button: end(self.thread))
        for control in asked.values():
            control.observe(self.note, names="value")
        self.note()

    def chosen(self) -> dict[str, object]:
        """What all controls say, and those that are asked for this work alone."""
        return {name: control.value for name, control in (self.panel.controls | self.asked).items()}

    def note(self, _change: object = None, words: str = "") -> None:
        """Say how long a run takes, and where the figure is not of these sizes."""
        if any(_differ(control.value, self.studied[name]) for name, control in self.asked.items()):
            words = words or "\u26a0 The figure is not of these sizes: press the button."
        words += (
            f" A run takes about {float(f'{self.pace * self.seconds(**self.chosen()):.1g}'):g} s."
        )
        self.panel.stale.value = f'<p role="status">{words.strip()}</p>'

    def begin(self, _button: widgets.Button) -> None:
        """Start, and tell the time meanwhile."""
        self.errors.clear_output()
        self.let(running=True)
        self.thread = Thread(
            target=copy_context().run, args=(self.run,), daemon=True
        )  # what it prints finds its place
        self.thread.start()
        Thread(target=self.tell_time, daemon=True).start()
        if getattr(get_ipython(), "kernel", None) is None:
            self.thread.join()  # no page is served meanwhile

    def let(self, running: bool) -> None:
        """While it runs, nothing can be moved: two drawings at a time would disturb each other."""
        for control in (self.button, *self.panel.controls.values(), *self.asked.values()):
            control.disabled = running
        self.stop.disabled, self.bar.layout.visibility = (
            not running,
            "visible" if running else "hidden",
        )

    def run(self) -> None:
        """Compute, and draw what was found, unless it is stopped; errors show where their place is."""
        begun, values = time.monotonic(), self.chosen()
        with self.errors:
            try:
                self.compute(**values)
                self.pace = (time.monotonic() - begun) / self.seconds(**values)
                self.studied = {name: values[name] for name in self.asked}
                self.panel.redraw()
                self.note()
            except Stopped:
                self.note(words="Stopped: the figure is the one before.")
            finally:
                self.let(running=False)

    def tell_time(self) -> None:
        """The time since the start, and how much of the guess that is."""
        begun, guess = time.monotonic(), self.pace * self.seconds(**self.chosen())
        while self.thread.is_alive():
            self.bar.value = min(1, (spent := time.monotonic() - begun) / guess)
            self.bar.description = f"{spent:.0f} s"
            self.thread.join(0.5)
