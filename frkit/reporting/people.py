"""The people who drive the errors, and how many more people would decide open questions."""

from functools import partial

import pandas as pd

from frkit import plot
from frkit.base import require
from frkit.data.labels import attributes_of
from frkit.evaluation.errors_by_person import errors_by_person, worst_pairs
from frkit.evaluation.tables import RESOLVED
from frkit.intervals import provenance
from frkit.plot.errors_by_person import most_errors
from frkit.reporting.contents import CLEAR, UNDECIDED, Section, Tile
from frkit.reporting.formats import TIE, level_words, say, share_text
from frkit.reporting.inputs import no_cautions, suffix
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
    with no_cautions():  # those of the error rates
        result = errors_by_person(inputs.scores, by=inputs.by, **inputs.levels, **inputs.options)
    section.results["errors_by_person"] = result
    facts_of_rates = {rate: [] for rate in ERRORS}
    for name, people in inputs.by_model(result.isel(inputs.leading)):
        for rate in ERRORS:
            table = most_errors(people, rate)
            if table.empty:
                continue
            _add_tables(inputs, section, name, people, rate, table)
            facts = _facts(inputs, people, rate, suffix(name), table)
            facts_of_rates[rate].append(facts)
            section.answers.append(say("drivers", facts))
            if rate == "frr" and facts["few"]:
                title = f"People with most of the FRR{suffix(name)} {level_words(people)}"
                section.figures[title] = partial(plot.errors_by_person, people)
    _add_tile(section, facts_of_rates)
    section.lines.append(say("look_at_images"))
    return section


def _add_tile(section, facts_of_rates):
    """The fewest people who make a third of an FRR; those of a FAR, too, if they are few."""
    fewest = {}
    for rate, facts in facts_of_rates.items():
        if facts:
            fewest[rate] = min(facts, key=lambda each: len(each["worst"]))
    rejects, accepts = fewest.get("frr"), fewest.get("far")
    if accepts and not (accepts["few"] and accepts["n_errors"] >= RESOLVED):
        accepts = None
    if not rejects:
        return
    text = say("drivers_text", rejects)
    if accepts:
        text = f"{text}\n{say('drivers', accepts)}"
    state = CLEAR if rejects["n_errors"] >= RESOLVED else UNDECIDED
    note = say("drivers_note", rejects, accepts)
    value = say("drivers_value", rejects)
    section.tiles.append(Tile("Who drives the errors?", value, text, state, note))


def _facts(inputs, people, rate, name_of_model, table):
    """The people with a third of a rate of one model."""
    is_split = "n_people" in provenance(inputs.evaluation)
    # the shares are those in the rate that the report gives, with its weights
    worst = _worst(table.share)
    return {
        "worst": worst,
        "few": len(worst) <= MOST_PEOPLE,
        "n_people": people.sizes["identity"],
        "who": say("combinations", attributes_of(inputs.by)) if is_split else "people",
        "rate": f"{rate.upper()}{name_of_model}",
        "of_model": name_of_model,
        "errors": ERRORS[rate],
        "n_errors": int(table.errors.sum() / PEOPLE_OF_AN_ERROR[rate]),
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


def _add_tables(inputs, section, name, people, rate, table):
    """The people with errors, by their share in the rate; pairs of the first three."""
    where = f"{suffix(name)} {level_words(people)}"
    head = table.head(MOST_PEOPLE)
    shown = {column: head[column].astype(str) for column in ("group", "images") if column in head}
    shown[ERRORS[rate]] = column_cells(head.errors.values, head.index)
    if rate == "frr":
        shown["genuine pairs"] = column_cells(head.pairs.values, head.index)
        shown["own FRR"] = column_cells(head.own.values, head.index, 3)
    shown[f"share in the {rate.upper()}"] = cells(head.share, "{:.1%}".format)
    frame = pd.DataFrame(shown, head.index, dtype=object).rename_axis("person")
    section.tables[f"{ERRORS[rate].capitalize()}{where}"] = Table(frame)
    first = [str(person) for person in table.index[:3]]
    scores = inputs.scores_of(name)
    pairs = worst_pairs(scores, people, kind=KINDS[rate], identities=first, pairs=MOST_PAIRS)
    names = ["probe", "probe_identity", "reference", "reference_identity"]
    shown = {column.replace("_identity", " shows"): pairs[column].values for column in names}
    frame = pd.DataFrame(shown).astype(str).astype(object)
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
        with no_cautions():
            plan = sample_size(scores, "relative_half_width", HALF_WIDTH, **options)
        question = (
            f"People for an interval of ± {share_text(HALF_WIDTH)} around the FRR{suffix(name)}"
        )
        section.results[question] = plan
        if plan.n_identities > plan.n_identities_now:
            section.figures[question] = partial(plot.sample_size, plan)
        section.answers.append(f"{name}: {plan.answer.item()}" if name else plan.answer.item())
    return section
