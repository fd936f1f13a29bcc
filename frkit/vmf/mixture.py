"""Mixtures of von Mises-Fisher distributions: one component for each identity."""

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import xarray as xr

from frkit.base import UNKNOWN, InputError, numbers, require
from frkit.faces.labels import clean_labels
from frkit.vmf import distributions, population, sampling
from frkit.vmf.quadrature import RadialInverse


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

    def __init__(self, mean_directions, concentrations, groups=None):
        directions = np.array(mean_directions, np.float64)
        require(
            directions.ndim == 2 and directions.shape[0] >= 2 and directions.shape[1] >= 3,
            f"mean_directions must have shape (identities >= 2, dimension >= 3), got {directions.shape}",
        )
        length = np.linalg.norm(directions, axis=1)
        bad = np.flatnonzero(~(np.isfinite(length) & (length > 0)))
        require(bad.size == 0, f"mean_directions: rows {bad[:5].tolist()} are zero or not finite; give directions")
        self.mean_directions = directions / length[:, None]
        self.concentrations = _concentrations(concentrations, len(directions))
        groups = {} if groups is None else groups if isinstance(groups, Mapping) else {"group": groups}
        self.groups = {name: _labels(name, labels, len(directions)) for name, labels in groups.items()}
        for array in (self.mean_directions, self.concentrations, *self.groups.values()):
            array.setflags(write=False)  # exact rates are kept, so what they were computed from must stay
        self._populations = {}
        self.fitted = None  # how it was fitted, where it was: see `fit`

    def __repr__(self) -> str:
        low, high = self.concentrations.min(), self.concentrations.max()
        groups = "".join(f", {name}: {', '.join(np.unique(labels))}" for name, labels in self.groups.items())
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
        if by not in self.groups:
            raise InputError(f"by={by!r}: the mixture's attributes are {sorted(self.groups)}")
        lost = int((self.groups[by] == UNKNOWN).sum())
        require(lost == 0, f"by={by!r}: {lost} identities have no label, and so no group: exact rates need all labels")
        return self.groups[by]

    @cached_property
    def _radial(self) -> RadialInverse:
        """How radial parts are drawn; kept, because a study draws many samples."""
        return RadialInverse(self.concentrations, self.dim)

    def sample(self, per_identity=10, seed=1) -> xr.Dataset:
        """Draw images: a faces Dataset with `per_identity` (a number or an array (K,)) images of each.

        The draws follow the von Mises-Fisher distribution itself (not a normalised Gaussian); the same seed
        gives the same images.

        Raises
        ------
        InputError
            Where a number of images is not a positive integer or the array has another length.

        Examples
        --------
        >>> mixture(20, dim=16, kappa=(50, 100)).sample(per_identity=3, seed=1).sizes["image"]
        60
        """
        return sampling.sample(self, per_identity, seed)

    def correlated(self, *, centroid_correlation=0.95, concentration_factor=1.0, seed=0) -> "Mixture":
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
        noise = np.random.default_rng(seed).standard_normal(self.mean_directions.shape) / np.sqrt(self.dim)
        directions = c * self.mean_directions + np.sqrt(1 - c**2) * noise
        return Mixture(directions, self.concentrations * concentration_factor, self.groups)

    def rotated_copies(self, names=("A", "B"), *, by="group", seed=0) -> "Mixture":
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

    def population_rates(self, threshold, *, by=None, weights=None, cross=False) -> xr.Dataset:
        """Exact FAR and FRR at thresholds; see `frkit.vmf.population.rates`."""
        return population.rates(self, threshold, by=by, weights=weights, cross=cross)

    def population_roc(self, far, *, by=None, weights=None, cross=False) -> xr.Dataset:
        """Exact thresholds, FAR and FRR at FAR levels; see `frkit.vmf.population.roc`."""
        return population.roc(self, far, by=by, weights=weights, cross=cross)

    def population_summary(self, *, by=None, weights=None) -> xr.Dataset:
        """Exact EER with its threshold and exact AUC; see `frkit.vmf.population.summary`."""
        return population.summary(self, by=by, weights=weights)

    def population_distributions(self, per_identity: int, *, by: str, bins: int = 100) -> xr.Dataset:
        """Exact moments and histograms of each group's cosines; see `frkit.vmf.distributions.distributions`."""
        return distributions.distributions(self, per_identity, by=by, bins=bins)


def mixture(n_identities=1000, dim=128, kappa=(100, 800), seed=0, groups=None) -> Mixture:
    """A random mixture: mean directions uniform on the sphere, concentrations uniform on an interval.

    Parameters
    ----------
    n_identities, dim : int
        K and p; the defaults of all arguments are the paper's (Conti & Clemencon 2024, B.1).
    kappa : (low, high) or float
        Range of the concentrations.
    groups : mapping of group name to options, optional
        Options are `share` (default: equal shares of the identities), `kappa` (default: as above) and
        `cohesion` (default 0): the concentration of the group's mean directions around a direction of the
        group's own. Faces of a group with cohesion look more alike, so its FAR is higher; a lower kappa makes
        its FRR higher.

    Returns
    -------
    Mixture
        With the attribute "group" when groups are given.

    Raises
    ------
    InputError
        For an unknown option, a group with fewer than two identities, or an impossible range.

    Examples
    --------
    >>> mixture(100, dim=32, groups={"a": {"share": 3}, "b": {"share": 1, "cohesion": 20}})
    <vMF mixture: 100 identities, dim 32, kappa 106.8 to 799.7, group: a, b>
    """
    grouped = groups is not None
    options = [*groups.values()] if isinstance(groups, Mapping) else []
    named = not grouped or options and all(isinstance(one, Mapping) for one in options)
    require(named, f"groups must map names of groups to options, {{'a': {{'share': 2}}, 'b': {{}}}}; got {groups!r}")
    groups = {str(name): dict(options) for name, options in groups.items()} if grouped else {"": {}}
    for name, options in groups.items():
        unknown = set(options) - {"share", "kappa", "cohesion"}
        require(not unknown, f"group {name!r}: unknown options {sorted(unknown)}; use share, kappa, cohesion")
    sizes = group_sizes(n_identities, [options.get("share", 1) for options in groups.values()])
    rng = np.random.default_rng(seed)
    directions, concentrations = [], []
    for options, size in zip(groups.values(), sizes):
        directions.append(_directions(size, dim, options.get("cohesion", 0), rng))
        concentrations.append(rng.uniform(*interval(options.get("kappa", kappa)), size))
    labels = np.repeat(list(groups), sizes) if grouped else None
    return Mixture(np.concatenate(directions), np.concatenate(concentrations), labels)


def _directions(size: int, dim: int, cohesion: float, rng) -> np.ndarray:
    """Mean directions of one group: uniform, or concentrated around one direction."""
    require(cohesion >= 0, f"cohesion must be 0 or more, got {cohesion}")
    points = rng.standard_normal((size, dim))
    if cohesion == 0:
        return points
    axis, radial = rng.standard_normal((1, dim)), rng.standard_normal(size)
    axis /= np.linalg.norm(axis)
    return sampling.place(axis, np.array([float(cohesion)]), np.zeros(size, int), radial, points)


def group_sizes(n_identities: int, shares: list) -> np.ndarray:
    """Split the identities by shares: largest remainders."""
    shares = np.asarray(shares, np.float64)
    require(bool(np.all(shares > 0)), f"shares must be positive, got {shares.tolist()}")
    exact = n_identities * shares / shares.sum()
    sizes = np.floor(exact).astype(int)
    sizes[np.argsort(sizes - exact, kind="stable")[: n_identities - sizes.sum()]] += 1
    require(bool(np.all(sizes >= 2)), f"every group needs two identities; {n_identities} give {sizes.tolist()}")
    return sizes


def interval(kappa) -> tuple[float, float]:
    """(low, high) from a range of concentrations or from one number for both; raises InputError."""
    given = numbers(kappa, "kappa").astype(float)
    low, high = np.broadcast_to(given, 2) if given.shape in ((), (1,), (2,)) else (np.nan, np.nan)
    require(0 < low <= high < np.inf, f"kappa must be a number or (low, high) with 0 < low <= high < inf, got {kappa}")
    return low, high


def _concentrations(values, size: int) -> np.ndarray:
    values = np.array(values, np.float64)
    require(values.shape == (size,), f"concentrations must have shape ({size},), got {values.shape}")
    bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    require(bad.size == 0, f"concentrations must be positive and finite; rows {bad[:5].tolist()} are not")
    return values


def _labels(name: str, labels, size: int) -> np.ndarray:
    return clean_labels(labels, size, f"groups[{name!r}]", "identity")[0]
