"""What a report contains: sections with sentences, tables, results and figures."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import xarray as xr

from frkit.base import MODEL
from frkit.reporting.tables import Table


@dataclass
class Tile:
    """A finding of the first screen: a title, one large value, a sentence."""

    title: str
    value: str
    text: str


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


@dataclass
class Contents:
    """All that a report says, without the means to show or write it."""

    sections: dict[str, Section]
    evaluation: xr.DataTree
    made: dict
    left_out: list[str]
    cautions: list[str]
    leading: dict
    bibtex: str
    command: str = ""
    created: str = field(default_factory=lambda: datetime.now().isoformat(" ", "minutes"))

    def __post_init__(self):
        """Collect what the sections have."""
        self.tiles, self.answers = [], []
        self.tables, self.figures, self.results = {}, {}, {}
        for key, section in self.sections.items():
            self.tiles += section.tiles
            self.answers += section.answers
            self.tables.update(section.tables)
            self.figures.update(section.figures)
            for name, result in section.results.items():
                self.results[key, name] = result
        source = self.made["data"] or {}
        paths = source.values() if isinstance(source, dict) else [source]
        self.files = [Path(path).name for path in paths]
        rates = self.evaluation["empirical"]
        self.models = rates[MODEL].values.astype(str).tolist() if MODEL in rates.dims else []
        subject = ", ".join(self.models or self.files) or "a matching system"
        words = "Accuracy and fairness" if self.made["by"] else "Accuracy"
        self.title = f"{words} of {subject}"
