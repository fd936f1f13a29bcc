"""Resampling schemes as counts: how often each identity, and each image, stands in a replicate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from frkit.base import IDENTITY, IMAGE, PERSON, REPLICATE, affordable, require, require_one_of, require_whole
from frkit.faces.labels import clean_labels, complete_labels

# scheme -> whose rates the interval is about
TARGETS = {
    "image": "these {n} identities, new images",
    "identity": "new identities",
    "two-level": "new identities, new images",
    "double-or-nothing": "new identities",
    "subset": "subsets of {m} people drawn from these {n}",
    "pair": "new pairs that share no image and no person with one another (too narrow where they do)",
}
DIAGONAL_SCHEMES = ("image", "two-level")  # replicates hold copies of images: the centre is the V-statistic


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
        require_one_of("scheme", self.scheme, TARGETS)
        for name, words, least in (("n", "n (replicates)", 2), ("seed", "seed", 0), ("subset_size", "subset_size", 1)):
            if getattr(self, name) is not None or name != "subset_size":
                object.__setattr__(self, name, require_whole(words, getattr(self, name), least))
        small = self.subset_size is None or self.subset_size < 2**16
        require(small, f"subset_size must be below 65,536, got {self.subset_size!r}")
        only_subset = self.subset_size is None or self.scheme == "subset"
        require(only_subset, f"subset_size needs scheme 'subset', got {self.subset_size!r} with {self.scheme!r}")
        named = self.strata is None or isinstance(self.strata, str)
        require(named, f"strata must be the name of an attribute, got {self.strata!r}")
        drawn = self.strata is None or self.scheme not in ("image", "pair")
        require(drawn, f"strata draw identities within groups; scheme {self.scheme!r} draws none: leave strata out")

    def target(self, n_identities: int) -> str:
        """Whose rates an interval from these replicates is about, in words."""
        return TARGETS[self.scheme].format(n=n_identities, m=self.subset_size or n_identities)

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
        image, strata, person = (v if v is None else clean_labels(v, n, name)[0] for name, v in given.items())
        names, first, code = np.unique(identity, return_index=True, return_inverse=True)
        affordable(2 * self.n * (n + len(names)), f"{self.n:,} replicates of {n:,} images; take fewer replicates")
        image = np.char.zfill(np.arange(n).astype(str), 12) if image is None else image
        unit = (code if person is None else np.unique(person, return_inverse=True)[1])[first]  # the person of each name
        draw = _Draw(self, code, np.lexsort((image, code)), unit, _stratum_of_units(unit, code, strata))
        seeds = np.random.SeedSequence(self.seed).spawn(self.n)
        counts = [draw.replicate(np.random.Generator(np.random.SFC64(seed))) for seed in seeds]
        identity_count, image_count = (np.stack(side) for side in zip(*counts, strict=True))
        return xr.Dataset(
            {
                "identity_count": ((REPLICATE, IDENTITY), identity_count),
                "image_count": ((REPLICATE, IMAGE), image_count),
            },
            coords={IDENTITY: names, REPLICATE: np.arange(self.n)},
            attrs={"scheme": self.scheme, "seed": self.seed, "target": self.target(int(unit.max()) + 1)},
        )


def _stratum_of_units(unit: np.ndarray, code: np.ndarray, strata) -> np.ndarray:
    """Index of the stratum of each person."""
    n_units = int(unit.max()) + 1
    if strata is None:
        return np.zeros(n_units, int)
    labels, stratum = np.unique(strata, return_inverse=True)
    of_unit = np.zeros(n_units, int)
    of_unit[unit[code]] = stratum
    mixed = of_unit[unit[code]] != stratum
    image = int(np.argmax(mixed))
    words = f"strata must be a property of the person: image {image} is {labels[stratum[image]]!r}, another of the same"
    require(not mixed.any(), f"{words} person is not; draw without strata or by another attribute")
    return of_unit


class _Draw:
    """Draws one replicate at a time, in an order of identities and images that follows their names."""

    def __init__(self, resampling, code, order, unit, stratum) -> None:
        self.scheme, self.size = resampling.scheme, resampling.subset_size
        self.unit, self.order = unit, order
        images = np.bincount(code)
        first = np.cumsum(images) - images
        self.first, self.n_k = first[code[order]], images[code[order]].astype(float)
        self.members = [np.flatnonzero(stratum == s) for s in range(stratum.max() + 1)]

    def replicate(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """(identity counts, image counts) of one replicate."""
        people = np.ones(int(self.unit.max()) + 1, np.uint16)
        if self.scheme == "double-or-nothing":
            people = (2 * rng.integers(0, 2, len(people))).astype(np.uint16)
        elif self.scheme not in ("image", "pair"):
            for members in self.members:
                people[members] = self._with_replacement(rng, len(members))
        images = np.ones(len(self.order), np.uint16)
        if self.scheme in (*DIAGONAL_SCHEMES, "pair"):
            within = rng.random(len(images))
            within *= self.n_k
            picked = within.astype(np.int64)
            picked += self.first
            images[self.order] = np.bincount(picked, minlength=len(images))
        return people[self.unit], images

    def _with_replacement(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return np.bincount(rng.integers(0, n, n if self.size is None else self.size), minlength=n)
