"""The images of a question: who is in each of them, and under which labels it counts."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import UNKNOWN, listed, require, warn
from frkit.data.labels import CROSSED, attributes_of, crossed, require_attributes, resolve_varying
from frkit.scores.groups import group_codes, groups_among, is_of_people, labels_of_sides
from frkit.scores.kept import IMAGES, is_list


@dataclass(frozen=True, eq=False)
class Images:
    """Images as rows, one for each set of labels under which an image counts.

    In a complete design every image is one row. In a list the labels belong to the rows of the
    file, so that an image may be several rows.

    Attributes
    ----------
    name, identity, person, label : (row,) An identity is a person, or the part of a person that has
        one label of an attribute that varies. label: of the attribute in `by=`, or "unknown".
    image : (row,) number of the image; its rows have the same.
    groups : the group labels, without "unknown".
    probe, reference : (row,) whether the image is on this side.
    others : the labels, (row,), of the attributes that `impostors=` names.
    stratum : (row,) in which its person is drawn.
    """

    name: np.ndarray
    identity: np.ndarray
    person: np.ndarray
    label: np.ndarray
    image: np.ndarray
    groups: np.ndarray
    probe: np.ndarray
    reference: np.ndarray
    others: dict[str, np.ndarray] = field(default_factory=dict)
    stratum: np.ndarray = field(default_factory=lambda: np.empty(0, str))

    @cached_property
    def identities(self) -> np.ndarray:
        """Names of all identities, sorted."""
        return pd.factorize(self.identity.astype(object), sort=True)[1].astype(str)

    @cached_property
    def identity_code(self) -> np.ndarray:
        """(row,) the place of the identity among all."""
        return pd.Index(self.identities).get_indexer(self.identity).astype(np.int32)

    @cached_property
    def person_code(self) -> np.ndarray:
        """(row,) the place of the person among all."""
        if self.person is self.identity:
            return self.identity_code
        return pd.factorize(self.person.astype(object), sort=True)[0].astype(np.int32)

    @cached_property
    def group_code(self) -> np.ndarray:
        """(row,) the place of the group, behind the last one for "unknown"."""
        return group_codes(self.label, self.groups).astype(np.int32)

    @cached_property
    def first_row(self) -> np.ndarray:
        """(image,) the first row of each image."""
        return np.unique(self.image, return_index=True)[1]

    @cached_property
    def urn(self) -> np.ndarray:
        """(image,) what images are drawn from: an identity's images that are on the same sides.

        A probe that is not a reference is replaced by another such probe: its scores exist.
        """
        identity = self.identity[self.first_row]
        sides = pd.DataFrame({"image": self.image, "p": self.probe, "r": self.reference})
        sides = sides.groupby("image").any()
        both = (sides.p & sides.r).to_numpy()
        if both.all():
            return identity
        side = np.where(both, "both", np.where(sides.p, "probe", "reference"))
        return np.char.add(np.char.add(identity, "\x1f"), side)


def table_images(kept: xr.DataTree, by, varying: str, others=()) -> Images:
    """The images of a complete design, with the rule for attributes that vary applied."""
    table = kept[IMAGES].dataset
    identity = table["identity"].values
    person = table["person"].values if "person" in table else identity
    label = np.full(len(identity), UNKNOWN)
    if by is not None:
        label = _labels_of_images(table, by)
        attribute = CROSSED.join(attributes_of(by))
        label, identity, person = resolve_varying(label, identity, varying, attribute, person)
    everywhere = np.ones(len(identity), bool)
    return Images(
        name=table["image"].values,
        identity=identity,
        person=person,
        label=label,
        image=np.arange(len(identity)),
        groups=groups_among(label, by),
        probe=table["probe"].values if "probe" in table else everywhere,
        reference=table["reference"].values if "reference" in table else everywhere,
        others={name: _labels_of_images(table, name) for name in others},
        stratum=label,
    )


def _labels_of_images(table: xr.Dataset, by):
    """One label for each image; several attributes are crossed."""
    sides = {"probe", "reference"}
    attributes = {*table.variables} - {"image", "identity", "person", "model"} - sides
    require_attributes(by, attributes)
    return crossed([table[name].values for name in attributes_of(by)])


# --- lists ---------------------------------------------------------------------------------------


def list_images(pairs: xr.DataTree, by, varying: str, *, others=(), stratified=False) -> tuple:
    """The images of a list, and the row of each pair's probe and reference, (pair,) each.

    The rule for labels that vary within a person is applied; by default each pair counts under its
    own labels. Without identities,, each side of each pair is an image of its own,
    and only a genuine pair shows one person.
    """
    n_sides = 2 * pairs.sizes["pair"]
    label = np.full(n_sides, UNKNOWN)
    if by is not None:
        label = np.ravel(labels_of_sides(pairs, by))
    others = {name: np.ravel(labels_of_sides(pairs, name)) for name in others}
    has_people = "probe_identity" in pairs.coords
    if has_people:
        label, identity, person = _people(pairs, label, by, varying, stratified)
    groups = groups_among(label, by)
    stratum = np.empty(0, str)
    if has_people:
        stratum = resolve_varying(label, identity, "first", "label")[0]
        image, names = _named_images(pairs, identity)
        codes = {"image": image, "label": group_codes(label, groups)} | others
        row = pd.DataFrame(codes).groupby([*codes], sort=True).ngroup().to_numpy()
    else:
        image = row = np.arange(n_sides)
        names = np.char.zfill(image.astype(str), 12)
        if not has_people:
            identity = person = _one_person_each(pairs, names)
    first = np.unique(row, return_index=True)[1]
    if len(stratum) > 0:
        first_of_image = np.unique(image, return_index=True)[1]
        stratum = stratum[first_of_image][image[first]]
    probe, reference = _sides_of(image)
    images = Images(
        name=names[image[first]],
        identity=identity[first],
        person=person[first],
        label=label[first],
        image=image[first],
        groups=groups,
        probe=probe[image[first]],
        reference=reference[image[first]],
        others={name: labels[first] for name, labels in others.items()},
        stratum=stratum,
    )
    return images, *np.split(row, 2)


def _people(pairs, label, by, varying, stratified):
    """Labels, identities and people of all sides, with the rule for labels that vary applied."""
    identity = person = np.ravel(labels_of_sides(pairs, "identity"))
    if by is not None and is_of_people(pairs, by) and varying not in ("error", "keep"):
        name = CROSSED.join(attributes_of(by))
        label, identity, split = resolve_varying(label, identity, varying, name)
        person = person if split is None else split
    elif by is not None:
        _note_varying(pairs, label, identity, by, stratified)
    return label, identity, person


def _note_varying(pairs, label, identity, by, stratified):
    """Refuse strata whose labels vary within a person."""
    rule = f"strata must be a property of the person, but {by!r}"
    if not is_of_people(pairs, by):
        require(not stratified, f"{rule} is a label of one side alone: draw without strata")
        return
    labelled = label != UNKNOWN
    n_labels = pd.Series(label[labelled]).groupby(identity[labelled]).nunique()
    varying = n_labels.index[n_labels > 1]
    if len(varying) > 0:
        require(
            not stratified,
            f"{rule} varies within {listed(varying)}; say varying='first' or 'most frequent', or "
            "draw without strata",
        )
        warn(
            f"{by!r} varies within {len(varying)} of {len(n_labels)} people ({listed(varying, 3)}):"
            " each pair counts in the group that its own row names; varying='first' or 'most "
            "frequent' gives a person one label"
        )


def _named_images(pairs, identity):
    """The image on each side, and the names of images; an identity represents all its images.

    An image that shows two people is refused.
    """
    names = identity
    if "probe" in pairs.coords:
        names = np.concatenate([pairs["probe"].values, pairs["reference"].values])
    image, names = pd.factorize(names.astype(object), sort=True)
    first = np.unique(image, return_index=True)[1]
    other = np.flatnonzero(identity[first][image] != identity)[:1]
    shown = np.unique(identity[np.isin(image, image[other])])
    require(
        len(other) == 0,
        f"image {listed(names[image[other]])} shows {listed(shown)}: if these are parts of one "
        "person whose label varies, say varying='first'; give different images different names",
    )
    return image, names.astype(str)


def _one_person_each(pairs, names):
    """Who is on each side without identities: one person in a genuine pair, and two in others."""
    genuine = np.flatnonzero(pairs["genuine"].values)
    identity = names.copy()
    identity[pairs.sizes["pair"] + genuine] = names[genuine]
    return identity


def _sides_of(image):
    """Which images are probes, and which references; all are both where some are."""
    n_images = image.max() + 1
    sides = [np.bincount(side, minlength=n_images) > 0 for side in np.split(image, 2)]
    if np.any(sides[0] & sides[1]):  # both sides are one set of images
        return [np.ones(n_images, bool)] * 2
    return sides


def images_of(kept: xr.DataTree, by, varying: str) -> Images:
    """The images of kept pairs of any design under the labels of an attribute."""
    if is_list(kept):
        return list_images(kept, by, varying)[0]
    return table_images(kept, by, varying)
