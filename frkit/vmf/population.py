"""Exact population rates of a mixture: FAR from the impostor scores, FRR from the genuine scores.

Rates weigh identities as Conti & Clemencon do (2024, eq. 2-3): FAR is the mean over identity
pairs k < l and FRR the mean over identities, or weighted by p_k p_l and p_k squared, as in
`evaluate`. No image is drawn, so the values have no sampling noise, and each FAR has a bound on
its error. Where the bound is not small, the pairs that cause it are integrated one by one. Where
it still is not, the functions raise an error.
"""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from frkit.base import FAR_LEVEL, GROUP, REFERENCE_GROUP, THRESHOLD_LEVEL, require
from frkit.vmf.checks import levels_in, one_each
from frkit.vmf.genuine import GenuineScores
from frkit.vmf.impostors import SeriesError, impostor_scores
from frkit.vmf.series import Identities


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
    threshold = levels_in("threshold", threshold, -1)
    return of_population(mix, by, weights, _rates, THRESHOLD_LEVEL, threshold, cross)


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
    far = levels_in("far", far, 0)
    return of_population(mix, by, weights, _rates, FAR_LEVEL, far, cross)


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


def of_population(mix, by, weights, compute, *options):
    """`compute` from the series alone or, if that fails, with close pairs integrated one by one."""
    try:
        return compute(_population(mix, by, weights, False), *options)
    except SeriesError:
        return compute(_population(mix, by, weights, True), *options)


def _population(mix, by, weights, integrate_close_pairs):
    """The population of a mixture; those with equal weights are kept with the mixture."""
    if weights is not None:
        weights = one_each("weights", weights, mix.n_identities).astype(float)
        valid = (weights >= 0) & (weights < np.inf)
        require(bool(valid.all()), "weights must be finite numbers >= 0")
        return Population(mix, by, weights / weights.max(), integrate_close_pairs)
    key = (by, integrate_close_pairs)
    if key not in mix._populations:
        equal = np.ones(mix.n_identities)
        mix._populations[key] = Population(mix, by, equal, integrate_close_pairs)
    return mix._populations[key]


class Population:
    """Impostor and genuine scores of all identities, and of the groups of an attribute.

    `names`, `identities`, `impostors` and `genuine` are lists: first all, then each group.
    """

    def __init__(self, mix, by, weights, integrate_close_pairs):
        self.integrate_close_pairs = integrate_close_pairs
        self.groups = None if by is None else np.unique(mix.labels(by))
        members = {"all pairs": weights > 0}
        if by is not None:
            for name in self.groups:
                members[f"group '{name}'"] = (mix.labels(by) == name) & (weights > 0)
        self.names = list(members)
        self.identities, self.impostors, self.genuine = [], [], []
        for name, rows in members.items():
            require(
                rows.sum() >= 2,
                f"{name}: fewer than two identities have a positive weight; merge the group",
            )
            people = Identities(mix.mean_directions[rows], mix.concentrations[rows], weights[rows])
            self.identities.append(people)
            self.impostors.append(impostor_scores(people, people, integrate_close_pairs))
            # an identity's genuine pairs weigh p_k squared, as in `evaluate`
            self.genuine.append(GenuineScores(people.concentrations, people.weights**2, mix.dim))


def _rates(population, level, levels, cross):
    """FAR, FRR and error bounds at thresholds, or at the thresholds of FAR levels."""
    require(
        population.groups is not None or not cross,
        "cross=True needs by=, the attribute whose groups are compared",
    )
    by_far = level == FAR_LEVEL
    threshold = population.impostors[0].threshold_at(levels) if by_far else levels
    named = zip(population.impostors, population.names)
    far, error_bound = zip(*[scores.far(threshold, name) for scores, name in named])
    frr = [scores.frr(threshold) for scores in population.genuine]
    dataset = xr.Dataset(
        {"threshold": (level, threshold)},
        {level: levels},
        {"source": "exact von Mises-Fisher population rates"},
    )
    rates = {"far": far, "frr": frr, "error_bound": error_bound}
    dataset = labelled(dataset, rates, population.groups)
    return dataset.assign(_cross_rates(population, threshold, level)) if cross else dataset


def labelled(dataset, values, groups):
    """Add values of all to a dataset, and of every group unless groups is None.

    Each of `values` is a sequence: the values of all over the dataset's dims, then those of each
    group.
    """
    dims = tuple(dataset.dims)
    for name, (everyone, *of_groups) in values.items():
        dataset[name] = (dims, everyone)
        if groups is not None:
            dataset[f"{name}_group"] = ((*dims, GROUP), np.transpose(of_groups))
    return dataset if groups is None else dataset.assign_coords({GROUP: groups})


def _cross_rates(population, threshold, level):
    """FAR between groups and its error bound, with their labels."""
    groups = population.groups
    far = np.empty((len(threshold), len(groups), len(groups)))
    error_bound = np.empty_like(far)
    for g in range(len(groups)):
        for h in range(g + 1):
            scores = population.impostors[1 + g]
            if g != h:
                left, right = population.identities[1 + g], population.identities[1 + h]
                scores = impostor_scores(left, right, population.integrate_close_pairs)
            rates = scores.far(threshold, f"groups '{groups[h]}' and '{groups[g]}'")
            far[:, g, h], error_bound[:, g, h] = rates
            far[:, h, g], error_bound[:, h, g] = rates
    dims = (level, GROUP, REFERENCE_GROUP)
    return xr.Dataset(
        {"far_cross": (dims, far), "error_bound_cross": (dims, error_bound)},
        {REFERENCE_GROUP: groups},
    )


def _summaries(population):
    """EER, its threshold, and AUC of all, and by group."""
    pairs = zip(population.impostors, population.genuine)
    eer, threshold, auc = zip(*[_summary(impostor, genuine) for impostor, genuine in pairs])
    values = {"eer": eer, "eer_threshold": threshold, "auc": auc}
    return labelled(xr.Dataset(), values, population.groups)


def _summary(impostor, genuine):
    """EER, its threshold, and AUC of one population's impostor and genuine scores."""
    ends = -1 + 1e-9, 1 - 1e-9
    threshold = brentq(lambda t: genuine.frr(t) - impostor.survival(t)[0], *ends, xtol=1e-14)
    eer, _ = impostor.far(np.array([threshold]), "the pairs at the equal error rate")
    # the area above the ROC curve is P(impostor > genuine)
    area_above = genuine.mean(lambda t: impostor.survival(t)[0])
    return eer[0], threshold, 1 - area_above
