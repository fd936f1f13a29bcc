"""Groups: their rates, measures of disparity, SFI/CFI/DFI, N-Sigma and RLB."""

from functools import partial

import numpy as np
import pandas as pd
import xarray as xr

from frkit import plot
from frkit.base import UNKNOWN, InputError, gathered_notices, listed, require, warn
from frkit.data.labels import attributes_of
from frkit.figures.style import colours_of
from frkit.intervals import fair_floor
from frkit.intervals.reading import AVERAGES, NEW_PEOPLE
from frkit.intervals.rows import rows_of
from frkit.measures import measure, names
from frkit.papers.indices.distributions import fairness_indices
from frkit.papers.nsigma.floor import floor
from frkit.papers.nsigma.statistics import summarise
from frkit.papers.nsigma.subsets import subset_rates
from frkit.reporting.formats import level_words, say, share_text
from frkit.reporting.inputs import (
    counts_of_groups,
    result_of_model,
    suffix,
)
from frkit.reporting.tables import (
    VALUE,
    short_name,
    table,
    texts_of,
)
from frkit.reporting.verdicts import RATES, table_of, table_of_pairs, tile_of, verdicts_of
from frkit.resampling import Resampling

FEWEST_FOR_SUBSETS = 6  # people: of fewer, some subsets draw one person alone
FOLDS = 5  # of RLB, each with people of every group
EQUAL_GROUPS = 20  # permutations of people's labels, for N-Sigma
REPLICATES = 200
MOST_GROUPS = 7  # in one figure: as many colours can be distinguished


def groups(inputs, section):
    """Rates of the groups, their differences, and whether the groups differ."""
    inputs.require_groups()
    for rate in (*RATES, "eer"):
        section.results[f"{rate}_group"] = inputs.band(f"{rate}_group")
    bands = {f"{rate.upper()} of group": section.results[f"{rate}_group"] for rate in RATES}
    about = f"{AVERAGES[inputs.weighting]}, {inputs.about()}"
    section.tables[f"Rates of the groups ({about}, one threshold for all)"] = table(bands)
    eer = {"EER": section.results["eer_group"]}
    section.tables[f"EER of the groups ({about})"] = table(eer)
    _add_figures(inputs, section)
    level = level_words(inputs.rates.isel(inputs.leading))
    verdicts, left_out, comparisons = verdicts_of(inputs)
    labels = pd.Series(inputs.rates["group"].values)
    n_numbers = pd.to_numeric(labels, errors="coerce").notna().sum()
    if n_numbers > MOST_GROUPS:
        warn(say("many_groups", attributes_of(inputs.by), len(labels)))
    section.tiles += [tile_of(rate, verdicts, left_out, level) for rate in RATES]
    section.answers += dict.fromkeys(left_out.values())
    if verdicts:
        section.tables[f"Do groups differ {level}?"] = table_of(verdicts)
        section.tables[f"Pairs of groups {level}"] = table_of_pairs(verdicts, comparisons)
        section.lines.append(say("intervals_of_pairs"))
    for rate, pairs in comparisons.items():
        section.results[f"{rate}_group, pairs"] = pairs


def _add_figures(inputs, section):
    """A figure of the FRR against the FAR of groups, for every model."""
    far_bands = inputs.band_of_curve("far_group")
    frr_bands = inputs.band_of_curve("frr_group")
    colours = colours_of(inputs.rates["group"].values)  # the same on the whole page
    leading_frr = inputs.rates.frr_group.isel(inputs.leading)
    for name, frr in inputs.by_model(frr_bands):
        bands = result_of_model(far_bands, name), frr
        bands = [band.dropna("group", how="all", subset=["estimate"]) for band in bands]
        far, frr = xr.align(*bands)
        highest = result_of_model(leading_frr, name).sel(group=frr["group"]).to_series()
        highest = highest.nlargest(MOST_GROUPS).index
        title = f"Groups{suffix(name)}"
        if len(highest) < frr.sizes["group"]:
            level = level_words(leading_frr)
            title = f"{title}, the {MOST_GROUPS} with the highest FRR {level}"
        is_drawn = frr["group"].isin(highest)
        far, frr = far.sel(group=is_drawn), frr.sel(group=is_drawn)
        if (frr.estimate > 0).any():  # otherwise there is no group, or no error, to draw
            section.figures[title] = partial(plot.group_roc, far, frr, colours=colours)


def fairness_measures(inputs, section):
    """Every registered fairness measure with its interval and floor."""
    inputs.require_groups()
    rows = []
    reasons = {}  # why -> short names of the measures that are left out
    for name in names():
        if measure(name).fair is None or measure(name).permuted:
            continue
        try:
            with gathered_notices():
                result = inputs.band(name)
                fair = fair_floor(inputs.evaluation, name, target=NEW_PEOPLE, level=inputs.level)
        except (InputError, AttributeError, KeyError) as error:  # a user's, of other variables
            reasons.setdefault(str(error), []).append(short_name(name))
            continue
        section.results |= {name: result, f"{name}, floor": fair}
        rows += [result, fair.drop_vars("p") if "p" in result else fair]  # one test, not two
    require(rows, next(iter(reasons), ""))
    for why, measures in reasons.items():
        section.lines.append(f"Left out, {', '.join(measures)}: {why}")
    caption = f"Measures of disparity ({share_text(inputs.level)} intervals, {inputs.about()})"
    section.tables[caption] = table(*rows)
    section.lines.append(say("fair_model"))
    for rate in RATES:
        if f"{rate}_max_min" in section.results:
            curve = inputs.band_of_curve(f"{rate}_max_min")
            title = f"Ratio of highest to lowest {rate.upper()}"
            if np.isfinite(curve.estimate).any():
                section.figures[title] = partial(plot.fairness, curve)


def index_section(inputs, section):
    """SFI, CFI and DFI."""
    _require_people(inputs, 2)
    cosine = inputs.scores.attrs.get("similarity") == "cosine"
    unit = "identity" if inputs.named else "pair"
    result = fairness_indices(
        inputs.scores,
        by=inputs.by,
        score_map="cosine" if cosine else "identity",
        level=inputs.level,
        resampling=Resampling(unit, n=REPLICATES),
        varying=inputs.options["varying"],
    )
    section.results["indices"] = result.assign_attrs(weighting="pair")
    section.tables["SFI, CFI and DFI (1 is fair)"] = table(result)
    section.lines.append(say("indices", bool(np.isfinite(result.sfi_lower).any())))
    for name, indices in inputs.by_model(result):
        title = f"Indices of score distributions{suffix(name)}"
        section.figures[title] = partial(plot.fairness_indices, indices)


def sigmas(inputs, section):
    """N-Sigma, with what it shows for equal groups."""
    _require_people(inputs, FEWEST_FOR_SUBSETS)
    varying = inputs.options["varying"]
    with gathered_notices():  # about TPR, which is not shown
        rates = subset_rates(inputs.scores, by=inputs.by, varying=varying)
    result = summarise(rates)
    section.results["n_sigma"] = result.assign_attrs(weighting="pair")
    shown = result[["n_absolute"]].rename(n_absolute="estimate")
    shown.attrs |= {"measure": "|N|", "kind": "band"}
    is_fixed = varying == "error"  # otherwise labels vary within people, who cannot change groups
    if is_fixed:
        with gathered_notices():
            equal = floor(inputs.scores, by=inputs.by, permutations=EQUAL_GROUPS)
        with np.errstate(invalid="ignore"):  # between two infinite ones
            limit = equal.n_absolute.max("group").quantile(inputs.level, "permutation")
        limit = limit.fillna(np.inf)
        shown["limit"] = limit.drop_vars("quantile").broadcast_like(result.n_absolute)
        if np.isfinite(result.n_absolute).all():
            colours = colours_of(inputs.rates["group"].values)
            draw = partial(plot.n_sigma, result, floor=limit, colours=colours)
            section.figures["N-Sigma"] = draw
    caption = "N-Sigma (distance to the best group, in standard deviations of its EER over subsets)"
    section.tables[caption] = table(shown)
    section.lines.append(say("n_sigma", EQUAL_GROUPS if is_fixed else 0))


def representation_section(inputs, section):
    """RLB: what the embeddings reveal about the attribute."""
    _require_people(inputs, FOLDS)
    require(
        inputs.faces is not None,
        "it reads embeddings, and these are scores: give the file of embeddings",
    )
    from frkit.papers.rlb.representation_bias import representation_bias  # scikit-learn, only here

    by = inputs.by if isinstance(inputs.by, str) else tuple(inputs.by)
    options = {"folds": FOLDS, "varying": inputs.options["varying"], "progress": False}
    result = representation_bias(inputs.faces, by, **options)
    section.results["rlb"] = result.assign_attrs(weighting="image")
    caption = (
        "RLB (± 1.96 standard errors; if not detectable, up to the smallest share that these data "
        "can show; 1 is all of the attribute)"
    )
    section.tables[caption] = table(result)
    section.lines.append(say("rlb_is_random"))
    for name, bias in inputs.by_model(result):
        share = texts_of(bias)[VALUE].iloc[0]
        upper = rows_of(bias).upper.iloc[0]
        answer = say("rlb", attributes_of(inputs.by), share, bias.verdict.item(), name, upper)
        section.answers.append(answer)


def _require_people(inputs, fewest):
    """Refuse groups of fewer people."""
    inputs.require_groups()
    if inputs.named:
        people = counts_of_groups(inputs).people.drop(UNKNOWN, errors="ignore")
        small = people.index[people < fewest]
        need = f"each group needs {fewest} people or more: give those of {listed(small)} no label"
        require(small.empty, need)
