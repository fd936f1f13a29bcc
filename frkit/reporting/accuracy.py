"""Error rates of every model, its threshold, and which model is better."""

from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
import xarray as xr

from frkit import plot
from frkit.base import InputError, require, warn
from frkit.engine.protocol import make_protocol
from frkit.engine.tally import kinds_of_pairs
from frkit.evaluation.evaluate import evaluate_parts
from frkit.evaluation.tables import RESOLVED
from frkit.intervals import compare, provenance
from frkit.intervals.compare import holm
from frkit.intervals.reading import NEW_PEOPLE, THESE_PEOPLE
from frkit.reporting.contents import CLEAR, TOO_LITTLE, UNDECIDED, Section, Tile
from frkit.reporting.data import comparisons
from frkit.reporting.formats import (
    SIGNIFICANT,
    averaged,
    decimals_of,
    fixed,
    level_words,
    p_text,
    percent,
    say,
)
from frkit.reporting.inputs import no_cautions, of_model, suffix
from frkit.reporting.tables import Cell, Table, column_cells, decimals_of_result, table
from frkit.scores.groups import turned
from frkit.scores.kept import is_list, pairs_of_models

TARGETS = (NEW_PEOPLE, THESE_PEOPLE)
OTHER_WEIGHTING = {"identity": "pair", "pair": "identity", "p_k": "pair"}
MOST_MODELS = 6
MOST_SENTENCES = 3  # on the first screen
BINS = 60  # of the histograms
NOBODY_NAMED = (
    "nothing says whom the images show: intervals treat pairs as independent and are too narrow "
    "where pairs share images or people; give identities (columns such as id1 and id2, or a "
    "pattern: identity='{name}_{number}.jpg')"
)


def errors(inputs):
    """FRR (and FAR at thresholds) for new people and for these, with EER."""
    section = Section("Error rates")
    other = _other_average(inputs)
    without = set()  # targets that these data do not allow
    for rate in inputs.names_of_rates:
        columns = {}
        for target in TARGETS:
            try:
                result = inputs.band(rate, target)
            except InputError:
                without.add(target)
                continue
            section.results[f"{rate}, {target}"] = result
            columns[f"{rate.upper()}, {inputs.about(target)}"] = result
        caption = f"{rate.upper()} ({averaged(inputs.weighting)}, {inputs.level:.0%} intervals)"
        shown = section.tables[caption] = table(columns, n_effective=rate != "eer")
        if other is not None:
            words = f"{rate.upper()}, {averaged(other.weighting)}"
            decimals = decimals_of_result(result)
            shown[words] = column_cells(other[rate].values.ravel(), shown.index, decimals=decimals)
            section.results[words] = other[rate]
    _add_counts(inputs, next(iter(section.tables.values())))
    curve = inputs.band_of_curve("frr")
    if curve.estimate.max() > 0:
        section.figures["FRR against FAR"] = partial(plot.roc, curve)
    _add_tiles(inputs, section, other)
    for name, histograms in _histograms(inputs):
        title = f"Scores and threshold{suffix(name)}"
        section.figures[title] = partial(plot.genuine_and_impostor, histograms)
    if other is not None:
        section.answers.append(say("two_averages", inputs.weighting, is_list(inputs.scores)))
    if THESE_PEOPLE in without and inputs.named:
        section.lines.append(say("without_these_people"))
    section.lines.append(say("accept", provenance(inputs.evaluation)))
    if not inputs.named:
        warn(NOBODY_NAMED)
    return section


def _other_average(inputs):
    """Rates with the other weighting, or None where nobody is known."""
    if not inputs.named:
        return None
    weighting = OTHER_WEIGHTING[inputs.weighting]
    options = inputs.options | {"weighting": weighting}
    with no_cautions():
        evaluation = evaluate_parts(
            inputs.scores, by=inputs.by, people=False, **inputs.levels, **options
        )
    rates = evaluation["empirical"].to_dataset()[inputs.names_of_rates]
    for rate in rates:
        rates[rate].attrs |= {"measure": rate, "weighting": weighting}
    return rates.assign_attrs(weighting=weighting)


def _add_counts(inputs, shown):
    """Thresholds and numbers of errors as columns of the table of FRR."""
    thresholds = ("threshold",) if inputs.along == "far_level" else ()
    for name in (*thresholds, "false_accepts", "false_rejects"):
        values = inputs.rates[name].transpose(..., inputs.along).values.ravel()
        shown[name.replace("_", " ")] = column_cells(values, shown.index)


# --- the first screen -----------------------------------------------------------------------------


def _add_tiles(inputs, section, other):
    """How good every model is, and where its threshold lies."""
    n_genuine = comparisons(inputs.scores)[0]
    thresholds = _thresholds(inputs)
    sentences = []
    for name, bands in inputs.by_model(section.results[f"frr, {NEW_PEOPLE}"]):
        frr = bands.isel(inputs.leading)
        rates = of_model(inputs.rates, name).isel(inputs.leading)
        other_text = ""
        if other is not None:
            other_frr = of_model(other, name).isel(inputs.leading).frr.item()
            decimals = decimals_of(frr.lower.item(), frr.upper.item())
            other_text = f"{averaged(other.weighting)}: {percent(fixed(other_frr, decimals))} %"
        facts = {
            "rejects": rates.false_rejects.item(),
            "accepts": rates.false_accepts.item(),
            "genuine": n_genuine,
            "weighting": inputs.weighting,
            "level": inputs.level,
            "far": frr.get("far_level", rates.far).item(),
            "named": inputs.named,
        }
        few = facts["rejects"] < RESOLVED
        value = say("few_rejects" if few else "frr", frr)
        text = say("accuracy", frr, facts, other_text, few)
        state = CLEAR if facts["accepts"] >= RESOLVED else UNDECIDED
        note = say("precision", frr, facts)
        section.tiles.append(Tile(name or "How good is the system?", value, text, state, note))
        sentences.append(say("threshold", name, of_model(thresholds, name), frr, facts, few))
    value = say("accept_value", thresholds, turned(inputs.scores), level_words(frr))
    has_no_end = bool(np.isinf(thresholds.upper - thresholds.lower).any())
    note = say("average_of_tile", inputs.weighting, inputs.level, has_no_end)
    title = "Where is the threshold?"
    state = UNDECIDED if has_no_end else section.tiles[0].state
    section.tiles.append(Tile(title, value, "\n".join(sentences), state, note))


def too_few_people(inputs):
    """The one tile of a report on data that do not allow a rate."""
    value = say("too_few", inputs.n_people, inputs.named)
    return Tile("How good is the system?", "Too little data.", value, TOO_LITTLE)


def _thresholds(inputs):
    """The thresholds at the leading level, with their intervals at a FAR level."""
    if inputs.along == "far_level":
        with no_cautions():  # those of the FRR
            return inputs.band("threshold").isel(inputs.leading)
    threshold = inputs.rates.threshold.isel(inputs.leading)
    unknown = threshold * np.nan
    return xr.Dataset({"estimate": threshold, "lower": unknown, "upper": unknown})


def _histograms(inputs):
    """The share of genuine and of impostor scores in bins, with the threshold, of every model."""
    how = {"by": inputs.by, **inputs.options, "weighting": "pair"}
    protocol = make_protocol(inputs.scores, **how)
    thresholds = _thresholds(inputs)
    sign = -1.0 if turned(inputs.scores) else 1.0
    for name, pairs in zip(inputs.models, pairs_of_models(inputs.scores)):
        _, _, is_genuine, is_impostor = kinds_of_pairs(pairs, protocol)
        score = pairs.score
        scored = np.isfinite(score) & (is_genuine | is_impostor)
        edges = np.linspace(score[scored].min(), score[scored].max(), BINS + 1)
        shares = {}
        for kind, chosen in (("genuine", is_genuine), ("impostor", is_impostor)):
            chosen = chosen & scored
            weights = None if pairs.stands_for is None else pairs.stands_for[chosen]
            counts, _ = np.histogram(score[chosen], edges, weights=weights)
            shares[kind] = "bin", counts / counts.sum()
        result = xr.Dataset(shares, attrs={"distance": sign < 0})
        if sign < 0:
            result = result.isel(bin=slice(None, None, -1))
        result["edge"] = "edge", np.sort(sign * edges)
        of_one = of_model(thresholds, name)
        result = result.assign(threshold=of_one.estimate, lower=of_one.lower, upper=of_one.upper)
        yield name, result.reset_coords(drop=True)


# --- models ---------------------------------------------------------------------------------------


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
    of_frr = {}
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
        of_frr[first, second] = section.results[f"frr, {first} - {second}, {NEW_PEOPLE}"]
    _answer_which_is_better(inputs, section, of_frr)
    columns = []
    for target, results in differences.items():
        if results:
            heads = [f"difference, {inputs.about(target)}", f"p, {inputs.about(target)}"]
            columns.append(table(*results).set_axis(heads, axis=1))
    section.tables["Paired differences"] = Table(pd.concat(columns, axis=1))
    section.lines.append(say("paired", len(names)))
    return section


def _answer_which_is_better(inputs, section, of_frr):
    """A tile, and a table with the better of every two models at every level."""
    p = holm(np.stack([frr.p.values for frr in of_frr.values()], -1))
    rows = {}
    better = {}
    sentences = []
    for pair, p_of_pair in zip(of_frr, np.moveaxis(p, -1, 0)):
        frr = of_frr[pair]
        winner = np.where(frr.estimate < 0, *pair)
        cells = {}
        for place, p_at_level in enumerate(p_of_pair):
            clear = p_at_level <= SIGNIFICANT
            text = f"{winner[place] if clear else 'no clear difference'} ({p_text(p_at_level)})"
            level = level_words(frr.isel({inputs.along: place})).removeprefix("at ")
            cells[level] = Cell(text, {"": p_at_level})
        rows[" or ".join(pair)] = cells
        place = inputs.leading[inputs.along]
        leading = frr.isel(inputs.leading)
        is_clear = p_of_pair[place] <= SIGNIFICANT
        better[pair] = str(winner[place]) if is_clear else None
        sentences.append(say("better", *pair, better[pair], leading, p_of_pair[place]))
    beaten = {name for pair, winner in better.items() if winner for name in pair if name != winner}
    best = [name for name in inputs.models if name not in beaten]
    value = f"{best[0]} is better" if len(best) == 1 else "No clear difference"
    if 1 < len(best) < len(inputs.models):
        value = f"{' or '.join(best)}; no clear difference"
    state = CLEAR if len(best) == 1 else UNDECIDED
    shown = sorted(sentences, key=lambda sentence: "No clear" in sentence)
    note = say("model_tests", inputs.about(), level_words(leading), len(of_frr))
    section.tiles.append(
        Tile("Which model is better?", f"{value}.", "\n".join(shown[:MOST_SENTENCES]), state, note)
    )
    section.answers += sentences
    frame = pd.DataFrame(rows, dtype=object).T.rename_axis("models")
    section.tables["The better model at each level"] = Table(frame)
