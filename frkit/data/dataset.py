"""The faces Dataset: made from arrays, checked; and the encoders of the same images, stacked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import require, require_mapping
from frkit.data.alignment import aligned, in_one_order, stacked
from frkit.data.checks import check_faces, checked_embedding
from frkit.data.collect import collected
from frkit.data.face_columns import faces_of_columns
from frkit.data.face_roles import gathered
from frkit.data.roles import as_mapping
from frkit.data.square import refuse_scores

OF_FRAME = (
    "the columns of a DataFrame are named by columns=, such as columns={'identity': 'person', "
    "'gender': 'sex'}"
)


def faces(
    embedding: ArrayLike | pd.DataFrame,
    identity: ArrayLike | None = None,
    *,
    image: ArrayLike | None = None,
    model: Sequence[str] | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    **attributes: ArrayLike,
) -> xr.Dataset:
    """Collect embeddings, identities and attributes of images in one checked Dataset.

    Of a DataFrame alone, columns are guessed from names and contents, or named by `columns`.
    pandas and xarray inputs are joined by their labels.

    Parameters
    ----------
    embedding : array-like of numbers, shape ([n_models,] n_images, n_features)
        One row per image; any scale (rows need not have unit norm). Kept as float32: float64 and
        integer input is rounded to it. The caller's array is copied, never changed; a dask array
        stays lazy. Or a DataFrame with labels and the embedding: a column of lists, or numbered
        columns such as f0, f1, ...
    identity : array-like, shape (n_images,)
        Who each image shows; numbers become text. At least two identities, one of them with two
        images.
    image : array-like, shape (n_images,), optional
        Distinct names of the images; default "0", "1", ...
    model : sequence of str, shape (n_models,), optional
        Names of the encoders: required where `embedding` has three dimensions, refused otherwise.
    columns : mapping, optional
        With a DataFrame: what its columns are, as in `open_data`, such as {"embedding": "arc",
        "identity": "who"}.
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
        the array is a matrix of scores (symmetric, with a constant diagonal). Messages count rows
        and columns from 0.

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
    >>> ds.equals(faces(frame, columns={"gender": "sex"}))
    True
    """
    names = {"identity": identity, "image": image, **attributes}
    if isinstance(embedding, pd.DataFrame) and (identity is None or columns):
        require(all(labels is None for labels in names.values()), OF_FRAME)
        given = as_mapping(columns)
        return faces_of_columns(gathered(embedding.rename(columns=str), given), given)
    require(columns is None, "columns= says what the columns of a DataFrame are")
    require(identity is not None, "give identity=, who each image shows")
    require(not isinstance(identity, str), OF_FRAME)
    inputs = aligned({"embedding": embedding, **names}, "image")
    embedding, identity, image = (inputs.pop(name) for name in ("embedding", "identity", "image"))
    if isinstance(embedding, xr.DataArray):
        embedding = embedding.transpose(..., "feature", missing_dims="ignore").data
    values = checked_embedding(embedding, model)
    refuse_scores(values)
    return collected(values, identity, image, model, inputs)


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
        If there is no model, one is not a faces Dataset or is stacked already, or images,
        identities or attributes differ.

    Examples
    --------
    >>> a = faces([[1, 0], [1, 1], [0, 1]], ["anna", "anna", "bo"])
    >>> b = faces([[1, 0, 0], [1, 1, 0], [0, 1, 2]], ["anna", "anna", "bo"])
    >>> dict(stack_models({"A": a, "B": b}).embedding.sizes)
    {'model': 2, 'image': 3, 'feature': 3}
    """
    require_mapping("models", models, '{"A": faces, "B": faces_of_another_encoder}')
    for name, faces in models.items():
        check_faces(faces, f"model {name!r}")
        require("model" not in faces.dims, f"model {name!r} contains several models already")
    n_features = max(faces.sizes["feature"] for faces in models.values())
    padded = {}
    for name, faces in in_one_order(models, ["image"]).items():
        width = n_features - faces.sizes["feature"]
        faces = faces.transpose("image", "feature")
        padded[name] = faces.pad(feature=(0, width), constant_values=0)
    return stacked(padded, "embedding")
