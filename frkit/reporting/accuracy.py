"""Error rates of every model, and which model is better."""

from functools import partial
from itertools import combinations

import pandas as pd

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
    of_model,
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
                left_out.setdefault((target, str(error)), []).append(rate.upper())
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
    for name in inputs.models:
        section.tiles.append(_tile(inputs, section, name))
    section.lines += [
        f"Left out, {' and '.join(names)} for {target}: {why}"
        for (target, why), names in left_out.items()
    ]
    if not inputs.named:
        warn(NOBODY_NAMED)
    section.lines.append(f"Accept means {accepted(provenance(inputs.evaluation))}.")
    return section


def _tile(inputs: Inputs, section: Section, name: str) -> Tile:
    """The FRR of one model at the leading level."""
    frr = of_model(section.results[f"frr, {NEW_PEOPLE}"], name).isel(inputs.leading)
    estimate, _, ends = cell_of(frr, 100).partition(" ")
    worth = count_words(float(frr.n_effective))
    text = (
        f"{level_words(frr)}, {inputs.confidence} interval {ends} %; worth {worth} independent "
        "comparisons"
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
        section.answers.append(_better(inputs, section, pair))
    columns = []
    for target, results in by_target.items():
        heads = [f"{what}, {inputs.about(target)}" for what in ("difference", "p")]
        columns.append(table(*results).set_axis(heads, axis=1))
    section.tables["Paired differences"] = Table(pd.concat(columns, axis=1))
    section.lines.append(
        "Both models compare the same images. The interval of their difference is therefore "
        "narrower than the two intervals suggest."
    )
    if len(names) > 2:
        section.lines.append("The p-values do not allow for the number of comparisons.")
    return section


def _better(inputs: Inputs, section: Section, pair: tuple[str, str]) -> str:
    """Which of two models rejects fewer genuine pairs, level by level."""
    result = section.results[f"frr, {pair[0]} - {pair[1]}, {NEW_PEOPLE}"]
    winners: dict[str, list[str]] = {}
    for place in range(result.sizes[inputs.along]):
        difference = result.isel({inputs.along: place})
        winner = pair[0] if float(difference.estimate) < 0 else pair[1]
        significant = float(difference.p) <= SIGNIFICANT
        winners.setdefault(winner if significant else "", []).append(level_words(difference))
    better = "is better" if inputs.along == FAR_LEVEL else "rejects less"
    parts = []
    for winner, places in winners.items():
        where = "at every level" if len(winners) == 1 else ", ".join(places)
        if winner:
            parts.append(f"{winner} {better} than {pair[pair[0] == winner]} {where}")
        else:
            parts.append(f"no significant difference between {' and '.join(pair)} {where}")
    leading = result.isel(inputs.leading)
    numbers = f"{cell_of(leading)} {level_words(leading)} ({p_text(float(leading.p))})"
    return f"{'; '.join(parts)}. FRR of {pair[0]} − {pair[1]} for {inputs.about()}: {numbers}."
