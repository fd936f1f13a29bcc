"""The people who drive the errors, and how many more people would decide open questions."""

from functools import partial

import pandas as pd

from frkit import plot
from frkit.base import require
from frkit.evaluation.errors_by_person import errors_by_person, worst_pairs
from frkit.evaluation.tables import RESOLVED
from frkit.plot.errors_by_person import most_errors
from frkit.reporting.contents import CLEAR, UNDECIDED, Section, Tile
from frkit.reporting.formats import level_words, say
from frkit.reporting.inputs import suffix
from frkit.reporting.tables import Cell, Table, column_cells

MOST_PEOPLE = 10  # in a table, and who can be called few
MOST_PAIRS = 12  # behind the first people
LARGE = 1 / 3  # of the errors
HALF_WIDTH = 0.2
ERRORS = {"frr": "false rejects", "far": "false accepts"}
KINDS = {"frr": "genuine", "far": "impostor"}


def drivers(inputs):
    """Who drives the errors at the leading level."""
    require(inputs.named, "the comparisons do not say whom the images show")
    section = Section("People who drive the errors")
    result = errors_by_person(inputs.scores, by=inputs.by, **inputs.levels, **inputs.options)
    section.results["errors_by_person"] = result
    clearest = None
    for name, people in inputs.by_model(result.isel(inputs.leading)):
        where = f"{suffix(name)} {level_words(people)}"
        for rate, errors in ERRORS.items():
            table = most_errors(people, rate)
            if table.empty:
                continue
            section.tables[f"{errors.capitalize()}{where}"] = _people_table(table, rate)
            pairs = _pairs_table(inputs, name, people, rate, table.index[:3])
            section.tables[f"Pairs of the first three, {errors}{where}"] = pairs
            share = table.errors / table.errors.sum()
            least = share[share.cumsum() >= LARGE].iloc[0]
            worst = share[share >= least]  # all with as many errors as the last
            if len(worst) > MOST_PEOPLE:  # they are many, whoever has one error more
                worst = share[: int((share.cumsum() < LARGE).sum()) + 1]
            facts = (len(worst), people.sizes["identity"], worst.sum())
            tile = _tile(facts, table, errors, name, level_words(people))
            if rate == "frr":
                title = f"People with most false rejects{where}"
                section.figures[title] = partial(plot.errors_by_person, people)
                if clearest is None or facts[0] < clearest[0]:
                    clearest = facts
                    section.tiles = [tile]
            section.answers.append(f"{tile.value} {tile.text}")
    section.lines.append(say("look_at_images"))
    return section


def _tile(facts, table, errors, name, level):
    """The people with most errors, who make a third of them together."""
    n_worst, n_people, share = facts
    few = n_worst <= MOST_PEOPLE
    names = [str(person) for person in table.index[: min(n_worst, 3)]] if few else []
    value = f"{n_worst:,} of {n_people:,} people"
    text = say("drivers", n_worst, share, errors, suffix(name), names, n_worst - len(names))
    enough = table.errors.sum() >= RESOLVED
    note = say("drivers_level", level, int(table.errors.sum()), errors)
    return Tile("Who drives the errors?", value, text, CLEAR if enough else UNDECIDED, note)


def _people_table(table, rate):
    """The people with most errors, by number, then by their own rate."""
    head = table.head(MOST_PEOPLE)
    columns = {}
    if "group" in head:
        columns["group"] = head.group.astype(str)
    columns["images"] = head.images.astype(str)
    columns[ERRORS[rate]] = column_cells(head.errors.values, head.index)
    if rate == "frr":
        columns["genuine pairs"] = column_cells(head.pairs.values, head.index)
        columns["own FRR"] = column_cells(head.own.values, head.index, 3)
    shares = head.share.values
    cells = [Cell(f"{share:.1%}", {"": share}) for share in shares]
    columns[f"share in the {rate.upper()}"] = pd.Series(cells, head.index, dtype=object)
    frame = pd.DataFrame(columns, dtype=object)
    return Table(frame.rename_axis("person"))


def _pairs_table(inputs, name, people, rate, first):
    """The pairs behind the first people, by image name, the worst first."""
    pairs = worst_pairs(
        inputs.scores_of(name),
        people,
        kind=KINDS[rate],
        identities=[str(person) for person in first],
        pairs=MOST_PAIRS,
    )
    names = ["probe", "probe_identity", "reference", "reference_identity"]
    columns = {
        side.replace("_identity", " shows"): pairs[side].values.astype(str) for side in names
    }
    frame = pd.DataFrame(columns, dtype=object)
    frame["score"] = column_cells(pairs.score.values, frame.index, 4)
    return Table(frame)


def plans(inputs):
    """How many more people would narrow the interval of every model's FRR."""
    require(
        inputs.along == "far_level", "a plan is made for a FAR level, and thresholds were given"
    )
    inputs.require_all_impostors()
    from frkit.studies import sample_size  # scikit-learn, only here

    section = Section("How many more people")
    far = float(inputs.rates["far_level"].isel(inputs.leading))
    for name in inputs.models:
        plan = sample_size(
            inputs.scores.sel(model=[name]) if name else inputs.scores,
            "relative_half_width",
            HALF_WIDTH,
            far=far,
            level=inputs.level,
            weighting=inputs.options["weighting"],
        )
        question = f"People for an interval of ± {HALF_WIDTH:.0%} around the FRR{suffix(name)}"
        section.results[question] = plan
        section.figures[question] = partial(plot.sample_size, plan)
        section.answers.append(plan.answer.item())
    return section
