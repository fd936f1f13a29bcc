"""The explorer of intervals: one data set after the other, hits and misses."""

import ipywidgets as widgets
import xarray as xr

from frkit import plot
from frkit.base import require_returned
from frkit.data.opening import demo_file
from frkit.explore.controls import far_names, menu, stepper
from frkit.explore.panel import Panel
from frkit.plot.stack import STUDY

STORED = "one_by_one_intervals.nc"


def intervals(study: xr.Dataset | None = None, **start) -> widgets.VBox:
    """See intervals of one data set after the other, and how often they contain the truth.

    Methods are drawn side by side. A menu says whose error rate is the truth: that of the people in
    each data set, or that of new people from the same population.

    Parameters
    ----------
    study : xr.Dataset, optional
        What `data/make_one_by_one_intervals.py` makes. By default the stored one of 200 data sets:
        100 new people in each, 5 images of each person.
    **start
        Values to begin with: number (of data sets), people, level, far (a level).

    Returns
    -------
    ipywidgets.VBox
        A slider, buttons ("next", "100 more", play) and two figures that follow them.

    Raises
    ------
    InputError
        For anything else.

    References
    ----------
    Conti & Clémençon (2024), appendix B.1.

    Examples
    --------
    >>> import frkit as fk
    >>> box = fk.explore.intervals()
    >>> [control.description for control in box.children[0].children]
    ['data sets', 'next', '100 more', '', 'truth', 'nominal level', 'FAR level']
    """
    if study is None:
        study = xr.load_dataset(demo_file(STORED), engine="h5netcdf")
    require_returned("study", study, *STUDY, "people", "level", "far_level")
    number, steps = stepper("data sets", study.sizes["data_set"])
    levels = study["level"].values.tolist()
    truths = {f"the FRR of {people}": people for people in study["people"].values.tolist()}
    controls = {
        "number": number,
        "people": menu("truth", options=truths),
        "level": menu("nominal level", options=levels, value=levels[-1]),
        "far": menu("FAR level", options=far_names(study["far_level"].values)),
    }

    def chosen(people, level, far):
        return study.sel(people=people, level=level, far_level=far)

    def stack(ax, number, **selected):
        plot.interval_stack(chosen(**selected), number, ax)

    def shares(ax, number, **selected):
        plot.running_hits(chosen(**selected), number, ax)

    return Panel(controls, stack, shares, margins=(0.65, 1.4), height=4.2, **start).box(steps=steps)
