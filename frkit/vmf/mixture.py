"""Mixtures of von Mises-Fisher distributions: one component for each identity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from frkit.base import (
    UNKNOWN,
    real_numbers,
    require,
    require_number,
    require_sequence,
    require_whole,
    seed_sequence,
)
from frkit.data.labels import clean_labels
from frkit.vmf import population, sampling
from frkit.vmf.exact import GenuineScores, ImpostorScores
from frkit.vmf.population import Subpopulation
from frkit.vmf.sampling import one_per_identity

LARGEST_KAPPA = 1e9  # beyond, exact rates take minutes


class Mixture:
    """A population of faces: images of identity k follow a von Mises-Fisher distribution.

    Parameters
    ----------
    mean_directions : array (K, p)
        One direction for each identity, p >= 3; scaled to length 1.
    concentrations : array (K,)
        Positive, up to 1e9; larger = images of the identity are closer together.
    groups : mapping of attribute name to labels (K,), or labels (K,) alone (named "group"),
    optional
        Attributes of the identities: exact group rates are given for them and samples carry them.

    Attributes
    ----------
    n_identities, dim : int
        K and p.
    identity : array (K,)
        Names of the identities, "id0000" and so on.

    Raises
    ------
    InputError
        Where lengths differ, a direction is zero or not finite, or a concentration is outside its
        range.

    Examples
    --------
    >>> import numpy as np
    >>> mix = Mixture(np.eye(4), [50, 50, 80, 80], groups=["a", "a", "b", "b"])
    >>> mix.n_identities, mix.dim
    (4, 4)
    """

    def __init__(
        self,
        mean_directions: ArrayLike,
        concentrations: ArrayLike,
        groups: ArrayLike | Mapping | None = None,
    ):
        directions = real_numbers("mean_directions", mean_directions).astype(float)
        require(
            directions.ndim == 2 and directions.shape[0] >= 2 and directions.shape[1] >= 3,
            "mean_directions must have shape (identities >= 2, dimension >= 3), "
            f"got {directions.shape}",
        )
        self.n_identities, self.dim = directions.shape
        self.identity = np.char.mod("id%04d", np.arange(self.n_identities))
        length = np.linalg.norm(directions, axis=1)
        concentrations = one_per_identity("concentrations", concentrations, self.n_identities)
        has_direction = (length > 0) & (length < np.inf)
        is_concentrated = (concentrations > 0) & (concentrations <= LARGEST_KAPPA)
        bad = np.flatnonzero(~(has_direction & is_concentrated))
        require(
            bad.size == 0,
            "lengths of mean_directions must be positive and finite, and concentrations lie in "
            f"(0, {LARGEST_KAPPA:g}]; rows {bad[:5].tolist()} do not",
        )
        self.mean_directions = directions / length[:, None]
        self.concentrations = concentrations.astype(float)
        if groups is None:
            groups = {}
        elif not isinstance(groups, Mapping):
            groups = {"group": groups}
        self.groups = {
            name: clean_labels(labels, self.n_identities, f"groups[{name!r}]", "identity")
            for name, labels in groups.items()
        }

    def __repr__(self) -> str:
        kappa = self.concentrations
        text = f"{self.n_identities} identities, dim {self.dim}, "
        text += f"kappa {kappa.min():.4g} to {kappa.max():.4g}"
        for name, labels in self.groups.items():
            text += f", {name}: {', '.join(np.unique(labels))}"
        return f"<vMF mixture: {text}>"

    def subpopulations(self, by: str | None = None) -> list[Subpopulation]:
        """The exact scores of all identities, and of each group of the attribute `by`."""
        members = {"all identities": np.ones(self.n_identities, bool)}
        if by is not None:
            attributes = sorted(self.groups)
            require(by in attributes, f"by={by!r}: the mixture's attributes are {attributes}")
            labels = self.groups[by]
            require(
                UNKNOWN not in labels,
                f"by={by!r}: some identities have no label; exact rates need all labels",
            )
            members |= {name: labels == name for name in np.unique(labels)}
        population = []
        for name, rows in members.items():
            require(rows.sum() >= 2, f"'{name}' has fewer than two identities; merge the group")
            concentrations = self.concentrations[rows]
            impostors = ImpostorScores(self.mean_directions[rows], concentrations)
            genuine = GenuineScores(concentrations, np.ones(rows.sum()), self.dim)
            population.append(Subpopulation(name, impostors, genuine))
        return population

    def draw(self, n_identities: int, seed: int = 0) -> Mixture:
        """Draw some of these identities, each at most once, and of every group its share.

        Where there are several attributes, groups are crossed.

        Raises
        ------
        InputError
            Where a group would keep fewer than two identities, or the mixture has fewer.
        """
        everyone = np.zeros(self.n_identities, str)
        attributes = np.stack([everyone, *self.groups.values()])
        _, group, counts = np.unique(attributes, axis=1, return_inverse=True, return_counts=True)
        rng = np.random.default_rng(seed_sequence(seed))
        rows = []
        sizes = group_sizes(n_identities, counts)
        require(
            n_identities <= self.n_identities,
            f"n_identities must be at most the mixture's {self.n_identities}, got {n_identities}",
        )
        for g, size in enumerate(sizes):
            members = np.flatnonzero(group == g)
            rows.append(rng.choice(members, size, replace=False))
        rows = np.concatenate(rows)
        groups = {name: labels[rows] for name, labels in self.groups.items()}
        return Mixture(self.mean_directions[rows], self.concentrations[rows], groups)

    def correlated(
        self,
        *,
        centroid_correlation: float = 0.95,
        concentration_factor: ArrayLike = 1.0,
        seed: int = 0,
    ) -> Mixture:
        """A second encoder of the same identities: a mixture with its own exact truth.

        Parameters
        ----------
        centroid_correlation : float in [-1, 1]
            Each mean direction becomes c mu + sqrt(1 - c^2) times a Gaussian vector of mean
            length 1, scaled to 1.
        concentration_factor : float > 0 or array (K,)
            Multiplies the concentrations: below 1 the encoder is worse.
        seed : int
            The same seed gives the same encoder.

        Returns
        -------
        Mixture
            With the same groups. `sample_encoders` draws correlated images of both.
        """
        c = require_number("centroid_correlation", centroid_correlation, -1, 1)
        factor = one_per_identity("concentration_factor", concentration_factor, self.n_identities)
        # numbers of its own: `vmf.mixture` draws directions with those of the seed itself
        rng = np.random.default_rng((require_whole("seed", seed, 0), 1))
        noise = rng.standard_normal(self.mean_directions.shape) / np.sqrt(self.dim)
        s = np.sqrt(1 - c**2)
        directions = c * self.mean_directions + s * noise
        return Mixture(directions, self.concentrations * factor, self.groups)

    def rotated_copies(self, names: Sequence[str] = ("A", "B")) -> Mixture:
        """One rotated copy of the mixture for each name: groups whose rates are exactly equal.

        Rotations keep all angles within a copy, so every group has the FAR and the FRR of this
        mixture. The copies have the attribute "group" and the attributes of this mixture.
        """
        names = require_sequence("names", names, "a list of names")
        n_copies = len(set(names))
        is_distinct = n_copies == len(names) > 0
        require(is_distinct, f"names of copies must be one or more distinct ones, got {names!r}")
        rng = np.random.default_rng(0)
        directions = []
        for _ in names:
            gaussian = rng.standard_normal((self.dim, self.dim))
            rotation, _ = np.linalg.qr(gaussian)
            directions.append(self.mean_directions @ rotation)
        groups = {name: np.tile(labels, n_copies) for name, labels in self.groups.items()}
        groups["group"] = np.repeat(names, self.n_identities)
        concentrations = np.tile(self.concentrations, n_copies)
        return Mixture(np.concatenate(directions), concentrations, groups)

    sample = sampling.sample
    population_roc = population.population_roc


def group_sizes(n_identities, shares):
    """Split the identities by shares, with the largest remainders rounded up."""
    require_whole("n_identities", n_identities, 2)
    exact = n_identities * shares / shares.sum()
    sizes = np.floor(exact).astype(int)
    remaining = n_identities - sizes.sum()
    sizes[np.argsort(sizes - exact, kind="stable")[:remaining]] += 1
    require(
        np.all(sizes >= 2),
        f"every group needs two identities; {n_identities} give {sizes.tolist()}",
    )
    return sizes
