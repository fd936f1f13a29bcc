"""Error rates of every model, its threshold, and which model is better."""

from contextlib import nullcontext, suppress
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr

from frkit import plot
from frkit.base import InputError, gathered_notices, require, warn
from frkit.evaluation.evaluate import evaluate_parts
from frkit.evaluation.rate_tables import RESOLVED
from frkit.intervals import compare, provenance
from frkit.intervals.contributions import TARGETS, contributions
from frkit.intervals.reading import AVERAGES, NEW_PEOPLE, THESE_PEOPLE
from frkit.reporting.contents import (
    CLEAR,
    MOST_SENTENCES,
    TOO_LITTLE,
    UNDECIDED,
    Section,
    Tile,
)
from frkit.reporting.data import comparisons
from frkit.reporting.formats import SIGNIFICANT, level_words, say, share_text
from frkit.reporting.inputs import result_of_model, suffix
from frkit.reporting.tables import Table, column_cells, decimals_of_result, table
from frkit.scores.groups import ends_of_scores, turned
from frkit.scores.kept import is_list

OTHER_WEIGHTING = {"identity": "pair", "pair": "identity", "p_k": "pair"}
MOST_MODELS = 12
MOST_DRAWN = 3  # models of whom every two have a figure
FEWEST_ERRING = 2  # people; of fewer the interval is too narrow
BINS = 80  # of the histograms
NEAR = 0.1  # a FAR that is so near below its level, as a share of it, is at the level
NOBODY_NAMED = (
    "nothing says whom the images show: intervals treat pairs as independent and are too narrow "
    "where pairs share images or people; give identities (columns such as id1 and id2, or a "
    "pattern of names such as {name}_{number}.jpg)"
)


def errors(inputs):
    """FRR (and FAR at thresholds) for new people and for these, with EER."""
    section = Section("Error rates")
    pooled = _evaluated(inputs, "pair", histogram=(BINS, ends_of_scores(inputs.scores)))
    other = _other_average(inputs, pooled)
    for rate in inputs.names_of_rates:
        _add_rate(inputs, section, rate, other)
    _add_counts(inputs, next(iter(section.tables.values())))
    if inputs.has_enough_people:
        _add_tiles(inputs, section, other)
        curve = inputs.band_of_curve("frr")
        if curve.estimate.max() > 0:
            section.figures["FRR against FAR"] = partial(plot.roc, curve)
    else:
        text = say("too_few", inputs.n_people, inputs.named)
        section.tiles.append(Tile("How good is the system?", "Too little data.", text, TOO_LITTLE))
    for name, histograms in _histograms(inputs, pooled):
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
            with gathered_notices() if target == THESE_PEOPLE else nullcontext():
                result = section.results[f"{rate}, {target}"] = inputs.band(rate, target)
            columns[f"{rate.upper()}, {inputs.about(target)}"] = result
    caption = f"{rate.upper()} ({AVERAGES[inputs.weighting]}, {share_text(inputs.level)} intervals)"
    shown = section.tables[caption] = table(columns, n_effective=rate != "eer")
    if other is not None:
        head = f"{rate.upper()}, {AVERAGES[other.weighting]}"
        decimals = decimals_of_result(result)
        shown[head] = column_cells(other[rate].values.ravel(), shown.index, decimals=decimals)
        section.results[head] = other[rate]


def _evaluated(inputs, weighting, **histogram):
    """The scores at the same thresholds with a weighting."""
    options = {**inputs.options, **histogram, "weighting": weighting, "by": inputs.by}
    with gathered_notices():
        return evaluate_parts(
            inputs.scores, threshold=inputs.rates.threshold, people=False, **options
        )


def _other_average(inputs, pooled):
    """Rates at the same thresholds with the other weighting, or None where nobody is known."""
    if not inputs.named:
        return None
    weighting = OTHER_WEIGHTING[inputs.weighting]
    evaluation = pooled if weighting == "pair" else _evaluated(inputs, weighting)
    rates = evaluation["empirical"].to_dataset()[inputs.names_of_rates]
    rates = rates.drop_vars("threshold_level").rename(threshold_level=inputs.along)
    rates = rates.assign_coords({inputs.along: inputs.rates[inputs.along]})
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
    every_frr = section.results[f"frr, {NEW_PEOPLE}"]
    every_threshold = _thresholds(inputs)
    every_n_erring = contributions(inputs.evaluation, "frr", NEW_PEOPLE).erring
    results = inputs.rates, every_frr, every_threshold, every_n_erring
    is_single = len(inputs.models) == 1
    for name in inputs.models:
        rates, frr, threshold, n_erring = (
            result_of_model(result, name).isel(inputs.leading) for result in results
        )
        far = rates.far.item()
        level = rates.get("far_level", rates.far).item()
        far_is_reached = far >= (1 - NEAR) * level
        few_rejects, few_accepts = rates.false_rejects < RESOLVED, rates.false_accepts < RESOLVED
        rests_on_one = ~few_rejects & (n_erring < FEWEST_ERRING)
        facts = {
            "inputs": inputs,
            "rates": rates,
            "far": level if far_is_reached else far,
            "far_is_reached": far_is_reached,
            "frr": frr,
            "decimals": decimals_of_result(every_frr.isel(inputs.leading)),
            "other": None if other is None else result_of_model(other, name).isel(inputs.leading),
            "threshold": threshold,
            "decimals_of_threshold": decimals_of_result(every_threshold.isel(inputs.leading)),
            "distance": turned(inputs.scores),
            "genuine_pairs": comparisons(inputs.scores)[0],
            "few_rejects": few_rejects,
            "few_accepts": few_accepts,
            "rests_on_one": rests_on_one,
            "threshold_is_open": np.isinf(threshold.upper - threshold.lower),
        }
        state = UNDECIDED if few_accepts | rests_on_one | (frr.upper >= 1) else CLEAR
        value, text = say("frr", facts), say("accuracy", facts)
        note = say("precision", facts, name == inputs.models[0])
        if not is_single:
            text = f"{text} {say('accept_value', facts)}"
        section.tiles.append(Tile(name or "How good is the system?", value, text, state, note))
    if is_single:
        state = UNDECIDED if few_accepts | facts["threshold_is_open"] else CLEAR
        value, text, note = (say(f"{part}_value", facts) for part in ("accept", "pass", "brackets"))
        section.tiles.append(Tile("Where is the threshold?", value, text, state, note))


def _thresholds(inputs):
    """The thresholds at all levels, with their intervals at a FAR level."""
    if inputs.along == "far_level":
        with gathered_notices():  # those of the FRR
            return inputs.band("threshold")
    given = inputs.rates.threshold
    return xr.Dataset({"estimate": given, "lower": given * np.nan, "upper": given * np.nan})


def _histograms(inputs, pooled):
    """The share of genuine and of impostor scores in bins, with the threshold, of every model."""
    histograms = pooled["empirical"].to_dataset()[["genuine_histogram", "impostor_histogram"]]
    thresholds = _thresholds(inputs).isel(inputs.leading).rename(estimate="threshold")
    thresholds = thresholds.reset_coords(drop=True)
    for name, shares in inputs.by_model(histograms):
        result = shares.merge(result_of_model(thresholds, name), compat="override")
        yield name, result.assign_attrs(distance=turned(inputs.scores))


# --- models ---------------------------------------------------------------------------------------


def models(inputs):
    """Paired differences of every two models, and which model is better."""
    n_models = len(inputs.models)
    require(n_models > 1, "there is one model; give several files, or columns of scores")
    require(
        n_models <= MOST_MODELS,
        f"more than {MOST_MODELS} models have too many pairs; choose some",
    )
    section = Section("Which model is better")
    columns = []
    options = {"models": "all", "level": inputs.level}
    for target in TARGETS:
        differences = []
        for rate in inputs.names_of_rates:
            # the error rates say why there are none
            with suppress(InputError):
                result = compare(inputs.evaluation, rate, target=target, **options)
                section.results[f"{rate}, {target}"] = result
                differences.append(result.drop_vars("p"))
        if differences:
            heads = [f"difference, {inputs.about(target)}", f"p (Holm), {inputs.about(target)}"]
            columns.append(table(*differences).set_axis(heads, axis=1))
    section.tables["Paired differences"] = Table(pd.concat(columns, axis=1))
    if n_models <= MOST_DRAWN:
        with gathered_notices():
            curves = compare(inputs.curve, "frr", target=NEW_PEOPLE, **options)
        for place in range(curves.sizes["contrast"]):
            curve = curves.isel(contrast=place)
            curve = curve.assign_attrs(a=curve.a.item(), b=curve.b.item())
            title = f"FRR of {curve.a.item()} − {curve.b.item()}"
            section.figures[title] = partial(plot.difference, curve)
    section.tiles.append(_which_is_better(inputs, section.results[f"frr, {NEW_PEOPLE}"]))
    section.lines.append(say("paired", n_models))
    return section


def _which_is_better(inputs, at_all_levels):
    """The tile: the models that no other one beats, and the clearest differences."""
    differences = at_all_levels.isel(inputs.leading)
    decimals = decimals_of_result(differences)
    far = inputs.rates.far.isel(inputs.leading).to_series()
    scores = inputs.evaluation["people"]["fingerprint"].to_series()
    beaten = set()
    clear_sentences = []
    open_sentences = []
    is_traded = False
    for frr in differences.to_dataframe().itertuples():
        less, more = frr.a, frr.b
        if scores[less] == scores[more]:
            clear_sentences.append(say("same_scores", [less, more]))
            continue
        if frr.estimate > 0:
            less, more = more, less
        is_clear = frr.p_holm <= SIGNIFICANT
        # at fixed thresholds a model may reject less because it accepts more
        accepts_more = inputs.along != "far_level" and far[less] > far[more]
        sentence = say("better", less, more, is_clear, accepts_more, frr, decimals)
        (clear_sentences if is_clear else open_sentences).append(sentence)
        if is_clear and not accepts_more:
            beaten.add(more)
        is_traded |= is_clear and accepts_more
    best = [name for name in inputs.models if name not in beaten]
    is_one = scores[best].nunique() == 1
    value = say("best_models", best, len(inputs.models), is_traded, is_one)
    text = "\n".join([*clear_sentences, *open_sentences][:MOST_SENTENCES])
    n_pairs = differences.sizes["contrast"]
    note = say("model_tests", inputs.about(), level_words(differences), n_pairs)
    state = CLEAR if is_one else UNDECIDED
    p = at_all_levels.p_holm.drop_isel(inputs.leading)
    p = p.where(p.a.isin(best) & p.b.isin(best))  # other pairs differ here, as the text says
    if state == UNDECIDED and (p <= SIGNIFICANT / max(p.sizes[inputs.along], 1)).any():
        note = f"{note} {say('other_levels', 'Paired differences')}"
    return Tile("Which model is better?", value, text, state, note)
