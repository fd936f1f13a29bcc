"""Exact population rates of a mixture: FAR from the impostor scores' series, FRR from the genuine density.

Rates weigh identities as Conti & Clemencon do (2024, eq. 2-3): FAR is the mean over identity pairs k < l and
FRR the mean over identities, or weighted by p_k p_l and p_k. No image is drawn, so the values carry no
sampling noise; each FAR comes with a bound on its error. Where the bound is not small, the pairs that are to blame are
integrated one by one; where it still is not, the functions raise instead of answering.
"""

from functools import cached_property

import numpy as np
import xarray as xr
from scipy.optimize import brentq

from frkit.base import FAR_LEVEL, GROUP, REFERENCE_GROUP, THRESHOLD_LEVEL, require
from frkit.vmf.impostors import ImpostorScores, SeriesError, impostor_scores
from frkit.vmf.quadrature import GenuineScores


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
    return answered(mix, by, weights, lambda found: _dataset(found, threshold, THRESHOLD_LEVEL, threshold, cross))


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
    return answered(
        mix, by, weights, lambda found: _dataset(found, found.total.threshold_at(far), FAR_LEVEL, far, cross)
    )


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
    return answered(mix, by, weights, _all_summaries)


def _all_summaries(found: "_Population") -> xr.Dataset:
    names = ("eer", "eer_threshold", "auc")
    data = dict(zip(names, _summary(found.total, found.genuine)))
    if found.by is None:
        return xr.Dataset(data)
    each = [_summary(found.cells[g, g], genuine) for g, genuine in enumerate(found.group_genuine)]
    data |= {f"{name}_group": (GROUP, np.array(values)) for name, values in zip(names, zip(*each))}
    return xr.Dataset(data, coords={GROUP: found.groups})


def thresholds(mix, far) -> np.ndarray:
    """The thresholds of `roc` alone, shape (far_level,), in a fraction of its time."""
    far = checked_far(far)

    def found(population: _Population) -> np.ndarray:
        threshold = population.total.threshold_at(far)
        population.total.far(threshold, "all pairs")  # raises where it cannot be trusted
        return threshold

    return answered(mix, None, None, found)


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

    def __init__(self, mix, by, weights, one_by_one):
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
        self.cells, self.total = impostor_scores(sides, one_by_one)
        self._whole = (mix.concentrations, weights)
        self._parts = [] if by is None else [side[1:] for side in sides]

    @cached_property
    def genuine(self) -> GenuineScores:
        """Genuine scores of all identities."""
        return _genuine(*self._whole, self.dim)

    @cached_property
    def group_genuine(self) -> list[GenuineScores]:
        """Genuine scores of every group."""
        return [_genuine(*part, self.dim) for part in self._parts]


def _genuine(concentrations: np.ndarray, weights: np.ndarray, dim: int) -> GenuineScores:
    found = GenuineScores(concentrations, weights, dim)
    require(
        abs(found.below[-1] - 1) < 1e-9,
        f"the genuine density integrates to {found.below[-1]:.12g}, not 1: these concentrations "
        "and this dimension are beyond what FRR can be computed for; use smaller concentrations",
    )
    return found


def answered(mix, by, weights, compute) -> xr.Dataset | np.ndarray:
    """What `compute` makes of the population: by the series alone, or with single pairs integrated where that fails."""
    try:
        return compute(_population(mix, by, weights, False))
    except SeriesError:
        return compute(_population(mix, by, weights, True))


def _population(mix, by, weights, one_by_one: bool) -> _Population:
    """The population of a mixture by an attribute; those of equal weights are kept with the mixture."""
    if weights is not None:
        weights = np.asarray(weights, np.float64)
        right = weights.shape == (mix.n_identities,) and bool(np.all(weights >= 0)) and np.count_nonzero(weights) > 1
        require(right, f"weights must be {mix.n_identities} numbers >= 0, at least two of them positive")
        return _Population(mix, by, weights, one_by_one)
    if (by, one_by_one) not in mix._populations:
        mix._populations[by, one_by_one] = _Population(mix, by, np.ones(mix.n_identities), one_by_one)
    return mix._populations[by, one_by_one]


def _dataset(found: _Population, threshold: np.ndarray, level: str, levels: np.ndarray, cross: bool) -> xr.Dataset:
    """Rates at thresholds with their labels."""
    far, error = found.total.far(threshold, "all pairs")
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
    pairs = [found.cells[g, g].far(threshold, of[g]) for g in range(len(of))]
    far, error = np.transpose(pairs, (1, 2, 0))
    frr = np.transpose([genuine.frr(threshold) for genuine in found.group_genuine])
    dims = (level, GROUP)
    return {"far_group": (dims, far), "frr_group": (dims, frr), "error_bound_group": (dims, error)}


def _cross_rates(found: _Population, threshold: np.ndarray, level: str) -> dict:
    pairs = [
        [
            found.cells[min(g, h), max(g, h)].far(threshold, f"groups '{a}' and '{b}'")
            for h, b in enumerate(found.groups)
        ]
        for g, a in enumerate(found.groups)
    ]
    far, error = np.transpose(pairs, (2, 3, 0, 1))
    dims = (level, GROUP, REFERENCE_GROUP)
    return {"far_cross": (dims, far), "error_bound_cross": (dims, error)}


def _summary(impostor: ImpostorScores, genuine: GenuineScores) -> tuple[float, float, float]:
    """EER, its threshold, and AUC of one population's impostor and genuine scores."""

    def difference(threshold: float) -> float:
        point = np.array([threshold])
        return float(genuine.frr(point)[0] - impostor.survival(point)[0][0])

    threshold = brentq(difference, -1 + 1e-9, 1 - 1e-9, xtol=1e-14)
    eer, _ = impostor.far(np.array([threshold]), "the pairs at the equal error rate")
    accepted, _ = impostor.survival(np.tanh(genuine.nodes))
    return float(eer[0]), float(threshold), float(1 - (genuine.mass * accepted).sum() / genuine.below[-1])
