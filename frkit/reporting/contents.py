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
    `answers` are the main sentences of the part, `lines` are notes, `blocks` are code.
    """

    title: str
    answers: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    tables: dict[str, Table] = field(default_factory=dict)
    results: dict[str, xr.Dataset] = field(default_factory=dict)
    figures: dict[str, Callable] = field(default_factory=dict)
    blocks: list[str] = field(default_factory=list)
    tiles: list[Tile] = field(default_factory=list)


@dataclass
class Contents:
    """All that a report says, without the means to show or write it."""

    sections: dict[str, Section]
    evaluation: xr.DataTree
    left_out: list[str]
    made: dict = field(default_factory=dict)
    cautions: list[str] = field(default_factory=list)
    leading: dict = field(default_factory=dict)
    command: str = ""
    created: str = field(default_factory=lambda: datetime.now().isoformat(" ", "minutes"))

    def __post_init__(self):
        """Collect what all sections have: figures are functions that draw on matplotlib Axes."""
        self.tiles, self.answers = [], []
        self.tables, self.figures, self.results = {}, {}, {}
        for key, section in self.sections.items():
            self.tiles += section.tiles
            self.answers += section.answers
            self.tables.update(section.tables)
            self.figures.update(section.figures)
            self.results.update({(key, name): result for name, result in section.results.items()})

    @property
    def models(self) -> list[str]:
        """Names of the models, none for a single one without a name."""
        rates = self.evaluation["empirical"]
        return rates[MODEL].values.astype(str).tolist() if MODEL in rates.dims else []

    @property
    def files(self) -> list[str]:
        """Names of the files that the data came from, as far as they did."""
        source = self.made.get("data")
        paths = source.values() if isinstance(source, dict) else [source] if source else []
        return [Path(path).name for path in paths]

    @property
    def title(self) -> str:
        """What the report is about."""
        subject = ", ".join(self.models or self.files) or "a matching system"
        words = "Accuracy and fairness" if self.made.get("by") else "Accuracy"
        return f"{words} of {subject}"
