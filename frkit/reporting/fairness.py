"""Groups: their rates, measures of disparity, SFI/CFI/DFI, N-Sigma and RLB."""

from functools import partial

import numpy as np

from frkit import plot
from frkit.base import FAR_LEVEL, GROUP, InputError, require
from frkit.data.labels import attributes_of
from frkit.indices import fairness_indices
from frkit.intervals import band, fair_floor, permutation_test
from frkit.intervals.reading import NEW_PEOPLE
from frkit.measures import measure, names
from frkit.nsigma import n_sigma
from frkit.reporting.contents import Section, Tile
from frkit.reporting.inputs import (
    SIGNIFICANT,
    Inputs,
    cell_of,
    level_words,
    no_cautions,
    of_model,
    suffix,
)
from frkit.reporting.tables import MEASURE, cell, number, p_text, table
from frkit.resampling import Resampling

DEALS, REPLICATES = 999, 200
MOST_GROUPS = 7  # in one figure: as many colours are told apart
MOST_SENTENCES = 3  # on the first screen
TESTED = ("frr_max_min", "far_max_min")
WITH_HISTOGRAMS = ("auc_spread",)  # the one sweep of a report makes none
VERBS = {"frr": "rejects", "far": "falsely accepts"}
KINDS = {
    "max_min": "ratio of highest to lowest {rate}",
    "max_geomean": "ratio of highest {rate} to the geometric mean",
    "log_geomean": "sum of |log10({rate} / geometric mean)|",
    "gini": "Gini coefficient of the {rate}s",
    "max_difference": "highest minus lowest {rate}",
    "spread": "standard deviation of the {rate}s",
}


def groups(inputs: Inputs) -> Section:
    """Rates of the groups, their differences, and whether the groups differ."""
    inputs.require_groups()
    section = Section("Rates of the groups")
    about = inputs.about()
    columns = {}
    for rate in ("frr", "far", "eer"):
        result = band(inputs.evaluation, f"{rate}_group", target=NEW_PEOPLE, level=inputs.level)
        section.results[f"{rate}_group"] = result
        columns[f"{rate.upper()} of the group"] = result
    eer = table({"EER of the group": columns.pop("EER of the group")})
    section.tables[f"Rates of the groups at one threshold for all, {about}"] = table(columns)
    section.tables[f"EER of the groups, {about}"] = eer
    for name, curve in inputs.by_model(inputs.curve):
        title, bands = _worst_groups(curve, inputs.level)
        section.figures[f"Groups{suffix(name)}{title}"] = partial(plot.group_roc, *bands)
    _answer_whether_groups_differ(inputs, section)
    return section


def _worst_groups(curve, level):
    """Bands of FAR and FRR of the groups with the highest FRR, as many as a figure shows."""
    rates = ("far_group", "frr_group")
    with no_cautions():
        bands = [band(curve, rate, target=NEW_PEOPLE, level=level) for rate in rates]
    mean = bands[1].estimate.mean(FAR_LEVEL).values
    if len(mean) <= MOST_GROUPS:
        return "", bands
    worst = np.sort(np.argsort(-mean)[:MOST_GROUPS])
    title = f", the {MOST_GROUPS} with the highest FRR"
    return title, [each.isel({GROUP: worst}) for each in bands]


def _answer_whether_groups_differ(inputs, section):
    """A tile, and a sentence for every model and rate, from the ratio of highest to lowest rate."""
    differences, sizes = [], []
    how = {"target": NEW_PEOPLE, "level": inputs.level}
    for rate in VERBS:
        with no_cautions():
            ratios = band(inputs.evaluation, f"{rate}_max_min", **how).isel(inputs.leading)
        rates = section.results[f"{rate}_group"].estimate.isel(inputs.leading)
        for name, ratio in inputs.by_model(ratios):
            sentence = _ratio_words(rate, name, ratio, of_model(rates, name))
            section.answers.append(sentence)
            if float(ratio.p) <= SIGNIFICANT:
                differences.append((float(ratio.p), sentence))
        widest = float(ratios.upper.fillna(np.inf).max())
        size = f"up to {number(widest, 2)} times" if np.isfinite(widest) else "of any size"
        sizes.append(f"{size} in {rate.upper()}")
    if differences:
        value = "Yes."
        text = " ".join(sentence for _, sentence in sorted(differences)[:MOST_SENTENCES])
    else:
        value = "Not shown."
        both = " and ".join(sizes)
        text = f"No difference is shown; differences {both} are compatible with the data."
    section.tiles.append(Tile("Do groups differ?", value, text))


def _ratio_words(rate, name, ratio, rates):
    """How many times as often one group meets an error as another, in a sentence."""
    system, at = name or "The system", level_words(ratio)
    known = rates.to_series().dropna()
    if known.size < 2 or known.max() == 0:
        return f"{system}: no ratio of {rate.upper()}s is known {at}, for want of errors."
    if known.max() == known.min():
        return f"{system}: all groups have the same {rate.upper()} {at}."
    times = f"at least {number(float(ratio.lower), 2)} times"
    if np.isfinite(ratio.estimate):
        times = cell_of(ratio).replace(" ", " times ", 1)
    p = float(ratio.p)
    verdict = p_text(p) if p <= SIGNIFICANT else f"not significant, {p_text(p)}"
    worst, best = known.idxmax(), known.idxmin()
    return f"{system} {VERBS[rate]} “{worst}” {times} as often as “{best}” {at} ({verdict})."


def disparities(inputs: Inputs) -> Section:
    """Every registered fairness measure with its interval and floor, and permutation tests."""
    inputs.require_groups()
    section = Section("Measures of disparity")
    how = {"target": NEW_PEOPLE, "level": inputs.level}
    rows = []
    for name in names():
        chosen = measure(name)
        if chosen.fair is None or chosen.dealt or name in WITH_HISTOGRAMS:
            continue
        try:
            with no_cautions():
                result = band(inputs.evaluation, name, **how)
                floor = fair_floor(inputs.evaluation, name, **how)
        except (InputError, AttributeError, KeyError) as error:  # a user's, of other variables
            section.lines.append(f"Left out, {name}: {error}")
            continue
        section.results.update({name: result, f"{name}, floor": floor})
        rows += [result, floor.drop_vars("p") if "p" in result else floor]  # one test, not two
    if not inputs.quick:
        rows += _permutation_tests(inputs, section)
    caption = f"Measures of disparity with {inputs.confidence} intervals, {inputs.about()}"
    section.tables[caption] = table(*rows).rename(index=plain_name, level=MEASURE)
    section.lines.append(
        "“fair model up to”: 95 of 100 perfectly fair models show at most this value on data like "
        "these. p (fair) tests whether the groups' rates are equal; p (permutation) is exact and "
        "deals the labels of the groups to the people at random."
    )
    for rate in VERBS:
        with no_cautions():
            curve = band(inputs.curve, f"{rate}_max_min", **how)
        title = f"Ratio of highest to lowest {rate.upper()}"
        section.figures[title] = partial(plot.fairness, curve)
    return section


def plain_name(name: str) -> str:
    """A measure's name in words, with its code name."""
    rate, _, kind = name.partition("_")
    if kind in KINDS:
        return f"{KINDS[kind].format(rate=rate.upper())} ({name})"
    label = measure(name).label if name in names() else ""
    return f"{label} ({name})" if label else name


def _permutation_tests(inputs, section):
    """The exact tests of equal FRR and of equal FAR."""
    how = {"n": DEALS, "seed": inputs.seed, "level": inputs.level, **inputs.levels}
    how |= inputs.chosen("weighting", "varying")
    tests = []
    try:
        require(inputs.named, "it deals labels to people, and nobody is named here")
        inputs.require_all_impostors()
        for name in TESTED:
            with no_cautions():
                test = permutation_test(inputs.scores, name, by=inputs.by, **how)
            section.results[f"{name}, permutation"] = test
            tests.append(test)
    except InputError as error:
        section.lines.append(f"Left out, the permutation tests: {error}")
    return tests


def distributions(inputs: Inputs) -> Section:
    """SFI, CFI and DFI."""
    inputs.require_groups()
    section = Section("Fairness of score distributions (SFI, CFI, DFI)")
    cosine = inputs.scores.attrs.get("similarity") == "cosine"
    how = {"score_map": "cosine" if cosine else "identity", "level": inputs.level}
    how |= inputs.chosen("varying")
    unit = "identity" if inputs.named else "pair"
    how["resampling"] = Resampling(unit, n=REPLICATES, seed=inputs.seed)
    result = fairness_indices(inputs.scores, by=inputs.by, **how)
    section.results["indices"] = result
    section.tables["Indices of score distributions (1 is fair)"] = table(result)
    section.lines.append(
        "SFI, CFI and DFI compare the distributions of all scores, not the errors at a threshold."
    )
    for name, indices in inputs.by_model(result):
        figure = partial(plot.fairness_indices, indices)
        section.figures[f"Indices of score distributions{suffix(name)}"] = figure
    return section


def sigmas(inputs: Inputs) -> Section:
    """N-Sigma."""
    inputs.require_groups()
    section = Section("N-Sigma")
    result = n_sigma(inputs.scores, by=inputs.by, seed=inputs.seed, **inputs.chosen("varying"))
    section.results["n_sigma"] = result
    caption = "N-Sigma: distance to the best group, in standard deviations of its EER over subsets"
    section.tables[caption] = table(result)
    section.figures["N-Sigma"] = partial(plot.n_sigma, result)
    section.lines.append(
        "N-Sigma is not a test. N depends on the size of the subsets, and p (Welch) on their "
        "number. The levels of risk are those of DeAlcala et al. (2023)."
    )
    return section


def leakage(inputs: Inputs) -> Section:
    """RLB: what the embeddings reveal about the attribute."""
    inputs.require_groups()
    require(inputs.faces is not None, "it reads embeddings, and these are scores")
    from frkit.representation import representation_bias  # scikit-learn, only here

    section = Section("What the embeddings reveal about the attribute (RLB)")
    attribute = inputs.by if isinstance(inputs.by, str) else tuple(inputs.by)
    how = inputs.chosen("varying")
    result = representation_bias(inputs.faces, attribute, progress=False, **how)
    section.results["rlb"] = result
    caption = "Representation-level bias (RLB) ± 1.96 standard errors; 1 is all of the attribute"
    section.tables[caption] = table(result)
    for name, bias in inputs.by_model(result):
        share, reach = float(bias.rlb), 1.96 * float(bias.rlb_se)
        ends = cell(share, share - reach, share + reach)
        what = " and ".join(attributes_of(inputs.by))
        section.answers.append(
            f"Share of {what} in the embeddings{suffix(name)}: {ends}, {bias.verdict.item()}."
        )
    return section
