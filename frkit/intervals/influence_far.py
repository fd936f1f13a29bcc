"""FAR as a mean over pairs of people: its variances, for these people and for new ones, and who errs together."""

import numpy as np

from frkit.intervals.gamma_satterthwaite import TINY, skewness_and_noise
from frkit.intervals.influence import THESE_PEOPLE, Part, Sums, by_person, ratio, summed, unbiased


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
