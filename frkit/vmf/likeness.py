"""New identities in the likeness of those of a mixture: what a study with more people would meet."""

import numpy as np
from scipy.optimize import brentq

from frkit.base import require
from frkit.vmf.fitting import solve_concentrations
from frkit.vmf.mixture import Mixture, group_sizes
from frkit.vmf.series import bessel_ratios, mean_resultants


class Likeness:
    """A law of identities with the concentrations and the likeness between people of a given mixture.

    Concentrations: drawn with replacement from those of the group; where the mixture was fitted, log kappa is blurred
    by a normal number as wide as what the fit does not know of that identity (`log_kappa_sd`).

    Mean directions: a Gaussian vector, scaled to length 1. Its mean is the group's mean direction, so long that two
    people of the group are as alike on average as in the mixture; its covariance, common to all groups, is that of the
    mixture's directions, drawn towards a multiple of the unit matrix until the mean squared cosine of two people is
    that of the mixture. (The covariance of few directions makes people too much alike: it knows only their span.) Both
    averages are corrected for the noise in fitted directions.

    Parameters
    ----------
    mixture : Mixture
        With at least three identities in every group.
    by : str, optional
        Attribute of the mixture whose groups are kept, each with its share.
    dim : int, optional
        A smaller dimension for images to scatter in, as `vmf.fit` finds in real embeddings (`residual_dimension` + 1).
        Directions are turned onto their main axes; concentrations keep the mean genuine score.

    Raises
    ------
    InputError
        For an unknown attribute, a group of fewer than three identities, or a dimension out of range.

    Examples
    --------
    >>> from frkit.vmf import fit, mixture
    >>> fitted = fit(mixture(40, dim=32, kappa=(60, 200)).sample(5))
    >>> Likeness(fitted).draw(200, seed=1).n_identities
    200
    """

    def __init__(self, mixture: Mixture, *, by: str | None = None, dim: int | None = None):
        labels = np.zeros(mixture.n_identities, str) if by is None else mixture.labels(by)
        self.by, self.dim = by, mixture.dim if dim is None else int(dim)
        require(3 <= self.dim <= mixture.dim, f"dim must lie between 3 and the mixture's {mixture.dim}, got {dim}")
        self._names, self._number, counts = np.unique(labels, return_inverse=True, return_counts=True)
        few = self._names[counts < 3].tolist()
        require(not few, f"groups {few} have fewer than three identities: too few to say what others would be like")
        self._share = counts / counts.sum()
        self._set_concentrations(mixture)
        self._set_directions(mixture)

    def __repr__(self) -> str:
        groups = "" if self.by is None else f", {self.by}: {', '.join(self._names)}"
        low, high = np.exp(self._log_kappa.min()), np.exp(self._log_kappa.max())
        return f"<likeness of a vMF mixture: dim {self.dim}, kappa {low:.4g} to {high:.4g}{groups}>"

    def draw(self, n_identities: int = 1000, seed: int = 0) -> Mixture:
        """Draw identities.

        Parameters
        ----------
        n_identities : int
            K, at least 2 in every group.
        seed : int or SeedSequence

        Returns
        -------
        Mixture
            With the attribute `by`, where the law has groups.
        """
        rng = np.random.default_rng(seed)
        sizes = group_sizes(n_identities, self._share)
        group = np.repeat(np.arange(len(sizes)), sizes)
        directions = self._mean[group] + rng.standard_normal((n_identities, self.dim)) @ self._root
        whose = np.concatenate([rng.choice(np.flatnonzero(self._number == g), size) for g, size in enumerate(sizes)])
        log_kappa = self._log_kappa[whose] + self._log_sd[whose] * rng.standard_normal(n_identities)
        groups = None if self.by is None else {self.by: self._names[group]}
        return Mixture(directions, np.exp(log_kappa), groups)

    def _set_concentrations(self, mixture: Mixture) -> None:
        """log kappa (K,) in the law's dimension and what a fit does not know of it (K,)."""
        kappa, known = mixture.concentrations, mixture.fitted is None
        if self.dim < mixture.dim:
            kappa = solve_concentrations(mean_resultants(kappa, mixture.dim), self.dim)
        self._log_kappa = np.log(kappa)
        self._log_sd = np.zeros(kappa.size) if known else mixture.fitted.log_kappa_sd.values

    def _set_directions(self, mixture: Mixture) -> None:
        """Group means (G, p) and the root of the common covariance (p, p), on the main axes."""
        first, second = _noise(mixture)
        unit = mixture.mean_directions / first[:, None]
        means = np.array([_group_mean(unit[self._number == g]) for g in range(len(self._names))])
        residual = (
            mixture.mean_directions
            - np.array([mixture.mean_directions[self._number == g].mean(0) for g in range(len(self._names))])[
                self._number
            ]
        )
        _, size, axes = np.linalg.svd(residual, full_matrices=True)
        values = np.zeros(mixture.dim)
        values[: len(size)] = size**2
        turned, values = (means @ axes.T)[:, : self.dim], values[: self.dim]
        values *= (1 - self._share @ (turned**2).sum(1)) / values.sum()
        values = _matched(values, turned, self._share, _mean_square(mixture.mean_directions, second))
        self._mean, self._root = turned, np.diag(np.sqrt(values))


def _noise(mixture: Mixture) -> tuple[np.ndarray, np.ndarray]:
    """A_1 and A_2 (K,) of the fitted mean directions around the true ones; 1 where nothing was fitted."""
    if mixture.fitted is None:
        return np.ones(mixture.n_identities), np.ones(mixture.n_identities)
    length = mixture.fitted.n_images * mixture.fitted.resultant.fillna(1)
    return tuple(bessel_ratios(mixture.concentrations * length.values, mixture.dim, 3)[:, 1:].T)


def _group_mean(unit: np.ndarray) -> np.ndarray:
    """Mean of a group's directions; its length is the root of the mean cosine between two people, at least 0."""
    n, total = len(unit), unit.sum(0)
    cosine = (total @ total - (unit**2).sum()) / (n * (n - 1))
    return total / np.linalg.norm(total) * np.sqrt(max(cosine, 0))


def _mean_square(directions: np.ndarray, second: np.ndarray) -> float:
    """Mean squared cosine of two people's true directions, from directions with noise of A_2 = second (K,)."""
    n, dim = directions.shape
    square = (directions @ directions.T) ** 2 - 1 / dim
    np.fill_diagonal(square, 0)
    return 1 / dim + float((square / np.outer(second, second)).sum() / (n * (n - 1)))


def _matched(values: np.ndarray, means: np.ndarray, share: np.ndarray, target: float) -> np.ndarray:
    """Variances (p,) along the axes, drawn towards their mean until the mean squared cosine is the target."""

    def excess(drawn: float) -> float:
        mixed = (1 - drawn) * values + drawn * values.mean()
        between = share @ (means @ means.T) ** 2 @ share
        return between + 2 * share @ (means**2) @ mixed + (mixed**2).sum() - target

    drawn = 0.0 if excess(0) <= 0 else 1.0 if excess(1) >= 0 else brentq(excess, 0, 1)
    return (1 - drawn) * values + drawn * values.mean()
