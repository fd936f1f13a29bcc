"""Who counts how much: the images of a question as codes, counts of replicates, and weights."""

from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import UNKNOWN, require, warn
from frkit.data.labels import CROSSED, attributes_of
from frkit.resampling import DIAGONAL_SCHEMES, Resampling
from frkit.scores.groups import shares
from frkit.scores.images import Images, list_images, table_images
from frkit.scores.kept import is_list, is_symmetric

MOST_COPIES = 255  # of an image in a replicate: counts are bytes


class ListedPairs(NamedTuple):
    """The pairs of a list.

    row, col : (pair,) rows of the table of images. is_genuine, is_impostor : (pair,), both False
    for an image with itself. with_itself : (pair,).
    """

    row: np.ndarray
    col: np.ndarray
    is_genuine: np.ndarray
    is_impostor: np.ndarray
    with_itself: np.ndarray


@dataclass(eq=False)
class Protocol:
    """Who is compared with whom, in the data and in every replicate; it knows no score.

    *Columns* of counts are first the data, then the replicates, last the V-statistic (eq. 19),
    whose images count once as in the data. A replicate says how often each person and each image
    counts: in a resample, in a subset of one group, or in a group of a permutation.

    Attributes
    ----------
    images : the rows: images under their labels.
    identity, person, group, kind : (row,) codes; the last group means "in no group". Kinds are
        groups, unless `impostors=` names attributes.
    cells_of_groups, cells_of_kinds : (group, group) and (kind, kind) the cell of a pair; -1 leaves
        the pair out. Cells of pairs within each group come first.
    drawn : counts of the replicates, (replicate, image) and (replicate, identity).
    share : (identity,) p_k.
    pooled : whether all pairs weigh the same.
    symmetric : whether every image was compared with every other, each pair once.
    listed : the pairs of a list, or None for a complete design.
    has_copies : whether replicates contain pairs of an image with its own copies.
    people_are_named, images_are_named : whether this question knows who is who.
    counts : (row, column) how often a row counts.
    image_counts : (row, column) how often it counts within its identity.
    identity_counts : (column, identity).
    """

    images: Images
    kind: np.ndarray
    cells_of_groups: np.ndarray
    cells_of_kinds: np.ndarray
    drawn: InitVar[tuple[np.ndarray, np.ndarray]]
    share: np.ndarray
    pooled: bool
    symmetric: bool
    listed: ListedPairs | None
    has_copies: bool
    people_are_named: bool
    images_are_named: bool
    people_known: bool

    def __post_init__(self, drawn) -> None:
        self.groups = self.images.groups
        self.identity = self.images.identity_code
        self.person = self.images.person_code
        self.group = self.images.group_code
        self.n_cells = int(self.cells_of_groups.max()) + 1
        most = int(np.prod([counts.max(initial=1) for counts in drawn], dtype=int))
        require(
            most <= MOST_COPIES,
            f"an image counts up to {most} times in a replicate; at most {MOST_COPIES} are "
            "possible: draw smaller subsets",
        )
        once = ((1, 1), (0, 0))  # a row of ones before and behind: the data, the V-statistic
        images, self.identity_counts = (
            np.pad(counts.astype(np.uint8), once, constant_values=1) for counts in drawn
        )
        self.counts = self.image_counts = np.ascontiguousarray(images[:, self.images.image].T)
        if np.any(self.identity_counts != 1):
            copies = np.ascontiguousarray(self.identity_counts[:, self.identity].T)
            self.counts = self.image_counts * copies
        self.n_columns = self.counts.shape[1]

    def number_by_identity(self, rows) -> np.ndarray:
        """How many of some rows each identity has."""
        return np.bincount(self.identity[rows], minlength=len(self.share))

    def images_and_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of images and of genuine pairs of each identity."""
        if self.listed is not None:
            genuine = self.listed.row[self.listed.is_genuine]
            return self.number_by_identity(self.images.first_row), self.number_by_identity(genuine)
        probe, reference = self.images.probe, self.images.reference
        n_pairs = self.number_by_identity(probe) * self.number_by_identity(reference)
        n_pairs -= self.number_by_identity(probe & reference)
        return self.number_by_identity(slice(None)), n_pairs // 2 if self.symmetric else n_pairs

    def cells(self, row, col):
        """The cell of each impostor pair, -1 where `impostors=` leaves it out."""
        n_kinds = len(self.cells_of_kinds)
        if n_kinds == 1:
            return np.zeros(len(row), np.int32)
        return self.cells_of_kinds.take(self.kind[row] * n_kinds + self.kind[col])

    # --- weights ---------------------------------------------------------------------------------

    @cached_property
    def scales(self) -> list[np.ndarray]:
        """p_k / n_k of each row as probe and as reference (eq. 2); all 1 where all are equal.

        n_k counts the identity's images on that side. An image that is not there has 0.
        """
        scales = []
        for side in (self.images.probe, self.images.reference):
            scale = side.astype(float)
            if not self.pooled:
                n_images = self.number_by_identity(side)[self.identity[side]]
                scale[side] = _ones_if_equal(self.share[self.identity[side]] / n_images)
            scales.append(scale)
        return scales

    @cached_property
    def weighs_equally(self) -> bool:
        """Whether all impostor pairs of a complete design weigh the same."""
        return bool(np.isin(self.scales, (0, 1)).all())

    @cached_property
    def listed_weights(self):
        """(pair,) weights of the impostor pairs of a list, eq. 2.

        Those of the same two people share the weight of these two.
        """
        assert self.listed is not None
        row, col, _, is_impostor, _ = self.listed
        weight = np.ones(len(row))
        if not self.pooled:
            sides = self.identity[row[is_impostor]], self.identity[col[is_impostor]]
            couples = pd.DataFrame({"low": np.minimum(*sides), "high": np.maximum(*sides)})
            n_pairs = couples.groupby(["low", "high"]).low.transform("size")
            shared = self.share[couples.low] * self.share[couples.high] / n_pairs.to_numpy()
            weight[is_impostor] = _ones_if_equal(shared)
        return weight

    def impostor_weights(self, row, col):
        """FAR is a mean over pairs of identities k < l of a mean over their pairs (eq. 2).

        Weighted by p_k p_l (section 2.1); the n_k n_l image pairs of two identities share their
        weight.
        """
        if self.weighs_equally:
            return 1.0
        probe_scale, reference_scale = self.scales
        return probe_scale[row] * reference_scale[col]

    def genuine_weights(self, row, n_pairs):
        """FRR is a mean over identities of a mean over their pairs of images (eq. 3).

        Weighted by p_k squared (section 2.1); the pairs of an identity share its weight. n_pairs :
        (identity,) how many did not fail.
        """
        identity = self.identity[row]
        weight = self.share[identity] ** 2
        return _ones_if_equal(weight if self.pooled else weight / n_pairs[identity])

    def vstatistic_weights(self, row, col, weight):
        """The V-statistic is a mean over all pairs of images, those with themselves too (eq. 19).

        E[w_i w_j] and E[w_i (w_i - 1)] are 1 - 1 / n in replicates that draw n images, which is the
        share of pairs of two images among all; a pair of an image with itself occurs once there,
        and a pair of two images in both orders.
        """
        if not self.has_copies:
            return weight
        _, urn, n_images = np.unique(self.images.urn, return_inverse=True, return_counts=True)
        first = urn[self.images.image[row]]
        second = urn[self.images.image[col]]
        mean_count = np.where(first == second, 1 - 1 / n_images[first], 1.0)
        return weight * mean_count


def _ones_if_equal(weight):
    """Weights, or ones where all are equal: rates do not change, and sums are exact."""
    return np.ones(len(weight)) if np.ptp(weight) <= 1e-14 * weight[0] else weight


# --- from options to a protocol ------------------------------------------------------------------


def make_protocol(
    kept: xr.DataTree,
    *,
    by=None,
    varying: str = "error",
    weighting=None,
    impostors: str | Mapping = "all",
    resampling: Resampling | None = None,
) -> Protocol:
    """The protocol of kept pairs; options are those of `evaluate`."""
    labels = dict(impostors) if isinstance(impostors, Mapping) else {}
    scheme = None if resampling is None else resampling.scheme
    people_are_named = not is_list(kept) or "probe_identity" in kept.coords
    listed = None
    if is_list(kept):
        images, row, col = list_images(
            kept, by, varying, others=tuple(labels),
            stratified=resampling is not None and resampling.strata is not None,
            pair_by_pair=scheme == "pair",
        )  # fmt: skip
    else:
        images = table_images(kept, by, varying, tuple(labels))
        require(
            len(np.unique(images.person_code)) > 1,
            "there is no impostor pair: all images show one person; at least two are needed",
        )
    cells = group_cells(len(images.groups), impostors)
    kind, cells_of_kinds = images.group_code, cells
    if labels:
        kind, cells_of_kinds = _kinds(images, cells, labels)
    if is_list(kept):
        left_out = cells_of_kinds[kind[row], kind[col]] < 0 if labels else False
        listed = _listed_pairs(kept, images, row, col, left_out)
    if weighting is None:
        weighting = "pair" if is_list(kept) else "identity"
    if scheme == "pair":
        drawn = _draw_pairs(listed, len(images.identities), resampling)
    else:
        drawn = _draw_people(images, by, resampling)
    protocol = Protocol(
        images=images,
        kind=kind,
        cells_of_groups=cells,
        cells_of_kinds=cells_of_kinds,
        drawn=drawn,
        share=shares(weighting, images.identities),
        pooled=isinstance(weighting, str) and weighting == "pair",
        symmetric=is_symmetric(kept),
        listed=listed,
        has_copies=scheme in DIAGONAL_SCHEMES
        and listed is None
        and any(images.probe & images.reference),
        people_are_named=people_are_named and scheme != "pair",
        images_are_named=people_are_named
        and scheme != "pair"
        and (listed is None or "probe" in kept.coords),
        people_known=scheme != "pair" or not people_are_named,
    )
    require(
        protocol.images_and_pairs()[1].any(),
        "there is no genuine pair: no identity has two images to compare; check the identities",
    )
    return protocol


def group_cells(n_groups: int, impostors: str | Mapping):
    """Cell of each pair of groups: within groups, then across, then pairs with no group."""
    cells = np.full((n_groups + 1, n_groups + 1), -1, np.int32)
    np.fill_diagonal(cells[:-1, :-1], np.arange(n_groups))
    if impostors != "same-group":
        a, b = np.triu_indices(n_groups, 1)
        across = n_groups + np.arange(len(a))
        cells[a, b] = across
        cells[b, a] = across
        cells[-1, :] = cells[:, -1] = n_groups + len(a)
    return cells


def _kinds(images: Images, cells, impostors):
    """Kind of each row, and the cell of two kinds, where `impostors=` names attributes.

    A kind is a group together with the labels of these attributes. An unknown label is neither the
    same as another nor another one.
    """
    labels_of_rows = pd.DataFrame({0: images.group_code} | images.others)
    kind = labels_of_rows.groupby([*labels_of_rows]).ngroup().to_numpy(np.int32)
    kinds = labels_of_rows.iloc[np.unique(kind, return_index=True)[1]]
    cells_of_kinds = cells[np.ix_(kinds[0], kinds[0])]
    for name, rule in impostors.items():
        labels = kinds[name].to_numpy(object)
        is_same = labels[:, None] == labels
        is_known = labels != UNKNOWN
        fits = is_same if rule == "same" else ~is_same
        cells_of_kinds[~(fits & is_known[:, None] & is_known)] = -1
    return kind, cells_of_kinds


def _draw_people(images: Images, by, resampling: Resampling | None) -> tuple:
    """Counts of images and of identities, (replicate, image) and (replicate, identity)."""
    first = images.first_row
    if resampling is None:
        none = np.empty((0, len(first)), np.uint8)
        return none, np.empty((0, len(images.identities)), np.uint8)
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
    place_of_identity = np.unique(images.identity[first], return_index=True)[1]
    urn_of_identity = np.searchsorted(drawn["identity"].values, images.urn[place_of_identity])
    return drawn["image_count"].values, drawn["identity_count"].values[:, urn_of_identity]


# --- lists ---------------------------------------------------------------------------------------


def _listed_pairs(pairs, images: Images, row, col, left_out) -> ListedPairs:
    """The pairs of a list by kind; left_out : (pair,) which `impostors=` leaves out."""
    with_itself = np.zeros(len(row), bool)
    if "probe" in pairs.coords:
        with_itself = pairs["probe"].values == pairs["reference"].values
    if with_itself.any():
        self_pairs_message = "pair(s) compare an image with itself: they are left out of every rate"
        warn(f"{with_itself.sum()} {self_pairs_message}")
    is_genuine = (images.identity_code[row] == images.identity_code[col]) & ~with_itself
    is_impostor = (images.person_code[row] != images.person_code[col]) & ~with_itself
    if "probe_identity" not in pairs.coords:
        is_genuine &= pairs["genuine"].values.astype(bool)
    absent = "there is no {} pair in the list: nothing can be falsely {}"
    require(is_genuine.any(), absent.format("genuine", "rejected"))
    require(is_impostor.any(), absent.format("impostor", "accepted"))
    is_impostor &= ~np.asarray(left_out)
    require(is_impostor.any(), "no impostor pair is left: impostors= leaves all of them out")
    row, col = row.astype(np.int32), col.astype(np.int32)
    return ListedPairs(row, col, is_genuine, is_impostor, with_itself)


def _draw_pairs(listed, n_identities, resampling):
    """Counts where each pair is drawn separately: those of the image on its first side."""
    positions = [np.flatnonzero(kind) for kind in (listed.is_genuine, listed.is_impostor)]
    kinds = np.repeat(["genuine", "impostor"], [*map(len, positions)])
    image_count = np.ones((resampling.n, 2 * len(listed.row)), np.uint8)
    drawn = resampling.weights(kinds)["image_count"].values
    image_count[:, listed.row[np.concatenate(positions)]] = drawn
    return image_count, np.ones((resampling.n, n_identities), np.uint8)
