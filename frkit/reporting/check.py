"""Whether the numbers of a report stay below limits: for the tests of a team that trains models."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from frkit.base import InputError, require
from frkit.intervals.effective import jeffreys
from frkit.intervals.reading import NEW_PEOPLE
from frkit.reporting.formats import ENDS, say
from frkit.reporting.writing import SCHEMA, SCHEMA_VERSION

BELOW = 0
ABOVE = 1
UNDECIDED = 2
READ = [*ENDS, "measure", "target", "model", "group", "with_group", "far", "threshold"]
READ += ["n_effective", "interval_level", "fair", "scale"]
FARTHEST = 100  # times the people that are there: beyond that nothing is promised


@dataclass
class Limit:
    """What must stay below a value: a measure at a level, or at every level where there is none."""

    measure: str
    level: float | None
    value: float


def parse_limit(text):
    """Read a limit such as "frr@1e-3=0.05" or "eer=0.03"."""
    name, _, value = text.rpartition("=")
    measure, _, level = name.partition("@")
    try:
        return Limit(measure.lower(), float(level) if level else None, float(value))
    except ValueError as error:
        message = f"{text!r} is no limit: write MEASURE@LEVEL=VALUE, such as frr@1e-3=0.05"
        raise InputError(message) from error


def check(path, limits):
    """Compare the intervals of a report with limits.

    Parameters
    ----------
    path : str or Path
        The file report.json of a report.
    limits : list of Limit

    Returns
    -------
    int, list of str
        0 where every upper end is below its limit, 1 where a lower end is above, 2 where the data
        cannot decide; a sentence for each value.

    Raises
    ------
    InputError
        For a file that is no report, or a measure or level that the report does not have.
    """
    try:
        report = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    is_report = isinstance(report, dict) and report.get("schema") == SCHEMA
    require(is_report, f"{path} is no report.json of frkit")
    version = report["schema_version"]
    require(version == SCHEMA_VERSION, f"{path} has schema version {version}: make the report anew")
    n_people = report["provenance"].get("n_identities") or np.nan
    outcomes = []
    lines = []
    for limit in limits:
        for value in _values(report["values"], limit, path):
            outcome = UNDECIDED
            if value["upper"] < limit.value:
                outcome = BELOW
            if value["lower"] > limit.value:
                outcome = ABOVE
            outcomes.append(outcome)
            needed = n_people * _deciding_factor(value, limit.value)
            lines.append(say("verdict", value, limit, outcome, n_people, needed))
    return ABOVE if ABOVE in outcomes else max(outcomes), lines


def _values(values, limit, path):
    """The values of a report that a limit is about: of all models and groups, for new people."""
    bands = [value for value in values if "lower" in value and "contrast" not in value]
    table = pd.DataFrame(bands).reindex(columns=READ)
    table["level"] = table.far.fillna(table.threshold)
    rows = table[(table.target == NEW_PEOPLE) & (table.measure == limit.measure)]
    measures = ", ".join(sorted(table.measure.unique()))
    require(len(rows), f"{path} has no intervals of {limit.measure!r}; it has {measures}")
    if limit.level is not None:
        levels = ", ".join(f"{level:g}" for level in rows.level.dropna().unique())
        rows = rows[np.isclose(rows.level, limit.level, 1e-6, 0)]
        require(len(rows), f"{path} has {limit.measure} at {levels}, not at {limit.level}")
    return rows.to_dict("records")


def _deciding_factor(value, limit):
    """How many times as many people would put the interval on one side of the limit.

    The effective number of comparisons grows with the number of people; the ends of an interval
    that has none approach the estimate with the root of that number. NaN where no number is
    promised.
    """
    estimate, lower, upper = (value[end] for end in ENDS)
    factors = np.geomspace(1, FARTHEST, 2000)
    shrink = 1 / np.sqrt(factors)
    if value["n_effective"] > 0 and 0 <= estimate <= 1 and np.isnan(value["fair"]):
        n = value["n_effective"] * factors
        lowers, uppers = jeffreys(np.array(estimate), n, value["interval_level"])
    elif value["scale"] == "log" and lower > 0:
        lowers = estimate * (lower / estimate) ** shrink
        uppers = estimate * (upper / estimate) ** shrink
    else:
        lowers = estimate + (lower - estimate) * shrink
        uppers = estimate + (upper - estimate) * shrink
    decided = uppers < limit if estimate < limit else lowers > limit
    return factors[np.argmax(decided)] if decided.any() else np.nan
