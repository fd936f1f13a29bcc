"""The section of a report on RLB."""

from frkit.base import require
from frkit.data.labels import attributes_of
from frkit.findings.formats import say
from frkit.findings.tables import VALUE, table, texts_of
from frkit.intervals.rows import rows_of

FOLDS = 5  # each with people of every group


def fill(inputs, section):
    """Fill the section "RLB" of a report: what the embeddings reveal about the attribute."""
    inputs.require_people(FOLDS)
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
