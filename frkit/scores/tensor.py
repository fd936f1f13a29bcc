"""Lazy score tensors: building one computes nothing, and none is ever whole in memory."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import dask.array as da
import numpy as np
import xarray as xr

from frkit.base import (
    FEATURE,
    IDENTITY,
    IMAGE,
    MODEL,
    PROBE,
    REFERENCE,
    require,
    require_flag,
    require_whole,
)
from frkit.data.checks import ROWS, check_rows, loaded, row_pieces
from frkit.data.dataset import NUMBERED
from frkit.data.labels import clean_labels, complete_labels, image_names

TILE = 512  # rows and columns of a product; tiles lie on a grid of the whole tensor
MOST_BLOCKS = 96  # along a side, unless chunks are given
KEPT = 500_000_000  # bytes of rows that are ready, of an embedding on disk


def block_side(n: int) -> int:
    """Images along each side of a block: some tiles, so that there are no more than 4,600 blocks."""
    side = TILE
    while n > MOST_BLOCKS * side:
        side *= 2
    return side


def cosines(probe: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Inner products of two sets of rows of unit length."""
    return probe @ reference.T


def minus_distances(probe: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Minus the Euclidean distances of two sets of float64 rows, in float32."""
    squares = (probe**2).sum(1)[:, None] + (reference**2).sum(1)[None, :]
    squares -= 2 * (probe @ reference.T)
    return -np.sqrt(np.maximum(squares, 0)).astype(np.float32)


def _unit_rows(embedding: np.ndarray) -> np.ndarray:
    """Rows of unit length, formed in float64, some at a time."""
    out = np.empty(embedding.shape, np.float32)
    for i in range(0, embedding.shape[-2], 256):
        rows = embedding[..., i : i + 256, :].astype(np.float64)
        out[..., i : i + 256, :] = rows / np.linalg.norm(rows, axis=-1, keepdims=True)
    return out


# name -> (scores of two sets of rows that are ready, score of an image with itself)
SIMILARITIES = {"cosine": (cosines, 1.0), "euclidean": (minus_distances, 0.0)}


@dataclass(frozen=True, eq=False)
class ScoreArray:
    """An array of scores that computes the part that is asked for, of an embedding ([model,] image, feature).

    An embedding on disk stays there: its rows are read, and made ready for the similarity, when they are compared.
    """

    embedding: np.ndarray | da.Array
    similarity: str | Callable

    @cached_property
    def rows(self) -> np.ndarray:
        """An embedding in memory, made ready for the similarity (unit length, say), once per process."""
        return self._ready(self.embedding, ())

    @cached_property
    def _mean(self) -> np.ndarray:
        """Mean row of each encoder, summed in the order of the rows wherever these are held."""
        total = np.zeros((*self.embedding.shape[:-2], 1, self.embedding.shape[-1]))
        for (*front, _), rows in row_pieces(self.embedding):
            total[(*front, 0)] = np.add.reduce(np.vstack([total[(*front, 0)], rows]))
        return total / self.embedding.shape[-2]

    @cached_property
    def _piece(self) -> Callable:
        """Reads a number of rows of one encoder and makes them ready; the latest stay, up to KEPT bytes."""

        def read(front: tuple[int, ...], number: int) -> np.ndarray:
            return self._ready(
                loaded(self.embedding[(*front, slice(number * ROWS, (number + 1) * ROWS))]), front
            )

        return lru_cache(maxsize=max(4, KEPT // (4 * ROWS * self.embedding.shape[-1])))(read)

    def _ready(self, rows: np.ndarray, front: tuple[int, ...]) -> np.ndarray:
        if self.similarity == "euclidean":
            return (
                rows.astype(np.float64) - self._mean[front]
            )  # distances stay, cancellation shrinks
        return _unit_rows(rows) if self.similarity == "cosine" else np.asarray(rows)

    def _part(self, front: tuple[int, ...], start: int, stop: int) -> np.ndarray:
        """Some rows of one encoder, ready to be compared."""
        if isinstance(self.embedding, np.ndarray):
            return self.rows[front][start:stop]
        numbers = range(start // ROWS, max(start, stop - 1) // ROWS + 1)
        pieces = [self._piece(front, k) for k in numbers]
        rows = np.concatenate(pieces) if len(pieces) > 1 else pieces[0]
        return rows[start - numbers[0] * ROWS : stop - numbers[0] * ROWS]

    def __getstate__(self) -> dict:
        return {"embedding": self.embedding, "similarity": self.similarity}

    @property
    def shape(self) -> tuple[int, ...]:
        """([model,] image, image)."""
        return (*self.embedding.shape[:-1], self.embedding.shape[-2])

    dtype = np.dtype(np.float32)

    def block(self, key: tuple[slice, ...]) -> np.ndarray:
        """A block whose rows and columns begin on the grid of tiles."""
        *model, rows, cols = key
        if model:
            encoders = range(*model[0].indices(len(self.embedding)))
            return np.stack([self._of_encoder((encoder,), rows, cols) for encoder in encoders])
        return self._of_encoder((), rows, cols)

    def _of_encoder(self, front: tuple[int, ...], rows: slice, cols: slice) -> np.ndarray:
        """A block of one encoder's scores, tile by tile: no score depends on the blocks."""
        scores = np.empty((rows.stop - rows.start, cols.stop - cols.start), np.float32)
        for i in range(rows.start, rows.stop, TILE):
            probe = self._part(front, i, min(i + TILE, rows.stop))
            for j in range(cols.start, cols.stop, TILE):
                reference = self._part(front, j, min(j + TILE, cols.stop))
                place = slice(i - rows.start, None), slice(j - cols.start, None)
                scores[place][: len(probe), : len(reference)] = self._tile(probe, reference)
        return scores

    def _tile(self, probe: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """The scores of two sets of rows."""
        if isinstance(self.similarity, str):
            return SIMILARITIES[self.similarity][0](probe, reference)
        scores = np.asarray(self.similarity(probe, reference), np.float32)
        require(
            not np.isnan(scores).any(),
            "similarity returned NaN; it must return a number for every pair of rows",
        )
        require(
            scores.shape == (len(probe), len(reference)),
            "similarity must return one score for every pair: shape "
            f"{(len(probe), len(reference))} was expected for rows of shapes {probe.shape} and "
            f"{reference.shape}, got {scores.shape}",
        )
        return scores


def score_tensor(
    faces: xr.Dataset,
    similarity: str | Callable = "cosine",
    *,
    chunks: int | str = "auto",
    symmetric: bool = True,
) -> xr.DataArray:
    """Scores of every image with every image, as a lazy tensor.

    Parameters
    ----------
    faces : xr.Dataset
        From `faces`, `open_faces` or `stack_models`: `embedding` over ([model,] image, feature).
    similarity : {"cosine", "euclidean"} or callable
        "euclidean" is minus the distance. A callable takes two float32 arrays of rows, (a, feature) and
        (b, feature), and returns (a, b) scores; larger means more alike.
    chunks : int or "auto"
        Images along each side of a block, rounded up to a multiple of 512 (auto: 512, more for
        large tensors). No result depends on it.
    symmetric : bool
        False for a callable whose score depends on which image is the probe.

    Returns
    -------
    xr.DataArray
        `score` over ([model,] probe, reference), float32, dask-backed. Coordinates of both sides carry
        identity and attributes (`probe_identity`, `reference_gender`, ...). The attribute `self_score` is
        the exact score of an image with itself; without it (callables), and where scores were changed since, the
        diagonal is read. A selection stays a triangle only where both sides hold the same images in one order.

    Raises
    ------
    InputError
        For an unknown similarity, chunks below 1, a Dataset without `embedding`, an image or identity without a name,
        or a row that is not finite or has no length.

    Examples
    --------
    >>> import numpy as np, frkit as fk
    >>> people = fk.faces(np.eye(4) + 0.1, ["ann", "ann", "bob", "bob"])
    >>> fk.score_tensor(people).sizes["probe"]
    4
    """
    known = ", ".join(SIMILARITIES)
    made = (
        isinstance(faces, xr.Dataset)
        and "embedding" in faces
        and {IMAGE, IDENTITY} <= {*faces.coords}
    )
    made = (
        made
        and {IMAGE, FEATURE} <= {*faces["embedding"].dims}
        and faces["embedding"].dtype.kind in "fiub"
    )
    require(
        made,
        "faces must be a Dataset with 'embedding', 'image' and 'identity'; make it with fk.faces",
    )
    usable = callable(similarity) or isinstance(similarity, str) and similarity in SIMILARITIES
    require(
        usable,
        f"similarity must be one of {known}, or a function of two arrays of rows; got {similarity!r}",
    )
    embedding = faces["embedding"].transpose(..., IMAGE, FEATURE)
    rows = embedding.data if isinstance(embedding.data, da.Array) else embedding.values
    check_rows(rows, rows, faces[MODEL].values if MODEL in embedding.dims else None)
    source = ScoreArray(rows, similarity)
    attrs = {
        "similarity": similarity
        if isinstance(similarity, str)
        else getattr(similarity, "__name__", "callable")
    }
    attrs |= {
        "symmetric": int(require_flag("symmetric", symmetric)),
        "long_name": "similarity score",
    }
    if NUMBERED in faces[IMAGE].attrs:  # what tells these images from others that are numbered too
        attrs["images"] = faces[IMAGE].attrs[NUMBERED]
    if isinstance(similarity, str):
        attrs["self_score"] = SIMILARITIES[similarity][1]
    names = image_names(faces[IMAGE].values, source.shape[-1])
    labels = {
        name: c.values for name, c in faces.coords.items() if c.dims == (IMAGE,) and name != IMAGE
    }
    labels = {name: clean_labels(values, len(names), name) for name, values in labels.items()}
    labels[IDENTITY] = complete_labels(labels[IDENTITY], len(names), IDENTITY)
    return labelled_tensor(source, chunks, names, names, labels, labels, attrs, faces.get(MODEL))


def block_size(chunks: int | str, n: int) -> int:
    """Images along each side of a block, where n is the longer side of the tensor."""
    if isinstance(chunks, str) and chunks == "auto":
        return block_side(n)
    return -(-require_whole("chunks (or 'auto')", chunks, 1) // TILE) * TILE


def labelled_tensor(
    source, chunks, probe, reference, probe_labels, reference_labels, attrs, model=None
) -> xr.DataArray:
    """Label a lazy array; one side's labels become `probe_...`, the other's `reference_...`."""
    n_dims = len(source.shape)
    sizes = (1,) * (n_dims - 2) + (block_size(chunks, max(source.shape[-2:])),) * 2
    lazy = source.rechunk(sizes) if isinstance(source, da.Array) else _lazy(source, sizes)
    coords = {PROBE: probe, REFERENCE: reference}
    coords |= {f"{PROBE}_{name}": (PROBE, values) for name, values in probe_labels.items()}
    coords |= {
        f"{REFERENCE}_{name}": (REFERENCE, values) for name, values in reference_labels.items()
    }
    if model is not None:
        coords[MODEL] = model.values
    dims = (MODEL, PROBE, REFERENCE)[-n_dims:]
    return xr.DataArray(lazy, dims=dims, coords=coords, name="score", attrs=attrs)


def _lazy(source: ScoreArray, sizes: tuple[int, ...]) -> da.Array:
    """A lazy array in blocks of these sizes, each computed as a whole when it is asked for."""
    meta = np.empty((0,) * len(source.shape), source.dtype)
    how = {"asarray": False, "fancy": False, "name": False, "meta": meta, "getitem": _block}
    return da.from_array(source, chunks=sizes, **how)


def _block(source: ScoreArray, key: tuple[slice, ...], *_) -> np.ndarray:
    """One block of the scores; dask joins no further slices to a function that it does not know."""
    return source.block(key)
