"""The law that identities are drawn from, and its exact rates: those of infinitely many identities."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv

from frkit.base import FAR_LEVEL, GROUP, THRESHOLD_LEVEL, require
from frkit.vmf.densities import GenuineScores, panel_rule
from frkit.vmf.mixture import Mixture
from frkit.vmf.population import checked_levels, labelled
from frkit.vmf.random_mixture import checked_groups, interval, mixture

PANELS_PER_WIDTH = (
    4  # panels in the spread sqrt(2 / p) of log kappa over which FRR goes from 0 to 1
)
FAR_ERROR = 1e-12  # relative; what the incomplete beta function and its inverse are good for


class IdentityLaw:
    """Identities without end: mean directions uniform on the sphere, concentrations uniform on an interval.

    It is the law of `vmf.mixture`. Its rates are those that new identities are drawn around: the images of two
    strangers are two independent uniform points, so FAR(t) is the tail of one coordinate of a uniform point
    whatever the concentrations, and FRR(t) is the mean over the law of kappa of the genuine distribution function.

    Parameters
    ----------
    dim : int
        p, at least 3; the defaults of dim and kappa are the paper's (Conti & Clemencon 2024, B.1).
    kappa : (low, high) or float
        Range of the concentrations.
    groups : mapping of group name to options, optional
        Options are `share` (of the identities; default: equal) and `kappa` (default: as above). All groups have the
        FAR of the whole.

    Raises
    ------
    InputError
        For an impossible range or dimension, or `cohesion`, which `vmf.mixture` has and a law of uniform directions
        has not.

    Examples
    --------
    >>> law = IdentityLaw(dim=32, kappa=(50, 200))
    >>> law.draw(100, seed=1).n_identities
    100
    >>> round(float(law.population_roc(0.01).threshold[0]), 4)
    0.4032
    """

    def __init__(
        self,
        dim: int = 128,
        kappa: float | tuple[float, float] = (100, 800),
        groups: Mapping | None = None,
    ):
        require(dim == int(dim) and dim >= 3, f"dim must be an integer of at least 3, got {dim}")
        self.dim, self.kappa, self.groups = int(dim), interval(kappa), groups
        # no cohesion: draw one large vmf.mixture, which knows it, and take its rates
        options, share = checked_groups(groups, ("share", "kappa"))
        self._names, self._share = list(options), share / share.sum()
        ranges = [interval(given.get("kappa", kappa)) for given in options.values()]
        self._genuine = [
            GenuineScores(*_nodes(low, high, self.dim), self.dim) for low, high in ranges
        ]

    def __repr__(self) -> str:
        low, high = self.kappa
        return f"<vMF identity law: dim {self.dim}, kappa uniform from {low:.4g} to {high:.4g}>"

    def draw(self, n_identities: int = 1000, seed: int = 0) -> Mixture:
        """Draw identities: `vmf.mixture` of this law, the same seed giving the same mixture.

        Parameters
        ----------
        n_identities : int
            K, at least 2 in every group.
        seed : int or SeedSequence

        Returns
        -------
        Mixture
            With the attribute "group" where the law has groups.
        """
        return mixture(n_identities, self.dim, self.kappa, seed, self.groups)

    def population_rates(self, threshold: ArrayLike, *, by: str | None = None) -> xr.Dataset:
        """Exact FAR and FRR of infinitely many identities at cosine thresholds in (-1, 1).

        Parameters
        ----------
        threshold : float or array (threshold_level,)
        by : "group", optional
            Adds `far_group`, `frr_group` and `error_bound_group` over (threshold_level, group).

        Returns
        -------
        xr.Dataset
            `threshold, far, frr, error_bound` (of FAR, relative to it) over threshold_level.

        Raises
        ------
        InputError
            For a threshold outside (-1, 1), or groups that the law has not.

        References
        ----------
        Conti & Clemencon 2024, eq. 2-3.
        """
        threshold = checked_levels(threshold, "threshold", -1)
        far = betainc(self.dim / 2 - 0.5, self.dim / 2 - 0.5, (1 - threshold) / 2)
        return self._dataset(threshold, far, THRESHOLD_LEVEL, threshold, by)

    def population_roc(self, far: ArrayLike, *, by: str | None = None) -> xr.Dataset:
        """Exact thresholds and FRR of infinitely many identities at FAR levels in (0, 1).

        Parameters
        ----------
        far : float or array (far_level,)
        by : "group", optional
            As in `population_rates`.

        Returns
        -------
        xr.Dataset
            The variables of `population_rates`, over far_level.

        Raises
        ------
        InputError
            For a level outside (0, 1), or groups that the law has not.

        References
        ----------
        Conti & Clemencon 2024, eq. 2-4.
        """
        far = checked_levels(far, "far", 0)
        threshold = 1 - 2 * betaincinv(self.dim / 2 - 0.5, self.dim / 2 - 0.5, far)
        return self._dataset(threshold, far, FAR_LEVEL, far, by)

    def _dataset(
        self, threshold: np.ndarray, far: np.ndarray, level: str, levels: np.ndarray, by
    ) -> xr.Dataset:
        """Rates at thresholds with their labels."""
        known = by is None or (self.groups is not None and by == GROUP)
        require(known, f"by={by!r}: this law has no such groups; give groups=")
        frr = np.transpose([genuine.frr(threshold) for genuine in self._genuine])
        frr = np.column_stack([frr @ self._share, frr])
        rates = {
            "far": far[:, None] + 0 * frr,
            "frr": frr,
            "error_bound": np.full(frr.shape, FAR_ERROR),
        }
        found = labelled(threshold, rates, level, levels, None if by is None else self._names)
        return found.assign_attrs(
            source="exact rates of infinitely many von Mises-Fisher identities"
        )


def _nodes(low: float, high: float, dim: int) -> tuple[np.ndarray, np.ndarray]:
    """Concentrations and weights of a quadrature rule for means over kappa uniform on [low, high]."""
    if low == high:
        return np.array([low]), np.ones(1)
    panels = math.ceil(np.log(high / low) * math.sqrt(dim / 2) * PANELS_PER_WIDTH / 2)
    edges = np.linspace(np.log(low), np.log(high), panels + 1)
    nodes, weights = panel_rule(edges[:-1], edges[1:])
    # nodes are even in log kappa, where FRR changes evenly; the factor kappa makes their weights those of kappa
    kappa = np.exp(nodes).ravel()
    return kappa, weights.ravel() * kappa
