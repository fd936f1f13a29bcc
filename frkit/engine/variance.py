"""How much FRR and FAR vary with the images of the same identities, from counts of pairs.

The indicator of a pair of images splits into a mean, a part of either image and a part of the pair alone (Hoeffding).
Resampling images repeats the parts of the images once, but the part of the pair three times: as itself, and once more
through either image. So replicates spread too widely where pairs are nearly independent; the variances here count
each part once.
"""

from dataclasses import dataclass, replace

import numpy as np

from frkit.engine.pairs import Genuine
from frkit.engine.protocol import Protocol
from frkit.engine.resolve import Impostors

ENOUGH = 30  # identities of four images or more, which tell θ² for all


def spread_of(
    protocol: Protocol, impostors: Impostors, genuine: Genuine, thresholds: np.ndarray, far, fixed: bool
) -> tuple[dict, dict]:
    """What the corrected interval reads of FAR and FRR: variances, and how the thresholds move the rates.

    thresholds, far: (column, level). Variances over draws of images, (level,), at the data's own threshold; and rates
    of the data at each replicate's threshold, (column, level), unless thresholds are fixed.
    """
    data = {} if fixed else dict(zip(("far", "frr"), rates_of_data(impostors, genuine, thresholds), strict=True))
    spread = data.get("far", far)[1:].var(0, ddof=1)
    of_far = impostor_variance(protocol, far[0], spread)
    of_frr = genuine_variance(genuine, protocol.probe.identity, thresholds[0])
    return {"far": of_far, "frr": of_frr}, data


@dataclass(frozen=True, eq=False)
class Couples:
    """Of each identity, (identity,): its pairs, and ordered couples of pairs that share one image, or none."""

    pairs: np.ndarray
    sharing: np.ndarray
    apart: np.ndarray

    @classmethod
    def count(cls, row: np.ndarray, col: np.ndarray, of_pair: np.ndarray, identity: np.ndarray) -> "Couples":
        """Count them among pairs of images (row, col) of the identities `of_pair`."""
        n = int(identity.max()) + 1
        degree = np.bincount(row, minlength=len(identity)) + np.bincount(col, minlength=len(identity))
        pairs = np.bincount(of_pair, minlength=n).astype(float)
        sharing = np.bincount(identity, degree * (degree - 1.0), minlength=n)
        return cls(pairs, sharing, pairs * (pairs - 1) - sharing)


def genuine_variance(genuine: Genuine, identity: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Variance of FRR at each threshold, (level,), over draws of images; identity: (image,).

    If r of m pairs of an identity are rejected, Var r = m θ + M σ - (m + M) θ²: both of two pairs that share an image
    are rejected with probability σ, both of two apart with θ², and M couples of pairs share one. The means of θ, σ and
    θ² over identities come from their pairs and couples, without bias, and serve all identities: one with two images
    has one pair, which tells nothing of its own variance. Where numbers of images differ, this supposes that they do
    not go with difficulty. Where some have fewer and less than 30 have four images, no data tell θ²: it lies between
    FRR² and σ, and the middle is taken; with two images FRR²: too wide where identities differ much.
    """
    score, row, col, _, factor = genuine.pairs.take(genuine.pairs.row >= 0)
    of_pair = identity[row]
    every = Couples.count(row, col, of_pair, identity)
    weight = np.zeros(len(every.pairs))
    weight[of_pair] = factor / genuine.totals[:, 0].sum()
    out = []
    for last in np.searchsorted(score, thresholds, side="right"):
        lost = Couples.count(row[:last], col[:last], of_pair[:last], identity)
        rate, shared, squared = _mean_rates(every, lost, weight * every.pairs)
        variance = every.pairs * rate + every.sharing * shared - (every.pairs + every.sharing) * squared
        out.append(max(float(weight**2 @ variance), 0.0))
    return np.array(out)


def _mean_rates(every: Couples, lost: Couples, share: np.ndarray) -> tuple[float, float, float]:
    """Means of θ, σ and θ² over identities, each by its share in the FRR."""

    def mean(found: np.ndarray, of: np.ndarray, otherwise: float) -> float:
        known = (of > 0) & (share > 0)
        return np.average(found[known] / of[known], weights=share[known]) if known.any() else otherwise

    rate = mean(lost.pairs, every.pairs, 0.0)
    shared = mean(lost.sharing, every.sharing, rate**2)
    enough = np.count_nonzero(every.apart) >= min(ENOUGH, np.count_nonzero(share))
    return rate, shared, mean(lost.apart, every.apart, 0.0) if enough else (shared + rate**2) / 2


def impostor_variance(protocol: Protocol, far: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Variance of FAR at each threshold, (level,), over draws of images, from its variance over replicates (level,).

    The replicates have a L + (2a + a²) D, where L is the images' part, D = far (1 - far) Σ w² / (Σ w)² that of the
    pairs (w is the weight of a pair), and a the mean of 1 - 1/n_k, each identity by its part; the data have L + D.
    """
    ones = np.ones((len(protocol.probe.scale), 1), np.uint8)
    one = replace(protocol.probe, weight=ones)
    squared = replace(one, scale=one.scale**2)
    total, square = (replace(protocol, probe=side, reference=side).impostor_totals.sum() for side in (one, squared))
    pairs = far * (1 - far) * square / total**2
    many = np.bincount(protocol.probe.identity)[protocol.probe.identity]
    drawn = np.average(1 - 1 / many, weights=protocol.probe.scale**2)
    images = np.maximum(spread - (2 * drawn + drawn**2) * pairs, 0) / drawn if drawn > 0 else 0 * pairs
    return images + pairs


def rates_of_data(impostors: Impostors, genuine: Genuine, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """FAR and FRR of the data, not of the replicates, at each of the replicates' thresholds: (column, level)."""
    score, factor = impostors.pairs.score, impostors.pairs.factor
    known = np.where(np.isnan(thresholds), np.inf, thresholds)
    accepted = np.searchsorted(-score, -known, side="left")
    run = np.maximum(np.searchsorted(impostors.first, accepted, side="right") - 1, 0)
    running = np.append(0.0, np.cumsum(factor))
    above = impostors.above[run, :, 0].sum(-1) + running[accepted] - running[impostors.first[run]]
    own = genuine.pairs.take(genuine.pairs.row >= 0)
    rejected = np.append(0.0, np.cumsum(own.factor))
    lost = rejected[np.searchsorted(own.score, known, side="right")]
    rates = above / impostors.totals[:, 0].sum(), lost / genuine.totals[:, 0].sum()
    return tuple(np.where(np.isnan(thresholds), np.nan, rate) for rate in rates)
