"""Exact distribution of genuine scores: two images of one identity."""

import math

import numpy as np

from frkit.base import require
from frkit.vmf.densities import log_normaliser, log_uniform
from frkit.vmf.panels import PanelDistribution, log_cosh, radial_mode

BLOCK = 256  # identities whose densities are in memory at once
LARGEST_ERROR = 1e-9  # of the integral of the density


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
        total = self.distribution.total[0]
        require(
            abs(total - 1) < LARGEST_ERROR,
            f"the genuine density integrates to {total:.12g}, not 1, so FRR is not exact here: "
            "use smaller concentrations",
        )

    def frr(self, thresholds):
        """P(genuine score <= t), with a small relative error even where it is tiny."""
        z = np.arctanh(thresholds)
        return self.distribution.mass_below(z, np.zeros(np.shape(z), int))

    def mean(self, function):
        """Mean of a function of the genuine score."""
        values = function(np.tanh(self.distribution.nodes))
        weighted = self.distribution.node_masses * values
        return float(weighted.sum() / self.distribution.total[0])

    def _density(self, z, row):
        """Density in z = artanh(t), averaged over identities; there is one row only.

        The score t of two images of one identity has a density proportional to
        (1 - t^2)^((p-3)/2) h(kappa sqrt(2 + 2t)) / h(kappa)^2.
        """
        flat = z.ravel()
        density = np.zeros(flat.size)
        log_width = log_uniform(self.dim) + (self.dim - 1) * log_cosh(flat)
        # sqrt(2 + 2t), precise near t = -1 too
        sum_length = 2 / np.sqrt(1 + np.exp(-2 * flat))
        for start in range(0, self.concentrations.size, BLOCK):
            block = slice(start, start + BLOCK)
            kappa = self.concentrations[block, None]
            log_h_of_sum = log_normaliser(kappa * sum_length, self.dim)
            log_ratio = log_h_of_sum - 2 * log_normaliser(kappa, self.dim)
            density += self.weights[block] @ np.exp(log_ratio - log_width)
        return density.reshape(z.shape)
