"""Impostor scores of single pairs of identities by quadrature, where the Gegenbauer series cancels.

For X ~ vMF(mu_k, kappa_k), Y ~ vMF(mu_l, kappa_l) and c = mu_k . mu_l, the score t = <X, Y> has the
density

    (1 - t^2)^((p-3)/2) 0F1(p/2; F'F / 4) / (B h(kappa_k) h(kappa_l)),   h(r) = 0F1(p/2; r^2 / 4),

with the hypergeometric function of a 2 x 2 matrix argument (Muirhead 1982, chapter 7). F'F has the
trace R^2 = kappa_k^2 + kappa_l^2 + 2 kappa_k kappa_l c t and the determinant
kappa_k^2 kappa_l^2 (1 - c^2) (1 - t^2). The function is a series of positive terms in ordinary
Bessel functions of R (Muirhead 1975), so nothing cancels:

    0F1(a; F'F / 4) = sum_j (det / 16)^j / ((a - 1/2)_j (a)_2j j!) 0F1(a + 2j; R^2 / 4).
"""

import math

import numpy as np

from frkit.base import compiled
from frkit.vmf.densities import bessel_ratios, log_normaliser, log_uniform
from frkit.vmf.panels import PanelDistribution

SAFETY = 30
EPSILON = np.finfo(float).eps


class PairScores:
    """Exact scores of identity pairs, each integrated on its own.

    concentrations (n, 2), cosines (n,) of the mean directions, shares (n,) of each pair in the mean
    over all pairs.
    """

    def __init__(self, concentrations, cosines, shares, dim):
        cosines = np.clip(cosines, -1, 1)
        self.shares = shares
        centre, spread = _centre_and_spread(concentrations, cosines, dim)

        # lower tails of a PanelDistribution are precise, so the sign of the scores is reversed
        def density(z, row):
            return np.exp(log_density(-z, concentrations[row], cosines[row], dim))

        self.distribution = PanelDistribution(density, -centre, spread, dim)
        lost = np.abs(self.distribution.total - 1)
        rounding = EPSILON * (1 + concentrations.sum(axis=1))
        self.relative_errors = SAFETY * (lost + rounding)

    def survival(self, thresholds):
        """The pairs' part of P(score > t) and a bound on its error, shaped like thresholds.

        The bound is 30 times what the density misses to the integral 1, and the rounding of its
        exponent.
        """
        minus_z = -np.arctanh(np.ravel(thresholds))
        rows = np.arange(len(self.shares))[:, None]
        accepted = self.distribution.mass_below(minus_z, rows)
        total = self.shares @ accepted
        bound = (self.shares * self.relative_errors) @ (accepted + EPSILON)
        shape = np.shape(thresholds)
        return total.reshape(shape), bound.reshape(shape)


def log_density(z, concentrations, cosines, dim):
    """Log density of the score in z; z and cosines broadcast with concentrations[..., 0]."""
    first = concentrations[..., 0]
    second = concentrations[..., 1]
    product = first * second
    t = np.tanh(z)
    root = 1 / np.cosh(z)  # sqrt(1 - t^2)
    trace = (first - second) ** 2 + 2 * product * (1 + cosines * t)
    radius = np.sqrt(trace)
    quarter = (product * root / (2 * radius)) ** 2 * (1 - cosines**2)  # det / (4 R^2)
    log_series = np.vectorize(_log_series)(np.maximum(radius, 1e-9), quarter, dim / 2)
    log_norms = log_normaliser(first, dim) + log_normaliser(second, dim) + log_uniform(dim)
    log_matrix_function = log_normaliser(radius, dim) + log_series
    return log_matrix_function - log_norms + (dim - 1) * np.log(root)


@compiled(nogil=True)
def _log_series(radius, quarter, a):
    """Log of the sum of the series over its first term; quarter = det / (4 R^2), a = p/2.

    Neighbouring terms have the ratio 16 quarter A B / (4 (a - 1/2 + j) (j + 1)). A and B are the
    Bessel ratios of orders a - 1 + 2j and a + 2j, which come from a backward recurrence.
    """
    # Bessel ratios are below 1, so the largest term has j <= peak; then terms fall like a Gaussian
    peak = np.sqrt(quarter)
    n_terms = int(peak + 12 * np.sqrt(peak + 1) + 40)
    beyond = np.sqrt((2.0 * n_terms) ** 2 + 45 * radius)
    start = int(beyond) + 200
    order = a - 1 + start
    ratio = radius / (order + np.sqrt(order**2 + radius**2))
    ratios = np.empty(2 * n_terms)
    for m in range(start - 1, -1, -1):
        ratio = 1 / (2 * (a + m) / radius + ratio)
        if m < 2 * n_terms:
            ratios[m] = ratio
    total = 1.0
    term = 1.0
    log_scale = 0.0
    for j in range(n_terms):
        term *= quarter / ((a - 0.5 + j) * (j + 1))
        term *= ratios[2 * j] * ratios[2 * j + 1]
        total += term
        if total > 1e200:  # scaled down before it overflows
            total *= 1e-200
            term *= 1e-200
            log_scale += 200 * np.log(10.0)
    return np.log(total) + log_scale


def _centre_and_spread(concentrations, cosines, dim):
    """Mean and standard deviation of the scores, moved to z."""
    first, second = (bessel_ratios(kappa, dim, 3) for kappa in concentrations.T)
    _, ratio, ratio_of_squares = (first * second).T
    mean = ratio * cosines
    mean_square = (1 + ratio_of_squares * (dim * cosines**2 - 1)) / dim
    variance = np.maximum(mean_square - mean**2, 1e-14)
    spread = np.sqrt(variance) / (1 - mean**2)
    widest = 1 / math.sqrt(dim - 1)
    return np.arctanh(mean), np.minimum(spread, widest)
