"""Whether the numbers of a report stay below limits: for the tests of a team that trains models."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from frkit.base import InputError, require
from frkit.intervals.effective import jeffreys
from frkit.intervals.reading import NEW_PEOPLE
from frkit.reporting.tables import ENDS, number
from frkit.reporting.writing import SCHEMA, SCHEMA_VERSION

BELOW, ABOVE, UNDECIDED = 0, 1, 2
WORDS = {BELOW: "below", ABOVE: "ABOVE", UNDECIDED: "undecided"}
FARTHEST = 100  # times the people that are there: beyond that nothing is promised


@dataclass
class Limit:
    """What must stay below a value: a measure at a level, or at every level where there is none."""

    measure: str
    at: float | None
    value: float


def parse_limit(text: str) -> Limit:
    """Read a limit such as "frr@1e-3=0.05" or "eer=0.03"."""
    parts = re.fullmatch(r"([^@=]+)(@[^=]+)?=(.+)", text)
    message = f"{text!r} is no limit: write MEASURE@LEVEL=VALUE, such as frr@1e-3=0.05"
    require(parts, message)
    measure, level, value = parts.groups()
    try:
        return Limit(measure, float(level[1:]) if level else None, float(value))
    except ValueError as error:
        raise InputError(message) from error


def check(path: str | Path, limits: list[Limit]) -> tuple[int, list[str]]:
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
    known = isinstance(report, dict) and report.get("schema") == SCHEMA
    require(known, f"{path} is no report.json of frkit")
    version = report["schema_version"]
    require(version == SCHEMA_VERSION, f"{path} has schema version {version}: make the report anew")
    people = report["provenance"].get("n_identities")
    outcomes, lines = [], []
    for limit in limits:
        for value in _values(report["values"], limit, path):
            outcome = _outcome(value, limit.value)
            outcomes.append(outcome)
            lines.append(_sentence(value, limit, outcome, people))
    worst = ABOVE if ABOVE in outcomes else max(outcomes)
    return worst, lines


def _values(values, limit, path):
    """The values of a report that a limit is about: of all models and groups, for new people."""
    intervals = [value for value in values if "lower" in value and "contrast" not in value]
    measures = sorted({value["measure"] for value in intervals})
    named = [
        value
        for value in intervals
        if value["measure"] == limit.measure.lower() and value.get("target") == NEW_PEOPLE
    ]
    message = f"{path} has no intervals of {limit.measure!r}; it has {', '.join(measures)}"
    require(named, message)
    if limit.at is None:
        return named
    chosen = [value for value in named if np.isclose(_level(value), limit.at, 1e-6, 0)]
    levels = ", ".join(f"{level:g}" for level in sorted({_level(value) for value in named}))
    require(chosen, f"{path} has {limit.measure} at {levels}, not at {limit.at}")
    return chosen


def _level(value):
    """The FAR level or threshold of a value; NaN for the EER."""
    return value.get("far", value.get("threshold", np.nan))


def _outcome(value, limit):
    """On which side of the limit the interval lies; an end that is null is no number."""
    if value["upper"] is not None and value["upper"] < limit:
        return BELOW
    if value["lower"] is not None and value["lower"] > limit:
        return ABOVE
    return UNDECIDED


def _sentence(value, limit, outcome, people):
    """One line: the verdict, what was compared, and how many people would decide."""
    names = [str(value[key]) for key in ("model", "group", "with_group") if key in value]
    level = "" if np.isnan(_level(value)) else f"@{_level(value):g}"
    words = " ".join([f"{WORDS[outcome]:9} {limit.measure}{level}", *names])
    ends = [number(np.nan if value[end] is None else value[end]) for end in ENDS]
    line = f"{words}: {ends[0]} [{ends[1]}, {ends[2]}], limit {limit.value:g}"
    if outcome != UNDECIDED:
        return line
    factor = _deciding_factor(value, limit.value)
    if people is None or not factor <= FARTHEST:
        return f"{line}; this cannot be decided with data like these"
    return f"{line}; about {int(np.ceil(factor * people)):,} people would decide ({people:,} now)"


def _deciding_factor(value, limit):
    """How many times as many people would put the interval on one side of the limit.

    The effective number of comparisons grows with the number of people; the ends of an interval
    that has none approach the estimate with the root of that number.
    """
    ends = [value[end] for end in ENDS]
    if None in ends or ends[0] == limit:
        return np.inf
    if value.get("n_effective") and 0 <= ends[0] <= 1 and value.get("fair") is None:
        factors = np.geomspace(1, FARTHEST, 2000)
        n = value["n_effective"] * factors
        lower, upper = jeffreys(np.array(ends[0]), n, value["interval_level"])
        decided = upper < limit if ends[0] < limit else lower > limit
        return factors[np.argmax(decided)] if decided.any() else np.inf
    if value.get("scale") == "log" and min(*ends, limit) > 0:
        *ends, limit = np.log([*ends, limit])
    estimate, lower, upper = ends
    end = upper if estimate < limit else lower
    return ((end - estimate) / (limit - estimate)) ** 2
