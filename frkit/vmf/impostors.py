"""Impostor scores of a population: the Gegenbauer series for all pairs, and quadrature for those where it cancels.

A zonal function on the sphere of R^p keeps its shape under convolution: the score <X, Y> of X ~ vMF(mu_k,
kappa_k) and Y ~ vMF(mu_l, kappa_l) has the density sum_m dim_m A_m(kappa_k) A_m(kappa_l) P_m(mu_k . mu_l)
P_m(t) with respect to a uniform pair. P_m is the Gegenbauer polynomial with P_m(1) = 1 and A_m a ratio of
Bessel functions.

The series of a pair loses digits when its directions are close and its concentrations large: at mean score m its terms
outgrow its sum by up to about (1 - m^2)^(-p/4). Such pairs can be left out of the series and integrated one by one
(`closepairs`).
"""

from collections.abc import Iterator

import numpy as np
from scipy.optimize import elementwise
from scipy.special import betainc

from frkit.base import InputError, compiled, require
from frkit.vmf.closepairs import PairScores
from frkit.vmf.densities import bessel_ratios, log_uniform, mean_resultants

EXTENDED = np.longdouble
BLOCK = 512
SAFETY = 30
TAIL = 8
LEFT_OUT = 2.0  # in place of a cosine
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
        return elementwise.find_root(
            lambda t, level: self.survival(t)[0] - level, bracket, args=(far,)
        ).x

    def far(self, threshold: np.ndarray, of: str) -> tuple[np.ndarray, np.ndarray]:
        """FAR and its relative error bound at thresholds; raises InputError where the bound is too large."""
        far, bound = self.survival(threshold)
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(far > 0, bound / far, np.inf)
        worst = int(np.argmax(relative))
        if not relative[worst] <= LARGEST_ERROR:
            what = f"FAR of {of} at threshold {threshold[worst]:.6g}, {far[worst]:.3g} +- {bound[worst]:.3g},"
            whole = "" if of == "all pairs" else ", or leave out by= or cross="
            raise SeriesError(
                f"{what} cannot be trusted: ask for larger FAR levels or lower thresholds{whole}"
            )
        return far, relative


def impostor_scores(sides: list, one_by_one: bool) -> tuple[dict, ImpostorScores]:
    """Impostor scores of every cell {(group, group): scores}, and of all pairs.

    sides: (directions (K, p), concentrations (K,), weights (K,)) of each group. one_by_one: pairs whose own series may
    be further off than 1e-11 are integrated. The identities with the largest concentrations need the most terms of the
    series, so those tell first how many.
    """
    dim = sides[0][0].shape[1]
    # terms outgrow their sum by (1 - m^2)^(-p/4), see above: the mean score m at which that makes rounding PAIR_ERROR
    rounding = SAFETY * np.finfo(float).eps / PAIR_ERROR
    limit = (
        float(np.sqrt(1 - rounding ** (4 / dim))) if one_by_one else np.inf
    )  # mean score above which it is so
    sharpest = [tuple(part[np.argsort(-side[1])[:SAMPLE]] for part in side) for side in sides]
    n_terms = _grown(_pairs_of_sides(sharpest), FIRST_TERMS, limit)[1].shape[1]
    pairs = _pairs_of_sides(sides)
    cells, total = _grown(pairs, n_terms, limit)
    close = {cell: _close_pairs(*two, limit) for cell, two in pairs.items()}
    count = sum(len(weight) for _, _, weight in close.values())
    few = f"{count} pairs of identities are too close for the series of exact rates, and at most {MOST_PAIRS} can be"
    remedy = (
        "ask for larger FAR levels or lower thresholds, or merge identities that are one person"
    )
    require(count <= MOST_PAIRS, f"{few} integrated one by one; {remedy}")
    whole = {cell: pair_weight(*two) for cell, two in pairs.items()}
    scores = {cell: _with_single(cells[cell], [close[cell]], whole[cell], dim) for cell in cells}
    if len(sides) == 1:
        return scores, scores[0, 0]
    return scores, _with_single(total, list(close.values()), sum(whole.values()), dim)


def _grown(pairs: dict, n_terms: int, limit: float) -> tuple[dict, np.ndarray]:
    """Coefficients of cells and of all pairs, with more terms until the last are negligible at every threshold."""
    dim, grid = pairs[0, 0][0][0].shape[1], np.linspace(-0.999, 0.999, 101)
    weight = {cell: pair_weight(*two) for cell, two in pairs.items()}
    while n_terms <= MOST_TERMS:
        cells = {cell: pair_coefficients(*two, n_terms, limit) for cell, two in pairs.items()}
        total = sum(weight[cell] * cells[cell] for cell in cells) / sum(weight.values())
        # what the last terms alone come to is what further ones could add
        ends = total.copy()
        ends[:, :-TAIL] = 0
        if np.max(survival(grid, dim, ends)[1]) < 1e-25:
            return cells, total
        n_terms += n_terms // 2
    remedy = f"the concentrations are too large for dimension {dim}; use smaller concentrations"
    raise SeriesError(f"the impostor series needs more than {MOST_TERMS} terms: {remedy}")


def _pairs_of_sides(sides: list) -> dict:
    """Both sides of every cell (g, h), g <= h; the right one is None within a group."""
    count = range(len(sides))
    return {(g, h): (sides[g], None if g == h else sides[h]) for g in count for h in count[g:]}


def _close_pairs(left: tuple, right: tuple | None, limit: float) -> tuple:
    """Concentrations (n, 2), cosines (n,) and weights (n,) of the pairs whose mean score exceeds the limit."""
    within, right = right is None, right or left
    ours, theirs = (
        side[0] * mean_resultants(side[1], side[0].shape[1])[:, None] for side in (left, right)
    )
    parts = [
        np.argwhere(ours[i : i + BLOCK] @ theirs.T > limit) + [i, 0]
        for i in range(0, len(ours), BLOCK)
    ]
    k, j = np.concatenate(parts).T
    k, j = (k[k < j], j[k < j]) if within else (k, j)
    return (
        np.stack([left[1][k], right[1][j]], 1),
        (left[0][k] * right[0][j]).sum(1),
        left[2][k] * right[2][j],
    )


def _with_single(coefficients: np.ndarray, close: list, whole: float, dim: int) -> ImpostorScores:
    """The series, with quadrature of the close pairs, each with its share of the whole weight."""
    concentrations, cosine, weight = (np.concatenate(part) for part in zip(*close))
    single = PairScores(concentrations, cosine, weight / whole, dim) if len(weight) else None
    return ImpostorScores(dim, coefficients, single)


@compiled(nogil=True, fastmath=True)
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
                # P_(m+1) from P_m and P_(m-1), both at most 1 in size: nothing overflows
                after = grow * cosine[k, column] * now[column] - fall * before[column]
                before[column] = now[column]
                now[column] = after


def pair_coefficients(
    left: tuple, right: tuple | None, n_terms: int, limit: float = np.inf
) -> np.ndarray:
    """Weighted mean over identity pairs of A_m(kappa_k) A_m(kappa_l) P_m(mu_k . mu_l), shape (2, m).

    Row 1 holds the same with |P_m|: the size of what row 0 sums, which says how much rounding row 0 carries.
    left, right: (directions (K, p), concentrations (K,), weights (K,)); right None means pairs within left, k
    < l. Pairs whose mean score A_1(kappa_k) A_1(kappa_l) mu_k . mu_l exceeds the limit add nothing.
    """
    whole, within, right = pair_weight(left, right), right is None, right or left
    dim, total = left[0].shape[1], np.zeros((2, n_terms))
    means, kappas, weights = zip(left, right)
    ratios = [
        (bessel_ratios(kappa, dim, n_terms) * weight[:, None]).T
        for kappa, weight in zip(kappas, weights)
    ]
    lengths = [mean_resultants(kappa, dim) for kappa in kappas]
    for i in range(0, len(left[0]), BLOCK):
        for j in range(i if within else 0, len(right[0]), BLOCK):
            rows, columns = slice(i, i + BLOCK), slice(j, j + BLOCK)
            cosine = means[0][rows] @ means[1][columns].T
            cosine[cosine * lengths[0][rows, None] * lengths[1][columns] > limit] = LEFT_OUT
            parts = [
                np.ascontiguousarray(side[:, part]) for side, part in zip(ratios, (rows, columns))
            ]
            _add_block(cosine, *parts, dim, within and i == j, total)
    return total / whole


def pair_weight(left: tuple, right: tuple | None) -> float:
    """Total weight of the identity pairs: sum over k < l of w_k w_l, or over all k, l of two sides."""
    weight = left[2]
    if right is None:
        return float((weight.sum() ** 2 - (weight**2).sum()) / 2)
    return float(weight.sum() * right[2].sum())


def survival_terms(threshold: np.ndarray, dim: int, n_terms: int) -> Iterator[np.ndarray]:
    """Yield the functions T_m(t) with P(score > t) = sum_m c_m T_m(t), in the machine's extended precision.

    T_0 is the tail of one coordinate of a uniform point; T_m is 2 (m + a) / (m (m + 2a)) w(t) C_{m-1}(t) with
    a = p/2 - 1, w(t) that coordinate's density times (1 - t^2), C the Gegenbauer polynomial of parameter a +
    1. The recurrence of C starts at w(t) instead of 1, so that nothing overflows.
    """
    t = np.asarray(threshold, EXTENDED)
    order = EXTENDED(dim) / 2 - 1
    log_norm = log_uniform(dim)
    yield betainc(dim / 2 - 0.5, dim / 2 - 0.5, (1 - np.asarray(threshold)) / 2).astype(EXTENDED)
    with np.errstate(divide="ignore", under="ignore"):
        # at t = -1 and 1 the logarithm is -inf, and the density 0
        now = np.exp((order + EXTENDED(0.5)) * (np.log1p(-t) + np.log1p(t)) - EXTENDED(log_norm))
    before = np.zeros_like(now)
    for m in range(1, n_terms):
        yield 2 * (m + order) / (m * (m + 2 * order)) * now
        before, now = now, (2 * (m + order) * t * now - (m + 2 * order) * before) / m


def survival(
    threshold: np.ndarray, dim: int, coefficients: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
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
