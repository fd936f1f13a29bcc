"""Whether the numbers of a report keep to limits."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from frkit.base import InputError, parse_number, require
from frkit.intervals.effective import RATES, SCALES, jeffreys
from frkit.intervals.reading import NEW_PEOPLE
from frkit.measures.registry import IDENTITY_SCALE, LOG_SCALE
from frkit.reporting.formats import ENDS, cell, decimals_of, say
from frkit.reporting.writing import NUMBERS, SCHEMA, SCHEMA_VERSION
from frkit.studies.sample_size import FARTHEST, smallest_factor

KEPT, BROKEN, UNDECIDED = range(3)
OUTCOMES = ("below", "ABOVE", "undecided")
LABELS = ["measure", "model", "group", "with_group", "target", "contrast", "scale"]
NUMERIC = [*ENDS, "far", "threshold", "n_effective", "interval_level", "fair"]


class Limit(NamedTuple):
    """What must stay below a value: a measure at a level, or at every level where there is none."""

    measure: str
    level: float | None
    value: float


class Report(NamedTuple):
    """What a report's file contains: its intervals for new people, and facts about the data."""

    path: Path
    rows: pd.DataFrame
    models: list
    facts: dict


def parse_limit(text):
    """Read a limit such as "frr@0.1%=5%" or "eer=0.03"."""
    name, _, value = text.rpartition("=")
    measure, _, level = name.partition("@")
    try:
        level_value = parse_number(level) if level else None
        measure = measure if "[" in measure else measure.lower()
        limit = Limit(measure, level_value, parse_number(value))
    except InputError as error:
        message = f"{text!r} is not a limit: write MEASURE@LEVEL=VALUE, such as frr@1e-3=0.05"
        raise InputError(message) from error
    require(np.isfinite(limit.value), f"the limit {text!r} is not finite")
    is_possible = limit.measure not in RATES or abs(limit.value) <= 1
    require(is_possible, f"{text!r}: {limit.measure} is at most 1; write {value}% if that is meant")
    return limit


def check(path, limits, *, model=None):
    """Compare the intervals of a report with limits.

    Parameters
    ----------
    path : str or Path
        A report's folder, or the file report.json in it.
    limits : list of Limit
        Of the measures.
    model : str, optional
        Name of the model that is checked; by default all are.

    Returns
    -------
    pd.DataFrame
        A row for each interval: `name`, `estimate`, `lower`, `upper`, `limit`, `decimals`;
        `outcome`, which is 0 where the whole interval is at or below the limit, 1 where it is
        above, and 2 where the data cannot decide; `n_people`, and how many people would decide,
        `n_people_needed` (inf if more than 100 times as many); NaN if not known.

    Raises
    ------
    InputError
        For a file that is no report, or a measure, level or model that the report does not have.
    """
    report = read_report(path)
    models = report.models if model is None else [model]
    rows = [_selected(report, models, limit) for limit in limits]
    result = pd.concat(rows, ignore_index=True)
    outcomes = [result.upper <= result.limit, result.lower > result.limit]
    result["outcome"] = np.select(outcomes, [KEPT, BROKEN], UNDECIDED)
    result["name"] = [_name(row) for row in result.itertuples()]
    n_people = report.facts.get("n_people") or report.facts.get("n_identities") or np.nan
    result["n_people"] = n_people
    factor = np.array([_deciding_factor(row) for row in result.itertuples()])
    result["n_people_needed"] = np.ceil(factor * result.n_people)
    shown = ["name", *ENDS, "limit", "decimals", "outcome", "n_people", "n_people_needed"]
    return result[shown]


def status_of(checked):
    """Return the outcome of all checks: broken if one is, else undecided if one is."""
    return BROKEN if (checked.outcome == BROKEN).any() else int(checked.outcome.max())


# --- reading ------------------------------------------------------------------------------------


def read_report(path):
    """Read the intervals of a report, whose folder or report.json is named."""
    path = Path(path)
    path = path / NUMBERS if path.is_dir() else path
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        version = report["schema"], report["schema_version"]
        intervals = [value for value in report["values"] if "lower" in value]
        rows = pd.DataFrame(intervals).reindex(columns=[*LABELS, *NUMERIC])
        rows = rows.astype(dict.fromkeys(NUMERIC, float))
        facts = {**report["provenance"]}
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except (KeyError, TypeError, ValueError) as error:
        message = f"{path} is no report.json of frkit, or is damaged"
        raise InputError(f"{message}: make the report again") from error
    is_current = version == (SCHEMA, SCHEMA_VERSION)
    require(is_current, f"{path} is not a report.json of this version: make the report again")
    is_of_new_people = rows.contrast.isna() & (rows.target == NEW_PEOPLE)
    rows["level"] = rows.far.fillna(rows.threshold)
    rows[LABELS] = rows[LABELS].astype(object).fillna("")
    models = [name for name in rows.model.unique() if name] or [""]
    rows = rows[is_of_new_people]
    decimals = {
        measure: decimals_of(values.lower, values.upper, values.scale.iloc[0])
        for measure, values in rows.groupby("measure")
    }
    return Report(path, rows.assign(decimals=rows.measure.map(decimals)), models, facts)


def _selected(report, models, limit):
    """The intervals that a limit is about: of these models, and of all groups."""
    path, rows, names, _ = report
    chosen = rows[rows.model.isin(models) & (rows.measure == limit.measure)]
    if limit.level is not None:
        chosen = chosen[np.isclose(chosen.level, limit.level, 1e-6, 0)]
    require(len(chosen), say("check_without", path, rows, limit, models, names))
    require(
        not (chosen.estimate < chosen.fair).any(),
        f"{limit.measure} is {chosen.fair.iloc[0]:g} where groups are alike, and lower where they "
        "differ: only measures that rise with differences have limits, such as frr_max_min",
    )
    return chosen.assign(limit=limit.value)


# --- outcomes ------------------------------------------------------------------------------------


def _name(row):
    """Name a value: "frr@0.001 ArcFace female"."""
    level = "" if np.isnan(row.level) else f"@{row.level:g}"
    labels = [row.model, row.group, row.with_group]
    return " ".join([row.measure + level, *filter(None, labels)])


def _deciding_factor(row):
    """How many times as many people would decide, if the estimate stayed.

    The effective number of comparisons grows with the number of people; the ends of an interval
    that has none approach the estimate with the root of that number. Returns inf beyond FARTHEST,
    and NaN where the outcome is decided, or nothing says how the interval shrinks.
    """
    is_rate = row.n_effective > 0 and np.isnan(row.fair)
    is_known = np.isfinite([row.estimate, row.lower, row.upper]).all()
    is_known &= not (is_rate and row.upper == 1)  # the threshold may be any higher one
    if row.outcome != UNDECIDED or not is_known or row.estimate == row.limit:
        return np.nan
    is_below = row.estimate < row.limit
    if is_rate:

        def end_of_more(factor):
            n = row.n_effective * factor
            return jeffreys(np.array(row.estimate), n, row.interval_level)[int(is_below)], n

        factor = smallest_factor(end_of_more, row.limit, not is_below, 1.0)
    else:
        is_log = row.scale == LOG_SCALE and row.lower > 0
        on_scale, _ = SCALES[LOG_SCALE if is_log else IDENTITY_SCALE]
        end = row.upper if is_below else row.lower
        estimate, end, limit = map(on_scale, (row.estimate, end, row.limit))
        factor = ((end - estimate) / (limit - estimate)) ** 2
    return factor if factor <= FARTHEST else np.inf


# --- showing -------------------------------------------------------------------------------------


def line_of(row):
    """Write one check as a line of text."""
    decimals = int(row.decimals)
    interval = cell(row.estimate, row.lower, row.upper, decimals=decimals, fair=row.limit)
    return say("check", row, interval, OUTCOMES[row.outcome], FARTHEST)
