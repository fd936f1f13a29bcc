"""The law of an error rate: a shifted gamma law with the third cumulant, and Satterthwaite's t for its variance.

A rate's variance is itself estimated: its noise gives degrees of freedom (Satterthwaite 1946), and quantiles are read
at the heights of a t law. Where the threshold is found at a FAR level, its own gamma law goes through the curve.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, gammainccinv, gammaincinv, logit, ndtr, ndtri, stdtrit

FEWEST_DF = 3.0
HIGHEST = 30.0  # normal height, beyond which a tail is no number any more
EPSILON = np.finfo(float).eps
TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class Move:
    """The threshold of a FAR level as part of every rate's error.

    setter: entry of the FAR that sets it. odds: (rate,) derivative of each rate's log odds by the log of that FAR.
    together: (rate,) correlation of each rate's error with that of the FAR, both at a fixed threshold.
    """

    setter: int
    odds: np.ndarray
    together: np.ndarray


@dataclass(frozen=True, eq=False)
class Law:
    """The joint law of several rates: mean, covariance, and the shape of each rate's own law, all (rate,) but two.

    covariance: (rate, rate). influence: (unit, rate), units being images or people. own: variance at a fixed
    threshold, to which the rest belongs. skewness: third over second cumulant. least: the weight of the smallest
    error. none: that of an error where there is none. df: degrees of freedom of the estimated variance. move: of the
    threshold, None where it is given.
    """

    rate: np.ndarray
    covariance: np.ndarray
    influence: np.ndarray
    own: np.ndarray
    skewness: np.ndarray
    least: np.ndarray
    none: np.ndarray
    df: np.ndarray
    move: Move | None = None

    def event(self, entry: int) -> float:
        """Weight of a typical error, or of a typical non-error where these are the rarer."""
        rate, mirrored = self.rate[entry], self.rate[entry] > 0.5
        if rate <= 0 or rate >= 1:
            return self.none[entry]
        return max(-self.skewness[entry] if mirrored else self.skewness[entry], self.least[entry])

    def quantiles(self, probability: np.ndarray, entry: int) -> np.ndarray:
        """Quantiles of one rate: at its fixed threshold, and of what the threshold's own error makes of it, together.

        The threshold is where the data's FAR is the level; the true FAR there has a law of its own, which the curve
        turns into a law of the rate. Distances from the medians of both are added as those of correlated normal laws
        (Zou & Donner 2008: exact for these, and each law keeps its own shape).
        """
        probability = np.asarray(probability, float)
        with_median = np.append(probability, 0.5)
        at_fixed = self.at_fixed_threshold(with_median, entry)
        if self.move is None:
            return at_fixed[:-1].reshape(probability.shape)
        setter, odds = self.move.setter, self.move.odds[entry]
        there = self.at_fixed_threshold(with_median if odds < 0 else 1 - with_median, setter, events=1.0)
        away = np.log(np.maximum(there, TINY) / self.rate[setter])  # true FAR over the level
        moved = expit(logit(np.clip(at_fixed[-1], TINY, 1 - EPSILON)) - odds * away)
        own, other = at_fixed - at_fixed[-1], moved - moved[-1]
        both = own**2 + other**2 - 2 * np.sign(odds) * self.move.together[entry] * own * other
        least = self.event(entry) ** 2 / 2 * ndtri(with_median) ** 2  # half an event is never taken back
        return (moved[-1] + np.sign(own) * np.sqrt(np.maximum(both, least)))[:-1].reshape(probability.shape)

    def at_fixed_threshold(self, probability: np.ndarray, entry: int, events: float = 0.5) -> np.ndarray:
        """Quantiles of one rate: a shifted gamma law with half an event added, so that no error leaves [0, above 0].

        Half an event is added to the mean, and half its square to the variance (as Jeffreys does for counts); a whole
        one (events) for the FAR of a threshold that was found: it is one of the scores, the next that would be
        accepted. The third cumulant is the errors' own. Rates above one half are read from the other side.
        """
        mirrored, rate = self.rate[entry] > 0.5, self.rate[entry]
        if mirrored:
            rate, probability = 1 - rate, 1 - probability
        event = self.event(entry)
        mean, variance = rate + events * event, max(self.own[entry], 0.0) + events * event**2
        if not variance > 0:  # a group without pairs
            return np.full(probability.shape, np.nan)
        scale = max(event, 1e-4 * np.sqrt(variance), variance / mean if events == 1 else 0)  # then it begins at 0
        height = np.clip(stdtrit(self.df[entry], probability), -HIGHEST, HIGHEST)
        tail, shape = ndtr(-np.abs(height)), variance / scale**2
        beyond = np.where(height < 0, gammaincinv(shape, tail), gammainccinv(shape, tail))
        found = mean - variance / scale + scale * beyond
        return 1 - found if mirrored else found


def skewness_and_noise(influence: np.ndarray, explained: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Of influences (unit, rate) the third over the second cumulant, which is the weight of one typical event, and the
    relative variance of their sum of squares: the fourth powers, less what the rate itself explains (or part of it)."""
    square = influence**2  # products of it take a tenth of the time of other powers
    second, third, fourth = (part.sum(0) for part in (square, square * influence, square**2))
    unexplained = fourth - explained * third**2 / np.maximum(second, TINY)
    noise = np.divide(unexplained, second**2, out=np.zeros(len(second)), where=second > 0)
    return third / np.maximum(second, TINY), noise
