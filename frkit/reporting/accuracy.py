"""Error rates of every model, and which model is better."""

from functools import partial
from itertools import combinations

import pandas as pd
import xarray as xr

from frkit import plot
from frkit.base import FAR_LEVEL, InputError, require, warn
from frkit.intervals import band, compare, provenance
from frkit.intervals.reading import NEW_PEOPLE, THESE_PEOPLE
from frkit.reporting.contents import Section, Tile
from frkit.reporting.inputs import (
    SIGNIFICANT,
    Inputs,
    cell_of,
    level_words,
    no_cautions,
)
from frkit.reporting.tables import Cell, Table, count_words, p_text, table
from frkit.reporting.words import accepted

COUNTED = ("threshold", "false_accepts", "false_rejects")
TARGETS = (NEW_PEOPLE, THESE_PEOPLE)
MOST_MODELS = 6
NOBODY_NAMED = (
    "nobody is named: intervals are about independent pairs, too narrow where these share images "
    "or people; give identities (columns such as id1 and id2, or a pattern: "
    "identity='{name}_{number}.jpg')"
)


def errors(inputs: Inputs) -> Section:
    """FRR (and FAR at thresholds) for new people and for these, with EER."""
    section = Section("Error rates")
    rates = ["frr"] if inputs.along == FAR_LEVEL else ["frr", "far"]
    left_out = {}
    for rate in [*rates, "eer"]:
        columns = {}
        for target in TARGETS:
            try:
                result = band(inputs.evaluation, rate, target=target, level=inputs.level)
            except InputError as error:
                left_out[str(error)] = target
                continue
            section.results[f"{rate}, {target}"] = result
            columns[f"{rate.upper()}, {inputs.about(target)}"] = result
        shown = table(columns, n_effective=rate != "eer")
        for head in COUNTED if rate == "frr" else ():
            values = inputs.rates[head].transpose(..., inputs.along).values.ravel()
            shown[head.replace("_", " ")] = [Cell(f"{value:,.5g}", {"": value}) for value in values]
        section.tables[f"{rate.upper()} with {inputs.confidence} intervals"] = shown
    with no_cautions():
        curve = band(inputs.curve, "frr", target=NEW_PEOPLE, level=inputs.level)
    section.figures["FRR against FAR"] = partial(plot.roc, curve)
    for name, frr in inputs.by_model(section.results[f"frr, {NEW_PEOPLE}"]):
        section.tiles.append(_tile(name, frr.isel(inputs.leading), inputs.confidence))
    section.lines += [f"Left out, {target}: {why}" for why, target in left_out.items()]
    if not inputs.named:
        warn(NOBODY_NAMED)
    section.lines.append(f"Accept means {accepted(provenance(inputs.evaluation))}.")
    return section


def _tile(name, frr, confidence):
    """The FRR of one model at the leading level."""
    estimate, _, ends = cell_of(frr, 100).partition(" ")
    worth = count_words(float(frr.n_effective))
    text = (
        f"{level_words(frr)}, {confidence} interval {ends} %; worth {worth} independent comparisons"
    )
    return Tile(name or "Accuracy", f"FRR {estimate} %", text)


def models(inputs: Inputs) -> Section:
    """Paired differences of every two models, and which model is better."""
    names = inputs.models
    require(len(names) > 1, "there is one model; give several files, or columns of scores")
    few_enough = len(names) <= MOST_MODELS
    require(few_enough, f"more than {MOST_MODELS} models have too many pairs; choose some")
    section = Section("Which model is better")
    rates = ("frr", "eer") if inputs.along == FAR_LEVEL else ("frr", "far", "eer")
    by_target: dict[str, list] = {}
    for pair in combinations(names, 2):
        how = {"models": pair, "level": inputs.level}
        for rate in rates:
            for target in TARGETS:
                try:
                    result = compare(inputs.evaluation, rate, target=target, **how)
                except InputError:
                    continue  # the error rates say why
                section.results[f"{rate}, {pair[0]} - {pair[1]}, {target}"] = result
                by_target.setdefault(target, []).append(result)
        with no_cautions():
            curve = compare(inputs.curve, "frr", target=NEW_PEOPLE, **how)
        section.figures[f"FRR of {pair[0]} − {pair[1]}"] = partial(plot.difference, curve)
        frr = section.results[f"frr, {pair[0]} - {pair[1]}, {NEW_PEOPLE}"]
        section.answers.append(_better(inputs, frr, *pair))
    columns = []
    for target, results in by_target.items():
        about = inputs.about(target)
        heads = [f"difference, {about}", f"p, {about}"]
        columns.append(table(*results).set_axis(heads, axis=1))
    section.tables["Paired differences"] = Table(pd.concat(columns, axis=1))
    section.lines.append(
        "Both models compare the same images. The interval of their difference is therefore "
        "narrower than the two intervals suggest."
    )
    if len(names) > 2:
        section.lines.append("The p-values do not allow for the number of comparisons.")
    return section


def _better(inputs, result, first, second):
    """Which of two models rejects fewer genuine pairs, level by level."""
    better = "is better" if inputs.along == FAR_LEVEL else "rejects less"
    sentences = {
        "first": f"{first} {better} than {second}",
        "second": f"{second} {better} than {first}",
        "neither": f"no significant difference between {first} and {second}",
    }
    winner = xr.where(result.estimate < 0, "first", "second")
    winner = winner.where(result.p <= SIGNIFICANT, "neither").to_series()
    parts = []
    for who in winner.unique():
        places = [
            level_words(result.sel({inputs.along: level})) for level in winner.index[winner == who]
        ]
        where = "at every level" if len(places) == len(winner) else ", ".join(places)
        parts.append(f"{sentences[who]} {where}")
    leading = result.isel(inputs.leading)
    numbers = f"{cell_of(leading)} {level_words(leading)} ({p_text(float(leading.p))})"
    return f"{'; '.join(parts)}. FRR of {first} − {second} for {inputs.about()}: {numbers}."
