"""The law that identities are drawn from, and its exact rates, of infinitely many identities."""

from __future__ import annotations

import math

import numpy as np

from frkit.base import require, require_whole
from frkit.vmf import population
from frkit.vmf.exact import GenuineScores, UniformPairs
from frkit.vmf.mixture import Mixture
from frkit.vmf.panels import panel_rule
from frkit.vmf.population import Subpopulation
from frkit.vmf.random_mixture import kappa_range, mixture

# panels in sqrt(2 / p), the spread of log kappa over which FRR goes from 0 to 1
PANELS_PER_WIDTH = 2


class IdentityLaw:
    """The law of identities with uniform mean directions and concentrations in an interval.

    It is the law of `vmf.mixture`. Its rates are those of infinitely many identities. The images of
    two random people are independent uniform points, so FAR(t) is the tail of one coordinate of a
    uniform point, whatever the concentrations. FRR(t) is the genuine distribution function, as a
    mean over the law of kappa. Groups that differ in their concentrations are several laws, with
    one FAR.

    Parameters
    ----------
    dim : int
        p, at least 3; the defaults of dim and kappa are the paper's (Conti & Clemencon 2024, B.1).
    kappa : (low, high) or float
        Range of the concentrations.

    Raises
    ------
    InputError
        For an impossible range or dimension.

    Examples
    --------
    >>> law = IdentityLaw(dim=32, kappa=(50, 200))
    >>> law.draw(100, seed=1).n_identities
    100
    >>> round(float(law.population_roc(0.01).threshold[0]), 4)
    0.4032
    """

    def __init__(self, dim: int = 128, kappa: float | tuple[float, float] = (100, 800)):
        self.dim = require_whole("dim", dim, 3)
        self.kappa = kappa_range(kappa)

    def draw(self, n_identities: int = 1000, seed: int = 0) -> Mixture:
        """Draw identities: `vmf.mixture` of this law, the same seed giving the same mixture.

        Parameters
        ----------
        n_identities : int
            K, at least 2.
        seed : int

        Returns
        -------
        Mixture
        """
        return mixture(n_identities, self.dim, self.kappa, seed)

    def subpopulations(self, by: str | None = None) -> list[Subpopulation]:
        """The exact scores of all identities."""
        require(by is None, f"by={by!r}: a law has no groups; give each group a law of its own")
        low, high = self.kappa
        concentrations, weights = _quadrature(low, high, self.dim)
        genuine = GenuineScores(concentrations, weights, self.dim)
        return [Subpopulation("all identities", UniformPairs(self.dim), genuine)]

    population_roc = population.population_roc


def _quadrature(low, high, dim):
    """Concentrations and weights of a quadrature rule for kappa uniform on [low, high]."""
    if low == high:
        return np.array([low]), np.ones(1)
    # nodes are even in log kappa, because FRR changes evenly with it
    log_low, log_high = np.log([low, high])
    width = math.sqrt(2 / dim)
    n_panels = math.ceil((log_high - log_low) / width * PANELS_PER_WIDTH)
    edges = np.linspace(log_low, log_high, n_panels + 1)
    nodes, weights = panel_rule(edges[:-1], edges[1:])
    # d kappa = kappa d log kappa
    kappa = np.exp(nodes).ravel()
    return kappa, weights.ravel() * kappa
