"""Error rates of every model, its threshold, and which model is better."""

from contextlib import suppress
from functools import partial
from itertools import combinations, product

import numpy as np
import pandas as pd
import xarray as xr

from frkit import plot
from frkit.base import InputError, require, warn
from frkit.evaluation.evaluate import evaluate_parts
from frkit.evaluation.tables import RESOLVED
from frkit.intervals import compare, provenance
from frkit.intervals.compare import holm
from frkit.intervals.contributions import TARGETS
from frkit.intervals.reading import FEW_ERRORS, NEW_PEOPLE, THESE_PEOPLE
from frkit.reporting.contents import (
    CLEAR,
    MOST_SENTENCES,
    TOO_LITTLE,
    UNDECIDED,
    Section,
    Tile,
)
from frkit.reporting.data import comparisons
from frkit.reporting.formats import (
    LEVEL_NAMES,
    SIGNIFICANT,
    averaged,
    level_words,
    p_text,
    say,
)
from frkit.reporting.inputs import no_cautions, result_of_model, suffix
from frkit.reporting.tables import Cell, Table, column_cells, decimals_of_result, table
from frkit.scores.groups import turned
from frkit.scores.kept import is_list, pairs_of_models

OTHER_WEIGHTING = {"identity": "pair", "pair": "identity", "p_k": "pair"}
MOST_MODELS = 6
BINS = 80  # of the histograms
NEAR = 0.1  # a FAR that is so near below its level, as a share of it, is at the level
NOBODY_NAMED = (
    "nothing says whom the images show: intervals treat pairs as independent and are too narrow "
    "where pairs share images or people; give identities (columns such as id1 and id2, or a "
    "pattern: identity='{name}_{number}.jpg')"
)


def errors(inputs):
    """FRR (and FAR at thresholds) for new people and for these, with EER."""
    section = Section("Error rates")
    other = _other_average(inputs)
    for rate in inputs.names_of_rates:
        _add_rate(inputs, section, rate, other)
    _add_counts(inputs, next(iter(section.tables.values())))
    curve = inputs.band_of_curve("frr")
    if curve.estimate.max() > 0:
        section.figures["FRR against FAR"] = partial(plot.roc, curve)
    _add_tiles(inputs, section, other)
    for name, histograms in _histograms(inputs):
        title = f"Scores and threshold{suffix(name)}"
        section.figures[title] = partial(plot.genuine_and_impostor, histograms)
    if not inputs.named:
        warn(NOBODY_NAMED)
    elif f"frr, {THESE_PEOPLE}" not in section.results:
        section.lines.append(say("without_these_people"))
    if other is not None:
        section.answers.append(say("two_averages", inputs.weighting, is_list(inputs.scores)))
    section.lines.append(say("accept", provenance(inputs.evaluation)))
    return section


def _add_rate(inputs, section, rate, other):
    """A table of a rate with its intervals, and with the other way to average."""
    columns = {}
    for target in TARGETS:
        with suppress(InputError):  # these data do not allow intervals of this kind
            result = section.results[f"{rate}, {target}"] = inputs.band(rate, target)
            columns[f"{rate.upper()}, {inputs.about(target)}"] = result
    caption = f"{rate.upper()} ({averaged(inputs.weighting)}, {inputs.level:.0%} intervals)"
    shown = section.tables[caption] = table(columns, n_effective=rate != "eer")
    if other is not None:
        head = f"{rate.upper()}, {averaged(other.weighting)}"
        decimals = decimals_of_result(result)
        shown[head] = column_cells(other[rate].values.ravel(), shown.index, decimals=decimals)
        section.results[head] = other[rate]


def _other_average(inputs):
    """Rates at the same thresholds with the other weighting, or None where nobody is known."""
    if not inputs.named:
        return None
    weighting = OTHER_WEIGHTING[inputs.weighting]
    options = inputs.options | {"weighting": weighting}
    levels = inputs.rates[inputs.along]
    thresholds = inputs.rates.threshold.drop_vars(inputs.along)
    thresholds = thresholds.rename({inputs.along: "threshold_level"})
    with no_cautions():
        evaluation = evaluate_parts(
            inputs.scores, by=inputs.by, people=False, threshold=thresholds, **options
        )
    rates = evaluation["empirical"].to_dataset()[inputs.names_of_rates]
    rates = rates.drop_vars("threshold_level").rename(threshold_level=inputs.along)
    rates = rates.assign_coords({inputs.along: levels})
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
    thresholds = _thresholds(inputs)
    n_genuine = comparisons(inputs.scores)[0]
    sentences = []
    for name, bands in inputs.by_model(section.results[f"frr, {NEW_PEOPLE}"]):
        rates = result_of_model(inputs.rates, name).isel(inputs.leading)
        far = rates.far.item()
        level = rates.get("far_level", rates.far).item()
        far_is_reached = far >= (1 - NEAR) * level
        facts = {
            "model": name,
            "far": level if far_is_reached else far,
            "far_is_reached": far_is_reached,
            "frr": bands.isel(inputs.leading),
            "rates": rates,
            "other": None if other is None else result_of_model(other, name).isel(inputs.leading),
            "threshold": result_of_model(thresholds, name),
            "genuine_pairs": n_genuine,
            "few_rejects": bool(rates.false_rejects < RESOLVED),
            "few_accepts": bool(rates.false_accepts < RESOLVED),
            "inputs": inputs,
        }
        value, text, note = (say(part, facts) for part in ("frr", "accuracy", "precision"))
        has_no_end = bool(facts["frr"].upper >= 1)  # as the threshold has none
        state = UNDECIDED if facts["few_accepts"] or has_no_end else CLEAR
        section.tiles.append(Tile(name or "How good is the system?", value, text, state, note))
        sentences.append(say("threshold", facts))
    has_no_end = bool(np.isinf(thresholds.upper - thresholds.lower).any())
    state = UNDECIDED if has_no_end else section.tiles[0].state
    value = say("accept_value", thresholds, turned(inputs.scores))
    note = say("note_of_threshold", inputs, has_no_end)
    section.tiles.append(Tile("Where is the threshold?", value, "\n".join(sentences), state, note))


def too_few_people(inputs):
    """The one tile of a report on data that do not allow a rate."""
    value = say("too_few", inputs.n_people, inputs.named)
    return Tile("How good is the system?", "Too little data.", value, TOO_LITTLE)


def _thresholds(inputs):
    """The thresholds at the leading level, with their intervals at a FAR level."""
    if inputs.along == "far_level":
        with no_cautions():  # those of the FRR
            return inputs.band("threshold").isel(inputs.leading)
    given = inputs.rates.threshold.isel(inputs.leading)
    return xr.Dataset({"estimate": given, "lower": given * np.nan, "upper": given * np.nan})


def _histograms(inputs):
    """The share of genuine and of impostor scores in bins, with the threshold, of every model."""
    models = pairs_of_models(inputs.scores)
    ends = min(pairs.lowest for pairs in models), max(pairs.highest for pairs in models)
    if turned(inputs.scores):
        ends = -ends[1], -ends[0]
    options = {**inputs.levels, **inputs.options, "weighting": "pair"}
    with no_cautions():
        evaluation = evaluate_parts(
            inputs.scores,
            by=inputs.by,
            histogram=(BINS, ends),
            rates=False,
            people=False,
            **options,
        )
    thresholds = _thresholds(inputs).rename(estimate="threshold").reset_coords(drop=True)
    for name, shares in inputs.by_model(evaluation["empirical"].to_dataset()):
        result = shares.merge(result_of_model(thresholds, name), compat="override")
        yield name, result.assign_attrs(distance=turned(inputs.scores))


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
    for pair in combinations(names, 2):
        options = {"models": pair, "level": inputs.level}
        for rate, target in product(inputs.names_of_rates, TARGETS):
            # the error rates say why there are none, and where errors are few
            with suppress(InputError), no_cautions(FEW_ERRORS):
                result = compare(inputs.evaluation, rate, target=target, **options)
                section.results[f"{rate}, {' - '.join(pair)}, {target}"] = result
                differences[target].append(result)
        with no_cautions():
            curve = compare(inputs.curve, "frr", target=NEW_PEOPLE, **options)
        section.figures[f"FRR of {' − '.join(pair)}"] = partial(plot.difference, curve)
    _answer_which_is_better(inputs, section)
    columns = []
    for target, results in differences.items():
        if results:
            heads = [f"difference, {inputs.about(target)}", f"p, {inputs.about(target)}"]
            columns.append(table(*results).set_axis(heads, axis=1))
    section.tables["Paired differences"] = Table(pd.concat(columns, axis=1))
    section.lines.append(say("paired", len(names)))
    return section


def _answer_which_is_better(inputs, section):
    """A tile, and a table with the better of every two models at every level."""
    pairs = [*combinations(inputs.models, 2)]
    frrs = [section.results[f"frr, {' - '.join(pair)}, {NEW_PEOPLE}"] for pair in pairs]
    adjusted = holm(np.stack([frr.p.values for frr in frrs], -1)).T
    leading = inputs.leading[inputs.along]
    rows = {}
    sentences = {True: [], False: []}  # whether one is better
    beaten = set()
    traded = []  # pairs of which one rejects less, and the other accepts less
    for pair, frr, p in zip(pairs, frrs, adjusted):
        rejects_less = np.where(p <= SIGNIFICANT, np.where(frr.estimate < 0, *pair), "")
        is_traded = (rejects_less != "") & _have_opposite_fars(inputs, pair, frr.estimate)
        better = np.where(is_traded, "", rejects_less)
        undecided = np.where(is_traded, rejects_less + " only rejects less", "no clear difference")
        rows[" or ".join(pair)] = [
            Cell(f"{name or otherwise} ({p_text(each)})", {"": each})
            for name, otherwise, each in zip(better, undecided, p)
        ]
        winner = better[leading]
        less = rejects_less[leading]
        sentence = say("better", pair, winner, less, frr.isel(inputs.leading), p[leading])
        sentences[less != ""].append(sentence)
        beaten |= {*pair} - {winner} if winner else set()
        traded += [{*pair}] if is_traded[leading] else []
    best = [name for name in inputs.models if name not in beaten]
    text = "\n".join([*sentences[True], *sentences[False]][:MOST_SENTENCES])
    level = level_words(frr.isel(inputs.leading))
    is_open = ~(adjusted[:, leading] <= SIGNIFICANT)
    others_differ = (np.delete(adjusted, leading, axis=1)[is_open] <= SIGNIFICANT).any()
    note = say("model_tests", inputs.about(), level, len(pairs), others_differ)
    is_traded = any(pair <= {*best} for pair in traded)
    value = say("best_models", best, len(inputs.models), is_traded)
    state = CLEAR if len(best) == 1 else UNDECIDED
    section.tiles.append(Tile("Which model is better?", value, text, state, note))
    heads = [f"{LEVEL_NAMES[inputs.along]} {level:g}" for level in frr[inputs.along].values]
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=heads, dtype=object)
    section.tables["The better model at each level"] = Table(frame.rename_axis("models"))


def _have_opposite_fars(inputs, pair, frr_difference):
    """Whether the model with the lower FRR has the higher FAR, where thresholds are fixed."""
    if inputs.along == "far_level":
        return False
    first, second = (result_of_model(inputs.rates.far, name) for name in pair)
    return ((first - second) * frr_difference < 0).values
