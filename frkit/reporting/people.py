"""The people who drive the errors, and how many more people would decide open questions."""

from functools import partial

import pandas as pd

from frkit import plot
from frkit.base import require
from frkit.evaluation.contributions import contributions
from frkit.reporting.contents import Section, Tile
from frkit.reporting.formats import level_words, number, say
from frkit.reporting.inputs import suffix
from frkit.reporting.tables import Cell, Table

MOST_PEOPLE = 10  # in a table, and who can be called few
FEW_SHARE, ENOUGH_PEOPLE = 0.05, 30  # on the first screen: at most such a share of so many people
LARGE = 1 / 3  # of the errors
HALF_WIDTH = 0.2
ERRORS = {"frr": "false rejects", "far": "false accepts"}


def drivers(inputs):
    """Who drives the errors at the leading level."""
    require(inputs.named, "the comparisons do not say whom the images show")
    section = Section("People who drive the errors")
    result = contributions(inputs.scores, by=inputs.by, **inputs.levels, **inputs.options)
    section.results["contributions"] = result
    largest = 0  # share of the errors that a few people make
    for name, people in inputs.by_model(result.isel(inputs.leading)):
        where = f"{suffix(name)} {level_words(people)}"
        for rate, words in ERRORS.items():
            shares = people[f"{rate}_share"].to_series().dropna()  # NaN where there is no error
            if shares.empty:
                continue
            shares = shares.sort_values(ascending=False, kind="stable")
            section.tables[f"{words.capitalize()}{where}"] = _largest_shares(people, rate, shares)
            # the fewest people who make a third of the errors
            least = shares[shares.cumsum() >= LARGE].iloc[0]
            worst = shares[shares >= least]
            errors = f"{words}{suffix(name)}"
            if len(worst) > MOST_PEOPLE:
                effective = people[f"{rate}_effective"].item()
                section.answers.append(say("no_drivers", errors, effective))
                continue
            sentence = say("drivers", worst, len(shares), errors)
            section.answers.append(sentence)
            few = len(shares) >= ENOUGH_PEOPLE and len(worst) <= FEW_SHARE * len(shares)
            if few and worst.sum() > largest:
                largest = worst.sum()
                count, unit, text = sentence.split(" ", 2)
                section.tiles = [Tile("Few people drive the errors", f"{count} {unit}", text)]
        section.figures[f"Shares in the FRR{where}"] = partial(plot.contributions, people)
    section.lines.append(say("look_at_images"))
    return section


def _largest_shares(people, rate, shares):
    """The people with the largest share of the errors."""
    shares = shares[shares > 0].head(MOST_PEOPLE)
    chosen = people.sel(identity=shares.index.values)
    columns = {"group": chosen["group"].values.astype(str)} if "group" in chosen.coords else {}
    columns["images"] = chosen["images"].values.astype(str)
    columns["share of the errors"] = [Cell(f"{share:.1%}", {"": share}) for share in shares]
    if rate == "frr":
        columns["own FRR"] = [Cell(number(frr), {"": frr}) for frr in chosen.frr_identity.values]
    index = pd.Index(shares.index.astype(str), name="person")
    return Table(pd.DataFrame(columns, index=index, dtype=object))


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
