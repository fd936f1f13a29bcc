"""Lazy score tensors: building one computes no score, and none is ever whole in memory."""

from collections.abc import Callable
from functools import partial

import numpy as np
import xarray as xr

from frkit.base import require, require_flag, require_one_of
from frkit.data.checks import NUMBERED, ROWS, check_faces, check_rows, is_lazy, loaded
from frkit.data.labels import image_names

TILE = 512  # rows and columns of a product; tiles lie on a grid of the whole tensor
MOST_BLOCKS = 16  # along a side, unless blocks would be too large
MOST_IMAGES = 2048  # along a side of a block


def score_tensor(
    faces: xr.Dataset,
    similarity: str | Callable = "cosine",
    *,
    symmetric: bool = True,
) -> xr.DataArray:
    """Scores of every image with every image, as a lazy tensor.

    Parameters
    ----------
    faces : xr.Dataset
        From `faces` or `open_data`: `embedding` over ([model,] image, feature).
        An embedding on disk is read when scores are computed, up to about 25 times in an
        evaluation; `faces.load()` reads it once, into memory.
    similarity : {"cosine", "euclidean"} or callable
        "euclidean" is minus the distance. A callable takes two float32 arrays of rows, (a, feature)
        and (b, feature), and returns (a, b) scores; larger means more alike.
    symmetric : bool
        False for a callable whose score depends on which image is the probe.

    Returns
    -------
    xr.DataArray
        `score` over ([model,] probe, reference), float32, dask-backed. Coordinates of both sides
        carry identity and attributes (`probe_identity`, `reference_gender`, ...). The attribute
        `self_score` is the exact score of an image with itself; without it (callables), and where
        scores were changed since, the diagonal is read. A selection stays a triangle only where
        both sides contain the same images in the same order.

    Raises
    ------
    InputError
        For an unknown similarity, a Dataset without `embedding` or `identity`, an
        image without a name, or a row that is not finite or has no length.

    Examples
    --------
    >>> import numpy as np, frkit as fk
    >>> people = fk.faces(np.eye(4) + 0.1, ["ann", "ann", "bob", "bob"])
    >>> fk.score_tensor(people).sizes["probe"]
    4
    """
    check_faces(faces)
    if not callable(similarity):
        require_one_of("similarity (or a function of two arrays of rows)", similarity, SIMILARITIES)
    embedding = faces["embedding"].transpose(..., "image", "feature")
    rows = embedding.data
    models = faces["model"].values if "model" in embedding.dims else None
    check_rows(rows)
    attrs = {
        "similarity": getattr(similarity, "__name__", str(similarity)),
        "symmetric": int(require_flag("symmetric", symmetric)),
        "long_name": "similarity score",
    }
    function = partial(_checked, similarity)
    if isinstance(similarity, str):
        prepare, function, attrs["self_score"] = SIMILARITIES[similarity]
        rows = prepare(rows)
    if NUMBERED in faces["image"].attrs:  # distinguishes these images from other numbered ones
        attrs["images"] = faces["image"].attrs[NUMBERED]
    lazy = _lazy_scores(rows, function, block_side(rows.shape[-2]))
    labels = {name: c.values for name, c in faces.coords.items() if c.dims == ("image",)}
    labels["image"] = image_names(faces["image"].values, faces.sizes["image"])
    return labelled_tensor(lazy, labels, labels, attrs, models)


# --- similarities --------------------------------------------------------------------------------


def _unit_rows(embedding):
    """Return rows of unit length, computed in steps."""
    if is_lazy(embedding):
        return embedding.rechunk({embedding.ndim - 1: -1}).map_blocks(_unit, dtype=np.float32)
    starts = range(0, embedding.shape[-2], ROWS)
    pieces = [_unit(embedding[..., start : start + ROWS, :]) for start in starts]
    return np.concatenate(pieces, axis=-2)


def _unit(rows):
    """Return rows of unit length, computed in float64."""
    rows = rows.astype(np.float64)
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def _centred_rows(embedding):
    """Return rows in float64 minus their mean, so that distances lose fewer digits."""
    n_rows = embedding.shape[-2]
    total = 0.0
    for start in range(0, n_rows, ROWS):
        rows = loaded(embedding[..., start : start + ROWS, :])
        total += rows.sum(-2, keepdims=True, dtype=np.float64)
    return embedding.astype(np.float64) - total / n_rows


def _cosines(probe, reference, out):
    """Write inner products of rows of unit length, clipped because rounding may exceed 1."""
    np.matmul(probe, reference.T, out=out)
    np.clip(out, -1, 1, out=out)


def _minus_distances(probe, reference, out):
    """Write minus the Euclidean distances of two sets of float64 rows, in float32."""
    probe_squares = (probe**2).sum(1)
    reference_squares = (reference**2).sum(1)
    squares = probe_squares[:, None] + reference_squares
    squares -= 2 * (probe @ reference.T)
    out[:] = -np.sqrt(np.maximum(squares, 0))


def _checked(similarity, probe, reference, out):
    """Write what a user's similarity returns for two sets of rows; refuse missing numbers."""
    scores = np.asarray(similarity(probe, reference), np.float32)
    require(
        scores.shape == (len(probe), len(reference)) and not np.isnan(scores).any(),
        "similarity must return a number for every pair of rows; for rows of shapes "
        f"{probe.shape} and {reference.shape} it returned shape {scores.shape}, or NaN",
    )
    out[:] = scores


# name -> (makes rows ready, writes scores of two sets of such rows, score of an image with itself)
SIMILARITIES = {
    "cosine": (_unit_rows, _cosines, 1.0),
    "euclidean": (_centred_rows, _minus_distances, 0.0),
}


# --- blocks --------------------------------------------------------------------------------------


def block_side(n: int) -> int:
    """Return the images along each side of a block, so that blocks are neither many nor large."""
    side = TILE
    while n > MOST_BLOCKS * side and side < MOST_IMAGES:
        side *= 2
    return side


def _lazy_scores(rows, function, side):
    """Return the lazy scores of all rows with all rows, in blocks of `side` images."""
    import dask.array as da

    if rows.ndim == 3:
        return da.stack([_lazy_scores(rows_of_model, function, side) for rows_of_model in rows])
    if isinstance(rows, np.ndarray):
        rows = da.from_array(rows, chunks=(side, -1), name=False)
    rows = rows.rechunk((side, -1))
    return da.blockwise(
        partial(_block, function=function, tile=TILE),
        ("row", "col"),
        rows,
        ("row", "feature"),
        rows,
        ("col", "feature"),
        concatenate=False,  # a block is a view of the rows
        align_arrays=False,
        dtype=np.float32,
        meta=np.empty((0, 0), np.float32),
    )


def _block(probe, reference, function, tile):
    """Return a block of scores, computed by tiles so that no score depends on the chunks."""
    [probe], [reference] = probe, reference
    is_diagonal = probe is reference
    # NumPy multiplies unaligned rows, such as a worker is sent, in another order
    probe = np.require(probe, requirements="A")
    reference = probe if is_diagonal else np.require(reference, requirements="A")
    scores = np.empty((len(probe), len(reference)), np.float32)
    for i in range(0, len(probe), tile):
        for j in range(0, len(reference), tile):
            rows = slice(i, i + tile)
            cols = slice(j, j + tile)
            function(probe[rows], reference[cols], scores[rows, cols])
    return scores


# --- labels --------------------------------------------------------------------------------------


def labelled_tensor(lazy, probe: dict, reference: dict, attrs: dict, models=None):
    """Label lazy scores with the columns of both sides: `image`, `identity`, attributes."""
    coords = {} if models is None else {"model": models}
    for side, labels in (("probe", probe), ("reference", reference)):
        for name, values in labels.items():
            coords[side if name == "image" else f"{side}_{name}"] = side, values
    dims = ("model", "probe", "reference")[-lazy.ndim :]
    return xr.DataArray(lazy, dims=dims, coords=coords, name="score", attrs=attrs)
