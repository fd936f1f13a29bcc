"""Intervals without replicates: the joint law of all rates at a threshold, from what each image adds to them.

An error rate is a mean over pairs of images. Its influence says what one image, or one person, adds to it; its
variance over new images of these people, or over new people, is the sum of the squared influences, less the noise of
single pairs, which that sum counts twice. The threshold moves with the impostors, so that its own influence, times the
slope of the curve, is part of every rate's. Group rates, differences of models and every measure of rates then have a
joint law without another look at the scores.
"""

from dataclasses import dataclass, replace

import numpy as np

from frkit.intervals.gamma_satterthwaite import FEWEST_DF, TINY, Law, Move

HALF_WINDOW = 0.5  # of log FAR, over which the slope of the curve is taken, at least
UNSEEN = 3.0  # clumps of errors that are supposed beside those that were seen
FEW = 100  # people of a group; what of their FAR fewer cannot tell is borrowed from all people
THESE_PEOPLE, NEW_PEOPLE = "these people", "new people"


@dataclass(frozen=True, eq=False)
class Sums:
    """What one threshold leaves of all pairs, added up by image.

    accepted, compared: (image, group) weight of the accepted impostor pairs, and of all, with images of each group.
    rejected, genuine: (image,) numbers of rejected genuine pairs, and of all. person, group: (image,) codes; the last
    group means "in no group". square: (group, group) sum of the squared weights of impostor pairs. blocks: (group,
    group) sum over pairs of people of the square of their accepted weight beyond its mean. pair_weight: (person,) that
    of one genuine pair.
    """

    accepted: np.ndarray
    compared: np.ndarray
    rejected: np.ndarray
    genuine: np.ndarray
    person: np.ndarray
    group: np.ndarray
    square: np.ndarray
    blocks: np.ndarray
    pair_weight: np.ndarray

    @property
    def images(self) -> np.ndarray:
        """Number of images of each person, (person,)."""
        return np.bincount(self.person, minlength=len(self.pair_weight))


def law_of(far: "Part", frr: "Part", slopes, alpha: float | None, setter: int = 0) -> Law:
    """The joint law of FARs, then FRRs, at a threshold.

    slopes: function of a half-width in log FAR to the derivatives (rate,) of all rates, and of their log odds, by the
    log of the FAR that sets the threshold. alpha: that FAR, None for a fixed threshold; setter: which of the FARs.
    """
    influence = np.concatenate([far.influence, frr.influence], 1)
    cross = far.influence.T @ frr.influence
    covariance = np.block([[far.covariance, cross], [cross.T, frr.covariance]])
    rate, own, skewness, least, none, noise = (
        np.concatenate([getattr(far, name), getattr(frr, name)])
        for name in ("rate", "own", "skewness", "least", "none", "noise")
    )
    df = np.maximum(np.divide(2.0, noise, out=np.full(len(rate), np.inf), where=noise > 0), FEWEST_DF)
    move = None
    if alpha is not None:
        deviation = np.sqrt(np.maximum(np.diag(covariance), TINY))
        together = np.clip(covariance[setter] / deviation / deviation[setter], -1, 1)
        by_log, odds = slopes(max(HALF_WINDOW, 2 * deviation[setter] / alpha))  # of log FAR
        move = Move(setter, odds, together)
        # where one sample's FAR is too high the threshold found is, too, by as much as takes the FAR back to the level:
        # every rate then errs by its own error less its slope times that of the setting FAR, which errs no more
        moving = np.eye(len(rate))
        moving[:, setter] -= by_log / alpha
        influence, covariance = influence @ moving.T, moving @ covariance @ moving.T
    return Law(rate, covariance, influence, own, skewness, least, none, df, move)


@dataclass(frozen=True, eq=False)
class Part:
    """Rates of one kind at a fixed threshold, as in `Law`; noise: relative variance of each estimated variance.

    clump: the weight of accepted pairs that come together, (rate,): of two people, or of two images. people: how many
    make the rate, (rate,): m within a group, 4 m n / (m + n) between two.
    """

    rate: np.ndarray
    covariance: np.ndarray
    influence: np.ndarray
    skewness: np.ndarray
    least: np.ndarray
    none: np.ndarray
    noise: np.ndarray
    clump: np.ndarray | None = None
    people: np.ndarray | None = None

    @property
    def own(self) -> np.ndarray:
        """The variances."""
        return np.diag(self.covariance)

    def with_clumps(self, known: np.ndarray) -> "Part":
        """The same where few clumps of accepted pairs were seen, and the largest were not: as if UNSEEN more had been.

        known: the weight of a clump where many pairs are accepted; it falls where fewer are, so that the truth lies
        between what is seen here and that. The logarithms of both are averaged, by numbers of clumps; where none was
        seen it is what a pair that nobody has seen would weigh.
        """
        seen = ratio(self.rate, self.clump)  # as many clumps of that weight would make the rate
        # both weights can lie powers of ten apart: their geometric mean is not the larger one's alone
        larger = np.maximum(ratio(known, self.clump), 1) ** ratio(UNSEEN, seen + UNSEEN)
        extra = np.maximum(larger - 1, 0) * self.clump * self.rate
        grown = np.sqrt(1 + ratio(extra, self.own))
        least, clump = np.maximum(self.least, larger * self.clump), np.where(self.rate > 0, self.clump, known)
        covariance = self.covariance * np.outer(grown, grown)
        return replace(self, covariance=covariance, influence=self.influence * grown, least=least, clump=clump)

    def borrowed(self, alike: bool) -> "Part":
        """FARs over new people, of which small groups cannot tell how much theirs vary.

        Few pairs of people look alike, and they make the FAR: among m people are only m (m - 1) / 2. What one person,
        and one clump of accepted pairs, adds is read from all people (the first rate). The variance of a group is its
        own by m / FEW, and for the rest that of so many people like all; so are its clumps, of which a group without an
        accepted pair shows none. alike: its rate, too, is that of all but for m / FEW.
        """
        known = np.append(1, np.minimum(self.people[1:] / FEW, 1))
        # a clump is as many pairs in a group as among all, and weighs more where fewer pairs share the weight of one
        clump = np.minimum(ratio(self.clump[0] * self.none, self.none[0]), 1)
        whole = self.rate[0]
        # of the variance of all what clumps do not make is people's, as a share of the squared rate, times their number
        of_person = ratio(max(self.own[0] - clump[0] * whole, 0) * self.people[0], whole**2)
        rate = np.where(self.rate > 0, self.rate, whole) ** known * whole ** (1 - known) if alike else self.rate
        own = self.own * np.where(self.rate > 0, ratio(rate, self.rate), 1)
        variance = known * own + (1 - known) * (rate**2 * ratio(of_person, self.people) + rate * clump)
        # correlations stay as they were seen: influences grow with the standard deviations
        grown = np.where(self.own > 0, np.sqrt(ratio(variance, self.own)), 1)
        covariance = self.covariance * np.outer(grown, grown)
        np.fill_diagonal(covariance, variance)
        return replace(
            self,
            rate=rate,
            covariance=covariance,
            influence=self.influence * grown,
            skewness=np.where(known < 1, np.maximum(known * self.skewness, 0), self.skewness),
            least=np.maximum(self.least, self.least**known * clump ** (1 - known)),
            none=np.maximum(self.none, clump),
            noise=known * self.noise,
        )


def unbiased(values: np.ndarray, here: np.ndarray) -> np.ndarray:
    """Influences of people, whose sum of squares is then free of bias."""
    many = np.maximum(here.sum(0), 2)
    return values * np.sqrt(many / (many - 1))


def by_person(values: np.ndarray, sums: Sums) -> np.ndarray:
    """Sums over the images of each person, (person, ...)."""
    return summed(values, sums.person, len(sums.pair_weight))


def summed(values: np.ndarray, code: np.ndarray, n: int) -> np.ndarray:
    """Sums over the images of each code, (n, ...), image after image."""
    sums = [np.bincount(code, weights=column, minlength=n) for column in values.reshape(len(values), -1).T]
    return np.stack(sums, 1).reshape(n, *values.shape[1:])


def ratio(over, under) -> np.ndarray:
    """over / under, 0 where nothing is below."""
    over, under = np.broadcast_arrays(np.asarray(over, float), np.asarray(under, float))
    return np.divide(over, under, out=np.zeros(over.shape), where=under > 0)
