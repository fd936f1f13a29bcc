"""Exact impostor scores of a population, by a Gegenbauer series.

A zonal function on the sphere of R^p keeps its shape under convolution. So the score <X, Y> of
X ~ vMF(mu_k, kappa_k) and Y ~ vMF(mu_l, kappa_l) has, with respect to a uniform pair, the density

    sum_m dim_m A_m(kappa_k) A_m(kappa_l) P_m(mu_k . mu_l) P_m(t).

P_m is the Gegenbauer polynomial with P_m(1) = 1, and A_m a ratio of Bessel functions (`series`).

The series of a pair loses digits where its directions are close and its concentrations large: at
mean score m its terms outgrow its sum by up to about (1 - m^2)^(-p/4). The error bound of FAR says
how many.
"""

import numpy as np
from scipy.optimize import elementwise

from frkit.base import InputError, require
from frkit.vmf.series import TAIL, pair_coefficients, survival

LARGEST_ERROR = 1e-6  # of a FAR, relative
FIRST_TERMS, MOST_TERMS = 96, 4096
NEGLIGIBLE = 1e-25  # mass of the last terms
SHARPEST = 100  # identities that determine how many terms are needed


class ImpostorScores:
    """P(score > t) of pairs of identities."""

    def __init__(self, directions, concentrations):
        self.dim = directions.shape[1]
        # the identities with the largest concentrations need the most terms
        sharpest = np.argsort(-concentrations)[:SHARPEST]
        n_terms = _enough_terms(directions[sharpest], concentrations[sharpest])
        self.coefficients = pair_coefficients(directions, concentrations, n_terms)

    def survival(self, thresholds):
        """P(score > t) and a bound on its absolute error, shaped like thresholds."""
        return survival(thresholds, self.dim, self.coefficients)

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
        value = f"{far[worst]:.3g} +- {bound[worst]:.3g}"
        require(
            relative[worst] <= LARGEST_ERROR,
            f"FAR of {pairs} at threshold {thresholds[worst]:.6g}, {value}, cannot be trusted: ask "
            "for larger FAR levels or lower thresholds, leave out by=, merge identities "
            "that are one person, or evaluate a large sample of the mixture",
        )
        return far, relative


def _enough_terms(directions, concentrations):
    """Number of terms until the last ones are negligible."""
    dim = directions.shape[1]
    grid = np.linspace(-0.999, 0.999, 101)
    n_terms = FIRST_TERMS
    while n_terms <= MOST_TERMS:
        last = pair_coefficients(directions, concentrations, n_terms)
        last[:, :-TAIL] = 0
        # the mass of the last terms is what further ones could add
        _, mass = survival(grid, dim, last)
        if mass.max() < NEGLIGIBLE:
            return n_terms
        n_terms += n_terms // 2
    raise InputError(
        f"the impostor series needs more than {MOST_TERMS} terms: the concentrations are too large "
        f"for dimension {dim}; use smaller concentrations"
    )
