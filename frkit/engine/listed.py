"""Who stands in a list of scored pairs: its images or, where pairs are taken one by one, the pairs themselves."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import GENUINE, IDENTITY, PAIR, PROBE, REFERENCE, UNKNOWN, InputError, listed, require, warn
from frkit.data.labels import CROSSED, attributes_of, resolve_varying
from frkit.resampling import DIAGONAL_SCHEMES, Resampling
from frkit.scores.groups import People, group_codes, groups_among, labels_of_sides, of_people

TOO_NARROW = "its intervals are too narrow, because pairs share images and people"


@dataclass(frozen=True, eq=False)
class Listed:
    """Where the pairs of a list stand: row and col of every pair on the two sides, and which are of which kind.

    genuine, impostor: positions in the list; pairs of an image with itself are in neither. facts: counts for the
    provenance. identity: labels of both sides, (side, pair), where they are known. one_by_one: every pair is drawn for
    itself.
    """

    row: np.ndarray
    col: np.ndarray
    genuine: np.ndarray
    impostor: np.ndarray
    facts: dict
    identity: np.ndarray | None
    one_by_one: bool

    def places(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Row and column of some pairs."""
        return self.row[positions], self.col[positions]


def people_of_list(scores: xr.DataArray, by, varying: str, resampling: Resampling | None) -> tuple:
    """The images of a list, the group codes of what stands on either side, and where the pairs stand.

    scores: (pair,) with the coordinates of `frkit.pairs`. Without identities, and for the pair bootstrap, every pair
    stands alone; without image names an identity stands for all its images.
    """
    _check_scheme(scores, resampling)
    n_pairs, person = scores.sizes[PAIR], None
    labels = [np.full(n_pairs, UNKNOWN)] * 2 if by is None else labels_of_sides(scores, by)
    groups = groups_among(np.concatenate(labels), by)
    itself = scores[PROBE].values == scores[REFERENCE].values if PROBE in scores.coords else np.zeros(n_pairs, bool)
    if f"{PROBE}_{IDENTITY}" in scores.coords:
        identity = np.concatenate(labels_of_sides(scores, IDENTITY))  # probes first, then references
        of_whom = by if by is not None and of_people(scores, by) else None  # a trial's own label varies, and may
        drawn = by is None or of_whom is not None or resampling is None or resampling.strata is None
        require(drawn, f"strata must be a property of the person, but {by!r} is one of the trial: draw without strata")
        settled = _settled(np.concatenate(labels), identity, of_whom, varying, resampling)
        labels, identity, person = (np.stack(np.split(part, 2)) for part in settled)
        kinds = (identity[0] == identity[1]) & ~itself, person[0] != person[1]
    else:
        identity, genuine = None, scores[GENUINE].values.astype(bool)
        kinds = genuine & ~itself, ~genuine & ~itself
    facts = _facts(*kinds, int(itself.sum()), labels, by)
    if identity is None or resampling is not None and resampling.scheme == "pair":
        images, groups_of_sides, row, col, unknown = _pairs_alone(labels, groups)
    else:
        images, groups_of_sides, row, col, unknown = _named_people(scores, labels, identity, person, groups)
    facts |= dict.fromkeys(unknown)
    where = row.astype(np.int32), col.astype(np.int32), *map(np.flatnonzero, kinds)
    return images, groups_of_sides, Listed(*where, facts, identity, one_by_one="n_identities" in unknown)


def _check_scheme(scores: xr.DataArray, resampling: Resampling | None) -> None:
    if resampling is None:
        return
    scheme, known = resampling.scheme, f"{PROBE}_{IDENTITY}" in scores.coords
    require(
        scheme == "pair" or known,
        f"these pairs carry no identities, so only the pair bootstrap is possible, Resampling('pair'), and "
        f"{TOO_NARROW}; got scheme {scheme!r}. Give probe_identity= and reference_identity= to draw people",
    )
    require(
        scheme not in DIAGONAL_SCHEMES or PROBE in scores.coords,
        f"these pairs carry no image names, so scheme {scheme!r} cannot draw images; give probe= and reference=, "
        "or draw people with Resampling('identity')",
    )
    if scheme == "pair":
        warn(
            f"the pair bootstrap draws pairs as if each were new: {TOO_NARROW}"
            + ("; Resampling('identity') draws the people of these pairs" if known else "")
        )


def _pairs_alone(labels: np.ndarray, groups: np.ndarray) -> tuple:
    """Every pair is a probe of its own, which meets one reference: there is one for each group of references."""
    n_pairs, n_groups = len(labels[0]), len(groups) + 1
    group_of_pair, group_of_reference = (group_codes(label, groups) for label in labels)
    nobody = np.full(n_pairs + n_groups, UNKNOWN)
    names = np.char.zfill(np.arange(n_pairs + n_groups).astype(str), 12)
    sides = np.arange(n_pairs), np.arange(n_pairs, n_pairs + n_groups)
    images, unknown = People(names, nobody, nobody, nobody, groups, *sides), ("n_images", "n_identities")
    of_sides = group_of_pair, np.arange(n_groups)
    return images, of_sides, np.arange(n_pairs), group_of_reference, (*unknown, "images_per_identity")


def draw_pairs(places: Listed, n_images: int, resampling: Resampling | None) -> tuple[np.ndarray, np.ndarray]:
    """(column, image) counts where every pair stands alone, and (column, identity), all one."""
    n_columns = 1 if resampling is None else 1 + resampling.n
    image_count = np.ones((n_columns, n_images), np.uint16)
    if resampling is not None:
        kinds = np.repeat(["genuine", "impostor"], [len(places.genuine), len(places.impostor)])
        counted = np.append(places.genuine, places.impostor)
        image_count[1:, counted] = resampling.weights(kinds)["image_count"].values
    return image_count, np.ones((n_columns, 1), np.uint16)


def weights_of_list(listed: Listed, share: np.ndarray, pooled: bool, n_references: int) -> tuple:
    """The identity of each genuine pair, and the weights of impostor pairs as in `Protocol.between`.

    The listed pairs of two people share the weight of these two; where all weigh the same there is nothing to weigh.
    """
    if listed.identity is None:
        return np.zeros(len(listed.genuine), int), None
    code = np.unique(listed.identity, return_inverse=True)[1].reshape(2, -1)
    who = np.sort(code[:, listed.impostor], axis=0)
    _, two, many = np.unique(who[0] * len(share) + who[1], return_inverse=True, return_counts=True)
    weight = share[who].prod(0) / many[two]
    if pooled or np.ptp(weight) == 0:
        return code[1, listed.genuine], None
    row, col = listed.places(listed.impostor)
    places, first = np.unique(row.astype(np.int64) * n_references + col, return_index=True)
    return code[1, listed.genuine], (places, weight[first])


def _named_people(scores: xr.DataArray, labels, identity, person, groups: np.ndarray) -> tuple:
    """The images that the list names; what stands on a side is an image under one label.

    labels, identity, person: (side, pair). Where some image is a probe here and a reference there, probes and
    references are one set of images, as in a symmetric matrix; otherwise they are two.
    """
    named, n_pairs, n_groups = PROBE in scores.coords, scores.sizes[PAIR], len(groups) + 1
    label, identity, person = (np.concatenate(part) for part in (labels, identity, person))
    names = np.concatenate([scores[side].values.astype(str) for side in (PROBE, REFERENCE)]) if named else identity
    image, names = pd.factorize(names.astype(object), sort=True)
    first = np.unique(image, return_index=True)[1]
    differs = np.flatnonzero(identity[first][image] != identity)
    if len(differs):
        one = image[differs[0]]
        raise InputError(
            f"image {str(names[one])!r} shows {listed(np.unique(identity[image == one]))}: if these are parts of one "
            "person whose label varies, say varying='first'; give different images different names"
        )
    entry = image * n_groups + group_codes(label, groups)
    if np.isin(image[n_pairs:], image[:n_pairs]).any():
        entries, place = np.unique(entry, return_inverse=True)
        sides, (row, col) = (entries, entries), np.split(place, 2)
    else:
        sides, (row, col) = zip(*(np.unique(part, return_inverse=True) for part in np.split(entry, 2)), strict=True)
    stratum = resolve_varying(label, identity, "first", "label")[0][first]
    image_of_entry = [entries // n_groups for entries in sides]
    images = People(names.astype(str), identity[first], person[first], stratum, groups, *image_of_entry)
    unknown = () if named else ("n_images", "images_per_identity")
    return images, [entries % n_groups for entries in sides], row, col, unknown


def _settled(label: np.ndarray, identity: np.ndarray, by, varying: str, resampling: Resampling | None) -> tuple:
    """Label, identity and person of every entry, with the rule for labels that vary within an identity applied."""
    if by is None:
        return label, identity, identity
    if varying in ("error", "keep"):
        _note_varying(label, identity, by, resampling)
        return label, identity, identity
    person = identity
    label, identity, split = resolve_varying(label, identity, varying, CROSSED.join(attributes_of(by)))
    return label, identity, person if split is None else split


def _note_varying(label: np.ndarray, identity: np.ndarray, by, resampling: Resampling | None) -> None:
    """Each pair counts under its own label; say where these differ within a person."""
    known = label != UNKNOWN
    seen = pd.Series(label[known]).groupby(identity[known]).nunique()
    varies = seen.index[seen > 1]
    if len(varies) == 0:
        return
    require(
        resampling is None or resampling.strata is None,
        f"strata must be a property of the person, but {by!r} varies within {listed(varies)}; say varying='first' or "
        "'most frequent', or draw without strata",
    )
    warn(
        f"{by!r} varies within {len(varies)} of {len(seen)} people ({listed(varies, 3)}): each pair counts in the "
        "group that its own row names; varying='first' or 'most frequent' gives a person one label"
    )


def _facts(genuine: np.ndarray, impostor: np.ndarray, itself: int, labels: list, by) -> dict:
    """What the provenance says of a list; a list without pairs of either kind is refused."""
    require(genuine.any(), "there is no genuine pair in the list: nothing can be falsely rejected")
    require(impostor.any(), "there is no impostor pair in the list: nothing can be falsely accepted")
    if itself:
        warn(f"{itself} pair(s) compare an image with itself: they are left out of every rate")
    facts = {"n_genuine_pairs": int(genuine.sum()), "n_impostor_pairs": int(impostor.sum())}
    facts["n_pairs_of_an_image_with_itself"] = itself
    if by is not None:
        facts["n_pairs_without_label"] = int(((labels[0] == UNKNOWN) | (labels[1] == UNKNOWN)).sum())
    return facts
