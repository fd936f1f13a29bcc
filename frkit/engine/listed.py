"""Who is compared with whom in a list of pairs."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import UNKNOWN, InputError, listed, require, warn
from frkit.data.labels import CROSSED, attributes_of, resolve_varying
from frkit.engine.entries import (
    ListedPairs,
    Protocol,
    draw_people,
    group_cells,
    label_fits,
)
from frkit.scores.groups import (
    People,
    group_codes,
    groups_among,
    labels_of_sides,
    of_people,
    shares,
)


def list_protocol(scores: xr.DataArray, by, varying, weighting, impostors, resampling) -> Protocol:
    """The protocol of a list of pairs; options are those of `evaluate`."""
    stratified = resampling is not None and resampling.strata is not None
    label, identity, person, groups = _labels(scores, by, varying, stratified)
    genuine, impostor, facts = _kinds_of_pairs(scores, identity, person)
    if by is not None:
        facts["n_pairs_without_label"] = int((label == UNKNOWN).any(0).sum())
    if isinstance(impostors, Mapping):
        impostor = impostor[_fits(scores, impostors)[impostor]]
        require(len(impostor) > 0, "no impostor pair is left: impostors= leaves all of them out")

    pair_scheme = resampling is not None and resampling.scheme == "pair"
    if identity is None or pair_scheme:
        images, image, group, row, col = _nameless_images(label, groups, genuine)
        facts |= dict.fromkeys(("n_images", "n_identities", "images_per_identity"))
    else:
        images, image, group, row, col = _named_images(scores, label, identity, person, groups)
        if "probe" not in scores.coords:
            facts |= dict.fromkeys(("n_images", "images_per_identity"))
    if pair_scheme:
        drawn = _draw_pairs(genuine, impostor, images, resampling)
    else:
        drawn = draw_people(images, by, resampling)

    weighting = "pair" if weighting is None else weighting
    pooled = isinstance(weighting, str) and weighting == "pair"
    owners = images.identity if identity is None else identity
    names = np.unique(owners)
    share = shares(weighting, names)
    genuine_identity = images.identity_code[image[row[genuine]]]
    factor = None
    if identity is not None:
        code = np.searchsorted(names, identity)
        genuine_identity = code[0, genuine]
        factor = None if pooled else _identity_factors(code[:, impostor], share)
    cells = group_cells(len(groups), impostors)
    return Protocol(
        images=images,
        image=image,
        group=group,
        kind=group,
        cells_of_groups=cells,
        cells_of_kinds=cells,
        scale=np.ones(len(image)),
        drawn=drawn,
        share=share,
        pooled=pooled,
        symmetric=False,
        n_probes=0,
        offset=0,
        genuine_row=row[genuine],
        genuine_col=col[genuine],
        genuine_identity=genuine_identity,
        n_genuine=len(genuine),
        listed=ListedPairs(
            row=row[impostor].astype(np.int32),
            col=col[impostor].astype(np.int32),
            impostor=impostor,
            genuine=genuine,
            factor=factor,
        ),
        people_known=identity is None or not pair_scheme,
        facts=facts,
    )


def _labels(scores, by, varying, stratified):
    """Group label, identity and person of both sides, (side, pair), and the groups.

    The rule for labels that vary within a person is applied; by default each pair counts under its
    own labels. Identities and persons are None where they are unknown.
    """
    label = np.full((2, scores.sizes["pair"]), UNKNOWN)
    if by is not None:
        label = np.array(labels_of_sides(scores, by))
    groups = groups_among(label.ravel(), by)
    if "probe_identity" not in scores.coords:
        return label, None, None, groups
    identity = np.array(labels_of_sides(scores, "identity"))
    if by is None:
        return label, identity, identity, groups
    if of_people(scores, by) and varying not in ("error", "keep"):
        name = CROSSED.join(attributes_of(by))
        resolved = resolve_varying(label.ravel(), identity.ravel(), varying, name)
        label, new_identity, person = resolved
        person = identity if person is None else person.reshape(2, -1)
        return label.reshape(2, -1), new_identity.reshape(2, -1), person, groups
    _note_varying(scores, label, identity, by, stratified)
    return label, identity, identity, groups


def _note_varying(scores, label, identity, by, stratified):
    """Say where labels vary within a person; strata must not."""
    rule = f"strata must be a property of the person, but {by!r}"
    if not of_people(scores, by):
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


def _kinds_of_pairs(scores, identity, person):
    """Positions of genuine and of impostor pairs, and numbers for the provenance."""
    with_itself = np.zeros(scores.sizes["pair"], bool)
    if "probe" in scores.coords:
        with_itself = scores["probe"].values == scores["reference"].values
    if identity is None:
        genuine = scores["genuine"].values.astype(bool)
        impostor = ~genuine & ~with_itself
    else:
        genuine = identity[0] == identity[1]
        impostor = person[0] != person[1]
    genuine = genuine & ~with_itself
    require(genuine.any(), "there is no genuine pair in the list: nothing can be falsely rejected")
    require(
        impostor.any(), "there is no impostor pair in the list: nothing can be falsely accepted"
    )
    n_with_itself = int(with_itself.sum())
    if n_with_itself:
        words = "pair(s) compare an image with itself: they are left out of every rate"
        warn(f"{n_with_itself} {words}")
    facts = {
        "n_genuine_pairs": int(genuine.sum()),
        "n_impostor_pairs": int(impostor.sum()),
        "n_pairs_of_an_image_with_itself": n_with_itself,
    }
    return np.flatnonzero(genuine), np.flatnonzero(impostor), facts


def _fits(scores, impostors):
    """Which pairs have the labels that impostors must have."""
    fits = np.ones(scores.sizes["pair"], bool)
    for name, wanted in impostors.items():
        fits &= label_fits(*labels_of_sides(scores, name), wanted, UNKNOWN)
    return fits


def _nameless_images(label, groups, genuine):
    """Images where every side of every pair is a new one, and only a genuine pair is one person.

    Returns the images, image and group of each entry, and both entries of each pair.
    """
    n_pairs = label.shape[1]
    entry = np.arange(2 * n_pairs)
    names = np.char.zfill(entry.astype(str), 12)
    person = names.copy()
    person[n_pairs + genuine] = person[genuine]
    images = People(names, person, person, person, groups, entry, entry)
    group = group_codes(label.ravel(), groups)
    return images, entry, group, entry[:n_pairs], entry[n_pairs:]


def _named_images(scores, label, identity, person, groups):
    """As `_nameless_images`, where identities are known: an entry is an image under one label.

    Without image names an identity stands for all its images.
    """
    label, identity, person = label.ravel(), identity.ravel(), person.ravel()
    names = identity
    if "probe" in scores.coords:
        names = np.concatenate([scores[side].values.astype(str) for side in ("probe", "reference")])
    image, names = pd.factorize(names.astype(object), sort=True)
    first = np.unique(image, return_index=True)[1]
    differs = np.flatnonzero(identity[first][image] != identity)
    if len(differs):
        shown = np.unique(identity[image == image[differs[0]]])
        raise InputError(
            f"image {str(names[image[differs[0]]])!r} shows {listed(shown)}: if these are parts of "
            "one person whose label varies, say varying='first'; give different images different "
            "names"
        )
    n_groups = len(groups) + 1
    code = image * n_groups + group_codes(label, groups)
    entries, entry = np.unique(code, return_inverse=True)
    stratum = resolve_varying(label, identity, "first", "label")[0][first]
    probes, references = (np.unique(side) for side in np.split(image, 2))
    if np.isin(probes, references).any():  # both sides are one set of images
        probes = references = np.arange(len(names))
    names = names.astype(str)
    images = People(names, identity[first], person[first], stratum, groups, probes, references)
    return images, entries // n_groups, entries % n_groups, *np.split(entry, 2)


def _draw_pairs(genuine, impostor, images: People, resampling):
    """Counts where every pair is drawn alone: those of the image on its first side."""
    positions = np.append(genuine, impostor)
    kinds = np.repeat(["genuine", "impostor"], [len(genuine), len(impostor)])
    image_count = np.ones((resampling.n, len(images.names)), np.uint8)
    image_count[:, positions] = resampling.weights(kinds)["image_count"].values
    n_identities = int(images.identity_code.max()) + 1
    return image_count, np.ones((resampling.n, n_identities), np.uint8)


def _identity_factors(code, share):
    """Weights of impostor pairs: those of the same two people share the weight of these two.

    code : (side, pair) of the identities. None where all weights are equal.
    """
    low, high = np.sort(code, axis=0)
    two_people = low * len(share) + high
    _, place, n_pairs = np.unique(two_people, return_inverse=True, return_counts=True)
    weight = share[low] * share[high] / n_pairs[place]
    return None if np.ptp(weight) == 0 else weight
