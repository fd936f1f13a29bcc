"""The Gegenbauer series of impostor scores: its coefficients, its sum and a bound on the error."""

import numpy as np

from frkit.vmf.densities import bessel_ratios, log_uniform, uniform_tail

EXTENDED = np.longdouble
EPSILON = np.finfo(np.float64).eps
SAFETY = 30  # rounding errors allowed for each term
TAIL = 8  # last terms, which bound those that are cut off
BLOCK = 512  # identities on each side of a block of pairs


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
    for i in range(0, n_identities, BLOCK):
        rows = slice(i, i + BLOCK)
        for j in range(i, n_identities, BLOCK):
            columns = slice(j, j + BLOCK)
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
