"""Whether the numbers of a report keep to limits."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from frkit.base import InputError, parse_number, require
from frkit.findings.formats import cell, decimals_of, say
from frkit.intervals.effective import RATES, SCALES, jeffreys
from frkit.intervals.reading import NEW_PEOPLE
from frkit.intervals.rows import ENDS, ROWS
from frkit.measures.registry import IDENTITY_SCALE, LOG_SCALE
from frkit.papers.roc.sample_size import FARTHEST, smallest_factor
from frkit.reporting.writing import NUMBERS, SCHEMA, SCHEMA_VERSION

KEPT, BROKEN, UNDECIDED = range(3)
OUTCOMES = ("below", "ABOVE", "undecided")
NUMERIC = [*ENDS, "n_effective", "interval_level", "fair"]


class Limit(NamedTuple):
    """What must stay below a value: a measure at a level, or at every level where there is none."""

    measure: str
    level: float | None
    value: float


def parse_limit(text):
    """Read a limit such as "frr@0.1%=5%" or "eer=0.03"."""
    name, _, value = text.rpartition("=")
    measure, _, level = name.partition("@")
    measure = measure if "[" in measure else measure.lower()
    try:
        limit = Limit(measure, parse_number(level) if level else None, parse_number(value))
    except InputError as error:
        message = f"{text!r} is not a limit: write MEASURE@LEVEL=VALUE, such as frr@1e-3=0.05"
        raise InputError(message) from error
    require(np.isfinite(limit.value), f"the limit {text!r} is not finite")
    is_possible = measure not in RATES or abs(limit.value) <= 1
    require(is_possible, f"{text!r}: {measure} is at most 1; write {value}% if that is meant")
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
        A row for each interval: those of `rows_of`, `limit` and `decimals`; `outcome`, which is 0
        where the whole interval is at or below the limit, 1 where it is above, and 2 where the
        data cannot decide; `n_people`, and how many people would decide, `n_people_needed` (inf if
        more than 100 times as many); NaN if not known.

    Raises
    ------
    InputError
        For a file that is no report, or a measure, level or model that the report does not have.
    """
    rows, n_people = read_report(path)
    result = pd.concat([_selected(path, rows, limit, model) for limit in limits])
    outcomes = [result.upper <= result.limit, result.lower > result.limit]
    result["outcome"] = np.select(outcomes, [KEPT, BROKEN], UNDECIDED)
    result["n_people"] = n_people
    factors = [_deciding_factor(row) for row in result.itertuples()]
    result["n_people_needed"] = np.ceil(np.array(factors) * n_people)
    return result


def status_of(checked):
    """Return the outcome of all checks: broken if one is, else undecided if one is."""
    return BROKEN if (checked.outcome == BROKEN).any() else int(checked.outcome.max())


def read_report(path):
    """Read the intervals for new people, and the number of people, of a folder or report.json."""
    path = Path(path)
    path = path / NUMBERS if path.is_dir() else path
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        version = report["schema"], report["schema_version"]
        rows = pd.DataFrame([value for value in report["values"] if "lower" in value])
        rows = rows.reindex(columns=[*ROWS, "target", "scale", *NUMERIC])
        rows = rows.astype(dict.fromkeys(["far", "threshold", *NUMERIC], float))
        about = {**report["provenance"]}
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except (KeyError, TypeError, ValueError) as error:
        message = f"{path} is no report.json of frkit, or is damaged"
        raise InputError(f"{message}: make the report again") from error
    is_current = version == (SCHEMA, SCHEMA_VERSION)
    require(is_current, f"{path} is not a report.json of this version: make the report again")
    rows = rows[rows.contrast.isna() & (rows.target == NEW_PEOPLE)]
    rows = rows.assign(level=rows.far.fillna(rows.threshold))
    names = ["measure", "model", "group", "with_group", "scale"]
    rows[names] = rows[names].astype(object).where(rows[names].notna(), "")
    decimals = {
        measure: decimals_of(values.lower, values.upper, values.scale.iloc[0])
        for measure, values in rows.groupby("measure")
    }
    n_people = about.get("n_people") or about.get("n_identities") or np.nan
    return rows.assign(decimals=rows.measure.map(decimals)), n_people


def _selected(path, rows, limit, model):
    """The intervals that a limit is about: of one model or of all, and of all groups."""
    selected = rows[rows.measure == limit.measure]
    if model is not None:
        selected = selected[selected.model == model]
    if limit.level is not None:
        selected = selected[np.isclose(selected.level, limit.level, 1e-6, 0)]
    require(len(selected), say("check_without", path, rows, limit, model))
    require(
        not (selected.estimate < selected.fair).any(),
        f"{limit.measure} is {selected.fair.iloc[0]:g} where groups are alike, and lower where "
        "they differ: only measures that rise with differences have limits, such as frr_max_min",
    )
    return selected.assign(limit=limit.value)


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


def line_of(row):
    """Write one check as a line of text."""
    interval = cell(row.estimate, row.lower, row.upper, decimals=int(row.decimals), fair=row.limit)
    return say("check", row, interval, OUTCOMES[row.outcome], FARTHEST)
