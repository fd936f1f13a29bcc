"""What the parts of a report share: the scores, the options, one evaluation; and how numbers become words."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import (
    FAR_LEVEL,
    GROUP,
    IDENTITY,
    MODEL,
    PROBE,
    THRESHOLD_LEVEL,
    DataWarning,
    require,
)
from frkit.evaluation.evaluate import evaluate, far_levels
from frkit.intervals.contributions import NEW_PEOPLE, THESE_PEOPLE
from frkit.reporting.tables import cell, p_words
from frkit.resampling import Resampling

SURE = 0.05  # p-values up to this are called sure
REPLICATES, BINS = 200, 100
TARGETS = (NEW_PEOPLE, THESE_PEOPLE)
PAIRS = "independent pairs"  # whom intervals are about where nobody is named
USUAL = (1e-3, 1e-1)  # FAR levels of the curves of a report of thresholds


@dataclass
class Section:
    """One part of a report: its title, sentences, tables by caption, results by name, figures by name, blocks of code.

    A figure is a function that draws on matplotlib Axes; `answers` are sentences that stand in the summary.
    """

    title: str
    answers: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    results: dict[str, object] = field(default_factory=dict)
    figures: dict[str, Callable] = field(default_factory=dict)
    blocks: list[str] = field(default_factory=list)


@dataclass
class Work:
    """What all parts read: the scores, the faces they come from (or None), and the options."""

    scores: xr.DataArray
    faces: xr.Dataset | None
    by: str | list[str] | None
    at: dict
    level: float
    seed: int
    quick: bool
    options: dict

    @property
    def models(self) -> list[str]:
        """Names of the models, [""] for a single one without a name."""
        return self.scores[MODEL].values.astype(str).tolist() if MODEL in self.scores.dims else [""]

    @property
    def data(self) -> xr.Dataset:
        """The rates."""
        return self.evaluation["empirical"].to_dataset()

    @property
    def along(self) -> str:
        """The dimension of FAR levels, or of thresholds."""
        return FAR_LEVEL if FAR_LEVEL in self.data.dims else THRESHOLD_LEVEL

    @property
    def named(self) -> bool:
        """Whether it is known who the images show."""
        return f"{PROBE}_{IDENTITY}" in self.scores.coords

    def words(self, target: str) -> str:
        """Whom intervals of a target are about."""
        return target if self.named else PAIRS

    @property
    def about(self) -> str:
        """Whom intervals are about where nothing else is said."""
        return self.words(NEW_PEOPLE)

    def of_models(
        self, result: xr.DataTree | xr.Dataset
    ) -> Iterator[tuple[str, xr.DataTree | xr.Dataset]]:
        """What holds all models as one of every model, with its name."""
        for name in self.models:
            yield name, of_one(result, name)

    def given(self, *names: str) -> dict:
        """Those of these options that were given."""
        return {name: self.options[name] for name in names if name in self.options}

    @cached_property
    def evaluation(self) -> xr.DataTree:
        """The one evaluation that all parts read."""
        return evaluate(self.scores, by=self.by, progress=False, **self.at, **self.options)

    @cached_property
    def curve(self) -> xr.DataTree:
        """An evaluation at many levels, for figures."""
        least, most = (min(self.at["far"]), max(self.at["far"])) if "far" in self.at else USUAL
        levels = far_levels(least, most if most > least else min(10 * least, (1 + least) / 2))
        with unsaid():
            return evaluate(self.scores, far=levels, by=self.by, progress=False, **self.options)

    @cached_property
    def drawn(self) -> xr.DataTree:
        """An evaluation with replicates and histograms, for floors and the spread of the AUC."""
        how = {**self.at, **self.options, "resampling": self.draws(), "histogram": BINS}
        return evaluate(self.scores, by=self.by, progress=False, **how)

    def draws(self) -> Resampling:
        """How replicates are drawn: people, or pairs where nobody is named."""
        return Resampling("identity" if self.named else "pair", n=REPLICATES, seed=self.seed)

    def need_groups(self) -> None:
        """Refuse what compares groups where there are none."""
        require(self.by is not None, "no attribute was named: by='gender', say")
        many = self.data.sizes[GROUP]
        require(many > 1, f"there is only one group, {self.data[GROUP].values.tolist()}")

    def need_all_impostors(self) -> None:
        """Refuse what sets its thresholds on all impostor pairs where some of them were chosen."""
        require(
            self.options.get("impostors", "all") == "all",
            "its thresholds are those of all impostor pairs",
        )


@contextmanager
def unsaid() -> Iterator[None]:
    """For the curves of figures: cautions are those of the levels that are asked for, and stand in the report."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        yield


def level_words(values: xr.DataArray) -> str:
    """The level of a value in words: "at FAR 0.001"."""
    for dim, word in ((FAR_LEVEL, "FAR"), (THRESHOLD_LEVEL, "threshold")):
        if dim in values.coords:
            return f"at {word} {float(values[dim]):g}"
    return "at its EER"


def of_model(name: str) -> str:
    """ " of FaceNet", or nothing where there is one model without a name."""
    return f" of {name}" if name else ""


def of_one(result: xr.DataTree | xr.Dataset, name: str) -> xr.DataTree | xr.Dataset:
    """What holds all models as one of a model; of no name where there is one without."""
    return result.sel({MODEL: name}, drop=True) if name else result


def strictest(result: xr.Dataset) -> dict[str, int]:
    """The place of the strictest level with ten errors of either kind, or of the least strict one."""
    along = FAR_LEVEL if FAR_LEVEL in result.dims else THRESHOLD_LEVEL
    resolved = result.resolved if "resolved" in result else result.estimate.notnull()
    order = np.argsort(resolved[along].values)
    order = order if along == FAR_LEVEL else order[::-1]
    held = resolved.all([dim for dim in resolved.dims if dim != along]).values[order]
    return {along: int(order[np.argmax(held)] if held.any() else order[-1])}


def cell_of(one: xr.Dataset) -> str:
    """Estimate and interval of a single place."""
    return cell(float(one.estimate), float(one.lower), float(one.upper))


def p_text(p: float) -> str:
    """A p-value in a sentence."""
    return f"p = {p_words(p)}".replace("= <", "<")
