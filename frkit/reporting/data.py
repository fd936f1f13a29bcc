"""What was compared: images, people, groups, failed comparisons, duplicates."""

import numpy as np
import pandas as pd

from frkit.base import GENUINE, GROUP, IDENTITY, MODEL, PAIR, PROBE, REFERENCE, UNKNOWN, warn
from frkit.data.labels import attributes_of
from frkit.engine.protocol import make_protocol
from frkit.intervals import provenance
from frkit.reporting.contents import Section
from frkit.reporting.inputs import Inputs
from frkit.reporting.tables import Table
from frkit.scores.groups import models_of

MOST_GROUPS = 6  # named in a sentence


def data(inputs: Inputs) -> Section:
    """Count what the data are."""
    facts = provenance(inputs.evaluation)
    section = Section("The data")
    rows = {}
    for words, name in (("images", "n_images"), ("people", "n_identities")):
        if facts.get(name):
            rows[words] = f"{facts[name]:,}"
    counted = ", ".join(f"{count} {words}" for words, count in rows.items())
    section.answers.append(counted or f"{inputs.scores.sizes[PAIR]:,} comparisons")
    if facts.get("images_per_identity"):
        least, median, most = facts["images_per_identity"]
        each = f"{least} each" if least == most else f"{least} to {most}, median {median:g}"
        rows["images per person"] = each
    first = models_of(inputs.scores)[0]
    for kind, count in _comparisons(first).items():
        rows[f"{kind} comparisons"] = f"{count:,}"
    if inputs.faces is None:  # embeddings are compared without a failure
        failed = int(first.isnull().sum().compute()) // (2 if first.attrs.get("symmetric") else 1)
        rows["failed comparisons"] = f"{failed:,}, left out" if failed else "none"
    rows["models"] = ", ".join(inputs.models) if inputs.models[0] else "one"
    card = pd.Series(rows).rename_axis(" ").to_frame("")
    section.tables["What was compared"] = Table(card)
    if inputs.faces is not None:
        section.lines.append(_duplicates(inputs.faces))
    if inputs.by is not None and (inputs.named or PROBE in inputs.scores.coords):
        groups = section.tables["Groups"] = _groups(inputs)
        attribute = " and ".join(attributes_of(inputs.by))
        sizes = [f"{name} {count}" for name, count in groups.iloc[:, 0].items()]
        words = f"{attribute}: {', '.join(sizes)}"
        if len(groups) > MOST_GROUPS:
            words = f"{len(groups)} groups of {attribute}"
        section.answers.append(words)
    return section


def _comparisons(scores):
    """Genuine and impostor comparisons of one model, each pair of images once."""
    if PAIR in scores.dims:
        _warn_of_repeats(scores)
        genuine = int(scores[GENUINE].sum())
        return {"genuine": genuine, "impostor": scores.size - genuine}
    sides = (f"{side}_{IDENTITY}" for side in (PROBE, REFERENCE))
    probes, references = (scores[side].to_series().value_counts() for side in sides)
    genuine = int(probes.mul(references, fill_value=0).sum())
    impostor = scores.size - genuine
    genuine -= len(np.intersect1d(scores[PROBE], scores[REFERENCE]))  # no image with itself
    twice = 2 if scores.attrs.get("symmetric") else 1
    return {"genuine": genuine // twice, "impostor": impostor // twice}


def _warn_of_repeats(pairs):
    """Say how many comparisons of a list meet the same two images as another one."""
    if PROBE not in pairs.coords:
        return
    sides = np.sort(np.stack([pairs[PROBE].values, pairs[REFERENCE].values]).astype(str), axis=0)
    repeated = int(pd.DataFrame(sides.T).duplicated().sum())
    if repeated:
        warn(
            f"{repeated:,} of {pairs.size:,} comparisons repeat the two images of another one, "
            "in this or the other order"
        )


def _duplicates(faces):
    """Images whose embeddings are the same number for number, within people and between them."""
    embedding = faces["embedding"]
    values = (embedding.isel({MODEL: 0}) if MODEL in embedding.dims else embedding).values
    images = pd.DataFrame({"row": [row.tobytes() for row in values]})
    images["person"] = faces[IDENTITY].values
    repeated = int(images.row.duplicated(keep=False).sum())
    if not repeated:
        return "No two images have the same embedding."
    words = (
        f"{repeated} images share their embedding with another image: duplicates, which make FRR "
        "look lower"
    )
    between = int((images.groupby("row").person.transform("nunique") > 1).sum())
    if not between:
        return f"{words}."
    return f"{words}; {between} of them with an image of another person: wrong labels."


def _groups(inputs):
    """People and images of every group, and of none."""
    options = {"varying": "error", "weighting": None} | inputs.chosen("varying", "weighting")
    images = make_protocol(inputs.scores, by=inputs.by, **options).images
    frame = pd.DataFrame({GROUP: images.group, "person": images.identity})
    counts = frame.groupby(GROUP).person.agg(people="nunique", images="size")
    counts = counts.loc[[*images.groups, *counts.index.intersection([UNKNOWN])]]
    counts = counts.rename(index={UNKNOWN: "no label: in no group"})
    shown = {"people": inputs.named, "images": PROBE in inputs.scores.coords}
    return Table(counts[[name for name, known in shown.items() if known]].map("{:,}".format))
