"""Who stands on each side of a score tensor, as integer codes and counts that the sweep can take."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr

from frkit.base import IDENTITY, UNKNOWN, require
from frkit.engine.design import WHOLE_LIMIT, Design, GenuinePairs, Side, genuine_pairs
from frkit.faces.labels import CROSSED, attributes_of
from frkit.resampling import DIAGONAL_SCHEMES, Resampling
from frkit.scores.groups import People, people, same_image, urns

MOST_COPIES = 4_095  # of an image in a replicate: products of two such counts are exact in float32


@dataclass(frozen=True, eq=False)
class Listed:
    """A pair list on the two sides of the design: row and col of every pair, and which pairs are of which kind.

    genuine, impostor: positions in the list. facts: counts for the provenance.
    """

    row: np.ndarray
    col: np.ndarray
    genuine: np.ndarray
    impostor: np.ndarray
    facts: dict


@dataclass(frozen=True, eq=False)
class Cohort:
    """Everything about the images that an evaluation needs, without a score.

    design: both sides for the sweep. asked: pairs whose scores are collected: the first `n_genuine` are
    genuine, the rest images with themselves. groups: labels. diagonal: whether replicates hold copies of
    images. image_count (column, image), identity_count (column, identity): column 0 is the data themselves.
    listed: for a pair list, where its pairs stand.
    """

    people: People
    design: Design
    asked: GenuinePairs
    n_genuine: int
    diagonal: bool
    image_count: np.ndarray
    identity_count: np.ndarray
    identity: np.ndarray
    share: np.ndarray
    pooled: bool
    listed: Listed | None = None

    @property
    def groups(self) -> np.ndarray:
        """Labels of the groups."""
        return self.people.groups

    @cached_property
    def genuine_weight(self) -> tuple[np.ndarray, np.ndarray]:
        """How often the images on each side are drawn within their identity, (column, image)."""
        small = self.image_count.astype(np.uint8 if self.image_count.max() <= WHOLE_LIMIT else np.uint16)
        return tuple(np.ascontiguousarray(small[:, images]) for images in (self.people.probe, self.people.reference))

    @cached_property
    def urn_sizes(self) -> tuple[np.ndarray, np.ndarray]:
        """The urn of each image, as a code, and how many images that holds."""
        code = np.unique(urns(self.people), return_inverse=True)[1]
        return code, np.bincount(code)[code].astype(float)

    @cached_property
    def fingerprint(self) -> str:
        """What images, labels, pairs and draws leave of themselves in the provenance."""
        digest = hashlib.sha256()
        for part in (self.people.names, self.people.identity, self.people.group):
            digest.update("\n".join(part.tolist()).encode())
        for part in (self.image_count, self.identity_count):
            digest.update(np.ascontiguousarray(part).tobytes())
        if self.listed is not None:
            digest.update(self.listed.row.tobytes() + self.listed.col.tobytes())
        return digest.hexdigest()[:32]

    @property
    def own_cell(self) -> np.ndarray:
        """The cell of pairs within each group."""
        return np.arange(len(self.groups))


def cohort(scores: xr.DataArray, by, varying, weighting, impostors, resampling: Resampling | None) -> Cohort:
    """Labels and options to codes, counts and weights."""
    pairwise = resampling is not None and resampling.scheme == "pair"
    require(not pairwise, "scheme 'pair' is for pair lists: the pairs of a tensor share images; draw those")
    who = people(scores, by, varying)
    labels, identity = np.unique(who.identity, return_inverse=True)
    share, pooled = shares(weighting, labels), isinstance(weighting, str) and weighting == "pair"
    image_count, identity_count = drawn_counts(who, by, resampling)
    symmetric = bool(scores.attrs.get("symmetric"))
    person = np.unique(who.person, return_inverse=True)[1].astype(np.int32)
    group = np.searchsorted(who.groups, who.group)
    group[who.group == UNKNOWN] = len(who.groups)
    image_weight = _image_weight(image_count, identity_count, identity)

    def side(images: np.ndarray) -> Side:
        many = np.bincount(identity[images], minlength=len(labels))[identity[images]]
        scale = np.ones(len(images)) if pooled else share[identity[images]] / many
        weight = np.ascontiguousarray(image_weight[:, images].T)
        return Side(person[images], identity[images].astype(np.int32), group[images].astype(np.uint16), weight, scale)

    probe = side(who.probe)
    reference = probe if symmetric else side(who.reference)
    design = Design(probe, reference, symmetric, cell_table(len(who.groups), impostors))
    pairs = _present_pairs(who, probe, reference, symmetric)
    diagonal = resampling is not None and resampling.scheme in DIAGONAL_SCHEMES
    itself = same_image(who, symmetric)
    asked = pairs if "self_score" in scores.attrs or not diagonal else _joined(pairs, itself, identity[who.probe])
    return Cohort(
        who,
        design,
        asked,
        len(pairs),
        diagonal and len(itself[0]) > 0,
        image_count,
        identity_count,
        identity,
        share,
        pooled,
    )


def _image_weight(image_count: np.ndarray, identity_count: np.ndarray, identity: np.ndarray) -> np.ndarray:
    """How often each image counts in each column, (column, image), in the smallest fitting integers."""
    most = int(image_count.max()) * int(identity_count.max())
    require(
        most <= MOST_COPIES,
        f"an image counts up to {most} times in a replicate; at most {MOST_COPIES} are exact: draw smaller subsets",
    )
    drawn = bool(np.any(identity_count != 1))
    weight = image_count.astype(np.int64) * identity_count[:, identity] if drawn else image_count
    return weight.astype(np.uint8 if weight.max() <= WHOLE_LIMIT else np.uint16)


def _present_pairs(who: People, probe: Side, reference: Side, symmetric: bool) -> GenuinePairs:
    """The genuine pairs of a tensor, without those of an image with itself."""
    pairs = genuine_pairs(probe.identity, reference.identity, symmetric)
    if not symmetric:
        other = who.probe[pairs.row] != who.reference[pairs.col]
        pairs = GenuinePairs(pairs.row[other], pairs.col[other], pairs.identity[other])
    require(
        len(pairs) > 0,
        "there is no genuine pair: no identity has two images to compare; check the identities",
    )
    return pairs


def shares(weighting, labels: np.ndarray) -> np.ndarray:
    """p_k of every identity, with mean 1 (section 2.1)."""
    if isinstance(weighting, str):
        require(
            weighting in ("identity", "pair"),
            f"weighting must be 'identity', 'pair' or p_k; got {weighting!r}",
        )
        return np.ones(len(labels))
    if isinstance(weighting, Mapping):
        lost = [name for name in labels if name not in weighting]
        require(not lost, f"weighting has no p_k for identities {lost[:3]}; it must name all {len(labels)}")
        weighting = [weighting[name] for name in labels]
    share = np.asarray(weighting, float)
    fits = share.shape == labels.shape and np.all(np.isfinite(share)) and np.all(share > 0)
    require(fits, f"weighting must hold one positive p_k for each of the {len(labels)} identities, sorted by name")
    return share / share.mean()


def drawn_counts(who: People, by, resampling: Resampling | None) -> tuple[np.ndarray, np.ndarray]:
    """(column, image) and (column, identity) counts; column 0 counts everything once."""
    n_identities = len(np.unique(who.identity))
    ones = np.ones((1, len(who.names)), np.uint16), np.ones((1, n_identities), np.uint16)
    if resampling is None:
        return ones
    strata = None
    if resampling.strata is not None:
        same = by is not None and CROSSED.join(attributes_of(by)) == resampling.strata or resampling.strata == "group"
        require(
            by is not None and same,
            f"strata={resampling.strata!r} must name the attribute given as by= (or be 'group'); got by={by!r}",
        )
        strata = who.group
    urn = urns(who)
    drawn = resampling.weights(urn, who.names, strata, who.person)
    first = np.unique(who.identity, return_index=True)[1]
    identity_count = drawn["identity_count"].values[:, np.searchsorted(drawn[IDENTITY].values, urn[first])]
    counts = drawn["image_count"].values, identity_count
    return tuple(np.concatenate(pair) for pair in zip(ones, counts, strict=True))


def cell_table(n_groups: int, impostors: str) -> np.ndarray:
    """Cell of each pair of groups: within groups first, then across, then pairs with somebody in no group."""
    require(impostors in ("all", "same-group"), f"impostors must be 'all' or 'same-group', got {impostors!r}")
    require(impostors == "all" or n_groups > 0, "impostors='same-group' needs groups: name an attribute with by=")
    cells = np.full((n_groups + 1, n_groups + 1), -1, np.int16)
    cells[np.arange(n_groups), np.arange(n_groups)] = np.arange(n_groups)
    if impostors == "all":
        a, b = np.triu_indices(n_groups, 1)
        cells[a, b] = cells[b, a] = n_groups + np.arange(len(a))
        cells[-1, :] = cells[:, -1] = n_groups + len(a)
    return cells


def _joined(pairs: GenuinePairs, itself: tuple, identity: np.ndarray) -> GenuinePairs:
    row, col = itself
    both = [(pairs.row, row), (pairs.col, col), (pairs.identity, identity[row])]
    return GenuinePairs(*(np.concatenate(part).astype(np.int32) for part in both))
