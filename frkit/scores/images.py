"""The images of a question: who is in each of them, and under which labels it counts."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import UNKNOWN, listed, require, warn
from frkit.data.labels import CROSSED, attributes_of, resolve_varying
from frkit.data.sides import SIDES
from frkit.scores.groups import group_codes, groups_among, labels_of_images
from frkit.scores.kept import IMAGES, PAIRS, has_names, is_list, require_one_person, rows_of_sides

OF_STRATA = "strata must be a property of the person"


@dataclass(frozen=True, eq=False)
class Images:
    """Images as rows, one for each set of labels under which an image counts.

    In a complete design every image is one row. In a list the labels belong to the rows of the
    file, so that an image may be several rows.

    Attributes
    ----------
    name, identity, person : (row,) An identity is a person, or the part of a person that has one
        label of an attribute that varies. Numbers where nobody has a name.
    group_code : (row,) the place of the group, behind the last one for "unknown".
    image : (row,) number of the image; its rows have the same.
    groups : the group labels, without "unknown".
    probe, reference : (row,) whether its image is on this side.
    stratum : (row,) in which its person is drawn.
    sides : (side, pair) the row of each probe and reference of a list.
    """

    name: np.ndarray
    identity: np.ndarray
    person: np.ndarray
    group_code: np.ndarray
    image: np.ndarray
    groups: np.ndarray
    probe: np.ndarray
    reference: np.ndarray
    stratum: Any = None
    sides: Any = None

    @cached_property
    def _identities(self):
        names, code = np.unique(self.identity, return_inverse=True)
        return names, code.astype(np.int32)

    @property
    def identities(self) -> np.ndarray:
        """Names of all identities, sorted."""
        return self._identities[0]

    @property
    def identity_code(self) -> np.ndarray:
        """(row,) the place of the identity among all."""
        return self._identities[1]

    @cached_property
    def person_code(self) -> np.ndarray:
        """(row,) the place of the person among all."""
        if self.person is self.identity:
            return self.identity_code
        return np.unique(self.person, return_inverse=True)[1].astype(np.int32)

    @property
    def label(self) -> np.ndarray:
        """(row,) the label of the group, or "unknown"."""
        return np.append(self.groups, UNKNOWN)[self.group_code]

    @cached_property
    def first_row(self) -> np.ndarray:
        """(image,) the first row of each image."""
        return np.unique(self.image, return_index=True)[1]

    @cached_property
    def urn(self) -> np.ndarray:
        """(image,) what images are drawn from: an identity's images that are on the same sides.

        A probe that is not a reference is replaced by another such probe: its scores exist.
        """
        first = self.first_row
        identity, probe = self.identity[first], self.probe[first]
        both = probe & self.reference[first]
        if both.all():
            return identity
        side = np.where(both, "both", np.where(probe, "probe", "reference"))
        return np.char.add(np.char.add(identity, "\x1f"), side)


def images_of(kept: xr.DataTree, by, varying: str, stratified=False) -> Images:
    """The images of kept pairs of any design, with the rule for labels that vary applied.

    In a list each pair counts under its own labels by default.
    """
    table = kept[IMAGES].dataset
    label = labels_of_images(table, by)
    if not has_names(kept):
        return _nameless_sides(kept, label, groups_among(label, by))
    identity = table["identity"].values
    person = table["person"].values if "person" in table else identity
    stratum = sides = None
    if is_list(kept):
        sides = rows_of_sides(kept)
        if by is not None:
            label, identity, person, stratum = _resolved_in_list(
                table, np.ravel(sides), label, by, varying, stratified
            )
        name = table["image"].values if has_names(kept, "image") else identity
        image = np.unique(name, return_inverse=True)[1]
        require_one_person(name, identity)
        probe, reference = _sides_of(image, sides)
    else:
        if by is not None:
            attribute = CROSSED.join(attributes_of(by))
            label, identity, person = resolve_varying(label, identity, varying, attribute, person)
        name, image = table["image"].values, np.arange(len(identity))
        everywhere = np.ones(len(identity), bool)
        probe, reference = (table[side].values if side in table else everywhere for side in SIDES)
    groups = groups_among(label, by)
    return Images(
        name=name,
        identity=identity,
        person=person,
        group_code=group_codes(label, groups),
        image=image,
        groups=groups,
        probe=probe,
        reference=reference,
        stratum=label if stratum is None else stratum,
        sides=sides,
    )


# --- lists ---------------------------------------------------------------------------------------


def _nameless_sides(kept, label, groups):
    """The images of a list without people: each side of each pair is an image of its own.

    Only a genuine pair shows one person.
    """
    row = np.ravel(rows_of_sides(kept))
    side = np.arange(len(row), dtype=np.int32)
    image = side
    if has_names(kept, "image"):
        image = np.unique(kept[IMAGES]["image"].values, return_inverse=True)[1][row]
    genuine = np.flatnonzero(kept[PAIRS]["genuine"].values)
    person = side.copy()
    person[len(row) // 2 + genuine] = genuine
    everywhere = np.ones(len(row), bool)
    return Images(
        name=side,
        identity=person,
        person=person,
        group_code=group_codes(label, groups)[row],
        image=image,
        groups=groups,
        probe=everywhere,
        reference=everywhere,
        sides=side.reshape(2, -1),
    )


def _resolved_in_list(table, row, label, by, varying, stratified):
    """Labels, identities and people of rows, with the rule for labels that vary; and strata.

    Rules that count labels, or take the first one, count the sides of pairs in their order.
    """
    identity = table["identity"].values
    attribute = CROSSED.join(attributes_of(by))
    if any(table[name].attrs.get("of") == "pairs" for name in attributes_of(by)):
        require(not stratified, f"{OF_STRATA}, but {by!r} is one of the pair: draw without strata")
        varying = "keep"  # labels describe the comparison
    elif varying in ("error", "keep") and _note_varying(label, identity, by, stratified):
        varying = "keep"
    if varying in ("error", "keep"):
        label, identity, person = resolve_varying(label, identity, varying, attribute, identity)
    else:
        on_sides = resolve_varying(label[row], identity[row], varying, attribute, identity[row])
        label, identity, person = (_of_rows(values, row) for values in on_sides)
    first = pd.unique(row)  # the rows in the order of the list
    stratum = label.copy()
    stratum[first] = resolve_varying(label[first], identity[first], "first", "label")[0]
    return label, identity, person, stratum


def _of_rows(values, row):
    """The values of rows, from those of all sides of pairs; row : of each side."""
    of_rows = np.empty(row.max() + 1, values.dtype)
    of_rows[row] = values
    return of_rows


def _note_varying(label, identity, by, stratified):
    """Warn where labels vary within a person, and refuse strata then; whether they do."""
    labelled = label != UNKNOWN
    n_labels = pd.Series(label[labelled]).groupby(identity[labelled]).nunique()
    varying = n_labels.index[n_labels > 1]
    if len(varying) > 0:
        require(
            not stratified,
            f"{OF_STRATA}, but {by!r} varies within {listed(varying)}; say varying='first' or "
            "'most frequent', or draw without strata",
        )
        warn(
            f"{by!r} varies within {len(varying)} of {len(n_labels)} people ({listed(varying, 3)}):"
            " each pair counts in the group that its own row names; the option varying "
            "('first' or 'most frequent') gives a person one label"
        )
    return len(varying) > 0


def _sides_of(image, sides):
    """Which rows are of probes, and which of references; all are both where some images are."""
    n_images = image.max() + 1
    probe, reference = (np.bincount(image[rows], minlength=n_images) > 0 for rows in sides)
    is_one_set = np.any(probe & reference)
    return probe[image] | is_one_set, reference[image] | is_one_set
