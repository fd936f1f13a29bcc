"""The impostor score of two von Mises-Fisher images as a Gegenbauer series. NumPy and numba only.

A zonal function on the sphere of R^p keeps its shape under convolution: the score <X, Y> of X ~ vMF(mu_k,
kappa_k) and Y ~ vMF(mu_l, kappa_l) has the density sum_m dim_m A_m(kappa_k) A_m(kappa_l) P_m(mu_k . mu_l)
P_m(t) with respect to a uniform pair. P_m is the Gegenbauer polynomial with P_m(1) = 1 and A_m a ratio of
Bessel functions.
"""

import math
from collections.abc import Iterator

import numpy as np
from numba import njit
from scipy.special import betainc

EXTENDED = np.longdouble
BLOCK = 512
SAFETY = 30
TAIL = 8
LEFT_OUT = 2.0  # in place of a cosine
FORGETTING = 45  # each step shrinks the error of the start by exp(-2 order / kappa): together by exp(-45)


def bessel_ratios(concentration: np.ndarray, dim: int, n_terms: int) -> np.ndarray:
    """A_m(kappa) = I_{p/2-1+m}(kappa) / I_{p/2-1}(kappa) (kappa, m), by a backward continued fraction.

    It starts far enough above the last term for what is wrong with its start to be forgotten.
    """
    order = EXTENDED(dim) / 2 - 1
    kappa = np.asarray(concentration, EXTENDED)
    start = 200 + math.ceil(math.sqrt(n_terms**2 + FORGETTING * float(kappa.max())))
    ratio = kappa / (order + start + np.sqrt((order + start) ** 2 + kappa**2))
    ratios = np.ones((kappa.size, n_terms), EXTENDED)
    for m in range(start - 1, -1, -1):
        ratio = 1 / (2 * (order + m + 1) / kappa + ratio)
        if m + 1 < n_terms:
            ratios[:, m + 1] = ratio
    return np.cumprod(ratios, axis=1).astype(np.float64)


@njit(nogil=True, fastmath=True, cache=True)
def _add_block(cosine, left, right, dim, only_above, total) -> None:
    """Add sum_kl left[m, k] right[m, l] P_m(cosine[k, l]) to total[0, m], and the same of |P_m| to row 1.

    `only_above` takes l > k alone: a block on the diagonal. A pair whose cosine is LEFT_OUT adds nothing.
    """
    n_terms, n_columns = total.shape[1], cosine.shape[1]
    before, now = np.empty(n_columns), np.empty(n_columns)
    for k in range(cosine.shape[0]):
        first = k + 1 if only_above else 0
        before[:] = 0.0
        for column in range(n_columns):
            now[column] = 0.0 if cosine[k, column] == LEFT_OUT else 1.0
        for m in range(n_terms):
            part, size = 0.0, 0.0
            for column in range(first, n_columns):
                part += right[m, column] * now[column]
                size += right[m, column] * abs(now[column])
            total[0, m] += left[m, k] * part
            total[1, m] += left[m, k] * size
            grow = (2 * m + dim - 2) / (m + dim - 2)
            fall = m / (m + dim - 2)
            for column in range(first, n_columns):
                after = grow * cosine[k, column] * now[column] - fall * before[column]
                before[column] = now[column]
                now[column] = after


def mean_resultants(concentration: np.ndarray, dim: int) -> np.ndarray:
    """A_1(kappa), the length of the mean of vMF(mu, kappa), for concentrations (K,)."""
    return bessel_ratios(concentration, dim, 2)[:, 1]


def pair_coefficients(left: tuple, right: tuple | None, n_terms: int, limit: float = np.inf) -> np.ndarray:
    """Weighted mean over identity pairs of A_m(kappa_k) A_m(kappa_l) P_m(mu_k . mu_l), shape (2, m).

    Row 1 holds the same with |P_m|: the size of what row 0 sums, which says how much rounding row 0 carries.
    left, right: (directions (K, p), concentrations (K,), weights (K,)); right None means pairs within left, k
    < l. Pairs whose mean score A_1(kappa_k) A_1(kappa_l) mu_k . mu_l exceeds the limit add nothing.
    """
    within = right is None
    right = left if within else right
    dim = left[0].shape[1]
    sides = [
        (mean, np.ascontiguousarray((bessel_ratios(kappa, dim, n_terms) * weight[:, None]).T))
        for mean, kappa, weight in (left, right)
    ]
    lengths = [mean_resultants(kappa, dim) for _, kappa, _ in (left, right)]
    total = np.zeros((2, n_terms))
    for i in range(0, len(left[0]), BLOCK):
        for j in range(i if within else 0, len(right[0]), BLOCK):
            rows, columns = slice(i, i + BLOCK), slice(j, j + BLOCK)
            cosine = sides[0][0][rows] @ sides[1][0][columns].T
            cosine[cosine * lengths[0][rows, None] * lengths[1][columns] > limit] = LEFT_OUT
            ratios = [np.ascontiguousarray(side[1][:, part]) for side, part in zip(sides, (rows, columns))]
            _add_block(cosine, *ratios, dim, within and i == j, total)
    return total / pair_weight(left[2], None if within else right[2])


def pair_weight(left: np.ndarray, right: np.ndarray | None) -> float:
    """Total weight of the identity pairs: sum over k < l of w_k w_l, or over all k, l of two sides."""
    if right is None:
        return float((left.sum() ** 2 - (left**2).sum()) / 2)
    return float(left.sum() * right.sum())


def survival_terms(threshold: np.ndarray, dim: int, n_terms: int) -> Iterator[np.ndarray]:
    """Yield the functions T_m(t) with P(score > t) = sum_m c_m T_m(t), in the machine's extended precision.

    T_0 is the tail of one coordinate of a uniform point; T_m is 2 (m + a) / (m (m + 2a)) w(t) C_{m-1}(t) with
    a = p/2 - 1, w(t) that coordinate's density times (1 - t^2), C the Gegenbauer polynomial of parameter a +
    1. The recurrence of C starts at w(t) instead of 1, so that nothing overflows.
    """
    t = np.asarray(threshold, EXTENDED)
    order = EXTENDED(dim) / 2 - 1
    log_norm = 0.5 * math.log(math.pi) + math.lgamma(dim / 2 - 0.5) - math.lgamma(dim / 2)
    yield betainc(dim / 2 - 0.5, dim / 2 - 0.5, (1 - np.asarray(threshold)) / 2).astype(EXTENDED)
    with np.errstate(divide="ignore", under="ignore"):
        now = np.exp((order + EXTENDED(0.5)) * (np.log1p(-t) + np.log1p(t)) - EXTENDED(log_norm))
    before = np.zeros_like(now)
    for m in range(1, n_terms):
        yield 2 * (m + order) / (m * (m + 2 * order)) * now
        before, now = now, (2 * (m + order) * t * now - (m + 2 * order) * before) / m


def survival(threshold: np.ndarray, dim: int, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P(score > t) from `pair_coefficients`, and a bound on its absolute error, shaped like threshold.

    The bound is 30 eps times the sum of the terms' sizes (sizes with |P_m|, because P_m of many pairs cancels
    in c_m itself and the rounding does not), plus eight times the largest of the last eight terms for the cut
    tail.
    """
    n_terms = coefficients.shape[1]
    total = np.zeros(np.shape(threshold), EXTENDED)
    size, last = np.zeros_like(total), np.zeros_like(total)
    for m, function in enumerate(survival_terms(threshold, dim, n_terms)):
        total += coefficients[0, m] * function
        term_size = coefficients[1, m] * np.abs(function)
        size += term_size
        if m >= n_terms - TAIL:
            last = np.maximum(last, term_size)
    bound = SAFETY * np.finfo(np.float64).eps * size + TAIL * last
    return total.astype(np.float64), bound.astype(np.float64)
