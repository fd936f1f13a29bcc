"""Distribution functions and quantiles of scores, by integrating densities in z = artanh(t).

In z the densities of scores are smooth on the whole line and fall exponentially on both sides, for
every concentration and dimension >= 3. So Gauss-Legendre panels of half a standard deviation are
exact to machine precision.
"""

import math

import numpy as np
from numpy.polynomial.legendre import leggauss

NODE, NODE_WEIGHT = leggauss(10)  # of a panel
NEWTON_STEPS = 8
SPREADS = 9  # standard deviations that panels cover on each side, four panels to each of them
LOG_REST = 40  # beyond them, exp(-40) of the density is left


class PanelDistribution:
    """Several distributions of z, one in each row, given by their densities.

    Parameters
    ----------
    density : function of z and row
        Densities at z (any shape) of the rows with these numbers, which broadcast with z. They need
        not have the integral 1.
    centre, spread : arrays (rows,)
        Mean or mode, and standard deviation.
    dim : int
        Dimension p. In the end the densities fall like exp(-(p - 1) |z|).
    extent : float
        Half the length of the bulk, in addition to the spread.
    """

    def __init__(self, density, centre, spread, dim, extent=0.0):
        self.density = density
        reach = extent + SPREADS * spread + LOG_REST / (dim - 1)
        # all rows have as many panels, so that one array contains them all
        panels_of_row = 4 * reach / spread
        self.n_panels = math.ceil(panels_of_row.max())
        fractions = np.linspace(-1, 1, self.n_panels + 1)
        self.edges = centre[:, None] + reach[:, None] * fractions
        starts = self.edges[:, :-1]
        ends = self.edges[:, 1:]
        nodes, weights = panel_rule(starts, ends)
        rows = np.arange(len(centre))
        densities = density(nodes, rows[:, None, None])
        self.panel_masses = (weights * densities).sum(axis=-1)
        self.edge_masses = np.zeros(self.edges.shape)
        self.edge_masses[:, 1:] = np.cumsum(self.panel_masses, axis=1)
        self.total = self.edge_masses[:, -1]

    def mass_below(self, z, row):
        """Mass below z, precise in the far lower tail too; arguments broadcast."""
        low = self.edges[row, 0]
        high = self.edges[row, -1]
        z = np.clip(z, low, high)
        fraction = (z - low) / (high - low)
        panel = (fraction * self.n_panels).astype(int)
        panel = np.minimum(panel, self.n_panels - 1)
        start = self.edges[row, panel]
        mass_of_panels = self.edge_masses[row, panel]
        return mass_of_panels + self._mass_between(start, z, row)

    def quantile(self, probability, row):
        """The z (n,) at probabilities (n,) in (0, 1) of the distributions in these rows (n,)."""
        target = probability * self.total[row]
        is_below = self.edge_masses[row] <= target[:, None]
        n_edges_below = is_below.sum(axis=1)
        panel = np.clip(n_edges_below - 1, 0, self.n_panels - 1)
        start = self.edges[row, panel]
        end = self.edges[row, panel + 1]
        mass = target - self.edge_masses[row, panel]
        panel_mass = self.panel_masses[row, panel]
        panel_mass = np.maximum(panel_mass, np.finfo(float).tiny)
        # the start is linear in the panel
        z = start + (end - start) * mass / panel_mass
        for _ in range(NEWTON_STEPS):
            excess = self._mass_between(start, z, row) - mass
            step = excess / self.density(z, row)
            # the quantile lies in the panel, so no step leaves it
            z = np.clip(z - step, start, end)
        return z

    def _mass_between(self, start, end, row):
        nodes, weights = panel_rule(start, end)
        densities = self.density(nodes, row[..., None])
        return (weights * densities).sum(axis=-1)


def panel_rule(low, high):
    """Gauss-Legendre nodes and weights on each interval [low, high], along the last dimension."""
    half = (high - low)[..., None] / 2
    nodes = low[..., None] + half * (1 + NODE)
    return nodes, half * NODE_WEIGHT


def log_cosh(z):
    """Log of cosh z, without overflow."""
    return np.logaddexp(z, -z) - math.log(2)


def radial_mode(concentrations, dim):
    """The t where the density exp(kappa t) (1 - t^2)^((p-1)/2) of z = artanh <X, mu> peaks."""
    slope = dim - 1
    root = np.sqrt(slope**2 + 4 * concentrations**2)
    return 2 * concentrations / (root + slope)
