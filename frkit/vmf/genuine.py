"""Exact distribution of genuine scores: two images of one identity."""

import math

import numpy as np

from frkit.vmf.densities import log_normaliser, log_uniform
from frkit.vmf.panels import PanelDistribution, log_cosh, radial_mode

BLOCK = 256  # identities whose densities are in memory at once


class GenuineScores:
    """Genuine scores of a mixture; identity k contributes in proportion to `weights[k]`."""

    def __init__(self, concentrations, weights, dim):
        self.dim = dim
        self.concentrations, number = np.unique(concentrations, return_inverse=True)
        self.weights = np.bincount(number, weights) / np.sum(weights)
        # identities of every concentration lie between 0 and the peak of the sharpest
        highest = math.atanh(radial_mode(self.concentrations[-1], dim) ** 2)
        spread = np.array([1 / math.sqrt(dim - 1)])
        self.distribution = PanelDistribution(
            self._density, np.array([highest / 2]), spread, dim, extent=highest / 2
        )

    def frr(self, thresholds):
        """P(genuine score <= t), of any shape; precise relative to itself where it is tiny, too."""
        z = np.arctanh(thresholds)
        return self.distribution.mass_below(z, np.zeros(np.shape(z), int))

    def mean(self, function):
        """Mean of a function of the genuine score."""
        values = function(np.tanh(self.distribution.nodes))
        return float((self.distribution.node_masses * values).sum() / self.distribution.total[0])

    def _density(self, z, row):
        """Density in z, averaged over identities; there is one row only."""
        density = np.zeros(z.size)
        for start in range(0, self.concentrations.size, BLOCK):
            block = slice(start, start + BLOCK)
            kappa = self.concentrations[block, None]
            log_density = genuine_log_density(z.ravel(), kappa, self.dim)
            density += self.weights[block] @ np.exp(log_density)
        return density.reshape(z.shape)


def genuine_log_density(z, concentrations, dim):
    """Log density, in z = artanh(t), of the score t of two images of one identity.

    t has the density proportional to (1 - t^2)^((p-3)/2) h(kappa sqrt(2 + 2t)) / h(kappa)^2.
    Arguments broadcast.
    """
    radius = concentrations * 2 / np.sqrt(1 + np.exp(-2 * z))
    log_peaks = 2 * log_normaliser(concentrations, dim)
    return log_normaliser(radius, dim) - log_peaks - log_uniform(dim) - (dim - 1) * log_cosh(z)
