"""How much FRR and FAR vary with the images of the same identities, from counts of pairs.

The indicator of a pair of images splits into a mean, a part of either image and a part of the pair alone (Hoeffding).
Resampling images repeats the parts of the images once, but the part of the pair three times: as itself, and once more
through either image. So replicates spread too widely where pairs are nearly independent; the variances here count
each part once.
"""

from dataclasses import dataclass, replace

import numpy as np

from frkit.cohort import Cohort
from frkit.sweep.design import Design
from frkit.sweep.resolve import Genuine, Impostors

ENOUGH = 30  # identities of four images or more, from which those of two or three borrow


@dataclass(frozen=True, eq=False)
class Spread:
    """What the corrected interval reads: variances over draws of images, and how the thresholds move the rates.

    far_variance, frr_variance: (level,) at the data's own threshold. far_data, frr_data: (column, level) rates of the
    data at each replicate's threshold; None at fixed thresholds.
    """

    far_variance: np.ndarray
    frr_variance: np.ndarray
    far_data: np.ndarray | None
    frr_data: np.ndarray | None


def spread_of(who: Cohort, impostors: Impostors, genuine: Genuine, thresholds: np.ndarray, far, fixed: bool):
    """The Spread of the image scheme on a square of scores; None elsewhere. thresholds, far: (column, level)."""
    if not (who.diagonal and who.design.symmetric and np.all(who.identity_count == 1) and len(thresholds) > 2):
        return None
    data = (None, None) if fixed else rates_of_data(impostors, genuine, thresholds)
    spread = (far if fixed else data[0])[1:].var(0, ddof=1)
    of_impostors = impostor_variance(who.design, far[0], spread)
    return Spread(of_impostors, genuine_variance(genuine, who.design.probe.identity, thresholds[0]), *data)


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

    If r of m pairs of an identity are rejected, Var r = E[r] + E[s] - (m + M) θ²: s of M couples of pairs that share
    an image are both rejected, and θ² is the mean over the couples that share none. This is without bias. Identities
    of two or three images have no such couples and borrow θ² from at least 30 others. Else no data tell it: between
    FRR² and s / M it may be anything. Three images take the middle, two FRR²: too wide where identities differ much.
    """
    own = genuine.pairs[1] >= 0
    score, row, col, of_pair, _, factor = (part[own] for part in genuine.pairs)
    every = Couples.count(row, col, of_pair, identity)
    weight = np.zeros(len(every.pairs))
    weight[of_pair] = factor / genuine.totals[:, 0].sum()
    out = []
    for last in np.searchsorted(score, thresholds, side="right"):
        lost = Couples.count(row[:last], col[:last], of_pair[:last], identity)
        squared = _squared_rate(every, lost, float(weight @ lost.pairs))
        variance = lost.pairs + lost.sharing - (every.pairs + every.sharing) * squared
        out.append(max(float(weight**2 @ variance), 0.0))
    return np.array(out)


def _squared_rate(every: Couples, lost: Couples, frr: float) -> np.ndarray:
    """θ² of each identity, without bias where it has couples of pairs apart."""
    known, shared = every.apart > 0, every.sharing > 0
    own = np.divide(lost.apart, every.apart, out=np.zeros(len(known)), where=known)
    if known.sum() >= ENOUGH:
        return np.where(known, own, own[known].mean())
    most = np.divide(lost.sharing, every.sharing, out=np.full(len(known), frr**2), where=shared)
    return np.where(known, own, (most + frr**2) / 2)


def impostor_variance(design: Design, far: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Variance of FAR at each threshold, (level,), over draws of images, from its variance over replicates (level,).

    The replicates have a L + (2a + a²) D, where L is the images' part, D = far (1 - far) Σ w² / (Σ w)² that of the
    pairs (w is the weight of a pair), and a the mean of 1 - 1/n_k, each identity by its part; the data have L + D.
    """
    ones = np.ones((len(design.probe.scale), 1), np.uint8)
    one = replace(design.probe, weight=ones)
    squared = replace(one, scale=one.scale**2)
    total, square = (replace(design, probe=side, reference=side).impostor_totals.sum() for side in (one, squared))
    pairs = far * (1 - far) * square / total**2
    many = np.bincount(design.probe.identity)[design.probe.identity]
    drawn = np.average(1 - 1 / many, weights=design.probe.scale**2)
    images = np.maximum(spread - (2 * drawn + drawn**2) * pairs, 0) / drawn if drawn > 0 else 0 * pairs
    return images + pairs


def rates_of_data(impostors: Impostors, genuine: Genuine, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """FAR and FRR of the data, not of the replicates, at each of the replicates' thresholds: (column, level)."""
    score, factor = impostors.pairs[0], impostors.pairs[4]
    known = np.where(np.isnan(thresholds), np.inf, thresholds)
    accepted = np.searchsorted(-score, -known, side="left")
    run = np.maximum(np.searchsorted(impostors.first, accepted, side="right") - 1, 0)
    running = np.append(0.0, np.cumsum(factor))
    above = impostors.above[run, :, 0].sum(-1) + running[accepted] - running[impostors.first[run]]
    own = genuine.pairs[1] >= 0
    rejected = np.append(0.0, np.cumsum(genuine.pairs[5][own]))
    lost = rejected[np.searchsorted(genuine.pairs[0][own], known, side="right")]
    rates = above / impostors.totals[:, 0].sum(), lost / genuine.totals[:, 0].sum()
    return tuple(np.where(np.isnan(thresholds), np.nan, rate) for rate in rates)
