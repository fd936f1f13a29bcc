"""Checks of embedding matrices: every message names the row and says what to do."""

from collections.abc import Callable, Iterator

import dask.array as da
import numpy as np
import xarray as xr

from frkit.base import FEATURE, IDENTITY, IMAGE, MODEL, InputError, require

ROWS = 4096  # of an embedding that are looked at at a time


def check_faces(faces, name: str = "faces") -> None:
    """Refuse what is no Dataset with embeddings and identities of images; there may be several models."""
    good = isinstance(faces, xr.Dataset) and "embedding" in faces and IDENTITY in faces.coords
    require(good, f"{name} must be a faces Dataset; make it with frkit.data or frkit.open_faces")
    dims = faces["embedding"].dims
    fits = set(dims) - {MODEL} == {IMAGE, FEATURE}
    require(
        fits,
        f"the embedding of {name} must have dims (image, feature) or (model, image, feature), got {dims}",
    )


def row_pieces(embedding: np.ndarray | da.Array) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Some rows at a time, in C order, with the place of the first of them; what is on disk is read and let go."""
    for front in np.ndindex(embedding.shape[:-2]):
        for start in range(0, embedding.shape[-2], ROWS):
            yield (*front, start), loaded(embedding[(*front, slice(start, start + ROWS))])


def loaded(rows: np.ndarray | da.Array) -> np.ndarray:
    """These rows in memory; in this thread, which may be one of a sweep already."""
    return rows.compute(scheduler="synchronous") if isinstance(rows, da.Array) else np.asarray(rows)


def as_float32(values: np.ndarray) -> np.ndarray:
    """The values in float32, infinite where that cannot hold one."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(values, dtype=np.float32)


def checked_embedding(embedding, model, copy: bool = True) -> np.ndarray | da.Array:
    """Float32 values that are finite, in rows that have a length; without a copy, what is lazy stays so."""
    original = embedding if isinstance(embedding, da.Array) and not copy else _numbers(embedding)
    real = original.dtype.kind in "fiub"
    kind = f"dtype {original.dtype} ({type(embedding).__name__})"
    require(
        real,
        f"embedding must hold real numbers, got {kind}; make it an array with .astype('float32')",
    )
    ndim, how = (2, "without") if model is None else (3, "with")
    words = "embedding must have shape (images, features), or (models, images, features) together with model= names"
    require(original.ndim == ndim, f"{words}, got shape {original.shape} {how} model names")
    require(
        original.size > 0, f"embedding is empty: shape {original.shape}; give images and features"
    )
    if isinstance(original, da.Array):
        values = original.map_blocks(as_float32, dtype=np.float32)
    else:
        values = as_float32(original.copy() if copy and original.dtype == np.float32 else original)
    check_rows(values, original, model)
    return values


def check_rows(values: np.ndarray | da.Array, original: np.ndarray | da.Array, model) -> None:
    """Raise where a row cannot be compared: a value is not finite, or it has no length."""
    if not any(_without_length(rows).any() for _, rows in row_pieces(values)):
        return
    check_finite(values, original, model)
    index, n_rows = _first_bad(values, _without_length)
    norm = np.sqrt(_squares(loaded(values[index])))
    what = f"has norm {norm:.3g}, whose square float32 cannot hold" if norm else "is a zero vector"
    raise InputError(
        f"embedding at {_place(index, model)} {what} ({n_rows} such row(s)); an image without a "
        "direction cannot be compared: remove or recompute it, or rescale the embedding"
    )


def _numbers(embedding) -> np.ndarray:
    if isinstance(embedding, np.ma.MaskedArray):
        require(
            not np.ma.is_masked(embedding),
            "embedding has masked values; drop these images or fill them",
        )
    try:
        return np.asarray(embedding)
    except TypeError as error:
        raise InputError(
            f"embedding must be an array of numbers, got {type(embedding).__name__}: {error}"
        ) from None
    except ValueError:
        lengths = [np.size(row) for row in embedding]
        odd = next((row for row, length in enumerate(lengths) if length != lengths[0]), 0)
        lengths = f"row 0 has {lengths[0]} values, row {odd} has {lengths[odd]}"
        raise InputError(f"the rows of embedding differ in length: {lengths}") from None


def _place(index, model) -> str:
    """Words for an index into the embedding: `row 3, column 5, model 'A'`."""
    n_front = 0 if model is None else 1
    words = [
        f"{word} {value}" for word, value in zip(("row", "column"), index[n_front:], strict=False)
    ]
    return ", ".join(words + [f"model {str(list(model)[k])!r}" for k in index[:n_front]])


def _first_bad(
    values, is_bad: Callable[[np.ndarray], np.ndarray]
) -> tuple[tuple[int, ...] | None, int]:
    """Where the first bad value or row is, and in how many rows there are such."""
    first, n_rows = None, 0
    for place, rows in row_pieces(values):
        bad = is_bad(rows)
        n_rows += int(bad.reshape(len(rows), -1).any(axis=1).sum())
        if first is None and bad.any():
            row, *column = np.unravel_index(np.argmax(bad), bad.shape)
            first = (*place[:-1], place[-1] + row, *column)
    return first, n_rows


def check_finite(values: np.ndarray | da.Array, original: np.ndarray | da.Array, model) -> None:
    """Raise where a float32 value is not finite; `original` holds what was given, `model` the encoders' names."""
    index, n_rows = _first_bad(values, lambda rows: ~np.isfinite(rows))
    if index is None:
        return
    given = loaded(original[index])
    what = f"{given!s}{', too large for float32' if np.isfinite(given) else ''}"
    words = f"embedding has bad values in {n_rows} row(s), first at {_place(index, model)}: {what}"
    raise InputError(f"{words}; remove or recompute these images")


def _squares(rows: np.ndarray) -> np.ndarray:
    return np.einsum("...i,...i->...", rows, rows, dtype=np.float64)


def _without_length(rows: np.ndarray) -> np.ndarray:
    """Which rows have a square that float32 cannot hold; those with a value that is not finite are among them."""
    limits, square = np.finfo(np.float32), _squares(rows)
    return ~((square >= limits.tiny) & (square <= limits.max))
