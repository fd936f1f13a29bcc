"""What was compared: images, people, groups, failed comparisons, duplicates."""

import numpy as np
import pandas as pd

from frkit.base import UNKNOWN, warn
from frkit.data.labels import attributes_of
from frkit.engine.protocol import make_protocol
from frkit.intervals import provenance
from frkit.reporting.contents import Section
from frkit.reporting.formats import say
from frkit.reporting.tables import Cell, Table
from frkit.scores.groups import models_of

SIDES = ("probe", "reference")
MOST_GROUPS = 6  # named in a sentence


def data(inputs):
    """Count what the data are."""
    section = Section("The data")
    facts = provenance(inputs.evaluation)
    scores = models_of(inputs.scores)[0]
    section.answers.append(say("counts", facts, scores.size))
    card = pd.Series(_counts(inputs, facts, scores)).rename_axis(" ").to_frame("")
    section.tables["What was compared"] = Table(card)
    if "pair" in scores.dims and "probe" in scores.coords:
        _warn_of_repeats(scores)
    if inputs.faces is not None:
        section.lines.append(_duplicates(inputs.faces))
    if inputs.by is not None and (inputs.named or "probe" in scores.coords):
        groups = section.tables["Groups"] = _groups(inputs)
        sizes = groups.iloc[:, 0].to_dict()
        section.answers.append(say("groups", attributes_of(inputs.by), sizes, MOST_GROUPS))
    return section


def _counts(inputs, facts, scores):
    """Rows of the table of what was compared."""
    genuine, impostor = _comparisons(scores)
    counts = {
        "images": facts.get("n_images"),
        "people": facts.get("n_identities"),
        "genuine comparisons": genuine,
        "impostor comparisons": impostor,
    }
    rows = {words: f"{count:,}" for words, count in counts.items() if count is not None}
    if facts.get("images_per_identity"):
        rows["images per person"] = say("images_each", facts["images_per_identity"])
    if inputs.faces is None:  # embeddings are compared without a failure
        failed = int(scores.isnull().sum().compute()) // _times_stored(scores)
        rows["failed comparisons"] = f"{failed:,}, left out" if failed else "none"
    rows["models"] = ", ".join(inputs.models) or "one"
    return rows


def _times_stored(scores):
    """How often a tensor contains every pair of images."""
    return 2 if scores.attrs.get("symmetric") else 1


def _comparisons(scores):
    """Genuine and impostor comparisons of one model, each pair of images once."""
    if "pair" in scores.dims:
        genuine = int(scores["genuine"].sum())
        return genuine, scores.size - genuine
    counts = [scores[f"{side}_identity"].to_series().value_counts() for side in SIDES]
    genuine = int(counts[0].mul(counts[1], fill_value=0).sum())
    impostor = scores.size - genuine
    genuine -= len(np.intersect1d(scores["probe"], scores["reference"]))  # no image with itself
    return genuine // _times_stored(scores), impostor // _times_stored(scores)


def _warn_of_repeats(pairs):
    """Say how many comparisons of a list meet the same two images as another one."""
    sides = np.sort(np.stack([pairs[side].values for side in SIDES]).astype(str), axis=0)
    repeated = int(pd.DataFrame(sides.T).duplicated().sum())
    if repeated:
        warn(say("repeats", repeated, pairs.size))


def _duplicates(faces):
    """Images whose embeddings are the same number for number, within people and between them."""
    values = faces["embedding"].isel(model=0, missing_dims="ignore").values
    images = pd.DataFrame({"row": [row.tobytes() for row in values]})
    images["person"] = faces["identity"].values
    repeated = int(images.row.duplicated(keep=False).sum())
    of_other_people = int((images.groupby("row").person.transform("nunique") > 1).sum())
    return say("duplicates", repeated, of_other_people)


def _groups(inputs):
    """People and images of every group, and of none."""
    images = make_protocol(inputs.scores, by=inputs.by, varying=inputs.options["varying"]).images
    frame = pd.DataFrame({"group": images.group, "person": images.identity})
    counts = frame.groupby("group").person.agg(people="nunique", images="size")
    counts = counts.loc[[*images.groups, *counts.index.intersection([UNKNOWN])]]
    counts = counts.rename(index={UNKNOWN: "no label: in no group"})
    shown = {"people": inputs.named, "images": "probe" in inputs.scores.coords}
    counts = counts[[name for name in shown if shown[name]]].astype(object)
    return Table(counts.map(lambda count: Cell(f"{count:,}", {"": count})))
