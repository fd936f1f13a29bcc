"""The von Mises-Fisher distribution: its normaliser and the ratios of Bessel functions.

With respect to uniform points on the sphere of R^p, vMF(mu, kappa) has the density
exp(kappa <x, mu>) / h(kappa), where h(r) = E exp(r U_1) for a uniform point U.
"""

import math

import numpy as np
from scipy.special import betainc, betaln, hyp0f1, ive

# each step of the continued fraction shrinks the error of its start by exp(-2 order / kappa)
LOG_START_ERROR = 45


def log_normaliser(radius, dim):
    """Log of the normaliser h of the von Mises-Fisher distribution, of any shape.

    h(r) = Gamma(p/2) (2/r)^(p/2-1) I_{p/2-1}(r) = 0F1(p/2; r^2/4), Mardia & Jupp (2000), eq. 9.3.4.
    """
    order = dim / 2 - 1
    scaled_bessel = ive(order, radius)  # exp(-r) I(r)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_bessel = np.log(scaled_bessel) + radius
        log_power = order * np.log(2 / radius)
        log_h = math.lgamma(order + 1) + log_power + log_bessel
    # at high orders and small r the Bessel function underflows, its hypergeometric form does not
    underflows = scaled_bessel < 1e-290
    small_radius = np.where(underflows, radius, 0)
    small_h = hyp0f1(dim / 2, small_radius**2 / 4)
    return np.where(underflows, np.log(small_h), log_h)


def log_uniform(dim):
    """Log of the integral of (1 - t^2)^((p-3)/2), the density of the score of uniform points."""
    return float(betaln(0.5, dim / 2 - 0.5))


def uniform_tail(t, dim):
    """P(U_1 > t) of one coordinate of a uniform point."""
    half = dim / 2 - 0.5
    return betainc(half, half, (1 - t) / 2)


def bessel_ratios(concentrations, dim, n_terms):
    """A_m(kappa) = I_{p/2-1+m}(kappa) / I_{p/2-1}(kappa) for m < n_terms, shape (K, n_terms).

    The ratios of neighbours come from a backward continued fraction. It starts far enough above the
    last term for the error at its start to vanish.
    """
    # extended precision, because A_m is a product of m ratios and a series takes thousands of terms
    order = np.longdouble(dim) / 2 - 1
    kappa = np.asarray(concentrations, np.longdouble)
    largest = float(kappa.max())
    beyond = math.sqrt(n_terms**2 + LOG_START_ERROR * largest)
    start = 200 + math.ceil(beyond)
    last = order + start
    root = np.sqrt(last**2 + kappa**2)
    ratio = kappa / (last + root)
    ratios = np.ones((kappa.size, n_terms), np.longdouble)
    for m in reversed(range(start)):
        doubled_order = 2 * (order + m + 1)
        ratio = 1 / (doubled_order / kappa + ratio)
        if m + 1 < n_terms:
            ratios[:, m + 1] = ratio
    return np.cumprod(ratios, axis=1).astype(np.float64)
