"""The von Mises-Fisher distribution: its normaliser, and radial and genuine densities integrated in z = artanh(t).

With respect to uniform points, vMF(mu, kappa) has the density exp(kappa <x, mu>) / h(kappa), h(r) = E exp(r U_1) for a
uniform point U (`log_normaliser`).

In z both densities are smooth on the whole line and fall exponentially on both sides, for every concentration
and dimension >= 3, so Gauss-Legendre panels about half a standard deviation wide are exact to machine
precision.
"""

import math

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import ive

POINT, WEIGHT = leggauss(10)  # of a panel
NEWTON_STEPS = 8
FORGETTING = (
    45  # each step shrinks the error of the start by exp(-2 order / kappa): together by exp(-45)
)


def log_normaliser(radius: np.ndarray, dim: int) -> np.ndarray:
    """log h(r), h(r) = E exp(r U_1) for U uniform on the sphere of R^p: Gamma(a+1) (2/r)^a I_a(r), a = p/2 - 1."""
    order = dim / 2 - 1
    scaled = ive(order, radius)
    with np.errstate(divide="ignore"):
        log_bessel = np.log(scaled) + radius
    # at high orders and small arguments ive underflows, but its logarithm does not
    tiny = scaled < 1e-290
    log_bessel[tiny] = _log_bessel_large_order(order, radius[tiny])
    return math.lgamma(order + 1) + order * np.log(2 / radius) + log_bessel


def bessel_ratios(concentration: np.ndarray, dim: int, n_terms: int) -> np.ndarray:
    """A_m(kappa) = I_{p/2-1+m}(kappa) / I_{p/2-1}(kappa) (kappa, m), by a backward continued fraction.

    It starts far enough above the last term for what is wrong with its start to be forgotten.
    """
    # extended precision: A_m is a product of m ratios, and a series takes thousands of them
    order = np.longdouble(dim) / 2 - 1
    kappa = np.asarray(concentration, np.longdouble)
    start = 200 + math.ceil(math.sqrt(n_terms**2 + FORGETTING * float(kappa.max())))
    ratio = kappa / (order + start + np.sqrt((order + start) ** 2 + kappa**2))
    ratios = np.ones((kappa.size, n_terms), np.longdouble)
    for m in range(start - 1, -1, -1):
        ratio = 1 / (2 * (order + m + 1) / kappa + ratio)
        if m + 1 < n_terms:
            ratios[:, m + 1] = ratio
    return np.cumprod(ratios, axis=1).astype(np.float64)


def mean_resultants(concentration: np.ndarray, dim: int) -> np.ndarray:
    """A_1(kappa), the length of the mean of vMF(mu, kappa), for concentrations (K,)."""
    return bessel_ratios(concentration, dim, 2)[:, 1]


def _log_bessel_large_order(order: float, x: np.ndarray) -> np.ndarray:
    """log I_order(x) by Debye's uniform expansion, three corrections (DLMF 10.41.3): for what underflows."""
    root = np.hypot(1, x / order)
    q = 1 / root
    correction = (
        (3 * q - 5 * q**3) / 24 / order
        + (81 * q**2 - 462 * q**4 + 385 * q**6) / 1152 / order**2
        + (30375 * q**3 - 369603 * q**5 + 765765 * q**7 - 425425 * q**9) / 414720 / order**3
    )
    exponent = order * (root + np.log(x / order / (1 + root)))
    return exponent - 0.5 * np.log(2 * math.pi * order * root) + np.log1p(correction)


def _log_cosh(z: np.ndarray) -> np.ndarray:
    """log cosh z, without overflow."""
    size = np.abs(z)
    return size + np.log1p(np.exp(-2 * size)) - math.log(2)


def _radial_mode(concentration, slope) -> np.ndarray:
    """The t = tanh z at which exp(kappa tanh z) / cosh(z)^slope, the density of artanh <X, mu>, peaks."""
    return 2 * concentration / (np.sqrt(slope**2 + 4 * concentration**2) + slope)


def genuine_log_density(z: np.ndarray, concentration: np.ndarray, dim: int) -> np.ndarray:
    """Log density, in z = artanh of the score, of two images of one identity; arguments broadcast.

    The score t has the density proportional to (1 - t^2)^((p-3)/2) h(kappa sqrt(2 + 2t)) / h(kappa)^2, where
    h(r) = E exp(r U_1) for a uniform point U.
    """
    concentration = np.asarray(concentration, np.float64)
    radius = concentration * 2 / np.sqrt(1 + np.exp(-2 * np.asarray(z)))
    log_peak = 2 * log_normaliser(np.atleast_1d(concentration), dim).reshape(concentration.shape)
    return log_normaliser(radius, dim) - log_peak - log_uniform(dim) - (dim - 1) * _log_cosh(z)


def log_uniform(dim: int) -> float:
    """log of the integral of (1 - t^2)^((p-3)/2): the norm of the score of two uniform points."""
    return 0.5 * math.log(math.pi) + math.lgamma(dim / 2 - 0.5) - math.lgamma(dim / 2)


class GenuineScores:
    """Exact distribution of the genuine score of a mixture: identity k has the share `weight[k]`."""

    def __init__(self, concentration: np.ndarray, weight: np.ndarray, dim: int):
        self.dim = dim
        self.concentration, place = np.unique(concentration, return_inverse=True)
        self.weight = np.bincount(place, weight) / np.sum(weight)
        # the density falls like exp(-(p - 1) |z|) in the end: 40 / (p - 1) beyond the bulk exp(-40) of it is left
        spread, tail = 1 / math.sqrt(dim - 1), 40 / (dim - 1)
        highest = math.atanh(_radial_mode(self.concentration[-1], dim - 1) ** 2)
        low, high = -9 * spread - tail, highest + 9 * spread + tail
        self.edges = np.linspace(low, high, 1 + math.ceil((high - low) / (0.5 * spread)))
        self.nodes, self.mass = panel_rule(self.edges[:-1], self.edges[1:])
        self.mass = self.mass * self.density(self.nodes)
        self.below = np.concatenate([[0], np.cumsum(self.mass.sum(1))])

    def density(self, z: np.ndarray) -> np.ndarray:
        """Density in z, averaged over identities; any shape."""
        flat, total = np.ravel(z)[None, :], np.zeros(np.size(z))
        for start in range(0, self.concentration.size, 256):
            part = slice(start, start + 256)
            total += self.weight[part] @ np.exp(
                genuine_log_density(flat, self.concentration[part, None], self.dim)
            )
        return total.reshape(np.shape(z))

    def frr(self, threshold: np.ndarray) -> np.ndarray:
        """P(genuine score <= threshold), any shape; relative accuracy holds in the far lower tail too."""
        z = np.clip(np.arctanh(threshold), self.edges[0], self.edges[-1])
        panel = np.clip(np.searchsorted(self.edges, z, side="right") - 1, 0, self.edges.size - 2)
        nodes, weights = panel_rule(self.edges[panel], z)
        return self.below[panel] + (weights * self.density(nodes)).sum(-1)


def panel_rule(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights on each interval [low, high]; the nodes are the last dimension."""
    half = (np.asarray(high) - np.asarray(low))[..., None] / 2
    return np.asarray(low)[..., None] + half * (1 + POINT), half * WEIGHT


class RadialInverse:
    """Inverse distribution function of <X, mu> for X ~ vMF(mu, kappa): exact draws from uniform numbers."""

    def __init__(self, concentration: np.ndarray, dim: int):
        self.kappa, self.slope = np.asarray(concentration, np.float64), dim - 1
        mode = _radial_mode(self.kappa, self.slope)
        spread = 1 / np.sqrt((1 - mode**2) * (self.slope + 2 * self.kappa * mode))
        self.centre, reach = np.arctanh(mode), 9 * spread + 40 / self.slope
        n_panels = math.ceil(np.max(4 * reach / spread))
        self.low, self.step = self.centre - reach, 2 * reach / n_panels
        starts = self.low[:, None] + self.step[:, None] * np.arange(n_panels)
        nodes, weights = panel_rule(starts, starts + self.step[:, None])
        mass = (weights * self._density(nodes, np.arange(self.kappa.size)[:, None, None])).sum(-1)
        self.total = mass.sum(1)
        self.below = np.concatenate([np.zeros((self.kappa.size, 1)), np.cumsum(mass, 1)], axis=1)

    def _density(self, z: np.ndarray, identity: np.ndarray) -> np.ndarray:
        """Density in z, 1 at the mode."""
        kappa, centre = self.kappa[identity], self.centre[identity]
        rise = kappa * (np.tanh(z) - np.tanh(centre)) - self.slope * (
            _log_cosh(z) - _log_cosh(centre)
        )
        return np.exp(rise)

    def __call__(self, probability: np.ndarray, identity: np.ndarray) -> np.ndarray:
        """artanh of the radial parts (n,) at probabilities (n,) in (0, 1) of the identities numbered (n,)."""
        target = probability * self.total[identity]
        below = self.below[identity]
        panel = np.clip((below <= target[:, None]).sum(1) - 1, 0, below.shape[1] - 2)
        rows = np.arange(target.size)
        start = self.low[identity] + self.step[identity] * panel
        stop = start + self.step[identity]
        rest, whole = target - below[rows, panel], below[rows, panel + 1] - below[rows, panel]
        z = start + self.step[identity] * rest / np.where(whole > 0, whole, 1)
        # the panel's start and end bound every step: the inverse lies between them
        for _ in range(NEWTON_STEPS):
            nodes, weights = panel_rule(start, z)
            reached = (weights * self._density(nodes, identity[:, None])).sum(1)
            z = np.clip(z - (reached - rest) / self._density(z, identity), start, stop)
        return z
