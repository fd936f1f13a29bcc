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
from frkit.reporting.formats import TIE, averaged, level_words, say
from frkit.reporting.inputs import suffix
from frkit.reporting.tables import Cell, Table, column_cells

MOST_PEOPLE = 10  # in a table, and who can be called few
MOST_PAIRS = 12  # behind the first people
LARGE = 1 / 3  # of the rate
SPREAD = "They are spread over many people."
HALF_WIDTH = 0.2
ERRORS = {"frr": "false rejects", "far": "false accepts"}
KINDS = {"frr": "genuine", "far": "impostor"}


def drivers(inputs):
    """Who drives the errors at the leading level."""
    require(inputs.named, "the comparisons do not say whom the images show")
    section = Section("People who drive the errors")
    result = errors_by_person(inputs.scores, by=inputs.by, **inputs.levels, **inputs.options)
    section.results["errors_by_person"] = result
    is_split = "n_people" in provenance(inputs.evaluation)
    who = say("combinations", attributes_of(inputs.by)) if is_split else "people"
    tiles = []
    for name, people in inputs.by_model(result.isel(inputs.leading)):
        level = level_words(people)
        where = f"{suffix(name)} {level}"
        for rate, errors in ERRORS.items():
            table = most_errors(people, rate)
            if table.empty:
                continue
            section.tables[f"{errors.capitalize()}{where}"] = _people_table(table, rate)
            first = [str(person) for person in table.index[:3]]
            pairs = _pairs_table(inputs.scores_of(name), people, KINDS[rate], first)
            section.tables[f"Pairs of the first three, {errors}{where}"] = pairs
            # the shares are those in the rate that the report gives, with its weights
            worst = _worst(table.share.sort_values(ascending=False, kind="stable"))
            few = len(worst) <= MOST_PEOPLE
            number = f"{len(worst):,} of {people.sizes['identity']:,} {who}"
            text = say(
                "drivers", worst, f"{rate.upper()}{suffix(name)}", few, _people_of_a_third(worst)
            )
            if inputs.weighting != "pair":
                most_pairs = _worst(table.errors / table.errors.sum())
                if len(most_pairs) <= MOST_PEOPLE:
                    by_number = most_pairs, errors, _people_of_a_third(most_pairs)
                    text = f"{text} {say('drivers_by_number', *by_number)}"
            section.answers.append(f"{number} {text}")
            if rate == "frr":
                title = f"People with most false rejects{where}"
                section.figures[title] = partial(plot.errors_by_person, people)
                n_errors = int(table.errors.sum())
                state = CLEAR if n_errors >= RESOLVED else UNDECIDED
                note = say("drivers_level", level, n_errors, errors, averaged(inputs.weighting))
                value, text = (number, text) if few else (SPREAD, f"{number} {text}")
                tile = Tile("Who drives the errors?", value, text, state, note)
                tiles.append((len(worst), tile))
    section.tiles = [tile for _, tile in sorted(tiles, key=lambda each: each[0])[:1]]
    section.lines.append(say("look_at_images"))
    return section


def _worst(share):
    """The largest shares, which are a third of all together."""
    least = share[share.cumsum() >= LARGE].iloc[0]
    worst = share[share >= least * (1 - TIE)]  # all with as large a share as the last
    if len(worst) > MOST_PEOPLE:  # they are many, whoever has a little more
        worst = share[: int((share.cumsum() < LARGE).sum()) + 1]
    return worst


def _people_of_a_third(worst):
    """The first of these people who make a third; none where all of them are needed for it."""
    first = worst[: int((worst.cumsum() < LARGE).sum()) + 1]
    return first if len(first) < len(worst) else None


def _people_table(table, rate):
    """The people with most errors, by number, then by their own rate."""
    head = table.head(MOST_PEOPLE)
    shown = {name: head[name].astype(str) for name in ("group", "images") if name in head}
    shown[ERRORS[rate]] = column_cells(head.errors.values, head.index)
    if rate == "frr":
        shown["genuine pairs"] = column_cells(head.pairs.values, head.index)
        shown["own FRR"] = column_cells(head.own.values, head.index, 3)
    shares = [Cell(f"{share:.1%}", {"": share}) for share in head.share.values]
    shown[f"share in the {rate.upper()}"] = pd.Series(shares, head.index, dtype=object)
    return Table(pd.DataFrame(shown, dtype=object).rename_axis("person"))


def _pairs_table(scores, people, kind, first):
    """The pairs behind the first people, by image name, the worst first."""
    pairs = worst_pairs(scores, people, kind=kind, identities=first, pairs=MOST_PAIRS)
    names = ["probe", "probe_identity", "reference", "reference_identity"]
    shown = {name.replace("_identity", " shows"): pairs[name].values.astype(str) for name in names}
    table = Table(pd.DataFrame(shown, dtype=object))
    table["score"] = column_cells(pairs.score.values, table.index, 4)
    return table


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
        section.answers.append(f"{name}: {plan.answer.item()}" if name else plan.answer.item())
    return section
