"""FRR as a mean over people: its variances, for these people and for new ones, and the errors that few do not show."""

from dataclasses import dataclass

import numpy as np

from frkit.intervals.gamma_satterthwaite import TINY, skewness_and_noise
from frkit.intervals.influence import THESE_PEOPLE, UNSEEN, Part, Sums, by_person, ratio, unbiased

ENOUGH = 30  # people of four images or more, which tell the square of a person's own rate; who show the worst of them


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


def _typical(values: np.ndarray) -> np.ndarray:
    """Median of what lies above zero, (rate,)."""
    return np.array([np.median(part[part > 0]) if np.any(part > 0) else 0.0 for part in values.T])
