"""Error rates of a population: threshold, FAR, FRR, V-statistic, EER, AUC.

A rate is the weight of the pairs that err over the weight of all. Pairs that err come first, so
that their weight is an entry of a cumulated sum. Accept means score > threshold.
"""

from typing import NamedTuple

import numpy as np

from frkit.base import compiled
from frkit.evaluation.populations import Population, compared_weight

TOLERANCE = 1e-12  # a FAR within this of a level (relatively) does not exceed it


class Weights(NamedTuple):
    """How much pairs weigh: in the data, in the V-statistic, or in a replicate.

    accepted, rejected : (pair + 1,) weight of the first impostor and genuine pairs, from 0 on.
    compared, mated : weight of all impostor and of all genuine pairs.
    """

    accepted: np.ndarray
    rejected: np.ndarray
    compared: float
    mated: float


def weights_of_data(population: Population) -> Weights:
    """Each pair of two images counts once."""
    in_data = population.genuine.number > 0
    accepted = np.append(0.0, np.cumsum(population.impostors.weight))
    rejected = np.append(0.0, np.cumsum(population.genuine.weight * in_data))
    return Weights(accepted, rejected, compared_weight(population), rejected[-1])


def v_statistic(population: Population, of_data: Weights, copies=True) -> Weights:
    """The weights of a mean over all pairs of images, those with themselves too (eq. 19).

    E[w_i w_j] and E[w_i (w_i - 1)] are 1 - 1 / n in replicates that draw n images. FAR has no such
    pairs. Without copies of images in replicates the weights are those of the data.
    """
    if not copies:
        return of_data
    images, genuine = population.design.images, population.genuine
    _, urn, n_images = np.unique(images.urn, return_inverse=True, return_counts=True)
    first, second = (urn[images.image[side]] for side in (genuine.a, genuine.b))
    mean_count = np.where(first == second, 1 - 1 / n_images[first], 1.0)
    rejected = np.append(0.0, np.cumsum(genuine.weight * mean_count))
    return of_data._replace(rejected=rejected, mated=rejected[-1])


def weights_of_replicate(population: Population, image_counts, identity_counts) -> Weights:
    """Images count w_i times, identities c_k times.

    A genuine pair counts c_k w_i w_j times, an image makes c_k w_i (w_i - 1) pairs with its own
    copies, and an impostor pair counts c_k c_l w_i w_j times. image_counts : (row,).
    identity_counts : (identity,).
    """
    impostors, genuine = population.impostors, population.genuine
    own = image_counts.astype(float)
    times = own * identity_counts[population.design.images.identity_code]
    accepted = cumulated(impostors.weight, impostors.a, impostors.b, times)
    second = np.where(genuine.number > 0, own[genuine.b], own[genuine.b] - 1)
    rejected = np.append(0.0, np.cumsum(genuine.weight * times[genuine.a] * second))
    total = accepted[-1]
    if population.design.listed is None:
        total = compared_weight(population, times)
    return Weights(accepted, rejected, total, rejected[-1])


@compiled(nogil=True, boundscheck=False)
def cumulated(weight, a, b, times):
    """Cumulated sum of weight * times[a] * times[b], from 0 on."""
    total = 0.0
    sums = np.zeros(len(weight) + 1)
    for pair in range(len(weight)):
        total += weight[pair] * (times[np.uintp(a[pair])] * times[np.uintp(b[pair])])
        sums[pair + 1] = total
    return sums


# --- rates at thresholds -------------------------------------------------------------------------


def thresholds(population: Population, weights: Weights, far):
    """The threshold at each FAR level: inf {t : FAR(t) <= level} (D.1).

    It is the smallest observed impostor score at which the FAR does not exceed the level: from the
    highest score down, the first one with which the weight of the accepted pairs would exceed its
    share. Where it never does, it is the lowest score that counts; NaN where none does.
    """
    scores = population.impostors.score
    if not weights.accepted[-1] > 0:
        return np.full(len(far), np.nan)
    allowed = np.asarray(far) * weights.compared * (1 + TOLERANCE)
    n_accepted = np.searchsorted(weights.accepted[1:], allowed, side="right")
    lowest = np.searchsorted(weights.accepted[1:], weights.accepted[-1], side="left")
    return scores[np.minimum(n_accepted, lowest)].astype(float)


def far(population: Population, weights: Weights, thresholds):
    """FAR: the mean over couples of people of the share of their pairs with score > t (eq. 2)."""
    n_accepted = number_accepted(population, thresholds)
    # thinned pairs represent others: their sum may exceed that of all pairs
    rate = np.minimum(ratio(weights.accepted[n_accepted], weights.compared), 1)
    return np.where(np.isnan(thresholds), np.nan, rate)


def frr(population: Population, weights: Weights, thresholds):
    """FRR: the mean over identities of the share of their pairs with score <= t (eq. 3)."""
    n_rejected = number_rejected(population, thresholds)
    rate = ratio(weights.rejected[n_rejected], weights.mated)
    return np.where(np.isnan(thresholds), np.nan, rate)


def number_accepted(population: Population, thresholds):
    """How many impostor pairs are accepted at thresholds, and come first."""
    rising = population.impostors.score[::-1]
    return len(rising) - np.searchsorted(rising, _in_precision_of(rising, thresholds), "right")


def number_rejected(population: Population, thresholds):
    """How many genuine pairs are rejected at thresholds, and come first."""
    scores = population.genuine.score
    return np.searchsorted(scores, _in_precision_of(scores, thresholds), "right")


def _in_precision_of(scores, thresholds):
    """Thresholds in the precision of scores, rounded down: the same scores lie above them."""
    rounded = np.asarray(thresholds).astype(scores.dtype)
    lower = np.nextafter(rounded, scores.dtype.type(-np.inf))
    return np.where(rounded > thresholds, lower, rounded)


def ratio(weight, total):
    """Weight / total, NaN where there is nothing to divide by."""
    weight, total = np.broadcast_arrays(weight, total)
    unknown = np.full(weight.shape, np.nan)
    return np.divide(weight, total, out=unknown, where=total > 0)


def error_counts(population: Population, thresholds):
    """Numbers of accepted impostor pairs and of rejected genuine pairs."""
    accepted = np.append(0, np.cumsum(population.impostors.number, dtype=float))
    rejected = np.append(0, np.cumsum(population.genuine.number, dtype=float))
    numbers = (
        accepted[number_accepted(population, thresholds)],
        rejected[number_rejected(population, thresholds)],
    )
    return [np.round(number).astype(int) for number in numbers]


def thinning_error(population: Population, thresholds):
    """Relative standard error of the FAR at thresholds, because pairs were thinned.

    A pair that stands for s pairs was kept with probability 1 / s: of its weight s m the variance
    is s (s - 1) m².
    """
    impostors = population.impostors
    variance = np.append(0, np.cumsum(impostors.weight**2 * (1 - 1 / impostors.number)))
    accepted = np.append(0, np.cumsum(impostors.weight))
    n_accepted = number_accepted(population, thresholds)
    return np.nan_to_num(ratio(np.sqrt(variance[n_accepted]), accepted[n_accepted]))


# --- EER and AUC ---------------------------------------------------------------------------------


def eer(population: Population, weights: Weights):
    """EER and its threshold: the smallest observed score at which FRR >= FAR.

    The EER lies on the line from the rates just below that score to the rates at it.
    """
    if not weights.compared * weights.mated > 0:
        return np.nan, np.nan
    ascending, rising = population.impostors.score[::-1], population.genuine.score
    at = np.inf
    for scores in (ascending, rising):
        at = min(at, first_crossed(scores, ascending, rising, *weights))
    at_in_precision = scores.dtype.type(at)  # other precisions would copy all scores

    def rates(side):
        """FAR and FRR at the score (right), and just below it (left)."""
        n_accepted = len(ascending) - np.searchsorted(ascending, at_in_precision, side)
        n_rejected = np.searchsorted(rising, at_in_precision, side)
        accepted, rejected = weights.accepted[n_accepted], weights.rejected[n_rejected]
        return accepted / weights.compared, rejected / weights.mated

    (far_at, frr_at), (far_below, frr_below) = rates("right"), rates("left")
    rise = (frr_at - far_at) - (frr_below - far_below)
    share = (far_below - frr_below) / rise if rise > 0 else 0.0
    result = far_below + share * (far_at - far_below)
    return (0.0 if abs(result) < TOLERANCE else result), at


@compiled(nogil=True)
def first_crossed(scores, ascending, rising, accepted, rejected, compared, mated):
    """The smallest of rising scores at which FRR >= FAR; infinity where there is none.

    ascending, rising : scores of impostor and of genuine pairs. accepted ... : of `Weights`.
    """
    low, high = 0, len(scores)
    while low < high:
        middle = (low + high) // 2
        n_accepted = len(ascending) - np.searchsorted(ascending, scores[middle], "right")
        n_rejected = np.searchsorted(rising, scores[middle], "right")
        if rejected[n_rejected] / mated - accepted[n_accepted] / compared >= -TOLERANCE:
            high = middle
        else:
            low = middle + 1
    return np.float64(scores[low]) if low < len(scores) else np.inf


def auc(population: Population, weights: Weights):
    """AUC: the share of impostor and genuine pairs, by weight, in order; equal scores count half.

    NaN where one kind is missing.
    """
    _, _, lost = losses(population, weights)
    return 1 - lost


def losses(population: Population, weights: Weights):
    """What pairs add to 1 - AUC: (pair,) weights of impostor and genuine pairs; and 1 - AUC.

    An impostor pair counts the share of genuine weight below it, a genuine pair the share of
    impostor weight above it, and half of what has the same score.
    """
    impostor, genuine = population.impostors.score, population.genuine.score
    below = _share_before(genuine, weights.rejected, impostor)
    above = _share_before(-impostor, weights.accepted, -genuine)
    lost = above * np.diff(weights.rejected)
    return below * np.diff(weights.accepted), lost, float(ratio(lost.sum(), weights.mated))


def _share_before(rising, so_far, scores):
    """The share of weight before each of some scores, with half of that at the score."""
    first, last = (so_far[np.searchsorted(rising, scores, side)] for side in ("left", "right"))
    return ratio((first + last) / 2, so_far[-1])


# --- whole distributions -------------------------------------------------------------------------


def moments_and_histogram(population: Population, weights: Weights, kind: str, edges):
    """Weight of the pairs of a kind, mean, sd (ddof 0) and histogram (bin,) of their scores.

    kind : "genuine" or "impostor". As in NumPy a bin contains its lower edge, the last one both.
    The weight is that of all pairs, those that thinned ones represent included.
    """
    if kind == "genuine":
        scores, sums, total = population.genuine.score, weights.rejected, weights.mated
        ends = np.searchsorted(scores, edges[1:-1], "left")
    else:
        scores, sums, total = population.impostors.score, weights.accepted, weights.compared
        ends = len(scores) - np.searchsorted(scores[::-1], edges[-2:0:-1], "left")
    in_bins = np.diff(sums[np.concatenate([[0], ends, [len(scores)]])])
    kept = sums[-1]
    weight = np.diff(sums)
    middle = float(scores.mean()) if len(scores) else 0.0  # so that squares lose no digits
    distance = scores.astype(float) - middle
    first = ratio(weight @ distance, kept)
    variance = np.maximum(ratio(weight @ distance**2, kept) - first**2, 0)
    histogram = ratio(in_bins if kind == "genuine" else in_bins[::-1], kept)
    return total, middle + first, np.sqrt(variance), histogram
