"""Groups: their rates, measures of disparity, SFI/CFI/DFI, N-Sigma and RLB."""

from functools import partial

import numpy as np

from frkit import plot
from frkit.base import InputError, require
from frkit.data.labels import attributes_of
from frkit.indices import fairness_indices
from frkit.intervals import fair_floor, permutation_test
from frkit.intervals.reading import NEW_PEOPLE
from frkit.measures import measure, names
from frkit.nsigma import n_sigma
from frkit.reporting.contents import Section, Tile
from frkit.reporting.formats import SIGNIFICANT, say
from frkit.reporting.inputs import no_cautions, of_model, suffix
from frkit.reporting.tables import MEASURE, VALUE, table, texts_of
from frkit.resampling import Resampling
from frkit.scores.kept import pairs_of_models

DEALS = 999
REPLICATES = 200
MOST_GROUPS = 7  # in one figure: as many colours can be distinguished
MOST_SENTENCES = 3  # on the first screen
RATES = ("frr", "far")
WITH_HISTOGRAMS = ("auc_spread",)  # the one sweep of a report makes none


def groups(inputs):
    """Rates of the groups, their differences, and whether the groups differ."""
    inputs.require_groups()
    section = Section("Rates of the groups")
    for rate in (*RATES, "eer"):
        section.results[f"{rate}_group"] = inputs.band(f"{rate}_group")
    bands = {f"{rate.upper()} of the group": section.results[f"{rate}_group"] for rate in RATES}
    caption = f"Rates of the groups at one threshold for all, {inputs.about()}"
    section.tables[caption] = table(bands)
    eer = {"EER of the group": section.results["eer_group"]}
    section.tables[f"EER of the groups, {inputs.about()}"] = table(eer)
    far_bands = inputs.band_of_curve("far_group")
    frr_bands = inputs.band_of_curve("frr_group")
    for name, frr in inputs.by_model(frr_bands):
        title = f"Groups{suffix(name)}"
        if frr.sizes["group"] > MOST_GROUPS:
            order = frr.estimate.mean("far_level").argsort().values
            frr = frr.isel(group=np.sort(order[-MOST_GROUPS:]))
            title = f"{title}, the {MOST_GROUPS} with the highest FRR"
        far = of_model(far_bands, name).sel(group=frr["group"])
        section.figures[title] = partial(plot.group_roc, far, frr)
    _answer_whether_groups_differ(inputs, section)
    return section


def _answer_whether_groups_differ(inputs, section):
    """A tile, and a sentence for every model and rate, from the ratio of highest to lowest rate."""
    significant = []
    widest = {}
    for rate in RATES:
        with no_cautions():
            ratios = inputs.band(f"{rate}_max_min").isel(inputs.leading)
        rates = section.results[f"{rate}_group"].estimate.isel(inputs.leading)
        widest[rate] = float(ratios.upper.fillna(np.inf).max())
        for name, ratio in inputs.by_model(ratios):
            of_groups = of_model(rates, name).to_series().dropna()
            sentence = say("ratio", name or "The system", rate, of_groups, ratio)
            section.answers.append(sentence)
            if ratio.p <= SIGNIFICANT:
                significant.append((float(ratio.p), sentence))
    clearest = [sentence for _, sentence in sorted(significant)[:MOST_SENTENCES]]
    answer = "Yes." if clearest else "Not shown."
    text = " ".join(clearest) or say("no_difference", widest)
    section.tiles.append(Tile("Do groups differ?", answer, text))


def disparities(inputs):
    """Every registered fairness measure with its interval and floor, and permutation tests."""
    inputs.require_groups()
    section = Section("Measures of disparity")
    rows = []
    for name in names():
        chosen = measure(name)
        if chosen.fair is None or chosen.dealt or name in WITH_HISTOGRAMS:
            continue
        try:
            with no_cautions():
                result = inputs.band(name)
                floor = fair_floor(inputs.evaluation, name, target=NEW_PEOPLE, level=inputs.level)
        except (InputError, AttributeError, KeyError) as error:  # a user's, of other variables
            section.lines.append(f"Left out, {name}: {error}")
            continue
        section.results.update({name: result, f"{name}, floor": floor})
        rows += [result, floor.drop_vars("p") if "p" in result else floor]  # one test, not two
    if not inputs.quick:
        rows += _permutation_tests(inputs, section)
    caption = f"Measures of disparity with {inputs.level:.0%} intervals, {inputs.about()}"
    section.tables[caption] = table(*rows).rename(index=plain_name, level=MEASURE)
    section.lines.append(say("fair_model"))
    for rate in RATES:
        curve = inputs.band_of_curve(f"{rate}_max_min")
        title = f"Ratio of highest to lowest {rate.upper()}"
        section.figures[title] = partial(plot.fairness, curve)
    return section


def plain_name(name):
    """A measure's name in words, with its code name."""
    label = measure(name).label
    return f"{label} ({name})" if label else name


def _permutation_tests(inputs, section):
    """The exact tests of equal FRR and of equal FAR."""
    tests = []
    try:
        require(inputs.named, "it assigns labels to people at random, and nobody is named here")
        inputs.require_all_impostors()
        for rate in RATES:
            with no_cautions():
                test = permutation_test(
                    inputs.scores,
                    f"{rate}_max_min",
                    **inputs.levels,
                    by=inputs.by,
                    n=DEALS,
                    seed=inputs.seed,
                    level=inputs.level,
                    weighting=inputs.options["weighting"],
                    varying=inputs.options["varying"],
                )
            section.results[f"{rate}_max_min, permutation"] = test
            tests.append(test)
    except InputError as error:
        section.lines.append(f"Left out, the permutation tests: {error}")
    return tests


def distributions(inputs):
    """SFI, CFI and DFI."""
    inputs.require_groups()
    section = Section("Fairness of score distributions (SFI, CFI, DFI)")
    cosine = inputs.scores.attrs.get("similarity") == "cosine"
    models = pairs_of_models(inputs.scores)
    lowest, highest = min(each.lowest for each in models), max(each.highest for each in models)
    require(
        cosine or lowest >= 0 and highest <= 1,
        f"scores from {lowest:.4g} to {highest:.4g} are not in [0, 1], where they are defined; "
        "in Python fk.fairness_indices(scores, by=..., score_map=...) maps them first",
    )
    unit = "identity" if inputs.named else "pair"
    result = fairness_indices(
        inputs.scores,
        by=inputs.by,
        score_map="cosine" if cosine else "identity",
        level=inputs.level,
        resampling=Resampling(unit, n=REPLICATES, seed=inputs.seed),
        varying=inputs.options["varying"],
    )
    section.results["indices"] = result
    section.tables["Indices of score distributions (1 is fair)"] = table(result)
    section.lines.append(say("indices"))
    for name, indices in inputs.by_model(result):
        section.figures[f"Indices of score distributions{suffix(name)}"] = partial(
            plot.fairness_indices, indices
        )
    return section


def sigmas(inputs):
    """N-Sigma."""
    inputs.require_groups()
    section = Section("N-Sigma")
    result = n_sigma(
        inputs.scores, by=inputs.by, seed=inputs.seed, varying=inputs.options["varying"]
    )
    section.results["n_sigma"] = result
    caption = "N-Sigma: distance to the best group, in standard deviations of its EER over subsets"
    section.tables[caption] = table(result)
    section.figures["N-Sigma"] = partial(plot.n_sigma, result)
    section.lines.append(say("n_sigma"))
    return section


def leakage(inputs):
    """RLB: what the embeddings reveal about the attribute."""
    inputs.require_groups()
    require(
        inputs.faces is not None,
        "it reads embeddings, and these are scores: give the file of embeddings",
    )
    from frkit.representation import representation_bias  # scikit-learn, only here

    section = Section("What the embeddings reveal about the attribute (RLB)")
    result = representation_bias(
        inputs.faces,
        inputs.by if isinstance(inputs.by, str) else tuple(inputs.by),
        varying=inputs.options["varying"],
        progress=False,
    )
    section.results["rlb"] = result
    caption = "Representation-level bias (RLB) ± 1.96 standard errors; 1 is all of the attribute"
    section.tables[caption] = table(result)
    for name, bias in inputs.by_model(result):
        share = texts_of(bias)[VALUE].iloc[0]
        answer = say("rlb", attributes_of(inputs.by), share, bias.verdict.item(), name)
        section.answers.append(answer)
    return section
