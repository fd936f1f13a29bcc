"""What was compared: images, people, groups, failed comparisons."""

import numpy as np
import pandas as pd

from frkit.base import UNKNOWN, warn
from frkit.data.labels import attributes_of
from frkit.findings.formats import say
from frkit.findings.inputs import counts_of_groups
from frkit.findings.tables import Cell, Table
from frkit.intervals import provenance
from frkit.intervals.contributions import contributions
from frkit.intervals.reading import NEW_PEOPLE
from frkit.scores.kept import (
    PAIRS,
    has_names,
    is_list,
    numbers_of_first_model,
    pairs_of_models,
)

MOST_GROUPS = 6  # named in a sentence
NO_GROUP = "no label: in no group"


def data(inputs, section):
    """Count what the data are."""
    about = provenance(inputs.evaluation)
    n_compared = comparisons(inputs.scores)
    by = attributes_of(inputs.by) if inputs.by else []
    sentences = say("counts", about, by), say("compared", *n_compared)
    section.answers += filter(None, sentences)
    if "n_people" in about:  # people are split by an attribute
        whole = n_compared[0] - max(about["failed_genuine_comparisons"])
        used = int(contributions(inputs.evaluation, "frr", NEW_PEOPLE).comparisons.max())
        if used < whole:
            warn(say("split_pairs", by, whole - used, whole))
    if is_list(inputs.scores) and has_names(inputs.scores, "image"):
        images = pd.DataFrame(np.sort(inputs.images.image[inputs.images.sides], axis=0).T)
        n_repeated = images.duplicated().sum()
        if n_repeated:
            warn(say("repeats", n_repeated, len(images)))
    if inputs.by is not None and inputs.named:
        groups = section.tables["Groups"] = _groups(inputs)
        sizes = groups["people"].to_dict()
        without_label = sizes.pop(NO_GROUP, "")
        section.answers.append(say("groups", by, sizes, without_label, MOST_GROUPS))


def comparisons(kept):
    """Return numbers of genuine, impostor and failed comparisons of the first model."""
    if is_list(kept):
        is_genuine = kept[PAIRS]["genuine"].values
        n_failed = int(np.isnan(pairs_of_models(kept)[0].score).sum())
        return int(is_genuine.sum()), int((~is_genuine).sum()), n_failed
    numbers = numbers_of_first_model(kept)
    n_failed = numbers["genuine_pairs_failed"] + numbers["impostor_pairs_failed"]
    return numbers["genuine_pairs"], numbers["impostor_pairs"], n_failed


def _groups(inputs):
    """Return numbers of people and images of every group, and of none."""
    counts = counts_of_groups(inputs)
    counts = counts.reindex([*inputs.images.groups, *counts.index.intersection([UNKNOWN])])
    counts = counts.rename(index={UNKNOWN: NO_GROUP})
    shown = {"people": inputs.named, "images": has_names(inputs.scores, "image")}
    counts = counts[[name for name in shown if shown[name]]].astype(object)
    return Table(counts.map(lambda count: Cell(f"{count:,}", {"": count})))
