"""A question before a result: the guess is taken first, and then stands in the figure of what was found."""

from collections.abc import Callable
from html import escape

import ipywidgets as widgets
import numpy as np
from matplotlib.axes import Axes

from frkit.base import require, require_inside
from frkit.explore.panel import Panel, labelled
from frkit.plot.style import plain

GUESSED = {"color": "#333333", "linewidth": 3.5, "alpha": 0.9, "zorder": 5}


def predict(
    question: str,
    draw: Callable[[Axes], object],
    *,
    low: float,
    high: float,
    answer: float,
    **start,
) -> widgets.VBox:
    """Ask for a guess, and draw it into the figure that answers the question once the button is pressed.

    Parameters
    ----------
    question : what is asked, in one sentence.
    draw : called with matplotlib Axes when the button is pressed; draws the result.
    low, high : ends of the slider, low < high, in the units of the vertical axis, on which the guess is marked.
    answer : the value that was found, told in words beside the guess.
    start : values to begin with: guess, shown (True: the figure at once).

    Returns
    -------
    ipywidgets.VBox : the question, a slider, a button, and the figure.

    Raises
    ------
    InputError : low that is not below high, a question without words.

    Examples
    --------
    >>> import frkit as fk
    >>> box = fk.explore.predict("How much is 1 + 1?", lambda ax: ax.plot([0, 1], [2, 2]), low=0, high=4, answer=2)
    >>> [child.description for child in box.children[1:3]]
    ['your guess', 'Show what was found']
    """
    require(isinstance(question, str), f"question must be words, got {question!r}")
    require(callable(draw), f"draw must be a function of matplotlib Axes, got {draw!r}")
    for name, value in (("low", low), ("high", high), ("answer", answer)):
        require_inside(name, value, -np.inf, np.inf)
    require(low < high, f"low must be below high, got {low} and {high}")
    limits = {"min": low, "max": high, "step": (high - low) / 100, "readout_format": ".3g"}
    guess = labelled(widgets.FloatSlider, "your guess", value=(low + high) / 2, **limits)
    shown = labelled(widgets.ToggleButton, "Show what was found", value=False)

    def show(ax: Axes, guess: float, shown: bool) -> None:
        if shown:
            draw(ax)
            words = f"you said {guess:.3g}, found was {answer:.3g}"
            ax.set_title(plain(words), loc="left", fontweight="bold")
        else:
            ax.set_title("move the slider, then press the button", loc="left")
            ax.set(ylim=(low, high), xticks=[])
        ax.axhline(guess, label="your guess", **GUESSED)
        if shown and ax.get_legend():
            named = dict(
                zip(*reversed(ax.get_legend_handles_labels()))
            )  # an entry that stands there twice once
            ax.legend(named.values(), named.keys(), framealpha=0.75)

    box = Panel({"guess": guess, "shown": shown}, show, start=start).box()
    words = widgets.HTML(f"<b>{escape(question)}</b>")
    box.children = (words, *box.children)
    return box
