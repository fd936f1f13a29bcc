"""Scores, checked once; who stands on their two sides, under which labels; weights p_k."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import UNKNOWN, listed, require, require_one_of
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
    """A lazy tensor over (probe, reference), or scores of a list over (pair), with clean labels.

    Every public function passes its scores through this once; what it calls relies on that.
    """
    if isinstance(scores, xr.Dataset) and "score" in scores:
        scores = scores["score"]
    dims = {*getattr(scores, "dims", ())} - {"model"}
    names = {*getattr(scores, "coords", ())}
    is_list = dims == {"pair"} and "genuine" in names and scores["genuine"].dtype.kind in "biu"
    sides = {"probe", "reference", "probe_identity", "reference_identity"}
    require(
        is_list or dims == {"probe", "reference"} and sides <= names,
        "scores must be a tensor over (probe, reference) that names images and identities, or a "
        "list of pairs: make it with fk.score_tensor, fk.score_matrix, fk.pairs or fk.open_pairs",
    )
    if scores.dtype not in (np.float32, np.float64):
        scores = scores.astype(float)
    scores = _with_clean_labels(scores)
    if is_list:
        infinite = bool(np.isinf(scores.values).any())
        require(not infinite, "some scores are infinite; mark failed comparisons as NaN")
        return scores
    scores = scores.transpose(..., "probe", "reference")
    if scores.chunks is None:
        side = block_side(max(scores.shape))
        scores = scores.chunk(probe=side, reference=side)
    return scores


def _with_clean_labels(scores):
    """The scores, with all labels as clean text; no image and no identity is without a name."""
    labels = {}
    for name, column in scores.coords.items():
        if column.ndim != 1 or name in ("model", "pair", "genuine"):
            continue
        [dim] = column.dims
        if name == dim:
            clean = image_names(column.values, column.size, dim)
        elif name in ("probe", "reference") or name.endswith("_identity"):
            clean = complete_labels(column.values, column.size, name, dim)
        else:
            clean = clean_labels(column.values, column.size, name, dim)
        labels[name] = dim, clean, column.attrs
    return scores.assign_coords(labels)


def turned(scores: xr.DataArray) -> bool:
    """Whether scores are distances with their sign changed; thresholds are shown as distances."""
    return bool(scores.attrs.get("distance"))


def models_of(scores: xr.DataArray | xr.Dataset) -> list:
    """The scores (or the rates) of each model."""
    if "model" not in scores.dims:
        return [scores]
    return [scores.isel(model=k, drop=True) for k in range(scores.sizes["model"])]


def is_symmetric(scores: xr.DataArray) -> bool:
    """Whether a triangle of a tensor is enough: its sides are the same images in the same order."""
    same_images = np.array_equal(scores["probe"].values, scores["reference"].values)
    return bool(scores.attrs.get("symmetric")) and same_images


# --- labels --------------------------------------------------------------------------------------


def labels_of_sides(scores: xr.DataArray, by) -> list[np.ndarray]:
    """Labels of probes and of references, or of every pair's two sides; several are crossed."""
    columns = []
    for name in attributes_of(by):
        wanted = f"probe_{name}", f"reference_{name}", name
        present = [column for column in wanted if column in scores.coords][:2]
        attributes = {
            column.removeprefix("probe_").removeprefix("reference_") for column in scores.coords
        }
        attributes -= {"pair", "genuine", "probe", "reference", "model"}
        require(
            len(present) == 2 or len(present) == 1 and "pair" in scores.dims,
            f"by={name!r} is no attribute of these scores; known: {', '.join(sorted(attributes))}",
        )
        columns.append([scores[present[0]].values, scores[present[-1]].values])
    return [crossed(list(side)) for side in zip(*columns, strict=True)]


def of_people(scores: xr.DataArray, by) -> bool:
    """Whether both sides have labels of their own; a trial's label is one for both."""
    names = [f"{side}_{name}" for name in attributes_of(by) for side in ("probe", "reference")]
    return set(names) <= set(scores.coords)


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


# --- people --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class People:
    """The images on both sides together, and what is known of each.

    Attributes
    ----------
    names, identity, person, group : (image,) labels. An identity is a person, or the part of a
        person that has one label of an attribute that varies.
    groups : the group labels, without "unknown".
    probe, reference : the place of each side's images among all.
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

        A probe that is no reference is replaced by such a probe: its scores exist.
        """
        every = np.arange(len(self.names))
        on_probe = np.isin(every, self.probe)
        on_reference = np.isin(every, self.reference)
        if np.all(on_probe & on_reference):
            return self.identity
        sides = np.where(on_probe & on_reference, "both", np.where(on_probe, "probe", "reference"))
        return np.char.add(np.char.add(self.identity, "\x1f"), sides)

    def relabel(self, scores: xr.DataArray) -> xr.DataArray:
        """The scores with identities and persons as the rule for varying attributes left them."""
        return scores.assign_coords(
            probe_identity=("probe", self.identity[self.probe]),
            reference_identity=("reference", self.identity[self.reference]),
            probe_person=("probe", self.person[self.probe]),
            reference_person=("reference", self.person[self.reference]),
        )


def people(scores: xr.DataArray, by, varying: str) -> People:
    """The images of both sides of a tensor, with the rule for attributes that vary applied."""
    names = probes = scores["probe"].values
    place = np.tile(np.arange(len(probes)), 2)
    if not is_symmetric(scores):
        both = np.concatenate([probes, scores["reference"].values])
        names, place = np.unique(both, return_inverse=True)
    places = place[: len(probes)], place[len(probes) :]
    identity = person = _on_images(scores, "identity", places)
    if "probe_person" in scores.coords:
        person = _on_images(scores, "person", places)
    group = np.full(len(names), UNKNOWN)
    if by is not None:
        group = _on_images(scores, by, places)
        attribute = CROSSED.join(attributes_of(by))
        group, identity, person = resolve_varying(group, identity, varying, attribute, person)
    return People(names, identity, person, group, groups_among(group, by), *places)


def _on_images(scores, by, places):
    """One label for each image; one that differs between the two sides is refused."""
    probe, reference = labels_of_sides(scores, by)
    _, first = np.unique(np.concatenate(places), return_index=True)
    labels = np.concatenate([probe, reference])[first]
    differs = labels[places[1]] != reference
    names = scores["reference"].values[differs]
    require(
        len(names) == 0,
        f"{len(names)} image(s) have another {by} as reference than as probe; the first is "
        f"{listed(names[:1])}: give different images different names",
    )
    return labels


def shares(weighting, identities: np.ndarray) -> np.ndarray:
    """p_k of every identity, with mean 1 (section 2.1); identities: sorted names."""
    if isinstance(weighting, str):
        require_one_of("weighting (or p_k of every identity)", weighting, ("identity", "pair"))
        return np.ones(len(identities))
    if isinstance(weighting, xr.DataArray) and weighting.coords:
        weighting = weighting.to_series()
    if isinstance(weighting, Mapping | pd.Series):
        by_name = pd.Series(weighting)
        by_name.index = clean_labels(by_name.index, len(by_name), "weighting", "p_k")
        require(by_name.index.is_unique, "weighting names an identity twice: give one p_k for each")
        weighting = by_name.reindex(identities)
        lost = identities[weighting.isna().to_numpy()]
        require(len(lost) == 0, f"weighting has no p_k for identities {listed(lost)}")
    share = np.asarray(weighting, float)
    require(
        share.shape == identities.shape and np.all(np.isfinite(share) & (share > 0)),
        f"weighting must contain one positive p_k for each of the {len(identities)} identities, by "
        "name or sorted by name",
    )
    return share / share.mean()
