"""Error rates of every model, and which model is better."""

from functools import partial
from itertools import combinations

import pandas as pd
import xarray as xr

from frkit import plot
from frkit.base import InputError, require, warn
from frkit.intervals import compare, provenance
from frkit.intervals.reading import NEW_PEOPLE, THESE_PEOPLE
from frkit.reporting.contents import Section, Tile
from frkit.reporting.formats import SIGNIFICANT, cell_of, level_words, say
from frkit.reporting.inputs import no_cautions
from frkit.reporting.tables import Cell, Table, table

TARGETS = (NEW_PEOPLE, THESE_PEOPLE)
MOST_MODELS = 6
NOBODY_NAMED = (
    "nobody is named: intervals are about independent pairs, too narrow where these share images "
    "or people; give identities (columns such as id1 and id2, or a pattern: "
    "identity='{name}_{number}.jpg')"
)


def errors(inputs):
    """FRR (and FAR at thresholds) for new people and for these, with EER."""
    section = Section("Error rates")
    reasons = {}
    for rate in inputs.names_of_rates:
        columns = {}
        for target in TARGETS:
            try:
                result = inputs.band(rate, target)
            except InputError as error:
                reasons[target] = error
                continue
            section.results[f"{rate}, {target}"] = result
            columns[f"{rate.upper()}, {inputs.about(target)}"] = result
        caption = f"{rate.upper()} with {inputs.level:.0%} intervals"
        section.tables[caption] = table(columns, n_effective=rate != "eer")
    _add_counts(inputs, next(iter(section.tables.values())))
    section.figures["FRR against FAR"] = partial(plot.roc, inputs.band_of_curve("frr"))
    for name, bands in inputs.by_model(section.results[f"frr, {NEW_PEOPLE}"]):
        frr = bands.isel(inputs.leading)
        percent = cell_of(frr, 100).split()[0]
        text = say("accuracy", frr, inputs.level)
        section.tiles.append(Tile(name or "Accuracy", f"FRR {percent} %", text))
    section.lines += [f"Left out, {target}: {why}" for target, why in reasons.items()]
    section.lines.append(say("accept", provenance(inputs.evaluation)))
    if not inputs.named:
        warn(NOBODY_NAMED)
    return section


def _add_counts(inputs, shown):
    """Thresholds and numbers of errors as columns of the table of FRR."""
    thresholds = ("threshold",) if inputs.along == "far_level" else ()
    for name in (*thresholds, "false_accepts", "false_rejects"):
        values = inputs.rates[name].transpose(..., inputs.along).values.ravel()
        cells = [Cell(f"{value:,.5g}", {"": value}) for value in values]
        shown[name.replace("_", " ")] = pd.Series(cells, shown.index, dtype=object)


def models(inputs):
    """Paired differences of every two models, and which model is better."""
    names = inputs.models
    require(len(names) > 1, "there is one model; give several files, or columns of scores")
    require(
        len(names) <= MOST_MODELS,
        f"more than {MOST_MODELS} models have too many pairs; choose some",
    )
    section = Section("Which model is better")
    differences = {target: [] for target in TARGETS}
    for first, second in combinations(names, 2):
        how = {"models": (first, second), "level": inputs.level}
        for rate in inputs.names_of_rates:
            for target in TARGETS:
                try:
                    result = compare(inputs.evaluation, rate, target=target, **how)
                except InputError:
                    continue  # the error rates say why
                section.results[f"{rate}, {first} - {second}, {target}"] = result
                differences[target].append(result)
        with no_cautions():
            curve = compare(inputs.curve, "frr", target=NEW_PEOPLE, **how)
        section.figures[f"FRR of {first} − {second}"] = partial(plot.difference, curve)
        frr = section.results[f"frr, {first} - {second}, {NEW_PEOPLE}"]
        section.answers.append(_which_is_better(inputs, frr, first, second))
    columns = []
    for target, results in differences.items():
        if results:
            heads = [f"difference, {inputs.about(target)}", f"p, {inputs.about(target)}"]
            columns.append(table(*results).set_axis(heads, axis=1))
    section.tables["Paired differences"] = Table(pd.concat(columns, axis=1))
    section.lines.append(say("paired", len(names)))
    return section


def _which_is_better(inputs, frr, first, second):
    """Which of two models rejects fewer genuine pairs, level by level."""
    winner = xr.where(frr.estimate < 0, first, second).where(frr.p <= SIGNIFICANT, "")
    levels = {}
    for place, name in enumerate(winner.values):
        levels.setdefault(name, []).append(level_words(frr.isel({inputs.along: place})))
    leading = frr.isel(inputs.leading)
    fixed_far = inputs.along == "far_level"
    return say("better", first, second, levels, fixed_far, leading, inputs.about())
