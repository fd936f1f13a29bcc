"""The faces Dataset: made from arrays or columns, with every check; and encoders, stacked."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import listed, require, warn
from frkit.data.alignment import in_one_order, require_one_order, stacked
from frkit.data.checks import (
    NUMBERED,
    WIDE,
    check_faces,
    checked_embedding,
    is_lazy,
    loaded,
    refuse_scores,
    row_pieces,
)
from frkit.data.files import not_read
from frkit.data.labels import can_be_named, labels_of_images, model_names
from frkit.data.sides import Sides
from frkit.io.arrays import as_embedding
from frkit.io.cells import refuse_repeated_index
from frkit.io.face_roles import (
    MANY,
    UNNAMED,
    cosines_of_rows,
    face_roles,
    free_labels,
    gathered,
)
from frkit.io.joins import identities_from, is_pattern
from frkit.io.kinds import ask_kind
from frkit.io.labels_table import labels_by_name, labels_in_order
from frkit.io.models import names_models, read_by_model
from frkit.io.names import ATTRIBUTES, words_of
from frkit.io.notices import warn_of_spellings, warn_of_strangers
from frkit.io.roles import ask_about_others

WHOSE = ("identity", "image")
FEWEST = 20  # images that show what a number means
OF_ONE, OF_OTHERS = 50, 100  # images that show whether people are alike
OF_MODELS = (
    "arrays with a row for each image and model are a table: arrays = np.load(path); "
    "fk.open_data(pd.DataFrame({name: [*arrays[name]] for name in arrays}), columns={'model': "
    "'model'}), with labels in a file as further columns"
)


def faces(
    embedding: ArrayLike,
    identity: ArrayLike | None = None,
    *,
    image: ArrayLike | None = None,
    model: Sequence[str] | None = None,
    **attributes: ArrayLike,
) -> xr.Dataset:
    """Collect embeddings, identities and attributes of images in one checked Dataset.

    pandas and xarray inputs have the same labels in one order: those of `embedding`, or the names
    in `image`; others are refused.

    Parameters
    ----------
    embedding : array-like of numbers, shape ([n_models,] n_images, n_features)
        One row per image; any scale (rows need not have unit norm). Kept as float32: float64 and
        integer input is rounded to it. The caller's array is copied, never changed; a dask array
        stays lazy. Or a Dataset of xarray that was made by this function and stored.
    identity : array-like, shape (n_images,)
        Who each image shows; numbers become text. At least two identities, one of them with two
        images.
    image : array-like, shape (n_images,), optional
        Distinct names of the images; default "0", "1", ...
    model : sequence of str, shape (n_models,), optional
        Names of the encoders: required where `embedding` has three dimensions, refused otherwise.
    **attributes : array-like, shape (n_images,)
        One label per image, e.g. gender=[...]. Missing ones (None, NaN, NaT, pd.NA, blank) become
        "unknown". A label may vary within an identity: who compares groups of such an attribute
        says what to do then, as in `evaluate(..., varying="split")`.

    Returns
    -------
    xr.Dataset
        Variable `embedding` float32 (image, feature) or (model, image, feature); coordinates
        `image`, `identity(image)`, one per attribute, and `model` where stacked.

    Raises
    ------
    InputError
        If a value is NaN, infinite or too large for float32, a row is a zero vector, lengths
        differ, an identity or an image name is missing (or "unknown"), image names are equal, there
        are fewer than two identities or none with two images, an attribute has a reserved name, or
        the array is a matrix of scores (square, with a constant diagonal). Messages count rows
        and columns from 0.

    Examples
    --------
    >>> gender = ["female", "female", None]
    >>> ds = faces([[1, 0], [1, 1], [0, 1]], ["anna", "anna", "bo"], gender=gender)
    >>> dict(ds.sizes), ds.gender.values.tolist()
    ({'image': 3, 'feature': 2}, ['female', 'female', 'unknown'])
    """
    if isinstance(embedding, xr.Dataset):
        return _of_dataset(embedding)
    require(
        identity is not None and not isinstance(identity, str),
        "give identity=, who each image shows; a table with a column of identities is opened by "
        "fk.open_data(frame), columns={'identity': 'person'} says which column is what",
    )
    labels = {"identity": identity, "image": image, **attributes}
    require_one_order({"embedding": embedding, **labels}, named_by="image")
    if isinstance(embedding, xr.DataArray):
        embedding = embedding.transpose(..., "feature", missing_dims="ignore").data
    values = checked_embedding(embedding, model)
    refuse_scores(values)
    n_images = values.shape[-2]
    numbered = {NUMBERED: _fingerprint(values)} if image is None else {}
    image = range(n_images) if image is None else image
    labels = labels_of_images(n_images, image, identity, attributes)
    _check_people(labels["identity"])
    warn_of_spellings({name: [labels[name]] for name in labels})
    of_first = values if values.ndim == 2 else values[0]
    _warn_of_copies(of_first)
    _check_some_images(of_first, labels)
    coords = {"image": ("image", labels.index.to_numpy(str), numbered)}
    coords |= {name: ("image", labels[name].to_numpy(str)) for name in labels}
    if model is not None:
        coords["model"] = model_names(model, len(values))
    dims = ("model", "image", "feature")[-values.ndim :]
    return xr.Dataset({"embedding": (dims, values)}, coords=coords)


def _of_dataset(stored):
    """Return a stored faces Dataset with every check; an embedding of dask stays lazy."""
    require("embedding" in stored.variables, "the Dataset has no variable `embedding`")
    labels = {
        str(name): labels.values
        for name, labels in stored.variables.items()
        if labels.dims in (("image",), ("model",))
    }
    embedding = stored["embedding"].transpose(..., "image", "feature").data
    return faces(embedding, **labels)


def stacked_faces(models: dict[str, xr.Dataset]) -> xr.Dataset:
    """Stack the embeddings of several encoders, of the same images, along a new dimension `model`.

    Images are brought into the order of the first model. Narrower embeddings are padded with zeros
    on the right, which changes neither cosines nor distances.
    """
    for name, faces in models.items():
        check_faces(faces, f"model {name!r}")
    n_features = max(faces.sizes["feature"] for faces in models.values())
    padded = {}
    for name, faces in in_one_order(models, ["image"]).items():
        width = n_features - faces.sizes["feature"]
        faces = faces.transpose("image", "feature")
        padded[name] = faces.pad(feature=(0, width), constant_values=0)
    return stacked(padded, "embedding")


# --- from columns ---------------------------------------------------------------------------------


def faces_of_contents(contents, options):
    """Return the faces Dataset of a file or table; options : of `open_data`."""
    if names_models(options):
        require(contents.is_table(), OF_MODELS)
        return stacked_faces(read_by_model(contents, options, faces_of_contents))
    identity, labels = options.get("identity"), options.get("labels")
    by_name = is_pattern(identity)
    user_columns = dict(options.get("columns") or {})
    if identity and not by_name:
        user_columns["identity"] = identity
    columns = gathered(contents.data, user_columns) if contents.is_table() else {**contents.data}
    if labels is not None and all(np.ndim(values) > 1 for values in columns.values()):
        columns |= labels_in_order(labels)
        labels = None
    people = {}
    if by_name:
        roles = face_roles(columns, user_columns, by_name)
        roles.who = f"by the pattern {identity!r} of names of images"
        people["identity"] = identities_from(columns[roles.column("image")], identity)
    joined = {} if labels is None else _joined(labels, columns, people)
    columns |= joined
    if not by_name:
        roles = face_roles(columns, user_columns)
    others = [name for name in free_labels(roles, columns) if name not in (UNNAMED, *joined)]
    ask_about_others(roles, columns, [name for name in others if not words_of(name) & ATTRIBUTES])
    if contents.is_table() and roles.column("identity") != UNNAMED:
        refuse_repeated_index(contents.data)
    of_images = _labels_of_images(columns, roles) | people
    if "kind" not in options and "embedding" not in user_columns:
        _ask_about_scores(columns, roles, of_images)
    return _of_columns(columns, roles, of_images)


def _joined(labels, columns, people):
    """Return the columns of a table of labels, joined by names in the data.

    people : who is in the images by a pattern, if there is one, as "identity"
    """
    names = {name: [each] for name, each in (columns | people).items() if np.ndim(each) == 1}
    return {name: side for name, [side] in labels_by_name(labels, names, columns).items()}


def _labels_of_images(columns, roles):
    """Return who and what images show, and their attributes: all labels with usable names."""
    usable = [name for name in roles.free(columns) if can_be_named(name)]
    labels = free_labels(roles, columns)
    not_read([name for name in usable if name not in labels], "not one label per image")
    sources = {role: roles.column(role) for role in WHOSE if roles.column(role)}
    sources |= {name: name for name in usable if name in labels}
    sources |= {name: column for name, [column] in roles.attributes.items()}
    return {name: pd.Series(columns[source]).array for name, source in sources.items()}


def _ask_about_scores(columns, roles, of_images):
    """Ask about an array with a column for each image or person: it may be a matrix of scores."""
    name = roles.column("embedding")
    n_images, n_features = np.shape(columns[name])[-2:]
    n_people = pd.Series(of_images.get("identity", ())).nunique()
    if n_features >= MANY and n_features in (n_images, n_people):
        ask_kind(f"{name!r} has as many columns as there are images or people")


def _of_columns(columns, roles, of_images):
    """Return the faces Dataset of embeddings of one model, or of several."""
    models = {}
    for name in roles.columns["embedding"]:
        model = columns.get("model") if np.ndim(columns[name]) == 3 else None
        models[name] = faces(as_embedding(columns[name]), model=model, **of_images)
    data = stacked_faces(models) if len(models) > 1 else models[name]
    return data.assign_attrs(roles.attrs())


# --- checks -------------------------------------------------------------------------------------


def _check_people(identity):
    """Refuse identities that make no pair, or no genuine pair."""
    people, counts = np.unique(identity, return_counts=True)
    require(
        len(people) >= 2 and counts.max() >= 2,
        "genuine and impostor pairs need two identities, and two images of one of them; got "
        f"{len(people)}: {listed(people)}; check that identity contains people, not image names",
    )


def _refuse_numbers_among(rows):
    """Refuse whole numbers beside fractions, such as those of cameras, in some rows."""
    places = np.flatnonzero((rows % 1 == 0).all(axis=0) & (np.ptp(rows, axis=0) > 0))
    is_mixed = 0 < len(places) < rows.shape[1] / 2
    require(
        len(rows) < FEWEST or not is_mixed,
        f"columns {places.tolist()} of the embedding are whole numbers, and others are not, as "
        "labels or numbers of rows would be: leave them out, as np.delete(embedding, "
        f"{places.tolist()}, axis=1) does",
    )


def _check_some_images(values, labels):
    """Refuse labels among features; warn of people and labels whose images are not alike.

    Some images of the person who has most of them are compared, and those of others.
    """
    codes, _ = pd.factorize(labels["identity"])
    n_images = np.bincount(codes)
    by_person = np.lexsort((codes, -n_images[codes]))
    of_one, of_others = np.split(by_person, [n_images.max()])
    rows = np.sort(np.append(of_one[:OF_ONE], of_others[:OF_OTHERS]))
    _refuse_numbers_among(loaded(values[rows]))
    first, second, cosines = cosines_of_rows(values, rows)
    sides = {}
    for name in labels:
        codes, distinct = pd.factorize(labels[name].to_numpy()[rows])
        sides[name] = Sides(codes[first], codes[second], distinct)
    who = sides.pop("identity")
    images = Sides(first, second, labels.index.to_numpy()[rows])
    warn_of_strangers(cosines, who.is_same(), who, sides, images)


def _warn_of_copies(rows):
    """Warn of images with exactly the embedding of another one, unless they are on disk."""
    if is_lazy(rows) or rows.shape[1] < WIDE:
        return
    contents = pd.Series([hash(row.tobytes()) for row in rows])
    n_copies = contents.duplicated(keep=False).sum()
    if n_copies > 0:
        warn(
            f"{n_copies:,} images have exactly the embedding of another image: as copies of a file "
            "they make genuine pairs too easy, and as faces that were not found impostor pairs too "
            "hard; leave such images out"
        )


def _fingerprint(embedding):
    """Return the beginning of a hash of an embedding, in memory or on disk."""
    digest = hashlib.sha256()
    for _, rows in row_pieces(embedding):
        digest.update(np.ascontiguousarray(rows))
    return digest.hexdigest()[:16]
