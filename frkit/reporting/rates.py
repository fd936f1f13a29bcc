"""Error rates, and which model is better."""

from functools import partial
from itertools import combinations

import pandas as pd
import xarray as xr

from frkit import plot
from frkit.base import FAR_LEVEL, InputError, require, warn
from frkit.intervals import band, compare, provenance
from frkit.intervals.contributions import NEW_PEOPLE
from frkit.reporting.tables import Table, count_words, number, table
from frkit.reporting.words import accepted
from frkit.reporting.work import (
    SURE,
    TARGETS,
    Section,
    Work,
    cell_of,
    level_words,
    of_model,
    of_one,
    p_text,
    strictest,
    unsaid,
)

MOST_MODELS = 6


def errors(work: Work) -> Section:
    """FRR (and FAR at thresholds) for new people and for these, with EER."""
    section = Section("Error rates")
    rates, left = ("frr",) if work.along == FAR_LEVEL else ("far", "frr"), {}
    for rate in rates:
        bands = _both_targets(work, rate, section, left)
        named = {
            f"{rate.upper()}, {work.words(target)}": result for target, result in bands.items()
        }
        shown = table(named, n_effective=True)
        if rate == rates[0]:
            data = work.data.transpose(..., work.along)
            if work.along == FAR_LEVEL:
                shown.insert(0, "threshold", [number(t, 4) for t in data.threshold.values.ravel()])
            for name in ("false_accepts", "false_rejects"):
                shown[name.replace("_", " ")] = [
                    f"{many:,.0f}" for many in data[name].values.ravel()
                ]
        section.tables[f"{rate.upper()} with {work.level:.0%} intervals"] = shown
    bands = _both_targets(work, "eer", section, left)
    section.lines += [
        f"Left out, {' and '.join(held)} for {target}: {why}"
        for (target, why), held in left.items()
    ]
    shown = table({f"EER, {work.words(target)}": result for target, result in bands.items()})
    section.tables[f"EER with {work.level:.0%} intervals"] = shown
    with unsaid():
        shown = band(work.curve, "frr", target=NEW_PEOPLE, level=work.level)
    section.figures["FRR against FAR"] = partial(plot.roc, shown)
    for name in work.models:
        section.answers.append(_error_words(work, section, name))
    meant = (
        "New people: what to expect of people like these who are not in the data. These people: of new images of the "
        "people that are."
    )
    if not work.named:
        meant = "Independent pairs: as if no two comparisons shared an image or a person."
        warn(
            "nobody is named: intervals are about independent pairs, too narrow where these share images or people; "
            "give identities (columns such as id1 and id2, or a pattern: identity='{name}_{number}.jpg')"
        )
    section.lines.append(f"{meant} Accept means {accepted(provenance(work.evaluation))}.")
    return section


def _both_targets(work: Work, rate: str, section: Section, left: dict) -> dict[str, xr.Dataset]:
    """The band for new people and, where the data allow it, for these; left: rates left out, by target and reason."""
    bands = {}
    for target in TARGETS:
        try:
            bands[target] = band(work.evaluation, rate, target=target, level=work.level)
        except InputError as error:
            left.setdefault((target, str(error)), []).append(rate.upper())
    section.results |= {f"{rate}, {target}": result for target, result in bands.items()}
    return bands


def _error_words(work: Work, section: Section, name: str) -> str:
    """The FRR of one model at its strictest level with ten errors of either kind, in a sentence."""
    frr, eer = (of_one(section.results[f"{rate}, {NEW_PEOPLE}"], name) for rate in ("frr", "eer"))
    one = frr.isel(strictest(frr))
    return (
        f"FRR{of_model(name)} {level_words(one)}: {cell_of(one)}, worth "
        f"{count_words(float(one.n_effective))} independent comparisons; EER: {cell_of(eer)} "
        f"({work.level:.0%} intervals for {work.about})."
    )


def models(work: Work) -> Section:
    """Paired differences of every two models, and which is better."""
    require(len(work.models) > 1, "there is one model; give several files, or columns of scores")
    require(
        len(work.models) <= MOST_MODELS,
        f"more than {MOST_MODELS} models have too many pairs; choose some",
    )
    section = Section("Which model is better")
    of_target: dict[str, list] = {}
    rates = ("frr", "eer") if work.along == FAR_LEVEL else ("far", "frr", "eer")
    for pair in combinations(work.models, 2):
        for rate in rates:
            for target in TARGETS:
                try:
                    found = compare(
                        work.evaluation, rate, models=pair, target=target, level=work.level
                    )
                except InputError:
                    continue  # the error rates say why
                section.results[f"{rate}, {pair[0]} - {pair[1]}, {target}"] = found
                of_target.setdefault(target, []).append(found)
        with unsaid():
            found = compare(work.curve, "frr", models=pair, target=NEW_PEOPLE, level=work.level)
        section.figures[f"FRR of {pair[0]} − {pair[1]}"] = partial(plot.difference, found)
        section.answers.append(_better(work, section, pair))
    columns = []
    for target, found in of_target.items():
        shown = table(*found)
        columns.append(
            shown.set_axis(
                [f"{what}, {work.words(target)}" for what in ("difference", "p")], axis=1
            )
        )
    section.tables["Paired differences"] = Table(pd.concat(columns, axis=1))
    section.lines.append(
        "Both models meet the same images, so the difference is surer than two intervals suggest."
    )
    if len(work.models) > 2:
        section.lines.append(
            "p-values are those of each comparison by itself: with many, some are small by chance."
        )
    return section


def _better(work: Work, section: Section, pair: tuple[str, str]) -> str:
    """Which of two models rejects fewer genuine pairs, level by level, and how sure that is.

    At a threshold that is no verdict: the model that rejects less may accept more.
    """
    found = section.results[f"frr, {pair[0]} - {pair[1]}, {NEW_PEOPLE}"]
    sure, words = {}, []
    for place in range(found.sizes[work.along]):
        one = found.isel({work.along: place})
        ahead = pair[0] if float(one.estimate) < 0 else pair[1]
        sure.setdefault(ahead if float(one.p) <= SURE else None, []).append(place)
        words.append(f"{cell_of(one)} {level_words(one)} ({p_text(float(one.p))})")
    what = f"FRR of {pair[0]} − {pair[1]} for {work.about}: {'; '.join(words)}."
    better = "is better"
    if work.along != FAR_LEVEL:
        better, what = "rejects less", f"{what} Read it with the differences of FAR."
    winners = [name for name in sure if name is not None]
    if len(winners) == 1 and None not in sure:
        return f"{winners[0]} {better} than {pair[pair[0] == winners[0]]} at every level. {what}"
    which = f"Which of {' and '.join(pair)} {better}"
    if not winners:
        return f"{which} remains open. {what}"
    levels = "; ".join(
        f"{name} {_levels(found, places, work.along)}" for name, places in sure.items() if name
    )
    rest = f"; open {_levels(found, sure[None], work.along)}" if None in sure else ""
    return f"{which}: {levels}{rest}. {what}"


def _levels(found: xr.Dataset, places: list[int], along: str) -> str:
    """Several levels in words."""
    numbers = ", ".join(f"{float(value):g}" for value in found[along].values[places])
    return f"at {'FAR' if along == FAR_LEVEL else 'threshold'} {numbers}"
