"""Exact population rates of a mixture: FAR from the impostor scores' series, FRR from the genuine density.

Rates weigh identities as Conti & Clemencon do (2024, eq. 2-3): FAR is the mean over identity pairs k < l and
FRR the mean over identities, or weighted by p_k p_l and p_k squared, as `evaluate` does it. No image is drawn, so the
values carry no sampling noise; each FAR comes with a bound on its error. Where the bound is not small, the pairs that
are to blame are integrated one by one; where it still is not, the functions raise instead of answering.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from frkit.base import FAR_LEVEL, GROUP, REFERENCE_GROUP, THRESHOLD_LEVEL, require
from frkit.vmf.densities import GenuineScores
from frkit.vmf.impostors import ImpostorScores, SeriesError, impostor_scores


def rates(
    mix,
    threshold: ArrayLike,
    *,
    by: str | None = None,
    weights: ArrayLike | None = None,
    cross: bool = False,
) -> xr.Dataset:
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
    >>> mixture(50, dim=32).population_rates([0.3, 0.5]).far.dims
    ('threshold_level',)
    """
    threshold = checked_levels(threshold, "threshold", -1)
    return answered(
        mix,
        by,
        weights,
        lambda found: _dataset(found, threshold, THRESHOLD_LEVEL, threshold, cross),
    )


def roc(
    mix,
    far: ArrayLike,
    *,
    by: str | None = None,
    weights: ArrayLike | None = None,
    cross: bool = False,
) -> xr.Dataset:
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
    >>> mixture(50, dim=32).population_roc([1e-3, 1e-2]).frr.dims
    ('far_level',)
    """
    far = checked_levels(far, "far", 0)
    return answered(
        mix,
        by,
        weights,
        lambda found: _dataset(found, found.total.threshold_at(far), FAR_LEVEL, far, cross),
    )


def summary(mix, *, by: str | None = None, weights: ArrayLike | None = None) -> xr.Dataset:
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
    >>> 0.99 < float(mixture(50, dim=64).population_summary().auc) < 1
    True
    """
    return answered(mix, by, weights, _summaries)


def checked_levels(values, name: str, least: int) -> np.ndarray:
    """Levels (n,) in (least, 1), or InputError."""
    values = np.atleast_1d(np.asarray(values, np.float64))
    inside = bool(np.all((values > least) & (values < 1)))
    require(values.ndim == 1 and inside, f"{name} must hold numbers in ({least}, 1), got {values}")
    return values


def answered(mix, by, weights, compute) -> xr.Dataset:
    """What `compute` makes of the population: by the series alone, or with single pairs integrated where that fails."""
    try:
        return compute(_population(mix, by, weights, False))
    except SeriesError:
        return compute(_population(mix, by, weights, True))


def _population(mix, by, weights, one_by_one: bool) -> _Population:
    """The population of a mixture by an attribute; those of equal weights are kept with the mixture."""
    if weights is not None:
        weights = np.asarray(weights, np.float64)
        right = (
            weights.shape == (mix.n_identities,)
            and bool(np.all(weights >= 0))
            and np.count_nonzero(weights) > 1
        )
        require(
            right, f"weights must be {mix.n_identities} numbers >= 0, at least two of them positive"
        )
        return _Population(mix, by, weights, one_by_one)
    if (by, one_by_one) not in mix._populations:
        mix._populations[by, one_by_one] = _Population(
            mix, by, np.ones(mix.n_identities), one_by_one
        )
    return mix._populations[by, one_by_one]


class _Population:
    """Impostor scores of every cell of groups and of all pairs; `impostors` and `genuine` are of all, then by group."""

    def __init__(self, mix, by, weights, one_by_one):
        labels = np.zeros(mix.n_identities, str) if by is None else mix.labels(by)
        self.dim, self.by = mix.dim, by
        self.groups, number = np.unique(labels, return_inverse=True)
        members = [np.flatnonzero((number == g) & (weights > 0)) for g in range(len(self.groups))]
        lonely = [name for name, some in zip(self.groups.tolist(), members) if len(some) < 2]
        require(
            not lonely,
            f"by={by!r}: groups {lonely} have fewer than two identities of positive weight; merge them",
        )
        sides = [(mix.mean_directions[m], mix.concentrations[m], weights[m]) for m in members]
        self.cells, self.total = impostor_scores(sides, one_by_one)
        self.impostors, self.names = [self.total], ["all pairs"]
        self._weighted = [(mix.concentrations, weights)]
        if by is not None:
            self.impostors += [self.cells[g, g] for g in range(len(members))]
            self.names += [f"group '{name}'" for name in self.groups]
            self._weighted += [side[1:] for side in sides]

    @cached_property
    def genuine(self) -> list[GenuineScores]:
        """An identity's genuine pairs weigh p_k squared, as `evaluate` weighs them."""
        found = [GenuineScores(kappa, weights**2, self.dim) for kappa, weights in self._weighted]
        for mass in (scores.below[-1] for scores in found):
            words = (
                f"the genuine density integrates to {mass:.12g}, not 1, so FRR is not exact here"
            )
            require(abs(mass - 1) < 1e-9, f"{words}: use smaller concentrations")
        return found


def _dataset(
    found: _Population, threshold: np.ndarray, level: str, levels: np.ndarray, cross: bool
) -> xr.Dataset:
    """Rates at thresholds with their labels."""
    far, error = np.moveaxis(
        [some.far(threshold, name) for some, name in zip(found.impostors, found.names)], 0, -1
    )
    frr = np.transpose([genuine.frr(threshold) for genuine in found.genuine])
    groups = None if found.by is None else found.groups
    rates = labelled(
        threshold, {"far": far, "frr": frr, "error_bound": error}, level, levels, groups
    )
    rates.attrs["source"] = "exact von Mises-Fisher population rates"
    if not cross:
        return rates
    require(found.by is not None, "cross=True needs by=, the attribute whose groups are compared")
    values = np.empty((2, len(threshold), len(groups), len(groups)))
    for (g, h), scores in found.cells.items():
        one = scores.far(threshold, f"groups '{groups[g]}' and '{groups[h]}'")
        values[..., g, h] = values[..., h, g] = one
    dims = (level, GROUP, REFERENCE_GROUP)
    cells = {"far_cross": (dims, values[0]), "error_bound_cross": (dims, values[1])}
    return rates.assign(cells).assign_coords({REFERENCE_GROUP: groups})


def labelled(
    threshold: np.ndarray, rates: dict, level: str, levels: np.ndarray, groups
) -> xr.Dataset:
    """Rates (level, 1 + groups), of all and then of every group, as a Dataset; groups None: those of all alone."""
    data = {"threshold": (level, threshold)} | {
        name: (level, values[:, 0]) for name, values in rates.items()
    }
    if groups is None:
        return xr.Dataset(data, {level: levels})
    data |= {f"{name}_group": ((level, GROUP), values[:, 1:]) for name, values in rates.items()}
    return xr.Dataset(data, {level: levels, GROUP: groups})


def _summaries(found: _Population) -> xr.Dataset:
    """EER, its threshold, and AUC of all, and by group."""
    names = ("eer", "eer_threshold", "auc")
    whole, *groups = (_summary(*scores) for scores in zip(found.impostors, found.genuine))
    data, coords = dict(zip(names, whole)), {}
    if groups:
        data |= {
            f"{name}_group": (GROUP, np.array(values)) for name, values in zip(names, zip(*groups))
        }
        coords[GROUP] = found.groups
    return xr.Dataset(data, coords)


def _summary(impostor: ImpostorScores, genuine: GenuineScores) -> tuple[float, float, float]:
    """EER, its threshold, and AUC of one population's impostor and genuine scores."""
    threshold = brentq(
        lambda t: genuine.frr(t) - impostor.survival(t)[0], -1 + 1e-9, 1 - 1e-9, xtol=1e-14
    )
    eer, _ = impostor.far(np.array([threshold]), "the pairs at the equal error rate")
    accepted, _ = impostor.survival(np.tanh(genuine.nodes))
    return (
        float(eer[0]),
        float(threshold),
        float(1 - (genuine.mass * accepted).sum() / genuine.below[-1]),
    )
