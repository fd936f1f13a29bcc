"""The people who drive the errors, and how many more people would decide open questions."""

from functools import partial

import pandas as pd

from frkit import plot
from frkit.base import FAR_LEVEL, GROUP, IDENTITY, require
from frkit.evaluation.contributions import contributions
from frkit.reporting.contents import Section, Tile
from frkit.reporting.inputs import Inputs, level_words, suffix
from frkit.reporting.tables import Cell, Table, number
from frkit.studies import sample_size

MOST_PEOPLE = 10  # in a table, and who can be called few
FEW_SHARE, ENOUGH_PEOPLE = 0.05, 30  # on the first screen: at most such a share of so many people
LARGE = 1 / 3  # of the errors
MOST_NAMED = 3  # people in a sentence
HALF_WIDTH = 0.2
ERRORS = {"frr": "false rejects", "far": "false accepts"}


def drivers(inputs: Inputs) -> Section:
    """Who drives the errors at the leading level."""
    require(inputs.named, "the comparisons do not say whom the images show")
    section = Section("People who drive the errors")
    result = contributions(inputs.scores, by=inputs.by, **inputs.levels, **inputs.options)
    section.results["contributions"] = result
    few = []
    for name, people in inputs.by_model(result):
        people = people.isel(inputs.leading)
        at = level_words(people)
        for rate, errors in ERRORS.items():
            shares = people[f"{rate}_share"].to_series().dropna()  # NaN where there is no error
            if shares.empty:
                continue
            shares = shares.sort_values(ascending=False, kind="stable")
            caption = f"{errors.capitalize()}{suffix(name)} {at}"
            section.tables[caption] = _largest_shares(people, rate, shares)
            errors += suffix(name)
            # the fewest people who make a third of the errors
            least = shares[shares.cumsum() >= LARGE].iloc[0]
            worst = shares[shares >= least]
            if len(worst) > MOST_PEOPLE:
                effective = float(people[f"{rate}_effective"])
                section.answers.append(
                    f"The {errors} are not driven by a few people; the effective number of people "
                    f"with errors is {effective:,.0f}."
                )
                continue
            who, verb = f"{len(worst)} people", "make"
            if len(worst) == 1:
                who, verb = "1 person", "makes"
            named = ", ".join(map(str, worst.index[:MOST_NAMED]))
            more = " and others" if len(worst) > MOST_NAMED else ""
            text = f"of {len(shares):,} {verb} {worst.sum():.0%} of the {errors}: {named}{more}."
            section.answers.append(f"{who} {text}")
            if len(shares) >= ENOUGH_PEOPLE and len(worst) <= FEW_SHARE * len(shares):
                few.append((worst.sum(), who, text))
        figure = partial(plot.contributions, people)
        section.figures[f"Shares in the FRR{suffix(name)} {at}"] = figure
    if few:
        section.tiles.append(Tile("Few people drive the errors", *max(few)[1:]))
    section.lines.append(
        "Look at the images of these people: wrong labels show up here first (fk.worst_pairs lists "
        "the pairs). A false accept counts half for the person on either side."
    )
    return section


def _largest_shares(people, rate, shares):
    """The people with the largest share of the errors."""
    shares = shares[shares > 0].head(MOST_PEOPLE)
    chosen = people.sel({IDENTITY: shares.index.values})
    columns = {GROUP: chosen[GROUP].values.astype(str)} if GROUP in chosen.coords else {}
    columns["images"] = chosen["images"].values.astype(str)
    columns["share of the errors"] = [Cell(f"{share:.1%}", {"": share}) for share in shares]
    if rate == "frr":
        columns["own FRR"] = [Cell(number(x), {"": x}) for x in chosen.frr_identity.values]
    index = pd.Index(shares.index.astype(str), name="person")
    return Table(pd.DataFrame(columns, index=index, dtype=object))


def plans(inputs: Inputs) -> Section:
    """How many more people would narrow the interval of every model's FRR."""
    far_levels = inputs.along == FAR_LEVEL
    require(far_levels, "a plan is made for a FAR level, and thresholds were given")
    inputs.require_all_impostors()
    section = Section("How many more people")
    far = float(inputs.rates[FAR_LEVEL].isel(inputs.leading))
    source = inputs.scores if inputs.faces is None else inputs.faces
    for name, data in inputs.by_model(source):
        how = {"far": far, "level": inputs.level, **inputs.chosen("weighting")}
        plan = sample_size(data, "relative_half_width", HALF_WIDTH, **how)
        question = f"People for an interval of ± {HALF_WIDTH:.0%} around the FRR{suffix(name)}"
        section.results[question] = plan
        section.figures[question] = partial(plot.sample_size, plan)
        section.answers.append(plan.answer.item())
    return section
