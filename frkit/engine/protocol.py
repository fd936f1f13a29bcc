"""Who is compared with whom, and how often in every replicate: labels and options as codes, cells and weights."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr
from scipy import sparse

from frkit.base import IDENTITY, PAIR, require
from frkit.engine.listed import Listed, draw_pairs, people_of_list, weights_of_list
from frkit.data.labels import CROSSED, attributes_of
from frkit.resampling import DIAGONAL_SCHEMES, Resampling
from frkit.scores.groups import People, cell_table, group_codes, is_symmetric, people, shares

WHOLE_LIMIT = 255  # weights up to here are added as 16-bit products
COLUMNS = 32  # whose weights are held in full precision at once
MOST_COPIES = 4_095  # of an image in a replicate: products of two such counts are exact in float32


@dataclass(frozen=True, eq=False)
class Side:
    """The images along one side.

    person, identity, group: integer codes, (image,); the last group code means "in no group".
    weight: (image, column) small unsigned integers, column 0 all ones (the point estimate), then replicates.
    scale: (image,) the factor that the weighting gives an image's pairs (1/n_k, say).
    """

    person: np.ndarray
    identity: np.ndarray
    group: np.ndarray
    weight: np.ndarray
    scale: np.ndarray

    @cached_property
    def real_weight(self) -> np.ndarray:
        """The weights in float32, for sums with a factor."""
        return self.weight.astype(np.float32)

    @cached_property
    def by_column(self) -> np.ndarray:
        """The weights as (column, image)."""
        return np.ascontiguousarray(self.weight.T)

    def __getstate__(self) -> dict:
        return {name: part for name, part in self.__dict__.items() if name not in ("real_weight", "by_column")}


@dataclass(frozen=True, eq=False)
class Protocol:
    """Who is compared with whom, in the data (column 0) and in every replicate; no score is known here.

    cell_of: (group, group) the cell of a pair of groups; -1 where such pairs are left out. What follows is not needed
    to visit blocks of scores. people: labels of the images. image_count (column, image) within the identity, and
    identity_count (column, identity). share: p_k of each identity; pooled: all pairs weigh the same. between: weights
    of a list's impostor pairs, by row * references + column. asked: rows and columns of the genuine pairs, whose scores
    are collected, and behind the first `n_genuine` of images with themselves, where replicates hold copies (diagonal);
    owner: their identities. listed: for a pair list, where its pairs stand.
    """

    probe: Side
    reference: Side
    symmetric: bool
    cell_of: np.ndarray
    people: People | None = None
    image_count: np.ndarray | None = None
    identity_count: np.ndarray | None = None
    share: np.ndarray | None = None
    pooled: bool = False
    between: tuple[np.ndarray, np.ndarray] | None = None
    asked: tuple[np.ndarray, np.ndarray] | None = None
    owner: np.ndarray | None = None
    n_genuine: int = 0
    diagonal: bool = False
    listed: Listed | None = None

    @property
    def groups(self) -> np.ndarray:
        """Labels of the groups; group g has its own pairs in cell g."""
        return self.people.groups

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.cell_of.max()) + 1

    @property
    def n_columns(self) -> int:
        """Replicates, and the point estimate in front of them."""
        return self.probe.weight.shape[1]

    @property
    def n_people(self) -> int:
        """Number of people on either side."""
        return 1 + max(int(self.probe.person.max()), int(self.reference.person.max()))

    @cached_property
    def n_pairs(self) -> int:
        """Impostor and genuine pairs that the sweep visits."""
        n, m = len(self.probe.person), len(self.reference.person)
        return n * (n - 1) // 2 if self.symmetric else n * m

    @cached_property
    def whole_run(self) -> int:
        """How many pairs' weights can be added up in 16 bits: then sums are exact; 0 where weights are not whole.

        They are where every pair weighs a small whole number, times one factor for all.
        """
        sides = self.probe, self.reference
        row_most, col_most = (int(side.weight.max()) for side in sides)
        whole = all(np.all(side.scale == side.scale[0]) for side in sides) and max(row_most, col_most) <= WHOLE_LIMIT
        return 65_535 // max(row_most * col_most, 1) if whole and self.between is None else 0

    @property
    def counts_are_weights(self) -> bool:
        """Whether every pair weighs one, and there are no replicates: then there is nothing to add up but pairs."""
        return self.n_columns == 1 and self.whole_run > 0

    def scales(self, side: Side) -> np.ndarray:
        """The factors that enter sums: 1 where all are equal, for rates do not depend on a common factor."""
        return np.ones(len(side.scale)) if self.whole_run else side.scale

    def cells(self, row: np.ndarray, col: np.ndarray) -> np.ndarray:
        """The cell of each of some pairs."""
        return self.cell_of[self.probe.group[row], self.reference.group[col]].astype(np.int64)

    def factors(self, row: np.ndarray, col: np.ndarray) -> np.ndarray:
        """The factor of each of some pairs."""
        if self.whole_run:
            return np.ones(len(row))
        if self.between is not None:
            places, weight = self.between
            return weight[np.searchsorted(places, np.asarray(row, np.int64) * len(self.reference.person) + col)]
        return self.probe.scale[row] * self.reference.scale[col]

    @cached_property
    def impostor_totals(self) -> np.ndarray:
        """Weight of all impostor pairs, (cell, column), from products of sums: no pair is visited."""
        n_groups, n_people = len(self.cell_of), self.n_people
        gathers = []  # adds up the images of each person in each group, (group and person, image)
        for side in [self.probe] if self.symmetric else [self.probe, self.reference]:
            place = side.group.astype(np.int64) * n_people + side.person
            shape = (n_groups * n_people, len(place))
            gathers.append(sparse.csr_matrix((self.scales(side), (place, np.arange(len(place)))), shape=shape))
        totals = np.zeros((self.n_cells, self.n_columns))
        for columns in (slice(k, k + COLUMNS) for k in range(0, self.n_columns, COLUMNS)):
            of_people = [
                (gather @ side.weight[:, columns].astype(float)).reshape(n_groups, n_people, -1)
                for gather, side in zip(gathers, (self.probe, self.reference), strict=False)
            ]
            known = [(part, part.any(2), part.sum(1)) for part in of_people]
            (probe, of_probe, probe_sum), (reference, of_reference, reference_sum) = known[0], known[-1]
            for g, h in np.argwhere(self.cell_of >= 0):
                both = np.flatnonzero(of_probe[g] & of_reference[h])
                # all pairs of the two groups but those of one person with itself, which are no impostors
                within = np.einsum("pb,pb->b", probe[g][both], reference[h][both])
                pairs = probe_sum[g] * reference_sum[h] - within
                totals[self.cell_of[g, h], columns] += pairs * (0.5 if self.symmetric else 1.0)
        return totals

    @cached_property
    def fingerprint(self) -> str:
        """What images, labels, pairs and draws leave of themselves in the provenance."""
        digest = hashlib.sha256()
        for labels in (self.people.names, self.people.identity, self.people.group):
            digest.update("\n".join(labels.tolist()).encode())
        for counts in (self.image_count, self.identity_count):
            for column in counts:  # in the width of every version; one after the other they take no memory
                digest.update(column.astype(np.uint16))
        if np.any(self.share != 1):
            digest.update(self.share.tobytes())
        if self.listed is not None:
            digest.update(self.listed.row.tobytes() + self.listed.col.tobytes())
        return digest.hexdigest()[:32]


def make_protocol(
    scores: xr.DataArray, by=None, varying: str = "error", weighting=None, impostors: str = "all", resampling=None
) -> Protocol:
    """Labels and options of a score tensor, or of a list of pairs, to codes, cells, counts and weights."""
    collect = people_of_list if PAIR in scores.dims else _people_of_tensor
    images, group_of, listed = collect(scores, by, varying, resampling)
    if listed is not None and listed.one_by_one:
        counts = draw_pairs(listed, len(images.names), resampling)
    else:
        counts = draw_people(images, by, resampling)
    counts = tuple(_narrow(part) for part in counts)
    weight = _image_weight(*counts, images.identity_code)
    weighting = ("identity" if listed is None else "pair") if weighting is None else weighting
    pooled = isinstance(weighting, str) and weighting == "pair"
    known = images.identity if listed is None else listed.identity
    require(
        pooled or known is not None,
        "these pairs carry no identities, so that all pairs weigh the same, weighting='pair'; give probe_identity= "
        "and reference_identity= for another weighting",
    )
    share = shares(weighting, np.unique(images.identity if known is None else known))
    person = np.unique(images.person, return_inverse=True)[1].astype(np.int32)

    def side(on_side: np.ndarray, group: np.ndarray) -> Side:
        identity, scale = images.identity_code[on_side], np.ones(len(on_side))
        if listed is None and not pooled:
            scale = share[identity] / np.bincount(images.identity_code[np.unique(on_side)])[identity]
        codes = person[on_side], identity.astype(np.int32), group.astype(np.uint16)
        return Side(*codes, np.ascontiguousarray(weight[:, on_side].T), scale)

    symmetric = listed is None and is_symmetric(scores)
    probe = side(images.probe, group_of[0])
    reference = probe if symmetric else side(images.reference, group_of[1])
    if listed is None:
        # a replicate that holds an image twice takes its score with itself for a genuine one
        copies = resampling is not None and resampling.scheme in DIAGONAL_SCHEMES
        asked, n_genuine = _genuine_pairs(images, symmetric, copies)
        owner, between = reference.identity[asked[1]], None
    else:
        asked, n_genuine = listed.places(listed.genuine), len(listed.genuine)
        owner, between = weights_of_list(listed, share, pooled, len(reference.person))
    cells, diagonal = cell_table(len(images.groups), impostors), len(asked[0]) > n_genuine
    weights = images, *counts, share, pooled, between
    return Protocol(probe, reference, symmetric, cells, *weights, asked, owner, n_genuine, diagonal, listed)


def _people_of_tensor(scores: xr.DataArray, by, varying: str, resampling: Resampling | None) -> tuple:
    """The images of a tensor, and the group code of what stands on either side, as `people_of_list`."""
    pairwise = resampling is not None and resampling.scheme == "pair"
    require(not pairwise, "scheme 'pair' is for pair lists: the pairs of a tensor share images; draw those")
    images = people(scores, by, varying)
    several = len(np.unique(images.person)) > 1
    require(several, "there is no impostor pair: all images are of one person; at least two are needed")
    group = group_codes(images.group, images.groups)
    return images, (group[images.probe], group[images.reference]), None


def _genuine_pairs(images: People, symmetric: bool, copies: bool) -> tuple[tuple[np.ndarray, np.ndarray], int]:
    """(rows, columns) of the pairs of two images of one identity, each once in a symmetric tensor, and how many.

    copies: behind these stand the pairs of an image with itself.
    """
    code, shows = images.identity_code, []  # who is on each image of either side: (image, identity)
    for at in (images.probe, images.reference):
        one_each = np.ones(len(at), bool), code[at], np.arange(len(at) + 1)
        shows.append(sparse.csr_matrix(one_each, shape=(len(at), code.max() + 1)))
    row, col = (shows[0] @ shows[1].T).sorted_indices().nonzero()
    one, other = images.probe[row], images.reference[col]
    genuine = np.flatnonzero(one < other if symmetric else one != other)
    require(len(genuine) > 0, "there is no genuine pair: no identity has two images to compare; check the identities")
    itself = np.flatnonzero((one == other) & copies)
    asked = np.append(genuine, itself[np.argsort(one[itself], kind="stable")])
    return (row[asked], col[asked]), len(genuine)


def _image_weight(image_count: np.ndarray, identity_count: np.ndarray, identity: np.ndarray) -> np.ndarray:
    """How often each image counts in each column, (column, image), in the smallest fitting integers."""
    most = int(image_count.max()) * int(identity_count.max())
    require(
        most <= MOST_COPIES,
        f"an image counts up to {most} times in a replicate; at most {MOST_COPIES} are exact: draw smaller subsets",
    )
    if np.any(identity_count != 1):
        image_count = np.multiply(image_count, identity_count[:, identity], dtype=np.uint16)
    return _narrow(image_count)


def _narrow(counts: np.ndarray) -> np.ndarray:
    """The same in the smallest fitting integers."""
    return counts.astype(np.uint8 if counts.max() <= WHOLE_LIMIT else np.uint16, copy=False)


def draw_people(images: People, by, resampling: Resampling | None) -> tuple[np.ndarray, np.ndarray]:
    """(column, image) and (column, identity) counts; column 0 counts everything once."""
    first = np.unique(images.identity, return_index=True)[1]
    ones = np.ones((1, len(images.names)), np.uint16), np.ones((1, len(first)), np.uint16)
    if resampling is None:
        return ones
    if resampling.strata is not None:
        same = by is not None and resampling.strata in ("group", CROSSED.join(attributes_of(by)))
        require(
            same,
            f"strata={resampling.strata!r} must name the attribute given as by= (or be 'group'); got by={by!r}",
        )
    strata = None if resampling.strata is None else images.group
    drawn = resampling.weights(images.urn, images.names, strata, images.person)
    urn_of_identity = np.searchsorted(drawn[IDENTITY].values, images.urn[first])
    counts = drawn["image_count"].values, drawn["identity_count"].values[:, urn_of_identity]
    return tuple(np.concatenate(pair) for pair in zip(ones, counts, strict=True))
