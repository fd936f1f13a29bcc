"""The section of a report on N-Sigma."""

from functools import partial

import numpy as np

from frkit.base import gathered_notices
from frkit.figures.style import colours_of
from frkit.findings.formats import say
from frkit.findings.tables import table
from frkit.papers.nsigma import figures
from frkit.papers.nsigma.floor import floor
from frkit.papers.nsigma.statistics import summarise
from frkit.papers.nsigma.subsets import subset_rates

FEWEST_FOR_SUBSETS = 6  # people: of fewer, some subsets draw one person alone
EQUAL_GROUPS = 20  # permutations of people's labels


def fill(inputs, section):
    """Fill the section "N-Sigma" of a report, with what it shows for equal groups."""
    inputs.require_people(FEWEST_FOR_SUBSETS)
    varying = inputs.options["varying"]
    with gathered_notices():  # about TPR, which is not shown
        rates = subset_rates(inputs.scores, by=inputs.by, varying=varying)
    result = summarise(rates)
    section.results["n_sigma"] = result.assign_attrs(weighting="pair")
    shown = result[["n_absolute"]]
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
            draw = partial(figures.n_sigma, result, floor=limit, colours=colours)
            section.figures["N-Sigma"] = draw
    caption = "N-Sigma (distance to the best group, in standard deviations of its EER over subsets)"
    section.tables[caption] = table(shown)
    section.lines.append(say("n_sigma", EQUAL_GROUPS if is_fixed else 0))
