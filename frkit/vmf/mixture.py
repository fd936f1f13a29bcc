"""Mixtures of von Mises-Fisher distributions: one component for each identity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from frkit.base import UNKNOWN, require
from frkit.data.labels import clean_labels
from frkit.vmf import population, sampling, score_moments
from frkit.vmf.densities import RadialInverse

LARGEST = 1e7  # concentration; beyond it series would take for ever, and no two images could be told apart


class Mixture:
    """A population of faces: images of identity k follow a von Mises-Fisher distribution on the unit sphere.

    Parameters
    ----------
    mean_directions : array (K, p)
        One direction for each identity, p >= 3; scaled to length 1.
    concentrations : array (K,)
        Positive; larger = images of the identity are closer together.
    groups : mapping of attribute name to labels (K,), or labels (K,) alone (named "group"), optional
        Attributes of the identities: exact group rates are given for them and samples carry them.

    Raises
    ------
    InputError
        Where lengths differ, a direction is zero or not finite, a concentration is not positive.

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
        directions = np.array(mean_directions, np.float64)
        fits = directions.ndim == 2 and directions.shape[0] >= 2 and directions.shape[1] >= 3
        require(
            fits,
            f"mean_directions must have shape (identities >= 2, dimension >= 3), got {directions.shape}",
        )
        length = np.linalg.norm(directions, axis=1)
        self.concentrations = np.array(concentrations, np.float64)
        groups = (
            {} if groups is None else groups if isinstance(groups, Mapping) else {"group": groups}
        )
        self.groups = {
            k: clean_labels(of, len(length), f"groups[{k!r}]", "identity")
            for k, of in groups.items()
        }
        right = self.concentrations.shape == length.shape
        require(
            right,
            f"concentrations must have shape ({len(length)},), got {self.concentrations.shape}",
        )
        for name, sizes in (
            ("lengths of mean_directions", length),
            ("concentrations", self.concentrations),
        ):
            bad = np.flatnonzero(~(np.isfinite(sizes) & (sizes > 0)))
            require(
                bad.size == 0,
                f"{name} must be positive and finite; rows {bad[:5].tolist()} are zero or not so",
            )
        largest = self.concentrations.max()
        require(largest <= LARGEST, f"concentrations must be at most {LARGEST:g}, got {largest:g}")
        self.mean_directions = directions / length[:, None]
        for array in (self.mean_directions, self.concentrations, *self.groups.values()):
            array.setflags(
                write=False
            )  # exact rates are kept, so what they were computed from must stay
        self._populations = {}
        self.fitted = None  # how it was fitted, where it was: see `fit`

    def __repr__(self) -> str:
        low, high = self.concentrations.min(), self.concentrations.max()
        groups = "".join(
            f", {name}: {', '.join(np.unique(labels))}" for name, labels in self.groups.items()
        )
        size = f"{self.n_identities} identities, dim {self.dim}"
        return f"<vMF mixture: {size}, kappa {low:.4g} to {high:.4g}{groups}>"

    @property
    def n_identities(self) -> int:
        """Number K of identities."""
        return self.mean_directions.shape[0]

    @property
    def dim(self) -> int:
        """Dimension p of the embeddings."""
        return self.mean_directions.shape[1]

    @property
    def identity(self) -> np.ndarray:
        """Names of the identities, "id0000" and so on."""
        return np.array([f"id{k:04d}" for k in range(self.n_identities)])

    def labels(self, by: str) -> np.ndarray:
        """Labels (K,) of the attribute `by`; raises InputError where the mixture has no such attribute."""
        require(by in self.groups, f"by={by!r}: the mixture's attributes are {sorted(self.groups)}")
        lost = int((self.groups[by] == UNKNOWN).sum())
        require(
            lost == 0,
            f"by={by!r}: {lost} identities have no label, and so no group: exact rates need all labels",
        )
        return self.groups[by]

    @cached_property
    def radial(self) -> RadialInverse:
        """How radial parts are drawn; kept, because a study draws many samples."""
        return RadialInverse(self.concentrations, self.dim)

    def draw(self, n_identities: int, seed: int = 0) -> Mixture:
        """Draw some of these identities, each at most once: of every group (crossed, of several attributes) its share.

        Raises
        ------
        InputError
            Where there are fewer identities, or a group would keep fewer than two.
        """
        require(
            n_identities <= self.n_identities,
            f"of {self.n_identities} identities {n_identities} cannot be drawn",
        )
        columns = np.stack([np.zeros(self.n_identities, str), *self.groups.values()])
        group, counts = np.unique(columns, axis=1, return_inverse=True, return_counts=True)[1:]
        rng, sizes = np.random.default_rng(seed), group_sizes(n_identities, counts)
        some = [
            rng.choice(np.flatnonzero(group == g), size, replace=False)
            for g, size in enumerate(sizes)
        ]
        who = np.concatenate(some)
        groups = {name: labels[who] for name, labels in self.groups.items()}
        return Mixture(self.mean_directions[who], self.concentrations[who], groups)

    def correlated(
        self,
        *,
        centroid_correlation: float = 0.95,
        concentration_factor: ArrayLike = 1.0,
        seed: int = 0,
    ) -> Mixture:
        """A second encoder of the same identities: itself a mixture, with an exact truth of its own.

        Parameters
        ----------
        centroid_correlation : float in [-1, 1]
            Each mean direction becomes c mu + sqrt(1 - c^2) times a Gaussian vector of mean length 1, scaled
            to 1.
        concentration_factor : float > 0 or array (K,)
            Multiplies the concentrations: below 1 the encoder is worse.

        Returns
        -------
        Mixture
            With the same groups. `sample_encoders` draws correlated images of both.
        """
        c = float(centroid_correlation)
        require(-1 <= c <= 1, f"centroid_correlation must lie in [-1, 1], got {c}")
        noise = np.random.default_rng(seed).standard_normal(self.mean_directions.shape) / np.sqrt(
            self.dim
        )
        directions = c * self.mean_directions + np.sqrt(1 - c**2) * noise
        return Mixture(directions, self.concentrations * concentration_factor, self.groups)

    def rotated_copies(
        self, names: Sequence[str] = ("A", "B"), *, by: str = "group", seed: int = 0
    ) -> Mixture:
        """One rotated copy of the whole mixture for each name: groups whose rates are exactly equal.

        Rotations keep all angles within a copy, so every group has the FAR and the FRR of this mixture. The
        copies carry the attribute `by`, beside the attributes this mixture has.
        """
        names = [str(name) for name in names]
        require(len(set(names)) == len(names) > 0, f"names must be different, got {names}")
        rng = np.random.default_rng(seed)
        turns = [np.linalg.qr(rng.standard_normal((self.dim, self.dim)))[0] for _ in names]
        groups = {name: np.tile(labels, len(names)) for name, labels in self.groups.items()}
        groups[by] = np.repeat(names, self.n_identities)
        directions = np.concatenate([self.mean_directions @ turn for turn in turns])
        return Mixture(directions, np.tile(self.concentrations, len(names)), groups)

    sample = sampling.sample
    population_rates = population.rates
    population_roc = population.roc
    population_summary = population.summary
    population_distributions = score_moments.distributions


def group_sizes(n_identities: int, shares: np.ndarray) -> np.ndarray:
    """Split the identities by shares: largest remainders."""
    exact = n_identities * shares / shares.sum()
    sizes = np.floor(exact).astype(int)
    sizes[np.argsort(sizes - exact, kind="stable")[: n_identities - sizes.sum()]] += 1
    require(
        bool(np.all(sizes >= 2)),
        f"every group needs two identities; {n_identities} give {sizes.tolist()}",
    )
    return sizes
