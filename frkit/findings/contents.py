"""What a report contains: sections with sentences, tables, results and figures."""

from collections.abc import Callable
from dataclasses import dataclass, field

import xarray as xr

from frkit.findings.tables import Table

CLEAR, UNDECIDED, TOO_LITTLE, NOT_TESTED = "clear", "undecided", "too little data", "not tested"


@dataclass
class Tile:
    """A finding of the first screen: a question, a short answer, a sentence, a technical note.

    `state` says how far the data answer the question.
    """

    title: str
    value: str
    text: str
    state: str = CLEAR
    note: str = ""


@dataclass
class Section:
    """One part of a report: sentences, tables by caption, results and figures by name.

    A figure is a function that draws on matplotlib Axes. `tiles` stand on the first screen,
    `answers` are the main sentences of the part, `lines` are notes.
    """

    title: str
    answers: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    tables: dict[str, Table] = field(default_factory=dict)
    results: dict[str, xr.Dataset] = field(default_factory=dict)
    figures: dict[str, Callable] = field(default_factory=dict)
    tiles: list[Tile] = field(default_factory=list)
