"""The data card: what was compared."""

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import GENUINE, GROUP, IDENTITY, MODEL, PAIR, PROBE, REFERENCE, UNKNOWN, warn
from frkit.engine.protocol import make_protocol
from frkit.intervals import provenance
from frkit.reporting.tables import Table
from frkit.reporting.work import Section, Work
from frkit.scores.groups import models_of


def card(work: Work) -> Section:
    """What the data are: images, people, groups, failed comparisons, duplicates."""
    known = provenance(work.evaluation)
    numbers = {"images": known.get("n_images"), "people": known.get("n_identities")}
    rows = {words: f"{many:,}" for words, many in numbers.items() if many}
    if known.get("images_per_identity"):
        least, median, most = known["images_per_identity"]
        rows["images per person"] = (
            f"{least} each" if least == most else f"{least} to {most}, median {median:g}"
        )
    for kind, (many, failed) in _comparisons(work, known).items():
        left = (
            ""
            if failed is None
            else f", {failed:,} failed and left out"
            if failed
            else ", none failed"
        )
        rows[f"{kind} comparisons"] = f"{many:,}{left}"
    rows["models"] = ", ".join(work.models) if work.models[0] else "one"
    section = Section("The data")
    section.tables["What was compared"] = Table(
        {"": list(rows.values())}, index=pd.Index(rows, name=" ")
    )
    if work.faces is not None:
        section.lines.append(_duplicates(work.faces))
    else:
        section.lines.append(
            "Duplicates among the images cannot be seen in scores: that takes their embeddings."
        )
    if work.by is not None and (work.named or PROBE in work.scores.coords):
        section.tables["Groups"] = _groups(work)
    return section


def _comparisons(work: Work, known: dict) -> dict[str, tuple[int, int | None]]:
    """Genuine and impostor comparisons, and how many of each failed (of the first model)."""
    one = models_of(work.scores)[0]
    if PAIR in one.dims:
        _warn_of_repeats(one)
        genuine, failed = one[GENUINE].values, np.isnan(one.values)
        kinds = {"genuine": genuine, "impostor": ~genuine}
        return {kind: (int(of.sum()), int((of & failed).sum())) for kind, of in kinds.items()}
    who = [one[f"{side}_{IDENTITY}"].values.astype(str) for side in (PROBE, REFERENCE)]
    _, code = np.unique(np.concatenate(who), return_inverse=True)
    counts = [np.bincount(part, minlength=code.max() + 1) for part in np.split(code, [len(who[0])])]
    n_genuine, n_all = int(counts[0] @ counts[1]), len(who[0]) * len(who[1])
    own = len(
        np.intersect1d(one[PROBE].values, one[REFERENCE].values)
    )  # images with themselves are no comparisons
    lost = known["failed_genuine_comparisons"][0]  # which the sweep has counted
    lost_impostors, twice = 0, 1 + bool(one.attrs.get("symmetric"))
    if (
        work.faces is None
    ):  # embeddings are compared without a failure; scores are read again for impostors
        same = one[f"{PROBE}_{IDENTITY}"].chunk() == one[f"{REFERENCE}_{IDENTITY}"].chunk()
        lost_impostors = int((one.isnull() & ~same).sum().compute()) // twice
    n_impostor, n_genuine = (n_all - n_genuine) // twice, (n_genuine - own) // twice
    return {"genuine": (n_genuine, lost), "impostor": (n_impostor, lost_impostors)}


def _warn_of_repeats(one: xr.DataArray) -> None:
    """Comparisons of a list that meet the same two images as another one."""
    if PROBE not in one.coords:
        return
    first, second = np.split(
        pd.factorize(np.concatenate([one[PROBE].values, one[REFERENCE].values]))[0], 2
    )
    two = np.minimum(first, second) * np.int64(2 * one.size) + np.maximum(first, second)
    again = one.size - len(np.unique(two))
    if again:
        warn(
            f"{again:,} of {one.size:,} comparisons repeat the two images of another one, in this or the other order"
        )


def _duplicates(faces: xr.Dataset) -> str:
    """Images whose embeddings are the same number for number, within people and between them."""
    values = faces["embedding"]
    values = np.ascontiguousarray(
        (values.isel({MODEL: 0}) if MODEL in values.dims else values).values
    )
    rows = values.view(np.dtype((np.void, values.dtype.itemsize * values.shape[1]))).ravel()
    code = np.unique(rows, return_inverse=True)[1]
    people = pd.Series(faces[IDENTITY].values).groupby(code).transform("nunique").to_numpy()
    same = np.bincount(code)[code] > 1
    if not same.any():
        return "No two images have the same embedding."
    words = f"{int(same.sum())} images share their embedding with another image: duplicates, which make FRR look lower"
    between = int((people > 1).sum())
    return (
        f"{words}; {between} of them with an image of another person: wrong labels."
        if between
        else f"{words}."
    )


def _groups(work: Work) -> Table:
    """People and images of every group, and of none."""
    options = {"varying": "error", "weighting": None} | work.options
    who = make_protocol(
        work.scores, by=work.by, varying=options["varying"], weighting=options["weighting"]
    ).images
    held = (
        pd.DataFrame({GROUP: who.group, "person": who.identity})
        .groupby(GROUP)
        .person.agg(["nunique", "size"])
    )
    held = held.loc[[*who.groups, *held.index.intersection([UNKNOWN])]]
    held = held.rename(index={UNKNOWN: "no label: in no group"}).map("{:,}".format)
    known = {"people": work.named, "images": PROBE in work.scores.coords}
    return Table(
        held.set_axis([*known], axis=1)[[name for name in known if known[name]]].rename_axis(GROUP)
    )
