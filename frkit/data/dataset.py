"""The faces Dataset: made from arrays, checked; and the encoders of the same images, stacked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import FEATURE, IDENTITY, IMAGE, MODEL, PERSON, listed, require, require_one_of
from frkit.data.checks import check_faces, checked_embedding, row_pieces
from frkit.data.labels import (
    VARYING_RULES,
    check_names,
    clean_labels,
    complete_labels,
    image_names,
    model_names,
    resolve_varying,
)

NUMBERED = "numbered"  # of images that nobody named: what their embeddings leave of themselves, to tell them apart


def faces(
    embedding: ArrayLike,
    identity: ArrayLike,
    *,
    image: ArrayLike | None = None,
    model: Sequence[str] | None = None,
    varying: str | Mapping[str, str] = "error",
    **attributes: ArrayLike,
) -> xr.Dataset:
    """Collect embeddings, identities and attributes of images in one checked Dataset.

    Parameters
    ----------
    embedding : array-like of numbers, shape (n_images, n_features) or (n_models, n_images, n_features)
        One row per image; any scale (rows need not have unit norm). Kept as float32: float64 and integer
        input is rounded to it. The caller's array is copied, never changed.
    identity : array-like, shape (n_images,)
        Who each image shows; numbers become text. At least two identities, one of them with two images.
    image : array-like, shape (n_images,), optional
        Distinct names of the images; default "0", "1", ...
    model : sequence of str, shape (n_models,), optional
        Names of the encoders: required where `embedding` has three dimensions, refused otherwise.
    varying : str or mapping of attribute to str, default "error"
        What to do where an attribute varies within an identity: "error", "keep", "split", "first" or "most
        frequent", for all attributes or for each (those not named: "error"); see `resolve_varying`.
    **attributes : array-like, shape (n_images,)
        One label per image, e.g. gender=[...]. Missing ones (None, NaN, NaT, pd.NA, blank) become "unknown".

    Returns
    -------
    xr.Dataset
        Variable `embedding` float32 (image, feature) or (model, image, feature); coordinates `image`,
        `identity(image)`, one per attribute, `model` where stacked, and `person(image)` where identities were
        split. Attributes kept as they vary carry `attrs["varying"] = "keep"`.

    Raises
    ------
    InputError
        If a value is NaN, infinite or too large for float32, a row is a zero vector, lengths differ, an
        identity or an image name is missing (or "unknown"), an image name stands twice, there are fewer than
        two identities or none with two images, an attribute has a reserved name, or an attribute varies and
        `varying` is "error". Messages count rows and columns from 0.

    Examples
    --------
    >>> ds = faces([[1, 0], [1, 1], [0, 1]], ["anna", "anna", "bo"], gender=["female", "female", None])
    >>> dict(ds.sizes), ds.gender.values.tolist()
    ({'image': 3, 'feature': 2}, ['female', 'female', 'unknown'])
    """
    return collected(
        checked_embedding(embedding, model), identity, image, model, varying, attributes
    )


def collected(values, identity, image, model, varying, attributes: dict) -> xr.Dataset:
    """The faces Dataset of a checked embedding, which may be on disk."""
    n_images = values.shape[-2]
    identity = complete_labels(identity, n_images, IDENTITY)
    # NumPy would take room for twenty-one digits
    names = (
        np.arange(n_images).astype(f"U{len(str(n_images))}")
        if image is None
        else image_names(image, n_images)
    )
    labels, rules = _attributes(attributes, varying, n_images)
    person = None
    for name in sorted(
        labels, key=lambda name: rules[name] == "split"
    ):  # last: other rules see whole identities
        labels[name], identity, person = resolve_varying(
            labels[name], identity, rules[name], name, person
        )
    people, counts = np.unique(identity, return_counts=True)
    when = "" if person is None else " after splitting"
    require(
        len(people) >= 2,
        f"at least two identities are needed{when}, got {len(people)}: {listed(people)}",
    )
    words = f"no identity has two images{when} ({len(people)} identities, one image each), so no genuine pair"
    require(counts.max() >= 2, f"{words}; check that identity holds people, not image names")
    numbered = {} if image is not None else {NUMBERED: fingerprint(values)[:16]}
    coords = {IMAGE: (IMAGE, names, numbered), IDENTITY: (IMAGE, identity)}
    coords |= {} if model is None else {MODEL: model_names(model, len(values))}
    coords |= {} if person is None else {PERSON: (IMAGE, person)}
    for name in attributes:
        coords[name] = (IMAGE, labels[name], {"varying": "keep"} if rules[name] == "keep" else {})
    return xr.Dataset(
        {"embedding": ((MODEL, IMAGE, FEATURE)[-values.ndim :], values)}, coords=coords
    )


def fingerprint(embedding) -> str:
    """What the values of an embedding leave of themselves, wherever they are held."""
    digest = hashlib.sha256()
    for _, rows in row_pieces(embedding):
        digest.update(np.ascontiguousarray(rows))
    return digest.hexdigest()


def _attributes(attributes: dict, varying, n_images: int) -> tuple[dict, dict]:
    """Clean labels and the rule of each attribute."""
    check_names(attributes)
    if isinstance(varying, str):
        require_one_of("varying", varying, VARYING_RULES)
    rules = dict.fromkeys(attributes, varying) if isinstance(varying, str) else varying
    require(
        isinstance(rules, Mapping), f"varying must be a rule or a mapping to rules, got {varying!r}"
    )
    extra = [name for name in rules if name not in attributes]
    require(
        not extra,
        f"varying names {listed(extra)}, but the attributes are {listed(attributes) or 'none'}",
    )
    labels = {name: clean_labels(values, n_images, name) for name, values in attributes.items()}
    return labels, dict.fromkeys(attributes, "error") | dict(rules)


def stack_models(models: dict[str, xr.Dataset]) -> xr.Dataset:
    """Stack the embeddings that several encoders give the same images along a new dimension `model`.

    Narrower embeddings are padded with zeros on the right, which changes neither cosines nor distances.

    Parameters
    ----------
    models : mapping of str to xr.Dataset
        Encoder name to faces Dataset (image, feature). All must hold the same image names, identities and
        attributes; images in another order are brought into the order of the first.

    Returns
    -------
    xr.Dataset
        A faces Dataset with dims (model, image, feature) and the coordinate `model`.

    Raises
    ------
    InputError
        If there is no model, one is no faces Dataset or is stacked already, or images, identities or
        attributes differ.

    Examples
    --------
    >>> a = faces([[1, 0], [1, 1], [0, 1]], ["anna", "anna", "bo"])
    >>> b = faces([[1, 0, 0], [1, 1, 0], [0, 1, 2]], ["anna", "anna", "bo"])
    >>> dict(stack_models({"A": a, "B": b}).sizes)
    {'model': 2, 'image': 3, 'feature': 3}
    """
    require(
        isinstance(models, Mapping) and models,
        "stack_models needs a mapping of model name to faces",
    )
    for name, one in models.items():
        check_faces(one, f"model {name!r}")
        require(
            MODEL not in one.dims, f"model {name!r} holds several models already; stack single ones"
        )
    (first_name, first), *others = models.items()
    aligned = [first] + [_aligned(other, name, first, first_name) for name, other in others]
    width = max(one.sizes[FEATURE] for one in aligned)
    stacked = np.zeros((len(aligned), first.sizes[IMAGE], width), np.float32)
    for row, one in zip(stacked, aligned, strict=True):
        row[:, : one.sizes[FEATURE]] = one["embedding"].transpose(IMAGE, FEATURE)
    coords = {MODEL: model_names(list(models), len(models)), **first.coords}
    return xr.Dataset({"embedding": ((MODEL, IMAGE, FEATURE), stacked)}, coords=coords)


def _aligned(other: xr.Dataset, name: str, first: xr.Dataset, first_name: str) -> xr.Dataset:
    """The other encoder's images in the order of the first, with equal labels."""
    both = f"models {first_name!r} and {name!r}"
    mine, theirs = first[IMAGE].values, other[IMAGE].values
    alone = sorted(set(mine.tolist()) ^ set(theirs.tolist()))
    require(not alone, f"{both} must hold the same images, only one has {listed(alone)}")
    other = other.sel({IMAGE: mine})
    alone = sorted(set(first.coords) ^ set(other.coords))
    require(not alone, f"{both} must hold the same attributes, only one has {listed(alone)}")
    for label in first.coords:
        differs = np.flatnonzero(first[label].values != other[label].values)
        require(
            len(differs) == 0,
            f"{both} differ in {label} of {len(differs)} image(s), the first {listed(mine[differs[:1]])}; "
            "all encoders must be given the same images",
        )
    return other
