"""Whether the numbers of a report stay below limits, and below those of an earlier report."""

import json
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd

from frkit.base import InputError, listed, parse_number, require, writing
from frkit.evaluation.nodes import open_evaluation
from frkit.intervals.compare import compare
from frkit.intervals.effective import SCALES, jeffreys
from frkit.intervals.reading import NEW_PEOPLE
from frkit.measures.registry import IDENTITY_SCALE, LOG_SCALE
from frkit.reporting.formats import ENDS, cell
from frkit.reporting.writing import EVALUATION, NUMBERS, SCHEMA, SCHEMA_VERSION, as_builtins
from frkit.studies.sample_size import smallest_factor

BELOW = 0
ABOVE = 1
UNDECIDED = 2
WORDS = ("below", "ABOVE", "undecided")
NAMES = ["model", "group", "with_group"]
NUMERIC = [*ENDS, "far", "threshold", "n_effective", "interval_level", "fair"]
WHERE = ["level", "group", "with_group"]  # of a value of one model
COLUMN_OF_DIM = {"far_level": "level", "threshold_level": "level", "reference_group": "with_group"}
READ = [*NUMERIC, "measure", *NAMES, "target", "contrast", "scale"]
SAME = ("weighting", "impostors", "far_of")  # facts without which two rates are different things


@dataclass
class Limit:
    """What must stay below a value: a measure at a level, or at every level where there is none."""

    measure: str
    level: float | None
    value: float


def parse_limit(text):
    """Read a limit such as "frr@0.1%=5%" or "eer=0.03"."""
    name, _, value = text.rpartition("=")
    measure, _, level = name.partition("@")
    try:
        limit = Limit(measure.lower(), parse_number(level) if level else None, parse_number(value))
    except InputError as error:
        message = f"{text!r} is no limit: write MEASURE@LEVEL=VALUE, such as frr@1e-3=0.05"
        raise InputError(message) from error
    require(np.isfinite(limit.value), f"the limit {text!r} is not finite")
    return limit


def check(path, limits, *, model=None, old=None, margins=()):
    """Compare the intervals of a report with limits, and with those of an earlier report.

    Parameters
    ----------
    path : str or Path
        A report's folder, or the file report.json in it.
    limits : list of Limit
        Of the measures.
    model : str, optional
        Name of the model that is checked; by default all are.
    old : str or Path, optional
        An earlier report.
    margins : list of Limit
        By how much a measure may be higher than in the earlier report.

    Returns
    -------
    pd.DataFrame
        A row for each interval: `name`, `estimate`, `lower`, `upper` and `limit`; `outcome`, which
        is 0 where the upper end is below the limit, 1 where the lower end is above, and 2 where the
        data cannot decide; `n_people` and `n_people_needed` to decide, NaN where they are not
        known; `remark`.

    Raises
    ------
    InputError
        For a file that is no report, or a measure, level or model that the report does not have.
    """
    new_report = read_report(path)
    names = _models(new_report) if model is None else [model]
    checked = [_checked(_values(new_report, names, limit), limit) for limit in limits]
    if old is not None:
        old_report = read_report(old)
        for fact in SAME:
            facts = [report.facts.get(fact) for report in (new_report, old_report)]
            require(
                facts[0] == facts[1],
                f"{path} has {fact} {facts[0]!r}, {old} has {facts[1]!r}: they cannot be compared",
            )
        for margin in margins:
            differences = [_differences(new_report, old_report, name, margin) for name in names]
            checked.append(_checked(pd.concat(differences), margin))
    result = pd.concat(checked, ignore_index=True)
    n_people = new_report.facts.get("n_identities") or np.nan
    needed = np.ceil(result.factor * n_people)
    return result.assign(n_people=n_people, n_people_needed=needed).drop(columns="factor")


def status_of(checked):
    """Return the outcome of all checks: "above" if one is, else "undecided" if one is."""
    return ABOVE if (checked.outcome == ABOVE).any() else int(checked.outcome.max())


# --- reading ------------------------------------------------------------------------------------


@dataclass
class Contents:
    """What a report's file contains: its intervals for new people, and facts about the data."""

    path: Path
    values: pd.DataFrame
    facts: dict


def read_report(path):
    """Read the intervals of a report, whose folder or report.json is named."""
    path = Path(path)
    path = path / NUMBERS if path.is_dir() else path
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    is_report = isinstance(report, dict) and report.get("schema") == SCHEMA
    require(is_report, f"{path} is no report.json of frkit")
    version = report.get("schema_version")
    require(version == SCHEMA_VERSION, f"{path} has schema version {version}: make the report anew")
    try:
        values = [value for value in report["values"] if value.keys() >= {"lower", "target"}]
        table = pd.DataFrame(values).reindex(columns=READ).astype(dict.fromkeys(NUMERIC, float))
        facts = {**report["provenance"]}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged ({error!r}): make the report anew") from error
    table["level"] = table.far.fillna(table.threshold)
    table[NAMES] = table[NAMES].astype(object).fillna("")
    is_interval = table.contrast.isna() & (table.target == NEW_PEOPLE)
    return Contents(path, table[is_interval], facts)


def _models(report):
    """Return the names of a report's models: [""] for one without a name."""
    return [name for name in report.values.model.unique() if name] or [""]


def _values(report, models, limit):
    """Select the intervals that a limit is about, of these models and of all groups."""
    unknown = [name for name in models if name not in _models(report)]
    has = listed(_models(report)) if any(_models(report)) else "one model without a name"
    require(not unknown, f"{report.path} has no model {listed(unknown)}; it has {has}")
    of_models = report.values[report.values.model.isin(models)]
    rows = of_models[of_models.measure == limit.measure]
    measures = ", ".join(sorted(of_models.measure.unique()))
    message = f"{report.path} has no intervals of {limit.measure!r}; it has {measures}"
    require(len(rows) > 0, message)
    if limit.level is not None:
        levels = ", ".join(f"{level:g}" for level in rows.level.dropna().unique())
        rows = rows[np.isclose(rows.level, limit.level, 1e-6, 0)]
        has = f"at {levels}" if levels else "without levels"
        message = f"{report.path} has {limit.measure} {has}, not at {limit.level:g}"
        require(len(rows) > 0, message)
    return rows.assign(remark="")


# --- differences between two reports -------------------------------------------------------------


def _differences(new_report, old_report, name, margin):
    """Intervals of new minus old: of the same model, or of the only model of the old report."""
    old_names = _models(old_report)
    old_name = old_names[0] if len(old_names) == 1 else name
    require(
        old_name in old_names,
        f"{old_report.path} has the models {listed(old_names)}, none called {name!r}, as in "
        f"{new_report.path}",
    )
    new = _values(new_report, [name], margin)
    old = _values(old_report, [old_name], margin)
    require(
        set(new.scale) == {IDENTITY_SCALE},
        f"{margin.measure} is no rate: only rates are compared with an earlier report",
    )
    old = old.set_index(WHERE)
    new = new.set_index(WHERE)
    require(
        new.index.sort_values().equals(old.index.sort_values()),
        f"{margin.measure} has other levels or groups in {new_report.path} than in "
        f"{old_report.path}",
    )
    try:
        ends = _paired(new_report, old_report, name, old_name, margin.measure, new)
        remark = "paired"
    except InputError as error:
        ends = _unpaired(new, old)
        remark = f"not paired: {str(error).splitlines()[0]}"
    measure = f"{margin.measure} minus old"
    kept = new.drop(columns=[*ENDS, "n_effective"]).assign(measure=measure, remark=remark)
    return kept.join(ends).reset_index()


def _paired(new_report, old_report, name, old_name, measure, new):
    """Intervals of the difference on the same images."""
    sides = []
    for report, model in ((new_report, name), (old_report, old_name)):
        evaluation = open_evaluation(report.path.with_name(EVALUATION))
        levels = new.index.unique("level").dropna()
        dim = "far_level" if "far_level" in evaluation["empirical"].dims else "threshold_level"
        places = {dim: levels} if len(levels) else {}
        sides.append(evaluation.sel(places | ({"model": model} if model else {}), drop=True))
    result = compare(*sides, measure, level=new.interval_level.iloc[0])
    rows = result[[*ENDS]].expand_dims("of").to_dataframe().reset_index()
    rows = rows.rename(columns=COLUMN_OF_DIM)
    rows = rows.reindex(columns=[*ENDS, *WHERE])
    names = rows[NAMES[1:]].astype(object).fillna("")
    return rows.assign(**names).set_index(WHERE)[[*ENDS]]


def _unpaired(new, old):
    """Intervals of the difference of independent rates, by Newcombe's (1998) square-and-add."""
    old = old.reindex(new.index)
    estimate = new.estimate - old.estimate
    below = np.hypot(new.estimate - new.lower, old.upper - old.estimate)
    above = np.hypot(new.upper - new.estimate, old.estimate - old.lower)
    return pd.DataFrame(
        {"estimate": estimate, "lower": estimate - below, "upper": estimate + above}
    )


# --- outcomes ------------------------------------------------------------------------------------


def _checked(rows, limit):
    """Compare each interval with its limit."""
    outcome = np.full(len(rows), UNDECIDED)
    outcome[rows.upper < limit.value] = BELOW
    outcome[rows.lower > limit.value] = ABOVE
    rows = rows.reindex(columns=[*READ, "level", "remark"]).assign(outcome=outcome)
    records = rows.to_dict("records")
    return rows[[*ENDS, "outcome"]].assign(
        name=[_name(record) for record in records],
        limit=limit.value,
        factor=[_deciding_factor(record, limit.value) for record in records],
        remark=rows.remark,
    )


def _name(record):
    """Name a value: "frr@0.001 ArcFace female"."""
    level = "" if np.isnan(record["level"]) else f"@{record['level']:g}"
    names = [record[part] for part in NAMES if record[part]]
    return " ".join([record["measure"] + level, *names])


def _deciding_factor(record, limit):
    """How many times as many people would put the interval on one side of the limit, or NaN.

    The effective number of comparisons grows with the number of people; the ends of an interval
    that has none approach the estimate with the root of that number.
    """
    estimate, lower, upper = (record[end] for end in ENDS)
    is_below = estimate < limit
    if record["outcome"] != UNDECIDED:
        return np.nan
    if not np.isfinite([estimate, lower, upper]).all() or estimate == limit:
        return np.nan
    has_number = record["n_effective"] > 0 and np.isnan(record["fair"])
    is_log = record["scale"] == LOG_SCALE and lower > 0
    on_scale, back = SCALES[LOG_SCALE if is_log else IDENTITY_SCALE]

    def end(factor):
        n = record["n_effective"] * factor
        if has_number:
            ends = jeffreys(np.array(estimate), n, record["interval_level"])
        else:
            reach = on_scale(np.array([lower, upper])) - on_scale(estimate)
            ends = back(on_scale(estimate) + reach / np.sqrt(factor))
        return float(ends[1] if is_below else ends[0]), n

    return smallest_factor(end, limit, not is_below, 1.0)


# --- showing -------------------------------------------------------------------------------------


def line_of(row):
    """Write one check as a line of text."""
    ends = cell(row.estimate, row.lower, row.upper)
    text = f"{WORDS[row.outcome]} {row.name}: {ends}, limit {row.limit:g}{_how(row)}"
    if row.outcome != UNDECIDED:
        return text
    if np.isnan(row.n_people_needed):
        return f"{text}; this cannot be decided with data like these"
    return f"{text}; about {row.n_people_needed:,.0f} people would decide ({row.n_people:,.0f} now)"


def _how(row):
    return f" ({row.remark})" if row.remark else ""


def write_json(checked, path):
    """Write the checks as JSON: the outcome of all, and a record for each."""
    words = [WORDS[outcome].lower() for outcome in checked.outcome]
    records = checked.assign(outcome=words).to_dict("records")
    status = status_of(checked)
    contents = {"status": status, "outcome": WORDS[status].lower(), "checks": as_builtins(records)}
    _write(path, json.dumps(contents, indent=1, ensure_ascii=False))


def write_junit(checked, path):
    """Write the checks as JUnit XML: "above" is a failure, "undecided" is skipped."""
    counts = {
        "tests": len(checked),
        "failures": int((checked.outcome == ABOVE).sum()),
        "errors": 0,
        "skipped": int((checked.outcome == UNDECIDED).sum()),
    }
    attributes = {name: str(count) for name, count in counts.items()}
    suite = ElementTree.Element("testsuite", name="frkit check", **attributes)
    for row in checked.itertuples():
        name = _printable(row.name)
        line = _printable(line_of(row))
        case = ElementTree.SubElement(suite, "testcase", classname="frkit.check", name=name)
        if row.outcome == BELOW:
            ElementTree.SubElement(case, "system-out").text = line
        else:
            kind = "failure" if row.outcome == ABOVE else "skipped"
            ElementTree.SubElement(case, kind, message=line)
    _write(path, ElementTree.tostring(suite, encoding="unicode", xml_declaration=True))


def _printable(text):
    """Replace control characters, which XML cannot contain."""
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )


def _write(path, text):
    with writing(path, "name another file"):
        Path(path).write_text(text + "\n", encoding="utf-8")
