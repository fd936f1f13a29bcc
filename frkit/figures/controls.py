"""Controls with their labels, and their first values."""

from functools import partial

import ipywidgets as widgets
from traitlets import TraitError

from frkit.base import InputError, require

WORDS = {
    "far_level": "FAR level",
    "level": "nominal coverage",
    "people": "whose FRR is the truth",
    "per_identity": "images per identity",
    "size": "size of the parts",
    "subset_size": "people in a subset",
}
AS_WIDE_AS_ITS_WORDS = {"width": "max-content", "flex": "0 0 auto"}


def labelled_control(kind, label, **settings):
    """A control with its words in full before it."""
    style = {"description_width": "9.5em"}
    layout = {"width": "22em", "max_width": "100%"}
    return kind(description=label, style=style, layout=layout, **settings)


def button(label, action, **settings):
    """A button that calls a function with itself."""
    widget = widgets.Button(description=label, layout=AS_WIDE_AS_ITS_WORDS, **settings)
    widget.on_click(action)
    return widget


menu = partial(labelled_control, widgets.Dropdown)


def control_of(dim, labels):
    """Return a menu of names, or a slider of numbers."""
    words = WORDS.get(dim, dim)
    if isinstance(labels[0], str):
        return menu(words, options=labels)
    options = [(f"{label:.4g}", label) for label in labels]
    settings = {"options": options, "index": len(labels) // 2}
    return labelled_control(widgets.SelectionSlider, words, **settings)


def stepper(label, most):
    """A slider from 1 on, and what moves it: "next", "100 more", and play."""
    number = labelled_control(widgets.IntSlider, label, value=1, min=1, max=most)
    play = widgets.Play(value=1, min=1, max=most, interval=300)  # ms
    widgets.jslink((play, "value"), (number, "value"))

    def forward(steps):
        number.value += steps  # the slider ends at the last one

    following = button("next", lambda _button: forward(1))
    many = button("100 more", lambda _button: forward(100))
    return number, [following, many, play]


def start_at(controls, start):
    """Set controls to the first values of an explorer; sliders take the nearest one."""
    for name, value in start.items():
        require(name in controls, f"no control {name!r}; there are {', '.join(controls)}")
        control = controls[name]
        options = getattr(control, "options", ())
        options = [each[1] if isinstance(each, tuple) else each for each in options]
        try:
            if isinstance(control, widgets.SelectionSlider):
                value = nearest(options, value)
            control.value = value
        except (TraitError, TypeError, ValueError) as error:
            raise InputError(
                f"{name!r} cannot start with {value!r}: choose from {options}"
            ) from error


def nearest(options, value):
    """The option that is nearest to a number."""
    return min(options, key=lambda option: abs(option - value))
