"""The section of a report on SFI, CFI and DFI."""

from functools import partial

import numpy as np

from frkit.findings.formats import say
from frkit.findings.inputs import suffix
from frkit.findings.tables import table
from frkit.papers.indices import figures
from frkit.papers.indices.distributions import fairness_indices
from frkit.resampling import Resampling

REPLICATES = 200


def fill(inputs, section):
    """Fill the section "SFI, CFI and DFI" of a report."""
    inputs.require_people(2)
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
        section.figures[title] = partial(figures.fairness_indices, indices)
