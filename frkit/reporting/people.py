"""The people who drive the errors, and how many more people would decide open questions."""

from functools import partial

import pandas as pd
import xarray as xr

from frkit import plot
from frkit.base import FAR_LEVEL, GROUP, IDENTITY, require
from frkit.evaluation.contributions import contributions
from frkit.reporting.contents import Section, Tile
from frkit.reporting.inputs import Inputs, level_words, suffix
from frkit.reporting.tables import Cell, Table, number
from frkit.studies import sample_size

MOST_PEOPLE = 10
HALF_WIDTH = 0.2
FEW, FEW_SHARE = 5, 0.05  # people are few up to so many, and so large a share of all
LARGE = 1 / 3  # of the errors
MOST_NAMED = 3  # people on the first screen
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
        for rate, words in ERRORS.items():
            shares = people[f"{rate}_share"].to_series().fillna(0)
            shares = shares.sort_values(ascending=False, kind="stable")
            if not shares.any():
                continue
            caption = f"{words.capitalize()}{suffix(name)} {at}"
            section.tables[caption] = _largest_shares(people, rate, shares)
            # the fewest people who make a third of the errors
            last = shares[shares.cumsum() >= LARGE].iloc[0]
            count = int((shares >= last).sum())
            share = float(shares.iloc[:count].sum())
            who = "1 person" if count == 1 else f"{count} people"
            verb = "makes" if count == 1 else "make"
            named = ", ".join(map(str, shares.index[: min(count, MOST_NAMED)]))
            more = " and others" if count > MOST_NAMED else ""
            what = f"{verb} {share:.0%} of the {words}{suffix(name)}"
            text = f"of {len(shares):,} {what}: {named}{more}."
            section.answers.append(f"{who} {text}")
            if count <= min(max(1, FEW_SHARE * len(shares)), FEW):
                few.append((share, who, text))
        figure = partial(plot.contributions, people)
        section.figures[f"Shares in the FRR{suffix(name)} {at}"] = figure
    if few:
        section.tiles.append(Tile("Few people drive the errors", *max(few)[1:]))
    section.lines.append(
        "Look at the images of these people: wrong labels show up here first (fk.worst_pairs lists "
        "the pairs). A false accept counts half for the person on either side."
    )
    return section


def _largest_shares(people: xr.Dataset, rate: str, shares: pd.Series) -> Table:
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
        section.answers.append(plan.attrs["answer"])
    return section
