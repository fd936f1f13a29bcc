"""The images on both sides of a score tensor, with their labels."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from frkit.base import IDENTITY, PERSON, PROBE, REFERENCE, UNKNOWN, require
from frkit.faces.labels import CROSSED, attributes_of, crossed, resolve_varying


@dataclass(frozen=True, eq=False)
class People:
    """The images on both sides together, and what is known of each.

    names, identity, person, group: labels, (image,). probe, reference: (side,) index of each side's images.
    groups: the group labels, without "unknown".
    """

    names: np.ndarray
    identity: np.ndarray
    person: np.ndarray
    group: np.ndarray
    groups: np.ndarray
    probe: np.ndarray
    reference: np.ndarray


def people(scores: xr.DataArray, by, varying: str) -> People:
    """Collect the images of both sides, and apply the rule for attributes that vary within an identity."""
    sides = [scores[side].values.astype(str) for side in (PROBE, REFERENCE)]
    if scores.attrs.get("symmetric"):
        names, index = sides[0], [np.arange(len(sides[0]))] * 2
    else:
        names, inverse = np.unique(np.concatenate(sides), return_inverse=True)
        index = [inverse[: len(sides[0])], inverse[len(sides[0]) :]]
    identity = _on_images(scores, IDENTITY, index, len(names))
    has_person = f"{PROBE}_{PERSON}" in scores.coords
    person = _on_images(scores, PERSON, index, len(names)) if has_person else identity
    group = np.full(len(names), UNKNOWN)
    if by is not None:
        group = crossed([_on_images(scores, name, index, len(names)) for name in attributes_of(by)])
        known = person if has_person else None
        group, identity, split = resolve_varying(group, identity, varying, CROSSED.join(attributes_of(by)), known)
        person = identity if split is None and not has_person else (person if split is None else split)
    groups = np.unique(group[group != UNKNOWN])
    require(
        by is None or len(groups) > 0,
        f"attribute {by!r} has no label other than {UNKNOWN!r}: there is no group",
    )
    return People(names, identity, person, group, groups, *index)


def _on_images(scores: xr.DataArray, name: str, index: list, n: int) -> np.ndarray:
    """One label per image; a label that differs between the two sides is an error."""
    for side in (PROBE, REFERENCE):
        known = sorted(c.removeprefix(f"{PROBE}_") for c in scores.coords if str(c).startswith(f"{PROBE}_"))
        require(
            f"{side}_{name}" in scores.coords,
            f"there is no attribute {name!r}; the scores carry {', '.join(known)}",
        )
    labels = [scores[f"{side}_{name}"].values.astype(str) for side in (PROBE, REFERENCE)]
    out = np.empty(n, max(labels[0].dtype, labels[1].dtype))
    out[index[1]] = labels[1]
    out[index[0]] = labels[0]
    differs = out[index[1]] != labels[1]
    require(
        not differs.any(),
        f"reference {int(np.argmax(differs))} has {name} {labels[1][np.argmax(differs)]!r}, but the probe of the same "
        f"image name has {out[index[1]][np.argmax(differs)]!r}; give different images different names",
    )
    return out


def urns(who: People) -> np.ndarray:
    """What images are drawn from: an identity's images that stand on the same sides.

    A probe that is no reference is replaced by another such probe: its scores with references exist.
    """
    on_probe, on_reference = (np.isin(np.arange(len(who.names)), side) for side in (who.probe, who.reference))
    if np.all(on_probe & on_reference):
        return who.identity
    sides = np.where(on_probe & on_reference, "both", np.where(on_probe, "probe", "reference"))
    return np.char.add(np.char.add(who.identity, "\x1f"), sides)


def same_image(who: People, symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    """(rows, columns) at which an image meets itself."""
    if symmetric:
        return who.probe, who.probe
    _, row, col = np.intersect1d(who.probe, who.reference, return_indices=True)
    return row, col
