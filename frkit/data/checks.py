"""Checks of embeddings: every message names the row and says what to do."""

from collections.abc import Iterator

import dask.array as da
import numpy as np
import xarray as xr

from frkit.base import FEATURE, IDENTITY, IMAGE, MODEL, InputError, real_numbers, require

ROWS = 4096  # of an embedding that are looked at at a time


def checked_embedding(embedding, model, copy: bool = True) -> np.ndarray | da.Array:
    """Return float32 values that can be compared; without a copy, what is lazy stays so."""
    is_lazy = isinstance(embedding, da.Array) and not copy
    original = embedding if is_lazy else real_numbers("embedding", embedding)
    require(original.dtype.kind in "fiub", f"embedding must be numbers, got {original.dtype}")
    n_dims, how = (2, "without") if model is None else (3, "with")
    shapes = (
        "embedding must have shape (images, features), or (models, images, features) and model="
    )
    words = f"{shapes}, got shape {original.shape} {how} model names"
    require(original.ndim == n_dims, words)
    words = f"embedding is empty: shape {original.shape}; give images and features"
    require(original.size > 0, words)
    if is_lazy:
        values = original.map_blocks(as_float32, dtype=np.float32)
    else:
        values = as_float32(original.copy() if copy and original.dtype == np.float32 else original)
    check_rows(values, original, model)
    return values


def as_float32(values: np.ndarray) -> np.ndarray:
    """Return the values in float32, infinite where that cannot hold one."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values, dtype=np.float32)


def check_rows(values: np.ndarray | da.Array, original: np.ndarray | da.Array, model) -> None:
    """Refuse a row that cannot be compared: a value is not finite, or it has no length."""
    limits = np.finfo(np.float32)
    for place, rows in row_pieces(values):
        squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        has_length = (squares >= limits.tiny) & (squares <= limits.max)
        _refuse_row(np.flatnonzero(~has_length), rows, place, original, model)


def check_finite(values: np.ndarray | da.Array, original: np.ndarray | da.Array, model) -> None:
    """Refuse a value that is not finite in float32; `original` is the embedding as it was given."""
    for place, rows in row_pieces(values):
        is_finite = np.isfinite(rows).all(axis=1)
        _refuse_row(np.flatnonzero(~is_finite), rows, place, original, model)


def _refuse_row(bad, rows, place, original, model):
    """Say what is wrong with the first of these rows, if there is any."""
    if len(bad) == 0:
        return
    *encoder, start = place
    row = start + bad[0]
    name = "".join(f", model {str(list(model)[k])!r}" for k in encoder)
    columns = np.flatnonzero(~np.isfinite(rows[bad[0]]))
    if len(columns):
        value = loaded(original[(*encoder, row, columns[0])])
        where = f"embedding at row {row}, column {columns[0]}{name}: {value!s}"
        raise InputError(f"{where} is not finite in float32; remove or recompute these images")
    norm = np.linalg.norm(rows[bad[0]].astype(np.float64))
    what = f"has norm {norm:.3g}, whose square float32 cannot hold" if norm else "is a zero vector"
    raise InputError(
        f"embedding at row {row}{name} {what}; an image without a direction cannot be "
        "compared: remove or recompute it, or rescale the embedding"
    )


def row_pieces(embedding: np.ndarray | da.Array) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Yield some rows at a time, in C order, with the place of the first of them."""
    for encoder in np.ndindex(embedding.shape[:-2]):
        for start in range(0, embedding.shape[-2], ROWS):
            yield (*encoder, start), loaded(embedding[(*encoder, slice(start, start + ROWS))])


def loaded(rows: np.ndarray | da.Array) -> np.ndarray:
    """Return these rows in memory; computed in this thread, which may belong to a sweep."""
    return rows.compute(scheduler="synchronous") if isinstance(rows, da.Array) else np.asarray(rows)


def check_faces(faces, name: str = "faces") -> None:
    """Refuse what is no Dataset with embeddings and identities; there may be several models."""
    is_faces = isinstance(faces, xr.Dataset) and "embedding" in faces and IDENTITY in faces.coords
    require(is_faces, f"{name} must be a faces Dataset; make it with fk.faces or fk.open_faces")
    dims = faces["embedding"].dims
    require(
        set(dims) - {MODEL} == {IMAGE, FEATURE},
        f"the embedding of {name} must have dims (image, feature) or (model, image, feature), "
        f"got {dims}",
    )
