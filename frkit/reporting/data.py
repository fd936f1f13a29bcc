"""What was compared: images, people, groups, failed comparisons."""

import numpy as np
import pandas as pd

from frkit.base import UNKNOWN, warn
from frkit.data.labels import attributes_of
from frkit.intervals import provenance
from frkit.intervals.contributions import contributions
from frkit.intervals.reading import NEW_PEOPLE
from frkit.reporting.contents import Section
from frkit.reporting.formats import say
from frkit.reporting.tables import Cell, Table
from frkit.scores.kept import (
    PAIRS,
    has_names,
    is_list,
    numbers_of_first_model,
    pairs_of_models,
)

MOST_GROUPS = 6  # named in a sentence
NO_GROUP = "no label: in no group"


def data(inputs):
    """Count what the data are."""
    section = Section("The data")
    about = provenance(inputs.evaluation)
    n_compared = comparisons(inputs.scores)
    by = attributes_of(inputs.by) if inputs.by else []
    section.answers.append(say("counts", about, sum(n_compared[:2]), by))
    if "n_people" in about:  # people are split by an attribute
        whole = n_compared[0] - max(about["failed_genuine_comparisons"])
        used = int(contributions(inputs.evaluation, "frr", NEW_PEOPLE).comparisons.max())
        if used < whole:
            warn(say("split_pairs", by, whole - used, whole))
    card = pd.Series(_counts(inputs, about, *n_compared)).rename_axis(" ").to_frame("")
    section.tables["What was compared"] = Table(card)
    if is_list(inputs.scores) and has_names(inputs.scores, "image"):
        images = pd.DataFrame(np.sort(inputs.images.image[inputs.images.sides], axis=0).T)
        n_repeated = images.duplicated().sum()
        if n_repeated:
            warn(say("repeats", n_repeated, len(images)))
    if inputs.by is not None and inputs.named:
        groups = section.tables["Groups"] = _groups(inputs)
        sizes = groups.iloc[:, 0].drop(NO_GROUP, errors="ignore").to_dict()
        section.answers.append(say("groups", attributes_of(inputs.by), sizes, MOST_GROUPS))
    return section


def _counts(inputs, about, genuine, impostor, failed):
    """Return the rows of the table of what was compared."""
    counts = {
        "images": about.get("n_images"),
        "people": about.get("n_people", about.get("n_identities")),
        "genuine comparisons": genuine,
        "impostor comparisons": impostor,
    }
    rows = {name: f"{count:,}" for name, count in counts.items() if count is not None}
    if about.get("images_per_identity"):
        unit = "combination of person and label" if "n_people" in about else "person"
        rows[f"images per {unit}"] = say("images_each", about["images_per_identity"])
    if inputs.faces is None:  # embeddings are compared without a failure
        rows["failed comparisons"] = f"{failed:,}, left out" if failed else "none"
    rows["models"] = ", ".join(inputs.models) if inputs.models != [""] else "one"
    return rows


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
    images = inputs.images
    labels = {"group": images.label, "people": images.identity, "images": images.image}
    counts = pd.DataFrame(labels).groupby("group").nunique()
    counts = counts.reindex([*images.groups, *counts.index.intersection([UNKNOWN])])
    counts = counts.rename(index={UNKNOWN: NO_GROUP})
    shown = {"people": inputs.named, "images": has_names(inputs.scores, "image")}
    counts = counts[[name for name in shown if shown[name]]].astype(object)
    return Table(counts.map(lambda count: Cell(f"{count:,}", {"": count})))
