"""Error rates of every model, its threshold, and which model is better."""

from contextlib import nullcontext, suppress
from functools import partial

import numpy as np

from frkit import plot
from frkit.base import InputError, gathered_notices, require, warn
from frkit.evaluation.evaluate import evaluate_parts
from frkit.evaluation.rate_tables import RESOLVED
from frkit.figures.threshold import genuine_and_impostor
from frkit.findings.contents import CLEAR, TOO_LITTLE, UNDECIDED, Tile
from frkit.findings.formats import SIGNIFICANT, level_words, say, share_text
from frkit.findings.inputs import result_of_model, suffix
from frkit.findings.tables import column_cells, decimals_of_result, table
from frkit.intervals import compare
from frkit.intervals.contributions import TARGETS, contributions
from frkit.intervals.reading import AVERAGES, NEW_PEOPLE, THESE_PEOPLE
from frkit.reporting.data import comparisons
from frkit.scores.groups import ends_of_scores, turned
from frkit.scores.kept import is_list

MOST_MODELS = 12
FEWEST_ERRING = 2  # people; of fewer the interval is too narrow
BINS = 80  # of the histograms
NEAR = 0.1  # a FAR that is so near below its level, as a share of it, is at the level
NOBODY_NAMED = (
    "nothing says whom the images show: intervals treat pairs as independent and are too narrow "
    "where pairs share images or people; give identities (columns such as id1 and id2, or a "
    "pattern of names such as {name}_{number}.jpg)"
)


def errors(inputs, section):
    """FRR (and FAR at thresholds) for new people and for these, with EER."""
    pooled = _evaluated(inputs, "pair", histogram=(BINS, ends_of_scores(inputs.scores)))
    other = _other_average(inputs, pooled) if inputs.named else None
    for rate in inputs.names_of_rates:
        _add_rate(inputs, section, rate, other)
    _add_counts(inputs, next(iter(section.tables.values())))
    thresholds = _thresholds(inputs).isel(inputs.leading)
    if inputs.has_enough_people:
        _add_tiles(inputs, section, thresholds)
        curve = inputs.band_of_curve("frr")
        if curve.estimate.max() > 0:
            section.figures["FRR against FAR"] = partial(plot.roc, curve)
    else:
        text = say("too_few", inputs.n_people, inputs.named)
        section.tiles.append(Tile("How good is the system?", "Too little data.", text, TOO_LITTLE))
    _add_histograms(inputs, section, pooled["empirical"].to_dataset(), thresholds)
    if not inputs.named:
        warn(NOBODY_NAMED)
    elif f"frr, {THESE_PEOPLE}" not in section.results:
        section.lines.append(say("without_these_people"))
    if inputs.named:
        section.answers.append(say("two_averages", inputs.weighting, is_list(inputs.scores)))
    section.lines.append(say("read_rates", turned(inputs.scores)))


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
    """Rates at the same thresholds with the other weighting."""
    weighting = "identity" if inputs.weighting == "pair" else "pair"
    evaluation = pooled if weighting == "pair" else _evaluated(inputs, weighting)
    rates = evaluation["empirical"].to_dataset()[inputs.names_of_rates]
    rates = rates.drop_vars("threshold_level").rename(threshold_level=inputs.along)
    rates = rates.assign_coords({inputs.along: inputs.rates[inputs.along]})
    for rate in rates:
        rates[rate].attrs |= {"kind": "rates", "measure": rate, "weighting": weighting}
    return rates.assign_attrs(weighting=weighting)


def _add_counts(inputs, shown):
    """Thresholds and numbers of errors as columns of the table of FRR."""
    thresholds = ("threshold",) if inputs.along == "far_level" else ()
    for name in (*thresholds, "false_accepts", "false_rejects"):
        values = inputs.rates[name].transpose(..., inputs.along).values.ravel()
        shown[name.replace("_", " ")] = column_cells(values, shown.index)


def _thresholds(inputs):
    """The thresholds at all levels, with their intervals at a FAR level."""
    if inputs.along == "far_level":
        with gathered_notices():  # those of the FRR
            return inputs.band("threshold")
    thresholds = inputs.rates[["threshold"]].rename(threshold="estimate")
    missing = thresholds.estimate * np.nan
    return thresholds.assign(lower=missing, upper=missing)


def _add_histograms(inputs, section, pooled, thresholds):
    """A figure of the shares of genuine and impostor scores in bins for every model."""
    histograms = pooled[["genuine_histogram", "impostor_histogram"]]
    thresholds = thresholds.rename(estimate="threshold").reset_coords(drop=True)
    histograms = histograms.merge(thresholds, compat="override")
    histograms = histograms.assign_attrs(distance=turned(inputs.scores))
    for name, shares in inputs.by_model(histograms):
        title = f"Scores and threshold{suffix(name)}"
        section.figures[title] = partial(genuine_and_impostor, shares)


# --- the first screen -----------------------------------------------------------------------------


def _add_tiles(inputs, section, thresholds):
    """How good every model is, and where its threshold lies."""
    frr = section.results[f"frr, {NEW_PEOPLE}"].isel(inputs.leading)
    results = {
        "frr": frr,
        "rates": inputs.rates.isel(inputs.leading),
        "threshold": thresholds,
        "n_erring": contributions(inputs.evaluation, "frr", NEW_PEOPLE).erring.isel(inputs.leading),
    }
    shared = {
        "decimals": decimals_of_result(frr),
        "decimals_of_threshold": decimals_of_result(thresholds),
        "n_genuine": comparisons(inputs.scores)[0],
        "accept": "below" if turned(inputs.scores) else "above",
        "inputs": inputs,
    }
    for name in inputs.models:
        of_model = {key: result_of_model(result, name) for key, result in results.items()}
        section.tiles.append(_tile(name, of_model | shared))


def _tile(model, numbers):
    """How good a model is, and what limits its rates."""
    rates = numbers["rates"]
    few_rejects = bool(rates.false_rejects < RESOLVED)
    few_accepts = bool(rates.false_accepts < RESOLVED)
    rests_on_one = not few_rejects and bool(numbers["n_erring"] < FEWEST_ERRING)
    level = rates.get("far_level", rates.far)
    numbers |= {
        "few_rejects": few_rejects,
        "few_accepts": few_accepts,
        "rests_on_one": rests_on_one,
        "far_is_reached": bool(rates.far >= (1 - NEAR) * level),
    }
    is_open = few_accepts or rests_on_one or numbers["frr"].upper >= 1
    state = UNDECIDED if is_open else CLEAR
    note = say("accuracy_note", model, numbers)
    title = model or "How good is the system?"
    return Tile(title, say("frr", numbers), say("accuracy", numbers), state, note)


# --- models ---------------------------------------------------------------------------------------


def models(inputs, section):
    """Paired differences of every two models, and which model is better."""
    n_models = len(inputs.models)
    require(n_models > 1, "there is one model; give several files, or columns of scores")
    require(
        n_models <= MOST_MODELS,
        f"more than {MOST_MODELS} models have too many pairs; choose some",
    )
    for target in TARGETS:
        differences = []
        for rate in inputs.names_of_rates:
            # the error rates say why there are none
            with suppress(InputError):
                options = {"models": "all", "target": target, "level": inputs.level}
                result = compare(inputs.evaluation, rate, **options)
                section.results[f"{rate}, {target}"] = result
                differences.append(result.drop_vars("p"))
        if differences:
            section.tables[f"Paired differences, {inputs.about(target)}"] = table(*differences)
    differences = section.results[f"frr, {NEW_PEOPLE}"].isel(inputs.leading)
    section.tiles.append(_which_is_better(inputs, differences))
    section.lines.append(say("paired", n_models))


def _which_is_better(inputs, differences):
    """The tile: the models that no other one beats, and the clearest difference.

    At fixed thresholds a model that accepts more, too, is not called better.
    """
    decimals = decimals_of_result(differences)
    far = inputs.rates.far.isel(inputs.leading).to_series()
    beaten = set()
    sentences = []
    is_traded = False
    for frr in differences.to_dataframe().sort_values("p_holm").itertuples():
        less, more = (frr.b, frr.a) if frr.estimate > 0 else (frr.a, frr.b)
        is_clear = frr.p_holm <= SIGNIFICANT
        accepts_more = inputs.along != "far_level" and far[less] > far[more]
        sentences.append(say("better", less, more, is_clear, accepts_more, frr, decimals))
        if is_clear and not accepts_more:
            beaten.add(more)
        is_traded |= is_clear and accepts_more
    best = [name for name in inputs.models if name not in beaten]
    value = say("best_models", best, len(inputs.models), is_traded)
    note = say("model_tests", inputs.about(), level_words(differences), len(sentences))
    state = CLEAR if len(best) == 1 else UNDECIDED
    return Tile("Which model is better?", value, sentences[0], state, note)
