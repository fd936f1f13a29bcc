"""Checks of embeddings, and of square arrays that may be matrices of scores instead."""

import numpy as np
import pandas as pd
import xarray as xr

from frkit.base import InputError, real_numbers, require, warn
from frkit.data.files import reading

ROWS = 4096  # of an embedding that are checked per step
SLACK = 1e-5  # share of the spread by which scores of a symmetric matrix may differ
FEW_SCORES = 3  # a toy with so few distinct scores is symmetric by chance
WINDOW = 500  # rows and columns that are read from a matrix on disk: at both ends and between
NUMBERED = "numbered"  # attribute of images without names: a hash of their embeddings
SELF_SLACK = 0.01  # share of the spread by which scores of images with themselves may differ


def is_lazy(array):
    """Return whether an array is a dask array, without importing dask, which takes long."""
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
    for index, rows in row_pieces(values):
        squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        bad = np.flatnonzero(~((squares >= least) & (squares <= most)))
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


def role_of_square(values):
    """Return "distance" or "score" of a matrix that compares images with each other, else None.

    Such a matrix is square. Its diagonal is constant: 0 and the smallest value of distances, the
    largest one of scores. No embedding is like that.

    Parameters
    ----------
    values : array of numbers
        In memory, on disk or of dask.
    """
    is_square = values.ndim == 2 and values.shape[0] == values.shape[1]
    if not is_square or values.dtype.kind not in "fiu":
        return None
    corner = np.asarray(values[:WINDOW, :WINDOW], float)
    scores = corner[np.triu_indices(len(corner), 1)]
    scores = scores[np.isfinite(scores)]
    with_self = corner.diagonal()
    if len(np.unique(scores)) <= FEW_SCORES:  # a toy
        return None
    slack = SELF_SLACK * np.ptp(scores)
    is_constant = np.ptp(with_self) <= slack
    if is_constant and abs(with_self).max() <= slack and scores.min() >= -slack:
        return "distance"
    if is_constant and scores.max() <= with_self.max() + slack:
        return "score"
    return None


def refuse_scores(embedding, answers=()):
    """Refuse a matrix of scores in place of an embedding, or of one of several embeddings.

    Parameters
    ----------
    embedding : array, ([model,] image, feature)
    answers : list of dict
        Of the question in a file.
    """
    for values in [embedding] if embedding.ndim == 2 else embedding:
        role = role_of_square(values)
        distance = ", distance=True" if role == "distance" else ""
        require(
            role is None,
            f"the embedding is square, with one value on its diagonal, as a matrix "
            f"of {role}s between images is; such an array is given as "
            f"fk.score_matrix(values, identity, identity{distance})",
            answers,
        )


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


def completed(values, rows, columns, equal_cells=False):
    """Return scores of which some cells are in one half of the square alone, with both halves.

    Cells are completed by the names of their row and column: where each pair of images has one cell
    at most (the other one is blank, or all are zero); with `equal_cells` also where both cells of a
    pair are equal and the sides differ in images or order.

    Parameters
    ----------
    values : array, (row, column)
        Other scores are returned as they are; those that stay on disk, too, unless their first
        rows and columns have one half alone, which is refused.
    rows, columns : sequences of str
        Names of images, distinct on each side.

    Returns
    -------
    values : array
    names : pd.Index or None
        The names of both sides, if scores were completed.
    """
    if not isinstance(values, np.ndarray):
        corner = np.asarray(values[:WINDOW, :WINDOW], float)
        _, names = completed(corner, rows[:WINDOW], columns[:WINDOW])
        require(
            names is None,
            "only one half of the matrix has scores, and one that stays on disk is not completed: "
            "fk.score_matrix(np.load(path), identity, identity, same_images=True) reads all of it",
        )
        return values, None
    rows, columns = pd.Index(rows), pd.Index(columns)
    names = rows.append(columns).unique()
    n = len(names)
    n_shared = len(rows) + len(columns) - n
    n_scores = np.sum((values != 0) & ~np.isnan(values))
    may_be_twice = equal_cells and not rows.equals(columns)
    may_be_whole = n_scores > n * (n + 1) / 2 and not may_be_twice
    if n < 3 or 2 * n_shared < max(values.shape) or may_be_whole:
        return values, None
    table = pd.DataFrame(values, rows, columns).reindex(index=names, columns=names)
    whole = table.to_numpy(float)
    is_blank = np.isnan(whole) | np.eye(n, dtype=bool)
    is_zero = is_blank | (whole == 0)
    is_half = (is_blank | is_blank.T).all()
    if not is_half and (is_zero | is_zero.T).all():
        is_half, is_blank = True, is_zero
    filled = np.where(is_blank, whole.T, whole)
    is_twice = may_be_twice and not is_half and equals_transpose(filled)
    if not (is_half or is_twice) or len(np.unique(whole[~is_blank])) <= FEW_SCORES:
        return values, None
    cells = "one cell only" if is_half else "one cell, or in two that are equal"
    warn(
        f"each pair of images has a score in {cells}: the matrix is completed by the names, or "
        "numbers, of its rows and columns, and each pair counts once"
    )
    return filled, names
