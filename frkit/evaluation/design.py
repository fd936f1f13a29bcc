"""Who is compared with whom in a question: images as codes, weights of people; no score."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import require, warn
from frkit.data.labels import CROSSED, attributes_of
from frkit.resampling import DIAGONAL_SCHEMES, Resampling
from frkit.scores.groups import shares
from frkit.scores.images import Images, images_of
from frkit.scores.kept import (
    PAIRS,
    has_names,
    is_list,
    is_symmetric,
)


class ListedPairs(NamedTuple):
    """The kinds of the pairs of a list, (pair,) each.

    is_genuine, is_impostor : both False for an image with itself.
    """

    is_genuine: np.ndarray
    is_impostor: np.ndarray


class Design(NamedTuple):
    """Who is compared with whom, for all models of a question.

    images : the rows: images under their labels. within_groups : whether impostor pairs of two
    groups are left out. share : (identity,) p_k. pooled : whether all pairs weigh the same.
    symmetric : whether every image was compared with every other, each pair once. listed : the
    pairs of a list, or None. people_are_named, images_are_named : whether the data say who is who.
    """

    images: Images
    within_groups: bool
    share: np.ndarray
    pooled: bool
    symmetric: bool
    listed: ListedPairs | None
    people_are_named: bool
    images_are_named: bool

    @property
    def n_people(self):
        """How many people there are."""
        return int(self.images.person_code.max()) + 1


def make_design(
    kept: xr.DataTree,
    *,
    by=None,
    varying: str = "error",
    weighting=None,
    impostors: str = "all",
    resampling: Resampling | None = None,
) -> Design:
    """The design of kept pairs; options are those of `evaluate`."""
    within_groups = impostors == "same-group"
    stratified = resampling is not None and resampling.strata is not None
    images = images_of(kept, by, varying, stratified)
    listed = None
    if is_list(kept):
        listed = _listed_pairs(kept, images, within_groups)
    else:
        require(
            len(np.unique(images.person_code)) > 1,
            "there is no impostor pair: all images show one person; at least two are needed",
        )
    if weighting is None:
        weighting = "pair" if is_list(kept) else "identity"
    design = Design(
        images=images,
        within_groups=within_groups,
        share=shares(weighting, images.identities),
        pooled=isinstance(weighting, str) and weighting == "pair",
        symmetric=is_symmetric(kept),
        listed=listed,
        people_are_named=has_names(kept),
        images_are_named=has_names(kept) and has_names(kept, "image"),
    )
    require(
        images_and_pairs(design)[1].any(),
        "there is no genuine pair: no identity has two images to compare; check the identities",
    )
    return design


def _listed_pairs(kept, images: Images, within_groups) -> ListedPairs:
    """The pairs of a list by kind."""
    row, col = images.sides
    with_itself = (images.image[row] == images.image[col]) & has_names(kept, "image")
    if with_itself.any():
        warn(
            f"{with_itself.sum()} pair(s) compare an image with itself: they are left out of every "
            "rate"
        )
    is_same_person = images.person_code[row] == images.person_code[col]
    require(
        np.array_equal(is_same_person, kept[PAIRS]["genuine"].values),
        "`genuine` of the list was changed, and contradicts its identities: give both anew, with "
        "fk.pairs",
    )
    is_genuine = (images.identity_code[row] == images.identity_code[col]) & ~with_itself
    is_impostor = (images.person_code[row] != images.person_code[col]) & ~with_itself
    absent = "there is no {} pair in the list: nothing can be falsely {}"
    require(is_genuine.any(), absent.format("genuine", "rejected"))
    require(is_impostor.any(), absent.format("impostor", "accepted"))
    if within_groups:
        is_impostor &= are_of_one_group(images, row, col)
        require(is_impostor.any(), "no impostor pair is left: none is within a group")
    return ListedPairs(is_genuine, is_impostor)


def are_of_one_group(images: Images, row, col):
    """Whether both images of each pair are in the same group."""
    group = images.group_code
    return (group[row] == group[col]) & (group[row] < len(images.groups))


def images_and_pairs(design: Design):
    """Numbers of images and of genuine pairs of each identity."""
    images = design.images
    identity = images.identity_code

    def number(rows):
        return np.bincount(identity[rows], minlength=len(design.share))

    if design.listed is not None:
        genuine = images.sides[0][design.listed.is_genuine]
        return number(images.first_row), number(genuine)
    probe, reference = images.probe, images.reference
    n_pairs = number(probe) * number(reference) - number(probe & reference)
    return number(slice(None)), n_pairs // 2 if design.symmetric else n_pairs


# --- replicates ----------------------------------------------------------------------------------


def has_copies(design: Design, resampling):
    """Whether replicates contain pairs of an image with its own copies."""
    scheme = getattr(resampling, "scheme", None)
    both_sides = design.images.probe & design.images.reference
    return scheme in DIAGONAL_SCHEMES and design.listed is None and bool(both_sides.any())


def draw(design: Design, by, resampling: Resampling):
    """How often images and identities count, (replicate, row) and (replicate, identity)."""
    images = design.images
    if resampling.scheme == "pair":
        return _draw_pairs(design, resampling)
    first = images.first_row
    strata = None
    if resampling.strata is not None:
        names = ("group",) if by is None else ("group", CROSSED.join(attributes_of(by)))
        require(
            by is not None and resampling.strata in names,
            f"strata={resampling.strata!r} must name the attribute given as by= (or be 'group'); "
            f"got by={by!r}",
        )
        strata = images.stratum[first]
    drawn = resampling.weights(images.urn, images.name[first], strata, images.person[first])
    image_of_identity = np.unique(images.identity[first], return_index=True)[1]
    urn_of_identity = np.searchsorted(drawn["identity"].values, images.urn[image_of_identity])
    image_counts = drawn["image_count"].values[:, images.image]
    return image_counts, drawn["identity_count"].values[:, urn_of_identity]


def _draw_pairs(design: Design, resampling):
    """Counts where each pair is drawn separately: those of the image on its first side."""
    listed: Any = design.listed
    positions = [np.flatnonzero(kind) for kind in (listed.is_genuine, listed.is_impostor)]
    kinds = np.repeat(["genuine", "impostor"], [*map(len, positions)])
    image_counts = np.ones((resampling.n, len(design.images.image)), np.uint16)
    drawn = resampling.weights(kinds)["image_count"].values
    image_counts[:, design.images.sides[0][np.concatenate(positions)]] = drawn
    return image_counts, np.ones((resampling.n, len(design.share)), np.uint8)


def varies(design: Design, image_counts, identity_counts):
    """Whether some replicate that contains impostors differs from the data."""
    counts = image_counts * identity_counts[:, design.images.identity_code]
    has_other_counts = np.ptp(counts, axis=1) > 0
    n_identities = np.count_nonzero(identity_counts, axis=1)
    return bool(np.any(has_other_counts & (n_identities >= min(2, len(design.share)))))


def weight_on_few_images(design: Design, fewest):
    """Share of FRR's weight of people with fewer images, their number, and that of all."""
    n_images, n_pairs = images_and_pairs(design)
    weight = design.share**2 * (n_pairs if design.pooled else n_pairs > 0)
    few = (n_images < fewest) & (n_pairs > 0)
    return weight[few].sum() / weight.sum(), few.sum(), np.count_nonzero(n_pairs)


def codes_of_couples(first, second, n):
    """A number for every two of n people (or images), whatever their order."""
    return np.minimum(first, second).astype(np.int64) * n + np.maximum(first, second)


def labels_vary(design: Design):
    """Whether a person has images under several labels."""
    images = design.images
    table = pd.DataFrame({"person": images.person_code, "group": images.group_code})
    return len(table.drop_duplicates()) > design.n_people
