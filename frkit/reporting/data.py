"""What was compared: images, people, groups, failed comparisons, duplicates."""

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import GENUINE, GROUP, IDENTITY, MODEL, PAIR, PROBE, REFERENCE, UNKNOWN, warn
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
    counts = {"images": facts.get("n_images"), "people": facts.get("n_identities")}
    rows = {words: f"{count:,}" for words, count in counts.items() if count}
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
    names = pd.Index(rows, name=" ")
    section.tables["What was compared"] = Table({"": list(rows.values())}, index=names)
    seen = [f"{count:,} {words}" for words, count in counts.items() if count]
    section.answers.append(", ".join(seen) or f"{inputs.scores.sizes[PAIR]:,} comparisons")
    if inputs.faces is not None:
        section.lines.append(_duplicates(inputs.faces))
    if inputs.by is not None and (inputs.named or PROBE in inputs.scores.coords):
        groups = section.tables["Groups"] = _groups(inputs)
        section.answers.append(_group_words(inputs.by, groups))
    return section


def _comparisons(scores: xr.DataArray) -> dict[str, int]:
    """Genuine and impostor comparisons of one model, each pair of images once."""
    if PAIR in scores.dims:
        _warn_of_repeats(scores)
        genuine = int(scores[GENUINE].sum())
        return {"genuine": genuine, "impostor": scores.size - genuine}
    people = [
        scores[f"{side}_{IDENTITY}"].to_series().value_counts() for side in (PROBE, REFERENCE)
    ]
    genuine = int(people[0].mul(people[1], fill_value=0).sum())
    impostor = scores.size - genuine
    genuine -= len(np.intersect1d(scores[PROBE], scores[REFERENCE]))  # no image with itself
    twice = 2 if scores.attrs.get("symmetric") else 1
    return {"genuine": genuine // twice, "impostor": impostor // twice}


def _warn_of_repeats(pairs: xr.DataArray) -> None:
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


def _duplicates(faces: xr.Dataset) -> str:
    """Images whose embeddings are the same number for number, within people and between them."""
    embedding = faces["embedding"]
    values = (embedding.isel({MODEL: 0}) if MODEL in embedding.dims else embedding).values
    rows = pd.Series([row.tobytes() for row in values])
    code = pd.factorize(rows)[0]
    people = pd.Series(faces[IDENTITY].values).groupby(code).transform("nunique")
    repeated = int((np.bincount(code)[code] > 1).sum())
    if not repeated:
        return "No two images have the same embedding."
    words = (
        f"{repeated} images share their embedding with another image: duplicates, which make FRR "
        "look lower"
    )
    between = int((people > 1).sum())
    if not between:
        return f"{words}."
    return f"{words}; {between} of them with an image of another person: wrong labels."


def _groups(inputs: Inputs) -> Table:
    """People and images of every group, and of none."""
    options = {"varying": "error", "weighting": None} | inputs.chosen("varying", "weighting")
    images = make_protocol(inputs.scores, by=inputs.by, **options).images
    frame = pd.DataFrame({GROUP: images.group, "person": images.identity})
    counts = frame.groupby(GROUP).person.agg(people="nunique", images="size")
    counts = counts.loc[[*images.groups, *counts.index.intersection([UNKNOWN])]]
    counts = counts.rename(index={UNKNOWN: "no label: in no group"})
    shown = {"people": inputs.named, "images": PROBE in inputs.scores.coords}
    return Table(counts[[name for name, known in shown.items() if known]].map("{:,}".format))


def _group_words(by: str | list[str], groups: Table) -> str:
    """The groups in a few words: "gender: female 39, male 119"."""
    attribute = by if isinstance(by, str) else " and ".join(by)
    if len(groups) > MOST_GROUPS:
        return f"{len(groups)} groups of {attribute}"
    sizes = [f"{name} {count}" for name, count in groups.iloc[:, 0].items()]
    return f"{attribute}: {', '.join(sizes)}"
