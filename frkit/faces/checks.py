"""Checks of embedding matrices: every message names the row and says what to do."""

import numpy as np
import xarray as xr

from frkit.base import FEATURE, IDENTITY, IMAGE, MODEL, InputError, require


def check_faces(faces, name: str = "faces") -> None:
    """Refuse what is no Dataset with embeddings and identities of images; there may be several models."""
    good = isinstance(faces, xr.Dataset) and "embedding" in faces and IDENTITY in faces.coords
    require(good, f"{name} must be a faces Dataset; make it with frkit.faces or frkit.open_faces")
    dims = faces["embedding"].dims
    require(
        set(dims) - {MODEL} == {IMAGE, FEATURE},
        f"the embedding of {name} must have dims (image, feature) or (model, image, feature), got {dims}",
    )


def checked_embedding(embedding, model) -> np.ndarray:
    """A float32 copy whose values are finite and whose rows have a length."""
    original = _numbers(embedding)
    require(
        original.ndim == (2 if model is None else 3),
        "embedding must have shape (images, features), or (models, images, features) together with model= "
        f"names, got shape {original.shape} {'without' if model is None else 'with'} model names",
    )
    require(original.size > 0, f"embedding is empty: shape {original.shape}; give images and features")
    with np.errstate(over="ignore"):
        values = np.array(original, dtype=np.float32, order="C", copy=True)
    check_rows(values, original, model)
    return values


def check_rows(values: np.ndarray, original: np.ndarray, model) -> None:
    """Raise where a row cannot be compared: a value is not finite, or it has no length."""
    check_finite(values, original, model)
    _check_norms(values, model)


def _numbers(embedding) -> np.ndarray:
    if isinstance(embedding, np.ma.MaskedArray):
        require(not np.ma.is_masked(embedding), "embedding has masked values; drop these images or fill them")
    try:
        array = np.asarray(embedding)
    except ValueError:
        lengths = [np.size(row) for row in embedding]
        odd = next((row for row, length in enumerate(lengths) if length != lengths[0]), 0)
        lengths = f"row 0 has {lengths[0]} values, row {odd} has {lengths[odd]}"
        raise InputError(f"the rows of embedding differ in length: {lengths}") from None
    require(
        array.dtype.kind in "fiub",
        f"embedding must hold real numbers, got dtype {array.dtype}; convert it with .astype('float32')",
    )
    return array


def _place(index, model) -> str:
    """Words for an index into the embedding: `row 3, column 5, model 'A'`."""
    n_front = 0 if model is None else 1
    words = [f"{word} {value}" for word, value in zip(("row", "column"), index[n_front:], strict=False)]
    return ", ".join(words + [f"model {str(list(model)[k])!r}" for k in index[:n_front]])


def check_finite(values: np.ndarray, original: np.ndarray, model) -> None:
    """Raise where a float32 value is not finite; `original` holds what was given, `model` the encoders' names."""
    finite = np.isfinite(values)
    if finite.all():
        return
    index = np.unravel_index(np.argmin(finite), finite.shape)
    n_rows = int((~finite.all(axis=-1)).sum())
    what = f"{original[index]!s}{', too large for float32' if np.isfinite(original[index]) else ''}"
    raise InputError(
        f"embedding has bad values in {n_rows} row(s), first at {_place(index, model)}: {what}; "
        "remove or recompute these images"
    )


def _check_norms(values: np.ndarray, model) -> None:
    """Every row must have a length whose square float32 can hold, or no similarity is defined."""
    square = np.einsum("...i,...i->...", values, values, dtype=np.float64)
    limits = np.finfo(np.float32)
    bad = (square < limits.tiny) | (square > limits.max)
    if not bad.any():
        return
    index = np.unravel_index(np.argmax(bad), bad.shape)
    norm = np.sqrt(square[index])
    what = f"has norm {norm:.3g}, whose square float32 cannot hold" if norm else "is a zero vector"
    raise InputError(
        f"embedding at {_place(index, model)} {what} ({int(bad.sum())} such row(s)); an image without a "
        "direction cannot be compared: remove or recompute it, or rescale the embedding"
    )
