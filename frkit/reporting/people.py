"""The people who drive the errors, and how many more people would decide open questions."""

from functools import partial

import numpy as np
import pandas as pd

from frkit import plot
from frkit.base import gathered_notices, require
from frkit.data.labels import attributes_of
from frkit.evaluation.errors_by_person import errors_by_person, worst_pairs
from frkit.evaluation.rate_tables import RESOLVED
from frkit.intervals import provenance
from frkit.intervals.compare import holm
from frkit.plot.person_bars import most_errors
from frkit.reporting.contents import CLEAR, DESCRIBED, UNDECIDED, Section, Tile
from frkit.reporting.formats import SIGNIFICANT, TIE, level_words, say, share_text
from frkit.reporting.inputs import result_of_model, suffix
from frkit.reporting.tables import Table, cells, column_cells

MOST_PEOPLE = 10  # in a table, and who can be called few
MOST_PAIRS = 12  # behind the first people
LARGE = 1 / 3  # of the rate
HALF_WIDTH = 0.2
ERRORS = {"frr": "false rejects", "far": "false accepts"}
KINDS = {"frr": "genuine", "far": "impostor"}
PEOPLE_OF_AN_ERROR = {"frr": 1, "far": 2}  # for whom it counts


def drivers(inputs):
    """Who drives the errors at the leading level."""
    require(inputs.named, "the comparisons do not say whom the images show")
    section = Section("People who drive the errors")
    with gathered_notices():  # those of the error rates
        result = errors_by_person(inputs.scores, by=inputs.by, **inputs.levels, **inputs.options)
    section.results["errors_by_person"] = result
    findings = []
    for name, people in inputs.by_model(result.isel(inputs.leading)):
        for rate in ERRORS:
            errors = most_errors(people, rate)
            if not errors.empty:
                _add_tables(inputs, section, name, people, rate, errors)
                findings.append(_finding(inputs, people, rate, name, errors))
    p_values = holm(np.array([finding["p"] for finding in findings]))
    for finding, p in zip(findings, p_values):
        finding["p"] = p
        section.answers.append(say("drivers", finding))
        if finding["rate"] == "frr" and finding["few"]:
            people = result_of_model(result, finding["model"]).isel(inputs.leading)
            title = f"People with most of the FRR{finding['of_model']} {finding['level']}"
            section.figures[title] = partial(plot.errors_by_person, people)
    _add_tile(section, findings)
    section.lines.append(say("look_at_images"))
    return section


def _add_tile(section, findings):
    """The fewest people who make a third of an FRR, and whether people differ."""
    findings = [finding for finding in findings if finding["rate"] == "frr"]
    if not findings:
        return
    fewest = min(findings, key=lambda finding: len(finding["worst"]))
    p = fewest["p"]
    state = CLEAR if p <= SIGNIFICANT else UNDECIDED
    if np.isnan(p) and fewest["n_errors"] >= RESOLVED:
        state = DESCRIBED
    n_tests = np.count_nonzero([not np.isnan(finding["p"]) for finding in findings])
    value, text = say("drivers_value", fewest), say("drivers_text", fewest)
    note = say("drivers_note", fewest, n_tests)
    section.tiles.append(Tile("Who drives the errors?", value, text, state, note))


def _finding(inputs, people, rate, name, errors):
    """The people with a third of a rate of one model, and of an FRR whether people differ."""
    is_split = "n_people" in provenance(inputs.evaluation)
    # the shares are those in the rate that the report gives, with its weights
    worst = _worst(errors.share)
    return {
        "worst": worst,
        "few": len(worst) <= MOST_PEOPLE,
        "p": people.p_people_differ.item() if rate == "frr" else np.nan,
        "n_people": people.sizes["identity"],
        "who": say("combinations", attributes_of(inputs.by)) if is_split else "people",
        "rate": rate,
        "model": name,
        "of_model": suffix(name),
        "errors": ERRORS[rate],
        "n_errors": int(errors.errors.sum() / PEOPLE_OF_AN_ERROR[rate]),
        "level": level_words(people),
        "weighting": inputs.weighting,
    }


def _worst(share):
    """The largest shares, together a third of all."""
    least = share[share.cumsum() >= LARGE].iloc[0]
    worst = share[share >= least * (1 - TIE)]  # all with as large a share as the last
    if len(worst) > MOST_PEOPLE:  # they are many, whoever has a little more
        worst = share[: int((share.cumsum() < LARGE).sum()) + 1]
    return worst


def _add_tables(inputs, section, name, people, rate, errors):
    """The people with errors, by their share in the rate; pairs of the first three."""
    where = f"{suffix(name)} {level_words(people)}"
    head = errors.head(MOST_PEOPLE)
    columns = {column: head[column].astype(str) for column in ("group", "images") if column in head}
    columns[ERRORS[rate]] = column_cells(head.errors.values, head.index)
    if rate == "frr":
        columns["genuine pairs"] = column_cells(head.pairs.values, head.index)
        columns["own FRR"] = column_cells(head.own.values, head.index, 3)
    columns[f"share in the {rate.upper()}"] = cells(head.share, "{:.1%}".format)
    frame = pd.DataFrame(columns, head.index, dtype=object).rename_axis("person")
    section.tables[f"{ERRORS[rate].capitalize()}{where}"] = Table(frame)
    first = [str(person) for person in errors.index[:3]]
    scores = inputs.scores_of(name)
    pairs = worst_pairs(scores, people, kind=KINDS[rate], identities=first, pairs=MOST_PAIRS)
    sides = ["probe", "probe_identity", "reference", "reference_identity"]
    columns = {side.replace("_identity", " shows"): pairs[side].values for side in sides}
    frame = pd.DataFrame(columns).astype(str).astype(object)
    frame["score"] = column_cells(pairs.score.values, frame.index, 4)
    section.tables[f"Pairs of the first three, {ERRORS[rate]}{where}"] = Table(frame)


def plans(inputs):
    """How many more people would narrow the interval of every model's FRR."""
    require(
        inputs.along == "far_level", "a plan is made for a FAR level, and thresholds were given"
    )
    require(inputs.options["impostors"] == "all", "its thresholds are those of all impostor pairs")
    from frkit.studies import sample_size  # scikit-learn, only here

    section = Section("How many more people")
    far = float(inputs.rates["far_level"].isel(inputs.leading))
    for name in inputs.models:
        scores = inputs.scores.sel(model=[name]) if name else inputs.scores
        options = {"far": far, "level": inputs.level, "weighting": inputs.options["weighting"]}
        with gathered_notices():
            plan = sample_size(scores, "relative_half_width", HALF_WIDTH, **options)
        question = (
            f"People for an interval of ± {share_text(HALF_WIDTH)} around the FRR{suffix(name)}"
        )
        section.results[question] = plan
        if plan.n_identities > plan.n_identities_now:
            section.figures[question] = partial(plot.sample_size, plan)
        section.answers.append(f"{name}: {plan.answer.item()}" if name else plan.answer.item())
    return section
