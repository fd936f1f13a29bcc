"""Resampling schemes as counts: how often a replicate contains each identity and each image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import affordable, require, require_one_of, require_whole
from frkit.data.labels import clean_labels, complete_labels


class Scheme(NamedTuple):
    """What a scheme draws, and whose rates its intervals are about.

    target : whose rates, in words. people : how people are drawn, if they are. images : whether
    images are drawn, with replacement, within each identity. pair_noise : variance of a pair's
    count in a replicate, a product of counts whose mean and variance are 1.
    """

    target: str
    people: str | None
    images: bool
    pair_noise: float = 3.0  # of two counts


PAIRS_ALONE = "independent pairs (too narrow if pairs share images or people)"
MOST_REPLICATES = 100_000
REPLACED, DOUBLED = "with replacement", "twice or never"
SCHEMES = {
    "image": Scheme("these {n} identities, new images", None, True),
    "identity": Scheme("new identities", REPLACED, False),
    "two-level": Scheme("new identities, new images", REPLACED, True, 15.0),  # of four counts
    "double-or-nothing": Scheme("new identities", DOUBLED, False),
    "subset": Scheme("subsets of {m} people drawn from these {n}", REPLACED, False),
    "pair": Scheme(PAIRS_ALONE, None, True, 1.0),  # each pair counts as an image
}
OF_IMAGES = ("image", "identity", "two-level", "double-or-nothing")  # for any scores
DIAGONAL_SCHEMES = ("image", "two-level")  # replicates contain copies: centre is the V-statistic


@dataclass(frozen=True)
class Resampling:
    """How replicates of the data are drawn.

    Parameters
    ----------
    scheme : {"image", "identity", "two-level", "double-or-nothing", "subset", "pair"}
        "identity" (default) draws identities with replacement: intervals are about new people;
        "image" draws n_k images with replacement within each identity (Conti & Clémençon 2024,
        Algorithm 1): about these people; "two-level" draws identities, then images, the copies of
        an identity sharing one draw; "double-or-nothing" counts each identity 0 or 2 times;
        "subset" draws `subset_size` people with replacement (DeAlcala et al. 2023); "pair", for
        the fairness indices of lists without identities, draws genuine pairs and impostor pairs
        with replacement: too narrow, because pairs share images and people.
    n : int
        Number of replicates, 2 to 100,000.
    seed : int
        Replicate b uses the b-th child of this seed: 200 replicates are the first 200 of 1,000.
    strata : str, optional
        Name of an attribute: identities are drawn within its groups, so that group sizes stay.
    subset_size : int, optional
        People in a subset, drawn from each stratum where there are strata (default: all of them).

    Raises
    ------
    InputError
        For an unknown scheme, n out of range, a negative seed, or a subset size with another
        scheme.

    Examples
    --------
    >>> import frkit as fk
    >>> draws = fk.Resampling("image", n=3, seed=0).weights(["ann", "ann", "bob", "bob"])
    >>> draws.image_count.sum("image").values.tolist()
    [4, 4, 4]
    """

    scheme: str = "identity"
    n: int = 200
    seed: int = 0
    strata: str | None = None
    subset_size: int | None = None

    def __post_init__(self) -> None:
        require_one_of("scheme", self.scheme, SCHEMES)
        require(
            self.subset_size is None or self.scheme == "subset",
            f"subset_size needs scheme 'subset', got {self.scheme!r}",
        )
        require(
            self.strata is None or SCHEMES[self.scheme].people is not None,
            f"strata draw identities within groups, but scheme {self.scheme!r} draws no "
            "identities: leave strata out",
        )
        for name, least in (("n", 2), ("seed", 0), ("subset_size", 1)):
            value = getattr(self, name)
            if name != "subset_size" or value is not None:
                object.__setattr__(self, name, require_whole(name, value, least))
        require(
            self.n <= MOST_REPLICATES,
            f"n={self.n:,} replicates would take hours; take at most {MOST_REPLICATES:,} (200 are "
            "enough for most intervals)",
        )

    def target(self, n_identities: int) -> str:
        """Whose rates an interval from these replicates is about, in words."""
        size = self.subset_size or n_identities
        return SCHEMES[self.scheme].target.format(n=n_identities, m=size)

    def weights(
        self,
        identity: ArrayLike,
        image: ArrayLike | None = None,
        strata: ArrayLike | None = None,
        person: ArrayLike | None = None,
    ) -> xr.Dataset:
        """Counts of every replicate.

        Parameters
        ----------
        identity : sequence of str, (image,)
            For scheme "pair" an entry is a pair, and this is its kind: "genuine" or
            "impostor".
        image : sequence of str, (image,), optional
            Image names; draws follow the names, so that the order of the images does not matter.
        strata : sequence of str, (image,), optional
            The group of each image's identity, within which identities are drawn.
        person : sequence of str, (image,), optional
            Where identities were split by an attribute: people are drawn, with all their
            identities.

        Returns
        -------
        xr.Dataset
            `identity_count` (replicate, identity) and `image_count` (replicate, image), small
            unsigned integers, dims in the order given (identities sorted by name).

        Raises
        ------
        InputError
            Where lengths differ, an identity is missing (or "unknown"), a stratum is not a property
            of the person, or the counts do not fit in memory.
        """
        n = np.size(identity)
        identity = complete_labels(identity, n, "identity")
        names, first, code = np.unique(identity, return_index=True, return_inverse=True)
        affordable(
            2 * self.n * (n + len(names)),
            f"{self.n:,} replicates of {n:,} images; take fewer replicates",
        )
        image = np.arange(n) if image is None else clean_labels(image, n, "image")
        person_code = code
        if person is not None:
            person_code = np.unique(clean_labels(person, n, "person"), return_inverse=True)[1]
        strata = np.zeros(n) if strata is None else clean_labels(strata, n, "strata")
        members = _people_by_stratum(person_code, strata)
        people = np.ones((self.n, person_code.max() + 1), np.uint16)
        images = np.ones((self.n, n), np.uint16)
        # draws follow the names of identities and images, not their order
        order = np.lexsort((image, code))
        n_k = np.bincount(code)
        begin = (np.cumsum(n_k) - n_k)[code[order]]
        size = n_k[code[order]]
        scheme = SCHEMES[self.scheme]
        for replicate, seed in enumerate(np.random.SeedSequence(self.seed).spawn(self.n)):
            rng = np.random.Generator(np.random.SFC64(seed))
            if scheme.people == REPLACED:
                drawn = [
                    stratum[rng.integers(0, len(stratum), self.subset_size or len(stratum))]
                    for stratum in members
                ]
                people[replicate] = np.bincount(np.concatenate(drawn), minlength=people.shape[1])
            elif scheme.people == DOUBLED:
                people[replicate] = 2 * rng.integers(0, 2, people.shape[1])
            if scheme.images:
                picked = begin + (rng.random(n) * size).astype(np.int64)
                images[replicate, order] = np.bincount(picked, minlength=n)
        counts = {
            "identity_count": (("replicate", "identity"), people[:, person_code[first]]),
            "image_count": (("replicate", "image"), images),
        }
        attrs = {"scheme": self.scheme, "seed": self.seed, "target": self.target(people.shape[1])}
        return xr.Dataset(counts, {"identity": names, "replicate": np.arange(self.n)}, attrs)


def _people_by_stratum(person: np.ndarray, strata: np.ndarray) -> list[np.ndarray]:
    """The people of each stratum; person, strata: of each image."""
    labels, stratum = np.unique(strata, return_inverse=True)
    stratum_of_person = np.zeros(person.max() + 1, int)
    stratum_of_person[person] = stratum
    mixed = np.flatnonzero(stratum_of_person[person] != stratum)
    require(
        len(mixed) == 0,
        f"strata must be a property of the person: images {mixed[:3].tolist()} are of people who "
        "have another one elsewhere; draw without strata or by another attribute",
    )
    return [np.flatnonzero(stratum_of_person == k) for k in range(len(labels))]
