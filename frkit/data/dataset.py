"""The faces Dataset: made from arrays, checked; and the encoders of the same images, stacked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import InputError, listed, require
from frkit.data.checks import check_faces, checked_embedding, row_pieces
from frkit.data.labels import (
    check_names,
    clean_labels,
    complete_labels,
    image_names,
    model_names,
    resolve_varying,
)
from frkit.data.tables import embedding_columns, stacked_numbers

NUMBERED = "numbered"  # attribute of images without names: a hash of their embeddings


def faces(
    embedding: ArrayLike | pd.DataFrame,
    identity: ArrayLike | str,
    *,
    image: ArrayLike | str | None = None,
    model: Sequence[str] | None = None,
    varying: str | Mapping[str, str] = "error",
    columns: str | Sequence[str] | None = None,
    **attributes: ArrayLike | str,
) -> xr.Dataset:
    """Collect embeddings, identities and attributes of images in one checked Dataset.

    Of a DataFrame, `identity`, `image` and attributes are names of its columns.

    Parameters
    ----------
    embedding : array-like of numbers, shape ([n_models,] n_images, n_features)
        One row per image; any scale (rows need not have unit norm). Kept as float32: float64 and
        integer input is rounded to it. The caller's array is copied, never changed; a dask array
        stays lazy. Or a DataFrame with the embedding and the labels.
    identity : array-like, shape (n_images,)
        Who each image shows; numbers become text. At least two identities, one of them with two
        images.
    image : array-like, shape (n_images,), optional
        Distinct names of the images; default "0", "1", ...
    model : sequence of str, shape (n_models,), optional
        Names of the encoders: required where `embedding` has three dimensions, refused otherwise.
    varying : str or mapping of attribute to str, default "error"
        What to do where an attribute varies within an identity: "error", "keep", "split", "first"
        or "most frequent", for all attributes or for each (those not named: "error"); see
        `resolve_varying`.
    columns : str or sequence of str, optional
        Of a DataFrame, where the embedding is: a column of arrays, the prefix of numbered columns
        (f0, f1, ...), or the names of all. Default: a usual name.
    **attributes : array-like, shape (n_images,)
        One label per image, e.g. gender=[...]. Missing ones (None, NaN, NaT, pd.NA, blank) become
        "unknown".

    Returns
    -------
    xr.Dataset
        Variable `embedding` float32 (image, feature) or (model, image, feature); coordinates
        `image`, `identity(image)`, one per attribute, `model` where stacked, and `person(image)`
        where identities were split. Attributes kept as they vary carry `attrs["varying"] = "keep"`.

    Raises
    ------
    InputError
        If a value is NaN, infinite or too large for float32, a row is a zero vector, lengths
        differ, an identity or an image name is missing (or "unknown"), image names are equal,
        there are fewer than two identities or none with two images, an attribute has a reserved
        name, or an attribute varies and `varying` is "error". Messages count rows and columns from
        0.

    Examples
    --------
    >>> gender = ["female", "female", None]
    >>> ds = faces([[1, 0], [1, 1], [0, 1]], ["anna", "anna", "bo"], gender=gender)
    >>> dict(ds.sizes), ds.gender.values.tolist()
    ({'image': 3, 'feature': 2}, ['female', 'female', 'unknown'])

    The same from a table:

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"f0": [1, 1, 0], "f1": [0, 1, 1]})
    >>> frame = frame.assign(person=["anna", "anna", "bo"], sex=gender)
    >>> ds.equals(faces(frame, identity="person", gender="sex"))
    True
    """
    if isinstance(embedding, pd.DataFrame) and isinstance(identity, str):
        frame = embedding
        embedding = stacked_numbers(frame, embedding_columns(frame, columns))
        identity, image = _column(frame, identity), _column(frame, image)
        attributes = {name: _column(frame, label) for name, label in attributes.items()}
    return collected(
        checked_embedding(embedding, model), identity, image, model, varying, attributes
    )


def _column(frame, labels):
    """Return labels, or the column of this name."""
    if not isinstance(labels, str):
        return labels
    words = f"there is no column {labels!r}; the columns are {listed(frame.columns, 12)}"
    require(labels in frame, words)
    return frame[labels]


def collected(values, identity, image, model, varying, attributes, person=None):
    """Return the faces Dataset of a checked embedding, which may be on disk.

    `person` is who each image shows, where an earlier split has renamed identities.
    """
    n_images = values.shape[-2]
    identity = complete_labels(identity, n_images, "identity")
    if person is not None:
        person = clean_labels(person, n_images, "person")
        resolve_varying(person, identity, "error", "person")
    check_names(attributes)
    rules = dict.fromkeys(attributes, varying if isinstance(varying, str) else "error")
    if not isinstance(varying, str):
        rules |= varying
    labels = {}
    # splits come last: other rules see whole identities
    for name in sorted(attributes, key=lambda name: rules[name] == "split"):
        given = clean_labels(attributes[name], n_images, name)
        labels[name], identity, person = resolve_varying(given, identity, rules[name], name, person)
    _check_people(identity, "" if person is None else " after splitting")
    image_attrs = {}
    if image is None:
        image = range(n_images)
        image_attrs[NUMBERED] = fingerprint(values)[:16]
    names = image_names(image, n_images)
    coords = {"image": ("image", names, image_attrs), "identity": ("image", identity)}
    if model is not None:
        coords["model"] = model_names(model, len(values))
    if person is not None:
        coords["person"] = ("image", person)
    for name in attributes:
        attrs = {"varying": "keep"} if rules[name] == "keep" else {}
        coords[name] = ("image", labels[name], attrs)
    dims = ("model", "image", "feature")[-values.ndim :]
    return xr.Dataset({"embedding": (dims, values)}, coords=coords)


def _check_people(identity, when):
    """Refuse identities of which no pair, or no genuine pair, can be made."""
    people, counts = np.unique(identity, return_counts=True)
    words = f"at least two identities are needed{when}, got {len(people)}: {listed(people)}"
    require(len(people) >= 2, words)
    words = f"no identity has two images{when}, so there is no genuine pair"
    require(counts.max() >= 2, f"{words}; check that identity contains people, not image names")


def fingerprint(embedding):
    """Return a hash of the values of an embedding, in memory or on disk."""
    digest = hashlib.sha256()
    for _, rows in row_pieces(embedding):
        digest.update(np.ascontiguousarray(rows))
    return digest.hexdigest()


def stack_models(models: dict[str, xr.Dataset]) -> xr.Dataset:
    """Stack the embeddings of several encoders, of the same images, along a new dimension `model`.

    Narrower embeddings are padded with zeros on the right, which changes neither cosines nor
    distances.

    Parameters
    ----------
    models : mapping of str to xr.Dataset
        Encoder name to faces Dataset (image, feature). All must have the same image names,
        identities and attributes; images in another order are brought into the order of the first.

    Returns
    -------
    xr.Dataset
        A faces Dataset with dims (model, image, feature) and the coordinate `model`.

    Raises
    ------
    InputError
        If there is no model, one is no faces Dataset or is stacked already, or images, identities
        or attributes differ.

    Examples
    --------
    >>> a = faces([[1, 0], [1, 1], [0, 1]], ["anna", "anna", "bo"])
    >>> b = faces([[1, 0, 0], [1, 1, 0], [0, 1, 2]], ["anna", "anna", "bo"])
    >>> dict(stack_models({"A": a, "B": b}).sizes)
    {'model': 2, 'image': 3, 'feature': 3}
    """
    require(len(models) > 0, "stack_models needs a mapping of model name to faces")
    for name, faces in models.items():
        check_faces(faces, f"model {name!r}")
        require("model" not in faces.dims, f"model {name!r} contains several models already")
    first = next(iter(models.values()))
    n_features = max(faces.sizes["feature"] for faces in models.values())
    aligned = [_aligned(name, faces, first, n_features) for name, faces in models.items()]
    try:
        return xr.concat(
            aligned,
            xr.Variable("model", model_names(list(models), len(models))),
            data_vars="all",
            coords="minimal",
            compat="equals",
            join="exact",
            combine_attrs="override",
        )
    except ValueError as error:
        words = "models must have the same identities and attributes"
        raise InputError(f"{words}: {error}") from error


def _aligned(name, faces, first, n_features):
    """Return the embedding of the images in the order of the first encoder, as wide as all."""
    images = first["image"].values
    differ = np.setxor1d(images, faces["image"].values)
    words = f"model {name!r} must have the images and attributes of the first model, only one has"
    require(len(differ) == 0, f"{words} {listed(differ)}")
    differ = sorted({*first.coords} ^ {*faces.coords})
    require(len(differ) == 0, f"{words} {listed(differ)}")
    faces = faces[["embedding"]].sel(image=images).transpose("image", "feature")
    return faces.pad(feature=(0, n_features - faces.sizes["feature"]), constant_values=0)
