"""What all parts of a report read: scores, options, one evaluation, and the leading level."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
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
from frkit.intervals.reading import NEW_PEOPLE
from frkit.reporting.tables import cell

SIGNIFICANT = 0.05
ENOUGH = 30  # errors of either kind on which the leading level rests
CURVE_OF_THRESHOLDS = (1e-3, 1e-1)  # FAR levels of the curves of a report of thresholds
PAIRS = "independent pairs"  # whom intervals are about where nobody is named


@dataclass
class Inputs:
    """The scores, the faces they come from (or None), and the options of the report."""

    scores: xr.DataArray
    faces: xr.Dataset | None
    by: str | list[str] | None
    levels: dict
    level: float
    seed: int
    quick: bool
    options: dict

    @property
    def models(self) -> list[str]:
        """Names of the models, [""] for a single one without a name."""
        return self.scores[MODEL].values.astype(str).tolist() if MODEL in self.scores.dims else [""]

    @property
    def rates(self) -> xr.Dataset:
        """The rates of the evaluation."""
        return self.evaluation["empirical"].to_dataset()

    @property
    def along(self) -> str:
        """The dimension of FAR levels, or of thresholds."""
        return FAR_LEVEL if FAR_LEVEL in self.rates.dims else THRESHOLD_LEVEL

    @property
    def named(self) -> bool:
        """Whether it is known whom the images show."""
        return f"{PROBE}_{IDENTITY}" in self.scores.coords

    @property
    def confidence(self) -> str:
        """The level of the intervals in words."""
        return f"{self.level:.0%}"

    def about(self, target: str = NEW_PEOPLE) -> str:
        """Whom intervals of a target are about."""
        return target if self.named else PAIRS

    def by_model(self, result: xr.DataTree | xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
        """What all models have as one for every model, with the model's name."""
        for name in self.models:
            yield name, of_model(result, name)

    def chosen(self, *names: str) -> dict:
        """Those of these options that were given."""
        return {name: self.options[name] for name in names if name in self.options}

    @cached_property
    def evaluation(self) -> xr.DataTree:
        """The one evaluation that all parts read."""
        return evaluate(self.scores, by=self.by, progress=False, **self.levels, **self.options)

    @cached_property
    def curve(self) -> xr.DataTree:
        """An evaluation at many levels, for figures."""
        asked = self.levels.get("far", CURVE_OF_THRESHOLDS)
        least, most = min(asked), max(asked)
        if most == least:
            most = min(10 * least, (1 + least) / 2)
        with no_cautions():
            levels = far_levels(least, most)
            return evaluate(self.scores, far=levels, by=self.by, progress=False, **self.options)

    @property
    def fewest_errors(self) -> xr.DataArray:
        """For every level, the errors of the rarer kind in the model that has fewest."""
        errors = np.minimum(self.rates.false_accepts, self.rates.false_rejects)
        return errors.min([dim for dim in errors.dims if dim != self.along])

    @cached_property
    def leading(self) -> dict[str, int]:
        """The place of the lowest FAR with enough errors; without one, of the most errors."""
        enough = self.fewest_errors >= ENOUGH
        if not enough.any():
            return {self.along: int(self.fewest_errors.argmax(self.along))}
        far = self.rates.far.where(enough)
        highest = far.max([dim for dim in far.dims if dim != self.along])
        return {self.along: int(highest.argmin(self.along))}

    def facts_of_levels(self) -> dict:
        """The leading level, and the levels with fewer errors than it takes to lead."""
        levels = self.rates[self.along].values
        return {
            "kind": "FAR" if self.along == FAR_LEVEL else "threshold",
            "value": float(levels[self.leading[self.along]]),
            "below": levels[self.fewest_errors < ENOUGH].tolist(),
            "errors": ENOUGH,
            "named": self.named,
        }

    def require_groups(self) -> None:
        """Refuse what compares groups where there are none."""
        require(self.by is not None, "no attribute was named: by='gender', say")
        several = self.rates.sizes[GROUP] > 1
        require(several, f"there is only one group, {self.rates[GROUP].values.tolist()}")

    def require_all_impostors(self) -> None:
        """Refuse what sets its thresholds on all impostor pairs where some were chosen."""
        everyone = self.options.get("impostors", "all") == "all"
        require(everyone, "its thresholds are those of all impostor pairs")


@contextmanager
def no_cautions() -> Iterator[None]:
    """Leave out cautions that the rates at the levels asked for give themselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        yield


def of_model(result: xr.DataTree | xr.Dataset, name: str) -> xr.DataTree | xr.Dataset:
    """The part of one model; all of it where there is one model without a name."""
    return result.sel({MODEL: name}, drop=True) if name else result


def suffix(name: str) -> str:
    """Write "of FaceNet", or nothing where there is one model without a name."""
    return f" of {name}" if name else ""


def level_words(values: xr.DataArray | xr.Dataset) -> str:
    """The level of a value in words: "at FAR 0.001"."""
    for dim, word in ((FAR_LEVEL, "FAR"), (THRESHOLD_LEVEL, "threshold")):
        if dim in values.coords:
            return f"at {word} {float(values[dim]):g}"
    return "at its EER"


def cell_of(band: xr.Dataset, times: float = 1) -> str:
    """Estimate and interval of a single place."""
    return cell(*(times * float(band[end]) for end in ("estimate", "lower", "upper")))
