"""Exact distributions of the scores of a population: genuine ones, and impostors' by a series.

A zonal function on the sphere of R^p keeps its shape under convolution. So the score <X, Y> of
X ~ vMF(mu_k, kappa_k) and Y ~ vMF(mu_l, kappa_l) has, with respect to a uniform pair, the density

    sum_m dim_m A_m(kappa_k) A_m(kappa_l) P_m(mu_k . mu_l) P_m(t).

P_m is the Gegenbauer polynomial with P_m(1) = 1, and A_m a ratio of Bessel functions.

The series of a pair loses digits where its directions are close and its concentrations large: at
mean score m its terms outgrow its sum by up to about (1 - m^2)^(-p/4). The error bound of FAR says
how many.
"""

import math

import numpy as np
from scipy.optimize import elementwise
from scipy.special import betaincinv

from frkit.base import InputError, require
from frkit.vmf.densities import bessel_ratios, log_normaliser, log_uniform, uniform_tail
from frkit.vmf.panels import PanelDistribution, log_cosh, radial_mode

CONCENTRATIONS = 256  # whose genuine densities are in memory at once
GENUINE_ERROR = 1e-9  # largest one of the integral of the density
FAR_ERROR = 1e-6  # largest one, relative
TAIL_ERROR = 1e-12  # relative, of the incomplete beta function and its inverse
FIRST_TERMS, MOST_TERMS = 96, 4096
NEGLIGIBLE = 1e-25  # mass of the last terms
SHARPEST = 100  # identities that determine how many terms are needed
EXTENDED = np.longdouble
EPSILON = np.finfo(np.float64).eps
SAFETY = 30  # rounding errors allowed for each term
TAIL = 8  # last terms, which bound those that are cut off
IDENTITIES = 512  # on each side of a block of pairs


class GenuineScores:
    """Genuine scores of a mixture; identity k contributes in proportion to `weights[k]`."""

    def __init__(self, concentrations, weights, dim):
        self.dim = dim
        self.concentrations, number = np.unique(concentrations, return_inverse=True)
        self.weights = np.bincount(number, weights) / np.sum(weights)
        # identities of every concentration lie between 0 and the peak of the sharpest
        highest = math.atanh(radial_mode(self.concentrations[-1], dim) ** 2)
        spread = np.array([1 / math.sqrt(dim - 1)])
        self.distribution = PanelDistribution(
            self._density, np.array([highest / 2]), spread, dim, extent=highest / 2
        )
        total = self.distribution.total[0]
        require(
            abs(total - 1) < GENUINE_ERROR,
            f"the genuine density integrates to {total:.12g}, not 1, so FRR is not exact here: "
            "use smaller concentrations",
        )

    def frr(self, thresholds):
        """P(genuine score <= t), with a small relative error even where it is tiny."""
        z = np.arctanh(thresholds)
        return self.distribution.mass_below(z, np.zeros(np.shape(z), int))

    def _density(self, z, row):
        """Density in z = artanh(t), averaged over identities; there is one row only.

        The score t of two images of one identity has a density proportional to
        (1 - t^2)^((p-3)/2) h(kappa sqrt(2 + 2t)) / h(kappa)^2.
        """
        flat = z.ravel()
        density = np.zeros(flat.size)
        log_width = log_uniform(self.dim) + (self.dim - 1) * log_cosh(flat)
        # sqrt(2 + 2t), precise near t = -1 too
        sum_length = 2 / np.sqrt(1 + np.exp(-2 * flat))
        for start in range(0, self.concentrations.size, CONCENTRATIONS):
            block = slice(start, start + CONCENTRATIONS)
            kappa = self.concentrations[block, None]
            log_h_of_sum = log_normaliser(kappa * sum_length, self.dim)
            log_ratio = log_h_of_sum - 2 * log_normaliser(kappa, self.dim)
            density += self.weights[block] @ np.exp(log_ratio - log_width)
        return density.reshape(z.shape)


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
            relative[worst] <= FAR_ERROR,
            f"FAR of {pairs} at threshold {thresholds[worst]:.6g}, {value}, cannot be trusted: ask "
            "for larger FAR levels or lower thresholds, leave out by=, merge identities "
            "that are one person, or evaluate a large sample of the mixture",
        )
        return far, relative


class UniformPairs(ImpostorScores):
    """P(score > t) of independent uniform points: the tail of one coordinate of one of them."""

    def __init__(self, dim):
        self.dim = dim

    def survival(self, thresholds):
        """P(score > t) and a bound on its absolute error, shaped like thresholds."""
        tail = uniform_tail(thresholds, self.dim)
        return tail, TAIL_ERROR * tail

    def threshold_at(self, far):
        """Thresholds (L,) where FAR equals each level (L,)."""
        half = self.dim / 2 - 0.5
        return 1 - 2 * betaincinv(half, half, far)


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


# --- the Gegenbauer series -----------------------------------------------------------------------


def survival(thresholds, dim, coefficients):
    """P(score > t) = sum_m c_m T_m(t), and a bound on its absolute error, shaped like thresholds.

    The bound is 30 eps times the sum of the terms' sizes, plus eight times the largest of the last
    eight terms for those that were cut off. Sizes are those with |P_m|, because the P_m of many
    pairs cancel in c_m and their rounding does not.
    """
    n_terms = coefficients.shape[1]
    total = np.zeros(np.shape(thresholds), EXTENDED)
    size = np.zeros_like(total)
    last = np.zeros_like(total)
    for m, term in enumerate(survival_terms(thresholds, dim, n_terms)):
        total += coefficients[0, m] * term
        term_size = coefficients[1, m] * np.abs(term)
        size += term_size
        if m >= n_terms - TAIL:
            last = np.maximum(last, term_size)
    bound = SAFETY * EPSILON * size + TAIL * last
    return total.astype(np.float64), bound.astype(np.float64)


def survival_terms(thresholds, dim, n_terms):
    """Yield the functions T_m(t), m < n_terms, in extended precision.

    T_0 is the tail of one coordinate of a uniform point. With a = p/2 - 1, T_m(t) = 2 (m + a) /
    (m (m + 2a)) w(t) C_{m-1}(t), where w(t) is that coordinate's density times (1 - t^2), and C
    the Gegenbauer polynomial of parameter a + 1. The recurrence of C starts at w(t) instead of 1,
    so that nothing overflows.
    """
    yield uniform_tail(thresholds, dim).astype(EXTENDED)
    t = np.asarray(thresholds, EXTENDED)
    a = EXTENDED(dim) / 2 - 1
    with np.errstate(divide="ignore", under="ignore"):
        # at t = -1 and 1 the logarithm is -inf, and the density 0
        log_square = np.log1p(-t) + np.log1p(t)  # of 1 - t^2
        now = np.exp((a + 0.5) * log_square - log_uniform(dim))
    before = np.zeros_like(now)
    for m in range(1, n_terms):
        grow = 2 * (m + a)
        fall = m + 2 * a
        yield grow / (m * fall) * now
        following = (grow * t * now - fall * before) / m
        before = now
        now = following


def pair_coefficients(directions, concentrations, n_terms):
    """Coefficients c_m: means over pairs of identities, in row 0 of the result (2, m).

    c_m is the mean of A_m(kappa_k) A_m(kappa_l) P_m(mu_k . mu_l) over k < l. Row 1 is the same with
    |P_m|: the size of what row 0 sums, which says how much rounding row 0 carries.
    """
    n_identities, dim = directions.shape
    ratios = bessel_ratios(concentrations, dim, n_terms).T
    total = np.zeros((2, n_terms))
    for i in range(0, n_identities, IDENTITIES):
        rows = slice(i, i + IDENTITIES)
        for j in range(i, n_identities, IDENTITIES):
            columns = slice(j, j + IDENTITIES)
            cosines = directions[rows] @ directions[columns].T
            included = np.ones_like(cosines)
            if i == j:
                included = np.triu(included, 1)
            total += _block_sums(cosines, included, ratios[:, rows], ratios[:, columns], dim)
    return total / (n_identities * (n_identities - 1) / 2)


def _block_sums(cosines, included, left, right, dim):
    """Sums of left[m, k] right[m, l] P_m(cosines[k, l]) over the included pairs, and with |P_m|."""
    sums = np.empty((2, len(left)))
    before = np.zeros_like(cosines)
    now = included
    for m in range(len(left)):
        sums[0, m] = left[m] @ now @ right[m]
        size = np.abs(now)
        sums[1, m] = left[m] @ size @ right[m]
        # P_(m+1) from P_m and P_(m-1), both at most 1 in size: nothing overflows
        scale = m + dim - 2
        grow = (m + scale) / scale
        fall = m / scale
        following = grow * cosines * now - fall * before
        before = now
        now = following
    return sums
