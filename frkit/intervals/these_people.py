"""Intervals about these people: the variance over new images of the people that are there.

The same sums as over new people, by image and beside the mean of its person (the image scheme of
`Resampling` in closed form); the units are images. Everything else is as for new people.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy import sparse

from frkit.intervals.contributions import Added, Contributions, count_alike


class TheseImages(Contributions):
    """What images add to the rates of one model, beyond what their person adds."""

    @cached_property
    def gather(self) -> sparse.csr_array:
        """(image, entry) adds up the entries of each image."""
        image = self.values["image"]
        ones = np.ones(len(image)), (image, np.arange(len(image)))
        return sparse.csr_array(ones, shape=(int(image.max()) + 1, len(image)))

    @cached_property
    def person(self) -> np.ndarray:
        """(image,) the person of each image."""
        person = np.zeros(self.gather.shape[0], int)
        person[self.values["image"]] = self.values["person"]
        return person

    @cached_property
    def n_images(self) -> np.ndarray:
        """(image,) images of the same person."""
        return np.bincount(self.person)[self.person].astype(float)

    def of_units(self, excess: np.ndarray, there: np.ndarray) -> np.ndarray:
        """What each image adds beyond the mean of its person, as large as over new images.

        The image of a person with a single one cannot be compared with others of the person: it
        varies as much as those of the others on average.
        """
        values, n = self.gather @ excess, self.n_images
        mean = np.bincount(self.person, values)[self.person] / n
        beyond = (values - mean) * np.sqrt(n / np.maximum(n - 1, 1))
        alone = (n == 1) & (self.gather @ there > 0)
        if alone.any() and (n > 1).any():
            beyond[alone] = np.sqrt((beyond[n > 1] ** 2).mean())
        return beyond

    def far_noise(self, point: int, one, other, rates, totals) -> float:
        """Variance of single image pairs, as if they were independent."""
        inner = one if one[0] < self.n_groups else other
        rate = rates[0] if inner == one else rates[1]
        pairs = max(self.cell_sums("impostor_pairs", *inner), 1.0)
        inside = min(totals) / max(totals)  # share of the larger rate's weight
        return float(rate * (1 - rate) / pairs * inside)

    def far(self, point: int, g: int, h: int) -> Added:
        """As for new people; errors are counted by image."""
        return _of_images(super().far(point, g, h))

    def frr(self, point: int, g: int) -> Added:
        """FRR over new images: a mean over pairs of images of each person.

        The influence of an image on a mean over pairs is twice its own mean's (a U-statistic).
        Two images make a single pair, which shows no variance: such people are supposed to vary
        as independent pairs with the common rate do.
        """
        added = super().frr(point, g)
        if np.isnan(added.rate):
            return added
        # both images of a pair stand with it, and the total counts each pair twice
        n = self.n_images
        mean_without_own = (n - 1) / np.maximum(n - 2, 1)
        influence = 2 * added.influence * np.where(n > 2, mean_without_own, 0.0)
        weight = self.gather @ (self.values["genuine"] * self.entries_of(g))
        weight = weight / weight.sum()
        pairs_of_two = n == 2
        extra = added.rate * (1 - added.rate) * ((2 * weight[pairs_of_two]) ** 2).sum() / 2
        added = replace(added, influence=influence, noise=-float(extra))
        return _of_images(added)


def _of_images(added: Added) -> Added:
    """The same rate, whose units are images."""
    errors = added.own_errors
    seen = count_alike((errors**2).sum(), errors.sum())
    units = max(np.count_nonzero(added.influence), added.people)
    return replace(added, seen=seen, units=units)
