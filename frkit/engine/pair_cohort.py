"""Who stands in a list of scored pairs, in the same codes, counts and weights as for a score tensor."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import GENUINE, IDENTITY, PAIR, PROBE, REFERENCE, UNKNOWN, listed, require, warn
from frkit.engine.cohort import Cohort, Listed, cell_table, drawn_counts, shares
from frkit.engine.design import WHOLE_LIMIT, Design, GenuinePairs, Side
from frkit.faces.labels import CROSSED, attributes_of, crossed, resolve_varying
from frkit.resampling import DIAGONAL_SCHEMES, Resampling
from frkit.scores.groups import People

TOO_NARROW = "its intervals are too narrow, because pairs share images and people"


def pair_cohort(scores: xr.DataArray, by, varying: str, weighting, impostors: str, resampling) -> Cohort:
    """Labels and options of a pair list to codes, counts and weights.

    scores: (pair,) with the coordinates of `frkit.pairs`. Where identities or image names are absent all pairs
    weigh the same, whatever `weighting` says.
    """
    _check_scheme(scores, resampling)
    labels = _group_labels(scores, by)
    groups = np.unique(np.concatenate(labels))
    groups = groups[groups != UNKNOWN]
    require(by is None or len(groups) > 0, f"attribute {by!r} has no label other than {UNKNOWN!r}: there is no group")
    one_by_one = f"{PROBE}_{IDENTITY}" not in scores.coords or (resampling is not None and resampling.scheme == "pair")
    if one_by_one:
        return _drawn_pairs(scores, labels, groups, by, weighting, impostors, resampling)
    return _drawn_people(scores, labels, groups, by, varying, weighting, impostors, resampling)


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


def _group_labels(scores: xr.DataArray, by) -> list[np.ndarray]:
    """The group label of each pair's probe and of its reference."""
    if by is None:
        return [np.full(scores.sizes[PAIR], UNKNOWN)] * 2
    names = attributes_of(by)
    return [crossed([scores[f"{side}_{name}"].values.astype(str) for name in names]) for side in (PROBE, REFERENCE)]


def _facts(genuine: np.ndarray, impostor: np.ndarray, itself: int, labels: list, by_group: bool) -> dict:
    """What the provenance says of a list; a list without pairs of either kind is refused."""
    require(genuine.any(), "there is no genuine pair in the list: nothing can be falsely rejected")
    require(impostor.any(), "there is no impostor pair in the list: nothing can be falsely accepted")
    if itself:
        warn(f"{itself} pair(s) compare an image with itself: they are left out of every rate")
    facts = {"n_genuine_pairs": int(genuine.sum()), "n_impostor_pairs": int(impostor.sum())}
    facts["n_pairs_of_an_image_with_itself"] = itself
    if by_group:
        facts["n_pairs_without_label"] = int(((labels[0] == UNKNOWN) | (labels[1] == UNKNOWN)).sum())
    return facts


# --- people and images are drawn -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Sides:
    """Both sides of every pair, probes first, (2 * pair,): label, identity, person, code of the image's name."""

    label: np.ndarray
    identity: np.ndarray
    person: np.ndarray
    image: np.ndarray
    names: np.ndarray

    @property
    def n(self) -> int:
        """Pairs."""
        return len(self.image) // 2

    def kinds(self, named: bool) -> tuple[np.ndarray, np.ndarray, int]:
        """Which pairs are genuine, which impostor, and how many compare an image with itself."""
        same = [part[: self.n] == part[self.n :] for part in (self.identity, self.person, self.image)]
        itself = same[2] & named
        return same[0] & ~itself, ~same[1], int(itself.sum())


def _drawn_people(scores, labels, groups, by, varying, weighting, impostors, resampling) -> Cohort:
    """A list whose pairs name their people: the same counts and weights as for a tensor."""
    named = PROBE in scores.coords
    sides = _sides(scores, labels, by, varying, resampling)
    who, entry_groups, (row, col) = _people(sides, groups)
    codes, identity = np.unique(who.identity, return_inverse=True)
    image_count, identity_count = drawn_counts(who, by, resampling)
    share = shares(weighting, codes)
    pooled = isinstance(weighting, str) and (weighting == "pair" or not named)
    weight = image_count.astype(np.int64) * identity_count[:, identity]
    person = np.unique(who.person, return_inverse=True)[1].astype(np.int32)

    def side(images: np.ndarray, group: np.ndarray) -> Side:
        many = np.bincount(identity[np.unique(images)], minlength=len(codes))[identity[images]]
        scale = np.ones(len(images)) if pooled else share[identity[images]] / many
        return _side(person[images], identity[images], group, weight[:, images], scale)

    both = [side(*parts) for parts in zip((who.probe, who.reference), entry_groups, strict=True)]
    genuine, impostor, itself = sides.kinds(named)
    facts = _facts(genuine, impostor, itself, np.split(sides.label, 2), by is not None)
    facts |= {} if named else {"n_images": None, "images_per_identity": None}
    places = np.flatnonzero(genuine)
    asked = GenuinePairs(row[places], col[places], identity[sides.image[places]])
    places_of = Listed(row, col, places, np.flatnonzero(impostor), facts)
    design = Design(*both, False, cell_table(len(groups), impostors))
    counts = image_count, identity_count, identity
    return Cohort(who, design, asked, len(places), False, *counts, share, pooled, places_of)


def _sides(scores, labels, by, varying: str, resampling: Resampling | None) -> _Sides:
    """Names and labels of both sides, with the rule for labels that vary within an identity applied."""
    identity = np.concatenate([scores[f"{side}_{IDENTITY}"].values.astype(str) for side in (PROBE, REFERENCE)])
    names = identity
    if PROBE in scores.coords:
        names = np.concatenate([scores[side].values.astype(str) for side in (PROBE, REFERENCE)])
    image, words = pd.factorize(names.astype(object), sort=True)
    label, person = np.concatenate(labels), identity
    if by is not None and varying in ("error", "keep"):
        _note_varying(label, identity, by, resampling)
    elif by is not None:
        label, identity, split = resolve_varying(label, identity, varying, CROSSED.join(attributes_of(by)))
        person = person if split is None else split
    return _Sides(label, identity, person, image, words.astype(str))


def _note_varying(label: np.ndarray, identity: np.ndarray, by, resampling: Resampling | None) -> None:
    """Each pair counts under its own label; say where these differ within a person."""
    known = label != UNKNOWN
    seen = pd.DataFrame({"who": identity[known], "label": label[known]}).groupby("who")["label"].nunique()
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


def _people(sides: _Sides, groups: np.ndarray) -> tuple[People, list, tuple]:
    """The images; the groups of what stands on either side; and row and column of every pair.

    What stands on a side is an image under one label. Where some image is a probe here and a reference there,
    probes and references are one set of images, as in a symmetric matrix; otherwise they are two.
    """
    n, n_groups = sides.n, len(groups) + 1
    first = np.unique(sides.image, return_index=True)[1]
    identity = sides.identity[first]
    differs = np.flatnonzero(identity[sides.image] != sides.identity)
    name = sides.names[sides.image[differs[0]]] if len(differs) else ""
    require(
        len(differs) == 0,
        f"image {str(name)!r} stands under several labels, so that it cannot be split; say varying='first', or name "
        "images apart",
    )
    stratum = resolve_varying(sides.label, sides.identity, "first", "label")[0][first]
    group = np.where(sides.label == UNKNOWN, len(groups), np.searchsorted(groups, sides.label))
    key = sides.image * n_groups + group
    if np.isin(sides.image[n:], sides.image[:n]).any():
        entries, place = np.unique(key, return_inverse=True)
        both, places = [entries, entries], (place[:n], place[n:])
    else:
        found = [np.unique(part, return_inverse=True) for part in (key[:n], key[n:])]
        both, places = [part[0] for part in found], tuple(part[1] for part in found)
    images = [part // n_groups for part in both]
    who = People(sides.names, identity, sides.person[first], stratum, groups, *images)
    return who, [part % n_groups for part in both], tuple(part.astype(np.int32) for part in places)


def _side(person, identity, group, weight: np.ndarray, scale: np.ndarray) -> Side:
    """Codes and weights in the types of the sweep; weight: (column, image)."""
    kind = np.uint8 if weight.max() <= WHOLE_LIMIT else np.uint16
    codes = person.astype(np.int32), identity.astype(np.int32), group.astype(np.uint16)
    return Side(*codes, np.ascontiguousarray(weight.T.astype(kind)), scale)


# --- pairs are drawn -------------------------------------------------------------------------------------


def _drawn_pairs(scores, labels, groups, by, weighting, impostors, resampling: Resampling | None) -> Cohort:
    """A list without people, or the pair bootstrap: every pair is a probe, which meets one reference.

    There is one such reference for each group, in all replicates once.
    """
    require(
        isinstance(weighting, str),
        "weighting by p_k needs identities that are drawn: here all pairs weigh the same, weighting='pair'",
    )
    shares(weighting, np.empty(0))
    n, n_groups = scores.sizes[PAIR], len(groups) + 1
    genuine = scores[GENUINE].values.astype(bool)
    itself = np.zeros(n, bool)
    if PROBE in scores.coords:
        itself = scores[PROBE].values == scores[REFERENCE].values
    kinds = genuine & ~itself, ~genuine & ~itself
    image_count = np.ones((1 if resampling is None else 1 + resampling.n, n + n_groups), np.uint16)
    names = np.char.zfill(np.arange(n + n_groups).astype(str), 12)
    if resampling is not None:
        drawn = resampling.weights(np.where(genuine, "genuine", "impostor")[~itself], names[:n][~itself])
        image_count[1:, :n][:, ~itself] = drawn["image_count"].values
    group = [np.where(own == UNKNOWN, len(groups), np.searchsorted(groups, own)) for own in labels]
    ends = [np.arange(n), np.arange(n, n + n_groups)]
    nobody = np.full(n + n_groups, UNKNOWN)
    who = People(names, nobody, nobody, nobody, groups, *ends)
    zero = np.zeros(n + n_groups, int)
    both = [
        _side(at, zero[at], own, image_count[:, at], np.ones(len(at)))
        for at, own in zip(ends, (group[0], np.arange(n_groups)), strict=True)
    ]
    places = np.flatnonzero(kinds[0])
    row, col = np.arange(n, dtype=np.int32), group[1].astype(np.int32)
    facts = _facts(*kinds, int(itself.sum()), labels, by is not None)
    facts |= {"n_images": None, "n_identities": None, "images_per_identity": None}
    counts = image_count, np.ones((len(image_count), 1), np.uint16), zero
    asked = GenuinePairs(row[places], col[places], zero[places])
    places_of = Listed(row, col, places, np.flatnonzero(kinds[1]), facts)
    design = Design(*both, False, cell_table(len(groups), impostors))
    return Cohort(who, design, asked, len(places), False, *counts, np.ones(1), True, places_of)
