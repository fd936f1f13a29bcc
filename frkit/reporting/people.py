"""The people who drive the errors."""

from functools import partial

import numpy as np
import pandas as pd

from frkit import plot
from frkit.base import gathered_notices, require
from frkit.data.labels import attributes_of
from frkit.evaluation.errors_by_person import errors_by_person, worst_pairs
from frkit.figures.person_bars import most_errors
from frkit.findings.contents import CLEAR, UNDECIDED, Tile
from frkit.findings.formats import SIGNIFICANT, TIE, level_words, say
from frkit.findings.inputs import suffix
from frkit.findings.tables import Table, cells, column_cells
from frkit.intervals import provenance
from frkit.intervals.compare import holm
from frkit.scores.kept import has_names

MOST_PEOPLE = 10  # in a table, and who can be called few
MOST_PAIRS = 12  # behind the first people
LARGE = 1 / 3  # of the rate
ERRORS = {"frr": "false rejects", "far": "false accepts"}
KINDS = {"frr": "genuine", "far": "impostor"}


def drivers(inputs, section):
    """Who drives the errors at the leading level."""
    require(inputs.named, "the comparisons do not say whom the images show")
    with gathered_notices():  # those of the error rates
        result = errors_by_person(inputs.scores, by=inputs.by, **inputs.levels, **inputs.options)
    section.results["errors_by_person"] = result
    findings = []
    for name, people in inputs.by_model(result.isel(inputs.leading)):
        for rate in ERRORS:
            errors = most_errors(people, rate)
            if not errors.empty:
                _add_people(inputs, section, (name, rate), people, errors)
                findings.append(_finding(inputs, (name, rate), people, errors))
    for finding, p in zip(findings, holm(np.array([finding["p"] for finding in findings]))):
        finding["p"] = p
    section.answers += [say("drivers", finding) for finding in findings]
    tested = [finding for finding in findings if not np.isnan(finding["p"])]
    if tested:
        fewest = min(tested, key=lambda finding: len(finding["worst"]))
        section.tiles.append(_tile(fewest, len(tested)))
    section.lines.append(say("look_at_images", len(tested)))


def _add_people(inputs, section, model_and_rate, people, errors):
    """Tables of the people with errors of one kind and of their worst pairs, and a figure."""
    name, rate = model_and_rate
    where = f"{suffix(name)} {level_words(people)}"
    if not has_names(inputs.scores, "image"):
        errors = errors.drop(columns="images")
    section.tables[f"{ERRORS[rate].capitalize()}{where}"] = _table_of_people(errors, rate)
    pairs = _table_of_pairs(inputs.scores_of(name), people, rate)
    section.tables[f"Pairs of the first three, {ERRORS[rate]}{where}"] = pairs
    if rate == "frr" and len(_worst(errors.share)) <= MOST_PEOPLE:
        draw = partial(plot.errors_by_person, people)
        section.figures[f"People with most of the FRR{where}"] = draw


def _finding(inputs, model_and_rate, people, errors):
    """The people with a third of a rate of one model, and of an FRR whether people differ.

    Their shares are those in the rate that the report gives, with its weights.
    """
    name, rate = model_and_rate
    is_split = "n_people" in provenance(inputs.evaluation)
    return {
        "model": name,
        "rate": rate,
        "worst": _worst(errors.share),
        "most_people": MOST_PEOPLE,
        "n_errors": int(errors.errors.sum()),  # a false accept counts for both people
        "p": people.p_people_differ.item() if rate == "frr" else np.nan,
        "n_people": people.sizes["identity"],
        "who": say("combinations", attributes_of(inputs.by)) if is_split else "people",
        "level": level_words(people),
    }


def _tile(finding, n_tests):
    """The tile of the first screen."""
    state = CLEAR if finding["p"] <= SIGNIFICANT else UNDECIDED
    value, text = say("drivers_value", finding), say("drivers_tile", finding)
    note = say("drivers_note", finding, ERRORS[finding["rate"]], n_tests)
    return Tile("Who drives the errors?", value, text, state, note)


def _worst(share):
    """The largest shares, together a third of all."""
    least = share[share.cumsum() >= LARGE].iloc[0]
    worst = share[share >= least * (1 - TIE)]  # all with as large a share as the last
    if len(worst) > MOST_PEOPLE:  # they are many, whoever has a little more
        worst = share[: int((share.cumsum() < LARGE).sum()) + 1]
    return worst


def _table_of_people(errors, rate):
    """The people with errors, by their share in the rate."""
    head = errors.head(MOST_PEOPLE)
    columns = {name: head[name].astype(str) for name in ("group", "images") if name in head}
    columns[ERRORS[rate]] = column_cells(head.errors.values, head.index)
    if rate == "frr":
        columns["genuine pairs"] = column_cells(head.pairs.values, head.index)
        columns["own FRR"] = column_cells(head.own.values, head.index, 3)
    columns[f"share in the {rate.upper()}"] = cells(head.share, "{:.1%}".format)
    return Table(pd.DataFrame(columns, head.index, dtype=object).rename_axis("person"))


def _table_of_pairs(scores, people, rate):
    """The worst pairs of the first three people."""
    pairs = worst_pairs(scores, people, kind=KINDS[rate], identities=3, pairs=MOST_PAIRS)
    sides = ["probe", "probe_identity", "reference", "reference_identity"]
    columns = {side.replace("_identity", " shows"): pairs[side].values for side in sides}
    frame = pd.DataFrame(columns).astype(str).astype(object)
    frame["score"] = column_cells(pairs.score.values, frame.index, 4)
    return Table(frame)
