"""The impostor score of one pair of identities by quadrature: exact where the Gegenbauer series cancels.

For X ~ vMF(mu_k, kappa_k), Y ~ vMF(mu_l, kappa_l) and c = mu_k . mu_l the score t = <X, Y> has the density

    (1 - t^2)^((p-3)/2) 0F1(p/2; F'F / 4) / (B h(kappa_k) h(kappa_l)),    h(r) = 0F1(p/2; r^2 / 4),

with the hypergeometric function of a 2 x 2 matrix argument (Muirhead 1982, chapter 7), where F'F has the trace
R^2 = kappa_k^2 + kappa_l^2 + 2 kappa_k kappa_l c t and the determinant kappa_k^2 kappa_l^2 (1 - c^2) (1 - t^2). It is a
series of positive terms in ordinary Bessel functions of R (Muirhead 1975), so nothing cancels:

    0F1(a; F'F / 4) = sum_j (det / 16)^j / ((a - 1/2)_j (a)_2j j!) 0F1(a + 2j; R^2 / 4).

It is summed as a ratio of neighbours and integrated in z = artanh(t) like the genuine density, which is its c = 1.
"""

import math

import numpy as np
from numpy.polynomial import legendre

from frkit.base import compiled
from frkit.vmf.densities import bessel_ratios, log_normaliser, log_uniform

ORDER = 16
POINT, WEIGHT = legendre.leggauss(ORDER)
SAFETY = 30


class PairScores:
    """Exact scores of identity pairs, each integrated on its own.

    concentrations (n, 2), cosine (n,) of the mean directions, share (n,) of each pair in the mean over all pairs.
    """

    def __init__(self, concentrations: np.ndarray, cosine: np.ndarray, share: np.ndarray, dim: int):
        self.share, cosine = np.asarray(share, float), np.clip(cosine, -1, 1)
        centre, spread = _place(concentrations, cosine, dim)
        reach = 9 * spread + 40 / (dim - 1)
        # panels of half a standard deviation, as many for every pair, so that all stand in one array
        n_panels = math.ceil(np.max(4 * reach / spread))
        self.low, self.step, self.n_panels = centre - reach, 2 * reach / n_panels, n_panels
        found = [
            self._integrate(pair, *row, dim) for pair, row in enumerate(zip(concentrations, cosine))
        ]
        self.inside, self.above, self.mass = (np.array(part) for part in zip(*found))
        self.error = SAFETY * (
            np.abs(self.mass - 1) + np.finfo(float).eps * (1 + np.sum(concentrations, axis=1))
        )

    def _integrate(self, pair: int, kappa: np.ndarray, cosine: float, dim: int) -> tuple:
        """Legendre coefficients (panel, order) of the integral from the panel's start, mass above each edge, mass."""
        half = self.step[pair] / 2
        z = self.low[pair] + half * (2 * np.arange(self.n_panels)[:, None] + 1 + POINT)
        density = np.exp(log_density(z.ravel(), kappa, cosine, dim)).reshape(z.shape)
        project = WEIGHT[:, None] * legendre.legvander(POINT, ORDER - 1) * (np.arange(ORDER) + 0.5)
        mass = half * density @ WEIGHT
        above = np.append(np.cumsum(mass[::-1])[::-1], 0)
        return legendre.legint(density @ project, lbnd=-1, axis=1) * half, above, above[0]

    def survival(self, threshold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The pairs' part of P(score > t) and a bound on its absolute error, shaped like threshold.

        The bound is 30 times what the density misses to the integral 1, and the rounding of its exponent.
        """
        z = np.atleast_1d(np.arctanh(threshold))
        place = np.clip((z - self.low[:, None]) / self.step[:, None], 0, self.n_panels)
        panel = np.minimum(place.astype(int), self.n_panels - 1)
        pair = np.arange(len(self.share))[:, None]
        inside = legendre.legval(
            2 * (place - panel) - 1, np.moveaxis(self.inside[pair, panel], -1, 0), tensor=False
        )
        accepted = np.maximum(self.above[pair, panel] - inside, 0)
        total, bound = (
            self.share @ accepted,
            (self.share * self.error) @ (accepted + np.finfo(float).eps),
        )
        return total.reshape(np.shape(threshold)), bound.reshape(np.shape(threshold))


def log_density(z: np.ndarray, kappa: np.ndarray, cosine: float, dim: int) -> np.ndarray:
    """Log density (n,) of the score in z (n,) for concentrations (2,) and the cosine of the mean directions."""
    first, second = kappa
    t, root = np.tanh(z), 1 / np.cosh(z)
    radius = np.sqrt((first - second) ** 2 + 2 * first * second * (1 + cosine * t))
    quarter = (first * second * root / 2 / radius) ** 2 * (1 - cosine**2)  # det / (4 R^2)
    log_sum = np.array([_log_sum(r, x, dim / 2) for r, x in zip(np.maximum(radius, 1e-9), quarter)])
    log_norm = log_normaliser(np.asarray(kappa, float), dim).sum() + log_uniform(dim)
    return log_normaliser(radius, dim) - log_norm + log_sum + (dim - 1) * np.log(root)


@compiled(nogil=True)
def _log_sum(radius, quarter, a) -> np.ndarray:
    """log sum_j of the terms of the series over its first, quarter = det / (4 R^2); a = p/2.

    Neighbours have the ratio 16 quarter A B / (4 (a - 1/2 + j) (j + 1)), A and B the Bessel ratios of orders
    a - 1 + 2j and a + 2j, which come from a backward recurrence.
    """
    # Bessel ratios are below 1, so terms are largest at j = peak at the latest, and then fall like a Gaussian
    peak = np.sqrt(quarter)
    n_terms = int(peak + 12 * np.sqrt(peak + 1) + 40)
    start = int(np.sqrt((2.0 * n_terms) ** 2 + 45 * radius)) + 200
    order = a - 1 + start
    ratio = radius / (order + np.sqrt(order**2 + radius**2))
    ratios = np.empty(2 * n_terms)
    for m in range(start - 1, -1, -1):
        ratio = 1 / (2 * (a + m) / radius + ratio)
        if m < 2 * n_terms:
            ratios[m] = ratio
    total, term, shift = 1.0, 1.0, 0.0
    for j in range(n_terms):
        term *= quarter / ((a - 0.5 + j) * (j + 1)) * ratios[2 * j] * ratios[2 * j + 1]
        total += term
        # sums are scaled down before they overflow, and the shift is added to their logarithm
        if total > 1e200:
            total, term, shift = total * 1e-200, term * 1e-200, shift + 200 * np.log(10.0)
    return np.log(total) + shift


def _place(
    concentrations: np.ndarray, cosine: np.ndarray, dim: int
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of the scores, moved to z."""
    ratios = bessel_ratios(np.ravel(concentrations), dim, 3).reshape(-1, 2, 3).prod(1)
    mean = ratios[:, 1] * cosine
    second = 1 / dim + (1 - 1 / dim) * ratios[:, 2] * (dim * cosine**2 - 1) / (dim - 1)
    spread = np.sqrt(np.maximum(second - mean**2, 1e-14)) / (1 - mean**2)
    return np.arctanh(mean), np.minimum(spread, 1 / math.sqrt(dim - 1))
