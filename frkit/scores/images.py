"""The images of a question: whom each of them shows, and under which labels it counts."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import UNKNOWN, InputError, listed, require, warn
from frkit.data.labels import CROSSED, attributes_of, crossed, require_attributes, resolve_varying
from frkit.scores.groups import group_codes, groups_among, labels_of_sides, of_people
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
    probe, reference : (row,) whether the image stands on this side.
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
        """(image,) what images are drawn from: an identity's images that stand on the same sides.

        A probe that is no reference is replaced by such a probe: its scores exist.
        """
        identity = self.identity[self.first_row]
        sides = pd.DataFrame({"image": self.image, "p": self.probe, "r": self.reference})
        sides = sides.groupby("image").any()
        both = (sides.p & sides.r).to_numpy()
        if both.all():
            return identity
        words = np.where(both, "both", np.where(sides.p, "probe", "reference"))
        return np.char.add(np.char.add(identity, "\x1f"), words)


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
    attributes = {*table.variables} - {"image", "identity", "person", "probe", "reference"}
    require_attributes(by, attributes)
    return crossed([table[name].values for name in attributes_of(by)])


# --- lists ---------------------------------------------------------------------------------------


def list_images(
    pairs: xr.DataTree, by, varying: str, *, others=(), stratified=False, pair_by_pair=False
) -> tuple:
    """The images of a list, and the row of each pair's probe and reference, (pair,) each.

    The rule for labels that vary within a person is applied; by default each pair counts under its
    own labels. Without identities, or pair_by_pair, each side of each pair is an image of its own,
    and only a genuine pair shows one person.
    """
    n_pairs = pairs.sizes["pair"]
    label = np.full((2, n_pairs), UNKNOWN)
    if by is not None:
        label = np.array(labels_of_sides(pairs, by))
    labels_of_others = {name: np.ravel(labels_of_sides(pairs, name)) for name in others}
    identity = person = stratum = None
    if "probe_identity" in pairs.coords:
        identity = person = np.array(labels_of_sides(pairs, "identity"))
        if by is not None and of_people(pairs, by) and varying not in ("error", "keep"):
            name = CROSSED.join(attributes_of(by))
            resolved = resolve_varying(label.ravel(), identity.ravel(), varying, name)
            label, identity, split = (x if x is None else x.reshape(2, -1) for x in resolved)
            person = person if split is None else split
        elif by is not None:
            _note_varying(pairs, label, identity, by, stratified)
        stratum = resolve_varying(label.ravel(), identity.ravel(), "first", "label")[0]
    groups = groups_among(label.ravel(), by)
    on_probe = np.repeat([True, False], n_pairs)
    rows = {"label": label.ravel(), "on_probe": on_probe, "others": labels_of_others}
    if identity is None or pair_by_pair:
        return _nameless(pairs, rows, identity, person, groups)
    rows |= {"identity": identity.ravel(), "person": person.ravel(), "stratum": stratum}
    return _named(pairs, rows, groups)


def _note_varying(pairs, label, identity, by, stratified):
    """Say where labels vary within a person; strata must not."""
    rule = f"strata must be a property of the person, but {by!r}"
    if not of_people(pairs, by):
        require(not stratified, f"{rule} is one of the trial: draw without strata")
        return
    labelled = label != UNKNOWN
    n_labels = pd.Series(label[labelled]).groupby(identity[labelled]).nunique()
    varies = n_labels.index[n_labels > 1]
    if len(varies) == 0:
        return
    remedy = "say varying='first' or 'most frequent', or draw without strata"
    require(not stratified, f"{rule} varies within {listed(varies)}; {remedy}")
    warn(
        f"{by!r} varies within {len(varies)} of {len(n_labels)} people ({listed(varies, 3)}): "
        "each pair counts in the group that its own row names; varying='first' or 'most "
        "frequent' gives a person one label"
    )


def _nameless(pairs, rows, identity, person, groups):
    """Images of a list where every side of every pair is a new one."""
    n_pairs = pairs.sizes["pair"]
    number = np.arange(2 * n_pairs)
    name = np.char.zfill(number.astype(str), 12)
    if identity is None:
        genuine = np.flatnonzero(pairs["genuine"].values)
        identity = name.copy()
        identity[n_pairs + genuine] = name[genuine]
        person = identity
    images = Images(
        name=name,
        identity=identity.ravel(),
        person=person.ravel(),
        label=rows["label"],
        image=number,
        groups=groups,
        probe=rows["on_probe"],
        reference=~rows["on_probe"],
        others=rows["others"],
    )
    return images, number[:n_pairs], number[n_pairs:]


def _named(pairs, rows, groups):
    """Images of a list where identities are known, and images perhaps.

    Without image names an identity stands for all its images.
    """
    names = rows["identity"]
    if "probe" in pairs.coords:
        names = np.concatenate([pairs[side].values.astype(str) for side in ("probe", "reference")])
    image, names = pd.factorize(names.astype(object), sort=True)
    _check_one_person(image, names, rows["identity"])
    codes = {"image": image, "label": group_codes(rows["label"], groups)} | rows["others"]
    row = pd.DataFrame(codes).groupby([*codes], sort=True).ngroup().to_numpy()
    first = np.unique(row, return_index=True)[1]
    first_of_image = np.unique(image, return_index=True)[1]
    on_probe = np.bincount(image, rows["on_probe"]) > 0
    on_reference = np.bincount(image, ~rows["on_probe"]) > 0
    if np.any(on_probe & on_reference):  # both sides are one set of images
        on_probe[:] = on_reference[:] = True
    image = image[first]
    images = Images(
        name=names.astype(str)[image],
        identity=rows["identity"][first],
        person=rows["person"][first],
        label=rows["label"][first],
        image=image,
        groups=groups,
        probe=on_probe[image],
        reference=on_reference[image],
        others={name: labels[first] for name, labels in rows["others"].items()},
        stratum=rows["stratum"][first_of_image][image],
    )
    return images, *np.split(row, 2)


def _check_one_person(image, names, identity):
    """Refuse an image that shows two people."""
    first = np.unique(image, return_index=True)[1]
    differs = np.flatnonzero(identity[first][image] != identity)
    if len(differs):
        shown = np.unique(identity[image == image[differs[0]]])
        raise InputError(
            f"image {str(names[image[differs[0]]])!r} shows {listed(shown)}: if these are parts of "
            "one person whose label varies, say varying='first'; give different images different "
            "names"
        )


def images_of(kept: xr.DataTree, by, varying: str) -> Images:
    """The images of kept pairs of any design under the labels of an attribute."""
    if is_list(kept):
        return list_images(kept, by, varying)[0]
    return table_images(kept, by, varying)
