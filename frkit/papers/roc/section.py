"""The section of a report on how many more people would narrow its intervals."""

from functools import partial

from frkit.base import gathered_notices, require
from frkit.findings.formats import share_text
from frkit.findings.inputs import suffix
from frkit.papers.roc import study_figures

HALF_WIDTH = 0.2


def fill(inputs, section):
    """Fill the section "How many more people" of a report, for the FRR of every model."""
    require(
        inputs.along == "far_level", "a plan is made for a FAR level, and thresholds were given"
    )
    require(inputs.options["impostors"] == "all", "its thresholds are those of all impostor pairs")
    from frkit.papers.roc.sample_size import sample_size  # scikit-learn, only here

    options = {"level": inputs.level, "weighting": inputs.options["weighting"]}
    options["far"] = float(inputs.rates["far_level"].isel(inputs.leading))
    for name in inputs.models:
        scores = inputs.scores.sel(model=[name]) if name else inputs.scores
        with gathered_notices():
            plan = sample_size(scores, "relative_half_width", HALF_WIDTH, **options)
        half_width = share_text(HALF_WIDTH)
        question = f"People for an interval of ± {half_width} around the FRR{suffix(name)}"
        section.results[question] = plan
        if plan.n_identities > plan.n_identities_now:
            section.figures[question] = partial(study_figures.sample_size, plan)
        section.answers.append(f"{name}: {plan.answer.item()}" if name else plan.answer.item())
