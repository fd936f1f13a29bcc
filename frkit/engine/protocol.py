"""Who is compared with whom, and how often in every replicate: labels and options as codes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr
from scipy import sparse

from frkit.base import (
    GENUINE,
    IDENTITY,
    PAIR,
    PROBE,
    REFERENCE,
    UNKNOWN,
    InputError,
    listed,
    require,
    require_one_of,
    warn,
)
from frkit.data.labels import CROSSED, attributes_of, resolve_varying
from frkit.resampling import DIAGONAL_SCHEMES, Resampling
from frkit.scores.groups import (
    People,
    group_codes,
    groups_among,
    is_symmetric,
    labels_of_sides,
    of_people,
    people,
    shares,
)

MOST_COPIES = 255  # of an image in a replicate: counts are bytes
COLUMNS = 32  # whose weights are held in full precision at once
TOO_NARROW = "its intervals are too narrow, because pairs share images and people"


@dataclass(frozen=True, eq=False)
class Protocol:
    """Who is compared with whom, in the data and in every replicate; no score is known here.

    An *entry* is an image on one side of the scores, or on both where these are one set of
    images; in a list, an image under a label. Columns of weights: first the data, then the
    replicates, last the V-statistic (eq. 19), whose entries count once like the data's.

    Attributes
    ----------
    images : labels of all images.
    image, person, identity, group : (entry,) codes; the last group means "in no group".
    cells_of_groups : (group, group) the cell of their pairs; -1 where they are left out. Cells
        of pairs within each group come first.
    kind, cell_of : the cell of a pair of entries is cell_of[kind, kind]; -1 leaves it out.
    scale : (entry,) factor of the entry's impostor pairs (1 / n_k, say), equal ones being 1.
    weight, image_count : (entry, column) how often an entry counts; within its identity.
    identity_count : (column, identity).
    share : (owner,) p_k. pooled : whether all pairs weigh the same.
    n_probes : rows of the tensor. offset : the entry of the tensor's first column.
    genuine : entries (row, column) of the genuine pairs; behind the first `n_genuine` those of
        images with themselves, where replicates contain copies. owner : code of their identity.
    pairs : of a list, what stands where; None for a tensor.
    """

    images: People
    image: np.ndarray
    person: np.ndarray
    identity: np.ndarray
    group: np.ndarray
    cells_of_groups: np.ndarray
    kind: np.ndarray
    cell_of: np.ndarray
    scale: np.ndarray
    weight: np.ndarray
    image_count: np.ndarray
    identity_count: np.ndarray
    share: np.ndarray
    pooled: bool
    symmetric: bool
    n_probes: int
    offset: int
    genuine: tuple[np.ndarray, np.ndarray]
    owner: np.ndarray
    n_genuine: int
    pairs: "ListedPairs | None" = None

    @property
    def groups(self) -> np.ndarray:
        """Labels of the groups."""
        return self.images.groups

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.cells_of_groups.max()) + 1

    @property
    def n_columns(self) -> int:
        """The data, replicates, and the V-statistic."""
        return self.weight.shape[1]

    @property
    def diagonal(self) -> bool:
        """Whether copies of an image in a replicate are genuine pairs."""
        return len(self.genuine[0]) > self.n_genuine

    @property
    def equal_scale(self) -> bool:
        """Whether all impostor pairs weigh the same in the data."""
        return bool(np.all(self.scale == 1)) and (self.pairs is None or self.pairs.factor is None)

    def cells(self, row: np.ndarray, col: np.ndarray) -> np.ndarray:
        """The cell of each of some pairs of entries."""
        return self.cell_of[self.kind[row], self.kind[col]]

    @cached_property
    def impostor_totals(self) -> np.ndarray:
        """Weight of all impostor pairs of a tensor, (cell, column); no pair is visited."""
        n_kinds, n_people = len(self.cell_of), int(self.person.max()) + 1
        sides = [slice(0, self.n_probes), slice(self.offset, None)]
        gather = []
        for side in sides:
            place = self.kind[side].astype(np.int64) * n_people + self.person[side]
            where = place, np.arange(len(place))
            shape = n_kinds * n_people, len(place)
            gather.append(sparse.csr_matrix((self.scale[side], where), shape=shape))
        totals = np.zeros((self.n_cells, self.n_columns))
        for first in range(0, self.n_columns, COLUMNS):
            columns = slice(first, first + COLUMNS)
            probe, reference = (
                (gather[s] @ self.weight[sides[s], columns].astype(float)).reshape(
                    n_kinds, n_people, -1
                )
                for s in range(2)
            )
            for g, h in np.argwhere(self.cell_of >= 0):
                same_person = np.einsum("pb,pb->b", probe[g], reference[h])
                pairs = probe[g].sum(0) * reference[h].sum(0) - same_person
                totals[self.cell_of[g, h], columns] += pairs * (0.5 if self.symmetric else 1.0)
        return totals


@dataclass(frozen=True, eq=False)
class ListedPairs:
    """Where the pairs of a list stand.

    row, col : (impostor,) entries. genuine, impostor : positions in the list; pairs of an image
    with itself are in neither. factor : (impostor,) weights, None where all are equal.
    facts : counts for the provenance. alone : whether every pair is drawn for itself.
    identified : whether identities are known.
    """

    row: np.ndarray
    col: np.ndarray
    genuine: np.ndarray
    impostor: np.ndarray
    factor: np.ndarray | None
    facts: dict
    alone: bool
    identified: bool


def make_protocol(
    scores: xr.DataArray,
    *,
    by=None,
    varying: str = "error",
    weighting=None,
    impostors: str | Mapping = "all",
    resampling: Resampling | None = None,
) -> Protocol:
    """Labels and options of a score tensor, or of a list of pairs, as codes, cells and weights."""
    build = _of_list if PAIR in scores.dims else _of_tensor
    return build(scores, by, varying, weighting, impostors, resampling)


# --- tensors and matrices ------------------------------------------------------------------------


def _of_tensor(scores, by, varying, weighting, impostors, resampling) -> Protocol:
    pairwise = resampling is not None and resampling.scheme == "pair"
    require(
        not pairwise,
        "scheme 'pair' is for lists of pairs: the pairs of a tensor share images; draw those",
    )
    images = people(scores, by, varying)
    several = len(np.unique(images.person)) > 1
    require(
        several, "there is no impostor pair: all images show one person; at least two are needed"
    )
    symmetric = is_symmetric(scores)
    sides = [images.probe] if symmetric else [images.probe, images.reference]
    image = np.concatenate(sides)
    offset = 0 if symmetric else len(images.probe)
    weighting = "identity" if weighting is None else weighting
    pooled = isinstance(weighting, str) and weighting == "pair"
    share = shares(weighting, np.unique(images.identity))
    scale = np.ones(len(image))
    if not pooled:
        scale = np.concatenate([_identity_scale(images, side, share) for side in sides])
    group = group_codes(images.group, images.groups)[image]
    cells = cell_table(len(images.groups), impostors)
    kind, cell_of = _chosen_kinds(scores, group, cells, impostors, symmetric)
    image_count, identity_count = draw_people(images, by, resampling)
    copies = resampling is not None and resampling.scheme in DIAGONAL_SCHEMES
    row, col, n_genuine = _genuine_pairs(images, symmetric, copies)
    return Protocol(
        images=images,
        image=image,
        person=_codes(images.person)[image].astype(np.int32),
        identity=images.identity_code[image],
        group=group,
        cells_of_groups=cells,
        kind=kind,
        cell_of=cell_of,
        scale=_ones_if_equal(scale),
        **_weights(image_count, identity_count, images.identity_code, image),
        share=share,
        pooled=pooled,
        symmetric=symmetric,
        n_probes=len(images.probe),
        offset=offset,
        genuine=(row, col + offset),
        owner=images.identity_code[images.probe[row]],
        n_genuine=n_genuine,
    )


def _identity_scale(images: People, side: np.ndarray, share: np.ndarray) -> np.ndarray:
    """p_k / n_k of each image on a side; n_k counts the identity's images on that side."""
    identity = images.identity_code[side]
    return share[identity] / np.bincount(images.identity_code[np.unique(side)])[identity]


def cell_table(n_groups: int, impostors: str | Mapping) -> np.ndarray:
    """Cell of each pair of groups: within groups, then across, then pairs with no group."""
    impostors = "all" if isinstance(impostors, Mapping) else impostors
    require_one_of("impostors", impostors, ("all", "same-group"))
    named = impostors == "all" or n_groups > 0
    require(named, "impostors='same-group' needs groups: name an attribute with by=")
    cells = np.full((n_groups + 1, n_groups + 1), -1, np.int32)
    cells[np.arange(n_groups), np.arange(n_groups)] = np.arange(n_groups)
    if impostors == "all":
        a, b = np.triu_indices(n_groups, 1)
        cells[a, b] = cells[b, a] = n_groups + np.arange(len(a))
        cells[-1, :] = cells[:, -1] = n_groups + len(a)
    return cells


def _chosen_kinds(scores, group: np.ndarray, cells: np.ndarray, impostors, symmetric: bool):
    """Kind of each entry, and the cell of each pair of kinds: groups and chosen impostors."""
    if not isinstance(impostors, Mapping):
        return group, cells
    check_impostors(impostors)
    columns = [group]
    for name in impostors:
        labels = labels_of_sides(scores, name)[: 1 if symmetric else 2]
        columns.append(_label_codes(np.concatenate(labels)))
    kinds, kind = np.unique(np.stack(columns, 1), axis=0, return_inverse=True)
    cells = cells[kinds[:, None, 0], kinds[None, :, 0]]
    for place, wanted in enumerate(impostors.values(), start=1):
        codes = kinds[:, place]
        cells[~chosen_impostors(codes[:, None], codes, wanted)] = -1
    return kind.ravel(), cells


def check_impostors(impostors: Mapping) -> None:
    """Refuse a mapping that does not say "same" or "other" of attributes."""
    require(len(impostors) > 0, "impostors is an empty mapping: say impostors='all'")
    for name, wanted in impostors.items():
        require_one_of(f"impostors[{name!r}]", wanted, ("same", "other"))


def chosen_impostors(probe: np.ndarray, reference: np.ndarray, wanted: str) -> np.ndarray:
    """Whether codes of labels are the same (or other) on both sides; unknown (-1) is neither."""
    fits = probe == reference if wanted == "same" else probe != reference
    return fits & (probe >= 0) & (reference >= 0)


def _label_codes(labels: np.ndarray) -> np.ndarray:
    """Codes of labels, -1 where unknown."""
    return np.where(labels == UNKNOWN, -1, _codes(labels))


def _genuine_pairs(images: People, symmetric: bool, copies: bool) -> tuple:
    """Rows and columns of the pairs of two images of one identity, and how many these are.

    copies: behind these stand the pairs of an image with itself.
    """
    shows = []  # who is on each image of either side, (image, identity)
    for side in (images.probe, images.reference):
        who = images.identity_code[side]
        one_each = np.ones(len(side), bool), who, np.arange(len(side) + 1)
        shape = len(side), int(images.identity_code.max()) + 1
        shows.append(sparse.csr_matrix(one_each, shape=shape))
    row, col = (shows[0] @ shows[1].T).sorted_indices().nonzero()
    probe, reference = images.probe[row], images.reference[col]
    genuine = np.flatnonzero(probe < reference if symmetric else probe != reference)
    require(
        len(genuine) > 0,
        "there is no genuine pair: no identity has two images to compare; check the identities",
    )
    itself = np.flatnonzero(probe == reference) if copies else np.empty(0, int)
    chosen = np.append(genuine, itself)
    return row[chosen], col[chosen], len(genuine)


# --- draws ---------------------------------------------------------------------------------------


def draw_people(images: People, by, resampling: Resampling | None) -> tuple:
    """(replicate, image) and (replicate, identity) counts; None where nothing is drawn."""
    if resampling is None:
        return None, None
    if resampling.strata is not None:
        named = by is not None and resampling.strata in ("group", CROSSED.join(attributes_of(by)))
        require(
            named,
            f"strata={resampling.strata!r} must name the attribute given as by= (or be 'group'); "
            f"got by={by!r}",
        )
    strata = None if resampling.strata is None else images.group
    drawn = resampling.weights(images.urn, images.names, strata, images.person)
    first = np.unique(images.identity, return_index=True)[1]
    urn_of_identity = np.searchsorted(drawn[IDENTITY].values, images.urn[first])
    return drawn["image_count"].values, drawn["identity_count"].values[:, urn_of_identity]


def _weights(image_count, identity_count, identity_code: np.ndarray, image: np.ndarray) -> dict:
    """Counts of the data, of replicates and of the V-statistic, (entry, column), as bytes."""
    n_identities = int(identity_code.max()) + 1
    images = _with_data(image_count, len(identity_code))
    identities = _with_data(identity_count, n_identities)
    most = int(images.max()) * int(identities.max())
    require(
        most <= MOST_COPIES,
        f"an image counts up to {most} times in a replicate; at most {MOST_COPIES} are possible: "
        "draw smaller subsets",
    )
    of_entries = np.ascontiguousarray(images[:, image].T)
    weight = of_entries
    if np.any(identities != 1):
        weight = of_entries * np.ascontiguousarray(identities[:, identity_code[image]].T)
    return {"weight": weight, "image_count": of_entries, "identity_count": identities}


def _with_data(counts: np.ndarray | None, n: int) -> np.ndarray:
    """Counts of replicates between a row of ones for the data and one for the V-statistic."""
    ones = np.ones((1, n), np.uint8)
    if counts is None:
        return np.concatenate([ones, ones])
    require(
        int(counts.max()) <= MOST_COPIES,
        f"one image or person is drawn {int(counts.max())} times in a replicate; at most "
        f"{MOST_COPIES} are possible: draw smaller subsets",
    )
    return np.concatenate([ones, counts.astype(np.uint8), ones])


def _ones_if_equal(values: np.ndarray) -> np.ndarray:
    """Ones where all values are equal: rates do not depend on a common factor."""
    equal = np.ptp(values) <= 1e-14 * values[0]
    return np.ones(len(values)) if equal else values


def _codes(labels: np.ndarray) -> np.ndarray:
    return np.unique(labels, return_inverse=True)[1]


# --- lists of pairs ------------------------------------------------------------------------------


def _of_list(scores, by, varying, weighting, impostors, resampling) -> Protocol:
    _check_scheme(scores, resampling)
    sides = _sides_of_list(scores, by, varying, resampling)
    kinds = _kinds_of_pairs(scores, sides)
    facts = _facts(*kinds, sides, by)
    genuine, impostor = np.flatnonzero(kinds[0]), np.flatnonzero(kinds[1])
    if isinstance(impostors, Mapping):
        impostor = impostor[_chosen_of_list(scores, impostors)[impostor]]
        require(len(impostor) > 0, "no impostor pair is left: impostors= leaves all of them out")
    drawn_alone = resampling is not None and resampling.scheme == "pair"
    alone = sides.identity is None or drawn_alone
    if alone:
        images, image, group, row, col = _pairs_alone(sides, genuine)
        facts |= dict.fromkeys(("n_images", "n_identities", "images_per_identity"))
    else:
        images, image, group, row, col = _named_images(scores, sides)
        if PROBE not in scores.coords:
            facts |= dict.fromkeys(("n_images", "images_per_identity"))
    weighting = "pair" if weighting is None else weighting
    pooled = isinstance(weighting, str) and weighting == "pair"
    require(
        pooled or sides.identity is not None,
        "these pairs carry no identities, so that all pairs weigh the same, weighting='pair'; give "
        "probe_identity= and reference_identity= for another weighting",
    )
    owners = images.identity if sides.identity is None else sides.identity
    names = np.unique(owners)
    share = shares(weighting, names)
    factor, owner = None, images.identity_code[image[row[genuine]]]
    if sides.identity is not None:
        code = np.searchsorted(names, sides.identity)
        owner = code[0, genuine]
        factor = None if pooled else _factors_of_list(code[:, impostor], share)
    counts = _draw_pairs(genuine, impostor, images, resampling) if alone else None
    if counts is None:
        counts = draw_people(images, by, resampling)
    listed_pairs = ListedPairs(
        row=row[impostor].astype(np.int32),
        col=col[impostor].astype(np.int32),
        genuine=genuine,
        impostor=impostor,
        factor=factor,
        facts=facts,
        alone=alone,
        identified=sides.identity is not None,
    )
    cells = cell_table(len(sides.groups), impostors)
    return Protocol(
        images=images,
        image=image,
        person=_codes(images.person)[image].astype(np.int32),
        identity=images.identity_code[image],
        group=group,
        cells_of_groups=cells,
        kind=group,
        cell_of=cells,
        scale=np.ones(len(image)),
        **_weights(*counts, images.identity_code, image),
        share=share,
        pooled=pooled,
        symmetric=False,
        n_probes=0,
        offset=0,
        genuine=(row[genuine], col[genuine]),
        owner=owner,
        n_genuine=len(genuine),
        pairs=listed_pairs,
    )


@dataclass(frozen=True, eq=False)
class _Sides:
    """Labels of both sides of a list, (side, pair): group, identity and person where known."""

    label: np.ndarray
    identity: np.ndarray | None
    person: np.ndarray | None
    groups: np.ndarray


def _check_scheme(scores: xr.DataArray, resampling: Resampling | None) -> None:
    """Refuse a scheme for which the list lacks names; warn of the bootstrap over pairs."""
    if resampling is None:
        return
    scheme, identified = resampling.scheme, f"{PROBE}_{IDENTITY}" in scores.coords
    require(
        scheme == "pair" or identified,
        "these pairs carry no identities, so only the pair bootstrap is possible, "
        f"Resampling('pair'), and {TOO_NARROW}; got scheme {scheme!r}. Give probe_identity= and "
        "reference_identity= to draw people",
    )
    require(
        scheme not in DIAGONAL_SCHEMES or PROBE in scores.coords,
        f"these pairs carry no image names, so scheme {scheme!r} cannot draw images; give probe= "
        "and reference=, or draw people with Resampling('identity')",
    )
    if scheme == "pair":
        remedy = "; Resampling('identity') draws the people of these pairs" if identified else ""
        warn(f"the pair bootstrap draws pairs as if each were new: {TOO_NARROW}{remedy}")


def _sides_of_list(scores: xr.DataArray, by, varying: str, resampling) -> _Sides:
    """Labels of both sides, with the rule for labels that vary within a person applied."""
    n_pairs = scores.sizes[PAIR]
    label = np.full((2, n_pairs), UNKNOWN)
    if by is not None:
        label = np.stack(_same_width(labels_of_sides(scores, by)))
    groups = groups_among(label.ravel(), by)
    if f"{PROBE}_{IDENTITY}" not in scores.coords:
        return _Sides(label, None, None, groups)
    identity = np.stack(_same_width(labels_of_sides(scores, IDENTITY)))
    stratified = resampling is not None and resampling.strata is not None
    if by is None or not of_people(scores, by):  # a trial's own label varies, and may
        require(
            by is None or not stratified,
            f"strata must be a property of the person, but {by!r} is one of the trial: draw "
            "without strata",
        )
        return _Sides(label, identity, identity, groups)
    if varying in ("error", "keep"):
        _note_varying(label, identity, by, stratified)
        return _Sides(label, identity, identity, groups)
    name = CROSSED.join(attributes_of(by))
    label, parts, split = resolve_varying(label.ravel(), identity.ravel(), varying, name)
    person = identity.ravel() if split is None else split
    label, parts, person = (part.reshape(2, -1) for part in (label, parts, person))
    return _Sides(label, parts, person, groups)


def _same_width(labels: list[np.ndarray]) -> list[np.ndarray]:
    width = np.result_type(*labels)
    return [part.astype(width) for part in labels]


def _note_varying(label: np.ndarray, identity: np.ndarray, by, stratified: bool) -> None:
    """Each pair counts under its own label; say where these differ within a person."""
    labelled = label != UNKNOWN
    seen = pd.Series(label[labelled]).groupby(identity[labelled]).nunique()
    varies = seen.index[seen > 1]
    if len(varies) == 0:
        return
    require(
        not stratified,
        f"strata must be a property of the person, but {by!r} varies within {listed(varies)}; say "
        "varying='first' or 'most frequent', or draw without strata",
    )
    warn(
        f"{by!r} varies within {len(varies)} of {len(seen)} people ({listed(varies, 3)}): each "
        "pair counts in the group that its own row names; varying='first' or 'most frequent' "
        "gives a person one label"
    )


def _kinds_of_pairs(scores: xr.DataArray, sides: _Sides) -> tuple[np.ndarray, np.ndarray, int]:
    """Which pairs are genuine, which impostors, and how many are of an image with itself."""
    itself = np.zeros(scores.sizes[PAIR], bool)
    if PROBE in scores.coords:
        itself = scores[PROBE].values == scores[REFERENCE].values
    if sides.identity is None:
        genuine = scores[GENUINE].values.astype(bool)
        return genuine & ~itself, ~genuine & ~itself, int(itself.sum())
    genuine = (sides.identity[0] == sides.identity[1]) & ~itself
    return genuine, sides.person[0] != sides.person[1], int(itself.sum())


def _facts(genuine, impostor, n_itself: int, sides: _Sides, by) -> dict:
    """What the provenance says of a list; a list without pairs of either kind is refused."""
    require(genuine.any(), "there is no genuine pair in the list: nothing can be falsely rejected")
    require(
        impostor.any(), "there is no impostor pair in the list: nothing can be falsely accepted"
    )
    if n_itself:
        warn(f"{n_itself} pair(s) compare an image with itself: they are left out of every rate")
    facts = {"n_genuine_pairs": int(genuine.sum()), "n_impostor_pairs": int(impostor.sum())}
    facts["n_pairs_of_an_image_with_itself"] = n_itself
    if by is not None:
        facts["n_pairs_without_label"] = int((sides.label == UNKNOWN).any(0).sum())
    return facts


def _chosen_of_list(scores: xr.DataArray, impostors: Mapping) -> np.ndarray:
    """Which pairs have the labels that impostors must have."""
    check_impostors(impostors)
    chosen = np.ones(scores.sizes[PAIR], bool)
    for name, wanted in impostors.items():
        codes = _label_codes(np.concatenate(labels_of_sides(scores, name)))
        chosen &= chosen_impostors(*np.split(codes, 2), wanted)
    return chosen


def _pairs_alone(sides: _Sides, genuine: np.ndarray) -> tuple:
    """Every side of every pair is an image of its own; only a genuine pair shows one person.

    Returns images, and of the entries image and group; and the entries of each pair.
    """
    n_pairs = sides.label.shape[1]
    names = np.char.zfill(np.arange(2 * n_pairs).astype(str), 12)
    entry = np.arange(2 * n_pairs)
    who = names.copy()
    who[n_pairs + genuine] = who[genuine]
    images = People(names, who, who, who, sides.groups, entry, entry)
    group = group_codes(sides.label.ravel(), sides.groups)
    return images, entry, group, entry[:n_pairs], entry[n_pairs:]


def _draw_pairs(genuine, impostor, images: People, resampling) -> tuple:
    """(replicate, image) and (replicate, identity) counts where every pair is drawn for itself: on its first side."""
    if resampling is None:
        return None, None
    positions = np.append(genuine, impostor)
    kinds = np.repeat(["genuine", "impostor"], [len(genuine), len(impostor)])
    n_identities = int(images.identity_code.max()) + 1
    image_count = np.ones((resampling.n, len(images.names)), np.uint8)
    image_count[:, positions] = resampling.weights(kinds)["image_count"].values
    return image_count, np.ones((resampling.n, n_identities), np.uint8)


def _named_images(scores: xr.DataArray, sides: _Sides) -> tuple:
    """As `_pairs_alone`, where identities are known: an entry is an image under one label.

    Without image names an identity stands for all its images.
    """
    label, identity, person = (part.ravel() for part in (sides.label, sides.identity, sides.person))
    names = identity
    if PROBE in scores.coords:
        names = np.concatenate([scores[side].values.astype(str) for side in (PROBE, REFERENCE)])
    image, names = pd.factorize(names.astype(object), sort=True)
    first = np.unique(image, return_index=True)[1]
    differs = np.flatnonzero(identity[first][image] != identity)
    if len(differs):
        again = image[differs[0]]
        raise InputError(
            f"image {str(names[again])!r} shows {listed(np.unique(identity[image == again]))}: if "
            "these are parts of one person whose label varies, say varying='first'; give different "
            "images different names"
        )
    n_groups = len(sides.groups) + 1
    code = image * n_groups + group_codes(label, sides.groups)
    entries, place = np.unique(code, return_inverse=True)
    stratum = resolve_varying(label, identity, "first", "label")[0][first]
    on_probe, on_reference = (np.unique(part) for part in np.split(image, 2))
    if np.isin(on_probe, on_reference).any():  # probes and references are one set of images
        on_probe = on_reference = np.arange(len(names))
    images = People(
        names.astype(str), identity[first], person[first], stratum, sides.groups,
        on_probe, on_reference,
    )  # fmt: skip
    return images, entries // n_groups, entries % n_groups, *np.split(place, 2)


def _factors_of_list(code: np.ndarray, share: np.ndarray) -> np.ndarray | None:
    """Weights of impostor pairs: those of the same two people share the weight of these two.

    code: (side, pair) of the identities. None where all weights are equal.
    """
    code = np.sort(code, axis=0)
    two_people = code[0] * len(share) + code[1]
    _, place, many = np.unique(two_people, return_inverse=True, return_counts=True)
    weight = share[code].prod(0) / many[place]
    return None if np.ptp(weight) == 0 else weight
