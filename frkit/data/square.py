"""Whether a square array contains the scores, or the distances, of images with each other."""

import numpy as np

from frkit.base import require, warn

SLACK = 1e-5  # share of the spread by which scores of a symmetric matrix may differ
FEW_SCORES = 3  # a toy with so few distinct scores is symmetric by chance
WINDOW = 500  # rows and columns that are read from a matrix on disk: at both ends and between
SELF_SLACK = 0.01  # share of the spread by which scores of images with themselves may differ


def role_of_square(values):
    """Return "distance" or "score" of a matrix that compares images with each other, else None.

    Such a matrix is square and symmetric. Its diagonal is constant: 0 and the smallest value of
    distances, the largest one of scores. No embedding is like that.

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
    slack = SELF_SLACK * np.ptp(scores) if scores.size else np.nan
    role = None
    if np.ptp(with_self) <= slack:
        if abs(with_self).max() <= slack and scores.min() >= -slack:
            role = "distance"
        elif scores.max() <= with_self.max() + slack:
            role = "score"
    is_toy = len(np.unique(scores)) <= FEW_SCORES
    return None if is_toy or not role or not equals_transpose(values, whole=False) else role


def refuse_scores(embedding, otherwise=""):
    """Refuse a matrix of scores in place of an embedding, or of one of several embeddings.

    Parameters
    ----------
    embedding : array, ([model,] image, feature)
    otherwise : str
        What to do if it is an embedding all the same.
    """
    for values in [embedding] if embedding.ndim == 2 else embedding:
        role = role_of_square(values)
        distance = ", distance=True" if role == "distance" else ""
        require(
            role is None,
            f"the embedding is square and symmetric, with one value on its diagonal, as a matrix "
            f"of {role}s between images is; open such a file with format='matrix'{distance}, or "
            f"give the array as fk.score_matrix(values, identity, identity{distance}){otherwise}",
        )


def equals_transpose(values, marks=(), whole=True):
    """Return whether scores are symmetric: all in memory, or three windows of those on disk.

    Two scores are equal where they differ by rounding only: by a hundred thousandth of the distance
    of the quartiles, or in the last place. So neither a shift nor another scale of all scores
    changes the answer, nor do a few scores far away.

    Parameters
    ----------
    values : array, square
    marks : float or sequence of float
        Scores of failed comparisons.
    whole : bool
        False for three windows of those in memory, too.
    """
    n = values.shape[0]
    few = np.asarray(values[: WINDOW // 2, : WINDOW // 2], float)
    few = few[np.isfinite(few) & ~np.isin(few, marks)]
    low, high = np.quantile(few, [0.25, 0.75]) if few.size else (0, 0)
    last_place = 8 * np.finfo(values.dtype).eps if values.dtype.kind == "f" else 0
    slack = SLACK * (high - low)

    is_whole = whole and isinstance(values, np.ndarray)
    starts = range(0, n, WINDOW) if is_whole else [0, max((n - WINDOW) // 2, 0), max(n - WINDOW, 0)]
    for start in starts:
        rows = slice(start, start + WINDOW)
        columns = slice(None) if is_whole else rows
        scores = np.asarray(values[rows, columns], float)
        turned = np.asarray(values[:, rows], float).T if is_whole else scores.T
        if not np.allclose(scores, turned, rtol=last_place, atol=slack, equal_nan=True):
            return False
    return True


def with_both_halves(values):
    """Return scores with the other half in place of one that is blank, or zero throughout."""
    is_in_memory = isinstance(values, np.ndarray)
    if not is_in_memory or len({*values.shape}) > 1 or len(values) < 3:
        return values
    upper = np.triu(np.ones(values.shape, bool), 1)
    for empty, full in ((upper, upper.T), (upper.T, upper)):
        cells = values[empty]
        is_empty = np.isnan(cells).all() or (cells == 0).all()
        if is_empty and len(np.unique(values[full])) > FEW_SCORES:
            warn(
                "one half of the matrix is blank or zero: each pair of images has the score of the "
                "other half"
            )
            return np.where(empty, values.T, values)
    return values
