"""Intervals without replicates: the joint law of all rates at a threshold, from what each image adds to them.

An error rate is a mean over pairs of images. Its influence says what one image, or one person, adds to it; its
variance over new images of these people, or over new people, is the sum of the squared influences, less the noise of
single pairs, which that sum counts twice. The threshold moves with the impostors, so that its own influence, times the
slope of the curve, is part of every rate's. Group rates, differences of models and every measure of rates then have a
joint law without another look at the scores.
"""

from dataclasses import dataclass, replace

import numpy as np

from frkit.intervals.gamma_satterthwaite import TINY, skewness_and_noise

UNSEEN = 3.0  # clumps of errors that are supposed beside those that were seen
FEW = 100  # people of a group; what of their FAR fewer cannot tell is borrowed from all people
ENOUGH = 30  # people of four images or more, which tell the square of a person's own rate; who show the worst of them
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


# --- FAR: a mean over pairs of people ------------------------------------------------------------------------


def impostor_part(sums: Sums, masks: np.ndarray, target: str) -> Part:
    """FAR of every mask: (rate, group, group) which pairs of groups enter it.

    Influences count the noise of single pairs (of people) twice: once is taken off.
    """
    entering = masks[:, sums.group]  # (rate, image, partner's group)
    accepted, compared = (np.einsum("rig,ig->ir", entering, part) for part in (sums.accepted, sums.compared))
    total = compared.sum(0) / 2  # every pair stands with both of its images
    rate = ratio(accepted.sum(0) / 2, total)
    excess = ratio(accepted - rate * compared, total)
    scaled = ratio(np.triu(np.ones(masks.shape[1:])) * masks, total[:, None, None])
    single = np.einsum("rgh,gh->r", scaled**2, sums.square)  # Σw² of weights that sum to 1: a typical weight

    def pairs(noise: np.ndarray) -> np.ndarray:
        return np.einsum("agh,bgh,gh->ab", scaled, scaled, noise)

    if target == THESE_PEOPLE:
        images = sums.images  # what each adds beyond the mean of its person, made as large as it is over new images
        mean = by_person(excess, sums) / np.maximum(images, 1)[:, None]
        influence = (excess - mean[sums.person]) * np.sqrt(ratio(images, images - 1.0))[sums.person, None]
        share = ratio(*(summed(part, sums.group, masks.shape[1]) for part in (sums.accepted, sums.compared)))
        least = pairs(share * (1 - share) * sums.square)
        twice = least * _single_share(sums, (influence[:, 0] ** 2).sum(), least[0, 0], pairs(sums.blocks)[0, 0])
    else:
        influence = unbiased(by_person(excess, sums), by_person(compared, sums) > 0)
        least = twice = pairs(sums.blocks)
    # an estimate may fall below what single pairs alone make, which is known without noise
    covariance = influence.T @ influence - twice
    np.fill_diagonal(covariance, np.maximum(np.diag(covariance), np.diag(least)))
    clump = ratio(np.diag(covariance if target == THESE_PEOPLE else least), rate)
    people = ratio(4, (ratio(by_person(compared, sums), total) ** 2).sum(0))
    skewness, noise = skewness_and_noise(influence)
    return Part(rate, covariance, influence, skewness, single, single, noise, clump, people)


def known_clumps(sums: Sums, masks: np.ndarray, target: str, listed: float) -> np.ndarray:
    """The weight (rate,) of accepted pairs that come together, from a threshold at which many are accepted.

    Few may be accepted there, too, or none. Over new people a clump is then supposed as heavy as all pairs of two
    people: where no impostor comes near the genuine scores the images of a person are so alike that two people are
    accepted or rejected nearly as a whole, and K people are K (K - 1) / 2 trials, however many images they have.
    listed: how many pairs of the same two people a list holds, typically; 0 where all pairs are there.
    """
    part = impostor_part(sums, masks, target)
    if target == THESE_PEOPLE:
        return part.clump
    of_two = listed or _typical_images(sums) ** 2
    two_people = np.eye(len(part.rate))[0] * part.none[0] * of_two  # of all; groups borrow it
    grown = part.with_clumps(two_people)
    return np.where(two_people > 0, np.maximum(grown.least, grown.clump), part.clump)


def _single_share(sums: Sums, images: float, independent: float, blocks: float) -> float:
    """Share of the variance of independent pairs that single pairs still have when people and images stay.

    Of the variance α(1 - α) of one pair, F is of its two people (who agree more or less), A of its two images against
    the other person, D its own: F + A + D = `independent`. Squares of images' sums are n A + 2 D (n images a person,
    whose parts against other people are unrelated), those of pairs of people n² F + n A + D: three equations.
    """
    n = max(_typical_images(sums), 2.0)
    of_images = 2 * (blocks - n**2 * independent + (n**2 - 1) * images / 2) / (n * (n - 1) ** 2)
    return float(np.clip(ratio((images - n * max(of_images, 0)) / 2, independent), 0, 1))


def _typical_images(sums: Sums) -> float:
    """Images of a person, as impostor pairs weigh them: n² pairs of two people weigh n² times a typical pair."""
    many = sums.images[sums.person]
    weight = by_person(sums.compared.sum(1), sums)[sums.person] ** 2 / many  # of a person's squared, one image's part
    return weight.sum() / max((weight / many).sum(), TINY)


# --- FRR: a mean over people, and the errors that few do not show --------------------------------------------


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
        rejected, pairs = (by_person(part[:, None] * entering, sums) / 2 for part in (sums.rejected, sums.genuine))
        mass = sums.pair_weight[:, None] * pairs
        return cls(ratio(mass, mass.sum(0)), pairs, rejected)

    @property
    def share(self) -> np.ndarray:
        """Share of each person's pairs that is rejected."""
        return ratio(self.rejected, self.pairs)

    @property
    def single(self) -> np.ndarray:
        """Weight of a typical pair, (rate,)."""
        return _typical(ratio(self.mass, self.pairs))


def genuine_part(sums: Sums, groups: np.ndarray, target: str) -> Part:
    """FRR of every set of groups, (rate, group): a mean over people of the share of each one's rejected pairs."""
    found = _Genuine.of(sums, groups)
    rate = (found.share * found.mass).sum(0)
    if target == THESE_PEOPLE:
        return _of_images(sums, found, rate)
    influence = unbiased(found.mass * (found.share - rate), found.mass > 0)
    # errors come in a few people: an unseen one weighs more than a pair (the root of a person's pairs), and half of
    # what the skewness explains of the fourth powers is counted as noise, because the worst people may be unseen
    of_person = np.sqrt(_typical(found.pairs))
    skewness, noise = skewness_and_noise(influence, explained=0.5)
    # of fewer than ENOUGH people hardly one is bad: then the unseen error may be all pairs of a person, and so may
    # UNSEEN clumps beside those that were seen (see `Part.with_clumps`), by which variance and events grow
    few = np.clip(2 - 2 * (found.mass > 0).sum(0) / ENOUGH, 0, 1)
    clump = ratio(((found.share * found.mass) ** 2).sum(0), rate)
    weight = few * ratio(UNSEEN, ratio(rate, clump) + UNSEEN)  # of what was not seen, beside the clumps that were
    larger = np.maximum(ratio(_typical(found.mass), clump), 1) ** weight
    influence = influence * np.sqrt(1 + ratio((larger - 1) * clump * rate, (influence**2).sum(0)))
    none = found.single * of_person ** (1 + few)
    return Part(rate, influence.T @ influence, influence, larger * skewness, found.single, none, noise)


def rejected_shares(sums: Sums, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weight of each person, in the group it belongs to, and the share of its pairs that is rejected.

    groups: as for `genuine_part`, all together first.
    """
    found = _Genuine.of(sums, groups)
    return found.mass[:, :1] * (found.mass[:, 1:] > 0), found.share[:, 0]


def _of_images(sums: Sums, found: _Genuine, rate: np.ndarray) -> Part:
    """FRR of these people over new images of them: variances from counts of pairs, influences from the images."""
    images = sums.images[sums.person]
    beyond = ratio(sums.rejected, sums.genuine)[:, None] - found.share[sums.person]
    # 2 for the two images of a pair; (n - 1) / (n - 2) because the mean of a person holds the image's own pairs
    projection = 2 * found.mass[sums.person] * beyond * (ratio(images - 1, images - 2) / images)[:, None]
    influence = projection * np.sqrt(ratio(images, images - 1))[:, None]
    # two images tell no projection: what rates have in common is then the pairs that each of them rejects
    influence += (found.mass * found.share)[sums.person] * (np.sqrt(ratio(1, images)) * (images == 2))[:, None]
    told = [_deviation(sums, *parts) for parts in zip(found.mass.T, found.pairs.T, found.rejected.T, strict=True)]
    deviation, noise = zip(*told, strict=True)
    spread = found.mass * np.stack(deviation, 1)
    if np.median(images) > 3:
        third = ratio(images**2, (images - 1) * (images - 2))
        skewness = ratio((third[:, None] * projection**3).sum(0), (influence**2).sum(0))
        noise = skewness_and_noise(projection)[1]
    else:  # too few images to see the projections: an event is a person's
        skewness, noise = skewness_and_noise(found.mass * found.share)[0], np.array(noise)
    return Part(rate, spread.T @ spread, influence, skewness, found.single, found.single, noise)


def _deviation(sums: Sums, mass: np.ndarray, pairs: np.ndarray, rejected: np.ndarray) -> tuple[np.ndarray, float]:
    """Standard deviation of each person's share of rejected pairs over new images, and the noise of their sum.

    If r of m pairs are rejected, Var r = m θ + M σ - (m + M) θ²: two pairs that share an image (M couples do) are both
    rejected with probability σ, two apart with θ². Their means over people come from the pairs and couples, without
    bias. θ² is read from few couples: it is lowered by half the noise of its mean (which makes intervals hold where
    few errors are expected). Where few people have four images nothing tells θ² from σ, and the middle is taken.
    """
    images = sums.images.astype(float)
    both = by_person(sums.rejected * (sums.rejected - 1.0), sums)  # couples of rejected pairs that share an image
    sharing = images * (images - 1) * (images - 2)
    apart, lost_apart = pairs * (pairs - 1) - sharing, rejected * (rejected - 1) - both
    here = (mass > 0) & (pairs > 0)

    def mean(lost: np.ndarray, of: np.ndarray, among: np.ndarray) -> float:
        known = among & (of > 0)
        return np.average(lost[known] / of[known], weights=mass[known]) if known.any() else 0.0

    rate = mean(rejected, pairs, here)
    told = here & (apart > 0)
    if np.count_nonzero(told) >= min(ENOUGH, np.count_nonzero(here)):
        squares = lost_apart[told] / apart[told]
        effective = squares.sum() ** 2 / max((squares**2).sum(), TINY)
        squared, theirs = mean(lost_apart, apart, told), mean(rejected, pairs, told)
        squared = max(squared * (1 - 0.5 / max(effective, 1)), min(squared, theirs**2))
        # these people may have another rate than all: what is read from them counts as a share of their own
        shared, squared = (ratio(rate, theirs) * part for part in (mean(both, sharing, told), squared))
    else:
        shared = mean(both, sharing, here) if (here & (sharing > 0)).any() else rate**2
        squared = (shared + rate**2) / 2
    variance = pairs * rate + sharing * shared - (pairs + sharing) * squared
    own = np.where(apart > 0, rejected**2 - lost_apart * ratio(pairs**2, apart), rejected + both)
    own, share = own * ratio(mass, pairs) ** 2, ratio(rejected, pairs) * mass
    explained = (own @ share) ** 2 / max(share @ share, TINY)
    noise = (own @ own - explained) / max(own.sum() ** 2, TINY)
    return np.sqrt(np.maximum(variance, 0)) * ratio(1.0, pairs), noise


# --- sums and ratios -----------------------------------------------------------------------------------------


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


def _typical(values: np.ndarray) -> np.ndarray:
    """Median of what lies above zero, (rate,)."""
    return np.array([np.median(part[part > 0]) if np.any(part > 0) else 0.0 for part in values.T])
