"""A question before a result: the reader guesses, and the figure shows the guess."""

from collections.abc import Callable
from html import escape

import ipywidgets as widgets
from matplotlib.axes import Axes

from frkit.base import require, require_range, require_text
from frkit.figures.controls import labelled_control
from frkit.figures.panel import Panel

GUESS = {"color": "#333333", "linewidth": 3.5, "alpha": 0.9, "zorder": 5}


def predict(
    question: str,
    draw: Callable[[Axes], object],
    *,
    low: float,
    high: float,
    answer: float,
    **start,
) -> widgets.VBox:
    """Ask for a guess, and draw it into the figure that answers the question.

    Parameters
    ----------
    question : str
        What is asked, in one sentence.
    draw : function
        Called with matplotlib Axes when the button is pressed; draws the result.
    low, high : float
        Ends of the slider, low < high, in the units of the vertical axis, where the guess is
        marked.
    answer : float
        The result, written next to the guess.
    **start
        Values to begin with: guess, shown (True: the figure at once).

    Returns
    -------
    ipywidgets.VBox
        The question, a slider, a button, and the figure.

    Raises
    ------
    InputError
        For low that is not below high.

    Examples
    --------
    >>> import frkit as fk
    >>> box = fk.explore.predict("1 + 1?", lambda ax: ax.plot([2, 2]), low=0, high=4, answer=2)
    >>> [control.description for control in box.children[1].children]
    ['your guess', 'Show what was found']
    """
    require_text("question", question)
    low, high = require_range("low, high", (low, high)).tolist()
    require(low < high, f"low must be below high, got {low} and {high}")
    controls = {
        "guess": labelled_control(
            widgets.FloatSlider,
            "your guess",
            value=(low + high) / 2,
            min=low,
            max=high,
            step=(high - low) / 100,
            readout_format=".3g",
        ),
        "shown": labelled_control(widgets.ToggleButton, "Show what was found", value=False),
    }

    def show(ax, _data, guess, shown):
        if shown:
            draw(ax)
            title = f"your guess (thick line): {guess:.3g}; the result: {answer:.3g}"
            ax.set_title(title, loc="left", fontweight="bold")
        else:
            ax.set(ylim=(low, high), xticks=[])
            ax.set_title("move the slider, then press the button", loc="left")
        ax.axhline(guess, **GUESS)

    box = Panel(controls, show, **start).box(above=[*controls.values()])
    box.children = (widgets.HTML(f"<b>{escape(question)}</b>"), *box.children)
    return box
