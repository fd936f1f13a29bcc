"""Controls with their labels, and their first values."""

from functools import partial

import ipywidgets as widgets
from traitlets import TraitError

from frkit.base import InputError, require
from frkit.explore.work import button

LEVEL = {"value": 0.95, "min": 0.5, "max": 0.99, "step": 0.01}


def labelled_control(kind, label, **settings):
    """A control with its words in full before it."""
    style = {"description_width": "12.5em"}
    layout = {"width": "36em", "max_width": "100%"}
    return kind(description=label, style=style, layout=layout, **settings)


slider = partial(labelled_control, widgets.SelectionSlider)
menu = partial(labelled_control, widgets.Dropdown)
number = partial(labelled_control, widgets.FloatSlider)
tick = partial(labelled_control, widgets.Checkbox)


def several(label, options, value):
    """A control that chooses any number of options."""
    rows = min(8, len(options))
    return labelled_control(
        widgets.SelectMultiple,
        f"{label} (Ctrl: several)",
        options=options,
        value=value,
        rows=rows,
    )


def far_names(levels):
    """FAR levels as options of a control: what is shown, and the level."""
    return [(f"{level:.1e}", level) for level in levels.tolist()]


def far_range(levels):
    """A control for a range of FAR levels."""
    ends = (0, len(levels) - 1)
    options = far_names(levels)
    return labelled_control(widgets.SelectionRangeSlider, "FAR range", options=options, index=ends)


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


def chosen_values(controls):
    """What is chosen, by the names of the controls."""
    return {name: control.value for name, control in controls.items()}


def start_at(controls, start):
    """Set controls to the first values of an explorer; sliders take the nearest one."""
    for name, value in start.items():
        require(name in controls, f"no control {name!r}; there are {', '.join(controls)}")
        control = controls[name]
        options = [
            option[1] if isinstance(option, tuple) else option
            for option in getattr(control, "options", ())
        ]
        try:
            if isinstance(control, widgets.SelectionRangeSlider):
                value = [nearest(options, end) for end in value]
            elif isinstance(control, widgets.SelectionSlider):
                value = nearest(options, value)
            control.value = value
        except (TraitError, TypeError, ValueError) as error:
            raise InputError(
                f"{name!r} cannot start with {value!r}: choose from {options}"
            ) from error


def nearest(options, value):
    """The option that is nearest to a number."""
    return min(options, key=lambda option: abs(option - value))
