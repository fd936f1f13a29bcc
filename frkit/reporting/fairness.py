"""Groups: their rates, measures of disparity, SFI/CFI/DFI, N-Sigma and RLB."""

from functools import partial

import numpy as np
import pandas as pd

from frkit import plot
from frkit.base import InputError, require, warn
from frkit.data.labels import attributes_of
from frkit.indices import fairness_indices
from frkit.intervals import fair_floor, permutation_test
from frkit.intervals.reading import NEW_PEOPLE
from frkit.measures import measure, names
from frkit.nsigma import floor, n_sigma
from frkit.plot.style import curve_colours
from frkit.reporting.contents import UNDECIDED, Section
from frkit.reporting.formats import averaged, level_words, say
from frkit.reporting.inputs import (
    no_cautions,
    people_of_groups,
    result_of_model,
    suffix,
    without_label,
)
from frkit.reporting.relabelling import without_labels
from frkit.reporting.tables import (
    VALUE,
    noise_of_subsets,
    numbers_of,
    short_name,
    table,
    texts_of,
)
from frkit.reporting.verdicts import (
    RATES,
    comparable,
    other_tests,
    table_of,
    table_of_pairs,
    tile_of,
    verdicts_of,
)
from frkit.resampling import Resampling
from frkit.scores.groups import turned
from frkit.scores.kept import pairs_of_models

PERMUTATIONS = 999
FEWEST_FOR_SUBSETS = 6  # people: of fewer, some subsets draw one person alone
FOLDS = 5  # of RLB, each with people of every group
EQUAL_GROUPS = 20  # permutations of people's labels, for N-Sigma
REPLICATES = 200
MOST_GROUPS = 7  # in one figure: as many colours can be distinguished


def groups(inputs):
    """Rates of the groups, their differences, and whether the groups differ."""
    inputs.require_groups()
    section = Section("Rates of the groups")
    for rate in (*RATES, "eer"):
        section.results[f"{rate}_group"] = inputs.band(f"{rate}_group")
    bands = {f"{rate.upper()} of group": section.results[f"{rate}_group"] for rate in RATES}
    about = f"{averaged(inputs.weighting)}, {inputs.about()}"
    section.tables[f"Rates of the groups ({about}, one threshold for all)"] = table(bands)
    eer = {"EER": section.results["eer_group"]}
    section.tables[f"EER of the groups ({about})"] = table(eer)
    far_bands = inputs.band_of_curve("far_group")
    frr_bands = inputs.band_of_curve("frr_group")
    has_rates = (far_bands.estimate.notnull() & frr_bands.estimate.notnull()).any("far_level")
    for name, frr in inputs.by_model(frr_bands):
        frr = frr.isel(group=np.flatnonzero(result_of_model(has_rates, name)))
        title = f"Groups{suffix(name)}"
        if frr.sizes["group"] > MOST_GROUPS:
            rates = result_of_model(inputs.rates.frr_group, name).isel(inputs.leading)
            order = rates.sel(group=frr["group"]).fillna(0).argsort().values
            frr = frr.isel(group=np.sort(order[-MOST_GROUPS:]))
            title = f"{title}, the {MOST_GROUPS} with the highest FRR {level_words(rates)}"
        far = result_of_model(far_bands, name).sel(group=frr["group"])
        if not (frr.estimate > 0).any():
            continue  # there is no group, or no error, to draw
        section.figures[title] = partial(plot.group_roc, far, frr, colours=_colours(inputs))
    _answer_whether_groups_differ(inputs, section)
    return section


def _colours(inputs):
    """One colour of each group for the whole page, as `errors_by_person` has it."""
    names = inputs.rates["group"].values
    return dict(zip(names, curve_colours(names)))


def _answer_whether_groups_differ(inputs, section):
    """A tile, and a table with the verdict on every model and rate."""
    level = level_words(inputs.rates.isel(inputs.leading))
    verdicts, open_questions, comparisons = verdicts_of(inputs)
    labels = pd.Series(inputs.rates["group"].values)
    n_numbers = pd.to_numeric(labels, errors="coerce").notna().sum()
    if n_numbers > MOST_GROUPS:
        open_questions.append(say("many_groups", attributes_of(inputs.by), len(labels)))
    tile = tile_of(verdicts, open_questions, level)
    if tile.state == UNDECIDED:
        tile.note = f"{tile.note} {other_tests(inputs)}".strip()
    in_no_group = without_label(inputs)
    if in_no_group:
        warn(in_no_group)
        tile.note = f"{tile.note} {in_no_group}."
    section.tiles.append(tile)
    section.answers += open_questions
    if verdicts:
        section.tables[f"Do groups differ {level}?"] = table_of(verdicts)
        section.tables[f"Pairs of groups {level}"] = table_of_pairs(verdicts)
        if verdicts[0].pairs.sizes["contrast"] > 1:
            section.lines.append(say("intervals_of_pairs"))
    for rate, pairs in comparisons.items():
        section.results[f"{rate}_group, pairs"] = pairs


def fairness_measures(inputs):
    """Every registered fairness measure with its interval and floor, and permutation tests."""
    inputs.require_groups()
    section = Section("Measures of disparity")
    rows = []
    without = {}  # (the only group, if any; rates that are read): names of measures
    for name in names():
        chosen = measure(name)
        if chosen.fair is None or chosen.permuted:
            continue
        try:
            usable, _ = comparable(inputs.evaluation, name)
            if len(usable) < 2:
                without.setdefault((*usable, chosen.reads), []).append(short_name(name))
                continue
            with no_cautions():
                result = inputs.band(name)
                fair = fair_floor(inputs.evaluation, name, target=NEW_PEOPLE, level=inputs.level)
        except (InputError, AttributeError, KeyError) as error:  # a user's, of other variables
            section.lines.append(f"Left out, {name}: {error}")
            continue
        section.results.update({name: result, f"{name}, floor": fair})
        rows += [result, fair.drop_vars("p") if "p" in result else fair]  # one test, not two
    if not rows:
        usable = max(without, key=len, default=((),))[:-1]
        raise InputError(say("too_few_groups", usable, ()))
    for (*usable, reads), those in without.items():
        why = say("too_few_groups", usable, [name.partition("_")[0].upper() for name in reads])
        section.lines.append(f"Left out, {', '.join(those)}: {why}")
    if not inputs.quick:
        rows += _permutation_tests(inputs, section)
    caption = f"Measures of disparity ({inputs.level:.0%} intervals, {inputs.about()})"
    section.tables[caption] = table(*rows)
    section.lines.append(say("fair_model", contains_permutation_tests(section)))
    for rate in _compared(section):
        curve = inputs.band_of_curve(f"{rate}_max_min")
        title = f"Ratio of highest to lowest {rate.upper()}"
        if np.isfinite(curve.estimate).any():
            section.figures[title] = partial(plot.fairness, curve)
    return section


def contains_permutation_tests(section):
    """Whether the data allowed permutation tests."""
    return any(name.endswith("permutation") for name in section.results)


def _compared(section):
    """The rates that two groups or more have."""
    return [rate for rate in RATES if f"{rate}_max_min" in section.results]


def _permutation_tests(inputs, section):
    """The exact tests of equal FRR and of equal FAR."""
    tests = []
    try:
        require(
            inputs.named,
            "it permutes labels over people, and the identities are unknown here",
        )
        inputs.require_all_impostors()
        for rate in _compared(section):
            with no_cautions():
                test = permutation_test(
                    inputs.scores,
                    f"{rate}_max_min",
                    **inputs.levels,
                    by=inputs.by,
                    n=PERMUTATIONS,
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


def index_section(inputs):
    """SFI, CFI and DFI."""
    section = Section("Fairness of score distributions (SFI, CFI, DFI)")
    scores = _with_large_groups(inputs, inputs.scores, section, fewest=2)
    cosine = scores.attrs.get("similarity") == "cosine"
    models = pairs_of_models(scores)
    lowest, highest = min(each.lowest for each in models), max(each.highest for each in models)
    lies = f"scores in [0, 1], and these lie between {lowest:.4g} and {highest:.4g}"
    if turned(scores):
        lies = f"similarities, and these are distances between {-highest:.4g} and {-lowest:.4g}"
    require(
        cosine or lowest >= 0 and highest <= 1,
        f"they are defined for {lies}: in Python, score_map of fk.fairness_indices maps them",
    )
    unit = "identity" if inputs.named else "pair"
    result = fairness_indices(
        scores,
        by=inputs.by,
        score_map="cosine" if cosine else "identity",
        level=inputs.level,
        resampling=Resampling(unit, n=REPLICATES, seed=inputs.seed),
        varying=inputs.options["varying"],
    )
    section.results["indices"] = result.assign_attrs(weighting="pair")
    section.tables["SFI, CFI and DFI (1 is fair)"] = table(result)
    section.lines.append(say("indices", bool(np.isfinite(result.sfi_lower).any())))
    for name, indices in inputs.by_model(result):
        title = f"Indices of score distributions{suffix(name)}"
        section.figures[title] = partial(plot.fairness_indices, indices)
    return section


def sigmas(inputs):
    """N-Sigma, with what it shows for equal groups."""
    section = Section("N-Sigma")
    scores = _with_large_groups(inputs, inputs.scores, section, fewest=FEWEST_FOR_SUBSETS)
    options = {"by": inputs.by, "seed": inputs.seed}
    result = n_sigma(scores, varying=inputs.options["varying"], **options)
    shown = result[["n_absolute"]].rename(n_absolute="estimate").assign_attrs(measure="|N|")
    shown["draws_se"] = noise_of_subsets(result)
    try:
        equal = floor(scores, permutations=EQUAL_GROUPS, **options).n_absolute.max("group")
        limit = equal.quantile(inputs.level, "permutation").drop_vars("quantile")
        shown["limit"] = limit.broadcast_like(result.n_absolute)
        draw = partial(plot.n_sigma, result, floor=limit, colours=_colours(inputs))
        if np.isinf(result.n_absolute).any():
            section.lines.append(say("infinite_n"))
        else:
            section.figures["N-Sigma"] = draw
    except InputError as error:
        section.lines.append(f"Left out, what equal groups show: {error}")
    section.results["n_sigma"] = result.assign_attrs(weighting="pair")
    caption = "N-Sigma (distance to the best group, in standard deviations of its EER over subsets)"
    section.tables[caption] = table(shown)
    section.lines.append(say("n_sigma", EQUAL_GROUPS if "limit" in shown else 0))
    section.lines.append(say("random_draws", "subsets"))
    return section


def representation_section(inputs):
    """RLB: what the embeddings reveal about the attribute."""
    inputs.require_groups()
    require(
        inputs.faces is not None,
        "it reads embeddings, and these are scores: give the file of embeddings",
    )
    from frkit.representation import representation_bias  # scikit-learn, only here

    section = Section("What the embeddings reveal about the attribute (RLB)")
    result = representation_bias(
        _with_large_groups(inputs, inputs.faces, section, fewest=FOLDS),
        inputs.by if isinstance(inputs.by, str) else tuple(inputs.by),
        folds=FOLDS,
        varying=inputs.options["varying"],
        progress=False,
    )
    section.results["rlb"] = result.assign_attrs(weighting="image")
    caption = (
        "RLB (± 1.96 standard errors; if not detectable, up to the smallest share that these data "
        "can show; 1 is all of the attribute)"
    )
    section.tables[caption] = table(result)
    section.lines.append(say("random_draws", "folds and networks"))
    for name, bias in inputs.by_model(result):
        share = texts_of(bias)[VALUE].iloc[0]
        upper = numbers_of(bias).upper.iloc[0]
        answer = say("rlb", attributes_of(inputs.by), share, bias.verdict.item(), name, upper)
        section.answers.append(answer)
    return section


def _with_large_groups(inputs, data, section, fewest):
    """Scores or faces in which the people of groups with fewer people belong to no group."""
    inputs.require_groups()
    if not inputs.named:
        return data
    people = people_of_groups(inputs)
    small = people[people < fewest]
    largest = people.nlargest(2).tolist()
    sizes = " and ".join(map(str, largest))
    need = f"it needs two groups of {fewest} people or more, and the largest have {sizes}"
    require(largest[-1] >= fewest, need)
    if small.empty:
        return data
    section.lines.append(say("small_groups", small.to_dict(), fewest))
    return without_labels(data, inputs.by, small.index)
