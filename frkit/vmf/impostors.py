"""Impostor scores of a population: the Gegenbauer series for all pairs, and quadrature for those where it cancels.

The series of a pair loses digits when its directions are close and its concentrations large: at mean score m its terms
outgrow its sum by up to about (1 - m^2)^(-p/4). Such pairs can be left out of the series and integrated one by one
(`closepairs`).
"""

import numpy as np
from scipy.optimize import elementwise

from frkit.base import InputError, require
from frkit.vmf.closepairs import PairScores
from frkit.vmf.series import SAFETY, TAIL, mean_resultants, pair_coefficients, pair_weight, survival

LARGEST_ERROR = 1e-6
FIRST_TERMS, MOST_TERMS = 96, 4096
SAMPLE = 100  # identities of each group that tell how many terms are needed
MOST_PAIRS = 1000  # that are integrated one by one
PAIR_ERROR = 1e-11  # absolute; a pair whose series may be further off is integrated


class SeriesError(InputError):
    """The series cannot give what was asked: quadrature of single pairs may."""


class ImpostorScores:
    """P(score > t) of the pairs within or between groups: a series and, for some pairs, quadrature."""

    def __init__(self, dim: int, coefficients: np.ndarray, single: PairScores | None = None):
        self.dim, self.coefficients, self.single = dim, coefficients, single

    def survival(self, threshold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P(score > t) and a bound on its absolute error, shaped like threshold."""
        total, bound = survival(threshold, self.dim, self.coefficients)
        if self.single is None:
            return total, bound
        more, more_bound = self.single.survival(np.asarray(threshold))
        return total + more, bound + more_bound

    def threshold_at(self, far: np.ndarray) -> np.ndarray:
        """Thresholds (L,) where FAR equals each level."""
        edge = 1 - 1e-12
        bracket = (np.full(far.shape, -edge), np.full(far.shape, edge))
        return elementwise.find_root(lambda t, level: self.survival(t)[0] - level, bracket, args=(far,)).x

    def far(self, threshold: np.ndarray, of: str) -> tuple[np.ndarray, np.ndarray]:
        """FAR and its relative error bound at thresholds; raises InputError where the bound is too large."""
        far, bound = self.survival(threshold)
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(far > 0, bound / far, np.inf)
        worst = int(np.argmax(relative))
        if not relative[worst] <= LARGEST_ERROR:
            raise SeriesError(
                f"FAR of {of} at threshold {threshold[worst]:.6g} cannot be trusted: it is {far[worst]:.3g} and its "
                f"error may be {bound[worst]:.3g}; ask for larger FAR levels or lower thresholds"
                + ("" if of == "all pairs" else ", or leave out by= or cross=")
            )
        return far, relative


def impostor_scores(sides: list, one_by_one: bool) -> tuple[dict, ImpostorScores]:
    """Impostor scores of every cell {(group, group): scores}, and of all pairs.

    sides: (directions (K, p), concentrations (K,), weights (K,)) of each group. one_by_one: pairs whose own series may
    be further off than 1e-11 are integrated. The identities with the largest concentrations need the most terms of the
    series, so those tell first how many.
    """
    dim = sides[0][0].shape[1]
    limit = close_limit(dim) if one_by_one else np.inf
    sharpest = [tuple(part[np.argsort(-side[1])[:SAMPLE]] for part in side) for side in sides]
    n_terms = _grown(sharpest, FIRST_TERMS, limit)[1].shape[1]
    cells, total = _grown(sides, n_terms, limit)
    close = {cell: _close_pairs(sides[cell[0]], sides[cell[1]], cell[0] == cell[1], limit) for cell in cells}
    count = sum(len(found[2]) for found in close.values())
    require(
        count <= MOST_PAIRS,
        f"{count} pairs of identities are too close for the series of exact rates, and at most {MOST_PAIRS} can be "
        "integrated one by one; ask for larger FAR levels or lower thresholds, or merge identities that are one person",
    )
    weight = _weights(sides)
    found = {cell: ImpostorScores(dim, cells[cell], _single([close[cell]], weight[cell], dim)) for cell in cells}
    if len(sides) == 1:
        return found, found[0, 0]
    return found, ImpostorScores(dim, total, _single(list(close.values()), sum(weight.values()), dim))


def close_limit(dim: int) -> float:
    """Mean score of a pair above which its own series may be further off than 1e-11."""
    return float(np.sqrt(1 - (SAFETY * np.finfo(float).eps / PAIR_ERROR) ** (4 / dim)))


def _grown(sides: list, n_terms: int, limit: float) -> tuple[dict, np.ndarray]:
    """Coefficients of cells and of all pairs, with more terms until the last are negligible at every threshold."""
    dim, grid = sides[0][0].shape[1], np.linspace(-0.999, 0.999, 101)
    while n_terms <= MOST_TERMS:
        cells = {
            (g, h): pair_coefficients(sides[g], None if g == h else sides[h], n_terms, limit)
            for g, h in _weights(sides)
        }
        weight = _weights(sides)
        total = sum(weight[cell] * cells[cell] for cell in cells) / sum(weight.values())
        ends = total.copy()
        ends[:, :-TAIL] = 0
        if np.max(survival(grid, dim, ends)[1]) < 1e-25:
            return cells, total
        n_terms += n_terms // 2
    raise SeriesError(
        f"the impostor series needs more than {MOST_TERMS} terms: the concentrations are too large for "
        f"dimension {dim}; use smaller concentrations"
    )


def _weights(sides: list) -> dict:
    """Total weight of the pairs in every cell (g, h), g <= h."""
    cells = [(g, h) for g in range(len(sides)) for h in range(g, len(sides))]
    return {(g, h): pair_weight(sides[g][2], None if g == h else sides[h][2]) for g, h in cells}


def _close_pairs(left: tuple, right: tuple, within: bool, limit: float) -> tuple:
    """Concentrations (n, 2), cosines (n,) and weights (n,) of the pairs whose mean score exceeds the limit."""
    ours, theirs = (side[0] * mean_resultants(side[1], side[0].shape[1])[:, None] for side in (left, right))
    parts = [np.argwhere(ours[i : i + 512] @ theirs.T > limit) + [i, 0] for i in range(0, len(ours), 512)]
    k, j = np.concatenate(parts).T
    k, j = (k[k < j], j[k < j]) if within else (k, j)
    return np.stack([left[1][k], right[1][j]], 1), (left[0][k] * right[0][j]).sum(1), left[2][k] * right[2][j]


def _single(close: list, whole: float, dim: int) -> PairScores | None:
    """Quadrature of the pairs found, each with its share of the whole weight."""
    concentrations, cosine, weight = (np.concatenate(part) for part in zip(*close))
    return PairScores(concentrations, cosine, weight / whole, dim) if len(weight) else None
