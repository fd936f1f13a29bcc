"""Checks of embeddings: every message names the row and says what to do."""

import numpy as np
import xarray as xr

from frkit.base import InputError, real_numbers, require
from frkit.data.files import reading

ROWS = 4096  # of an embedding, checked per step


def is_lazy(array):
    """Return whether an array is one of dask, which takes long to import."""
    return hasattr(array, "dask")


def checked_embedding(embedding, model):
    """Return a copy in float32 of an embedding that can be compared; a dask array stays lazy."""
    values = embedding if is_lazy(embedding) else real_numbers("embedding", embedding)
    require(values.dtype.kind in "fiub", f"embedding must be numbers, got {values.dtype}")
    require(
        values.ndim == (2 if model is None else 3) and values.size > 0,
        "embedding must have shape (images, features), or (models, images, features) together with "
        f"model= names, got shape {values.shape}",
    )
    if is_lazy(values):
        values = values.map_blocks(as_float32, dtype=np.float32)
    else:
        values = as_float32(values)
    check_rows(values)
    return values


def as_float32(values):
    """Return a copy in float32, infinite where a value is too large for it."""
    with np.errstate(over="ignore"):
        return np.array(values, dtype=np.float32, order="C")


def check_rows(values, need_length=True):
    """Refuse a row of float32 `values` that cannot be compared.

    A value is not finite, or the row's squared length is 0 or too large; without `need_length`
    only the former counts.
    """
    limits = np.finfo(np.float32)
    least, most = (limits.tiny, limits.max) if need_length else (0, np.finfo(np.float64).max)
    for place, rows in row_pieces(values):
        squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        bad = np.flatnonzero(~((squares >= least) & (squares <= most)))
        if len(bad) > 0:
            *encoder, start = place
            model_phrase = f" of model {encoder[0]}" if encoder else ""
            raise InputError(
                f"embedding{model_phrase} at row {start + bad[0]}{_fault(rows[bad[0]])} "
                "(all counted from 0); remove or recompute such images, or rescale the embedding"
            )


def _fault(row):
    """Say what is wrong with a row."""
    columns = np.flatnonzero(~np.isfinite(row))
    if len(columns) > 0:
        return f", column {columns[0]}: {row[columns[0]]} is not finite in float32"
    norm = np.linalg.norm(row.astype(np.float64))
    return f" has norm {norm:.3g}, too small or too large for a direction in float32"


def row_pieces(embedding):
    """Yield some rows at a time, in C order, with the place of the first of them."""
    for encoder in np.ndindex(embedding.shape[:-2]):
        for start in range(0, embedding.shape[-2], ROWS):
            yield (*encoder, start), loaded(embedding[(*encoder, slice(start, start + ROWS))])


def loaded(rows):
    """Return these rows in memory; computed in this thread, which may belong to a sweep."""
    if not is_lazy(rows):
        return np.asarray(rows)
    with reading("the embedding"):
        return rows.compute(scheduler="synchronous")


def check_faces(faces, name: str = "faces") -> None:
    """Refuse anything but a Dataset of embeddings and identities; it may have several models."""
    is_faces = isinstance(faces, xr.Dataset) and "embedding" in faces and "identity" in faces.coords
    has_dims = is_faces and {*faces["embedding"].dims} - {"model"} == {"image", "feature"}
    require(
        has_dims,
        f"{name} must be a faces Dataset, with dims (image, feature) or (model, image, feature); "
        "make it with fk.faces or fk.open_faces",
    )
