"""Resampling schemes as counts: how often each identity, and each image, stands in a replicate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import (
    IDENTITY,
    IMAGE,
    PERSON,
    REPLICATE,
    affordable,
    require,
    require_one_of,
    require_whole,
)
from frkit.data.labels import clean_labels, complete_labels


def _with_replacement(
    rng: np.random.Generator, strata: list[np.ndarray], size: int | None
) -> np.ndarray:
    """How often each person is drawn: of every stratum as many as it has, or `size`."""
    drawn = [people[rng.integers(0, len(people), size or len(people))] for people in strata]
    return np.bincount(np.concatenate(drawn), minlength=sum(map(len, strata)))


def _twice_or_never(rng: np.random.Generator, strata: list[np.ndarray], _size: None) -> np.ndarray:
    """0 or 2 for each person."""
    return 2 * rng.integers(0, 2, sum(map(len, strata)))


class Scheme(NamedTuple):
    """Whose rates the interval is about, in words; how people are drawn, if they are; whether images are drawn, with
    replacement, within each identity; and the variance of a pair's count in a replicate, a product of such counts."""

    target: str
    people: Callable[[np.random.Generator, list[np.ndarray], int | None], np.ndarray] | None
    images: bool
    pair_noise: float = 3.0  # of two counts whose mean and variance are 1


PAIRS_ALONE = (
    "new pairs that share no image and no person with one another (too narrow where they do)"
)
SCHEMES = {
    "image": Scheme("these {n} identities, new images", None, True),
    "identity": Scheme("new identities", _with_replacement, False),
    "two-level": Scheme("new identities, new images", _with_replacement, True, 15.0),  # of four
    "double-or-nothing": Scheme("new identities", _twice_or_never, False),
    "subset": Scheme("subsets of {m} people drawn from these {n}", _with_replacement, False),
    "pair": Scheme(PAIRS_ALONE, None, True, 1.0),  # each pair stands for an image
}
OF_IMAGES = tuple(
    name for name in SCHEMES if name not in ("subset", "pair")
)  # these two need other scores
# replicates hold copies of images: the centre is the V-statistic
DIAGONAL_SCHEMES = tuple(
    name for name, scheme in SCHEMES.items() if scheme.images and name != "pair"
)


@dataclass(frozen=True)
class Resampling:
    """How replicates of the data are drawn.

    Parameters
    ----------
    scheme : {"image", "identity", "two-level", "double-or-nothing", "subset", "pair"}
        "identity" (default) draws identities with replacement: intervals are about new people; "image" draws n_k images
        with replacement within each identity (Conti & Clémençon 2024, Algorithm 1): about these people; "two-level"
        draws identities, then images, the copies of an identity sharing one draw; "double-or-nothing" counts each
        identity 0 or 2 times; "subset" draws `subset_size` people with replacement (DeAlcala et al. 2023); "pair", for
        pair lists only, draws genuine pairs and impostor pairs with replacement: too narrow, because pairs share images
        and people.
    n : int
        Number of replicates, at least 2.
    seed : int
        Replicate b uses the b-th child of this seed: 200 replicates are the first 200 of 1,000.
    strata : str, optional
        Name of an attribute: identities are drawn within its groups, so that group sizes stay.
    subset_size : int, optional
        People in a subset, drawn from each stratum where there are strata (default: all of them).

    Raises
    ------
    InputError
        For an unknown scheme, n below 2, a negative seed, or a subset size with another scheme.

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
        for name, words, least in (
            ("n", "n (replicates)", 2),
            ("seed", "seed", 0),
            ("subset_size", "subset_size", 1),
        ):
            if getattr(self, name) is not None or name != "subset_size":
                object.__setattr__(self, name, require_whole(words, getattr(self, name), least))
        small = self.subset_size is None or self.subset_size < 2**16
        require(small, f"subset_size must be below 65,536, got {self.subset_size!r}")
        only_subset = self.subset_size is None or self.scheme == "subset"
        require(
            only_subset,
            f"subset_size needs scheme 'subset', got {self.subset_size!r} with {self.scheme!r}",
        )
        named = self.strata is None or isinstance(self.strata, str)
        require(named, f"strata must be the name of an attribute, got {self.strata!r}")
        drawn = self.strata is None or SCHEMES[self.scheme].people is not None
        require(
            drawn,
            f"strata draw identities within groups; scheme {self.scheme!r} draws none: leave strata out",
        )

    def target(self, n_identities: int) -> str:
        """Whose rates an interval from these replicates is about, in words."""
        return SCHEMES[self.scheme].target.format(
            n=n_identities, m=self.subset_size or n_identities
        )

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
            For scheme "pair" an entry is a pair, and this says of which kind: "genuine" or "impostor".
        image : sequence of str, (image,), optional
            Image names; draws follow the names, so that the order of the images does not matter.
        strata : sequence of str, (image,), optional
            The group of each image's identity, within which identities are drawn.
        person : sequence of str, (image,), optional
            Where identities were split by an attribute: people are drawn, with all their identities.

        Returns
        -------
        xr.Dataset
            `identity_count` (replicate, identity) and `image_count` (replicate, image), small unsigned
            integers, dims in the order given (identities sorted by name).

        Raises
        ------
        InputError
            Where lengths differ, an identity is missing (or "unknown"), or a stratum is not a property of the
            person.
        """
        n = np.size(identity)
        identity = complete_labels(identity, n, IDENTITY)
        given = {IMAGE: image, "strata": strata, PERSON: person}
        image, strata, person = (
            v if v is None else clean_labels(v, n, name) for name, v in given.items()
        )
        names, first, code = np.unique(identity, return_index=True, return_inverse=True)
        affordable(
            2 * self.n * (n + len(names)),
            f"{self.n:,} replicates of {n:,} images; take fewer replicates",
        )
        image = np.char.zfill(np.arange(n).astype(str), 12) if image is None else image
        unit = (code if person is None else np.unique(person, return_inverse=True)[1])[
            first
        ]  # the person of each name
        scheme, members = SCHEMES[self.scheme], _people_by_stratum(unit, code, strata)
        people, images = (
            np.ones((self.n, unit.max() + 1), np.uint16),
            np.ones((self.n, n), np.uint16),
        )
        # draws follow the names of identities and images, whatever order these stand in
        order, n_k = np.lexsort((image, code)), np.bincount(code)
        begin, size = (np.cumsum(n_k) - n_k)[code[order]], n_k[code[order]].astype(float)
        for replicate, seed in enumerate(np.random.SeedSequence(self.seed).spawn(self.n)):
            rng = np.random.Generator(np.random.SFC64(seed))
            if scheme.people is not None:
                people[replicate] = scheme.people(rng, members, self.subset_size)
            if scheme.images:
                picked = begin + (rng.random(n) * size).astype(np.int64)
                images[replicate, order] = np.bincount(picked, minlength=n)
        counts = {"identity_count": ((REPLICATE, IDENTITY), people[:, unit])}
        counts["image_count"] = (REPLICATE, IMAGE), images
        attrs = {"scheme": self.scheme, "seed": self.seed, "target": self.target(people.shape[1])}
        return xr.Dataset(counts, {IDENTITY: names, REPLICATE: np.arange(self.n)}, attrs)


def _people_by_stratum(unit: np.ndarray, code: np.ndarray, strata) -> list[np.ndarray]:
    """The people of each stratum."""
    if strata is None:
        return [np.arange(unit.max() + 1)]
    labels, stratum = np.unique(strata, return_inverse=True)
    of_unit = np.zeros(unit.max() + 1, int)
    of_unit[unit[code]] = stratum
    mixed = of_unit[unit[code]] != stratum
    image = int(np.argmax(mixed))
    words = f"strata must be a property of the person: image {image} is {labels[stratum[image]]!r}, another of the same"
    require(not mixed.any(), f"{words} person is not; draw without strata or by another attribute")
    return [np.flatnonzero(of_unit == place) for place in range(len(labels))]
