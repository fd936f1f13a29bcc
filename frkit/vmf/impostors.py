"""Exact impostor scores of a population: a Gegenbauer series, and quadrature where it cancels.

A zonal function on the sphere of R^p keeps its shape under convolution. So the score <X, Y> of
X ~ vMF(mu_k, kappa_k) and Y ~ vMF(mu_l, kappa_l) has, with respect to a uniform pair, the density

    sum_m dim_m A_m(kappa_k) A_m(kappa_l) P_m(mu_k . mu_l) P_m(t).

P_m is the Gegenbauer polynomial with P_m(1) = 1, and A_m a ratio of Bessel functions (`series`).

The series of a pair loses digits where its directions are close and its concentrations large: at
mean score m its terms outgrow its sum by up to about (1 - m^2)^(-p/4). Such close pairs can be left
out of the series and integrated one by one (`closepairs`).
"""

import numpy as np
from scipy.optimize import elementwise

from frkit.base import InputError, require
from frkit.vmf.closepairs import PairScores
from frkit.vmf.densities import mean_resultants
from frkit.vmf.series import (
    EPSILON,
    SAFETY,
    TAIL,
    Identities,
    pair_coefficients,
    pair_weight,
    survival,
)

LARGEST_ERROR = 1e-6  # of a FAR, relative
FIRST_TERMS, MOST_TERMS = 96, 4096
NEGLIGIBLE = 1e-25  # mass of the last terms
SHARPEST = 100  # identities of each group that determine how many terms are needed
BLOCK = 512  # identities that are compared with all others at a time
MOST_PAIRS = 1000  # that are integrated one by one
PAIR_ERROR = 1e-11  # absolute; a pair whose series may be further off is integrated


class SeriesError(InputError):
    """The series is not precise enough. Quadrature of single pairs may be."""


class ImpostorScores:
    """P(score > t) of pairs of identities: a series and, for some pairs, quadrature."""

    def __init__(self, dim, coefficients, close=None):
        self.dim = dim
        self.coefficients = coefficients
        self.close = close

    def survival(self, thresholds):
        """P(score > t) and a bound on its absolute error, shaped like thresholds."""
        total, bound = survival(thresholds, self.dim, self.coefficients)
        if self.close is None:
            return total, bound
        close_total, close_bound = self.close.survival(thresholds)
        return total + close_total, bound + close_bound

    def threshold_at(self, far):
        """Thresholds (L,) where FAR equals each level (L,)."""
        end = np.full(far.shape, 1 - 1e-12)

        def excess(t, level):
            total, _ = self.survival(t)
            return total - level

        return elementwise.find_root(excess, (-end, end), args=(far,)).x

    def far(self, thresholds, pairs):
        """FAR and its relative error bound (L,); `pairs` names the pairs in an error."""
        far, bound = self.survival(thresholds)
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(far > 0, bound / far, np.inf)
        worst = int(np.argmax(relative))
        if not relative[worst] <= LARGEST_ERROR:
            raise SeriesError(
                f"FAR of {pairs} at threshold {thresholds[worst]:.6g}, {far[worst]:.3g} +- "
                f"{bound[worst]:.3g}, cannot be trusted: ask for larger FAR levels or lower "
                "thresholds, or leave out by= and cross="
            )
        return far, relative


def impostor_scores(left, right, integrate_close_pairs):
    """Impostor scores of pairs between two groups, or within one if left is right."""
    dim = left.directions.shape[1]
    limit = np.inf
    close = None
    if integrate_close_pairs:
        # terms outgrow their sum by (1 - m^2)^(-p/4) at mean score m, and so does their rounding
        growth = PAIR_ERROR / (SAFETY * EPSILON)
        limit = float(np.sqrt(1 - growth ** (-4 / dim)))
        close = _close_pairs(left, right, limit)
    # the identities with the largest concentrations need the most terms
    sharpest_left = _sharpest(left)
    sharpest_right = sharpest_left if left is right else _sharpest(right)
    n_terms = _converged(sharpest_left, sharpest_right, FIRST_TERMS, limit).shape[1]
    return ImpostorScores(dim, _converged(left, right, n_terms, limit), close)


def _sharpest(group):
    """The identities of a group with the largest concentrations."""
    rows = np.argsort(-group.concentrations)[:SHARPEST]
    return Identities(*(values[rows] for values in group))


def _converged(left, right, n_terms, limit):
    """Coefficients of the series, with terms until the last ones are negligible."""
    dim = left.directions.shape[1]
    grid = np.linspace(-0.999, 0.999, 101)
    while n_terms <= MOST_TERMS:
        coefficients = pair_coefficients(left, right, n_terms, limit)
        # the mass of the last terms is what further ones could add
        last = coefficients.copy()
        last[:, :-TAIL] = 0
        _, mass = survival(grid, dim, last)
        if mass.max() < NEGLIGIBLE:
            return coefficients
        n_terms += n_terms // 2
    raise SeriesError(
        f"the impostor series needs more than {MOST_TERMS} terms: the concentrations are too large "
        f"for dimension {dim}; use smaller concentrations"
    )


def _close_pairs(left, right, limit):
    """Quadrature of the pairs whose mean score exceeds the limit; None where there are none."""
    dim = left.directions.shape[1]
    left_means = left.directions * mean_resultants(left.concentrations, dim)[:, None]
    right_means = right.directions * mean_resultants(right.concentrations, dim)[:, None]
    is_close = []
    for start in range(0, len(left_means), BLOCK):
        mean_scores = left_means[start : start + BLOCK] @ right_means.T
        is_close.append(mean_scores > limit)
    rows, columns = np.nonzero(np.concatenate(is_close))
    if left is right:
        is_first = rows < columns
        rows = rows[is_first]
        columns = columns[is_first]
    require(
        rows.size <= MOST_PAIRS,
        f"{rows.size} pairs of identities are too close for the series of exact rates, and at "
        f"most {MOST_PAIRS} can be integrated one by one; ask for larger FAR levels or lower "
        "thresholds, or merge identities that are one person",
    )
    if rows.size == 0:
        return None
    concentrations = np.stack([left.concentrations[rows], right.concentrations[columns]], axis=1)
    cosines = (left.directions[rows] * right.directions[columns]).sum(axis=1)
    weights = left.weights[rows] * right.weights[columns]
    shares = weights / pair_weight(left, right)
    return PairScores(concentrations, cosines, shares, dim)
