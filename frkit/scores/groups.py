"""Scores, checked; who stands on their two sides, under which labels; and the weight p_k of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import (
    GENUINE,
    IDENTITY,
    MODEL,
    PAIR,
    PERSON,
    PROBE,
    REFERENCE,
    UNKNOWN,
    real_numbers,
    require,
    require_one_of,
)
from frkit.data.labels import (
    CROSSED,
    attributes_of,
    clean_labels,
    complete_labels,
    crossed,
    image_names,
    resolve_varying,
)
from frkit.scores.tensor import block_side


def checked_scores(scores) -> xr.DataArray:
    """A tensor over (probe, reference), or the scores of a pair list over (pair)."""
    if isinstance(scores, xr.Dataset) and "score" in scores and GENUINE in scores.coords:
        scores = scores["score"]
    dims = {*scores.dims} - {MODEL} if isinstance(scores, xr.DataArray) else set()
    listed = dims == {PAIR} and GENUINE in scores.coords
    sides = (f"{side}_{IDENTITY}" for side in (PROBE, REFERENCE))
    require(
        listed
        or dims == {PROBE, REFERENCE}
        and all(name in scores.coords for name in (PROBE, REFERENCE, *sides)),
        "scores must be a tensor over (probe, reference) that names images and identities, or a list of pairs: make it "
        "with fk.score_tensor, fk.score_matrix, fk.pairs or fk.open_pairs",
    )
    require(scores.dtype.kind in "fiub", f"scores must be real numbers, got {scores.dtype}")
    scores = scores if scores.dtype in (np.float32, np.float64) else scores.astype(float)
    if listed:
        told = scores[GENUINE]
        require(
            told.dtype.kind in "biuf" and bool(told.isin([0, 1]).all()),
            "genuine of a pair must be True or False",
        )
        require(
            not np.isinf(scores.values).any(),
            "some scores are infinite; mark failed comparisons as NaN",
        )
        return scores
    scores = scores.transpose(..., PROBE, REFERENCE)
    if scores.chunks is not None:
        return scores
    side = block_side(max(scores.sizes[PROBE], scores.sizes[REFERENCE]))
    return scores.chunk({PROBE: side, REFERENCE: side})


def turned(scores: xr.DataArray) -> bool:
    """Whether scores are distances whose sign was changed: thresholds are read and written in the sign they had."""
    return bool(scores.attrs.get("distance"))


def models_of(scores: xr.DataArray | xr.Dataset) -> list:
    """The scores (or the rates) of each model."""
    places = range(scores.sizes.get(MODEL, 0))
    return [scores.isel({MODEL: place}, drop=True) for place in places] or [scores]


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

    @cached_property
    def identity_code(self) -> np.ndarray:
        """The place of each image's identity among all, sorted by name."""
        return np.unique(self.identity, return_inverse=True)[1]

    @cached_property
    def urn(self) -> np.ndarray:
        """What images are drawn from: an identity's images that stand on the same sides.

        A probe that is no reference is replaced by another such probe: its scores with references exist.
        """
        on_probe, on_reference = (
            np.isin(np.arange(len(self.names)), side) for side in (self.probe, self.reference)
        )
        if np.all(on_probe & on_reference):
            return self.identity
        sides = np.where(on_probe & on_reference, "both", np.where(on_probe, "probe", "reference"))
        return np.char.add(np.char.add(self.identity, "\x1f"), sides)

    def relabel(self, scores: xr.DataArray) -> xr.DataArray:
        """The scores with identities and persons as the rule for varying attributes left them."""
        labels = {}
        for side, at in ((PROBE, self.probe), (REFERENCE, self.reference)):
            labels |= {
                f"{side}_{IDENTITY}": (side, self.identity[at]),
                f"{side}_{PERSON}": (side, self.person[at]),
            }
        return scores.assign_coords(labels)


def people(scores: xr.DataArray, by, varying: str) -> People:
    """Collect the images of both sides of a tensor, and apply the rule for attributes that vary within an identity."""
    probes, references = (
        image_names(scores[side].values, scores.sizes[side], side) for side in (PROBE, REFERENCE)
    )
    if is_symmetric(scores):
        names, index = probes, [np.arange(len(probes))] * 2
    else:
        names, inverse = np.unique(np.concatenate([probes, references]), return_inverse=True)
        index = np.split(inverse, [len(probes)])
    identity = _on_images(scores, IDENTITY, index, len(names))
    known = (
        _on_images(scores, PERSON, index, len(names))
        if f"{PROBE}_{PERSON}" in scores.coords
        else None
    )
    group = np.full(len(names), UNKNOWN)
    if by is not None:
        group = crossed([_on_images(scores, name, index, len(names)) for name in attributes_of(by)])
        group, identity, split = resolve_varying(
            group, identity, varying, CROSSED.join(attributes_of(by)), known
        )
        known = known if split is None else split
    person = identity if known is None else known
    return People(names, identity, person, group, groups_among(group, by), *index)


def is_symmetric(scores: xr.DataArray) -> bool:
    """Whether the upper triangle of a tensor says everything: its sides hold the same images in the same order."""
    return bool(scores.attrs.get("symmetric")) and np.array_equal(
        scores[PROBE].values, scores[REFERENCE].values
    )


def labels_of_sides(scores: xr.DataArray, by) -> list[np.ndarray]:
    """Labels of the probes and of the references of a tensor, or of every pair of a list; several are crossed."""
    names = (
        str(name).removeprefix(f"{PROBE}_").removeprefix(f"{REFERENCE}_") for name in scores.coords
    )
    known = sorted(
        {name for name in names if _places(scores, name)} - {PAIR, GENUINE, PROBE, REFERENCE, MODEL}
    )
    for name in attributes_of(by):
        require(
            name in known, f"by={name!r} is no attribute of these scores; known: {', '.join(known)}"
        )
    columns = [_places(scores, name) for name in attributes_of(by)]
    readers = {
        c: complete_labels if c.endswith(f"_{IDENTITY}") else clean_labels
        for both in columns
        for c in both
    }
    labels = {c: read(scores[c].values, scores[c].size, c) for c, read in readers.items()}
    return [crossed([labels[c] for c in side]) for side in zip(*columns, strict=True)]


def of_people(scores: xr.DataArray, by) -> bool:
    """Whether attributes belong to people, not to trials or to one side of a list: both sides have labels then."""
    return all(len({*_places(scores, name)}) == 2 for name in attributes_of(by))


def _places(scores: xr.DataArray, name: str) -> list[str]:
    """The coordinates that hold an attribute of the probes and of the references: in a list they may be one."""
    both = [f"{side}_{name}" for side in (PROBE, REFERENCE)]
    there = [
        column for column in (*both, name) if column in scores.coords and scores[column].ndim == 1
    ]
    return both if {*both} <= {*there} else there[:1] * 2 if PAIR in scores.dims else []


def groups_among(labels: np.ndarray, by) -> np.ndarray:
    """The group labels without "unknown", sorted; where groups were asked for there must be one."""
    groups = np.unique(labels[labels != UNKNOWN])
    require(
        by is None or len(groups) > 0,
        f"attribute {by!r} has no label other than {UNKNOWN!r}: there is no group",
    )
    return groups


def group_codes(labels: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The place of each label among the groups; behind the last one where it is "unknown"."""
    return np.where(labels == UNKNOWN, len(groups), np.searchsorted(groups, labels))


def _on_images(scores: xr.DataArray, name: str, index: list, n: int) -> np.ndarray:
    """One label per image; a label that differs between the two sides is an error."""
    labels = labels_of_sides(scores, name)
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


def shares(weighting, labels: np.ndarray) -> np.ndarray:
    """p_k of every identity, with mean 1 (section 2.1)."""
    if isinstance(weighting, str):
        require_one_of("weighting (or p_k of every identity)", weighting, ("identity", "pair"))
        return np.ones(len(labels))
    if isinstance(weighting, xr.DataArray) and weighting.coords:
        weighting = weighting.to_series()
    if isinstance(weighting, Mapping | pd.Series):  # labels count, and not their order
        names = clean_labels(list(weighting.keys()), len(weighting), "weighting", "p_k").tolist()
        given = dict(zip(names, (p_k for _, p_k in weighting.items()), strict=True))
        require(
            len(given) == len(names), "weighting names an identity twice: give one p_k for each"
        )
        lost = [name for name in labels.tolist() if name not in given]
        require(
            not lost,
            f"weighting has no p_k for identities {lost[:3]}; it must name all {len(labels)}",
        )
        weighting = [given[name] for name in labels]
    share = real_numbers("weighting", weighting).astype(float)
    fits = share.shape == labels.shape and np.all(np.isfinite(share)) and np.all(share > 0)
    require(
        fits,
        f"weighting must hold one positive p_k for each of the {len(labels)} identities, sorted by name",
    )
    return share / share.mean()
