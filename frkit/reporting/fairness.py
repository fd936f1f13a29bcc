"""Groups: their rates, whether they differ, and measures of disparity."""

from functools import partial

import numpy as np
import pandas as pd
import xarray as xr

from frkit import plot
from frkit.base import InputError, gathered_notices, require, warn
from frkit.data.labels import attributes_of
from frkit.figures.style import colours_of
from frkit.findings.formats import level_words, say, share_text
from frkit.findings.inputs import (
    result_of_model,
    suffix,
)
from frkit.findings.tables import (
    short_name,
    table,
)
from frkit.intervals import fair_floor
from frkit.intervals.reading import AVERAGES, NEW_PEOPLE
from frkit.measures import measure, names
from frkit.reporting.verdicts import RATES, table_of, table_of_pairs, tile_of, verdicts_of

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
