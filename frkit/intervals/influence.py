"""Intervals without replicates: the joint law of all rates at a threshold, from what each image adds to them.

An error rate is a mean over pairs of images. Its influence says what one image, or one person, adds to it; its
variance over new images of these people, or over new people, is the sum of the squared influences, less the noise of
single pairs, which that sum counts twice. The threshold moves with the impostors, so that its own influence, times the
slope of the curve, is part of every rate's. Group rates, differences of models and every measure of rates then have a
joint law without another look at the scores.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammainccinv, gammaincinv, ndtr, stdtrit

ENOUGH = 30  # people of four images or more, which tell the square of a person's own rate
HALF_WINDOW = 0.5  # of log FAR, over which the slope of the curve is taken, at least
FEWEST_DF = 3.0
HIGHEST = 30.0  # normal height, beyond which a tail is no number any more
TINY = np.finfo(float).tiny
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


@dataclass(frozen=True, eq=False)
class Law:
    """The joint law of several rates: mean, covariance, and the shape of each rate's own law, all (rate,) but two.

    covariance: (rate, rate). influence: (unit, rate), units being images or people. own: variance at a fixed
    threshold, to which the skewness belongs. skewness: third over second cumulant there. least: the weight of the
    smallest error. none: that of an error where there is none. df: degrees of freedom of the estimated variance.
    """

    rate: np.ndarray
    covariance: np.ndarray
    influence: np.ndarray
    own: np.ndarray
    skewness: np.ndarray
    least: np.ndarray
    none: np.ndarray
    df: np.ndarray

    def event(self, entry: int) -> float:
        """Weight of a typical error, or of a typical non-error where these are the rarer."""
        rate, mirrored = self.rate[entry], self.rate[entry] > 0.5
        if rate <= 0 or rate >= 1:
            return self.none[entry]
        return max(-self.skewness[entry] if mirrored else self.skewness[entry], self.least[entry])

    def quantiles(self, probability: np.ndarray, entry: int) -> np.ndarray:
        """Quantiles of one rate: a shifted gamma law with half an event added, so that no error leaves [0, above 0].

        Half an event is added to the mean, and half its square to the variance (as Jeffreys does for counts); the
        third cumulant comes from the errors' own part. Rates above one half are read from the other side.
        """
        probability, mirrored = np.asarray(probability, float), self.rate[entry] > 0.5
        rate = self.rate[entry]
        if mirrored:
            rate, probability = 1 - rate, 1 - probability
        event = self.event(entry)
        variance = max(self.covariance[entry, entry], 0.0) + event**2 / 2
        if not variance > 0:  # a group without pairs
            return np.full(probability.shape, np.nan)
        # where the threshold takes most of the errors' own part back, as in a group with most of all accepted pairs,
        # their skewness goes with it
        third = event * min(self.own[entry], max(self.covariance[entry, entry], 0.0)) + event**3 / 2
        scale = max(third / variance, 1e-4 * np.sqrt(variance))
        height = np.clip(stdtrit(self.df[entry], probability), -HIGHEST, HIGHEST)
        tail, shape = ndtr(-np.abs(height)), variance / scale**2
        beyond = np.where(height < 0, gammaincinv(shape, tail), gammainccinv(shape, tail))
        found = rate + event / 2 - variance / scale + scale * beyond
        return 1 - found if mirrored else found

    def ends(self, probabilities: np.ndarray, entry: int) -> np.ndarray:
        """Quantiles of one rate as the ends of its interval, within [0, 1]: one without an error reaches down to 0,
        without any other up to 1."""
        lower, upper = np.clip(self.quantiles(probabilities, entry), 0, 1)
        return np.array([0.0 if self.rate[entry] <= 0 else lower, 1.0 if self.rate[entry] >= 1 else upper])

    def scaled(self, factor: float, rate: float, entry: int) -> "Law":
        """The same with one rate moved to a value and its spread multiplied by a factor."""
        by = np.ones(len(self.rate))
        by[entry] = factor
        moved = np.where(np.arange(len(by)) == entry, rate, self.rate)
        errors = (part * by for part in (self.skewness, self.least, self.none))
        return Law(moved, self.covariance * np.outer(by, by), self.influence * by, self.own * by**2, *errors, self.df)


def law_of(
    sums: Sums, masks: np.ndarray, groups: np.ndarray, slopes, alpha: float | None, target: str, setter: int = 0
) -> Law:
    """The joint law of FARs (masks), then FRRs (groups), at a threshold.

    masks: (rate, group, group) which pairs of groups enter each FAR. groups: (rate, group) which groups enter each FRR.
    alpha: the FAR that sets the threshold, None for a fixed one; setter: which of the masks it belongs to. slopes:
    function of a half-width in log FAR to the derivatives (rate,) of all rates by the log of that FAR.
    """
    far, frr = _impostor_part(sums, masks, target), _genuine_part(sums, groups, target)
    influence = np.concatenate([far.influence, frr.influence], 1)
    cross = far.influence.T @ frr.influence
    covariance = np.block([[far.covariance, cross], [cross.T, frr.covariance]])
    rate, own, skewness, least, none, noise = (
        np.concatenate([getattr(far, name), getattr(frr, name)])
        for name in ("rate", "own", "skewness", "least", "none", "noise")
    )
    noise = noise * own**2
    if alpha is not None:
        spread = np.sqrt(covariance[setter, setter]) / alpha  # of the log of FAR at a fixed threshold
        move = np.eye(len(rate))
        move[:, setter] -= slopes(max(HALF_WINDOW, 2 * spread)) / alpha
        influence, covariance = influence @ move.T, move @ covariance @ move.T
        noise = noise + noise[setter] * move[:, setter] ** 4 * (np.arange(len(rate)) != setter)
    variance = np.maximum(np.diag(covariance), 0)
    df = np.divide(2 * variance**2, noise, out=np.full(len(rate), np.inf), where=noise > 0)
    return Law(rate, covariance, influence, own, skewness, least, none, np.maximum(df, FEWEST_DF))


@dataclass(frozen=True, eq=False)
class _Part:
    """Rates of one kind at a fixed threshold, as in `Law`; noise: relative variance of each estimated variance."""

    rate: np.ndarray
    covariance: np.ndarray
    influence: np.ndarray
    skewness: np.ndarray
    least: np.ndarray
    none: np.ndarray
    noise: np.ndarray

    @property
    def own(self) -> np.ndarray:
        """The variances."""
        return np.diag(self.covariance)


def _impostor_part(sums: Sums, masks: np.ndarray, target: str) -> _Part:
    """FAR of every mask. Influences count the noise of single pairs (of people) twice: once is taken off."""
    entering = masks[:, sums.group]  # (rate, image, partner's group)
    accepted, compared = (np.einsum("rig,ig->ir", entering, part) for part in (sums.accepted, sums.compared))
    total = compared.sum(0) / 2  # every pair stands with both of its images
    rate = _ratio(accepted.sum(0) / 2, total)
    excess = _ratio(accepted - rate * compared, total)
    scaled = _ratio(np.triu(np.ones(masks.shape[1:])) * masks, total[:, None, None])
    single = np.einsum("rgh,gh->r", scaled**2, sums.square)  # Σw² of weights that sum to 1: a typical weight
    if target == THESE_PEOPLE:
        influence = _centred(excess, sums)
        share = _between_groups(sums.accepted, sums) / np.maximum(_between_groups(sums.compared, sums), TINY)
        noise = share * (1 - share) * sums.square
    else:
        influence = _grown(_by_person(excess, sums), _by_person(compared, sums) > 0)
        noise = sums.blocks
    pairs = np.einsum("agh,bgh,gh->ab", scaled, scaled, noise)
    covariance = influence.T @ influence - pairs
    np.fill_diagonal(covariance, np.maximum(np.diag(covariance), np.diag(pairs)))
    return _Part(rate, covariance, influence, _skewness(influence), single, single, _noise(influence))


@dataclass(frozen=True, eq=False)
class _Genuine:
    """Genuine pairs of each person, as they enter each FRR: (person, rate).

    mass: share of the rate's weight. pairs, rejected: numbers of pairs. share: of the pairs that are rejected.
    """

    mass: np.ndarray
    pairs: np.ndarray
    rejected: np.ndarray

    @classmethod
    def of(cls, sums: Sums, groups: np.ndarray) -> "_Genuine":
        """From the sums; a pair stands with both of its images."""
        entering = groups[:, sums.group].T
        rejected, pairs = (_by_person(part[:, None] * entering, sums) / 2 for part in (sums.rejected, sums.genuine))
        mass = sums.pair_weight[:, None] * pairs
        return cls(_ratio(mass, mass.sum(0)), pairs, rejected)

    @property
    def share(self) -> np.ndarray:
        """Share of each person's pairs that is rejected."""
        return _ratio(self.rejected, self.pairs)

    @property
    def single(self) -> np.ndarray:
        """Weight of a typical pair, (rate,)."""
        return _typical(_ratio(self.mass, self.pairs))

    @property
    def typical_pairs(self) -> np.ndarray:
        """Number of pairs of a typical person, (rate,)."""
        return _typical(self.pairs)


def _genuine_part(sums: Sums, groups: np.ndarray, target: str) -> _Part:
    """FRR of every set of groups: a mean over people of the share of each one's pairs that is rejected."""
    found = _Genuine.of(sums, groups)
    rate = (found.share * found.mass).sum(0)
    if target == THESE_PEOPLE:
        return _of_images(sums, found, rate)
    influence = _grown(found.mass * (found.share - rate), found.mass > 0)
    # errors come in a few people: an unseen one weighs more than a pair (the root of a person's pairs), and half of
    # what the skewness explains of the fourth powers is counted as noise, because the worst people may be unseen
    several = found.single * np.sqrt(found.typical_pairs)
    noise = _noise(influence, explained=0.5)
    return _Part(rate, influence.T @ influence, influence, _skewness(influence), found.single, several, noise)


def rejected_shares(sums: Sums, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weight of each person, in the group it belongs to, and the share of its pairs that is rejected.

    groups: as for `law_of`, all together first.
    """
    found = _Genuine.of(sums, groups)
    return found.mass[:, :1] * (found.mass[:, 1:] > 0), found.share[:, 0]


def _of_images(sums: Sums, found: _Genuine, rate: np.ndarray) -> _Part:
    """FRR of these people over new images of them: variances from counts of pairs, influences from the images."""
    images = sums.images[sums.person]
    beyond = _ratio(sums.rejected, sums.genuine)[:, None] - found.share[sums.person]
    # 2 for the two images of a pair; (n - 1) / (n - 2) because the mean of a person holds the image's own pairs
    projection = 2 * found.mass[sums.person] * beyond * (_ratio(images - 1, images - 2) / images)[:, None]
    influence = projection * np.sqrt(_ratio(images, images - 1))[:, None]
    # two images tell no projection: what rates have in common is then the pairs that each of them rejects
    influence += (found.mass * found.share)[sums.person] * (np.sqrt(_ratio(1, images)) * (images == 2))[:, None]
    told = [_deviation(sums, *parts) for parts in zip(found.mass.T, found.pairs.T, found.rejected.T, strict=True)]
    deviation, noise = zip(*told, strict=True)
    spread = found.mass * np.stack(deviation, 1)
    if np.median(images) > 3:
        third = _ratio(images**2, (images - 1) * (images - 2))
        skewness = _ratio((third[:, None] * projection**3).sum(0), (influence**2).sum(0))
        noise = _noise(projection)
    else:  # too few images to see the projections: an event is a person's
        skewness, noise = _skewness(found.mass * found.share), np.array(noise)
    return _Part(rate, spread.T @ spread, influence, skewness, found.single, found.single, noise)


def _deviation(sums: Sums, mass: np.ndarray, pairs: np.ndarray, rejected: np.ndarray) -> tuple[np.ndarray, float]:
    """Standard deviation of each person's share of rejected pairs over new images, and the noise of their sum.

    If r of m pairs are rejected, Var r = m θ + M σ - (m + M) θ²: two pairs that share an image (M couples do) are both
    rejected with probability σ, two apart with θ². Their means over people come from the pairs and couples, without
    bias. θ² is read from few couples: it is lowered by half the noise of its mean (which makes intervals hold where
    few errors are expected). Where few people have four images nothing tells θ² from σ, and the middle is taken.
    """
    images = sums.images.astype(float)
    both = _by_person(sums.rejected * (sums.rejected - 1.0), sums)  # couples of rejected pairs that share an image
    sharing = images * (images - 1) * (images - 2)
    apart, lost_apart = pairs * (pairs - 1) - sharing, rejected * (rejected - 1) - both
    here = (mass > 0) & (pairs > 0)

    def mean(lost: np.ndarray, of: np.ndarray, otherwise: float) -> float:
        known = here & (of > 0)
        return np.average(lost[known] / of[known], weights=mass[known]) if known.any() else otherwise

    rate = mean(rejected, pairs, 0.0)
    shared = mean(both, sharing, rate**2)
    told = here & (apart > 0)
    if np.count_nonzero(told) >= min(ENOUGH, np.count_nonzero(here)):
        squares = lost_apart[told] / apart[told]
        effective = squares.sum() ** 2 / max((squares**2).sum(), TINY)
        squared = mean(lost_apart, apart, 0.0)
        squared = max(squared * (1 - 0.5 / max(effective, 1)), min(squared, rate**2))
    else:
        squared = (shared + rate**2) / 2
    variance = pairs * rate + sharing * shared - (pairs + sharing) * squared
    own = np.where(apart > 0, rejected**2 - lost_apart * _ratio(pairs**2, apart), rejected + both)
    own, share = own * _ratio(mass, pairs) ** 2, _ratio(rejected, pairs) * mass
    explained = (own @ share) ** 2 / max(share @ share, TINY)
    noise = (own @ own - explained) / max(own.sum() ** 2, TINY)
    return np.sqrt(np.maximum(variance, 0)) * _ratio(1.0, pairs), noise


def _centred(values: np.ndarray, sums: Sums) -> np.ndarray:
    """What each image adds beyond the mean of its person, made as large as it is over new images."""
    images = sums.images
    mean = _by_person(values, sums) / np.maximum(images, 1)[:, None]
    return (values - mean[sums.person]) * np.sqrt(_ratio(images, images - 1.0))[sums.person, None]


def _grown(values: np.ndarray, here: np.ndarray) -> np.ndarray:
    """Influences of people, whose sum of squares is then free of bias."""
    many = np.maximum(here.sum(0), 2)
    return values * np.sqrt(many / (many - 1))


def _by_person(values: np.ndarray, sums: Sums) -> np.ndarray:
    """Sums over the images of each person, (person, ...)."""
    out = np.zeros((len(sums.pair_weight), *values.shape[1:]))
    np.add.at(out, sums.person, values)
    return out


def _between_groups(values: np.ndarray, sums: Sums) -> np.ndarray:
    """(image, group) to (group, group)."""
    out = np.zeros((values.shape[1], values.shape[1]))
    np.add.at(out, sums.group, values)
    return out


def _ratio(over, under) -> np.ndarray:
    """over / under, 0 where nothing is below."""
    over, under = np.broadcast_arrays(np.asarray(over, float), np.asarray(under, float))
    return np.divide(over, under, out=np.zeros(over.shape), where=under > 0)


def _typical(values: np.ndarray) -> np.ndarray:
    """Median of what lies above zero, (rate,)."""
    return np.array([np.median(part[part > 0]) if np.any(part > 0) else 0.0 for part in values.T])


def _skewness(influence: np.ndarray) -> np.ndarray:
    """Third over second cumulant: the weight of one typical event, (rate,)."""
    return (influence**3).sum(0) / np.maximum((influence**2).sum(0), TINY)


def _noise(influence: np.ndarray, explained: float = 1.0) -> np.ndarray:
    """Relative variance of a sum of squares: the fourth powers, less what the rate itself explains (or part of it)."""
    second, third, fourth = ((influence**power).sum(0) for power in (2, 3, 4))
    return _ratio(fourth - explained * _ratio(third**2, second), second**2)
