"""Exact population rates of a mixture: FAR from the impostor scores, FRR from the genuine scores.

Rates weigh identities as Conti & Clemencon do (2024, eq. 2-3): FAR is the mean over identity
pairs k < l and FRR the mean over identities, or weighted by p_k p_l and p_k squared, as in
`evaluate`. No image is drawn, so the values have no sampling noise, and each FAR has a bound on
its error. Where the bound is not small, the pairs that cause it are integrated one by one. Where
it still is not, the functions raise an error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from frkit.base import FAR_LEVEL, GROUP, REFERENCE_GROUP, THRESHOLD_LEVEL, require, require_flag
from frkit.vmf.checks import levels_in, one_each
from frkit.vmf.genuine import GenuineScores
from frkit.vmf.impostors import ImpostorScores, SeriesError, impostor_scores
from frkit.vmf.series import Identities

LARGEST_GENUINE_ERROR = 1e-9  # of the integral of the genuine density


def rates(
    mix,
    threshold: ArrayLike,
    *,
    by: str | None = None,
    weights: ArrayLike | None = None,
    cross: bool = False,
) -> xr.Dataset:
    """Exact population FAR and FRR of a mixture; a pair is accepted when its score exceeds t.

    Parameters
    ----------
    mix : Mixture
    threshold : float or array (threshold_level,)
        Cosine thresholds in (-1, 1).
    by : str, optional
        Attribute of the mixture: adds the rates of each of its groups (both identities in the
        group).
    weights : array (K,), optional
        Weight p_k of each identity; equal by default.
    cross : bool
        With `by`: add the FAR between groups.

    Returns
    -------
    xr.Dataset
        `threshold, far, frr, error_bound` (threshold_level); with `by` also `far_group,
        frr_group, error_bound_group` (threshold_level, group); with `cross` also `far_cross,
        error_bound_cross` (threshold_level, group, reference_group). Error bounds are those of
        FAR, relative to it.

    Raises
    ------
    InputError
        Where an error bound exceeds 1e-6 of its FAR, a threshold is outside (-1, 1), an attribute
        is unknown, a group has one identity, or a weight is negative.

    References
    ----------
    Conti & Clemencon 2024, eq. 2-3, 21-22.

    Examples
    --------
    >>> from frkit.vmf import mixture
    >>> mixture(50, dim=32).population_rates([0.3, 0.5]).far.dims
    ('threshold_level',)
    """
    threshold, cross = levels_in("threshold", threshold, -1), require_flag("cross", cross)

    def rates_at_thresholds(population):
        return _rates(population, threshold, THRESHOLD_LEVEL, threshold, cross)

    return of_population(mix, by, weights, rates_at_thresholds)


def roc(
    mix,
    far: ArrayLike,
    *,
    by: str | None = None,
    weights: ArrayLike | None = None,
    cross: bool = False,
) -> xr.Dataset:
    """Exact population ROC of a mixture: thresholds where FAR reaches each level, and rates there.

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
    far, cross = levels_in("far", far, 0), require_flag("cross", cross)

    def rates_at_far_levels(population):
        threshold = population.impostors[0].threshold_at(far)
        return _rates(population, threshold, FAR_LEVEL, far, cross)

    return of_population(mix, by, weights, rates_at_far_levels)


def summary(mix, *, by: str | None = None, weights: ArrayLike | None = None) -> xr.Dataset:
    """Exact equal error rate with its threshold, and area under the ROC curve.

    The area is P(genuine > impostor).

    Parameters
    ----------
    mix, by, weights
        As in `rates`; groups have an EER and a threshold of their own.

    Returns
    -------
    xr.Dataset
        `eer, eer_threshold, auc` (); with `by` also `eer_group, eer_threshold_group, auc_group`
        (group).

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
    return of_population(mix, by, weights, _summaries)


def of_population(mix, by, weights, compute: Callable[[Population], xr.Dataset]) -> xr.Dataset:
    """Compute from the series alone or, if that fails, with close pairs integrated one by one."""
    weights = None if weights is None else _checked_weights(weights, mix.n_identities)
    if by is not None:
        mix.labels(by)  # refuses what is no attribute
    try:
        return compute(_population(mix, by, weights, False))
    except SeriesError:
        return compute(_population(mix, by, weights, True))


def _checked_weights(weights, n_identities):
    weights = one_each("weights", weights, n_identities).astype(float)
    require(
        bool(np.all((weights >= 0) & (weights < np.inf))) and np.count_nonzero(weights) > 1,
        f"weights must be {n_identities} finite numbers >= 0, at least two of them positive",
    )
    return weights / weights.max()


def _population(mix, by, weights, integrate_close_pairs):
    """The population of a mixture; those with equal weights are kept with the mixture."""
    if weights is not None:
        return Population(mix, by, weights, integrate_close_pairs)
    key = (by, integrate_close_pairs)
    if key not in mix._populations:
        equal = np.ones(mix.n_identities)
        mix._populations[key] = Population(mix, by, equal, integrate_close_pairs)
    return mix._populations[key]


class Population:
    """Impostor and genuine scores of all identities, and of the groups of an attribute.

    `identities`, `impostors`, `genuine` and `names` are those of all, then of each group.
    """

    def __init__(self, mix, by: str | None, weights: np.ndarray, integrate_close_pairs: bool):
        self.dim, self.by, self.integrate_close_pairs = mix.dim, by, integrate_close_pairs
        self.identities, self.names, self.groups = [], ["all pairs"], np.array([], str)
        members = [weights > 0]
        if by is not None:
            labels = mix.labels(by)
            self.groups = np.unique(labels)
            for name in self.groups.tolist():
                members.append((labels == name) & (weights > 0))
                require(
                    members[-1].sum() >= 2,
                    f"by={by!r}: group {name!r} has fewer than two identities of positive weight; "
                    "merge it with another",
                )
                self.names.append(f"group {name!r}")
        for rows in members:
            self.identities.append(
                Identities(mix.mean_directions[rows], mix.concentrations[rows], weights[rows])
            )
        self.impostors = [
            impostor_scores(people, people, integrate_close_pairs) for people in self.identities
        ]

    @cached_property
    def genuine(self) -> list[GenuineScores]:
        """An identity's genuine pairs weigh p_k squared, as in `evaluate`."""
        scores = []
        for people in self.identities:
            scores.append(GenuineScores(people.concentrations, people.weights**2, self.dim))
            total = scores[-1].distribution.total[0]
            require(
                abs(total - 1) < LARGEST_GENUINE_ERROR,
                f"the genuine density integrates to {total:.12g}, not 1, so FRR is not exact here: "
                "use smaller concentrations",
            )
        return scores

    def cross_impostors(self, g: int, h: int) -> ImpostorScores:
        """Impostor scores of pairs of groups g and h."""
        groups = self.identities[1:]
        return impostor_scores(groups[g], groups[h], self.integrate_close_pairs)


def _rates(population, threshold, level, levels, cross):
    """FAR, FRR and error bounds at thresholds, with their labels."""
    require(
        population.by is not None or not cross,
        "cross=True needs by=, the attribute whose groups are compared",
    )
    named = zip(population.impostors, population.names)
    far, error_bound = zip(*[scores.far(threshold, name) for scores, name in named])
    frr = [scores.frr(threshold) for scores in population.genuine]
    rates = {"far": far, "frr": frr, "error_bound": error_bound}
    groups = None if population.by is None else population.groups
    dataset = labelled(threshold, rates, level, levels, groups)
    dataset.attrs["source"] = "exact von Mises-Fisher population rates"
    return _with_cross_rates(dataset, population, threshold, level) if cross else dataset


def labelled(
    threshold: np.ndarray, rates: dict, level: str, levels: np.ndarray, groups
) -> xr.Dataset:
    """Rates of all, and of every group unless groups is None, as a Dataset.

    The values of `rates` are sequences: the rates (level,) of all, then those of each group.
    """
    dataset = xr.Dataset({"threshold": (level, threshold)}, {level: levels})
    for name, (everyone, *of_groups) in rates.items():
        dataset[name] = (level, everyone)
        if groups is not None:
            dataset[f"{name}_group"] = ((level, GROUP), np.transpose(of_groups))
    return dataset if groups is None else dataset.assign_coords({GROUP: groups})


def _with_cross_rates(dataset, population, threshold, level):
    """The rates, and the FAR between groups."""
    names = population.groups.tolist()
    far = np.empty((len(threshold), len(names), len(names)))
    error_bound = np.empty_like(far)
    for g in range(len(names)):
        for h in range(g + 1):
            within = g == h
            scores = population.impostors[1 + g] if within else population.cross_impostors(g, h)
            rates = scores.far(threshold, f"groups {names[h]!r} and {names[g]!r}")
            far[:, g, h], error_bound[:, g, h] = rates
            far[:, h, g], error_bound[:, h, g] = rates
    dims = (level, GROUP, REFERENCE_GROUP)
    cross = {"far_cross": (dims, far), "error_bound_cross": (dims, error_bound)}
    return dataset.assign(cross).assign_coords({REFERENCE_GROUP: population.groups})


def _summaries(population):
    """EER, its threshold, and AUC of all, and by group."""
    pairs = zip(population.impostors, population.genuine)
    everyone, *of_groups = [_summary(impostor, genuine) for impostor, genuine in pairs]
    dataset = xr.Dataset(everyone)
    if of_groups:
        for name in everyone:
            dataset[f"{name}_group"] = (GROUP, [values[name] for values in of_groups])
        dataset = dataset.assign_coords({GROUP: population.groups})
    return dataset


def _summary(impostor, genuine):
    """EER, its threshold, and AUC of one population's impostor and genuine scores."""

    def frr_minus_far(t):
        return genuine.frr(t) - impostor.survival(t)[0]

    threshold = brentq(frr_minus_far, -1 + 1e-9, 1 - 1e-9, xtol=1e-14)
    eer, _ = impostor.far(np.array([threshold]), "the pairs at the equal error rate")
    # the area above the ROC curve is P(impostor > genuine)
    area_above = genuine.mean(lambda t: impostor.survival(t)[0])
    return {"eer": float(eer[0]), "eer_threshold": threshold, "auc": 1 - area_above}
