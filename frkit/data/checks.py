"""Checks of embeddings: every message names the row and says what to do."""

import dask.array as da
import numpy as np
import xarray as xr

from frkit.base import FEATURE, IDENTITY, IMAGE, MODEL, InputError, real_numbers, require

ROWS = 4096  # of an embedding that are looked at at a time


def checked_embedding(embedding, model, copy=True):
    """Return float32 values that can be compared; without a copy, what is lazy stays so."""
    is_lazy = isinstance(embedding, da.Array) and not copy
    original = embedding if is_lazy else real_numbers("embedding", embedding)
    require(original.dtype.kind in "fiub", f"embedding must be numbers, got {original.dtype}")
    n_dims, how = (2, "without") if model is None else (3, "with")
    require(
        original.ndim == n_dims and original.size > 0,
        "embedding must have shape (images, features), or (models, images, features) and model=; "
        f"got shape {original.shape} {how} model names",
    )
    if is_lazy:
        values = original.map_blocks(as_float32, dtype=np.float32)
    else:
        values = as_float32(original)
        if copy and np.shares_memory(values, original):
            values = values.copy()
    check_rows(values, original, model)
    return values


def as_float32(values):
    """Return the values in float32, infinite where that cannot hold one."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values, dtype=np.float32)


def check_rows(values, original, model, need_length=True):
    """Refuse a row of float32 `values` that cannot be compared.

    A value is not finite, or the row's squared length is 0 or too large; without `need_length`
    only the former counts. `original` is the embedding before it was rounded, for messages.
    """
    limits = np.finfo(np.float32)
    for place, rows in row_pieces(values):
        if need_length:
            squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
            is_good = (squares >= limits.tiny) & (squares <= limits.max)
        else:
            is_good = np.isfinite(rows).all(axis=1)
        bad = np.flatnonzero(~is_good)
        if len(bad) > 0:
            *encoder, start = place
            row = start + bad[0]
            of_model = f" of model {str(list(model)[encoder[0]])!r}" if encoder else ""
            where = f"embedding{of_model} at row {row}"
            _refuse_row(where, rows[bad[0]], original[(*encoder, row)])


def _refuse_row(where, row, original):
    """Say what is wrong with a row."""
    columns = np.flatnonzero(~np.isfinite(row))
    if len(columns) > 0:
        value = loaded(original)[columns[0]]
        raise InputError(
            f"{where}, column {columns[0]}: {value!s} is not finite in float32 (both "
            "counted from 0); remove or recompute these images"
        )
    norm = np.linalg.norm(row.astype(np.float64))
    fault = f"has norm {norm:.3g}, whose square float32 cannot hold" if norm else "is a zero vector"
    raise InputError(
        f"{where} {fault}; an image without a direction cannot be compared: remove or recompute "
        "it, or rescale the embedding (rows count from 0)"
    )


def row_pieces(embedding):
    """Yield some rows at a time, in C order, with the place of the first of them."""
    for encoder in np.ndindex(embedding.shape[:-2]):
        for start in range(0, embedding.shape[-2], ROWS):
            yield (*encoder, start), loaded(embedding[(*encoder, slice(start, start + ROWS))])


def loaded(rows):
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
