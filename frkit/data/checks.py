"""Checks of embeddings, and of square arrays that may be matrices of scores instead."""

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import InputError, real_numbers, require
from frkit.data.files import reading

ROWS = 4096  # of an embedding that are checked per step
SLACK = 1e-5  # share of the spread by which scores of a symmetric matrix may differ
FEWEST_SHARED = 3  # images on both sides that show whether their pairs stand there twice
SELF_SLACK = 0.01  # share of the quartiles' distance by which a constant diagonal may vary
FEW_SCORES = 3  # a toy with so few distinct scores is symmetric by chance
WINDOW = 500  # rows and columns that are read from a matrix on disk: at both ends and between
NUMBERED = "numbered"  # attribute of images without names: a hash of their embeddings
WIDE = 8  # features whose equal values are no coincidence
FEWEST_BITS = 16  # of a code
NO_EMBEDDING = (
    "embedding must be numbers, which are compared by cosine, got {}\n"
    "  codes of bits: fk.score_matrix(scipy.spatial.distance.cdist(codes, codes, 'hamming'), "
    "identity, identity, same_images=True, distance=True), with codes = np.unpackbits(codes, "
    "axis=1) where a byte has 8 of them\n"
    "  features in whole numbers: fk.faces(features.astype(float) - zero, identity), with the "
    "number that stands for zero"
)


def is_lazy(array):
    """Return whether an array is a dask array, without importing dask, which takes long."""
    return hasattr(array, "dask")


def checked_embedding(embedding, model):
    """Return a copy in float32 of an embedding that can be compared; a dask array stays lazy."""
    values = embedding if is_lazy(embedding) else real_numbers("embedding", embedding)
    require(values.dtype != np.uint8, NO_EMBEDDING.format("bytes"))
    require(values.dtype.kind in "fiu", NO_EMBEDDING.format(values.dtype))
    require(
        values.ndim == (2 if model is None else 3) and values.size > 0,
        "embedding must have shape (images, features), or (models, images, features) together with "
        f"model= names, got shape {values.shape}",
    )
    if not is_lazy(values) and values.shape[-1] > FEWEST_BITS:
        lowest, highest = values.min(), values.max()
        is_an_end = (values == lowest) | (values == highest)
        is_code = lowest < highest and bool(is_an_end.all())
        require(not is_code, NO_EMBEDDING.format("two values"))
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

    A value is not finite, all are one number, or the row's squared length is 0 or too large;
    without `need_length` only the first counts.
    """
    limits = np.finfo(np.float32)
    least, most = (limits.tiny, limits.max) if need_length else (0, np.finfo(np.float64).max)
    for index, rows in row_pieces(values):
        squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        is_good = (squares >= least) & (squares <= most)
        if need_length and rows.shape[1] >= WIDE:
            is_good &= (rows != rows[:, :1]).any(axis=1)
        bad = np.flatnonzero(~is_good)
        if len(bad) > 0:
            *encoder, start = index
            model_phrase = f" of model {encoder[0]}" if encoder else ""
            raise InputError(
                f"embedding{model_phrase} at row {start + bad[0]}{_fault(rows[bad[0]])} "
                "(all counted from 0); remove or recompute such images, or rescale the embedding"
            )


def _fault(row):
    """Describe what is wrong with a row."""
    columns = np.flatnonzero(~np.isfinite(row))
    if len(columns) > 0:
        return f", column {columns[0]}: {row[columns[0]]} is not finite in float32"
    if len({*row.tolist()}) == 1 and row[0] != 0:
        return f" has {row[0]:g} in all columns, as of a face that was not found"
    norm = np.linalg.norm(row.astype(np.float64))
    return f" has norm {norm:.3g}, too small or too large for a direction in float32"


def row_pieces(embedding):
    """Yield some rows at a time, in C order, with the place of the first of them."""
    for encoder in np.ndindex(embedding.shape[:-2]):
        for start in range(0, embedding.shape[-2], ROWS):
            yield (*encoder, start), loaded(embedding[(*encoder, slice(start, start + ROWS))])


def loaded(rows):
    """Return rows in memory, computed in this thread because it may belong to a sweep."""
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
        "make it with fk.faces or fk.open_data",
    )


# --- square arrays ----------------------------------------------------------------------------


def refuse_scores(embedding, answers=()):
    """Refuse a matrix of scores in place of an embedding, or of one of several embeddings.

    It is square, and its diagonal is constant, as that of no embedding is.

    Parameters
    ----------
    embedding : array, ([model,] image, feature)
    answers : list of dict
        Of the question in a file.
    """
    for values in [embedding] if embedding.ndim == 2 else embedding:
        require(
            not _compares_images(values),
            "the embedding is square, with one value on its diagonal, as a matrix of scores "
            "between images is; such an array is given as fk.score_matrix(values, identity, "
            "identity, same_images=True), with distance=True where smaller means more alike",
            answers,
        )


def _compares_images(values):
    """Return whether numbers are square, no toy, and equal on the diagonal."""
    is_square = values.ndim == 2 and values.shape[0] == values.shape[1]
    if not is_square or values.dtype.kind not in "fiu":
        return False
    corner = np.asarray(values[:WINDOW, :WINDOW], float)
    spread = np.ptp(np.quantile(corner, [0.25, 0.75]))
    return not _is_toy(corner) and np.ptp(corner.diagonal()) <= SELF_SLACK * spread


def _is_toy(scores):
    """Return whether a square has so few distinct scores that it is symmetric by chance."""
    return len(np.unique(scores)) <= FEW_SCORES


def equals_transpose(values, marks=()):
    """Return whether scores are symmetric: all in memory, or three windows of those on disk.

    Two scores are equal where they differ by rounding only: by a hundred thousandth of the distance
    of the quartiles, or in the last place. So neither a shift nor another scale of all scores
    changes the answer, nor do a few scores far away.

    Parameters
    ----------
    values : array, square
    marks : float or sequence of float
        Scores of failed comparisons.
    """
    n = values.shape[0]
    corner = np.asarray(values[: WINDOW // 2, : WINDOW // 2], float)
    corner = corner[np.isfinite(corner) & ~np.isin(corner, marks)]
    spread = np.ptp(np.quantile(corner, [0.25, 0.75])) if corner.size else 0
    last_place = 8 * np.finfo(values.dtype).eps if values.dtype.kind == "f" else 0

    is_whole = isinstance(values, np.ndarray)
    starts = range(0, n, WINDOW) if is_whole else [0, (n - WINDOW) // 2, n - WINDOW]
    for start in np.maximum(starts, 0):
        rows = slice(start, start + WINDOW)
        columns = slice(None) if is_whole else rows
        scores = np.asarray(values[rows, columns], float)
        turned = np.asarray(values[columns, rows], float).T
        if not np.allclose(scores, turned, rtol=last_place, atol=SLACK * spread, equal_nan=True):
            return False
    return True


def refuse_half(scores, rows, columns, equal_cells=False):
    """Refuse scores of which only one half is there: the other one is blank or zero.

    With `equal_cells` also where pairs of images on both sides have two equal cells, as in a part
    of a symmetric matrix: they would count twice, and pairs of other images once.

    Parameters
    ----------
    scores : array, (row, column)
        The first rows and columns show it, unless `equal_cells`.
    rows, columns : pd.Index
        Names of images, distinct on each side.
    """
    corner = scores if equal_cells else np.asarray(scores[:WINDOW, :WINDOW], float)
    table = pd.DataFrame(corner, rows[: len(corner)], columns[: corner.shape[1]])
    shared = table.index.intersection(table.columns)
    fewest = FEWEST_SHARED if equal_cells else max(corner.shape) / 2
    if len(shared) < fewest:
        return
    cells = table.loc[shared, shared].fillna(0).to_numpy()
    is_in_both = (cells != 0) & (cells.T != 0) & ~np.eye(len(cells), dtype=bool)
    is_whole = is_in_both.any() and not (equal_cells and equals_transpose(cells))
    require(
        is_whole or _is_toy(cells),
        "only one half of the matrix has scores, or images of one side are missing on the other. "
        "A DataFrame whose names are distinct is completed by frame.combine_first(frame.T), where "
        "missing scores are NaN (frame = frame.where(frame != 0)); scores = frame.to_numpy(), or "
        "another square of one set of images in one order, by "
        "np.where(np.isnan(scores) | (scores == 0), scores.T, scores)",
    )
