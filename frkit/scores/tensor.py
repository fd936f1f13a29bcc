"""Lazy score tensors: building one computes nothing, and none is ever whole in memory."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

import dask.array as da
import numpy as np
import xarray as xr
from threadpoolctl import ThreadpoolController

from frkit.base import FEATURE, IDENTITY, IMAGE, MODEL, PROBE, REFERENCE, require, require_flag, require_whole
from frkit.data.checks import ROWS, check_rows, loaded, row_pieces
from frkit.data.dataset import NUMBERED
from frkit.data.labels import clean_labels, complete_labels, image_names

CHUNK = 512  # images along each side of a block: 1 MB of scores, which stay in the second-level cache
KEPT = 500_000_000  # bytes of rows that are ready, of an embedding on disk
_PAD = 64  # a tile's columns are padded to multiples of this: then no score depends on the chunking
_DEPTH = 512  # features summed in one call: longer rows are cut here and not where the BLAS library likes
_DIRECT = threading.Lock()  # products that are formed outside of a sweep wait for each other
_SWEEPS = []  # that are under way in this process


class Tiling(NamedTuple):
    """How a product is cut into tiles, none of whose scores is summed in another order than the rest.

    height, width: rows and columns of a tile at most. multiple: what its rows are padded to. margin: empty columns
    before and behind its own.
    """

    height: int
    width: int
    multiple: int
    margin: int


# Kernels for AVX2 without AVX512 sum in another order: rows beyond a multiple of 12, the 8 columns at either edge, and
# columns beyond some 300.
TILINGS = Tiling(512, 512, _PAD, 0), Tiling(516, 256, 12, 8)


def _padded(rows: np.ndarray, multiple: int, margin: int = 0) -> np.ndarray:
    short = -len(rows) % multiple
    if not short and not margin:
        return rows
    out = np.zeros((len(rows) + short + 2 * margin, rows.shape[1]), rows.dtype)
    out[margin : margin + len(rows)] = rows
    return out


@cache
def _tiling() -> Tiling | None:
    """The first tiling by which float32 products of equal rows are equal wherever they stand; None where none is."""
    pairs = np.random.default_rng(0).normal(size=(4, 2, 1, 515)).astype(np.float32)

    def same(tiling: Tiling, probe: np.ndarray, reference: np.ndarray) -> bool:
        n_rows, n_columns = tiling.height + tiling.multiple + 1, tiling.width + _PAD + 1
        found = _products(np.repeat(probe, n_rows, 0), np.repeat(reference, n_columns, 0), tiling)
        return bool((found == found[0, 0]).all())

    return next((tiling for tiling in TILINGS if all(same(tiling, *pair) for pair in pairs)), None)


@cache
def _libraries() -> ThreadpoolController:
    """The libraries with threads of their own; to find them takes milliseconds."""
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context in which matrix products take one thread each: blocks are the tasks that run side by side."""
    with _libraries().limit(limits=1, user_api="blas"):
        _SWEEPS.append(None)
        try:
            yield
        finally:
            _SWEEPS.pop()


def inner_products(probe: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """All inner products of two sets of rows, shape (probe, reference), with the same bits for any split.

    Where the processor's float32 kernel does not grant that, products are formed in float64 and rounded. Threads that
    share a product would cut it where no tiling knows of it: it takes one. Threads outside of a sweep would give the
    library back its threads while others still multiply: they take turns.
    """
    with ExitStack() as turn:
        if not _SWEEPS:
            turn.enter_context(_DIRECT)
            turn.enter_context(_libraries().limit(limits=1, user_api="blas"))
        tiling = _tiling() if probe.dtype == np.float32 else TILINGS[0]
        if tiling is not None:
            return _products(probe, reference, tiling)
        return _products(probe.astype(np.float64), reference.astype(np.float64), TILINGS[0]).astype(np.float32)


def _products(probe: np.ndarray, reference: np.ndarray, tiling: Tiling) -> np.ndarray:
    height, width, multiple, margin = tiling
    rows = _padded(probe, multiple)
    out = np.empty((len(rows), len(reference) + -len(reference) % _PAD), rows.dtype)
    for j in range(0, len(reference), width):
        columns = _padded(reference[j : j + width], _PAD, margin)
        for i in range(0, len(rows), height):
            place = out[i : i + height, j : j + width]
            tile = np.empty((len(place), len(columns)), rows.dtype) if margin else place
            np.matmul(rows[i : i + height, :_DEPTH], columns[:, :_DEPTH].T, out=tile)
            for k in range(_DEPTH, rows.shape[1], _DEPTH):
                tile += rows[i : i + height, k : k + _DEPTH] @ columns[:, k : k + _DEPTH].T
            if margin:
                place[:] = tile[:, margin:-margin]
    return out[: len(probe), : len(reference)]


def minus_distances(probe: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Minus the Euclidean distances of two sets of float64 rows, in float32."""
    squares = (probe**2).sum(1)[:, None] + (reference**2).sum(1)[None, :]
    squares -= 2 * inner_products(probe, reference)
    return -np.sqrt(np.maximum(squares, 0)).astype(np.float32)


def _unit_rows(embedding: np.ndarray) -> np.ndarray:
    """Rows of unit length, formed in float64, some at a time."""
    out = np.empty(embedding.shape, np.float32)
    for i in range(0, embedding.shape[-2], 256):
        rows = embedding[..., i : i + 256, :].astype(np.float64)
        out[..., i : i + 256, :] = rows / np.linalg.norm(rows, axis=-1, keepdims=True)
    return out


# name -> (scores of two sets of rows that are ready, score of an image with itself)
SIMILARITIES = {"cosine": (inner_products, 1.0), "euclidean": (minus_distances, 0.0)}


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
            return self._ready(loaded(self.embedding[(*front, slice(number * ROWS, (number + 1) * ROWS))]), front)

        return lru_cache(maxsize=max(4, KEPT // (4 * ROWS * self.embedding.shape[-1])))(read)

    def _ready(self, rows: np.ndarray, front: tuple[int, ...]) -> np.ndarray:
        if self.similarity == "euclidean":
            return rows.astype(np.float64) - self._mean[front]  # distances stay, cancellation shrinks
        return _unit_rows(rows) if self.similarity == "cosine" else np.asarray(rows)

    def _part(self, front: tuple[int, ...], part) -> np.ndarray:
        """Some rows of one encoder, ready to be compared."""
        if isinstance(self.embedding, np.ndarray):
            return self.rows[front][part]
        if not isinstance(part, slice) or part.step not in (None, 1):
            return self._ready(loaded(self.embedding[(*front, part)]), front)
        start, stop, _ = part.indices(self.embedding.shape[-2])
        numbers = range(start // ROWS, max(start, stop - 1) // ROWS + 1)
        found = [self._piece(front, k)[max(start - k * ROWS, 0) : max(stop - k * ROWS, 0)] for k in numbers]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def __getstate__(self) -> dict:
        return {"embedding": self.embedding, "similarity": self.similarity}

    @property
    def shape(self) -> tuple[int, ...]:
        """([model,] image, image)."""
        return (*self.embedding.shape[:-1], self.embedding.shape[-2])

    dtype = np.dtype(np.float32)

    def __getitem__(self, key: tuple) -> np.ndarray:
        *model, probe, reference = key
        encoders = np.arange(self.embedding.shape[0])[model[0]] if model else None
        if np.ndim(encoders) > 0:
            return np.stack([self[one, probe, reference] for one in encoders.tolist()])
        front = () if encoders is None else (int(encoders),)
        probe, reference = self._part(front, probe), self._part(front, reference)
        if isinstance(self.similarity, str):
            return SIMILARITIES[self.similarity][0](probe, reference)
        scores = np.asarray(self.similarity(probe, reference), np.float32)
        require(not np.isnan(scores).any(), "similarity returned NaN; it must return a number for every pair of rows")
        require(
            scores.shape == (len(probe), len(reference)),
            f"similarity must return one score for every pair: shape {(len(probe), len(reference))} was "
            f"expected for rows of shapes {probe.shape} and {reference.shape}, got {scores.shape}",
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
        Images along each side of a block (auto: 512). No result depends on it, to the last bit where all identities
        have equally many images or weigh by them; elsewhere sums of unequal weights may differ in the last bits
        (rates by 1e-15).
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
    made = isinstance(faces, xr.Dataset) and "embedding" in faces and {IMAGE, IDENTITY} <= {*faces.coords}
    made = made and {IMAGE, FEATURE} <= {*faces["embedding"].dims} and faces["embedding"].dtype.kind in "fiub"
    require(made, "faces must be a Dataset with 'embedding', 'image' and 'identity'; make it with fk.faces")
    usable = callable(similarity) or isinstance(similarity, str) and similarity in SIMILARITIES
    require(usable, f"similarity must be one of {known}, or a function of two arrays of rows; got {similarity!r}")
    embedding = faces["embedding"].transpose(..., IMAGE, FEATURE)
    rows = embedding.data if isinstance(embedding.data, da.Array) else embedding.values
    check_rows(rows, rows, faces[MODEL].values if MODEL in embedding.dims else None)
    source = ScoreArray(rows, similarity)
    attrs = {"similarity": similarity if isinstance(similarity, str) else getattr(similarity, "__name__", "callable")}
    attrs |= {"symmetric": int(require_flag("symmetric", symmetric)), "long_name": "similarity score"}
    if NUMBERED in faces[IMAGE].attrs:  # what tells these images from others that are numbered too
        attrs["images"] = faces[IMAGE].attrs[NUMBERED]
    if isinstance(similarity, str):
        attrs["self_score"] = SIMILARITIES[similarity][1]
    names = image_names(faces[IMAGE].values, source.shape[-1])
    labels = {name: c.values for name, c in faces.coords.items() if c.dims == (IMAGE,) and name != IMAGE}
    labels = {name: clean_labels(values, len(names), name) for name, values in labels.items()}
    labels[IDENTITY] = complete_labels(labels[IDENTITY], len(names), IDENTITY)
    return labelled_tensor(source, chunks, names, names, labels, labels, attrs, faces.get(MODEL))


def block_size(chunks: int | str) -> int:
    """Images along each side of a block."""
    return CHUNK if isinstance(chunks, str) and chunks == "auto" else require_whole("chunks (or 'auto')", chunks, 1)


def labelled_tensor(
    source, chunks, probe, reference, probe_labels, reference_labels, attrs, model=None
) -> xr.DataArray:
    """Label a lazy array; one side's labels become `probe_...`, the other's `reference_...`."""
    n_dims = len(source.shape)
    sizes = (1,) * (n_dims - 2) + (block_size(chunks),) * 2
    lazy = source.rechunk(sizes) if isinstance(source, da.Array) else _lazy(source, sizes)
    coords = {PROBE: probe, REFERENCE: reference}
    coords |= {f"{PROBE}_{name}": (PROBE, values) for name, values in probe_labels.items()}
    coords |= {f"{REFERENCE}_{name}": (REFERENCE, values) for name, values in reference_labels.items()}
    if model is not None:
        coords[MODEL] = model.values
    dims = (MODEL, PROBE, REFERENCE)[-n_dims:]
    return xr.DataArray(lazy, dims=dims, coords=coords, name="score", attrs=attrs)


@dataclass(frozen=True, eq=False)
class _Selection:
    """Some rows and columns of an array of scores."""

    source: ScoreArray
    probe: np.ndarray
    reference: np.ndarray
    dtype = ScoreArray.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """([model,] probe, reference)."""
        return (*self.source.shape[:-2], len(self.probe), len(self.reference))

    def __getitem__(self, key: tuple) -> np.ndarray:
        *model, probe, reference = key
        return self.source[(*model, self.probe[probe], self.reference[reference])]


def selected(scores: xr.DataArray, places: dict[str, np.ndarray]) -> xr.DataArray:
    """`scores.isel(places)` of pairs, or of probes and references.

    Of a tensor as it was made and held in memory, no score of another image is computed on the way.
    """
    found = scores.isel(places)
    name = getattr(scores.data, "name", None)
    source = next(iter(scores.data.dask.layers.get(f"original-{name}", {}).values()), None) if name else None
    if isinstance(source, ScoreArray) and isinstance(source.embedding, np.ndarray):
        return found.copy(data=_lazy(_Selection(source, places[PROBE], places[REFERENCE]), scores.data.chunksize))
    return found


def _lazy(source, sizes: tuple[int, ...]) -> da.Array:
    """A lazy array in blocks of these sizes of what computes a part when it is asked for it."""
    meta = np.empty((0,) * len(source.shape), source.dtype)
    return da.from_array(source, chunks=sizes, asarray=False, fancy=True, name=False, meta=meta)
