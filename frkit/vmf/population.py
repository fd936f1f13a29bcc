"""Exact population rates of a mixture: FAR from the Gegenbauer series, FRR from the genuine density.

Rates weigh identities as Conti & Clemencon do (2024, eq. 2-3): FAR is the mean over identity pairs k < l and
FRR the mean over identities, or weighted by p_k p_l and p_k. No image is drawn, so the values carry no
sampling noise; each FAR comes with a bound on its error, and where the bound is not small the functions raise
instead of answering.
"""

import numpy as np
import xarray as xr
from scipy.optimize import brentq, elementwise

from frkit.faces import FAR_LEVEL, GROUP, InputError, require
from frkit.vmf.quadrature import GenuineScores
from frkit.vmf.series import TAIL, pair_coefficients, pair_weight, survival

LARGEST_ERROR = 1e-6
FIRST_TERMS, MOST_TERMS = 96, 4096
SAMPLE = 100  # identities of each group that tell how many terms are needed
REFERENCE_GROUP, THRESHOLD_LEVEL = "reference_group", "threshold_level"


def rates(mix, threshold, *, by=None, weights=None, cross=False) -> xr.Dataset:
    """Exact population FAR and FRR of a mixture at thresholds; a pair is accepted when its score exceeds one.

    Parameters
    ----------
    mix : Mixture
    threshold : float or array (threshold_level,)
        Cosine thresholds in (-1, 1).
    by : str, optional
        Attribute of the mixture: adds the rates of each of its groups (both identities in the group).
    weights : array (K,), optional
        Weight p_k of each identity; equal by default.
    cross : bool
        With `by`: add the FAR between groups.

    Returns
    -------
    xr.Dataset
        `threshold, far, frr, error_bound` (threshold_level); with `by` also `far_group, frr_group,
        error_bound_group` (threshold_level, group); with `cross` also `far_cross, error_bound_cross`
        (threshold_level, group, reference_group). Error bounds are those of FAR, relative to it.

    Raises
    ------
    InputError
        Where an error bound exceeds 1e-6 of its FAR, a threshold is outside (-1, 1), an attribute is unknown,
        a group has one identity, or a weight is negative.

    References
    ----------
    Conti & Clemencon 2024, eq. 2-3, 21-22.

    Examples
    --------
    >>> from frkit.vmf import mixture
    >>> rates(mixture(50, dim=32), [0.3, 0.5]).far.dims
    ('threshold_level',)
    """
    threshold = checked_thresholds(threshold)
    found = checked_population(mix, by, weights)
    return _dataset(found, threshold, THRESHOLD_LEVEL, threshold, cross)


def roc(mix, far, *, by=None, weights=None, cross=False) -> xr.Dataset:
    """Exact population ROC of a mixture: the threshold where FAR reaches each level, and the rates there.

    Parameters
    ----------
    mix : Mixture
    far : float or array (far_level,)
        FAR levels in (0, 1).
    by, weights, cross
        As in `rates`. Thresholds are always those of the whole population.

    Returns
    -------
    xr.Dataset
        The variables of `rates`, over `far_level` instead of `threshold_level`.

    Raises
    ------
    InputError
        As in `rates`. At the paper's sizes the error bound holds down to FAR 1e-20.

    References
    ----------
    Conti & Clemencon 2024, eq. 2-4.

    Examples
    --------
    >>> from frkit.vmf import mixture
    >>> roc(mixture(50, dim=32), [1e-3, 1e-2]).frr.dims
    ('far_level',)
    """
    far = checked_far(far)
    found = checked_population(mix, by, weights)
    threshold = _threshold_at(found.total, mix.dim, far)
    return _dataset(found, threshold, FAR_LEVEL, far, cross)


def summary(mix, *, by=None, weights=None) -> xr.Dataset:
    """Exact equal error rate with its threshold, and exact area under the ROC curve, P(genuine > impostor).

    Parameters
    ----------
    mix, by, weights
        As in `rates`; groups have an EER and a threshold of their own.

    Returns
    -------
    xr.Dataset
        `eer, eer_threshold, auc` (); with `by` also `eer_group, eer_threshold_group, auc_group` (group).

    Raises
    ------
    InputError
        As in `rates`.

    Examples
    --------
    >>> from frkit.vmf import mixture
    >>> 0.99 < float(summary(mixture(50, dim=64)).auc) < 1
    True
    """
    found = checked_population(mix, by, weights)
    names = ("eer", "eer_threshold", "auc")
    data = dict(zip(names, _summary(found.total, found.genuine, mix.dim)))
    if by is None:
        return xr.Dataset(data)
    each = [_summary(found.cells[g, g], found.group_genuine[g], mix.dim) for g in range(len(found.groups))]
    data |= {f"{name}_group": (GROUP, np.array(values)) for name, values in zip(names, zip(*each))}
    return xr.Dataset(data, coords={GROUP: found.groups})


def checked_thresholds(threshold) -> np.ndarray:
    """Thresholds (threshold_level,) in (-1, 1), or InputError."""
    threshold = np.atleast_1d(np.asarray(threshold, np.float64))
    inside = bool(np.all((threshold > -1) & (threshold < 1)))
    require(threshold.ndim == 1 and inside, f"threshold must hold numbers in (-1, 1), got {threshold}")
    return threshold


def checked_far(far) -> np.ndarray:
    """FAR levels (far_level,) in (0, 1), or InputError."""
    far = np.atleast_1d(np.asarray(far, np.float64))
    require(far.ndim == 1 and bool(np.all((far > 0) & (far < 1))), f"far must hold numbers in (0, 1), got {far}")
    return far


class _Population:
    """What the rates of one mixture are made of: series per cell of groups, genuine scores per group."""

    def __init__(self, mix, by, weights):
        labels = np.zeros(mix.n_identities, str) if by is None else mix.labels(by)
        self.dim, self.by = mix.dim, by
        self.groups, number = np.unique(labels, return_inverse=True)
        sizes = np.bincount(number[weights > 0], minlength=len(self.groups))
        lonely = self.groups[sizes < 2].tolist()
        require(
            not lonely,
            f"by={by!r}: groups {lonely} have fewer than two identities of positive weight; merge them",
        )
        members = [np.flatnonzero((number == g) & (weights > 0)) for g in range(len(self.groups))]
        sides = [(mix.mean_directions[m], mix.concentrations[m], weights[m]) for m in members]
        self.cells, self.total = _series(sides)
        self.genuine = GenuineScores(mix.concentrations, weights, mix.dim)
        parts = [] if by is None else sides
        self.group_genuine = [GenuineScores(kappa, weight, mix.dim) for _, kappa, weight in parts]
        for genuine in (self.genuine, *self.group_genuine):
            require(
                abs(genuine.below[-1] - 1) < 1e-9,
                f"the genuine density integrates to {genuine.below[-1]:.12g}, not 1: these concentrations "
                "and this dimension are beyond what FRR can be computed for; use smaller concentrations",
            )


def checked_population(mix, by, weights=None) -> _Population:
    """The population of a mixture by an attribute; those of equal weights are kept with the mixture."""
    if weights is not None:
        weights = np.asarray(weights, np.float64)
        right = weights.shape == (mix.n_identities,) and bool(np.all(weights >= 0)) and np.count_nonzero(weights) > 1
        require(right, f"weights must be {mix.n_identities} numbers >= 0, at least two of them positive")
        return _Population(mix, by, weights)
    if by not in mix._populations:
        mix._populations[by] = _Population(mix, by, np.ones(mix.n_identities))
    return mix._populations[by]


def _series(sides: list) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of every cell (group, group, 2, m) and of all pairs (2, m), with the terms they need.

    The identities with the largest concentrations need the most terms, so those tell first how many.
    """
    sharpest = [tuple(part[np.argsort(-side[1])[:SAMPLE]] for part in side) for side in sides]
    n_terms = _grown(sharpest, FIRST_TERMS)[1].shape[1]
    return _grown(sides, n_terms)


def _grown(sides: list, n_terms: int) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients with `n_terms` terms, or more until the last ones are negligible at every threshold."""
    dim, grid = sides[0][0].shape[1], np.linspace(-0.999, 0.999, 101)
    while n_terms <= MOST_TERMS:
        cells, total = _cells(sides, n_terms)
        ends = total.copy()
        ends[:, :-TAIL] = 0
        if np.max(survival(grid, dim, ends)[1]) < 1e-25:
            return cells, total
        n_terms += n_terms // 2
    raise InputError(
        f"the impostor series needs more than {MOST_TERMS} terms: the concentrations are too large for "
        f"dimension {dim}; use smaller concentrations"
    )


def _cells(sides: list, n_terms: int) -> tuple[np.ndarray, np.ndarray]:
    n_groups = len(sides)
    cells = np.empty((n_groups, n_groups, 2, n_terms))
    total, total_weight = np.zeros((2, n_terms)), 0.0
    for g in range(n_groups):
        for h in range(g, n_groups):
            right = None if g == h else sides[h]
            cells[g, h] = cells[h, g] = pair_coefficients(sides[g], right, n_terms)
            weight = pair_weight(sides[g][2], None if g == h else sides[h][2])
            total += weight * cells[g, h]
            total_weight += weight
    return cells, total / total_weight


def _threshold_at(coefficients: np.ndarray, dim: int, far: np.ndarray) -> np.ndarray:
    """Thresholds (L,) where the series equals each FAR level."""
    edge = 1 - 1e-12
    bracket = (np.full(far.shape, -edge), np.full(far.shape, edge))
    return elementwise.find_root(lambda t, level: survival(t, dim, coefficients)[0] - level, bracket, args=(far,)).x


def _far(coefficients: np.ndarray, dim: int, threshold: np.ndarray, of: str) -> tuple[np.ndarray, np.ndarray]:
    """FAR and its relative error bound at thresholds; raises where the bound is too large."""
    far, bound = survival(threshold, dim, coefficients)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(far > 0, bound / far, np.inf)
    worst = int(np.argmax(relative))
    require(
        bool(relative[worst] <= LARGEST_ERROR),
        f"FAR of {of} at threshold {threshold[worst]:.6g} cannot be trusted: it is {far[worst]:.3g} and its "
        f"error may be {bound[worst]:.3g}; ask for larger FAR levels or lower thresholds"
        + ("" if of == "all pairs" else ", or leave out by= or cross="),
    )
    return far, relative


def _dataset(found: _Population, threshold: np.ndarray, level: str, levels: np.ndarray, cross: bool) -> xr.Dataset:
    """Rates at thresholds with their labels."""
    far, error = _far(found.total, found.dim, threshold, "all pairs")
    values = {"threshold": threshold, "far": far, "frr": found.genuine.frr(threshold), "error_bound": error}
    data = {name: (level, value) for name, value in values.items()}
    coords = {level: levels}
    if found.by is not None:
        data |= _group_rates(found, threshold, level)
        coords[GROUP] = found.groups
    if cross:
        require(found.by is not None, "cross=True needs by=, the attribute whose groups are compared")
        data |= _cross_rates(found, threshold, level)
        coords[REFERENCE_GROUP] = found.groups
    return xr.Dataset(data, coords=coords, attrs={"source": "exact von Mises-Fisher population rates"})


def _group_rates(found: _Population, threshold: np.ndarray, level: str) -> dict:
    of = [f"group '{name}'" for name in found.groups]
    pairs = [_far(found.cells[g, g], found.dim, threshold, of[g]) for g in range(len(of))]
    far, error = np.transpose(pairs, (1, 2, 0))
    frr = np.transpose([genuine.frr(threshold) for genuine in found.group_genuine])
    dims = (level, GROUP)
    return {"far_group": (dims, far), "frr_group": (dims, frr), "error_bound_group": (dims, error)}


def _cross_rates(found: _Population, threshold: np.ndarray, level: str) -> dict:
    pairs = [
        [_far(found.cells[g, h], found.dim, threshold, f"groups '{a}' and '{b}'") for h, b in enumerate(found.groups)]
        for g, a in enumerate(found.groups)
    ]
    far, error = np.transpose(pairs, (2, 3, 0, 1))
    dims = (level, GROUP, REFERENCE_GROUP)
    return {"far_cross": (dims, far), "error_bound_cross": (dims, error)}


def _summary(coefficients: np.ndarray, genuine: GenuineScores, dim: int) -> tuple[float, float, float]:
    """EER, its threshold, and AUC of one series and its genuine scores."""

    def difference(threshold: float) -> float:
        point = np.array([threshold])
        return float(genuine.frr(point)[0] - survival(point, dim, coefficients)[0][0])

    threshold = brentq(difference, -1 + 1e-9, 1 - 1e-9, xtol=1e-14)
    eer, _ = _far(coefficients, dim, np.array([threshold]), "the pairs at the equal error rate")
    accepted, _ = survival(np.tanh(genuine.nodes), dim, coefficients)
    return float(eer[0]), float(threshold), float(1 - (genuine.mass * accepted).sum() / genuine.below[-1])
